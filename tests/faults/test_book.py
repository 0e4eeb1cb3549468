"""A build succeeds, or says in a sentence why not and leaves the site as it was; then again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from machine import (
    as_nobody,
    give_away,
    odd_folder,
    offline,
    read_only_home,
    run,
    small_disk,
)
from miniature import REPOSITORY, Miniature, copy_machinery, notebook

FIGURE = """from matplotlib import pyplot
from elmo_toy.worked_example import LEARNING_RATE
pyplot.figure()
print(f"a step of {LEARNING_RATE}")"""
INDEX = "# A miniature book\n\nThe mixture is $\\gamma \\sum_j s_j h_j$.\n"


def tool(machinery: Path, source: Path) -> Sequence[str]:
    """Return the command that builds a book."""
    return (sys.executable, str(machinery / "tools" / "build_book.py"), "--source", str(source))


def everything_below(folder: Path) -> list[str]:
    """Return the names of all files and folders."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_an_ordinary_user_without_network_and_home_in_an_odd_place() -> None:
    """Whatever a build needs is installed, so it needs none of these."""
    with odd_folder() as folder:
        book = Miniature(folder / "my book", copy_machinery(folder / "elmo"))
        book.write(book__index___md=INDEX, notebooks__03_step___ipynb=notebook("# Step", FIGURE))
        home = read_only_home(folder)
        give_away(book.folder)
        give_away(book.machinery)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "XDG_", "JUPYTER", "IPYTHON", "MPL"))
        }
        done = run(
            tool(book.machinery, book.folder),
            folder,
            {**kept, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
            prefix=(*offline(), *as_nobody()),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        page = book.site.root / "notebooks" / "03_step.html"
        assert "a step of 0.1" in page.read_text(encoding="utf-8")
        assert 'class="katex"' in (book.site.root / "book" / "index.html").read_text("utf-8")
        assert done.stderr == ""
        assert list(home.iterdir()) == []


def test_a_folder_of_somebody_else(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("takes root, who owns the folder")
    with odd_folder() as folder:
        book = Miniature(folder / "my book")
        book.write(book__index___md=INDEX)
        before = everything_below(book.folder)
        done = run(tool(REPOSITORY, book.folder), folder, prefix=as_nobody())
        assert done.returncode == 1
        output = book.folder / "_build"
        assert done.stderr == (
            f"[Errno 13] Permission denied: '{output}'\n"
            f"The book was not built; {output / 'html'} is as it was before.\n"
        )
        assert everything_below(book.folder) == before


# Runs until the file is removed that tells it to, by a test that has ended the build meanwhile.
SLOW = """import os, time
from pathlib import Path
Path("../started").write_text(str(os.getppid()))
while Path("../wait").exists():
    time.sleep(0.05)
print("to the end")"""


def wait_until(what: str, condition: Callable[[], object], seconds: float = 120) -> None:
    """Wait for something that comes in seconds, with a limit that only a hang reaches."""
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, what
        time.sleep(0.05)


def has_ended(process: str) -> bool:
    """Say whether a process is no more, or waits for nothing but its parent to notice."""
    try:
        state = Path("/proc", process, "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state.rpartition(")")[2].split()[0] == "Z"


def test_killed_half_way_and_started_again(tmp_path: Path) -> None:
    """What a killed build has started ends too, and the next build finds nothing of it."""
    book = Miniature(tmp_path / "book")
    book.write(book__index___md=INDEX, notebooks__03_slow___ipynb=notebook("# Slow", SLOW))
    started = book.folder / "started"
    (book.folder / "wait").touch()
    with subprocess.Popen(
        tool(REPOSITORY, book.folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            wait_until(
                "the notebook was not started",
                lambda: (started.exists() and started.read_text()) or process.poll() is not None,
            )
        finally:
            process.kill()
    assert process.returncode == -signal.SIGKILL
    if Path("/proc/self").exists():
        # by itself it would, when the notebook has had its sixty seconds
        wait_until("Sphinx went on", lambda: has_ended(started.read_text()), seconds=40)
    assert not book.site.root.exists()

    (book.folder / "wait").unlink()
    done = book.build()
    assert done.returncode == 0, done.stdout
    assert [path.name for path in (book.folder / "_build").iterdir()] == ["html"]
    page = book.site.root / "notebooks" / "03_slow.html"
    assert "to the end" in page.read_text(encoding="utf-8")


# Where it is told to, it leaves room to list its execution in the cache, and none to keep it.
GREEDY = """from pathlib import Path
if Path("../fill").exists():
    with Path("../filling").open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            file.truncate(file.tell() - (96 << 10))
print("a long line\\n" * 40000)
print("to the end")"""


def test_a_full_disk_then_a_larger_one(tmp_path: Path) -> None:
    """The last good site stays, and nothing half written is taken for whole afterwards."""
    with small_disk("48m") as disk:
        book = Miniature(disk.seen_from_here / "book")
        book.write(book__index___md=INDEX, notebooks__03_greedy___ipynb=notebook("# G", GREEDY))
        site = book.site.root
        site.mkdir(parents=True)
        (site / ".fingerprint").write_text("of the last build")
        (site / "index.html").write_text("the last good site")
        (book.folder / "fill").touch()
        command = tool(REPOSITORY, disk.folder / "book")
        failed = run(command, tmp_path, prefix=disk.prefix)
        output = disk.folder / "book" / "_build"
        assert failed.returncode == 1
        assert failed.stderr.splitlines()[-2:] == [
            f"{output}: the disk is full. Make room on it, then start again.",
            f"The book was not built; {output / 'html'} is as it was before.",
        ]
        assert everything_below(site.parent) == ["html", "html/.fingerprint", "html/index.html"]
        assert (site / "index.html").read_text() == "the last good site"

        (book.folder / "fill").unlink()
        (book.folder / "filling").unlink()
        done = run(command, tmp_path, prefix=disk.prefix)
        assert done.returncode == 0, done.stdout + done.stderr
        page = site / "notebooks" / "03_greedy.html"
        assert "to the end" in page.read_text(encoding="utf-8")
