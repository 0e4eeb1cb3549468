"""The matrix products of an LSTM layer, ``[x; h] W + b`` and its gradients, in two ways.

Both give the same numbers; the processor's cache decides. A kernel that fits in it is multiplied
with ``[x; h]`` at each step. One that doesn't (the released model's takes 134 MB a layer) would
come from memory at every step, so whatever needs no state is done for all steps at once: ``x W_x``
before the loop, the gradients of the kernel and of the inputs after it. At a step only ``h W_h`` is
left.

Arrays are as in `elmo_toy.bilm.lstm`: ``read`` (2, steps + 1, batch, input_dim + projection_dim)
holds ``[x; h before]`` of each step, ``gates`` (4, 2, batch, dim) one step's.

Book: chapter 2, "One LSTM step by hand".
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from elmo_toy.bilm.token_encoder import FloatArray

FORGET_BIAS = 1.0
"""Added to the forget gate; it is not part of the stored bias."""

CACHE_BYTES = 2**23
"""The largest kernel that is multiplied step by step: a few times a core's second-level cache."""

# The released files order the gates' columns i, j (the candidate), f, o. Inside the loop each gate
# is an array of its own: j, then the three sigmoids i, f, o. The swap is its own inverse.
_SWAPPED = [1, 0, 2, 3]


def gates_first(columns: FloatArray, dim: int) -> FloatArray:
    """(2, rows, 4 * dim) in file order -> (4, 2, rows, dim) in the loop's order.

    >>> gates_first(np.array([[[1.0, 2.0, 3.0, 4.0]]]), 1).ravel().tolist()
    [2.0, 1.0, 3.0, 4.0]
    """
    gates = columns.reshape(*columns.shape[:2], 4, dim)
    return gates.transpose(2, 0, 1, 3)[_SWAPPED]


def gates_last(gates: FloatArray) -> FloatArray:
    """Undo `gates_first`: (4, 2, rows, dim) -> (2, rows, 4 * dim)."""
    _, directions, rows, dim = gates.shape
    return gates[_SWAPPED].transpose(1, 2, 0, 3).reshape(directions, rows, 4 * dim)


def gate_product(
    kernel: FloatArray, bias: FloatArray, read: FloatArray, input_dim: int
) -> Callable[[int, int, FloatArray], None]:
    """Return what writes ``[x; h] W + b`` of step t's first n rows to ``out`` (4, 2, n, dim).

    Those of the three sigmoids are halved: sigmoid(x) = tanh(x / 2) / 2 + 1 / 2, so that one call
    of tanh serves all four gates.

    Parameters
    ----------
    kernel, bias : of a `LayerWeights`
    read : its inputs are there from the start, its states as the loop goes on
    """
    dim = kernel.shape[2] // 4
    half = np.array([1.0, 0.5, 0.5, 0.5], dtype=read.dtype)[:, None, None, None]
    gate_bias = gates_first(bias[:, None], dim)
    gate_bias[2] += FORGET_BIAS
    gate_bias *= half
    if kernel.nbytes <= CACHE_BYTES:
        gate_kernel = half * gates_first(kernel, dim)

        def at_once(t: int, n: int, out: FloatArray) -> None:
            # Projecting all inputs before the loop was slower here, because the gates then go
            # through memory twice.
            np.matmul(read[:, t, :n], gate_kernel, out=out)
            out += gate_bias

        return at_once

    directions, steps, rows, _ = read[:, :-1].shape
    inputs = read[:, :-1, :, :input_dim].reshape(directions, steps * rows, input_dim)
    from_inputs = (inputs @ kernel[:, :input_dim]).reshape(directions, steps, rows, 4 * dim)
    recurrent = kernel[:, input_dim:]

    def states_only(t: int, n: int, out: FloatArray) -> None:
        columns = from_inputs[:, t, :n]
        columns += read[:, t, :n, input_dim:] @ recurrent
        np.multiply(half, gates_first(columns, dim), out=out)
        out += gate_bias

    return states_only


class KernelGradients(Protocol):
    """Collects, from the last step to the first, what a loss says about the gates."""

    def step(self, t: int, dgates: FloatArray) -> FloatArray:
        """Take d gates (4, 2, n, dim) of step t; return d h before it, (2, n, projection_dim)."""

    def total(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return d inputs (2, steps, batch, input_dim), d kernel and d bias, after step 0."""


def kernel_gradients(kernel: FloatArray, read: FloatArray, input_dim: int) -> KernelGradients:
    """Return the collector that suits the kernel's size."""
    kind = _StepByStep if kernel.nbytes <= CACHE_BYTES else _AllSteps
    return kind(kernel, read, input_dim)


class _StepByStep:
    def __init__(self, kernel: FloatArray, read: FloatArray, input_dim: int) -> None:
        self.read, self.input_dim = read, input_dim
        directions, rows, columns = kernel.shape
        dim = columns // 4
        self.kernel_back = np.ascontiguousarray(gates_first(kernel, dim).swapaxes(2, 3))
        self.dkernel = np.zeros((4, directions, rows, dim), dtype=read.dtype)
        self.dbias = np.zeros((4, directions, 1, dim), dtype=read.dtype)
        self.dinputs = np.zeros_like(read[:, :-1, :, :input_dim], order="C")

    def step(self, t: int, dgates: FloatArray) -> FloatArray:
        n = dgates.shape[2]
        self.dkernel += self.read[:, t, :n].swapaxes(1, 2) @ dgates
        self.dbias += dgates.sum(axis=2, keepdims=True)
        dread: FloatArray = np.sum(dgates @ self.kernel_back, axis=0)
        self.dinputs[:, t, :n] = dread[:, :, : self.input_dim]
        return dread[:, :, self.input_dim :]

    def total(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.dinputs, gates_last(self.dkernel), gates_last(self.dbias)[:, 0]


class _AllSteps:
    def __init__(self, kernel: FloatArray, read: FloatArray, input_dim: int) -> None:
        self.kernel, self.read, self.input_dim = kernel, read[:, :-1], input_dim
        # 0 where a row does not read
        self.dcolumns = np.zeros((*self.read.shape[:3], kernel.shape[2]), dtype=read.dtype)

    def step(self, t: int, dgates: FloatArray) -> FloatArray:
        dcolumns = gates_last(dgates)
        self.dcolumns[:, t, : dcolumns.shape[1]] = dcolumns
        dstates: FloatArray = dcolumns @ self.kernel[:, self.input_dim :].swapaxes(1, 2)
        return dstates

    def total(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        directions, steps, batch, width = self.read.shape
        flat = self.dcolumns.reshape(directions, steps * batch, -1)
        dinputs = flat @ self.kernel[:, : self.input_dim].swapaxes(1, 2)
        dkernel = self.read.reshape(directions, steps * batch, width).swapaxes(1, 2) @ flat
        return dinputs.reshape(directions, steps, batch, -1), dkernel, flat.sum(axis=1)
