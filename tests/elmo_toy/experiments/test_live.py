"""What a chapter runs: quick, the same on every kernel, and telling what it can tell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import elmo_toy
from elmo_toy.experiments.live import CONDITIONS, Live, live


@pytest.fixture(scope="module")
def found() -> Live:
    return live(0)


def test_syntax_is_learned_in_seconds_and_only_with_training(found: Live) -> None:
    nouns, senses = found.scores["noun_verb"], found.scores["senses"]
    assert list(nouns) == list(senses) == [*CONDITIONS, "untrained"]
    assert min(nouns["layer_1"], nouns["layer_2"], nouns["mixture"]) > 0.95
    assert max(nouns["layer_0"], nouns["untrained"]) < 0.8
    assert senses["layer_0"] == 0.5
    assert senses["untrained"] < 0.65
    assert min(senses["layer_1"], senses["layer_2"], senses["mixture"]) > 0.8


def test_a_large_weight_is_learned_on_a_layer_that_alone_is_at_chance(found: Live) -> None:
    assert found.weights["senses"][0] == max(found.weights["senses"])
    for weights in found.weights.values():
        assert sum(weights) == pytest.approx(1, abs=0.002)


def test_another_kernel_prints_the_same(found: Live) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from elmo_toy.experiments.live import live; print(live(0))"],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Prescott"},
        cwd=Path(elmo_toy.__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(found)
