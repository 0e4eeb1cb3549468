"""What a neighbour changes, and that a trained tagger's variants change one thing."""

from __future__ import annotations

import numpy as np
import pytest

from elmo_toy.bilm import load_pretrained
from elmo_toy.task.combine import CombinerOptions
from elmo_toy.task.data import Tagged
from elmo_toy.task.occlusion import occlude
from elmo_toy.task.options import TaggerOptions
from elmo_toy.task.tagger import Tagger
from elmo_toy.task.training import evaluate
from elmo_toy.task.variants import losses_by_gamma, scaled, with_weights
from elmo_toy.text import batch_word_ids

SENTENCE = ["the", "fisherman", "sees", "the", "muddy", "bank", "today"]


def test_occlusion_equals_replacing_each_word_by_hand() -> None:
    model = load_pretrained("toy-language")
    found = occlude(model.embed, SENTENCE, 5)
    weights, gamma = np.array([0.2, 0.3, 0.5]), -2.0
    before = model.embed([SENTENCE]).layers[0, :, 5]
    for place in range(len(SENTENCE)):
        changed = [*SENTENCE]
        if place != 5:
            changed[place] = "<UNK>"
        after = model.embed([changed]).layers[0, :, 5]
        expected = np.linalg.norm(gamma * weights @ (after - before))
        assert found.moved(weights, gamma)[place] == pytest.approx(expected, abs=1e-4)
    assert found.moved(weights)[5] == 0
    assert found.moved([1.0, 0.0, 0.0]).max() < 1e-6  # the token layer looks at no neighbour
    assert found.sentences[5] == tuple(SENTENCE)


def test_each_place_may_have_a_replacement_of_its_own() -> None:
    model = load_pretrained("toy-language")
    others = ["a", "b", "c", "d", "e", "f", "g"]
    rows = occlude(model.embed, SENTENCE, 5, others).sentences
    assert [row[place] for place, row in enumerate(rows)] == [*others[:5], "bank", "g"]
    same = occlude(model.embed, SENTENCE, 5, 7 * ["this"])
    assert same.sentences == occlude(model.embed, SENTENCE, 5, "this").sentences


def test_the_change_of_the_tag_is_the_taggers_own() -> None:
    model = load_pretrained("toy-language")
    assert model.vocabulary is not None
    words = len(model.vocabulary)
    tagger = Tagger.initialise(TaggerOptions(3, 3, 64, words, 2, units=2), np.random.default_rng(0))
    found = occlude(model.embed, SENTENCE, 5, "this")
    changes = found.log_probability_changes(tagger, 1, model.vocabulary)

    def log_p(tokens: list[str]) -> float:
        layers, mask = model.embed([tokens])
        assert model.vocabulary is not None
        ids = batch_word_ids([tokens], model.vocabulary, boundaries=False)
        data = Tagged(layers, mask, np.full(mask.shape, -1), ids)
        return float(tagger.log_probabilities(data)[0, 5, 1])

    for place in (0, 1, 6):
        changed = [*SENTENCE]
        changed[place] = "this"
        assert changes[place] == pytest.approx(log_p(changed) - log_p(SENTENCE), abs=1e-5)
    assert changes[5] == 0
    assert np.abs(changes).max() > 1e-3


def test_an_occlusion_that_cannot_be_is_refused() -> None:
    model = load_pretrained("toy-language")
    with pytest.raises(ValueError, match="target: expected 0 to 6, got 7"):
        occlude(model.embed, SENTENCE, 7)
    with pytest.raises(TypeError, match="got the string 'the bank'"):
        occlude(model.embed, "the bank", 0)
    with pytest.raises(ValueError, match="replacement: expected one for each of 7, got 2"):
        occlude(model.embed, SENTENCE, 5, ["this", "that"])
    with pytest.raises(ValueError, match=r"weights: expected 3, one a layer, got shape \(2,\)"):
        occlude(model.embed, SENTENCE, 5).moved([0.5, 0.5])
    with pytest.raises(ValueError, match=r"embed: expected 7 tokens a sentence, got .* \(7, 6\)"):
        occlude(lambda rows: model.embed([row[1:] for row in rows]), SENTENCE, 5)
    tagger = Tagger.initialise(TaggerOptions(2, 3, 64), np.random.default_rng(0))
    for tag in (-1, 2):
        with pytest.raises(ValueError, match=f"tag: expected 0 to 1, got {tag}"):
            occlude(model.embed, SENTENCE, 5).log_probability_changes(tagger, tag)


# Variants


def make(kind: CombinerOptions, **settings: object) -> tuple[Tagger, Tagged]:
    rng = np.random.default_rng(0)
    options = TaggerOptions(2, 3, 4, 5, 2, units=3, combiner=kind, **settings)  # type: ignore[arg-type]
    tagger = Tagger.initialise(options, rng, np.float64)
    mask = np.arange(4) < np.array([[4], [2]])
    data = Tagged(
        rng.normal(size=(2, 3, 4, 4)), mask, np.where(mask, rng.integers(0, 2, (2, 4)), -1),
        np.where(mask, 1, 0),
    )  # fmt: skip
    return tagger, data


@pytest.mark.parametrize(
    "kind",
    [
        CombinerOptions(),
        CombinerOptions("equal", gamma=0.5, learn_gamma=False),
        CombinerOptions("layer"),
        CombinerOptions("free"),
    ],
    ids=str,
)
def test_scaling_gamma_scales_the_combined_vector_and_nothing_else(kind: CombinerOptions) -> None:
    tagger, data = make(kind, attach="both")
    before = {name: value.copy() for name, value in tagger.parameters.items()}
    other = scaled(tagger, 3.0)
    for place in ("input", "output"):
        vectors = [t.combiner(place).forward(data.layers, data.mask) for t in (tagger, other)]
        np.testing.assert_allclose(vectors[1], 3 * vectors[0], rtol=0, atol=1e-14)
    for name, value in before.items():
        assert np.array_equal(tagger.parameters[name], value)
        if name.split("/")[-1] not in ("gamma", "coefficients"):
            assert np.array_equal(other.parameters[name], value)


def test_losses_by_gamma_pass_through_the_taggers_own_and_the_one_without_layers() -> None:
    tagger, data = make(CombinerOptions())
    zero, one, two = losses_by_gamma(tagger, data, [0.0, 1.0, 2.0])
    assert one == evaluate(tagger, data)
    assert two.loss != one.loss
    without = Tagged(np.zeros_like(data.layers), data.mask, data.tags, data.words)
    assert zero.loss == pytest.approx(evaluate(tagger, without).loss, abs=1e-14)


def test_other_weights_are_those_and_gamma_stays() -> None:
    tagger, data = make(CombinerOptions(), attach="both")
    tagger.parameters["input/gamma"][:] = 1.5
    other = with_weights(tagger, [0.0, 1.0, 0.0])
    for place, gamma in (("input", 1.5), ("output", 1.0)):
        vector = other.combiner(place).forward(data.layers, data.mask)
        np.testing.assert_allclose(vector[data.mask], gamma * data.layers[:, 1][data.mask])
    assert tagger.combiner("input").weights.tolist() == [1 / 3] * 3


def test_variants_that_mean_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="got combiner 'concatenation', attached 'input'"):
        scaled(make(CombinerOptions("concatenation"))[0], 2.0)
    with pytest.raises(ValueError, match="got combiner 'mixture', attached 'none'"):
        scaled(make(CombinerOptions(), attach="none")[0], 2.0)
    with pytest.raises(ValueError, match="tagger: expected combiner 'mixture', got 'free'"):
        with_weights(make(CombinerOptions("free"))[0], [0.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="weights: expected 3, one a layer, got 2"):
        with_weights(make(CombinerOptions())[0], [0.5, 0.5])
    with pytest.raises(ValueError, match="weights must be at least 0 and sum to 1"):
        with_weights(make(CombinerOptions())[0], [0.5, 0.5, 0.5])
