"""The grammar says what it promises: senses told by cues, and by nothing else."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain, combinations, pairwise
from typing import Any

import pytest

from elmo_toy import toy_language
from elmo_toy.bilm.senses import bag_of_words, naive_bayes_score
from elmo_toy.toy_language import (
    DOMAINS,
    MAX_DISTANCE,
    NEUTRAL,
    NOUN_OR_VERB,
    SENSES,
    Reports,
    Sentence,
    ToyCorpus,
    make_corpus,
    make_reports,
    vocabulary,
    words,
)

LABELLED_SPLITS = ["labelled", "test", "new_cues", "two_cues"]
SPLITS = ["train", "development", *LABELLED_SPLITS]
CUE_DOMAIN = {cue: domain for domain, cues in DOMAINS.items() for cue in chain(*cues)}
KNOWN = {
    cue for cues in DOMAINS.values() for tag in cues._fields for cue in cues.choose(tag, "known")
}


@pytest.fixture(scope="module")
def corpus() -> ToyCorpus:
    return make_corpus(train=6_000)


@pytest.fixture(scope="module")
def reports() -> Reports:
    return make_reports()


def clauses(sentence: Sentence) -> list[range]:
    """Positions of each clause: what the conjunctions separate."""
    ends = [place for place, tag in enumerate(sentence.tags) if tag in ("CCONJ", "PUNCT")]
    starts = [0, *(end + 1 for end in ends[:-1])]
    return [range(start, end) for start, end in zip(starts, ends, strict=True)]


def side(sentence: Sentence) -> str:
    sides = {cue < sentence.target for cue in sentence.cues}
    return "both" if len(sides) == 2 else "left" if sides == {True} else "right"


# Words


def test_about_two_hundred_words_each_with_one_role() -> None:
    assert 180 <= len(words()) <= 220
    assert len(vocabulary()) == len(words()) + 3
    roles = [set(SENSES), set(CUE_DOMAIN), set(chain(*NEUTRAL.values()))]
    assert all(not a & b for a, b in combinations(roles, 2))
    assert len(CUE_DOMAIN) == sum(len(tuple(chain(*cues))) for cues in DOMAINS.values())


def test_fourteen_nouns_of_two_senses_four_in_each_domain() -> None:
    assert len(SENSES) == 14
    assert "bank" in SENSES
    assert set(Counter(chain(*SENSES.values())).values()) == {4}
    assert all(len(set(senses)) == 2 for senses in SENSES.values())
    assert set(chain(*SENSES.values())) == set(DOMAINS)


def test_every_domain_has_as_many_cues_of_each_kind() -> None:
    shapes = {tuple(map(len, cues)) for cues in DOMAINS.values()}
    assert len(shapes) == 1
    for cues in DOMAINS.values():
        for tag in cues._fields:
            known, new = cues.choose(tag, "known"), cues.choose(tag, "new")
            assert known
            assert new
            assert known + new == cues.choose(tag, "all")


# Splits


def test_one_seed_one_corpus() -> None:
    small = {"train": 50, "development": 5, "labelled": 2, "test": 2}
    assert make_corpus(3, **small) == make_corpus(3, **small)
    assert make_corpus(3, **small) != make_corpus(4, **small)


def test_a_seed_draws_the_same_sentences_as_ever() -> None:
    """To the byte: the shipped model's record and the book's numbers are about them."""
    corpus = make_corpus(0, train=300, development=50, labelled=3, test=3)
    found = repr([[tuple(vars(s).values()) for s in getattr(corpus, split)] for split in SPLITS])
    assert hashlib.sha256(found.encode()).hexdigest() == (
        "19bc470a984f6da4dea69321a7f7fc683cb06be3b04c8b59dc427d39348d6d90"
    )


def test_the_tests_do_not_depend_on_the_size_of_the_rest(corpus: ToyCorpus) -> None:
    other = make_corpus(train=10, development=1, labelled=1)
    assert (other.test, other.new_cues, other.two_cues) == (
        corpus.test,
        corpus.new_cues,
        corpus.two_cues,
    )


def test_no_sentence_stands_twice(corpus: ToyCorpus) -> None:
    sentences = list(chain(*(getattr(corpus, split) for split in SPLITS)))
    assert len({sentence.tokens for sentence in sentences}) == len(sentences)


def test_a_sentence_that_is_drawn_twice_is_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator that says everything twice, within a split and from one split to the next."""

    def stammering(draw: Callable[..., Sentence]) -> Callable[..., Sentence]:
        said: list[Sentence] = []

        def say(*arguments: Any, **settings: Any) -> Sentence:
            if said:
                return said.pop()
            said.append(draw(*arguments, **settings))
            return said[0]

        return say

    for name in ("text", "example"):
        monkeypatch.setattr(toy_language._Draw, name, stammering(getattr(toy_language._Draw, name)))
    corpus = make_corpus(train=9, development=5, labelled=2, test=1)
    reports = make_reports(train=9, development=5, test=4)
    for splits in (corpus, reports):
        every = list(chain(*vars(splits).values()))
        assert len({sentence.tokens for sentence in every}) == len(every)


@pytest.mark.parametrize("split", LABELLED_SPLITS)
def test_every_noun_and_sense_is_equally_frequent(corpus: ToyCorpus, split: str) -> None:
    counts = Counter((s.noun, s.sense) for s in getattr(corpus, split))
    assert set(counts) == {(noun, sense) for noun in SENSES for sense in SENSES[noun]}
    assert len(set(counts.values())) == 1
    few = Counter((s.noun, s.sense) for s in corpus.few(3))
    assert set(few.values()) == {3}


# Sentences


@pytest.mark.parametrize("split", SPLITS)
def test_every_token_is_licensed_by_its_tag(corpus: ToyCorpus, split: str) -> None:
    for sentence in getattr(corpus, split):
        for token, tag, sense in zip(sentence.tokens, sentence.tags, sentence.senses, strict=True):
            if token in SENSES:
                assert tag == "NOUN"
                assert sense in SENSES[token]
            else:
                assert sense is None
                if token in CUE_DOMAIN:
                    assert token in getattr(DOMAINS[CUE_DOMAIN[token]], tag)
                else:
                    assert token in NEUTRAL[tag]
        assert sentence.tokens[-1] == "."
        assert sentence.tags.count("PUNCT") == 1


@pytest.mark.parametrize("split", SPLITS)
def test_a_clause_holds_cues_of_one_domain_and_its_noun_has_that_sense(
    corpus: ToyCorpus, split: str
) -> None:
    for sentence in getattr(corpus, split):
        for clause in clauses(sentence):
            domains = {
                CUE_DOMAIN[sentence.tokens[place]]
                for place in clause
                if sentence.tokens[place] in CUE_DOMAIN
            }
            senses = {sentence.senses[place] for place in clause} - {None}
            assert len(domains) <= 1
            assert senses <= domains


@pytest.mark.parametrize("split", LABELLED_SPLITS)
def test_cues_are_near_the_noun_in_its_clause_on_every_side_at_every_distance(
    corpus: ToyCorpus, split: str
) -> None:
    met = Counter[tuple[str, int]]()
    for sentence in getattr(corpus, split):
        (own,) = [clause for clause in clauses(sentence) if sentence.target in clause]
        assert sentence.cues == tuple(
            place for place in own if sentence.tokens[place] in CUE_DOMAIN
        )
        for cue in sentence.cues:
            assert CUE_DOMAIN[sentence.tokens[cue]] == sentence.sense
            assert 1 <= abs(cue - sentence.target) <= MAX_DISTANCE
            met[side(sentence), cue - sentence.target] += 1
    for distance in range(1, MAX_DISTANCE + 1):
        assert met["left", -distance] > 10
        assert met["right", distance] > 10
    expected = {"left", "right"} if split == "two_cues" else {"left", "right", "both"}
    assert {name for name, _ in met} == expected


def test_new_cues_are_new_and_the_language_models_text_has_them(corpus: ToyCorpus) -> None:
    def cues(split: str) -> set[str]:
        return {
            token
            for sentence in getattr(corpus, split)
            for token in sentence.tokens
            if token in CUE_DOMAIN
        }

    assert cues("labelled") == cues("test") == cues("two_cues") == KNOWN
    assert cues("new_cues") == set(CUE_DOMAIN) - KNOWN
    assert cues("train") == set(CUE_DOMAIN)


def test_two_cues_are_one_of_each_sense_in_two_clauses(corpus: ToyCorpus) -> None:
    nearer = 0
    for sentence in corpus.two_cues:
        (other_sense,) = set(SENSES[sentence.noun]) - {sentence.sense}
        places = {
            CUE_DOMAIN[token]: place
            for place, token in enumerate(sentence.tokens)
            if token in CUE_DOMAIN
        }
        assert set(places) == {sentence.sense, other_sense}
        assert sum(token in CUE_DOMAIN for token in sentence.tokens) == 2
        assert len(clauses(sentence)) == 2
        nearer += abs(places[other_sense] - sentence.target) < abs(
            places[sentence.sense] - sentence.target
        )
    assert nearer > 50  # the nearer cue is not always the right one


def test_some_words_are_nouns_in_one_place_and_verbs_in_another(corpus: ToyCorpus) -> None:
    tags = Counter(
        (token, tag)
        for sentence in corpus.train
        for token, tag in zip(sentence.tokens, sentence.tags, strict=True)
    )
    for word in NOUN_OR_VERB:
        assert tags[word, "NOUN"] > 100
        assert tags[word, "VERB"] > 100


# Reports, the second kind of text


def test_reports_share_no_sentence_with_each_other_or_with_the_corpus(
    corpus: ToyCorpus, reports: Reports
) -> None:
    """By construction: a report begins with an adverb or a preposition, the others never do."""
    every = list(chain(*vars(reports).values()))
    assert len(every) == 5_000
    assert len({sentence.tokens for sentence in every}) == len(every)
    assert {sentence.tags[0] for sentence in every} == {"ADV", "ADP"}
    assert {s.tags[0] for split in SPLITS for s in getattr(corpus, split)} == {"DET"}


def test_one_seed_one_set_of_reports_whose_test_does_not_depend_on_the_rest() -> None:
    small = make_reports(3, train=50, development=5, test=20)
    assert small == make_reports(3, train=50, development=5, test=20)
    assert small.test == make_reports(3, train=1, development=1, test=20).test
    assert not set(small.test) & set(make_reports(4, train=0, development=0, test=20).test)


def test_a_report_is_built_as_its_docstring_says(reports: Reports) -> None:
    phrase = "DET (?:ADJ )?NOUN "
    clause = f"(?:ADV |ADP {phrase}){phrase}VERB {phrase}"
    for sentence in reports.train:
        assert re.fullmatch(f"{clause}(?:CCONJ {clause})?PUNCT", " ".join(sentence.tags))
        for place, (token, tag) in enumerate(zip(sentence.tokens, sentence.tags, strict=True)):
            licensed = {
                *NEUTRAL[tag],
                *(SENSES if tag == "NOUN" else ()),
                *(getattr(DOMAINS[CUE_DOMAIN[token]], tag) if token in CUE_DOMAIN else ()),
            }
            assert token in licensed, (place, sentence)


def test_the_cues_of_a_reports_clause_tell_its_noun(reports: Reports) -> None:
    nouns = Counter[tuple[str, str | None]]()
    for sentence in reports.train:
        for clause in clauses(sentence):
            domains = {
                CUE_DOMAIN[t]
                for t in sentence.tokens[clause.start : clause.stop]
                if t in CUE_DOMAIN
            }
            ambiguous = [place for place in clause if sentence.senses[place] is not None]
            assert len(domains) <= 1
            assert len(ambiguous) <= 1
            for place in ambiguous:
                assert {sentence.senses[place]} == domains
                nouns[sentence.tokens[place], sentence.senses[place]] += 1
                near = [c for c in sentence.cues if c in clause]
                assert near
                assert all(1 <= abs(c - place) <= MAX_DISTANCE for c in near)
    assert set(nouns) == {(noun, sense) for noun in SENSES for sense in SENSES[noun]}


def test_what_prevails_in_reports(corpus: ToyCorpus, reports: Reports) -> None:
    """Rarer than half in the first kind of text, more than two thirds in the second."""

    def share(sentences: Iterable[Sentence], some: set[str], of: set[str], tag: str) -> float:
        found = [
            token
            for sentence in sentences
            for token, own in zip(sentence.tokens, sentence.tags, strict=True)
            if own == tag and token in of
        ]
        return sum(token in some for token in found) / len(found)

    cues = {tag: {w for c in DOMAINS.values() for w in getattr(c, tag)} for tag in ("NOUN", "ADJ")}
    for some, of, tag in (
        ({"because", "so"}, set(NEUTRAL["CCONJ"]), "CCONJ"),
        (set(NOUN_OR_VERB), set(NEUTRAL["VERB"]), "VERB"),
        ({"today", "again", "suddenly"}, set(NEUTRAL["ADV"]), "ADV"),
        ({"near", "from"}, set(NEUTRAL["ADP"]), "ADP"),
        (cues["NOUN"] - KNOWN, cues["NOUN"], "NOUN"),
    ):
        assert share(corpus.train, some, of, tag) < 0.4, tag
        assert share(reports.train, some, of, tag) > 0.7, tag
    assert abs(share(reports.train, cues["ADJ"] - KNOWN, cues["ADJ"], "ADJ") - 0.75) < 0.03


@pytest.mark.parametrize("make", [make_corpus, make_reports])
def test_a_number_of_sentences_is_one(make: Callable[..., Any]) -> None:
    for name in ("train", "development", "test"):
        with pytest.raises(ValueError, match=f"{name}: expected at least 0, got -1"):
            make(**{name: -1})
        for wrong in (None, 1.5, "10", True):
            with pytest.raises(TypeError, match=f"{name}: expected an integer, got {wrong!r}"):
                make(**{name: wrong})
    with pytest.raises(ValueError, match="labelled: expected at least 0, got -5"):
        make_corpus(labelled=-5)


# What tells the sense


def everything_but_cues(sentence: Sentence) -> set[str]:
    """Words in order and in pairs, lengths and positions; of a cue, its tag and its place."""
    tokens = [
        f"cue {tag}" if token in CUE_DOMAIN else token
        for token, tag in zip(sentence.tokens, sentence.tags, strict=True)
    ]
    places = [f"{place - sentence.target} {token}" for place, token in enumerate(tokens)]
    pairs = [" ".join(pair) for pair in pairwise(tokens)]
    rest = [
        f"length {len(tokens)}",
        f"target {sentence.target}",
        f"cues {sentence.cues}",
        f"side {side(sentence)}",
        " ".join(sentence.tags),
    ]
    return {*tokens, *places, *pairs, *rest}


@pytest.mark.parametrize("split", ["test", "new_cues", "two_cues"])
def test_nothing_but_the_cue_tells_the_sense(corpus: ToyCorpus, split: str) -> None:
    """Chance is 0.5 with a standard error of 0.013; the bound is four of them."""
    blind = naive_bayes_score(corpus.labelled, getattr(corpus, split), everything_but_cues)
    assert abs(blind - 0.5) < 0.054


def test_that_classifier_would_have_noticed(corpus: ToyCorpus) -> None:
    """The same features with the cues' words among them: the sense is told."""
    seeing = naive_bayes_score(
        corpus.labelled,
        corpus.test,
        lambda sentence: everything_but_cues(sentence) | bag_of_words(sentence),
    )
    assert seeing > 0.75


def test_a_bag_of_words_solves_the_plain_test_and_neither_of_the_harder_ones(
    corpus: ToyCorpus,
) -> None:
    assert naive_bayes_score(corpus.labelled, corpus.test) > 0.95
    assert abs(naive_bayes_score(corpus.labelled, corpus.new_cues) - 0.5) < 0.054
    assert abs(naive_bayes_score(corpus.labelled, corpus.two_cues) - 0.5) < 0.054


def test_a_sentence_with_several_ambiguous_nouns_has_no_single_target(corpus: ToyCorpus) -> None:
    several = next(s for s in corpus.train if sum(sense is not None for sense in s.senses) == 2)
    with pytest.raises(ValueError, match="expected one ambiguous noun, got 2 in"):
        _ = several.target
