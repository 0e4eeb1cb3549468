"""Hidden words: which, how they are read, what the loss is, its gradients, and no leak."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_toy import masked_lm
from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.masked_lm import Hidden, LSTMEncoder, MaskedLM, TransformerEncoder, hide
from elmo_toy.text import Vocabulary
from elmo_toy.transformer import Transformer, TransformerOptions

WORDS = ["<S>", "</S>", "<UNK>", "the", "river", "bank", "flooded"]
SENTENCES = [["the", "river", "bank", "flooded"], ["bank"], ["the", "bank", "the"]]
MASK = 3
LONG = np.array([[1, *range(4, 44), 2], [1, *range(4, 24), 2, *[0] * 20]] * 50)

Make = Callable[[], masked_lm.Encoder]


def lstm_encoder(**options: bool) -> LSTMEncoder:
    """Weights large enough that every nonlinearity matters, no bias zero."""
    rng = np.random.default_rng(4)
    encoder = LSTMEncoder.initialise(LSTMOptions(4, 3, **options), len(WORDS), rng)
    for name, value in encoder.parameters.items():
        value *= 3 if name.startswith("Cell") else 1
        value += rng.normal(0, 0.1, value.shape)
    return encoder


def transformer_encoder(**options: bool) -> TransformerEncoder:
    sizes = TransformerOptions(len(WORDS), dim=4, heads=2, hidden=5, **options)
    return TransformerEncoder(Transformer.initialise(sizes, np.random.default_rng(4)))


ENCODERS: dict[str, Make] = {
    "apart": lstm_encoder,
    "joined": lambda: lstm_encoder(joined=True),
    "no residual": lambda: lstm_encoder(joined=True, use_skip_connections=False),
    "attention": transformer_encoder,
    "without positions": lambda: transformer_encoder(positions=False),
}


def make(name: str) -> MaskedLM:
    return MaskedLM.initialise(ENCODERS[name](), Vocabulary(WORDS), np.random.default_rng(5))


# --- hiding -----------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), rate=st.floats(0, 1), blank=st.floats(0, 1))
@settings(max_examples=30)
def test_words_alone_are_hidden_and_one_of_each_sentence_at_least(seed, rate, blank) -> None:
    hidden = hide(LONG[:2], MASK, np.random.default_rng(seed), rate=rate, blank=blank)
    assert hidden.places.any(axis=1).all()
    assert not hidden.places[LONG[:2] <= 2].any(), "neither boundaries nor padding"
    np.testing.assert_array_equal(hidden.ids[~hidden.places], LONG[:2][~hidden.places])
    assert (hidden.ids[LONG[:2] > 3] > 2).all(), "no word becomes a boundary"


def test_shares_are_those_asked_for() -> None:
    """BERT's: 0.15 chosen; of them 0.8 blank, 0.1 another, 0.1 kept. 3000 words, 3 deviations."""
    ids = np.repeat(LONG, 10, axis=0)
    hidden = hide(ids, MASK, np.random.default_rng(0))
    chosen, words = hidden.places.sum(), (ids > 3).sum()
    assert chosen / words == pytest.approx(0.15, abs=0.01)
    now, before = hidden.ids[hidden.places], ids[hidden.places]
    assert (now == MASK).mean() == pytest.approx(0.8, abs=0.02)
    same = (now == before).mean()  # kept, or another that happens to be the same
    assert same == pytest.approx(0.1, abs=0.02)
    assert ((now != MASK) & (now != before)).mean() == pytest.approx(0.1, abs=0.02)


def test_all_are_blank_if_asked() -> None:
    hidden = hide(LONG, MASK, np.random.default_rng(0), blank=1.0)
    assert (hidden.ids[hidden.places] == MASK).all()


def test_bad_arguments_are_named() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="rate: expected a probability, got 15"):
        hide(LONG, MASK, rng, rate=15)
    with pytest.raises(ValueError, match=r"ids: expected a word .* got lengths \[2\]"):
        hide(np.array([[1, 2, 0]]), MASK, rng)
    with pytest.raises(KeyError, match="zebra"):
        make("joined").embed([["zebra"]])


# --- loss -------------------------------------------------------------------------------------


def batch(model: MaskedLM) -> tuple[Hidden, np.ndarray]:
    ids = model.ids(SENTENCES)
    return hide(ids, model.mask_id, np.random.default_rng(1), rate=0.4), ids


@pytest.mark.parametrize("name", ENCODERS)
def test_loss_is_the_mean_log_probability_at_the_hidden_places(name: str) -> None:
    model = make(name)
    hidden, ids = batch(model)
    top = model.encoder.read(hidden.ids).layers[:, -1]
    expected = []
    for row, place in zip(*np.nonzero(hidden.places), strict=True):
        scores = model.head["W"] @ top[row, place] + model.head["b"]
        expected.append(np.log(np.exp(scores).sum()) - scores[ids[row, place] - 1])
    assert model.loss(hidden, ids) == pytest.approx(np.mean(expected), abs=1e-12)


@pytest.mark.parametrize("name", ENCODERS)
def test_every_gradient_is_the_central_difference(name: str) -> None:
    model = make(name)
    hidden, ids = batch(model)
    loss, gradients = model.loss_and_gradients(hidden, ids)
    assert loss == model.loss(hidden, ids)
    assert gradients.keys() == model.parameters.keys()
    step = 1e-6
    for parameter, values in model.parameters.items():
        numeric = np.zeros_like(values)
        for index in np.ndindex(values.shape):
            kept, ends = values[index], []
            for sign in (1, -1):
                values[index] = kept + sign * step
                ends.append(model.loss(hidden, ids))
            values[index] = kept
            numeric[index] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(
            gradients[parameter], numeric, rtol=1e-5, atol=3e-9, err_msg=parameter
        )
        assert np.abs(numeric).max() > 1e-6, f"{parameter}: a check of zeros checks nothing"


@pytest.mark.parametrize("name", ["joined", "attention"])
def test_a_blank_word_is_not_seen_and_all_others_are(name: str) -> None:
    """What chapter 2's joined model lacks: here the answer has gone from what is read."""
    model = make(name)
    ids = model.ids([["the", "river", "bank", "flooded"]])
    places = np.zeros(ids.shape, dtype=bool)
    places[0, 2] = True

    def top(words: list[str]) -> np.ndarray:
        read = np.where(places, model.mask_id, model.ids([words]))
        return model.encoder.read(read).layers[0, -1, 2]

    before = top(["the", "river", "bank", "flooded"])
    np.testing.assert_array_equal(before, top(["the", "flooded", "bank", "flooded"]))
    assert not np.allclose(before, top(["bank", "river", "bank", "flooded"]))
    assert not np.allclose(before, top(["the", "river", "bank", "the"]))


def test_embedding_is_that_of_the_bilm_with_the_same_weights(make_model) -> None:
    bilm = make_model(joined=True)
    shared = {name: v for name, v in bilm.parameters.items() if not name.startswith("softmax/")}
    model = MaskedLM(LSTMEncoder(bilm.options.lstm, shared), Vocabulary(WORDS), {})
    expected, found = bilm.embed(SENTENCES), model.embed(SENTENCES)
    np.testing.assert_array_equal(found.mask, expected.mask)
    np.testing.assert_allclose(found.layers, expected.layers, rtol=1e-13)
