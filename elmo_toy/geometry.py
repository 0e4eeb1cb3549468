"""Where a mixture lies among its layer vectors: barycentric coordinates, and gamma's range.

Book: chapter 3, "Inside the triangle".
"""

from __future__ import annotations

import numpy as np

from elmo_toy._checks import Array, as_reals

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""What a coordinate may be off by, for each corner and each unit of what it is computed from."""


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
        For other shapes, non-finite numbers, corners that span no simplex (the weights wouldn't be
        unique then), and a point so far away that its weights are beyond float64.
    TypeError
        For what is no array of real numbers.

    Source: linear algebra. Book: chapter 3, "Inside the triangle".

    >>> barycentric(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]), np.array([1.7, 1.1])).round(12)
    array([0.2, 0.3, 0.5])
    """
    at_zero, per_step, point = _coordinates(corners, point, "point")
    return _finite(at_zero + per_step @ point, point)


def gamma_range(corners: Array, mixture: Array) -> tuple[float, float]:
    """The gammas between which ``gamma * mixture`` stays in the hull of `corners`.

    `mixture` is the mixture at gamma 1, so that 1 lies in the range. The barycentric coordinates
    are linear in gamma, ``origin + gamma * (mixture's - origin)``, and each may not be negative.

    Parameters and errors as for `barycentric`; also ValueError for a mixture outside the hull,
    and for corners so near to one line, or so far from zero, that rounding hides the bounds. A
    bound that is farther away than rounding lets see is given as infinite.

    Source: linear algebra. Book: chapter 3, "What gamma is, and what it isn't".

    >>> corners = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    >>> low, high = gamma_range(corners, np.array([1.7, 1.1]))
    >>> round(low, 3), round(high, 3)
    (0.444, 1.2)
    """
    origin, per_step, point = _coordinates(corners, mixture, "mixture")
    slopes = _finite(per_step @ point, point)
    # Corners and mixture are known to half a unit in their last digit, and their largest numbers
    # are nearly 1 here. A coordinate takes that over times its row of `per_step`, the more the
    # larger the coordinates are. What is smaller is rounding: where zero and the mixture lie on one
    # facet, origin and slope are both 0, and the ratio of what is left of them is no bound.
    unit = ROUNDING * len(per_step) * np.abs(per_step).sum(axis=1)
    if (origin + slopes < -unit * (1 + np.abs(origin + slopes).sum())).any():
        raise ValueError(
            f"mixture must lie in the hull of corners, given {mixture} with {origin + slopes}"
        )
    rounding = unit * (1 + np.abs(origin).sum() + np.abs(slopes).sum())
    # origin + gamma * slope >= 0 bounds gamma from below where the slope is positive, and from
    # above where it is negative.
    rising, falling = slopes > rounding, slopes < -rounding
    if (rounding[~(rising | falling)] > 1e-3).any():  # it hides more than what is far away
        raise ValueError(
            "corners must span a simplex, seen from zero, beyond rounding, "
            f"given {np.asarray(corners).tolist()}"
        )
    low = np.max(-origin[rising] / slopes[rising], initial=-np.inf)
    high = np.min(-origin[falling] / slopes[falling], initial=np.inf)
    # 1 is inside; a mixture on the hull's edge may round to just outside.
    return min(float(low), 1.0) + 0.0, max(float(high), 1.0)  # and -0.0 is 0


def _coordinates(corners: Array, point: Array, name: str) -> tuple[Array, Array, Array]:
    """The coordinates of zero, their change per unit of each axis, and the point in these units.

    The units are powers of two, so that no digit is lost and the largest of each axis is nearly 1:
    whether corners span a simplex is no matter of their scale.
    """
    point = as_reals(point, name, "dim")
    corners = as_reals(corners, "corners", len(point) + 1, len(point)).astype(np.float64)
    unit = np.frexp(np.abs(corners).max(axis=0, initial=0.0))[1]
    first, *others = np.ldexp(corners, -unit)
    edges = np.reshape(others, (len(point), len(point))) - first
    if np.linalg.matrix_rank(edges, tol=4 * len(corners) * np.finfo(float).eps) < len(edges):
        raise ValueError(f"corners must span a simplex, given {corners.tolist()}")
    inverse = np.linalg.inv(edges).T
    per_step = np.vstack([-inverse.sum(axis=0), inverse])
    with np.errstate(over="ignore"):  # checked with the coordinates
        point = np.ldexp(point.astype(np.float64), -unit)
    at_zero = np.eye(len(corners))[0] - per_step @ first
    return at_zero, per_step, point


def _finite(coordinates: Array, point: Array) -> Array:
    if not np.isfinite(coordinates).all():
        raise ValueError(f"{point} (in units of the corners) is too far away for its coordinates")
    return coordinates
