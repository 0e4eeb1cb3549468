"""Barycentric coordinates undo a mixture; gamma's range is where its hull ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
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
        (np.ones((2, 2)), np.ones(2), r"\(dim \+ 1, dim\) and \(dim,\), given \(2, 2\)"),
        (np.ones((3, 2)), np.ones(3), "given"),
        (RIVER, np.array([np.nan, 0.0]), "corners and point must be finite, given .*nan"),
        (np.array([[0.0], [np.nan]]), np.ones(1), "corners and point must be finite, given .*nan"),
        (np.array([[0.0], [np.inf]]), np.ones(1), "corners and point must be finite, given .*inf"),
        (np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), np.ones(2), "must span a simplex"),
    ],
)
def test_wrong_arguments_are_named(corners: np.ndarray, point: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        barycentric(corners, point)


@pytest.mark.parametrize("corners", [RIVER, LOAN], ids=["river", "loan"])
def test_gamma_range_ends_at_the_hulls_edge_but_for_rounding(corners: np.ndarray) -> None:
    rounded_outside = 0
    for edge in range(3):
        for share in np.linspace(0, 1, 51):
            weights = np.insert([share, 1 - share], edge, 0.0)
            mixture = weights @ corners
            rounded_outside += (barycentric(corners, mixture) < 0).any()
            low, high = gamma_range(corners, mixture)
            assert low - 1e-9 <= 1 <= high + 1e-9
        for outside in (-0.01, -1e-9):
            weights = np.insert([0.5 - outside, 0.5], edge, outside)
            with pytest.raises(ValueError, match="mixture must lie in the hull"):
                gamma_range(corners, weights @ corners)
    assert rounded_outside > 0, "no point of these tried the tolerance"


def test_gamma_range_refuses_a_mixture_outside_and_one_that_is_no_point() -> None:
    with pytest.raises(ValueError, match="mixture must lie in the hull"):
        gamma_range(RIVER, np.array([5.0, 5.0]))
    with pytest.raises(ValueError, match="corners and point must be finite"):
        gamma_range(RIVER, np.array([np.nan, 1.0]))
    with pytest.raises(TypeError, match="point must not be a numpy masked array"):
        gamma_range(RIVER, np.ma.masked_array([1.7, 1.1]))
