"""How near two occurrences are, among how near any two are; and whether vectors tell two groups.

A cosine means little by itself: at one layer any two vectors have a cosine of 0.9, at another no
two have. So a cosine is placed among those of random pairs of the same layer. Groups of vectors are
told by their means, the plainest classifier there is.

Book: chapter 1, "A cosine needs a background".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from elmo_toy._checks import Array, as_reals, check_mask, describe
from elmo_toy.text import checked_count

T = TypeVar("T")


def cosine(first: Array, second: Array) -> Array:
    """Cosine of the angle between vectors: ``first @ second / (|first| |second|)``.

    Parameters
    ----------
    first, second
        (..., dim); the axes before the last broadcast.

    Returns
    -------
    (...) float64, between -1 and 1 but for rounding.

    Raises
    ------
    ValueError
        For vectors of different length or that don't broadcast, values that aren't finite, or a
        vector of zeros: it has no direction.
    TypeError
        For what is no array of real numbers.

    Source: linear algebra. Book: chapter 1, "A cosine needs a background".

    >>> cosine(np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([0.0, 2.0])).round(12)
    array([0.8, 0. ])
    """
    first, second = (
        _unit_sized(as_reals(values, name).astype(np.float64), axis=-1)
        for values, name in ((first, "first"), (second, "second"))
    )
    try:
        if first.shape[-1:] != second.shape[-1:] or not first.ndim:
            raise ValueError("vectors of different length")
        np.broadcast_shapes(first.shape, second.shape)
    except ValueError as error:
        raise ValueError(
            "first and second must have equal last axes, and broadcast before them, "
            f"given shapes {first.shape} and {second.shape}"
        ) from error
    lengths = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    if not lengths.all():
        raise ValueError("first and second must hold no vector of zeros, given one")
    found: Array = np.einsum("...d,...d->...", first, second) / lengths
    return found


def _unit_sized(values: Array, axis: int | None = None) -> Array:
    """Divided by a power of two, which loses no digit: squares neither overflow nor vanish."""
    largest = np.abs(values).max(axis=axis, keepdims=True, initial=0)
    return np.asarray(np.ldexp(values, -np.frexp(largest)[1]))


def percentile(values: Array, reference: Array) -> Array:
    """Where values stand among others: ``100 * (share below + share equal / 2)``.

    50 is the middle, and what everything gets where all are equal. Differences below 1e-9 count as
    equal: a vector's cosine with itself is 1 but for rounding.

    Parameters
    ----------
    values
        Any shape.
    reference
        (n,).

    Returns
    -------
    The shape of `values`, between 0 and 100.

    Raises
    ------
    ValueError
        For a reference that is empty or not one row of numbers, and values that aren't finite.
    TypeError
        For what is no array of real numbers.

    Source: the percentile rank of statistics. Book: chapter 1, "A cosine needs a background".

    >>> percentile(np.array([0.0, 2.0, 9.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    array([  0. ,  37.5, 100. ])
    """
    values, reference = as_reals(values, "values"), as_reals(reference, "reference", "n")
    if not reference.size:
        raise ValueError(f"reference must have shape (n,), n > 0, given {reference.shape}")
    ordered = np.sort(reference)
    below = np.searchsorted(ordered, values - 1e-9)
    not_above = np.searchsorted(ordered, values + 1e-9)
    return np.asarray(50.0 * (below + not_above) / reference.size)


class Pairs(NamedTuple):
    """Random pairs of occurrences, (pairs, 2) each: of one word, and of two different words."""

    same: Array
    different: Array


def random_pairs(
    words: Sequence[str], sentences: Sequence[int], number: int, rng: np.random.Generator
) -> Pairs:
    """Draw pairs of occurrences from two different sentences.

    The *word* is drawn first, each as likely as the other, then its occurrence: otherwise most
    pairs would be of "the" and the full stop.

    Parameters
    ----------
    words
        The word of each occurrence.
    sentences
        The number of the sentence of each occurrence.
    number
        Pairs of either kind.
    rng

    Returns
    -------
    Pairs of positions in `words`.

    Raises
    ------
    ValueError
        If the lists differ in length, no word occurs in two sentences, or the number is below 1.
    TypeError
        If it isn't whole.

    Book: chapter 1, "A cosine needs a background".

    >>> words, sentences = ["the", "bank", "the", "loan"], [0, 0, 1, 1]
    >>> pairs = random_pairs(words, sentences, 3, np.random.default_rng(0))
    >>> np.sort(pairs.same).tolist()
    [[0, 2], [0, 2], [0, 2]]
    """
    checked_count(number, "number")
    if len(words) != len(sentences):
        raise ValueError(
            f"words and sentences must be equally long, given {len(words)} and {len(sentences)}"
        )
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        places.setdefault(word, []).append(place)
    repeated = sorted(w for w, found in places.items() if len({sentences[p] for p in found}) > 1)
    if not repeated or len(places) == 1:
        raise ValueError(
            "words must hold a word that occurs in two sentences, and another word, "
            f"given {len(places)} different words in {len(set(sentences))} sentences"
        )
    every = sorted(places)

    def one_of(items: list[T]) -> T:
        return items[rng.integers(len(items))]

    def same() -> tuple[int, int]:
        found = places[one_of(repeated)]
        while True:
            first, second = one_of(found), one_of(found)
            if sentences[first] != sentences[second]:
                return first, second

    def different() -> tuple[int, int]:
        while True:
            one, other = one_of(every), one_of(every)
            first, second = one_of(places[one]), one_of(places[other])
            if one != other and sentences[first] != sentences[second]:
                return first, second

    return Pairs(*(np.array([draw() for _ in range(number)]) for draw in (same, different)))


class Background(NamedTuple):
    """Cosines of random pairs, layer by layer: (layers, pairs) each.

    Book: chapter 1, "A cosine needs a background".
    """

    same: Array
    different: Array

    def percentiles(self, cosines: Array) -> tuple[Array, Array]:
        """Where cosines (layers, n) stand, each layer among its own random pairs.

        Returns
        -------
        Percentiles (layers, n) among the same-word pairs, and among the different-word pairs.
        """
        among_same, among_different = (
            np.stack([percentile(c, r) for c, r in zip(cosines, reference, strict=True)])
            for reference in self
        )
        return among_same, among_different

    def rank_groups(self, first: Array, second: Array) -> tuple[tuple[Array, Array], ...]:
        """`percentiles` of all pairs within one group, within the other, and of one of each.

        Parameters
        ----------
        first, second
            (n, layers, dim) and (m, layers, dim).
        """
        pairs = pair_cosines(first), pair_cosines(second), pair_cosines(first, second)
        return tuple(self.percentiles(cosines) for cosines in pairs)


class Occurrences(NamedTuple):
    """Every token of a text, one row each: its word, its sentence's number, its layers.

    Book: chapter 1, "A cosine needs a background".
    """

    words: Array
    sentences: Array
    vectors: Array

    @classmethod
    def read(
        cls,
        embed: Callable[[Sequence[Sequence[str]]], tuple[Array, Array]],
        text: Sequence[Sequence[str]],
    ) -> Occurrences:
        """Read sentences with ``model.embed``.

        Parameters
        ----------
        embed
            From sentences to layers (batch, layers, tokens, dim) and mask (batch, tokens).
        text
            Sentences of tokens.

        Raises
        ------
        ValueError, TypeError
            If `embed` gives something else, or not one vector a token of `text`.

        >>> layers = np.arange(8.0).reshape(2, 1, 2, 2)
        >>> mask = np.array([[True, True], [True, False]])
        >>> Occurrences.read(lambda text: (layers, mask), [["the", "bank"], ["loan"]])[:2]
        (array(['the', 'bank', 'loan'], dtype='<U4'), array([0, 0, 1]))
        """
        layers, mask = embed(text)
        for name, array, axes in (("layers", layers, 4), ("a mask", mask, 2)):
            if not isinstance(array, np.ndarray) or array.ndim != axes:
                raise TypeError(f"embed must give {name} of {axes} axes, given {describe(array)}")
        check_mask(mask, layers)
        lengths, read = [len(sentence) for sentence in text], mask.sum(axis=1).tolist()
        if read != lengths:
            raise ValueError(f"embed must read sentences of {lengths} tokens, given {read} of it")
        return cls(
            np.array([word for sentence in text for word in sentence]),
            np.array([number for number, sentence in enumerate(text) for _ in sentence]),
            layers.swapaxes(1, 2)[mask],  # (batch, tokens, layers, dim), less the padding
        )

    def background(self, number: int, rng: np.random.Generator) -> Background:
        """Cosines of so many `random_pairs` of either kind; errors as there."""
        pairs = random_pairs(self.words.tolist(), self.sentences.tolist(), number, rng)
        return Background(*(cosine(self.vectors[p[:, 0]], self.vectors[p[:, 1]]).T for p in pairs))


def pair_cosines(first: Array, second: Array | None = None) -> Array:
    """Cosines of every pair of two groups, or of every two within one, layer by layer.

    Parameters
    ----------
    first, second
        (n, layers, dim) and (m, layers, dim).

    Returns
    -------
    (layers, n * m), or (layers, n * (n - 1) / 2) without `second`.

    Raises
    ------
    ValueError, TypeError
        For other shapes, and as `cosine`.

    Book: chapter 1, "Layer by layer".

    >>> group = np.array([[[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 1.0]]])
    >>> pair_cosines(group), pair_cosines(group[:1], group[1:])
    (array([[1., 0., 0.]]), array([[1., 0.]]))
    """
    first = as_reals(first, "first", "n", "layers", "dim")
    other = first if second is None else as_reals(second, "second", "m", *first.shape[1:])
    every = np.moveaxis(cosine(first[:, None], other[None]), 2, 0)
    if second is None:
        return np.asarray(every[:, *np.triu_indices(len(first), 1)])
    return every.reshape(len(every), -1)


def nearest_mean(known: Array, labels: Sequence[str], asked: Array) -> list[str]:
    """The label whose known vectors have the mean nearest to each asked vector.

    Parameters
    ----------
    known
        (n, dim).
    labels
        The label of each known vector.
    asked
        (m, dim).

    Returns
    -------
    m labels; of labels that are equally near, the first in alphabetical order.

    Raises
    ------
    ValueError
        If there isn't one label a vector, for other shapes, and for numbers that aren't finite.
    TypeError
        For what is no array of real numbers.

    Book: chapter 1, "Where a lookup wins".

    >>> nearest_mean(np.array([[0.0], [2.0], [9.0]]), ["a", "a", "b"], np.array([[3.0], [7.0]]))
    ['a', 'b']
    """
    known = as_reals(known, "known", "n", "dim")
    asked = as_reals(asked, "asked", "m", known.shape[1])
    if len(known) != len(labels) or not len(labels):
        raise ValueError(
            f"labels must hold one label a known vector, given {len(labels)} for {len(known)}"
        )
    known, asked = np.split(_unit_sized(np.concatenate([known, asked])), [len(known)])
    names = sorted(set(labels))
    means = np.stack([known[[label == name for label in labels]].mean(axis=0) for name in names])
    squared = ((asked[:, None] - means) ** 2).sum(axis=2)
    return [names[number] for number in squared.argmin(axis=1)]


def leave_pair_out(first: Array, second: Array) -> float:
    """How well the means of two groups tell a vector's group, without having seen it.

    One vector of *each* group is put aside, the means are taken over the others, and each of the
    two counts as a hit if the mean of its own group is nearer; all pairs in turn. (To leave out one
    alone would make the groups unequal and chance lower than 0.5.) Equally near is half a hit.

    Parameters
    ----------
    first, second
        (n, dim) and (m, dim), n and m at least 2.

    Returns
    -------
    Share of hits; 0.5 is chance.

    Raises
    ------
    ValueError
        For other shapes, and numbers that aren't finite.
    TypeError
        For what is no array of real numbers.

    Book: chapter 1, "English, and a smaller claim".

    >>> round(leave_pair_out(np.array([[0.0], [1.0], [5.0]]), np.array([[5.0], [6.0], [9.0]])), 3)
    0.75
    """
    first = as_reals(first, "first", "n", "dim").astype(np.float64)
    second = as_reals(second, "second", "m", first.shape[1]).astype(np.float64)
    if min(len(first), len(second)) < 2:
        raise ValueError(
            f"first and second must hold two vectors each, given {len(first)} and {len(second)}"
        )
    first, second = np.split(_unit_sized(np.concatenate([first, second])), [len(first)])
    means = [(g.sum(axis=0) - g) / (len(g) - 1) for g in (first, second)]  # each without one
    hits = 0.0
    for own, other, group in ((means[0], means[1], first), (means[1], means[0], second)):
        to_own = ((group - own) ** 2).sum(axis=1)[:, None]
        to_other = ((group[:, None] - other) ** 2).sum(axis=2)
        tied = np.abs(to_own - to_other) <= 1e-5 * (to_own + to_other)
        hits += float(np.where(tied, 0.5, to_own < to_other).mean()) / 2
    return hits


def relabelled(first: Array, second: Array, number: int, rng: np.random.Generator) -> Array:
    """What `leave_pair_out` finds when the vectors are dealt into two groups at random.

    A score says something about the groups only as far as it is rare among these.

    Parameters
    ----------
    first, second
        As in `leave_pair_out`, whose errors are raised.
    number
        How often to deal, at least 1.
    rng

    Returns
    -------
    (number,) scores.

    Source: a permutation test. Book: chapter 1, "English, and a smaller claim".

    >>> vectors = np.arange(8.0)[:, None]
    >>> relabelled(vectors[:4], vectors[4:], 100, np.random.default_rng(0)).mean().round(1)
    np.float64(0.5)
    """
    checked_count(number, "number")
    first = as_reals(first, "first", "n", "dim")
    both = np.concatenate([first, as_reals(second, "second", "m", first.shape[1])])
    deals = [rng.permutation(both) for _ in range(number)]
    return np.array([leave_pair_out(deal[: len(first)], deal[len(first) :]) for deal in deals])
