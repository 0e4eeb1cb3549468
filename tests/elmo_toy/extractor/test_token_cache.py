"""Token vectors by spelling: equal to the character path, and no word is lost or shifted."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from elmo_toy import text
from elmo_toy.bilm.model import BiLM
from elmo_toy.extractor import FrozenExtractor, fingerprint
from elmo_toy.extractor import token_cache as token_cache_module
from elmo_toy.extractor.files import CacheError
from elmo_toy.extractor.token_cache import TokenCache, token_vectors, write_token_cache
from elmo_toy.text import Batch, Vocabulary

MakeModel = Callable[..., BiLM]

SENTENCES = [["the", "river", "bank", "flooded"], ["bank"], [], ["the", "bank", "the"]]
VOCABULARY = Vocabulary(["<S>", "</S>", "the", "river", "bank", "flooded"])
"""Without <UNK>, like the original's usage example."""


@pytest.fixture(params=[True, False], ids=["characters", "lookup"])
def model(request: pytest.FixtureRequest, make_model: MakeModel) -> BiLM:
    return make_model(characters=request.param, dtype=np.float32)


@pytest.fixture
def path(model: BiLM, tmp_path: Path) -> Path:
    write_token_cache(tmp_path / "tokens.hdf5", model, VOCABULARY)
    return tmp_path / "tokens.hdf5"


# Layout and equality


def test_the_file_has_the_original_layout(path: Path, model: BiLM) -> None:
    """As bilm-tf's dump: `embedding`, row r is line r, without a row for padding; float32."""
    with h5py.File(path) as file:
        embedding = file["embedding"][()]
    assert embedding.shape == (len(VOCABULARY), model.options.lstm.projection_dim)
    assert embedding.dtype == np.float32
    layers = model.embed([["river", "flooded"]]).layers[0, 0]
    np.testing.assert_allclose(embedding[[3, 5]], layers[:, :3], rtol=0, atol=1e-6)


def test_the_rows_come_back_bit_by_bit(path: Path, model: BiLM) -> None:
    rows = TokenCache(path, model).embedding
    assert rows.tobytes() == token_vectors(model, VOCABULARY.words).tobytes()


@pytest.mark.parametrize("keep", [True, False])
def test_token_path_equals_the_character_path_at_all_layers(
    path: Path, model: BiLM, keep: bool
) -> None:
    cache = TokenCache(path, model, keep_boundaries=keep)
    expected = FrozenExtractor(model, keep_boundaries=keep).embed(SENTENCES, 2)
    found = cache.embed(SENTENCES, 2)
    # Equal bits where BLAS rounds a row alike in any matrix, as here mostly; see the next test.
    np.testing.assert_allclose(found.layers, expected.layers, rtol=0, atol=2e-6)
    np.testing.assert_array_equal(found.mask, expected.mask)


def test_token_path_equals_the_character_path_exactly_when_the_same_rows_are_encoded(
    model: BiLM, tmp_path: Path
) -> None:
    """With the vocabulary in the order of a batch's types, BLAS multiplies the same matrices."""
    sentence = list(VOCABULARY.words[2:])
    types = Batch.from_ids(model.ids([sentence])).types
    by_row = {model.ids([[word]])[0, 1].tobytes(): word for word in VOCABULARY.words}
    vocabulary = Vocabulary([by_row[row.tobytes()] for row in types])
    write_token_cache(tmp_path / "tokens.hdf5", model, vocabulary)
    found = TokenCache(tmp_path / "tokens.hdf5", model).embed([sentence, []])
    assert found.layers.tobytes() == FrozenExtractor(model).embed([sentence, []]).layers.tobytes()


def test_a_float64_model_is_stored_in_float64(make_model: MakeModel, tmp_path: Path) -> None:
    model = make_model(characters=True, dtype=np.float64)
    write_token_cache(tmp_path / "tokens.hdf5", model, VOCABULARY)
    found = TokenCache(tmp_path / "tokens.hdf5", model).embed(SENTENCES)
    np.testing.assert_allclose(found.layers, model.embed(SENTENCES).layers, rtol=0, atol=1e-14)
    assert found.layers.dtype == np.float64


def test_blocks_make_the_same_table_and_none_is_a_single_word(
    make_model: MakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(characters=True)
    sizes: list[int] = []

    def counted(model: BiLM, words: list[str]) -> object:
        sizes.append(len(words))
        return token_vectors(model, words)

    monkeypatch.setattr(token_cache_module, "BLOCK", 5)
    monkeypatch.setattr(token_cache_module, "token_vectors", counted)
    write_token_cache(tmp_path / "tokens.hdf5", model, VOCABULARY)
    assert sizes == [3, 3]
    np.testing.assert_allclose(
        TokenCache(tmp_path / "tokens.hdf5", model).embedding,
        token_vectors(model, VOCABULARY.words),
        rtol=0,
        atol=1e-14,
    )


# Ids


def test_id_0_is_masked_and_the_first_word_has_id_1(path: Path, model: BiLM) -> None:
    cache = TokenCache(path, model)
    ids = text.batch_word_ids([["the"], []], cache.vocabulary, strict=True)
    assert ids.tolist() == [[1, 3, 2], [1, 2, 0]]  # <S> is the first word here
    mask = cache.embed([["the"], []]).mask
    assert mask.tolist() == [[True], [False]]


def test_padding_of_the_token_layer_is_zero(path: Path, model: BiLM) -> None:
    layers, mask = TokenCache(path, model).embed(SENTENCES)
    assert not layers.swapaxes(1, 2)[~mask].any()


def test_a_word_outside_the_cache_is_a_key_error_that_names_it(path: Path, model: BiLM) -> None:
    """In the original it gets id -1 + 1 = 0, vanishes, and the rest of its row moves up."""
    cache = TokenCache(path, model)
    for use_unknown in (False, True):
        with pytest.raises(KeyError, match="word 'zebra' is not in the vocabulary of 6 words"):
            cache.embed([["the", "zebra", "bank"]], use_unknown=use_unknown)


def test_unknown_words_take_the_row_of_UNK_only_when_asked(  # noqa: N802
    model: BiLM, tmp_path: Path
) -> None:
    write_token_cache(tmp_path / "t.hdf5", model, Vocabulary([*VOCABULARY.words, "<UNK>"]))
    cache = TokenCache(tmp_path / "t.hdf5", model)
    with pytest.raises(KeyError, match=r"'zebra'.* no other may stand in for it"):
        cache.embed([["the", "zebra", "bank"]])
    layers, mask = cache.embed([["the", "zebra", "bank"]], use_unknown=True)
    assert mask.all()
    np.testing.assert_array_equal(layers[0, 0, 1, :3], cache.embedding[6])


def test_words_of_any_characters_keep_their_row(make_model: MakeModel, tmp_path: Path) -> None:
    model = make_model(characters=True)
    odd = ["a b", "a/b", "\t", "", "é", "\u2028", "nul\0", "\ud800", '"', "\\", "\n"]
    vocabulary = Vocabulary(["<S>", "</S>", *odd])
    write_token_cache(tmp_path / "tokens.hdf5", model, vocabulary)
    cache = TokenCache(tmp_path / "tokens.hdf5", model)
    assert cache.vocabulary.words == vocabulary.words
    np.testing.assert_allclose(
        cache.embed([odd]).layers, model.embed([odd]).layers, rtol=0, atol=1e-12
    )


def test_a_word_that_a_lookup_encoder_lacks_has_its_UNK_here_as_there(  # noqa: N802
    make_model: MakeModel, tmp_path: Path
) -> None:
    model = make_model()
    write_token_cache(tmp_path / "t.hdf5", model, Vocabulary([*VOCABULARY.words, "zebra"]))
    np.testing.assert_array_equal(
        TokenCache(tmp_path / "t.hdf5", model).embed([["zebra"]]).layers,
        model.embed([["zebra"]]).layers,
    )


# Whose it is, and whether it is whole


def test_another_model_is_refused_and_both_are_named(
    path: Path, model: BiLM, make_model: MakeModel
) -> None:
    other = make_model(seed=1, dtype=np.float32)
    prints = (fingerprint(m, encoder_only=True)[:12] for m in (other, model))
    pattern = r"tokens.hdf5: fingerprint: expected '{}….*found '{}…".format(*prints)
    with pytest.raises(CacheError, match=pattern):
        TokenCache(path, other)


def test_trained_contextual_layers_go_with_the_cache_and_a_trained_encoder_does_not(
    path: Path, model: BiLM
) -> None:
    before = TokenCache(path, model).embed(SENTENCES).layers
    model.parameters["Cell1/B"] = model.parameters["Cell1/B"] + np.float32(0.5)
    layers = TokenCache(path, model).embed(SENTENCES).layers
    np.testing.assert_allclose(layers, model.embed(SENTENCES).layers, rtol=0, atol=2e-6)
    np.testing.assert_array_equal(layers[:, :2], before[:, :2])
    assert np.abs(layers[:, 2] - before[:, 2]).max() > 0.01
    for name in model.parameters.keys() & {"embedding", "CNN/b_cnn_0", "CNN_high_1/b_carry"}:
        with pytest.MonkeyPatch.context() as patch:
            changed = model.parameters[name] + np.float32(0.5)
            patch.setitem(model.parameters, name, changed)
            with pytest.raises(CacheError, match="fingerprint"):
                TokenCache(path, model)


def test_an_existing_file_is_left_alone(path: Path, model: BiLM) -> None:
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="path: expected a new file"):
        write_token_cache(path, model, VOCABULARY)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("leads_to", ["nowhere", "tokens.hdf5", "folder/file"])
def test_a_link_is_never_replaced(model: BiLM, tmp_path: Path, leads_to: str) -> None:
    """Neither one that leads nowhere, nor to itself, nor into a folder that is missing."""
    link = tmp_path / "tokens.hdf5"
    link.symlink_to(leads_to)
    with pytest.raises(FileExistsError, match=r"path: expected a new file, .* a link that leads"):
        write_token_cache(link, model, VOCABULARY)
    assert link.is_symlink()
    assert list(tmp_path.iterdir()) == [link]


def test_an_interrupted_write_leaves_nothing(
    model: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*arguments: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("elmo_toy.extractor.files.write_string", full_disk)
    with pytest.raises(OSError, match="no space left"):
        write_token_cache(tmp_path / "tokens.hdf5", model, VOCABULARY)
    assert list(tmp_path.iterdir()) == []


def test_a_cut_or_changed_file_is_a_named_error_or_no_change_at_all(
    path: Path, model: BiLM
) -> None:
    whole = path.read_bytes()
    expected = TokenCache(path, model).embed(SENTENCES).layers.tobytes()
    refused = 0
    for place in range(0, len(whole), 61):
        changed = bytearray(whole)
        changed[place] ^= 0x41
        path.write_bytes(changed)
        try:
            found = TokenCache(path, model).embed(SENTENCES).layers.tobytes()
        except CacheError as error:
            assert "tokens.hdf5" in str(error)  # noqa: PT017 # not every byte is in use
            refused += 1
        else:
            assert found == expected, f"byte {place}"
    assert refused > 10
    for length in (0, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(CacheError, match=r"tokens\.hdf5"):
            TokenCache(path, model)


def test_a_file_of_another_kind_or_none_is_named(model: BiLM, tmp_path: Path) -> None:
    with pytest.raises(CacheError, match=r"none\.hdf5: expected a file at .*, found none"):
        TokenCache(tmp_path / "none.hdf5", model)
    with h5py.File(tmp_path / "foreign.hdf5", "w") as file:
        file["embedding"] = np.zeros((3, 2))
    with pytest.raises(CacheError, match=r"foreign.hdf5: expected a token cache .* without its"):
        TokenCache(tmp_path / "foreign.hdf5", model)


def test_a_word_is_not_taken_for_a_list_of_letters(model: BiLM) -> None:
    with pytest.raises(TypeError, match="words: expected a list of tokens, got the string 'bank'"):
        token_vectors(model, "bank")
    assert token_vectors(model, []).shape == (0, model.options.lstm.projection_dim)
