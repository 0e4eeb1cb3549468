"""The ways to combine layers: each its formula, its gradients, what it trains, what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from elmo_toy._checks import Array
from elmo_toy.gradient_check import central_difference
from elmo_toy.layer_norm import LayerNorm
from elmo_toy.task.combine import (
    CombinerOptions,
    combiner,
    initial_parameters,
    logit_penalties,
    output_width,
    parameter_shapes,
)
from elmo_toy.task.data import Tagged

MakeBatch = Callable[..., Tagged]
CheckGradients = Callable[..., None]

OPTIONS = [
    CombinerOptions(),
    CombinerOptions(learn_gamma=False, gamma=-0.7),
    CombinerOptions(layer_norm=LayerNorm()),
    CombinerOptions(layer_norm=LayerNorm(boundaries="left_out")),
    CombinerOptions("equal"),
    CombinerOptions("equal", gamma=2.0, learn_gamma=False),
    CombinerOptions("layer"),
    CombinerOptions("layer", layer=0, learn_gamma=False),
    CombinerOptions("layer", layer=1, layer_norm=LayerNorm()),
    CombinerOptions("free"),
    CombinerOptions("concatenation"),
    CombinerOptions("concatenation", width=2),
]


def drawn(options: CombinerOptions, seed: int = 2) -> dict[str, Array]:
    """Parameters as training might leave them."""
    rng = np.random.default_rng(seed)
    start = initial_parameters(options, 3, 2, rng)
    return {name: value + rng.normal(size=value.shape) for name, value in start.items()}


def by_the_formula(options: CombinerOptions, p: dict[str, Array], vectors: Array) -> Array:
    """One token: vectors (layers, dim)."""
    gamma = p["gamma"][0] if "gamma" in p else options.gamma
    if options.kind == "mixture":
        exponentials = np.exp(p["logits"])
        weights = gamma * exponentials / exponentials.sum()
    elif options.kind == "equal":
        weights = gamma * np.full(3, 1 / 3)
    elif options.kind == "layer":
        return np.asarray(gamma * vectors[options.layer])
    elif options.kind == "free":
        weights = p["coefficients"]
    else:
        joined = np.concatenate(list(vectors))
        return joined @ p["projection"] if "projection" in p else joined
    return sum((w * v for w, v in zip(weights, vectors, strict=True)), np.zeros(2))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_each_is_its_formula_at_tokens_and_zero_at_pads(
    make_batch: MakeBatch, options: CombinerOptions
) -> None:
    batch, parameters = make_batch(), drawn(options)
    layers = batch.layers
    if options.layer_norm is not None:
        counted = batch.mask.copy()
        if options.layer_norm.boundaries == "left_out":
            for row, length in enumerate(batch.lengths):
                counted[row, [0, length - 1]] = False
        values = layers.transpose(1, 0, 2, 3)[:, counted].reshape(3, -1)
        mean, std = values.mean(axis=1), np.sqrt(values.var(axis=1) + 1e-12)
        layers = (layers - mean[:, None, None]) / std[:, None, None]
    combined = combiner(options, 3, parameters).forward(batch.layers, batch.mask)
    assert combined.shape == (*batch.mask.shape, output_width(options, 3, 2))
    for row, place in np.ndindex(batch.mask.shape):
        if batch.mask[row, place]:
            expected = by_the_formula(options, parameters, layers[row, :, place])
            np.testing.assert_allclose(combined[row, place], expected, rtol=0, atol=1e-11)
        else:
            assert not combined[row, place].any()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_each_gradient_is_the_central_difference(
    make_batch: MakeBatch, check_gradients: CheckGradients, options: CombinerOptions
) -> None:
    """A loss that isn't linear in the combined vectors; pads hold NaN, here and in upstream."""
    batch, parameters = make_batch(), drawn(options)
    rng = np.random.default_rng(2)
    direction = rng.normal(size=(*batch.mask.shape, output_width(options, 3, 2)))

    def loss(arrays: dict[str, Array]) -> float:
        own = {name: value for name, value in arrays.items() if name != "layers"}
        layers = np.where(batch.mask[:, None, :, None], arrays["layers"], np.nan)
        return float(
            np.sin(combiner(options, 3, own).forward(layers, batch.mask) * direction).sum()
        )

    combined = combiner(options, 3, parameters).forward(batch.layers, batch.mask)
    upstream = np.where(batch.mask[:, :, None], direction * np.cos(combined * direction), np.nan)
    found = combiner(options, 3, parameters).gradients(batch.layers, batch.mask, upstream)
    assert not found.layers[~batch.mask[:, None].repeat(3, axis=1)].any()
    layers = np.where(batch.mask[:, None, :, None], batch.layers, 0)
    check_gradients(
        loss, parameters | {"layers": layers}, found.parameters | {"layers": found.layers}
    )


@pytest.mark.parametrize(
    ("options", "trained"),
    [
        (CombinerOptions(), {"logits": 3, "gamma": 1}),
        (CombinerOptions(learn_gamma=False), {"logits": 3}),
        (CombinerOptions("equal"), {"gamma": 1}),
        (CombinerOptions("layer"), {"gamma": 1}),
        (CombinerOptions("layer", learn_gamma=False), {}),
        (CombinerOptions("free"), {"coefficients": 3}),
        (CombinerOptions("concatenation"), {}),
        (CombinerOptions("concatenation", width=5), {"projection": 30}),
    ],
    ids=str,
)
def test_what_is_trained_is_counted(options: CombinerOptions, trained: dict[str, int]) -> None:
    parameters = initial_parameters(options, 3, 2, np.random.default_rng(0))
    assert {name: value.size for name, value in parameters.items()} == trained
    built = combiner(options, 3, parameters)
    assert {name: value.size for name, value in built.parameters.items()} == trained
    shapes = parameter_shapes(options, 3, 2)
    assert {name: value.shape for name, value in parameters.items()} == shapes


def test_mixture_equal_weights_and_free_coefficients_start_as_one(make_batch: MakeBatch) -> None:
    batch, rng = make_batch(), np.random.default_rng(0)
    starts = [
        combiner(options, 3, initial_parameters(options, 3, 2, rng)).forward(
            batch.layers, batch.mask
        )
        for options in (CombinerOptions(), CombinerOptions("equal"), CombinerOptions("free"))
    ]
    np.testing.assert_allclose(starts[1], starts[0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(starts[2], starts[0], rtol=0, atol=1e-15)


def test_the_penalty_is_at_its_minimum_at_the_start() -> None:
    """Any equal logits are equal weights; only zeros cost nothing."""
    start = initial_parameters(CombinerOptions(), 3, 2, np.random.default_rng(0))
    assert logit_penalties(start, 1.0)[0] == 0


def test_an_optimiser_that_steps_in_place_moves_the_combiner(make_batch: MakeBatch) -> None:
    batch, options = make_batch(), CombinerOptions("layer")
    parameters = initial_parameters(options, 3, 2, np.random.default_rng(0))
    built = combiner(options, 3, parameters)
    before = built.forward(batch.layers, batch.mask)
    parameters["gamma"] -= 3.0
    assert np.array_equal(built.forward(batch.layers, batch.mask), -2 * before)


def test_gradients_have_the_parameters_dtype(make_batch: MakeBatch) -> None:
    batch = make_batch(dtype=np.float32)
    for options in OPTIONS:
        parameters = {name: value.astype(np.float32) for name, value in drawn(options).items()}
        built = combiner(options, 3, parameters)
        upstream = built.forward(batch.layers, batch.mask)
        found = built.gradients(batch.layers, batch.mask, upstream)
        dtypes = {value.dtype for value in (*found.parameters.values(), found.layers, upstream)}
        assert dtypes == {np.dtype(np.float32)}, options


def test_weights_as_a_reader_asks_for_them() -> None:
    mixture = combiner(CombinerOptions(), 3, {"logits": np.log([1, 2, 5]), "gamma": np.ones(1)})
    assert mixture.weights.round(12).tolist() == [0.125, 0.25, 0.625]
    assert combiner(CombinerOptions("layer", layer=-2), 3, {}).weights.tolist() == [0, 1, 0]
    assert combiner(CombinerOptions("equal"), 4, {"gamma": np.ones(1)}).weights.sum() == 1
    free = combiner(CombinerOptions("free"), 2, {"coefficients": np.array([-2.0, 5.0])})
    assert (free.weights.tolist(), free.gamma) == ([-2, 5], 1)
    fixed = combiner(CombinerOptions("equal", gamma=-0.5, learn_gamma=False), 2, {})
    assert fixed.gamma == -0.5


# The penalty


def test_the_penalty_is_of_logits_alone_and_its_gradient_the_difference() -> None:
    rng = np.random.default_rng(0)
    parameters = {
        name: rng.normal(size=3)
        for name in ("logits", "output/logits", "input/gamma", "free/coefficients", "my_logits")
    }
    penalty, gradients = logit_penalties(parameters, 0.3)
    both = (parameters["logits"] ** 2).sum() + (parameters["output/logits"] ** 2).sum()
    assert penalty == pytest.approx(0.3 * both)
    assert gradients.keys() == {"logits", "output/logits"}
    for name, gradient in gradients.items():
        measured = central_difference(
            lambda x, name=name: np.float64(logit_penalties(parameters | {name: x}, 0.3)[0]),
            parameters[name],
            1e-5,
        )
        np.testing.assert_allclose(gradient, measured, atol=1e-9)


# Refusals


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "mean"}, "kind: expected one of mixture, equal, .* got 'mean'"),
        ({"layer": 0}, "layer: expected only with kind 'layer', got 'mixture'"),
        ({"gamma": float("nan")}, "gamma: expected a finite number, got nan"),
        ({"gamma": "1"}, "gamma: expected a finite number, got '1'"),
        ({"kind": "free", "gamma": 2.0}, "'free' has neither"),
        ({"kind": "concatenation", "layer_norm": LayerNorm()}, "'concatenation' has neither"),
        ({"width": 3}, "width: expected only with 'concatenation', got 'mixture'"),
        ({"kind": "concatenation", "width": 0}, "width: expected at least 1"),
        ({"kind": "free", "learn_gamma": False}, "learn_gamma: 'free' has no gamma to hold"),
        ({"kind": "concatenation", "learn_gamma": False}, "learn_gamma: 'concatenation' has no"),
    ],
    ids=str,
)
def test_options_that_mean_nothing_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CombinerOptions(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "layer", "layer": 1.5}, "layer: expected an integer, got 1.5"),
        ({"kind": "layer", "layer": True}, "layer: expected an integer, got True"),
        ({"learn_gamma": "no"}, "learn_gamma: expected True or False, got 'no'"),
        ({"layer_norm": True}, "layer_norm: expected a LayerNorm or None, got True"),
    ],
    ids=str,
)
def test_options_of_another_kind_are_refused(settings: dict[str, Any], message: str) -> None:
    """Each would be taken for something else: a string is true, a True is layer 1."""
    with pytest.raises(TypeError, match=message):
        CombinerOptions(**settings)


def test_a_layer_that_is_not_there_is_refused() -> None:
    for layer in (3, -4):
        with pytest.raises(ValueError, match=f"layer: expected -3 to 2, got {layer}"):
            parameter_shapes(CombinerOptions("layer", layer=layer), 3, 4)


def _with(batch: Tagged, value: float, masked: bool) -> Array:
    layers = batch.layers.copy()
    row, token = np.argwhere(batch.mask != masked)[0]
    layers[row, 1, token, 0] = value
    return layers


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_all_kinds_refuse_the_same_layers_masks_and_derivatives(
    make_batch: MakeBatch, options: CombinerOptions
) -> None:
    batch, built = make_batch(), combiner(options, 3, drawn(options))
    mask, layers = batch.mask, batch.layers
    upstream = built.forward(layers, mask)
    nan_at_a_token = upstream.copy()
    nan_at_a_token[0, 0, 0] = np.nan
    bad_inputs: list[tuple[type[Exception], str, Any, Any]] = [
        (TypeError, "mask must be a bool array", layers, mask.astype(int)),
        (ValueError, "mask must have shape", layers, mask[:, :-1]),
        (ValueError, "mask must have shape", layers, mask[:1]),
        (ValueError, "mask must leave a token", layers, np.zeros_like(mask)),
        (TypeError, "layers: expected .*got a int64 array", np.ones(layers.shape, int), mask),
        (TypeError, "layers: expected .*got a list", layers.tolist(), mask),
        (TypeError, "layers must not be a numpy masked array", np.ma.masked_array(layers), mask),
        (ValueError, r"layers: expected \(batch, layers = 3", layers[:, :2], mask),
        (ValueError, r"layers: expected \(batch, layers = 3", layers[:, :, :, 0], mask),
    ]
    if options.kind != "layer":  # which looks at its own layer alone
        bad_inputs.append((ValueError, "layers must be finite", _with(batch, np.nan, False), mask))
    for error, message, bad, its_mask in bad_inputs:
        with pytest.raises(error, match=message):
            built.forward(bad, its_mask)
        with pytest.raises(error, match=message):
            built.gradients(bad, its_mask, upstream)
    bad_upstream: list[tuple[type[Exception], Any]] = [
        (TypeError, upstream.astype(np.float32)),
        (TypeError, upstream.tolist()),
        (TypeError, np.ma.masked_array(upstream)),
        (ValueError, upstream[:, :, :1]),
        (ValueError, upstream[:1]),
        (ValueError, nan_at_a_token),
    ]
    for error, derivative in bad_upstream:
        with pytest.raises(error, match="upstream"):
            built.gradients(layers, mask, derivative)
    assert np.array_equal(built.forward(_with(batch, np.nan, True), mask), upstream)


def test_a_projection_reads_vectors_of_its_own_dim(make_batch: MakeBatch) -> None:
    batch, options = make_batch(), CombinerOptions("concatenation", width=2)
    with pytest.raises(
        ValueError, match=r"layers: expected 3 of dim 2, as the projection \(6, 2\)"
    ):
        combiner(options, 3, drawn(options)).forward(batch.layers[..., :1], batch.mask)
