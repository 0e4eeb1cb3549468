"""The recorded runs: complete, of the present configuration, made again where that is quick."""

from __future__ import annotations

import gzip
import json
import statistics
from pathlib import Path

import pytest

from elmo_toy.experiments import files, tables
from elmo_toy.experiments.conditions import SEEDS, TASKS, plan
from elmo_toy.experiments.live import SMALL, small_record
from elmo_toy.experiments.run import DEFAULT_SIZES, configuration
from elmo_toy.experiments.store import SHIPPED, Store
from elmo_toy.experiments.store import SMALL as SMALL_FOLDER


@pytest.fixture(scope="module")
def shipped() -> Store:
    return Store()


def test_every_setting_of_the_plan_is_recorded_and_nothing_else(shipped: Store) -> None:
    assert shipped.names() == {setting.name for setting in plan()}


def test_every_record_is_of_the_present_configuration(shipped: Store) -> None:
    for setting in plan():
        record = shipped.get(setting.name)
        facts = record.configuration["corpus"]  # the data itself is not here
        shipped.get(setting.name, configuration(setting, facts, DEFAULT_SIZES))
        assert facts["name"] == setting.corpus


@pytest.mark.parametrize("task", TASKS)
def test_the_tables_are_the_lines_of_the_files(task: str) -> None:
    """Read without the package: one value a seed, their mean and sample deviation."""
    found: dict[tuple[str, float, float], dict[int, float]] = {}
    for line in (SHIPPED / f"{task}.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        setting = record["configuration"]["setting"]
        assert setting["task"] == task
        key = (setting["condition"], setting["labels"], setting["penalty"])
        found.setdefault(key, {})[setting["seed"]] = next(iter(record["scores"].values()))

    def check(
        cell: tables.Cell, condition: str, labels: float = 0.1, penalty: float = 0.001
    ) -> None:
        by_seed = found[condition, labels, penalty]
        assert list(cell.values) == [by_seed[seed] for seed in SEEDS]
        assert cell.mean == pytest.approx(statistics.fmean(by_seed.values()))
        assert cell.sd == pytest.approx(statistics.stdev(by_seed.values()))

    default = {**tables.scores(task), **tables.insertion(task)}
    for condition, cell in default.items():
        check(cell, condition)
    assert {c for c, labels, penalty in found if (labels, penalty) == (0.1, 0.001)} == set(default)
    for penalty, row in tables.penalties(task).items():
        check(row.score, "mixture", penalty=penalty)
    for condition, by_label in tables.label_fractions(task).items():
        for labels, cell in by_label.items():
            check(cell, condition, labels=labels)


def test_all_of_it_took_less_than_forty_minutes() -> None:
    assert 10 < tables.minutes() < 40


def test_records_name_the_data_that_the_readers_expect(shipped: Store) -> None:
    for task, sources in (("ewt", files.EWT), ("snips", files.SNIPS)):
        for record in shipped:
            if record.name.startswith(f"{task}/"):
                expected = {source.file: source.sha256 for source in sources.values()}
                assert record.configuration["corpus"]["sha256"] == expected


def test_records_hold_what_they_should(shipped: Store) -> None:
    for record in shipped:
        assert all(0 <= score <= 1 for score in record.scores.values())
        assert 0 <= record.development <= 1
        assert record.seconds > 0
        assert record.parameters > 0
        assert set(record.versions) == {"python", "numpy"}
        for weights in record.weights.values():
            if "/free/" not in record.name:
                assert sum(weights) == pytest.approx(1, abs=1e-4)
                assert min(weights) >= 0


def test_each_seed_trained_its_own_language_model(shipped: Store) -> None:
    for corpus in set(TASKS.values()):
        task = next(task for task, name in TASKS.items() if name == corpus)
        perplexities = {
            record.source["perplexity"] for record in tables.records(task, "mixture", store=shipped)
        }
        assert len(perplexities) == len(SEEDS)


def test_no_sentence_of_the_data_is_in_the_records() -> None:
    """Numbers and names alone: every string is short, and none holds a space of running text."""
    known = {"test accuracy", "new_cues accuracy", "two_cues accuracy", "test ambiguous", "test f1"}

    def strings(value: object) -> list[str]:
        if isinstance(value, dict):
            return [s for k, v in value.items() for s in (k, *strings(v))]
        if isinstance(value, list):
            return [s for v in value for s in strings(v)]
        return [value] if isinstance(value, str) else []

    for path in SHIPPED.rglob("*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            for string in strings(json.loads(line)):
                assert " " not in string or string in known, string


def test_one_small_record_is_made_again() -> None:
    """In float64, so that another BLAS kernel changes no prediction: scores are equal."""
    expected, made = Store(SMALL_FOLDER).get(SMALL.name), small_record()
    assert json.loads(json.dumps(made.configuration)) == expected.configuration
    assert made.scores == expected.scores
    assert (made.development, made.learning_rate) == (expected.development, expected.learning_rate)
    assert made.parameters == expected.parameters
    assert made.weights["input"] == pytest.approx(expected.weights["input"], abs=1e-4)
    assert made.gamma["input"] == pytest.approx(expected.gamma["input"], abs=1e-4)
    assert made.source["perplexity"] == pytest.approx(expected.source["perplexity"], abs=0.01)


def test_the_records_take_little_room() -> None:
    size = sum(len(gzip.compress(path.read_bytes())) for path in Path(SHIPPED).rglob("*.jsonl"))
    assert size < 200_000
