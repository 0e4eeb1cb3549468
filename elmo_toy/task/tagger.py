"""A sequence tagger with hand-written gradients: words and layers in, a tag a token out.

    h = x                                          the task's own word vectors
    h = [h; e],  e = combiner(layers)              at each place where one is attached
    h = BiLSTM(dropout(h))                         as often as there are recurrent layers
    scores = dropout(h) W + b

The loss is the mean cross-entropy over the labelled tokens of a batch. Padding takes no part.

Book: chapter 5, "Training the tagger".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elmo_toy import text
from elmo_toy._checks import Array, checked_parameters
from elmo_toy.bilm.lstm import ReadingOrder
from elmo_toy.bilm.token_encoder import sum_by_index
from elmo_toy.task import combine, recurrent
from elmo_toy.task.data import UNLABELLED, Tagged
from elmo_toy.task.options import TaggerOptions, initial_parameters, parameter_shapes
from elmo_toy.text import IntArray


class TaggerGradients(NamedTuple):
    """The loss of a batch and its derivatives."""

    loss: float
    parameters: dict[str, Array]
    layers: Array  # like the batch's layers, 0 at pads: what an unfrozen extractor goes on with


class Tagger:
    """A tagger: its options and its parameters, all of one dtype, that of the layers it reads.

    Examples
    --------
    >>> options = TaggerOptions(n_tags=2, n_layers=3, dim=8, units=4)
    >>> tagger = Tagger.initialise(options, np.random.default_rng(0), np.float64)
    >>> mask = np.array([[True, True, False]])
    >>> batch = Tagged(np.ones((1, 3, 3, 8)), mask, np.array([[1, -1, -1]]))
    >>> tagger.log_probabilities(batch).shape, tagger.n_parameters
    ((1, 3, 2), 470)

    Book: chapter 5, "Training the tagger".
    """

    def __init__(self, options: TaggerOptions, parameters: Mapping[str, Array]) -> None:
        self.options = options
        self.parameters = checked_parameters(parameters, parameter_shapes(options))

    @classmethod
    def initialise(
        cls,
        options: TaggerOptions,
        rng: np.random.Generator,
        dtype: npt.DTypeLike = np.float32,
    ) -> Tagger:
        """Draw an untrained tagger: see `initial_parameters` of `elmo_toy.task.options`."""
        drawn = initial_parameters(options, rng)
        return cls(options, {name: value.astype(dtype) for name, value in drawn.items()})

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """float32 or float64."""
        return self.parameters["softmax/b"].dtype

    @property
    def n_parameters(self) -> int:
        """How many numbers are trained."""
        return sum(value.size for value in self.parameters.values())

    def copy(self) -> Tagger:
        """With parameters of its own."""
        return Tagger(self.options, {name: p.copy() for name, p in self.parameters.items()})

    def combiner(self, place: str) -> combine.AnyCombiner:
        """What stands at ``"input"``, ``"output"`` or ``"after_first"``; shares the parameters."""
        if place not in self.options.places.values():
            raise ValueError(
                f"place: expected one of {', '.join(self.options.places.values()) or 'none'}, "
                f"got {place!r}"
            )
        return combine.combiner(self.options.combiner, self.options.n_layers, self._under(place))

    # What it computes

    def log_probabilities(self, batch: Tagged) -> Array:
        """``log p(tag)`` at every token: (batch, tokens, n_tags), 0 where no token is."""
        trace = self._forward(batch, None)
        found = np.zeros((*batch.mask.shape, self.options.n_tags), dtype=self.dtype)
        found[batch.mask] = _log_softmax(self._scores(trace.tops[batch.mask]))
        return found

    def loss(self, batch: Tagged, rng: np.random.Generator | None = None) -> float:
        """Mean cross-entropy over the labelled tokens; see `loss_and_gradients`."""
        labelled, tags = self._labelled(batch)
        log_p = _log_softmax(self._scores(self._forward(batch, rng).tops[labelled]))
        return float(-log_p[np.arange(len(tags)), tags].mean())

    def loss_and_gradients(
        self, batch: Tagged, rng: np.random.Generator | None = None
    ) -> TaggerGradients:
        """Mean cross-entropy over the labelled tokens, and its derivative for everything.

        Parameters
        ----------
        batch : Tagged
        rng : numpy Generator, optional
            Draws the dropout of a training step; None: no dropout.

        Returns
        -------
        TaggerGradients; of a loss that isn't finite all NaN.

        Raises
        ------
        ValueError
            If no token of the batch has a label, or the batch is not what the options say.

        Book: chapter 5, "Training the tagger".
        """
        labelled, tags = self._labelled(batch)
        trace = self._forward(batch, rng)
        tops = trace.tops[labelled]
        log_p = _log_softmax(self._scores(tops))
        rows = np.arange(len(tags))
        loss = float(-log_p[rows, tags].mean())
        if not np.isfinite(loss):
            nothing = {name: np.full_like(p, np.nan) for name, p in self.parameters.items()}
            return TaggerGradients(loss, nothing, np.full_like(batch.layers, np.nan))

        dscores = np.exp(log_p)
        dscores[rows, tags] -= 1
        dscores /= len(tags)
        gradients = {"softmax/W": tops.T @ dscores, "softmax/b": dscores.sum(axis=0)}
        dh = np.zeros_like(trace.tops)
        dh[labelled] = dscores @ self.parameters["softmax/W"].T

        dlayers = np.zeros_like(batch.layers)
        for stage in reversed(range(self.options.recurrent_layers + 1)):
            if stage < self.options.recurrent_layers:
                name = f"recurrent_{stage}"
                dh, found = recurrent.gradients(dh, trace.recurrent[stage], self._under(name))
                gradients |= {f"{name}/{key}": value for key, value in found.items()}
            kept = trace.kept[stage]
            if kept is not None:
                dh = dh * kept
            place = self.options.places.get(stage)
            if place is not None:
                split = trace.below[stage]
                by_combiner = self.combiner(place).gradients(
                    batch.layers, batch.mask, np.ascontiguousarray(dh[:, :, split:])
                )
                gradients |= {f"{place}/{k}": v for k, v in by_combiner.parameters.items()}
                dlayers += by_combiner.layers
                dh = dh[:, :, :split]
        if batch.words is not None and self.options.word_dim:
            gradients["words"] = sum_by_index(
                batch.words[batch.mask] - text.SHIFT, dh[batch.mask], self.options.n_words
            )
        return TaggerGradients(loss, {name: gradients[name] for name in self.parameters}, dlayers)

    def _under(self, prefix: str) -> dict[str, Array]:
        start = f"{prefix}/"
        return {
            name.removeprefix(start): value
            for name, value in self.parameters.items()
            if name.startswith(start)
        }

    def _scores(self, tops: Array) -> Array:
        scores: Array = tops @ self.parameters["softmax/W"] + self.parameters["softmax/b"]
        return scores

    def _forward(self, batch: Tagged, rng: np.random.Generator | None) -> _Trace:
        self._check(batch)
        order = ReadingOrder(batch.lengths, batch.mask.shape[1])
        h = self._word_vectors(batch)
        trace = _Trace([], [], [])
        for stage in range(self.options.recurrent_layers + 1):
            trace.below.append(h.shape[2])
            place = self.options.places.get(stage)
            if place is not None:
                e = self.combiner(place).forward(batch.layers, batch.mask)
                h = np.concatenate([h, e], axis=2) if h.shape[2] else e
            kept = None
            if rng is not None and self.options.dropout:
                kept = _dropout(h.shape, self.options.dropout, rng, self.dtype)
                h = h * kept
            trace.kept.append(kept)
            if stage < self.options.recurrent_layers:
                h, layer = recurrent.forward(h, self._under(f"recurrent_{stage}"), order)
                trace.recurrent.append(layer)
        trace.tops = h
        return trace

    def _word_vectors(self, batch: Tagged) -> Array:
        """(batch, tokens, word_dim), 0 where no token is."""
        if not self.options.word_dim:
            return np.zeros((*batch.mask.shape, 0), dtype=self.dtype)
        table = self.parameters["words"]
        return np.concatenate([np.zeros_like(table[:1]), table])[batch.words]

    def _labelled(self, batch: Tagged) -> tuple[Array, IntArray]:
        labelled = batch.tags != UNLABELLED
        tags = batch.tags[labelled]
        if not tags.size or tags.max() >= self.options.n_tags:
            raise ValueError(
                f"tags: expected some labelled tokens, tags below {self.options.n_tags}, "
                f"got {tags.size} labelled, the largest tag {tags.max(initial=UNLABELLED)}"
            )
        return labelled, tags

    def _check(self, batch: Tagged) -> None:
        options = self.options
        shape = (batch.layers.shape[1], batch.layers.shape[3])
        if options.places and (
            shape != (options.n_layers, options.dim) or batch.layers.dtype != self.dtype
        ):
            raise ValueError(
                f"layers: expected {options.n_layers} layers of {options.dim} dimensions, "
                f"{self.dtype} as the tagger, got {shape[0]} of {shape[1]}, {batch.layers.dtype}"
            )
        if options.word_dim and (
            batch.words is None or batch.words.max(initial=0) > options.n_words
        ):
            raise ValueError(
                f"words: expected ids up to {options.n_words}, got "
                + ("none" if batch.words is None else str(batch.words.max()))
            )


@dataclass
class _Trace:
    """What the backward pass needs: by stage, the width below the combiner, dropout, the layer."""

    below: list[int]
    kept: list[Array | None]
    recurrent: list[recurrent.Trace]
    tops: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))  # what the softmax reads


def _dropout(
    shape: tuple[int, ...], share: float, rng: np.random.Generator, dtype: npt.DTypeLike
) -> Array:
    """0 for what is dropped, ``1 / (1 - share)`` for what is kept, so that the mean stays."""
    kept: Array = (rng.random(shape, dtype=np.float32) >= share) / np.asarray(1 - share, dtype)
    return kept


def _log_softmax(scores: Array) -> Array:
    scores = scores - scores.max(axis=-1, keepdims=True)
    log_p: Array = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
    return log_p
