"""The loop that both predecessors are trained by; their gradients are checked with their models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from elmo_toy.bilm.training import Gradients
from elmo_toy.predecessors import stacks
from elmo_toy.text import IntArray


def train(parameters: dict[str, np.ndarray], **settings: Any) -> stacks.Curve:
    """Pull one number towards 3."""

    def step(rows: IntArray) -> tuple[float, int, Gradients]:
        distance = parameters["p"] - 3
        return float(distance[0] ** 2), len(rows), {"p": 2 * distance}

    arguments: dict[str, Any] = {
        "tokens": 40,
        "learning_rate": 0.1,
        "rng": np.random.default_rng(0),
        "batch_size": 4,
    }
    return stacks.train(parameters, step, np.ones(8, int), **(arguments | settings))


def test_the_curve_holds_a_mean_loss_for_each_tenth() -> None:
    """Ten steps of four predictions, at a constant rate: one loss each, from (0 - 3)**2 down."""
    parameters = {"p": np.zeros(1)}
    curve = train(parameters, decay="none")
    assert (len(curve.losses), curve.tokens) == (10, 40)
    assert curve.losses[0] == 9.0
    assert curve.losses[1] == pytest.approx(2.9**2)  # Adam's first step is the learning rate
    assert list(curve.losses) == sorted(curve.losses, reverse=True)
    assert len(train({"p": np.zeros(1)}, tokens=6).losses) == 2


def test_the_rate_falls_to_nothing() -> None:
    """With the same gradients a falling rate goes half as far."""
    falling, constant = {"p": np.full(1, -1e6)}, {"p": np.full(1, -1e6)}
    train(falling)
    train(constant, decay="none")
    ways = [parameters["p"][0] + 1e6 for parameters in (falling, constant)]
    assert ways == pytest.approx([0.55, 1.0], rel=1e-3)  # 0.1 (1 + 0.9 + ... + 0.1), and 10 * 0.1


def test_gradients_are_clipped() -> None:
    """To a length so small that Adam's epsilon shows."""
    parameters = {"p": np.zeros(1)}
    train(parameters, tokens=4, clip_norm=1e-8)
    assert parameters["p"][0] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"tokens": 0}, ValueError, "tokens: expected at least 1, got 0"),
        ({"tokens": 1.5}, TypeError, "tokens: expected an integer, got 1.5"),
        ({"rng": None}, TypeError, "rng: expected a numpy Generator, got None"),
    ],
)
def test_what_cannot_be_is_refused(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        train({"p": np.zeros(1)}, **settings)


def test_a_loss_that_is_no_number_stops_the_run() -> None:
    with pytest.raises(FloatingPointError, match="the loss became nan after 0 tokens"):
        train({"p": np.full(1, np.nan)})
