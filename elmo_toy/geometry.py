"""Where a mixture lies among its layer vectors: barycentric coordinates, and gamma's range.

Book: chapter 3, "Inside the triangle".
"""

from __future__ import annotations

import numpy as np

from elmo_toy._checks import Array, refuse_masked


def barycentric(corners: Array, point: Array) -> Array:
    """Weights, with sum 1, that make `point` from `corners`: ``weights @ corners = point``.

    At gamma 1 they are the mixture's own weights; a negative one says that the point lies outside
    the hull of the corners.

    Parameters
    ----------
    corners
        (dim + 1, dim), a simplex.
    point
        (dim,).

    Raises
    ------
    ValueError
        For other shapes, non-finite numbers, or corners that span no simplex: the weights wouldn't
        be unique then.

    Source: linear algebra. Book: chapter 3, "Inside the triangle".

    >>> barycentric(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]), np.array([1.7, 1.1])).round(12)
    array([0.2, 0.3, 0.5])
    """
    refuse_masked(corners, "corners")
    refuse_masked(point, "point")
    corners, point = np.asarray(corners, dtype=np.float64), np.asarray(point, dtype=np.float64)
    if corners.ndim != 2 or corners.shape != (point.size + 1, point.size) or point.ndim != 1:
        raise ValueError(
            "corners and point must have shapes (dim + 1, dim) and (dim,), "
            f"given {corners.shape} and {point.shape}"
        )
    if not (np.isfinite(corners).all() and np.isfinite(point).all()):
        raise ValueError(
            f"corners and point must be finite, given {corners.tolist()} and {point.tolist()}"
        )
    system = np.vstack([corners.T, np.ones(len(corners))])
    if np.linalg.matrix_rank(system) < len(corners):
        raise ValueError(f"corners must span a simplex, given {corners.tolist()}")
    return np.linalg.solve(system, np.append(point, 1.0))


def gamma_range(corners: Array, mixture: Array) -> tuple[float, float]:
    """The gammas between which ``gamma * mixture`` stays in the hull of `corners`.

    `mixture` is the mixture at gamma 1, so that 1 lies in the range. The barycentric coordinates
    are linear in gamma, ``origin + gamma * (mixture's - origin)``, and each may not be negative.

    Parameters and errors as for `barycentric`; also ValueError for a mixture outside the hull.

    Source: linear algebra. Book: chapter 3, "What gamma is, and what it isn't".

    >>> corners = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    >>> low, high = gamma_range(corners, np.array([1.7, 1.1]))
    >>> round(low, 3), round(high, 3)
    (0.444, 1.2)
    """
    origin = barycentric(corners, np.zeros(corners.shape[-1]))
    at_one = barycentric(corners, mixture)
    if (at_one < -1e-12).any():  # a mixture on the hull's edge may round to just outside
        raise ValueError(f"mixture must lie in the hull of corners, given {mixture} with {at_one}")
    slopes = at_one - origin
    # origin + gamma * slope >= 0 bounds gamma from below where the slope is positive, and from
    # above where it is negative.
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = -origin / slopes
    low = np.max(bounds, where=slopes > 0, initial=-np.inf)
    high = np.min(bounds, where=slopes < 0, initial=np.inf)
    return float(low), float(high)
