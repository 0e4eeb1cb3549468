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


class Idle(Adam):
    """Moves the vector of *river* alone."""

    def update(self, parameters: dict[str, FloatArray], gradients: dict[str, FloatArray]) -> None:
        """Move it by 1, whatever the gradients say."""
        parameters["embedding"][4] += 1


def test_of_models_that_are_equally_good_the_first_is_the_best(make_model: MakeModel) -> None:
    """No sentence has the word that moves, so the loss stays the same to the bit."""
    model = make_model()
    corpus = Corpus(model, [["the"], ["bank"]] * 8)
    rng = np.random.default_rng(0)
    result = train(model, corpus, corpus, tokens=100, optimiser=Idle(0.02), rng=rng)
    assert len({point.development.mean for point in result.history}) == 1
    assert len(result.history) > 2
    assert result.best_tokens == 0
    np.testing.assert_array_equal(
        result.model.parameters["embedding"], model.parameters["embedding"]
    )


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


def test_a_gradient_that_overflows_leaves_what_was_reached(
    make_model: MakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, original = iter(range(100)), training.clip_by_global_norm

    def overflowing(gradients: dict[str, FloatArray], max_norm: float) -> float:
        if next(calls) == 20:
            gradients["softmax/b"][0] = np.inf
        return original(gradients, max_norm)

    monkeypatch.setattr(training, "clip_by_global_norm", overflowing)
    message = r"gradients\['softmax/b'\]: expected finite numbers, got inf, after \d+ tokens"
    with pytest.raises(training.DivergedError, match=message) as caught:
        run(make_model(), tokens=10_000, evaluations=100)
    assert len(caught.value.run.history) > 1


def test_a_gradient_of_another_shape_is_no_divergence(
    make_model: MakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lower learning rate would be no help."""

    def reshaping(gradients: dict[str, FloatArray], max_norm: float) -> float:
        gradients["softmax/b"] = gradients["softmax/b"][:1]
        return max_norm

    monkeypatch.setattr(training, "clip_by_global_norm", reshaping)
    with pytest.raises(ValueError, match="expected floats of the parameter's shape") as caught:
        run(make_model())
    assert not isinstance(caught.value, FloatingPointError)


class Recording(Adam):
    """Notes the learning rate and the gradients' norm of every step; at step ``poison``, spoils."""

    def __init__(self, learning_rate: float, poison: int | None = None) -> None:
        super().__init__(learning_rate)
        self.rates: list[float] = []
        self.norms: list[float] = []
        self.poison = poison

    def update(self, parameters: dict[str, FloatArray], gradients: dict[str, FloatArray]) -> None:
        """Note, step, and spoil if it is time."""
        self.rates.append(self.learning_rate)
        self.norms.append(float(np.sqrt(sum((g * g).sum() for g in gradients.values()))))
        super().update(parameters, gradients)
        if len(self.rates) == self.poison:
            parameters["softmax/b"][0] = np.nan


def test_a_loss_that_is_not_finite_stops_with_its_place(make_model: MakeModel) -> None:
    with pytest.raises(FloatingPointError, match=r"the loss became nan after \d+ tokens"):
        run(make_model(), optimiser=Recording(0.01, poison=1))
    model = make_model()
    model.parameters["softmax/b"][0] = np.nan
    with pytest.raises(FloatingPointError, match=r"model: expected a finite loss on the .* nan"):
        run(model)


def test_a_loss_that_is_not_finite_leaves_the_best_model(make_model: MakeModel) -> None:
    """The exception carries what the run would have returned, had it ended there."""
    optimiser = Recording(0.02, poison=30)
    with pytest.raises(training.DivergedError) as caught:
        run(make_model(), tokens=10_000, evaluations=100, optimiser=optimiser)
    found = caught.value.run
    assert len(optimiser.rates) == 30
    assert not found.interrupted
    assert found.seconds > 0
    assert found.best_tokens > 0
    losses = [point.development.mean for point in found.history]
    losses = [loss for loss in losses if np.isfinite(loss)]
    assert min(losses) < losses[0]
    assert training.evaluate(found.model, Corpus(found.model, SENTENCES)).mean == min(losses)
    assert optimiser.learning_rate == 0.02


def test_decay_is_linear_ends_near_zero_and_restores_the_rate(make_model: MakeModel) -> None:
    """With sentences of one length every step sees as many tokens, so the rates lie on a line."""
    model, optimiser = make_model(), Recording(0.01)
    corpus = Corpus(model, [["the", "bank"]] * 24)
    train(
        model,
        corpus,
        corpus,
        tokens=600,
        optimiser=optimiser,
        batch_size=8,
        rng=np.random.default_rng(0),
        decay=True,
    )
    np.testing.assert_allclose(optimiser.rates, np.linspace(0.01, 0, 26)[:-1], atol=1e-15)
    assert optimiser.learning_rate == 0.01
    constant = Recording(0.01)
    run(make_model(), optimiser=constant)
    assert set(constant.rates) == {0.01}


@pytest.mark.parametrize("clip_norm", [0.01, 0.3])
def test_no_step_takes_gradients_longer_than_asked(make_model: MakeModel, clip_norm: float) -> None:
    optimiser, free = Recording(0.01), Recording(0.01)
    run(make_model(), optimiser=optimiser, clip_norm=clip_norm)
    run(make_model(), optimiser=free, clip_norm=1e9)
    assert min(free.norms) > 0.3  # all are clipped
    np.testing.assert_allclose(optimiser.norms, clip_norm, rtol=1e-12)


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


@pytest.mark.parametrize(
    ("dtype", "size"),
    [(np.float32, 1e20), (np.float32, 1e-30), (np.float64, 1e200), (np.float64, 1e-300)],
)
def test_clipping_keeps_the_direction_where_squares_leave_the_dtype(
    dtype: type[np.floating[Any]], size: float
) -> None:
    rng = np.random.default_rng(0)
    shape = {"a": rng.normal(size=(3, 4)), "b": rng.normal(size=5)}
    gradients: training.Gradients = {name: (g * size).astype(dtype) for name, g in shape.items()}
    length = float(np.sqrt(sum((g * g).sum() for g in shape.values())))
    assert training.clip_by_global_norm(gradients, size) == pytest.approx(length * size, rel=1e-6)
    for name, value in gradients.items():
        np.testing.assert_allclose(value / size, shape[name] / length, rtol=1e-5)


def test_a_norm_beyond_float64_is_clipped_too() -> None:
    gradients: training.Gradients = {"a": np.full(4, 1.7e308)}
    assert training.clip_by_global_norm(gradients, 1.0) == np.inf
    np.testing.assert_allclose(gradients["a"], 0.5)


@pytest.mark.parametrize(
    ("gradient", "max_norm", "message"),
    [
        (np.ones(2), -1.0, "max_norm: expected above 0, got -1.0"),
        (np.ones(2), 0.0, "max_norm: expected above 0, got 0.0"),
        (np.ones(2), np.nan, "max_norm: expected above 0, got nan"),
        (np.array([1.0, np.inf]), 1.0, r"gradients\['b'\]: expected finite numbers, got .*inf"),
        (np.array([1.0, np.nan]), 1.0, r"gradients\['b'\]: expected finite numbers, got .*nan"),
        (np.ones(2, int), 1.0, r"gradients\['b'\]: expected floats, got int64"),
    ],
)
def test_clipping_refuses_by_name_and_scales_nothing(
    gradient: FloatArray, max_norm: float, message: str
) -> None:
    gradients = {"a": np.full(2, 5.0), "b": gradient}
    with pytest.raises(ValueError, match=message):
        training.clip_by_global_norm(gradients, max_norm)
    assert gradients["a"].tolist() == [5.0, 5.0]


@pytest.mark.parametrize("optimiser", [Adagrad, Adam])
@pytest.mark.parametrize(
    ("gradient", "error", "message"),
    [
        ({"b": np.ones(2)}, ValueError, r"'b'\]: .* shape \(2, 2\), got float64 of shape \(2,\)"),
        ({"b": np.ones((2, 2), int)}, ValueError, r"'b'\]: expected floats .*got int64"),
        ({"b": np.full((2, 2), np.nan)}, ValueError, r"'b'\]: expected finite numbers.*size nan"),
        (
            {"b": np.full((2, 2), 3e30, np.float32)},
            ValueError,
            r"within float32.* size 2\.99.*e\+30",
        ),
        ({"c": np.ones((2, 2))}, KeyError, "expected names of parameters, got 'c'"),
    ],
)
def test_an_optimiser_refuses_by_name_and_moves_nothing(
    optimiser: type[Adagrad] | type[Adam],
    gradient: dict[str, FloatArray],
    error: type[Exception],
    message: str,
) -> None:
    steps, fresh = optimiser(), optimiser()
    ones: dict[str, FloatArray] = {"a": np.ones(3), "b": np.ones((2, 2), np.float32)}
    parameters, same = ({name: value.copy() for name, value in ones.items()} for _ in range(2))
    with pytest.raises(error, match=message):
        steps.update(parameters, {"a": np.ones(3)} | gradient)
    for each, values in ((steps, parameters), (fresh, same)):  # nor does it remember anything
        each.update(values, ones)
    for name, value in same.items():
        assert np.array_equal(parameters[name], value)


def test_squares_whose_sum_alone_overflows_are_fine() -> None:
    gradient = np.full(4, 1.5e19, np.float32)  # each square is 2.25e38 of float32's 3.4e38
    parameters = {"p": np.zeros(4, np.float32)}
    Adam(0.1).update(parameters, {"p": gradient})
    np.testing.assert_allclose(parameters["p"], -0.1, rtol=1e-5)
    adagrad = Adagrad(0.1)
    adagrad.update(parameters, {"p": gradient})
    np.testing.assert_allclose(parameters["p"], -0.2, rtol=1e-5)
    with pytest.raises(ValueError, match="with all earlier ones"):  # else it stood still ever after
        adagrad.update(parameters, {"p": gradient})


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


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"tokens": 0}, ValueError, "tokens: expected at least 1, got 0"),
        ({"tokens": 1e5}, TypeError, "tokens: expected an integer, got 100000.0"),
        ({"evaluations": -1}, ValueError, "evaluations: expected at least 1, got -1"),
        ({"batch_size": None}, TypeError, "batch_size: expected an integer, got None"),
        ({"clip_norm": 0}, ValueError, "clip_norm: expected a finite number above 0, got 0"),
        ({"clip_norm": -1.0}, ValueError, "clip_norm: expected a finite number above 0, got -1"),
        ({"clip_norm": np.nan}, ValueError, "clip_norm: expected a finite number above 0, got n"),
        ({"clip_norm": None}, TypeError, "clip_norm: expected a number, got None"),
        ({"rng": None}, TypeError, "rng: expected a numpy Generator, got None"),
        ({"rng": 3}, TypeError, "rng: expected a numpy Generator, got 3"),
    ],
)
def test_odd_settings_are_refused_by_name(
    make_model: MakeModel, settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run(make_model(), **settings)


@pytest.mark.parametrize("optimiser", [Adagrad, Adam])
@pytest.mark.parametrize("rate", [-0.1, 0.0, np.nan, np.inf])
def test_a_learning_rate_is_above_0(optimiser: type[Adagrad] | type[Adam], rate: float) -> None:
    with pytest.raises(ValueError, match=f"learning_rate: expected a finite .* got {rate}"):
        optimiser(learning_rate=rate)
    with pytest.raises(TypeError, match="learning_rate: expected a number, got 'fast'"):
        optimiser(learning_rate="fast")  # type: ignore[arg-type]  # wrong on purpose


def test_the_optimisers_other_numbers_have_their_ranges() -> None:
    for beta in ("beta1", "beta2"):
        for value in (-0.1, 1.0, np.nan):
            with pytest.raises(ValueError, match=f"{beta}: expected at least 0 .* got {value}"):
                Adam(**{beta: value})
    with pytest.raises(ValueError, match="epsilon: expected a finite number above 0, got 0"):
        Adam(epsilon=0)
    with pytest.raises(ValueError, match="initial_accumulator: expected a finite number above 0"):
        Adagrad(initial_accumulator=0)


def test_targets_are_word_ids(make_model: MakeModel) -> None:
    """As wrong in evaluating as in training; the largest id that there is counts as right."""
    model = make_model()
    batch, targets = Corpus(model, [["the", "bank"]]).batch(np.array([0]))
    for call in (model.loss, model.loss_and_gradients):
        call(batch, np.where(targets == 4, 7, targets))
        with pytest.raises(ValueError, match=r"targets: expected word ids up to 7 .* got 8"):
            call(batch, np.where(targets == 4, 8, targets))
        with pytest.raises(ValueError, match="targets: expected a word id"):
            call(batch, np.where(targets == 4, 0, targets))
        with pytest.raises(TypeError, match="targets: expected integers, got float64"):
            call(batch, targets.astype(float))
