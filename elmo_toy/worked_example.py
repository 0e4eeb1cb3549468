"""The article's worked example: two occurrences of *bank*, one mixture, a fixed head.

The features are invented, small enough for paper: no model gave them, and neither axis stands for
anything. Both occurrences share the token layer and differ in the contextual layers.

    mixture       e_k = gamma * sum_j s_j h_kj          s = softmax(logits), shared by both k
    layer score   c_kj = w . h_kj                       w = HEAD
    mixed score   m_k = sum_j s_j c_kj
    score         z_k = w . e_k = gamma * m_k
    probability   p_k = 1 / (1 + exp(-z_k))
    loss          mean over k of -y_k log p_k - (1 - y_k) log(1 - p_k)

Source: the article's sections "Compute both meanings with the same weights" and "Follow the
gradient into the mixture". Book: chapters 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from elmo_toy._checks import LAYER_DTYPES, Array, as_number, as_numbers, describe, refuse_masked
from elmo_toy.scalar_mix import scalar_mix, scalar_mix_gradients, softmax


def _constant(values: ArrayLike) -> Array:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False  # a notebook cell must not change the example for the next one
    return array


OCCURRENCES = ("river", "loan")
#: (2 occurrences, 3 layers, 1 token, 2 dims): each occurrence is a sentence of one token.
LAYERS = _constant(
    [
        [[[1.0, 0.0]], [[0.0, 2.0]], [[3.0, 1.0]]],
        [[[1.0, 0.0]], [[2.0, 0.0]], [[-1.0, 2.0]]],
    ]
)
HEAD = _constant([1.0, -1.0])
LABELS = _constant([1.0, 0.0])
LEARNING_RATE = 0.1
DEFAULT_PRESET = "upper"
#: Which layer a preset emphasises: the upper contextual one, none, the lower *contextual* one, and
#: the token layer.
PRESETS = MappingProxyType(
    {
        "upper": _constant([0.2, 0.3, 0.5]),
        "equal": _constant([1 / 3, 1 / 3, 1 / 3]),
        "lower": _constant([0.2, 0.6, 0.2]),
        "token": _constant([0.6, 0.2, 0.2]),
    }
)
GAMMAS = (1.0, 2.0)


class _ReadOnlyArrays:
    """A state belongs to everybody who looks at it: its arrays cannot be written to."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False


@dataclass(frozen=True)
class Forward(_ReadOnlyArrays):
    """Every intermediate of the forward pass; the first axis of an array is the occurrence."""

    weights: Array  # (3,)
    mixtures: Array  # (2, 2)
    layer_scores: Array  # (2, 3)
    mixed_scores: Array  # (2,)
    scores: Array  # (2,)
    probabilities: Array  # (2,)
    losses: Array  # (2,)
    loss: Any  # float, or complex under the complex step


@dataclass(frozen=True)
class State(_ReadOnlyArrays):
    """A setting of the mixture, its forward pass, its gradients, and one step down them."""

    preset: str
    gamma: float
    logits: Array  # (3,)
    forward: Forward
    score_gradients: Array  # (2,), d loss / d z_k = (p_k - y_k) / 2
    logit_contributions: Array  # (2, 3), each occurrence's share of the logit gradient
    gamma_contributions: Array  # (2,)
    logit_gradient: Array  # (3,), the shared sum
    gamma_gradient: float
    learning_rate: float
    updated_logits: Array  # (3,)
    updated_gamma: float
    updated: Forward

    def as_record(self) -> dict[str, Any]:
        """Nested dict of Python numbers, in the form that `elmo_scalar_mix_demo.py` exports.

        >>> record = state("upper", 1.0).as_record()
        >>> [round(x, 12) for x in record["occurrences"]["river"]["mixture"]]
        [1.7, 1.1]
        """
        forward = self.forward
        occurrences = {
            name: {
                "label": float(LABELS[k]),
                "layers": LAYERS[k, :, 0].tolist(),
                "mixture": forward.mixtures[k].tolist(),
                "layer_scores": forward.layer_scores[k].tolist(),
                "mixed_score": float(forward.mixed_scores[k]),
                "score": float(forward.scores[k]),
                "probability": float(forward.probabilities[k]),
                "loss": float(forward.losses[k]),
                "score_gradient": float(self.score_gradients[k]),
                "logit_gradient": self.logit_contributions[k].tolist(),
                "gamma_gradient": float(self.gamma_contributions[k]),
            }
            for k, name in enumerate(OCCURRENCES)
        }
        return {
            "preset": self.preset,
            "gamma": self.gamma,
            "logits": self.logits.tolist(),
            "weights": forward.weights.tolist(),
            "occurrences": occurrences,
            "loss": float(forward.loss),
            "logit_gradient": self.logit_gradient.tolist(),
            "gamma_gradient": self.gamma_gradient,
            "learning_rate": self.learning_rate,
            "updated": {
                "logits": self.updated_logits.tolist(),
                "gamma": self.updated_gamma,
                "weights": self.updated.weights.tolist(),
                "loss": float(self.updated.loss),
            },
        }


def log_loss(scores: ArrayLike, labels: Array) -> Array:
    """``-y log p - (1 - y) log(1 - p)`` with ``p = sigmoid(score)``, elementwise; labels in [0, 1].

    Written as ``log(1 + exp(-|score|)) + max(score, 0) - y * score``, the last two as one product:
    it neither overflows nor takes log 0, a certain and right score keeps its small loss, and it
    runs on complex scores for the complex step. ValueError for scores that aren't finite and labels
    outside of [0, 1]. Book: chapter 4, "A loss to differentiate".

    >>> log_loss(np.array([0.6, -0.7]), np.array([1.0, 0.0])).round(6)
    array([0.437488, 0.403186])
    """
    scores = as_numbers(scores, "scores")
    if not np.isfinite(scores).all():
        raise ValueError(f"scores must be finite, given {scores}")
    if not np.all((np.asarray(labels) >= 0) & (np.asarray(labels) <= 1)):
        raise ValueError(f"labels must lie in [0, 1], given {labels}")
    positive = scores.real > 0
    small = np.exp(np.where(positive, -scores, scores))
    # One factor, 0 where a score is right: 50 + 1.9e-22 - 50 would be 0.
    losses: Array = (np.where(positive, 1.0, 0.0) - labels) * scores + np.log1p(small)
    return losses


def sigmoid(scores: ArrayLike) -> Array:
    """``1 / (1 + exp(-score))``, without overflow. Book: chapter 4, "A loss to differentiate".

    >>> sigmoid(np.array([0.6, -0.7])).round(6)
    array([0.645656, 0.331812])
    """
    scores = as_numbers(scores, "scores")
    small = np.exp(np.where(scores.real > 0, -scores, scores))
    probabilities: Array = np.where(scores.real > 0, 1, small) / (1 + small)
    return probabilities


def forward(
    logits: ArrayLike,
    gamma: complex = 1.0,
    *,
    layers: Array = LAYERS,
    head: Array = HEAD,
    labels: Array = LABELS,
) -> Forward:
    """The forward pass of the worked example, also on complex logits or gamma.

    Parameters
    ----------
    logits
        (layers,), before the softmax.
    gamma
        One number of any sign.
    layers
        (2, layers, 1, dim), one token an occurrence.
    head
        (dim,), the score's direction w.
    labels
        (2,), each in [0, 1]: assigned for teaching, not a benchmark.

    Raises
    ------
    ValueError, TypeError
        As `scalar_mix`; and where head or labels don't fit the layers.

    Book: chapter 3, "One mixture, two vectors", and chapter 4, "A loss to differentiate".

    >>> round(forward(np.log([0.2, 0.3, 0.5])).loss, 10)
    0.4203369997
    """
    for name, array in {"layers": layers, "head": head, "labels": labels}.items():
        refuse_masked(array, name)
        if not isinstance(array, np.ndarray) or array.dtype.name not in LAYER_DTYPES:
            raise TypeError(f"{name} must be a float64 array, given {describe(array)}")
    if layers.ndim != 4 or layers.shape[2] != 1 or not layers.size:
        raise ValueError(
            f"layers must have shape (occurrences, layers, 1, dim), given {layers.shape}"
        )
    if head.shape != layers.shape[3:] or labels.shape != layers.shape[:1]:
        raise ValueError(
            f"head and labels must have shapes {layers.shape[3:]} and {layers.shape[:1]}, "
            f"given {head.shape} and {labels.shape}"
        )
    if not np.isfinite(head).all():
        raise ValueError(f"head must be finite, given {head}")
    if not ((labels >= 0) & (labels <= 1)).all():
        raise ValueError(f"labels must lie in [0, 1], given {labels}")
    mixtures = scalar_mix(layers, logits, gamma)[:, 0]
    weights = softmax(logits)
    layer_scores = layers[:, :, 0] @ head
    mixed_scores = layer_scores @ weights
    scores = mixtures @ head
    losses = log_loss(scores, labels)
    loss = losses.mean()
    return Forward(
        weights=weights,
        mixtures=mixtures,
        layer_scores=layer_scores,
        mixed_scores=mixed_scores,
        scores=scores,
        probabilities=sigmoid(scores),
        losses=losses,
        loss=complex(loss) if np.iscomplexobj(loss) else float(loss),
    )


def state(
    preset: str = DEFAULT_PRESET, gamma: float = 1.0, learning_rate: float = LEARNING_RATE
) -> State:
    """The article's state for a preset and gamma, with gradients and one simultaneous step.

    Raises ValueError naming the presets for an unknown one.
    Book: chapter 4, "Two occurrences, one gradient".

    >>> default = state()
    >>> default.logit_gradient.round(6), round(default.gamma_gradient, 6)
    (array([ 0.042234,  0.272578, -0.314812]), -0.222437)
    >>> round(default.updated.loss, 10)
    0.3980548517
    """
    if not isinstance(preset, str) or preset not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, given {preset!r}")
    return state_at(np.log(PRESETS[preset]), gamma, learning_rate, preset)


def state_at(
    logits: ArrayLike,
    gamma: float = 1.0,
    learning_rate: float = LEARNING_RATE,
    preset: str = "custom",
) -> State:
    """`state` for any finite logits; a ValueError names what isn't a finite number.

    Book: chapter 4, "Two occurrences, one gradient".

    >>> round(state_at([0.0, 0.0, 0.0]).forward.loss, 6) == round(state("equal").forward.loss, 6)
    True
    """
    values = as_numbers(logits, "logits")
    if np.iscomplexobj(values) or not np.isfinite(values).all():
        raise ValueError(f"logits must be finite real numbers, given {values}")
    logits = np.array(values, dtype=np.float64)
    gamma, learning_rate = as_number(gamma, "gamma"), as_number(learning_rate, "learning_rate")
    before = forward(logits, gamma)
    score_gradients = (before.probabilities - LABELS) / len(LABELS)
    # One backward pass an occurrence keeps the two contributions apart; their sum is the gradient.
    by_occurrence = [
        scalar_mix_gradients(
            LAYERS[k : k + 1], logits, gamma, (score_gradients[k] * HEAD)[None, None]
        )
        for k in range(len(OCCURRENCES))
    ]
    logit_contributions = np.stack([gradients.logits for gradients in by_occurrence])
    gamma_contributions = np.array([gradients.gamma for gradients in by_occurrence])
    logit_gradient = logit_contributions.sum(axis=0)
    gamma_gradient = float(gamma_contributions.sum())
    updated_logits = logits - learning_rate * logit_gradient
    updated_gamma = gamma - learning_rate * gamma_gradient
    return State(
        preset=preset,
        gamma=gamma,
        logits=logits,
        forward=before,
        score_gradients=score_gradients,
        logit_contributions=logit_contributions,
        gamma_contributions=gamma_contributions,
        logit_gradient=logit_gradient,
        gamma_gradient=gamma_gradient,
        learning_rate=learning_rate,
        updated_logits=updated_logits,
        updated_gamma=updated_gamma,
        updated=forward(updated_logits, updated_gamma),
    )


def eight_states() -> tuple[State, ...]:
    """Four presets times gamma 1 and 2: our reading of the article, which doesn't list its eight.

    Book: chapter 4, "Falling loss verifies nothing".

    >>> [(s.preset, s.gamma) for s in eight_states()][:3]
    [('upper', 1.0), ('upper', 2.0), ('equal', 1.0)]
    """
    return tuple(state(preset, gamma) for preset in PRESETS for gamma in GAMMAS)
