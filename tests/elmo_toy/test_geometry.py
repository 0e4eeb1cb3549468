"""Barycentric coordinates undo a mixture; gamma's range is where its hull ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from elmo_toy.geometry import barycentric, gamma_range
from elmo_toy.worked_example import LAYERS, PRESETS

RIVER, LOAN = LAYERS[:, :, 0]


@pytest.mark.parametrize("weights", PRESETS.values(), ids=PRESETS)
def test_both_occurrences_have_the_same_place_in_different_triangles(weights: np.ndarray) -> None:
    for corners in (RIVER, LOAN):
        np.testing.assert_allclose(barycentric(corners, weights @ corners), weights, atol=1e-14)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_barycentric_undoes_any_mixture(seed: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(dim + 1, dim))
    weights = rng.dirichlet(np.ones(dim + 1))
    condition = np.linalg.cond(np.vstack([corners.T, np.ones(dim + 1)]))
    found = barycentric(corners, weights @ corners)
    # The linear system loses as many digits as its condition number has.
    np.testing.assert_allclose(found, weights, atol=1e-14 * condition * (1 + np.abs(corners).max()))


def test_gamma_ranges_of_the_article() -> None:
    """Exact fractions: river 4/9 to 6/5, loan 10/13 to 10/9."""
    weights = PRESETS["upper"]
    assert gamma_range(RIVER, weights @ RIVER) == pytest.approx((4 / 9, 6 / 5), abs=1e-14)
    assert gamma_range(LOAN, weights @ LOAN) == pytest.approx((10 / 13, 10 / 9), abs=1e-14)


@pytest.mark.parametrize("weights", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("corners", [RIVER, LOAN], ids=["river", "loan"])
def test_just_inside_the_range_is_inside_and_just_outside_is_not(
    corners: np.ndarray, weights: np.ndarray
) -> None:
    mixture = weights @ corners
    low, high = gamma_range(corners, mixture)
    assert low < 1 < high
    for inside, outside in ((low + 1e-9, low - 1e-9), (high - 1e-9, high + 1e-9)):
        assert (barycentric(corners, inside * mixture) >= 0).all()
        assert (barycentric(corners, outside * mixture) < 0).any()


def test_a_hull_around_zero_holds_small_gammas_of_either_sign() -> None:
    corners = np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])
    low, high = gamma_range(corners, np.array([0.5, 0.0]))
    assert (low, high) == pytest.approx((-2, 2))


@pytest.mark.parametrize(
    ("corners", "point", "message"),
    [
        (np.ones((2, 2)), np.ones(2), r"corners must have shape \(3, 2\), given \(2, 2\)"),
        (np.ones((3, 2)), np.ones(3), r"corners must have shape \(4, 3\), given \(3, 2\)"),
        (RIVER, np.ones((2, 1)), r"point must have shape \(dim,\), given \(2, 1\)"),
        (RIVER, np.array([np.nan, 0.0]), r"point must be finite, given nan at \(0,\)"),
        (np.array([[0.0], [np.nan]]), np.ones(1), r"corners must be finite, given nan at \(1, 0\)"),
        (np.array([[0.0], [np.inf]]), np.ones(1), r"corners must be finite, given inf at \(1, 0\)"),
        (np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), np.ones(2), "must span a simplex"),
        (np.array([[0.0], [1e-300]]), np.array([1e300]), "too far away"),
    ],
)
def test_wrong_arguments_are_named(corners: np.ndarray, point: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        barycentric(corners, point)


@pytest.mark.parametrize("corners", [RIVER, LOAN], ids=["river", "loan"])
def test_gamma_range_ends_at_the_hulls_edge_but_for_rounding(corners: np.ndarray) -> None:
    for edge in range(3):
        for share in np.linspace(0, 1, 51):
            weights = np.insert([share, 1 - share], edge, 0.0)
            mixture = weights @ corners
            low, high = gamma_range(corners, mixture)
            assert low - 1e-9 <= 1 <= high + 1e-9
        for outside in (-0.01, -1e-9):
            weights = np.insert([0.5 - outside, 0.5], edge, outside)
            with pytest.raises(ValueError, match="mixture must lie in the hull"):
                gamma_range(corners, weights @ corners)


def test_gamma_range_refuses_a_mixture_outside_and_one_that_is_no_point() -> None:
    with pytest.raises(ValueError, match="mixture must lie in the hull"):
        gamma_range(RIVER, np.array([5.0, 5.0]))
    with pytest.raises(ValueError, match="mixture must be finite, given nan"):
        gamma_range(RIVER, np.array([np.nan, 1.0]))
    with pytest.raises(TypeError, match="mixture must not be a numpy masked array"):
        gamma_range(RIVER, np.ma.masked_array([1.7, 1.1]))


def exact_solution(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Gauss and Jordan's elimination; None for a singular matrix."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(len(rows)):
        pivot = next((row for row in rows[column:] if row[column]), None)
        if pivot is None:
            return None
        rows.remove(pivot)
        pivot = [value / pivot[column] for value in pivot]
        rows = [
            [value - row[column] * p for value, p in zip(row, pivot, strict=True)] for row in rows
        ]
        rows.insert(column, pivot)
    return [row[-1] for row in rows]


def exact_coordinates(corners: list[list[int]], point: list[Fraction]) -> list[Fraction] | None:
    system = [[Fraction(value) for value in axis] for axis in zip(*corners, strict=True)]
    return exact_solution([*system, [Fraction(1)] * len(corners)], [*point, Fraction(1)])


@st.composite
def whole_simplices(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    """Corners and shares of small whole numbers: zero is often a corner, on a facet or parallel."""
    dim = draw(st.integers(1, 3))
    corner = st.lists(st.integers(-4, 4), min_size=dim, max_size=dim)
    corners = draw(st.lists(corner, min_size=dim + 1, max_size=dim + 1))
    shares = draw(st.lists(st.integers(0, 3), min_size=dim + 1, max_size=dim + 1).filter(any))
    return corners, shares


@example(([[0, 0], [3, 1], [10, 50]], [1, 1, 0]), 0.1)  # zero and the mixture on one edge
@example(([[-2, 2], [3, -3], [1, 4]], [1, 3, 0]), 0.1)  # zero between two corners
@given(whole_simplices(), st.sampled_from([1.0, 0.1, 1 / 3, 1e15, 1.7e-20, 3e-300, 1e307]))
def test_the_range_is_that_of_exact_fractions_at_any_scale(
    drawn: tuple[list[list[int]], list[int]], scale: float
) -> None:
    corners, shares = drawn
    weights = [Fraction(share, sum(shares)) for share in shares]
    mixture = [
        sum((w * x for w, x in zip(weights, axis, strict=True)), Fraction(0))
        for axis in zip(*corners, strict=True)
    ]
    floats = np.array(corners) * scale
    rounded = np.array([float(value) for value in mixture]) * scale
    origin = exact_coordinates(corners, [Fraction(0)] * len(mixture))
    if origin is None:
        with pytest.raises(ValueError, match="corners must span a simplex"):
            gamma_range(floats, rounded)
        return
    bounds = [(-o / (w - o), w - o) for o, w in zip(origin, weights, strict=True) if w != o]
    low = max((bound for bound, slope in bounds if slope > 0), default=-np.inf)
    high = min((bound for bound, slope in bounds if slope < 0), default=np.inf)
    assert barycentric(floats, rounded) == pytest.approx([float(w) for w in weights], abs=1e-11)
    found = gamma_range(floats, rounded)
    assert found == pytest.approx((float(low), float(high)), rel=1e-9, abs=1e-11)
    assert found[0] <= 1 <= found[1]


@given(st.integers(0, 2**32 - 1))
def test_along_an_edge_through_zero_the_range_is_the_edges(seed: int) -> None:
    """Slopes across such an edge are 0 but for rounding; 1e-17 of 1e-17 would be a bound."""
    rng = np.random.default_rng(seed)
    corner, other = rng.normal(size=(2, 2))
    beyond, share = rng.uniform(0.1, 3), rng.uniform(0.05, 0.95)
    along = share - beyond * (1 - share)  # the mixture is that much of the corner
    corners = np.array([corner, -beyond * corner, other])
    # no bound far away, and no flat triangle
    assume(abs(along) >= 1e-3 and abs(np.linalg.det([corner, other])) >= 1e-3)
    mixture = np.array([share, 1 - share, 0]) @ corners
    expected = sorted([1 / along, -beyond / along])
    assert gamma_range(corners, mixture) == pytest.approx(expected, rel=1e-9)


def test_one_axis_may_be_of_another_scale_than_the_other() -> None:
    corners = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]) * [1e-200, 1e200]
    weights = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(barycentric(corners, weights @ corners), weights, atol=1e-14)


def test_corners_on_a_line_but_for_rounding_span_nothing() -> None:
    corners = 1000 + np.array([[0.1], [0.2], [0.45]]) * [1e-3, 3e-4]
    with pytest.raises(ValueError, match="corners must span a simplex"):
        barycentric(corners, np.zeros(2))


def test_bounds_that_rounding_hides_are_refused() -> None:
    corners = 1e6 + np.array([[0.0, 0.0], [1.0, 0.7], [0.3, 0.21 + 1e-8]])
    assert (barycentric(corners, corners.mean(axis=0)) > 0.2).all()
    with pytest.raises(ValueError, match="simplex, seen from zero, beyond rounding"):
        gamma_range(corners, corners.mean(axis=0))
