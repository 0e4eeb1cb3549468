"""How long one waits: for an import, for each notebook, for the book.

    python benchmarks/start.py [--quick]

Each import is a new process; what counts is the median over what ``import numpy`` takes. The book
is built in a copy of the repository with no cache (cold), then again with nothing changed. With
``--quick`` the notebooks and the book are left out.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import measuring

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".cache", "_build", "__pycache__", ".*_cache")


def run(*arguments: str, cwd: Path = ROOT) -> str:
    """Run Python and return what it prints; an error ends the benchmark."""
    # Modules are compiled once and kept, as on anybody's machine.
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=cwd, env=kept, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def imports(runs: int = 15) -> dict[str, float]:
    """Median milliseconds of a process that imports numpy, elmo_toy, or nothing."""
    statements = {name: f"import {name}" for name in ("numpy", "elmo_toy")} | {"nothing": "pass"}
    actions = {name: partial(run, "-c", statement) for name, statement in statements.items()}
    return {name: 1000 * seconds for name, seconds in measuring.in_turns(actions, runs).items()}


def notebooks() -> dict[str, float]:
    """Processor seconds of each notebook, as the check of the tests measures them."""
    paths = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "notebooks").glob("*.ipynb"))
    printed = run("tools/normalise_notebooks.py", "--check", "--execute", "--budget", "60", *paths)
    return {
        Path(name).stem: float(seconds)
        for name, seconds in re.findall(r"(\S+): ran in ([\d.]+) s", printed)
    }


def book() -> dict[str, float]:
    """Seconds of a build with empty caches, and of one after which nothing has changed."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "book"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        packages = ROOT / ".cache" / "npm"
        if packages.is_dir():  # what is downloaded once is part of the installation
            shutil.copytree(packages, copy / ".cache" / "npm", symlinks=True)
        seconds = {}
        for state in ("cold", "unchanged"):
            start = perf_counter()
            run("tools/build_book.py", cwd=copy)
            seconds[state] = perf_counter() - start
    return seconds


def main(quick: bool = False) -> str:
    """Measure, write the record, and return the table."""
    result: dict[str, Any] = {"import_ms": imports()}
    times = result["import_ms"]
    rows = [
        ["`import elmo_toy` over `import numpy`", f"{times['elmo_toy'] - times['numpy']:.0f} ms"],
        ["`import numpy` over starting Python", f"{times['numpy'] - times['nothing']:.0f} ms"],
    ]
    if not quick:
        result["notebook_seconds"] = notebooks()
        result["book_seconds"] = book()
        rows += [
            [f"notebook {name}", f"{seconds:.1f} s"]
            for name, seconds in result["notebook_seconds"].items()
        ]
        rows.append(["all notebooks", f"{sum(result['notebook_seconds'].values()):.1f} s"])
        rows += [
            [f"the book, {state}", f"{seconds:.1f} s"]
            for state, seconds in result["book_seconds"].items()
        ]
    measuring.write_record("start", result)
    return measuring.table(["what", "time"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="only the imports")
    print(main(parser.parse_args().quick))
