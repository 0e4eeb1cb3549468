"""Numbers as exercises show them."""

from __future__ import annotations

import numpy as np
import pytest

from elmo_toy.exercises.text import listed, shown


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (-0.0001, 3, "0"),  # no "-0"
        (-0.5, 3, "-0.5"),
        (100, 3, "100"),
        (100, 0, "100"),
        (88.6363, 0, "89"),
        (0.67381, 4, "0.6738"),
        (np.array([1.0, -2.0]), 3, "[1, -2]"),
        ([[0.5, 0.25], [1, 2]], 1, "[[0.5, 0.2], [1, 2]]"),
    ],
)
def test_a_number_has_no_more_digits_than_it_needs(value: object, digits: int, text: str) -> None:
    assert shown(value, digits) == text  # type: ignore[arg-type]  # all are array-like


def test_lists() -> None:
    assert listed(["a"]) == "a"
    assert listed(iter("ab")) == "a and b"
    assert listed("abc") == "a, b and c"
