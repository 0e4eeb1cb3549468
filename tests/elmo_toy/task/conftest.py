"""Small padded batches, and a central difference for every parameter."""

from collections.abc import Callable

import numpy as np
import pytest

from elmo_toy._checks import Array
from elmo_toy.gradient_check import central_difference
from elmo_toy.task.data import UNLABELLED, Tagged

MakeBatch = Callable[..., Tagged]
CheckGradients = Callable[..., None]


@pytest.fixture(scope="session")
def make_batch() -> MakeBatch:
    """Sentences of 3, 1 and 2 tokens, some unlabelled; at pads the layers are anything."""

    def make(
        *, seed: int = 0, n_layers: int = 3, dim: int = 2, n_tags: int = 3, n_words: int = 5,
        pads: float = np.nan, extra: int = 1, dtype: type = np.float64,
    ) -> Tagged:  # fmt: skip
        rng = np.random.default_rng(seed)
        lengths = np.array([3, 1, 2])
        layers = rng.normal(size=(3, n_layers, 3, dim))
        tags, words = rng.integers(0, n_tags, (3, 3)), rng.integers(1, n_words + 1, (3, 3))
        tags[0, 1] = tags[2, 0] = UNLABELLED
        mask = np.arange(3 + extra) < lengths[:, None]
        wider = ((0, 0), (0, extra))
        tags, words = np.pad(tags, wider), np.pad(words, wider)
        layers = np.pad(layers, ((0, 0), (0, 0), (0, extra), (0, 0)))
        layers = np.where(mask[:, None, :, None], layers, pads).astype(dtype)
        return Tagged(layers, mask, np.where(mask, tags, UNLABELLED), np.where(mask, words, 0))

    return make


@pytest.fixture(scope="session")
def check_gradients() -> CheckGradients:
    """All entries of all arrays against central differences of ``loss(arrays)``."""

    def check(
        loss: Callable[[dict[str, Array]], float],
        arrays: dict[str, Array],
        gradients: dict[str, Array],
        may_be_zero: tuple[str, ...] = (),
    ) -> None:
        assert gradients.keys() == arrays.keys()
        for name, values in arrays.items():
            measured = central_difference(
                lambda x, name=name: np.float64(loss(arrays | {name: x})), values, 1e-5
            )
            np.testing.assert_allclose(
                gradients[name], measured, rtol=1e-6, atol=1e-9, err_msg=name
            )
            if name not in may_be_zero:
                assert np.abs(measured).max() > 1e-6, f"{name}: a check of zeros checks nothing"

    return check
