"""The whole model: what context each layer sees, the shift, and every gradient."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy import text
from elmo_toy.bilm import model as model_module
from elmo_toy.bilm.model import BiLM, StatefulBiLM, head_loss
from elmo_toy.bilm.token_encoder import FloatArray
from elmo_toy.text import Batch, IntArray

MakeModel = Callable[..., BiLM]
PlainStack = Callable[[FloatArray, BiLM], list[FloatArray]]

SENTENCES = [["the", "river", "bank", "flooded"], ["bank"], [], ["the", "bank", "the"]]
words = st.sampled_from(["the", "river", "bank", "flooded", "zebra"])
batches = st.lists(st.lists(words, max_size=6), min_size=1, max_size=4)


def examples(model: BiLM, sentences: list[list[str]]) -> tuple[Batch, IntArray]:
    assert model.vocabulary is not None
    return (Batch.from_ids(model.ids(sentences)), text.batch_word_ids(sentences, model.vocabulary))


# Every parameter's gradient

GRADIENT_SETTINGS = [
    {},
    {"use_skip_connections": False, "n_layers": 1},
    {"n_layers": 3, "dim": 2, "projection_dim": 2},
    {"cell_clip": 0.4},
    {"joined": True, "n_layers": 3},
    {"joined": True, "use_skip_connections": False},
    {"shift": 0},
    {"proj_clip": 0.3},
    {"characters": True},
    {"characters": True, "activation": "tanh", "n_highway": 1, "filters": ((2, 4), (8, 1))},
    {"characters": True, "n_highway": 0, "filters": ((1, 1), (2, 2))},  # no projection
]


@pytest.mark.parametrize("setting", GRADIENT_SETTINGS, ids=str)
def test_every_gradient_is_the_central_difference(
    make_model: MakeModel, setting: dict[str, object]
) -> None:
    """All entries of all parameters; of the character table, the rows in use and one that isn't."""
    model = make_model(seed=3, **setting)
    batch, targets = examples(model, SENTENCES)
    _, gradients = model.loss_and_gradients(batch, targets)
    assert gradients.keys() == model.parameters.keys()
    step = 1e-6
    for name, values in model.parameters.items():
        rows = np.unique(np.append(batch.types - 1, 0)) if name == "char_embed" else slice(None)
        chosen = np.zeros(values.shape, dtype=bool)
        chosen[rows] = True
        numeric = np.zeros_like(values)
        for index in map(tuple, np.argwhere(chosen)):
            kept = values[index]
            ends = []
            for shift in (step, -step):
                values[index] = kept + shift
                ends.append(model.loss(batch, targets).mean)
            values[index] = kept
            numeric[index] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(gradients[name], numeric, rtol=1e-6, atol=2e-9, err_msg=name)
        assert np.abs(gradients[name]).max() > 1e-6, f"{name}: a check of zeros checks nothing"


@pytest.mark.parametrize(
    "setting",
    [
        {"n_layers": 1},
        {"n_layers": 3, "dim": 2, "projection_dim": 2},
        {"use_skip_connections": False},
        {"joined": True, "dim": 2, "projection_dim": 2},
        {"characters": True, "dim": 2, "projection_dim": 2},
    ],
    ids=str,
)
def test_every_gradient_of_the_layers_is_the_central_difference(
    make_model: MakeModel, setting: dict[str, object]
) -> None:
    """Of a loss that reads every number of every layer; where no token is, upstream holds NaN."""
    model = make_model(seed=3, **setting)
    batch, _ = examples(model, [["river", "bank"], []])
    layers, mask = model.layers(batch)
    directions = np.random.default_rng(0).normal(size=layers.shape)
    inside = mask[:, None, :, None]
    upstream = np.where(inside, directions * np.cos(directions * layers), np.nan)
    gradients = model.layer_gradients(batch, upstream)
    below = {name for name in model.parameters if not name.startswith("softmax/")}
    assert gradients.keys() == below
    step = 1e-6
    for name in below:
        values = model.parameters[name]
        rows = np.unique(np.append(batch.types - 1, 0)) if name == "char_embed" else slice(None)
        chosen = np.zeros(values.shape, dtype=bool)
        chosen[rows] = True
        numeric = np.zeros_like(values)
        for index in map(tuple, np.argwhere(chosen)):
            kept = values[index]
            ends = []
            for shift in (step, -step):
                values[index] = kept + shift
                ends.append(float(np.sin(directions * model.layers(batch).layers).sum()))
            values[index] = kept
            numeric[index] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(gradients[name], numeric, rtol=1e-6, atol=2e-8, err_msg=name)
        assert np.abs(gradients[name]).max() > 1e-6, f"{name}: a check of zeros checks nothing"


def test_the_loss_of_one_layer_alone_reaches_what_lies_below_it(make_model: MakeModel) -> None:
    model = make_model()
    batch, _ = examples(model, SENTENCES)
    layers, mask = model.layers(batch)
    for read in range(3):
        upstream = np.zeros_like(layers)
        upstream[:, read][mask] = 1.0
        gradients = model.layer_gradients(batch, upstream)
        assert gradients["embedding"].any()
        for layer in range(2):
            for name in ("W_0", "B", "W_P_0"):
                assert gradients[f"Cell{layer}/{name}"].any() == (layer < read)


def test_layer_gradients_of_another_shape_are_refused(make_model: MakeModel) -> None:
    model = make_model()
    batch, _ = examples(model, SENTENCES)
    with pytest.raises(ValueError, match=r"layers' shape \(4, 3, 6, 6\), got \(4, 2, 6, 6\)"):
        model.layer_gradients(batch, np.zeros((4, 2, 6, 6)))


def test_the_head_in_chunks_is_the_head_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    states, targets = rng.normal(size=(2, 11, 3)), rng.integers(0, 5, (2, 11))
    weights, bias = rng.normal(size=(5, 3)), rng.normal(size=5)
    whole = head_loss(states, targets, weights, bias)
    monkeypatch.setattr(model_module, "HEAD_CHUNK", 4)
    for at_once, in_parts in zip(whole, head_loss(states, targets, weights, bias), strict=True):
        np.testing.assert_allclose(at_once, in_parts, rtol=0, atol=1e-14)


def test_the_head_survives_large_scores() -> None:
    loss = head_loss(
        np.full((2, 1, 1), 1e4),
        np.zeros((2, 1), dtype=np.int64),
        np.array([[1.0], [-1.0]]),
        np.zeros(2),
    )
    assert loss.losses.tolist() == [0.0, 0.0]


# What a loss is


def test_loss_is_the_mean_log_probability_of_the_neighbour(
    make_model: MakeModel, plain_stack: PlainStack
) -> None:
    """State after token k predicts k + 1 (forward) and k - 1 (backward), boundaries included."""
    model = make_model()
    assert model.vocabulary is not None
    expected: list[list[float]] = [[], []]
    for sentence in SENTENCES:
        ids = model.vocabulary.ids(text.add_boundaries(sentence))
        top = plain_stack(model.parameters["embedding"][ids], model)[-1]
        forward, backward = top[:, :3], top[:, 3:]
        for k in range(len(ids) - 1):
            for direction, state, target in (
                (0, forward[k], ids[k + 1]),
                (1, backward[k + 1], ids[k]),
            ):
                scores = model.parameters["softmax/W"] @ state + model.parameters["softmax/b"]
                expected[direction].append(float(np.log(np.exp(scores).sum()) - scores[target]))
    loss = model.loss(*examples(model, SENTENCES))
    assert loss.forward == pytest.approx(np.mean(expected[0]), abs=1e-12)
    assert loss.backward == pytest.approx(np.mean(expected[1]), abs=1e-12)
    assert loss.predictions == len(expected[0]) == sum(len(s) + 1 for s in SENTENCES)
    assert loss.mean == pytest.approx((loss.forward + loss.backward) / 2)
    assert loss.perplexity == pytest.approx(np.prod(loss.perplexities) ** 0.5)


@pytest.mark.parametrize("setting", [{"joined": True}, {"shift": 0}], ids=str)
def test_joined_directions_and_no_shift_do_see_the_answer(
    make_model: MakeModel, setting: dict[str, object]
) -> None:
    """The two ways to do it wrong: forward, each prediction depends on the word predicted."""
    model = make_model(**setting)
    before = model.predictions(["the", "river", "bank"])
    after = model.predictions(["the", "river", "flooded"])
    assert not np.allclose(before[0, 2], after[0, 2])
    before = model.predictions(["bank", "river", "the"])
    after = model.predictions(["flooded", "river", "the"])
    assert not np.allclose(before[1, 0], after[1, 0])


def test_without_the_shift_every_token_is_predicted_by_its_own_state(
    make_model: MakeModel, plain_stack: PlainStack
) -> None:
    model = make_model(shift=0)
    assert model.vocabulary is not None
    ids = model.vocabulary.ids(text.add_boundaries(["the", "bank"]))
    top = plain_stack(model.parameters["embedding"][ids], model)[-1]
    scores = top[:, :3] @ model.parameters["softmax/W"].T + model.parameters["softmax/b"]
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    loss = model.loss(*examples(model, [["the", "bank"]]))
    assert loss.predictions == 4
    assert loss.forward == pytest.approx(-logs[np.arange(4), ids].mean(), abs=1e-12)


@given(st.lists(words, min_size=1, max_size=6), st.data())
def test_no_prediction_sees_its_answer(
    make_model: MakeModel, sentence: list[str], data: st.DataObject
) -> None:
    model = make_model()
    place = data.draw(st.integers(0, len(sentence) - 1))
    changed = sentence.copy()
    changed[place] = data.draw(words)
    before, after = model.predictions(sentence), model.predictions(changed)
    assert np.array_equal(before[0, : place + 1], after[0, : place + 1])
    assert np.array_equal(before[1, place:], after[1, place:])
    np.testing.assert_allclose(before.sum(axis=2), 1, atol=1e-12)


def test_predictions_are_what_the_loss_scores(make_model: MakeModel) -> None:
    model = make_model(characters=True)
    sentence = ["the", "river", "bank"]
    assert model.vocabulary is not None
    ids = model.vocabulary.ids(sentence)
    probabilities = model.predictions(sentence)
    # Cut after each word: the next cut's loss grows by that word's and the end's share.
    totals = []
    for length in range(4):
        loss = model.loss(*examples(model, [sentence[:length]]))
        totals.append(loss.forward * loss.predictions)
    ends = []
    for length in range(4):
        batch = Batch.from_ids(model.ids([sentence[:length]]))
        top = model.layers(batch).layers[0, -1, length, :3]
        scores = model.parameters["softmax/W"] @ top + model.parameters["softmax/b"]
        ends.append(float(np.log(np.exp(scores).sum()) - scores[1]))
    for k in range(3):
        share = totals[k + 1] - ends[k + 1] - (totals[k] - ends[k])
        assert share == pytest.approx(-np.log(probabilities[0, k, ids[k]]), abs=1e-10)


# What a layer is


@given(batches, st.booleans())
def test_a_sentence_alone_equals_itself_in_any_padded_batch(
    make_model: MakeModel, sentences: list[list[str]], characters: bool
) -> None:
    model = make_model(characters=characters, dtype=np.float32, scale=1.0)
    together = model.embed(sentences)
    for row, sentence in enumerate(sentences):
        alone = model.embed([sentence])
        assert alone.mask.all()
        assert together.mask[row].sum() == len(sentence)
        np.testing.assert_allclose(
            together.layers[row, :, : len(sentence)], alone.layers[0], rtol=0, atol=1e-6
        )
        assert not together.layers[row, :, len(sentence) :].any()


@given(st.lists(words, min_size=1, max_size=7), st.data())
def test_directions_never_mix(
    make_model: MakeModel, sentence: list[str], data: st.DataObject
) -> None:
    """A changed word changes no forward half before it and no backward half after it.

    To the bit and at all layers; and no token layer but its own.
    """
    model = make_model(characters=True)
    place = data.draw(st.integers(0, len(sentence) - 1))
    changed = sentence.copy()
    changed[place] = "elsewhere"
    before, after = (model.embed([s]).layers[0] for s in (sentence, changed))
    assert np.array_equal(before[1:, :place, :3], after[1:, :place, :3])
    assert np.array_equal(before[1:, place + 1 :, 3:], after[1:, place + 1 :, 3:])
    others = np.arange(len(sentence)) != place
    np.testing.assert_allclose(before[0][others], after[0][others], rtol=0, atol=1e-12)
    assert not np.array_equal(before[1:, place:, :3], after[1:, place:, :3])
    assert not np.array_equal(before[1:, : place + 1, 3:], after[1:, : place + 1, 3:])


def test_layers_are_the_stacks_with_the_token_layer_first_and_twice(
    make_model: MakeModel, plain_stack: PlainStack
) -> None:
    model = make_model()
    assert model.vocabulary is not None
    sentence = ["the", "river", "bank"]
    vectors = model.parameters["embedding"][model.vocabulary.ids(text.add_boundaries(sentence))]
    layers = model.embed([sentence]).layers
    assert layers.shape == (1, 3, 3, 6)
    np.testing.assert_array_equal(layers[0, 0], np.concatenate([vectors, vectors], axis=1)[1:-1])
    for got, want in zip(layers[0, 1:], plain_stack(vectors, model), strict=True):
        np.testing.assert_allclose(got, want[1:-1], rtol=0, atol=1e-12)


def test_one_spelling_has_one_token_vector_and_many_contextual_ones(make_model: MakeModel) -> None:
    layers = make_model(characters=True).embed([["bank", "the", "bank"]]).layers[0]
    assert np.array_equal(layers[0, 0], layers[0, 2])
    assert not np.allclose(layers[1, 0], layers[1, 2])
    assert not np.allclose(layers[2, 0], layers[2, 2])


def test_an_empty_sentence_has_no_vectors(make_model: MakeModel) -> None:
    layers, mask = make_model().embed([[]])
    assert layers.shape == (1, 3, 0, 6)
    assert mask.shape == (1, 0)


def test_a_float32_model_computes_in_float32(make_model: MakeModel) -> None:
    model = make_model(dtype=np.float32, characters=True)
    batch, targets = examples(model, SENTENCES)
    assert model.layers(batch).layers.dtype == np.float32
    _, gradients = model.loss_and_gradients(batch, targets)
    assert {value.dtype for value in gradients.values()} == {np.dtype(np.float32)}


# State from batch to batch


def test_reset_makes_the_first_call_exact_again_and_state_is_forgotten(
    make_model: MakeModel,
) -> None:
    model = make_model(scale=1.0)
    reader = StatefulBiLM(model)
    calls = [reader.embed([["the", "bank"]]).layers for _ in range(30)]
    assert np.array_equal(calls[0], model.embed([["the", "bank"]]).layers)
    changes = [np.abs(b - a).max() for a, b in itertools.pairwise(calls)]
    assert changes[0] > 1e-3
    assert changes[-1] < 1e-6
    assert all(np.array_equal(call[:, 0], calls[0][:, 0]) for call in calls)
    reader.reset()
    assert np.array_equal(reader.embed([["the", "bank"]]).layers, calls[0])


def test_state_is_kept_by_row(make_model: MakeModel) -> None:
    """A smaller batch leaves the other rows' states alone; a larger one starts new rows at zero."""
    model = make_model()
    a, b, c = ["the", "river"], ["bank"], ["flooded", "the", "bank"]
    together, apart = StatefulBiLM(model), [StatefulBiLM(model) for _ in range(3)]
    for batch in ([a], [b, c], [c], [a, b, c]):
        layers, mask = together.embed(batch)
        for row, sentence in enumerate(batch):
            alone = apart[row].embed([sentence]).layers[0]
            np.testing.assert_allclose(layers[row][:, mask[row]], alone, rtol=0, atol=1e-12)


def test_the_forward_state_carried_over_joins_two_sentences(
    make_model: MakeModel, plain_stack: PlainStack
) -> None:
    """Forward, the second sentence reads on as if the first stood before it."""
    model = make_model()
    assert model.vocabulary is not None
    first, second = ["the", "river"], ["bank", "flooded"]
    reader = StatefulBiLM(model)
    reader.embed([first])
    layers = reader.embed([second]).layers[0]
    ids = np.concatenate([model.vocabulary.ids(text.add_boundaries(s)) for s in (first, second)])
    joined = plain_stack(model.parameters["embedding"][ids], model)
    np.testing.assert_allclose(layers[2, :, :3], joined[1][5:-1, :3], rtol=0, atol=1e-12)


# Refusals


def test_parameters_that_contradict_the_options_are_named(make_model: MakeModel) -> None:
    model = make_model()
    for change, message in (
        ({"Cell1/B": np.zeros((2, 3))}, r"'Cell1/B'\]: expected \(2, 16\), got \(2, 3\)"),
        ({"Cell2/B": np.zeros((2, 3))}, r"'Cell2/B'\]: expected nothing, got \(2, 3\)"),
    ):
        with pytest.raises(ValueError, match=message):
            BiLM(model.options, model.parameters | change, model.vocabulary)
    mixed = model.parameters | {"Cell1/B": np.zeros((2, 16), dtype=np.float32)}
    with pytest.raises(ValueError, match="expected all float32 or all float64, got float32, float"):
        BiLM(model.options, mixed, model.vocabulary)
    less = {k: v for k, v in model.parameters.items() if k != "Cell0/W_0"}
    with pytest.raises(ValueError, match=r"'Cell0/W_0'\]: expected \(2, 6, 16\), got nothing"):
        BiLM(model.options, less, model.vocabulary)
    with pytest.raises(ValueError, match=r"vocabulary: expected the encoder's 7 words, got 2"):
        BiLM(model.options, model.parameters, text.Vocabulary(["<S>", "</S>"]))


def test_a_model_without_a_head_says_so(make_model: MakeModel) -> None:
    model = make_model(characters=True, head=False)
    assert model.embed([["bank"]]).layers.shape == (1, 3, 1, 6)
    with pytest.raises(ValueError, match="vocabulary: this model has none"):
        model.predictions(["bank"])
    batch = Batch.from_ids(model.ids([["bank"]]))
    with pytest.raises(ValueError, match="vocabulary: this model has none"):
        model.loss(batch, np.ones((1, 3), dtype=np.int64))


def test_the_wrong_kind_of_ids_is_named(make_model: MakeModel) -> None:
    words_model, characters_model = make_model(), make_model(characters=True)
    characters = Batch.from_ids(characters_model.ids(SENTENCES))
    numbers = Batch.from_ids(words_model.ids(SENTENCES))
    with pytest.raises(ValueError, match=r"reads word ids .* got rows of 8 character ids"):
        words_model.layers(characters)
    with pytest.raises(ValueError, match=r"expected \(types, max_characters_per_token = 8\)"):
        characters_model.layers(numbers)
    with pytest.raises(ValueError, match="word ids up to 7, got 8"):
        words_model.layers(Batch.from_ids(np.array([[8]])))


def test_targets_that_do_not_fit_are_named(make_model: MakeModel) -> None:
    model = make_model()
    batch, targets = examples(model, SENTENCES)
    with pytest.raises(ValueError, match=r"targets: expected \(batch, tokens\) = \(4, 6\)"):
        model.loss(batch, targets[:, :-1])
    with pytest.raises(ValueError, match="targets: expected a word id"):
        model.loss(batch, np.zeros_like(targets))
    with pytest.raises(TypeError, match="got the string 'the bank'"):
        model.embed("the bank")
