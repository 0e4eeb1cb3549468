"""A bidirectional LSTM layer over tokens, for a task: the cell of the biLM, with other inputs.

It is the layer of `elmo_toy.bilm.lstm`, projection and clips included, run in both directions. What
differs is what surrounds it: inputs of any width, both directions read the same tokens, and both
outputs are joined. In a tagger nothing is predicted from one side alone, so nothing is given away.

Book: chapter 5, "Training the tagger".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.bilm import lstm
from elmo_toy.bilm.lstm import LayerTrace, LayerWeights, LSTMOptions, ReadingOrder, State


def options(units: int) -> LSTMOptions:
    """Cell and projection of one size, clips as in the released model."""
    return LSTMOptions(dim=units, projection_dim=units, n_layers=1)


def parameter_shapes(input_dim: int, units: int) -> dict[str, tuple[int, ...]]:
    """Name and shape of every parameter; axis 0 is the direction.

    >>> parameter_shapes(5, 4)
    {'W_0': (2, 9, 16), 'B': (2, 16), 'W_P_0': (2, 4, 4)}
    """
    return {
        "W_0": (2, input_dim + units, 4 * units),
        "B": (2, 4 * units),
        "W_P_0": (2, units, units),
    }


def initial_parameters(input_dim: int, units: int, rng: np.random.Generator) -> dict[str, Array]:
    """Draw as `lstm.initial_parameters` does: Glorot and Bengio (2010), zero biases."""
    parameters: dict[str, Array] = {}
    for name, shape in parameter_shapes(input_dim, units).items():
        if len(shape) == 2:
            parameters[name] = np.zeros(shape)
        else:
            bound = (6.0 / (shape[1] + shape[2])) ** 0.5
            parameters[name] = rng.uniform(-bound, bound, shape)
    return parameters


class Trace(NamedTuple):
    """What `gradients` needs of a forward pass."""

    order: ReadingOrder
    layer: LayerTrace


def forward(
    inputs: Array, parameters: Mapping[str, Array], order: ReadingOrder
) -> tuple[Array, Trace]:
    """Run both directions over padded rows, each from a zero state.

    Parameters
    ----------
    inputs : (batch, tokens, input_dim)
    parameters : names and shapes of `parameter_shapes`
    order : ReadingOrder of the rows' lengths

    Returns
    -------
    ``[forward; backward]`` of each token, (batch, tokens, 2 * units), 0 where no token is; and the
    trace.

    >>> rng = np.random.default_rng(0)
    >>> order = ReadingOrder(np.array([3, 1]), 3)
    >>> states, _ = forward(rng.normal(size=(2, 3, 5)), initial_parameters(5, 4, rng), order)
    >>> states.shape, bool(states[1, 1:].any())
    ((2, 3, 8), False)

    Book: chapter 5, "Training the tagger".
    """
    weights = _weights(parameters)
    settings = options(weights.projection.shape[1])
    zero = State.zeros(settings, len(inputs), inputs.dtype)
    layer = lstm.layer_forward(
        order.read(inputs), weights, order.active, zero.cells[0], zero.states[0], settings
    )
    states = order.unread(layer.states[:, 1:])
    return states.reshape(*inputs.shape[:2], 2 * settings.projection_dim), Trace(order, layer)


def gradients(
    upstream: Array, trace: Trace, parameters: Mapping[str, Array]
) -> tuple[Array, dict[str, Array]]:
    """Carry a derivative with respect to the outputs back through `forward`.

    Parameters
    ----------
    upstream : (batch, tokens, 2 * units)

    Returns
    -------
    Derivatives with respect to the inputs (batch, tokens, input_dim) and every parameter.

    Book: chapter 5, "Training the tagger".
    """
    weights, order = _weights(parameters), trace.order
    halves = np.split(upstream, 2, axis=2)
    read = np.stack([order.read(half)[direction] for direction, half in enumerate(halves)])
    dinputs, dweights = lstm.layer_gradients(
        read, trace.layer, weights, order.active, options(weights.projection.shape[1])
    )
    by_name = dict(zip(lstm.LAYER_PARAMETERS, dweights, strict=True))
    return order.unread(dinputs).sum(axis=2), by_name


def _weights(parameters: Mapping[str, Array]) -> LayerWeights:
    return LayerWeights(*(parameters[name] for name in lstm.LAYER_PARAMETERS))
