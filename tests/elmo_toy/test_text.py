"""Characters, vocabularies, batches, boundaries and masks."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy import text

VOCABULARY = text.Vocabulary(["<S>", "</S>", "<UNK>", "the", "river", "bank", "."])
sentences = st.lists(st.lists(st.text(max_size=6), max_size=7), min_size=1, max_size=5)


# Recorded outputs of the original implementation


@pytest.fixture(scope="module")
def vectors(reference: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((reference / "char_ids_vectors.json").read_text("utf-8"))
    return loaded


def test_special_ids_are_the_originals(vectors: dict[str, Any]) -> None:
    assert vectors["special_ids_before_shift"] == {
        "bos": text.BEGIN_SENTENCE,
        "eos": text.END_SENTENCE,
        "bow": text.BEGIN_WORD,
        "eow": text.END_WORD,
        "pad": text.PADDING,
    }
    assert (vectors["shift"], vectors["mask_id"]) == (text.SHIFT, 0)


def test_every_recorded_word_is_spelled_identically(vectors: dict[str, Any]) -> None:
    for word, expected in vectors["char_ids_after_shift"].items():
        row = expected["ids_without_trailing_pad"]
        row = row + [vectors["pad_after_shift"]] * expected["pad_count"]
        assert text.character_ids(word, vectors["max_chars"]).tolist() == row, word
    for word, row in vectors["max_word_length_5"].items():
        assert text.character_ids(word, 5).tolist() == row, word


def test_recorded_character_batch(vectors: dict[str, Any]) -> None:
    expected = vectors["batcher"]
    ids = text.batch_character_ids(expected["sentences"])
    assert list(ids.shape) == expected["shape"]
    assert str(ids.dtype) == expected["dtype"]
    assert ids[:, :, :8].tolist() == expected["first4"]
    assert (~text.token_mask(ids)).astype(int).tolist() == expected["rows_all_zero"]


def test_recorded_word_batch(vectors: dict[str, Any]) -> None:
    expected = vectors["token_batcher"]
    vocabulary = text.Vocabulary(expected["vocab"])
    assert text.batch_word_ids(expected["sentences"], vocabulary).tolist() == expected["ids"]


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_recorded_training_windows(vectors: dict[str, Any], direction: str) -> None:
    expected = vectors["lm_windows"]
    windows = text.language_model_windows(
        itertools.cycle([line.split() for line in expected["text"]]),
        text.Vocabulary(expected["vocab"]),
        expected["batch_size"],
        expected["num_steps"],
        reverse=direction == "reverse",
    )
    for record, window in zip(expected[direction], windows, strict=False):
        assert window.token_ids.tolist() == record["token_ids"]
        assert window.next_token_id.tolist() == record["next_token_id"]


# Characters


@given(st.text(), st.integers(3, 60))
def test_a_spelling_is_begin_bytes_end_padding(token: str, length: int) -> None:
    row = (text.character_ids(token, length) - 1).tolist()
    assert len(row) == length
    end = row.index(text.END_WORD)
    assert row[0] == text.BEGIN_WORD
    assert set(row[end + 1 :]) <= {text.PADDING}
    if token not in ("<S>", "</S>"):
        assert bytes(row[1:end]) == token.encode("utf-8", "ignore")[: length - 2]


def test_the_end_mark_survives_a_cut_inside_a_character() -> None:
    assert text.character_ids("aé", 4).tolist() == [259, 98, 196, 260]


def test_what_has_no_bytes_in_utf_8_is_dropped() -> None:
    """A lone surrogate, half of a character of UTF-16; a question mark would be another word."""
    for token in ("a\ud800b", "\udfffab", "ab\ud800\ud800"):
        assert text.character_ids(token, 6).tolist() == text.character_ids("ab", 6).tolist()
    assert text.character_ids("\ud800", 4).tolist() == text.character_ids("", 4).tolist()


def test_only_the_exact_boundary_symbols_are_special() -> None:
    assert text.character_ids("<S>", 4).tolist() == [259, 257, 260, 261]
    assert text.character_ids("</S>", 4).tolist() == [259, 258, 260, 261]
    assert text.character_ids("<s>", 5).tolist() == [259, 61, 116, 63, 260]


def test_a_padding_word_is_spelled_like_any_other() -> None:
    ids = text.batch_character_ids([["a", "<PAD>"]], boundaries=False)
    assert text.token_mask(ids).tolist() == [[True, True]]


@pytest.mark.parametrize("length", [2, 0, -1])
def test_too_short_a_row_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=f"max_characters: expected at least 3, got {length}"):
        text.character_ids("bank", length)


def test_a_token_that_is_no_string_is_refused() -> None:
    with pytest.raises(TypeError, match=r"token: expected a string, got int 5"):
        text.character_ids(5)  # type: ignore[arg-type]  # wrong on purpose


# Vocabulary


def test_unknown_words_map_to_unk_and_never_to_no_token() -> None:
    assert VOCABULARY.ids(["zebra"]).tolist() == [2]
    without = text.Vocabulary(["<S>", "</S>", "First", "Third"])
    with pytest.raises(KeyError, match=r"word 'OOV' is not in the vocabulary of 4 words"):
        text.batch_word_ids([["OOV", "Third"]], without)


def test_strict_lookup_names_the_unknown_word() -> None:
    with pytest.raises(KeyError, match="'zebra'"):
        VOCABULARY.ids(["the", "zebra"], strict=True)


def test_a_vocabulary_needs_boundaries_and_distinct_words() -> None:
    with pytest.raises(ValueError, match=r"boundary symbol '</S>'"):
        text.Vocabulary(["<S>", "a"])
    with pytest.raises(ValueError, match=r"got 'a' on lines 3 and 4"):
        text.Vocabulary(["<S>", "</S>", "a", "a"])
    with pytest.raises(TypeError, match="got the string 'abc'"):
        text.Vocabulary("abc")
    numbers: Any = ["<S>", "</S>", 1]
    with pytest.raises(TypeError, match=r"words\[2\]: expected a string, got int 1"):
        text.Vocabulary(numbers)


@given(st.sets(st.text(st.characters(exclude_characters="\n\r", codec="utf-8")), max_size=9))
def test_a_vocabulary_file_reads_back(
    tmp_path_factory: pytest.TempPathFactory, words: set[str]
) -> None:
    path = tmp_path_factory.mktemp("vocabulary") / "vocabulary.txt"
    vocabulary = text.Vocabulary(["<S>", "</S>", *sorted(words - {"<S>", "</S>"})])
    vocabulary.write(path)
    assert text.Vocabulary.read(path).words == vocabulary.words


def test_a_word_with_a_line_break_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"line break"):
        text.Vocabulary(["<S>", "</S>", "a\nb"]).write(tmp_path / "vocabulary.txt")


@pytest.mark.parametrize("word", ["a\nb", "lone \ud800"])
def test_a_word_that_cannot_be_written_leaves_the_old_file_alone(tmp_path: Path, word: str) -> None:
    path = tmp_path / "vocabulary.txt"
    old = text.Vocabulary(["<S>", "</S>", "bank"])
    old.write(path)
    with pytest.raises(ValueError, match=r"words: a .* can't be written, got '(a\\n|lone)"):
        text.Vocabulary(["<S>", "</S>", word]).write(path)
    assert text.Vocabulary.read(path).words == old.words
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("max_words", [-1, 0, 2])
def test_a_vocabulary_keeps_its_three_symbols(max_words: int) -> None:
    with pytest.raises(ValueError, match=f"max_words: expected at least 3, got {max_words}"):
        text.Vocabulary.from_sentences([["a"]], max_words=max_words)


def test_vocabulary_by_frequency_then_alphabet() -> None:
    corpus = [["b", "a", "c"], ["c", "<S>"]]
    expected = ("<S>", "</S>", "<UNK>", "c", "a", "b")
    assert text.Vocabulary.from_sentences(corpus).words == expected
    assert text.Vocabulary.from_sentences(corpus, max_words=4).words == expected[:4]


# Batches, masks, boundaries


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ("the bank", r"sentences: expected a list of sentences.*got the string 'the bank'"),
        (["the bank"], r"sentences\[0\]: expected a list of tokens, got the string 'the bank'"),
        ([["a"], ["b", 3]], r"sentences\[1\]\[1\]: expected a string, got int 3"),
    ],
)
def test_a_string_is_not_a_list_of_tokens(given_: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        text.batch_character_ids(given_)
    with pytest.raises(TypeError, match=message):
        text.batch_word_ids(given_, VOCABULARY)


def test_no_sentence_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one sentence"):
        text.batch_character_ids([])


@given(sentences, st.booleans())
def test_lengths_count_the_tokens(batch: list[list[str]], boundaries: bool) -> None:
    ids = text.batch_character_ids(batch, 9, boundaries=boundaries)
    lengths = text.sentence_lengths(text.token_mask(ids))
    assert lengths.tolist() == [len(sentence) + 2 * boundaries for sentence in batch]


@given(sentences)
def test_removing_boundaries_undoes_adding_them(batch: list[list[str]]) -> None:
    ids = text.batch_character_ids(batch, 9)
    bare = text.batch_character_ids(batch, 9, boundaries=False)
    kept, mask = text.remove_boundaries(ids[:, None], text.token_mask(ids))
    assert np.array_equal(kept[:, 0], bare)
    assert np.array_equal(mask, text.token_mask(bare))


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=3))
def test_exactly_the_masks_with_holes_are_refused(rows: list[list[bool]]) -> None:
    holed = any(row != sorted(row, reverse=True) for row in rows)
    if holed:
        with pytest.raises(ValueError, match=r"row \d has a hole: position \d"):
            text.sentence_lengths(np.array(rows))
    else:
        assert text.sentence_lengths(np.array(rows)).tolist() == [sum(row) for row in rows]


def test_wrong_kinds_of_ids_and_masks_are_named() -> None:
    with pytest.raises(TypeError, match="expected integers, got float64"):
        text.token_mask(np.ones((2, 2)))  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        text.token_mask(np.ones(3, dtype=np.int64))
    with pytest.raises(ValueError, match=r"expected 0 .* got -1"):
        text.token_mask(np.array([[-1]]))
    with pytest.raises(ValueError, match=r"expected booleans .* got int64"):
        text.sentence_lengths(np.ones((1, 2), dtype=np.int64))
    with pytest.raises(ValueError, match=r"mask of shape \(1, 3\), got \(1, 2, 4, 5\)"):
        text.remove_boundaries(np.ones((1, 2, 4, 5)), np.ones((1, 3), dtype=np.bool_))


@given(sentences)
def test_types_and_occurrences_give_the_ids_back(batch: list[list[str]]) -> None:
    ids = text.batch_character_ids(batch, 9)
    found = text.Batch.from_ids(ids)
    table = np.concatenate([np.zeros((1, 9), dtype=np.int64), found.types])
    assert np.array_equal(table[found.occurrences], ids)
    assert len({row.tobytes() for row in found.types}) == len(found.types)


@given(st.lists(st.integers(1, 9), max_size=40), st.integers(1, 7), st.integers(0, 99))
def test_batches_hold_every_sentence_once(lengths: list[int], size: int, seed: int) -> None:
    batches = text.length_bucketed_batches(lengths, size, np.random.default_rng(seed))
    again = text.length_bucketed_batches(lengths, size, np.random.default_rng(seed))
    assert [batch.tolist() for batch in batches] == [batch.tolist() for batch in again]
    assert sorted(itertools.chain(*batches)) == list(range(len(lengths)))
    by_length = sorted(batches, key=lambda batch: [lengths[index] for index in batch])
    bounds = [(lengths[batch[0]], lengths[batch[-1]]) for batch in by_length]
    assert all(low[1] <= high[0] for low, high in itertools.pairwise(bounds))


def test_sentences_of_equal_length_meet_others_in_every_epoch() -> None:
    rng = np.random.default_rng(0)
    epochs = [text.length_bucketed_batches([3] * 20, 4, rng) for _ in range(3)]
    companies = {frozenset(frozenset(batch.tolist()) for batch in epoch) for epoch in epochs}
    in_order = frozenset(frozenset(range(start, start + 4)) for start in range(0, 20, 4))
    assert len(companies | {in_order}) == 4


def test_batches_come_in_another_order_in_every_epoch() -> None:
    """Not from the shortest sentences to the longest."""
    rng = np.random.default_rng(0)
    orders = {
        tuple(len_[0] for len_ in text.length_bucketed_batches(range(9), 1, rng)) for _ in range(3)
    }
    assert len(orders | {tuple(range(9))}) == 4


def test_batch_size_must_be_a_positive_integer() -> None:
    with pytest.raises(ValueError, match="batch_size: expected at least 1, got 0"):
        text.length_bucketed_batches([1], 0)
    for wrong in (1.5, True, "2"):
        with pytest.raises(TypeError, match=f"batch_size: expected an integer, got {wrong!r}"):
            text.length_bucketed_batches([1], wrong)  # type: ignore[arg-type]  # on purpose


@given(sentences, st.integers(1, 3), st.integers(1, 5), st.booleans())
def test_windows_pair_each_token_with_its_next(
    batch: list[list[str]], rows: int, steps: int, reverse: bool
) -> None:
    vocabulary = text.Vocabulary.from_sentences(batch)
    order = -1 if reverse else 1
    pairs = {
        pair
        for sentence in batch
        for pair in itertools.pairwise(vocabulary.ids(text.add_boundaries(sentence))[::order])
    }
    windows = text.language_model_windows(batch, vocabulary, rows, steps, reverse=reverse)
    for window in windows:
        assert window.token_ids.shape == (rows, steps)
        assert set(zip(window.token_ids.flat, window.next_token_id.flat, strict=True)) <= pairs


@pytest.mark.parametrize(
    ("sizes", "message"),
    [((0, 2), "batch_size: expected at least 1, got 0"), ((1, 0), "steps: expected at least 1")],
)
def test_windows_without_room_are_refused(sizes: tuple[int, int], message: str) -> None:
    """They would be empty, and never end."""
    words = text.Vocabulary(["<S>", "</S>", "the"])
    with pytest.raises(ValueError, match=message):
        next(text.language_model_windows([["the"]], words, *sizes))


@pytest.mark.parametrize(
    "make", [lambda words: (w for w in words), set, lambda words: dict.fromkeys(words)]
)
def test_what_is_read_once_or_in_no_order_is_refused(make: Any) -> None:
    """A check would use a generator up, and an empty sentence come out."""
    words = make(["the", "bank"])
    for call in (lambda: text.add_boundaries(words), lambda: text.checked_sentences([words])):
        with pytest.raises(
            TypeError, match=f"expected a list of tokens, got a {type(words).__name__}"
        ):
            call()
    with pytest.raises(
        TypeError, match=r"sentences: expected a list of sentences, .* got a generator"
    ):
        text.checked_sentences(sentence for sentence in [["the"]])
