"""Two things that can move a mixture: its coefficients, and the features under it.

With ``g_j = gamma * s_j`` before and ``g'_j`` after, and layers ``h_j`` and ``h'_j``::

    e' - e = sum_j (g'_j - g_j) h_j          the coefficients moved
           + sum_j g_j (h'_j - h_j)          the features moved
           + sum_j (g'_j - g_j) (h'_j - h_j) both did

While the extractor is frozen the last two are zero, and layers that were stored stay true.

Book: chapter 7, "When the extractor moves too".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elmo_toy._checks import Array, as_reals
from elmo_toy.bilm.model import BiLM
from elmo_toy.scalar_mix import ScalarMix
from elmo_toy.text import Batch
from elmo_toy.toy_language import SENSES, Sentence
from elmo_toy.worked_example import log_loss, sigmoid


class Change(NamedTuple):
    """The parts of a mixture's change; each (batch, tokens, dim). They add up to the change."""

    coefficients: Array
    features: Array
    both: Array

    @property
    def total(self) -> Array:
        """``e' - e``."""
        return self.coefficients + self.features + self.both


def split_change(before: ScalarMix, layers: Array, after: ScalarMix, new_layers: Array) -> Change:
    """Split the change of a mixture into the parts of the module's text.

    Parameters
    ----------
    before, after
        The mixture's parameters.
    layers, new_layers
        (batch, layers, tokens, dim), the features of the same sentences.

    Returns
    -------
    Change

    Raises
    ------
    ValueError
        If the layers are not of one shape, with one layer a logit, or not finite.
    TypeError
        For what is no array of real numbers.

    Source: the product rule for differences. Book: chapter 7, "When the extractor moves too".

    >>> layers = np.array([[[[1.0]], [[2.0]]]])                  # two layers, one coordinate
    >>> half = ScalarMix.from_logits([0.0, 0.0])
    >>> double = ScalarMix.from_logits([0.0, 0.0], gamma=2.0)
    >>> [float(part.item()) for part in split_change(half, layers, double, layers + 1)]
    [1.5, 1.0, 1.0]
    """
    layers, new_layers = as_reals(layers, "layers"), as_reals(new_layers, "new_layers")
    n_layers = len(before.logits)
    fits = layers.ndim == 4 and layers.shape == new_layers.shape
    if not fits or {n_layers, len(after.logits)} != {layers.shape[1]}:
        raise ValueError(
            "layers, new_layers: expected one shape (batch, layers, tokens, dim), with "
            f"{n_layers} and {len(after.logits)} layers as the mixtures have, "
            f"got {layers.shape} and {new_layers.shape}"
        )
    old = before.gamma * before.weights
    moved = after.gamma * after.weights - old
    shift = new_layers - layers
    return Change(
        *(
            np.einsum("j,bjtd->btd", g, h)
            for g, h in ((moved, layers), (old, shift), (moved, shift))
        )
    )


@dataclass(frozen=True)
class Snapshot:
    """What a training step met: loss before the step, and everything it was computed from."""

    loss: float
    mix: ScalarMix
    head: Array  # (dim,)
    model: BiLM


def train_sense(
    model: BiLM,
    sentences: Sequence[Sentence],
    *,
    steps: int,
    rate: float,
    model_rate: float = 0.0,
) -> list[Snapshot]:
    """Learn the two senses of one noun by gradient descent: mixture and head, and the biLM or not.

    A score is ``head . e`` at the noun, label 1 the noun's first sense; the loss is the mean log
    loss over all sentences, which are one batch. Mixture and head start from zeros and gamma 1.

    Parameters
    ----------
    model
        Of float64; left as it is.
    sentences
        Labelled, all with the same noun.
    steps
    rate
        Of logits, gamma and head.
    model_rate
        Of the biLM's own parameters; 0 freezes it, as ELMo does.

    Returns
    -------
    ``steps + 1`` snapshots, before each step and after the last.

    Raises
    ------
    ValueError
        For sentences of several nouns, or a float32 model (whose small steps round away).

    Source: the article's worked example, with real features, a head that is learned, and an
    extractor that may be. Book: chapter 7, "When the extractor moves too".
    """
    nouns = {sentence.noun for sentence in sentences}
    if len(nouns) != 1 or model.dtype != np.float64:
        raise ValueError(
            "sentences, model: expected one ambiguous noun and float64, "
            f"got {sorted(nouns)} and {model.dtype}"
        )
    labels = np.array([s.sense == SENSES[s.noun][0] for s in sentences], dtype=float)
    rows, places = np.arange(len(sentences)), np.array([s.target + 1 for s in sentences])
    batch = Batch.from_ids(model.ids([s.tokens for s in sentences]))
    mix = ScalarMix.from_logits(np.zeros(1 + model.options.lstm.n_layers))
    head = np.zeros(2 * model.options.lstm.projection_dim)
    found = []
    for step in range(steps + 1):
        layers, mask = model.layers(batch)
        mixtures = mix.mix(layers, mask)[rows, places]
        scores = mixtures @ head
        loss = float(log_loss(scores, labels).mean())
        kept = ScalarMix.from_logits(mix.logits, mix.gamma)
        found.append(Snapshot(loss, kept, head.copy(), model))
        if step == steps:
            break
        by_score = (sigmoid(scores) - labels) / len(labels)
        upstream = np.zeros((*mask.shape, len(head)))
        upstream[rows, places] = by_score[:, None] * head
        gradients = mix.gradients(layers, upstream, mask)
        mix.step(gradients, rate)
        head -= rate * (by_score @ mixtures)
        if model_rate:
            by_model = model.layer_gradients(batch, gradients.layers)
            moved = {
                name: value - model_rate * by_model[name] if name in by_model else value
                for name, value in model.parameters.items()
            }
            model = BiLM(model.options, moved, model.vocabulary)
    return found


def change_lengths(run: Sequence[Snapshot], sentences: Sequence[Sentence]) -> dict[str, Array]:
    """Mean length of each part of the noun's change since the first snapshot, by snapshot.

    Parameters
    ----------
    run
        Of `train_sense`.
    sentences
        Each with one ambiguous noun.

    Returns
    -------
    ``"coefficients"``, ``"features"``, ``"both"`` and ``"in all"``, each (snapshots,).

    Book: chapter 7, "When the extractor moves too".
    """
    texts = [sentence.tokens for sentence in sentences]
    nouns = np.arange(len(sentences)), [sentence.target for sentence in sentences]
    start = run[0].model.embed(texts).layers
    lengths = []
    for now in run:
        change = split_change(run[0].mix, start, now.mix, now.model.embed(texts).layers)
        parts = (*change, change.total)
        lengths.append([np.linalg.norm(part[nouns], axis=1).mean() for part in parts])
    names = ("coefficients", "features", "both", "in all")
    return dict(zip(names, np.transpose(lengths), strict=True))


def in_float64(model: BiLM) -> BiLM:
    """The same numbers in double precision."""
    parameters = {name: value.astype(np.float64) for name, value in model.parameters.items()}
    return BiLM(model.options, parameters, model.vocabulary)
