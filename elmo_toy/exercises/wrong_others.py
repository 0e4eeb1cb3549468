"""Wrong layer norms, penalties, perplexities and shares of an error.

Book: chapter 3, "Where paper and code differ".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.exercises.wrong_forward import Rows
from elmo_toy.layer_norm import LayerNorm
from elmo_toy.scalar_mix import logit_penalty, scalar_mix, softmax

EPSILON = 0.5
"""Of the layer norms in the exercises: large enough for its place to show."""


def norm(layers: Array, epsilon: float = EPSILON) -> Array:
    """Each layer of (batch, layers, tokens, dim) normalised by itself."""
    norm = LayerNorm(epsilon=epsilon)
    each = [
        scalar_mix(layers[:, j : j + 1], [0.0], layer_norm=norm) for j in range(layers.shape[1])
    ]
    return np.stack(each, axis=1)


def _norm_over(
    layers: Array,
    axis: int | tuple[int, ...] = (0, 2, 3),
    *,
    ddof: int = 0,
    scale: Callable[[Array], Array] = lambda variance: np.sqrt(variance + EPSILON),
) -> Array:
    mean = layers.mean(axis=axis, keepdims=True)
    normalised: Array = (layers - mean) / scale(layers.var(axis=axis, keepdims=True, ddof=ddof))
    return normalised


def _norm_by_sums(layers: Array) -> Array:
    each = layers[:, 0].size  # how many numbers a layer has
    return _norm_over(layers, scale=lambda variance: np.sqrt(each * variance + EPSILON))


ROWS: Rows = (
    # layer norm
    (
        "norm_by_sums",
        "layer norm",
        "sum instead of mean: the variance is the mean of the squares",
        _norm_by_sums,
        None,
    ),
    (
        "norm_epsilon_outside",
        "layer norm",
        "eps outside the square root: it is added to the variance",
        lambda x: _norm_over(x, scale=lambda variance: np.sqrt(variance) + EPSILON),
        None,
    ),
    (
        "norm_without_root",
        "layer norm",
        "the square root is missing: divide by the deviation, not by the variance",
        lambda x: _norm_over(x, scale=lambda variance: variance + EPSILON),
        None,
    ),
    (
        "norm_sample_variance",
        "layer norm",
        "you divided by n - 1: the originals take the population variance, with n",
        lambda x: _norm_over(x, ddof=1),
        None,
    ),
    (
        "norm_by_token",
        "layer norm",
        "you normalised each token by itself, as a Transformer does: here one mean and one "
        "variance serve a whole layer",
        lambda x: _norm_over(x, 3),
        "M1",
    ),
    (
        "norm_over_all_layers",
        "layer norm",
        "you took one mean over all layers: each layer has its own",
        lambda x: _norm_over(x, (0, 1, 2, 3)),
        None,
    ),
    # penalty
    (
        "half_the_penalty",
        "penalty",
        "there is no factor 1/2 in this penalty",
        lambda logits, strength: logit_penalty(logits, strength) / 2,
        None,
    ),
    (
        "penalty_on_weights",
        "penalty",
        "you squared the weights: the penalty acts on the logits",
        lambda logits, strength: logit_penalty(softmax(logits), strength),
        "M18",
    ),
    (
        "penalty_of_absolutes",
        "penalty",
        "you added absolute values: the penalty adds squares",
        lambda logits, strength: float(strength * np.abs(logits).sum()),
        None,
    ),
    # perplexity
    (
        "perplexity_of_the_sum",
        "perplexity",
        "you forgot the mean over the tokens",
        lambda x: float(np.exp(-np.sum(x))),
        None,
    ),
    (
        "perplexity_base_two",
        "perplexity",
        "the loss is in nats, so the base is e: you raised 2 to it",
        lambda x: float(2 ** -np.mean(x)),
        None,
    ),
    (
        "perplexity_is_loss",
        "perplexity",
        "that is the loss: the perplexity is its exponential",
        lambda x: float(-np.mean(x)),
        None,
    ),
    (
        "perplexity_of_mean_probability",
        "perplexity",
        "you averaged the probabilities: average their logarithms",
        lambda x: float(1 / np.mean(np.exp(x))),
        None,
    ),
    # error removed
    (
        "points_gained",
        "error removed",
        "that is the gain in points: divide by the error that was there to remove",
        lambda before, after: after - before,
        "M15",
    ),
    (
        "relative_to_the_score",
        "error removed",
        "you divided by the score before: the error before is 100 less the score",
        lambda before, after: 100 * (after - before) / before,
        "M15",
    ),
    (
        "relative_to_the_new_error",
        "error removed",
        "you divided by the error after: it is the error before that was there to remove",
        lambda before, after: 100 * (after - before) / (100 - after),
        "M15",
    ),
    (
        "share_not_in_per_cent",
        "error removed",
        "that is the share itself: times 100 for per cent",
        lambda before, after: (after - before) / (100 - before),
        None,
    ),
)
