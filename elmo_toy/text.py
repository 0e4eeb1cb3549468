"""Text to numbers: character ids, vocabularies, batches, sentence boundaries, masks.

A token is a row of character ids, or one word id. In both, **0 means "no token here"**: every other
id is shifted up by one to make room for it. A batch is right-padded, so a row of the mask is a run
of True followed by a run of False; a mask with a hole in it is refused, because counting its
True values would then give the wrong length.

Book: chapter 2, "Characters to token vector".
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

SENTENCE_START = "<S>"
SENTENCE_END = "</S>"
UNKNOWN = "<UNK>"

# Ids before the shift: 0 to 255 are the bytes of UTF-8.
BEGIN_SENTENCE = 256
END_SENTENCE = 257
BEGIN_WORD = 258
END_WORD = 259
PADDING = 260
SHIFT = 1
CHARACTER_IDS = 261
"""How many character ids there are, "no token here" not counted."""


def character_ids(token: str, max_characters: int = 50) -> IntArray:
    """Spell a token: ``[begin, bytes of UTF-8..., end, padding...] + 1``.

    A long token is cut at ``max_characters - 2`` *bytes* (which may split a character); the end
    mark is always kept. ``<S>`` and ``</S>`` become the two boundary symbols.

    Parameters
    ----------
    token : str
    max_characters : int
        Length of the row, at least 3 (the released models: 50).

    Returns
    -------
    (max_characters,) int64, every id between 1 and 261.

    Raises
    ------
    TypeError
        If the token is not a string.
    ValueError
        If ``max_characters`` is below 3.

    Examples
    --------
    >>> character_ids("bank", 8).tolist()
    [259, 99, 98, 111, 108, 260, 261, 261]
    >>> character_ids("banks", 6).tolist()
    [259, 99, 98, 111, 108, 260]

    Source: allenai/bilm-tf, ``data.py``, ``UnicodeCharsVocabulary``.
    Book: chapter 2, "Characters to token vector".
    """
    if not isinstance(token, str):
        raise TypeError(f"token: expected a string, got {type(token).__name__} {token!r}")
    if max_characters < 3:
        raise ValueError(f"max_characters: expected at least 3, got {max_characters}")
    if token == SENTENCE_START:
        content = [BEGIN_SENTENCE]
    elif token == SENTENCE_END:
        content = [END_SENTENCE]
    else:
        # "ignore": a lone surrogate has no bytes in UTF-8; the released code drops it too.
        content = list(token.encode("utf-8", "ignore")[: max_characters - 2])
    row = np.full(max_characters, PADDING, dtype=np.int64)
    row[: len(content) + 2] = [BEGIN_WORD, *content, END_WORD]
    return row + SHIFT


class Vocabulary:
    """The words that a language model can predict, one a line in their file.

    Parameters
    ----------
    words : sequence of str
        Distinct. ``<S>`` and ``</S>`` must be among them; where ``<UNK>`` is, it stands in for
        every word that isn't.

    Raises
    ------
    ValueError
        On a repeated word or a missing boundary symbol.
    TypeError
        On a word that is no string, or one string in place of words.

    Examples
    --------
    >>> vocabulary = Vocabulary(["<S>", "</S>", "<UNK>", "the", "bank"])
    >>> vocabulary.ids(["the", "zebra"]).tolist()
    [3, 2]
    >>> vocabulary.id("bank"), len(vocabulary), "zebra" in vocabulary
    (4, 5, False)

    Book: chapter 2, "Two factorisations".
    """

    def __init__(self, words: Sequence[str]) -> None:
        if isinstance(words, str):
            raise TypeError(f"words: expected a sequence of strings, got the string {words!r}")
        self.words = tuple(words)
        checked_tokens(self.words, "words")
        self._ids = {word: row for row, word in enumerate(self.words)}
        if len(self._ids) != len(self.words):
            row = next(row for row, word in enumerate(self.words) if self._ids[word] != row)
            raise ValueError(
                f"words: expected distinct words, got {self.words[row]!r} on lines {row + 1} "
                f"and {self._ids[self.words[row]] + 1}"
            )
        for symbol in (SENTENCE_START, SENTENCE_END):
            if symbol not in self._ids:
                raise ValueError(f"words: expected the boundary symbol {symbol!r} among them")

    @classmethod
    def from_sentences(
        cls, sentences: Iterable[Sequence[str]], max_words: int | None = None
    ) -> "Vocabulary":
        """Boundaries, ``<UNK>``, then words from the most to the least frequent.

        Words of equal frequency are ordered alphabetically; ``max_words`` counts the three symbols,
        which stay: a number below 3 is a ValueError.

        >>> Vocabulary.from_sentences([["b", "a"], ["b"]]).words
        ('<S>', '</S>', '<UNK>', 'b', 'a')
        """
        if max_words is not None:
            checked_count(max_words, "max_words", 3)
        counts: dict[str, int] = {}
        for sentence in sentences:
            for token in checked_tokens(sentence):
                counts[token] = counts.get(token, 0) + 1
        symbols = [SENTENCE_START, SENTENCE_END, UNKNOWN]
        by_frequency = sorted(counts.keys() - set(symbols), key=lambda word: (-counts[word], word))
        return cls((symbols + by_frequency)[:max_words])

    @classmethod
    def read(cls, path: Path) -> "Vocabulary":
        """Read a file with one word a line."""
        text = path.read_text(encoding="utf-8")
        # Not splitlines(): a word may be a character that Unicode counts as a line break.
        return cls(text.removesuffix("\n").split("\n"))

    def write(self, path: Path) -> None:
        """Write a file with one word a line, whole or not at all.

        Raises ValueError for a word with a line break, or one that UTF-8 can't hold.
        """
        for word in self.words:
            if "\n" in word or "\r" in word:
                raise ValueError(f"words: a line break can't be written, got {word!r}")
            if word.encode("utf-8", "ignore") != word.encode("utf-8", "surrogatepass"):
                raise ValueError(f"words: a lone surrogate can't be written, got {word!r}")
        part = path.with_name(f".{path.name}.part")
        part.write_bytes(("\n".join(self.words) + "\n").encode("utf-8"))
        part.replace(path)

    def __len__(self) -> int:
        """How many words, symbols included."""
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        """Whether it has a line for the word itself."""
        return word in self._ids

    def id(self, word: str, *, strict: bool = False) -> int:
        """Line of a word, counted from 0.

        An unknown word has the line of ``<UNK>``; with ``strict``, or where there is no ``<UNK>``,
        it raises a KeyError that names it. (It never becomes "no token here".)
        """
        row = self._ids.get(word)
        if row is None and not strict:
            row = self._ids.get(UNKNOWN)
        if row is None:
            why = "and no other may stand in for it" if strict else f"which holds no {UNKNOWN!r}"
            raise KeyError(f"word {word!r} is not in the vocabulary of {len(self)} words, {why}")
        return row

    def ids(self, tokens: Sequence[str], *, strict: bool = False) -> IntArray:
        """Lines of the words of one sentence: (tokens,) int64. See `id` for unknown words."""
        return np.array(
            [self.id(token, strict=strict) for token in checked_tokens(tokens)], dtype=np.int64
        )


def checked_count(value: int, name: str, least: int = 1) -> int:
    """Return a whole number, or say that it is none or too small.

    >>> checked_count(-5, "batch_size")
    Traceback (most recent call last):
    ValueError: batch_size: expected at least 1, got -5
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name}: expected an integer, got {value!r}")
    if value < least:
        raise ValueError(f"{name}: expected at least {least}, got {value}")
    return int(value)


def checked_flag(value: bool, name: str) -> bool:
    """Return True or False, or say that it is neither: a string is true, whatever it says.

    >>> checked_flag("no", "positions")
    Traceback (most recent call last):
    TypeError: positions: expected True or False, got 'no'
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def checked_generator(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator of random numbers, or say that it is none.

    Training asks: without one the sentences would keep their order, the same in every epoch, and
    nothing would be dropped out.

    >>> checked_generator(None)
    Traceback (most recent call last):
    TypeError: rng: expected a numpy Generator, got None
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng: expected a numpy Generator, got {rng!r}")
    return rng


def checked_tokens(tokens: Sequence[str], name: str = "tokens") -> Sequence[str]:
    """Return one sentence's tokens, or say what stands where a list of strings was expected."""
    if isinstance(tokens, str | bytes):
        raise TypeError(
            f"{name}: expected a list of tokens, got the string {tokens!r}; "
            "split it into tokens first"
        )
    _checked_order(tokens, name, "tokens")
    for position, token in enumerate(tokens):
        if not isinstance(token, str):
            raise TypeError(
                f"{name}[{position}]: expected a string, got {type(token).__name__} {token!r}"
            )
    return tokens


def _checked_order(values: object, name: str, what: str) -> None:
    """Refuse what can be read only once, or in no order: a check would use a generator up."""
    if not isinstance(values, Sequence | np.ndarray):
        raise TypeError(f"{name}: expected a list of {what}, got a {type(values).__name__}")


def checked_sentences(sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Return a batch of sentences, or say what stands where a list of them was expected."""
    if isinstance(sentences, str | bytes):
        raise TypeError(
            "sentences: expected a list of sentences, each a list of tokens, "
            f"got the string {sentences!r}"
        )
    _checked_order(sentences, "sentences", "sentences, each a list of tokens")
    if len(sentences) == 0:
        raise ValueError("sentences: expected at least one sentence, got none")
    for row, sentence in enumerate(sentences):
        checked_tokens(sentence, f"sentences[{row}]")
    return sentences


def add_boundaries(tokens: Sequence[str]) -> list[str]:
    """Put the sentence between its boundary symbols.

    >>> add_boundaries(["river"])
    ['<S>', 'river', '</S>']
    """
    return [SENTENCE_START, *checked_tokens(tokens), SENTENCE_END]


def pad(rows: Sequence[IntArray]) -> IntArray:
    """Stack rows of unequal length, filled up with 0 on the right.

    >>> pad([np.array([5, 6]), np.array([7])]).tolist()
    [[5, 6], [7, 0]]
    """
    shape = (len(rows), max((len(row) for row in rows), default=0), *rows[0].shape[1:])
    out = np.zeros(shape, dtype=np.int64)
    for place, row in zip(out, rows, strict=True):
        place[: len(row)] = row
    return out


def batch_character_ids(
    sentences: Sequence[Sequence[str]], max_characters: int = 50, *, boundaries: bool = True
) -> IntArray:
    """Spell a batch of sentences: (batch, tokens, max_characters) int64, 0 where no token is.

    With ``boundaries`` (the default) the two symbols stand around every sentence.

    >>> batch_character_ids([["a", "b"], []], 4)[:, :, 1].tolist()
    [[257, 98, 99, 258], [257, 258, 0, 0]]
    """
    spelled: dict[str, IntArray] = {}

    def row(token: str) -> IntArray:
        if token not in spelled:
            spelled[token] = character_ids(token, max_characters)
        return spelled[token]

    rows = []
    for sentence in checked_sentences(sentences):
        tokens = add_boundaries(sentence) if boundaries else sentence
        rows.append(
            np.array([row(token) for token in tokens], dtype=np.int64).reshape(
                len(tokens), max_characters
            )
        )
    return pad(rows)


def batch_word_ids(
    sentences: Sequence[Sequence[str]],
    vocabulary: Vocabulary,
    *,
    boundaries: bool = True,
    strict: bool = False,
) -> IntArray:
    """Look a batch of sentences up: (batch, tokens) int64, line of the word + 1, 0 for no token.

    Unknown words: see `Vocabulary.id`.

    >>> vocabulary = Vocabulary(["<S>", "</S>", "<UNK>", "the", "bank"])
    >>> batch_word_ids([["the", "bank"], ["zebra"]], vocabulary).tolist()
    [[1, 4, 5, 2], [1, 3, 2, 0]]
    """
    return pad(
        [
            vocabulary.ids(add_boundaries(sentence) if boundaries else sentence, strict=strict)
            + SHIFT
            for sentence in checked_sentences(sentences)
        ]
    )


def token_mask(ids: IntArray) -> BoolArray:
    """Where a token is: (batch, tokens) bool, from word ids or from rows of character ids.

    >>> token_mask(np.array([[1, 4, 2], [1, 2, 0]])).tolist()
    [[True, True, True], [True, True, False]]
    """
    ids = np.asarray(ids)
    if not np.issubdtype(ids.dtype, np.integer):
        raise TypeError(f"ids: expected integers, got {ids.dtype}")
    if ids.ndim not in (2, 3):
        raise ValueError(
            "ids: expected word ids (batch, tokens) or character ids "
            f"(batch, tokens, characters), got shape {ids.shape}"
        )
    if ids.size and ids.min() < 0:
        raise ValueError(f"ids: expected 0 (no token) or more, got {ids.min()}")
    present: BoolArray = np.any(ids > 0 if ids.ndim == 3 else (ids > 0)[:, :, None], axis=2)
    return present


def sentence_lengths(mask: BoolArray) -> IntArray:
    """Count the tokens of each row: (batch,) int64.

    Raises
    ------
    ValueError
        If a row of the mask has a hole: a token that follows a "no token here".

    >>> sentence_lengths(np.array([[True, True, False], [False, False, False]])).tolist()
    [2, 0]
    """
    mask = np.asarray(mask)
    if mask.ndim != 2 or mask.dtype != np.bool_:
        raise ValueError(
            f"mask: expected booleans (batch, tokens), got {mask.dtype} of shape {mask.shape}"
        )
    holes = ~mask[:, :-1] & mask[:, 1:]
    if holes.any():
        row, position = (int(index) for index in np.argwhere(holes)[0])
        raise ValueError(
            f"mask: row {row} has a hole: position {position} holds no token, "
            f"but position {position + 1} does; expected padding on the right only"
        )
    lengths: IntArray = mask.sum(axis=1, dtype=np.int64)
    return lengths


def remove_boundaries(
    layers: npt.NDArray[Any], mask: BoolArray
) -> tuple[npt.NDArray[Any], BoolArray]:
    """Drop the first and the last token of each row.

    Parameters
    ----------
    layers : (batch, layers, tokens, dim)
    mask : (batch, tokens) bool

    Returns
    -------
    (batch, layers, tokens - 2, dim), 0 where no token is, and its mask (batch, tokens - 2).
    A row of two tokens or fewer (an empty sentence) comes out empty.

    Raises
    ------
    ValueError
        If the shapes disagree, or the mask has a hole.

    >>> layers = np.arange(1.0, 9.0).reshape(2, 1, 4, 1)
    >>> mask = np.array([[True, True, True, True], [True, True, True, False]])
    >>> kept, kept_mask = remove_boundaries(layers, mask)
    >>> kept[:, 0, :, 0].tolist(), kept_mask.tolist()
    ([[2.0, 3.0], [6.0, 0.0]], [[True, True], [True, False]])
    """
    lengths = sentence_lengths(mask)
    if layers.ndim != 4 or (layers.shape[0], layers.shape[2]) != mask.shape:
        raise ValueError(
            "layers: expected (batch, layers, tokens, dim) for a mask of shape "
            f"{mask.shape}, got {layers.shape}"
        )
    tokens = max(mask.shape[1] - 2, 0)
    kept: BoolArray = np.arange(tokens) < (lengths - 2)[:, None]
    inner = layers[:, :, 1 : tokens + 1]
    return np.where(kept[:, None, :, None], inner, layers.dtype.type(0)), kept


@dataclass(frozen=True)
class Batch:
    """Sentences as types and occurrences: each spelling is encoded once, wherever it occurs.

    Attributes
    ----------
    types : (types, characters) int64 character ids, or (types,) int64 word ids; none of them 0
    occurrences : (batch, tokens) int64
        0 for no token, otherwise the row of ``types`` + 1.
    """

    types: IntArray
    occurrences: IntArray

    @classmethod
    def from_ids(cls, ids: IntArray) -> "Batch":
        """Find the distinct tokens of a batch of ids, word ids or character ids.

        >>> batch = Batch.from_ids(np.array([[7, 9, 7], [9, 0, 0]]))
        >>> batch.types.tolist(), batch.occurrences.tolist()
        ([7, 9], [[1, 2, 1], [2, 0, 0]])
        """
        mask = token_mask(ids)
        present = np.ascontiguousarray(ids[mask], dtype=np.int64)
        if present.ndim == 2:
            # One opaque item a row: far faster than np.unique(axis=0).
            rows = present.view(np.dtype((np.void, present.shape[1] * present.itemsize)))[:, 0]
            _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
        else:
            _, first, inverse = np.unique(present, return_index=True, return_inverse=True)
        occurrences = np.zeros(mask.shape, dtype=np.int64)
        occurrences[mask] = inverse + 1
        return cls(present[first], occurrences)

    @property
    def mask(self) -> BoolArray:
        """Where a token is: (batch, tokens)."""
        return token_mask(self.occurrences)

    @property
    def lengths(self) -> IntArray:
        """Tokens of each row: (batch,)."""
        return sentence_lengths(self.mask)


def length_bucketed_batches(
    lengths: Sequence[int] | IntArray, batch_size: int, rng: np.random.Generator | None = None
) -> list[IntArray]:
    """Cut a corpus into batches of sentences of nearly equal length, in random order.

    Parameters
    ----------
    lengths : (sentences,)
    batch_size : int
    rng : numpy Generator, optional
        Shuffles sentences of equal length among themselves, then the batches. Without it, both
        keep their order (shortest first).

    Returns
    -------
    List of index arrays; together they hold every sentence once.

    >>> [batch.tolist() for batch in length_bucketed_batches([5, 2, 4, 2], 2)]
    [[1, 3], [2, 0]]
    """
    checked_count(batch_size, "batch_size")
    lengths = np.asarray(lengths, dtype=np.int64)
    order = np.arange(len(lengths)) if rng is None else rng.permutation(len(lengths))
    order = order[np.argsort(lengths[order], kind="stable")]
    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    if rng is not None:
        batches = [batches[index] for index in rng.permutation(len(batches))]
    return batches


class Window(NamedTuple):
    """One step of the original training: ids of the vocabulary, unshifted, no padding."""

    token_ids: IntArray
    next_token_id: IntArray


def language_model_windows(
    sentences: Iterable[Sequence[str]],
    vocabulary: Vocabulary,
    batch_size: int,
    steps: int,
    *,
    reverse: bool = False,
) -> Iterator[Window]:
    """Pack consecutive sentences into rows of exactly ``steps`` tokens, as the original trains.

    A row reads ``<S>`` and the words; its targets are the next ids, ``</S>`` last; when a
    sentence is used up, the row goes on with the next one. With ``reverse`` the sentence is turned
    round, begins with ``</S>`` and ends with the target ``<S>``. A window that the text doesn't
    fill is dropped.

    Returns
    -------
    Iterator of (token_ids, next_token_id), each (batch_size, steps) int64.

    Raises
    ------
    ValueError, TypeError
        If batch_size or steps is no whole number above 0: empty windows would never end.

    >>> vocabulary = Vocabulary(["<S>", "</S>", "the", "bank"])
    >>> window = next(language_model_windows([["the", "bank"]], vocabulary, 1, 3, reverse=True))
    >>> window.token_ids.tolist(), window.next_token_id.tolist()
    ([[1, 3, 2]], [[3, 2, 0]])

    Source: allenai/bilm-tf, ``data.py``, ``_get_batch``.
    Book: chapter 2, "The one-position shift".
    """
    checked_count(batch_size, "batch_size")
    checked_count(steps, "steps")
    step = -1 if reverse else 1
    stream = (vocabulary.ids(add_boundaries(sentence))[::step] for sentence in sentences)
    rows: list[IntArray] = [np.empty(0, dtype=np.int64)] * batch_size
    while True:
        window = Window(*np.empty((2, batch_size, steps), dtype=np.int64))
        for row in range(batch_size):
            filled = 0
            while filled < steps:
                if len(rows[row]) < 2:  # what is left of a sentence has no next token
                    following = next(stream, None)
                    if following is None:
                        return
                    rows[row] = following
                taken = min(len(rows[row]) - 1, steps - filled)
                window.token_ids[row, filled : filled + taken] = rows[row][:taken]
                window.next_token_id[row, filled : filled + taken] = rows[row][1 : taken + 1]
                rows[row] = rows[row][taken:]
                filled += taken
        yield window
