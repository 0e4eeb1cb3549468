"""The layer norm: its statistics, the two conventions about boundaries, and what it couples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy import LayerNorm, layer_norm, scalar_mix, scalar_mix_gradients

SEEDS = st.integers(0, 2**32 - 1)


def batch_with_boundaries(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Three sentences of 3, 5 and 4 tokens, boundaries included, right-padded."""
    layers = np.random.default_rng(seed).normal(size=(3, 2, 5, 4))
    mask = np.arange(5) < np.array([3, 5, 4])[:, None]
    return layers, mask


@given(SEEDS)
def test_each_normalised_layer_has_mean_zero_and_population_variance_one(seed: int) -> None:
    layers, mask = batch_with_boundaries(seed)
    for j in range(2):
        one_layer = layers[:, j : j + 1]
        out = scalar_mix(one_layer, [0.0], mask=mask, layer_norm=LayerNorm(epsilon=0))[mask]
        assert abs(out.mean()) < 1e-14
        assert abs(out.var() - 1) < 1e-13


def test_one_statistic_a_layer_not_one_a_token_or_sentence() -> None:
    """The same sentence comes out differently in another batch."""
    layers, mask = batch_with_boundaries(0)
    alone = scalar_mix(layers[:1], [0.0, 0.0], mask=mask[:1], layer_norm=LayerNorm())
    together = scalar_mix(layers, [0.0, 0.0], mask=mask, layer_norm=LayerNorm())
    assert np.abs(alone - together[:1]).max() > 0.1


def test_epsilon_stands_inside_the_root() -> None:
    layers = np.array([[[[0.0, 2.0]]]])  # mean 1, variance 1
    out = scalar_mix(layers, [0.0], layer_norm=LayerNorm(epsilon=3.0))
    np.testing.assert_array_equal(out, [[[-0.5, 0.5]]])  # 1 / sqrt(1 + 3), not 1 / (1 + sqrt(3))


@given(SEEDS)
def test_boundaries_left_out_equals_removing_them_first(seed: int) -> None:
    """AllenNLP's arrays under bilm-tf's convention, at the tokens that both return."""
    layers, mask = batch_with_boundaries(seed)
    logits, gamma = [0.3, -0.4], 1.7
    left_out = scalar_mix(layers, logits, gamma, mask, LayerNorm(boundaries="left_out"))
    # Remove the boundaries as the originals do: tokens 1 .. length - 2 of each row.
    inner_mask = np.arange(3) < (mask.sum(axis=1) - 2)[:, None]
    stripped = scalar_mix(layers[:, :, 1:4].copy(), logits, gamma, inner_mask, LayerNorm())
    np.testing.assert_allclose(left_out[:, 1:4][inner_mask], stripped[inner_mask], atol=1e-13)
    counted = scalar_mix(layers, logits, gamma, mask, LayerNorm())
    assert np.abs(counted - left_out).max() > 1e-3


def test_boundaries_left_out_normalises_the_boundaries_too() -> None:
    layers = np.array([[[[5.0], [1.0], [3.0], [-7.0]]]])
    out = scalar_mix(layers, [0.0], layer_norm=LayerNorm(0.0, "left_out"))
    np.testing.assert_array_equal(out[0, :, 0], [3, -1, 1, -9])  # counted: 1 and 3


def test_a_constant_layer_becomes_zero_and_a_zero_epsilon_cannot_divide_by_it() -> None:
    layers = np.full((1, 1, 2, 3), 4.0)
    np.testing.assert_array_equal(scalar_mix(layers, [0.0], layer_norm=LayerNorm()), 0)
    with pytest.raises(ValueError, match="needs epsilon above 0 for a layer without variance"):
        scalar_mix(layers, [0.0], layer_norm=LayerNorm(epsilon=0))


@pytest.mark.parametrize("value", [1e10 / 3, -1e10 / 3, 0.1, 1e300 / 7, 1e-300 / 7])
@pytest.mark.parametrize("layer_norm", [LayerNorm(), LayerNorm(boundaries="left_out")])
def test_a_constant_layer_becomes_zero_however_its_mean_is_rounded(
    value: float, layer_norm: LayerNorm
) -> None:
    """Rounding of the mean is no variance: 1e10 / 3 once came out as -0.43."""
    mask = np.arange(5) < np.array([5, 4])[:, None]
    for dim in range(1, 41):  # how the sum is rounded depends on how many are summed
        layers = np.full((2, 1, 5, dim), value)
        out = scalar_mix(layers, [0.0], mask=mask, layer_norm=layer_norm)
        np.testing.assert_array_equal(out, 0)


def test_defaults_are_bilm_tfs_epsilon_and_allennlps_boundaries() -> None:
    assert LayerNorm() == LayerNorm(epsilon=1e-12, boundaries="counted")
    layers = np.array([[[[0.0], [0.0], [2e-6], [2e-6]]]])  # mean 1e-6, variance 1e-12
    out = scalar_mix(layers, [0.0], layer_norm=LayerNorm())
    np.testing.assert_allclose(out[0, :, 0], np.sqrt([0.5] * 4) * [-1, -1, 1, 1], rtol=1e-12)


@pytest.mark.parametrize("mean", [0.0, 1.0, -1e4, 1e6])
@pytest.mark.parametrize("outlier", [0.0, 1e3])
def test_float32_layers_stay_float32_and_lose_no_digit_beside_a_large_mean(
    mean: float, outlier: float
) -> None:
    """Statistics in float64, the rest in float32: every value within a few of its own roundings."""
    rng = np.random.default_rng(0)
    layers = (mean + rng.normal(size=(3, 3, 20, 64))).astype(np.float32)
    layers[0, :, 0, 0] += np.float32(outlier)  # the first value, from where the sums are taken
    upstream = rng.normal(1.0, size=(3, 20, 64)).astype(np.float32)
    arguments = ([0.3, -0.4, 0.1], 1.7)
    norm = LayerNorm()
    single = scalar_mix(layers, *arguments, layer_norm=norm)
    double = scalar_mix(layers.astype(np.float64), *arguments, layer_norm=norm)
    assert single.dtype == np.float32
    eps = float(np.finfo(np.float32).eps)
    np.testing.assert_allclose(single, double, rtol=4 * eps, atol=8 * eps)

    of_single = scalar_mix_gradients(layers, *arguments, upstream, layer_norm=norm)
    of_double = scalar_mix_gradients(
        layers.astype(np.float64), *arguments, upstream.astype(np.float64), layer_norm=norm
    )
    assert of_single.layers.dtype == np.float32
    np.testing.assert_allclose(of_single.layers, of_double.layers, rtol=4 * eps, atol=8 * eps)
    # Sums of 3,840 products, each token's 64 in float32: rounded at the scale of their sizes.
    wide = layers.astype(np.float64)
    normalised = (wide - wide.mean((0, 2, 3), keepdims=True)) / wide.std((0, 2, 3), keepdims=True)
    sizes = np.abs(upstream[:, None] * normalised).sum(axis=(0, 2, 3)).max()
    np.testing.assert_allclose(of_single.logits, of_double.logits, atol=4 * eps * sizes)


@pytest.mark.parametrize("lengths", [[2, 2], [1, 0]])
def test_left_out_refuses_a_batch_of_nothing_but_boundaries(lengths: list[int]) -> None:
    mask = np.arange(3) < np.array(lengths)[:, None]
    with pytest.raises(ValueError, match="a token between the boundaries, given rows of"):
        scalar_mix(np.ones((2, 1, 3, 1)), [0.0], 1.0, mask, LayerNorm(boundaries="left_out"))


@pytest.mark.parametrize(
    ("epsilon", "error", "message"),
    [
        (-1e-12, ValueError, "epsilon must be at least 0, given -1e-12"),
        (np.nan, ValueError, "epsilon must be one finite real number, given nan"),
        (np.array([1.0]), ValueError, "epsilon must be one finite real number"),
        (True, TypeError, "epsilon must be .*given bool"),
        (None, TypeError, "epsilon must be .*given object"),
    ],
)
def test_wrong_epsilons_are_refused(epsilon: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        LayerNorm(epsilon=epsilon)


def test_wrong_conventions_are_refused() -> None:
    wrong: Any = "no"
    with pytest.raises(ValueError, match="boundaries must be 'counted' or 'left_out', given 'no'"):
        LayerNorm(boundaries=wrong)


def test_huge_boundary_values_are_a_named_error_not_a_warning() -> None:
    layers = np.array([[[[1.7e308], [1.0], [1.0 + 1e-9], [1.7e308]]]])
    with pytest.raises(ValueError, match="beyond the range of float64"):
        scalar_mix(layers, [0.0], layer_norm=LayerNorm(1e-20, "left_out"))


@pytest.mark.parametrize("boundaries", ["counted", "left_out"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_sentences_worked_on_together_changes_nothing(
    dtype: Any, boundaries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One block or a block a sentence, garbage at masked positions or not."""
    layers, mask = batch_with_boundaries(3)
    layers = layers.astype(dtype)
    upstream = np.random.default_rng(4).normal(size=(3, 5, 4)).astype(dtype)
    arguments = ([0.3, -0.4], 1.7)
    norm = LayerNorm(boundaries=boundaries)

    def both() -> list[np.ndarray]:
        gradients = scalar_mix_gradients(layers, *arguments, upstream, mask, norm)
        mixture = scalar_mix(layers, *arguments, mask, norm)
        return [mixture, gradients.logits, gradients.layers]

    together = both()
    monkeypatch.setattr(layer_norm, "BLOCK_BYTES", 1)
    np.moveaxis(layers, 1, 2)[~mask] = np.nan
    upstream[~mask] = np.inf
    for whole, in_blocks in zip(together, both(), strict=True):
        np.testing.assert_allclose(in_blocks, whole, atol=20 * np.finfo(dtype).eps)
