"""Wrong formulas from the logits to the loss; each takes a `State` of the worked example.

Book: chapter 3, "One mixture, by hand".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.scalar_mix import softmax
from elmo_toy.worked_example import HEAD, LABELS, LAYERS, State, log_loss, sigmoid, state

#: Name, quantity, sentence, wrong formula, misconception.
Rows = tuple[tuple[str, str, str, Callable[..., Any], str | None], ...]


def mix(weights: Array, gamma: float = 1.0) -> Array:
    """Mixtures (2, 2) with any weights, (3,) or (2, 3), also ones that no softmax gives."""
    each = np.broadcast_to(weights, (2, 3))
    mixtures: Array = gamma * np.einsum("kj,kjd->kd", each, LAYERS[:, :, 0])
    return mixtures


def _attention(s: State) -> Array:
    return softmax(s.forward.layer_scores)  # (2, 3): other weights for another token


def loss_of(weights: Array, gamma: float) -> float:
    """Mean log loss with any weights, also ones that no softmax gives."""
    return float(log_loss(mix(weights, gamma) @ HEAD, LABELS).mean())


def _gammas_own_weight(s: State) -> Array:
    return softmax(np.append(s.logits, s.gamma))  # (4,)


ROWS: Rows = (
    # weights
    (
        "logits_as_weights",
        "weights",
        "you used the logits as weights: the softmax is missing",
        lambda s: np.array(s.logits),
        "M2",
    ),
    (
        "exponentials_not_divided",
        "weights",
        "those are the exponentials of the logits, not yet divided by their sum",
        lambda s: np.exp(s.logits),
        "M2",
    ),
    (
        "logits_divided_by_their_sum",
        "weights",
        "you divided the logits by their sum: take the exponentials first",
        lambda s: s.logits / s.logits.sum(),
        "M2",
    ),
    (
        "gamma_inside_the_softmax",
        "weights",
        "you multiplied the logits by gamma: gamma scales the mixture, after the softmax",
        lambda s: softmax(s.gamma * s.logits),
        "M5",
    ),
    (
        "weights_of_one_token",
        "weights",
        "those are weights made from this token's own scores, as in attention: a mixture has one "
        "set of weights for all tokens",
        lambda s: _attention(s)[0],
        "M1",
    ),
    (
        "gamma_among_the_logits",
        "weights",
        "you softmaxed the gamma: it is a factor of its own, not a fourth logit",
        lambda s: _gammas_own_weight(s)[:3],
        "M5",
    ),
    # mixtures
    (
        "mixture_with_logits",
        "mixtures",
        "you used the logits as weights: the softmax is missing",
        lambda s: mix(s.logits, s.gamma),
        "M2",
    ),
    (
        "mixture_without_gamma",
        "mixtures",
        "gamma left out: it multiplies the whole mixture",
        lambda s: mix(s.forward.weights),
        "M5",
    ),
    (
        "mixture_with_softmaxed_gamma",
        "mixtures",
        "you softmaxed the gamma: it is a factor of its own, not a fourth logit",
        lambda s: mix(_gammas_own_weight(s)[:3], _gammas_own_weight(s)[3]),
        "M5",
    ),
    (
        "mixture_with_sharpened_weights",
        "mixtures",
        "you multiplied the logits by gamma: gamma scales the mixture, after the softmax",
        lambda s: mix(softmax(s.gamma * s.logits)),
        "M5",
    ),
    (
        "mixture_as_attention",
        "mixtures",
        "you used the weights of a token-wise attention: a mixture has one set of weights for all "
        "tokens",
        lambda s: mix(_attention(s), s.gamma),
        "M1",
    ),
    (
        "mixture_of_absolutes",
        "mixtures",
        "you dropped the sign of a coordinate: positive weights do not make coordinates positive",
        lambda s: s.gamma * np.einsum("j,kjd->kd", s.forward.weights, np.abs(LAYERS[:, :, 0])),
        "M4",
    ),
    (
        "mixture_of_the_word",
        "mixtures",
        "that is one vector for the word, the mean over its occurrences: each occurrence has its "
        "own",
        lambda s: np.broadcast_to(s.forward.mixtures.mean(axis=0), (2, 2)).copy(),
        "M17",
    ),
    (
        "mixture_unweighted",
        "mixtures",
        "you added the layers without their weights",
        lambda s: mix(np.ones(3), s.gamma),
        None,
    ),
    (
        "largest_layer_only",
        "mixtures",
        "that is the layer with the largest weight alone: every layer enters",
        lambda s: mix(np.eye(3)[np.argmax(s.forward.weights)], s.gamma),
        "M9",
    ),
    (
        "mixtures_exchanged",
        "mixtures",
        "river and loan are in each other's place",
        lambda s: s.forward.mixtures[::-1].copy(),
        None,
    ),
    (
        "mixture_with_the_chapters_weights",
        "mixtures",
        "you used the weights of the chapter's default state: others are given",
        lambda s: mix(state().forward.weights, s.gamma),
        None,
    ),
    # scores
    (
        "scores_without_head",
        "scores",
        "you added the coordinates: the head subtracts the second from the first",
        lambda s: s.forward.mixtures.sum(axis=1),
        None,
    ),
    (
        "scores_without_gamma",
        "scores",
        "gamma left out: that is the mixed score m",
        lambda s: s.forward.mixed_scores,
        "M5",
    ),
    (
        "scores_reversed",
        "scores",
        "the sign is reversed: the head is first coordinate less second",
        lambda s: -s.forward.scores,
        None,
    ),
    # probabilities
    (
        "probabilities_reversed",
        "probabilities",
        "the sign is reversed: that is the probability of label 0",
        lambda s: sigmoid(-s.forward.scores),
        None,
    ),
    (
        "exponentials_of_scores",
        "probabilities",
        "those are exponentials of the scores: the logistic function is 1 / (1 + exp(-z))",
        lambda s: np.exp(s.forward.scores),
        None,
    ),
    # loss
    (
        "loss_without_mean",
        "loss",
        "you forgot the mean over the two examples",
        lambda s: float(s.forward.losses.sum()),
        None,
    ),
    (
        "loss_in_bits",
        "loss",
        "you took the loss in bits: the logarithm is the natural one",
        lambda s: s.forward.loss / np.log(2),
        None,
    ),
    (
        "loss_with_swapped_labels",
        "loss",
        "the sign is reversed: that is the loss with the two labels exchanged",
        lambda s: float(log_loss(s.forward.scores, 1 - LABELS).mean()),
        None,
    ),
    (
        "loss_without_gamma",
        "loss",
        "gamma left out: that is the loss at gamma 1",
        lambda s: loss_of(s.forward.weights, 1.0),
        "M5",
    ),
    (
        "loss_all_label_one",
        "loss",
        "you took label 1 for both: the loan occurrence has label 0",
        lambda s: float(log_loss(s.forward.scores, np.ones(2)).mean()),
        None,
    ),
    (
        "squared_error",
        "loss",
        "that is the mean squared error of the probabilities, not the log loss",
        lambda s: float(((s.forward.probabilities - LABELS) ** 2).mean()),
        None,
    ),
    (
        "loss_of_river",
        "loss",
        "that is the loss of the river occurrence alone",
        lambda s: float(s.forward.losses[0]),
        "M1",
    ),
)
