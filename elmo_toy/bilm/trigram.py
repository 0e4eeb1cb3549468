"""A language model that counts: the baseline for a perplexity.

Book: chapter 2, "A language model trained live".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import log

import numpy as np

from elmo_toy.text import checked_count

DISCOUNT = 0.75


class Trigram:
    """An interpolated Kneser-Ney trigram over word ids.

    ``p(w | u v) = max(c(u v w) - D, 0) / c(u v) + D * n(u v) / c(u v) * p(w | v)``, where
    ``n(u v)`` is how many different words follow ``u v``. In ``p(w | v)`` and ``p(w)`` the counts
    are of different words that come before; ``p(w)`` is interpolated with ``1 / words``.

    Parameters
    ----------
    sentences : iterable of id sequences
        With both boundaries: the first id of each is never predicted.
    words : int
        Size of the vocabulary; every id is below it.

    Raises
    ------
    ValueError, TypeError
        For a size that isn't whole or below 1, ids that aren't whole or outside the vocabulary, a
        sentence without an id, and a perplexity of no prediction.

    Examples
    --------
    >>> model = Trigram([[0, 2, 3, 1], [0, 2, 2, 1]], words=4)
    >>> round(sum(model.probability((0, 2), word) for word in range(4)), 12)
    1.0
    >>> unigram = (0.25 + 0.75 * 3 / 4) / 5  # 3 follows one of the 5 pairs; three words do
    >>> bigram = (0.25 + 0.75 * 3 * unigram) / 3
    >>> trigram = (0.25 + 0.75 * 2 * bigram) / 2
    >>> model.probability((0, 2), 3) == trigram, round(trigram, 4)
    (True, 0.2789)

    Source: Chen and Goodman (1999), interpolated Kneser-Ney with one discount.
    """

    def __init__(self, sentences: Iterable[Sequence[int]], words: int) -> None:
        self.words = checked_count(words, "words")
        trigrams: Counter[tuple[int, ...]] = Counter()
        for sentence in sentences:
            padded = self._padded(sentence)
            trigrams.update(zip(padded, padded[1:], padded[2:], strict=False))
        bigrams = Counter(gram[1:] for gram in trigrams)
        unigrams = Counter(gram[1:] for gram in bigrams)
        self._orders = [_Order(counts) for counts in (unigrams, bigrams, trigrams)]

    def probability(self, history: tuple[int, int], word: int) -> float:
        """Probability of a word after the two before it."""
        if len(history) != 2:
            raise ValueError(f"history: expected the two ids before, got {history}")
        return self._probability(history, self._checked([*history, word])[-1])

    def _probability(self, history: tuple[int, int], word: int) -> float:
        probability = 1.0 / self.words
        for order, before in zip(self._orders, ((), history[1:], history), strict=True):
            total = order.totals.get(before, 0)
            if total:
                kept = max(order.counts.get((*before, word), 0) - DISCOUNT, 0.0)
                probability = (kept + DISCOUNT * order.followers[before] * probability) / total
        return probability

    def perplexity(self, sentences: Iterable[Sequence[int]]) -> float:
        """``exp`` of the mean negative log-probability of every id but each sentence's first."""
        total, predictions = 0.0, 0
        for sentence in sentences:
            padded = self._padded(sentence)
            for u, v, w in zip(padded, padded[1:], padded[2:], strict=False):
                total -= log(self._probability((u, v), w))
                predictions += 1
        if not predictions:
            raise ValueError("sentences: expected something to predict, got no id after a first")
        return float(np.exp(total / predictions))

    def _padded(self, sentence: Sequence[int]) -> list[int]:
        """One symbol more in front, so that the first word has two before it, too."""
        ids = self._checked(sentence)
        return [ids[0], *ids]

    def _checked(self, sentence: Sequence[int]) -> list[int]:
        ids = np.asarray(sentence)
        if ids.ndim != 1 or not ids.size or ids.dtype.kind not in "iu":
            raise ValueError(f"ids: expected one sentence of whole numbers, got {sentence!r}")
        if ids.min() < 0 or ids.max() >= self.words:
            raise ValueError(f"ids: expected 0 to {self.words - 1}, got {ids.min()} to {ids.max()}")
        found: list[int] = ids.tolist()
        return found


class _Order:
    """Counts of one length, and of each history: their sum and how many there are."""

    def __init__(self, counts: Counter[tuple[int, ...]]) -> None:
        self.counts = dict(counts)
        self.totals: defaultdict[tuple[int, ...], int] = defaultdict(int)
        self.followers: defaultdict[tuple[int, ...], int] = defaultdict(int)
        for gram, count in counts.items():
            self.totals[gram[:-1]] += count
            self.followers[gram[:-1]] += 1
