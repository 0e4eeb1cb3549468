"""The released sizes and the tiny model in their format."""

from __future__ import annotations

import numpy as np
import pytest

from elmo_toy.bilm.checkpoint import format_options, parse_options, read_checkpoint
from elmo_toy.bilm.released import RELEASED, TINY, contents, parameter_counts, write_tiny


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
