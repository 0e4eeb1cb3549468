"""What `make` says on a machine that lacks something: tools/environment.sh and tools/browser.py."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import browser
import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")


def run(folder: Path, python: str | None) -> subprocess.CompletedProcess[str]:
    """Run environment.sh in an empty copy, where python3 is the script `python`, or missing."""
    (folder / "tools").mkdir()
    for name in ("environment.sh", "failures.py"):
        shutil.copy(ROOT / "tools" / name, folder / "tools")
    programs = folder / "programs"
    programs.mkdir()
    for name in ("sh", "dirname", "cat", "cksum", "rm", "touch"):
        program = shutil.which(name)
        assert program
        (programs / name).symlink_to(program)
    if python:
        (programs / "python3").write_text(f"#!/bin/sh\n{python}\n")
        (programs / "python3").chmod(0o755)
    return subprocess.run(
        ["sh", "tools/environment.sh", "book"],
        cwd=folder,
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
        timeout=60,
    )


OTHER = '[ "$1" = --version ] && echo "Python {}" || exit 1'


@pytest.mark.parametrize(
    ("python", "found"),
    [
        (None, "none"),
        (OTHER.format("3.10.1"), "Python 3.10.1"),
        (OTHER.format("3.14.0"), "Python 3.14.0"),
    ],
)
def test_python_missing_too_old_or_too_new(tmp_path: Path, python: str | None, found: str) -> None:
    done = run(tmp_path, python)
    assert done.returncode != 0
    assert done.stderr.startswith(f"Python 3.11, 3.12 or 3.13 is needed; found: {found}.\n")
    assert not (tmp_path / ".venv").exists()


def test_python_without_venv(tmp_path: Path) -> None:
    done = run(tmp_path, 'case $2 in *ensurepip*) exit 1 ;; esac; echo "Python 3.11.2"')
    assert done.returncode != 0
    assert "apt-get install python3-venv" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_browser_named_in_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_BROWSER", "/somewhere/chrome")
    assert browser.find_browser() == "/somewhere/chrome"


def test_a_named_browser_that_is_not_there_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["browser.py", "--install"])
    monkeypatch.setenv("ELMO_BROWSER", "/nonexistent")
    assert browser.main() == 2
    said = capsys.readouterr()
    assert said.err == "ELMO_BROWSER names /nonexistent, which is no program here.\n"
    assert said.out == ""
    monkeypatch.setenv("ELMO_BROWSER", str(shutil.which("sh")))
    assert browser.main() == 0


def test_no_browser_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ELMO_BROWSER", raising=False)
    monkeypatch.setattr(browser, "find_browser", lambda: None)
    monkeypatch.setattr("sys.argv", ["browser.py"])
    assert browser.main() == 1
    assert "apt-get install chromium" in capsys.readouterr().err


def test_ways_to_install_are_tried_until_there_is_a_browser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def run_nothing(command: list[str]) -> subprocess.CompletedProcess[str]:
        tried.append(command[-1])
        return subprocess.CompletedProcess(command, 1, "", "")

    monkeypatch.setattr(browser, "install_quietly", run_nothing)
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(browser.os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(browser, "find_browser", lambda: "/chrome" if len(tried) == 2 else None)
    assert browser.install_browser() == "/chrome"
    assert "apt-get install" in tried[0]
    assert "chromium-headless-shell || " in tried[0]
    assert tried[1] == "chromium"


def test_what_another_process_installs_is_left_alone(tmp_path: Path) -> None:
    """The mark of an installation holds its process; when that is dead, .venv is made anew."""
    mark = tmp_path / ".venv" / "unfinished"
    mark.parent.mkdir()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        mark.write_text(f"{other.pid}\n", encoding="utf-8")
        done = run(tmp_path, None)
        assert done.returncode != 0
        assert done.stdout == ""
        assert done.stderr.startswith(f"Process {other.pid} is installing into .venv: ")
        assert mark.read_text(encoding="utf-8") == f"{other.pid}\n"
        other.communicate(b"\n")
    shutil.rmtree(tmp_path / "tools")
    shutil.rmtree(tmp_path / "programs")
    done = run(tmp_path, None)
    assert done.stdout.startswith("The last installation was not finished")
