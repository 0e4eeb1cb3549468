"""One solution of the homework: a mixture that learns, with numpy alone.

`elmo_toy.exercises.build` compares a reader's file with it; the tests compare it with
`elmo_toy.worked_example` and with differences of its loss. Book: chapters 3 and 4.

Book: chapter 4, "Four witnesses".
"""

from __future__ import annotations

import numpy as np

from elmo_toy._checks import Array


def softmax(logits: Array) -> Array:
    """Step 1: weights, positive with sum one.

    >>> softmax(np.log([1.0, 2.0, 1.0]))
    array([0.25, 0.5 , 0.25])
    """
    exponentials = np.exp(logits - np.max(logits))
    weights: Array = exponentials / exponentials.sum()
    return weights


def mix(layers: Array, logits: Array, gamma: float) -> Array:
    """Step 2: mixtures (occurrences, dim) of layers (occurrences, layers, dim).

    >>> mix(np.array([[[1.0, 0.0], [3.0, 2.0]]]), np.zeros(2), 2.0)
    array([[4., 2.]])
    """
    mixtures: Array = gamma * np.einsum("j,kjd->kd", softmax(logits), layers)
    return mixtures


def loss(layers: Array, logits: Array, gamma: float, head: Array, labels: Array) -> float:
    """Step 3: mean log loss.

    >>> round(loss(np.zeros((1, 2, 2)), np.zeros(2), 1.0, np.ones(2), np.ones(1)), 6)
    0.693147
    """
    scores = mix(layers, logits, gamma) @ head
    return float(np.mean(np.logaddexp(0, scores) - labels * scores))


def gradient(
    layers: Array, logits: Array, gamma: float, head: Array, labels: Array
) -> tuple[Array, float]:
    """Step 4: the derivatives of the loss by logits and by gamma.

    >>> layers = np.array([[[1.0], [-1.0]]])
    >>> gradient(layers, np.zeros(2), 1.0, np.ones(1), np.ones(1))
    (array([-0.25,  0.25]), 0.0)
    """
    weights = softmax(logits)
    layer_scores = layers @ head
    mixed = layer_scores @ weights
    errors = (1 / (1 + np.exp(-gamma * mixed)) - labels) / len(labels)
    by_logits = gamma * weights * (errors @ (layer_scores - mixed[:, None]))
    return by_logits, float(errors @ mixed)


def step(
    layers: Array, logits: Array, gamma: float, head: Array, labels: Array, rate: float
) -> tuple[Array, float]:
    """Step 5: one step of descent, logits and gamma at once.

    >>> layers = np.array([[[1.0], [-1.0]]])
    >>> step(layers, np.zeros(2), 1.0, np.ones(1), np.ones(1), 2.0)
    (array([ 0.5, -0.5]), 1.0)
    """
    by_logits, by_gamma = gradient(layers, logits, gamma, head, labels)
    return logits - rate * by_logits, gamma - rate * by_gamma
