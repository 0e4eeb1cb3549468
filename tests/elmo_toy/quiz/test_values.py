from __future__ import annotations

import numpy as np
import pytest

from elmo_toy.descent import descend, step_on_logits
from elmo_toy.gradient_check import complex_step
from elmo_toy.quiz.values import values
from elmo_toy.worked_example import HEAD, LABELS, LAYERS, PRESETS, forward, log_loss

VALUES = values()


def numbers(name: str) -> np.ndarray:
    return np.array(VALUES[name].replace("−", "-").strip("[]").split(", "), dtype=float)


def test_the_articles_numbers() -> None:
    assert VALUES["river"] == "[1.7, 1.1]"
    assert VALUES["loan"] == "[0.3, 1.0]"
    assert VALUES["loss"] == "0.420337"
    assert VALUES["loss after"] == "0.398055"
    assert VALUES["logit gradient"] == "[0.042234, 0.272578, −0.314812]"
    assert VALUES["gamma gradient"] == "−0.222437"


def test_the_walk_changes_no_prediction_and_the_largest_weight() -> None:
    assert VALUES["start layer"] != VALUES["walk layer"]
    start = forward(np.log([0.2, 0.3, 0.5]))
    weights, gamma = numbers("walk weights"), float(VALUES["walk gamma"])
    end = forward(np.log(weights / weights.sum()), gamma)
    np.testing.assert_allclose(end.scores, start.scores, atol=0.01)  # of rounded weights
    assert VALUES["walk loss"] == VALUES["loss"]


@pytest.mark.parametrize("name", ["river", "loan"])
def test_the_direction_is_unseen(name: str) -> None:
    assert numbers("unseen") @ numbers(f"{name} layer scores") == 0
    assert eval(VALUES[f"unseen times {name}"].replace("−", "-")) == 0  # noqa: S307 - our own sum


@pytest.mark.parametrize("name", ["river", "loan"])
def test_derivatives_of_a_score_add_up_to_zero_with_m_only(name: str) -> None:
    assert numbers(f"{name} score by logit").sum() == pytest.approx(0.0, abs=1e-12)
    score = float(VALUES[f"{name} score"].replace("−", "-"))
    assert numbers(f"{name} score without m").sum() == pytest.approx(score)


def test_layers_are_the_articles() -> None:
    for k, name in enumerate(("river", "loan")):
        for j in range(3):
            np.testing.assert_array_equal(numbers(f"{name} h{j}"), LAYERS[k, j, 0])


def test_opposite_runs() -> None:
    assert VALUES["run plus layer"] != VALUES["run minus layer"]
    assert VALUES["run minus gamma"].startswith("−")


def number(name: str) -> float:
    return float(VALUES[name].replace("−", "-"))


def test_a_step_on_the_weights() -> None:
    """Along the derivatives of the loss by three free numbers, with the article's rate."""
    scores = LAYERS[:, :, 0] @ HEAD
    slopes = complex_step(lambda s: log_loss(scores @ s, LABELS).mean(), PRESETS["upper"])
    stepped = PRESETS["upper"] - 0.1 * slopes
    assert number("weight step sum") == pytest.approx(stepped.sum(), abs=5e-5)


def test_the_rate_at_which_a_weight_turns_negative() -> None:
    gradient = complex_step(lambda a: forward(a).loss, np.log(PRESETS["upper"]))
    rate = number("rate of a negative weight")
    assert (PRESETS["upper"] - 0.999 * rate * gradient > 0).all()
    assert (PRESETS["upper"] - 1.001 * rate * gradient < 0).any()


def test_the_rate_that_is_too_large_and_one_beyond_it() -> None:
    lower = PRESETS["lower"]
    start, rate = forward(np.log(lower)).loss, number("rate without progress")
    assert step_on_logits(lower, 1.0, 0.999 * rate).loss < start
    assert step_on_logits(lower, 1.0, 1.001 * rate).loss > start
    far = step_on_logits(lower, 1.0, 5.0)
    assert number("far loss") == pytest.approx(float(far.loss), abs=5e-4)
    assert number("far gamma") == pytest.approx(float(far.gamma), abs=5e-3)


def test_other_units_of_the_upper_layer() -> None:
    """0.2, 0.3 and 0.5 / 10, made weights again."""
    np.testing.assert_allclose(numbers("units weights"), [4 / 11, 6 / 11, 1 / 11], atol=5e-4)
    assert number("units gamma") == 0.55


def test_what_table_2_says_of_squad() -> None:
    """80.8, 84.7, 85.0 and 85.2."""
    assert VALUES["last layer share"] == f"{3.9 / 4.4:.0%}"
    assert VALUES["learned over average"] == "0.2"


def test_the_runs_are_told_as_they_end() -> None:
    steps = int(VALUES["runs steps"])
    run = descend([PRESETS["upper"]] * 2, [1.0, -1.0], steps, 0.5)
    for i, name in enumerate(("plus", "minus")):
        assert number(f"run {name} weight") == pytest.approx(run.weights[-1, i].max(), abs=5e-4)
        assert number(f"run {name} loss") == pytest.approx(run.loss[-1, i], abs=5e-7)
        assert number(f"run {name} gamma") == pytest.approx(run.gamma[-1, i], abs=5e-3)
