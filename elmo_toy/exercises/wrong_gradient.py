"""Wrong gradients, and wrong steps along right ones; each takes a `State`.

Book: chapter 4, "Falling loss verifies nothing".
"""

from __future__ import annotations

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.exercises.wrong_forward import Rows, loss_of
from elmo_toy.scalar_mix import softmax
from elmo_toy.worked_example import State, forward


def _centred(s: State) -> Array:
    return s.forward.layer_scores - s.forward.mixed_scores[:, None]


def _logit_gradient(s: State, upstream: Array, centred: Array) -> Array:
    """``gamma s_j sum_k g_k (c_kj - m_k)`` with g_k and the bracket to choose."""
    gradient: Array = s.gamma * s.forward.weights * (upstream @ centred)
    return gradient


def _by_weight(s: State) -> Array:
    gradient: Array = s.gamma * (s.score_gradients @ s.forward.layer_scores)
    return gradient


def _without_m(s: State) -> Array:
    return s.forward.weights * _by_weight(s)


def _loss_after(s: State, logit_step: Array, gamma_step: float) -> float:
    after = forward(s.logits - s.learning_rate * logit_step, s.gamma - s.learning_rate * gamma_step)
    return float(after.loss)


ROWS: Rows = (
    # logit gradient
    (
        "without_m",
        "logit gradient",
        "that is the gradient without `- m`",
        _without_m,
        "M6",
    ),
    (
        "gradient_without_mean",
        "logit gradient",
        "you forgot the mean over the two examples: the factor 1/2 is missing",
        lambda s: 2 * s.logit_gradient,
        None,
    ),
    (
        "gradient_reversed",
        "logit gradient",
        "the sign is reversed: that is the direction of descent, the gradient points uphill",
        lambda s: -s.logit_gradient,
        None,
    ),
    (
        "gradient_without_gamma",
        "logit gradient",
        "gamma left out: the score is gamma times the mixed score",
        lambda s: s.logit_gradient / s.gamma,
        "M5",
    ),
    (
        "gradient_without_s",
        "logit gradient",
        "the factor s_j is missing: that would be gamma times the sum of g (c - m)",
        lambda s: s.gamma * (s.score_gradients @ _centred(s)),
        "M6",
    ),
    (
        "gradient_by_weights",
        "logit gradient",
        "that is the gradient with respect to the weights, as if they were free",
        _by_weight,
        "M7",
    ),
    (
        "gradient_of_river",
        "logit gradient",
        "that is the river occurrence alone: the logits are shared, so add both",
        lambda s: s.logit_contributions[0],
        "M1",
    ),
    (
        "gradient_without_labels",
        "logit gradient",
        "you used p where p - y belongs: the labels are missing",
        lambda s: _logit_gradient(s, s.forward.probabilities / 2, _centred(s)),
        None,
    ),
    (
        "gradient_with_one_m",
        "logit gradient",
        "you used one m for both: each occurrence has its own mixed score",
        lambda s: _logit_gradient(
            s, s.score_gradients, s.forward.layer_scores - s.forward.mixed_scores.mean()
        ),
        "M6",
    ),
    (
        "gradient_minus_z",
        "logit gradient",
        "you subtracted the score z: what is subtracted is the mixed score m, without gamma",
        lambda s: _logit_gradient(
            s, s.score_gradients, s.forward.layer_scores - s.forward.scores[:, None]
        ),
        "M6",
    ),
    (
        "own_weight_only",
        "logit gradient",
        "you let a logit move its own weight only: it moves all of them",
        lambda s: _by_weight(s) * s.forward.weights * (1 - s.forward.weights),
        "M6",
    ),
    (
        "gradient_in_bits",
        "logit gradient",
        "you took the loss in bits: the logarithm is the natural one",
        lambda s: s.logit_gradient / np.log(2),
        None,
    ),
    # gamma gradient
    (
        "gamma_gradient_without_mean",
        "gamma gradient",
        "you forgot the mean over the two examples: the factor 1/2 is missing",
        lambda s: 2 * s.gamma_gradient,
        None,
    ),
    (
        "gamma_gradient_reversed",
        "gamma gradient",
        "the sign is reversed: that is the direction of descent, the gradient points uphill",
        lambda s: -s.gamma_gradient,
        None,
    ),
    (
        "gamma_gradient_with_z",
        "gamma gradient",
        "you multiplied by the score z: its derivative with respect to gamma is m",
        lambda s: float(s.score_gradients @ s.forward.scores),
        "M5",
    ),
    (
        "gamma_gradient_without_labels",
        "gamma gradient",
        "you used p where p - y belongs: the labels are missing",
        lambda s: float(s.forward.probabilities @ s.forward.mixed_scores / 2),
        None,
    ),
    (
        "gamma_gradient_of_river",
        "gamma gradient",
        "that is the river occurrence alone: gamma is shared, so add both",
        lambda s: float(s.gamma_contributions[0]),
        "M1",
    ),
    # weights after a step
    (
        "stepped_on_weights",
        "updated weights",
        "you stepped on the weights: step on the logits, then take the softmax again",
        lambda s: s.forward.weights - s.learning_rate * s.logit_gradient,
        "M7",
    ),
    (
        "stepped_on_weights_by_weights",
        "updated weights",
        "you stepped on the weights with the gradient of the weights: their sum is no longer 1",
        lambda s: s.forward.weights - s.learning_rate * _by_weight(s),
        "M7",
    ),
    (
        "softmax_not_taken_again",
        "updated weights",
        "those are the new logits: take the softmax again",
        lambda s: np.array(s.updated_logits),
        "M2",
    ),
    (
        "step_uphill",
        "updated weights",
        "you added the gradient: descent subtracts it",
        lambda s: softmax(s.logits + s.learning_rate * s.logit_gradient),
        None,
    ),
    (
        "step_without_m",
        "updated weights",
        "you stepped along the gradient without `- m`",
        lambda s: softmax(s.logits - s.learning_rate * _without_m(s)),
        "M6",
    ),
    (
        "step_without_rate",
        "updated weights",
        "the learning rate is missing: that is a step of rate 1",
        lambda s: softmax(s.logits - s.logit_gradient),
        None,
    ),
    # loss after a step
    (
        "loss_after_step_on_weights",
        "updated loss",
        "you stepped on the weights: step on the logits, then take the softmax again",
        lambda s: loss_of(s.forward.weights - s.learning_rate * s.logit_gradient, s.updated_gamma),
        "M7",
    ),
    (
        "loss_after_step_without_m",
        "updated loss",
        "you stepped along the gradient without `- m`",
        lambda s: _loss_after(s, _without_m(s), s.gamma_gradient),
        "M6",
    ),
    (
        "loss_after_step_uphill",
        "updated loss",
        "you added the gradient: descent subtracts it",
        lambda s: _loss_after(s, -s.logit_gradient, -s.gamma_gradient),
        None,
    ),
    (
        "loss_with_old_gamma",
        "updated loss",
        "you left gamma where it was: it takes its step too",
        lambda s: _loss_after(s, s.logit_gradient, 0.0),
        None,
    ),
    (
        "loss_with_old_logits",
        "updated loss",
        "you left the logits where they were: they take their step too",
        lambda s: _loss_after(s, np.zeros(3), s.gamma_gradient),
        None,
    ),
    (
        "loss_before_the_step",
        "updated loss",
        "that is the loss before the step",
        lambda s: s.forward.loss,
        None,
    ),
)
