"""What a tagger is trained on: sentences with tags, as text and as arrays.

A token without a label (`UNLABELLED`, None in text) is read as context, but nothing is asked about
it. So a sentence may have one labelled token, as where senses of one word are told apart.

Book: chapter 5, "Training the tagger".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from elmo_toy import text
from elmo_toy._checks import REAL_DTYPES, Array
from elmo_toy.text import BoolArray, IntArray, Vocabulary

UNLABELLED = -1

Embed = Callable[[Sequence[Sequence[str]]], tuple[Array, BoolArray]]
"""Sentences to layers (n, layers, tokens, dim) and mask, boundaries removed: `BiLM.embed`, say."""


@dataclass(frozen=True)
class Tagged:
    """Sentences as arrays, padded on the right.

    Attributes
    ----------
    layers : (n, layers, tokens, dim), float32 or float64, of a frozen extractor, without boundaries
    mask : (n, tokens) bool
    tags : (n, tokens) int64, `UNLABELLED` for a token (and a pad) that nothing is asked about
    words : (n, tokens) int64, optional: line in the task's own vocabulary + 1, 0 at pads

    Raises
    ------
    ValueError
        If shapes disagree, a row of the mask has a hole, or a pad has a tag or a word.
    TypeError
        For what is no array, or layers of another dtype.

    Examples
    --------
    >>> mask = np.array([[True, True, True], [True, False, False]])
    >>> tags = np.array([[0, 1, -1], [1, -1, -1]])
    >>> data = Tagged(np.zeros((2, 3, 3, 4)), mask, tags)
    >>> data.n_labelled, data.rows(np.array([1])).layers.shape
    (3, (1, 3, 1, 4))

    Book: chapter 5, "Padding and boundaries".
    """

    layers: Array
    mask: BoolArray
    tags: IntArray
    words: IntArray | None = None

    def __post_init__(self) -> None:
        """Refuse arrays that don't belong together."""
        for name, array in vars(self).items():
            if not isinstance(array, np.ndarray) and not (name == "words" and array is None):
                raise TypeError(f"{name}: expected an array, got a {type(array).__name__}")
        if self.layers.dtype.name not in REAL_DTYPES:
            raise TypeError(f"layers: expected {' or '.join(REAL_DTYPES)}, got {self.layers.dtype}")
        if self.layers.ndim != 4 or (self.layers.shape[0], self.layers.shape[2]) != self.mask.shape:
            raise ValueError(
                "layers: expected (n, layers, tokens, dim) for a mask of shape "
                f"{self.mask.shape}, got {self.layers.shape}"
            )
        text.sentence_lengths(self.mask)
        for name, ids, lowest in (("tags", self.tags, UNLABELLED), ("words", self.words, 0)):
            if ids is None:
                continue
            if ids.shape != self.mask.shape or not np.issubdtype(ids.dtype, np.integer):
                raise ValueError(
                    f"{name}: expected integers of shape {self.mask.shape}, "
                    f"got {ids.dtype} of shape {ids.shape}"
                )
            if ids.size and ids.min() < lowest:
                raise ValueError(f"{name}: expected {lowest} or more, got {ids.min()}")
            if (ids[~self.mask] != lowest).any():
                raise ValueError(f"{name}: expected {lowest} where mask has no token")
        if self.words is not None and (self.words[self.mask] == 0).any():
            raise ValueError("words: expected 1 or more where mask has a token, got 0")

    def __len__(self) -> int:
        """How many sentences."""
        return len(self.mask)

    @cached_property
    def lengths(self) -> IntArray:
        """Tokens of each sentence: (n,)."""
        return text.sentence_lengths(self.mask)

    @property
    def n_labelled(self) -> int:
        """How many tokens have a label."""
        return int((self.tags != UNLABELLED).sum())

    def rows(self, rows: IntArray) -> Tagged:
        """Some of the sentences, cut to the longest of them."""
        longest = int(self.lengths[rows].max(initial=0))
        return Tagged(
            self.layers[rows, :, :longest],
            self.mask[rows, :longest],
            self.tags[rows, :longest],
            None if self.words is None else self.words[rows, :longest],
        )

    def labelled_tokens(self) -> Tagged:
        """Each labelled token as a row of its own.

        All that a tagger without a recurrent layer looks at: for one it changes nothing but the
        time (and layer-norm statistics).
        """
        labelled = self.tags != UNLABELLED
        return Tagged(
            np.ascontiguousarray(self.layers.transpose(0, 2, 1, 3)[labelled][:, :, None]),
            np.ones((self.n_labelled, 1), dtype=bool),
            self.tags[labelled][:, None],
            None if self.words is None else self.words[labelled][:, None],
        )

    def batches(self, batch_size: int, rng: np.random.Generator | None = None) -> list[IntArray]:
        """Row numbers of batches of nearly equal length: `text.length_bucketed_batches`."""
        return text.length_bucketed_batches(self.lengths, batch_size, rng)


@dataclass(frozen=True)
class TaggedText:
    """Sentences with a tag, or None, for each token.

    Attributes
    ----------
    sentences : sequence of token lists
    tags : sequence of tag lists, as long as the sentences
    tag_names : tuple of str; a tag's number is its place here

    Raises
    ------
    ValueError
        If a sentence and its tags differ in length, or a name stands twice among the names.
    TypeError
        For a string where a list of tags is expected.
    KeyError
        For a tag that isn't among the names.

    Examples
    --------
    >>> data = TaggedText([["the", "bank"], ["bank"]], [["DET", "NOUN"], [None]], ("DET", "NOUN"))
    >>> data.tag_ids().tolist()
    [[0, 1], [-1, -1]]

    Book: chapter 5, "Training the tagger".
    """

    sentences: Sequence[Sequence[str]]
    tags: Sequence[Sequence[str | None]]
    tag_names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse tags that don't fit."""
        text.checked_sentences(self.sentences)
        if len(self.sentences) != len(self.tags):
            raise ValueError(
                f"tags: expected one list for each of {len(self.sentences)} sentences, "
                f"got {len(self.tags)}"
            )
        if isinstance(self.tag_names, str) or len(set(self.tag_names)) != len(self.tag_names):
            raise ValueError(
                f"tag_names: expected a tuple of names, each once, got {self.tag_names!r}"
            )
        known = {*self.tag_names, None}
        for row, (sentence, tags) in enumerate(zip(self.sentences, self.tags, strict=True)):
            if isinstance(tags, str):
                raise TypeError(f"tags[{row}]: expected a list of tags, got the string {tags!r}")
            if len(sentence) != len(tags):
                raise ValueError(
                    f"tags[{row}]: expected one for each of {len(sentence)} tokens, got {len(tags)}"
                )
            for tag in tags:
                if tag not in known:
                    raise KeyError(f"tags[{row}]: {tag!r} is not among {', '.join(self.tag_names)}")

    def tag_ids(self) -> IntArray:
        """(n, tokens) int64, `UNLABELLED` where there is none."""
        numbers: dict[str | None, int] = {
            name: number for number, name in enumerate(self.tag_names)
        }
        numbers[None] = UNLABELLED
        shift = -UNLABELLED  # padded with 0, which then becomes UNLABELLED
        return text.pad([np.array([numbers[t] + shift for t in row]) for row in self.tags]) - shift

    def with_layers(
        self, layers: Array, mask: BoolArray, vocabulary: Vocabulary | None = None
    ) -> Tagged:
        """Join what an extractor made of ``sentences``, and word ids if given a vocabulary.

        Layers that still hold the boundary symbols are refused: their tokens don't line up.
        """
        lengths = [len(sentence) for sentence in self.sentences]
        if text.sentence_lengths(mask).tolist() != lengths:
            raise ValueError(
                "mask: expected the tokens of each sentence and no boundary symbols, "
                f"got {text.sentence_lengths(mask)[:5].tolist()}... for {lengths[:5]}..."
            )
        words = None
        if vocabulary is not None:
            words = text.batch_word_ids(self.sentences, vocabulary, boundaries=False)
        return Tagged(layers, mask, self.tag_ids(), words)

    def embedded(
        self, embed: Embed, vocabulary: Vocabulary | None = None, batch_size: int = 64
    ) -> Tagged:
        """Run a frozen extractor once over everything, in batches of similar length."""
        lengths = [len(sentence) for sentence in self.sentences]
        batches = text.length_bucketed_batches(lengths, batch_size)
        found = [embed([self.sentences[row] for row in rows]) for rows in batches]
        _, n_layers, longest, dim = found[-1][0].shape  # the last holds the longest sentences
        layers = np.zeros((len(lengths), n_layers, longest, dim), dtype=found[-1][0].dtype)
        mask = np.zeros((len(lengths), longest), dtype=bool)
        for rows, (part, tokens) in zip(batches, found, strict=True):
            layers[rows, :, : part.shape[2]] = part
            mask[rows, : tokens.shape[1]] = tokens
        return self.with_layers(layers, mask, vocabulary)

    def rows(self, rows: Sequence[int] | IntArray) -> TaggedText:
        """Some of the sentences."""
        return replace(
            self,
            sentences=[self.sentences[row] for row in rows],
            tags=[self.tags[row] for row in rows],
        )
