"""Extraction: order, batches, padding, boundaries, state; and that the model is only read."""

import io
import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_toy import text
from elmo_toy.bilm.model import BiLM, StatefulBiLM
from elmo_toy.extractor import FrozenExtractor, fingerprint
from elmo_toy.text import Vocabulary

MakeModel = Callable[..., BiLM]

SENTENCES = [["the", "river", "bank", "flooded"], ["bank"], [], ["the", "bank", "the"], ["bank"]]
words = st.sampled_from(["the", "river", "bank", "flooded", "<PAD>", "zebra"])
some_sentences = st.lists(st.lists(words, max_size=6), min_size=1, max_size=9)


@pytest.mark.parametrize("characters", [True, False])
@settings(max_examples=40)
@given(sentences=some_sentences, batch_size=st.integers(1, 10))
def test_each_sentence_gets_its_own_layers_in_the_order_of_the_input(
    make_model: MakeModel, characters: bool, sentences: list[list[str]], batch_size: int
) -> None:
    model = make_model(characters=characters)
    layers, mask = FrozenExtractor(model).embed(sentences, batch_size)
    assert mask.sum(axis=1).tolist() == [len(sentence) for sentence in sentences]
    for row, sentence in enumerate(sentences):
        alone = model.embed([sentence]).layers[0]
        np.testing.assert_allclose(layers[row][:, mask[row]], alone, rtol=0, atol=1e-12)
        assert not layers[row][:, ~mask[row]].any()


def test_shape_is_batch_layers_tokens_dim_with_the_token_layer_first_and_doubled(
    make_model: MakeModel,
) -> None:
    model = make_model(dtype=np.float32)
    extractor = FrozenExtractor(model)
    layers, mask = extractor.embed(SENTENCES)
    assert layers.shape == (5, extractor.n_layers, 4, extractor.dim) == (5, 3, 4, 6)
    assert layers.dtype == np.float32
    assert mask.shape == (5, 4)
    np.testing.assert_array_equal(layers[:, 0, :, :3], layers[:, 0, :, 3:])
    np.testing.assert_array_equal(layers[0, 0, 0, :3], model.parameters["embedding"][3])  # "the"
    assert (layers[:, 1:, :, :3] != layers[:, 1:, :, 3:]).any()


def test_a_blank_sentence_keeps_its_row_and_has_no_token(make_model: MakeModel) -> None:
    layers, mask = FrozenExtractor(make_model()).embed([[]])
    assert layers.shape == (1, 3, 0, 6)
    assert mask.shape == (1, 0)


def test_a_pad_word_is_a_word_and_padding_is_a_mask(make_model: MakeModel) -> None:
    extractor = FrozenExtractor(make_model(characters=True))
    layers, mask = extractor.embed([["the", "<PAD>"], ["the"]])
    assert mask.tolist() == [[True, True], [True, False]]
    assert layers[0, 0, 1].any()
    assert not layers[1, :, 1].any()


@pytest.mark.parametrize("characters", [True, False])
def test_kept_boundaries_are_two_tokens_more_and_change_no_other_token(
    make_model: MakeModel, characters: bool
) -> None:
    model = make_model(characters=characters)
    layers, mask = FrozenExtractor(model).embed(SENTENCES, 2)
    with_boundaries = FrozenExtractor(model, keep_boundaries=True).embed(SENTENCES, 2)
    assert (with_boundaries.mask.sum(axis=1) == mask.sum(axis=1) + 2).all()
    inner = text.remove_boundaries(*with_boundaries)
    np.testing.assert_array_equal(inner[0], layers)
    np.testing.assert_array_equal(inner[1], mask)
    ends = with_boundaries.layers[[0, 0], 0, [0, 5]]
    assert not np.array_equal(ends[0], ends[1])


# Frozen


def frozen_bytes(model: BiLM) -> dict[str, bytes]:
    return {name: value.tobytes() for name, value in model.parameters.items()}


@pytest.mark.parametrize("stateful", [True, False])
def test_the_parameters_are_read_and_never_written(make_model: MakeModel, stateful: bool) -> None:
    model = make_model(characters=True)
    before = frozen_bytes(model)
    for value in model.parameters.values():
        value.flags.writeable = False  # writing would raise, also if it were undone later
    extractor = FrozenExtractor(model, stateful=stateful)
    extractor.embed(SENTENCES, 2)
    assert frozen_bytes(model) == before


def test_what_is_returned_shares_no_memory_with_the_model(make_model: MakeModel) -> None:
    model = make_model()
    layers, _ = FrozenExtractor(model).embed([["bank"]])
    assert not any(np.shares_memory(layers, value) for value in model.parameters.values())


def test_repeated_extraction_learns_nothing_and_gives_the_same_bits(make_model: MakeModel) -> None:
    extractor = FrozenExtractor(make_model(dtype=np.float32))
    first, second = (extractor.embed(SENTENCES, 2).layers.tobytes() for _ in range(2))
    assert first == second


# State


def test_stateful_is_the_original_reader_batch_by_batch_in_the_order_of_the_input(
    make_model: MakeModel,
) -> None:
    model = make_model()
    reader = StatefulBiLM(model)
    layers, mask = FrozenExtractor(model, stateful=True).embed(SENTENCES, 2)
    for start in range(0, 5, 2):
        expected = reader.embed(SENTENCES[start : start + 2])
        width = expected.mask.shape[1]
        np.testing.assert_array_equal(layers[start : start + 2, :, :width], expected.layers)
        np.testing.assert_array_equal(mask[start : start + 2, :width], expected.mask)


def test_same_sentence_twice_is_equal_stateless_and_differs_stateful_then_converges(
    make_model: MakeModel,
) -> None:
    model = make_model(scale=1.0)
    stateless = FrozenExtractor(model)
    sentence = [["the", "river", "bank"]]
    assert np.array_equal(stateless.embed(sentence).layers, stateless.embed(sentence).layers)
    stateful = FrozenExtractor(model, stateful=True)
    calls = [stateful.embed(sentence).layers for _ in range(12)]
    changes = [float(np.abs(b - a).max()) for a, b in itertools.pairwise(calls)]
    assert changes[0] > 1e-3
    assert changes[-1] < 1e-3 * changes[0]
    assert all(np.array_equal(calls[0][:, 0], call[:, 0]) for call in calls)  # the token layer
    stateful.reset()
    assert np.array_equal(stateful.embed(sentence).layers, calls[0])


def test_stateless_is_the_default_and_the_order_of_sentences_does_not_matter(
    make_model: MakeModel,
) -> None:
    model = make_model()
    extractor = FrozenExtractor(model)
    assert not extractor.stateful
    assert FrozenExtractor(model, stateful=True).stateful
    there, back = extractor.embed(SENTENCES, 2), extractor.embed(SENTENCES[::-1], 3)
    np.testing.assert_allclose(there.layers, back.layers[::-1], rtol=0, atol=1e-12)


def test_a_stateful_batch_may_grow_beyond_the_one_before(make_model: MakeModel) -> None:
    """The original fails above max_batch_size."""
    extractor = FrozenExtractor(make_model(), stateful=True)
    extractor.embed([["bank"]] * 2)
    assert extractor.embed([["bank"]] * 131, batch_size=200).layers.shape[0] == 131


# Fingerprint


def test_the_fingerprint_changes_with_anything_that_makes_the_layers(
    make_model: MakeModel,
) -> None:
    model = make_model()
    prints = {fingerprint(model)}
    assert fingerprint(make_model()) in prints
    for change in (
        {"seed": 1},
        {"dtype": np.float32},
        {"cell_clip": 2.0},
        {"use_skip_connections": False},
        {"characters": True},
        {"characters": True, "activation": "tanh"},
        {"head": False},
    ):
        prints.add(fingerprint(make_model(**change)))
    other_words = Vocabulary(["<S>", "</S>", "<UNK>", "the", "river", "flooded", "bank"])
    prints.add(fingerprint(BiLM(model.options, model.parameters, other_words)))
    assert len(prints) == 9
    extractor = FrozenExtractor(model)
    model.parameters["Cell1/B"][0, 0] += 1e-15
    assert extractor.fingerprint not in prints


@pytest.mark.parametrize("place", [0, -1])
def test_the_fingerprint_reads_every_parameter_to_its_last_number(
    make_model: MakeModel, place: int
) -> None:
    model = make_model(characters=True)
    prints = {fingerprint(model)}
    for value in model.parameters.values():
        value.flat[place] += 1e-15
        prints.add(fingerprint(model))
    assert len(prints) == 1 + len(model.parameters)


# Arguments and progress


def test_progress_ends_at_all_sentences_and_says_nothing_unasked(
    make_model: MakeModel, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = io.StringIO()
    extractor = FrozenExtractor(make_model())
    extractor.embed(SENTENCES, 2, progress=stream)
    lines = stream.getvalue().split("\r")[1:]
    assert [line.split()[1:] for line in lines] == [[f"{n}/5", "sentences"] for n in (0, 2, 4, 5)]
    assert [line.count("#") for line in lines] == [0, 12, 24, 30]
    assert stream.getvalue().endswith("\n")
    extractor.embed(SENTENCES, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("stateful", [True, False])
@pytest.mark.parametrize(
    ("sentences", "batch_size", "kind", "message"),
    [
        ([], 2, ValueError, "sentences: expected at least one sentence, got none"),
        (["the bank"], 2, TypeError, r"sentences\[0\]: expected a list of tokens"),
        ("the bank", 2, TypeError, "sentences: expected a list of sentences"),
        ([["bank"]], 0, ValueError, "batch_size: expected at least 1, got 0"),
        ([["bank"]], 1.5, TypeError, "batch_size: expected an integer, got 1.5"),
        ([["bank"]], True, TypeError, "batch_size: expected an integer, got True"),
    ],
)
def test_what_is_no_batch_of_sentences_is_named(
    make_model: MakeModel,
    stateful: bool,
    sentences: list[list[str]],
    batch_size: int,
    kind: type[Exception],
    message: str,
) -> None:
    with pytest.raises(kind, match=message):
        FrozenExtractor(make_model(), stateful=stateful).embed(sentences, batch_size)


def test_flags_and_model_are_checked(make_model: MakeModel) -> None:
    model = make_model()
    with pytest.raises(TypeError, match="stateful: expected True or False, got 'no'"):
        FrozenExtractor(model, stateful="no")  # type: ignore[arg-type] # truthy strings
    with pytest.raises(TypeError, match="model: expected a BiLM, got dict"):
        FrozenExtractor({})  # type: ignore[arg-type] # no model
    with pytest.raises(ValueError, match="keep_boundaries: expected False with stateful=True"):
        FrozenExtractor(model, stateful=True, keep_boundaries=True)
