"""A reader is chosen on development sentences alone, and says what it has learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from elmo_toy.experiments.conditions import LINEAR, RECURRENT, Condition
from elmo_toy.experiments.data import TaskData
from elmo_toy.experiments.fits import (
    FitSizes,
    Fitted,
    LinearSizes,
    Parts,
    RecurrentSizes,
    fit_condition,
    tagger_options,
)
from elmo_toy.task.data import Tagged, TaggedText
from elmo_toy.task.options import TaggerOptions
from elmo_toy.task.tagger import Tagger

SIZES = FitSizes(
    LinearSizes(rates=(1e-9, 0.1), updates=60),
    RecurrentSizes(rates=(1e-9, 0.1), updates=20, units=3, word_dim=3),
)
NAMES = ("x", "y")


def example(seed: int, *, wrong: bool = False) -> tuple[TaggedText, Tagged]:
    """Forty sentences of two tokens; the first is labelled, and the middle layer knows its tag."""
    rng = np.random.default_rng(seed)
    tags = rng.integers(0, 2, 40)
    layers = rng.normal(size=(40, 3, 2, 5))
    layers[:, 1, 0, 0] = 3 * (2 * tags - 1)
    if wrong:
        tags = 1 - tags
    ids = np.stack([tags, np.full(40, -1)], axis=1)
    text = TaggedText([["w", "w"]] * 40, [[NAMES[tag], None] for tag in tags], NAMES)
    words = np.ones((40, 2), dtype=np.int64)
    return text, Tagged(layers, np.ones((40, 2), dtype=bool), ids, words)


def fit(condition: Condition, *, wrong_test: bool = False, wrong_development: bool = False,
        sizes: FitSizes = SIZES) -> Fitted:  # fmt: skip
    text, train = example(0)
    tests = {"test": example(2, wrong=wrong_test)}
    task = TaskData("t", "accuracy", text, text, {"test": tests["test"][0]})
    if condition.recurrent_layers == 0:
        train = replace(train, words=None)
    parts = Parts(train, example(1, wrong=wrong_development), tests, 2)
    return fit_condition(task, condition, parts, 0.001, 0, sizes)


@pytest.mark.parametrize("name", ["mixture", "equal", "layer_1", "free", "concatenation"])
def test_a_condition_that_sees_the_layer_learns_the_task(name: str) -> None:
    found = fit(LINEAR[name])
    assert found.scores["test accuracy"] >= 0.85
    assert found.learning_rate == 0.1
    # 5 numbers a token (15 side by side) to 2 tags, and what the combiner learns
    assert found.parameters == {"mixture": 16, "equal": 13, "layer_1": 12, "free": 15,
                                "concatenation": 32}[name]  # fmt: skip


@pytest.mark.parametrize(("layers", "dim", "tags"), [(3, 64, 28), (3, 64, 17), (3, 20, 72)])
def test_a_matched_concatenation_is_the_widest_that_is_no_larger(
    layers: int, dim: int, tags: int
) -> None:
    def size(options: TaggerOptions) -> int:
        return Tagger.initialise(options, np.random.default_rng(0)).n_parameters

    mixture, matched = (
        tagger_options(LINEAR[name], layers, dim, tags, 0, SIZES)
        for name in ("mixture", "concatenation_matched")
    )
    width = matched.combiner.width
    assert width is not None
    wider = replace(matched, combiner=replace(matched.combiner, width=width + 1))
    assert size(matched) <= size(mixture) < size(wider)


def test_one_that_does_not_stays_at_chance() -> None:
    assert 0.2 < fit(LINEAR["layer_0"]).scores["test accuracy"] < 0.8


def test_what_was_learned() -> None:
    mixture = fit(LINEAR["mixture"])
    weights = mixture.weights["input"]
    assert weights[1] == max(weights)
    assert sum(weights) == pytest.approx(1, abs=1e-4)
    assert mixture.gamma["input"] > 1
    equal = fit(LINEAR["equal"])
    assert equal.weights["input"] == pytest.approx([1 / 3] * 3, abs=1e-5)
    assert equal.gamma["input"] != 1
    free = fit(LINEAR["free"])
    assert abs(free.weights["input"][1]) > 1 / 3
    assert free.gamma == {}
    assert (fit(LINEAR["concatenation"]).weights, fit(LINEAR["concatenation"]).gamma) == ({}, {})
    both = fit(RECURRENT["both"])
    assert set(both.weights) == set(both.gamma) == {"input", "output"}
    assert fit(RECURRENT["tagger"]).weights == {}


def test_the_test_sentences_choose_nothing() -> None:
    right, wrong = fit(LINEAR["mixture"]), fit(LINEAR["mixture"], wrong_test=True)
    assert wrong.scores["test accuracy"] == pytest.approx(1 - right.scores["test accuracy"])
    assert replace_scores(wrong) == replace_scores(right)


def replace_scores(found: Fitted) -> Fitted:
    return found._replace(scores={})


def test_the_development_sentences_choose_learning_rate_and_moment() -> None:
    """Where learning makes the development score worse, the reader that learned least is kept."""
    found = fit(LINEAR["mixture"], wrong_development=True)
    assert found.development > 0.35
    assert found.scores["test accuracy"] < 0.75
    twice = FitSizes(replace(SIZES.linear, rates=(0.1, 0.1, 0.05)))
    assert fit(LINEAR["layer_1"], sizes=twice).learning_rate == 0.1  # of equals, the first


def test_a_penalty_draws_the_weights_together() -> None:
    def spread(penalty: float) -> float:
        text, train = example(0)
        task = TaskData("t", "accuracy", text, text, {})
        parts = Parts(train, example(1), {}, 0)
        return max(
            fit_condition(task, LINEAR["mixture"], parts, penalty, 0, SIZES).weights["input"]
        )

    assert spread(0.0) > spread(1.0) + 0.05 > 1 / 3 + 0.05
