"""Tables are their records: means, sample deviations, pairs by seed."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace

import pytest

from elmo_toy.experiments import tables
from elmo_toy.experiments.conditions import (
    CONDITIONS,
    LINEAR,
    RECURRENT,
    SEEDS,
    TASKS,
    Setting,
    applies,
    plan,
)
from elmo_toy.experiments.store import Store
from elmo_toy.experiments.tables import Cell

Score = Callable[[Setting], float]


@pytest.mark.parametrize("task", TASKS)
def test_scores_are_the_records_of_the_defaults(
    invented: Store, score_of: Score, task: str
) -> None:
    found = tables.scores(task, store=invented)
    assert list(found) == [name for name in LINEAR if applies(task, name)]
    for condition, cell in found.items():
        values = [score_of(Setting(task, condition, seed)) for seed in SEEDS]
        assert list(cell.values) == values
        assert cell.mean == pytest.approx(statistics.fmean(values))
        assert cell.sd == pytest.approx(statistics.stdev(values))
        assert cell.n == 5
    other = tables.scores(task, metric="test other", store=invented)
    assert other["mixture"].values[0] == pytest.approx(1 - found["mixture"].values[0])
    assert tables.metrics(task, store=invented) == ["test own", "test other"]


def test_differences_are_paired_by_seed(invented: Store) -> None:
    found = tables.scores("senses", store=invented)
    for reference in ("mixture", "layer_2"):
        paired = tables.differences("senses", reference=reference, store=invented)
        assert paired[reference].values == (0.0,) * 5
        for condition, cell in paired.items():
            expected = [a - b for a, b in zip(found[condition].values, found[reference].values,
                                              strict=True)]  # fmt: skip
            assert list(cell.values) == expected


def test_pairs_are_kept_whatever_the_order_of_the_scores() -> None:
    """Scores that rise with the seed in both would pair alike when sorted."""
    found = tables.minus(Cell((0.5, 1.0, 0.25)), Cell((1.0, 0.5, 0.25)))
    assert found.values == (-0.5, 0.5, 0.0)
    assert found.sd == pytest.approx(0.5)  # that of the differences


def test_the_best_layer_is_chosen_on_development_data(invented: Store) -> None:
    found = tables.best_layer("senses", store=invented)
    for seed, layer in enumerate(found.layers):
        development = [
            invented.get(Setting("senses", f"layer_{j}", seed).name).development for j in range(3)
        ]
        assert development[layer] == max(development)
        assert (
            found.score.values[seed]
            == invented.get(Setting("senses", f"layer_{layer}", seed).name).score
        )
    assert len(set(found.layers)) > 1  # seed 1 was made to choose otherwise


def test_lambda_and_label_and_insertion_tables(invented: Store, score_of: Score) -> None:
    by_penalty = tables.penalties("ewt", store=invented)
    assert list(by_penalty) == [0.0, 0.001, 1.0]
    for penalty, found in by_penalty.items():
        assert found.score.values[2] == score_of(Setting("ewt", "mixture", 2, penalty=penalty))
        assert found.gamma.values == (2 * penalty,) * 5
        assert [cell.values[3] for cell in found.weights] == [0.5, 0.25, 3.25]
    by_label = tables.label_fractions("snips", store=invented)
    assert {tuple(row) for row in by_label.values()} == {(0.01, 0.1, 1.0)}
    assert by_label["layer_0"][1.0].values[4] == score_of(
        Setting("snips", "layer_0", 4, labels=1.0)
    )
    assert list(tables.insertion("snips", store=invented)) == list(RECURRENT)
    assert tables.insertion("noun_verb", store=invented) == {}


def test_a_table_with_a_seed_missing_is_refused(invented: Store) -> None:
    del invented._records[Setting("ewt", "mixture", 3).name]
    with pytest.raises(KeyError, match=r"no record 'ewt/mixture/.*/seed-3'"):
        tables.scores("ewt", store=invented)


def test_time_counts_every_fit_and_every_extractor_once(invented: Store) -> None:
    assert tables.minutes(invented) == 0.0
    for number, setting in enumerate(plan()[:3]):  # one extractor a seed
        record = invented.get(setting.name)
        record.source["seconds"] = 60.0
        invented._records[setting.name] = replace(record, seconds=30.0 * number)
    more = Setting("noun_verb", "mixture", 0)
    invented.get(more.name).source["seconds"] = 60.0  # the very same extractor
    for setting in plan(seeds=range(3)):
        if CONDITIONS[setting.condition].source == "bilm" and setting.corpus == "toy":
            invented.get(setting.name).source["seconds"] = 60.0
    assert tables.minutes(invented) == pytest.approx((30 + 60 + 3 * 60) / 60)


def test_wins_and_text() -> None:
    assert tables.wins(Cell((0.5, -0.1, 0.0, 0.1, 0.0))) == (2, 2, 1)
    assert str(Cell((0.5, 0.7))) == "0.600 ± 0.141"
    assert tables.about("layer_0") == "static lookup vector (token layer)"
    assert tables.tasks() == list(TASKS)
