"""The parts add up, a frozen extractor adds nothing, and every step is the gradient's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import BiLM, Options
from elmo_toy.bilm.token_encoder import LookupOptions
from elmo_toy.scalar_mix import ScalarMix
from elmo_toy.toy_language import make_corpus, vocabulary
from elmo_toy.two_sources import Change, change_lengths, in_float64, split_change, train_sense
from elmo_toy.worked_example import log_loss

BANK = [s for s in make_corpus(0, train=0, development=0, test=1).labelled if s.noun == "bank"][:6]


@pytest.fixture(scope="module")
def tiny() -> BiLM:
    options = Options(LookupOptions(len(vocabulary())), LSTMOptions(3, 2))
    return BiLM.initialise(options, np.random.default_rng(0), vocabulary(), np.float64)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_the_parts_add_up_to_the_change(seed: int) -> None:
    rng = np.random.default_rng(seed)
    old, new = rng.normal(size=(2, 2, 3, 4, 5))
    before, after = (ScalarMix.from_logits(rng.normal(size=3), rng.normal()) for _ in range(2))
    change = split_change(before, old, after, new)
    np.testing.assert_allclose(change.total, after.mix(new) - before.mix(old), atol=1e-13)
    np.testing.assert_allclose(change.coefficients, after.mix(old) - before.mix(old), atol=1e-13)
    np.testing.assert_allclose(change.features, before.mix(new) - before.mix(old), atol=1e-13)


def test_only_what_moved_has_a_part() -> None:
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(2, 1, 3, 4, 5))
    mix, other = ScalarMix.from_logits([0.0] * 3), ScalarMix.from_logits([0.0, 1.0, 2.0])

    def moved(change: Change) -> list[bool]:
        return [bool(part.any()) for part in change]

    assert moved(split_change(mix, old, other, old)) == [True, False, False]
    assert moved(split_change(mix, old, mix, new)) == [False, True, False]
    assert moved(split_change(mix, old, other, new)) == [True, True, True]


def test_a_frozen_extractor_is_the_same_object_and_a_trained_one_a_new_one(tiny: BiLM) -> None:
    before = {name: value.copy() for name, value in tiny.parameters.items()}
    frozen = train_sense(tiny, BANK, steps=2, rate=0.5, model_rate=0.0)
    assert all(snapshot.model is tiny for snapshot in frozen)
    moved = train_sense(tiny, BANK, steps=2, rate=0.5, model_rate=0.5)
    for name, value in before.items():
        np.testing.assert_array_equal(tiny.parameters[name], value, err_msg="left as it is")
        assert (moved[-1].model.parameters[name] is not tiny.parameters[name]) == (
            not name.startswith("softmax/")
        )
    assert moved[-1].loss < frozen[-1].loss < frozen[0].loss == pytest.approx(np.log(2))


def test_lengths_are_those_of_the_nouns_parts(tiny: BiLM) -> None:
    run = train_sense(tiny, BANK, steps=2, rate=0.5, model_rate=0.5)
    found = change_lengths(run, BANK)
    assert {name: line[0] for name, line in found.items()} == dict.fromkeys(found, 0)
    texts = [s.tokens for s in BANK]
    old, new = (snapshot.model.embed(texts).layers for snapshot in (run[0], run[2]))
    change = split_change(run[0].mix, old, run[2].mix, new)
    for name, part in zip(found, (*change, change.total), strict=True):
        lengths = [np.linalg.norm(part[row, s.target]) for row, s in enumerate(BANK)]
        assert found[name][2] == pytest.approx(np.mean(lengths))
        assert found[name][2] > 0
    frozen = change_lengths(train_sense(tiny, BANK, steps=2, rate=0.5, model_rate=0.0), BANK)
    assert not frozen["features"].any()
    np.testing.assert_array_equal(frozen["coefficients"], frozen["in all"])


def test_every_step_follows_the_central_difference(tiny: BiLM) -> None:
    """One step from snapshot 1 (where the head is no longer zero): the loss is written out anew."""
    rate = 0.3
    _, start, after = train_sense(tiny, BANK, steps=2, rate=rate, model_rate=rate)
    labels = np.array([s.sense == "water" for s in BANK], dtype=float)
    places = [s.target for s in BANK]

    def loss(mix: ScalarMix, head: np.ndarray, model: BiLM) -> float:
        mixtures = mix.mix(model.embed([s.tokens for s in BANK]).layers)
        return log_loss(mixtures[np.arange(len(BANK)), places] @ head, labels).mean()

    assert start.loss == pytest.approx(loss(start.mix, start.head, start.model), abs=1e-13)

    def check(numbers: np.ndarray, moved: np.ndarray, at: object) -> None:
        for index in [(0,) * numbers.ndim, (-1,) * numbers.ndim]:
            ends = []
            for sign in (1, -1):
                point = numbers.copy()
                point[index] += sign * 1e-6
                ends.append(at(point))
            slope = (ends[0] - ends[1]) / 2e-6
            assert moved[index] - numbers[index] == pytest.approx(-rate * slope, abs=1e-8)

    check(start.head, after.head, lambda x: loss(start.mix, x, start.model))
    check(
        start.mix.logits,
        after.mix.logits,
        lambda x: loss(ScalarMix.from_logits(x, start.mix.gamma), start.head, start.model),
    )
    check(
        np.array([start.mix.gamma]),
        np.array([after.mix.gamma]),
        lambda x: loss(ScalarMix.from_logits(start.mix.logits, x[0]), start.head, start.model),
    )
    for name, value in start.model.parameters.items():

        def at(x: np.ndarray, name: str = name) -> float:
            model = BiLM(tiny.options, start.model.parameters | {name: x}, tiny.vocabulary)
            return loss(start.mix, start.head, model)

        check(value, after.model.parameters[name], at)


def test_bad_arguments_are_named(tiny: BiLM) -> None:
    others = make_corpus(0, train=0, development=0, test=1).labelled[:28]
    with pytest.raises(ValueError, match=r"expected one ambiguous noun .*'bank', 'bass'"):
        train_sense(tiny, others, steps=1, rate=1, model_rate=0)
    single = BiLM.initialise(tiny.options, np.random.default_rng(0), vocabulary())
    with pytest.raises(ValueError, match=r"got .* and float32"):
        train_sense(single, BANK, steps=1, rate=1, model_rate=0)
    assert in_float64(single).dtype == np.float64
    mix = ScalarMix.from_logits([0.0, 0.0])
    with pytest.raises(ValueError, match=r"with 2 and 2 layers as the mixtures have, got \(1, 3"):
        split_change(mix, np.ones((1, 3, 1, 1)), mix, np.ones((1, 3, 1, 1)))


def test_layers_of_bytes_do_not_wrap_around() -> None:
    mix = ScalarMix.from_logits([0.0, 0.0])
    old, new = np.full((1, 2, 1, 1), 200, np.uint8), np.full((1, 2, 1, 1), 100, np.uint8)
    assert split_change(mix, old, mix, new).features.item() == -100
    listed: Any = old.tolist()
    assert split_change(mix, listed, mix, new).features.item() == -100


@pytest.mark.parametrize(
    ("layers", "error", "message"),
    [
        (np.full((1, 2, 1, 1), np.nan), ValueError, "layers must be finite, given nan"),
        (np.ones((1, 2, 1, 1), complex), TypeError, "layers must be real, given complex128"),
        (np.ones((1, 2, 1)), ValueError, r"expected one shape \(batch, layers, tokens, dim\)"),
        (np.ones((1, 3, 1, 1)), ValueError, "with 2 and 2 layers as the mixtures have"),
    ],
)
def test_layers_that_are_none_are_refused(
    layers: np.ndarray, error: type[Exception], message: str
) -> None:
    mix = ScalarMix.from_logits([0.0, 0.0])
    with pytest.raises(error, match=message):
        split_change(mix, layers, mix, layers)
    if layers.ndim == 4:
        with pytest.raises((ValueError, TypeError), match="new_layers"):
            split_change(mix, np.ones((1, 2, 1, 1)), mix, layers)
