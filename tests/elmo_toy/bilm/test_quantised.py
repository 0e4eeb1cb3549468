"""Weights rounded to eight bits: how far off, how they are stored, and what the model loses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from elmo_toy import our_sentences
from elmo_toy.bilm import load_pretrained, lstm, quantised
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.token_encoder import initial_parameters
from elmo_toy.similarity import Occurrences, cosine


@given(arrays.arrays(np.float32, (4, 3), elements=st.floats(-1e3, 1e3, width=32)))
def test_no_value_is_off_by_more_than_half_a_step(matrix: np.ndarray) -> None:
    stored = quantised.quantise(matrix)
    assert stored.numbers.dtype == np.int8
    assert np.abs(stored.numbers.astype(int)).max() <= quantised.MOST
    allowed = 0.5 * stored.factors * (1 + 1e-4)
    assert (np.abs(stored.values - matrix) <= allowed).all()


@pytest.mark.parametrize("name", ["toy-language", "english-small"])
def test_the_bytes_hold_the_rounded_model(name: str) -> None:
    """Read back by the description of the format alone."""
    model = load_pretrained(name)
    sizes, content = quantised.pack(model.parameters)
    factors = np.frombuffer(content, "<f4", sum(columns for _, _, columns in sizes))
    numbers = np.frombuffer(content, np.int8, offset=factors.nbytes)
    assert len(numbers) == sum(rows * columns for _, rows, columns in sizes)
    expected = dict(quantised.matrices(quantised.rounded(model).parameters))
    assert list(expected) == [part for part, *_ in sizes]
    for part, rows, columns in sizes:
        values, factors = factors[:columns].astype(float), factors[columns:]
        if rows:
            whole, numbers = numbers[: rows * columns], numbers[rows * columns :]
            values = whole.reshape(rows, columns) * values
        np.testing.assert_array_equal(values, expected[part])


def test_what_is_not_finite_has_no_whole_number() -> None:
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match="matrix: expected finite numbers"):
            quantised.quantise(np.array([[1.0, value]]))


def test_vectors_and_predictions_hardly_change() -> None:
    model = load_pretrained("english-small")
    rounded = quantised.rounded(model)
    text = our_sentences.RIVER + our_sentences.LOAN
    before, after = (Occurrences.read(each.embed, text).vectors for each in (model, rounded))
    assert cosine(before, after).min() > 0.999
    one, other = (each.predictions(text[0]) for each in (model, rounded))
    assert np.abs(one - other).max() < 0.03


def test_a_percentile_of_a_random_pair_moves_by_half_a_point() -> None:
    """Chapter 1 says so."""
    text = our_sentences.RIVER + our_sentences.LOAN + our_sentences.OTHERS
    model = load_pretrained("english-small")
    both = [
        Occurrences.read(each.embed, text).background(2000, np.random.default_rng(1))
        for each in (model, quantised.rounded(model))
    ]
    placed = [np.stack(each.percentiles(each.same))[0, 1:] for each in both]
    assert np.abs(placed[0] - placed[1]).mean() == pytest.approx(0.5, abs=0.1)


def test_the_untrained_model_is_the_one_that_training_started_from() -> None:
    """Its stacks to the bit, its encoder to the rounding."""
    model = load_pretrained("english-small")
    start = BiLM.initialise(model.options, np.random.default_rng(0), model.vocabulary)
    found = quantised.untrained(model)
    for name, value in found.model.parameters.items():
        if name in found.encoder:
            np.testing.assert_array_equal(found.encoder[name], start.parameters[name])
            assert np.abs(value - start.parameters[name]).max() < 0.02
        else:
            np.testing.assert_array_equal(value, start.parameters[name])


def test_the_generator_goes_on_where_the_encoder_was_drawn() -> None:
    """From its two numbers alone come the stacks."""
    model = load_pretrained("english-small")
    found = quantised.untrained(model)
    generator = np.random.PCG64()
    state = generator.state
    state["state"] = {"state": found.state, "inc": found.increment}
    generator.state = state
    stacks = lstm.initial_parameters(model.options.lstm, np.random.Generator(generator))
    for name, value in stacks.items():
        np.testing.assert_array_equal(value.astype(np.float32), found.model.parameters[name])
    options = model.options
    again = initial_parameters(
        options.encoder, options.lstm.projection_dim, np.random.default_rng(0)
    )
    assert again.keys() == found.encoder.keys()
