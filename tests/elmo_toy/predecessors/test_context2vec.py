"""context2vec: its slot never sees its word, its gradients are right, and it learns."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from elmo_toy import text
from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.gradient_check import central_difference
from elmo_toy.predecessors.context2vec import (
    Context2Vec,
    Context2VecOptions,
    draw_negatives,
    train,
)
from elmo_toy.text import Vocabulary

WORDS = Vocabulary(["<S>", "</S>", "<UNK>", "the", "river", "bank", "flooded"])
OPTIONS = Context2VecOptions(
    LSTMOptions(dim=4, projection_dim=3, n_layers=1), hidden_dim=5, output_dim=3, negatives=2
)
SENTENCES = [["the", "river", "flooded"], [], ["bank"], ["the", "bank", "flooded", "the"]]


def make(options: Context2VecOptions = OPTIONS, seed: int = 0) -> Context2Vec:
    """In float64, every parameter moved away from 0."""
    rng = np.random.default_rng(seed)
    model = Context2Vec.initialise(options, rng, WORDS, np.float64)
    parameters = {k: v + rng.normal(0, 0.3, v.shape) for k, v in model.parameters.items()}
    return Context2Vec(options, parameters, WORDS)


@pytest.mark.parametrize("layers", [1, 2])
def test_every_gradient_is_the_central_difference(layers: int) -> None:
    options = dataclasses.replace(OPTIONS, lstm=dataclasses.replace(OPTIONS.lstm, n_layers=layers))
    model = make(options)
    ids = text.batch_word_ids(SENTENCES, WORDS)
    negatives = np.random.default_rng(1).integers(0, len(WORDS), (8, 2))
    _, slots, gradients = model.loss_and_gradients(ids, negatives)
    assert slots == 8
    assert gradients.keys() == model.parameters.keys()
    for name, gradient in gradients.items():

        def loss(value: np.ndarray, name: str = name) -> float:
            moved = Context2Vec(options, {**model.parameters, name: value}, WORDS)
            return moved.loss_and_gradients(ids, negatives)[0]

        expected = central_difference(loss, model.parameters[name], 1e-5)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-9, err_msg=name)
        assert np.abs(expected).max() > 1e-4, name


def test_the_loss_is_its_formula() -> None:
    model = make()
    ids = text.batch_word_ids(SENTENCES, WORDS)
    negatives = np.random.default_rng(1).integers(0, len(WORDS), (8, 2))
    layers, mask = model.embed(SENTENCES)
    total = 0.0
    for slot, word, drawn in zip(layers[:, 1][mask], layers[:, 0][mask], negatives, strict=True):
        total += np.log1p(np.exp(-slot @ word))
        total += sum(np.log1p(np.exp(slot @ model.parameters["target"][v])) for v in drawn)
    assert model.loss_and_gradients(ids, negatives)[0] == pytest.approx(total / 8, rel=1e-12)


def test_a_slot_depends_on_every_other_word_and_never_on_its_own() -> None:
    model = make()
    sentence = ["the", "river", "flooded", "the", "bank"]
    slots = model.embed([sentence]).layers[0, 1]
    for changed in range(5):
        other = list(sentence)
        other[changed] = "<UNK>"
        moved = np.abs(model.embed([other]).layers[0, 1] - slots).max(axis=1) > 0
        assert moved.tolist() == [place != changed for place in range(5)]


def test_a_sentence_is_the_same_alone_and_in_a_batch() -> None:
    model = make()
    layers, mask = model.embed(SENTENCES)
    assert mask.sum(axis=1).tolist() == [len(sentence) for sentence in SENTENCES]
    assert not layers.transpose(0, 2, 1, 3)[~mask].any()
    for row, sentence in enumerate(SENTENCES):
        alone = model.embed([sentence]).layers
        np.testing.assert_allclose(layers[row, :, : len(sentence)], alone[0], rtol=0, atol=1e-14)


def test_each_direction_has_its_own_table() -> None:
    model = make()
    ids = text.batch_word_ids([["the", "bank"]], WORDS)
    _, _, gradients = model.loss_and_gradients(ids, np.zeros((2, 2), dtype=int))
    forward, backward = (gradients[f"embedding/{d}"].any(axis=1) for d in ("forward", "backward"))
    # forward reads <S> before "the" and "the" before "bank"; backward the mirror image
    assert [WORDS.words[row] for row in np.flatnonzero(forward)] == ["<S>", "the"]
    assert [WORDS.words[row] for row in np.flatnonzero(backward)] == ["</S>", "bank"]


def test_negatives_follow_the_flattened_frequencies() -> None:
    frequencies = np.array([0.0, 16.0, 1.0, 81.0])
    drawn = draw_negatives(
        4000, dataclasses.replace(OPTIONS, power=0.5), frequencies, np.random.default_rng(0)
    )
    shares = np.bincount(drawn.reshape(-1), minlength=4) / drawn.size
    np.testing.assert_allclose(shares, np.array([0, 4, 1, 9]) / 14, atol=0.015)


def test_training_lowers_the_loss_and_leaves_the_start_alone() -> None:
    start = make()
    before = {name: value.copy() for name, value in start.parameters.items()}
    sentences = [["the", "river", "flooded"], ["the", "bank", "flooded", "the"]] * 8

    def run() -> tuple[Context2Vec, tuple[float, ...]]:
        model, curve = train(
            start, sentences, tokens=2000, learning_rate=0.05, rng=np.random.default_rng(3)
        )
        assert 2000 <= curve.tokens < 2064
        return model, curve.losses

    model, losses = run()
    assert losses[-1] < 0.75 * losses[0]
    assert all(np.array_equal(start.parameters[name], value) for name, value in before.items())
    again, _ = run()
    assert all(np.array_equal(v, again.parameters[name]) for name, v in model.parameters.items())


def test_what_cannot_be_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="negatives: expected at least 1, got 0"):
        dataclasses.replace(OPTIONS, negatives=0)
    with pytest.raises(TypeError, match=r"hidden_dim: expected an integer, got 2\.5"):
        dataclasses.replace(OPTIONS, hidden_dim=2.5)  # type: ignore[arg-type]  # what is refused
    for power in (-1.0, np.inf, np.nan):
        with pytest.raises(
            ValueError, match=f"power: expected a finite number from 0, got {power}"
        ):
            dataclasses.replace(OPTIONS, power=power)
    with pytest.raises(ValueError, match="lstm: expected joined=False"):
        dataclasses.replace(OPTIONS, lstm=LSTMOptions(4, 3, joined=True))
    model = make()
    with pytest.raises(ValueError, match=r"parameters\['target'\]: expected \(\d+, \d\), got \(2,"):
        Context2Vec(OPTIONS, {**model.parameters, "target": np.zeros((2, 2))}, WORDS)
    ids = text.batch_word_ids([["bank"]], WORDS)
    with pytest.raises(
        ValueError, match=r"negatives: expected a row for each of 1 slots, got shap"
    ):
        model.loss_and_gradients(ids, np.zeros((2, 2), dtype=int))
