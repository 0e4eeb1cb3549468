"""The translator: gradients, its second language, its joined directions, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest

from elmo_toy import text
from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.gradient_check import central_difference
from elmo_toy.predecessors import cove
from elmo_toy.predecessors.cove import CoVe, CoVeOptions
from elmo_toy.text import Vocabulary
from elmo_toy.toy_language import NOUN_OR_VERB, SENSES, make_corpus, vocabulary

FIRST = Vocabulary(["<S>", "</S>", "the", "river", "bank", "flooded"])
SECOND = Vocabulary(["<S>", "</S>", "the*", "river*", "bank/water*", "bank/money*", "flooded*"])
SENTENCES = [["the", "river", "flooded"], [], ["bank"], ["the", "bank", "flooded", "the"]]
TRANSLATED = [
    ["the*", "river*", "flooded*"],
    [],
    ["bank/money*"],
    ["the*", "bank/water*", "flooded*", "the*"],
]


def make(*, skip: bool = False) -> CoVe:
    """In float64, every parameter moved away from 0."""
    rng = np.random.default_rng(0)
    options = CoVeOptions(LSTMOptions(4, 3, joined=True, use_skip_connections=skip))
    model = CoVe.initialise(options, rng, FIRST, SECOND, np.float64)
    parameters = {k: v + rng.normal(0, 0.3, v.shape) for k, v in model.parameters.items()}
    return CoVe(options, parameters, FIRST, SECOND)


@pytest.mark.parametrize("skip", [False, True])
def test_every_gradient_is_the_central_difference(skip: bool) -> None:
    model = make(skip=skip)
    ids = text.batch_word_ids(SENTENCES, FIRST)
    targets = text.batch_word_ids(TRANSLATED, SECOND)
    _, words, gradients = model.loss_and_gradients(ids, targets)
    assert words == 8
    assert gradients.keys() == model.parameters.keys()
    for name, gradient in gradients.items():

        def loss(value: np.ndarray, name: str = name) -> float:
            moved = CoVe(model.options, {**model.parameters, name: value}, FIRST, SECOND)
            return moved.loss_and_gradients(ids, targets)[0]

        expected = central_difference(loss, model.parameters[name], 1e-5)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-9, err_msg=name)
        assert np.abs(expected).max() > 1e-4, name


def test_each_half_of_the_top_layer_has_read_both_sides() -> None:
    """What a language model may not have, and a translator may."""
    model = make()
    sentence = ["the", "river", "flooded", "the", "bank"]
    layers = model.embed([sentence]).layers[0]
    for changed in (0, 4):
        other = list(sentence)
        other[changed] = "flooded"
        moved = np.abs(model.embed([other]).layers[0] - layers) > 0
        assert moved[1, :, :3].any(axis=1).all()
        assert moved[1, :, 3:].any(axis=1).all()
        assert moved[0].any(axis=1).tolist() == [place == changed for place in range(5)]


def test_a_sentence_is_the_same_alone_and_in_a_batch() -> None:
    model = make()
    layers, mask = model.embed(SENTENCES)
    assert mask.sum(axis=1).tolist() == [len(sentence) for sentence in SENTENCES]
    for row, sentence in enumerate(SENTENCES):
        alone = model.embed([sentence]).layers
        np.testing.assert_allclose(layers[row, :, : len(sentence)], alone[0], rtol=0, atol=1e-14)


def test_the_second_language_tells_apart_what_the_first_does_not() -> None:
    corpus = make_corpus(train=300, development=1, labelled=1, test=1)
    translations: dict[str, set[str]] = {}
    for sentence in corpus.train:
        for word, translation in zip(sentence.tokens, cove.translate(sentence), strict=True):
            translations.setdefault(word, set()).add(translation)
    for word, found in translations.items():
        assert len(found) == (2 if word in SENSES or word in NOUN_OR_VERB else 1), word
    assert translations["bank"] == {"bank/water*", "bank/money*"}
    second = cove.translation_vocabulary(corpus.train)
    assert set(second.words) == {"<S>", "</S>"}.union(*translations.values())


def test_training_learns_to_translate() -> None:
    corpus = make_corpus(train=12, development=1, labelled=1, test=1)
    second = cove.translation_vocabulary(corpus.train)
    start = CoVe.initialise(
        CoVeOptions(LSTMOptions(8, 6, joined=True, use_skip_connections=False)),
        np.random.default_rng(0),
        vocabulary(),
        second,
    )
    model, curve = cove.train(
        start,
        corpus.train,
        tokens=6000,
        learning_rate=0.05,
        rng=np.random.default_rng(1),
        batch_size=4,
    )
    assert curve.losses[0] > 3
    assert curve.losses[-1] < 1
    assert curve.tokens >= 6000
    assert not np.array_equal(start.parameters["embedding"], model.parameters["embedding"])


def test_what_cannot_be_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="lstm: expected joined=True"):
        CoVeOptions(LSTMOptions(4, 3))
    model = make()
    with pytest.raises(ValueError, match=r"parameters\['softmax/b'\]: expected \(\d+,\), got \(2,"):
        CoVe(model.options, {**model.parameters, "softmax/b": np.zeros(2)}, FIRST, SECOND)
    ids = text.batch_word_ids([["bank"]], FIRST)
    with pytest.raises(ValueError, match="targets: expected a word for each of the words of ids"):
        model.loss_and_gradients(ids, text.batch_word_ids([[]], SECOND))
