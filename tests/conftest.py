"""What the tests of the book and of the pages in a browser share: the built site."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Generator
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

PACKAGE = (REPOSITORY / "elmo_toy", REPOSITORY / "tests" / "elmo_toy")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure the package's coverage by its own tests and examples, and by no other test.

    Others would reach lines without saying what these should do, and take twice the time.
    """
    coverage = item.config.pluginmanager.getplugin("_cov")
    own = any(item.path.is_relative_to(folder) for folder in PACKAGE)
    if own or not (coverage and coverage.cov_controller):
        return (yield)
    coverage.cov_controller.pause()
    try:
        return (yield)
    finally:
        coverage.cov_controller.resume()


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
