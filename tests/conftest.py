"""What the tests of the book and of the pages in a browser share: the built site."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).resolve().parents[1]
SITE = REPOSITORY / "_build" / "html"

# A test asks whether a property holds, not how fast on a busy machine.
settings.register_profile("book", deadline=None)
settings.load_profile("book")

# The helpers beside the tests are plain modules, found whichever folder pytest is started for.
sys.path[:0] = [str(REPOSITORY / "tests" / folder) for folder in ("book", "browser", "faults")]


@pytest.fixture(scope="session")
def site_folder() -> Path:
    """Build the book as it is now: building it again does nothing when nothing changed."""
    SITE.parent.mkdir(exist_ok=True)
    with (SITE.parent / ".tests.lock").open("w") as lock:
        # Of two test processes that start at once, the second waits and finds the site built.
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            [sys.executable, REPOSITORY / "tools" / "build_book.py"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    assert done.returncode == 0, f"the book does not build:\n{done.stdout}\n{done.stderr}"
    return SITE
