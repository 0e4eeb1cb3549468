"""Checkpoints in the released layout, and two files of our own beside it.

=====================  =========================================================================
file                   what it holds
=====================  =========================================================================
``options.json``       sizes: ``lstm`` {...} and ``char_cnn`` {...}; a word-level model has
                       ``n_tokens_vocab`` instead of ``char_cnn``
``weights.hdf5``       ``char_embed``, ``CNN/...``, ``CNN_high_k/...``, ``CNN_proj/...``
                       (a word-level model: ``embedding``), and for direction d (0 forward, 1
                       backward) and layer l ``RNN_d/RNN/MultiRNNCell/Celll/LSTMCell/{W_0,B,W_P_0}``
``vocabulary.txt``     ours: the head's words, one a line
``lm_head.hdf5``       ours: ``softmax/W`` (words, projection_dim) and ``softmax/b`` (words,); the
                       released files hold no softmax, so no perplexity can be computed from them;
                       attribute ``vocabulary_sha256``: of its words, one a line
=====================  =========================================================================

Everything that is read is checked against the options before it is used, and nothing is unpickled.

Book: chapter 8, "What is in the file".
"""

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import BiLM, Options, parameter_shapes
from elmo_toy.bilm.token_encoder import (
    CharacterOptions,
    EncoderOptions,
    FloatArray,
    LookupOptions,
    Shapes,
)
from elmo_toy.text import CHARACTER_IDS, Vocabulary

OPTIONS, WEIGHTS = "options.json", "weights.hdf5"
VOCABULARY, HEAD = "vocabulary.txt", "lm_head.hdf5"
VOCABULARY_SUM = "vocabulary_sha256"

PRETRAINED = Path(__file__).parent / "pretrained"
"""The models that come with the package, one folder each."""


class CheckpointError(ValueError):
    """A file that is missing, damaged, or contradicts another; the message names file and place."""


def read_checkpoint(folder: Path | str, dtype: npt.DTypeLike = np.float32) -> BiLM:
    """Read a model from a folder in the layout above.

    Raises
    ------
    CheckpointError
        Naming the file, the dataset, what was expected and what was found.
    ValueError
        For another ``dtype`` than float32 or float64.

    Book: chapter 8, "What is in the file".
    """
    folder = Path(folder)
    ours = [(folder / name).is_file() for name in (VOCABULARY, HEAD)]
    if any(ours) and not all(ours):
        raise CheckpointError(
            f"{folder}: expected {VOCABULARY} and {HEAD} together, found only "
            f"{VOCABULARY if ours[0] else HEAD}"
        )
    vocabulary, head = (folder / VOCABULARY, folder / HEAD) if all(ours) else (None, None)
    return read_model(folder / OPTIONS, folder / WEIGHTS, vocabulary, head, dtype)


def read_model(
    options_file: Path,
    weights_file: Path,
    vocabulary_file: Path | None = None,
    head_file: Path | None = None,
    dtype: npt.DTypeLike = np.float32,
) -> BiLM:
    """Read a model from files of any names; without the last two it has no head."""
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype: expected float32 or float64, got {np.dtype(dtype)}")
    record = _read_json(options_file)
    options = parse_options(record, options_file.name)
    vocabulary = None
    if vocabulary_file is not None and head_file is not None:
        try:
            vocabulary = Vocabulary.read(vocabulary_file)
        except (OSError, ValueError) as error:
            raise CheckpointError(f"{vocabulary_file.name}: {error}") from error
        # The original's training writes the softmax's size beside char_cnn.
        n_words = record.get("n_tokens_vocab", len(vocabulary))
        if isinstance(options.encoder, CharacterOptions) and n_words != len(vocabulary):
            raise CheckpointError(
                f"{options_file.name}: n_tokens_vocab: expected the {len(vocabulary)} words of "
                f"{vocabulary_file.name}, found {n_words!r}"
            )
    shapes = parameter_shapes(options, None if vocabulary is None else len(vocabulary))
    head_shapes = {name: shapes.pop(name) for name in list(shapes) if name.startswith("softmax/")}
    stored = _read_datasets(weights_file, _file_shapes(shapes), dtype)
    parameters = {
        name: np.stack([stored[part] for part in parts]) if len(parts) > 1 else stored[parts[0]]
        for name, parts in ((name, _file_names(name)) for name in shapes)
    }
    if head_file is not None and vocabulary is not None:
        parameters |= _read_datasets(head_file, head_shapes, dtype)
        _check_vocabulary(vocabulary, head_file)
    try:
        return BiLM(options, parameters, vocabulary)
    except ValueError as error:  # the vocabulary is not the lookup encoder's
        raise CheckpointError(f"{options_file.name}: {error}") from error


def write_checkpoint(model: BiLM, folder: Path | str) -> None:
    """Write a model into a new folder: beside it under another name first, then renamed.

    Raises
    ------
    FileExistsError
        If the folder exists.
    ValueError
        If the model is one that the layout cannot describe: joined directions, another shift.
    """
    folder = Path(folder)
    if model.options.lstm.joined or model.options.shift != 1:
        raise ValueError(
            "model: expected separate directions and shift 1 (the released layout "
            f"knows no others), got {model.options}"
        )
    if folder.exists():
        raise FileExistsError(f"folder: expected a new one, {folder} exists")
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as temporary:
        part = Path(temporary) / folder.name
        part.mkdir()
        text = json.dumps(format_options(model.options), indent=2)
        (part / OPTIONS).write_text(text + "\n", encoding="utf-8")
        weights: dict[str, FloatArray] = {}
        head: dict[str, FloatArray] = {}
        for name, value in model.parameters.items():
            files = _file_names(name)
            if name.startswith("softmax/"):
                head[name] = value
            else:
                weights.update(zip(files, value if len(files) > 1 else [value], strict=True))
        _write_datasets(part / WEIGHTS, weights)
        if model.vocabulary is not None:
            model.vocabulary.write(part / VOCABULARY)
            _write_datasets(part / HEAD, head, {VOCABULARY_SUM: _checksum(model.vocabulary)})
        part.rename(folder)


# Names


def _file_names(name: str) -> list[str]:
    """Names in the file of one parameter; those of the stacks are split by direction."""
    if not name.startswith("Cell"):
        return [name]
    cell, part = name.split("/")
    return [f"RNN_{direction}/RNN/MultiRNNCell/{cell}/LSTMCell/{part}" for direction in range(2)]


def _file_shapes(shapes: Shapes) -> Shapes:
    return {
        part: shape if len(_file_names(name)) == 1 else shape[1:]
        for name, shape in shapes.items()
        for part in _file_names(name)
    }


# HDF5


def _read_datasets(path: Path, shapes: Shapes, dtype: npt.DTypeLike) -> dict[str, FloatArray]:
    """Read exactly the given datasets, each of the given shape, floating-point and finite."""
    if not path.is_file():
        raise CheckpointError(f"{path.name}: expected a file at {path}, found none")
    try:
        with h5py.File(path, "r") as file:
            names: list[str] = []
            file.visititems(
                lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None
            )
            for name in sorted(set(names) - shapes.keys()):
                raise CheckpointError(
                    f"{path.name}: dataset {name!r}: expected none of that name "
                    f"by the options, found shape {file[name].shape}"
                )
            found: dict[str, FloatArray] = {}
            for name, shape in shapes.items():
                place = f"{path.name}: dataset {name!r}"
                if name not in names:
                    raise CheckpointError(
                        f"{place}: expected shape {shape} by the options, found no such dataset"
                    )
                found[name] = _read_dataset(file[name], shape, place, dtype)
            return found
    except _DAMAGE as error:
        raise CheckpointError(
            f"{path.name}: expected a readable HDF5 file, found a damaged one ({error})"
        ) from error


_DAMAGE = (OSError, RuntimeError, KeyError, TypeError)
"""What h5py raises on files that are cut or changed."""


def _read_dataset(
    dataset: h5py.Dataset, shape: tuple[int, ...], place: str, dtype: npt.DTypeLike
) -> FloatArray:
    if dataset.shape != shape:
        raise CheckpointError(
            f"{place}: expected shape {shape} by the options, found {dataset.shape}"
        )
    if dataset.dtype.kind != "f":
        raise CheckpointError(f"{place}: expected floating-point numbers, found {dataset.dtype}")
    try:
        stored = dataset[()]
    except _DAMAGE as error:
        raise CheckpointError(
            f"{place}: expected {shape} readable numbers, found damage ({error})"
        ) from error
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is counted
        value: FloatArray = stored.astype(dtype)
    bad = int((~np.isfinite(value)).sum())
    if bad:
        raise CheckpointError(
            f"{place}: expected finite {value.dtype} numbers, "
            f"found {bad} of {value.size} that are NaN or infinite"
        )
    return value


def _check_vocabulary(vocabulary: Vocabulary, head_file: Path) -> None:
    """Refuse other words than the head's: as many in another order would score silently wrong.

    A head that doesn't name its words' checksum is taken with any list of the right length.
    """
    try:
        with h5py.File(head_file, "r") as file:
            stored = file.attrs.get(VOCABULARY_SUM)
            expected = None if stored is None else np.bytes_(stored).decode("ascii", "replace")
    except _DAMAGE as error:
        raise CheckpointError(
            f"{head_file.name}: expected a readable {VOCABULARY_SUM}, found damage ({error})"
        ) from error
    found = _checksum(vocabulary)
    if expected not in (None, found):
        raise CheckpointError(
            f"{head_file.name}: expected words of SHA-256 {expected}, found a vocabulary of {found}"
        )


def _checksum(vocabulary: Vocabulary) -> str:
    """SHA-256 of the words, one a line, whatever ends the lines in the file."""
    lines = "".join(f"{word}\n" for word in vocabulary.words)
    return hashlib.sha256(lines.encode()).hexdigest()


def _write_datasets(
    path: Path, values: dict[str, FloatArray], attributes: dict[str, str] | None = None
) -> None:
    """Write with checksums on numbers and headers: a changed byte is an error, not other vectors.

    Any HDF5 from version 1.10 reads it. The released files have no checksums.
    """
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        for name, value in values.items():
            file.create_dataset(
                name,
                data=value.astype(np.float32),
                chunks=value.shape,
                fletcher32=True,
                track_times=False,
            )
        for name, text in (attributes or {}).items():
            file.attrs[name] = np.bytes_(text)  # of fixed length, so beside the checksummed header


# options.json


def _read_json(path: Path) -> Any:
    if not path.is_file():
        raise CheckpointError(f"{path.name}: expected a file at {path}, found none")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"{path.name}: expected JSON, found {error}") from error


def format_options(options: Options) -> dict[str, Any]:
    """Options as they stand in ``options.json``."""
    stacks, encoder = options.lstm, options.encoder
    record: dict[str, Any] = {
        "lstm": {
            "use_skip_connections": stacks.use_skip_connections,
            "projection_dim": stacks.projection_dim,
            "cell_clip": stacks.cell_clip,
            "proj_clip": stacks.proj_clip,
            "dim": stacks.dim,
            "n_layers": stacks.n_layers,
        }
    }
    if isinstance(encoder, CharacterOptions):
        record["char_cnn"] = {
            "activation": encoder.activation,
            "filters": [list(pair) for pair in encoder.filters],
            "n_highway": encoder.n_highway,
            "embedding": {"dim": encoder.embedding_dim},
            # One more than there are characters: 0 is "no token here".
            "n_characters": CHARACTER_IDS + 1,
            "max_characters_per_token": encoder.max_characters_per_token,
        }
    else:
        record["n_tokens_vocab"] = encoder.n_words
    return record


def parse_options(record: Any, file: str = OPTIONS) -> Options:
    """Options from what stands in ``options.json``; keys that we don't know are left alone.

    Raises
    ------
    CheckpointError
        Naming the key that is missing or of the wrong kind.
    """

    def value(path: str, kind: type) -> Any:
        here = record
        for key in path.split("."):
            if not isinstance(here, dict) or key not in here:
                raise CheckpointError(
                    f"{file}: {path}: expected {kind.__name__}, found no such key"
                )
            here = here[key]
        if kind is float and type(here) is int:
            here = float(here)
        if type(here) is not kind:
            raise CheckpointError(f"{file}: {path}: expected {kind.__name__}, found {here!r}")
        return here

    try:
        stacks = LSTMOptions(
            dim=value("lstm.dim", int),
            projection_dim=value("lstm.projection_dim", int),
            n_layers=value("lstm.n_layers", int),
            cell_clip=value("lstm.cell_clip", float),
            proj_clip=value("lstm.proj_clip", float),
            use_skip_connections=value("lstm.use_skip_connections", bool),
        )
        encoder: EncoderOptions
        if "char_cnn" in record:
            filters = value("char_cnn.filters", list)
            if not all(
                isinstance(pair, list) and [type(size) for size in pair] == [int, int]
                for pair in filters
            ):
                raise CheckpointError(
                    f"{file}: char_cnn.filters: expected a list of "
                    f"[width, number], found {filters!r}"
                )
            n_characters = value("char_cnn.n_characters", int)
            # 261 stands in options that the original's training wrote, 262 for its prediction.
            if n_characters not in (CHARACTER_IDS, CHARACTER_IDS + 1):
                raise CheckpointError(
                    f"{file}: char_cnn.n_characters: expected "
                    f"{CHARACTER_IDS + 1} (or {CHARACTER_IDS}, as in training), "
                    f"found {n_characters}"
                )
            encoder = CharacterOptions(
                embedding_dim=value("char_cnn.embedding.dim", int),
                filters=tuple((width, number) for width, number in filters),
                n_highway=value("char_cnn.n_highway", int),
                max_characters_per_token=value("char_cnn.max_characters_per_token", int),
                activation=value("char_cnn.activation", str),
            )
        elif "n_tokens_vocab" in record:
            encoder = LookupOptions(value("n_tokens_vocab", int))
        else:
            raise CheckpointError(f"{file}: expected char_cnn or n_tokens_vocab, found neither")
    except CheckpointError:
        raise
    except ValueError as error:
        raise CheckpointError(f"{file}: {error}") from error
    return Options(encoder, stacks)
