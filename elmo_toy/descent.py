"""Steps and descents on the worked example's loss, right and wrong, many at once.

The head is fixed, so a layer enters the loss only through its score ``c_kj = w . h_kj``::

    loss(logits, gamma) = mean_k log_loss(gamma * sum_j s_j c_kj, y_k),   s = softmax(logits)

That is all this module needs, and it works on a stack of runs, (runs, layers), in one go.
`elmo_toy.worked_example` is the same loss with every intermediate kept; the tests hold them equal.

Everywhere, weights and a gamma that don't fit each other or aren't finite are a ValueError, what is
no number is a TypeError. Weights that aren't positive with sum 1 are a ValueError where a step
takes their logarithm.

Source: the article's section "Follow the gradient into the mixture". Book: chapter 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from elmo_toy._checks import Array, as_number, as_numbers, refuse_masked
from elmo_toy.scalar_mix import softmax
from elmo_toy.worked_example import HEAD, LABELS, LAYERS, LEARNING_RATE, log_loss, sigmoid

#: (2 occurrences, 3 layers): river [1, -2, 2], loan [1, 2, -3].
LAYER_SCORES = LAYERS[:, :, 0] @ HEAD
LAYER_SCORES.flags.writeable = False


@dataclass(frozen=True)
class Point:
    """Weights and gamma of one or many runs: (…, layers) and (…,)."""

    weights: Array
    gamma: Array

    @property
    def loss(self) -> Array:
        """Mean log loss, (…,), also for weights that have left the simplex."""
        return loss_at(self.weights, self.gamma)


def loss_at(weights: Array, gamma: Array | float, labels: Array = LABELS) -> Array:
    """``mean_k log_loss(gamma * weights . c_k, y_k)``; (…, layers) and (…,) -> (…,).

    One gamma serves all weights, and one row of weights all gammas; any other two shapes, what is
    not finite and labels outside of [0, 1] are a ValueError. Book: chapter 4, "A loss to
    differentiate".

    >>> round(float(loss_at(np.array([0.2, 0.3, 0.5]), 1.0)), 10)
    0.4203369997
    """
    weights, gamma = _as_point(weights, gamma)
    targets = _as_labels(labels)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = gamma[..., None] * (weights @ LAYER_SCORES.T)
    # Half the range: of two scores the sum must not overflow either.
    if not (np.abs(scores) < np.finfo(np.float64).max / 2).all():
        raise ValueError(
            f"weights and gamma must keep the scores within float64, given {weights} and {gamma}"
        )
    loss: Array = log_loss(scores, targets).mean(axis=-1)
    return loss


@dataclass(frozen=True)
class Gradients:
    """The right gradients beside the wrong one; (…, layers), gamma (…,)."""

    logits: Array  # gamma * s_j * sum_k g_k (c_kj - m_k)
    gamma: Array  # sum_k g_k m_k
    weights: Array  # gamma * sum_k g_k c_kj, of weights as if they were free
    logits_without_m: Array  # gamma * s_j * sum_k g_k c_kj: wrong, and its loss falls all the same


def gradients_at(weights: Array, gamma: Array | float, labels: Array = LABELS) -> Gradients:
    """Gradients of `loss_at`, with ``g_k = (p_k - y_k) / 2`` and ``m_k = weights . c_k``.

    Shapes and errors as there. Book: chapter 4, "The derivation" and "Falling loss verifies
    nothing".

    >>> gradients_at(np.array([0.2, 0.3, 0.5]), 1.0).weights.round(4)
    array([-0.0113,  0.6862, -0.8521])
    """
    weights, gamma = _as_point(weights, gamma)
    targets = _as_labels(labels)
    with np.errstate(over="ignore", invalid="ignore"):
        found = _gradients(weights, gamma, targets)
    if not all(np.isfinite(values).all() for values in vars(found).values()):
        raise ValueError(
            f"weights and gamma must keep the gradients within float64, given {weights} and {gamma}"
        )
    return found


def _gradients(weights: Array, gamma: Array, labels: Array) -> Gradients:
    """`gradients_at` without its checks, for a step of many."""
    mixed = weights @ LAYER_SCORES.T  # (…, 2)
    upstream = (sigmoid(gamma[..., None] * mixed) - labels) / len(LABELS)
    by_gamma = (upstream * mixed).sum(axis=-1)
    by_weight = gamma[..., None] * (upstream @ LAYER_SCORES)
    without_m = weights * by_weight
    return Gradients(
        logits=without_m - weights * (gamma * by_gamma)[..., None],
        gamma=by_gamma,
        weights=by_weight,
        logits_without_m=without_m,
    )


# --- one step -------------------------------------------------------------------------------------


def _to_step(
    weights: Array, gamma: Array | float, learning_rate: float, *, positive: bool = False
) -> tuple[Gradients, float]:
    gradients = gradients_at(weights, gamma)
    on_simplex = (np.real(weights) > 0).all() and (
        np.abs(np.sum(weights, axis=-1) - 1) <= 1e-6
    ).all()
    if positive and not on_simplex:
        raise ValueError(
            f"weights must be positive with sum 1, to be a softmax of logits, given {weights}"
        )
    return gradients, as_number(learning_rate, "learning_rate")


def step_on_logits(weights: Array, gamma: float, learning_rate: float = LEARNING_RATE) -> Point:
    """``softmax(logits - rate * dL/dlogits)``: gradient descent. Book: chapter 4, "One step".

    >>> round(float(step_on_logits(np.array([0.2, 0.3, 0.5]), 1.0).loss), 10)
    0.3980548517
    """
    gradients, rate = _to_step(weights, gamma, learning_rate, positive=True)
    return Point(
        softmax(np.log(weights) - rate * gradients.logits),
        gamma - rate * gradients.gamma,
    )


def step_without_m(weights: Array, gamma: float, learning_rate: float = LEARNING_RATE) -> Point:
    """As `step_on_logits` with the ``- m`` forgotten: wrong.

    Book: chapter 4, "Falling loss verifies nothing".

    >>> round(float(step_without_m(np.array([0.2, 0.3, 0.5]), 1.0).loss), 6)
    0.396598
    """
    gradients, rate = _to_step(weights, gamma, learning_rate, positive=True)
    return Point(
        softmax(np.log(weights) - rate * gradients.logits_without_m),
        gamma - rate * gradients.gamma,
    )


def step_on_weights_with_logit_gradient(
    weights: Array, gamma: float, learning_rate: float = LEARNING_RATE
) -> Point:
    """``weights - rate * dL/dlogits``: wrong; the sum stays 1, the sign does not.

    Book: chapter 4, "Four ways to step".

    >>> step_on_weights_with_logit_gradient(np.array([0.2, 0.3, 0.5]), 1.0, 1.2).weights.round(3)
    array([ 0.149, -0.027,  0.878])
    """
    gradients, rate = _to_step(weights, gamma, learning_rate)
    return Point(weights - rate * gradients.logits, gamma - rate * gradients.gamma)


def step_on_weights(weights: Array, gamma: float, learning_rate: float = LEARNING_RATE) -> Point:
    """``weights - rate * dL/dweights``: leaves the simplex at once.

    Book: chapter 4, "Four ways to step".

    >>> round(float(step_on_weights(np.array([0.2, 0.3, 0.5]), 1.0).weights.sum()), 4)
    1.0177
    """
    gradients, rate = _to_step(weights, gamma, learning_rate)
    return Point(weights - rate * gradients.weights, gamma - rate * gradients.gamma)


def multiplicative_step(
    weights: Array, gamma: float, learning_rate: float = LEARNING_RATE
) -> Point:
    """``weights * exp(-rate * dL/dweights)``, normalised: on the weights, and on the simplex.

    The exponentiated gradient (Kivinen and Warmuth, 1997); in logits it is a plain step along
    dL/dweights. Book: chapter 4, "Four ways to step".

    >>> float(multiplicative_step(np.array([0.2, 0.3, 0.5]), 1.0).weights.sum().round(12))
    1.0
    """
    gradients, rate = _to_step(weights, gamma, learning_rate, positive=True)
    return Point(
        softmax(np.log(weights) - rate * gradients.weights),
        gamma - rate * gradients.gamma,
    )


#: What "subtract the gradient" may mean; `step_without_m` is a mistake in the first of them.
STEPS: Mapping[str, Callable[..., Point]] = MappingProxyType(
    {
        "logits": step_on_logits,
        "weights, logit gradient": step_on_weights_with_logit_gradient,
        "weights, weight gradient": step_on_weights,
        "weights, multiplicative": multiplicative_step,
    }
)


def rate_without_progress(weights: Array, gamma: float, low: float, high: float) -> float:
    """The learning rate between `low` and `high` whose step on the logits leaves the loss as it is.

    Found by bisection, so the step at `low` must lower the loss and the one at `high` raise it;
    ValueError otherwise. Book: chapter 4, "When a step fails".

    >>> round(rate_without_progress(np.array([0.2, 0.6, 0.2]), 1.0, 1.0, 5.0), 3)
    3.144
    """
    before = loss_at(weights, gamma)

    def change(rate: float) -> float:
        return float(step_on_logits(weights, gamma, rate).loss - before)

    if not (low < high and change(low) < 0 < change(high)):
        raise ValueError(
            f"low and high must lower and raise the loss, given {low} and {high} "
            f"with changes {change(low)} and {change(high)}"
        )
    while np.nextafter(low, high) < high:
        middle = (low + high) / 2
        low, high = (middle, high) if change(middle) < 0 else (low, middle)
    return low


# --- many steps -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Descent:
    """What gradient descent passed through; (recorded, runs, …), `steps` says after how many."""

    steps: Array  # (recorded,)
    logits: Array  # (recorded, runs, layers)
    gamma: Array  # (recorded, runs)
    loss: Array  # (recorded, runs), without the penalty

    @property
    def weights(self) -> Array:
        """``softmax(logits)``, (recorded, runs, layers)."""
        return softmax(self.logits)


def descend(
    weights: ArrayLike,
    gamma: ArrayLike,
    n_steps: int,
    learning_rate: float,
    *,
    labels: Array = LABELS,
    strength: ArrayLike = 0.0,
    train_gamma: bool = True,
    n_recorded: int = 60,
) -> Descent:
    """Plain gradient descent on logits and gamma, several runs side by side.

    Parameters
    ----------
    weights
        (runs, layers), where each run starts, positive with sum 1.
    gamma
        (runs,).
    n_steps, learning_rate
        At least 1; positive.
    labels
        (2,) in [0, 1].
    strength
        Of the penalty ``strength * sum(logits**2)``; a number or (runs,).
    train_gamma
        False holds gamma where it starts.
    n_recorded
        About how many states to keep beside the start, at least 2, spaced evenly in the logarithm
        of the step; the first and the last step are always among them.

    Raises
    ------
    ValueError, TypeError
        For arguments that don't fit, and when a run leaves the finite numbers.

    Source: the article's update, repeated. Book: chapter 4, "Many steps".

    >>> run = descend([[0.2, 0.3, 0.5]], [1.0], 1, 0.1)
    >>> run.steps.tolist(), run.loss[-1].round(10).tolist()
    ([0, 1], [0.3980548517])
    """
    for name, value in {"weights": weights, "gamma": gamma}.items():
        refuse_masked(value, name)
    start = np.array(weights, dtype=np.float64)
    scale = np.array(gamma, dtype=np.float64)
    decay = np.asarray(strength, dtype=np.float64)
    if start.ndim != 2 or start.shape[1] != LAYER_SCORES.shape[1] or scale.shape != start.shape[:1]:
        raise ValueError(
            "weights and gamma must have shapes (runs, 3) and (runs,), "
            f"given {start.shape} and {scale.shape}"
        )
    if not (start > 0).all() or (np.abs(start.sum(axis=1) - 1) > 1e-9).any():
        raise ValueError(f"weights must be positive with sum 1, given {start}")
    if not np.isfinite(scale).all():
        raise ValueError(f"gamma must be finite, given {scale}")
    targets = _as_labels(labels)
    if decay.shape not in ((), scale.shape):
        raise ValueError(f"strength must be one number or {scale.shape}, given {decay.shape}")
    _refuse_fraction(n_steps, "n_steps")
    _refuse_fraction(n_recorded, "n_recorded")
    if not isinstance(train_gamma, bool | np.bool_):  # "no" is true
        raise TypeError(f"train_gamma must be True or False, given {train_gamma!r}")
    if n_recorded < 2:
        raise ValueError(f"n_recorded must be at least 2, given {n_recorded}")
    if n_steps < 1 or not learning_rate > 0 or not ((decay >= 0) & np.isfinite(decay)).all():
        raise ValueError(
            "n_steps, learning_rate and strength must be at least 1, above 0 and at least 0, "
            f"given {n_steps}, {learning_rate} and {decay}"
        )
    logits = np.log(start)
    recorded = np.unique(np.geomspace(1, n_steps, n_recorded).round().astype(int))
    keep = {0, *recorded.tolist()}
    kept: list[tuple[int, Array, Array]] = [(0, logits, scale)]
    shrink = 2 * learning_rate * decay[..., None]
    for step in range(1, n_steps + 1):
        # The softmax without its checks: what it would refuse is refused below.
        exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
        weights_now = exponentials / exponentials.sum(axis=1, keepdims=True)
        gradients = _gradients(weights_now, scale, targets)
        with np.errstate(over="ignore", invalid="ignore"):
            logits = logits - learning_rate * gradients.logits - shrink * logits
        if train_gamma:
            scale = scale - learning_rate * gradients.gamma
        if not (np.isfinite(logits).all() and np.isfinite(scale).all()):
            raise ValueError(
                f"learning_rate must keep the descent finite, given {learning_rate}, "
                f"which leaves the finite numbers at step {step}"
            )
        if step in keep:
            kept.append((step, logits, scale))
    steps, all_logits, all_gamma = (np.array(column) for column in zip(*kept, strict=True))
    return Descent(
        steps=steps,
        logits=all_logits,
        gamma=all_gamma,
        loss=loss_at(softmax(all_logits), all_gamma, targets),
    )


def train_head(
    weights: Array, gamma: float, n_steps: int, learning_rate: float
) -> tuple[Array, Array]:
    """Gradient descent on the head alone, mixture held still: (steps + 1, dim) and the scores.

    ``dL/dw = sum_k g_k e_k``. Returns heads (n_steps + 1, dim) and scores (n_steps + 1, 2).
    Raises TypeError or ValueError for fewer than one whole step, a rate that isn't positive,
    weights or a gamma that aren't finite, and heads beyond float64.
    Book: chapter 4, "The frozen head".

    >>> heads, scores = train_head(np.array([0.2, 0.6, 0.2]), 1.0, 50, 1.0)
    >>> scores[0].round(1).tolist(), (scores[-1] > 0).tolist()
    ([-0.6, 0.8], [True, False])
    """
    _refuse_fraction(n_steps, "n_steps")
    if n_steps < 1 or not learning_rate > 0:
        raise ValueError(
            f"n_steps and learning_rate must be positive, given {n_steps} and {learning_rate}"
        )
    refuse_masked(weights, "weights")
    if np.shape(weights) != LAYER_SCORES.shape[1:] or not np.isfinite(weights).all():
        raise ValueError(
            f"weights must be {LAYER_SCORES.shape[1:]} finite numbers, given {weights}"
        )
    mixtures = as_number(gamma, "gamma") * np.einsum("j,kjd->kd", weights, LAYERS[:, :, 0])
    heads = [np.array(HEAD)]
    scores = [mixtures @ HEAD]
    for _ in range(n_steps):
        upstream = (sigmoid(scores[-1]) - LABELS) / len(LABELS)
        with np.errstate(over="ignore", invalid="ignore"):  # checked at once
            heads.append(heads[-1] - learning_rate * (upstream @ mixtures))
            scores.append(mixtures @ heads[-1])
        if not (np.isfinite(heads[-1]).all() and np.isfinite(scores[-1]).all()):
            raise ValueError(
                f"learning_rate must keep the head and its scores finite, given {learning_rate}"
            )
    return np.array(heads), np.array(scores)


def _as_point(weights: ArrayLike, gamma: ArrayLike) -> tuple[Array, Array]:
    """Weights (…, layers) and gamma (…,) or one of either; complex ones for a complex step."""
    rows, scale = _as_floats(weights, "weights"), _as_floats(gamma, "gamma")
    n_layers = LAYER_SCORES.shape[1]
    fits = rows.ndim == 1 or scale.ndim == 0 or scale.shape == rows.shape[:-1]
    if rows.shape[-1:] != (n_layers,) or not fits:
        raise ValueError(
            f"weights and gamma must have shapes (…, {n_layers}) and (…,), "
            f"given {rows.shape} and {scale.shape}"
        )
    for name, values in {"weights": rows, "gamma": scale}.items():
        if not np.isfinite(values).all():
            raise ValueError(f"{name} must be finite, given {values}")
    return rows, scale


def _as_floats(values: ArrayLike, name: str) -> Array:
    """As `as_numbers`; whole numbers in an array are welcome too, as corners and labels are."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        refuse_masked(values, name)
        return values.astype(np.float64)
    return as_numbers(values, name)


def _as_labels(labels: ArrayLike) -> Array:
    targets = _as_floats(labels, "labels")
    if (
        np.iscomplexobj(targets)
        or targets.shape != LABELS.shape
        or not ((targets >= 0) & (targets <= 1)).all()
    ):
        raise ValueError(f"labels must be {LABELS.shape} numbers in [0, 1], given {labels!r}")
    return targets


def _refuse_fraction(count: int, name: str) -> None:
    if not isinstance(count, int | np.integer):
        raise TypeError(f"{name} must be an integer, given {count!r}")
