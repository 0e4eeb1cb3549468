"""The usual wrong formulas, as formulas: what they give is computed, and what they are is said.

`QUANTITIES` holds the right formula of each quantity, `MISTAKES` the wrong ones, each with the
sentence that a reader hears who used it and, where one applies, the misconception behind it. A
distractor of a quiz and the feedback of an exercise are the same object.

    right("logit gradient", state())                  what it should be
    MISTAKES["without_m"].compute(state())            what comes out without the m

Formulas of the worked example take a `State` (preset, gamma and rate are in it); the others take
what their quantity says. A mistake may be invisible at one setting and show at another: gamma left
out changes nothing at gamma 1.

Misconceptions, by id: M1 weights depend on the token; M2 parameters are the weights; M3 a common
shift of the logits matters; M4 positive weights make positive coordinates; M5 gamma is a
probability, or larger is better; M6 a logit's gradient is its layer's score; M7 a step may be taken
on the weights; M8 weights are attention over words; M9 a large weight is an important layer;
M10 frozen means that nothing learns; M11 two equal mixtures are a bug; M12 the token layer holds
1024 facts; M13 the backward state at k predicts token k; M14 every weight is positive on a
computer; M15 Table 1 isolates the mixture; M16 a step that helped once always helps; M17 a word has
one vector; M18 a penalty on the logits leaves the shift free; M19 training finds the best weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.layer_norm import LayerNorm
from elmo_toy.reported import error_removed
from elmo_toy.scalar_mix import logit_penalty, scalar_mix, softmax
from elmo_toy.worked_example import HEAD, LABELS, LAYERS, State, forward, log_loss, sigmoid

MISCONCEPTIONS = tuple(f"M{number}" for number in range(1, 20))
EPSILON = 0.5  # of the layer-norm formulas: large enough for its place to show

Formula = Callable[..., Any]


@dataclass(frozen=True)
class Quantity:
    """What is asked for: its right formula, and in words what the formula takes."""

    name: str
    takes: str
    formula: Formula


@dataclass(frozen=True)
class Mistake:
    """A wrong formula for a quantity; `sentence` tells its user what it was.

    Book: chapter 4, "Falling loss verifies nothing".

    >>> from elmo_toy.worked_example import state
    >>> mistake = MISTAKES["without_m"]
    >>> mistake.compute(state()).round(6), mistake.sentence
    (array([-0.002253,  0.205847, -0.426031]), 'that is the gradient without `- m`')
    """

    name: str
    quantity: str
    sentence: str
    compute: Formula
    misconception: str | None = None


def right(quantity: str, *arguments: Any) -> Any:
    """The right value of a quantity; KeyError naming the quantities for an unknown one.

    >>> from elmo_toy.worked_example import state
    >>> round(right("loss", state()), 6)
    0.420337
    """
    if quantity not in QUANTITIES:
        raise KeyError(f"no quantity {quantity!r}; there are {', '.join(QUANTITIES)}")
    return QUANTITIES[quantity].formula(*arguments)


def mistakes_of(quantity: str) -> tuple[Mistake, ...]:
    """The wrong formulas of a quantity, in the order of `MISTAKES`.

    >>> [mistake.name for mistake in mistakes_of("penalty")]
    ['half_the_penalty', 'penalty_on_weights', 'penalty_of_absolutes']
    """
    return tuple(mistake for mistake in MISTAKES.values() if mistake.quantity == quantity)


# --- pieces of the worked example -----------------------------------------------------------------


def mix(weights: Array, gamma: float = 1.0) -> Array:
    """Mixtures (2, 2) with any weights, (3,) or (2, 3), also ones that no softmax gives."""
    each = np.broadcast_to(weights, (2, 3))
    mixtures: Array = gamma * np.einsum("kj,kjd->kd", each, LAYERS[:, :, 0])
    return mixtures


def _attention(s: State) -> Array:
    return softmax(s.forward.layer_scores)  # (2, 3): other weights for another token


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


def _loss_of(weights: Array, gamma: float) -> float:
    return float(log_loss(mix(weights, gamma) @ HEAD, LABELS).mean())


def _gammas_own_weight(s: State) -> Array:
    return softmax(np.append(s.logits, s.gamma))  # (4,)


# --- pieces of the layer norm ---------------------------------------------------------------------


def _norm(layers: Array, epsilon: float = EPSILON) -> Array:
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


# --- the tables -----------------------------------------------------------------------------------

_STATE = "a State of the worked example"
_LAYERS = f"layers (batch, layers, tokens, dim); epsilon is {EPSILON}"


def _quantities(*rows: tuple[str, str, Formula]) -> Mapping[str, Quantity]:
    return MappingProxyType({row[0]: Quantity(*row) for row in rows})


QUANTITIES = _quantities(
    ("weights", _STATE, lambda s: s.forward.weights),  # (3,)
    ("mixtures", _STATE, lambda s: s.forward.mixtures),  # (2, 2)
    ("scores", _STATE, lambda s: s.forward.scores),  # (2,)
    ("probabilities", _STATE, lambda s: s.forward.probabilities),  # (2,)
    ("loss", _STATE, lambda s: s.forward.loss),
    ("logit gradient", _STATE, lambda s: s.logit_gradient),  # (3,)
    ("gamma gradient", _STATE, lambda s: s.gamma_gradient),
    ("updated weights", _STATE, lambda s: s.updated.weights),  # (3,)
    ("updated loss", _STATE, lambda s: s.updated.loss),
    ("layer norm", _LAYERS, _norm),
    ("penalty", "logits, strength", logit_penalty),
    ("perplexity", "log-probabilities (tokens,), in nats", lambda x: float(np.exp(-np.mean(x)))),
    ("error removed", "scores in per cent before and after", error_removed),
)


def _mistakes(*rows: tuple[str, str, str, Formula, str | None]) -> Mapping[str, Mistake]:
    return MappingProxyType({row[0]: Mistake(*row) for row in rows})


MISTAKES: Mapping[str, Mistake] = _mistakes(
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
        lambda s: _loss_of(s.forward.weights, 1.0),
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
        "M16",
    ),
    # loss after a step
    (
        "loss_after_step_on_weights",
        "updated loss",
        "you stepped on the weights: step on the logits, then take the softmax again",
        lambda s: _loss_of(s.forward.weights - s.learning_rate * s.logit_gradient, s.updated_gamma),
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
        "M10",
    ),
    (
        "loss_with_old_logits",
        "updated loss",
        "you left the logits where they were: they take their step too",
        lambda s: _loss_after(s, np.zeros(3), s.gamma_gradient),
        "M10",
    ),
    (
        "loss_before_the_step",
        "updated loss",
        "that is the loss before the step",
        lambda s: s.forward.loss,
        None,
    ),
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
