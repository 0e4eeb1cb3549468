"""The lock of the book: every package that its requirements bring along has one pinned version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
DIRECT = ("requirements.txt", "notebooks/requirements.txt", "tests/requirements.txt")
LOCK = "tools/constraints.txt"


def pins(*names: str) -> dict[str, str]:
    """Return the versions that requirements files pin, by normalised name."""
    found = {}
    for name in names:
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
            if match := re.match(r"([\w.-]+)(?:\[[\w,-]+\])?==(\S+)", line):
                found[str(canonicalize_name(match[1]))] = match[2]
    return found


def brought_along(names: Iterator[str]) -> dict[str, str]:
    """Return the installed versions of `names` and of all that they need on this machine."""
    found: dict[str, str] = {}
    queue = [(name, frozenset[str]()) for name in names]
    seen = set(queue)
    while queue:
        name, extras = queue.pop()
        found[name] = version(name)
        for line in requires(name) or ():
            need = Requirement(line)
            wanted = [{"extra": extra} for extra in ("", *extras)]
            if need.marker is None or any(need.marker.evaluate(extra) for extra in wanted):
                item = (str(canonicalize_name(need.name)), frozenset(need.extras))
                if item not in seen:
                    seen.add(item)
                    queue.append(item)
    return found


def problems(installed: dict[str, str], pinned: dict[str, str]) -> list[str]:
    """Say where the installed versions and the pinned ones differ."""
    return [
        f"{name}: {installed[name]} is installed, {pinned.get(name, 'nothing')} is pinned"
        for name in sorted(installed)
        if installed[name] != pinned.get(name)
    ]


def test_what_is_installed_is_what_is_pinned() -> None:
    """Followed from the requirements, so what else somebody installed doesn't count."""
    found = problems(brought_along(iter(pins(*DIRECT))), pins(*DIRECT, LOCK))
    assert not found, f"bring {LOCK} up to date:\n" + "\n".join(found)


@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0"])
def test_what_is_pinned_can_be_installed_on_every_python_that_is_taken(python: str) -> None:
    """A distribution's Python is older than the newest of its kind: Debian 12 has 3.11.2."""
    for name in brought_along(iter(pins(*DIRECT))):
        allowed = SpecifierSet(metadata(name).get("Requires-Python", ""))
        assert python in allowed, f"{name} takes Python {allowed} only: pin an older version"


def test_the_lock_holds_nothing_twice() -> None:
    """A direct requirement is pinned where it is required, and in no other file."""
    assert set(pins(LOCK)) & set(pins(*DIRECT)) == set()


def test_the_package_allows_what_the_book_pins() -> None:
    """The ranges in pyproject.toml hold the versions that are tried."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    ranges = re.findall(r'"([\w-]+)((?:[<>=!~]=?[\d.]+,?)+)"', text)
    pinned = pins(*DIRECT)
    assert {"numpy", "sympy", "h5py", "matplotlib"} <= {name for name, _ in ranges}
    for name, allowed in ranges:
        assert name not in pinned or pinned[name] in SpecifierSet(allowed), name


def test_a_difference_is_reported() -> None:
    assert problems({"a": "1", "b": "2"}, {"a": "1", "c": "3"}) == [
        "b: 2 is installed, nothing is pinned"
    ]
    assert "numpy" in brought_along(iter(["matplotlib"]))
    with pytest.raises(PackageNotFoundError, match="no-such-package"):
        brought_along(iter(["no-such-package"]))
