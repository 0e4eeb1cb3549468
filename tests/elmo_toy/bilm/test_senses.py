"""The two classifiers of senses, on models whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest

from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import BiLM, Options
from elmo_toy.bilm.senses import naive_bayes_score, nearest_centroid_scores, target_vectors
from elmo_toy.bilm.token_encoder import LookupOptions
from elmo_toy.toy_language import SENSES, Sentence, ToyCorpus, make_corpus, vocabulary


@pytest.fixture(scope="module")
def corpus() -> ToyCorpus:
    return make_corpus(train=1, development=1, labelled=10, test=10)


@pytest.fixture(scope="module")
def untrained() -> BiLM:
    words = vocabulary()
    options = Options(LookupOptions(len(words)), LSTMOptions(dim=8, projection_dim=4))
    return BiLM.initialise(options, np.random.default_rng(0), words)


def test_target_vectors_are_those_of_the_noun(untrained: BiLM, corpus: ToyCorpus) -> None:
    vectors = target_vectors(untrained, corpus.test, batch_size=7)
    for row in (0, 11, 100):
        sentence = corpus.test[row]
        alone = untrained.embed([sentence.tokens]).layers[0, :, sentence.target]
        np.testing.assert_allclose(vectors[row], alone, rtol=0, atol=1e-6)


def test_the_token_layer_is_exactly_at_chance(untrained: BiLM, corpus: ToyCorpus) -> None:
    """Its vector is the same in every sentence, so every comparison is a tie."""
    known, asked = (target_vectors(untrained, part) for part in (corpus.labelled, corpus.test))
    assert nearest_centroid_scores(known, corpus.labelled, asked, corpus.test)[0] == 0.5


def test_vectors_that_show_the_sense_score_one_and_swapped_ones_zero(corpus: ToyCorpus) -> None:
    def shown(sentences: tuple[Sentence, ...]) -> np.ndarray:
        return np.array([SENSES[s.noun].index(s.sense) for s in sentences], dtype=float)

    known, asked = shown(corpus.labelled), shown(corpus.test)
    scores = nearest_centroid_scores(
        np.stack([known, known], axis=1)[:, :, None],
        corpus.labelled,
        np.stack([asked, 1 - asked], axis=1)[:, :, None],
        corpus.test,
    )
    assert scores == [1.0, 0.0]


def test_naive_bayes_knows_what_it_counted_and_no_more(corpus: ToyCorpus) -> None:
    def answer(sentence: Sentence) -> set[str]:
        return {sentence.sense}

    def nothing(_: Sentence) -> set[str]:
        return set()

    assert naive_bayes_score(corpus.labelled, corpus.test, answer) == 1.0
    assert naive_bayes_score(corpus.labelled, corpus.test, nothing) == 0.5
