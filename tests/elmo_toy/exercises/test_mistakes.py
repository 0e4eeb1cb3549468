"""The catalogue of wrong formulas: each is wrong, says what it is, and is told from the others."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from elmo_toy.exercises.closeness import apart
from elmo_toy.exercises.mistakes import (
    MISCONCEPTION_IDS,
    MISTAKES,
    QUANTITIES,
    Mistake,
    mistakes_of,
    right,
)
from elmo_toy.worked_example import state, state_at

#: Where every mistake shows: gamma and rate are neither 0 nor 1, and no factor is a half.
STATE = state("token", gamma=3.0, learning_rate=0.5)
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "weights": (state_at(np.log([1.0, 2.0, 3.0]), gamma=2.0),),
    "layer norm": (np.random.default_rng(0).normal(1.0, 2.0, size=(2, 3, 4, 5)),),
    "penalty": (np.array([0.5, -1.0, 2.0]), 0.3),
    "perplexity": (np.log([0.5, 0.1, 0.05]),),
    "error removed": (80.0, 86.0),
}


def arguments(quantity: str) -> tuple[Any, ...]:
    return ARGUMENTS.get(quantity, (STATE,))


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_wrong_and_of_its_quantitys_shape(mistake: Mistake) -> None:
    value = mistake.compute(*arguments(mistake.quantity))
    correct = right(mistake.quantity, *arguments(mistake.quantity))
    assert np.shape(value) == np.shape(correct)
    assert np.isfinite(value).all()
    assert apart(value, correct)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_mistakes_of_a_quantity_differ_in_three_digits(quantity: str) -> None:
    found = mistakes_of(quantity)
    assert len(found) >= 2
    for one, other in combinations(found, 2):
        values = [mistake.compute(*arguments(quantity)) for mistake in (one, other)]
        assert apart(*values), f"{one.name} and {other.name}"


def test_names_and_sentences() -> None:
    for name, mistake in MISTAKES.items():
        assert mistake.name == name
        assert mistake.quantity in QUANTITIES
        assert mistake.misconception in (None, *MISCONCEPTION_IDS)
        assert mistake.sentence[0].islower()
        assert not mistake.sentence.endswith(".")
    for quantity in QUANTITIES:
        sentences = [mistake.sentence for mistake in mistakes_of(quantity)]
        assert len(set(sentences)) == len(sentences)


def test_without_m_is_the_articles_gradient_plus_the_part_of_gamma() -> None:
    wrong = MISTAKES["without_m"].compute(STATE)
    part = STATE.gamma * STATE.gamma_gradient
    assert wrong - STATE.logit_gradient == pytest.approx(part * STATE.forward.weights)
    assert wrong.sum() == pytest.approx(part)


def test_a_step_on_the_weights_keeps_their_sum_and_one_by_the_weights_does_not() -> None:
    kept = MISTAKES["stepped_on_weights"].compute(STATE)
    left = MISTAKES["stepped_on_weights_by_weights"].compute(STATE)
    assert kept.sum() == pytest.approx(1)
    assert abs(left.sum() - 1) > 0.01


def test_mistakes_that_a_setting_hides() -> None:
    at_one = state("token", gamma=1.0)
    for name in ("gradient_without_gamma", "mixture_without_gamma", "loss_without_gamma"):
        mistake = MISTAKES[name]
        hidden = mistake.compute(at_one)
        assert hidden == pytest.approx(right(mistake.quantity, at_one)), name


def test_the_right_layer_norm_is_the_packages() -> None:
    layers = ARGUMENTS["layer norm"][0]
    normal = right("layer norm", layers)
    assert normal.mean(axis=(0, 2, 3)) == pytest.approx(np.zeros(3), abs=1e-12)
    variances = layers.var(axis=(0, 2, 3))
    assert normal.var(axis=(0, 2, 3)) == pytest.approx(variances / (variances + 0.5))


def test_an_unknown_quantity() -> None:
    with pytest.raises(KeyError, match="no quantity 'glory'; there are weights"):
        right("glory", STATE)
