"""The book's tables, made from the records.

Every table is a dictionary from a condition (or lambda, or share of the labels) to a `Cell`: one
value a seed, in the order of the seeds, with mean and sample standard deviation. Scores are shares
between 0 and 1.

>>> from elmo_toy.experiments import tables
>>> cells = tables.scores("senses")                     # condition -> Cell
>>> cells["mixture"].n
5
>>> tables.differences("senses")["mixture"].mean        # paired by seed: condition - mixture
0.0

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from statistics import mean, stdev
from typing import NamedTuple

from elmo_toy.experiments.conditions import (
    CONDITIONS,
    FRACTION_CONDITIONS,
    FRACTIONS,
    LABELS,
    LAMBDAS,
    LINEAR,
    PENALTY,
    RECURRENT,
    SEEDS,
    TASKS,
    Setting,
    applies,
)
from elmo_toy.experiments.store import Record, Store


class Cell(NamedTuple):
    """Values of one condition, one a seed.

    >>> cell = Cell((1.0, 2.0, 3.0))
    >>> cell.mean, cell.sd, cell.n, str(cell)
    (2.0, 1.0, 3, '2.000 ± 1.000')
    """

    values: tuple[float, ...]

    @property
    def n(self) -> int:
        """How many seeds."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return mean(self.values)

    @property
    def sd(self) -> float:
        """Sample standard deviation over the seeds (divided by n - 1)."""
        return stdev(self.values)

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.sd:.3f}"


class Learned(NamedTuple):
    """What a mixture came to: score, weights (a Cell for each layer, token layer first), gamma."""

    score: Cell
    weights: tuple[Cell, ...]
    gamma: Cell


class BestLayer(NamedTuple):
    """Of the single layers the one with the best development score, chosen for each seed anew."""

    score: Cell
    layers: tuple[int, ...]  # by seed


@cache
def shipped() -> Store:
    """The records that come with the package, read once."""
    return Store()


def records(
    task: str,
    condition: str,
    *,
    labels: float = LABELS,
    penalty: float = PENALTY,
    store: Store | None = None,
) -> list[Record]:
    """The records of one setting, in the order of the seeds.

    Raises
    ------
    KeyError
        If a seed's record is missing.
    """
    found = store or shipped()
    return [found.get(Setting(task, condition, seed, labels, penalty).name) for seed in SEEDS]


def available(task: str, conditions: Sequence[str], store: Store | None = None) -> list[str]:
    """Those of the conditions that apply to a task and are recorded."""
    names = (store or shipped()).names()
    return [c for c in conditions if applies(task, c) and Setting(task, c, SEEDS[0]).name in names]


def metrics(task: str, store: Store | None = None) -> list[str]:
    """Names of a task's scores; the first is the default."""
    return list(records(task, "mixture", store=store)[0].scores)


def cell(
    task: str,
    condition: str,
    *,
    labels: float = LABELS,
    penalty: float = PENALTY,
    metric: str | None = None,
    store: Store | None = None,
) -> Cell:
    """One condition's test scores. The other tables are made of these."""
    found = records(task, condition, labels=labels, penalty=penalty, store=store)
    return Cell(
        tuple(record.score if metric is None else record.scores[metric] for record in found)
    )


def scores(
    task: str,
    conditions: Sequence[str] = tuple(LINEAR),
    *,
    metric: str | None = None,
    store: Store | None = None,
) -> dict[str, Cell]:
    """Condition -> test score, at the default share of the labels and lambda.

    Parameters
    ----------
    task : ``"senses"``, ``"noun_verb"``, ``"ewt"`` or ``"snips"``
    conditions : names out of `conditions.CONDITIONS`; those that a task hasn't got are left out
    metric : one of `metrics`; None: the task's own

    Book: chapter 6, "Our own table".
    """
    return {
        condition: cell(task, condition, metric=metric, store=store)
        for condition in available(task, conditions, store)
    }


def differences(
    task: str,
    conditions: Sequence[str] = tuple(LINEAR),
    *,
    reference: str = "mixture",
    metric: str | None = None,
    store: Store | None = None,
) -> dict[str, Cell]:
    """Condition -> its score minus the reference's, seed by seed: same biLM, same labels.

    Book: chapter 6, "What would isolate the mixture".
    """
    base = cell(task, reference, metric=metric, store=store)
    return {
        condition: minus(found, base)
        for condition, found in scores(task, conditions, metric=metric, store=store).items()
    }


def best_layer(task: str, *, store: Store | None = None) -> BestLayer:
    """The single layer chosen on development data; it has tried three times as many fits.

    Book: chapter 6, "Our own table".
    """
    by_layer = [records(task, f"layer_{layer}", store=store) for layer in range(3)]
    by_seed = list(zip(*by_layer, strict=True))
    chosen = [
        max(range(3), key=[record.development for record in found].__getitem__) for found in by_seed
    ]
    values = [found[layer].score for found, layer in zip(by_seed, chosen, strict=True)]
    return BestLayer(Cell(tuple(values)), tuple(chosen))


def learned(
    task: str,
    condition: str = "mixture",
    *,
    place: str = "input",
    penalty: float = PENALTY,
    labels: float = LABELS,
    store: Store | None = None,
) -> Learned:
    """The score, the learned weights and gamma of one condition."""
    found = records(task, condition, penalty=penalty, labels=labels, store=store)
    layers = zip(*(record.weights[place] for record in found), strict=True)
    return Learned(
        Cell(tuple(record.score for record in found)),
        tuple(Cell(tuple(layer)) for layer in layers),
        Cell(tuple(record.gamma[place] for record in found)),
    )


def penalties(task: str, *, store: Store | None = None) -> dict[float, Learned]:
    """Lambda -> score, weights and gamma of the mixture. Table 2 of the paper asks this.

    Book: chapter 6, "Our own table".
    """
    return {penalty: learned(task, penalty=penalty, store=store) for penalty in LAMBDAS}


def insertion(task: str, *, store: Store | None = None) -> dict[str, Cell]:
    """Condition of the recurrent tagger -> score. Table 3 of the paper asks this.

    ``"tagger"`` (no language model), ``"input"``, ``"output"``, ``"both"``, ``"after_first"`` and
    ``"taglm"``, all with two recurrent layers.

    Book: chapter 6, "Our own table".
    """
    return scores(task, tuple(RECURRENT), store=store)


def label_fractions(task: str, *, store: Store | None = None) -> dict[str, dict[float, Cell]]:
    """Condition -> share of the labels -> score.

    Book: chapter 6, "Our own table".
    """
    return {
        condition: {
            labels: cell(task, condition, labels=labels, store=store) for labels in FRACTIONS
        }
        for condition in FRACTION_CONDITIONS
    }


def minus(first: Cell, second: Cell) -> Cell:
    """Seed by seed; each seed has one biLM and one draw of labels for both.

    >>> minus(Cell((0.75, 0.5)), Cell((0.5, 0.5))).values
    (0.25, 0.0)
    """
    return Cell(tuple(a - b for a, b in zip(first.values, second.values, strict=True)))


def wins(difference: Cell) -> tuple[int, int, int]:
    """How many seeds lie above 0, at 0 and below: for a Cell of `differences`.

    >>> wins(Cell((0.1, 0.0, -0.2, 0.3)))
    (2, 1, 1)
    """
    counted = Counter((value > 0) - (value < 0) for value in difference.values)
    return counted[1], counted[0], counted[-1]


def about(condition: str) -> str:
    """A condition in words, for a row of a table."""
    return CONDITIONS[condition].about


def minutes(store: Store | None = None) -> float:
    """CPU time of everything recorded, in minutes: all fits, and each extractor once.

    Book: chapter 6, "Our own table".
    """
    fits, extractors = 0.0, {}
    for record in store or shipped():
        fits += record.seconds
        about = record.configuration
        key = (about["corpus"]["name"], about["condition"]["source"], record.seed)
        extractors[key] = record.source.get("seconds", 0.0)
    return (fits + sum(extractors.values())) / 60


def tasks() -> list[str]:
    """The four tasks, in the order of the chapter."""
    return list(TASKS)
