"""Tagged sentences as text and as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from elmo_toy._checks import Array
from elmo_toy.task.data import UNLABELLED, Tagged, TaggedText
from elmo_toy.text import BoolArray, Vocabulary

MakeBatch = Callable[..., Tagged]

TEXT = TaggedText(
    [["the", "bank"], ["bank"], ["the", "zebra", "bank"]],
    [["DET", None], ["NOUN"], [None, None, "NOUN"]],
    ("DET", "NOUN"),
)
WORDS = Vocabulary(["<S>", "</S>", "<UNK>", "the", "bank"])


def lengths_as_layers(sentences: Sequence[Sequence[str]]) -> tuple[Array, BoolArray]:
    """A toy extractor: a token's two layers are its word's length and the sentence's."""
    longest = max(len(sentence) for sentence in sentences)
    mask = np.arange(longest) < np.array([[len(sentence)] for sentence in sentences])
    layers = np.zeros((len(sentences), 2, longest, 1), dtype=np.float32)
    for row, sentence in enumerate(sentences):
        layers[row, 0, : len(sentence), 0] = [len(word) for word in sentence]
        layers[row, 1, : len(sentence), 0] = len(sentence)
    return layers, mask


def test_text_becomes_arrays_in_its_own_order() -> None:
    for batch_size in (1, 2, 64):
        data = TEXT.embedded(lengths_as_layers, WORDS, batch_size)
        assert data.tags.tolist() == [[0, -1, -1], [1, -1, -1], [-1, -1, 1]]
        assert data.words is not None
        assert data.words.tolist() == [[4, 5, 0], [5, 0, 0], [4, 3, 5]]
        assert data.layers[:, 0, :, 0].tolist() == [[3, 4, 0], [4, 0, 0], [3, 5, 4]]
        assert data.layers[:, 1, 0, 0].tolist() == [2, 1, 3]
        assert data.layers.dtype == np.float32
        assert (len(data), data.n_labelled, data.lengths.tolist()) == (3, 3, [2, 1, 3])


def test_rows_are_cut_to_the_longest_of_them() -> None:
    data = TEXT.embedded(lengths_as_layers, WORDS)
    part = data.rows(np.array([1, 0]))
    assert part.layers.shape == (2, 2, 2, 1)
    assert part.tags.tolist() == [[1, -1], [0, -1]]
    text = TEXT.rows([1, 0]).embedded(lengths_as_layers, WORDS)
    for name in ("layers", "mask", "tags", "words"):
        assert np.array_equal(getattr(part, name), getattr(text, name)), name


def test_labelled_tokens_become_rows() -> None:
    single = TEXT.embedded(lengths_as_layers, WORDS).labelled_tokens()
    assert single.layers[:, :, 0, 0].tolist() == [[3, 2], [4, 1], [4, 3]]
    assert single.tags.tolist() == [[0], [1], [1]]
    assert single.words is not None
    assert single.words.tolist() == [[4], [5], [5]]
    assert TEXT.embedded(lengths_as_layers).labelled_tokens().words is None


def test_batches_hold_every_sentence_once(make_batch: MakeBatch) -> None:
    batches = make_batch().batches(2, np.random.default_rng(0))
    assert sorted(np.concatenate(batches).tolist()) == [0, 1, 2]


def test_layers_with_boundary_symbols_are_refused() -> None:
    layers, mask = lengths_as_layers([["<S>", *sentence, "</S>"] for sentence in TEXT.sentences])
    with pytest.raises(ValueError, match=r"no boundary symbols, got \[4, 3, 5\].* for \[2, 1, 3\]"):
        TEXT.with_layers(layers, mask)


@pytest.mark.parametrize("batch_size", [1, 64])
def test_an_extractor_that_keeps_boundaries_is_refused_in_any_batch(batch_size: int) -> None:
    def keeping(sentences: Sequence[Sequence[str]]) -> tuple[Array, BoolArray]:
        return lengths_as_layers([["<S>", *sentence, "</S>"] for sentence in sentences])

    with pytest.raises(ValueError, match=r"no boundary symbols, got \[4, 3, 5\]"):
        TEXT.embedded(keeping, batch_size=batch_size)


def test_text_that_does_not_fit_is_named() -> None:
    with pytest.raises(ValueError, match=r"tags: expected one list for each of 1 sentences, got 0"):
        TaggedText([["a"]], [], ("A",))
    with pytest.raises(ValueError, match=r"tags\[0\]: expected one for each of 2 tokens, got 1"):
        TaggedText([["a", "b"]], [["A"]], ("A",))
    with pytest.raises(KeyError, match=r"tags\[0\]: 'B' is not among A"):
        TaggedText([["a"]], [["B"]], ("A",))
    with pytest.raises(TypeError, match=r"tags\[0\]: expected a list of tags, got the string 'AB'"):
        TaggedText([["a", "b"]], ["AB"], ("A", "B"))
    for names in ("AB", ("A", "A")):
        with pytest.raises(ValueError, match="tag_names: expected a tuple of names, each once"):
            TaggedText([["a"]], [["A"]], names)  # type: ignore[arg-type] # a string is none


def test_arrays_that_do_not_belong_together_are_named(make_batch: MakeBatch) -> None:
    batch = make_batch()
    assert batch.words is not None
    hole = batch.mask.copy()
    hole[0, 0] = False
    tags, words, negative = batch.tags.copy(), batch.words.copy(), batch.tags.copy()
    tags[1, 3], words[1, 3], negative[0, 0] = 0, 1, -2
    nothing = np.where(batch.words == batch.words[0, 0], 0, batch.words)
    for change, message in (
        ({"layers": batch.layers[:, :, 1:]}, r"layers: expected .* mask of shape \(3, 4\)"),
        ({"mask": hole}, "mask: row 0 has a hole"),
        ({"tags": batch.tags[:, 1:]}, r"tags: expected integers of shape \(3, 4\)"),
        ({"tags": batch.tags.astype(float)}, "tags: expected integers .* got float64"),
        ({"tags": tags}, "tags: expected -1 where mask has no token"),
        ({"tags": negative}, "tags: expected -1 or more, got -2"),
        ({"words": words}, "words: expected 0 where mask has no token"),
        ({"words": nothing}, "words: expected 1 or more where mask has a token, got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            replace(batch, **change)
    for change, message in (
        (
            {"layers": np.zeros(batch.layers.shape, int)},
            "layers: expected float32 or float64, got int64",
        ),
        ({"layers": batch.layers.astype(np.float16)}, "layers: .* got float16"),
        ({"mask": batch.mask.tolist()}, "mask: expected an array, got a list"),
        ({"words": batch.words.tolist()}, "words: expected an array, got a list"),
    ):
        with pytest.raises(TypeError, match=message):
            replace(batch, **change)
    assert UNLABELLED == -1
