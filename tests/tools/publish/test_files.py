"""Whole files, the same bytes each time, and nothing half-made."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from publish import files
from publish.command import publish
from publish.files import PublishError

DATE = datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC)


def test_the_date_is_given_or_the_last_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(DATE.timestamp())))
    assert files.date_of(tmp_path) == DATE
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert files.date_of(tmp_path) == datetime(1980, 1, 1, tzinfo=UTC)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    assert files.date_of(tmp_path) == datetime(1980, 1, 1, tzinfo=UTC)  # no commit yet
    command = [*git, "commit", "-q", "--allow-empty", "--no-gpg-sign", "-m", "x"]
    environment = {**os.environ, "GIT_COMMITTER_DATE": DATE.isoformat()}
    subprocess.run(command, check=True, env=environment)
    assert files.date_of(tmp_path) == DATE


def test_a_date_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(PublishError, match="SOURCE_DATE_EPOCH is 'yesterday', expected seconds"):
        files.date_of()


def test_a_zip_depends_on_names_contents_and_date_only(tmp_path: Path) -> None:
    content = {"b": b"2" * 99, "a/c": b"1", "mimetype": b"x"}
    files.write_zip(tmp_path / "one.zip", content, DATE, first="mimetype")
    old = os.umask(0o077)
    try:
        files.write_zip(
            tmp_path / "two.zip", dict(reversed(content.items())), DATE, first="mimetype"
        )
    finally:
        os.umask(old)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        entries = archive.infolist()
        assert {name: archive.read(name) for name in archive.namelist()} == content
    assert [entry.filename for entry in entries] == ["mimetype", "a/c", "b"]
    assert [entry.compress_type for entry in entries] == [0, 8, 8]
    assert {entry.date_time for entry in entries} == {(2026, 1, 2, 3, 4, 6)}
    assert {entry.external_attr >> 16 for entry in entries} == {0o100644}


def test_a_failure_leaves_the_last_good_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "book.zip"
    with files.beside(target) as folder:
        (folder / target.name).write_text("good")

    def fail_half_way() -> None:
        with files.beside(target) as folder:
            (folder / target.name).write_text("half")
            raise ValueError("half-way")

    with pytest.raises(ValueError, match="half-way"):
        fail_half_way()
    assert target.read_text() == "good"
    assert [path.name for path in tmp_path.iterdir()] == ["book.zip"]


def test_what_a_killed_build_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".building-before").mkdir()
    (tmp_path / ".building-before" / "book.zip").write_text("half")
    with files.beside(tmp_path / "book.zip") as folder:
        (folder / "book.zip").write_text("good")
    assert [path.name for path in tmp_path.iterdir()] == ["book.zip"]


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="is a folder; name a file"), files.beside(tmp_path):
        pytest.fail("something was made")


def test_a_signal_ends_in_order(tmp_path: Path) -> None:
    """Told to end half-way, it removes what it began and leaves what was there."""
    target = tmp_path / "book.zip"
    target.write_text("good")
    code = (
        "import os, signal, sys\n"
        "from publish.command import publish\n"
        "def make(site, target):\n"
        "    target.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        f"sys.argv[1:] = ['--output', {str(target)!r}]\n"
        "publish(make, 'book.zip', 'Make: it')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(files.ROOT) / "tools", check=False, timeout=120
    )
    assert done.returncode == 128 + signal.SIGTERM
    assert target.read_text() == "good"
    assert [path.name for path in tmp_path.iterdir()] == ["book.zip"]


def test_it_says_where_the_result_is_or_why_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def make(site: Path, target: Path) -> None:
        if not site.is_dir():
            raise PublishError(f"{site} holds no built book")
        target.write_bytes(b"0" * 200_000)

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    target = tmp_path / "out" / "book.zip"
    arguments = ["tool", "--output", str(target), "--site"]
    monkeypatch.setattr(sys, "argv", [*arguments, str(tmp_path / "nothing")])
    assert publish(make, "book.zip", "Make: it") == 1
    said = capsys.readouterr()
    assert said.err == f"{tmp_path / 'nothing'} holds no built book\nbook.zip was not made.\n"
    monkeypatch.setattr(sys, "argv", [*arguments, str(tmp_path)])
    assert publish(make, "book.zip", "Make: it") == 0
    assert capsys.readouterr().out.startswith(f"Made {target} (0.2 MB) in ")
