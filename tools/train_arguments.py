"""Arguments that the training commands share; what makes no sense is refused before any work."""

from __future__ import annotations

import argparse


def tokens(given: str) -> int:
    """A type for `argparse`: how many tokens to train on."""
    return _at_least(1, given)


def seed(given: str) -> int:
    """A type for `argparse`: what a random generator starts from."""
    return _at_least(0, given)


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
