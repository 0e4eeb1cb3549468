"""The one command: lists, chooses, refuses by name, and goes through a plan of a few settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from elmo_toy.experiments.conditions import plan
from elmo_toy.experiments.live import SMALL
from elmo_toy.experiments.store import Store
from tools import run_experiments

TOOL = Path(run_experiments.__file__)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TOOL), *arguments],
        env={**os.environ, "PYTHONPATH": str(TOOL.parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_list_names_every_setting_and_what_is_recorded(tmp_path: Path) -> None:
    done = run("--list", "--output", str(tmp_path), "--seeds", "3")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [name for _, name in lines] == [setting.name for setting in plan(seeds=[3])]
    assert {state for state, _ in lines} == {"missing"}
    assert run_experiments.chosen(["ewt/", "seed-3"], [3]) == plan(["ewt"], [3])


def test_a_folder_that_is_missing_or_empty_is_said(tmp_path: Path) -> None:
    done = run("--only", "snips/mixture", "--output", str(tmp_path))
    assert done.returncode == 2
    assert "expected the folder that holds snips" in done.stderr
    done = run(str(tmp_path), "--only", "snips/mixture", "--output", str(tmp_path))
    assert done.returncode == 2
    assert "snips_train.jsonl.gz is missing. origin: sonos/nlu-benchmark" in done.stderr
    assert run("--only", "nothing").stderr.rstrip().endswith("no setting's name holds all of these")
    assert list(tmp_path.iterdir()) == []


def test_the_small_record(tmp_path: Path) -> None:
    done = run("--small", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    (record,) = Store(tmp_path)
    assert done.stdout.split() == [SMALL.name, str(record.score)]


def test_words_are_counted_by_workers_and_once(tmp_path: Path) -> None:
    """The smallest setting there is: no extractor to train."""
    arguments = ("--only", "noun_verb/bag_of_words/labels-0.01/", "--seeds", "4")
    first = run(*arguments, "--output", str(tmp_path))
    assert first.returncode == 0, first.stderr
    assert "1 of 1: toy words seed 4: 1 settings" in first.stderr
    line = json.loads((tmp_path / "noun_verb.jsonl").read_text("utf-8"))
    assert line["configuration"]["setting"]["seed"] == 4
    again = run(*arguments, "--output", str(tmp_path))
    assert "1 recorded already, 0 to compute" in again.stderr
