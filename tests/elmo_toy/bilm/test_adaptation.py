"""Adapting helps on the second domain, costs on the first, and leaves what it was given alone."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from elmo_toy.bilm import load_pretrained, training
from elmo_toy.bilm.adaptation import Adaptation, adapt, frozen
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.token_encoder import FloatArray
from elmo_toy.bilm.training import Adam, Corpus, evaluate
from elmo_toy.toy_language import Sentence, make_corpus, make_reports

MakeModel = Callable[..., BiLM]
FIRST = [["the", "river", "flooded"], ["the", "bank"], ["the", "river"]] * 4
SECOND = [["bank", "the", "the"], ["flooded", "river", "the"], ["bank", "bank"]] * 4


def run(model: BiLM, **settings: Any) -> Adaptation:
    arguments: dict[str, Any] = {
        "development": SECOND[:6],
        "first_domain": FIRST,
        "second_domain": SECOND,
        "tokens": 600,
        "batch_size": 4,
        "learning_rate": 0.02,
        "rng": np.random.default_rng(0),
    }
    return adapt(model, SECOND, **(arguments | settings))


@pytest.fixture(scope="module")
def toy() -> tuple[BiLM, Adaptation, dict[str, list[tuple[str, ...]]]]:
    """The shipped model, its own language's held-out text, and reports."""

    def tokens(sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
        return [sentence.tokens for sentence in sentences]

    corpus, reports = make_corpus(train=0, labelled=0, test=0, development=200), make_reports()
    model = load_pretrained("toy-language")
    texts = {
        "first_domain": tokens(corpus.development),
        "second_domain": tokens(reports.test[:200]),
    }
    result = adapt(
        model,
        tokens(reports.train),
        tokens(reports.development[:200]),
        rng=np.random.default_rng(0),
        **texts,
    )
    return model, result, texts


def test_reports_are_strange_to_the_shipped_model_and_familiar_to_the_adapted_one(
    toy: tuple[BiLM, Adaptation, Any],
) -> None:
    _, result, _ = toy
    before, after = result.before, result.after
    assert before.second.perplexity > 10 * before.first.perplexity
    assert after.second.perplexity < before.second.perplexity / 10
    assert after.second.perplexity < 1.2 * before.first.perplexity
    # forgotten in part: worse than it was, far better than what it had never read
    assert 1.5 * before.first.perplexity < after.first.perplexity
    assert after.first.perplexity < before.second.perplexity / 3


def test_the_losses_are_those_of_the_two_models(toy: tuple[BiLM, Adaptation, Any]) -> None:
    model, result, texts = toy
    for which, losses in ((model, result.before), (result.model, result.after)):
        for loss, name in zip(losses, ("first_domain", "second_domain"), strict=True):
            assert loss == evaluate(which, Corpus(which, texts[name]))
    assert result.gain == result.before.second.perplexity / result.after.second.perplexity
    assert result.forgetting == result.after.first.perplexity / result.before.first.perplexity


@pytest.mark.parametrize("characters", [False, True])
def test_the_given_model_is_untouched_and_the_other_one_frozen(
    make_model: MakeModel, characters: bool
) -> None:
    model = make_model(characters=characters, scale=1.0)
    before = {name: value.copy() for name, value in model.parameters.items()}
    result = run(model)
    assert result.after.second.mean < result.before.second.mean
    for name, value in model.parameters.items():
        assert np.array_equal(value, before[name])
        assert value.flags.writeable
    changed = [n for n, v in result.model.parameters.items() if not np.array_equal(v, before[n])]
    assert changed == list(before)
    with pytest.raises(ValueError, match="read-only"):
        Adam(0.1).update(result.model.parameters, before)
    assert result.model.vocabulary is model.vocabulary
    assert result.model.options == model.options


def test_a_frozen_model_computes_the_same_and_shares_nothing(make_model: MakeModel) -> None:
    model = make_model()
    still = frozen(model)
    np.testing.assert_array_equal(still.embed(FIRST).layers, model.embed(FIRST).layers)
    model.parameters["Cell0/B"] += 1
    assert not np.array_equal(still.parameters["Cell0/B"], model.parameters["Cell0/B"])


def test_the_measured_text_is_not_trained_on(make_model: MakeModel) -> None:
    """Other text to measure, the same model."""
    first, other = (
        run(make_model(), first_domain=text, second_domain=text) for text in (FIRST, SECOND[:1])
    )
    for name, value in first.model.parameters.items():
        assert np.array_equal(value, other.model.parameters[name])


def test_the_best_on_the_development_text_is_returned_be_it_the_given_one(
    make_model: MakeModel,
) -> None:
    model = run(make_model(scale=1.0), tokens=3_000).model
    result = run(model, learning_rate=5.0)
    assert result.run.best_tokens == 0
    assert result.after == result.before


def test_adapting_again_goes_on_from_there(make_model: MakeModel) -> None:
    once = run(make_model(scale=1.0))
    twice = run(once.model)
    assert twice.before == once.after
    assert twice.after.second.mean < once.after.second.mean


def test_settings_reach_the_training(
    make_model: MakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}
    train = training.train

    def noting(*arguments: Any, **settings: Any) -> training.TrainingRun:
        seen.update(settings)
        return train(*arguments, **settings)

    monkeypatch.setattr("elmo_toy.bilm.adaptation.train", noting)
    screen = io.StringIO()
    settings: dict[str, Any] = {"tokens": 70, "batch_size": 3, "clip_norm": 2.5, "evaluations": 2}
    run(make_model(), progress=screen, **settings)
    assert {name: seen[name] for name in settings} == settings
    assert seen["decay"]
    assert seen["optimiser"].learning_rate == 0.02
    assert "of 70 tokens" in screen.getvalue()


def test_control_c_returns_what_was_reached(
    make_model: MakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0

    def clip(gradients: dict[str, FloatArray], max_norm: float) -> float:
        nonlocal steps
        steps += 1
        if steps == 9:
            raise KeyboardInterrupt
        return 0.0

    monkeypatch.setattr(training, "clip_by_global_norm", clip)
    result = run(make_model(scale=1.0), tokens=10_000)
    assert result.run.interrupted
    assert result.after.second.mean < result.before.second.mean


def test_a_generator_is_needed(make_model: MakeModel) -> None:
    """Without one, the sentences would keep their order in every epoch, silently."""
    with pytest.raises(TypeError, match="rng: expected a numpy Generator, got None"):
        run(make_model(), rng=None)


def test_wrong_text_is_refused_before_training(make_model: MakeModel) -> None:
    for name in ("development", "first_domain", "second_domain"):
        with pytest.raises(ValueError, match="sentences: expected at least one sentence"):
            run(make_model(), **{name: []})
    with pytest.raises(ValueError, match="model: expected one with a vocabulary"):
        run(make_model(characters=True, head=False))
