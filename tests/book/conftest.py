"""The built book, read once for all tests of a process that only look at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from site_checks import Site


@pytest.fixture(scope="session")
def site(site_folder: Path) -> Site:
    """Read the built book."""
    return Site(site_folder)
