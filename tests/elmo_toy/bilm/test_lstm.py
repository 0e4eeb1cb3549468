"""Reading order, clips, residual and the gates' order of the LSTM stacks."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy.bilm import lstm
from elmo_toy.bilm.lstm import LSTMOptions, ReadingOrder, State
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.token_encoder import FloatArray
from elmo_toy.gradient_check import central_difference

MakeModel = Callable[..., BiLM]
PlainStack = Callable[[FloatArray, BiLM], list[FloatArray]]

# `scale` makes cells and states large enough for the clips to bite.
SETTINGS = [
    {"use_skip_connections": True},
    {"use_skip_connections": False},
    {"n_layers": 1},
    {"n_layers": 3, "dim": 5, "projection_dim": 2},
    {"cell_clip": 0.4},
    {"joined": True, "n_layers": 3},
    {"joined": True, "use_skip_connections": False},
    {"proj_clip": 0.3},
    {"cell_clip": 0.5, "proj_clip": 0.2, "n_layers": 3},
]


def run(model: BiLM, vectors: FloatArray, lengths: list[int]) -> list[FloatArray]:
    """Layers (batch, tokens, 2 * projection_dim) of padded token vectors."""
    order = ReadingOrder(np.array(lengths), vectors.shape[1])
    state = State.zeros(model.options.lstm, len(vectors), vectors.dtype)
    trace, _ = lstm.stack_forward(
        order.read(vectors), model.layer_weights, order, state, model.options.lstm
    )
    return [order.unread(output).reshape(*vectors.shape[:2], -1) for output in trace.outputs]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_stacks_equal_the_equations_row_by_row(
    make_model: MakeModel, plain_stack: PlainStack, setting: dict[str, float]
) -> None:
    model = make_model(**setting)
    lengths = [3, 0, 5, 1, 5]
    vectors = np.random.default_rng(1).normal(size=(5, 6, model.options.lstm.projection_dim))
    layers = run(model, vectors, lengths)
    for row, length in enumerate(lengths):
        expected = plain_stack(vectors[row, :length], model) if length else []
        for got, want in zip(layers, expected, strict=False):
            np.testing.assert_allclose(got[row, :length], want, rtol=0, atol=1e-12)
        for got in layers:
            assert not got[row, length:].any()


def test_the_trace_holds_zeros_where_a_row_does_not_read(make_model: MakeModel) -> None:
    """Also where one sentence is left, beside which a second row is computed."""
    model = make_model()
    order = ReadingOrder(np.array([5, 2, 1]), 5)
    width = model.options.lstm.projection_dim
    read = order.read(np.random.default_rng(1).normal(size=(3, 5, width)))
    state = State.zeros(model.options.lstm, 3, read.dtype)
    trace, _ = lstm.stack_forward(read, model.layer_weights, order, state, model.options.lstm)
    for layer in trace.layers:
        for values in (layer.states, layer.cells):
            for row, length in enumerate([5, 2, 1]):
                assert values[:, 1 : length + 1, row].all()
                assert not values[:, length + 1 :, row].any()


@pytest.mark.parametrize("clip", ["cell_clip", "proj_clip"])
def test_the_settings_above_do_clip(make_model: MakeModel, clip: str) -> None:
    vectors = np.random.default_rng(1).normal(size=(2, 6, 3))
    bites = make_model(**{clip: 0.3})
    free = make_model(**{clip: 30.0})
    assert not np.allclose(run(bites, vectors, [6, 6])[0], run(free, vectors, [6, 6])[0])


def test_states_stay_within_the_clip_but_layers_may_exceed_it(make_model: MakeModel) -> None:
    model = make_model(proj_clip=0.3, scale=6.0)
    vectors = np.random.default_rng(1).normal(size=(4, 6, 3))
    order = ReadingOrder(np.full(4, 6), 6)
    zero = State.zeros(model.options.lstm, 4, np.float64)
    trace, final = lstm.stack_forward(
        order.read(vectors), model.layer_weights, order, zero, model.options.lstm
    )
    assert np.abs(final.states).max() <= 0.3
    assert np.abs(trace.outputs[1]).max() > 0.3


def test_lower_layers_of_zeros_are_no_lower_layers(make_model: MakeModel) -> None:
    """And what they hold is added: the gradient is linear in what comes from above."""
    model = make_model(n_layers=3)
    rng, order = np.random.default_rng(1), ReadingOrder(np.array([4, 6]), 6)
    options, weights = model.options.lstm, model.layer_weights
    read = order.read(rng.normal(size=(2, 6, 3)))
    trace, _ = lstm.stack_forward(
        read, weights, order, State.zeros(options, 2, np.float64), options
    )
    top, *lower = rng.normal(size=(3, *trace.outputs[0].shape))
    nothing = [np.zeros_like(top)] * 2

    def gradients(*args: object) -> FloatArray:
        dread, layers = lstm.stack_gradients(args[0], trace, weights, order, options, *args[1:])  # type: ignore[arg-type]
        return np.concatenate(
            [dread.ravel(), *(part.ravel() for layer in layers for part in layer)]
        )

    assert np.array_equal(gradients(top, nothing), gradients(top))
    np.testing.assert_allclose(
        gradients(top, lower),
        gradients(top) + gradients(np.zeros_like(top), lower),
        rtol=0,
        atol=1e-11,
    )


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_unread_undoes_read_and_zeroes_the_rest(lengths: list[int]) -> None:
    tokens = np.arange(1, 1 + len(lengths) * 5).reshape(len(lengths), 5)
    order = ReadingOrder(np.array(lengths), 5)
    back = order.unread(order.read(tokens))
    inside = np.arange(5) < np.array(lengths)[:, None]
    for direction in range(2):
        assert np.array_equal(back[:, :, direction], np.where(inside, tokens, 0))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_backward_reads_each_row_from_its_true_end(lengths: list[int]) -> None:
    tokens = np.array([list(range(1, length + 1)) + [0] * (5 - length) for length in lengths])
    order = ReadingOrder(np.array(lengths), 5)
    read = order.read(tokens)[1]
    for column, length in enumerate(sorted(lengths, reverse=True)):
        assert read[:length, column].tolist() == list(range(length, 0, -1))
        assert not read[length:, column].any()


def test_released_shapes() -> None:
    shapes = lstm.parameter_shapes(LSTMOptions(dim=4096, projection_dim=512))
    assert shapes["Cell1/W_0"] == (2, 1024, 16384)
    assert shapes["Cell1/B"] == (2, 16384)
    assert shapes["Cell1/W_P_0"] == (2, 4096, 512)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dim", 0),
        ("projection_dim", 0),
        ("n_layers", 0),
        ("cell_clip", 0.0),
        ("proj_clip", -1.0),
        ("proj_clip", float("nan")),
    ],
)
def test_impossible_sizes_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name}: expected .* got {value}"):
        LSTMOptions(**{"dim": 4, "projection_dim": 3, name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("dim", 2.5, "an integer, got 2.5"),
        ("n_layers", True, "an integer, got True"),
        ("cell_clip", "3", "a number, got '3'"),
        ("use_skip_connections", "no", "True or False, got 'no'"),
        ("joined", 0, "True or False, got 0"),
    ],
)
def test_options_of_another_kind_are_refused(name: str, value: object, expected: str) -> None:
    with pytest.raises(TypeError, match=f"{name}: expected {expected}"):
        LSTMOptions(**{"dim": 4, "projection_dim": 3, name: value})  # type: ignore[arg-type]


def test_a_clipped_state_passes_nothing_back_and_one_inside_everything() -> None:
    """A clip at the median of the states: some are clipped at one step and not at the next."""
    rng = np.random.default_rng(0)
    shapes = lstm.parameter_shapes(LSTMOptions(dim=4, projection_dim=3, n_layers=1)).values()
    weights = lstm.LayerWeights(*(rng.normal(size=shape) for shape in shapes))
    inputs, upstream = rng.normal(size=(2, 2, 5, 2, 3))
    start = np.zeros((2, 2, 4)), np.zeros((2, 2, 3))

    def read(inputs: FloatArray, clip: float) -> lstm.LayerTrace:
        options = LSTMOptions(dim=4, projection_dim=3, n_layers=1, proj_clip=clip)
        return lstm.layer_forward(inputs, weights, [2] * 5, *start, options)

    clip = float(np.median(np.abs(read(inputs, 1e9).states[:, 1:])))
    trace = read(inputs, clip)
    assert 0.2 < (np.abs(trace.states[:, 1:]) == clip).mean() < 0.8
    options = LSTMOptions(dim=4, projection_dim=3, n_layers=1, proj_clip=clip)
    found, _ = lstm.layer_gradients(upstream, trace, weights, [2] * 5, options)
    measured = central_difference(
        lambda x: (read(x, clip).states[:, 1:] * upstream).sum(), inputs, 1e-6
    )
    np.testing.assert_allclose(found, measured, rtol=0, atol=1e-7)
