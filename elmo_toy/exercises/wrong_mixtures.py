"""Wrong functions for a mixture, of layers, logits and gamma; of exercise and homework.

Book: chapter 3, "The same mixture, by code".
"""

from __future__ import annotations

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.exercises.answers import Wrong
from elmo_toy.scalar_mix import softmax


def _weighted(layers: Array, weights: Array, gamma: float = 1.0) -> Array:
    mixture: Array = gamma * np.einsum("j,bj...->b...", weights, layers)
    return mixture


def _own_softmax(layers: Array) -> Array:
    """Weights for each coordinate by itself, from what stands there in the layers."""
    return np.moveaxis(softmax(np.moveaxis(layers, 1, -1)), -1, 1)


def _gate(layers: Array, gamma: float) -> Array:
    gates = softmax(layers.sum(axis=3).swapaxes(1, 2)).swapaxes(1, 2)  # (batch, layers, tokens)
    mixture: Array = gamma * np.einsum("bjt,bjtd->btd", gates, layers)
    return mixture


#: For layers (occurrences, layers, ...).
WRONG_MIXTURES = (
    Wrong(_weighted, "you used the logits as weights: the softmax is missing", "M2"),
    Wrong(
        lambda layers, logits, gamma: _weighted(layers, np.exp(logits), gamma),
        "those are the exponentials of the logits, not yet divided by their sum",
        "M2",
    ),
    Wrong(
        lambda layers, logits, _: _weighted(layers, softmax(logits)),
        "gamma left out: it multiplies the whole mixture",
        "M5",
    ),
    Wrong(
        lambda layers, logits, gamma: _weighted(layers, softmax(gamma * logits)),
        "you multiplied the logits by gamma: gamma scales the mixture, after the softmax",
        "M5",
    ),
    Wrong(
        lambda layers, logits, gamma: _weighted(layers, softmax(logits), gamma) / len(logits),
        "you divided by the number of layers: the weights sum to one already",
    ),
    Wrong(
        lambda layers, _, gamma: gamma * layers.mean(axis=1),
        "that is the plain mean of the layers: the logits say how much of each enters",
    ),
    Wrong(
        lambda layers, *_: layers.mean(axis=1),
        "that is the plain mean of the layers, and without gamma: the logits say how much of each "
        "enters",
    ),
    Wrong(
        lambda layers, _, gamma: gamma * (_own_softmax(layers) * layers).sum(axis=1),
        "you took the softmax of the layers themselves: the weights come from the logits alone",
        "M1",
    ),
)

#: For layers (batch, layers, tokens, dim), as many layers as tokens.
WRONG_MIXTURES_OF_TOKENS = (
    Wrong(
        lambda layers, logits, gamma: _weighted(layers.swapaxes(1, 2), softmax(logits)) * gamma,
        "you mixed along the tokens: the layers are axis 1",
        "M8",
    ),
    Wrong(
        lambda layers, _, gamma: _gate(layers, gamma),
        "you made weights from the token's own layers: they come from the logits alone",
        "M1",
    ),
)
