"""The released layout: written, read, compared with recorded states, and refused when damaged."""

import hashlib
import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from elmo_toy import text
from elmo_toy.bilm import checkpoint
from elmo_toy.bilm.checkpoint import CheckpointError, read_checkpoint, write_checkpoint
from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import BiLM, Options, StatefulBiLM
from elmo_toy.bilm.token_encoder import CharacterOptions, FloatArray
from elmo_toy.text import Batch

MakeModel = Callable[..., BiLM]
PlainStack = Callable[[FloatArray, BiLM], list[FloatArray]]
SENTENCES = [["the", "river", "bank"], ["zebra"]]
W_0 = "RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell/W_0"


# The original's recorded states


@pytest.fixture(scope="module")
def tiny(reference: Path) -> BiLM:
    folder = reference / "tiny_elmo"
    return checkpoint.read_model(folder / "options.json", folder / "lm_weights.hdf5")


def test_recorded_top_layer_states_are_reproduced(tiny: BiLM, reference: Path) -> None:
    """Stateful, ten batches of three, at most 2e-6 off."""
    folder = reference / "tiny_elmo"
    rows = json.loads((folder / "lm_embeddings_sentences.json").read_text("utf-8"))
    reader = StatefulBiLM(tiny)
    for number in range(10):
        batch = [rows[row][number].split() for row in range(3)]
        layers, mask = reader.embed(batch)
        for row in range(3):
            with h5py.File(folder / f"lm_embeddings_{row}.hdf5") as file:
                forward, backward = file[str(number)][()]
            assert mask[row].sum() == len(forward) == len(batch[row])
            expected = np.concatenate([forward, backward], axis=1)
            np.testing.assert_allclose(layers[row, -1, mask[row]], expected, rtol=0, atol=2e-6)


def test_the_recorded_model_has_no_head(tiny: BiLM) -> None:
    assert tiny.vocabulary is None
    assert tiny.options == Options(
        CharacterOptions(4, ((1, 4), (2, 8), (3, 16), (4, 32), (5, 64)), 2, 50, "relu"),
        LSTMOptions(64, 16, 2, 3.0, 3.0, use_skip_connections=False),
    )


# Write and read


@pytest.fixture(params=[False, True], ids=["words", "characters"])
def model(make_model: MakeModel, request: pytest.FixtureRequest) -> BiLM:
    return make_model(dtype=np.float32, characters=request.param, proj_clip=0.3, n_layers=3)


def test_a_model_reads_back_bit_for_bit(model: BiLM, tmp_path: Path) -> None:
    write_checkpoint(model, tmp_path / "model")
    back = read_checkpoint(tmp_path / "model")
    assert back.options == model.options
    assert back.vocabulary is not None
    assert model.vocabulary is not None
    assert back.vocabulary.words == model.vocabulary.words
    for name, value in model.parameters.items():
        assert np.array_equal(back.parameters[name], value), name
    assert np.array_equal(back.embed(SENTENCES).layers, model.embed(SENTENCES).layers)
    assert np.array_equal(back.predictions(["bank"]), model.predictions(["bank"]))


def test_a_written_model_computes_what_the_equations_say(
    make_model: MakeModel, plain_stack: PlainStack, tmp_path: Path
) -> None:
    """Residual and a projection clip that bites, through the file."""
    write_checkpoint(make_model(proj_clip=0.3, scale=6.0), tmp_path / "model")
    back = read_checkpoint(tmp_path / "model", dtype=np.float64)
    assert back.vocabulary is not None
    ids = back.vocabulary.ids(text.add_boundaries(SENTENCES[0]))
    states = plain_stack(back.parameters["embedding"][ids], back)
    assert (np.abs(states[0]) == 0.3).any()
    assert (np.abs(states[1]) > 0.3).any()
    layers = back.layers(Batch.from_ids(back.ids(SENTENCES[:1]))).layers[0]
    np.testing.assert_allclose(layers[1:], states, rtol=0, atol=1e-12)


def test_the_layout_is_the_released_one(make_model: MakeModel, tmp_path: Path) -> None:
    write_checkpoint(make_model(characters=True), tmp_path / "model")
    shapes: dict[str, tuple[int, ...]] = {}
    with h5py.File(tmp_path / "model" / "weights.hdf5") as file:
        file.visititems(
            lambda name, item: (
                shapes.update({name: item.shape}) if isinstance(item, h5py.Dataset) else None
            )
        )
    stacks = {
        f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell/{name}": shape
        for direction in range(2)
        for layer in range(2)
        for name, shape in (("W_0", (6, 16)), ("B", (16,)), ("W_P_0", (4, 3)))
    }
    highways = {
        f"CNN_high_{layer}/{kind}_{part}": (6, 6) if kind == "W" else (6,)
        for layer in range(2)
        for kind in "Wb"
        for part in ("carry", "transform")
    }
    assert shapes == stacks | highways | {
        "char_embed": (261, 2),
        "CNN/W_cnn_0": (1, 1, 2, 2),
        "CNN/b_cnn_0": (2,),
        "CNN/W_cnn_1": (1, 3, 2, 4),
        "CNN/b_cnn_1": (4,),
        "CNN_proj/W_proj": (6, 3),
        "CNN_proj/b_proj": (3,),
    }
    options = json.loads((tmp_path / "model" / "options.json").read_text("utf-8"))
    assert options == {
        "lstm": {
            "use_skip_connections": True,
            "projection_dim": 3,
            "cell_clip": 3.0,
            "proj_clip": 3.0,
            "dim": 4,
            "n_layers": 2,
        },
        "char_cnn": {
            "activation": "relu",
            "filters": [[1, 2], [3, 4]],
            "n_highway": 2,
            "embedding": {"dim": 2},
            "n_characters": 262,
            "max_characters_per_token": 8,
        },
    }


def test_two_writes_make_the_same_bytes(model: BiLM, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_checkpoint(model, tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_an_existing_folder_is_left_alone(model: BiLM, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    with pytest.raises(FileExistsError, match="folder: expected a new one"):
        write_checkpoint(model, tmp_path / "model")
    assert not list((tmp_path / "model").iterdir())


@pytest.mark.parametrize("setting", [{"joined": True}, {"shift": 0}], ids=str)
def test_what_the_layout_cannot_describe_is_not_written(
    make_model: MakeModel, tmp_path: Path, setting: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match="model: expected separate directions and shift 1"):
        write_checkpoint(make_model(**setting), tmp_path / "model")


def test_a_failed_write_leaves_nothing(
    model: BiLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(checkpoint, "_write_datasets", full)
    with pytest.raises(OSError, match="no space left"):
        write_checkpoint(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_without_a_head_the_model_reads_but_does_not_score(
    make_model: MakeModel, tmp_path: Path
) -> None:
    write_checkpoint(make_model(characters=True, head=False), tmp_path / "model")
    assert {path.name for path in (tmp_path / "model").iterdir()} == {
        "options.json",
        "weights.hdf5",
    }
    assert read_checkpoint(tmp_path / "model").vocabulary is None


# Damage


@pytest.fixture
def written(make_model: MakeModel, tmp_path: Path) -> Path:
    write_checkpoint(make_model(characters=True), tmp_path / "model")
    return tmp_path / "model"


def refuses(folder: Path, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        read_checkpoint(folder)


def edit(folder: Path, change: Callable[[Any], object]) -> None:
    path = folder / "options.json"
    options = json.loads(path.read_text("utf-8"))
    change(options)
    path.write_text(json.dumps(options), encoding="utf-8")


@pytest.mark.parametrize("name", ["options.json", "weights.hdf5"])
def test_a_missing_file_is_named(written: Path, name: str) -> None:
    (written / name).unlink()
    refuses(written, f"{name}: expected a file at .*, found none")


@pytest.mark.parametrize("name", ["vocabulary.txt", "lm_head.hdf5"])
def test_our_two_files_come_together(written: Path, name: str) -> None:
    (written / name).unlink()
    refuses(written, "expected vocabulary.txt and lm_head.hdf5 together, found only")


@pytest.mark.parametrize("name", ["weights.hdf5", "lm_head.hdf5"])
@pytest.mark.parametrize("keep", [0.0, 0.3, 0.6, 0.99])
def test_truncated_files(written: Path, name: str, keep: float) -> None:
    content = (written / name).read_bytes()
    (written / name).write_bytes(content[: int(keep * len(content))])
    refuses(written, f"{name}: expected a readable HDF5 file, found a damaged one")


@pytest.mark.parametrize("name", ["weights.hdf5", "lm_head.hdf5"])
def test_a_changed_byte_never_gives_other_vectors(written: Path, name: str) -> None:
    """It is refused, or it lies where nothing is stored."""
    before = read_checkpoint(written).parameters
    content = (written / name).read_bytes()
    refused = 0
    for place in np.random.default_rng(0).integers(0, len(content), 150).tolist():
        changed = bytearray(content)
        changed[place] ^= 0x5A
        (written / name).write_bytes(changed)
        try:
            after = read_checkpoint(written).parameters
        except CheckpointError:
            refused += 1
        else:
            assert all(np.array_equal(after[key], before[key]) for key in before)
    assert refused > 50


def test_damaged_numbers_are_named_with_their_dataset(written: Path) -> None:
    with h5py.File(written / "lm_head.hdf5") as file:
        stored = file["softmax/W"][()].tobytes()
    content = (written / "lm_head.hdf5").read_bytes()
    place = content.index(stored)
    changed = content[:place] + bytes([stored[0] ^ 1]) + content[place + 1 :]
    (written / "lm_head.hdf5").write_bytes(changed)
    refuses(written, r"dataset 'softmax/W': expected \(7, 3\) readable numbers, found damage")


def test_a_pickle_is_not_read(written: Path) -> None:
    (written / "weights.hdf5").write_bytes(pickle.dumps({"char_embed": 1}))
    refuses(written, r"weights\.hdf5: expected a readable HDF5 file, found a damaged one")


def replace(folder: Path, name: str, value: Any, file: str = "weights.hdf5") -> None:
    with h5py.File(folder / file, "a") as open_file:
        del open_file[name]
        if value is not None:
            open_file[name] = value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, r"expected shape \(6, 16\) by the options, found no such dataset"),
        (np.zeros((16, 6)), r"expected shape \(6, 16\) by the options, found \(16, 6\)"),
        (np.zeros((6, 16), dtype=int), "expected floating-point numbers, found int64"),
        (np.full((6, 16), np.nan), "expected finite float32 numbers, found 96 of 96"),
        (np.full((6, 16), 1e300), "expected finite float32 numbers, found 96 of 96"),
        (np.full((6, 16), np.inf), "expected finite float32 numbers, found 96 of 96"),
    ],
)
def test_a_wrong_dataset_is_named_with_what_was_expected_and_found(
    written: Path, value: Any, message: str
) -> None:
    replace(written, W_0, value)
    refuses(written, f"weights.hdf5: dataset '{W_0}': {message}")


def test_a_wrong_head_is_named(written: Path) -> None:
    replace(written, "softmax/W", np.zeros((8, 3)), "lm_head.hdf5")
    refuses(written, r"lm_head\.hdf5: dataset 'softmax/W': expected shape \(7, 3\)")


def forget_the_words(folder: Path) -> None:
    with h5py.File(folder / "lm_head.hdf5", "a") as file:
        del file.attrs["vocabulary_sha256"]


@pytest.mark.parametrize("last", ["flooded\nbank", "bank\nflood"])
def test_words_that_are_not_the_heads_are_refused(written: Path, last: str) -> None:
    """As many, but in another order, or another one among them."""
    path = written / "vocabulary.txt"
    before = path.read_text("utf-8")
    after = before.replace("bank\nflooded", last)
    path.write_text(after, encoding="utf-8")
    first, other = (hashlib.sha256(content.encode()).hexdigest() for content in (before, after))
    refuses(written, rf"lm_head\.hdf5: expected words of SHA-256 {first}, found .* of {other}")


def test_other_line_ends_are_the_same_words(written: Path) -> None:
    path = written / "vocabulary.txt"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_checkpoint(written).vocabulary is not None


def test_a_head_that_names_no_words_is_read_with_as_many(written: Path) -> None:
    """Heads written before the checksum was added."""
    forget_the_words(written)
    read_checkpoint(written)
    with (written / "vocabulary.txt").open("a", encoding="utf-8") as file:
        file.write("more\n")
    refuses(written, r"lm_head\.hdf5: dataset 'softmax/W': expected shape \(8, 3\)")


@pytest.mark.parametrize("dtype", ["float16", "int64", "complex128"])
def test_another_dtype_is_refused(written: Path, dtype: str) -> None:
    with pytest.raises(ValueError, match=f"dtype: expected float32 or float64, got {dtype}"):
        read_checkpoint(written, dtype=dtype)


def test_a_repeated_word_in_the_vocabulary_is_named(written: Path) -> None:
    (written / "vocabulary.txt").write_text("<S>\n</S>\nbank\nbank\n", encoding="utf-8")
    refuses(written, r"vocabulary\.txt: words: expected distinct words, got 'bank'")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda o: o["lstm"].update(dim=5), r"W_0': expected shape \(6, 20\).*found \(6, 16\)"),
        (lambda o: o["lstm"].update(projection_dim=2), r"expected shape .* found"),
        (lambda o: o["lstm"].update(n_layers=1), r"dataset 'RNN_0/.*Cell1.*expected none"),
        (lambda o: o["lstm"].update(n_layers=3), r"dataset 'RNN_0/.*Cell2.*found no such dataset"),
        (lambda o: o["char_cnn"].update(n_highway=1), r"'CNN_high_1/.*expected none of that name"),
        (lambda o: o["char_cnn"]["filters"].pop(), r"weights.hdf5: dataset 'CNN/.*expected none"),
        (lambda o: o.pop("char_cnn"), "expected char_cnn or n_tokens_vocab, found neither"),
        (
            lambda o: o["char_cnn"].update(n_characters=260),
            r"n_characters: expected 262 .* found 260",
        ),
        (
            lambda o: o["char_cnn"].update(activation="gelu"),
            "activation: expected 'relu' or 'tanh'",
        ),
        (
            lambda o: o["char_cnn"].update(filters=[[1]]),
            r"filters: expected a list of \[width, num",
        ),
        (
            lambda o: o["lstm"].pop("use_skip_connections"),
            r"lstm\.use_skip_connections: expected bool, found no such key",
        ),
        (lambda o: o["lstm"].update(dim="4"), r"lstm\.dim: expected int, found '4'"),
        (lambda o: o["lstm"].update(dim=True), r"lstm\.dim: expected int, found True"),
        (lambda o: o["lstm"].update(cell_clip=-3), r"cell_clip: expected above 0, got -3"),
        (lambda o: o.update(lstm=[]), r"lstm\.dim: expected int, found no such key"),
    ],
)
def test_options_that_contradict_are_named(
    written: Path, change: Callable[[Any], object], message: str
) -> None:
    edit(written, change)
    refuses(written, message)


def test_options_that_are_no_json(written: Path) -> None:
    (written / "options.json").write_text("{", encoding="utf-8")
    refuses(written, r"options\.json: expected JSON")


def test_options_of_the_originals_training_are_read(written: Path) -> None:
    """They hold the size of the softmax, too: with ``char_cnn`` beside it, it is no encoder's."""
    edit(written, lambda options: options["char_cnn"].update(n_characters=261))
    edit(written, lambda options: options.update(n_tokens_vocab=7))
    assert isinstance(read_checkpoint(written).options.encoder, CharacterOptions)


@pytest.mark.parametrize("number", [8, "7", None])
def test_a_size_of_the_softmax_that_is_not_the_vocabularys_is_named(
    written: Path, number: Any
) -> None:
    edit(written, lambda options: options.update(n_tokens_vocab=number))
    refuses(
        written,
        rf"n_tokens_vocab: expected the 7 words of vocabulary\.txt, found {number!r}",
    )


def test_a_lookup_model_needs_its_own_vocabulary(make_model: MakeModel, tmp_path: Path) -> None:
    write_checkpoint(make_model(), tmp_path / "model")
    other = tmp_path / "other"
    shutil.copytree(tmp_path / "model", other)
    edit(other, lambda options: options.update(n_tokens_vocab=9))
    refuses(other, r"'embedding': expected shape \(9, 3\).*found \(7, 3\)")


def test_a_vocabulary_of_another_size_than_the_lookup_table_is_named(
    make_model: MakeModel, tmp_path: Path
) -> None:
    write_checkpoint(make_model(), tmp_path / "model")
    with (tmp_path / "model" / "vocabulary.txt").open("a", encoding="utf-8") as file:
        file.write("more\n")
    forget_the_words(tmp_path / "model")
    replace(tmp_path / "model", "softmax/W", np.zeros((8, 3)), "lm_head.hdf5")
    replace(tmp_path / "model", "softmax/b", np.zeros(8), "lm_head.hdf5")
    refuses(tmp_path / "model", r"options\.json: vocabulary: expected the encoder's 7 words, got 8")
