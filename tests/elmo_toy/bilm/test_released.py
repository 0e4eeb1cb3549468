"""The released sizes and the tiny model in their format."""

from __future__ import annotations

import numpy as np
import pytest

from elmo_toy.bilm.checkpoint import format_options, parse_options, read_checkpoint
from elmo_toy.bilm.released import (
    RELEASED,
    TINY,
    contents,
    misreadings,
    parameter_counts,
    write_tiny,
)


@pytest.mark.parametrize(
    ("name", "millions"), [("small", 13.6), ("medium", 28.0), ("original", 93.6)]
)
def test_counts_are_the_published_ones(name: str, millions: float) -> None:
    assert round(sum(parameter_counts(RELEASED[name]).values()) / 1e6, 1) == millions


def test_options_survive_the_options_file() -> None:
    for options in (*RELEASED.values(), TINY):
        assert parse_options(format_options(options)) == options


def test_what_is_written_is_what_is_read() -> None:
    model, folder = write_tiny(seed=3)
    read = read_checkpoint(folder, np.float64)
    assert read.parameters.keys() == model.parameters.keys()
    for name, value in model.parameters.items():
        np.testing.assert_array_equal(read.parameters[name], value)
    assert sorted(path.name for path in folder.iterdir()) == ["options.json", "weights.hdf5"]


def test_contents_hold_every_number_once() -> None:
    model, folder = write_tiny()
    found = contents(folder / "weights.hdf5")
    assert sum(int(np.prod(dataset.shape)) for dataset in found) == sum(
        parameter_counts(model.options).values()
    )
    assert {dataset.dtype for dataset in found} == {"float32"}
    shapes = {dataset.name: dataset.shape for dataset in found}
    assert shapes["RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell/W_0"] == (12, 64)


def test_each_tiny_model_has_a_folder_of_its_own() -> None:
    assert write_tiny()[1] != write_tiny()[1]


def test_misreadings_are_the_mistakes_that_they_are_called() -> None:
    model, _ = write_tiny()
    wrong = misreadings(model)
    name, dim = "Cell0/W_0", model.options.lstm.dim
    i, j, f, o = np.split(model.parameters[name], 4, axis=2)
    swapped = wrong["gates i, f, j, o"].parameters[name]
    np.testing.assert_array_equal(swapped, np.concatenate([i, f, j, o], axis=2))
    change = wrong["no added 1"].parameters["Cell1/B"] - model.parameters["Cell1/B"]
    expected = np.zeros((2, 4, dim))
    expected[:, 2] = -1
    np.testing.assert_allclose(change, expected.reshape(2, -1), atol=1e-12)
    carry = wrong["carry the wrong way"].parameters["CNN_high_0/b_carry"]
    np.testing.assert_array_equal(carry, -model.parameters["CNN_high_0/b_carry"])
    assert not wrong["no residual"].options.lstm.use_skip_connections


def test_each_misreading_changes_the_top_layer_and_none_the_model_itself() -> None:
    model, _ = write_tiny()
    before = model.embed([["river", "bank"]]).layers
    for name, wrong in misreadings(model).items():
        assert np.abs(wrong.embed([["river", "bank"]]).layers[:, 2] - before[:, 2]).max() > 0.1, (
            name
        )
    np.testing.assert_array_equal(model.embed([["river", "bank"]]).layers, before)
