"""The counting baseline is a distribution, and it learns what it is shown."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy.bilm.trigram import Trigram

sentences = st.lists(
    st.lists(st.integers(2, 5), max_size=5).map(lambda ids: [0, *ids, 1]), min_size=1, max_size=6
)


@given(sentences, st.tuples(st.integers(0, 5), st.integers(0, 5)))
def test_probabilities_of_all_words_sum_to_one(
    text: list[list[int]], history: tuple[int, int]
) -> None:
    model = Trigram(text, words=6)
    probabilities = [model.probability(history, word) for word in range(6)]
    assert min(probabilities) > 0
    assert sum(probabilities) == pytest.approx(1, abs=1e-12)


@given(sentences, sentences)
def test_perplexity_is_that_of_the_probabilities(
    text: list[list[int]], other: list[list[int]]
) -> None:
    model = Trigram(text, words=6)
    logs = [
        np.log(model.probability((u, v), w))
        for first, *rest in other
        for u, v, w in zip([first, first, *rest], [first, *rest], rest, strict=False)
    ]
    assert model.perplexity(other) == pytest.approx(np.exp(-np.mean(logs)))


def test_an_unseen_history_falls_back_to_the_shorter_one() -> None:
    model = Trigram([[0, 2, 3, 1], [0, 4, 2, 3, 1]], words=5)
    assert model.probability((3, 2), 3) == model.probability((1, 2), 3)
    assert model.probability((4, 2), 3) > model.probability((3, 2), 3)


def test_a_repeated_text_becomes_predictable() -> None:
    text = [[0, 2, 3, 4, 1]] * 50
    assert Trigram(text, words=5).perplexity(text) < 1.1
    assert Trigram(text, words=5).perplexity([[0, 4, 3, 2, 1]]) > 5
