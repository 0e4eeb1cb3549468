"""Masked language models trained and measured, and what the recorded runs came to.

Book: chapter 7, "Hide the word instead".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elmo_toy import text
from elmo_toy._checks import Array
from elmo_toy.bilm import records, training
from elmo_toy.bilm.model import BiLM
from elmo_toy.masked_lm import Hidden, MaskedLM, hide
from elmo_toy.text import IntArray
from elmo_toy.toy_language import Sentence


@dataclass(frozen=True)
class Point:
    """One point of a training curve."""

    tokens: int  # read, boundaries included
    predictions: int  # trained on
    development: float  # held-out loss, every chosen word blanked


def evaluate(
    model: MaskedLM, sentences: Sequence[Sequence[str]], rng: np.random.Generator
) -> float:
    """Held-out loss with every chosen word blanked; each place counts the same.

    Book: chapter 7, "Hide the word instead".
    """
    total, places = 0.0, 0
    for ids in _batches(_encoded(model, sentences), 256):
        hidden = hide(ids, model.mask_id, rng, blank=1.0)
        number = int(hidden.places.sum())
        total += model.loss(hidden, ids) * number
        places += number
    return total / places


def one_at_a_time(model: MaskedLM, sentences: Sequence[Sequence[str]]) -> float:
    """Mean loss of every word of the sentences, each hidden alone: all others are in sight.

    Comparable with any model that gives a word a probability from the same others.

    Book: chapter 7, "Hide the word instead".
    """
    total, words = 0.0, 0
    for ids in _encoded(model, sentences):
        places = np.eye(len(ids), dtype=bool)[1:-1]
        copies = np.tile(ids, (len(places), 1))
        hidden = Hidden(np.where(places, model.mask_id, copies), places)
        total += model.loss(hidden, copies) * len(places)
        words += len(places)
    return total / words


def bilm_one_at_a_time(model: BiLM, sentences: Sequence[Sequence[str]], share: Array) -> Array:
    """The same for a biLM: forward, backward, and the product of the two opinions.

    ``product[w] ~ forward[w] * backward[w] / share[w]``, normalised: right where, given the word,
    its two sides are independent.

    Parameters
    ----------
    model
    sentences
    share
        (words,), each word's frequency in the language, in any unit; above 0.

    Returns
    -------
    (3,) mean losses.

    Source: Bayes' rule. Book: chapter 7, "Losses that can be compared, and those that can't".
    """
    losses = []
    for sentence in sentences:
        forward, backward = model.predictions(sentence)
        product = forward * backward / share
        product /= product.sum(axis=1, keepdims=True)
        at = np.arange(len(sentence)), model.ids([sentence])[0, 1:-1] - text.SHIFT
        losses.append([-np.log(chances[at]) for chances in (forward, backward, product)])
    mean: Array = np.concatenate(losses, axis=1).mean(axis=1)
    return mean


def target_vectors(model: MaskedLM, sentences: Sequence[Sentence]) -> Array:
    """Layers of each sentence's ambiguous noun, in plain sight: (sentences, layers, width).

    As `bilm.senses.target_vectors`. Book: chapter 7, "Hide the word instead".
    """
    found: list[Array] = [np.empty(0)] * len(sentences)
    for rows in text.length_bucketed_batches([len(s.tokens) for s in sentences], 256):
        layers, _ = model.embed([sentences[row].tokens for row in rows])
        for row, vectors in zip(rows, layers, strict=True):
            found[row] = vectors[:, sentences[row].target]
    return np.stack(found)


def train(
    model: MaskedLM,
    sentences: Sequence[Sequence[str]],
    development: Sequence[Sequence[str]],
    *,
    tokens: int,
    learning_rate: float,
    rng: np.random.Generator,
    batch_size: int = 64,
    clip_norm: float = 10.0,
    evaluations: int = 10,
) -> list[Point]:
    """Train a model, **in place**, with Adam and a rate that falls linearly to 0.

    Parameters
    ----------
    model
    sentences, development
        Words, without boundaries.
    tokens
        How many to read, boundaries included; about 0.15 of them are predicted.
    learning_rate
        Of the first step.
    rng
        Shuffles, and hides.
    batch_size, clip_norm
        As in `bilm.training.train`.
    evaluations
        How often to look at the development sentences, besides before the first step. The same
        words of them are hidden each time.

    Returns
    -------
    The curve; its last point belongs to the model as it is left.

    Raises
    ------
    FloatingPointError
        If the loss is no longer finite.
    TypeError
        If ``rng`` is no Generator.

    Book: chapter 7, "Hide the word instead".
    """
    text.checked_generator(rng)
    adam = training.Adam(learning_rate)
    held_out = int(rng.integers(2**32))
    start = evaluate(model, development, np.random.default_rng(held_out))
    points, seen, predicted = [Point(0, 0, start)], 0, 0
    parameters, encoded = model.parameters, _encoded(model, sentences)
    while seen < tokens:
        for ids in _batches(encoded, batch_size, rng):
            hidden = hide(ids, model.mask_id, rng)
            loss, gradients = model.loss_and_gradients(hidden, ids)
            if not np.isfinite(loss):
                raise FloatingPointError(f"the loss became {loss} after {seen} tokens")
            training.clip_by_global_norm(gradients, clip_norm)
            adam.learning_rate = learning_rate * (1 - seen / tokens)
            adam.update(parameters, gradients)
            seen += int((ids > 0).sum())
            predicted += int(hidden.places.sum())
            if seen * evaluations >= tokens * len(points):
                loss = evaluate(model, development, np.random.default_rng(held_out))
                points.append(Point(seen, predicted, loss))
            if seen >= tokens:
                break
    return points


def _encoded(model: MaskedLM, sentences: Sequence[Sequence[str]]) -> list[IntArray]:
    """Each sentence's ids, looked up once."""
    return [model.ids([sentence])[0] for sentence in sentences]


def _batches(
    encoded: list[IntArray], batch_size: int, rng: np.random.Generator | None = None
) -> Iterator[IntArray]:
    """Padded batches of nearly equal length."""
    for rows in text.length_bucketed_batches([len(ids) for ids in encoded], batch_size, rng):
        yield text.pad([encoded[row] for row in rows])


# --- recorded training runs -----------------------------------------------------------------------


class Recorded(NamedTuple):
    """What was measured for one kind of encoder; arrays start with (seeds,)."""

    loss: Array  # held-out, 0.15 of the words blanked
    one_at_a_time: Array  # held-out, each word blanked alone
    scores: Array  # (seeds, layers)
    untrained: Array  # (seeds, layers), scores before the first step
    example: Array  # (tokens, tokens), norms of the top layer's Jacobian, first seed
    by_offset: Array  # (2 * furthest + 1,), mean over the seeds


def recorded(test: str = "new_cues", labels: str = "all") -> dict[str, Recorded]:
    """Encoders trained to predict hidden words: ``joined``, ``apart``, ``attention`` and it blind.

    Parameters
    ----------
    test
        ``"test"``, ``"new_cues"`` or ``"two_cues"``.
    labels
        ``"all"`` of the labelled sentences, or ``"few"`` of them.

    Returns
    -------
    By encoder; the sense scores are those of this test.

    Source: ``tools/measure_masked.py``. Book: chapter 7, "Hide the word instead".

    >>> found = recorded("two_cues")
    >>> list(found), found["joined"].scores.shape
    (['joined', 'apart', 'attention', 'without positions'], (5, 3))
    """
    return {
        name.replace("_", " "): Recorded(
            loss=np.array([run["curve"][-1][1] for run in runs]),
            one_at_a_time=np.array([run["one_at_a_time"] for run in runs]),
            scores=np.array([run["scores"][labels][test] for run in runs]),
            untrained=np.array([run["untrained_scores"][labels][test] for run in runs]),
            example=np.array(runs[0]["jacobian"]["example"]),
            by_offset=np.mean([run["jacobian"]["by_offset"] for run in runs], axis=0),
        )
        for name, runs in records.read("masked")["models"].items()
    }
