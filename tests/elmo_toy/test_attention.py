"""Self-attention: a plain loop, two ways to differentiate, and what permutations do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_toy.attention import (
    AttentionWeights,
    attend,
    attention_gradients,
    attention_jacobian,
    block_norms,
    change_with_order,
    draw_weights,
    mean_by_offset,
    position_vectors,
)
from elmo_toy.gradient_check import central_difference, complex_step

seeds = st.integers(0, 2**32 - 1)
MASK = np.array([[True, True, True], [True, True, False]])


def case(seed: int, tokens: int = 3) -> tuple[np.ndarray, AttentionWeights]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(2, tokens, 4)), draw_weights(4, 2, rng, scale=1.7)


def test_output_is_that_of_a_plain_loop() -> None:
    inputs, weights = case(0)
    found = attend(inputs, weights, MASK)
    for row, length in enumerate((3, 2)):
        for t in range(length):
            expected = np.zeros(4)
            for q, k, v, o in zip(*weights, strict=True):
                scores = [
                    (inputs[row, t] @ q) @ (inputs[row, u] @ k) / 2**0.5 for u in range(length)
                ]
                chances = np.exp(scores) / np.exp(scores).sum()
                mixed = sum(chances[u] * (inputs[row, u] @ v) for u in range(length))
                expected += mixed @ o
            np.testing.assert_allclose(found.output[row, t], expected, rtol=1e-13, atol=1e-14)


def test_nobody_attends_to_what_is_masked() -> None:
    inputs, weights = case(1)
    before = attend(inputs, weights, MASK)
    assert not before.probabilities[1, :, :, 2].any()
    inputs[1, 2] = 100
    after = attend(inputs, weights, MASK)
    np.testing.assert_array_equal(before.output[0], after.output[0])
    np.testing.assert_array_equal(before.output[1, :2], after.output[1, :2])


@pytest.mark.parametrize("garbage", [np.nan, np.inf, 1e300])
def test_what_stands_at_a_masked_token_is_ignored(garbage: float) -> None:
    inputs, weights = case(1)
    upstream = np.random.default_rng(0).normal(size=inputs.shape) * MASK[..., None]
    clean = attend(inputs, weights, MASK)
    dirty = attend(np.where(MASK[..., None], inputs, garbage), weights, MASK)
    np.testing.assert_array_equal(dirty.output[MASK], clean.output[MASK])
    expected, found = (attention_gradients(upstream, trace, weights) for trace in (clean, dirty))
    np.testing.assert_array_equal(found[0], expected[0])
    for gradient, wanted in zip(found[1], expected[1], strict=True):
        np.testing.assert_array_equal(gradient, wanted)
    with pytest.raises(ValueError, match=r"inputs.* given (nan|inf) at \(1, 2|scores and values"):
        attend(np.where(MASK[..., None], inputs, garbage), weights)


@given(seed=seeds)
@settings(max_examples=20)
def test_jacobian_is_the_complex_step(seed: int) -> None:
    """An output coordinate at a time; the formula never sees these values."""
    inputs, weights = case(seed)
    jacobian = attention_jacobian(inputs[0], weights)
    for t, i in ((0, 0), (2, 3)):
        measured = complex_step(
            lambda x, t=t, i=i: attend(x[None], weights).output[0, t, i], inputs[0]
        )
        np.testing.assert_allclose(jacobian[t, i], measured, rtol=1e-11, atol=1e-13)


def test_jacobian_is_the_central_difference_too() -> None:
    inputs, weights = case(5)
    measured = central_difference(
        lambda x: attend(x[None], weights).output[0, 1, 2], inputs[0], 1e-5
    )
    np.testing.assert_allclose(attention_jacobian(inputs[0], weights)[1, 2], measured, atol=1e-9)


@given(seed=seeds)
@settings(max_examples=20)
def test_gradients_are_the_complex_step(seed: int) -> None:
    """Inputs and all four weights, with a masked token."""
    inputs, weights = case(seed)
    upstream = np.random.default_rng(seed).normal(size=inputs.shape) * MASK[..., None]
    dinputs, dweights = attention_gradients(upstream, attend(inputs, weights, MASK), weights)

    def loss(inputs: np.ndarray, weights: AttentionWeights) -> np.ndarray:
        return (attend(inputs, weights, MASK).output * upstream).sum()

    np.testing.assert_allclose(
        dinputs, complex_step(lambda x: loss(x, weights), inputs), rtol=1e-10, atol=1e-12
    )
    for name, gradient in dweights._asdict().items():
        measured = complex_step(
            lambda w, name=name: loss(inputs, weights._replace(**{name: w})),
            getattr(weights, name),
        )
        np.testing.assert_allclose(gradient, measured, rtol=1e-10, atol=1e-12, err_msg=name)


def test_backward_and_jacobian_agree() -> None:
    inputs, weights = case(2)
    upstream = np.random.default_rng(0).normal(size=inputs.shape)
    dinputs, _ = attention_gradients(upstream, attend(inputs, weights), weights)
    expected = np.einsum("ti,tiuj->uj", upstream[0], attention_jacobian(inputs[0], weights))
    np.testing.assert_allclose(dinputs[0], expected, rtol=1e-12)


@given(seed=seeds)
@settings(max_examples=20)
def test_permuting_the_tokens_permutes_the_output(seed: int) -> None:
    inputs, weights = case(seed, tokens=6)
    order = np.random.default_rng(seed).permutation(6)
    np.testing.assert_allclose(
        attend(inputs[:, order], weights).output,
        attend(inputs, weights).output[:, order],
        rtol=0,
        atol=1e-13,
    )


def test_positions_break_the_symmetry() -> None:
    inputs, weights = case(0, tokens=6)
    inputs = inputs + position_vectors(6, 4)
    order = np.arange(6)[::-1]
    moved = attend(
        inputs[:, order] - position_vectors(6, 4)[order] + position_vectors(6, 4), weights
    )
    assert np.abs(moved.output - attend(inputs, weights).output[:, order]).max() > 0.01


def test_position_vectors_turn_with_the_position() -> None:
    """Each pair of coordinates is a point on the unit circle: a step is a rotation, anywhere."""
    vectors = position_vectors(50, 6).reshape(50, 3, 2)
    np.testing.assert_allclose((vectors**2).sum(axis=2), 1)
    steps = (vectors[1:] * vectors[:-1]).sum(axis=2)
    np.testing.assert_allclose(steps, np.cos([[1, 10000 ** (-1 / 3), 10000 ** (-2 / 3)]] * 49))


def test_change_with_order_follows_each_word() -> None:
    """[1, 2, 4] read as running sums [1, 3, 7]; as 4, 1, 2 they are [4, 5, 7], not [7, 1, 3]."""
    numbers = {"a": 1.0, "b": 2.0, "c": 4.0}

    def running(tokens):
        return np.cumsum([[numbers[token]] for token in tokens], axis=0)

    expected = np.sqrt((3**2 + 4**2 + 4**2) / (1 + 3**2 + 7**2))
    assert change_with_order(running, ["a", "b", "c"], [2, 0, 1]) == pytest.approx(expected)


def test_mean_by_offset_is_that_of_the_diagonals() -> None:
    first, second = np.arange(9.0).reshape(3, 3), np.full((2, 2), 10.0)
    # Offset: asking token less the token asked about. 3 = first[1, 0], 7 = first[2, 1].
    assert mean_by_offset([first], 1).tolist() == [3.0, 4.0, 5.0]
    assert mean_by_offset([first, second], 2)[3] == pytest.approx((3 + 7 + 10) / 3)
    assert mean_by_offset([second], 3)[[0, 1, 5, 6]].tolist() == [0, 0, 0, 0], "no such pair"


def test_block_norms_are_frobenius() -> None:
    jacobian = np.zeros((2, 2, 2, 2))
    jacobian[0, :, 1, :] = [[1, 2], [2, 4]]
    assert block_norms(jacobian).tolist() == [[0, 5], [0, 0]]


def test_bad_arguments_are_named() -> None:
    inputs, weights = case(0)
    with pytest.raises(ValueError, match=r"heads: expected a divisor of dim = 4, got 3"):
        draw_weights(4, 3, np.random.default_rng(0))
    with pytest.raises(
        ValueError, match=r"inputs: expected \(batch, tokens, dim = 4\), got \(3, 4"
    ):
        attend(inputs[0, :, :][:, :4].reshape(3, 4), weights)
    with pytest.raises(ValueError, match=r"mask: expected a token in every row .* \[3, 0\]"):
        attend(inputs, weights, MASK & [[True], [False]])
    with pytest.raises(ValueError, match="dim: expected an even number, got 3"):
        position_vectors(2, 3)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"mask": MASK.astype(int)}, TypeError, "mask: expected a bool array .*got a int64 array"),
        ({"mask": MASK.astype(float)}, TypeError, "mask: expected a bool array .*got a float64"),
        ({"mask": MASK[0]}, ValueError, r"mask: expected .*\(2, 3\), got \(3,\)"),
        ({"inputs": np.ones((2, 3, 4), int)}, TypeError, "inputs: .*floats, got a int64 array"),
        ({"inputs": np.full((2, 3, 4), np.nan)}, ValueError, "inputs must be finite .*given nan"),
        ({"key": np.ones((1, 4, 2))}, ValueError, r"weights\.key: expected \(2, 4, 2\).*\(1, 4, 2"),
        ({"output": np.ones((2, 4, 2))}, ValueError, r"weights\.output: expected \(2, 2, 4\)"),
        ({"query": np.ones((4, 2))}, ValueError, r"weights\.query: .*\(heads, dim, head_dim\)"),
        ({"value": np.full((2, 4, 2), np.nan)}, ValueError, "weights: expected scores and values"),
    ],
)
def test_attend_refuses_by_name(
    change: dict[str, np.ndarray], error: type[Exception], message: str
) -> None:
    inputs, weights = case(0)
    mask, inputs = change.get("mask", MASK), change.get("inputs", inputs)
    for name in change.keys() & set(AttentionWeights._fields):
        weights = weights._replace(**{name: change[name]})
    with pytest.raises(error, match=message):
        attend(inputs, weights, mask)


@pytest.mark.parametrize("upstream", [np.ones((2, 3, 1)), np.ones((1, 3, 4)), np.ones((2, 1, 4))])
def test_an_upstream_derivative_does_not_broadcast(upstream: np.ndarray) -> None:
    inputs, weights = case(0)
    with pytest.raises(ValueError, match=r"upstream must have shape \(2, 3, 4\), given"):
        attention_gradients(upstream, attend(inputs, weights), weights)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 2), ValueError, "dim: expected at least 1, got 0"),
        ((4, 0), ValueError, "heads: expected at least 1, got 0"),
        ((4, -2), ValueError, "heads: expected at least 1, got -2"),
        ((4.0, 2), TypeError, r"dim: expected an integer, got 4\.0"),
        ((4, 2, np.nan), ValueError, "scale must be one finite real number, given nan"),
    ],
)
def test_draw_weights_refuses_by_name(
    arguments: tuple[float, ...], error: type[Exception], message: str
) -> None:
    dim, heads, *scale = arguments
    with pytest.raises(error, match=message):
        draw_weights(dim, heads, np.random.default_rng(0), *scale)


@pytest.mark.parametrize("entry", [np.nan, np.inf, 1e308])
def test_an_output_that_is_not_finite_is_refused(entry: float) -> None:
    inputs, weights = case(0)
    weights = weights._replace(output=np.full_like(weights.output, entry))
    with pytest.raises(ValueError, match=r"weights\.output: expected outputs within float64"):
        attend(1e3 * inputs, weights)


@pytest.mark.parametrize("order", [[0, 0, 1], [0, 1], [1, 2, 3], [0, 1, -1]])
def test_an_order_is_a_permutation(order: list[int]) -> None:
    with pytest.raises(ValueError, match="order: expected each of 0 to 2 once, got"):
        change_with_order(lambda tokens: np.ones((len(tokens), 1)), ["a", "b", "c"], order)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.zeros((2, 3)), "read: expected vectors other than 0"),
        (np.full((2, 3), np.nan), r"read\(tokens\) must be finite, given nan"),
        (np.ones((3, 3)), r"read\(tokens\) must have shape \(2, dim\), given \(3, 3\)"),
    ],
)
def test_a_change_is_of_finite_vectors_and_relative_to_some(
    vectors: np.ndarray, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        change_with_order(lambda tokens: vectors, ["a", "b"], [1, 0])


def test_offsets_and_positions_are_counts() -> None:
    with pytest.raises(ValueError, match="furthest: expected at least 0, got -1"):
        mean_by_offset([np.ones((2, 2))], -1)
    with pytest.raises(ValueError, match=r"norms\[1\] must have shape \(2, 2\), given \(2, 3\)"):
        mean_by_offset([np.ones((2, 2)), np.ones((2, 3))], 1)
    with pytest.raises(ValueError, match="tokens: expected at least 0, got -1"):
        position_vectors(-1, 2)
