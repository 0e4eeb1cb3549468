"""One result whatever computes it: here, processes, a cluster; stopped and gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from elmo_toy.experiments import run as run_module
from elmo_toy.experiments.conditions import CONDITIONS, Setting
from elmo_toy.experiments.data import Corpus
from elmo_toy.experiments.run import Sizes, groups, run, run_group
from elmo_toy.experiments.store import Record, Store

Load = Callable[[str], Corpus]
SETTINGS = [
    Setting(task, condition, seed, labels=1.0)
    for seed in (0, 1)
    for task in ("senses", "noun_verb")
    for condition in ("mixture", "layer_2", "untrained")
]


def measured(store: Store) -> dict[str, Record]:
    """Without what a clock says."""
    return {
        record.name: replace(record, seconds=0.0, source={**record.source, "seconds": 0.0})
        for record in store
    }


@pytest.fixture(scope="module")
def expected(tiny_load: Load, tiny_sizes: Sizes) -> dict[str, Record]:
    """Group by group, without any executor."""
    corpus = tiny_load("toy")
    records = [
        record for group in groups(SETTINGS) for record in run_group(corpus, group, tiny_sizes)
    ]
    store = Store(Path("nowhere"))
    store._records = {
        record.name: Record(**json.loads(json.dumps(vars(record)))) for record in records
    }
    return measured(store)


def test_records_say_what_they_are(expected: dict[str, Record], tiny_sizes: Sizes) -> None:
    assert list(expected) == [
        name for g in groups(SETTINGS) for name in (s.name for s in g.settings)
    ]
    for setting in SETTINGS:
        record = expected[setting.name]
        assert record.configuration["setting"] == vars(setting)
        assert record.configuration["source"]["tokens"] == 600
        assert record.seed == setting.seed
        assert set(record.versions) == {"python", "numpy"}
        names = ["test", "new_cues", "two_cues"] if setting.task == "senses" else ["test"]
        assert list(record.scores) == [f"{name} accuracy" for name in names]
        assert record.learning_rate in (0.03, 0.1)
        kind = CONDITIONS[setting.condition].combiner.kind
        weights, gamma = record.weights["input"], record.gamma["input"]
        if kind == "mixture":
            assert sum(weights) == pytest.approx(1, abs=1e-4)
            assert gamma != 1.0
        else:
            assert (weights, gamma) == ([0, 0, 1], 1.0)
    sizes = {name.split("/")[1]: record.parameters for name, record in expected.items()
             if name.startswith("senses")}  # fmt: skip
    assert sizes["mixture"] == sizes["untrained"] == sizes["layer_2"] + 4
    assert expected[SETTINGS[2].name].source == {"tokens": 0, "seconds": 0.0}


def test_each_seed_trains_a_language_model_of_its_own(expected: dict[str, Record]) -> None:
    perplexity = {
        setting.seed: {expected[s.name].source["perplexity"] for s in SETTINGS
                       if s.seed == setting.seed and s.condition != "untrained"}
        for setting in SETTINGS
    }  # fmt: skip
    assert all(len(found) == 1 for found in perplexity.values())  # one for all its conditions
    assert perplexity[0] != perplexity[1]


def test_seeds_differ_and_a_seed_has_one_draw_of_labels(tiny_corpus: Corpus) -> None:
    task = replace(tiny_corpus.tasks["senses"], groups=1)
    drawn = [
        run_module._Drawn(task, Setting("senses", condition, seed, labels=0.2))._labelled.sentences
        for seed, condition in ((0, "mixture"), (0, "bag_of_words"), (1, "mixture"))
    ]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_here(
    here: Executor, tiny_load: Load, tiny_sizes: Sizes, expected: dict[str, Record], tmp_path: Path
) -> None:
    store = Store(tmp_path / "records")
    done = run(SETTINGS, store, tiny_load, here, sizes=tiny_sizes, cache=tmp_path / "c", at_most=2)
    assert set(done) == set(expected)
    assert measured(Store(store.folder)) == expected


def test_processes(
    tiny_load: Load, tiny_sizes: Sizes, expected: dict[str, Record], tmp_path: Path
) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        run(SETTINGS, Store(tmp_path), tiny_load, executor, sizes=tiny_sizes)
    assert measured(Store(tmp_path)) == expected


def test_a_cluster(
    tiny_load: Load, tiny_sizes: Sizes, expected: dict[str, Record], tmp_path: Path
) -> None:
    """The executor of a Dask client; its workers here are threads, elsewhere other machines."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library's own: ports, deprecations of its parts
        from distributed import Client, LocalCluster

        with (
            LocalCluster(
                n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
            ) as cluster,
            Client(cluster) as client,
        ):
            run(SETTINGS, Store(tmp_path), tiny_load, client.get_executor(), sizes=tiny_sizes)
    assert measured(Store(tmp_path)) == expected


def test_what_is_recorded_is_not_computed_again(
    here: Executor, tiny_load: Load, tiny_sizes: Sizes, tmp_path: Path
) -> None:
    store = Store(tmp_path)
    first = run(SETTINGS[:2], store, tiny_load, here, sizes=tiny_sizes)
    before = {record.name: record.seconds for record in store}
    done = run(SETTINGS[:5], Store(tmp_path), tiny_load, here, sizes=tiny_sizes)
    assert sorted(first + done) == sorted(setting.name for setting in SETTINGS[:5])
    after = {record.name: record.seconds for record in Store(tmp_path)}
    assert before.items() <= after.items()
    assert run(SETTINGS[:5], Store(tmp_path), tiny_load, here, sizes=tiny_sizes) == []


def test_a_record_of_another_configuration_is_named_and_computed_again(
    here: Executor, tiny_load: Load, tiny_sizes: Sizes, tmp_path: Path, capsys: Any
) -> None:
    run(SETTINGS[2:3], Store(tmp_path), tiny_load, here, sizes=tiny_sizes)
    linear = replace(tiny_sizes.fits.linear, updates=7)
    more = replace(tiny_sizes, fits=replace(tiny_sizes.fits, linear=linear))
    done = run(SETTINGS[2:3], Store(tmp_path), tiny_load, here, sizes=more, progress=sys.stdout)
    assert done == [SETTINGS[2].name]
    said = capsys.readouterr().out
    assert f"{SETTINGS[2].name}: recorded under another configuration" in said
    assert "fits.updates: 6, now 7" in said
    (record,) = Store(tmp_path)
    assert record.configuration["fits"]["updates"] == 7


def test_a_group_that_fails_is_raised_after_the_others_were_stored(
    here: Executor, tiny_load: Load, tiny_sizes: Sizes, tmp_path: Path
) -> None:
    settings = [Setting("senses", "bag_of_words", 0, labels=1.0), *SETTINGS[:1]]
    small = {"toy": replace(tiny_sizes.sources["toy"], learning_rate=float("nan"))}
    with pytest.raises(ValueError, match="learning_rate: expected a finite number"):
        run(settings, Store(tmp_path), tiny_load, here, sizes=replace(tiny_sizes, sources=small))
    assert Store(tmp_path).names() == {settings[0].name}


def test_a_killed_run_goes_on(
    here: Executor, tiny_load: Load, tiny_sizes: Sizes, expected: dict[str, Record], tmp_path: Path
) -> None:
    """Killed for good while it computes, after its first records were written."""
    script = textwrap.dedent(
        """
        import pickle, sys, time
        from pathlib import Path
        from concurrent.futures import Executor, Future
        from elmo_toy.experiments.run import run
        from elmo_toy.experiments.store import Store

        class Slow(Executor):
            def submit(self, function, /, *arguments):
                future = Future()
                future.set_result(function(*arguments))
                return future

        class Slowing(Store):
            def put(self, record):
                super().put(record)
                print("stored", flush=True)
                time.sleep(1)

        settings, corpus, sizes = pickle.loads(sys.stdin.buffer.read())
        run(settings, Slowing(Path(sys.argv[1])), lambda name: corpus, Slow(), sizes=sizes)
        """
    )
    import pickle

    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        cwd=Path(run_module.__file__).parents[2],
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(pickle.dumps((SETTINGS, tiny_load("toy"), tiny_sizes)))
        process.stdin.close()
        assert process.stdout.readline() == b"stored\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = {record.name: record.seconds for record in Store(tmp_path)}
    assert 0 < len(kept) < len(SETTINGS)
    done = run(SETTINGS, Store(tmp_path), tiny_load, here, sizes=tiny_sizes)
    assert set(done) == set(expected) - set(kept)
    assert measured(Store(tmp_path)) == expected
    assert kept.items() <= {record.name: record.seconds for record in Store(tmp_path)}.items()


def test_parts_of_groups_keep_the_plans_order() -> None:
    found = groups(SETTINGS, at_most=2)
    assert [group.name for group in found] == [
        "toy bilm seed 0: 2 settings",
        "toy untrained seed 0: 2 settings",
        "toy bilm seed 1: 2 settings",
        "toy untrained seed 1: 2 settings",
        "toy bilm seed 0: 2 settings",
        "toy bilm seed 1: 2 settings",
    ]
    assert sorted(s.name for g in found for s in g.settings) == sorted(s.name for s in SETTINGS)
    assert groups([]) == []
