"""What build_book.py refuses, and what it does without building anything."""

import fcntl
import importlib.metadata
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import build_book
import pytest

TOOL = Path(build_book.__file__)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a folder whose site in `_build/html` is up to date, as far as its stamp says."""
    folder = tmp_path / "source"
    stamp = folder / "_build" / "html" / build_book.FINGERPRINT
    stamp.parent.mkdir(parents=True)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    stamp.write_text(build_book.fingerprint(*build_book.inputs(folder)))
    return folder


def test_versions_are_those_of_what_the_book_needs(tmp_path: Path) -> None:
    """With what they bring along and without the tests' tools, which change no page."""
    found = dict(one.split("==") for one in build_book.versions(*build_book.REQUIREMENTS))
    assert found["sphinx"] == importlib.metadata.version("Sphinx")
    assert {"numpy", "markupsafe", "typing-extensions", "setuptools"} <= found.keys()
    assert not {"pytest", "hypothesis", "mypy", "playwright"} & found.keys()
    assert all(" " not in name and name == name.lower() for name in found)
    (tmp_path / "more.txt").write_text(
        "# a remark\n-r other.txt\nno.such_thing>=1; x > '3'\nNumPy\n"
    )
    assert build_book.versions(tmp_path / "more.txt", tmp_path / "none.txt") == [
        "no-such-thing==none",
        f"numpy=={importlib.metadata.version('numpy')}",
    ]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return every file with its content, and every folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize(
    ("output", "sentence"),
    [("photos", "holds files that no build of a book made"), ("photos/a.jpg", "is a file")],
)
def test_what_is_no_site_is_not_replaced(
    tmp_path: Path, source: Path, output: str, sentence: str
) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(b"precious")
    before = tree(tmp_path)
    done = run("--source", source, "--output", tmp_path / output)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{tmp_path / output} {sentence}")
    assert done.stderr.count("\n") == 1
    assert tree(tmp_path) == before


def test_a_new_an_empty_and_an_own_folder_are_taken(tmp_path: Path, source: Path) -> None:
    assert build_book.refusal(source, tmp_path / "new") is None
    (tmp_path / "empty").mkdir()
    assert build_book.refusal(source, tmp_path / "empty") is None
    assert build_book.refusal(source, source / "_build" / "html") is None


@pytest.mark.parametrize("name", ["missing", "empty", "file"])
def test_a_source_without_contents_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("text")
    before = tree(tmp_path)
    done = run("--source", tmp_path / name)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{tmp_path / name} has no file _toc.yml")
    assert done.stderr.count("\n") == 1
    assert tree(tmp_path) == before


def test_sphinx_is_not_imported_where_nothing_changed(source: Path) -> None:
    code = (
        "import sys, build_book\n"
        f"sys.argv = ['build_book.py', '--source', {str(source)!r}]\n"
        "assert build_book.main() == 0\n"
        "assert not {'sphinx', 'jupyter_book'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=TOOL.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Nothing changed")


def test_what_an_interrupted_build_left_is_removed(source: Path) -> None:
    leftover = source / "_build" / ".building-before" / "html"
    leftover.mkdir(parents=True)
    (leftover / "half.html").write_text("half a page")
    assert run("--source", source).returncode == 0
    assert [path.name for path in (source / "_build").iterdir()] == ["html"]


def test_a_build_waits_for_another_one_in_the_same_place(source: Path) -> None:
    other = source / "_build" / ".building-now"
    other.mkdir()
    command = [sys.executable, str(TOOL), "--source", str(source)]
    handle = os.open(source / "_build", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == f"Waiting for another build in {other.parent}.\n"
            assert other.is_dir(), "the other build lost its files"
        finally:
            os.close(handle)
        assert process.stdout.readline().startswith("Nothing changed")
    assert process.returncode == 0
    assert not other.exists()


def test_a_build_stopped_while_it_replaces_the_site_leaves_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "index.html").write_text("the last good site")
    site = tmp_path / ".building-now" / "html"
    site.mkdir(parents=True)
    rename = Path.rename

    def stopped(path: Path, target: Path) -> Path:
        if path == site:
            raise SystemExit(143)
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", stopped)
    with pytest.raises(SystemExit):
        build_book.replace(site, tmp_path / "html")
    assert (tmp_path / "html" / "index.html").read_text() == "the last good site"


def write_cache(folder: Path, *keys: str) -> None:
    """Write what jupyter-cache keeps of executed notebooks, as far as it is read here."""
    with sqlite3.connect(folder / "global.db") as connection:
        connection.execute("CREATE TABLE nbcache (pk INTEGER PRIMARY KEY, hashkey TEXT)")
        connection.executemany("INSERT INTO nbcache (hashkey) VALUES (?)", [(key,) for key in keys])
    connection.close()
    for key in keys:
        (folder / "executed" / key).mkdir(parents=True)
        (folder / "executed" / key / "base.ipynb").write_text(json.dumps({"cells": []}))


@pytest.mark.parametrize("damage", ["none", "cut", "missing", "database", "no database"])
def test_executed_notebooks_that_cannot_be_read_are_forgotten(tmp_path: Path, damage: str) -> None:
    cache = build_book.execution_cache(tmp_path)
    write_cache(cache, "one", "two")
    notebook = cache / "executed" / "two" / "base.ipynb"
    match damage:
        case "cut":
            notebook.write_text('{"cells": [')
        case "missing":
            notebook.unlink()
        case "database":
            (cache / "global.db").write_bytes(b"half a page")
        case "no database":
            (cache / "global.db").unlink()
    assert build_book.execution_cache(tmp_path) == cache
    left = {path.name for path in cache.iterdir()}
    assert left == ({"executed", "global.db"} if damage == "none" else set())


def test_a_home_is_found_where_the_users_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert build_book.home_for(tmp_path / "book") == tmp_path
    for home in (str(tmp_path / "missing"), ""):
        monkeypatch.setenv("HOME", home)
        found = build_book.home_for(tmp_path / "book")
        assert found == tmp_path / "book" / ".cache" / "home"
        assert found.is_dir()
