"""The optional layer norm of the scalar mixture: one mean and one variance a layer and batch.

Normalised layers are never held as a whole. A few sentences at a time are centred and used while
they are still in the processor's cache: memory is read once for the statistics and once for the
mixture, and no array as large as the layers is made on the way. The statistics are summed in
float64. What is centred on them stays in the layers' dtype, which is exact enough: a difference
``layer - centre`` is rounded in its own last digit, however large the mean is.

Book: chapter 3, "Where paper and code differ".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from elmo_toy._checks import Array, as_number, refuse_non_finite

Boundaries = Literal["counted", "left_out"]


@dataclass(frozen=True)
class LayerNorm:
    """One mean and one population variance a layer, over the batch's unmasked tokens and dims.

    ``normalised = (layer - mean) / sqrt(variance + epsilon)``; there is no learned scale or shift.

    Parameters
    ----------
    epsilon
        Added inside the root. bilm-tf and AllenNLP before 1.0: 1e-12; AllenNLP since: 1e-13.
    boundaries
        ``"counted"``: every unmasked token enters the statistics. AllenNLP mixes while the sentence
        boundaries are still there, so its statistics include them. ``"left_out"``: the first and
        the last unmasked token of each row, the boundaries, are normalised but not counted. At the
        tokens between them this equals bilm-tf, which removes the boundaries first.

    Source: AllenNLP ``ScalarMix(do_layer_norm=True)``; bilm-tf ``weight_layers``.
    Book: chapter 3, "Where paper and code differ".

    >>> from elmo_toy.scalar_mix import scalar_mix
    >>> layers = np.array([[[[1.0, 3.0]]]])                   # one layer, one token, two dims
    >>> scalar_mix(layers, [0.0], layer_norm=LayerNorm())     # mean 2, variance 1
    array([[[-1.,  1.]]])
    """

    epsilon: float = 1e-12
    boundaries: Boundaries = "counted"

    def __post_init__(self) -> None:
        if as_number(self.epsilon, "epsilon") < 0:
            raise ValueError(f"epsilon must be at least 0, given {self.epsilon}")
        if self.boundaries not in ("counted", "left_out"):
            raise ValueError(
                f"boundaries must be 'counted' or 'left_out', given {self.boundaries!r}"
            )


# Sentences that are worked on together: with their centred copy they fit in a core's second-level
# cache.
BLOCK_BYTES = 2**19


@dataclass(frozen=True)
class Statistics:
    """What a batch's layers are normalised by; arrays are (layers,).

    A layer's mean is ``centre + rest``: the nearest number of the layers' dtype, and what that
    leaves out. In one number the mean of a constant layer, too, would be rounded, and its rounding
    scaled up to about 1.
    """

    centre: Array  # in the layers' dtype
    rest: Array  # float64 or complex128
    inverse_std: Array  # float64 or complex128
    counted: Array  # (batch, tokens) bool: which tokens enter the statistics
    n: int  # how many numbers a layer's statistics are made from


def statistics(layers: Array, mask: Array | None, layer_norm: LayerNorm) -> Statistics:
    """Means and variances of checked layers (batch, layers, tokens, dim) under a checked mask."""
    counted = np.ones((layers.shape[0], layers.shape[2]), dtype=bool) if mask is None else mask
    if layer_norm.boundaries == "left_out":
        inner = _without_boundaries(counted)
        if not inner.any():
            raise ValueError(
                "layer_norm(boundaries='left_out') must find a token between the boundaries, "
                f"given rows of {counted.sum(axis=1).tolist()} unmasked tokens"
            )
        counted = inner
    n = int(counted.sum()) * layers.shape[3]
    with np.errstate(over="ignore", invalid="ignore"):  # the variance shows both
        # Any one value of a layer is near enough to its mean for the squares to keep their digits;
        # seen from there, a constant layer is exactly 0.
        sentence, token = np.argwhere(counted)[0]
        origin = layers[sentence, :, token, 0]
        wide = np.result_type(layers, np.float64)
        total, squares = np.zeros((2, len(origin)), wide)
        ones = np.ones(layers.shape[3])
        for block in blocks(layers):
            values = (layers[block] - origin[:, None, None]).astype(wide, copy=False)
            here = counted[block][:, None]
            total += np.where(here, np.vecdot(ones, values), 0).sum(axis=(0, 2))
            by_token = np.vecdot(values.conj(), values)  # of squares: vecdot conjugates its first
            squares += np.where(here, by_token, 0).sum(axis=(0, 2))
        offset = total / n
        variance = squares / n - offset**2
    if not np.isfinite(variance).all():
        refuse_non_finite(layers, mask, "layers")
        raise ValueError(f"layers must have a variance within {layers.dtype}, given {variance}")
    variance[variance.real < 0] = 0  # a difference of rounded numbers
    spread = np.sqrt(variance + layer_norm.epsilon)
    if not spread.all():
        raise ValueError("layer_norm needs epsilon above 0 for a layer without variance, given 0")
    centre = (origin + offset).astype(layers.dtype)
    rest = origin.astype(wide) - centre + offset
    return Statistics(centre, rest, 1 / spread, counted, n)


def _without_boundaries(mask: Array) -> Array:
    """The mask less each row's first and last unmasked token."""
    order = np.cumsum(mask, axis=1)
    inner: Array = mask & (order > 1) & (order < order[:, -1:])
    return inner


def blocks(layers: Array) -> Iterator[slice]:
    """Runs of sentences of about `BLOCK_BYTES` each, at least one sentence."""
    sentences = max(1, BLOCK_BYTES * len(layers) // max(1, layers.nbytes))
    return (slice(start, start + sentences) for start in range(0, len(layers), sentences))


def normalised_scores(
    layers: Array, upstream: Array, mask: Array | None, norm: Statistics
) -> tuple[Array, Array]:
    """``scores[j] = sum(upstream * normalised[:, j])`` over unmasked positions, and sum(upstream).

    (layers,) and (1,). Summed over a token's dims in the layers' dtype, over tokens in float64.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # the scores show both
        total = sum_unmasked(np.vecdot(upstream, np.ones_like(upstream[0, 0]))[:, None], mask)
        by_token = np.empty(layers.shape[:3], layers.dtype)
        for block in blocks(layers):
            centred = layers[block] - norm.centre[:, None, None]
            np.vecdot(centred, upstream[block][:, None], out=by_token[block])
        scores = norm.inverse_std * (sum_unmasked(by_token, mask) - norm.rest * total)
    return scores, total


def sum_unmasked(by_token: Array, mask: Array | None) -> Array:
    """Sum (batch, layers, tokens) over unmasked tokens, in float64; (layers,)."""
    if mask is not None:
        by_token = np.where(mask[:, None], by_token, 0)
    total: Array = by_token.sum(axis=(0, 2), dtype=np.float64)
    return total


def layer_gradients_through_norm(
    coefficients: Array,
    layers: Array,
    upstream: Array,
    scores: Array,
    total: Array,
    norm: Statistics,
    out: Array,
) -> None:
    """Write d loss / d layers of `mix_normalised` to `out`; garbage where masked.

    Every normalised value y depends on the mean and the variance, and these on the counted tokens::

        d layers[j] = coefficients[j] * inverse_std[j]
                      * (upstream - counted * (total + y[j] * scores[j]) / n)

    with the scores and the total of `normalised_scores`.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # the gradient shows both
        along = -scores * norm.inverse_std / norm.n
        by_layer = along, -total / norm.n - along * norm.rest, coefficients * norm.inverse_std
        scale, shift, factor = (array.astype(out.dtype)[:, None, None] for array in by_layer)
        for block in blocks(layers):
            values = np.subtract(layers[block], norm.centre[:, None, None], out=out[block])
            values *= scale
            values += shift
            if not norm.counted[block].all():
                values *= norm.counted[block][:, None, :, None]
            values += upstream[block][:, None]
            values *= factor
