"""What a neighbour changes: replace each word of a sentence in turn and look at one of them.

The weights of a mixture belong to layers; none of them belongs to a word. That a neighbour counts
shows in the layers at the target, which it changes, and so in every mixture of them.

Book: chapter 5, "What a neighbour changes".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elmo_toy import text
from elmo_toy._checks import Array
from elmo_toy.task.data import UNLABELLED, Embed, Tagged
from elmo_toy.task.tagger import Tagger
from elmo_toy.text import Vocabulary


@dataclass(frozen=True)
class Occlusion:
    """A sentence and its versions with one word replaced.

    Attributes
    ----------
    sentences : tuple of token tuples
        Row k has word k replaced; the target's own row is the sentence as it was.
    target : int
    layers : (tokens, layers, tokens, dim), of each row
    """

    sentences: tuple[tuple[str, ...], ...]
    target: int
    layers: Array

    def moved(self, weights: ArrayLike, gamma: float = 1.0) -> Array:
        """How far the target's mixture moves when word k is replaced.

        ``|gamma| * || sum_j weights_j (layers_kj - layers_j) ||`` at the target.

        Parameters
        ----------
        weights : (layers,), any

        Returns
        -------
        (tokens,) Euclidean distances, 0 at the target.

        Book: chapter 5, "What a neighbour changes".
        """
        coefficients = np.asarray(weights, dtype=np.float64)
        if coefficients.shape != (self.layers.shape[1],):
            raise ValueError(
                f"weights: expected {self.layers.shape[1]}, one a layer, "
                f"got shape {coefficients.shape}"
            )
        at_target = self.layers[:, :, self.target].astype(np.float64)  # (tokens, layers, dim)
        changes = np.einsum("j,kjd->kd", coefficients, at_target - at_target[self.target])
        distances: Array = np.abs(gamma) * np.linalg.norm(changes, axis=1)
        return distances

    def log_probability_changes(
        self, tagger: Tagger, tag: int, vocabulary: Vocabulary | None = None
    ) -> Array:
        """How much ``log p(tag)`` at the target rises when word k is replaced: (tokens,).

        A tagger with a recurrent layer reads the neighbours too, also past the mixture; one without
        learns of them from the target's layers alone.

        Parameters
        ----------
        tagger : Tagger
        tag : int
            Its number.
        vocabulary : Vocabulary, optional
            Of the tagger's own word vectors.

        Book: chapter 5, "What a neighbour changes".
        """
        if not 0 <= tag < tagger.options.n_tags:
            raise ValueError(f"tag: expected 0 to {tagger.options.n_tags - 1}, got {tag}")
        tokens = len(self.sentences)
        words = None
        if vocabulary is not None:
            words = text.batch_word_ids(self.sentences, vocabulary, boundaries=False)
        data = Tagged(
            self.layers,
            np.ones((tokens, tokens), dtype=bool),
            np.full((tokens, tokens), UNLABELLED),
            words,
        )
        log_p = tagger.log_probabilities(data)[:, self.target, tag].astype(np.float64)
        changes: Array = log_p - log_p[self.target]
        return changes


def occlude(
    embed: Embed,
    tokens: Sequence[str],
    target: int,
    replacement: str | Sequence[str] = text.UNKNOWN,
) -> Occlusion:
    """Replace each word but the target by a neutral one, and embed all the versions.

    Parameters
    ----------
    embed : callable, `BiLM.embed` for example
    tokens : one sentence
    target : place of the word that is looked at
    replacement : str, or one for each place
        Words that say little. ``<UNK>`` was seen in training only as far as rare words were, and a
        word of another part of speech is no neutral one.

    Raises
    ------
    ValueError
        If there is no such place, there isn't one replacement for each, or the extractor returns
        other tokens than it was given.

    Examples
    --------
    >>> def position_sums(sentences):  # a toy extractor: lengths of the words up to each token
    ...     lengths = np.array([[len(word) for word in tokens] for tokens in sentences], float)
    ...     return lengths.cumsum(axis=1)[:, None, :, None], np.ones(lengths.shape, dtype=bool)
    >>> occlude(position_sums, ["muddy", "bank", "here"], 1, "x").moved([1.0]).tolist()
    [4.0, 0.0, 0.0]

    Book: chapter 5, "What a neighbour changes".
    """
    words = tuple(text.checked_tokens(tokens))
    if not 0 <= target < len(words):
        raise ValueError(f"target: expected 0 to {len(words) - 1}, got {target}")
    others = len(words) * [replacement] if isinstance(replacement, str) else replacement
    if len(others) != len(words):
        raise ValueError(f"replacement: expected one for each of {len(words)}, got {len(others)}")
    rows = tuple(
        words if place == target else (*words[:place], other, *words[place + 1 :])
        for place, other in enumerate(others)
    )
    layers, mask = embed(rows)
    if mask.shape != (len(words), len(words)) or not mask.all():
        raise ValueError(
            f"embed: expected {len(words)} tokens a sentence, got a mask of shape {mask.shape}"
        )
    return Occlusion(rows, target, layers)
