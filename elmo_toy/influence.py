"""How far one token's layers reach: derivatives of a mixture across token positions.

Book: chapter 3, "No attention anywhere".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elmo_toy._checks import Array, describe
from elmo_toy.layer_norm import LayerNorm
from elmo_toy.scalar_mix import scalar_mix_gradients


def token_influence(
    layers: Array, logits: ArrayLike, gamma: float = 1.0, layer_norm: LayerNorm | None = None
) -> Array:
    """``influence[t, u] = max |d mixture[t] / d layers[:, u]|`` over layers and dims.

    Parameters
    ----------
    layers, logits, gamma, layer_norm
        As in `elmo_toy.scalar_mix.scalar_mix`, with a batch of one sentence.

    Returns
    -------
    (tokens, tokens); without a layer norm it is diagonal: no token sees another.

    Raises
    ------
    ValueError
        For more than one sentence, vectors without a dim, and as `scalar_mix`.
    TypeError
        For layers that aren't one numpy array.

    Source: the chain rule, row by row. Book: chapter 3, "No attention anywhere".

    >>> token_influence(np.arange(4.0).reshape(1, 1, 2, 2), [0.0], gamma=3.0)
    array([[3., 0.],
           [0., 3.]])
    """
    if not isinstance(layers, np.ndarray):
        raise TypeError(f"layers must be one numpy array, given {describe(layers)}")
    if layers.ndim != 4 or layers.shape[0] != 1 or not layers.shape[3]:
        raise ValueError(
            f"layers must be one sentence (1, layers, tokens, dim), dim > 0, given {layers.shape}"
        )
    _, _, tokens, dim = layers.shape
    influence = np.zeros((tokens, tokens))
    for t in range(tokens):
        for i in range(dim):
            upstream = np.zeros((1, tokens, dim), dtype=layers.dtype)
            upstream[0, t, i] = 1
            row = scalar_mix_gradients(layers, logits, gamma, upstream, layer_norm=layer_norm)
            reach = np.abs(row.layers[0]).max(axis=(0, 2))
            influence[t] = np.maximum(influence[t], reach)
    return influence
