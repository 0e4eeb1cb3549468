"""All layers by sentence: exact, in order, findable, whole; and larger than memory."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_toy.bilm.model import BiLM
from elmo_toy.extractor import FrozenExtractor
from elmo_toy.extractor import writing as writing_module
from elmo_toy.extractor.files import CacheError
from elmo_toy.extractor.layer_cache import LayerCache, index_key, pad_layers
from elmo_toy.extractor.writing import write_layer_cache
from elmo_toy.scalar_mix import ScalarMix

MakeModel = Callable[..., BiLM]

SENTENCES = [
    ["the", "river", "bank", "flooded"],
    [],
    ["bank"],
    ["and/or", "a b", "\t", "."],
    ["bank"],
    ["the", "bank"],
    *([f"w{line}"] * (line % 4) for line in range(6, 13)),
]


@pytest.fixture
def extractor(make_model: MakeModel) -> FrozenExtractor:
    return FrozenExtractor(make_model(characters=True, dtype=np.float32))


@pytest.fixture
def path(extractor: FrozenExtractor, tmp_path: Path) -> Path:
    write_layer_cache(tmp_path / "layers.hdf5", extractor, SENTENCES)
    return tmp_path / "layers.hdf5"


# Layout and round trips


def test_the_file_has_the_original_layout(path: Path) -> None:
    """Readers of the original's files count ``len(keys) - 1`` sentences and ask by str(line)."""
    with h5py.File(path) as file:
        names = set(file)
        assert names == {str(line) for line in range(13)} | {"sentence_to_index"}
        for line, sentence in enumerate(SENTENCES):
            assert file[str(line)].shape == (3, len(sentence), 6)
            assert file[str(line)].dtype == np.float32
            assert file[str(line)].chunks is None
        assert file["sentence_to_index"].shape == (1,)
        index = json.loads(file["sentence_to_index"][0])
        assert index["the river bank flooded"] == "0"


def test_round_trips_are_exact(path: Path, extractor: FrozenExtractor) -> None:
    layers, mask = extractor.embed(SENTENCES)
    with LayerCache(path, extractor) as cache:
        for line, stored in enumerate(cache):
            assert stored.tobytes() == layers[line][:, mask[line]].tobytes()
            assert stored.tobytes() == cache[line].tobytes()


def test_iteration_is_in_the_order_of_the_input_and_not_of_the_names_as_strings(
    path: Path,
) -> None:
    with h5py.File(path) as file:
        assert list(file)[:3] == ["0", "1", "10"]
    with LayerCache(path) as cache:
        assert len(cache) == 13
        assert [layers.shape[1] for layers in cache] == [len(s) for s in SENTENCES]


def test_a_blank_line_keeps_its_place_with_no_token(path: Path) -> None:
    with LayerCache(path) as cache:
        assert cache[1].shape == (3, 0, 6)
        assert cache.find([]) == 1


def test_equal_sentences_each_have_their_line_and_the_first_is_found(path: Path) -> None:
    with LayerCache(path) as cache:
        # In another row of the batch some BLAS kernels round differently.
        np.testing.assert_allclose(cache[2], cache[4], rtol=0, atol=2e-6)
        assert cache.find(["bank"]) == 2


def test_sentences_with_spaces_slashes_and_tabs_in_tokens_are_found(path: Path) -> None:
    with LayerCache(path) as cache:
        assert cache.find(["and/or", "a b", "\t", "."]) == 3
        with pytest.raises(KeyError, match=r"'and/or', 'a', 'b'.* is not in layers.hdf5"):
            cache.find(["and/or", "a", "b", "\t", "."])


tokens = st.text(st.sampled_from(' \\se/\t\n"a\ud800'), max_size=3)


@given(st.lists(tokens, max_size=4), st.lists(tokens, max_size=4))
def test_no_two_sentences_share_a_key(one: list[str], other: list[str]) -> None:
    assert (index_key(one) == index_key(other)) is (one == other)


def test_the_key_of_ordinary_tokens_is_the_line_that_AllenNLP_writes() -> None:  # noqa: N802
    assert index_key(["the", "bank", "."]) == "the bank ."


@settings(max_examples=15)
@given(st.lists(st.lists(tokens, max_size=4), min_size=1, max_size=8))
def test_every_text_survives(
    tmp_path_factory: pytest.TempPathFactory, make_model: MakeModel, sentences: list[list[str]]
) -> None:
    extractor = FrozenExtractor(make_model(characters=True, dtype=np.float32))
    path = tmp_path_factory.mktemp("cache") / "layers.hdf5"
    write_layer_cache(path, extractor, sentences, batch_size=3)
    layers, mask = extractor.embed(sentences, batch_size=3)
    with LayerCache(path, extractor) as cache:
        assert len(cache) == len(sentences)
        for line, sentence in enumerate(sentences):
            assert cache[line].tobytes() == layers[line][:, mask[line]].tobytes()
            assert cache.find(sentence) == sentences.index(sentence)


def test_batches_are_padded_as_the_extractor_pads(path: Path, extractor: FrozenExtractor) -> None:
    with LayerCache(path) as cache:
        batches = list(cache.batches(5))
    assert [len(batch.mask) for batch in batches] == [5, 5, 3]
    for start, batch in zip((0, 5, 10), batches, strict=True):
        expected = extractor.embed(SENTENCES[start : start + 5])
        np.testing.assert_allclose(batch.layers, expected.layers, rtol=0, atol=2e-6)
        np.testing.assert_array_equal(batch.mask, expected.mask)


def test_a_float64_model_is_stored_in_float64(make_model: MakeModel, tmp_path: Path) -> None:
    extractor = FrozenExtractor(make_model())
    write_layer_cache(tmp_path / "layers.hdf5", extractor, [["bank"]])
    with LayerCache(tmp_path / "layers.hdf5") as cache:
        assert cache[0].tobytes() == extractor.embed([["bank"]]).layers[0].tobytes()


def test_boundaries_are_stored_if_the_extractor_keeps_them(
    make_model: MakeModel, tmp_path: Path
) -> None:
    extractor = FrozenExtractor(make_model(), keep_boundaries=True)
    write_layer_cache(tmp_path / "layers.hdf5", extractor, [["bank"], []])
    with LayerCache(tmp_path / "layers.hdf5") as cache:
        assert [layers.shape[1] for layers in cache] == [3, 2]
        assert cache.find(["bank"]) == 0


def test_a_new_mixture_needs_the_file_alone(path: Path, extractor: FrozenExtractor) -> None:
    mix = ScalarMix.from_logits([0.3, -0.2, 0.9], gamma=0.7)
    layers, mask = extractor.embed(SENTENCES)
    with LayerCache(path) as cache:
        batch = next(cache.batches(13))
    np.testing.assert_array_equal(mix.mix(*batch), mix.mix(layers, mask))


# Whose it is, and whether it is whole


def test_another_model_is_refused_and_both_are_named(path: Path, make_model: MakeModel) -> None:
    with LayerCache(path) as cache:
        made_by = cache.header["fingerprint"]
    other = FrozenExtractor(make_model(seed=1, characters=True, dtype=np.float32))
    pattern = rf"fingerprint: expected '{other.fingerprint[:12]}….*found '{made_by[:12]}…"
    with pytest.raises(CacheError, match=pattern):
        LayerCache(path, other)


def test_other_options_are_refused_and_both_are_named(
    path: Path, extractor: FrozenExtractor
) -> None:
    other = FrozenExtractor(extractor.model, keep_boundaries=True)
    with pytest.raises(CacheError, match=r"keep_boundaries: expected True.*found False"):
        LayerCache(path, other)


def test_a_model_that_was_trained_on_no_longer_owns_the_cache(
    path: Path, extractor: FrozenExtractor
) -> None:
    extractor.model.parameters["Cell0/B"] = extractor.model.parameters["Cell0/B"] + np.float32(0.1)
    with pytest.raises(CacheError, match="fingerprint"):
        LayerCache(path, extractor)


def test_a_cut_or_changed_file_is_a_named_error_or_no_change_at_all(
    path: Path, extractor: FrozenExtractor
) -> None:
    def read() -> list[bytes | int]:
        with LayerCache(path, extractor) as cache:
            found = [layers.tobytes() for layers in cache]
            return [*found, *(cache.find(sentence) for sentence in SENTENCES)]

    whole, expected, refused = path.read_bytes(), read(), 0
    for place in range(0, len(whole), 71):
        changed = bytearray(whole)
        changed[place] ^= 0x41
        path.write_bytes(changed)
        try:
            found = read()
        except CacheError as error:
            assert "layers.hdf5" in str(error)  # noqa: PT017 # not every byte is in use
            refused += 1
        else:
            assert found == expected, f"byte {place}"
    assert refused > 50
    for length in (0, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(CacheError, match=r"layers\.hdf5"):
            LayerCache(path)


def test_a_changed_number_names_its_line(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file["5"][0, 0, 0] += 1
    with LayerCache(path) as cache:
        assert cache[4].shape == (3, 1, 6)
        with pytest.raises(CacheError, match=r"layers.hdf5: line 5: .*not what was written"):
            cache[5]


def test_a_line_that_was_taken_out_is_missed(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file["5"]
    with pytest.raises(CacheError, match="expected 13 sentences, found 12"):
        LayerCache(path)


def test_lines_and_batch_sizes_out_of_range_are_named(path: Path) -> None:
    with LayerCache(path) as cache:
        for line in (-1, 13):
            with pytest.raises(IndexError, match=f"line: expected 0 to 12, got {line}"):
                cache[line]
        with pytest.raises(ValueError, match="batch_size: expected at least 1, got 0"):
            cache.batches(0)
        for index in (0.0, True, "0"):
            with pytest.raises(TypeError, match=f"line: expected an integer, got {index!r}"):
                cache[index]  # type: ignore[index] # wrong on purpose
        with pytest.raises(TypeError, match=r"batch_size: expected an integer, got 2\.5"):
            cache.batches(2.5)  # type: ignore[arg-type] # wrong on purpose
    with pytest.raises(ValueError, match=r"layers\.hdf5: expected an open cache"):
        cache[0]


def test_a_model_is_no_extractor(path: Path, extractor: FrozenExtractor) -> None:
    for use in (LayerCache, lambda place, model: write_layer_cache(place, model, SENTENCES)):
        with pytest.raises(TypeError, match="extractor: expected a FrozenExtractor, got BiLM"):
            use(path, extractor.model)


@pytest.mark.parametrize("other", [(1, 2, 4), (3, 2, 1)])
def test_layers_that_would_be_broadcast_are_not_padded_together(other: tuple[int, ...]) -> None:
    for value in (np.ones(other), np.ones((3, 2, 4), np.float32)):
        with pytest.raises(ValueError, match="sentences: expected at least one, all of the same"):
            pad_layers([np.ones((3, 2, 4)), value])
    with pytest.raises(ValueError, match="sentences: expected at least one"):
        pad_layers([])


# Memory


@pytest.mark.parametrize("n_sentences", [100, 400])
def test_memory_does_not_grow_with_the_file(
    make_model: MakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_sentences: int
) -> None:
    """Reading by sentence or by batch stays within a batch's bytes, writing within a part's."""
    monkeypatch.setattr(writing_module, "PART", 32)
    extractor = FrozenExtractor(make_model(dtype=np.float32, dim=2, projection_dim=400))
    sentences = [["bank"] * 4] * n_sentences
    sentence_bytes = 3 * 4 * 800 * 4
    path = tmp_path / "layers.hdf5"

    def peak(run: Callable[[], object]) -> int:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        run()
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        writing = peak(lambda: write_layer_cache(path, extractor, sentences, 8))
        with LayerCache(path) as cache:
            by_sentence = peak(lambda: sum(1 for _ in cache))
            by_batch = peak(lambda: sum(1 for _ in cache.batches(16)))
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > n_sentences * sentence_bytes
    assert by_sentence < 4 * sentence_bytes
    assert by_batch < 4 * 16 * sentence_bytes
    assert writing < 5 * 32 * sentence_bytes
