"""Write the cell that installs the package, where it is missing, into every notebook.

    python tools/setup_cells.py             write it, or renew it
    python tools/setup_cells.py --check     change nothing; 1 if a notebook's cell is not up to date

A notebook that is opened on Colab or Kaggle, or downloaded, comes without the package. Its first
code cell asks whether the package is there, and fetches it if not, from the address that
``_config.yml`` sets (``repository: url:``): after changing that, run this. Where the package is
installed the cell does nothing, with no network. The book leaves it out; JupyterLab folds it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import normalise_notebooks
import yaml
from nbformat import NotebookNode
from whole_files import write_whole

ROOT = Path(__file__).resolve().parents[1]
CONFIGURATION = ROOT / "_config.yml"
CELL_ID = "install-where-missing"
TAGS = ["remove-cell", "setup"]
SOURCE = """\
# Does nothing where the book's package is installed.
from importlib.util import find_spec

BOOK = "git+{url}@{branch}"
if find_spec("elmo_toy") is None:
    %pip install --quiet "elmo-toy[notebooks] @ {{BOOK}}"
"""


def source(configuration: Path = CONFIGURATION) -> str:
    """Return the cell's source, with the repository's address as it is set.

    Raises
    ------
    ValueError
        naming the setting, where it holds what could not stand in the cell.
    """
    settings: dict[str, Any] = yaml.safe_load(configuration.read_text("utf-8"))["repository"]
    url, branch = str(settings["url"]), str(settings["branch"])
    if not re.fullmatch(r"https://[\w.-]+(/[\w.~-]+)+", url):
        raise ValueError(f"{configuration.name}: repository: url: is no https address: {url!r}")
    if not re.fullmatch(r"\w[\w./-]*", branch):
        raise ValueError(f"{configuration.name}: repository: branch: is no branch: {branch!r}")
    return SOURCE.format(url=url, branch=branch).rstrip("\n")


def with_setup_cell(notebook: NotebookNode, text: str) -> NotebookNode:
    """Return the notebook with its set-up cell in front of all other code.

    Where that code has been run in order the cell counts as run too: it prints nothing. Elsewhere
    the normaliser will say that the notebook has to be run.
    """
    cells = [cell for cell in notebook.cells if "setup" not in cell.metadata.get("tags", [])]
    first = next((i for i, cell in enumerate(cells) if cell.cell_type == "code"), len(cells))
    setup = nbformat.v4.new_code_cell(
        text,
        id=CELL_ID,
        metadata={"tags": TAGS, "jupyter": {"source_hidden": True}},
    )
    code = [cell for cell in cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in code]
    if counts in (list(range(1, len(code) + 1)), list(range(2, len(code) + 2))):
        for number, cell in enumerate([setup, *code], start=1):
            cell.execution_count = number
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = number
    notebook.cells = [*cells[:first], setup, *cells[first:]]
    return notebook


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if it would")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: all")
    options = parser.parse_args(arguments)
    files = options.files or sorted((ROOT / "notebooks").glob("*.ipynb"))
    if lacking := normalise_notebooks.no_file(files):
        print(lacking, file=sys.stderr)
        return 2
    try:
        text = source()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    status = 0
    for path in files:
        before = path.read_bytes().decode("utf-8")
        try:
            notebook = with_setup_cell(normalise_notebooks.parse(before, str(path)), text)
            after = normalise_notebooks.normalise(notebook, str(path))
        except normalise_notebooks.NotebookError as error:
            print(error, file=sys.stderr)
            status = 1
            continue
        if after == before:
            continue
        if options.check:
            excerpt = normalise_notebooks.difference(before, after, str(path))
            print(f"{path}: run tools/setup_cells.py:\n{excerpt}", file=sys.stderr)
            status = 1
        else:
            write_whole(path, after.encode())
            print(f"{path}: rewritten")
    return status


if __name__ == "__main__":
    sys.exit(main())
