"""The optional layer norm of the scalar mixture: one mean and one variance a layer and batch."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Normalised:
    """Normalised layers with what their gradient needs."""

    values: Array  # like layers; 0 where masked
    inverse_std: Array  # (layers,)
    counted: Array  # (batch, 1, tokens, 1) bool: which tokens enter the statistics
    n: int  # how many numbers a layer's statistics are made from


def normalise(layers: Array, mask: Array | None, layer_norm: LayerNorm) -> Normalised:
    """Normalise checked layers (batch, layers, tokens, dim) under a checked mask or None."""
    given_mask = mask
    if mask is None:
        mask = np.ones((layers.shape[0], layers.shape[2]), dtype=bool)
    unmasked = mask[:, None, :, None]
    counted = _without_boundaries(mask) if layer_norm.boundaries == "left_out" else mask
    if not counted.any():
        raise ValueError(
            "layer_norm(boundaries='left_out') must find a token between the boundaries, "
            f"given rows of {mask.sum(axis=1).tolist()} unmasked tokens"
        )
    counted = counted[:, None, :, None]
    n = int(counted.sum()) * layers.shape[3]
    # Statistics of float32 layers are summed in float64.
    precise = np.result_type(layers, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.where(counted, layers, 0).sum(axis=(0, 2, 3), dtype=precise) / n
        centred = np.where(unmasked, layers - mean[:, None, None], 0)
        variance = (np.where(counted, centred, 0) ** 2).sum(axis=(0, 2, 3)) / n
    if not np.isfinite(variance).all():
        refuse_non_finite(layers, given_mask, "layers")
        raise ValueError(f"layers must have a variance within {layers.dtype}, given {variance}")
    spread = np.sqrt(variance + layer_norm.epsilon)
    if not spread.all():
        raise ValueError("layer_norm needs epsilon above 0 for a layer without variance, given 0")
    with np.errstate(over="ignore", invalid="ignore"):  # seen in the mixture or its gradient
        values = (centred / spread[:, None, None]).astype(layers.dtype)
    return Normalised(
        values=values,
        inverse_std=1 / spread,
        counted=counted,
        n=n,
    )


def _without_boundaries(mask: Array) -> Array:
    """The mask less each row's first and last unmasked token."""
    order = np.cumsum(mask, axis=1)
    inner: Array = mask & (order > 1) & (order < order[:, -1:])
    return inner


def through_norm(upstream: Array, norm: Normalised) -> Array:
    """d loss / d layers from d loss / d normalised layers, both (batch, layers, tokens, dim).

    Every normalised value depends on the mean and the variance, and these on the counted tokens::

        d layers = inverse_std * (upstream - counted * (sum(upstream) + y * sum(upstream * y)) / n)
    """
    y = norm.values
    total = upstream.sum(axis=(0, 2, 3))[:, None, None]
    along = (upstream * y).sum(axis=(0, 2, 3))[:, None, None]
    shared = np.where(norm.counted, (total + y * along) / norm.n, 0)
    gradient: Array = norm.inverse_std[:, None, None] * (upstream - shared)
    return gradient.astype(y.dtype)
