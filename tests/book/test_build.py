"""Building again does what is needed and no more; the package's numbers are never old ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from miniature import NOTATION, Miniature, copy_machinery, notebook
from test_site import CHECKS

CELL = """from pathlib import Path
from elmo_toy.worked_example import LEARNING_RATE
with Path("../.executions").open("a") as log:
    log.write("x")
print(f"a step of {LEARNING_RATE}")"""


def times(book: Miniature) -> dict[str, int]:
    """Return when each file of the site was last written."""
    return {name: (book.site.root / name).stat().st_mtime_ns for name in book.site.files}


def test_what_a_second_build_does(tmp_path: Path) -> None:
    """Unchanged: nothing. Changed text: no cell runs. Changed package or title: a page says so.

    One test, since each build starts from what the one before has left.
    """
    machinery = copy_machinery(tmp_path / "machinery")
    book = Miniature(tmp_path / "book", machinery)
    executions = book.folder / ".executions"
    pages = {
        "notebooks__03_step___ipynb": notebook("# Step", CELL),
        "book__notation___md": NOTATION,
    }

    def page() -> str:
        return (book.site.root / "notebooks" / "03_step.html").read_text(encoding="utf-8")

    book.write(**pages)
    first = book.build()
    assert first.returncode == 0, first.stdout
    assert "a step of 0.1" in page()
    assert executions.read_text() == "x"
    # A book without faults: what the checks report elsewhere is no habit of theirs.
    assert [problem for check in CHECKS for problem in check(book.site)] == []

    before = times(book)
    assert book.build().returncode == 0
    assert times(book) == before, "an unchanged book was written again"
    assert executions.read_text() == "x", "an unchanged book was executed again"

    book.write(**pages | {"book__notation___md": NOTATION + "\nA new sentence.\n"})
    assert book.build().returncode == 0
    assert "A new sentence." in (book.site.root / "book" / "notation.html").read_text()
    assert executions.read_text() == "x", "a changed text executed a notebook again"

    settings = machinery / "_config.yml"
    configuration = settings.read_text(encoding="utf-8")
    assert "title: The ELMo companion\n" in configuration
    settings.write_text(configuration.replace("The ELMo companion\n", "Another title\n", 1))
    assert book.build().returncode == 0
    assert "Another title" in (book.site.root / "book" / "notation.html").read_text()
    assert executions.read_text() == "x", "a changed title executed a notebook again"

    module = machinery / "elmo_toy" / "worked_example.py"
    source = module.read_text(encoding="utf-8")
    assert "LEARNING_RATE = 0.1" in source
    changed = source.replace("LEARNING_RATE = 0.1", "LEARNING_RATE = 0.3")
    module.write_text(changed, encoding="utf-8")
    assert book.build().returncode == 0
    assert executions.read_text() == "xx"
    assert "a step of 0.3" in page()
    assert "a step of 0.1" not in page(), "the page shows a number of the package as it was"

    good = times(book)
    book.write(**pages | {"notebooks__03_step___ipynb": notebook("# Step", "1 / 0")})
    failed = book.build()
    assert failed.returncode != 0
    assert times(book) == good, "a failed build touched the last good site"
    log = Path(failed.stdout.rpartition("traceback was moved to ")[2].splitlines()[0])
    assert "ExecutionError" in log.read_text(encoding="utf-8")
    log.unlink()


SLOW = """import time
from pathlib import Path
Path("../started").touch()
time.sleep(120)"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda one: one.name)
def test_an_interrupted_build_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    """Stopped while a notebook runs, it ends at once, with its kernel and its temporary files."""
    book = Miniature(tmp_path / "book")
    book.write(notebooks__03_slow___ipynb=notebook("# Slow", SLOW))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    tool = book.machinery / "tools" / "build_book.py"
    with subprocess.Popen(
        [sys.executable, tool, "--source", book.folder],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "TMPDIR": str(temporary)},
        text=True,
    ) as process:
        try:
            limit = time.monotonic() + 60
            while not (book.folder / "started").exists():
                assert process.poll() is None
                assert time.monotonic() < limit, "the notebook was not started"
                time.sleep(0.05)
            process.send_signal(number)
            # the kernel holds the output open, so this ends when all have ended
            output, _ = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 128 + number, output
    assert list((book.folder / "_build").iterdir()) == []
    assert list(temporary.iterdir()) == []
