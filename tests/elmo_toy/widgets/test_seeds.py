"""The explorer of chapter 6, beside the tables of the records."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from statistics import mean, stdev

import pytest

from elmo_toy.experiments import tables
from elmo_toy.widgets import seeds
from elmo_toy.widgets._seeds import (
    CONDITIONS,
    MOST_DRAWS,
    SEEDS,
    TASKS,
    SeedsState,
    data,
    differences,
    drawn,
    moved,
    possible,
    read,
    summary,
)
from elmo_toy.widgets._text import fixed


@pytest.mark.parametrize("task", TASKS)
def test_all_five_are_the_tables(task: str) -> None:
    apart = tables.differences(task)
    best = tables.minus(tables.best_layer(task).score, tables.cell(task, "mixture"))
    for name in CONDITIONS:
        cell = best if name == "best" else apart[name]
        wanted = f"{fixed(100 * cell.mean, 2)} ± {fixed(100 * cell.sd, 2)}"
        assert read(SeedsState(task, name))["five"] == wanted


def test_a_pair_is_subtracted_seed_by_seed() -> None:
    expected = tables.differences("snips", ["concatenation"], reference="equal")["concatenation"]
    found = differences(SeedsState("snips", "concatenation", "equal"))
    assert found == pytest.approx([100 * value for value in expected.values])


@pytest.mark.parametrize("size", range(1, SEEDS + 1))
def test_every_set_is_there_once(size: int) -> None:
    values = differences(SeedsState("senses", "equal"))
    rows = possible(SeedsState("senses", "equal", size=size))
    assert [row[0] for row in rows] == list(combinations(range(SEEDS), size))
    for chosen, centre, spread, turned in rows:
        part = [values[seed] for seed in chosen]
        assert centre == pytest.approx(mean(part))
        assert math.isnan(spread) if size == 1 else spread == pytest.approx(stdev(part))
        # the five together are even here, to the last bit: whatever isn't has another sign
        assert turned == (abs(centre - mean(values)) > 1e-9)


def test_one_seed_turns_as_often_as_the_seeds_disagree() -> None:
    for task in TASKS:
        for name in CONDITIONS:
            cell = tables.Cell(tuple(differences(SeedsState(task, name))))
            if cell.mean:
                above, level, below = tables.wins(cell)
                turned = (below if cell.mean > 0 else above) + level
                shown = read(SeedsState(task, name, size=1, shown=True))
                assert shown["flips"] == f"{turned} of 5"


def test_draws_are_the_same_every_time_and_reach_every_set() -> None:
    assert drawn(2, 40)[:15] == drawn(2, 15)
    counts = Counter(drawn(2, MOST_DRAWS))
    assert set(counts) == set(range(10))
    assert min(counts.values()) > 25  # of 50 expected each
    assert drawn(5, 3) == [0, 0, 0]


def test_nothing_lies_between_a_condition_and_itself() -> None:
    texts = read(SeedsState(one="equal", other="equal", shown=True))
    assert (texts["five"], texts["flips"]) == ("0.00 ± 0.00", "0 of 10")
    assert summary([0.1, 0.2, -0.3])[0] == 0  # not the 9e-18 of the sum


def test_counts_of_all_sets_are_not_told_before_they_are_shown() -> None:
    hidden, shown = read(SeedsState(draws=3)), read(SeedsState(draws=3, shown=True))
    told = {name for name in hidden if hidden[name] != shown[name]}
    assert told == {"flips", "means", "spreads"}
    assert hidden["turned"] != "?"


def test_draws_add_up_to_a_limit_and_begin_anew_with_another_question() -> None:
    state = moved(moved(SeedsState(), "draws", "100"), "draws", 10)
    assert state.draws == 110
    assert moved(SeedsState(draws=450), "draws", 100).draws == MOST_DRAWS
    assert moved(state, "draws", 0).draws == 0
    assert moved(state, "guess", 3).draws == moved(state, "shown", True).draws == 110
    for control, value in (("size", 3), ("task", "snips"), ("one", "best"), ("other", "free")):
        assert moved(state, control, value).draws == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("noun_verb",), "task must be one of senses"),
        (("ewt", "layer_9"), "one must be one of mixture"),
        (("ewt", "free", "x"), "other must be one of mixture"),
    ],
)
def test_a_bad_start_is_refused(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        seeds(*arguments)


def test_the_live_view_follows_its_controls() -> None:
    view = seeds().view
    view.controls["task"].value = "snips"
    view.controls["one"].value = "best"
    view.controls["other"].value = "equal"
    view.controls["size"].value = 3
    view.controls["draws 10"].click()
    view.controls["guess"].value = 4
    view.controls["shown"].value = True
    assert view.texts == read(SeedsState("snips", "best", "equal", 3, 10, 4, shown=True))
    output = view.box.children[-1].value
    for text in (view.texts["five"], view.texts["last"], "You said 4.", "0 1 2"):
        assert text in output
    view.box.children[-2].click()
    assert view.texts == read(SeedsState())


def test_the_static_table_counts_for_every_rival() -> None:
    page = seeds("snips", "best").as_html()
    assert 'state="c=snips,best,mixture&amp;n=2,0"' in page
    for task in TASKS:
        for name, words in CONDITIONS.items():
            row = f"{TASKS[task]}, {words}</th><td>{read(SeedsState(task, name))['five']}</td>"
            assert (row in page) == (name != "mixture")
    assert page.count("&quot;ewt&quot;:{") == 1
    assert len(data()["tasks"]) == 3
