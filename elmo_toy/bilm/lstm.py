"""Two stacks of LSTM layers with projection, one a reading direction, forward and backward.

Both directions run in one loop over time, on an axis of their own: arrays are
``(2, steps, batch, features)``, direction 0 forward, 1 backward, in *reading order*: step 0 is
the first token that the direction reads. Each direction has its own parameters and reads its own
stack only.

Sentences are sorted by length, the longest first, so that the rows which still read at a step are
the first ones; no time step does any work on padding.

Book: chapter 2, "One LSTM step by hand".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elmo_toy.bilm.kernels import gate_product, kernel_gradients
from elmo_toy.bilm.token_encoder import FloatArray, Shapes
from elmo_toy.text import IntArray, checked_count, checked_flag


@dataclass(frozen=True)
class LSTMOptions:
    """Sizes and clips of the stacks; the fields are named as in ``options.json``.

    ``dim`` units a direction and layer, projected to ``projection_dim``. The released model:
    4096 units projected to 512, two layers, both clips 3, with skip connections.

    ``joined`` is ours, to show why the original keeps the directions apart: every layer above the
    first then reads both directions of the layer below it, and so, through the other direction,
    the word that it is to predict.
    """

    dim: int
    projection_dim: int
    n_layers: int = 2
    cell_clip: float = 3.0
    proj_clip: float = 3.0
    use_skip_connections: bool = True
    joined: bool = False

    def __post_init__(self) -> None:
        """Refuse impossible sizes."""
        for name in ("dim", "projection_dim", "n_layers"):
            checked_count(getattr(self, name), name)
        for name in ("use_skip_connections", "joined"):
            checked_flag(getattr(self, name), name)
        for name in ("cell_clip", "proj_clip"):
            if not isinstance(getattr(self, name), Real):
                raise TypeError(f"{name}: expected a number, got {getattr(self, name)!r}")
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}: expected above 0, got {getattr(self, name)}")


class LayerWeights(NamedTuple):
    """One layer, both directions (axis 0); columns of gates in the released order i, j, f, o."""

    kernel: FloatArray  # (2, input_dim + projection_dim, 4 * dim); rows [input; recurrent]
    bias: FloatArray  # (2, 4 * dim), without FORGET_BIAS
    projection: FloatArray  # (2, dim, projection_dim)


LAYER_PARAMETERS = ("W_0", "B", "W_P_0")
"""The released names of the fields of `LayerWeights`."""


def parameter_shapes(options: LSTMOptions) -> Shapes:
    """Name and shape of every parameter; axis 0 is the direction.

    >>> parameter_shapes(LSTMOptions(dim=4, projection_dim=3, n_layers=1))
    {'Cell0/W_0': (2, 6, 16), 'Cell0/B': (2, 16), 'Cell0/W_P_0': (2, 4, 3)}
    """
    dim, projection_dim = options.dim, options.projection_dim
    shapes: Shapes = {}
    for layer in range(options.n_layers):
        input_dim = 2 * projection_dim if layer > 0 and options.joined else projection_dim
        shapes[f"Cell{layer}/W_0"] = (2, input_dim + projection_dim, 4 * dim)
        shapes[f"Cell{layer}/B"] = (2, 4 * dim)
        shapes[f"Cell{layer}/W_P_0"] = (2, dim, projection_dim)
    return shapes


def initial_parameters(options: LSTMOptions, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Draw the parameters: uniform in the range of Glorot and Bengio (2010), zero biases."""
    parameters: dict[str, FloatArray] = {}
    for name, shape in parameter_shapes(options).items():
        if len(shape) == 2:
            parameters[name] = np.zeros(shape)
        else:
            bound = (6.0 / (shape[1] + shape[2])) ** 0.5
            parameters[name] = rng.uniform(-bound, bound, shape)
    return parameters


@dataclass(frozen=True)
class State:
    """What the stacks remember: cells (layers, 2, batch, dim), states h (..., projection_dim)."""

    cells: FloatArray
    states: FloatArray

    @classmethod
    def zeros(cls, options: LSTMOptions, batch: int, dtype: npt.DTypeLike) -> "State":
        """What every sentence starts from."""
        shape = (options.n_layers, 2, batch)
        return cls(
            np.zeros((*shape, options.dim), dtype=dtype),
            np.zeros((*shape, options.projection_dim), dtype=dtype),
        )


class ReadingOrder:
    """Turns (batch, tokens, ...) into what each direction reads, and back.

    Parameters
    ----------
    lengths : (batch,) int64
    steps : int
        Tokens of the padded batch.

    Examples
    --------
    >>> order = ReadingOrder(np.array([2, 3]), 3)
    >>> read = order.read(np.array([[1, 2, 0], [3, 4, 5]]))
    >>> read[0].T.tolist(), read[1].T.tolist()
    ([[3, 4, 5], [1, 2, 0]], [[5, 4, 3], [2, 1, 0]])
    >>> order.unread(read)[:, :, 1].tolist()
    [[1, 2, 0], [3, 4, 5]]

    Book: chapter 2, "The two directions".
    """

    def __init__(self, lengths: IntArray, steps: int) -> None:
        self.rows = np.argsort(-lengths, kind="stable")
        self.lengths = lengths[self.rows]
        forward = np.broadcast_to(np.arange(steps)[:, None], (steps, len(lengths)))
        inside = forward < self.lengths
        self.active: list[int] = inside.sum(axis=1).tolist()
        """How many rows read at each step."""
        backward = np.where(inside, self.lengths - 1 - forward, forward)
        self._positions = np.stack([forward, backward])
        self._inside = inside

    def read(self, tokens: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(batch, tokens, ...) -> (2, steps, batch, ...), rows sorted by length."""
        read: npt.NDArray[Any] = tokens[self.rows[None, None, :], self._positions]
        return read

    def unread(self, read: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(2, steps, batch, ...) -> (batch, tokens, 2, ...), 0 outside the sentences."""
        _, steps, batch = read.shape[:3]
        out = np.zeros((batch, steps, 2, *read.shape[3:]), dtype=read.dtype)
        rows = np.broadcast_to(self.rows, (steps, batch))[self._inside]
        for direction in range(2):
            positions = self._positions[direction][self._inside]
            out[rows, positions, direction] = read[direction][self._inside]
        return out


class LayerTrace(NamedTuple):
    """What the backward pass needs of one layer's forward pass, in reading order."""

    input_dim: int
    read: FloatArray  # (2, steps + 1, batch, input_dim + projection_dim): [input; state before]
    gates: FloatArray  # (4, 2, steps, batch, dim): candidate, i, f, o, after their functions
    cells: FloatArray  # (2, steps + 1, batch, dim), clipped; the initial state first
    squashed: FloatArray  # (2, steps, batch, dim): tanh(cell)

    def first(self, batch: int) -> "LayerTrace":
        """Of the first sentences alone."""
        return LayerTrace(self.input_dim, *(array[..., :batch, :] for array in self[1:]))

    @property
    def inputs(self) -> FloatArray:
        """Of each step: (2, steps, batch, input_dim)."""
        return self.read[:, :-1, :, : self.input_dim]

    @property
    def states(self) -> FloatArray:
        """The h, clipped, the initial state first: (2, steps + 1, batch, projection_dim)."""
        return self.read[:, :, :, self.input_dim :]


def layer_forward(
    inputs: FloatArray,
    weights: LayerWeights,
    active: list[int],
    cells: FloatArray,
    states: FloatArray,
    options: LSTMOptions,
) -> LayerTrace:
    """Run one layer over both directions.

    ``i, j, f, o = [x; h] W + b``; ``c = sigmoid(f + 1)*c + sigmoid(i)*tanh(j)``, clipped to
    +-cell_clip; ``h = (sigmoid(o)*tanh(c)) W_P``, clipped to +-proj_clip.

    Parameters
    ----------
    inputs : (2, steps, batch, input_dim), in reading order
    weights : LayerWeights
    active : for each step, how many rows (the first ones) read at it
    cells, states : (2, batch, dim) and (2, batch, projection_dim), to start from
    options : LSTMOptions

    Returns
    -------
    LayerTrace; its ``states[:, 1:]`` are the h of each step, 0 where a row does not read.

    Source: allenai/bilm-tf, ``model.py``; TensorFlow's ``LSTMCell``.
    Book: chapter 2, "One LSTM step by hand".
    """
    _, steps, batch, input_dim = inputs.shape
    dim, dtype = options.dim, inputs.dtype
    # BLAS multiplies a single row by another routine, which rounds differently. A sentence that
    # reads alone therefore has a row of zeros beside it. In a batch it equals itself then to
    # rounding: to the bit on processors whose BLAS rounds a row alike in a matrix of any height.
    rows = max(batch, 2)
    trace = LayerTrace(
        input_dim=input_dim,
        read=np.zeros((2, steps + 1, rows, input_dim + options.projection_dim), dtype=dtype),
        gates=np.empty((4, 2, steps, rows, dim), dtype=dtype),
        cells=np.zeros((2, steps + 1, rows, dim), dtype=dtype),
        squashed=np.empty((2, steps, rows, dim), dtype=dtype),
    )
    trace.inputs[:, :, :batch] = inputs
    trace.states[:, 0, :batch], trace.cells[:, 0, :batch] = states, cells
    product = gate_product(weights.kernel, weights.bias, trace.read, input_dim)
    for t, reading in enumerate(active):
        n = max(reading, 2)
        gates = trace.gates[:, :, t, :n]
        product(t, n, gates)
        np.tanh(gates, out=gates)
        gates[1:] *= 0.5
        gates[1:] += 0.5
        candidate, i, f, o = gates
        c = f * trace.cells[:, t, :n]
        c += i * candidate
        np.clip(c, -options.cell_clip, options.cell_clip, out=c)
        trace.cells[:, t + 1, :n] = c
        np.tanh(c, out=c)
        trace.squashed[:, t, :n] = c
        c *= o
        h = c @ weights.projection
        np.clip(h, -options.proj_clip, options.proj_clip, out=trace.states[:, t + 1, :n])
        trace.states[:, t + 1, reading:n] = 0
        trace.cells[:, t + 1, reading:n] = 0
    return trace.first(batch)


def layer_gradients(
    upstream: FloatArray,
    trace: LayerTrace,
    weights: LayerWeights,
    active: list[int],
    options: LSTMOptions,
) -> tuple[FloatArray, LayerWeights]:
    """Carry a loss's derivative back through `layer_forward`, from the last step to the first.

    A clipped value passes nothing back. The state that the layer started from is a constant.

    Parameters
    ----------
    upstream : (2, steps, batch, projection_dim), with respect to the h of each step

    Returns
    -------
    The derivatives with respect to the inputs (2, steps, batch, input_dim) and the weights.

    Book: chapter 2, "One LSTM step by hand".
    """
    _, steps, batch, _ = upstream.shape
    dim, dtype = options.dim, upstream.dtype
    kernel = kernel_gradients(weights.kernel, trace.read, trace.input_dim)
    projection_back = np.ascontiguousarray(weights.projection.swapaxes(1, 2))
    cells_were_clipped = bool((np.abs(trace.cells) >= options.cell_clip).any())
    states_were_clipped = bool((np.abs(trace.states) >= options.proj_clip).any())

    dprojection = np.zeros_like(weights.projection)
    dstates = np.zeros_like(upstream[:, 0])  # of the step after
    dcell = np.zeros((2, batch, dim), dtype=dtype)  # of the step after, through the forget gate
    for t in reversed(range(steps)):
        n = active[t]
        gates, tanh_c = trace.gates[:, :, t, :n], trace.squashed[:, t, :n]
        candidate, i, f, o = gates

        dh = upstream[:, t, :n] + dstates[:, :n]
        if states_were_clipped:
            dh *= np.abs(trace.states[:, t + 1, :n]) < options.proj_clip
        dprojection += (o * tanh_c).swapaxes(1, 2) @ dh
        dm = dh @ projection_back
        dc = 1 - tanh_c * tanh_c
        dc *= dm
        dc *= o
        dc += dcell[:, :n]
        if cells_were_clipped:
            dc *= np.abs(trace.cells[:, t + 1, :n]) < options.cell_clip
        np.multiply(dc, f, out=dcell[:, :n])

        # First each gate's own derivative, then what it was multiplied with.
        dgates = 1 - gates
        dgates[1:] *= gates[1:]
        dgates[0] *= 1 + candidate
        dgates[0] *= i
        dgates[1] *= candidate
        dgates[2] *= trace.cells[:, t, :n]
        dgates[:3] *= dc
        dm *= tanh_c
        dgates[3] *= dm

        dstates[:, :n] = kernel.step(t, dgates)
    dinputs, dkernel, dbias = kernel.total()
    return dinputs, LayerWeights(dkernel, dbias, dprojection)


class StackTrace(NamedTuple):
    """The layers' traces; and per layer its output in reading order, residual added."""

    layers: list[LayerTrace]
    outputs: list[FloatArray]


def stack_forward(
    read: FloatArray,
    weights: list[LayerWeights],
    order: ReadingOrder,
    state: State,
    options: LSTMOptions,
) -> tuple[StackTrace, State]:
    """Run all layers, each reading the layer below it in the same direction (or ``joined``).

    With ``use_skip_connections`` the output of every layer but the first is ``h + input``. The
    residual goes up, never into the recurrent state, which therefore stays within +-proj_clip.

    Parameters
    ----------
    read : (2, steps, batch, projection_dim), token vectors in reading order
    weights : one LayerWeights a layer
    order : ReadingOrder
    state : State, rows in the order of the batch

    Returns
    -------
    StackTrace, and the state of each row after its last token.

    Book: chapter 2, "The two directions".
    """
    x = read
    traces, outputs = [], []
    final_cells, final_states = np.empty_like(state.cells), np.empty_like(state.states)
    columns = np.arange(len(order.rows))
    for layer, layer_weights in enumerate(weights):
        below = x
        trace = layer_forward(
            join(below, order) if layer > 0 and options.joined else below,
            layer_weights,
            order.active,
            state.cells[layer][:, order.rows],
            state.states[layer][:, order.rows],
            options,
        )
        final_cells[layer][:, order.rows] = trace.cells[:, order.lengths, columns]
        final_states[layer][:, order.rows] = trace.states[:, order.lengths, columns]
        x = trace.states[:, 1:]
        if layer > 0 and options.use_skip_connections:
            x = x + below
        traces.append(trace)
        outputs.append(x)
    return StackTrace(traces, outputs), State(final_cells, final_states)


def stack_gradients(
    upstream: FloatArray,
    trace: StackTrace,
    weights: list[LayerWeights],
    order: ReadingOrder,
    options: LSTMOptions,
    lower: Sequence[FloatArray] | None = None,
) -> tuple[FloatArray, list[LayerWeights]]:
    """Carry a loss's derivative with respect to the layers' outputs back to the tokens.

    Parameters
    ----------
    upstream : (2, steps, batch, projection_dim), with respect to the top layer's output
    lower : sequence of arrays like ``upstream``, optional
        With respect to the output of each layer below the top one, the lowest first. None: the
        loss reads the top layer alone, as a language model's does.

    Returns
    -------
    Derivatives with respect to ``read`` and to each layer's weights.

    Book: chapter 5, "Frozen, fine-tuned, adapted".
    """
    gradients: list[LayerWeights] = []
    for layer in reversed(range(options.n_layers)):
        if lower is not None and layer < options.n_layers - 1:
            upstream = upstream + lower[layer]
        dinputs, layer_gradient = layer_gradients(
            upstream, trace.layers[layer], weights[layer], order.active, options
        )
        gradients.insert(0, layer_gradient)
        if layer > 0 and options.joined:
            dinputs = join_gradient(dinputs, order)
        upstream = dinputs + upstream if layer > 0 and options.use_skip_connections else dinputs
    return upstream, gradients


def join(read: FloatArray, order: ReadingOrder) -> FloatArray:
    """Give both directions ``[forward; backward]`` of each token: (2, steps, batch, 2 * dim)."""
    tokens = order.unread(read)
    joined: FloatArray = order.read(tokens.reshape(*tokens.shape[:2], -1))
    return joined


def join_gradient(upstream: FloatArray, order: ReadingOrder) -> FloatArray:
    """Carry a derivative back through `join`: (2, steps, batch, dim)."""
    dtokens = order.unread(upstream).sum(axis=2)
    halves = np.split(dtokens, 2, axis=2)
    return np.stack([order.read(half)[direction] for direction, half in enumerate(halves)])
