"""Fitting: what moves and what doesn't, when it stops, which tagger is kept, the trace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from elmo_toy import toy_language
from elmo_toy._checks import Array
from elmo_toy.bilm import load_pretrained
from elmo_toy.bilm.training import Adam
from elmo_toy.scalar_mix import softmax
from elmo_toy.task import training
from elmo_toy.task.combine import CombinerOptions
from elmo_toy.task.data import UNLABELLED, Tagged, TaggedText
from elmo_toy.task.options import Attach, TaggerOptions
from elmo_toy.task.tagger import Tagger
from elmo_toy.task.training import Fit, FitOptions, evaluate, fit


def draw(n: int = 24, seed: int = 0) -> Tagged:
    """The middle one of three layers knows the tag; the others are noise."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 5, n)
    mask = np.arange(4) < lengths[:, None]
    tags = rng.integers(0, 2, (n, 4))
    layers = rng.normal(size=(n, 3, 4, 2))
    layers[:, 1, :, 0] += 4 * tags
    return Tagged(
        layers,
        mask,
        np.where(mask, tags, UNLABELLED),
        np.where(mask, rng.integers(1, 5, (n, 4)), 0),
    )


OPTIONS = TaggerOptions(n_tags=2, n_layers=3, dim=2, n_words=4, word_dim=2, units=3, dropout=0.1)
DATA, DEVELOPMENT = draw(), draw(seed=1)


def run(
    options: FitOptions | None = None, *, seed: int = 0, rate: float = 0.05, trace: bool = False,
    **settings: Any,
) -> Fit:  # fmt: skip
    rng = np.random.default_rng(seed)
    tagger = Tagger.initialise(replace(OPTIONS, **settings), rng, np.float64)
    options = options or FitOptions(epochs=10, batch_size=8)
    return fit(tagger, DATA, DEVELOPMENT, options, optimiser=Adam(rate), rng=rng, trace=trace)


# Who moves


@pytest.mark.parametrize("attach", ["input", "both"])
def test_the_extractor_is_the_same_to_the_byte_and_the_task_learned(attach: Attach) -> None:
    """The comparison would see one flipped bit: so it does for the task's own parameters."""
    model = load_pretrained("toy-language")
    sentences = toy_language.make_corpus(train=1, development=1, labelled=2, test=1).labelled
    text = TaggedText(
        [s.tokens for s in sentences], [s.senses for s in sentences], tuple(toy_language.DOMAINS)
    )
    data = text.embedded(model.embed, model.vocabulary)
    rng = np.random.default_rng(0)
    words = len(toy_language.vocabulary())
    tagger = Tagger.initialise(TaggerOptions(7, 3, 64, words, 4, units=4, attach=attach), rng)

    def bytes_of(parameters: dict[str, np.ndarray]) -> dict[str, bytes]:
        return {name: value.tobytes() for name, value in parameters.items()}

    frozen, layers, untrained = (
        bytes_of(model.parameters), data.layers.tobytes(), bytes_of(tagger.parameters),
    )  # fmt: skip
    found = fit(tagger, data, data, FitOptions(updates=3), optimiser=Adam(0.01), rng=rng)
    assert bytes_of(model.parameters) == frozen
    assert data.layers.tobytes() == layers
    assert bytes_of(tagger.parameters) == untrained
    learned = bytes_of(found.tagger.parameters)
    assert [name for name in learned if learned[name] == untrained[name]] == []


def test_what_is_fixed_stays_fixed() -> None:
    for combiner in (
        CombinerOptions("equal", gamma=1.5, learn_gamma=False),
        CombinerOptions("layer", layer=1, learn_gamma=False),
    ):
        found = run(combiner=combiner, trace=True)
        mixture = found.mixtures["input"]
        assert np.ptp(mixture.weights, axis=0).max() == 0
        assert np.ptp(mixture.gamma) == 0
        assert not [name for name in found.tagger.parameters if name.startswith("input/")]
    found = run(combiner=CombinerOptions("layer", layer=1), trace=True)
    assert np.ptp(found.mixtures["input"].gamma) > 0


def test_it_learns_the_tags_and_which_layer_knows_them() -> None:
    found = run(FitOptions(epochs=40, batch_size=8))
    assert found.history[0].development.accuracy < 0.8
    assert found.best.development.accuracy > 0.9
    assert found.tagger.combiner("input").weights.argmax() == 1


# How long, and which is kept


def test_the_same_seed_gives_the_same_run_and_another_another() -> None:
    first, again, other = run(), run(), run(seed=1)
    assert [p.development for p in first.history] == [p.development for p in again.history]
    for name, value in first.tagger.parameters.items():
        assert np.array_equal(value, again.tagger.parameters[name])
    assert first.best != other.best


@pytest.mark.parametrize(
    ("options", "updates"),
    [
        (FitOptions(epochs=2, batch_size=8, evaluations=6), [0, 1, 2, 3, 4, 5, 6]),
        (FitOptions(epochs=2, batch_size=8, evaluations=2), [0, 3, 6]),
        (FitOptions(updates=5, batch_size=8, evaluations=2), [0, 3, 5]),
        (FitOptions(updates=4, batch_size=24, evaluations=1), [0, 4]),
        (FitOptions(updates=2, batch_size=8, evaluations=9), [0, 1, 2]),
    ],
    ids=str,
)
def test_it_takes_so_many_updates_and_looks_so_often(
    options: FitOptions, updates: list[int]
) -> None:
    found = run(options, trace=True)
    assert [point.updates for point in found.history] == updates
    assert np.isnan(found.history[0].training_loss)
    assert all(np.isfinite(point.training_loss) for point in found.history[1:])
    assert found.mixtures["input"].weights.shape == (updates[-1] + 1, 3)


@pytest.mark.parametrize("select", ["loss", "accuracy"])
def test_the_best_by_development_is_kept_not_the_last(select: Any) -> None:
    """At a rate that overfits and jumps about; the kept tagger has the score that is claimed."""
    found = run(FitOptions(epochs=30, batch_size=4, evaluations=60, select=select), rate=0.3)
    evaluations = [point.development for point in found.history]
    if select == "loss":
        assert found.best.development.loss == min(e.loss for e in evaluations)
    else:
        highest = max(e.accuracy for e in evaluations)
        ties = [e.loss for e in evaluations if e.accuracy == highest]
        assert found.best.development.accuracy == highest
        assert found.best.development.loss == min(ties)
    assert found.best.updates < found.history[-1].updates
    assert evaluate(found.tagger, DEVELOPMENT) == found.best.development


# The mixture's way


def test_the_trace_begins_at_equal_weights_and_ends_where_training_did() -> None:
    found = run(FitOptions(updates=6, batch_size=8, evaluations=1), attach="both", trace=True)
    assert found.best.updates == 6  # so the kept tagger is the last
    assert list(found.mixtures) == ["input", "output"]
    for place, mixture in found.mixtures.items():
        np.testing.assert_allclose(mixture.weights[0], 1 / 3)
        assert mixture.gamma[0] == 1
        logits = found.tagger.parameters[f"{place}/logits"]
        assert np.array_equal(mixture.weights[-1], softmax(logits))
        assert mixture.gamma[-1] == found.tagger.parameters[f"{place}/gamma"][0]
        np.testing.assert_allclose(mixture.weights.sum(axis=1), 1)
        assert np.abs(np.diff(mixture.weights, axis=0)).max() > 0
    assert run().mixtures == {}
    concatenated = run(combiner=CombinerOptions("concatenation"), trace=True)
    assert concatenated.mixtures == {}


def test_the_penalty_pulls_the_weights_together() -> None:
    spreads = []
    for penalty in (0.0, 0.1, 10.0):
        found = run(FitOptions(epochs=40, batch_size=8, penalty=penalty, evaluations=1), trace=True)
        spreads.append(float(np.ptp(found.mixtures["input"].weights[-1])))
    assert spreads[0] > spreads[1] > spreads[2]


def test_the_penalty_is_part_of_the_training_loss_but_not_of_development() -> None:
    tagger = Tagger.initialise(OPTIONS, np.random.default_rng(0), np.float64)
    tagger.parameters["input/logits"][:] = [1.0, 0.0, -1.0]
    plain, penalised = (
        fit(
            tagger, DATA, DEVELOPMENT, FitOptions(updates=1, batch_size=24, penalty=penalty),
            optimiser=Adam(0.01), rng=np.random.default_rng(0),
        ).history
        for penalty in (0.0, 5.0)
    )  # fmt: skip
    assert penalised[1].training_loss == pytest.approx(plain[1].training_loss + 5.0 * 2)
    assert penalised[0].development == plain[0].development


# Evaluation, refusals


def test_an_evaluation_counts_every_labelled_token_once() -> None:
    tagger = run().tagger
    whole = tagger.log_probabilities(DATA)
    asked = DATA.tags >= 0
    right = whole.argmax(axis=2)[asked] == DATA.tags[asked]
    for batch_size in (1, 5, 100):
        found = evaluate(tagger, DATA, batch_size)
        assert found.labelled == asked.sum()
        assert found.accuracy == right.mean()
        assert found.loss == pytest.approx(tagger.loss(DATA), abs=1e-12)
    with pytest.raises(ValueError, match="data: expected some labelled tokens, got none"):
        evaluate(tagger, replace(DATA, tags=np.full_like(DATA.tags, UNLABELLED)))


def test_a_loss_that_runs_away_stops_the_run() -> None:
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(FloatingPointError, match=r"the loss became (nan|inf) after \d+ updates"),
    ):
        run(rate=1e200, recurrent_layers=0, combiner=CombinerOptions("free"))


def test_a_development_loss_that_is_no_number_stops_the_run() -> None:
    """NaN would stay the best for ever: nothing is lower."""
    free = Tagger.initialise(
        replace(OPTIONS, combiner=CombinerOptions("free")), np.random.default_rng(0), np.float64
    )
    free.parameters["softmax/b"][:] = np.nan
    with pytest.raises(FloatingPointError, match="development data is nan after 0 updates"):
        fit(
            free, DATA, DEVELOPMENT, FitOptions(epochs=1),
            optimiser=Adam(0.1), rng=np.random.default_rng(0),
        )  # fmt: skip


def test_a_generator_is_needed() -> None:
    """Without one, sentences would keep their order and dropout would be off, silently."""
    tagger = Tagger.initialise(OPTIONS, np.random.default_rng(0), np.float64)
    others: list[Any] = [None, 3, np.random]
    for rng in others:
        with pytest.raises(TypeError, match="rng: expected a numpy Generator, got"):
            fit(tagger, DATA, DATA, FitOptions(updates=1), optimiser=Adam(), rng=rng)


def test_control_c_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """No result is better than one that was cut off: a table would hold it."""
    steps = 0

    def clip(gradients: dict[str, Array], max_norm: float) -> float:
        nonlocal steps
        steps += 1
        if steps == 3:
            raise KeyboardInterrupt
        return 0.0

    monkeypatch.setattr(training, "clip_by_global_norm", clip)
    with pytest.raises(KeyboardInterrupt):
        run()
    assert steps == 3


def test_data_without_sentences_or_with_other_tags_are_named() -> None:
    rng = np.random.default_rng(0)
    tagger = Tagger.initialise(OPTIONS, rng, np.float64)
    nothing = DATA.rows(np.zeros(0, dtype=np.int64))
    for options in (FitOptions(epochs=1), FitOptions(updates=3)):
        with pytest.raises(ValueError, match="data: expected some sentences to train on, got none"):
            fit(tagger, nothing, DEVELOPMENT, options, optimiser=Adam(0.1), rng=rng)
    with pytest.raises(ValueError, match="data: expected tags below 2, got 2"):
        evaluate(tagger, replace(DATA, tags=np.where(DATA.tags == 1, 2, DATA.tags)))


def test_the_optimiser_gets_gradients_of_no_more_than_the_clip_norm() -> None:
    norms: list[float] = []

    class Watching(Adam):
        def update(self, parameters: dict[str, Array], gradients: dict[str, Array]) -> None:
            norms.append(float(np.sqrt(sum((g**2).sum() for g in gradients.values()))))
            super().update(parameters, gradients)

    rng = np.random.default_rng(0)
    tagger = Tagger.initialise(OPTIONS, rng, np.float64)
    options = FitOptions(updates=4, clip_norm=0.01)
    fit(tagger, DATA, DEVELOPMENT, options, optimiser=Watching(0.01), rng=rng)
    np.testing.assert_allclose(norms, 0.01, rtol=1e-6)


def test_of_equal_accuracies_the_lower_loss_is_the_best() -> None:
    """A softmax that only grows more certain: every point tells the same tags."""
    found = run(FitOptions(updates=6, evaluations=6, select="accuracy"), rate=1e-4)
    accuracies = {point.development.accuracy for point in found.history}
    losses = [point.development.loss for point in found.history]
    assert len(accuracies) == 1
    assert found.best.development.loss == min(losses) < losses[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "epochs, updates: expected one of them, got None and None"),
        ({"epochs": 1, "updates": 1}, "expected one of them, got 1 and 1"),
        ({"epochs": 0}, "epochs: expected at least 1, got 0"),
        ({"epochs": 1, "batch_size": 0}, "batch_size: expected at least 1, got 0"),
        ({"epochs": 1, "clip_norm": 0.0}, "clip_norm: expected above 0, got 0.0"),
        ({"epochs": 1, "penalty": -1.0}, "penalty: expected 0 or more, got -1.0"),
        ({"epochs": 1, "select": "f1"}, "select: expected 'loss' or 'accuracy', got 'f1'"),
    ],
    ids=str,
)
def test_options_that_cannot_be_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FitOptions(**settings)
