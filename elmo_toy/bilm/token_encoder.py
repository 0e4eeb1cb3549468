"""From a spelling to a token vector, forward and backward.

``characters -> embedding -> convolutions -> max over positions -> highway layers -> projection``

No neighbouring token is looked at: the vector depends on the spelling alone. The lookup encoder is
the word-level alternative, one vector a spelling.

Parameters travel in a dictionary under the names of the released weight files. Rows of ids come
from `elmo_toy.text`, where 0 means "no token": no such row may reach these functions.

Book: chapter 2, "Characters to token vector".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elmo_toy.text import CHARACTER_IDS, PADDING, SHIFT, IntArray, checked_count

FloatArray = npt.NDArray[np.floating[Any]]
Parameters = Mapping[str, FloatArray]
Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class CharacterOptions:
    """Sizes of the character encoder; the fields are named as in ``options.json``.

    ``filters`` holds (width in characters, number of filters) pairs. The released model:
    ``filters=((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))``,
    ``embedding_dim=16``, ``n_highway=2``.
    """

    embedding_dim: int
    filters: tuple[tuple[int, int], ...]
    n_highway: int
    max_characters_per_token: int = 50
    activation: str = "relu"

    def __post_init__(self) -> None:
        """Refuse impossible sizes."""
        if self.activation not in ("relu", "tanh"):
            raise ValueError(f"activation: expected 'relu' or 'tanh', got {self.activation!r}")
        checked_count(self.embedding_dim, "embedding_dim")
        checked_count(self.n_highway, "n_highway", 0)
        checked_count(self.max_characters_per_token, "max_characters_per_token")
        if not self.filters or min(min(pair) for pair in self.filters) < 1:
            raise ValueError(
                f"filters: expected (width, number) pairs of at least 1, got {self.filters}"
            )
        for size in (size for pair in self.filters for size in pair):
            checked_count(size, "filters")
        if self.max_characters_per_token < max(3, self.widest):
            raise ValueError(
                "max_characters_per_token: expected at least 3 and the widest "
                f"filter's {self.widest}, got {self.max_characters_per_token}"
            )

    @property
    def n_filters(self) -> int:
        """Filters of all widths together."""
        return sum(number for _, number in self.filters)

    @property
    def widest(self) -> int:
        """Width of the widest filter."""
        return max(width for width, _ in self.filters)


@dataclass(frozen=True)
class LookupOptions:
    """Size of the lookup encoder: how many words its table holds."""

    n_words: int

    def __post_init__(self) -> None:
        """Refuse impossible sizes."""
        checked_count(self.n_words, "n_words")


EncoderOptions = CharacterOptions | LookupOptions


def parameter_shapes(options: EncoderOptions, projection_dim: int) -> Shapes:
    """Name and shape of every parameter, as they stand in a weight file.

    >>> parameter_shapes(LookupOptions(210), 32)
    {'embedding': (210, 32)}
    """
    if isinstance(options, LookupOptions):
        return {"embedding": (options.n_words, projection_dim)}
    shapes: Shapes = {"char_embed": (CHARACTER_IDS, options.embedding_dim)}
    for index, (width, number) in enumerate(options.filters):
        shapes[f"CNN/W_cnn_{index}"] = (1, width, options.embedding_dim, number)
        shapes[f"CNN/b_cnn_{index}"] = (number,)
    size = options.n_filters
    for layer in range(options.n_highway):
        for part in ("carry", "transform"):
            shapes[f"CNN_high_{layer}/W_{part}"] = (size, size)
            shapes[f"CNN_high_{layer}/b_{part}"] = (size,)
    if size != projection_dim:
        shapes["CNN_proj/W_proj"] = (size, projection_dim)
        shapes["CNN_proj/b_proj"] = (projection_dim,)
    return shapes


def initial_parameters(
    options: EncoderOptions, projection_dim: int, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Draw the parameters: normal, with the variance that keeps the scale of what is read.

    The gate of a highway layer starts nearly shut (bias -2), so that it passes its input on.
    """
    parameters: dict[str, FloatArray] = {}
    for name, shape in parameter_shapes(options, projection_dim).items():
        if name in ("embedding", "char_embed"):
            parameters[name] = rng.uniform(-1.0, 1.0, shape)
        elif name.endswith("b_carry"):
            parameters[name] = np.full(shape, -2.0)
        elif len(shape) == 1:
            parameters[name] = np.zeros(shape)
        else:
            fan_in = int(np.prod(shape[:-1]))
            parameters[name] = rng.normal(0.0, fan_in**-0.5, shape)
    return parameters


class CharacterTrace(NamedTuple):
    """What the backward pass needs of the forward pass."""

    ids: IntArray
    windows: list[FloatArray]  # per filter width: (types, positions, width * embedding_dim)
    best: list[IntArray]  # per filter width: (types, filters), position of the maximum
    activated: FloatArray  # (types, n_filters)
    highways: list[tuple[FloatArray, FloatArray, FloatArray]]  # input, gate, transformed
    features: FloatArray  # (types, n_filters): input of the projection


def encode_characters(
    ids: IntArray, parameters: Parameters, options: CharacterOptions
) -> tuple[FloatArray, CharacterTrace]:
    """Encode spellings.

    For each filter ``f``: ``a_f = activation(max_p(sum_k W[k, :, f] . c[p + k] + b_f))``; then for
    each highway layer ``g = sigmoid(x W_carry + b_carry)``, ``t = relu(x W_transform +
    b_transform)``, ``x = g*t + (1 - g)*x``; then ``x W_proj + b_proj``. (``W_carry`` is the
    released files' name; it drives the gate of the *transformed* part.)

    Parameters
    ----------
    ids : (types, max_characters_per_token) int64, each between 1 and 261
    parameters : names and shapes of `parameter_shapes`
    options : CharacterOptions

    Returns
    -------
    vectors (types, projection_dim), and the trace for `character_gradients`.

    Raises
    ------
    ValueError
        If the rows have another length, or an id is out of range (0, "no token", included).

    Examples
    --------
    >>> from elmo_toy.text import character_ids
    >>> options = CharacterOptions(2, ((1, 1),), n_highway=0, max_characters_per_token=5)
    >>> table = np.zeros((261, 2)); table[ord("a")] = [1.0, 0.5]
    >>> parameters = {"char_embed": table, "CNN/W_cnn_0": np.full((1, 1, 2, 1), 2.0),
    ...               "CNN/b_cnn_0": np.array([0.25])}
    >>> encode_characters(character_ids("a", 5)[None], parameters, options)[0].tolist()
    [[3.25]]

    Source: allenai/bilm-tf, ``model.py``, ``_build_word_char_embeddings``.
    Book: chapter 2, "Characters to token vector".
    """
    if ids.ndim != 2 or ids.shape[1] != options.max_characters_per_token:
        raise ValueError(
            "ids: expected (types, max_characters_per_token = "
            f"{options.max_characters_per_token}), got shape {ids.shape}"
        )
    if ids.size and (ids.min() < 1 or ids.max() > CHARACTER_IDS):
        raise ValueError(
            f"ids: expected character ids from 1 to {CHARACTER_IDS}, got {ids.min()} to {ids.max()}"
        )
    # Windows that lie in the padding are all alike: keep one of them for each width.
    longest = int((ids != PADDING + SHIFT).sum(axis=1).max(initial=0))
    ids = ids[:, : longest + options.widest]
    embedded = parameters["char_embed"][ids - SHIFT].reshape(len(ids), -1)

    step = options.embedding_dim
    windows, best, maxima = [], [], []
    for index, (width, number) in enumerate(options.filters):
        kernel = parameters[f"CNN/W_cnn_{index}"].reshape(width * step, number)
        window = np.lib.stride_tricks.sliding_window_view(embedded, width * step, axis=1)
        window = np.ascontiguousarray(window[:, ::step])
        convolved = (window.reshape(-1, width * step) @ kernel).reshape(*window.shape[:2], number)
        best.append(convolved.argmax(axis=1))
        maxima.append(convolved.max(axis=1) + parameters[f"CNN/b_cnn_{index}"])
        windows.append(window)
    joined = np.concatenate(maxima, axis=1)
    activated = np.maximum(joined, 0) if options.activation == "relu" else np.tanh(joined)

    x = activated
    highways = []
    for layer in range(options.n_highway):
        name = f"CNN_high_{layer}/"
        carry = x @ parameters[name + "W_carry"] + parameters[name + "b_carry"]
        gate = 0.5 * np.tanh(0.5 * carry) + 0.5  # the sigmoid, without overflow
        transformed = x @ parameters[name + "W_transform"] + parameters[name + "b_transform"]
        transformed = np.maximum(transformed, 0)
        highways.append((x, gate, transformed))
        x = gate * transformed + (1 - gate) * x

    trace = CharacterTrace(ids, windows, best, activated, highways, x)
    if "CNN_proj/W_proj" in parameters:
        x = x @ parameters["CNN_proj/W_proj"] + parameters["CNN_proj/b_proj"]
    return x, trace


def character_gradients(
    upstream: FloatArray, trace: CharacterTrace, parameters: Parameters, options: CharacterOptions
) -> dict[str, FloatArray]:
    """Differentiate a loss with respect to every parameter of `encode_characters`.

    Parameters
    ----------
    upstream : (types, projection_dim), the loss's derivative with respect to the vectors

    Returns
    -------
    A derivative for every parameter, under the same name.

    Book: chapter 2, "Characters to token vector".
    """
    gradients: dict[str, FloatArray] = {}
    dx = upstream
    if "CNN_proj/W_proj" in parameters:
        gradients["CNN_proj/W_proj"] = trace.features.T @ dx
        gradients["CNN_proj/b_proj"] = dx.sum(axis=0)
        dx = dx @ parameters["CNN_proj/W_proj"].T

    for layer in reversed(range(options.n_highway)):
        name = f"CNN_high_{layer}/"
        x, gate, transformed = trace.highways[layer]
        dcarry = dx * (transformed - x) * gate * (1 - gate)
        dtransform = dx * gate * (transformed > 0)
        gradients[name + "W_carry"] = x.T @ dcarry
        gradients[name + "b_carry"] = dcarry.sum(axis=0)
        gradients[name + "W_transform"] = x.T @ dtransform
        gradients[name + "b_transform"] = dtransform.sum(axis=0)
        dx = (
            dx * (1 - gate)
            + dcarry @ parameters[name + "W_carry"].T
            + dtransform @ parameters[name + "W_transform"].T
        )

    activated = trace.activated
    djoined = dx * ((activated > 0) if options.activation == "relu" else 1 - activated**2)

    step = options.embedding_dim
    types, characters = trace.ids.shape
    dembedded = np.zeros((types, characters * step), dtype=upstream.dtype)
    ends = np.cumsum([number for _, number in options.filters])[:-1]
    for index, dmaximum in enumerate(np.split(djoined, ends, axis=1)):
        width, number = options.filters[index]
        window = trace.windows[index]
        positions = window.shape[1]
        at_best = np.zeros((types, positions, number), dtype=upstream.dtype)
        np.put_along_axis(at_best, trace.best[index][:, None], dmaximum[:, None], axis=1)
        dconvolved = at_best.reshape(types * positions, number)
        kernel = parameters[f"CNN/W_cnn_{index}"]
        dkernel = window.reshape(types * positions, width * step).T @ dconvolved
        gradients[f"CNN/W_cnn_{index}"] = dkernel.reshape(kernel.shape)
        gradients[f"CNN/b_cnn_{index}"] = dmaximum.sum(axis=0)
        dwindow = dconvolved @ kernel.reshape(width * step, number).T
        by_offset = dwindow.reshape(types, positions, width, step)
        places = dembedded.reshape(types, characters, step)
        for offset in range(width):
            places[:, offset : offset + positions] += by_offset[:, :, offset]
    gradients["char_embed"] = sum_by_index(
        trace.ids.reshape(-1) - SHIFT, dembedded.reshape(-1, step), CHARACTER_IDS
    )
    return gradients


def sum_by_index(index: IntArray, rows: FloatArray, size: int) -> FloatArray:
    """Add each row to the row of the result that its index names: (size, columns).

    >>> sum_by_index(np.array([0, 2, 0]), np.array([[1.0], [2.0], [3.0]]), 3).tolist()
    [[4.0], [0.0], [2.0]]
    """
    # Far faster than np.add.at on two-dimensional arrays.
    columns = [np.bincount(index, column, minlength=size) for column in rows.T]
    return np.stack(columns, axis=1).astype(rows.dtype)
