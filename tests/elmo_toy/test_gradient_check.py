"""Measured derivatives: right where calculus says so, and refusing what they cannot measure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from elmo_toy import worked_example
from elmo_toy.gradient_check import (
    STEPS,
    central_difference,
    complex_step,
    error_against_step,
    forward_difference,
)

EPS = float(np.finfo(np.float64).eps)
METHODS = [forward_difference, central_difference, complex_step]


def wavy(x: Any) -> Any:
    """A scalar function whose every derivative is of order 1, on real and complex arrays."""
    return (np.sin(x) + np.exp(-x / 2)).sum()


def wavy_gradient(x: Any) -> Any:
    return np.cos(x) - np.exp(-x / 2) / 2


points = npst.arrays(
    np.float64,
    npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    elements=st.floats(-2, 2),
)


# --- values ---------------------------------------------------------------------------------------


@given(points)
def test_measured_gradients_have_the_shape_and_the_value(x: np.ndarray) -> None:
    expected = wavy_gradient(x)
    # Each of the sum's terms is below 4, its second and third derivatives below 2; the sum is
    # rounded at the size that it has, and the division by the step magnifies that.
    rounding = EPS * (1 + 4 * x.size)
    for measured, tolerance in (
        (forward_difference(wavy, x, 1e-8), 1e-8 + 2 * rounding / 1e-8),
        (central_difference(wavy, x, 6e-6), 6e-6**2 + rounding / 6e-6),
        (complex_step(wavy, x), 4 * EPS),
    ):
        assert measured.shape == x.shape
        assert measured.dtype == np.float64
        np.testing.assert_allclose(measured, expected, rtol=0, atol=tolerance)


def test_each_coordinate_gets_its_own_derivative() -> None:
    """Every entry of a 2 x 3 x 2 gradient differs, so a transposed or shared one would show."""
    factors = np.arange(1.0, 13.0).reshape(2, 3, 2)
    x = np.ones((2, 3, 2))
    for method in METHODS:
        measured = method(lambda y: (factors * y**2).sum(), x, 1e-6)
        np.testing.assert_allclose(measured, 2 * factors, atol=1e-4)


def test_central_difference_is_exact_for_quadratics_and_off_by_step_squared_for_cubes() -> None:
    assert central_difference(lambda x: x**2, 3.0, 0.5) == 6.0
    assert central_difference(lambda x: x**3, 3.0, 0.5) == 27.25
    assert forward_difference(lambda x: x**2, 3.0, 0.5) == 6.5


@pytest.mark.parametrize("step", [1e-8, 1e-20, 1e-30, 1e-100])
def test_complex_step_needs_no_choice_of_step(step: float) -> None:
    x = np.linspace(-2, 2, 7)
    np.testing.assert_allclose(complex_step(wavy, x, step), wavy_gradient(x), rtol=0, atol=2 * EPS)


def test_function_may_write_to_its_argument_without_harm() -> None:
    def destructive(x: Any) -> Any:
        x *= 2
        return (x**2).sum()

    x = np.array([1.0, 2.0])
    for method in METHODS:
        np.testing.assert_allclose(method(destructive, x, 1e-6), [8.0, 16.0], atol=1e-4)
    np.testing.assert_array_equal(x, [1.0, 2.0])


@pytest.mark.parametrize("preset", worked_example.PRESETS)
@pytest.mark.parametrize("gamma", [*worked_example.GAMMAS, 0.0, -1.5])
def test_witnesses_agree_on_the_worked_example(preset: str, gamma: float) -> None:
    state = worked_example.state(preset, gamma)
    x = np.append(state.logits, state.gamma)
    formula = np.append(state.logit_gradient, state.gamma_gradient)

    def loss(parameters: Any) -> Any:
        return worked_example.forward(parameters[:3], parameters[3]).loss

    np.testing.assert_allclose(central_difference(loss, x, 6e-6), formula, rtol=0, atol=1e-10)
    np.testing.assert_allclose(complex_step(loss, x), formula, rtol=0, atol=1e-15)


# --- error against step ---------------------------------------------------------------------------


def test_default_steps_run_from_a_tenth_to_1e_15_and_stay_so() -> None:
    np.testing.assert_allclose(STEPS, [float(f"1e-{n}") for n in range(1, 16)], rtol=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        STEPS[0] = 1.0


def slope(steps: np.ndarray, errors: np.ndarray) -> float:
    """Exponent of the power law between first and last."""
    return float(np.log(errors[-1] / errors[0]) / np.log(steps[-1] / steps[0]))


def test_truncation_falls_with_the_first_and_the_second_power_of_the_step() -> None:
    x = np.array([0.3, 1.1])
    errors = error_against_step(wavy, wavy_gradient(x), x, [1e-1, 1e-2, 1e-3])
    assert errors.complex_step is not None
    assert slope(errors.steps, errors.forward) == pytest.approx(1, abs=0.05)
    assert slope(errors.steps, errors.central) == pytest.approx(2, abs=0.05)
    assert slope(errors.steps, errors.complex_step) == pytest.approx(2, abs=0.05)


def test_rounding_grows_with_the_inverse_of_the_step_but_not_for_the_complex_step() -> None:
    x = np.linspace(0.3, 1.1, 40)  # the largest of many errors follows the law closely
    errors = error_against_step(wavy, wavy_gradient(x), x, [1e-10, 1e-13])
    assert errors.complex_step is not None
    assert slope(errors.steps, errors.forward) == pytest.approx(-1, abs=0.25)
    assert slope(errors.steps, errors.central) == pytest.approx(-1, abs=0.25)
    assert errors.complex_step.max() < 4 * EPS


@pytest.mark.parametrize("seed", range(5))
def test_best_steps_lie_where_the_text_says(seed: int) -> None:
    x = np.random.default_rng(seed).uniform(-2, 2, size=20)
    steps = 10.0 ** -np.arange(1, 15, 0.5)
    errors = error_against_step(wavy, wavy_gradient(x), x, steps)
    for measured, best, least in (
        (errors.central, EPS ** (1 / 3), EPS ** (2 / 3)),
        (errors.forward, EPS ** (1 / 2), EPS ** (1 / 2)),
    ):
        assert abs(np.log10(steps[np.argmin(measured)]) - np.log10(best)) <= 1.5
        assert least / 30 < measured.min() < 30 * least


def test_errors_are_the_largest_over_the_coordinates() -> None:
    """A gradient that is wrong in one coordinate only shows at every step that is any good."""
    x = np.array([0.3, 1.1, -0.4])
    wrong = wavy_gradient(x) + np.array([0.0, 0.125, 0.0])
    errors = error_against_step(wavy, wrong, x, [1e-5, 1e-6])
    assert errors.complex_step is not None
    for measured in (errors.forward, errors.central, errors.complex_step):
        np.testing.assert_allclose(measured, 0.125, atol=1e-4)


def test_a_function_of_real_numbers_only_leaves_out_the_complex_step() -> None:
    def real_only(x: Any) -> Any:
        return float(np.abs(x).sum())

    x = np.array([1.0, -2.0])
    errors = error_against_step(real_only, [1.0, -1.0], x, include_complex=False)
    assert errors.complex_step is None
    assert errors.central.shape == (15,)
    with pytest.raises(TypeError, match="imaginary part was dropped"):
        error_against_step(real_only, [1.0, -1.0], x)


def test_result_is_frozen() -> None:
    errors = error_against_step(wavy, wavy_gradient(np.zeros(1)), [0.0], [1e-3])
    with pytest.raises(dataclasses.FrozenInstanceError):
        errors.steps = np.zeros(1)  # type: ignore[misc]  # the assignment is the test


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (np.zeros(2, dtype=np.float32), TypeError, "x must be float64, given float32"),
        (np.zeros(2, dtype=np.complex128), TypeError, "x must be float64, given complex128"),
        ([1, 2], TypeError, "x must be float64, given int64"),
        ([1.0, np.nan], ValueError, "x must be finite"),
        ([1.0, -np.inf], ValueError, "x must be finite"),
    ],
)
def test_bad_points(method: Any, x: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        method(wavy, x, 1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("step", [0.0, -1e-6, np.inf, np.nan])
def test_bad_steps(method: Any, step: float) -> None:
    with pytest.raises(ValueError, match="step must be positive and finite, given"):
        method(wavy, [1.0], step)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("step", [1e-6j, np.array([1e-6, 1e-7])])
def test_steps_that_are_not_one_number(method: Any, step: Any) -> None:
    with pytest.raises(TypeError, match="step must be one real number"):
        method(wavy, [1.0], step)


@pytest.mark.parametrize("method", METHODS)
def test_function_that_returns_an_array(method: Any) -> None:
    with pytest.raises(ValueError, match=r"f must return one number, given shape \(2,\)"):
        method(np.sin, [1.0, 2.0], 1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_function_without_a_finite_value(method: Any, value: float) -> None:
    def broken(x: Any) -> Any:
        return x.sum() * 0 + value

    with (
        np.errstate(invalid="ignore"),
        pytest.raises(ValueError, match="f must return a finite number, given"),
    ):
        method(broken, [1.0], 1e-6)


@pytest.mark.parametrize("method", [forward_difference, central_difference])
@pytest.mark.parametrize("value", [np.float32(1), 1j, "a", 1])
def test_function_of_another_dtype(method: Any, value: object) -> None:
    with pytest.raises(TypeError, match="f must return a float64 number, given"):
        method(lambda x: value, [1.0], 1e-6)


@pytest.mark.parametrize("function", [lambda x: np.abs(x).sum(), lambda x: x.real.sum()])
def test_complex_step_notices_a_dropped_imaginary_part(function: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"given float64 .* the imaginary part was dropped"):
        complex_step(function, [1.0])


def test_error_names_where_the_function_broke() -> None:
    def broken(x: Any) -> Any:
        return np.nan if x[1] > 2 else x.sum()

    with pytest.raises(ValueError, match=r"given nan for x \+ step at \(1,\)"):
        central_difference(broken, [1.0, 2.0], 1e-3)


@pytest.mark.parametrize(
    ("gradient", "x", "steps", "message"),
    [
        ([1.0], [1.0, 2.0], [1e-3], r"gradient must have the shape of x, \(2,\), given \(1,\)"),
        ([1.0, np.nan], [1.0, 2.0], [1e-3], "gradient must be finite"),
        (np.zeros(0), np.zeros(0), [1e-3], "x must have a coordinate"),
        ([1.0], [1.0], np.zeros(0), r"steps must have shape \(steps,\), given \(0,\)"),
        ([1.0], [1.0], [[1e-3]], r"steps must have shape \(steps,\), given \(1, 1\)"),
        ([1.0], [1.0], [1e-3, 0.0], "step must be positive"),
    ],
)
def test_bad_arguments_of_the_error_curve(gradient: Any, x: Any, steps: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        error_against_step(wavy, gradient, x, steps)
