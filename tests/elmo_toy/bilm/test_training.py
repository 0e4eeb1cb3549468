"""Optimisers, clipping, and a loop that is deterministic, interruptible and keeps the best."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from elmo_toy import text
from elmo_toy.bilm import training
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.token_encoder import FloatArray
from elmo_toy.bilm.training import Adagrad, Adam, Corpus, TrainingRun, train
from elmo_toy.text import Batch

MakeModel = Callable[..., BiLM]
SENTENCES = [["the", "river", "flooded"], ["bank"], ["the", "bank"], [], ["the", "zebra"]] * 6


def run(model: BiLM, *, seed: int = 0, **settings: Any) -> TrainingRun:
    corpus = Corpus(model, SENTENCES)
    arguments: dict[str, Any] = {
        "tokens": 600,
        "optimiser": Adam(0.02),
        "batch_size": 8,
        "rng": np.random.default_rng(seed),
    }
    return train(model, corpus, corpus, **(arguments | settings))


@pytest.mark.parametrize("characters", [False, True])
def test_a_batch_of_a_corpus_is_the_batch_of_its_sentences(
    make_model: MakeModel, characters: bool
) -> None:
    model = make_model(characters=characters)
    assert model.vocabulary is not None
    corpus = Corpus(model, SENTENCES)
    rows = np.array([4, 0, 3])
    batch, targets = corpus.batch(rows)
    sentences = [SENTENCES[row] for row in rows]
    assert np.array_equal(targets, text.batch_word_ids(sentences, model.vocabulary))
    expected = model.layers(Batch.from_ids(model.ids(sentences)))
    np.testing.assert_allclose(model.layers(batch).layers, expected.layers, rtol=0, atol=1e-12)
    assert corpus.predictions == sum(len(sentence) + 1 for sentence in SENTENCES)


def test_a_word_with_two_unknown_spellings_gets_both_gradients(make_model: MakeModel) -> None:
    """Two unknown words share the vector of <UNK>: its gradient is the sum over both."""
    model = make_model()
    corpus = Corpus(model, [["zebra", "okapi"]])
    same = Corpus(model, [["<UNK>", "<UNK>"]])
    rows = np.array([0])
    _, first = model.loss_and_gradients(*corpus.batch(rows))
    _, second = model.loss_and_gradients(*same.batch(rows))
    np.testing.assert_allclose(first["embedding"], second["embedding"], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("optimiser", "learning_rate"), [(Adagrad, 0.5), (Adam, 0.02)])
@pytest.mark.parametrize("characters", [False, True])
def test_training_lowers_the_loss(
    make_model: MakeModel,
    optimiser: type[Adagrad] | type[Adam],
    learning_rate: float,
    characters: bool,
) -> None:
    result = run(
        make_model(characters=characters, scale=1.0),
        tokens=4000,
        optimiser=optimiser(learning_rate=learning_rate),
    )
    assert result.history[-1].development.mean < 0.65 * result.history[0].development.mean


def test_one_seed_one_result(make_model: MakeModel) -> None:
    first, same = (run(make_model(dtype=np.float32), seed=5) for _ in range(2))
    other = run(make_model(dtype=np.float32), seed=6)
    assert [point.development for point in first.history] == [
        point.development for point in same.history
    ]
    for name, value in first.model.parameters.items():
        assert np.array_equal(value, same.model.parameters[name])
    assert first.history[-1].development != other.history[-1].development


def test_the_given_model_is_left_as_it_is(make_model: MakeModel) -> None:
    model = make_model()
    before = {name: value.copy() for name, value in model.parameters.items()}
    run(model)
    assert all(np.array_equal(value, before[name]) for name, value in model.parameters.items())


def test_training_stops_on_tokens_and_looks_as_often_as_asked(make_model: MakeModel) -> None:
    result = run(make_model(), tokens=500, evaluations=5)
    assert 500 <= result.tokens < 500 + 8 * 5
    assert [point.tokens >= 100 * number for number, point in enumerate(result.history)] == 6 * [
        True
    ]
    assert np.isnan(result.history[0].training_loss)
    assert not result.interrupted


def test_the_best_parameters_are_kept(make_model: MakeModel) -> None:
    """With an absurd learning rate the first steps ruin the model: the untrained one stays best."""
    model = make_model()
    corpus = Corpus(model, SENTENCES)
    result = run(model, optimiser=Adam(5.0))
    losses = [point.development.mean for point in result.history]
    assert min(losses[1:]) > losses[0]
    assert training.evaluate(result.model, corpus).mean == losses[0]
    good = run(model, optimiser=Adam(0.01))
    best = min(point.development.mean for point in good.history)
    assert training.evaluate(good.model, corpus).mean == best


def test_control_c_returns_what_was_reached(
    make_model: MakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    original = training.clip_by_global_norm

    def interrupted(gradients: dict[str, FloatArray], max_norm: float) -> float:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise KeyboardInterrupt
        return original(gradients, max_norm)

    monkeypatch.setattr(training, "clip_by_global_norm", interrupted)
    result = run(make_model(), tokens=10_000, evaluations=4)
    assert result.interrupted
    assert 0 < result.tokens < 10_000
    assert len(result.history) == 2  # looked at once more, on the way out
    best = min(point.development.mean for point in result.history)
    assert training.evaluate(result.model, Corpus(result.model, SENTENCES)).mean == best


def test_a_loss_that_is_not_finite_stops_with_its_place(make_model: MakeModel) -> None:
    model = make_model()
    model.parameters["softmax/b"][0] = np.nan
    with pytest.raises(FloatingPointError, match="the loss became nan after 0 tokens"):
        run(model)


def test_decay_ends_near_zero_and_restores_the_rate(make_model: MakeModel) -> None:
    rates: list[float] = []

    class Recording(Adam):
        def update(
            self, parameters: dict[str, FloatArray], gradients: dict[str, FloatArray]
        ) -> None:
            rates.append(self.learning_rate)
            super().update(parameters, gradients)

    optimiser = Recording(0.01)
    run(make_model(), optimiser=optimiser, decay=True)
    assert rates[0] == 0.01
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 0.001
    assert optimiser.learning_rate == 0.01


def test_the_progress_bar_reaches_its_end(make_model: MakeModel) -> None:
    screen = io.StringIO()
    run(make_model(), progress=screen)
    assert f"[{'#' * 30}]" in screen.getvalue().split("\r")[-1]
    assert "of 600 tokens" in screen.getvalue()
    assert screen.getvalue().endswith("\n")


@pytest.mark.parametrize("limit", [0.5, 5.0, 50.0])
def test_clipping_keeps_the_direction(limit: float) -> None:
    rng = np.random.default_rng(0)
    gradients: training.Gradients = {"a": rng.normal(size=(3, 4)), "b": rng.normal(size=5)}
    before = np.concatenate([value.ravel() for value in gradients.values()])
    norm = training.clip_by_global_norm(gradients, limit)
    after = np.concatenate([value.ravel() for value in gradients.values()])
    assert norm == pytest.approx(np.linalg.norm(before))
    assert np.linalg.norm(after) == pytest.approx(min(norm, limit))
    np.testing.assert_allclose(after * norm, before * min(norm, limit))


def test_adam_is_algorithm_1() -> None:
    parameters, m, v, p = {"p": np.array([0.5])}, 0.0, 0.0, 0.5
    optimiser = Adam(0.1, 0.8, 0.9, 1e-4)
    for step, g in enumerate((3.0, -1.0, 0.5), start=1):
        optimiser.update(parameters, {"p": np.array([g])})
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g * g
        p -= 0.1 * (m / (1 - 0.8**step)) / ((v / (1 - 0.9**step)) ** 0.5 + 1e-4)
        assert parameters["p"][0] == pytest.approx(p, abs=1e-12)


def test_evaluation_weighs_every_prediction_the_same(make_model: MakeModel) -> None:
    model = make_model()
    corpus = Corpus(model, SENTENCES)
    whole = training.evaluate(model, corpus)
    parts = training.evaluate(model, corpus, batch_size=4)
    assert whole.predictions == parts.predictions == corpus.predictions
    assert whole.mean == pytest.approx(parts.mean, abs=1e-12)


def test_refusals(make_model: MakeModel) -> None:
    with pytest.raises(ValueError, match="model: expected one with a vocabulary"):
        Corpus(make_model(characters=True, head=False), SENTENCES)
    with pytest.raises(TypeError, match="got the string 'the bank'"):
        Corpus(make_model(), "the bank")
    with pytest.raises(ValueError, match="tokens, evaluations: expected at least 1, got 0, 10"):
        run(make_model(), tokens=0)
