"""The counting baseline is a distribution, and it learns what it is shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy.bilm.trigram import Trigram

sentences = st.lists(
    st.lists(st.integers(2, 5), max_size=5).map(lambda ids: [0, *ids, 1]), min_size=1, max_size=6
)


@given(sentences, st.tuples(st.integers(0, 5), st.integers(0, 5)))
def test_probabilities_of_all_words_sum_to_one(
    text: list[list[int]], history: tuple[int, int]
) -> None:
    model = Trigram(text, words=6)
    probabilities = [model.probability(history, word) for word in range(6)]
    assert min(probabilities) > 0
    assert sum(probabilities) == pytest.approx(1, abs=1e-12)


@given(sentences, sentences)
def test_perplexity_is_that_of_the_probabilities(
    text: list[list[int]], other: list[list[int]]
) -> None:
    model = Trigram(text, words=6)
    logs = [
        np.log(model.probability((u, v), w))
        for first, *rest in other
        for u, v, w in zip([first, first, *rest], [first, *rest], rest, strict=False)
    ]
    assert model.perplexity(other) == pytest.approx(np.exp(-np.mean(logs)))


def test_an_unseen_history_falls_back_to_the_shorter_one() -> None:
    model = Trigram([[0, 2, 3, 1], [0, 4, 2, 3, 1]], words=5)
    assert model.probability((3, 2), 3) == model.probability((1, 2), 3)
    assert model.probability((4, 2), 3) > model.probability((3, 2), 3)


def test_a_repeated_text_becomes_predictable() -> None:
    text = [[0, 2, 3, 4, 1]] * 50
    assert Trigram(text, words=5).perplexity(text) < 1.1
    assert Trigram(text, words=5).perplexity([[0, 4, 3, 2, 1]]) > 5


def test_a_probability_by_hand() -> None:
    """One text of one trigram each: 0 0 2, 0 2 1; two words, each after one other."""
    model = Trigram([[0, 2, 1]], words=4)
    unigram = (1 - 0.75 + 0.75 * 2 / 4) / 2  # 2 and 1 each follow one pair
    bigram = 1 - 0.75 + 0.75 * unigram  # 2 follows 0 after one word
    trigram = 1 - 0.75 + 0.75 * bigram
    assert model.probability((0, 0), 2) == pytest.approx(trigram, abs=1e-15)


@pytest.mark.parametrize("words", [0, -1])
def test_a_vocabulary_has_words(words: int) -> None:
    with pytest.raises(ValueError, match=f"words: expected at least 1, got {words}"):
        Trigram([[0, 1]], words=words)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ([0, 4, 1], "ids: expected 0 to 3, got 0 to 4"),
        ([0, -1, 1], "ids: expected 0 to 3, got -1 to 1"),
        ([0, 2.5, 1], "ids: expected one sentence of whole numbers, got"),
        ([], "ids: expected one sentence of whole numbers, got"),
    ],
)
def test_ids_outside_the_vocabulary_are_refused(sentence: Any, message: str) -> None:
    model = Trigram([[0, 2, 1]], words=4)
    with pytest.raises(ValueError, match=message):
        Trigram([sentence], words=4)
    with pytest.raises(ValueError, match=message):
        model.perplexity([[0, 1], sentence])
    if len(sentence) == 3:
        with pytest.raises(ValueError, match="ids: expected"):
            model.probability(tuple(sentence[:2]), sentence[1])


@pytest.mark.parametrize("history", [(2,), (0, 2, 1)])
def test_a_history_is_two_words(history: Any) -> None:
    with pytest.raises(ValueError, match="history: expected the two ids before, got"):
        Trigram([[0, 2, 1]], words=4).probability(history, 1)


def test_a_perplexity_of_nothing_and_half_a_word_are_refused() -> None:
    with pytest.raises(TypeError, match=r"words: expected an integer, got 2\.5"):
        Trigram([[0, 1]], words=2.5)  # type: ignore[arg-type]  # wrong on purpose
    for nothing in ([], [[0]]):
        with pytest.raises(ValueError, match="sentences: expected something to predict"):
            Trigram([[0, 1]], words=2).perplexity(nothing)
