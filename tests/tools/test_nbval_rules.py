"""nbval with our two rules: what a stored notebook may differ in, and what it may not.

One small notebook is stored in many variants, each with one change in its outputs, and nbval runs
over all of them at once, with warnings as errors. A harmful variant that passes would mean that
nbval protects nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools import normalise_notebooks as tool

SOURCES = {
    "define": """class Figure:
    def _repr_mimebundle_(self, include=None, exclude=None):
        svg = ('<svg role="img" aria-label="Two points, a > b."\\n width="320" height="200">\\n'
               '<path d="M0 0"/>\\n</svg>')
        return {"text/plain": "Two points, a > b.",
                "text/html": f"<figure>{svg}{svg}<figcaption>At 0.6457.</figcaption></figure>"}""",
    "print": 'print("loss 0.4203")\nprint("step 0.3981")',
    "figure": "Figure()",
    "value": "0.6457",
    "address": "object()",
}

Change = tuple[str, str, str]  # cell, what is replaced in its outputs, by what
HARMLESS: dict[str, Change] = {
    "other_drawing": ("figure", "></svg>", '>\n<path d="M9 9"/>\n<text>0.1</text></svg>'),
    "other_address": ("address", "at 0x...", "at 0x7f3c5c0b1a80"),
}
HARMFUL: dict[str, Change] = {
    "printed_digit": ("print", "0.4203", "0.4204"),
    "shown_digit": ("value", "0.6457", "0.6458"),
    "caption_digit": ("figure", "At 0.6457", "At 0.6458"),
    "alt_text": ("figure", "Two points, a > b.", "Three points, a > b."),
    "alt_text_of_drawings_only": ("figure", 'label="Two', 'label="Three'),
    "width": ("figure", 'width="320"', 'width="321"'),
    "one_drawing_less": ("figure", "></svg><figcaption>", "><figcaption>"),
    "type_of_object": ("address", "<object ", "<Object "),
}
TRAP = "never_run"  # code cells without execution count and outputs: nbval compares nothing


def replaced(value: Any, old: str, new: str) -> Any:
    """Replace in every string of a JSON value."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {key: replaced(entry, old, new) for key, entry in value.items()}
    if isinstance(value, list):
        return [replaced(entry, old, new) for entry in value]
    return value


def stored(folder: Path, name: str, base: nbformat.NotebookNode, change: Change) -> None:
    notebook = nbformat.from_dict(base)
    [cell] = [cell for cell in notebook.cells if cell.id == change[0]]
    before = cell.outputs
    cell.outputs = nbformat.from_dict(replaced(before, change[1], change[2]))
    assert cell.outputs != before, f"{name} changes nothing"
    nbformat.write(notebook, folder / f"{name}.ipynb")


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Which cells of which variant nbval rejects."""
    folder = tmp_path_factory.mktemp("nbval")
    cells = [nbformat.v4.new_code_cell(source, id=name) for name, source in SOURCES.items()]
    path = folder / "as_stored.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    assert tool.main(["--execute", str(path)]) == 0
    base = nbformat.read(path, as_version=4)
    for name, change in (HARMLESS | HARMFUL).items():
        stored(folder, name, base, change)
    unrun = nbformat.from_dict(base)
    for cell in unrun.cells:
        cell.update(execution_count=None, outputs=[])
    nbformat.write(unrun, folder / f"{TRAP}.ipynb")

    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "--nbval", "--nbval-current-env"]
    command += ["--nbval-sanitize-with", str(tool.SANITISE_RULES)]
    command += ["-p", "no:cacheprovider", "-rA", "--color=no", "--tb=no"]
    environment = {**os.environ, **tool.ONE_THREAD}
    environment.pop("PYTEST_ADDOPTS", None)
    run = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert "error" not in run.stdout.splitlines()[-1], run.stdout + run.stderr
    results = re.findall(r"^(PASSED|FAILED) (\w+)\.ipynb::Cell (\d+)", run.stdout, re.MULTILINE)
    variants = {"as_stored", TRAP, *HARMLESS, *HARMFUL}
    assert len(results) == len(variants) * len(SOURCES), run.stdout + run.stderr
    names = list(SOURCES)
    return {
        variant: {
            names[int(number)]
            for verdict, name, number in results
            if name == variant and verdict == "FAILED"
        }
        for variant in variants
    }


@pytest.mark.parametrize("variant", ["as_stored", *HARMLESS])
def test_harmless_differences_pass(failed: dict[str, set[str]], variant: str) -> None:
    assert failed[variant] == set()


@pytest.mark.parametrize("variant", HARMFUL)
def test_harmful_differences_fail_in_their_cell(failed: dict[str, set[str]], variant: str) -> None:
    assert failed[variant] == {HARMFUL[variant][0]}


def test_a_notebook_never_run_passes_which_is_why_the_lint_forbids_it(
    failed: dict[str, set[str]],
) -> None:
    assert failed[TRAP] == set()
