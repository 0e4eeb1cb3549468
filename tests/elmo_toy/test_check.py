"""The set-up check: ready here, and with advice where Python, numpy or the package is amiss."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from elmo_toy import check, worked_example

ROOT = Path(check.__file__).resolve().parents[1]


def run(*before: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, [*before, ROOT]))
    return subprocess.run(
        [sys.executable, "-m", "elmo_toy.check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_ready_here() -> None:
    done = run()
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert len(lines) <= 8
    assert lines[-1] == "ready"
    assert "computes 0.420337, as it should" in done.stdout


def test_without_numpy_it_runs_and_says_what_to_install(tmp_path: Path) -> None:
    message = 'raise ModuleNotFoundError("No module named \'numpy\'", name="numpy")\n'
    (tmp_path / "numpy.py").write_text(message, encoding="utf-8")
    done = run(tmp_path)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (1, "")
    assert len(lines) <= 8
    assert lines[1].startswith("FAIL numpy: ModuleNotFoundError: No module named 'numpy': in the")
    assert "pip install -r requirements.txt" in lines[1]
    assert lines[2] == "FAIL elmo_toy: waits for numpy"
    assert lines[5].startswith("not ready")


def test_elsewhere_a_missing_numpy_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError('numpy')", encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", "import elmo_toy"], env=env, capture_output=True, check=False
    )
    assert done.returncode == 1


def test_a_program_that_is_told_the_modules_name_has_the_whole_package() -> None:
    code = "import elmo_toy, sys; sys.exit(not all(hasattr(elmo_toy, n) for n in elmo_toy.__all__))"
    command = [sys.executable, "-c", code, "elmo_toy.check"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run(command, env=env, check=False).returncode == 0


@pytest.mark.parametrize("version", [(3, 8, 10), (3, 10, 0), (3, 14, 0)])
def test_a_python_that_is_too_old_or_too_new(version: tuple[int, int, int]) -> None:
    item = check.python(version)
    assert not item.ready
    assert "needed 3.11 to 3.13: install one of these" in str(item)


def test_the_versions_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    low, high = (".".join(map(str, version)) for version in (check.OLDEST, check.TOO_NEW))
    assert project["requires-python"] == f">={low},<{high}"
    assert f"numpy>={check.NUMPY}.0,<{check.NUMPY + 1}" in project["dependencies"]
    extras = str(project["optional-dependencies"])
    assert all(name in extras for name in check.NOTEBOOKS)


def test_the_number_is_the_worked_examples() -> None:
    assert round(worked_example.state().forward.loss, 6) == check.NUMBER


def test_a_wrong_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = worked_example.state("lower")
    monkeypatch.setattr(worked_example, "state", lambda: other)
    assert check.main() == 1
    out = capsys.readouterr().out
    assert "FAIL elmo_toy: computes 1.104294, expected 0.420337: you have changed the" in out
    assert len(out.splitlines()) <= 8


def test_a_package_that_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ValueError("first line\nsecond")

    monkeypatch.setattr(worked_example, "state", broken)
    assert "FAIL elmo_toy: ValueError: first line: in the folder" in str(check.number())


def test_an_error_without_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise MemoryError

    monkeypatch.setattr(worked_example, "state", broken)
    assert "FAIL elmo_toy: MemoryError: in the folder of the book" in str(check.number())


@pytest.mark.parametrize("off", [1e-6, -1e-6])
def test_a_number_that_is_wrong_in_its_last_digit(
    monkeypatch: pytest.MonkeyPatch, off: float
) -> None:
    monkeypatch.setattr(check, "NUMBER", check.NUMBER + off)
    assert not check.number().ready


def test_an_old_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "__version__", "1.26.4")
    item = check.numpy()
    assert not item.ready
    assert '1.26.4, needed 2 or newer: python -m pip install --upgrade "numpy>=2"' in str(item)


def test_missing_notebook_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "NOTEBOOKS", ("ipykernel", "nothing_of_the_kind"))
    assert str(check.notebooks()).startswith("FAIL notebooks: without nothing_of_the_kind: in the")


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    item = check.folder(str(tmp_path / "nowhere"))
    assert not item.ready
    assert "change to a folder of your own" in item.text


def test_all_is_well_in_process(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main() == 0
    assert capsys.readouterr().out.splitlines()[-1] == "ready"


@pytest.mark.parametrize("name", ["check.py", "__init__.py"])
def test_an_old_python_can_read_it(name: str) -> None:
    source = (ROOT / "elmo_toy" / name).read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 8))
