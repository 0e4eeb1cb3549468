"""Arguments that commands share; what makes no sense is refused before any work."""

from __future__ import annotations

import argparse
import math
from pathlib import Path


def count(given: str) -> int:
    """A type for `argparse`: how many, at least one."""
    return _at_least(1, given)


def seed(given: str) -> int:
    """A type for `argparse`: what a random generator starts from."""
    return _at_least(0, given)


def seconds(given: str) -> float:
    """A type for `argparse`: how long something may take."""
    try:
        number = float(given)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"expected seconds, more than 0, got {given!r}")
    return number


def folder(given: str) -> Path:
    """A type for `argparse`: a folder to write to, which is made where it is missing."""
    path = Path(given)
    there = next(one for one in (path, *path.absolute().parents) if one.exists())
    if not there.is_dir():
        raise argparse.ArgumentTypeError(f"expected a folder, {there} is a file")
    return path


def file(given: str) -> Path:
    """A type for `argparse`: a file to write."""
    path = Path(given)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"expected a file, {path} is a folder")
    folder(str(path.parent))
    return path


def check_seeds(parser: argparse.ArgumentParser, seeds: list[int]) -> None:
    """Refuse a seed that is given twice: its run would be counted as two."""
    if len(set(seeds)) < len(seeds):
        given = " ".join(str(seed) for seed in seeds)
        parser.error(f"argument --seeds: expected different seeds, got {given}")


def _at_least(least: int, given: str) -> int:
    try:
        number = int(given)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(
            f"expected a whole number of at least {least}, got {given!r}"
        )
    return number
