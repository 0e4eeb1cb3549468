"""What the prose of chapter 6 is bound to: the paper's tables, arithmetic on them, our own runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from elmo_toy import reported
from elmo_toy.experiments import tables
from elmo_toy.experiments.sources import SourceSizes
from elmo_toy.experiments.tables import Cell

#: Names without the dots and blanks that a dotted name cannot hold.
CONDITIONS = {
    "earlier best": "earlier",
    "last layer": "last",
    "all, λ = 1": "average",
    "all, λ = 0.001": "learned",
    "input and output": "both",
    "first sense": "first_sense",
    "trained for WSD (2017)": "trained_2017",
    "trained for WSD (2016)": "trained_2016",
    "trained for POS (2011)": "trained_2011",
    "trained for POS (2016)": "trained_2016",
    "trained for POS (2015)": "trained_2015",
    "CoVe, layer 1": "cove_1",
    "CoVe, layer 2": "cove_2",
    "biLM, layer 1": "bilm_1",
    "biLM, layer 2": "bilm_2",
}

#: Of the penalty.
STRENGTHS = {"weak": 0.001, "strong": 1.0}


def _tables() -> dict[str, Any]:
    """Values and spreads by table, task and condition."""
    found: dict[str, Any] = {}
    for result in reported.RESULTS:
        name = CONDITIONS.get(result.condition, result.condition)
        value = found.setdefault(f"table_{result.table}", {}).setdefault(result.task, {})
        value[name] = result.value
        if result.spread is not None:
            spread = found.setdefault("spread", {}).setdefault(result.task, {})
            spread[name] = result.spread
    return found


def _checks() -> dict[str, Any]:
    """Printed and computed increases; shares as fractions, which is how prose is read."""
    found: dict[str, Any] = {"gain": {}, "removed": {}, "printed_gain": {}, "printed_removed": {}}
    for check in reported.increases():
        task, _, what = check.what.partition(", ")
        if what == "gain":
            found["gain"][task] = check.computed
            found["printed_gain"][task] = float(check.printed)
        else:
            found["removed"][task] = check.computed / 100
            found["printed_removed"][task] = float(check.printed) / 100
    smallest, largest = reported.statements()[:2]
    found["range"] = {"from": float(smallest.printed), "to": float(largest.printed) / 100}
    return found


def _steps() -> dict[str, Any]:
    """How Table 2's gains add up, and what share of them is the last layer's."""
    found = {}
    for task in ("SQuAD", "SNLI", "SRL"):
        baseline, last, average, learned = (r.value for r in reported.find(table=2, task=task))
        found[task] = {
            "last": last - baseline,
            "average": average - last,
            "learned": learned - average,
            "all": learned - baseline,
            "mixture": learned - last,
            "share": (last - baseline) / (learned - baseline),
        }
    return found


def _over(task: str) -> float:
    """By how much ELMo is above the earlier best."""
    return reported.get(1, task, "ELMo").value - reported.get(1, task, "earlier best").value


def _snli_gain_at_sst() -> float:
    """What share of SST-5's error SNLI's gain would remove."""
    gain = reported.get(1, "SNLI", "ELMo").value - reported.get(1, "SNLI", "baseline").value
    baseline = reported.get(1, "SST-5", "baseline").value
    return reported.error_removed(baseline, baseline + gain) / 100


def _layers() -> dict[str, float]:
    """Differences between the biLM's layers, and to the rule without vectors."""
    senses = {r.condition: r.value for r in reported.find(table=5)}
    tags = {r.condition: r.value for r in reported.find(table=6)}
    return {
        "senses": senses["biLM, layer 2"] - senses["biLM, layer 1"],
        "tags": tags["biLM, layer 1"] - tags["biLM, layer 2"],
        "over_rule_1": senses["biLM, layer 1"] - senses["first sense"],
        "over_rule_2": senses["biLM, layer 2"] - senses["first sense"],
    }


def _five_seeds() -> dict[str, Any]:
    """What chapter 6 computes about means of five runs."""
    draws = np.random.default_rng(0).normal(size=(100_000, 6))
    runs, sixth = draws[:, :5], draws[:, 5]
    means, deviations = runs.mean(axis=1), runs.std(axis=1, ddof=1)
    low, high = np.quantile(deviations, [0.05, 0.95])
    spread = reported.get(1, "SNLI", "ELMo").spread or 0.0
    step = _steps()["SNLI"]["learned"]
    return {
        "runs": runs.shape[1],
        "mean": float(means.std()),
        "low": float(low),
        "high": float(high),
        "spread_from": spread / float(high),
        "spread_to": spread / float(low),
        "covers_mean": float((abs(means) < deviations).mean()),
        "covers_run": float((abs(means - sixth) < deviations).mean()),
        **{
            name: float((true * abs(runs[:, 0] - runs[:, 1]) >= step).mean())
            for name, true in (
                ("one_run", spread),
                ("one_run_from", spread / high),
                ("one_run_to", spread / low),
            )
        },
        "five_runs": float((spread * abs(means[::2] - means[1::2]) >= step).mean()),
    }


def _cells(cells: Mapping[str, Cell]) -> dict[str, Any]:
    """Means as fractions, for prose in per cent, and as points."""
    return {name: {"share": cell.mean, "mean": 100 * cell.mean} for name, cell in cells.items()}


def _task(task: str) -> dict[str, Any]:
    """What our runs found on one task."""
    scores = tables.scores(task)
    best = tables.minus(tables.best_layer(task).score, scores["mixture"])
    apart = _cells(tables.differences(task) | {"best": best})
    weak, strong = (tables.penalties(task)[strength].score for strength in STRENGTHS.values())
    return {
        "scores": _cells(scores | tables.insertion(task)),
        "apart": apart,
        "last_share": 1 - apart["top_gamma"]["mean"] / apart["layer_0"]["mean"],
        "weights": [weight.mean for weight in tables.learned(task).weights],
        "learning": 100 * tables.minus(weak, strong).mean,
    }


def _ours() -> dict[str, Any]:
    """What our own runs found, by task."""
    bag, new = "bag_of_words", "new_cues accuracy"
    return {
        **{task: _task(task) for task in tables.tasks()},
        "counted": _cells(
            {
                "all_labels": tables.cell("senses", bag, labels=1.0),
                "new_cues": tables.cell("senses", bag, labels=1.0, metric=new),
                "mixture_new_cues": tables.cell("senses", "mixture", metric=new),
            }
        ),
        "strengths": STRENGTHS,
        "units": SourceSizes().dim,
    }


def reported_values() -> dict[str, Any]:
    """Compute everything once.

    >>> round(reported_values()["gain"]["NER"], 2)
    2.07
    """
    return {
        **_tables(),
        **_checks(),
        "steps": _steps(),
        "five": _five_seeds(),
        "over_taglm": _over("NER"),
        "over_cove": _over("SST-5"),
        "removed_at_sst": _snli_gain_at_sst(),
        "sentiment_right": reported.get(1, "SST-5", "ELMo").value / 100,
        "layers": _layers(),
        "ours": _ours(),
    }
