"""Derivatives measured from function values: the witnesses that no formula can talk to.

For a function f of an array, one coordinate x_i after the other::

    forward difference   (f(x + h) - f(x)) / h               error ~ h    |f''| / 2 + eps |f| / h
    central difference   (f(x + h) - f(x - h)) / (2 h)       error ~ h**2 |f'''| / 6 + eps |f| / h
    complex step         imag(f(x + i h)) / h                error ~ h**2 |f'''| / 6

The first term is truncation (what the Taylor series leaves out), the second rounding: f is known
to eps = 2.2e-16 of its size only, x + h to eps of the size of x, and the division by h magnifies
both. Truncation falls with h and rounding rises, so a difference has a best step: near
``eps**(1/3)``, about 6e-6, for central differences, and near ``eps**(1/2)``, about 1.5e-8, for
forward ones. Their errors there are of the order of ``eps**(2/3)``, 4e-11, and ``eps**(1/2)``.

The complex step subtracts nothing, so it has no rounding term: a step of 1e-20 gives every digit.
It needs an f that computes with complex numbers and takes no absolute value, real part, maximum
or conjugate of them on the way.

Book: chapter 4, "Four witnesses".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from elmo_toy._checks import Array

#: From 1e-1 to 1e-15.
STEPS = 10.0 ** -np.arange(1, 16)
STEPS.flags.writeable = False

Function = Callable[[Array], Any]


@dataclass(frozen=True)
class StepErrors:
    """Largest absolute error over the coordinates, for each step; each array (steps,)."""

    steps: Array
    forward: Array
    central: Array
    complex_step: Array | None  # None where it wasn't asked for


def forward_difference(f: Function, x: ArrayLike, step: float) -> Array:
    """``(f(x + step) - f(x)) / step`` along each coordinate: one-sided, for comparison.

    Parameters, result and errors as `central_difference`, but with truncation ~ step instead of
    step**2. Book: chapter 4, "Error against step size".

    >>> forward_difference(lambda x: (x**3).sum(), [1.0, 2.0], 1e-3).round(6)  # 3 x**2 is 3 and 12
    array([ 3.003001, 12.006001])
    """
    point, step = _point(x), _step(step)
    here = _real_value(f, point.copy(), "x")
    return _each_coordinate(
        point, lambda i: (_real_value(f, _moved(point, i, step), f"x + step at {i}") - here) / step
    )


def central_difference(f: Function, x: ArrayLike, step: float) -> Array:
    """``(f(x + step) - f(x - step)) / (2 * step)`` along each coordinate.

    Truncation ~ step**2 and rounding ~ eps / step: best near ``eps**(1/3)``, about 6e-6. A step
    below the spacing of float64 at x moves nothing, and the difference is then 0.

    Parameters
    ----------
    f
        From an array like `x` to one float64 number. It gets a new array at each call.
    x
        Finite float64, any shape.
    step
        Positive.

    Returns
    -------
    The gradient, float64, in the shape of `x`.

    Raises
    ------
    TypeError
        For x, or values of f, that aren't float64.
    ValueError
        For an x, step or value of f that isn't finite, a step that isn't positive, an f that
        returns an array.

    Source: any text on numerical differentiation. Book: chapter 4, "Four witnesses".

    >>> central_difference(lambda x: (x**3).sum(), [1.0, 2.0], 1e-3).round(9)  # 3 x**2 + step**2
    array([ 3.000001, 12.000001])
    """
    point, step = _point(x), _step(step)

    def slope(i: tuple[int, ...]) -> float:
        ahead = _real_value(f, _moved(point, i, step), f"x + step at {i}")
        behind = _real_value(f, _moved(point, i, -step), f"x - step at {i}")
        return (ahead - behind) / (2 * step)

    return _each_coordinate(point, slope)


def complex_step(f: Function, x: ArrayLike, step: float = 1e-20) -> Array:
    """``imag(f(x + 1j * step)) / step`` along each coordinate: exact to rounding, at any tiny step.

    Parameters
    ----------
    f
        From a complex128 array like `x` to one complex number; analytic, see the module's text.
    x, step
        As in `central_difference`.

    Returns
    -------
    The gradient, float64, in the shape of `x`.

    Raises
    ------
    TypeError
        Also for an f that refuses complex numbers or returns a real one.
    ValueError
        As `central_difference`.

    Source: Squire and Trapp (1998), SIAM Review 40(1). Book: chapter 4, "Four witnesses".

    >>> complex_step(lambda x: (x**3).sum(), [1.0, 2.0])
    array([ 3., 12.])
    """
    point, step = _point(x), _step(step)

    def slope(i: tuple[int, ...]) -> float:
        moved = _moved(point.astype(np.complex128), i, 1j * step)
        return _complex_value(f, moved, f"x + 1j * step at {i}").imag / step

    return _each_coordinate(point, slope)


def error_against_step(
    f: Function,
    gradient: ArrayLike,
    x: ArrayLike,
    steps: ArrayLike = STEPS,
    *,
    include_complex: bool = True,
) -> StepErrors:
    """Largest error of the measured derivatives against `gradient`, for each of the steps.

    On logarithmic axes a difference draws a V: the right arm (slope 1 for forward, 2 for central
    differences) is truncation, the ragged left arm (slope -1) rounding. The complex step has no
    left arm.

    Parameters
    ----------
    f, x
        As in `central_difference`; f also runs on complex numbers unless `include_complex` is
        False.
    gradient
        What the derivatives are compared with, the formula's gradient at x; float64 in the shape
        of `x`.
    steps
        (steps,), positive.

    Raises
    ------
    TypeError, ValueError
        As `central_difference` and `complex_step`; for a gradient of another shape; for an x
        without a coordinate.

    Source: any text on numerical differentiation. Book: chapter 4, "Error against step size".

    >>> errors = error_against_step(lambda x: (x**3).sum(), [3.0, 12.0], [1.0, 2.0], [0.1, 0.01])
    >>> errors.forward.round(6), errors.central.round(6)
    (array([0.61  , 0.0601]), array([0.01  , 0.0001]))
    """
    point = _point(x)
    expected = _point(gradient, "gradient")
    if point.size == 0:
        raise ValueError(f"x must have a coordinate to differentiate along, given {point.shape}")
    if expected.shape != point.shape:
        raise ValueError(
            f"gradient must have the shape of x, {point.shape}, given {expected.shape}"
        )
    step_array = _point(steps, "steps")
    if step_array.ndim != 1 or step_array.size == 0:
        raise ValueError(f"steps must have shape (steps,), given {step_array.shape}")

    def errors(method: Callable[[Function, Array, float], Array]) -> Array:
        return np.array([np.abs(method(f, point, float(h)) - expected).max() for h in step_array])

    return StepErrors(
        steps=step_array,
        forward=errors(forward_difference),
        central=errors(central_difference),
        complex_step=errors(complex_step) if include_complex else None,
    )


def _point(values: ArrayLike, name: str = "x") -> Array:
    point = np.array(values)
    if point.dtype != np.float64:
        raise TypeError(f"{name} must be float64, given {point.dtype}")
    if not np.isfinite(point).all():
        raise ValueError(f"{name} must be finite, given {point}")
    return point


def _step(step: float) -> float:
    if isinstance(step, complex) or np.ndim(step) != 0:
        raise TypeError(f"step must be one real number, given {step!r}")
    if not (np.isfinite(step) and step > 0):
        raise ValueError(f"step must be positive and finite, given {step!r}")
    return float(step)


def _moved(point: Array, i: tuple[int, ...], by: complex) -> Array:
    moved = point.copy()
    moved[i] += by
    return moved


def _each_coordinate(point: Array, slope: Callable[[tuple[int, ...]], float]) -> Array:
    gradient = np.empty(point.shape)
    for i in np.ndindex(point.shape):
        gradient[i] = slope(i)
    return gradient


def _real_value(f: Function, point: Array, where: str) -> float:
    value = np.asarray(f(point))
    if value.dtype != np.float64:
        raise TypeError(f"f must return a float64 number, given {value.dtype} for {where}")
    _check_value(value, where)
    return float(value)


def _complex_value(f: Function, point: Array, where: str) -> complex:
    value = np.asarray(f(point))
    if value.dtype != np.complex128:
        raise TypeError(
            f"f must return a complex128 number for complex x, given {value.dtype} for {where}; "
            "a real one means that the imaginary part was dropped on the way"
        )
    _check_value(value, where)
    return complex(value)


def _check_value(value: Array, where: str) -> None:
    if value.shape != ():
        raise ValueError(f"f must return one number, given shape {value.shape} for {where}")
    if not np.isfinite(value):
        raise ValueError(f"f must return a finite number, given {value} for {where}")
