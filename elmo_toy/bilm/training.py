"""Training: a corpus as arrays, two optimisers, clipping, and a loop that stops on tokens.

The loop never changes the model that it is given; it returns a new one with the best parameters
that it met. For one seed it computes the same numbers each time (on one BLAS build and one thread).

Book: chapter 2, "A language model trained live".
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, nan
from numbers import Real
from time import perf_counter
from typing import Protocol, TextIO

import numpy as np

from elmo_toy import text
from elmo_toy._checks import REAL_CODES
from elmo_toy.bilm.model import BiLM, Loss
from elmo_toy.bilm.token_encoder import CharacterOptions, FloatArray
from elmo_toy.text import Batch, IntArray

Gradients = dict[str, FloatArray]


class Corpus:
    """Sentences, encoded once for one model.

    Parameters
    ----------
    model : BiLM
        With a vocabulary: words outside it are predicted as ``<UNK>``. A character model still
        reads them by their spelling.
    sentences : sequence of token lists, without boundaries
    """

    def __init__(self, model: BiLM, sentences: Sequence[Sequence[str]]) -> None:
        if model.vocabulary is None:
            raise ValueError("model: expected one with a vocabulary, got one without")
        numbers: dict[str, int] = {}
        self.sentences: list[IntArray] = [
            np.array(
                [
                    numbers.setdefault(token, len(numbers) + 1)
                    for token in text.add_boundaries(sentence)
                ]
            )
            for sentence in text.checked_sentences(sentences)
        ]
        spellings = list(numbers)
        word_ids = model.vocabulary.ids(spellings) + text.SHIFT
        self._targets = np.concatenate([[0], word_ids])
        encoder = model.options.encoder
        if isinstance(encoder, CharacterOptions):
            length = encoder.max_characters_per_token
            self._types = np.array([text.character_ids(token, length) for token in spellings])
        else:
            self._types = word_ids
        self.lengths: IntArray = np.array([len(sentence) for sentence in self.sentences])

    @property
    def predictions(self) -> int:
        """Predictions of each direction: the words and one boundary symbol a sentence."""
        return int((self.lengths - 1).sum())

    def batch(self, rows: IntArray) -> tuple[Batch, IntArray]:
        """The given sentences, and what is to be predicted: (batch, tokens) word ids + 1."""
        numbers = text.pad([self.sentences[row] for row in rows])
        batch = Batch.from_ids(numbers)
        return Batch(self._types[batch.types - 1], batch.occurrences), self._targets[numbers]


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not isinstance(value, Real):
            raise TypeError(f"{name}: expected a number, got {value!r}")
        if not 0 < value < inf:
            raise ValueError(f"{name}: expected a finite number above 0, got {value}")


class NotFiniteGradientError(FloatingPointError, ValueError):
    """A gradient isn't finite, or its squares aren't: a run that comes to it has diverged."""


def _check_gradients(gradients: Gradients, like: Gradients, sums: Gradients | None = None) -> None:
    """Refuse what would broadcast, and squares beyond the dtype: no later step could undo them."""
    for name, gradient in gradients.items():
        if name not in like:
            raise KeyError(f"gradients: expected names of parameters, got {name!r}")
        if gradient.shape != like[name].shape or gradient.dtype.char not in REAL_CODES:
            raise ValueError(
                f"gradients[{name!r}]: expected floats of the parameter's shape "
                f"{like[name].shape}, got {gradient.dtype} of shape {gradient.shape}"
            )
        before = None if sums is None else sums.get(name)
        if not _squares_are_finite(gradient, before):
            raise NotFiniteGradientError(
                f"gradients[{name!r}]: expected finite numbers, their squares (in Adagrad with all "
                f"earlier ones) within {gradient.dtype}, got one of size {np.abs(gradient).max()}"
            )


@np.errstate(over="ignore", invalid="ignore")
def _squares_are_finite(gradient: FloatArray, before: FloatArray | None) -> bool:
    """Whether they are, with what was summed before: a pass without a temporary, mostly."""
    flat = gradient.reshape(-1)
    bound = np.dot(flat, flat)
    if before is not None and before.size:
        bound += before.max()
    if isfinite(bound):
        return True  # else the bound may have overflowed where no square does
    squares = gradient * gradient + (0 if before is None else before)
    return bool(np.isfinite(squares).all())


class Optimiser(Protocol):
    """Changes parameters in place, against their gradients."""

    learning_rate: float

    def update(self, parameters: Gradients, gradients: Gradients) -> None:
        """Take one step.

        Raises ValueError for a gradient that isn't of its parameter's shape, of no float dtype, or
        with squares that aren't finite, and KeyError for one of no parameter; nothing has moved.
        """
        ...


@dataclass
class Adagrad:
    """The original's optimiser: ``a += g*g; p -= learning_rate * g / sqrt(a)``, ``a`` from 1.

    >>> parameters = {"p": np.array([1.0])}
    >>> Adagrad(learning_rate=0.2).update(parameters, {"p": np.array([3.0])})
    >>> parameters["p"].round(4).tolist()  # 1 - 0.2 * 3 / sqrt(1 + 9)
    [0.8103]

    Source: Duchi, Hazan and Singer (2011); learning rate and start as in allenai/bilm-tf.
    """

    learning_rate: float = 0.2
    initial_accumulator: float = 1.0
    _sums: Gradients = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Refuse what would climb, stand still or divide by 0."""
        _check_positive(
            learning_rate=self.learning_rate, initial_accumulator=self.initial_accumulator
        )

    def update(self, parameters: Gradients, gradients: Gradients) -> None:
        """See `Optimiser`."""
        _check_gradients(gradients, parameters, self._sums)
        for name, gradient in gradients.items():
            if name not in self._sums:
                self._sums[name] = np.full_like(gradient, self.initial_accumulator)
            self._sums[name] += gradient * gradient
            parameters[name] -= self.learning_rate * gradient / np.sqrt(self._sums[name])


@dataclass
class Adam:
    """Adam: ``p -= learning_rate * m / (sqrt(v) + epsilon)``, bias-corrected running means.

    >>> parameters = {"p": np.array([1.0])}
    >>> Adam(learning_rate=0.1).update(parameters, {"p": np.array([3.0])})
    >>> parameters["p"].round(4).tolist()  # the first step is the learning rate, whatever the size
    [0.9]

    Source: Kingma and Ba (2015), algorithm 1.
    """

    learning_rate: float = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    _steps: int = field(default=0, repr=False)
    _means: Gradients = field(default_factory=dict, repr=False)
    _squares: Gradients = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Refuse what would climb, stand still or divide by 0."""
        _check_positive(learning_rate=self.learning_rate, epsilon=self.epsilon)
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(
                    f"{name}: expected at least 0 and below 1, got {getattr(self, name)}"
                )

    def update(self, parameters: Gradients, gradients: Gradients) -> None:
        """See `Optimiser`."""
        _check_gradients(gradients, parameters)
        self._steps += 1
        correction1 = 1 - self.beta1**self._steps
        correction2 = 1 - self.beta2**self._steps
        for name, gradient in gradients.items():
            if name not in self._means:
                self._means[name] = np.zeros_like(gradient)
                self._squares[name] = np.zeros_like(gradient)
            mean, square = self._means[name], self._squares[name]
            mean += (1 - self.beta1) * (gradient - mean)
            square += (1 - self.beta2) * (gradient * gradient - square)
            step = np.sqrt(square / correction2) + self.epsilon
            parameters[name] -= (self.learning_rate / correction1) * mean / step


def clip_by_global_norm(gradients: Gradients, max_norm: float) -> float:
    """Scale all gradients (in place) so that together they are no longer than ``max_norm``.

    Returns
    -------
    The norm before: ``sqrt(sum of all squares)``, also where a square is beyond the dtype; infinite
    where it is itself beyond float64.

    Raises
    ------
    ValueError
        For a ``max_norm`` that isn't above 0 (infinite: clip nothing), gradients of no float dtype,
        or with numbers that aren't finite; nothing is scaled then.

    >>> gradients = {"a": np.array([3.0]), "b": np.array([4.0])}
    >>> clip_by_global_norm(gradients, 1.0), gradients["a"].tolist()
    (5.0, [0.6000000000000001])
    """
    if not max_norm > 0:
        raise ValueError(f"max_norm: expected above 0, got {max_norm}")
    for name, value in gradients.items():
        if value.dtype.char not in REAL_CODES:
            raise ValueError(f"gradients[{name!r}]: expected floats, got {value.dtype}")
    unit = 1.0
    norm = _norm(gradients, unit)
    if not 1e-15 < norm < 1e15:  # squares may have left float32, or float64
        for name, value in gradients.items():
            bad = value[~np.isfinite(value)]
            if bad.size:
                raise NotFiniteGradientError(
                    f"gradients[{name!r}]: expected finite numbers, got {bad[0]}"
                )
        unit = max((float(np.abs(g).max(initial=0)) for g in gradients.values()), default=0) or 1.0
        norm = _norm(gradients, unit)
    if norm > max_norm / unit:
        for value in gradients.values():
            value *= (max_norm / unit) / norm
    return norm * unit


def _norm(gradients: Gradients, unit: float) -> float:
    """In units of ``unit``: sqrt(sum of all squares)."""
    scaled = (value if unit == 1.0 else value / unit for value in gradients.values())
    with np.errstate(over="ignore", invalid="ignore"):  # the norm shows both
        return float(np.sqrt(sum(float(np.vdot(value, value)) for value in scaled)))


def evaluate(model: BiLM, corpus: Corpus, batch_size: int = 256) -> Loss:
    """Loss of each direction over a whole corpus, every prediction weighing the same."""
    totals, predictions = np.zeros(2), 0
    for rows in text.length_bucketed_batches(corpus.lengths, batch_size):
        loss = model.loss(*corpus.batch(rows))
        totals += loss.predictions * np.array([loss.forward, loss.backward])
        predictions += loss.predictions
    forward, backward = (totals / predictions).tolist()
    return Loss(forward, backward, predictions)


@dataclass(frozen=True)
class Evaluation:
    """One point of a training curve."""

    tokens: int  # predictions that each direction has been trained on
    training_loss: float  # mean over the batches since the last point; NaN at the first
    development: Loss


@dataclass(frozen=True)
class TrainingRun:
    """What a training run leaves: the best model by development loss, and the curve."""

    model: BiLM
    history: tuple[Evaluation, ...]
    interrupted: bool
    seconds: float

    @property
    def best_tokens(self) -> int:
        """Predictions that the best model had been trained on."""
        return min(self.history, key=lambda point: point.development.mean).tokens

    @property
    def tokens(self) -> int:
        """Predictions of each direction until the last evaluation."""
        return self.history[-1].tokens


class DivergedError(FloatingPointError):
    """No longer finite: loss or gradients. What was reached before is in ``run``."""

    def __init__(self, message: str, run: TrainingRun) -> None:
        super().__init__(message)
        self.run = run


def train(
    model: BiLM,
    corpus: Corpus,
    development: Corpus,
    *,
    tokens: int,
    optimiser: Optimiser,
    rng: np.random.Generator,
    batch_size: int = 64,
    clip_norm: float = 10.0,
    evaluations: int = 10,
    decay: bool = False,
    progress: TextIO | None = None,
) -> TrainingRun:
    """Train until each direction has made ``tokens`` predictions, or until Control-C.

    Parameters
    ----------
    model : BiLM, left as it is
    corpus, development : Corpus
    tokens : int
        When to stop. A token counts once though both directions predict it.
    optimiser : Optimiser
        Fresh: it remembers what it has seen.
    rng : numpy Generator
        Shuffles the sentences, in each epoch anew.
    batch_size : sentences a batch, of nearly equal length
    clip_norm : largest global norm of the gradients
    evaluations : how many times to look at the development corpus, besides before the first step
    decay : lower the learning rate linearly to 0 at ``tokens`` (the original keeps it)
    progress : where to draw a progress bar, for example ``sys.stderr``

    Returns
    -------
    TrainingRun; after Control-C with what was reached until then.

    Raises
    ------
    DivergedError
        A FloatingPointError: the loss or a gradient is no longer finite. Its ``run`` holds the
        curve until then and the best model that was met.
    FloatingPointError
        If the given model's loss on ``development`` is not finite.
    ValueError, TypeError
        If a number is out of range, or none; a TypeError if ``rng`` is no Generator.

    Book: chapter 2, "A language model trained live".
    """
    text.checked_generator(rng)
    text.checked_count(tokens, "tokens")
    text.checked_count(evaluations, "evaluations")
    _check_positive(clip_norm=clip_norm)
    started = perf_counter()
    model = _copy(model)
    learning_rate = optimiser.learning_rate
    course = _Course(model, development)
    interrupted = False

    def reached() -> TrainingRun:
        seconds = perf_counter() - started
        return TrainingRun(course.best, tuple(course.history), interrupted, seconds)

    try:
        while course.seen < tokens:
            for rows in text.length_bucketed_batches(corpus.lengths, batch_size, rng):
                if decay:
                    optimiser.learning_rate = learning_rate * (1 - course.seen / tokens)
                loss, gradients = model.loss_and_gradients(*corpus.batch(rows))
                if not np.isfinite(loss.mean):
                    raise DivergedError(
                        f"the loss became {loss.mean} after {course.seen} tokens; "
                        "expected a finite one (try a lower learning rate)",
                        reached(),
                    )
                try:
                    clip_by_global_norm(gradients, clip_norm)
                    optimiser.update(model.parameters, gradients)
                except NotFiniteGradientError as error:
                    raise DivergedError(
                        f"{error}, after {course.seen} tokens (try a lower learning rate)",
                        reached(),
                    ) from error
                course.add(loss)
                if course.seen * evaluations >= tokens * len(course.history):
                    course.evaluate(model)
                _draw(progress, course, tokens, perf_counter() - started)
                if course.seen >= tokens:
                    break
    except KeyboardInterrupt:
        interrupted = True
        if course.seen > course.history[-1].tokens:
            course.evaluate(model)
    finally:
        optimiser.learning_rate = learning_rate
        if progress is not None:
            progress.write("\n")
    return reached()


class _Course:
    """What a training run has come to: tokens seen, the curve, the best model."""

    def __init__(self, model: BiLM, development: Corpus) -> None:
        self._development = development
        self.seen = 0
        self._training_loss = 0.0  # sum over the predictions since the last point
        start = evaluate(model, development)
        if not np.isfinite(start.mean):
            raise FloatingPointError(
                f"model: expected a finite loss on the development corpus, got {start.mean}"
            )
        self.history = [Evaluation(0, nan, start)]
        self.best = _copy(model)

    def add(self, loss: Loss) -> None:
        self.seen += loss.predictions
        self._training_loss += loss.mean * loss.predictions

    def evaluate(self, model: BiLM) -> None:
        development = evaluate(model, self._development)
        if development.mean < min(point.development.mean for point in self.history):
            self.best = _copy(model)
        training_loss = self._training_loss / (self.seen - self.history[-1].tokens)
        self.history.append(Evaluation(self.seen, training_loss, development))
        self._training_loss = 0.0


def _copy(model: BiLM) -> BiLM:
    parameters = {name: value.copy() for name, value in model.parameters.items()}
    return BiLM(model.options, parameters, model.vocabulary)


def _draw(progress: TextIO | None, course: _Course, tokens: int, seconds: float) -> None:
    if progress is None:
        return
    done = min(course.seen / tokens, 1.0)
    progress.write(
        f"\r[{'#' * int(30 * done):<30}] {course.seen:,} of {tokens:,} tokens, "
        f"{course.seen / seconds:,.0f} a second, "
        f"development perplexity {course.history[-1].development.perplexity:.2f} "
    )
    progress.flush()
