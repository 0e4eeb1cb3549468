"""The sentences about *bank* hold it once each, and are no sentence twice."""

from __future__ import annotations

from elmo_toy.our_sentences import LOAN, OTHERS, RIVER


def test_both_uses_are_equally_many_and_hold_bank_once() -> None:
    assert len(RIVER) == len(LOAN) == 12
    assert all(sentence.count("bank") == 1 for sentence in RIVER + LOAN)


def test_the_others_do_not_hold_it_and_no_sentence_comes_twice() -> None:
    assert not any("bank" in sentence for sentence in OTHERS)
    assert len(set(RIVER + LOAN + OTHERS)) == len(RIVER + LOAN + OTHERS)


def test_they_are_cut_into_tokens_as_the_models_texts_are() -> None:
    for sentence in RIVER + LOAN + OTHERS:
        assert sentence[-1] == "."
        assert all(word.isalpha() and word.islower() for word in sentence[:-1])
