"""What counting words can tell, without any model.

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from elmo_toy.experiments.files import Example
from elmo_toy.text import IntArray


def ambiguous_words(examples: Sequence[Example]) -> frozenset[str]:
    """Words met ten times or more, at least a tenth of them with another tag than the commonest.

    >>> sorted(ambiguous_words([(("set", "the"), ("VERB", "DET"))] * 9
    ...                        + [(("set", "the"), ("NOUN", "DET"))]))
    ['set']
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for tokens, tags in examples:
        for token, tag in zip(tokens, tags, strict=True):
            counts[token][tag] += 1
    return frozenset(
        word
        for word, tags in counts.items()
        if tags.total() >= 10 and 10 * max(tags.values()) <= 9 * tags.total()
    )


def bag_of_words(sentences: Sequence[Sequence[str]], known: Sequence[str]) -> IntArray:
    """What counting can tell of a token: (n, 1, tokens, 2 * known), counts of known words.

    First which of the known words the token itself is, then how often each stands elsewhere in the
    sentence, whatever the order.

    >>> bag_of_words([["the", "bank", "the"]], ["the", "bank"])[0, 0].tolist()
    [[1, 0, 1, 1], [0, 1, 2, 0], [1, 0, 1, 1]]
    """
    numbers = {word: number for number, word in enumerate(known)}
    longest = max((len(sentence) for sentence in sentences), default=0)
    found = np.zeros((len(sentences), 1, longest, 2 * len(known)), dtype=np.int64)
    for row, sentence in enumerate(sentences):
        for place, word in enumerate(sentence):
            if word in numbers:
                found[row, 0, place, numbers[word]] = 1
                found[row, 0, : len(sentence), len(known) + numbers[word]] += 1
                found[row, 0, place, len(known) + numbers[word]] -= 1
    return found
