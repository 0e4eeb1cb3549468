"""A stack of blocks: what its layers are, every gradient, its Jacobian, padding, order of words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from elmo_toy.gradient_check import complex_step
from elmo_toy.transformer import Transformer, TransformerOptions

IDS = np.array([[1, 4, 6, 2], [1, 5, 2, 0]])


def make(seed: int = 0, **options: object) -> Transformer:
    """A stack with no zero bias, its embedding of 6 words."""
    sizes = {"n_words": 6, "dim": 4, "heads": 2, "hidden": 5, **options}
    stack = Transformer.initialise(TransformerOptions(**sizes), np.random.default_rng(seed))
    for name, value in stack.parameters.items():
        if "b_" in name:
            value += np.random.default_rng(seed).normal(size=value.shape)
    return stack


def test_layers_are_the_blocks_outputs_with_layer_0_first() -> None:
    stack = make(positions=False)
    trace = stack.read(IDS)
    assert trace.layers.shape == (2, 3, 4, 4)
    np.testing.assert_array_equal(trace.layers[0, 0], stack.parameters["embedding"][IDS[0] - 1])
    for layer, block in enumerate(trace.blocks, start=1):
        np.testing.assert_array_equal(trace.layers[0, layer], block.output[0])
        kept = block.attention
        attended = (kept.inputs + kept.output)[IDS > 0]
        np.testing.assert_array_equal(block.attended[IDS > 0], attended)
    assert not trace.layers[1, :, 3].any(), "0 where no token is"


def test_padding_changes_nothing() -> None:
    stack = make()
    alone, together = stack.read(IDS[1:, :3]).layers, stack.read(IDS).layers
    np.testing.assert_allclose(alone[0], together[1, :, :3], rtol=1e-13)


@pytest.mark.parametrize("positions", [True, False])
def test_every_gradient_is_the_complex_step(positions: bool) -> None:
    """All entries of all parameters; one word of the table is not in the batch."""
    stack = make(3, positions=positions)
    upstream = np.random.default_rng(1).normal(size=(2, 4, 4)) * (IDS > 0)[..., None]
    gradients = stack.gradients(stack.read(IDS), upstream)
    assert gradients.keys() == stack.parameters.keys()
    for name, value in stack.parameters.items():

        def loss(x: np.ndarray, name: str = name) -> np.ndarray:
            moved = Transformer(stack.options, stack.parameters | {name: x})
            return (moved.read(IDS).layers[:, -1] * upstream).sum()

        measured = complex_step(loss, value)
        np.testing.assert_allclose(gradients[name], measured, rtol=1e-10, atol=1e-12, err_msg=name)
        assert np.abs(measured).max() > 1e-3, f"{name}: a check of zeros checks nothing"
    assert not gradients["embedding"][2].any()


def test_jacobians_are_the_complex_step() -> None:
    stack = make(1)
    x = stack.read(IDS).layers[0, 0]
    found = stack.jacobians(x)
    assert [jacobian.shape for jacobian in found] == [(4, 4, 4, 4)] * 2
    for block, jacobian in enumerate(found):
        for t, i in ((0, 1), (3, 2)):
            measured = complex_step(
                lambda x, at=(0, t, i), block=block: stack.run(x[None])[block].output[at], x
            )
            np.testing.assert_allclose(jacobian[t, i], measured, rtol=1e-10, atol=1e-13)


def test_norms_are_those_of_the_words_in_the_top_layer() -> None:
    stack = make(1)
    norms, jacobian = stack.norms(IDS[:1]), stack.jacobians(stack.read(IDS).layers[0, 0])[-1]
    assert norms.shape == (2, 2)
    assert norms[0, 1] == pytest.approx(np.sqrt((jacobian[1, :, 2] ** 2).sum()))


def test_without_positions_another_order_gives_the_same_vectors_in_that_order() -> None:
    order = [2, 0, 3, 1]
    for positions in (False, True):
        stack = make(positions=positions)
        before, after = (stack.read(ids).layers for ids in (IDS[:1], IDS[:1, order]))
        change = np.abs(after - before[:, :, order]).max()
        assert change > 0.1 if positions else change < 1e-14


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="heads: expected a divisor of dim = 4, got 3"):
        TransformerOptions(6, 4, 3, 5)
    with pytest.raises(ValueError, match="hidden: expected at least 1, got 0"):
        TransformerOptions(6, 4, 2, 0)
    with pytest.raises(ValueError, match="ids: expected at most 6, got 7"):
        make().read(np.array([[1, 7, 2]]))


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (np.array([[1, -1, 2]]), ValueError, r"ids: expected 0 \(no token\) or more, got -1"),
        (np.array([[1.0, 2.0]]), TypeError, "ids: expected integers, got float64"),
        (np.array([1, 2]), ValueError, r"ids: .*got shape \(2,\)"),
        (
            np.ones((1, 2, 3), int),
            ValueError,
            r"ids: expected \(batch, tokens\), got .*\(1, 2, 3\)",
        ),
    ],
)
def test_ids_that_are_none_are_refused(
    ids: np.ndarray, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make().read(ids)


def test_a_list_of_ids_is_read() -> None:
    rows: Any = IDS.tolist()
    np.testing.assert_array_equal(make().read(rows).layers, make().read(IDS).layers)


def test_unsigned_ids_are_ids() -> None:
    np.testing.assert_array_equal(make().read(IDS.astype(np.uint8)).layers, make().read(IDS).layers)


@pytest.mark.parametrize("ids", [IDS, IDS[:1].repeat(2, axis=0), IDS[1:]])
def test_norms_are_of_one_sentence(ids: np.ndarray) -> None:
    with pytest.raises(ValueError, match="ids: expected one sentence without padding, got"):
        make().norms(ids)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("dim", 5.5, r"an integer, got 5\.5"),
        ("hidden", float("nan"), "an integer, got nan"),
        ("positions", "no", "True or False, got 'no'"),
    ],
)
def test_options_of_another_kind_are_refused(name: str, value: object, expected: str) -> None:
    with pytest.raises(TypeError, match=f"{name}: expected {expected}"):
        make(**{name: value})
