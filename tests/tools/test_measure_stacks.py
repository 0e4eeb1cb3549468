"""The script that records what separate stacks are good for, on a corpus of a few sentences."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from elmo_toy.bilm import records
from elmo_toy.toy_language import make_corpus
from tools import measure_stacks


@pytest.fixture
def few_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    small = make_corpus(0, train=60, development=10, labelled=2, test=1)
    monkeypatch.setattr(measure_stacks, "make_corpus", lambda seed: small)


def run(monkeypatch: pytest.MonkeyPatch, output: Path, *arguments: str) -> dict:
    monkeypatch.setattr(sys, "argv", ["measure_stacks.py", "--output", str(output), *arguments])
    measure_stacks.main()
    return json.loads(output.read_text(encoding="utf-8"))


def test_all_four_models_are_measured_where_settings_are_others(
    few_sentences: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record = run(monkeypatch, tmp_path / "record.json", "--seeds", "3", "--tokens", "200")
    shipped = records.read("separate_stacks")
    assert record.keys() == shipped.keys()
    assert list(record["models"]) == list(shipped["models"])
    for name, (found,) in record["models"].items():
        assert found["seed"] == 3
        assert found.keys() == shipped["models"][name][0].keys()
        assert found["parameters"] == shipped["models"][name][0]["parameters"]
    assert not list(tmp_path.glob("*.part"))


def test_bilm_and_untrained_network_come_from_the_shipped_record_if_settings_agree() -> None:
    shipped = records.read("separate_stacks")
    known = measure_stacks.already_measured([0, 1, 2, 3, 4], shipped["training"])
    assert known == {name: shipped["models"][name] for name in ("bilm", "untrained")}
    assert measure_stacks.already_measured([0, 1], shipped["training"]) is None
    other = {**shipped["training"], "tokens": 200}
    assert measure_stacks.already_measured([0, 1, 2, 3, 4], other) is None
