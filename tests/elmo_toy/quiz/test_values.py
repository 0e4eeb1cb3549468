from __future__ import annotations

import numpy as np
import pytest

from elmo_toy.quiz.values import values
from elmo_toy.worked_example import LAYERS, forward

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
