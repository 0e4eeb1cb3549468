"""Percentiles among random pairs, and whether means tell two groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy import our_sentences
from elmo_toy.similarity import (
    Background,
    Occurrences,
    cosine,
    leave_pair_out,
    nearest_mean,
    pair_cosines,
    percentile,
    random_pairs,
    relabelled,
)

RNG = np.random.default_rng
VECTORS = RNG(0).normal(size=(7, 3, 5))


def test_cosine_of_a_vector_with_itself_is_one_and_ignores_length_but_not_sign() -> None:
    for vectors in (VECTORS, VECTORS.astype(np.float32)):
        np.testing.assert_allclose(cosine(vectors, vectors), 1, atol=1e-15)
        np.testing.assert_allclose(cosine(vectors, -3 * vectors), -1, atol=1e-7)


def test_cosine_broadcasts_and_agrees_with_the_formula() -> None:
    found = cosine(VECTORS[:, None], VECTORS[None])
    assert found.shape == (7, 7, 3)
    a, b = VECTORS[2, 1], VECTORS[5, 1]
    assert found[2, 5, 1] == pytest.approx(a @ b / np.sqrt((a @ a) * (b @ b)))


def test_cosine_names_wrong_arguments() -> None:
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match=rf"first must be finite, given {value} at \(1, 0\)"):
            cosine(np.array([[1.0, 2.0], [value, 1.0]]), np.ones(2))
    with pytest.raises(ValueError, match=r"equal last axes, .*given shapes \(2,\) and \(3,\)"):
        cosine(np.ones(2), np.ones(3))
    with pytest.raises(
        ValueError, match=r"broadcast before them, given shapes \(2, 2\) and \(3, 2"
    ):
        cosine(np.ones((2, 2)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="no vector of zeros"):
        cosine(np.ones((2, 2)), np.array([[0.0, 0.0], [1.0, 0.0]]))


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.integers(-6, 6))
def test_percentile_is_the_share_below_and_half_the_share_equal(
    reference: list[int], value: int
) -> None:
    found = float(percentile(np.array(value), np.array(reference)))
    below, equal = sum(r < value for r in reference), reference.count(value)
    assert found == pytest.approx(100 * (below + equal / 2) / len(reference))


def test_percentile_of_a_random_pair_among_random_pairs_is_uniform() -> None:
    reference = RNG(0).normal(size=4000)
    found = percentile(RNG(1).normal(size=4000), reference)
    np.testing.assert_allclose(np.quantile(found, [0.1, 0.5, 0.9]), [10, 50, 90], atol=3)


def test_rounding_alone_gives_no_rank() -> None:
    reference = 1 + 1e-15 * np.arange(-5, 6)
    np.testing.assert_array_equal(percentile(reference, reference), 50)


@pytest.mark.parametrize("reference", [np.ones((2, 2)), np.array([])])
def test_percentile_refuses_an_empty_or_square_reference(reference: np.ndarray) -> None:
    with pytest.raises(ValueError, match="reference must have shape"):
        percentile(np.ones(1), reference)


@pytest.mark.parametrize("size", [1e-300, 1e-163, 1e-160, 1e160, 1e300])
def test_cosines_and_groups_do_not_depend_on_the_scale(size: float) -> None:
    first, second = VECTORS[0] * size, VECTORS[1] / size
    np.testing.assert_allclose(cosine(first, second), cosine(VECTORS[0], VECTORS[1]), rtol=1e-14)
    left, right = RNG(0).normal(size=(6, 4)), RNG(1).normal(size=(6, 4)) + 0.5
    assert leave_pair_out(left * size, right * size) == leave_pair_out(left, right)
    both, labels = np.concatenate([left + 5, right]), ["b"] * 6 + ["a"] * 6
    assert nearest_mean(both * size, labels, both * size) == labels


GOOD = np.arange(12.0).reshape(6, 2)
GROUPS = GOOD.reshape(2, 3, 2)


@pytest.mark.parametrize(
    ("call", "good", "name"),
    [
        (lambda bad: cosine(bad, np.ones(2)), GOOD, "first"),
        (lambda bad: cosine(np.ones(2), bad), GOOD, "second"),
        (lambda bad: percentile(bad, np.ones(2)), GOOD, "values"),
        (lambda bad: percentile(np.ones(2), bad), GOOD[:, 0], "reference"),
        (lambda bad: pair_cosines(bad, GROUPS), GROUPS, "first"),
        (lambda bad: pair_cosines(GROUPS, bad), GROUPS, "second"),
        (lambda bad: nearest_mean(bad, ["a"] * 6, GOOD), GOOD, "known"),
        (lambda bad: nearest_mean(GOOD, ["a"] * 6, bad), GOOD, "asked"),
        (lambda bad: leave_pair_out(bad, GOOD), GOOD, "first"),
        (lambda bad: leave_pair_out(GOOD, bad), GOOD, "second"),
        (lambda bad: relabelled(bad, GOOD, 1, RNG(0)), GOOD, "first"),
        (lambda bad: relabelled(GOOD, bad, 1, RNG(0)), GOOD, "second"),
    ],
)
def test_what_is_no_finite_real_number_is_refused_by_name(
    call: Callable[[Any], object], good: np.ndarray, name: str
) -> None:
    for value in (np.nan, np.inf):
        bad = good + 0.0
        bad[-1] = value
        with pytest.raises(ValueError, match=f"{name} must be finite, given {value} at"):
            call(bad)
    with pytest.raises(TypeError, match=f"{name} must be real, given complex128"):
        call(good + 1j)
    with pytest.raises(TypeError, match=f"{name} must not be a numpy masked array"):
        call(np.ma.masked_array(good))
    with pytest.raises(TypeError, match=f"{name} must be float32, .*given object"):
        call(good.astype(object))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pair_cosines(np.ones((2, 3, 4)), np.ones((2, 1, 4))), r"second .*\(m, 3, 4\)"),
        (lambda: pair_cosines(np.ones((2, 3))), r"first must have shape \(n, layers, dim\)"),
        (lambda: nearest_mean(np.ones((2, 1)), ["a", "b"], np.ones((2, 5))), r"asked .*\(m, 1\)"),
        (lambda: relabelled(GOOD, GOOD, 0, RNG(0)), "number: expected at least 1, got 0"),
        (
            lambda: random_pairs(["a", "a", "b"], [0, 1, 1], -1, RNG(0)),
            "number: expected at least 1, got -1",
        ),
        (
            lambda: Occurrences.read(lambda text: _embed([["bank"]]), [["the", "bank"]]),
            r"embed must read sentences of \[2\] tokens, given \[1\]",
        ),
    ],
)
def test_nothing_broadcasts_and_counts_are_counts(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((np.ones((1, 1, 1, 2)), None), "embed must give a mask of 2 axes, given a NoneType"),
        (([[[[1.0]]]], np.array([[True]])), "embed must give layers of 4 axes, given"),
        ((GOOD, np.array([[True]])), "embed must give layers of 4 axes"),
    ],
)
def test_what_is_read_is_layers_and_their_mask(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Occurrences.read(lambda text: (given[0], given[1]), [["bank"]])


def test_half_precision_is_read_as_it_is() -> None:
    half = np.array([[3.0, 4.0]], np.float16)
    assert cosine(half, np.array([[4.0, 3.0]])) == pytest.approx(0.96)


class Counted(np.random.Generator):
    """Gives up after so many numbers: a search without an end becomes a failure."""

    def __init__(self, limit: int) -> None:
        super().__init__(np.random.PCG64(0))
        self.left = limit

    def integers(self, *arguments: Any, **settings: Any) -> Any:
        """Draw as ever, and count."""
        self.left -= 1
        assert self.left >= 0, "too many draws"
        return super().integers(*arguments, **settings)


def test_a_word_of_one_sentence_only_is_never_half_of_a_same_word_pair() -> None:
    """There "once" has no partner, and "twice" none in another sentence."""
    words = ["once", "twice", "twice", "bank", "bank", "loan", "loan"]
    place = [0, 1, 1, 0, 1, 1, 2]
    same = random_pairs(words, place, 100, Counted(2_000)).same
    assert {words[first] for first, _ in same} == {"bank", "loan"}


def test_random_pairs_are_what_they_are_called_and_deterministic() -> None:
    words = [w for s in our_sentences.OTHERS for w in s]
    place = [k for k, s in enumerate(our_sentences.OTHERS) for _ in s]
    pairs = random_pairs(words, place, 500, RNG(0))
    assert pairs.same.shape == pairs.different.shape == (500, 2)
    for (first, second), same in [
        *((p, True) for p in pairs.same),
        *((p, False) for p in pairs[1]),
    ]:
        assert (words[first] == words[second]) == same
        assert place[first] != place[second]
    again = random_pairs(words, place, 500, RNG(0))
    np.testing.assert_array_equal(pairs.same, again.same)
    np.testing.assert_array_equal(pairs.different, again.different)


def test_frequent_words_are_drawn_no_more_often_than_others() -> None:
    words = ["the"] * 50 + ["bank"] * 2
    place = [*range(50), 0, 1]
    drawn = Counter(words[first] for first, _ in random_pairs(words, place, 1000, RNG(0)).same)
    assert 400 < drawn["bank"] < 600


@pytest.mark.parametrize(
    ("words", "place", "message"),
    [
        (["a", "b"], [0], "equally long, given 2 and 1"),
        (["a", "b"], [0, 1], "a word that occurs in two sentences"),
        (["a", "a"], [0, 0], "a word that occurs in two sentences"),
        (["a", "a"], [0, 1], "and another word, given 1 different words"),
    ],
)
def test_random_pairs_refuse_texts_without_any(
    words: list[str], place: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        random_pairs(words, place, 1, RNG(0))


def test_a_layer_is_placed_among_its_own_pairs_only() -> None:
    background = Background(RNG(1).uniform(size=(3, 9)), RNG(2).uniform(size=(3, 9)) - 0.5)
    kinds = background.rank_groups(VECTORS[:3], VECTORS[3:])
    groups = (VECTORS[:3],), (VECTORS[3:],), (VECTORS[:3], VECTORS[3:])
    for kind, group in zip(kinds, groups, strict=True):
        cosines = pair_cosines(*group)
        for found, reference in zip(kind, background, strict=True):
            for j in range(3):
                np.testing.assert_array_equal(found[j], percentile(cosines[j], reference[j]))


def _embed(text: Sequence[Sequence[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Layer 0 depends on the word alone, layer 1 on its sentence and place; padding is NaN."""
    longest = max(map(len, text))
    layers = np.full((len(text), 2, longest, 2), np.nan)
    for row, sentence in enumerate(text):
        for k, word in enumerate(sentence):
            layers[row, :, k] = [len(word), 1], [row + 1, k]
    return layers, ~np.isnan(layers[:, 0, :, 0])


def test_occurrences_keep_words_sentences_and_vectors_together_and_drop_padding() -> None:
    text = [["the", "bank", "floods"], ["loan"], ["the", "coin"]]
    words, sentences, vectors = Occurrences.read(_embed, text)
    assert words.tolist() == ["the", "bank", "floods", "loan", "the", "coin"]
    assert sentences.tolist() == [0, 0, 0, 1, 2, 2]
    assert vectors[:, 0, 0].tolist() == [len(word) for word in words]
    assert vectors[:, 1, 0].tolist() == [1, 1, 1, 2, 3, 3]


def test_a_lookup_layer_has_same_word_cosines_of_one() -> None:
    background = Occurrences.read(_embed, our_sentences.OTHERS).background(50, RNG(0))
    assert background.same.shape == background.different.shape == (2, 50)
    np.testing.assert_allclose(background.same[0], 1)
    assert background.different[0].min() < 0.999
    assert background.same[1].min() < 0.999


def test_pair_cosines_hold_every_pair_once() -> None:
    within, between = pair_cosines(VECTORS), pair_cosines(VECTORS[:3], VECTORS[3:])
    assert within.shape == (3, 21)
    assert between.shape == (3, 12)
    expected = [cosine(VECTORS[a], VECTORS[b]) for a in range(7) for b in range(a + 1, 7)]
    np.testing.assert_allclose(within, np.transpose(expected))
    np.testing.assert_allclose(between[:, 1], cosine(VECTORS[0], VECTORS[4]))


def test_nearest_mean_tells_separate_clouds_and_prefers_the_first_label_of_equals() -> None:
    known = np.concatenate([RNG(0).normal(size=(20, 4)), RNG(1).normal(size=(20, 4)) + 20])
    labels = ["b"] * 20 + ["a"] * 20
    assert nearest_mean(known, labels, known) == labels
    assert nearest_mean(np.array([[0.0], [2.0]]), ["b", "a"], np.array([[1.0]])) == ["a"]
    with pytest.raises(ValueError, match="one label a known vector, given 1 for 2"):
        nearest_mean(np.ones((2, 1)), ["a"], np.ones((1, 1)))


def _slowly(first: np.ndarray, second: np.ndarray) -> float:
    """Each pair left out in turn, one after the other."""
    hits = []
    for i in range(len(first)):
        for j in range(len(second)):
            one = np.delete(first, i, axis=0).mean(axis=0)
            two = np.delete(second, j, axis=0).mean(axis=0)
            hits.append(np.linalg.norm(first[i] - one) < np.linalg.norm(first[i] - two))
            hits.append(np.linalg.norm(second[j] - two) < np.linalg.norm(second[j] - one))
    return float(np.mean(hits))


@pytest.mark.parametrize("shift", [0.0, 0.5, 5.0])
@pytest.mark.parametrize("sizes", [(2, 2), (6, 9)])
def test_leave_pair_out_agrees_with_leaving_each_pair_out(
    shift: float, sizes: tuple[int, int]
) -> None:
    first, second = RNG(0).normal(size=(sizes[0], 4)), RNG(1).normal(size=(sizes[1], 4)) + shift
    assert leave_pair_out(first, second) == pytest.approx(_slowly(first, second))


def test_equal_vectors_tell_nothing() -> None:
    assert leave_pair_out(np.ones((4, 3)), np.ones((5, 3))) == 0.5


def test_without_a_difference_the_score_is_one_half_on_average() -> None:
    """Leaving out one vector alone would score below: groups of unequal size."""
    vectors = RNG(0).normal(size=(24, 8))
    scores = relabelled(vectors[:12], vectors[12:], 1000, RNG(1))
    assert scores.mean() == pytest.approx(0.5, abs=0.02)


def test_a_real_difference_is_rare_among_relabellings() -> None:
    first, second = RNG(0).normal(size=(12, 4)), RNG(1).normal(size=(12, 4)) + 2
    assert leave_pair_out(first, second) > np.quantile(relabelled(first, second, 200, RNG(2)), 0.95)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (np.ones(3), np.ones((3, 3)), r"first must have shape \(n, dim\), given \(3,\)"),
        (np.ones((3, 2)), np.ones((3, 3)), r"second must have shape \(m, 2\), given \(3, 3\)"),
        (np.ones((1, 2)), np.ones((3, 2)), "two vectors each, given 1 and 3"),
    ],
)
def test_leave_pair_out_names_wrong_arguments(
    first: np.ndarray, second: np.ndarray, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        leave_pair_out(first, second)
