"""Bytes by formula are those of the files; what is still open is what can in fact be done."""

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import elmo_toy
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.released import RELEASED
from elmo_toy.extractor import FrozenExtractor
from elmo_toy.extractor.layer_cache import LayerCache
from elmo_toy.extractor.sizes import CHANGES, choices, measured_bytes
from elmo_toy.scalar_mix import ScalarMix

MakeModel = Callable[..., BiLM]

SENTENCES = [["the", "river", "bank", "flooded"], [], ["bank", "the"]] * 40


@pytest.fixture(params=[True, False], ids=["characters", "lookup"])
def extractor(request: pytest.FixtureRequest, make_model: MakeModel) -> FrozenExtractor:
    return FrozenExtractor(make_model(characters=request.param, dtype=np.float32))


def test_formula_bytes_are_those_of_the_datasets(
    extractor: FrozenExtractor, tmp_path: Path
) -> None:
    measured = measured_bytes(extractor, SENTENCES, tmp_path)
    spelled, table, layers, mixture = choices(extractor.model.options, 6)
    n_tokens = sum(len(sentence) for sentence in SENTENCES)
    assert n_tokens == 240
    with h5py.File(tmp_path / "layers.hdf5") as file:
        stored = sum(file[name].nbytes for name in file if name.isdecimal())
    assert stored == layers.stored_bytes * n_tokens / 1000
    with h5py.File(tmp_path / "tokens.hdf5") as file:
        assert file["embedding"].nbytes == table.table_bytes
    assert np.load(tmp_path / "mixture.npy").nbytes == mixture.stored_bytes * n_tokens / 1000
    files = {"token vectors": "tokens.hdf5", "all layers": "layers.hdf5"}
    assert measured == {
        "character ids": 0,
        **{name: (tmp_path / file).stat().st_size for name, file in files.items()},
        "one finished mixture": (tmp_path / "mixture.npy").stat().st_size,
    }
    ids = extractor.model.ids([["the"] * 998])  # two boundaries more
    assert ids.nbytes == spelled.ids_bytes


def test_released_size() -> None:
    """The released shapes (n, 3, tokens, 1024) float32, 50 characters, 793471 words of 512."""
    spelled, table, layers, mixture = choices(RELEASED["original"], 793_471)
    assert layers.stored_bytes == 1000 * 3 * 1024 * 4
    assert mixture.stored_bytes == 1000 * 1024 * 4
    assert table.table_bytes == 793_471 * 512 * 4
    assert spelled.ids_bytes == 1000 * 50 * 8
    assert choices(RELEASED["original"], 9, itemsize=8)[2].stored_bytes == 2 * layers.stored_bytes


def test_each_choice_keeps_less_open_than_the_one_before() -> None:
    open_sets = [choice.still_open for choice in choices(RELEASED["small"], 9)]
    assert open_sets[0] == set(CHANGES)
    for wider, narrower in itertools.pairwise(open_sets):
        assert narrower < wider


def test_a_finished_mixture_gives_another_gamma_but_no_other_weights(
    extractor: FrozenExtractor, tmp_path: Path
) -> None:
    """All layers give both. From the mixture, no factor reaches the other weights."""
    measured_bytes(extractor, SENTENCES, tmp_path)
    mixture = np.load(tmp_path / "mixture.npy")
    with LayerCache(tmp_path / "layers.hdf5") as cache:
        layers, mask = next(cache.batches(len(cache)))
    equal = ScalarMix.from_logits([0, 0, 0], gamma=2.5).mix(layers, mask)[mask]
    np.testing.assert_allclose(2.5 * mixture, equal, rtol=1e-5, atol=1e-6)
    top = ScalarMix.from_logits([0, 0, 2]).mix(layers, mask)[mask]
    factor = (mixture * top).sum() / (mixture * mixture).sum()
    assert np.abs(factor * mixture - top).max() > 0.1


def test_extracting_and_mixing_need_no_hdf5() -> None:
    code = "import elmo_toy.extractor, sys; print('h5py' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(elmo_toy.__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "False\n"
