"""The tagger: its equations, every gradient, padding, dropout, what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from elmo_toy._checks import Array
from elmo_toy.layer_norm import LayerNorm
from elmo_toy.task.combine import CombinerOptions
from elmo_toy.task.data import UNLABELLED, Tagged
from elmo_toy.task.options import TaggerOptions, parameter_shapes
from elmo_toy.task.tagger import Tagger

MakeBatch = Callable[..., Tagged]
CheckGradients = Callable[..., None]

BASE = TaggerOptions(n_tags=3, n_layers=3, dim=2, n_words=5, word_dim=2, units=2)
SETTINGS: list[dict[str, Any]] = [
    {},
    {"dropout": 0.4},
    {"n_words": 0, "word_dim": 0},
    {"attach": "output"},
    {"attach": "both", "dropout": 0.3},
    {"attach": "both", "n_words": 0, "word_dim": 0, "recurrent_layers": 2},
    {"attach": "none"},
    {"attach": "after_first", "recurrent_layers": 2, "dropout": 0.2},
    {"recurrent_layers": 0},
    {"recurrent_layers": 0, "n_words": 0, "word_dim": 0, "dropout": 0.5},
    {"recurrent_layers": 0, "attach": "none"},
    {"combiner": CombinerOptions(layer_norm=LayerNorm())},
    {"combiner": CombinerOptions("equal", learn_gamma=False), "attach": "both"},
    {"combiner": CombinerOptions("layer"), "attach": "after_first", "recurrent_layers": 2},
    {"combiner": CombinerOptions("free"), "attach": "output"},
    {"combiner": CombinerOptions("concatenation"), "dropout": 0.4},
    {"combiner": CombinerOptions("concatenation", width=2), "attach": "both"},
]


def make(dtype: type = np.float64, **settings: Any) -> Tagger:
    """Parameters as training might leave them; no bias stays exactly zero."""
    rng = np.random.default_rng(3)
    options = replace(BASE, **settings)
    start = Tagger.initialise(options, rng, np.float64).parameters
    noisy = {name: 1.5 * p + rng.normal(0, 0.3, p.shape) for name, p in start.items()}
    return Tagger(options, {name: value.astype(dtype) for name, value in noisy.items()})


# Gradients


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_gradient_is_the_central_difference(
    make_batch: MakeBatch, check_gradients: CheckGradients, settings: dict[str, Any]
) -> None:
    """Of every parameter and of the layers; dropout with the same masks at each call."""
    tagger, batch = make(**settings), make_batch()
    dropout = lambda: np.random.default_rng(7)  # noqa: E731  # the same draws each time

    def loss(arrays: dict[str, Array]) -> float:
        own = {name: value for name, value in arrays.items() if name != "layers"}
        layers = np.where(batch.mask[:, None, :, None], arrays["layers"], np.nan)
        return Tagger(tagger.options, own).loss(replace(batch, layers=layers), dropout())

    found = tagger.loss_and_gradients(batch, dropout())
    assert found.loss == tagger.loss(batch, dropout())
    assert not found.layers[~batch.mask[:, None].repeat(3, axis=1)].any()
    layers = np.where(batch.mask[:, None, :, None], batch.layers, 0)
    check_gradients(
        loss,
        tagger.parameters | {"layers": layers},
        found.parameters | {"layers": found.layers},
        may_be_zero=("layers",) if tagger.options.attach == "none" else (),
    )


def test_gradients_keep_the_dtype_and_the_arguments(make_batch: MakeBatch) -> None:
    for settings in SETTINGS:
        tagger, batch = make(np.float32, **settings), make_batch(dtype=np.float32)
        before = {name: value.tobytes() for name, value in tagger.parameters.items()}
        layers = batch.layers.tobytes()
        found = tagger.loss_and_gradients(batch, np.random.default_rng(0))
        assert found.parameters.keys() == tagger.parameters.keys()
        dtypes = {value.dtype for value in (*found.parameters.values(), found.layers)}
        assert dtypes == {np.dtype(np.float32)}, settings
        assert batch.layers.tobytes() == layers
        assert {name: value.tobytes() for name, value in tagger.parameters.items()} == before


# The equations


def test_a_tagger_without_recurrent_layers_is_a_softmax_of_words_and_mixture(
    make_batch: MakeBatch,
) -> None:
    tagger, batch = make(recurrent_layers=0), make_batch()
    p = tagger.parameters
    assert batch.words is not None
    exponentials = np.exp(p["input/logits"])
    weights = p["input/gamma"] * exponentials / exponentials.sum()
    found = tagger.log_probabilities(batch)
    for row, place in zip(*np.nonzero(batch.mask), strict=True):
        e = sum(w * v for w, v in zip(weights, batch.layers[row, :, place], strict=True))
        x = p["words"][batch.words[row, place] - 1]
        scores = np.concatenate([x, e]) @ p["softmax/W"] + p["softmax/b"]
        expected = scores - np.log(np.exp(scores).sum())
        np.testing.assert_allclose(found[row, place], expected, rtol=0, atol=1e-13)


def test_the_loss_is_the_mean_over_labelled_tokens(make_batch: MakeBatch) -> None:
    tagger, batch = make(), make_batch()
    log_p = tagger.log_probabilities(batch)
    np.testing.assert_allclose(np.exp(log_p[batch.mask]).sum(axis=1), 1, atol=1e-12)
    assert not log_p[~batch.mask].any()
    picked = [
        log_p[row, place, tag] for (row, place), tag in np.ndenumerate(batch.tags) if tag >= 0
    ]
    assert len(picked) == batch.n_labelled == 4
    assert tagger.loss(batch) == pytest.approx(-np.mean(picked), abs=1e-13)


def test_where_the_layers_come_in_decides_what_reads_them(make_batch: MakeBatch) -> None:
    """At the output a token's own layers count alone; before a recurrent layer its neighbours' do.

    (The tagger's recurrent layers read words in both cases.)
    """
    batch = make_batch(pads=0.0)
    changed = batch.layers.copy()
    changed[0, :, 1] += 1.0
    other = replace(batch, layers=changed)
    reaches = {"input": [0, 1, 2], "output": [1], "none": [], "after_first": [0, 1, 2]}
    for attach, places in reaches.items():
        tagger = make(attach=attach, recurrent_layers=2)
        differs = (tagger.log_probabilities(batch) != tagger.log_probabilities(other)).any(axis=2)
        assert np.argwhere(differs).tolist() == [[0, place] for place in places], attach


def test_two_mixtures_start_equal_and_part_after_one_step(make_batch: MakeBatch) -> None:
    options = replace(BASE, attach="both")
    tagger = Tagger.initialise(options, np.random.default_rng(0), np.float64)
    batch = make_batch()
    outputs = [
        tagger.combiner(place).forward(batch.layers, batch.mask) for place in ("input", "output")
    ]
    assert np.array_equal(*outputs)
    gradients = tagger.loss_and_gradients(batch).parameters
    assert np.abs(gradients["input/logits"] - gradients["output/logits"]).max() > 1e-3


# Padding


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_padding_takes_no_part(make_batch: MakeBatch, settings: dict[str, Any]) -> None:
    """Other garbage in the pads, or more pads: the same loss and gradients, to the bit."""
    tagger = make(**settings, dropout=0.0) if "dropout" not in settings else make(**settings)
    plain = tagger.loss_and_gradients(make_batch(pads=0.0))
    garbage = tagger.loss_and_gradients(make_batch(pads=np.inf))
    wider = tagger.loss_and_gradients(make_batch(extra=3))
    assert plain.loss == garbage.loss
    assert wider.loss == pytest.approx(plain.loss, abs=1e-14)
    for name, gradient in plain.parameters.items():
        assert np.array_equal(gradient, garbage.parameters[name]), name
        np.testing.assert_allclose(wider.parameters[name], gradient, rtol=0, atol=1e-14)
    assert np.array_equal(plain.layers, garbage.layers)


def test_a_sentence_alone_is_itself_in_a_batch(make_batch: MakeBatch) -> None:
    tagger, batch = make(attach="both"), make_batch()
    together = tagger.log_probabilities(batch)
    losses = []
    for row, length in enumerate(batch.lengths):
        alone = batch.rows(np.array([row]))
        assert alone.mask.shape == (1, length)
        np.testing.assert_allclose(
            tagger.log_probabilities(alone)[0], together[row, :length], rtol=0, atol=1e-13
        )
        losses.append(tagger.loss(alone) * alone.n_labelled)
    assert sum(losses) == pytest.approx(tagger.loss(batch) * batch.n_labelled, abs=1e-12)


def test_single_labelled_tokens_are_enough_for_a_linear_tagger(make_batch: MakeBatch) -> None:
    tagger, batch = make(recurrent_layers=0), make_batch()
    whole, parts = (tagger.loss_and_gradients(data) for data in (batch, batch.labelled_tokens()))
    assert parts.loss == pytest.approx(whole.loss, abs=1e-14)
    for name, gradient in whole.parameters.items():
        np.testing.assert_allclose(parts.parameters[name], gradient, rtol=0, atol=1e-14)


def test_unlabelled_tokens_are_read_but_not_asked(make_batch: MakeBatch) -> None:
    """As context a token counts; its own score doesn't."""
    batch = make_batch()
    assert batch.tags[0, 1] == UNLABELLED
    changed = batch.layers.copy()
    changed[0, :, 1] += 1.0
    other = replace(batch, layers=changed)
    assert make(recurrent_layers=1).loss(batch) != make(recurrent_layers=1).loss(other)
    assert make(recurrent_layers=0).loss(batch) == make(recurrent_layers=0).loss(other)


# Dropout


def test_dropout_is_for_training_and_keeps_the_mean(make_batch: MakeBatch) -> None:
    batch = make_batch()
    tagger = make(recurrent_layers=0, dropout=0.5)
    assert tagger.loss(batch) == make(recurrent_layers=0).loss(batch)
    assert tagger.loss(batch, np.random.default_rng(0)) != tagger.loss(batch)
    # The scores are linear in what is dropped: their mean over draws is the score without.
    rng = np.random.default_rng(0)
    draws = np.mean([tagger._forward(batch, rng).tops for _ in range(4000)], axis=0)
    np.testing.assert_allclose(draws, tagger._forward(batch, None).tops, atol=0.12)


def test_dropout_drops_its_share_before_every_layer_and_the_softmax(make_batch: MakeBatch) -> None:
    tagger, batch = make(attach="both", recurrent_layers=2, dropout=0.3), make_batch(extra=500)
    trace = tagger._forward(batch, np.random.default_rng(0))
    assert [None if k is None else k.shape[2] for k in trace.kept] == tagger.options.widths()
    for kept in trace.kept:
        assert kept is not None
        assert set(np.unique(kept).round(12)) == {0.0, round(1 / 0.7, 12)}
        assert (kept == 0).mean() == pytest.approx(0.3, abs=0.03)


# Sizes


def test_parameters_are_counted_and_named() -> None:
    options = TaggerOptions(
        7, 3, 64, 210, 16, 32, 2, "after_first", CombinerOptions("layer", learn_gamma=False)
    )  # TagLM: the top layer, no mixture, after the first of two recurrent layers
    assert {name: shape for name, shape in parameter_shapes(options).items() if "W" in name} == {
        "recurrent_0/W_0": (2, 16 + 32, 128),
        "recurrent_0/W_P_0": (2, 32, 32),
        "recurrent_1/W_0": (2, 64 + 64 + 32, 128),
        "recurrent_1/W_P_0": (2, 32, 32),
        "softmax/W": (64, 7),
    }
    assert not [name for name in parameter_shapes(options) if "gamma" in name or "logits" in name]
    both = make(attach="both")
    assert sorted(name for name in both.parameters if "put/" in name) == [
        "input/gamma", "input/logits", "output/gamma", "output/logits",
    ]  # fmt: skip
    assert both.n_parameters == sum(np.prod(s) for s in parameter_shapes(both.options).values())


def test_a_copy_has_parameters_of_its_own() -> None:
    tagger = make()
    copied = tagger.copy()
    copied.parameters["softmax/b"] += 1.0
    assert not np.array_equal(copied.parameters["softmax/b"], tagger.parameters["softmax/b"])


# Refusals


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_tags": 0}, "n_tags: expected at least 1, got 0"),
        ({"recurrent_layers": -1}, "recurrent_layers: expected at least 0, got -1"),
        ({"word_dim": 0}, "n_words, word_dim: expected both 0 or both above, got 5, 0"),
        ({"dropout": 1.0}, "dropout: expected at least 0 and below 1, got 1.0"),
        ({"attach": "top"}, "attach: expected 'input', .* got 'top'"),
        ({"attach": "both", "recurrent_layers": 0}, "at least 1 for attach='both', got 0"),
        ({"attach": "after_first"}, "at least 2 for attach='after_first', got 1"),
        ({"attach": "none", "n_words": 0, "word_dim": 0}, "word_dim: expected at least 1 for"),
    ],
    ids=str,
)
def test_options_that_cannot_be_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(BASE, **settings)


def test_parameters_that_contradict_the_options_are_named() -> None:
    tagger = make()
    for change, message in (
        ({"softmax/b": np.zeros(2)}, r"'softmax/b'\]: expected \(3,\), got \(2,\)"),
        ({"output/gamma": np.zeros(1)}, r"'output/gamma'\]: expected nothing, got \(1,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            Tagger(tagger.options, tagger.parameters | change)
    mixed = tagger.parameters | {"softmax/b": np.zeros(3, dtype=np.float32)}
    with pytest.raises(ValueError, match="all float32 or all float64, got float32, float64"):
        Tagger(tagger.options, mixed)


def test_a_batch_that_does_not_fit_is_named(make_batch: MakeBatch) -> None:
    tagger, batch = make(), make_batch()
    with pytest.raises(
        ValueError, match=r"3 layers of 2 dimensions, float64 .* got 2 of 2, float64"
    ):
        tagger.loss(make_batch(n_layers=2))
    with pytest.raises(ValueError, match="got 3 of 2, float32"):
        tagger.loss(make_batch(dtype=np.float32))
    with pytest.raises(ValueError, match="words: expected ids up to 5, got none"):
        tagger.loss(replace(batch, words=None))
    with pytest.raises(ValueError, match="words: expected ids up to 5, got 9"):
        tagger.loss(make_batch(n_words=9))
    with pytest.raises(ValueError, match=r"tags below 3, got 4 labelled, the largest tag [3-8]"):
        tagger.loss(make_batch(n_tags=9))
    with pytest.raises(ValueError, match=r"expected some labelled tokens, .* got 0 labelled"):
        tagger.loss(replace(batch, tags=np.full_like(batch.tags, UNLABELLED)))
    with pytest.raises(ValueError, match="place: expected one of input, got 'output'"):
        tagger.combiner("output")
