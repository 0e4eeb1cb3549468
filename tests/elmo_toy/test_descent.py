"""Steps right and wrong, and where many of them lead; the book's thresholds, digit by digit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy import descent
from elmo_toy.descent import (
    LAYER_SCORES,
    STEPS,
    Point,
    descend,
    gradients_at,
    loss_at,
    multiplicative_step,
    rate_without_progress,
    step_on_logits,
    step_on_weights,
    step_on_weights_with_logit_gradient,
    step_without_m,
    train_head,
)
from elmo_toy.gradient_check import complex_step
from elmo_toy.worked_example import HEAD, LAYERS, PRESETS, State, eight_states, forward, state

UPPER, LOWER = PRESETS["upper"], PRESETS["lower"]
STATES = [pytest.param(s, id=f"{s.preset}-{s.gamma:g}") for s in eight_states()]
SEEDS = st.integers(0, 2**32 - 1)


# --- what it refuses ------------------------------------------------------------------------------

RULES = [*STEPS.values(), step_without_m]


@pytest.mark.parametrize("function", [loss_at, gradients_at, *RULES])
@pytest.mark.parametrize(
    ("weights", "gamma", "message"),
    [
        (UPPER[:2], 1.0, r"must have shapes \(…, 3\) and \(…,\), given \(2,\) and \(\)"),
        (np.float64(1), 1.0, r"given \(\) and \(\)"),
        ([UPPER, UPPER], [1.0, 2.0, 3.0], r"given \(2, 3\) and \(3,\)"),
        ([[UPPER, UPPER]], [1.0, 2.0], r"given \(1, 2, 3\) and \(2,\)"),
        (UPPER * [1, 1, np.nan], 1.0, "weights must be finite, given"),
        (UPPER, np.inf, "gamma must be finite, given inf"),
    ],
)
def test_weights_and_gamma_fit_each_other_and_are_finite(
    function: Any, weights: Any, gamma: Any, message: str
) -> None:
    """Nothing is broadcast that nobody asked for, and no NaN is passed on."""
    with pytest.raises(ValueError, match=message):
        function(weights, gamma)


@pytest.mark.parametrize("function", [loss_at, gradients_at])
def test_labels_are_two_probabilities(function: Any) -> None:
    with pytest.raises(ValueError, match=r"labels must be \(2,\) numbers in \[0, 1\], given"):
        function(UPPER, 1.0, [1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match=r"labels must be \(2,\) numbers in \[0, 1\], given"):
        function(UPPER, 1.0, np.array([1 + 1e-30j, 0]))
    with pytest.raises(TypeError, match="labels must not be a numpy masked array"):
        function(UPPER, 1.0, np.ma.masked_invalid([1.0, np.nan]))


def test_one_gamma_serves_all_weights_and_one_row_all_gammas() -> None:
    rows, gammas = np.stack([UPPER, LOWER]), np.array([0.5, -2.0, 3.0])
    expected = [loss_at(UPPER, 0.5), loss_at(LOWER, 0.5)]
    np.testing.assert_array_equal(loss_at(rows, 0.5), expected)
    expected = [loss_at(UPPER, gamma) for gamma in gammas]
    np.testing.assert_allclose(loss_at(UPPER, gammas), expected, rtol=1e-15)


def test_whole_numbers_are_numbers() -> None:
    """The corners of the simplex, a few gammas and hard labels are whole; a flag is none."""
    corners, gammas, labels = np.eye(3, dtype=int), np.arange(3), np.array([1, 0])
    expected = loss_at(corners.astype(float), gammas.astype(float), labels.astype(float))
    np.testing.assert_array_equal(loss_at(corners, gammas, labels), expected)
    with pytest.raises(TypeError, match="weights must be float32, float64, complex128, given bool"):
        loss_at(corners > 0, 1.0)


@pytest.mark.parametrize("rule", RULES)
def test_a_step_needs_a_finite_rate(rule: Any) -> None:
    with pytest.raises(ValueError, match="learning_rate must be one finite real number, given nan"):
        rule(UPPER, 1.0, np.nan)


@pytest.mark.parametrize("rule", [step_on_logits, step_without_m, multiplicative_step])
def test_weights_off_the_simplex_have_no_logits(rule: Any) -> None:
    """As `step_on_weights` leaves them; the steps that need no logits take them."""
    outside = np.array([0.6, 0.5, -0.1])
    with pytest.raises(
        ValueError, match="weights must be positive with sum 1, to be a softmax of logits"
    ):
        rule(outside, 1.0)
    with pytest.raises(
        ValueError, match="weights must be positive with sum 1, to be a softmax of logits"
    ):
        rule([0.0 + 1e-3j, 0.5, 0.5], 1.0)
    assert np.isfinite(step_on_weights(outside, 1.0).weights).all()


# --- the same loss as the worked example ----------------------------------------------------------


@pytest.mark.parametrize("s", STATES)
def test_loss_gradients_and_step_equal_the_worked_examples(s: State) -> None:
    weights = s.forward.weights
    gradients = gradients_at(weights, s.gamma)
    assert float(loss_at(weights, s.gamma)) == pytest.approx(s.forward.loss, abs=1e-15)
    np.testing.assert_allclose(gradients.logits, s.logit_gradient, atol=1e-15)
    assert float(gradients.gamma) == pytest.approx(s.gamma_gradient, abs=1e-15)
    stepped = step_on_logits(weights, s.gamma)
    np.testing.assert_allclose(stepped.weights, s.updated.weights, atol=1e-15)
    assert float(stepped.loss) == pytest.approx(s.updated.loss, abs=1e-15)


@given(SEEDS)
def test_weight_gradient_is_that_of_free_coefficients(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, gamma = rng.normal(size=3), float(rng.normal())
    labels = rng.random(2)

    def loss(w: Any) -> Any:
        scores = gamma * (LAYER_SCORES @ w)
        return (np.log1p(np.exp(scores)) - labels * scores).mean()

    gradients = gradients_at(weights, gamma, labels)
    np.testing.assert_allclose(gradients.weights, complex_step(loss, weights), atol=1e-13)


@given(SEEDS)
def test_a_stack_of_runs_equals_each_run_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, gamma = rng.dirichlet(np.ones(3), size=4), rng.normal(size=4)
    together = gradients_at(weights, gamma)
    for i in range(4):
        alone = gradients_at(weights[i], gamma[i])
        np.testing.assert_allclose(together.logits[i], alone.logits, atol=1e-15)
        np.testing.assert_allclose(together.gamma[i], alone.gamma, atol=1e-15)


# --- what the sums tell ---------------------------------------------------------------------------


@given(SEEDS)
def test_right_gradient_sums_to_zero_and_the_one_without_m_to_gamma_times_gammas(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, gamma = rng.dirichlet(np.ones(3)), float(rng.normal(scale=3))
    gradients = gradients_at(weights, gamma)
    # Scores reach 3 and |gamma| about 10: sums of products of that size, rounded.
    assert abs(gradients.logits.sum()) < 1e-14
    assert abs(gradients.logits_without_m.sum() - gamma * gradients.gamma) < 1e-14


@pytest.mark.parametrize("s", STATES)
@pytest.mark.parametrize("rule", [step_on_logits, step_without_m, step_on_weights])
def test_right_and_wrong_steps_all_lower_the_loss(s: State, rule: Any) -> None:
    """Falling loss verifies nothing."""
    assert rule(s.forward.weights, s.gamma).loss < s.forward.loss


def test_at_the_default_the_wrong_gradient_gets_further() -> None:
    assert f"{step_without_m(UPPER, 1.0).loss:.6f}" == "0.396598"
    assert f"{step_on_logits(UPPER, 1.0).loss:.6f}" == "0.398055"


@pytest.mark.parametrize("s", [s for s in STATES if "equal" in str(s.id)])
def test_at_equal_weights_forgetting_m_changes_no_weight(s: State) -> None:
    right, wrong = (rule(s.forward.weights, s.gamma) for rule in (step_on_logits, step_without_m))
    assert np.abs(right.weights - wrong.weights).max() < 1e-15
    assert np.abs(gradients_at(s.forward.weights, s.gamma).logits_without_m.sum()) > 0.01


# --- four ways to step ----------------------------------------------------------------------------


def test_steps_on_weights_with_the_logit_gradient_keep_the_sum_and_lose_the_sign() -> None:
    limit = (UPPER / gradients_at(UPPER, 1.0).logits)[1]
    assert f"{limit:.4f}" == "1.1006"
    just_inside = step_on_weights_with_logit_gradient(UPPER, 1.0, limit - 1e-6).weights
    just_outside = step_on_weights_with_logit_gradient(UPPER, 1.0, limit + 1e-6).weights
    assert (just_inside > 0).all()
    assert just_outside[1] < 0
    assert just_outside.sum() == pytest.approx(1, abs=1e-15)


def test_steps_on_weights_with_the_weight_gradient_leave_the_simplex() -> None:
    assert [f"{g:.4f}" for g in gradients_at(UPPER, 1.0).weights] == [
        "-0.0113",
        "0.6862",
        "-0.8521",
    ]
    assert f"{step_on_weights(UPPER, 1.0).weights.sum():.4f}" == "1.0177"


@given(st.floats(0.001, 100))
def test_logit_and_multiplicative_steps_stay_on_the_simplex(rate: float) -> None:
    for rule in (step_on_logits, multiplicative_step):
        weights = rule(UPPER, 1.0, rate).weights
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1, abs=1e-14)


def test_multiplicative_step_is_its_formula() -> None:
    scaled = UPPER * np.exp(-0.3 * gradients_at(UPPER, 1.0).weights)
    np.testing.assert_allclose(
        multiplicative_step(UPPER, 1.0, 0.3).weights, scaled / scaled.sum(), atol=1e-15
    )


@pytest.mark.parametrize("rule", [*STEPS.values(), step_without_m])
def test_every_rule_moves_gamma_by_gammas_gradient(rule: Any) -> None:
    moved = rule(UPPER, 1.0, 0.1).gamma
    assert moved == pytest.approx(state().updated_gamma, abs=1e-15)


# --- when a step fails ----------------------------------------------------------------------------


def test_thresholds_under_lower_layer_emphasis() -> None:
    assert f"{rate_without_progress(LOWER, 1.0, 1.0, 5.0):.3f}" == "3.144"
    assert f"{1 / gradients_at(LOWER, 1.0).gamma:.3f}" == "2.129"
    assert f"{step_on_logits(LOWER, 1.0, 5.0).loss:.4f}" == "2.7989"
    assert step_on_logits(LOWER, 1.0, 2.13).gamma < 0 < step_on_logits(LOWER, 1.0, 2.12).gamma


def test_no_rate_tried_fails_at_the_default() -> None:
    before = state().forward.loss
    assert all(
        step_on_logits(UPPER, 1.0, rate).loss < before for rate in np.geomspace(1e-3, 1e4, 300)
    )


def test_rate_without_progress_needs_a_bracket() -> None:
    with pytest.raises(ValueError, match="low and high must lower and raise the loss"):
        rate_without_progress(UPPER, 1.0, 0.1, 5.0)
    with pytest.raises(ValueError, match="low and high must lower and raise the loss"):
        rate_without_progress(LOWER, 1.0, 5.0, 1.0)


# --- many steps -----------------------------------------------------------------------------------


def test_one_step_of_descend_is_the_articles() -> None:
    run = descend([UPPER], [1.0], 1, 0.1)
    assert f"{run.loss[-1, 0]:.10f}" == "0.3980548517"
    np.testing.assert_allclose(run.weights[-1, 0], state().updated.weights, atol=1e-15)


def test_the_start_decides_which_layer_becomes_important() -> None:
    """gamma 1 and -1, and under lower-layer emphasis 0.6 and 0.7, end with different layers."""
    run = descend([UPPER, UPPER, LOWER, LOWER], [1.0, -1.0, 0.6, 0.7], 4000, 0.5)
    assert run.weights[-1].argmax(axis=1).tolist() == [2, 1, 1, 2]
    assert np.sign(run.gamma[-1]).tolist() == [1, -1, -1, 1]
    assert (run.loss[-1] < 2e-4).all()


def test_the_separable_toy_has_no_end() -> None:
    """Loss towards 0, |gamma| growing all the way; a score needs |gamma| of a third of its size."""
    run = descend([UPPER], [1.0], 4000, 0.5)
    late = run.steps > 10
    assert (np.diff(run.loss[:, 0]) < 0).all()
    assert (np.diff(np.abs(run.gamma[late, 0])) > 0).all()
    assert np.abs(LAYER_SCORES).max() == 3


def test_soft_labels_converge_to_one_loss_and_many_weights() -> None:
    labels = np.array([0.9, 0.1])
    starts = [PRESETS[name] for name in ("upper", "lower", "token", "upper")]
    run = descend(starts, [1, 1, 1, -1], 8000, 1.0, labels=labels)
    np.testing.assert_allclose(run.loss[-1], -(labels @ np.log(labels)), atol=1e-6)
    weights = run.weights[-1]
    assert min(np.abs(weights[i] - weights[j]).max() for i in range(4) for j in range(i)) > 1e-3
    # They differ along (2, 5, 4) in gamma * weights, which the head cannot see.
    coefficients = run.gamma[-1][:, None] * weights
    differences = coefficients[1:] - coefficients[0]
    across = np.cross(differences, [2, 5, 4])
    # The slowest of the four, from gamma -1, is within 1e-3 of its end after 8000 steps.
    assert np.abs(across).max() < 2e-2 * np.abs(differences).max()


def test_penalty_with_gamma_held_draws_weights_towards_equal_and_logits_to_sum_zero() -> None:
    strengths = np.array([0.001, 0.1, 1.0])
    run = descend([UPPER] * 3, np.ones(3), 6000, 0.5, strength=strengths, train_gamma=False)
    assert [f"{w:.3f}" for w in run.weights[-1].max(axis=1)] == ["0.976", "0.633", "0.391"]
    assert (run.weights[-1].max(axis=1) > 1 / 3).all()
    assert (run.gamma == 1).all()
    np.testing.assert_allclose(run.logits[-1, 1:].sum(axis=1), 0, atol=1e-9)
    # Without a penalty the sum is conserved: the task's gradient sums to zero.
    plain = descend([UPPER], [1.0], 200, 0.5)
    assert np.ptp(plain.logits.sum(axis=2)) < 1e-12


def test_a_free_gamma_undoes_the_penalty() -> None:
    run = descend([UPPER], [1.0], 5000, 0.5, strength=0.1)
    objective = run.loss[:, 0] + 0.1 * (run.logits[:, 0] ** 2).sum(axis=1)
    assert (np.diff(objective) < 0).all()
    assert objective[-1] < 0.02
    assert run.gamma[-1, 0] > 10
    assert run.weights[-1].max() < 0.45


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [0.2, 0.3, 0.5]}, r"\(runs, 3\) and \(runs,\), given \(3,\)"),
        ({"gamma": [1.0, 2.0]}, r"given \(1, 3\) and \(2,\)"),
        ({"weights": [[0.0, 0.5, 0.5]]}, "weights must be positive with sum 1"),
        ({"weights": [[0.2, 0.3, 0.6]]}, "weights must be positive with sum 1"),
        ({"weights": [[0.2, 0.3, 0.501]]}, "weights must be positive with sum 1"),
        ({"weights": [[0.2, 0.3, 0.499]]}, "weights must be positive with sum 1"),
        ({"weights": [[0.2, 0.3, np.nan]]}, "weights must be positive with sum 1"),
        ({"gamma": [np.nan]}, r"gamma must be finite, given \[nan\]"),
        ({"gamma": [np.inf]}, r"gamma must be finite, given \[inf\]"),
        ({"labels": np.array([1.0, 1.5])}, r"labels must be \(2,\) numbers in \[0, 1\], given"),
        ({"labels": np.array([1.0, -0.5])}, r"labels must be \(2,\) numbers in \[0, 1\], given"),
        ({"labels": np.array([1.0, np.nan])}, r"labels must be \(2,\) numbers in \[0, 1\], given"),
        ({"labels": np.zeros(3)}, r"labels must be \(2,\) numbers in \[0, 1\], given"),
        ({"n_recorded": 1}, "n_recorded must be at least 2, given 1"),
        ({"n_recorded": 0}, "n_recorded must be at least 2, given 0"),
        ({"strength": np.zeros(2)}, r"strength must be one number or \(1,\), given \(2,\)"),
        ({"strength": np.inf}, "n_steps, learning_rate and strength must be"),
        ({"n_steps": 0}, "n_steps, learning_rate and strength must be"),
        ({"learning_rate": -0.1}, "n_steps, learning_rate and strength must be"),
        ({"learning_rate": np.nan}, "n_steps, learning_rate and strength must be"),
        ({"strength": -1.0}, "n_steps, learning_rate and strength must be"),
        ({"learning_rate": 1e308, "strength": 1.0}, "must keep the descent finite"),
    ],
)
def test_descend_names_what_does_not_fit(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {
        "weights": [UPPER],
        "gamma": [1.0],
        "n_steps": 3,
        "learning_rate": 0.1,
        "strength": 0.0,
    }
    assert descend(**good).loss.shape == (4, 1)
    with pytest.raises(ValueError, match=message):
        descend(**(good | change))


def test_steps_are_recorded_evenly_in_their_logarithm_and_the_last_one_always() -> None:
    assert descend([UPPER], [1.0], 1000, 0.1, n_recorded=4).steps.tolist() == [0, 1, 10, 100, 1000]
    assert descend([UPPER], [1.0], 4, 0.1, n_recorded=60).steps.tolist() == [0, 1, 2, 3, 4]
    for n_steps in (1, 2, 3, 999):
        run = descend([UPPER], [1.0], n_steps, 0.1, n_recorded=2)
        assert run.steps.tolist() == sorted({0, 1, n_steps})
        # What was recorded doesn't depend on what else was.
        full = descend([UPPER], [1.0], n_steps, 0.1)
        assert run.loss[-1, 0] == full.loss[-1, 0]


@pytest.mark.parametrize("count", [2.5, np.nan, "3"])
def test_counts_are_integers(count: Any) -> None:
    for name in ("n_steps", "n_recorded"):
        with pytest.raises(TypeError, match=f"{name} must be an integer, given"):
            descend([UPPER], [1.0], **({"n_steps": 3, "learning_rate": 0.1} | {name: count}))
    with pytest.raises(TypeError, match="n_steps must be an integer, given"):
        train_head(LOWER, 1.0, count, 0.1)


def test_descend_refuses_masked_arrays() -> None:
    with pytest.raises(TypeError, match="weights must not be a numpy masked array"):
        descend(np.ma.masked_array([UPPER]), [1.0], 3, 0.1)


# --- the head -------------------------------------------------------------------------------------


def test_the_head_alone_can_put_both_signs_right_under_lower_layer_emphasis() -> None:
    heads, scores = train_head(LOWER, 1.0, 100, 0.5)
    np.testing.assert_array_equal(heads[0], HEAD)
    assert (scores[0] * [1, -1] < 0).all()
    assert (scores[-1] * [1, -1] > 0).all()
    first = forward(np.log(LOWER), 1.0, head=heads[0]).loss
    assert forward(np.log(LOWER), 1.0, head=heads[-1]).loss < first


def test_head_gradient_is_the_complex_step() -> None:
    heads, _ = train_head(LOWER, 2.0, 1, 0.25)
    mixtures = 2.0 * np.einsum("j,kjd->kd", LOWER, LAYERS[:, :, 0])

    def loss(w: Any) -> Any:
        scores = mixtures @ w
        return (np.log1p(np.exp(scores)) - np.array([1.0, 0.0]) * scores).mean()

    np.testing.assert_allclose(
        heads[1], HEAD - 0.25 * complex_step(loss, np.array(HEAD)), atol=1e-15
    )


def test_train_head_names_what_does_not_fit() -> None:
    for gamma in (np.nan, np.inf):
        with pytest.raises(ValueError, match="gamma must be one finite real number, given"):
            train_head(LOWER, gamma, 3, 0.1)
    for weights in (np.array([0.2, np.nan, 0.5]), np.ones(2)):
        with pytest.raises(ValueError, match=r"weights must be \(3,\) finite numbers, given"):
            train_head(weights, 1.0, 3, 0.1)
    for rate in (1e308, np.inf):
        with pytest.raises(ValueError, match="learning_rate must keep the head and its scores"):
            train_head(LOWER, 10.0, 3, rate)
    for arguments in ((0, 0.1), (3, 0.0), (3, np.nan)):
        with pytest.raises(ValueError, match="n_steps and learning_rate must be positive"):
            train_head(LOWER, 1.0, *arguments)


def test_module_constants_cannot_be_changed_by_accident() -> None:
    with pytest.raises(ValueError, match="read-only"):
        descent.LAYER_SCORES[0, 0] = 9


@pytest.mark.parametrize("step", [step_on_logits, step_without_m, multiplicative_step])
@pytest.mark.parametrize("off", [1e-5, -0.3, 7.0])
def test_a_softmax_of_logits_has_sum_one(step: Callable[..., Point], off: float) -> None:
    with pytest.raises(ValueError, match="weights must be positive with sum 1"):
        step(np.array([0.5, 0.4, 0.1]) * (1 + off), 1.0)
    assert np.isfinite(step(np.array([0.333, 0.333, 0.334]) + 1e-7, 1.0).loss)


@pytest.mark.parametrize("evaluate", [loss_at, gradients_at])
def test_scores_beyond_float64_are_refused_without_a_warning(
    evaluate: Callable[..., object],
) -> None:
    with pytest.raises(ValueError, match=r"weights and gamma must keep the .* within float64"):
        evaluate(np.array([1, -1, 1]) * 1e308, 10.0)
    with pytest.raises(ValueError, match="weights and gamma must keep the scores within float64"):
        loss_at(np.array([0.2, 0.3, 0.5]) * 1e308, 10.0)


def test_a_loss_of_huge_scores_within_float64_is_their_mean() -> None:
    huge = np.array(
        [1e307, 0.0, 0.0]
    )  # scores of 1e307 for both, right for river and wrong for loan
    assert loss_at(huge, 1.0) == pytest.approx(1e307 / 2)


def test_a_string_does_not_train_gamma() -> None:
    flag: Any = "no"
    with pytest.raises(TypeError, match="train_gamma must be True or False, given 'no'"):
        descend([[0.2, 0.3, 0.5]], [1.0], 1, 0.1, train_gamma=flag)
