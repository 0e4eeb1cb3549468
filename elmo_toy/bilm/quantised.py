"""A model in a quarter of its bytes: its large matrices as whole numbers from -127 to 127.

Each column of a matrix is stored as such numbers and one factor; what a column stands for is the
products. Vectors (the biases) stay as they are. A page that runs the model loads these bytes.

Book: chapter 1, "Sentences of your own".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.token_encoder import FloatArray, initial_parameters

MOST = 127


class Quantised(NamedTuple):
    """Whole numbers (rows, columns) int8 and a factor for each column, (columns,) float32."""

    numbers: np.ndarray[Any, np.dtype[np.int8]]
    factors: FloatArray

    @property
    def values(self) -> FloatArray:
        """What they stand for, (rows, columns) float64: the products, which are exact."""
        return self.numbers.astype(np.float64) * self.factors.astype(np.float64)


def quantise(matrix: FloatArray) -> Quantised:
    """Round each column to 255 evenly spaced values, the outermost at its largest size.

    Parameters
    ----------
    matrix : (rows, columns)

    Returns
    -------
    Quantised; no value is off by more than half of its column's factor, but for float32's rounding.

    Raises
    ------
    ValueError
        For values that aren't finite: they have no whole number.

    Book: chapter 1, "Sentences of your own".

    >>> quantise(np.array([[2.54, 0.0], [-1.28, 0.0]])).numbers.tolist()
    [[127, 0], [-64, 0]]
    """
    if not np.isfinite(matrix).all():
        raise ValueError("matrix: expected finite numbers, got NaN or infinity")
    smallest = np.finfo(np.float32).tiny  # for a column of zeros
    factors = np.maximum(np.abs(matrix).max(axis=0) / MOST, smallest).astype(np.float32)
    return Quantised(np.rint(matrix / factors).astype(np.int8), factors)


def matrices(parameters: Mapping[str, FloatArray]) -> Iterator[tuple[str, FloatArray]]:
    """Every parameter by name as one or two matrices (rows, columns) or vectors, in a fixed order.

    Columns are what is computed: filters, units, words. Parameters of the stacks become one for
    each direction, ``Cell0/W_0/0`` and ``Cell0/W_0/1``.

    >>> parameters = {"softmax/W": np.zeros((9, 3)), "Cell0/B": np.zeros((2, 16))}
    >>> [(name, matrix.shape) for name, matrix in matrices(parameters)]
    [('softmax/W', (3, 9)), ('Cell0/B/0', (16,)), ('Cell0/B/1', (16,))]
    """
    for name, value in parameters.items():
        if name.startswith("Cell"):
            yield from ((f"{name}/{d}", part) for d, part in enumerate(value))
        elif name == "softmax/W":
            yield name, value.T
        else:
            yield name, value.reshape(-1, value.shape[-1]) if value.ndim > 1 else value


def rounded(model: BiLM) -> BiLM:
    """Copy a model into float64 with its matrices rounded as they are stored.

    >>> from elmo_toy.bilm import load_pretrained
    >>> model = rounded(load_pretrained("toy-language"))
    >>> model.dtype, len(np.unique(model.parameters["softmax/W"][0])) <= 255
    (dtype('float64'), True)

    Book: chapter 1, "Sentences of your own".
    """
    return BiLM(model.options, rounded_parameters(model.parameters), model.vocabulary)


def rounded_parameters(parameters: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """As `rounded`, some parameters by their names."""
    values: dict[str, FloatArray] = {}
    for name, value in parameters.items():
        parts = [
            quantise(part).values if part.ndim > 1 else part.astype(np.float64)
            for _, part in matrices({name: value})
        ]
        whole = np.stack(parts) if name.startswith("Cell") else parts[0]
        values[name] = (whole.T if name == "softmax/W" else whole).reshape(value.shape)
    return values


class Packed(NamedTuple):
    """Bytes, and what they hold: name, rows and columns of each matrix; a vector has 0 rows.

    First the factors or values of all, float32 and little-endian, then the int8 of the matrices.
    """

    sizes: list[tuple[str, int, int]]
    content: bytes


def pack(parameters: Mapping[str, FloatArray]) -> Packed:
    """Put parameters into bytes, for a page to read.

    Book: chapter 1, "Sentences of your own".

    >>> packed = pack({"Cell0/B": np.zeros((2, 4)), "CNN_proj/W_proj": np.ones((5, 3))})
    >>> packed.sizes, len(packed.content)
    ([('Cell0/B/0', 0, 4), ('Cell0/B/1', 0, 4), ('CNN_proj/W_proj', 5, 3)], 59)
    """
    sizes, factors, numbers = [], [], []
    for name, matrix in matrices(parameters):
        if matrix.ndim == 1:
            sizes.append((name, 0, len(matrix)))
            factors.append(matrix)
        else:
            stored = quantise(matrix)
            sizes.append((name, *matrix.shape))
            factors.append(stored.factors)
            numbers.append(stored.numbers)
    parts = [part.astype("<f4").tobytes() for part in factors]
    return Packed(sizes, b"".join([*parts, *(part.tobytes() for part in numbers)]))


class Untrained(NamedTuple):
    """An untrained model as a page makes it: its stacks are drawn there, by the same generator.

    ``state`` and ``increment`` are those of numpy's PCG64 after the encoder was drawn.
    """

    model: BiLM
    encoder: dict[str, FloatArray]
    state: int
    increment: int


def untrained(model: BiLM) -> Untrained:
    """What `BiLM.initialise` draws with ``numpy.random.default_rng(0)``, the encoder rounded.

    The stacks' values are kept to the bit, in float32: they are uniform, and a page can draw them
    again. The encoder's are normal, by a method that takes tables, so they are stored.

    Book: chapter 1, "Sentences of your own".

    >>> from elmo_toy.bilm import load_pretrained
    >>> untrained(load_pretrained("english-small")).model.parameters["Cell0/W_0"][0, 0, 0].round(4)
    np.float64(-0.0162)
    """
    options = model.options
    rng = np.random.default_rng(0)
    drawn = initial_parameters(options.encoder, options.lstm.projection_dim, rng)
    encoder = {name: value.astype(np.float32) for name, value in drawn.items()}
    generator = rng.bit_generator.state["state"]
    start = BiLM.initialise(options, np.random.default_rng(0), model.vocabulary)
    values: dict[str, FloatArray] = {
        name: value.astype(np.float64) for name, value in start.parameters.items()
    }
    values |= rounded_parameters(encoder)
    return Untrained(
        BiLM(options, values, model.vocabulary), encoder, generator["state"], generator["inc"]
    )
