"""What was measured once: complete, and the same as what stands beside it and in the chapters."""

from __future__ import annotations

import json
import re
import statistics
from math import log
from pathlib import Path

import pytest

from elmo_toy.bilm import records
from elmo_toy.bilm.checkpoint import PRETRAINED

NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
MODELS = ["bilm", "sees_its_answer", "joined", "untrained"]


def table(notebook: str, cell_id: str) -> list[str]:
    cells = json.loads((NOTEBOOKS / notebook).read_text(encoding="utf-8"))["cells"]
    (cell,) = (cell for cell in cells if cell["id"] == cell_id)
    return "".join(cell["outputs"][0]["text"]).splitlines()


def test_four_models_over_five_seeds() -> None:
    models = records.read("separate_stacks")["models"]
    assert list(models) == MODELS
    for runs in models.values():
        assert [run["seed"] for run in runs] == [0, 1, 2, 3, 4]
        for run in runs:
            for labels in ("all", "few"):
                for test in ("test", "new_cues", "two_cues"):
                    token_layer, *contextual = run["scores"][labels][test]
                    assert token_layer == 0.5
                    assert len(contextual) == 2


def test_settings_and_two_models_are_those_of_the_shipped_model() -> None:
    shipped = json.loads((PRETRAINED / "toy-language" / "record.json").read_text(encoding="utf-8"))
    record = records.read("separate_stacks")
    assert record["training"] == shipped["training"]
    for name, prefix in (("bilm", ""), ("untrained", "untrained_")):
        for run, beside in zip(record["models"][name], shipped["seeds"], strict=True):
            assert run["scores"] == beside[prefix + "scores"]
            for direction, loss in run["loss"].items():
                perplexity = beside[prefix + "perplexity"][direction]
                assert loss == pytest.approx(log(perplexity), abs=1e-4)


def test_the_table_of_chapter_2_is_the_record() -> None:
    models = records.read("separate_stacks")["models"]
    lines = table("02_directional_lms.ipynb", "table")
    for test, part in (("new_cues", lines[:5]), ("test", lines[5:])):
        assert [line.split()[0] for line in part] == [test, *MODELS]
        for line, runs in zip(part[1:], models.values(), strict=True):
            columns = [[(run["loss"]["forward"] + run["loss"]["backward"]) / 2 for run in runs]]
            columns += [[run["scores"]["all"][test][layer] for run in runs] for layer in (1, 2)]
            shown = re.findall(r"(\d\.\d{3}) ± (\d\.\d{3})", line)
            assert len(shown) == len(columns)
            for (mean, deviation), values in zip(shown, columns, strict=True):
                assert float(mean) == pytest.approx(statistics.mean(values), abs=0.00051)
                assert float(deviation) == pytest.approx(statistics.stdev(values), abs=0.00051)


def test_the_lower_losses_come_with_the_worse_features() -> None:
    """What chapter 2 says in words, for every seed."""
    models = records.read("separate_stacks")["models"]
    for test in ("test", "new_cues", "two_cues"):
        for bilm, *others in zip(*(models[name] for name in MODELS), strict=True):
            for other in others:
                assert max(other["scores"]["all"][test]) < min(bilm["scores"]["all"][test][1:])
            for other in others[:2]:
                assert sum(other["loss"].values()) < 0.01 * sum(bilm["loss"].values())
    for *others, untrained in zip(*(models[name] for name in MODELS[1:]), strict=True):
        for other in others:
            assert max(other["scores"]["all"]["test"][1:]) < min(
                untrained["scores"]["all"]["test"][1:]
            )
    for sees, joined in zip(models["sees_its_answer"], models["joined"], strict=True):
        assert max(abs(score - 0.5) for score in sees["scores"]["all"]["new_cues"]) < 0.03
        assert 0.5 < min(joined["scores"]["all"]["new_cues"][1:]) < 0.55


def test_the_released_size_was_measured_on_its_own_shapes() -> None:
    from elmo_toy.bilm.released import RELEASED, parameter_counts

    record = records.read("released_size")
    numbers = sum(parameter_counts(RELEASED["original"]).values())
    assert 4 * numbers < record["file_bytes"] < 4.01 * numbers
    assert record["memory_mb"]["most"] > 4 * numbers / 1e6
    assert record["ten_words_seconds"]["least"] <= record["ten_words_seconds"]["median"]
