"""The released models by their sizes, and a tiny one in the same format, written on the spot.

Book: chapter 8, "What is in the file".
"""

import atexit
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import h5py
import numpy as np

from elmo_toy.bilm.checkpoint import write_checkpoint
from elmo_toy.bilm.kernels import FORGET_BIAS
from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import BiLM, Options, parameter_shapes
from elmo_toy.bilm.token_encoder import CharacterOptions, FloatArray

_FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))

RELEASED = {
    name: Options(CharacterOptions(16, _FILTERS, n_highway), LSTMOptions(dim, projection_dim))
    for name, dim, projection_dim, n_highway in (
        ("small", 1024, 128, 1),
        ("medium", 2048, 256, 1),
        ("original", 4096, 512, 2),
    )
}
"""Options of the released models. A second file of the original's size was trained on more text."""

TINY = Options(CharacterOptions(4, ((1, 4), (2, 8), (3, 12)), 1, 20), LSTMOptions(16, 6))
"""The same architecture, small enough to be written in a moment."""


def write_tiny(seed: int = 0) -> tuple[BiLM, Path]:
    """Draw a tiny model and write it in the released layout, with names as the original gives them.

    Returns
    -------
    The model in float64 and the folder, which is removed when Python ends. It holds
    ``options.json`` and ``weights.hdf5``; like the released files it has no language-model head.

    Book: chapter 8, "What is in the file".
    """
    rng = np.random.default_rng(seed)
    drawn = BiLM.initialise(TINY, rng, dtype=np.float64)
    # Weights twice as large, biases that are not zero: no misreading stays without effect. The
    # file holds float32, so the model does too.
    parameters = {
        name: (2 * value + rng.normal(0, 0.3, value.shape)).astype(np.float32).astype(np.float64)
        for name, value in drawn.parameters.items()
    }
    model = BiLM(TINY, parameters)
    parent = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, parent, ignore_errors=True)
    write_checkpoint(model, parent / "tiny")
    return model, parent / "tiny"


@dataclass(frozen=True)
class Dataset:
    """One dataset of a weight file."""

    name: str
    shape: tuple[int, ...]
    dtype: str


def contents(weights_file: Path) -> list[Dataset]:
    """List what a weight file holds, without reading the numbers.

    >>> _, folder = write_tiny()
    >>> [dataset.shape for dataset in contents(folder / "weights.hdf5")][:2]
    [(1, 1, 4, 4), (1, 2, 4, 8)]

    Book: chapter 8, "What is in the file".
    """
    found: list[Dataset] = []

    def visit(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset):
            found.append(Dataset(name, item.shape, str(item.dtype)))

    with h5py.File(weights_file, "r") as file:
        file.visititems(visit)
    return sorted(found, key=lambda dataset: dataset.name)


def parameter_counts(options: Options) -> dict[str, int]:
    """How many numbers the file of a character model holds, by part, from the shapes alone.

    >>> sum(parameter_counts(RELEASED["original"]).values())
    93600848

    Book: chapter 8, "The official files".
    """
    parts = dict.fromkeys(
        ("characters", "highway", "projection", "LSTM gates", "LSTM projection"), 0
    )
    for name, shape in parameter_shapes(options, None).items():
        if name.startswith("Cell"):
            part = "LSTM projection" if name.endswith("W_P_0") else "LSTM gates"
        elif name.startswith("CNN_high"):
            part = "highway"
        else:
            part = "projection" if name.startswith("CNN_proj") else "characters"
        parts[part] += int(np.prod(shape))
    return parts


def misreadings(model: BiLM) -> dict[str, BiLM]:
    """The same file, read with one mistake each that no shape betrays.

    Book: chapter 8, "Reading it wrong".
    """
    parameters = model.parameters

    def with_changes(changed: dict[str, FloatArray]) -> BiLM:
        return BiLM(model.options, {**parameters, **changed}, model.vocabulary)

    def by_gate(name: str, order: Sequence[int]) -> FloatArray:
        value = parameters[name]
        return value.reshape(*value.shape[:-1], 4, -1)[..., order, :].reshape(value.shape)

    def without_bias(name: str) -> FloatArray:
        value = parameters[name].copy()
        dim = value.shape[-1] // 4
        value[..., 2 * dim : 3 * dim] -= FORGET_BIAS
        return value

    gates = [name for name in parameters if name.endswith(("W_0", "/B"))]
    biases = [name for name in gates if name.endswith("/B")]
    carries = [name for name in parameters if name.endswith("_carry")]
    flat = replace(model.options, lstm=replace(model.options.lstm, use_skip_connections=False))
    return {
        "gates i, f, j, o": with_changes({name: by_gate(name, (0, 2, 1, 3)) for name in gates}),
        "no added 1": with_changes({name: without_bias(name) for name in biases}),
        "carry the wrong way": with_changes({name: -parameters[name] for name in carries}),
        "no residual": BiLM(flat, parameters, model.vocabulary),
    }
