"""The product of the steps' derivatives is the derivative, clips, residuals and all."""

from __future__ import annotations

import numpy as np
import pytest

from elmo_toy.bilm.jacobian import half_jacobians, half_norms

TOKENS = ["the", "river", "bank", "flooded"]


@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"use_skip_connections": False},
        {"n_layers": 1},
        {"cell_clip": 0.4},
        {"proj_clip": 0.3},
        {"joined": True, "n_layers": 3},
    ],
    ids=str,
)
def test_jacobian_is_the_central_difference(make_model, plain_stack, setting) -> None:
    model = make_model(seed=2, **setting)
    width, step = model.options.lstm.projection_dim, 1e-6
    ids = model.ids([TOKENS])[0]
    vectors = model.parameters["embedding"][ids - 1]
    found = half_jacobians(model, TOKENS)
    assert len(found) == model.options.lstm.n_layers
    for u in range(len(TOKENS)):
        for j in range(width):
            ends = []
            for sign in (1, -1):
                moved = vectors.copy()
                moved[u + 1, j] += sign * step  # the first row is the boundary
                ends.append(plain_stack(moved, model))
            for layer, (ahead, behind) in enumerate(zip(*ends, strict=True)):
                slope = ((ahead - behind) / (2 * step))[1:-1].reshape(-1, 2, width)
                for way in range(2):
                    np.testing.assert_allclose(
                        found[layer][way, :, :, u, j], slope[:, way], rtol=1e-5, atol=1e-8
                    )


def test_clips_were_met(make_model) -> None:
    """Otherwise the settings above would check nothing."""
    free, clipped = (
        half_jacobians(make_model(seed=2, **s), TOKENS) for s in ({}, {"cell_clip": 0.4})
    )
    assert not np.allclose(free[0], clipped[0])
    states = half_jacobians(make_model(seed=2, proj_clip=0.3), TOKENS)
    assert not np.allclose(free[0], states[0])


def test_each_half_depends_on_its_own_side_alone(make_model) -> None:
    for layer in half_jacobians(make_model(), TOKENS):
        reached = np.abs(layer).max(axis=(2, 4)) > 0
        np.testing.assert_array_equal(reached[0], np.tri(4, dtype=bool))
        np.testing.assert_array_equal(reached[1], np.tri(4, dtype=bool).T)
    joined = half_jacobians(make_model(joined=True), TOKENS)[1]
    assert (np.abs(joined).max(axis=(2, 4)) > 0).all()


def test_float32_models_are_differentiated_in_float64(make_model) -> None:
    single = half_jacobians(make_model(dtype=np.float32), TOKENS)
    double = half_jacobians(make_model(dtype=np.float64), TOKENS)
    assert single[1].dtype == np.float64
    np.testing.assert_allclose(single[1], double[1], rtol=0, atol=1e-5)


def test_norms_are_those_of_the_top_layers_blocks(make_model) -> None:
    model = make_model()
    upper, norms = half_jacobians(model, TOKENS)[-1], half_norms(model, TOKENS)
    assert norms.shape == (2, 4, 4)
    for way, t, u in ((0, 3, 1), (1, 0, 2), (0, 0, 3)):
        assert norms[way, t, u] == pytest.approx(np.sqrt((upper[way, t, :, u] ** 2).sum()))
