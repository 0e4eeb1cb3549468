"""How near two numbers are: alike to so many digits, near, or apart.

Readers round. What agrees with a number to the digits that were asked for is that number; what is
near it was rounded too much, or is off by a little, and is worth another word than a hint.

Book: chapter 4, "Error against step size".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elmo_toy._checks import Array

DIGITS = 3
NEAR_DIGITS = 2
NEAR_SHARE = 0.02


def _exponent(value: Any) -> int:
    """That of the largest number's first digit; of 0 as of 1."""
    largest = float(np.max(np.abs(value), initial=0.0))
    return int(np.floor(np.log10(largest))) if largest else 0


def tolerance(value: Any, digits: int = DIGITS) -> float:
    """Half a unit of the third digit of the largest number, or of another digit.

    >>> tolerance(1.104) > 0.004, tolerance([0.25, 0.042]) < 0.0006
    (True, True)
    """
    return float(0.5 * 10.0 ** (_exponent(value) - digits + 1) * (1 + 1e-9))


def within(value: Any, digits: int = DIGITS) -> str:
    """The tolerance in words.

    >>> within(0.78084), within([1.0, 2.0])
    ('within 0.0005 of the right number', 'each within 0.005 of the right number')
    """
    digit = np.format_float_positional(float(f"{tolerance(value, digits):.0e}"), trim="-")
    return f"{'each ' * bool(np.ndim(value))}within {digit} of the right number"


def agree(values: Array, target: Any, digits: int = DIGITS) -> bool:
    """Whether all numbers are those of the target, rounded or not, and of its shape.

    >>> agree(np.array(0.42), 0.420337), agree(np.array([0.42]), 0.420337)
    (True, False)
    """
    target = np.asarray(target, dtype=np.float64)
    if values.shape != target.shape:
        return False
    return bool((np.abs(values - target) <= tolerance(target, digits)).all())


def near(values: Array, target: Any, digits: int = DIGITS) -> bool:
    """Whether each number is within 2 % of the target's, or that one rounded to two digits.

    The two digits are those of the largest number. A share of 0 is 0: where the target is 0, only
    what `agree` accepts is near it.

    >>> near(np.array(11.0), 11.3636), near(np.array([0.17, 0.33, 0.5]), [1 / 6, 1 / 3, 1 / 2])
    (True, True)
    >>> near(np.array([0.01, 1.0]), [0.0, 1.0]), near(np.array(10.9), 11.3636)
    (False, False)
    """
    target = np.asarray(target, dtype=np.float64)
    if values.shape != target.shape:
        return False
    margin = np.maximum(tolerance(target, digits), NEAR_SHARE * np.abs(target))
    rounded = np.round(target, NEAR_DIGITS - 1 - _exponent(target))
    return bool(((np.abs(values - target) <= margin) | np.isclose(values, rounded, 1e-9, 0)).all())


def apart(first: Any, second: Any) -> bool:
    """Whether two values differ even after both have been rounded to three digits."""
    one, two = np.asarray(first, float), np.asarray(second, float)
    if one.shape != two.shape:
        return True
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        return not np.array_equal(one, two, equal_nan=True)
    return float(np.abs(one - two).max()) > tolerance(one) + tolerance(two)
