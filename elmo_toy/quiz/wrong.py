"""Wrong formulas that only a quiz needs; the usual ones are in `elmo_toy.exercises.mistakes`.

Each is a belief made into a computation, so that a distractor is a number that somebody would
really get.

Book: chapter 4, "Falling loss verifies nothing".
"""

from __future__ import annotations

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.descent import LAYER_SCORES
from elmo_toy.worked_example import LABELS, LAYERS, State, log_loss, sigmoid


def mixed(k: int, weights: Array, gamma: float = 1.0) -> Array:
    """The mixture of occurrence k with any three numbers as weights."""
    mixture: Array = gamma * weights @ LAYERS[k, :, 0]
    return mixture


def each_by_itself(logits: Array) -> Array:
    """A logistic function of each logit instead of a softmax over them.

    >>> each_by_itself(np.zeros(3)).tolist()
    [0.5, 0.5, 0.5]
    """
    return sigmoid(logits)


def loss_in_proportion(s: State, gamma: float) -> float:
    """The loss as if it were proportional to gamma.

    >>> from elmo_toy.worked_example import state
    >>> round(loss_in_proportion(state("lower"), 2.0), 6)
    2.208589
    """
    return float(s.forward.loss) * gamma / s.gamma


def loss_in_inverse_proportion(s: State, gamma: float) -> float:
    """The loss as if longer vectors were better in the same proportion.

    >>> from elmo_toy.worked_example import state
    >>> round(loss_in_inverse_proportion(state("lower"), 2.0), 6)
    0.552147
    """
    return float(s.forward.loss) * s.gamma / gamma


def loss_by_size_of_gamma(s: State, gamma: float) -> float:
    """The loss with gamma's sign ignored.

    >>> from elmo_toy.worked_example import state
    >>> loss_by_size_of_gamma(state("lower"), -1.0) == state("lower").forward.loss
    True
    """
    scores = abs(gamma) * LAYER_SCORES @ s.forward.weights
    return float(log_loss(scores, LABELS).mean())


def loss_on_a_straight_line(s: State, rate: float) -> float:
    """The loss after a step as if it fell at the same pace for ever, and below zero.

    >>> from elmo_toy.worked_example import state
    >>> round(loss_on_a_straight_line(state("lower"), 5.0), 2)
    -2.18
    """
    fall = float(s.forward.loss) - float(s.updated.loss)
    return float(s.forward.loss) - fall * rate / s.learning_rate


def clipped(parts: Array) -> float:
    """A sum in which negative parts count as nothing.

    >>> clipped(np.array([0.25, 0.5, -0.8]))
    0.75
    """
    return float(np.maximum(parts, 0).sum())


def score_slope_own_weight(k: int, layer: int, weights: Array) -> float:
    """``s_j (1 - s_j) c_kj``: the softmax's diagonal alone, as if other weights stood still.

    >>> round(score_slope_own_weight(0, 0, np.array([0.1, 0.1, 0.8])), 6)
    0.09
    """
    return float(weights[layer] * (1 - weights[layer]) * LAYER_SCORES[k, layer])
