"""Write the three notebooks of exercises from `elmo_toy.exercises`.

Question, hints, solution and check stand in the package, where worksheet and slides find them too;
a notebook is only their form, so every number in it is one that the package has computed.

    python tools/write_exercises.py            write, run and normalise them
    python tools/write_exercises.py --check    change nothing; 1 if a notebook says something else
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
import normalise_notebooks  # beside this file
import setup_cells  # as well
from nbformat import NotebookNode
from whole_files import write_whole

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from elmo_toy.exercises import EXERCISES, Exercise  # noqa: E402  (the path is set just above)
from elmo_toy.exercises.exercise import LEVELS, PAGES  # noqa: E402
from elmo_toy.exercises.objectives import OBJECTIVES  # noqa: E402


@dataclass(frozen=True)
class Page:
    """One notebook: its chapters, its title, and what its answers are likely to need."""

    stem: str
    title: str
    chapters: tuple[int, ...]
    imports: str


PAGES_OF_EXERCISES = (
    Page("exercises_1_context", "Exercises: occurrences and context", (1, 2), ""),
    Page(
        "exercises_2_mixture",
        "Exercises: the mixture and its gradient",
        (3, 4),
        "from elmo_toy import descent\n",
    ),
    Page("exercises_3_task", "Exercises: the task and beyond", (5, 6, 7, 8), ""),
)
NAMES = {
    1: "Word types and occurrences",
    2: "Two directional language models",
    3: "One mixture, two vectors",
    4: "Follow the gradient into the mixture",
    5: "Freeze the extractor",
    6: "What was measured",
    7: "What carries forward",
    8: "Released weights",
}


def one_line_paragraphs(text: str) -> str:
    """Join the lines of each paragraph, but not those of code."""
    parts = re.split(r"(^```.*?^```$)", text.strip(), flags=re.DOTALL | re.MULTILINE)
    for i in range(0, len(parts), 2):
        paragraphs = re.split(r"\n\s*\n", parts[i].strip())
        parts[i] = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    return "\n\n".join(part for part in parts if part)


def markdown(exercise: Exercise) -> str:
    """The text of an exercise: what it asks, two hints, and its solution, folded."""
    level = f"Level {exercise.level}, {LEVELS[exercise.level]}"
    place = f"[{exercise.section}]({exercise.anchor})"
    verb = OBJECTIVES[exercise.objective].verb
    folded = [
        f"<details><summary>{summary}</summary>\n\n{one_line_paragraphs(text)}\n</details>"
        for summary, text in (
            ("First hint", exercise.hints[0]),
            ("Second hint", exercise.hints[1]),
            ("Solution", exercise.solution_text),
        )
    ]
    head = f"### Exercise {exercise.id}: {exercise.title}"
    facts = f"*{level}, about {exercise.minutes} minutes, to {verb}. Section {place}.*"
    return "\n\n".join([head, facts, one_line_paragraphs(exercise.question), *folded])


def _introduction(page: Page) -> str:
    chosen = [exercise for exercise in EXERCISES.values() if exercise.chapter in page.chapters]
    minutes = sum(exercise.minutes for exercise in chosen)
    first, last = page.chapters[0], page.chapters[-1]
    these = f"{first} {'and' if last == first + 1 else 'to'} {last}"
    return f"# {page.title}\n\n" + one_line_paragraphs(f"""
**The question.** What of chapters {these} can you do without looking?

Here are {len(chosen)} exercises, about {minutes} minutes if you do all of them. Level 1 is done by
hand, level 2 with code, level 3 asks for a proof or a step further, and checks one of its
consequences. Put your answer in the place of `...` and run the cell. The check knows the usual
mistakes by their numbers and says which formula was used; three digits are enough. Nothing is
recorded.

**Predict first.** Before you compute, write down what you expect: a sign, an order, what stays as
it is. Two hints and the solution are folded below each question.
""")


def cells(page: Page) -> Iterator[NotebookNode]:
    """The cells of a notebook, not yet run."""
    yield nbformat.v4.new_markdown_cell(_introduction(page), id="title")
    imports = (
        f"import numpy as np\n\n{page.imports}from elmo_toy.exercises import check\n"
        "from elmo_toy.worked_example import PRESETS, forward, sigmoid, state"
    )
    yield nbformat.v4.new_code_cell(imports, id="imports")
    for chapter in page.chapters:
        heading = f"## Chapter {chapter}\n\nOn [{NAMES[chapter]}]({PAGES[chapter]}.ipynb)."
        yield nbformat.v4.new_markdown_cell(heading, id=f"chapter-{chapter}")
        for exercise in EXERCISES.values():
            if exercise.chapter == chapter:
                name = exercise.id.replace(".", "-")
                yield nbformat.v4.new_markdown_cell(markdown(exercise), id=f"exercise-{name}")
                answer = nbformat.v4.new_code_cell(exercise.code, id=f"answer-{name}")
                answer.metadata["tags"] = ["exercise"]
                yield answer


def notebook(page: Page) -> NotebookNode:
    """A notebook that has not been run."""
    made: NotebookNode = nbformat.v4.new_notebook(
        cells=list(cells(page)), metadata=normalise_notebooks.NOTEBOOK_METADATA
    )
    return setup_cells.with_setup_cell(made, setup_cells.source())


def differences(page: Page, stored: NotebookNode) -> list[str]:
    """Name the cells whose source or tags are not those that would be written."""

    def kept(made: NotebookNode) -> dict[str, tuple[str, str, list[str]]]:
        return {
            cell.id: (cell.cell_type, cell.source, list(cell.metadata.get("tags", [])))
            for cell in made.cells
        }

    now, then = kept(notebook(page)), kept(stored)
    found = [f"[{name}] differs" for name in now if now[name] != then.get(name)]
    found += [f"[{name}] is not in the package" for name in then if name not in now]
    if not found and list(now) != list(then):
        found.append("the cells stand in another order")
    return [f"{page.stem}.ipynb: {problem}" for problem in found]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if it would")
    parser.add_argument("--folder", type=Path, default=ROOT / "notebooks", help="where they stand")
    options = parser.parse_args(arguments)
    status = 0
    for page in PAGES_OF_EXERCISES:
        path = options.folder / f"{page.stem}.ipynb"
        if not options.check:
            made = notebook(page)
            normalise_notebooks.execute(made, options.folder)
            text = normalise_notebooks.normalise(made, path.name)
            write_whole(path, text.encode())
            print(f"{path}: written")
            continue
        if not path.is_file():
            problems = [f"{path.name}: missing"]
        else:
            stored = normalise_notebooks.parse(path.read_text(encoding="utf-8"), path.name)
            problems = differences(page, stored)
        for problem in problems:
            print(f"{problem}: run tools/write_exercises.py", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
