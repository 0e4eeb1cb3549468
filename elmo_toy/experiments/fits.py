"""From layers to one record: the reader of a condition, fitted with each learning rate of the grid.

Every condition has the same budget: three learning rates, as many updates, and the development
sentences to choose by. The moment to stop is that of the lowest development loss, the learning rate
that of the best development score.

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from elmo_toy.bilm.training import Adam
from elmo_toy.experiments import scoring
from elmo_toy.experiments.conditions import Condition
from elmo_toy.experiments.data import TaskData
from elmo_toy.task import training
from elmo_toy.task.combine import Concatenation, FreeCoefficients
from elmo_toy.task.data import UNLABELLED, Tagged, TaggedText
from elmo_toy.task.options import TaggerOptions
from elmo_toy.task.tagger import Tagger
from elmo_toy.task.training import FitOptions


@dataclass(frozen=True)
class LinearSizes:
    """Budget of a linear reader; ``batch`` counts labelled tokens.

    Grid and sizes were tried out with seed 100, which is none of the recorded ones.
    """

    rates: tuple[float, ...] = (0.01, 0.03, 0.1)
    updates: int = 200
    batch: int = 512
    evaluations: int = 10


@dataclass(frozen=True)
class RecurrentSizes:
    """Budget and sizes of a recurrent tagger; ``batch`` counts sentences.

    A first run of all seeds took 100 updates. On Snips the largest learning rate was then chosen
    for nearly every tagger, so they had not been trained to the end; 250 updates replaced them, for
    all conditions alike. That was decided with the first run's test scores in view.
    """

    rates: tuple[float, ...] = (0.003, 0.01, 0.03)
    updates: int = 250
    batch: int = 16
    evaluations: int = 10
    units: int = 24
    word_dim: int = 24
    dropout: float = 0.2


@dataclass(frozen=True)
class FitSizes:
    """Of both kinds of reader; a condition has one of them."""

    linear: LinearSizes = LinearSizes()
    recurrent: RecurrentSizes = RecurrentSizes()

    def of(self, condition: Condition) -> LinearSizes | RecurrentSizes:
        """What the results of a condition depend on."""
        return self.recurrent if condition.recurrent_layers else self.linear


class Parts(NamedTuple):
    """One task's sentences, as text and with a source's layers."""

    train: Tagged
    development: tuple[TaggedText, Tagged]
    tests: dict[str, tuple[TaggedText, Tagged]]
    n_words: int  # of the task's own vocabulary, out of the labelled sentences


class Fitted(NamedTuple):
    """The best of the grid."""

    scores: dict[str, float]
    development: float
    learning_rate: float
    weights: dict[str, list[float]]
    gamma: dict[str, float]
    parameters: int


def tagger_options(
    condition: Condition, n_layers: int, dim: int, n_tags: int, n_words: int, sizes: FitSizes
) -> TaggerOptions:
    """The reader of a condition.

    A matched concatenation is multiplied with a matrix (layers * dim, width), which is learned. Its
    width is the largest with which matrix and softmax have no more numbers than the mixture's
    softmax, its logits and its gamma: ``width * (layers * dim + tags) <= dim * tags + layers + 1``;
    at least 1.

    >>> from elmo_toy.task.combine import CombinerOptions
    >>> matched = Condition("", combiner=CombinerOptions("concatenation"), matched=True)
    >>> tagger_options(matched, 3, 64, 17, 0, FitSizes()).combiner.width
    5
    """
    combiner = condition.combiner
    if condition.matched:
        width = (dim * n_tags + n_layers + 1) // (n_layers * dim + n_tags)
        combiner = replace(combiner, width=max(1, width))
    if condition.recurrent_layers == 0:
        return TaggerOptions(
            n_tags, n_layers, dim, recurrent_layers=0, attach=condition.attach, combiner=combiner
        )
    return TaggerOptions(
        n_tags,
        n_layers,
        dim,
        n_words=n_words,
        word_dim=sizes.recurrent.word_dim,
        units=sizes.recurrent.units,
        recurrent_layers=condition.recurrent_layers,
        attach=condition.attach,
        combiner=combiner,
        dropout=sizes.recurrent.dropout,
    )


def fit_condition(
    task: TaskData,
    condition: Condition,
    parts: Parts,
    penalty: float,
    seed: int,
    sizes: FitSizes,
) -> Fitted:
    """Fit with each learning rate, choose by development score (of equals, the first), test.

    Every learning rate starts from the same parameters and sees the same batches.

    Book: chapter 6, "Our own table".
    """
    linear = condition.recurrent_layers == 0
    _, n_layers, _, dim = parts.train.layers.shape
    options = tagger_options(condition, n_layers, dim, task.n_tags, parts.n_words, sizes)
    # A linear reader looks at labelled tokens alone: the others would only cost time.
    train = parts.train.labelled_tokens() if linear else parts.train
    budget = sizes.of(condition)
    fit_options = FitOptions(
        updates=budget.updates,
        batch_size=budget.batch,
        penalty=penalty,
        evaluations=budget.evaluations,
    )
    text, development = parts.development
    watched = development.labelled_tokens() if linear else development
    found: list[tuple[float, float, Tagger]] = []
    for learning_rate in budget.rates:
        rng = np.random.default_rng([seed, 1])
        start = Tagger.initialise(options, rng, train.layers.dtype)
        fit = training.fit(
            start, train, watched, fit_options, optimiser=Adam(learning_rate), rng=rng
        )
        score = _score(task, text, development, fit.tagger)[task.metric]
        found.append((score, learning_rate, fit.tagger))
    score, learning_rate, tagger = max(found, key=lambda one: one[0])
    scores: dict[str, float] = {}
    for name, (test_text, test) in parts.tests.items():
        for metric, value in _score(task, test_text, test, tagger).items():
            scores[f"{name} {metric}"] = round(value, 6)
    weights, gamma = learned(tagger)
    return Fitted(scores, round(score, 6), learning_rate, weights, gamma, tagger.n_parameters)


def learned(tagger: Tagger) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Weights (or free coefficients) of the layers and gamma, by place; none of a concatenation."""
    weights: dict[str, list[float]] = {}
    gamma: dict[str, float] = {}
    for place in tagger.options.places.values():
        combiner = tagger.combiner(place)
        if isinstance(combiner, Concatenation):
            continue
        weights[place] = [round(float(weight), 5) for weight in combiner.weights]
        if not isinstance(combiner, FreeCoefficients):
            gamma[place] = round(combiner.gamma, 5)
    return weights, gamma


def _score(task: TaskData, text: TaggedText, data: Tagged, tagger: Tagger) -> dict[str, float]:
    found = np.zeros((*data.mask.shape, task.n_tags), dtype=data.layers.dtype)
    if tagger.options.recurrent_layers == 0:
        asked = data.labelled_tokens()
        found[data.tags != UNLABELLED] = tagger.log_probabilities(asked)[:, 0]
    else:
        for rows in data.batches(128):
            batch = data.rows(rows)
            found[rows, : batch.mask.shape[1]] = tagger.log_probabilities(batch)
    return scoring.scores(task, text, found)
