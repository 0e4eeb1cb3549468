"""Alike, near or apart: what rounding does to numbers, and what it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy.exercises.closeness import agree, apart, near, tolerance, within

number = st.floats(-1e3, 1e3).filter(lambda x: x == 0 or abs(x) > 1e-9)
numbers = st.lists(number, min_size=1, max_size=5).map(np.array)


def test_two_values_are_apart_if_no_rounding_makes_them_alike() -> None:
    """4.2449 and 4.2551 are both 4.25 to somebody who rounds them to three digits; 4.26 isn't."""
    assert not apart(4.2449, 4.2549)
    assert apart(4.2449, 4.2551)


@pytest.mark.parametrize("first", [np.ones(2), float("nan")])
@pytest.mark.parametrize("second", [np.ones(3), 1.0])
def test_shapes_and_numbers_that_are_none_are_apart(first: Any, second: Any) -> None:
    assert apart(first, second)


def test_tolerance_of_an_array_is_that_of_its_largest_number() -> None:
    assert tolerance([0.001, 20.0]) == tolerance(20.0)
    assert tolerance(0.0) == pytest.approx(0.005)


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [(4.566, 3, "0.005"), (88.6, 3, "0.05"), (12345.0, 3, "50"), (0.15, 2, "0.005")],
)
def test_the_tolerance_in_words(value: float, digits: int, said: str) -> None:
    assert within(value, digits) == f"within {said} of the right number"


@given(numbers)
def test_what_agrees_is_near(target: np.ndarray[Any, Any]) -> None:
    assert agree(target, target)
    moved = target + 0.99 * tolerance(target)
    assert agree(moved, target)
    assert near(moved, target)
    assert not agree(target + 1.01 * tolerance(target), target)


@given(numbers)
def test_two_digits_are_near_and_another_sign_is_not(target: np.ndarray[Any, Any]) -> None:
    largest = np.abs(target).max()
    if largest > 0:
        decimals = 1 - int(np.floor(np.log10(largest)))
        assert near(np.round(target, decimals), target)
        assert not near(-target, target)


@given(numbers, st.floats(1.03, 5), st.integers(0, 4))
def test_no_number_may_be_far(target: np.ndarray[Any, Any], factor: float, place: int) -> None:
    """By more than 2 % and more than two digits can say."""
    target = np.append(target, np.abs(target).max() + 1)
    moved = target.copy()
    place %= len(target)
    moved[place] += np.sign(moved[place] or 1) * factor * 10 * tolerance(target)
    moved[place] += 0.02 * moved[place]
    assert not near(moved, target)


@pytest.mark.parametrize(
    ("values", "target", "expected"),
    [
        ([0.0, 1.0], [0.0, 1.01], True),
        ([0.004, 1.0], [0.0, 1.01], True),  # as much as the tolerance
        ([0.006, 1.0], [0.0, 1.01], False),  # no rounding makes this of 0
        ([0.0, 0.5], [0.004, 0.504], True),  # to two digits of the largest
        ([0.0, 0.5], [0.006, 0.504], False),
        (0.004, 0.0, True),
        (0.01, 0.0, False),
        (0.0, 0.004, False),  # two digits of 0.004 are 0.0040
        ([0.5], 0.5, False),
    ],
)
def test_zeros(values: Any, target: Any, expected: bool) -> None:
    assert near(np.asarray(values, float), target) == expected
