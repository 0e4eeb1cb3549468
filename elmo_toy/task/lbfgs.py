"""A minimiser for smooth convex losses over all data at once: limited-memory BFGS.

Book: chapter 5, "What is frozen, what is learned".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from elmo_toy._checks import Array

MEMORY = 10
SUFFICIENT = 1e-4
"""A step must lower the loss by this share of what its slope promises (Armijo's condition)."""
ROUNDING = 1e-14
"""Share of the loss that may be rounding: near the minimum it is larger than any descent."""


def minimise(
    loss: Callable[[Array], tuple[float, Array]],
    start: Array,
    *,
    tolerance: float = 1e-7,
    steps: int = 2000,
) -> Array:
    """Follow the gradient, with curvature guessed from the last ten steps.

    Parameters
    ----------
    loss : from an array like ``start`` to the loss and its gradient; convex
    start : float64
    tolerance : largest entry of the gradient where to stop
    steps : int
        After so many it gives up.

    Raises
    ------
    RuntimeError
        If the tolerance isn't reached; the message says how near it came.

    Examples
    --------
    >>> def bowl(x):  # (x0 - 1)**2 + 10 (x1 + 2)**2
    ...     d = x - [1.0, -2.0]
    ...     return float(d[0] ** 2 + 10 * d[1] ** 2), np.array([2 * d[0], 20 * d[1]])
    >>> minimise(bowl, np.zeros(2)).round(6).tolist()
    [1.0, -2.0]

    Source: Liu and Nocedal (1989); the two-loop recursion of Nocedal (1980).
    Book: chapter 5, "What is frozen, what is learned".
    """
    x = start.astype(np.float64)
    value, gradient = loss(x)
    pairs: deque[tuple[Array, Array]] = deque(maxlen=MEMORY)
    for left in range(steps, -1, -1):  # what the last step reached is looked at, too
        if np.abs(gradient).max() <= tolerance:
            return x
        if not left:
            break
        direction = _direction(gradient, pairs)
        slope, noise = float(np.vdot(gradient, direction)), ROUNDING * abs(value)
        size = 1.0
        while True:
            moved = size * direction
            new_value, new_gradient = loss(x + moved)
            if new_value <= value + SUFFICIENT * size * slope + noise:
                break
            size *= 0.5
            if size < 1e-10:
                raise RuntimeError(_gave_up(gradient, tolerance, "no lower loss in sight"))
        if np.vdot(moved, new_gradient - gradient) > 1e-14 * np.vdot(moved, moved):
            pairs.append((moved, new_gradient - gradient))
        x, value, gradient = x + moved, new_value, new_gradient
    raise RuntimeError(_gave_up(gradient, tolerance, f"{steps} steps taken"))


def _direction(gradient: Array, pairs: deque[tuple[Array, Array]]) -> Array:
    """Minus the gradient times the guessed inverse Hessian."""
    q = -gradient
    if not pairs:
        return q / max(1.0, float(np.linalg.norm(gradient)))
    shares = []
    for step, change in reversed(pairs):
        share = np.vdot(step, q) / np.vdot(step, change)
        q = q - share * change
        shares.append(share)
    step, change = pairs[-1]
    q = q * (np.vdot(step, change) / np.vdot(change, change))
    for (step, change), share in zip(pairs, reversed(shares), strict=True):
        q = q + (share - np.vdot(change, q) / np.vdot(step, change)) * step
    return q


def _gave_up(gradient: Array, tolerance: float, why: str) -> str:
    return (
        f"{why}: the largest entry of the gradient is {np.abs(gradient).max():.1e}, "
        f"expected at most {tolerance:.1e}"
    )
