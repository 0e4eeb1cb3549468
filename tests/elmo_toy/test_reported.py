"""The paper's numbers, digit by digit, and what follows from them."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy import reported

# Typed a second time, as the paper lays its tables out: rows are tasks, or systems in 5 and 6.
PRINTED = {
    1: """
        SQuAD 84.4 81.1 85.8
        SNLI 88.6 88.0 88.7±0.17
        SRL 81.7 81.4 84.6
        Coref 67.2 67.2 70.4
        NER 91.93±0.19 90.15 92.22±0.10
        SST-5 53.7 51.4 54.7±0.5
    """,
    2: """
        SQuAD 80.8 84.7 85.0 85.2
        SNLI 88.1 89.1 89.3 89.5
        SRL 81.6 84.1 84.6 84.8
    """,
    3: """
        SQuAD 85.1 85.6 84.8
        SNLI 88.9 89.5 88.7
        SRL 84.7 84.3 80.9
    """,
    5: "WSD 65.9 69.9 70.1 59.4 64.7 67.4 69.0",
    6: "POS 97.3 97.6 97.8 93.3 92.8 97.3 96.8",
}
INCREASES = ["4.7", "24.9", "0.7", "5.8", "3.2", "17.2", "3.2", "9.8", "2.06", "21", "3.3", "6.8"]


@pytest.mark.parametrize("table", PRINTED)
def test_every_printed_number_in_the_papers_order(table: int) -> None:
    for line in PRINTED[table].strip().splitlines():
        task, *numbers = line.split()
        found = reported.find(table=table, task=task)
        assert [result.shown.replace(" ± ", "±") for result in found] == numbers
        for result, number in zip(found, numbers, strict=True):
            value, _, spread = number.partition("±")
            assert result.value == float(value)
            assert result.spread == (float(spread) if spread else None)


def test_nothing_else_is_reported() -> None:
    numbers = [len(text.split()) - len(text.strip().splitlines()) for text in PRINTED.values()]
    assert len(reported.RESULTS) == sum(numbers)
    keys = [(result.table, result.task, result.condition) for result in reported.RESULTS]
    assert len(set(keys)) == len(keys)


def test_metrics_splits_and_sources() -> None:
    metrics = {
        **dict.fromkeys(("SQuAD", "SRL", "NER", "WSD"), "F1"),
        **dict.fromkeys(("SNLI", "SST-5", "POS"), "accuracy"),
        "Coref": "average F1",
    }
    for result in reported.RESULTS:
        assert result.metric == metrics[result.task]
        assert result.split == ("development" if result.table in (2, 3) else "test")
        assert result.source == f"Peters et al. (2018), Table {result.table}"


def test_a_spread_says_over_what_and_the_baselines_have_none() -> None:
    spreads = {
        (result.task, result.condition): result.spread_over
        for result in reported.RESULTS
        if result.spread is not None
    }
    assert spreads == {
        ("SNLI", "ELMo"): "five random seeds, which the text says and the caption does not",
        ("NER", "earlier best"): "not said in this paper",
        ("NER", "ELMo"): "five runs with different random seeds",
        ("SST-5", "ELMo"): "five runs with different random seeds",
    }
    assert all(result.spread_over == "" for result in reported.find(condition="baseline"))


def test_only_what_others_built_names_a_system() -> None:
    ours = {"baseline", "ELMo", "biLM, layer 1", "biLM, layer 2"}
    for result in reported.RESULTS:
        named = result.table in (1, 5, 6) and result.condition not in ours
        assert bool(result.system) == named, result


def test_the_numbers_of_the_earlier_submission_are_not_here() -> None:
    absent = {(1, "85.3"), (1, "84.3"), (1, "88.1"), (2, "82.5"), (2, "83.6"), (3, "84.2")}
    absent |= {(3, "83.7"), (6, "97.0"), (6, "95.8")}
    assert not absent & {(result.table, result.printed) for result in reported.RESULTS}


def test_increases_are_printed_as_they_are_computed_but_for_one() -> None:
    checks = reported.increases()
    assert [check.printed for check in checks] == INCREASES
    assert [check.what for check in checks if not check.agrees] == ["NER, gain"]
    (ner,) = (check for check in checks if check.what == "NER, gain")
    assert (ner.printed, ner.rounded) == ("2.06", "2.07")
    # what the table rounded away explains it: 92.22 and 90.15 stand for intervals
    assert abs(ner.computed - 2.06) <= 0.01 + 1e-9


def test_statements_hold_but_for_the_upper_end_of_the_range() -> None:
    checks = {check.what: check for check in reported.statements()}
    assert [what for what, check in checks.items() if not check.agrees] == [
        "largest % of error removed"
    ]
    assert checks["largest % of error removed"].printed == "20"
    assert round(checks["largest % of error removed"].computed, 1) == 24.9
    printed = ["6", "20", "1.4", "1.0", "3.9", "0.3", "0.2"]
    assert [check.printed for check in checks.values()] == printed


percents = st.integers(0, 1000).map(lambda tenths: tenths / 10)


@given(percents.filter(lambda score: score < 100), percents)
def test_error_removed_is_the_share_of_what_was_missing(before: float, after: float) -> None:
    missing, left = 100 - Fraction(str(before)), 100 - Fraction(str(after))
    exact = 100 * (missing - left) / missing
    assert reported.error_removed(before, after) == pytest.approx(float(exact), rel=1e-9, abs=1e-9)
    assert reported.error_removed(before, 100) == 100
    assert reported.error_removed(before, before) == 0


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (100, 100, "before must leave an error"),
        (-1, 50, "before must be a score from 0 to 100, given -1"),
        (50, 101, "after must be a score from 0 to 100, given 101"),
        (float("nan"), 50, "before must be a score"),
    ],
)
def test_error_removed_refuses(before: float, after: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        reported.error_removed(before, after)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"table": 4}, r"table must be one of \[1, 2, 3, 5, 6\], given 4"),
        ({"table": "1"}, "table must be one of .*, given '1'"),
        ({"task": "snli"}, r"task must be one of \['SQuAD', .*given 'snli'"),
        ({"condition": "last"}, "condition must be one of .*'last layer'.*given 'last'"),
        ({"split": "dev"}, r"split must be one of \['test', 'development'\], given 'dev'"),
    ],
)
def test_find_refuses_what_it_does_not_know(asked: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        reported.find(**asked)


def test_find_refuses_what_the_paper_does_not_report() -> None:
    with pytest.raises(KeyError, match=r"nothing for .*'NER'"):
        reported.find(table=2, task="NER")
    with pytest.raises(KeyError, match="nothing for"):
        reported.get(1, "SNLI", "last layer")


def test_find_without_a_question_is_everything() -> None:
    assert reported.find() == reported.RESULTS


def test_results_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        reported.RESULTS[0].printed = "99.9"  # type: ignore[misc]  # what is tested


@pytest.mark.parametrize("table", PRINTED)
def test_a_table_shows_all_its_results(table: int) -> None:
    shown = str(reported.as_table(table))
    assert shown.startswith(f"The paper's Table {table}: ")
    for result in reported.find(table=table):
        assert result.shown in shown
        assert result.condition in shown
        assert result.metric in shown


def test_what_chapter_6_says_in_words() -> None:
    gains = {check.what.partition(",")[0]: check for check in reported.increases()[::2]}
    shares = {check.what.partition(",")[0]: check for check in reported.increases()[1::2]}
    by_gain = sorted(gains, key=lambda task: -gains[task].computed)
    by_share = sorted(shares, key=lambda task: -shares[task].computed)
    assert (by_gain.index("SST-5"), by_share.index("SST-5")) == (1, len(by_share) - 2)
    assert (by_gain.index("NER"), by_share.index("NER")) == (len(by_gain) - 2, 1)

    for task in ("SQuAD", "SNLI", "SRL"):
        baseline, last, average, learned = (r.value for r in reported.find(table=2, task=task))
        assert baseline < last < average < learned
        assert 0.7 < (last - baseline) / (learned - baseline) < 0.9
        assert learned - average == pytest.approx(0.2)
        places = [r.value for r in reported.find(table=3, task=task)]
        assert (learned in places) == (task == "SNLI")
        assert max(places) == places[0 if task == "SRL" else 1]
        assert (min(places) < baseline) == (task == "SRL")

    for model in ("biLM", "CoVe"):
        senses, tags = (
            [reported.get(*which, f"{model}, layer {layer}").value for layer in (1, 2)]
            for which in ((5, "WSD"), (6, "POS"))
        )
        assert senses[0] < senses[1]
        assert tags[0] > tags[1]
        rule = reported.get(5, "WSD", "first sense").value
        assert (max(senses) < rule) == (model == "CoVe")
        assert (min(senses) > rule) == (model == "biLM")
