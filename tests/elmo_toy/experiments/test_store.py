"""Records: written whole, found by name, refused under another configuration."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from elmo_toy.experiments.store import OtherConfigurationError, Record, Store

RECORD = Record(
    name="senses/mixture/seed-0",
    configuration={"setting": {"seed": 0}, "fits": {"rates": (0.1, 0.2), "updates": 3}},
    scores={"test accuracy": 0.75, "new": 0.5},
    development=0.7,
    learning_rate=0.1,
    weights={"input": [0.5, 0.5]},
    gamma={"input": 1.5},
    parameters=7,
    source={"tokens": 10},
    versions={"numpy": "2"},
    seconds=0.25,
)


def test_what_is_put_is_found_again_by_another_store(tmp_path: Path) -> None:
    store = Store(tmp_path / "new folder")
    store.put(RECORD)
    found = Store(store.folder).get(RECORD.name, RECORD.configuration)
    assert found.scores == RECORD.scores
    assert (found.score, found.seed) == (0.75, 0)
    assert found == store.get(RECORD.name)


def test_each_task_has_its_file_with_a_line_a_record(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for name in ("senses/b", "senses/a", "ewt/a", "senses/b"):
        store.put(replace(RECORD, name=name))
    files = {path.name: path.read_text("utf-8").splitlines() for path in tmp_path.iterdir()}
    assert {name: len(lines) for name, lines in files.items()} == {
        "senses.jsonl": 2,
        "ewt.jsonl": 1,
    }
    assert [json.loads(line)["name"] for line in files["senses.jsonl"]] == ["senses/a", "senses/b"]
    assert len(store) == 3
    assert store.names() == {"senses/a", "senses/b", "ewt/a"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fits": {"rates": [0.1, 0.2], "updates": 4}}, "fits.updates: 3, now 4"),
        ({"fits": {"rates": [0.1], "updates": 3}}, r"fits.rates: \[0.1, 0.2\], now \[0.1\]"),
        ({"version": 2}, "version: 'nothing', now 2"),
    ],
)
def test_another_configuration_is_refused_by_name(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    store = Store(tmp_path)
    store.put(RECORD)
    with pytest.raises(OtherConfigurationError, match=f"^{RECORD.name}: .*{message}"):
        store.get(RECORD.name, {**RECORD.configuration, **change})


def test_a_missing_record_and_a_spoilt_line_are_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(KeyError, match="no record 'senses/x'"):
        store.get("senses/x")
    store.put(RECORD)
    with (tmp_path / "senses.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"name": "half a rec')
    with pytest.raises(ValueError, match=r"senses\.jsonl, line 2: expected a record"):
        Store(tmp_path)


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    """And not after the first result has been computed."""
    path = tmp_path / "records"
    path.touch()
    with pytest.raises(ValueError, match=rf"folder: expected a folder of records, .* {path}"):
        Store(path)


def test_a_write_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    store.put(RECORD)
    before = (tmp_path / "senses.jsonl").read_bytes()

    def full(self: Path, content: str, **_: object) -> int:
        with self.open("w", encoding="utf-8") as file:
            file.write(content[:20])
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="no space"):
        store.put(replace(RECORD, name="senses/b"))
    monkeypatch.undo()
    assert (tmp_path / "senses.jsonl").read_bytes() == before
    assert len(Store(tmp_path)) == 1
