"""Training learns and repeats itself; what is measured is what a plain loop measures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from elmo_toy import masked_training
from elmo_toy.bilm import records
from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.masked_lm import Hidden, LSTMEncoder, MaskedLM
from elmo_toy.text import Vocabulary
from elmo_toy.toy_language import make_corpus

SENTENCES = [["the", "river", "bank", "flooded"], ["bank"], ["the", "bank", "the"]]


def make() -> MaskedLM:
    """A small model of a few words."""
    words = Vocabulary(["<S>", "</S>", "<UNK>", "the", "river", "bank", "flooded"])
    rng = np.random.default_rng(0)
    encoder = LSTMEncoder.initialise(LSTMOptions(4, 3, joined=True), len(words), rng)
    return MaskedLM.initialise(encoder, words, rng)


def test_one_at_a_time_hides_each_word_alone() -> None:
    model = make()
    losses = []
    for words in SENTENCES:
        ids = model.ids([words])
        for place in range(1, len(words) + 1):
            at = np.arange(ids.shape[1])[None] == place
            losses.append(model.loss(Hidden(np.where(at, model.mask_id, ids), at), ids))
    assert masked_training.one_at_a_time(model, SENTENCES) == pytest.approx(
        np.mean(losses), rel=1e-12
    )


def test_a_bilm_is_asked_for_the_same_words(make_model) -> None:
    model = make_model()
    share = np.arange(1.0, 8.0)
    found = masked_training.bilm_one_at_a_time(model, SENTENCES, share)
    losses: list[list[float]] = []
    for sentence in SENTENCES:
        chances = model.predictions(sentence)
        for place, word in enumerate(sentence):
            number = model.vocabulary.id(word)
            forward, backward = chances[:, place]
            both = [forward[w] * backward[w] / share[w] for w in range(7)]
            asked = forward[number], backward[number], both[number] / sum(both)
            losses.append([-np.log(p) for p in asked])
    np.testing.assert_allclose(found, np.mean(losses, axis=0), rtol=1e-12)


def test_training_is_repeatable_and_learns() -> None:
    corpus = make_corpus(1, train=80, development=20, labelled=1, test=1)
    words = Vocabulary.from_sentences([s.tokens for s in corpus.train + corpus.development])
    train, held_out = ([s.tokens for s in part] for part in (corpus.train, corpus.development))

    def run() -> tuple[MaskedLM, list[masked_training.Point]]:
        rng = np.random.default_rng(0)
        encoder = LSTMEncoder.initialise(LSTMOptions(8, 4, joined=True), len(words), rng)
        model = MaskedLM.initialise(encoder, words, rng)
        points = masked_training.train(
            model, train, held_out, tokens=6000, learning_rate=0.03, rng=rng, evaluations=3
        )
        return model, points

    (model, points), (_, again) = run(), run()
    assert points == again
    assert [point.tokens >= 2000 * n for n, point in enumerate(points)] == [True] * 4
    assert points[-1].development < points[0].development - 0.1
    assert 0.1 < points[-1].predictions / points[-1].tokens < 0.2
    left = masked_training.evaluate(model, held_out, np.random.default_rng(7))
    assert left < points[0].development, "the model is changed in place"


def test_a_loss_that_is_not_finite_stops_the_training() -> None:
    model = make()
    model.head["W"][:] = np.nan
    with pytest.raises(FloatingPointError, match="the loss became nan after 0 tokens"):
        masked_training.train(
            model, SENTENCES, SENTENCES, tokens=9, learning_rate=0.1, rng=np.random.default_rng(0)
        )


def test_a_generator_is_needed() -> None:
    nothing: Any = None
    with pytest.raises(TypeError, match="rng: expected a numpy Generator, got None"):
        masked_training.train(
            make(), SENTENCES, SENTENCES, tokens=9, learning_rate=0.1, rng=nothing
        )


def test_target_vectors_are_the_nouns_layers() -> None:
    corpus = make_corpus(1, train=0, development=0, labelled=1, test=1)
    words = Vocabulary.from_sentences([s.tokens for s in corpus.labelled])
    encoder = LSTMEncoder.initialise(LSTMOptions(4, 3), len(words), np.random.default_rng(0))
    model = MaskedLM.initialise(encoder, words, np.random.default_rng(0))
    found = masked_training.target_vectors(model, corpus.labelled)
    assert found.shape == (28, 3, 6)
    for row in (0, 13, 27):
        sentence = corpus.labelled[row]
        alone = model.embed([sentence.tokens]).layers[0, :, sentence.target]
        np.testing.assert_allclose(found[row], alone, rtol=1e-12)


def test_the_record_holds_five_seeds_of_each_encoder() -> None:
    found = masked_training.recorded()
    assert list(found) == ["joined", "apart", "attention", "without positions"]
    for name, runs in records.read("masked")["models"].items():
        one = found[name.replace("_", " ")]
        assert [run["seed"] for run in runs] == list(range(5))
        assert one.scores.shape == one.untrained.shape == (5, 3)
        assert one.example.shape == (10, 10)
        assert one.by_offset.shape == (17,)
        for run, loss in zip(runs, one.loss, strict=True):
            assert run["curve"][0][0] == 0
            assert run["curve"][-1] == [pytest.approx(2_500_000, rel=0.001), loss]


def test_scores_are_those_of_the_test_asked_for() -> None:
    runs = records.read("masked")["models"]["apart"]
    found = masked_training.recorded("two_cues", "few")["apart"]
    assert found.scores.tolist() == [run["scores"]["few"]["two_cues"] for run in runs]
    assert found.untrained.tolist() == [run["untrained_scores"]["few"]["two_cues"] for run in runs]


def test_apart_directions_reach_as_far_as_joined_ones_but_each_to_its_side() -> None:
    """The map of the record is that of the whole top layer: no cell is empty."""
    for name, found in masked_training.recorded().items():
        assert (found.example > 0).all(), name
