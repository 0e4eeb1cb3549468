"""The grammar says what it promises: senses told by cues, and by nothing else."""

from collections import Counter
from itertools import chain, combinations, pairwise

import pytest

from elmo_toy.bilm.senses import bag_of_words, naive_bayes_score
from elmo_toy.toy_language import (
    DOMAINS,
    MAX_DISTANCE,
    NEUTRAL,
    NOUN_OR_VERB,
    SENSES,
    Sentence,
    ToyCorpus,
    make_corpus,
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
