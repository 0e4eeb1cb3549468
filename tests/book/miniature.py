"""Books of two or three pages, built by the tool that builds the real one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from site_checks import Site

REPOSITORY = Path(__file__).resolve().parents[2]

BUILD_SECONDS = 240
"""A process that a build leaves behind holds its output open: the test then fails, not hangs."""

INDEX = """# A miniature book

The mixture is $\\gamma \\sum_j s_j h_j$, as [the notation](notation.md) has it.
"""
NOTATION = """# Notation

## Signs

$$\\mathbf s = \\operatorname{softmax}(\\mathbf a)$$
"""


def notebook(*cells: str) -> str:
    """Make a notebook: a cell is Markdown if it starts with ``#``, else code."""
    made = []
    for number, source in enumerate(cells):
        cell: dict[str, object] = {
            "id": f"cell-{number}",
            "cell_type": "markdown" if source.startswith("#") else "code",
            "metadata": {},
            "source": source,
        }
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel}
    return json.dumps({"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


@dataclass(frozen=True)
class Miniature:
    """A small book in `folder`.

    It has the configuration, the package and the look of the repository in `machinery`: this one,
    or a copy of it that a test changes.
    """

    folder: Path
    machinery: Path = REPOSITORY

    def write(self, **pages: str | bytes) -> None:
        """Write pages and files; ``__`` in a keyword is a slash, ``___`` a dot.

        Each page comes into the table of contents, after the index.
        """
        names = []
        for keyword, content in {"book__index___md": INDEX, **pages}.items():
            name = keyword.replace("___", ".").replace("__", "/")
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
            if file.suffix in {".md", ".ipynb"}:
                names.append(name.rpartition(".")[0])
        lines = ["format: jb-book", f"root: {names[0]}"]
        if names[1:]:
            lines += ["chapters:", *(f"- file: {name}" for name in names[1:])]
        (self.folder / "_toc.yml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def build(self) -> subprocess.CompletedProcess[str]:
        """Build it; standard output and errors come together in ``stdout``."""
        return subprocess.run(
            [sys.executable, self.machinery / "tools/build_book.py", "--source", self.folder],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=BUILD_SECONDS,
        )

    @property
    def site(self) -> Site:
        """The site as the last build left it."""
        return Site(self.folder / "_build" / "html")


def copy_machinery(target: Path) -> Path:
    """Copy what builds a book, to be changed; what was fetched for it is shared."""
    for name in ("elmo_toy", "tools", "book/_static"):
        shutil.copytree(
            REPOSITORY / name, target / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("_config.yml", "CITATION.cff"):
        shutil.copy(REPOSITORY / name, target)
    (target / ".cache").mkdir()
    fetched = REPOSITORY / ".cache" / "npm"
    fetched.mkdir(parents=True, exist_ok=True)
    (target / ".cache" / "npm").symlink_to(fetched, target_is_directory=True)
    return target
