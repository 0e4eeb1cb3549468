"""The mixture: identities, the originals' recorded values, hard numbers, and what is refused."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy import (
    LayerNorm,
    ScalarMix,
    ScalarMixGradients,
    logit_penalty,
    logit_penalty_gradient,
    scalar_mix,
    scalar_mix_gradients,
    softmax,
)

# The originals' recorded values are data of theirs, kept outside the repository. Without them
# test_plain_python.py still holds the mixture against a second implementation.
REFERENCE = Path(
    os.environ.get("ELMO_REFERENCE") or Path(__file__).resolve().parents[3] / "shared" / "reference"
)
RNG_SEEDS = st.integers(0, 2**32 - 1)


def random_case(
    seed: int, n_layers: int = 3, dtype: Any = np.float64, masked: bool = True
) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    batch, tokens, dim = rng.integers(1, 4), rng.integers(1, 5), rng.integers(1, 6)
    mask = rng.random((batch, tokens)) < 0.7
    mask[0, 0] = True
    return {
        "layers": rng.normal(size=(batch, n_layers, tokens, dim)).astype(dtype),
        "logits": rng.normal(size=n_layers),
        "gamma": float(rng.normal()),
        "mask": mask if masked else None,
        "upstream": rng.normal(size=(batch, tokens, dim)).astype(dtype),
    }


def forward_arguments(case: dict[str, Any]) -> dict[str, Any]:
    return {name: case[name] for name in ("layers", "logits", "gamma", "mask")}


def straightforward_mix(
    layers: np.ndarray, logits: np.ndarray, gamma: float, mask: np.ndarray | None
) -> np.ndarray:
    """The formula written out with loops, as the authority for the vectorised one."""
    exponentials = [np.exp(a - max(logits)) for a in logits]
    weights = [e / sum(exponentials) for e in exponentials]
    batch, n_layers, tokens, dim = layers.shape
    out = np.zeros((batch, tokens, dim))
    for b in range(batch):
        for t in range(tokens):
            if mask is None or mask[b, t]:
                out[b, t] = gamma * sum(weights[j] * layers[b, j, t] for j in range(n_layers))
    return out


# --- the softmax ----------------------------------------------------------------------------------


@given(st.lists(st.floats(-1e308, 1e308), min_size=1, max_size=64))
def test_softmax_is_a_distribution_for_any_finite_logits(logits: list[float]) -> None:
    weights = softmax(logits)
    assert (weights >= 0).all()
    # 64 roundings of half an epsilon each.
    assert abs(weights.sum() - 1) <= 64 * np.finfo(float).eps


@given(RNG_SEEDS, st.floats(-1e3, 1e3))
def test_softmax_ignores_a_constant_added_to_every_logit(seed: int, constant: float) -> None:
    """Why bilm-tf's added 1/n does nothing."""
    logits = np.random.default_rng(seed).normal(size=5)
    # The shifted logits are rounded at the scale of the constant: 1e3 * eps is 2.2e-13.
    np.testing.assert_allclose(softmax(logits + constant), softmax(logits), rtol=1e-12)


def test_softmax_survives_extreme_logits() -> None:
    np.testing.assert_array_equal(softmax([1e308, -1e308, 1e308]), [0.5, 0, 0.5])
    np.testing.assert_array_equal(softmax([-9e10, 1.0, -9e10]), [0, 1, 0])
    np.testing.assert_array_equal(softmax([-np.inf, 3.0]), [0, 1])
    in_float32 = softmax(np.array([-9e10, 1, -9e10], dtype=np.float32))
    assert in_float32.dtype == np.float32
    np.testing.assert_array_equal(in_float32, [0, 1, 0])


def test_softmax_is_stabilised_by_the_largest_real_part_of_complex_logits() -> None:
    weights = softmax(np.array([1e308 + 1e-30j, 1e308, -np.inf]))
    assert weights.dtype == np.complex128
    np.testing.assert_allclose(weights, [0.5 + 0.25e-30j, 0.5 - 0.25e-30j, 0], rtol=1e-15)


def test_softmax_refuses_complex_logits_whose_exponentials_cancel() -> None:
    """exp(0) + exp(i pi) is 0 but for rounding, and 1 over it was 8e15."""
    third = 2j * np.pi / 3
    for logits in ([0, 1j * np.pi], [[0, 0], [5, 5 + 1j * np.pi]], [-third, 0, third]):
        with pytest.raises(ValueError, match="complex logits must have tiny imaginary parts"):
            softmax(logits)
    # Three digits are lost here, and the rest are right.
    assert softmax([0, 1j * (np.pi + 1e-3)]).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        ([0, complex(0, np.inf)], "logits must not hold NaN or"),
        ([0, complex(0, np.nan)], "logits must not hold NaN or"),
        ([np.nan, 0.0], "logits must not hold NaN or"),
        ([np.inf, 0.0], "logits must not hold NaN or"),
        ([-np.inf, -np.inf], "logits must have a finite value in each row"),
        ([], "with a layer, given shape"),
        (1.0, "with a layer, given shape"),
        (np.zeros(0), "with a layer, given shape"),
    ],
)
def test_softmax_refuses(logits: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        softmax(logits)


@pytest.mark.parametrize("dtype", ["int64", "bool", "float16", "longdouble", "complex64", "U1"])
def test_other_dtypes_are_named_in_the_error(dtype: str) -> None:
    logits = np.ones(3).astype(dtype)
    with pytest.raises(TypeError, match=f"logits must be .*given {logits.dtype}"):
        softmax(logits)
    layers = np.ones((1, 3, 1, 1)).astype(dtype)
    with pytest.raises(TypeError, match=f"layers must be .*given {layers.dtype}"):
        scalar_mix(layers, np.zeros(3))


def test_numpys_masked_arrays_are_refused_by_name() -> None:
    """Some functions see what is masked, others don't; here `mask` says what counts."""
    message = "{} must not be a numpy masked array: which tokens count is what mask says"

    def masked(array: Any) -> Any:
        return np.ma.masked_array(array, mask=False)

    with pytest.raises(TypeError, match=message.format("logits")):
        softmax(masked([0.0, 1.0]))
    with pytest.raises(TypeError, match=message.format("weights")):
        ScalarMix.from_weights(masked([0.5, 0.5]))
    for name in ("layers", "logits", "gamma", "mask"):
        changed = GOOD | {name: masked(GOOD[name])}
        with pytest.raises(TypeError, match=message.format(name)):
            scalar_mix(**changed)
        with pytest.raises(TypeError, match=message.format(name)):
            scalar_mix_gradients(**changed, upstream=np.ones((2, 4, 5)))
    with pytest.raises(TypeError, match=message.format("upstream")):
        scalar_mix_gradients(**GOOD, upstream=masked(np.ones((2, 4, 5))))


# --- forward --------------------------------------------------------------------------------------


@given(RNG_SEEDS, st.sampled_from([1, 2, 3, 64]), st.booleans())
def test_mixture_equals_the_formula_written_with_loops(seed: int, n: int, masked: bool) -> None:
    case = forward_arguments(random_case(seed, n, masked=masked))
    np.testing.assert_allclose(scalar_mix(**case), straightforward_mix(**case), atol=1e-14)


@given(RNG_SEEDS)
def test_gamma_scales_the_output_and_one_layer_passes_through(seed: int) -> None:
    case = forward_arguments(random_case(seed, 1))
    once = scalar_mix(**(case | {"gamma": 1.0}))
    np.testing.assert_allclose(scalar_mix(**case), case["gamma"] * once, rtol=1e-15)
    kept = np.where(case["mask"][..., None], case["layers"][:, 0], 0)
    np.testing.assert_array_equal(once, kept)
    np.testing.assert_array_equal(scalar_mix(**(case | {"gamma": 0.0})), 0 * once)


@given(RNG_SEEDS)
def test_every_mixture_at_gamma_one_lies_within_its_layers_ranges(seed: int) -> None:
    case = random_case(seed, masked=False)
    mixture = scalar_mix(case["layers"], case["logits"])
    assert (mixture <= case["layers"].max(axis=1) + 1e-15).all()
    assert (mixture >= case["layers"].min(axis=1) - 1e-15).all()


def test_dtype_of_the_layers_decides_and_complex_arguments_make_complex_results() -> None:
    layers = np.ones((1, 2, 1, 1))
    assert scalar_mix(layers, [0, 0], 2).dtype == np.float64
    single = scalar_mix(layers.astype(np.float32), np.zeros(2), 1.5)
    assert single.dtype == np.float32
    assert scalar_mix(layers + 0j, [0.0, 0.0]).dtype == np.complex128
    assert scalar_mix(layers, np.zeros(2) + 0j).dtype == np.complex128
    assert scalar_mix(layers, [0.0, 0.0], 1 + 1e-30j).dtype == np.complex128
    with pytest.raises(TypeError, match="complex logits or gamma are for the forward pass"):
        scalar_mix(layers.astype(np.float32), np.zeros(2) + 0j)


def test_float32_logits_are_weighted_in_float64() -> None:
    single = np.array([0.1, 1.3, -0.7], dtype=np.float32)
    double = single.astype(np.float64)
    assert np.abs(softmax(single) - softmax(double)).max() > 1e-9
    case = random_case(4)
    for logits in (single, double):
        case["logits"] = logits
        mixture = scalar_mix(**forward_arguments(case))
        gradients = scalar_mix_gradients(**case)
        if logits is single:
            first = mixture, gradients
    np.testing.assert_array_equal(mixture, first[0])
    np.testing.assert_array_equal(gradients.logits, first[1].logits)
    np.testing.assert_array_equal(gradients.layers, first[1].layers)


@pytest.mark.parametrize(
    ("logits", "weights"),
    [
        ([1e308, -1e308, 1e308], [0.5, 0, 0.5]),
        ([-9e10, 1.0, -9e10], [0, 1, 0]),
        ([-np.inf, 3.0, 3.0], [0, 0.5, 0.5]),
    ],
)
def test_extreme_logits_pass_through_mixture_and_gradients(
    logits: list[float], weights: list[float]
) -> None:
    case = random_case(6) | {"logits": np.array(logits)}
    kept = np.where(case["mask"][:, None, :, None], case["layers"], 0)
    mixture = scalar_mix(**forward_arguments(case))
    expected = case["gamma"] * np.einsum("j,bjtd->btd", weights, kept)
    np.testing.assert_allclose(mixture, expected, atol=1e-15)
    gradients = scalar_mix_gradients(**case)
    scores = np.einsum("btd,bjtd->j", case["upstream"], kept)
    m = weights @ scores
    by_logit = case["gamma"] * np.array(weights) * (scores - m)
    np.testing.assert_allclose(gradients.logits, by_logit, atol=1e-14)
    assert gradients.gamma == pytest.approx(m, abs=1e-14)
    np.testing.assert_array_equal(gradients.layers[:, np.array(weights) == 0], 0)


@pytest.mark.parametrize("shape", [(2, 3, 0, 4), (0, 3, 2, 4), (2, 3, 2, 0)])
@pytest.mark.parametrize("layer_norm", [None, LayerNorm()])
def test_empty_batches_sentences_and_vectors(
    shape: tuple[int, ...], layer_norm: LayerNorm | None
) -> None:
    layers = np.zeros(shape)
    out = scalar_mix(layers, np.zeros(3), layer_norm=layer_norm)
    assert out.shape == (shape[0], shape[2], shape[3])
    gradients = scalar_mix_gradients(layers, np.zeros(3), 1.0, out, layer_norm=layer_norm)
    np.testing.assert_array_equal(gradients.logits, 0)
    assert gradients.layers.shape == shape


@given(RNG_SEEDS, st.sampled_from([np.nan, np.inf, -np.inf, 1e308]), st.booleans())
def test_masked_positions_are_zero_and_inert_whatever_stands_there(
    seed: int, garbage: float, norm: bool
) -> None:
    """Deliberate difference: the originals return non-zero padding, and NaN poisons their norm."""
    layer_norm = LayerNorm(epsilon=1e-6) if norm else None
    case = random_case(seed)
    clean = scalar_mix(**forward_arguments(case), layer_norm=layer_norm)
    clean_gradients = scalar_mix_gradients(**case, layer_norm=layer_norm)
    masked = ~case["mask"]
    dirty = case | {"layers": case["layers"].copy(), "upstream": case["upstream"].copy()}
    dirty["layers"].swapaxes(1, 2)[masked] = garbage
    dirty["upstream"][masked] = garbage
    out = scalar_mix(**forward_arguments(dirty), layer_norm=layer_norm)
    gradients = scalar_mix_gradients(**dirty, layer_norm=layer_norm)
    np.testing.assert_array_equal(out, clean)
    np.testing.assert_array_equal(out[masked], 0)
    np.testing.assert_array_equal(gradients.logits, clean_gradients.logits)
    assert gradients.gamma == clean_gradients.gamma
    np.testing.assert_array_equal(gradients.layers, clean_gradients.layers)
    np.testing.assert_array_equal(gradients.layers.swapaxes(1, 2)[masked], 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("logits", [[0.0, 0.0], [0.0, -np.inf]])
@pytest.mark.parametrize("gamma", [1.0, 0.0])
@pytest.mark.parametrize("layer_norm", [None, LayerNorm()])
def test_unmasked_garbage_is_refused_even_behind_a_zero_coefficient(
    bad: float, logits: list[float], gamma: float, layer_norm: LayerNorm | None
) -> None:
    layers = np.ones((2, 2, 3, 2))
    layers[1, 1, 2, 0] = bad
    message = r"layers must be finite at unmasked positions, given .* at \(1, 1, 2, 0\)"
    with pytest.raises(ValueError, match=message):
        scalar_mix(layers, logits, gamma, layer_norm=layer_norm)
    with pytest.raises(ValueError, match=message):
        scalar_mix_gradients(layers, logits, gamma, np.ones((2, 3, 2)), layer_norm=layer_norm)


def test_results_beyond_the_range_are_refused_not_passed_on() -> None:
    layers = np.full((1, 1, 1, 2), 1e300)
    with pytest.raises(ValueError, match="beyond the range of float64"):
        scalar_mix(layers, [0.0], 1e10)
    with pytest.raises(ValueError, match="beyond the range of float64"):
        scalar_mix_gradients(layers, [0.0], 1.0, np.full((1, 1, 2), 1e300))
    with pytest.raises(ValueError, match="beyond the range of float64"):
        scalar_mix_gradients(np.ones((1, 1, 1, 1)), [0.0], 1e10, np.full((1, 1, 1), 1e300))
    # Scores, weights and coefficients are within range; their product isn't.
    with pytest.raises(ValueError, match="beyond the range of float64"):
        scalar_mix_gradients(
            np.array([[[[1e300]], [[-1e300]]]]), [0.0, 0.0], 1e10, np.ones((1, 1, 1))
        )
    with pytest.raises(ValueError, match="variance within float64"):
        scalar_mix(np.array([[[[1e300, -1e300]]]]), [0.0], layer_norm=LayerNorm())
    with pytest.raises(ValueError, match="gamma must keep"):
        scalar_mix(np.ones((1, 1, 1, 1), dtype=np.float32), [0.0], 1e300)
    # Large but within range is no error, though its sum of squares overflows.
    np.testing.assert_array_equal(scalar_mix(layers, [0.0]), layers[:, 0])


GOOD: dict[str, Any] = {
    "layers": np.ones((2, 3, 4, 5)),
    "logits": np.zeros(3),
    "gamma": 1.0,
    "mask": np.ones((2, 4), dtype=bool),
}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"layers": [np.ones((2, 4, 5)), np.ones((2, 4, 6))]},
            TypeError,
            r"layers must be one numpy array .*given a list of shapes \[\(2, 4, 5\), \(2, 4, 6\)\]",
        ),
        ({"layers": np.ones((3, 4, 5))}, ValueError, r"4 axes .*given shape \(3, 4, 5\)"),
        ({"layers": np.ones((1, 2, 3, 4, 5))}, ValueError, "4 axes"),
        ({"logits": np.zeros(2)}, ValueError, r"shape \(3,\).*given shape \(2,\)"),
        ({"logits": np.zeros((3, 1))}, ValueError, r"given shape \(3, 1\)"),
        ({"logits": 0.0}, ValueError, r"given shape \(\)"),
        ({"gamma": np.ones(1)}, ValueError, "gamma must be one finite number"),
        ({"gamma": np.nan}, ValueError, "gamma must be one finite number, given nan"),
        ({"gamma": np.inf}, ValueError, "gamma must be one finite number, given inf"),
        ({"gamma": True}, TypeError, "gamma must be .*given bool"),
        ({"gamma": "2"}, TypeError, "gamma must be"),
        ({"logits": [[0.0], [1.0, 2.0]]}, ValueError, "logits must be numbers in a regular shape"),
        ({"layer_norm": True}, TypeError, "layer_norm must be a LayerNorm or None, given True"),
        ({"layer_norm": "scalar_norm_reg"}, TypeError, "layer_norm must be .*scalar_norm_reg"),
        ({"mask": np.ones((2, 1), dtype=bool)}, ValueError, r"\(2, 4\), given \(2, 1\)"),
        ({"mask": np.ones((4, 2), dtype=bool)}, ValueError, r"\(2, 4\), given \(4, 2\)"),
        ({"mask": np.ones((2, 4))}, TypeError, "mask must be a bool array .*float64"),
        ({"mask": [[True] * 4] * 2}, TypeError, "mask must be a bool array .*list"),
        ({"mask": np.zeros((2, 4), dtype=bool)}, ValueError, "leave a token unmasked, given 8"),
    ],
)
def test_wrong_arguments_raise_naming_argument_given_and_expected(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    assert scalar_mix(**GOOD).shape == (2, 4, 5)
    with pytest.raises(error, match=message):
        scalar_mix(**(GOOD | change))
    with pytest.raises(error, match=message):
        scalar_mix_gradients(**(GOOD | change), upstream=np.ones((2, 4, 5)))


@pytest.mark.parametrize(
    ("upstream", "error", "message"),
    [
        (np.ones((2, 4, 1)), ValueError, r"\(2, 4, 5\), given \(2, 4, 1\)"),
        (np.ones((2, 4, 5), dtype=np.float32), TypeError, "upstream must be a float64 array"),
        (1.0, TypeError, "upstream must be a float64 array like layers, given a float"),
        (np.full((2, 4, 5), np.nan), ValueError, "upstream must be finite"),
    ],
)
def test_wrong_upstream_gradients_are_refused(
    upstream: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        scalar_mix_gradients(**GOOD, upstream=upstream)


@pytest.mark.parametrize("layer_norm", [None, LayerNorm()])
def test_the_layers_gradient_is_written_where_it_is_wanted(layer_norm: LayerNorm | None) -> None:
    case = random_case(5)
    expected = scalar_mix_gradients(**case, layer_norm=layer_norm).layers
    out = np.full_like(case["layers"], np.nan)
    gradients = scalar_mix_gradients(**case, layer_norm=layer_norm, out=out)
    assert gradients.layers is out
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("layer_norm", [None, LayerNorm()])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_the_mixture_is_written_where_it_is_wanted(
    dtype: Any, layer_norm: LayerNorm | None
) -> None:
    case = forward_arguments(random_case(5, dtype=dtype))
    expected = scalar_mix(**case, layer_norm=layer_norm)
    out = np.full_like(expected, np.nan)
    assert scalar_mix(**case, layer_norm=layer_norm, out=out) is out
    np.testing.assert_array_equal(out, expected)


def unfit_places(like: np.ndarray, *shared: np.ndarray) -> list[tuple[np.ndarray, str]]:
    """What `out` must not be where it should be an array like another one, with the complaint."""
    read_only = np.empty_like(like)
    read_only.flags.writeable = False
    with_gaps = np.repeat(np.empty_like(like), 2, axis=-1)[..., ::2]
    place = re.escape(f"out must be a float64 array of shape {like.shape}, given a")
    return [
        (np.empty((1, 2)), place),
        (np.empty_like(like, dtype=np.float32), place),
        *((array, "shares no memory with the arguments") for array in shared),
        (with_gaps, "a writeable contiguous array"),
        (read_only, "a writeable contiguous array"),
    ]


def test_an_unfit_place_for_the_mixture_is_refused() -> None:
    case = forward_arguments(random_case(5, n_layers=1))
    mixture = scalar_mix(**case)
    for unfit, message in unfit_places(mixture, case["layers"][:, 0]):
        with pytest.raises(ValueError, match=message):
            scalar_mix(**case, out=unfit)
    with pytest.raises(ValueError, match="out must be a complex128 array"):
        scalar_mix(**(case | {"gamma": 1 + 1e-30j}), out=np.empty_like(mixture))


def test_an_unfit_place_for_the_layers_gradient_is_refused() -> None:
    case = random_case(5)
    # the layers' gradient would be written over the upstream one while that is still read
    beside = np.empty_like(case["layers"])
    case["upstream"] = beside[:, 0]
    case["upstream"][...] = 1
    for unfit, message in unfit_places(case["layers"], case["layers"], beside):
        with pytest.raises(ValueError, match=message):
            scalar_mix_gradients(**case, out=unfit)


def test_gradients_are_for_real_numbers() -> None:
    upstream = np.ones((2, 4, 5))
    with pytest.raises(TypeError, match="layers must be float32, float64, given complex128"):
        scalar_mix_gradients(GOOD["layers"] + 0j, np.zeros(3), 1.0, upstream)
    with pytest.raises(TypeError, match="complex logits or gamma"):
        scalar_mix_gradients(GOOD["layers"], np.zeros(3) + 0j, 1.0, upstream)


# --- gradients ------------------------------------------------------------------------------------

NORMS = [None, LayerNorm(1e-3), LayerNorm(1e-3, "left_out")]


def with_inner_token(case: dict[str, Any]) -> dict[str, Any]:
    """`left_out` needs a row of three unmasked tokens; the first row gets one."""
    if case["mask"].shape[1] < 3:
        case = case | {
            "layers": np.concatenate([case["layers"]] * 3, axis=2),
            "upstream": np.concatenate([case["upstream"]] * 3, axis=1),
            "mask": np.concatenate([case["mask"]] * 3, axis=1),
        }
        case["layers"][:, :, :1] *= 1.5
    case["mask"][0] = True
    return case


@pytest.mark.parametrize("layer_norm", NORMS)
@given(seed=RNG_SEEDS, n=st.sampled_from([1, 2, 3, 64]))
def test_gradients_equal_the_complex_step(seed: int, n: int, layer_norm: LayerNorm | None) -> None:
    case = with_inner_token(random_case(seed, n))
    gradients = scalar_mix_gradients(**case, layer_norm=layer_norm)
    upstream = np.where(case["mask"][..., None], case["upstream"], 0)
    step = 1e-30

    def derivative(**changed: Any) -> float:
        out = scalar_mix(**(forward_arguments(case) | changed), layer_norm=layer_norm)
        return float((upstream * out).sum().imag / step)

    def nudge(array: np.ndarray, index: tuple[int, ...]) -> np.ndarray:
        nudged = array.astype(np.complex128)
        nudged[index] += 1j * step
        return nudged

    scale = 1 + np.abs(gradients.layers).max() + np.abs(gradients.logits).max()
    assert abs(derivative(gamma=case["gamma"] + 1j * step) - gradients.gamma) < 1e-12 * scale
    for j in {0, n // 2, n - 1}:
        by_step = derivative(logits=nudge(case["logits"], (j,)))
        assert abs(by_step - gradients.logits[j]) < 1e-12 * scale
    rng = np.random.default_rng(seed)
    for _ in range(6):
        index = tuple(int(rng.integers(n)) for n in case["layers"].shape)
        by_step = derivative(layers=nudge(case["layers"], index))
        assert abs(by_step - gradients.layers[index]) < 1e-11 * scale  # through 1/std, twice


@pytest.mark.parametrize("layer_norm", NORMS)
@given(seed=RNG_SEEDS, n=st.sampled_from([1, 4, 64]))
def test_logit_gradients_sum_to_zero(seed: int, n: int, layer_norm: LayerNorm | None) -> None:
    case = with_inner_token(random_case(seed, n))
    gradients = scalar_mix_gradients(**case, layer_norm=layer_norm)
    size = np.abs(gradients.logits).sum() + abs(gradients.gamma * case["gamma"])
    assert abs(gradients.logits.sum()) <= 1e-14 * (1 + size)


def test_float32_logit_gradients_keep_their_digits_beside_a_large_mean() -> None:
    """One long float32 sum would lose two digits here: 3e-5 and not 6e-6 was measured."""
    rng = np.random.default_rng(0)
    layers = 100 + rng.normal(size=(8, 3, 50, 256))
    upstream = rng.normal(size=(8, 50, 256))
    exact = scalar_mix_gradients(layers, np.zeros(3), 1.0, upstream)
    single = scalar_mix_gradients(
        layers.astype(np.float32), np.zeros(3), 1.0, upstream.astype(np.float32)
    )
    # Rounding the layers themselves to float32 moves them by 100 * 6e-8, on a spread of 1.
    scale = np.abs(exact.logits).max()
    np.testing.assert_allclose(single.logits, exact.logits, atol=5e-5 * scale)


def test_gradients_are_taken_of_the_given_logits_not_moved_by_them() -> None:
    """Inputs are never written to."""
    case = random_case(3)
    before = {name: np.copy(value) for name, value in case.items()}
    scalar_mix(**forward_arguments(case), layer_norm=LayerNorm(1e-3))
    scalar_mix_gradients(**case, layer_norm=LayerNorm(1e-3))
    for name, value in case.items():
        np.testing.assert_array_equal(value, before[name])


# --- the originals' recorded values ---------------------------------------------------------------


def reference_cases(file: str) -> list[Any]:
    path = REFERENCE / file
    if not path.exists() and not os.environ.get("ELMO_REFERENCE"):  # who names a folder means it
        reason = f"{file} isn't here: the comparison with the original's recorded values is skipped"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    return [pytest.param(case, id=case["name"]) for case in json.loads(path.read_text())["cases"]]


def close(ours: Any, recorded: Any, tolerance: float) -> None:
    """Within the tolerance of the recorded number, or of 1 where that is smaller.

    One or the other, not their sum: what `assert_allclose` adds up allows 2e-12 at 1.
    """
    recorded = np.asarray(recorded, dtype=np.float64)
    assert np.shape(ours) == recorded.shape
    error = np.abs(ours - recorded) / np.maximum(1, np.abs(recorded))
    assert error.size == 0 or error.max() <= tolerance


def test_the_tolerance_is_absolute_or_relative_and_not_their_sum() -> None:
    close([1 + 0.9e-12, 0.9e-12, 100 + 0.9e-10], [1, 0, 100], 1e-12)
    for ours, recorded in ((1 + 1.5e-12, 1), (1.5e-12, 0), (100 + 1.5e-10, 100), (np.nan, 1)):
        with pytest.raises(AssertionError):
            close([ours], [recorded], 1e-12)


def as_batch(case: dict[str, Any], dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """AllenNLP takes a list of layers of any rank; here: (batch, layers, tokens, dim)."""
    tensors = [np.asarray(tensor, dtype=dtype) for tensor in case["tensors"]]
    upstream = np.asarray(case["grad_output"], dtype=dtype)
    while upstream.ndim < 3:
        tensors, upstream = [tensor[None] for tensor in tensors], upstream[None]
    mask = None if case["mask"] is None else np.asarray(case["mask"], dtype=bool)
    return np.stack(tensors, axis=1), upstream, mask


@pytest.mark.parametrize("case", reference_cases("scalar_mix_vectors.json"))
def test_agrees_with_allennlp(case: dict[str, Any]) -> None:
    """1e-12 in float64, 1e-5 in float32, outside padding: there ours is 0 and inert by design."""
    dtype = np.dtype(case["dtype"])
    tolerance = {"float64": 1e-12, "float32": 1e-5}[dtype.name]
    layers, upstream, mask = as_batch(case, dtype)
    norm = LayerNorm(epsilon=1e-13) if case["do_layer_norm"] else None
    logits, gamma = np.asarray(case["logits"], dtype=dtype), case["gamma"]
    unmasked = np.ones(upstream.shape[:2], dtype=bool) if mask is None else mask
    # AllenNLP's padded outputs are (pad - mean)/std and take part in its loss; ours are 0. To
    # compare the rest, the upstream gradient is 0 there, and the recorded gradients of logits and
    # gamma lose the padding's share, recomputed from the recorded tensors.
    out = scalar_mix(layers, logits, gamma, mask, norm)
    gradients = scalar_mix_gradients(layers, logits, gamma, upstream, mask, norm)
    expected = np.asarray(case["output"]).reshape(out.shape)
    close(softmax(logits), case["weights"], tolerance)
    close(out[unmasked], expected[unmasked], tolerance)
    np.testing.assert_array_equal(out[~unmasked], 0)
    padding = padding_share(layers, logits, gamma, upstream, unmasked, norm)
    close(gradients.logits + padding["logits"], case["grad_logits"], tolerance)
    close(gradients.gamma + padding["gamma"], case["grad_gamma"], tolerance)
    recorded = np.stack([np.reshape(g, out.shape) for g in case["grad_tensors"]], axis=1)
    close(gradients.layers + padding["layers"], recorded, tolerance)


def padding_share(
    layers: np.ndarray,
    logits: np.ndarray,
    gamma: float,
    upstream: np.ndarray,
    unmasked: np.ndarray,
    norm: LayerNorm | None,
) -> dict[str, Any]:
    """What AllenNLP's padded positions add to its gradients, by the complex step, element by one.

    Its forward pass, written again here: statistics of the unmasked, applied to everything.
    """
    pad_upstream = np.where(unmasked[..., None], 0, upstream)
    if not pad_upstream.any():
        return {"logits": 0, "gamma": 0, "layers": 0}

    def loss(layers: np.ndarray, logits: np.ndarray, gamma: complex) -> complex:
        values = layers
        if norm is not None:
            kept = unmasked[:, None, :, None] * np.ones(layers.shape)
            n = kept.sum(axis=(0, 2, 3), keepdims=True)
            mean = (layers * kept).sum(axis=(0, 2, 3), keepdims=True) / n
            variance = (((layers - mean) * kept) ** 2).sum(axis=(0, 2, 3), keepdims=True) / n
            values = (layers - mean) / np.sqrt(variance + norm.epsilon)
        weights = np.exp(logits) / np.exp(logits).sum()
        mixture = gamma * (weights[:, None, None] * values).sum(axis=1)
        return complex((pad_upstream * mixture).sum())

    def derivative(name: str, index: tuple[int, ...]) -> float:
        arguments: dict[str, Any] = {"layers": layers, "logits": logits, "gamma": gamma}
        nudged = np.asarray(arguments[name]).astype(np.complex128)
        nudged[index] += 1e-30j
        return loss(**(arguments | {name: nudged})).imag / 1e-30

    return {
        "logits": np.array([derivative("logits", (j,)) for j in range(len(logits))]),
        "gamma": derivative("gamma", ()),
        "layers": np.array([derivative("layers", i) for i in np.ndindex(layers.shape)]).reshape(
            layers.shape
        ),
    }


@pytest.mark.parametrize("case", reference_cases("weight_layers_vectors.json"))
def test_agrees_with_bilm_tf(case: dict[str, Any]) -> None:
    """Its float64 formula to 1e-12, its float32 run to 1e-5; "top only" is a one-layer mixture."""
    layers = np.asarray(case["lm_embeddings"])
    upstream = np.asarray(case["grad_output"])
    mask = np.asarray(case["mask"], dtype=bool)
    norm = LayerNorm(epsilon=1e-12) if case["do_layer_norm"] else None
    top_only = case["use_top_only"]
    logits = np.zeros(1) if top_only else np.asarray(case["W"])
    mixed = layers[:, -1:] if top_only else layers
    strength = case["l2_coef"] or 0.0
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5)):
        out = scalar_mix(mixed.astype(dtype), logits, case["gamma"], mask, norm)
        expected = case["output_formula_float64" if dtype == np.float64 else "output_tf_float32"]
        close(out[mask], np.asarray(expected)[mask], tolerance)
        np.testing.assert_array_equal(out[~mask], 0)
    # TensorFlow's gradients are float32 and include its padding's share, as AllenNLP's do.
    padding = padding_share(mixed, logits, case["gamma"], upstream, mask, norm)
    recorded = np.asarray(case["grad_lm_embeddings_tf"])
    for dtype in (np.float64, np.float32):
        gradients = scalar_mix_gradients(
            mixed.astype(dtype), logits, case["gamma"], upstream.astype(dtype), mask, norm
        )
        assert gradients.layers.dtype == dtype
        close(gradients.gamma + padding["gamma"], case["grad_gamma_tf"], 1e-5)
        close(
            gradients.layers + padding["layers"], recorded[:, -1:] if top_only else recorded, 1e-5
        )
        if top_only:
            np.testing.assert_array_equal(gradients.logits, [0.0])
            assert case["grad_W_tf"] is None
            np.testing.assert_array_equal(recorded[:, :-1], 0)
        else:
            close(gradients.logits + padding["logits"], case["grad_W_tf"], 1e-5)
    penalty = logit_penalty(logits, strength)
    assert abs(penalty - case["regularization_formula"]) <= 1e-12


# --- the penalty ----------------------------------------------------------------------------------


@given(RNG_SEEDS, st.floats(0, 10))
def test_penalty_gradient_is_its_complex_step(seed: int, strength: float) -> None:
    logits = np.random.default_rng(seed).normal(size=4)
    nudged = logits + 1e-30j * np.eye(4)
    by_step = (strength * (nudged**2).sum(axis=1)).imag / 1e-30
    np.testing.assert_allclose(logit_penalty_gradient(logits, strength), by_step, atol=1e-14)
    assert logit_penalty(logits, strength) == pytest.approx(strength * (logits @ logits))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0.0, -np.inf], 1.0), ValueError, "logits must be finite to be penalised"),
        (([0.0, 1.0], -1.0), ValueError, "strength must be at least 0, given -1"),
        (([[0.0, 1.0]], 1.0), ValueError, r"logits must have shape \(layers,\), given shape"),
        (([1e200], 1.0), ValueError, "overflows float64"),
        (([1e308], 1e10), ValueError, "overflows float64"),
        (([9e153] * 64, 1.0), ValueError, "overflows float64"),  # each square is finite
        (([0.999], 1e308), ValueError, "overflows float64"),  # the gradient alone is not
        (([0.0], "a"), TypeError, "strength must be"),
        (([0.0], np.ones(2)), ValueError, "strength must be one finite real number"),
        (([0.0, 1.0], np.nan), ValueError, "strength must be"),
        ((np.zeros(2) + 0j, 1.0), TypeError, "logits must be real in the penalty"),
    ],
)
def test_penalty_refuses(
    arguments: tuple[Any, float], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        logit_penalty(*arguments)
    with pytest.raises(error, match=message):
        logit_penalty_gradient(*arguments)


def test_penalty_within_range_is_found_where_the_squares_are_beyond_it() -> None:
    assert logit_penalty([1e200], 1e-200) == pytest.approx(1e200, rel=1e-15)
    np.testing.assert_allclose(logit_penalty_gradient([1e200], 1e-200), [2.0], rtol=1e-15)
    assert logit_penalty([1e200], 0.0) == 0
    np.testing.assert_allclose(logit_penalty_gradient([0.1], 1e308), [2e307], rtol=1e-15)


# --- ScalarMix ------------------------------------------------------------------------------------


@given(RNG_SEEDS, st.integers(1, 64))
def test_both_constructors_describe_the_same_mixture(seed: int, n: int) -> None:
    logits = np.random.default_rng(seed).normal(size=n)
    by_logits = ScalarMix.from_logits(logits, gamma=-2.0)
    by_weights = ScalarMix.from_weights(by_logits.weights, gamma=-2.0)
    np.testing.assert_allclose(by_weights.weights, by_logits.weights, rtol=1e-13)
    layers = np.random.default_rng(seed + 1).normal(size=(2, n, 3, 2))
    np.testing.assert_allclose(by_weights.mix(layers), by_logits.mix(layers), atol=1e-13)
    np.testing.assert_array_equal(by_logits.mix(layers), scalar_mix(layers, logits, -2.0))


def test_zeros_are_equal_weights_as_logits_and_an_error_as_weights() -> None:
    """The confusion of the original's users, told apart by name."""
    np.testing.assert_array_equal(ScalarMix.from_logits([0, 0, 0]).weights, [1 / 3] * 3)
    with pytest.raises(ValueError, match="weights must be at least 0 and sum to 1"):
        ScalarMix.from_weights([0, 0, 0])
    np.testing.assert_array_equal(ScalarMix.from_weights([0.0, 1.0]).logits, [-np.inf, 0])


@pytest.mark.parametrize(
    "weights",
    [
        [0.5, 0.6],
        [-0.5, 1.5],
        [np.nan, 1.0],
        [[0.5, 0.5]],
        [np.inf, -np.inf],  # inf - inf
        [1.7e308, 1.7e308],
    ],
)
def test_from_weights_refuses_what_is_no_distribution(weights: Any) -> None:
    with pytest.raises(ValueError, match="weights must be"):
        ScalarMix.from_weights(weights)


def test_from_logits_refuses_what_is_no_mixture() -> None:
    for logits in ([np.nan], [-np.inf], [[0.0, 1.0]], np.zeros(2) + 0j):
        with pytest.raises(ValueError, match="logits must"):
            ScalarMix.from_logits(logits)
    for gamma in (np.inf, np.zeros(1), 1j):
        with pytest.raises(ValueError, match="gamma must be one finite real number"):
            ScalarMix.from_logits([0.0], gamma)


def test_a_mixture_is_checked_whichever_way_it_is_made() -> None:
    wrong: Any
    for wrong, error, message in (
        ({"logits": [1, 2], "gamma": "x"}, TypeError, "gamma must be"),
        ({"logits": [1, 2], "gamma": np.nan}, ValueError, "gamma must be one finite real"),
        ({"logits": [[1.0, 2.0]]}, ValueError, r"logits must be real with shape \(layers,\)"),
        ({"logits": [np.nan]}, ValueError, "logits must not hold NaN"),
        ({"logits": [0.0], "train_logits": "no"}, TypeError, "train_logits must be .*given 'no'"),
        ({"logits": [0.0], "train_gamma": 1}, TypeError, "train_gamma must be .*given 1"),
    ):
        with pytest.raises(error, match=message):
            ScalarMix(**wrong)
        with pytest.raises(error, match=message):
            ScalarMix.from_logits(**wrong)
    given_logits = np.array([1.0, 2.0])
    mix = ScalarMix(logits=given_logits, gamma=2)
    assert mix.logits is not given_logits
    assert isinstance(mix.gamma, float)
    flag: Any = "no"
    with pytest.raises(TypeError, match=r"train_logits must be .*given 'no'"):
        ScalarMix.from_weights([1.0], train_logits=flag)


def test_a_step_out_of_the_finite_numbers_is_refused_and_moves_nothing() -> None:
    mix = ScalarMix.from_logits([0.0, 1.0], 1.0)
    for by_logit, by_gamma in ((np.array([1e308, 0.0]), 0.0), (np.ones(2), 1e308)):
        with pytest.raises(ValueError, match="learning_rate must keep logits and gamma finite"):
            mix.step(ScalarMixGradients(by_logit, by_gamma, np.zeros(0)), 10.0)
        assert mix.logits.tolist() == [0, 1]
        assert mix.gamma == 1
    # A weight of 0 has gradient 0 and stays.
    mix = ScalarMix.from_weights([0.0, 0.5, 0.5])
    mix.step(ScalarMixGradients(np.array([0.0, 1.0, -1.0]), 0.0, np.zeros(0)), 0.1)
    assert mix.logits[0] == -np.inf
    with pytest.raises(ValueError, match="learning_rate must keep"):
        mix.step(ScalarMixGradients(np.array([-1e308, 0.0, 0.0]), 0.0, np.zeros(0)), 10.0)


@pytest.mark.parametrize(
    ("flags", "n_trainable"),
    [((True, True), 4), ((False, True), 1), ((True, False), 3), ((False, False), 0)],
)
def test_a_step_moves_what_is_trainable_and_nothing_else(
    flags: tuple[bool, bool], n_trainable: int
) -> None:
    given_logits = np.array([0.1, 0.2, 0.3])
    train_logits, train_gamma = flags
    mix = ScalarMix.from_logits(
        given_logits, 1.5, train_logits=train_logits, train_gamma=train_gamma
    )
    case = random_case(5)
    gradients = mix.gradients(case["layers"], case["upstream"], case["mask"])
    assert np.abs(gradients.logits).min() > 0
    assert gradients.gamma != 0
    mix.step(gradients, 0.1)
    assert mix.n_trainable == n_trainable
    moved = given_logits - 0.1 * gradients.logits if train_logits else given_logits
    np.testing.assert_array_equal(mix.logits, moved)
    assert mix.gamma == (1.5 - 0.1 * gradients.gamma if train_gamma else 1.5)
    np.testing.assert_array_equal(given_logits, [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match=r"gradients\.gamma must be one finite"):
        mix.step(ScalarMixGradients(np.zeros(3), np.nan, case["layers"]), 0.1)
    with pytest.raises(ValueError, match="learning_rate must be one finite real number, given nan"):
        mix.step(gradients, np.nan)


@pytest.mark.parametrize(
    ("by_logit", "error", "message"),
    [
        (np.ones(1), ValueError, r"gradients\.logits must have shape \(3,\), given \(1,\)"),
        (np.ones(4), ValueError, r"gradients\.logits must have shape \(3,\), given \(4,\)"),
        (np.full(3, np.nan), ValueError, r"gradients\.logits must be finite, given nan at \(0,\)"),
        (np.full(3, 1j), TypeError, r"gradients\.logits must be real, given complex128"),
        (
            np.ma.masked_array(np.ones(3)),
            TypeError,
            r"gradients\.logits must not be .* masked array",
        ),
        (np.ones(3, object), TypeError, r"gradients\.logits must be float32, .*given object"),
        (["a", "b", "c"], TypeError, r"gradients\.logits must be float32, .*given <U1"),
        (None, TypeError, r"gradients\.logits must be float32, .*given object"),
    ],
)
def test_a_step_takes_real_gradients_alone(
    by_logit: Any, error: type[Exception], message: str
) -> None:
    mix = ScalarMix.from_logits([0.0, 1.0, 2.0])
    with pytest.raises(error, match=message):
        mix.step(ScalarMixGradients(by_logit, 1.0, np.zeros(0)), 0.1)
    assert (mix.logits.tolist(), mix.gamma) == ([0, 1, 2], 1)


def test_a_step_asks_for_gradients_and_takes_a_list_for_an_array() -> None:
    mix = ScalarMix.from_logits([0.0, 1.0])
    nothing: Any = None
    with pytest.raises(TypeError, match="gradients must be ScalarMixGradients, given a NoneType"):
        mix.step(nothing, 0.1)
    listed: Any = [1, -1]
    mix.step(ScalarMixGradients(listed, 0.0, np.zeros(0)), 1.0)
    assert mix.logits.tolist() == [-1, 2]


def test_a_norm_can_take_the_layers_gradient_out_of_float32_where_gamma_cannot() -> None:
    """1 / std is 1e30 here: scores and logit gradients stay small, the layers' gradient doesn't."""
    rng = np.random.default_rng(0)
    layers = (1e-30 * rng.normal(size=(1, 2, 3, 4))).astype(np.float32)
    upstream = (1e10 * rng.normal(size=(1, 3, 4))).astype(np.float32)
    arguments: Any = (layers, np.zeros(2), 1.0, upstream)
    assert np.isfinite(scalar_mix_gradients(*arguments).layers).all()
    with pytest.raises(ValueError, match="gradient of these arguments is beyond the range of floa"):
        scalar_mix_gradients(*arguments, layer_norm=LayerNorm(epsilon=0.0))


def test_how_far_off_one_the_sum_of_weights_may_be() -> None:
    assert ScalarMix.from_weights([0.5, 0.5 + 9e-7]).weights.sum() == pytest.approx(1, abs=1e-15)
    for off in (2e-6, -2e-6):
        with pytest.raises(ValueError, match="sum to 1"):
            ScalarMix.from_weights([0.5, 0.5 + off])


def test_how_far_complex_exponentials_may_cancel() -> None:
    """A total of 1e-10 of its terms has six right digits left, one of 1e-6 has ten."""
    assert np.isfinite(softmax(np.array([0, (np.pi + 1e-6) * 1j]))).all()
    with pytest.raises(ValueError, match="whose exponentials cancel"):
        softmax(np.array([0, (np.pi + 1e-10) * 1j]))


def test_top_layer_only_still_learns_gamma() -> None:
    """One layer, one logit: its weight can't move, gamma can, and the penalty at logit 0 is 0."""
    case = random_case(8)
    top = case["layers"][:, -1:]
    mix = ScalarMix.from_logits([0.0])
    gradients = mix.gradients(top, case["upstream"], case["mask"])
    np.testing.assert_array_equal(gradients.logits, [0.0])
    unmasked = case["mask"][..., None]
    assert gradients.gamma == pytest.approx((case["upstream"] * top[:, 0] * unmasked).sum())
    assert gradients.gamma != 0
    assert logit_penalty(mix.logits, 1.0) == 0
