"""The article's printed numbers, digit by digit, and what holds in all eight states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from elmo_toy import scalar_mix_gradients
from elmo_toy.worked_example import (
    GAMMAS,
    HEAD,
    LABELS,
    LAYERS,
    PRESETS,
    State,
    eight_states,
    forward,
    log_loss,
    sigmoid,
    state,
    state_at,
)

STATES = [pytest.param(s, id=f"{s.preset}-{s.gamma:g}") for s in eight_states()]


def printed(values: Any, digits: int) -> list[str]:
    """Fixed-point text, so that a comparison is digit by digit. No minus sign before a zero."""
    return [f"{value:z.{digits}f}" for value in np.ravel(values)]


# --- the article ----------------------------------------------------------------------------------


def test_article_mixtures() -> None:
    assert printed(state("upper", 1).forward.mixtures, 1) == ["1.7", "1.1", "0.3", "1.0"]
    assert printed(state("upper", 2).forward.mixtures, 1) == ["3.4", "2.2", "0.6", "2.0"]
    assert printed(state("lower", 1).forward.mixtures, 1) == ["0.8", "1.4", "1.2", "0.4"]
    # Nothing hides behind the rounding.
    np.testing.assert_allclose(
        state("upper", 1).forward.mixtures, [[1.7, 1.1], [0.3, 1.0]], rtol=1e-15
    )


def test_article_contribution_of_the_loans_upper_layer() -> None:
    """A positive weight with a negative coordinate: 0.5 * -1 at coordinate 1."""
    assert PRESETS["upper"][2] * LAYERS[1, 2, 0, 0] == -0.5


def test_article_scores_probabilities_and_loss() -> None:
    default = state().forward
    assert printed(default.scores, 1) == ["0.6", "-0.7"]
    assert printed(default.probabilities, 6) == ["0.645656", "0.331812"]
    assert printed(default.loss, 6) == ["0.420337"]
    assert printed(default.loss, 10) == ["0.4203369997"]


def test_article_gradients() -> None:
    default = state()
    assert printed(default.logit_gradient, 6) == ["0.042234", "0.272578", "-0.314812"]
    assert printed(default.gamma_gradient, 6) == ["-0.222437"]
    assert printed(default.logit_gradient.sum(), 15) == ["0.000000000000000"]


def test_article_one_step() -> None:
    default = state()
    assert printed(default.updated.loss, 10) == ["0.3980548517"]
    assert printed(default.updated.loss, 6) == ["0.398055"]


def test_article_doubling_gamma_under_lower_layer_emphasis() -> None:
    once, twice = state("lower", 1).forward, state("lower", 2).forward
    assert (np.sign(once.scores) == [-1, 1]).all()
    assert (LABELS == [1, 0]).all()
    assert printed([once.loss, twice.loss], 6) == ["1.104294", "1.623592"]


# --- every state ----------------------------------------------------------------------------------


def test_eight_states_are_four_presets_times_two_gammas() -> None:
    assert [(s.preset, s.gamma) for s in eight_states()] == [
        (preset, gamma) for preset in ("upper", "equal", "lower", "token") for gamma in (1.0, 2.0)
    ]
    assert tuple(PRESETS) == ("upper", "equal", "lower", "token")
    assert GAMMAS == (1.0, 2.0)
    assert all(abs(weights.sum() - 1) < 1e-15 for weights in PRESETS.values())


@pytest.mark.parametrize("s", STATES)
def test_intermediates_fit_together(s: State) -> None:
    f = s.forward
    tight = {"rtol": 1e-13, "atol": 1e-15}
    np.testing.assert_allclose(f.weights, PRESETS[s.preset], **tight)
    np.testing.assert_allclose(f.layer_scores, [[1, -2, 2], [1, 2, -3]], **tight)
    np.testing.assert_allclose(f.mixed_scores, f.layer_scores @ f.weights, **tight)
    np.testing.assert_allclose(f.scores, s.gamma * f.mixed_scores, **tight)
    np.testing.assert_allclose(f.probabilities, 1 / (1 + np.exp(-f.scores)), **tight)
    likelihood = np.where(LABELS == 1, f.probabilities, 1 - f.probabilities)
    np.testing.assert_allclose(f.losses, -np.log(likelihood), **tight)
    assert f.loss == f.losses.mean()
    np.testing.assert_allclose(s.score_gradients, (f.probabilities - LABELS) / 2, **tight)
    by_hand = (
        (s.score_gradients * s.gamma)[:, None]
        * f.weights
        * (f.layer_scores - f.mixed_scores[:, None])
    )
    np.testing.assert_allclose(s.logit_contributions, by_hand, **tight)
    np.testing.assert_allclose(s.gamma_contributions, s.score_gradients * f.mixed_scores, **tight)
    np.testing.assert_array_equal(s.logit_gradient, s.logit_contributions.sum(axis=0))
    assert s.gamma_gradient == s.gamma_contributions.sum()
    assert abs(s.logit_gradient.sum()) < 1e-15
    np.testing.assert_array_equal(s.updated_logits, s.logits - 0.1 * s.logit_gradient)
    assert s.updated_gamma == s.gamma - 0.1 * s.gamma_gradient
    assert s.updated.loss == forward(s.updated_logits, s.updated_gamma).loss


@pytest.mark.parametrize("s", STATES)
def test_gradients_equal_the_complex_step_of_the_loss(s: State) -> None:
    step = 1e-30
    for j in range(3):
        nudged = s.logits + 1j * step * (np.arange(3) == j)
        assert abs(forward(nudged, s.gamma).loss.imag / step - s.logit_gradient[j]) < 1e-15
    assert abs(forward(s.logits, s.gamma + 1j * step).loss.imag / step - s.gamma_gradient) < 1e-15


@pytest.mark.parametrize("s", STATES)
def test_one_pass_over_the_batch_gives_the_same_gradient_as_the_contributions(s: State) -> None:
    upstream = (s.score_gradients[:, None] * HEAD)[:, None]
    gradients = scalar_mix_gradients(LAYERS, s.logits, s.gamma, upstream)
    np.testing.assert_allclose(gradients.logits, s.logit_gradient, atol=1e-15)
    assert gradients.gamma == pytest.approx(s.gamma_gradient, abs=1e-15)


@pytest.mark.parametrize("s", STATES)
def test_the_displayed_step_lowers_the_loss(s: State) -> None:
    assert s.updated.loss < s.forward.loss


def test_a_step_of_five_raises_the_loss_under_lower_layer_emphasis() -> None:
    assert printed(state("lower", 1, learning_rate=5.0).updated.loss, 4) == ["2.7989"]


def test_the_loans_score_under_equal_weights_is_zero_but_for_rounding() -> None:
    """A trap: exact arithmetic gives 0, floats 5.6e-17, and neither has a sign worth showing."""
    score = state("equal", 1).forward.scores[1]
    assert 0 < abs(score) < 1e-15
    assert LAYERS[1, :, 0].sum(axis=0) @ HEAD == 0


# --- the pieces -----------------------------------------------------------------------------------


def test_loss_and_sigmoid_survive_large_scores_and_run_on_complex_numbers() -> None:
    scores = np.array([800.0, -800.0, 0.0])
    np.testing.assert_allclose(log_loss(scores, np.zeros(3)), [800, 0, np.log(2)], atol=1e-300)
    np.testing.assert_array_equal(sigmoid(scores), [1, 0, 0.5])
    # log1p: 1 + exp(-50) is 1.
    np.testing.assert_allclose(log_loss(-50.0, np.zeros(())), np.exp(-50), rtol=1e-12)
    # and it is not lost beside the score either, for label 1
    np.testing.assert_allclose(log_loss([50.0], np.ones(1)), np.exp(-50), rtol=1e-12)
    derivative = log_loss(scores + 1e-30j, np.array([1.0, 1.0, 0.0])).imag / 1e-30
    np.testing.assert_allclose(derivative, sigmoid(scores) - [1, 1, 0], atol=1e-15)


def test_the_examples_constants_cannot_be_changed_by_accident() -> None:
    for constant in (LAYERS, HEAD, LABELS, *PRESETS.values()):
        with pytest.raises(ValueError, match="read-only"):
            constant[...] = 0


def test_a_states_arrays_cannot_be_changed_by_accident() -> None:
    s = state()
    arrays = [
        value
        for holder in (s, s.forward, s.updated)
        for value in vars(holder).values()
        if isinstance(value, np.ndarray)
    ]
    assert len(arrays) == 6 + 7 + 7
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    given_logits = np.zeros(3)
    state_at(given_logits)
    given_logits[0] = 1  # the caller's own array stays the caller's


def test_state_of_any_logits_is_the_presets_for_the_presets_logits() -> None:
    assert state_at(np.log(PRESETS["token"]), 2.0, preset="token").as_record() == (
        state("token", 2.0).as_record()
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: state("top"), "preset must be one of upper, equal, lower, token, given 'top'"),
        (lambda: state("upper", np.nan), "gamma must be one finite real number"),
        (lambda: state(learning_rate=np.inf), "learning_rate must be one finite real number"),
        (lambda: state_at([0j, 0, 0]), "logits must be finite real numbers, given"),
        (lambda: state_at([np.nan, 0, 0]), "logits must be finite real numbers, given"),
        (lambda: state_at([-np.inf, 0, 0]), "logits must be finite real numbers, given"),
        (lambda: state_at([0.0, 0.0]), r"logits must have shape \(3,\)"),
        (lambda: forward(np.zeros(3), head=np.array([np.nan, 1])), "head must be finite"),
        (lambda: forward(np.zeros(3), layers=LAYERS[:0]), "layers must have shape"),
        (lambda: forward(np.zeros(2)), r"logits must have shape \(3,\)"),
        (lambda: forward(np.zeros(3), layers=LAYERS[:, :, 0]), "occurrences, layers, 1, dim"),
        (lambda: forward(np.zeros(3), head=np.ones(3)), "head and labels must have shapes"),
        (lambda: forward(np.zeros(3), labels=np.ones(3)), "head and labels must have shapes"),
        (lambda: forward(np.zeros(3), labels=np.array([1.0, 2.0])), r"labels must lie in \[0, 1\]"),
        (lambda: forward(np.zeros(3), labels=np.array([1.0, np.nan])), "labels must lie in"),
    ],
)
def test_wrong_arguments_are_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_lists_are_refused_by_name_where_an_array_is_meant() -> None:
    with pytest.raises(TypeError, match="head must be a float64 array, given a list"):
        forward(np.zeros(3), head=[1.0, -1.0])  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(TypeError, match="head must not be a numpy masked array"):
        forward(np.zeros(3), head=np.ma.masked_array([1.0, -1.0]))
    with pytest.raises(TypeError, match="labels must be a float64 array, given a list"):
        forward(np.zeros(3), labels=[1.0, 0.0])  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.parametrize(
    ("score", "label", "message"),
    [
        (np.inf, 1.0, "scores must be finite, given inf"),
        (np.nan, 1.0, "scores must be finite, given nan"),
        (0.5, 2.0, r"labels must lie in \[0, 1\], given 2"),
        (0.5, np.nan, r"labels must lie in \[0, 1\], given nan"),
    ],
)
def test_a_log_loss_is_of_finite_scores_and_labels_in_range(
    score: float, label: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        log_loss(score, np.array(label))
