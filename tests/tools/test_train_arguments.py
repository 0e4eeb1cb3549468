"""What makes no sense as an argument of a command is named before the command does anything."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import train_arguments

from tools import (
    export_explorer_states,
    measure_masked,
    measure_stacks,
    normalise_notebooks,
    run_experiments,
    train_toy_language,
)

Type = Callable[[str], object]

TRAINING = (measure_masked, measure_stacks, train_toy_language)
REFUSED = [
    *((tool, ("--tokens", given)) for tool in TRAINING for given in ("0", "-5", "many")),
    *((tool, ("--seeds", *given)) for tool in TRAINING for given in (("0", "0"), ("-1",))),
    *((measure_masked, (name, "0")) for name in ("--processes", "--sentences")),
    *((run_experiments, (name, "-3")) for name in ("--workers", "--seeds")),
    (run_experiments, ("--seeds", "-1", "--list")),
    (run_experiments, ("--seeds", "2", "2", "--list")),
    *((export_explorer_states, (name, "-3", "states.json")) for name in ("--states", "--seed")),
    *((normalise_notebooks, ("--budget", given, "a.ipynb")) for given in ("-1", "0", "nan", "inf")),
    (normalise_notebooks, ("--jobs", "0", "a.ipynb")),
]


def refuse(tool: ModuleType, *arguments: str) -> None:
    """Start a tool as from a shell; it ends with the status of a wrong argument."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [f"{tool.__name__}.py", *arguments])
        with pytest.raises(SystemExit) as ended:
            tool.main()
    assert ended.value.code == 2


@pytest.mark.parametrize(("tool", "arguments"), REFUSED)
def test_a_number_that_makes_no_sense_is_named(
    tool: ModuleType, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    refuse(tool, *arguments)
    said = capsys.readouterr().err.splitlines()[-1]
    assert f"error: argument {arguments[0]}: expected " in said
    assert f"got {' '.join(arguments[1:3])}" in said or f"got {arguments[1]!r}" in said


@pytest.mark.parametrize(
    ("tool", "name", "is_folder"),
    [
        (measure_masked, "--output", False),
        (measure_stacks, "--output", False),
        (run_experiments, "--output", True),
        (export_explorer_states, "path", False),
    ],
)
def test_a_place_that_cannot_be_written_is_named(
    tool: ModuleType,
    name: str,
    is_folder: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And not when hours of training are to be written there."""
    file = tmp_path / "file"
    file.touch()
    wrong, words = (file, "a folder") if is_folder else (tmp_path, "a file")
    option = [name] if name.startswith("-") else []
    refuse(tool, *option, str(wrong))
    assert f"argument {name}: expected {words}, {wrong} is a" in capsys.readouterr().err
    refuse(tool, *option, str(file / "below" / "it"))
    assert f"argument {name}: expected a folder, {file} is a file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (train_arguments.count, "1", 1),
        (train_arguments.seed, "0", 0),
        (train_arguments.seconds, "0.5", 0.5),
    ],
)
def test_the_least_that_makes_sense_is_taken(kind: Type, given: str, value: object) -> None:
    assert kind(given) == value


def test_a_new_place_is_taken_and_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = tmp_path / "new" / "place"
    assert train_arguments.folder(str(new)) == train_arguments.file(str(new)) == new
    assert train_arguments.folder(str(tmp_path)) == tmp_path
    monkeypatch.chdir(tmp_path)
    assert train_arguments.file("new") == Path("new")
    assert not list(tmp_path.iterdir())
    with pytest.raises(argparse.ArgumentTypeError, match="expected a file"):
        train_arguments.file(".")
