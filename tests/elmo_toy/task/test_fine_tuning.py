"""The unfrozen choice: the gradient of one loss through the mixture and the whole biLM."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import BiLM, Options
from elmo_toy.bilm.token_encoder import CharacterOptions, EncoderOptions, LookupOptions
from elmo_toy.bilm.training import Adam
from elmo_toy.gradient_check import central_difference
from elmo_toy.task.data import TaggedText
from elmo_toy.task.fine_tuning import FineTuned, fine_tune
from elmo_toy.task.options import TaggerOptions
from elmo_toy.task.tagger import Tagger
from elmo_toy.task.training import FitOptions, evaluate
from elmo_toy.text import Vocabulary

WORDS = Vocabulary(["<S>", "</S>", "<UNK>", "the", "river", "bank", "loan"])
TEXT = TaggedText(
    [["the", "river", "bank"], ["the", "loan", "bank"], ["bank", "river"], ["bank", "loan"]],
    [[None, None, "water"], [None, None, "money"], ["water", None], ["money", None]],
    ("water", "money"),
)


def make_model(*, characters: bool = False) -> BiLM:
    encoder: EncoderOptions = LookupOptions(len(WORDS))
    if characters:
        encoder = CharacterOptions(2, ((1, 2), (2, 3)), 1, 8)
    options = Options(encoder, LSTMOptions(dim=3, projection_dim=2))
    model = BiLM.initialise(options, np.random.default_rng(0), WORDS, np.float64)
    return BiLM(options, {n: 1.5 * p + 0.01 for n, p in model.parameters.items()}, WORDS)


def make_tagger() -> Tagger:
    options = TaggerOptions(2, 3, 4, len(WORDS), 2, units=2, attach="both")
    return Tagger.initialise(options, np.random.default_rng(1), np.float64)


class Still:
    """An optimiser that takes no step, and remembers what it was given."""

    learning_rate = 0.0

    def __init__(self) -> None:
        self.given: dict[str, np.ndarray] = {}

    def update(self, parameters: dict[str, np.ndarray], gradients: dict[str, np.ndarray]) -> None:
        """Change nothing."""
        self.given = {name: value.copy() for name, value in gradients.items()}


def tune(
    model: BiLM, options: FitOptions, tagger: Tagger | None = None, development: TaggedText = TEXT
) -> FineTuned:
    return fine_tune(
        tagger or make_tagger(), model, TEXT, development, options, optimiser=Adam(0.05),
        model_optimiser=Adam(0.02), rng=np.random.default_rng(0), vocabulary=WORDS,
    )  # fmt: skip


@pytest.mark.parametrize("characters", [False, True])
def test_what_the_optimisers_get_is_the_gradient_of_the_task_loss(characters: bool) -> None:
    """Through recurrent layer, mixtures, boundaries' removal, LSTM stacks and encoder."""
    model, tagger, own, below = make_model(characters=characters), make_tagger(), Still(), Still()
    fine_tune(
        tagger, model, TEXT, TEXT, FitOptions(updates=1, clip_norm=1e9), optimiser=own,
        model_optimiser=below, rng=np.random.default_rng(0), vocabulary=WORDS,
    )  # fmt: skip
    assert own.given.keys() == tagger.parameters.keys()
    assert below.given.keys() == {n for n in model.parameters if not n.startswith("softmax/")}
    for name, gradient in below.given.items():

        def loss(values: np.ndarray, name: str = name) -> np.float64:
            changed = BiLM(model.options, model.parameters | {name: values}, WORDS)
            return np.float64(tagger.loss(TEXT.embedded(changed.embed, WORDS)))

        if name == "char_embed":  # the letters of one word, and one that doesn't occur
            rows = [*b"bankz"]

            def loss(values: np.ndarray, name: str = name) -> np.float64:
                table = model.parameters[name].copy()
                table[[*b"bankz"]] = values
                changed = BiLM(model.options, model.parameters | {name: table}, WORDS)
                return np.float64(tagger.loss(TEXT.embedded(changed.embed, WORDS)))

            measured = central_difference(loss, model.parameters[name][rows], 1e-5)
            gradient = gradient[rows]
        else:
            measured = central_difference(loss, model.parameters[name], 1e-5)
        np.testing.assert_allclose(gradient, measured, rtol=1e-5, atol=2e-9, err_msg=name)
        assert np.abs(measured).max() > 1e-7, f"{name}: a check of zeros checks nothing"


def test_the_bilm_moves_and_the_one_given_does_not() -> None:
    model, tagger = make_model(), make_tagger()
    before = {name: value.tobytes() for name, value in model.parameters.items()}
    found = tune(model, FitOptions(epochs=15, batch_size=2), tagger)
    after = {name: value.tobytes() for name, value in found.model.parameters.items()}
    assert {name: value.tobytes() for name, value in model.parameters.items()} == before
    assert {name for name in after if after[name] == before[name]} == {"softmax/W", "softmax/b"}
    assert found.fit.best.development.accuracy == 1.0


def test_the_kept_model_and_tagger_belong_together() -> None:
    """Development tells the opposite of training, so that the best isn't the last."""
    opposite = replace(TEXT, tags=[TEXT.tags[row] for row in (1, 0, 3, 2)])
    found = tune(make_model(), FitOptions(epochs=10, batch_size=2), development=opposite)
    assert found.fit.best.updates < found.fit.history[-1].updates
    again = evaluate(found.fit.tagger, opposite.embedded(found.model.embed, WORDS))
    assert again.loss == pytest.approx(found.fit.best.development.loss, abs=1e-12)


def test_all_gradients_are_clipped_together() -> None:
    own, below = Still(), Still()
    fine_tune(
        make_tagger(), make_model(), TEXT, TEXT, FitOptions(updates=1, clip_norm=0.01),
        optimiser=own, model_optimiser=below, rng=np.random.default_rng(0), vocabulary=WORDS,
    )  # fmt: skip
    squares = [float((g**2).sum()) for found in (own, below) for g in found.given.values()]
    assert sum(squares) ** 0.5 == pytest.approx(0.01)


def test_a_generator_is_needed() -> None:
    nothing: Any = None
    with pytest.raises(TypeError, match="rng: expected a numpy Generator, got None"):
        fine_tune(
            make_tagger(), make_model(), TEXT, TEXT, FitOptions(updates=1), optimiser=Still(),
            model_optimiser=Still(), rng=nothing, vocabulary=WORDS,
        )  # fmt: skip
