"""Tiny models, a plain reading of the LSTM's equations, and where recorded outputs are."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import numpy.typing as npt
import pytest

from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import BiLM, Options
from elmo_toy.bilm.token_encoder import CharacterOptions, EncoderOptions, FloatArray, LookupOptions
from elmo_toy.text import Vocabulary

# A busy machine is not an error.
hypothesis.settings.register_profile("elmo_toy", deadline=None)
hypothesis.settings.load_profile("elmo_toy")

WORDS = ["<S>", "</S>", "<UNK>", "the", "river", "bank", "flooded"]

MakeModel = Callable[..., BiLM]
PlainStack = Callable[[FloatArray, BiLM], list[FloatArray]]


@pytest.fixture(scope="session")
def make_model() -> MakeModel:
    """A tiny model with weights large enough that every nonlinearity matters."""

    def make(
        *,
        seed: int = 0,
        dtype: npt.DTypeLike = np.float64,
        characters: bool = False,
        filters: tuple[tuple[int, int], ...] = ((1, 2), (3, 4)),
        activation: str = "relu",
        n_highway: int = 2,
        scale: float = 3.0,
        shift: int = 1,
        head: bool = True,
        **lstm: Any,
    ) -> BiLM:
        encoder: EncoderOptions = LookupOptions(len(WORDS))
        if characters:
            encoder = CharacterOptions(2, filters, n_highway, 8, activation)
        options = Options(encoder, LSTMOptions(**{"dim": 4, "projection_dim": 3, **lstm}), shift)
        rng = np.random.default_rng(seed)
        model = BiLM.initialise(options, rng, Vocabulary(WORDS), dtype)
        parameters = dict(model.parameters)
        for name, value in parameters.items():
            if name.startswith("Cell"):
                value = scale * value
            noise = rng.normal(0.0, 0.1, value.shape)  # no bias stays exactly zero
            parameters[name] = (value + noise).astype(dtype)
        if not head:
            parameters = {k: v for k, v in parameters.items() if not k.startswith("softmax/")}
        return BiLM(options, parameters, Vocabulary(WORDS) if head else None)

    return make


@pytest.fixture(scope="session")
def plain_stack() -> PlainStack:
    """One sentence, token by token, one direction at a time, straight from the equations."""

    def sigmoid(x: FloatArray) -> FloatArray:
        result: FloatArray = 1 / (1 + np.exp(-x))
        return result

    def run(vectors: FloatArray, model: BiLM) -> list[FloatArray]:
        sizes = model.options.lstm
        below = [vectors, vectors]  # by direction, in the order of the sentence
        layers = []
        for layer in range(sizes.n_layers):
            above = []
            for direction in range(2):
                joined = layer > 0 and sizes.joined
                inputs = np.concatenate(below, axis=1) if joined else below[direction]
                kernel, bias, projection = (
                    model.parameters[f"Cell{layer}/{name}"][direction]
                    for name in ("W_0", "B", "W_P_0")
                )
                c, h = np.zeros(sizes.dim), np.zeros(sizes.projection_dim)
                states = np.zeros((len(vectors), sizes.projection_dim))
                places = range(len(vectors))
                for place in places if direction == 0 else reversed(places):
                    gates = np.concatenate([inputs[place], h]) @ kernel + bias
                    i, j, f, o = np.split(gates, 4)
                    c = sigmoid(f + 1.0) * c + sigmoid(i) * np.tanh(j)
                    c = np.clip(c, -sizes.cell_clip, sizes.cell_clip)
                    h = (sigmoid(o) * np.tanh(c)) @ projection
                    h = np.clip(h, -sizes.proj_clip, sizes.proj_clip)
                    states[place] = h
                residual = layer > 0 and sizes.use_skip_connections
                above.append(states + below[direction] if residual else states)
            below = above
            layers.append(np.concatenate(above, axis=1))
        return layers

    return run


@pytest.fixture(scope="session")
def reference() -> Path:
    """Folder of reference vectors: ``$ELMO_REFERENCE``, else ``shared/reference`` beside us."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "reference"
    folder = Path(os.environ.get("ELMO_REFERENCE", beside))
    if not folder.is_dir():
        pytest.skip(
            "comparison with recorded outputs of the original implementation skipped: "
            "set ELMO_REFERENCE to the folder that holds them"
        )
    return folder
