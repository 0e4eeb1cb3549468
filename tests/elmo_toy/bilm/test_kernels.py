"""The gates' order, and that both ways to multiply a kernel give the same numbers."""

from collections.abc import Callable

import numpy as np
import pytest

from elmo_toy.bilm import kernels, training
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.token_encoder import FloatArray

MakeModel = Callable[..., BiLM]

TEXT = [["the", "river", "bank", "flooded"], ["the"], ["bank"], ["flooded", "the", "bank"]]
SETTINGS = [{}, {"joined": True, "n_layers": 3}, {"cell_clip": 0.4, "proj_clip": 0.3}]


def test_gates_are_i_j_f_o_in_the_file() -> None:
    columns = np.arange(2 * 3 * 8, dtype=float).reshape(2, 3, 8)
    gates = kernels.gates_first(columns, 2)
    for gate, place in zip(gates, (1, 0, 2, 3), strict=True):  # candidate, i, f, o
        assert np.array_equal(gate, columns[:, :, 2 * place : 2 * place + 2])
    assert np.array_equal(kernels.gates_last(gates), columns)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_a_kernel_in_the_cache_and_one_from_memory_give_the_same(
    make_model: MakeModel, monkeypatch: pytest.MonkeyPatch, setting: dict[str, float]
) -> None:
    """Layers, loss and every gradient; rows that end early and a row alone at the end included."""
    model = make_model(**setting)

    def all_numbers() -> list[FloatArray]:
        corpus = training.Corpus(model, TEXT)
        loss, gradients = model.loss_and_gradients(*corpus.batch(np.arange(len(TEXT))))
        layers = model.embed(TEXT).layers
        return [layers, np.array([loss.forward, loss.backward]), *gradients.values()]

    by_step = all_numbers()
    monkeypatch.setattr(kernels, "CACHE_BYTES", 0)
    calls = []
    flat = kernels._AllSteps.total

    def counted(self: kernels._AllSteps) -> tuple[FloatArray, FloatArray, FloatArray]:
        calls.append(1)
        return flat(self)

    monkeypatch.setattr(kernels._AllSteps, "total", counted)
    for one, other in zip(by_step, all_numbers(), strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-13 * max(1, np.abs(one).max()))
    assert calls
