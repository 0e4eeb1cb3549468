"""The script that measures time and memory, on a tiny model."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from elmo_toy.bilm import records
from elmo_toy.bilm.released import TINY
from tools import measure_released_size as tool


def test_words_are_different_and_of_five_letters() -> None:
    found = tool.words(np.random.default_rng(0), 20)
    assert len(set(found)) == 20
    assert {len(word) for word in found} == {5}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_record_has_the_shipped_ones_entries(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    output = tmp_path / "record.json"
    monkeypatch.setattr(tool, "RELEASED", {"original": TINY})
    monkeypatch.setenv("PYTHONPATH", str(Path(tool.__file__).parents[1]))
    monkeypatch.setattr(sys, "argv", ["measure_released_size.py", "--output", str(output)])
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    tool.main()
    record, shipped = json.loads(output.read_text(encoding="utf-8")), records.read("released_size")
    assert record.keys() == shipped.keys()
    for name, value in shipped.items():
        assert type(record[name]) is type(value), name
        if isinstance(value, dict):
            assert record[name].keys() == value.keys(), name
    memory = record["memory_mb"]
    assert memory["before"] <= memory["after_reading"] <= memory["most"] < 500
