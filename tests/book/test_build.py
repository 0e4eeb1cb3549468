"""Building again does what is needed and no more; the package's numbers are never old ones."""

from __future__ import annotations

from pathlib import Path

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
    """Unchanged: nothing. Changed text: no cell runs. Changed package: the page says so.

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
    assert book.build().returncode != 0
    assert times(book) == good, "a failed build touched the last good site"
