"""The script that records masked prediction, on a corpus of a few sentences."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from elmo_toy.bilm import records
from elmo_toy.toy_language import make_corpus
from tools import measure_masked


@pytest.fixture
def few_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    small = make_corpus(0, train=40, development=4, labelled=2, test=1)
    monkeypatch.setattr(measure_masked, "corpus_of", lambda train: small)


def test_a_small_run_has_the_shipped_records_form_and_repeats_itself(
    few_sentences: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    output = tmp_path / "record.json"
    arguments = ["--seeds", "3", "--tokens", "300", "--sentences", "40", "--output", str(output)]
    monkeypatch.setattr(sys, "argv", ["measure_masked.py", *arguments])
    monkeypatch.setattr(measure_masked, "JACOBIANS", 1)
    measure_masked.main()
    assert not list(tmp_path.glob("*.part"))
    record, shipped = json.loads(output.read_text(encoding="utf-8")), records.read("masked")
    assert record.keys() == shipped.keys()
    assert record["sizes"] == shipped["sizes"]
    assert record["training"] == {**shipped["training"], "tokens": 300}
    assert list(record["models"]) == list(shipped["models"])
    for name, (run,) in record["models"].items():
        assert run["seed"] == 3
        assert run.keys() == shipped["models"][name][0].keys()
        assert run["parameters"] == shipped["models"][name][0]["parameters"]
    again = measure_masked.measure("apart", 3, 40, 300)
    (once,) = record["models"]["apart"]
    assert {**again, "seconds": 0} == {**once, "seconds": 0}
