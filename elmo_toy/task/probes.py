"""The plainest readers of a representation: a linear one, one for each group, a static table.

The nearest mean is `elmo_toy.similarity.nearest_mean`; it has the arguments that `by_group` wants.

Book: chapter 5, "Training the tagger".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.bilm.token_encoder import sum_by_index
from elmo_toy.task.lbfgs import minimise
from elmo_toy.text import BoolArray, IntArray

Classify = Callable[[Array, Sequence[str], Array], list[str]]
"""Known vectors (n, dim), their n labels, asked vectors (m, dim); m labels come back."""


@dataclass(frozen=True)
class LinearProbe:
    """Multinomial logistic regression: ``p(label) = softmax(vector W + b)``.

    Attributes
    ----------
    labels : tuple of str, sorted
    weights, bias : (dim, labels), (labels,), float64
    """

    labels: tuple[str, ...]
    weights: Array
    bias: Array

    @classmethod
    def fit(cls, vectors: Array, labels: Sequence[str], strength: float = 1e-3) -> LinearProbe:
        """Minimise ``mean cross-entropy + strength / 2 * sum(W**2)``, all vectors at once.

        The loss has one minimum (but for a number added to every bias), and nothing is drawn: the
        same vectors give the same probe.

        Parameters
        ----------
        vectors : (n, dim)
        labels : n
        strength : above 0
            Of the penalty; the bias is not penalised.

        Raises
        ------
        ValueError
            If there isn't one label a vector, a vector isn't finite, or the strength isn't above 0.

        >>> probe = LinearProbe.fit(np.array([[0.0], [1.0], [3.0], [4.0]]), ["a", "a", "b", "b"])
        >>> probe.predict(np.array([[1.5], [2.5]]))
        ['a', 'b']

        Book: chapter 5, "Training the tagger".
        """
        vectors = np.asarray(vectors, dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(labels) or not len(labels):
            raise ValueError(
                "labels: expected one for each row of vectors (n, dim), "
                f"got {len(labels)} for shape {vectors.shape}"
            )
        if not np.isfinite(vectors).all():
            raise ValueError("vectors: expected finite numbers, got NaN or infinity")
        if not 0 < strength < np.inf:
            raise ValueError(f"strength: expected above 0, got {strength}")
        names = tuple(sorted(set(labels)))
        numbers = {name: number for number, name in enumerate(names)}
        n, dim = vectors.shape
        wanted = np.eye(len(names))[[numbers[label] for label in labels]]

        def loss(flat: Array) -> tuple[float, Array]:
            weights, bias = flat[:-1], flat[-1]
            log_p = _log_softmax(vectors @ weights + bias)
            dscores = (np.exp(log_p) - wanted) / n
            gradient = np.concatenate([vectors.T @ dscores, dscores.sum(axis=0)[None]])
            gradient[:-1] += strength * weights
            value = -float((log_p * wanted).sum()) / n + strength / 2 * float((weights**2).sum())
            return value, gradient

        found = minimise(loss, np.zeros((dim + 1, len(names))))
        return cls(names, found[:-1], found[-1])

    def log_probabilities(self, vectors: Array) -> Array:
        """(m, labels); a ValueError for vectors of another width, or not finite."""
        vectors = np.asarray(vectors, dtype=np.float64)
        if vectors.ndim != 2 or vectors.shape[1] != len(self.weights):
            raise ValueError(
                f"vectors: expected (m, {len(self.weights)}), got shape {vectors.shape}"
            )
        if not np.isfinite(vectors).all():
            raise ValueError("vectors: expected finite numbers, got NaN or infinity")
        return _log_softmax(vectors @ self.weights + self.bias)

    def predict(self, vectors: Array) -> list[str]:
        """The most probable label of each; of equals, the first in alphabetical order."""
        return [self.labels[number] for number in self.log_probabilities(vectors).argmax(axis=1)]


def linear(
    known: Array, labels: Sequence[str], asked: Array, *, strength: float = 1e-3
) -> list[str]:
    """Fit a `LinearProbe` and ask it: a `Classify`.

    >>> linear(np.array([[0.0], [2.0]]), ["a", "b"], np.array([[0.5], [5.0]]))
    ['a', 'b']

    Book: chapter 5, "Training the tagger".
    """
    return LinearProbe.fit(known, labels, strength).predict(asked)


def by_group(
    classify: Classify,
    known: Array,
    labels: Sequence[str],
    groups: Sequence[str],
    asked: Array,
    asked_groups: Sequence[str],
) -> list[str]:
    """Classify within groups, a classifier for each: the senses of each noun, say.

    Parameters
    ----------
    classify : `linear`, `elmo_toy.similarity.nearest_mean`, ...
    known, labels, groups : (n, dim), n, n
    asked, asked_groups : (m, dim), m

    Returns
    -------
    m labels, each one of its group's.

    Raises
    ------
    ValueError
        If lengths disagree, or an asked group isn't known.

    >>> by_group(linear, np.array([[0.0], [1.0], [0.0], [1.0]]), ["a", "b", "d", "c"],
    ...          ["1", "1", "2", "2"], np.array([[0.9], [0.9]]), ["1", "2"])
    ['b', 'c']

    Book: chapter 5, "Training the tagger".
    """
    if not len(known) == len(labels) == len(groups) or len(asked) != len(asked_groups):
        raise ValueError(
            "labels, groups, asked_groups: expected one a vector, got "
            f"{len(labels)}, {len(groups)} for {len(known)}, {len(asked_groups)} for {len(asked)}"
        )
    if unknown := set(asked_groups) - set(groups):
        raise ValueError(f"asked_groups: expected groups that are known, got {sorted(unknown)}")
    found = [""] * len(asked)
    for group in sorted(set(asked_groups)):
        rows = [row for row, name in enumerate(groups) if name == group]
        wanted = [row for row, name in enumerate(asked_groups) if name == group]
        answers = classify(known[rows], [labels[row] for row in rows], asked[wanted])
        for row, answer in zip(wanted, answers, strict=True):
            found[row] = answer
    return found


def mean_by_word(layers: Array, mask: BoolArray, words: IntArray, n_words: int) -> Array:
    """The mean of a word's layers over all its occurrences: one static vector a spelling.

    Parameters
    ----------
    layers : (n, layers, tokens, dim)
    mask : (n, tokens)
    words : (n, tokens), line of the word + 1, 0 at pads

    Returns
    -------
    (n_words, layers, dim), 0 for a word that doesn't occur. Of a biLM's token layer the mean is the
    lookup vector itself.

    >>> layers, mask = np.array([[[[1.0], [4.0], [3.0]]]]), np.array([[True, True, True]])
    >>> mean_by_word(layers, mask, np.array([[1, 2, 1]]), 3).ravel().tolist()
    [2.0, 4.0, 0.0]

    Book: chapter 5, "Training the tagger".
    """
    numbers = words[mask] - 1
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < n_words:
        raise ValueError(
            f"words: expected 1 to {n_words} where mask has a token, "
            f"got {numbers.min() + 1} to {numbers.max() + 1}"
        )
    _, n_layers, _, dim = layers.shape
    vectors = layers.transpose(0, 2, 1, 3)[mask].reshape(len(numbers), n_layers * dim)
    counts = np.bincount(numbers, minlength=n_words)[:, None]
    sums = sum_by_index(numbers, vectors.astype(np.float64), n_words)
    means = (sums / np.maximum(counts, 1)).astype(layers.dtype)
    return means.reshape(n_words, n_layers, dim)


def look_up(table: Array, words: IntArray) -> Array:
    """Static vectors in the place of contextual layers: (n, layers, tokens, dim), 0 at pads.

    Parameters
    ----------
    table : (n_words, layers, dim), as `mean_by_word` makes it
    words : (n, tokens), line of the word + 1, 0 at pads

    >>> look_up(np.array([[[5.0]], [[7.0]]]), np.array([[2, 1, 0]])).tolist()
    [[[[7.0], [5.0], [0.0]]]]

    Book: chapter 5, "Training the tagger".
    """
    if words.size and not 0 <= words.min() <= words.max() <= len(table):
        raise ValueError(f"words: expected 0 to {len(table)}, got {words.min()} to {words.max()}")
    padded = np.concatenate([np.zeros_like(table[:1]), table])
    return np.ascontiguousarray(padded[words].transpose(0, 2, 1, 3))


def _log_softmax(scores: Array) -> Array:
    scores = scores - scores.max(axis=-1, keepdims=True)
    log_p: Array = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
    return log_p
