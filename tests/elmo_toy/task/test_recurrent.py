"""The task's bidirectional layer: the biLM's, its gradients, its padding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.bilm import lstm
from elmo_toy.bilm.lstm import LayerWeights, ReadingOrder, State
from elmo_toy.task import recurrent

CheckGradients = Callable[..., None]
LENGTHS = np.array([4, 1, 3])


def drawn(input_dim: int, units: int, scale: float = 2.0) -> dict[str, Array]:
    rng = np.random.default_rng(0)
    start = recurrent.initial_parameters(input_dim, units, rng)
    return {name: scale * value + rng.normal(0, 0.1, value.shape) for name, value in start.items()}


def test_it_is_the_first_layer_of_a_bilm() -> None:
    parameters, order = drawn(4, 4), ReadingOrder(LENGTHS, 5)
    inputs = np.random.default_rng(1).normal(size=(3, 5, 4))
    states, _ = recurrent.forward(inputs, parameters, order)
    options = recurrent.options(4)
    trace, _ = lstm.stack_forward(
        order.read(inputs),
        [LayerWeights(*(parameters[name] for name in lstm.LAYER_PARAMETERS))],
        order,
        State.zeros(options, 3, np.float64),
        options,
    )
    assert np.array_equal(states, order.unread(trace.outputs[0]).reshape(3, 5, 8))


def test_each_gradient_is_the_central_difference(check_gradients: CheckGradients) -> None:
    parameters, order = drawn(3, 2), ReadingOrder(LENGTHS, 5)
    rng = np.random.default_rng(1)
    inputs, upstream = rng.normal(size=(3, 5, 3)), rng.normal(size=(3, 5, 4))

    def loss(arrays: dict[str, Array]) -> float:
        own = {name: value for name, value in arrays.items() if name != "inputs"}
        return float((recurrent.forward(arrays["inputs"], own, order)[0] * upstream).sum())

    _, trace = recurrent.forward(inputs, parameters, order)
    dinputs, found = recurrent.gradients(upstream, trace, parameters)
    check_gradients(loss, parameters | {"inputs": inputs}, found | {"inputs": dinputs})


def test_a_row_alone_is_itself_in_a_padded_batch_whatever_the_pads_hold() -> None:
    parameters = drawn(3, 2)
    inputs = np.random.default_rng(1).normal(size=(3, 6, 3))
    inputs[np.arange(6) >= LENGTHS[:, None]] = np.nan
    together, _ = recurrent.forward(inputs, parameters, ReadingOrder(LENGTHS, 6))
    for row, length in enumerate(LENGTHS):
        alone, _ = recurrent.forward(
            inputs[row : row + 1, :length], parameters, ReadingOrder(LENGTHS[row : row + 1], length)
        )
        np.testing.assert_allclose(together[row, :length], alone[0], rtol=0, atol=1e-15)
        assert not together[row, length:].any()


def test_every_state_has_read_the_whole_sentence() -> None:
    """What sets it apart from a language model's: both sides of a token, and the token itself."""
    parameters, order = drawn(3, 2), ReadingOrder(np.array([5]), 5)
    inputs = np.random.default_rng(1).normal(size=(1, 5, 3))
    before, _ = recurrent.forward(inputs, parameters, order)
    for place in range(5):
        changed = inputs.copy()
        changed[0, place] += 1.0
        after, _ = recurrent.forward(changed, parameters, order)
        assert (before != after).any(axis=2).all()
