"""The notebooks of exercises say what the package says, and are found out when they don't."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from elmo_toy.exercises import EXERCISES
from elmo_toy.exercises.exercise import PAGES
from tools import write_exercises as tool

STORED = tool.ROOT / "notebooks"


def test_the_stored_notebooks_are_those_that_would_be_written() -> None:
    assert tool.main(["--check"]) == 0


def test_every_exercise_stands_in_one_notebook() -> None:
    chapters = [chapter for page in tool.PAGES_OF_EXERCISES for chapter in page.chapters]
    assert sorted(chapters) == sorted(PAGES)
    ids = [
        cell.id
        for page in tool.PAGES_OF_EXERCISES
        for cell in tool.cells(page)
        if cell.id.startswith("answer-")
    ]
    assert ids == [f"answer-{exercise_id.replace('.', '-')}" for exercise_id in EXERCISES]


def test_chapters_are_named_as_they_name_themselves() -> None:
    for chapter, stem in PAGES.items():
        first = nbformat.read(STORED / f"{stem}.ipynb", as_version=4).cells[0].source
        assert first.startswith(f"# {tool.NAMES[chapter]}\n")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda nb: nb.cells[3].update(source="## Chapter 9"), "[chapter-1] differs"),
        (lambda nb: nb.cells[5].metadata.update(tags=[]), "[answer-1-1] differs"),
        (lambda nb: nb.cells.pop(4), "[exercise-1-1] differs"),
        (
            lambda nb: nb.cells.append(nbformat.v4.new_code_cell(id="more")),
            "[more] is not in the package",
        ),
        (lambda nb: nb.cells.reverse(), "the cells stand in another order"),
    ],
)
def test_a_notebook_that_has_drifted(change: object, problem: str) -> None:
    page = tool.PAGES_OF_EXERCISES[0]
    stored = nbformat.read(STORED / f"{page.stem}.ipynb", as_version=4)
    assert tool.differences(page, stored) == []
    assert callable(change)
    change(stored)
    assert tool.differences(page, stored) == [f"exercises_1_context.ipynb: {problem}"]


def test_a_missing_notebook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main(["--check", "--folder", str(tmp_path)]) == 1
    assert "exercises_2_mixture.ipynb: missing: run tools/write" in capsys.readouterr().err


def test_paragraphs_are_joined_and_code_is_not() -> None:
    text = "One\nline.\n\n```python\na = 1\nb = 2\n```\n\nAnother\none."
    expected = "One line.\n\n```python\na = 1\nb = 2\n```\n\nAnother one."
    assert tool.one_line_paragraphs(text) == expected
