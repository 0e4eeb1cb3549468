"""No token sees another, unless a layer norm's statistics couple them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy import LayerNorm
from elmo_toy.influence import token_influence


@given(st.integers(0, 2**32 - 1), st.floats(-3, 3))
def test_without_a_layer_norm_influence_is_diagonal_and_known(seed: int, gamma: float) -> None:
    """On the diagonal stands |gamma| times the largest weight."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(3))
    influence = token_influence(rng.normal(size=(1, 3, 4, 2)), np.log(weights), gamma)
    np.testing.assert_allclose(influence, abs(gamma) * weights.max() * np.eye(4), atol=1e-14)


def test_with_a_layer_norm_every_token_reaches_every_other() -> None:
    layers = np.random.default_rng(0).normal(size=(1, 3, 4, 2))
    assert (token_influence(layers, np.zeros(3), layer_norm=LayerNorm()) > 0).all()


@pytest.mark.parametrize("shape", [(2, 3, 4, 2), (3, 4, 2), (1, 3, 4, 0)])
def test_more_than_one_sentence_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="layers must be one sentence"):
        token_influence(np.zeros(shape), np.zeros(3))


def test_a_list_of_layers_is_refused() -> None:
    layers: Any = [[[[1.0]]]]
    with pytest.raises(TypeError, match="layers must be one numpy array, given a list"):
        token_influence(layers, np.zeros(1))
