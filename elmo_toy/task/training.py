"""Training a tagger on the layers of an extractor that stays frozen.

The layers are arrays, computed once. What is trained is the task's: its word vectors, the logits
and gamma of its mixtures, its recurrent layers, its softmax. Nothing here knows the extractor, so
nothing can change it; `elmo_toy.task.fine_tuning` is the other choice.

Book: chapter 5, "Training the tagger".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

import numpy as np

from elmo_toy import text
from elmo_toy._checks import Array
from elmo_toy.bilm.training import Optimiser, clip_by_global_norm
from elmo_toy.task.combine import Concatenation, logit_penalties
from elmo_toy.task.data import UNLABELLED, Tagged
from elmo_toy.task.tagger import Tagger, TaggerGradients
from elmo_toy.text import IntArray


@dataclass(frozen=True)
class FitOptions:
    """How long to train, and what with.

    Attributes
    ----------
    epochs, updates : int
        One of them: how often to go through the data, or how many steps to take.
    batch_size : int
        Sentences of nearly equal length.
    clip_norm : float
        Largest global norm of the gradients.
    penalty : float
        The paper's lambda: ``penalty * sum(logits**2)`` is added to the loss.
    evaluations : int
        How often to look at the development data, besides before the first update.
    select : str
        The tagger kept is the one with the lowest development ``"loss"`` or the highest
        ``"accuracy"`` (of equals, the one with the lower loss).

    Book: chapter 5, "Training the tagger".
    """

    epochs: int | None = None
    updates: int | None = None
    batch_size: int = 32
    clip_norm: float = 5.0
    penalty: float = 0.0
    evaluations: int = 10
    select: Literal["loss", "accuracy"] = "loss"

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        if (self.epochs is None) == (self.updates is None):
            raise ValueError(
                f"epochs, updates: expected one of them, got {self.epochs} and {self.updates}"
            )
        for name in ("epochs", "updates", "batch_size", "evaluations"):
            if getattr(self, name) is not None:
                text.checked_count(getattr(self, name), name)
        if not self.clip_norm > 0:
            raise ValueError(f"clip_norm: expected above 0, got {self.clip_norm}")
        if not 0 <= self.penalty < np.inf:
            raise ValueError(f"penalty: expected 0 or more, got {self.penalty}")
        if self.select not in ("loss", "accuracy"):
            raise ValueError(f"select: expected 'loss' or 'accuracy', got {self.select!r}")


@dataclass(frozen=True)
class Evaluation:
    """A tagger on held-out data: every labelled token weighs the same."""

    loss: float  # mean cross-entropy, without the penalty
    accuracy: float
    labelled: int


@dataclass(frozen=True)
class Point:
    """One point of a training curve."""

    updates: int
    training_loss: float  # mean over the updates since the last point, penalty included; first: NaN
    development: Evaluation


@dataclass(frozen=True)
class MixtureTrace:
    """The weights of one combiner before the first update and after each: what a figure draws."""

    weights: Array  # (updates + 1, layers), after the softmax where there is one
    gamma: Array  # (updates + 1,)


@dataclass(frozen=True)
class Fit:
    """What a training run leaves: the best tagger by development, the curve, the mixtures' ways."""

    tagger: Tagger
    history: tuple[Point, ...]
    best: Point
    mixtures: dict[str, MixtureTrace]  # by place; empty unless asked for
    seconds: float


def fit(
    tagger: Tagger,
    data: Tagged,
    development: Tagged,
    options: FitOptions,
    *,
    optimiser: Optimiser,
    rng: np.random.Generator,
    trace: bool = False,
) -> Fit:
    """Train a copy of a tagger; the extractor, wherever the layers come from, stays as it is.

    Parameters
    ----------
    tagger : Tagger, left as it is
    data, development : Tagged
    options : FitOptions
    optimiser : Optimiser
        Fresh: it remembers what it has seen.
    rng : numpy Generator
        Shuffles the sentences and draws the dropout.
    trace : bool
        Keep weights and gamma after every update.

    Returns
    -------
    Fit

    Raises
    ------
    FloatingPointError
        If the loss is no longer finite, on the development data either.
    ValueError
        If there is no sentence to train on.
    TypeError
        If ``rng`` is no Generator.
    KeyboardInterrupt
        At Control-C; nothing is kept of what was reached. Unlike a language model's training this
        is short, and a table of results must not hold a tagger that was cut off.

    Examples
    --------
    >>> from elmo_toy.bilm.training import Adam
    >>> from elmo_toy.task.options import TaggerOptions
    >>> rng = np.random.default_rng(0)
    >>> tags = rng.integers(0, 2, (20, 1))
    >>> layers = rng.normal(size=(20, 2, 1, 4))
    >>> layers[:, 1, 0, 0] = 3 * tags[:, 0]  # the upper layer knows the tag
    >>> data = Tagged(layers, np.ones((20, 1), dtype=bool), tags)
    >>> options = TaggerOptions(2, 2, 4, recurrent_layers=0)
    >>> tagger = Tagger.initialise(options, rng, np.float64)
    >>> found = fit(tagger, data, data, FitOptions(epochs=40), optimiser=Adam(0.1), rng=rng)
    >>> found.best.development.accuracy, found.tagger.combiner("input").weights.round(1).tolist()
    (1.0, [0.1, 0.9])

    Book: chapter 5, "Training the tagger".
    """
    text.checked_generator(rng)
    tagger = tagger.copy()
    course = Course(tagger, options, lambda: evaluate(tagger, development), trace=trace)

    def step(rows: IntArray) -> float:
        found = tagger.loss_and_gradients(data.rows(rows), rng)
        penalty = add_penalty(found, tagger, options.penalty)
        loss = found.loss + penalty
        if np.isfinite(loss):  # else the run ends here, and there is no gradient to follow
            clip_by_global_norm(found.parameters, options.clip_norm)
            optimiser.update(tagger.parameters, found.parameters)
        return loss

    return course.run(step, lambda: data.batches(options.batch_size, rng))


def evaluate(tagger: Tagger, data: Tagged, batch_size: int = 256) -> Evaluation:
    """Loss and share of right tags over the labelled tokens of all the data.

    Where several tags are equally probable, the first counts as the answer.

    >>> from elmo_toy.task.options import TaggerOptions
    >>> options = TaggerOptions(2, 1, 1, recurrent_layers=0)
    >>> tagger = Tagger.initialise(options, np.random.default_rng(0), np.float64)
    >>> tagger.parameters["softmax/W"][:] = [[0.0, np.log(3)]]  # p(tag 1) = 3 / 4 at a layer of 1
    >>> mask = np.array([[True, True]])
    >>> found = evaluate(tagger, Tagged(np.ones((1, 1, 2, 1)), mask, np.array([[1, 0]])))
    >>> found.accuracy, round(found.loss, 4)  # -(log(3 / 4) + log(1 / 4)) / 2
    (0.5, 0.837)

    Book: chapter 5, "Training the tagger".
    """
    loss, right, labelled = 0.0, 0, 0
    for rows in text.length_bucketed_batches(data.lengths, batch_size):
        batch = data.rows(rows)
        asked = batch.tags != UNLABELLED
        log_p, tags = tagger.log_probabilities(batch)[asked], batch.tags[asked]
        if tags.max(initial=0) >= tagger.options.n_tags:
            raise ValueError(f"data: expected tags below {tagger.options.n_tags}, got {tags.max()}")
        loss -= float(log_p[np.arange(len(tags)), tags].sum(dtype=np.float64))
        right += int((log_p.argmax(axis=1) == tags).sum())
        labelled += len(tags)
    if not labelled:
        raise ValueError("data: expected some labelled tokens, got none")
    return Evaluation(loss / labelled, right / labelled, labelled)


def add_penalty(found: TaggerGradients, tagger: Tagger, strength: float) -> float:
    """Add the gradient of `logit_penalties` to a batch's, in place; return the penalty."""
    if not strength:
        return 0.0
    penalty, gradients = logit_penalties(tagger.parameters, strength)
    for name, gradient in gradients.items():
        found.parameters[name] += gradient
    return penalty


class Course:
    """A training run while it lasts: updates so far, the curve, the best tagger."""

    def __init__(
        self,
        tagger: Tagger,
        options: FitOptions,
        evaluation: Callable[[], Evaluation],
        *,
        keep: Callable[[], None] = lambda: None,
        trace: bool = False,
    ) -> None:
        self._tagger = tagger
        self._options = options
        self._evaluation = evaluation
        self._keep = keep
        """Called whenever the present state is the best so far."""
        self._traced = [
            place
            for place in tagger.options.places.values()
            if trace and not isinstance(tagger.combiner(place), Concatenation)
        ]
        self._seen: dict[str, list[tuple[Array, float]]] = {place: [] for place in self._traced}
        self._losses: list[float] = []
        self.history: list[Point] = []
        self._evaluate(0)

    def run(self, step: Callable[[IntArray], float], batches: Callable[[], list[IntArray]]) -> Fit:
        """Take all the steps; each gets the rows of a batch and returns its loss."""
        started = perf_counter()
        options, done = self._options, 0
        self._record()
        total = options.updates
        while total is None or done < total:
            epoch = batches()
            if not epoch:  # and there never would be one
                raise ValueError("data: expected some sentences to train on, got none")
            if total is None:
                total = (options.epochs or 0) * len(epoch)
            for rows in epoch[: total - done]:
                loss = step(rows)
                if not np.isfinite(loss):
                    raise FloatingPointError(
                        f"the loss became {loss} after {done} updates; "
                        "expected a finite one (try a lower learning rate)"
                    )
                done += 1
                self._losses.append(loss)
                self._record()
                if done * options.evaluations >= total * len(self.history):
                    self._evaluate(done)
        mixtures = {
            place: MixtureTrace(
                np.stack([weights for weights, _ in seen]), np.array([gamma for _, gamma in seen])
            )
            for place, seen in self._seen.items()
        }
        return Fit(
            self._best_tagger, tuple(self.history), self.best, mixtures, perf_counter() - started
        )

    def _record(self) -> None:
        for place in self._traced:
            combiner = self._tagger.combiner(place)
            if not isinstance(combiner, Concatenation):
                self._seen[place].append((combiner.weights, combiner.gamma))

    def _evaluate(self, updates: int) -> None:
        training_loss = float(np.mean(self._losses)) if self._losses else float("nan")
        self._losses = []
        point = Point(updates, training_loss, self._evaluation())
        if not np.isfinite(point.development.loss):  # nothing would ever be lower than NaN
            raise FloatingPointError(
                f"the loss on the development data is {point.development.loss} "
                f"after {updates} updates; expected a finite one"
            )
        self.history.append(point)
        if self.best is point:
            self._best_tagger = self._tagger.copy()
            self._keep()

    @property
    def best(self) -> Point:
        """Of equals, the first."""
        return min(self.history, key=self._rank)

    def _rank(self, point: Point) -> tuple[float, float]:
        found = point.development
        return (found.loss if self._options.select == "loss" else -found.accuracy, found.loss)
