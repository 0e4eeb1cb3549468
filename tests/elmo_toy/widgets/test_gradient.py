"""The explorer of chapter 4, beside `worked_example` and `descent`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from elmo_toy import descent
from elmo_toy.widgets import gradient
from elmo_toy.widgets._gradient import (
    DELTAS,
    FAR,
    MOST_STEPS,
    RATES,
    GradientState,
    history,
    moved,
    read,
    witness,
)
from elmo_toy.widgets._text import fixed
from elmo_toy.worked_example import PRESETS, State, eight_states


@pytest.mark.parametrize("state", eight_states(), ids=lambda s: f"{s.preset} {s.gamma:g}")
def test_the_eight_states(state: State) -> None:
    """Derivatives, and the loss before and after a step of 0.1, are those of `worked_example`."""
    texts = read(GradientState(state.preset, state.gamma))
    wanted = [*state.logit_gradient, state.gamma_gradient]
    assert [texts[f"sum-{j}"] for j in range(4)] == [fixed(value, 6) for value in wanted]
    assert [texts[f"measured-{j}"] for j in range(4)] == [fixed(value, 6) for value in wanted]
    assert texts["start"] == fixed(state.forward.loss, 6)
    assert texts["first-0"] == fixed(state.updated.loss, 6)
    assert texts["total-0"] == "0.000000"


@pytest.mark.parametrize("preset", PRESETS)
def test_the_right_rule_is_gradient_descent(preset: str) -> None:
    run = descent.descend([PRESETS[preset]], [1.0], 50, 0.5, n_recorded=20)
    ours = history("right", preset, 1.0, 0.5, 50)
    for step, loss in zip(run.steps, run.loss[:, 0], strict=True):
        assert ours[step].loss == pytest.approx(loss, abs=1e-12)


@pytest.mark.parametrize(
    ("rule", "step"),
    [
        ("right", descent.step_on_logits),
        ("without m", descent.step_without_m),
        ("on weights", descent.step_on_weights_with_logit_gradient),
    ],
)
def test_a_step_is_that_of_descent(rule: str, step: Callable[..., descent.Point]) -> None:
    ours = history(rule, "token", -0.7, 0.2, 1)[-1]
    theirs = step(PRESETS["token"], -0.7, 0.2)
    np.testing.assert_allclose(ours.weights, theirs.weights, atol=1e-14)
    assert ours.gamma == pytest.approx(theirs.gamma)


def test_the_sum_and_the_witness_catch_the_wrong_rules() -> None:
    texts = read(GradientState(steps=1, shown=True))
    losses = [float(texts[f"loss-{i}"]) for i in range(3)]
    assert max(losses) < float(texts["start"])
    assert [texts[f"total-{i}"] == "0.000000" for i in range(3)] == [True, False, True]
    assert texts["off-0"].startswith("about")
    assert min(float(texts["off-1"]), float(texts["off-2"])) > 0.1


def test_too_small_a_step_measures_nothing() -> None:
    subtracted, measured = witness("right", history("right", "upper", 1.0, 0.1, 0)[0], 1e-15)
    assert np.abs(subtracted - measured).max() > 1e-4


def test_a_run_that_leaves_stays_where_it_is() -> None:
    run = history("on weights", "lower", 0.3, RATES[-1], 30)
    assert np.abs(run[-1].weights).max() > FAR
    assert np.isfinite(run[-1].loss)
    assert run[-1] is run[-2]


def test_wrong_rules_are_not_told_before_they_are_shown() -> None:
    hidden, shown = read(GradientState(steps=3)), read(GradientState(steps=3, shown=True))
    assert {name[-1] for name in hidden if hidden[name] != shown[name]} == {"1", "2"}


def test_steps_add_up_to_a_limit_and_go_back() -> None:
    state = moved(moved(GradientState(), "steps", 100), "steps", 10)
    assert state.steps == 110
    assert moved(GradientState(steps=450), "steps", 100).steps == MOST_STEPS
    assert moved(state, "steps", 0).steps == 0


def test_a_prediction_is_asked_and_answered_from_the_start() -> None:
    answered = moved(GradientState(steps=101), "shown", True)
    assert answered.steps == 1
    assert moved(moved(answered, "steps", 100), "shown", False).steps == 0


def test_words_for_one_step_and_for_no_prediction() -> None:
    texts = read(GradientState(steps=1))
    assert [texts["steps"], read(GradientState())["steps"]] == ["1 step", "0 steps"]
    assert texts["guess"] == "You made no prediction."
    assert read(GradientState(guess="up"))["guess"] == "You said: higher."


def test_steps_of_the_difference_grow_to_the_right() -> None:
    assert [DELTAS[0], DELTAS[GradientState().delta], DELTAS[-1]] == [1e-15, 1e-5, 1e-1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("top",), "preset must be one of upper"),
        (("upper", 3.0), "gamma must lie between -2 and 2"),
    ],
)
def test_a_bad_start_is_refused(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        gradient(*arguments)  # type: ignore[arg-type]  # what is tested


def test_the_live_view_follows_its_controls() -> None:
    view = gradient().view
    view.controls["guess"].value = "stay"
    view.controls["shown"].value = True
    view.controls["steps 10"].click()
    view.controls["rate"].value = 5
    view.controls["delta"].value = 2
    view.controls["gamma"].value = -0.5
    view.controls["preset"].value = "lower"
    expected = GradientState("lower", -0.5, rate=5, delta=2, steps=11, guess="stay", shown=True)
    assert view.texts == read(expected)
    for text in (view.texts["loss-2"], view.texts["sum-3"], "You said: the same."):
        assert text in view.box.children[-1].value
    assert view.box.children[-1].value.count("<polyline") == 4
    view.box.children[-2].click()
    assert view.texts == read(GradientState())
    assert view.controls["rate"].value == 3


def test_the_static_table_holds_the_eight_states() -> None:
    page = gradient("lower", -1).as_html()
    assert 'state="s=lower&amp;g=-1.0"' in page
    for state in eight_states():
        assert f"<td>{state.forward.loss:.6f}</td>" in page
        assert f"<td>{state.updated.loss:.6f}</td>" in page
    bundle = gradient()._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
