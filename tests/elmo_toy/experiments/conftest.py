"""A corpus of a few sentences, sizes that take a second, and records that were never measured."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from elmo_toy.experiments import data
from elmo_toy.experiments.conditions import Setting, plan
from elmo_toy.experiments.data import Corpus, ToySizes
from elmo_toy.experiments.fits import FitSizes, LinearSizes, RecurrentSizes
from elmo_toy.experiments.run import DEFAULT_SIZES, Sizes, configuration
from elmo_toy.experiments.sources import SourceSizes
from elmo_toy.experiments.store import Record, Store


class Here(Executor):
    """Computes at once, in this process."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Compute, and hand a finished future over."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def here() -> Executor:
    return Here()


@pytest.fixture(scope="session")
def tiny_sizes() -> Sizes:
    return Sizes(
        {"toy": SourceSizes(8, 4, tokens=600, learning_rate=0.03, batch_size=8, dtype="float64")},
        FitSizes(
            LinearSizes(rates=(0.03, 0.1), updates=6, evaluations=2),
            RecurrentSizes(rates=(0.03, 0.1), updates=4, evaluations=2, units=3, word_dim=3),
        ),
    )


@pytest.fixture(scope="session")
def tiny_corpus() -> Corpus:
    return data.toy(ToySizes(text=40, labelled=2, development=1, test=1))


@pytest.fixture(scope="session")
def tiny_load(tiny_corpus: Corpus) -> Callable[[str], Corpus]:
    return {"toy": tiny_corpus}.__getitem__


@pytest.fixture
def invented(tmp_path: Path) -> Store:
    """A record for every setting of the plan, with scores that follow from its name."""
    lines: dict[str, list[Record]] = {}
    for setting in plan():
        score = invented_score(setting)
        record = Record(
            name=setting.name,
            configuration=configuration(setting, {"name": setting.corpus}, DEFAULT_SIZES),
            scores={"test own": score, "test other": 1 - score},
            development=score if setting.seed != 1 else -score,
            learning_rate=0.1,
            weights={"input": [0.5, 0.25, 0.25 + setting.seed]},
            gamma={"input": 2.0 * setting.penalty},
            parameters=1,
            source={},
            versions={},
            seconds=0.0,
        )
        lines.setdefault(setting.task, []).append(record)
    store = Store(tmp_path)
    for records in lines.values():
        for record in records[:-1]:
            store._records[record.name] = record  # so that the file is written once, not often
        store.put(records[-1])
    return Store(tmp_path)


def invented_score(setting: Setting) -> float:
    """Another number for each setting."""
    return round(
        (sum(map(ord, setting.condition)) % 97) / 200
        + setting.labels / 10
        - setting.penalty / 50
        + setting.seed / 1000 * len(setting.task),
        6,
    )


@pytest.fixture
def score_of() -> Callable[[Setting], float]:
    return invented_score
