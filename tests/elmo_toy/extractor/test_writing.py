"""Killed, interrupted, damaged and called again: in the end the same bytes, or nothing."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import elmo_toy
from elmo_toy.bilm import load_pretrained
from elmo_toy.bilm.model import BiLM
from elmo_toy.extractor import FrozenExtractor
from elmo_toy.extractor import writing as writing_module
from elmo_toy.extractor.files import CacheError
from elmo_toy.extractor.layer_cache import LayerCache
from elmo_toy.extractor.writing import write_layer_cache

MakeModel = Callable[..., BiLM]

PART = 8
WORDS = ["the", "muddy", "bank", "old", "river"]
LINES = [[WORDS[(line * 7 + k) % 5] for k in range(line % 6)] for line in range(60)]

CHILD = """
import sys, time
from pathlib import Path
from elmo_toy.bilm import load_pretrained
from elmo_toy.extractor import FrozenExtractor, writing

writing.PART = {part}
LINES = {lines}

def stall():
    print("now", flush=True)
    time.sleep(600)

{sabotage}
writing.write_layer_cache({path!r}, FrozenExtractor(load_pretrained("toy-language")), LINES, 4)
"""

STALLS = {
    # Half of a part is in its file, under its temporary name.
    "in the middle of a part": """
write_part, parts = writing._write_part, []
def stalling(path, *rest):
    parts.append(0)
    if len(parts) == 4:
        path.with_suffix(".new").write_bytes(b"half of it")
        stall()
    write_part(path, *rest)
writing._write_part = stalling
""",
    # All parts are there; half of the sentences are in the file that is to be.
    "while the parts are put together": """
import h5py
create = h5py.File.create_dataset
def stalling(self, name, *args, **kwargs):
    if name == "30":
        self.flush()
        stall()
    return create(self, name, *args, **kwargs)
h5py.File.create_dataset = stalling
""",
    # The file has its name already; only the parts have not been removed.
    "before the parts are removed": """
writing.shutil.rmtree = lambda folder: stall()
""",
}


@pytest.fixture
def extractor() -> FrozenExtractor:
    return FrozenExtractor(load_pretrained("toy-language"))


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing_module, "PART", PART)


@pytest.mark.parametrize("stage", STALLS)
def test_killed_and_called_again_it_writes_the_bytes_of_an_unbroken_run(
    extractor: FrozenExtractor, tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unbroken, killed = tmp_path / "unbroken.hdf5", tmp_path / "killed.hdf5"
    write_layer_cache(unbroken, extractor, LINES, 4)
    code = CHILD.format(part=PART, lines=LINES, path=str(killed), sabotage=STALLS[stage])
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(elmo_toy.__file__).parents[1],
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "now\n"
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    assert killed.exists() is (stage == "before the parts are removed")
    done = len(list((tmp_path / "killed.hdf5.parts").glob("*.part")))
    assert done == (3 if stage == "in the middle of a part" else 8)

    calls: list[int] = []
    embed = FrozenExtractor.embed

    def counting(self: FrozenExtractor, sentences: list[list[str]], *rest: int) -> object:
        calls.append(len(sentences))
        return embed(self, sentences, *rest)

    monkeypatch.setattr(FrozenExtractor, "embed", counting)
    write_layer_cache(killed, extractor, LINES, 4)
    assert len(calls) == 8 - done  # what was done is not done again
    assert killed.read_bytes() == unbroken.read_bytes()
    with LayerCache(killed, extractor) as one, LayerCache(unbroken, extractor) as other:
        assert [a.tobytes() for a in one] == [b.tobytes() for b in other]
    assert {path.name for path in tmp_path.iterdir()} == {"unbroken.hdf5", "killed.hdf5"}


def test_two_do_not_write_one_file(
    extractor: FrozenExtractor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HDF5 empties a file before it finds it locked: the first one's numbers would be gone."""
    path, alone = tmp_path / "layers.hdf5", tmp_path / "alone.hdf5"
    write_layer_cache(alone, extractor, LINES, 4)
    create, refused = h5py.File.create_dataset, []

    def meanwhile(self: h5py.File, name: str, *rest: object, **more: object) -> object:
        if name == "30":
            with pytest.raises(CacheError, match=r"layers.hdf5.parts: .* found another"):
                write_layer_cache(path, extractor, LINES, 4)
            refused.append(name)
        return create(self, name, *rest, **more)

    monkeypatch.setattr(h5py.File, "create_dataset", meanwhile)
    write_layer_cache(path, extractor, LINES, 4)
    assert refused
    assert path.read_bytes() == alone.read_bytes()
    assert {entry.name for entry in tmp_path.iterdir()} == {"alone.hdf5", "layers.hdf5"}


def interrupted(extractor: FrozenExtractor, path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stop after three parts, as Ctrl-C does."""
    calls: list[int] = []
    embed = FrozenExtractor.embed

    def stopping(self: FrozenExtractor, *arguments: object) -> object:
        calls.append(0)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return embed(self, *arguments)  # type: ignore[arg-type] # whatever came

    with monkeypatch.context() as patch:
        patch.setattr(FrozenExtractor, "embed", stopping)
        with pytest.raises(KeyboardInterrupt):
            write_layer_cache(path, extractor, LINES, 4)
    assert not path.exists()
    return path.with_name(f"{path.name}.parts")


@pytest.mark.parametrize(
    "damage", ["cut", "changed", "changed in a line", "emptied", "of other sentences"]
)
def test_a_damaged_part_is_extracted_again(
    extractor: FrozenExtractor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    write_layer_cache(tmp_path / "unbroken.hdf5", extractor, LINES, 4)
    parts = interrupted(extractor, tmp_path / "layers.hdf5", monkeypatch)
    part = parts / "8.part"
    stored = bytearray(part.read_bytes())
    if damage == "cut":
        del stored[len(stored) // 2 :]
    elif damage == "changed":
        stored[len(stored) // 2] ^= 1
    elif damage == "changed in a line":
        stored[stored.index(b"[3, 0, ") + 1] ^= 4  # the shape of a sentence without numbers
    elif damage == "emptied":
        stored.clear()
    else:
        writing_module._write_part(part, extractor, LINES[:7], 4)
        stored = bytearray(part.read_bytes())
    part.write_bytes(stored)
    write_layer_cache(tmp_path / "layers.hdf5", extractor, LINES, 4)
    layers, unbroken = tmp_path / "layers.hdf5", tmp_path / "unbroken.hdf5"
    assert layers.read_bytes() == unbroken.read_bytes()


def test_damage_between_writing_a_part_and_reading_it_again_is_named(
    extractor: FrozenExtractor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_part = writing_module._write_part

    def writing_badly(path: Path, *rest: object) -> None:
        write_part(path, *rest)  # type: ignore[arg-type] # whatever came
        path.write_bytes(path.read_bytes()[:-1])

    monkeypatch.setattr(writing_module, "_write_part", writing_badly)
    with pytest.raises(CacheError, match=r"0\.part: expected a whole part, found damage"):
        write_layer_cache(tmp_path / "layers.hdf5", extractor, LINES, 4)
    assert not (tmp_path / "layers.hdf5").exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("model", "fingerprint: expected '.*…', as asked for now, found '"),
        ("boundaries", "keep_boundaries: expected True, as asked for now, found False"),
        ("text", "text: expected '.*…', as asked for now, found '"),
        ("batch size", "batch_size: expected 5, as asked for now, found 4"),
    ],
)
def test_an_interrupted_cache_is_not_gone_on_with_by_another(
    extractor: FrozenExtractor,
    make_model: MakeModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: str,
    named: str,
) -> None:
    path = tmp_path / "layers.hdf5"
    interrupted(extractor, path, monkeypatch)
    lines, batch_size = LINES, 4
    if change == "model":
        extractor = FrozenExtractor(make_model(dtype=np.float32))
    elif change == "boundaries":
        extractor = FrozenExtractor(extractor.model, keep_boundaries=True)
    elif change == "text":
        lines = [*LINES[:-1], ["bank"]]
    else:
        batch_size = 5
    with pytest.raises(CacheError, match=rf"layers.hdf5.parts \(an interrupted cache\): {named}"):
        write_layer_cache(path, extractor, lines, batch_size)
    assert not path.exists()


def test_an_existing_file_is_left_alone(extractor: FrozenExtractor, tmp_path: Path) -> None:
    path = tmp_path / "layers.hdf5"
    write_layer_cache(path, extractor, [["bank"]])
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="path: expected a new file"):
        write_layer_cache(path, extractor, [["bank"]])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("left", "message"),
    [
        ({"mine.txt": "precious"}, "expected a new folder .* found mine.txt and no plan.json"),
        ({"plan.json": "{cut"}, "plan.json: .* found damage .*; remove the folder to begin anew"),
        ({"plan.json": "[1]"}, "plan.json: .* found damage"),
    ],
    ids=str,
)
def test_a_folder_that_no_interrupted_call_left_is_not_touched(
    extractor: FrozenExtractor, tmp_path: Path, left: dict[str, str], message: str
) -> None:
    """The folder is removed when the cache is finished, so nobody else's may be taken for it."""
    folder = tmp_path / "layers.hdf5.parts"
    folder.mkdir()
    for name, content in left.items():
        (folder / name).write_text(content)
    with pytest.raises(CacheError, match=rf"layers.hdf5.parts: {message}"):
        write_layer_cache(tmp_path / "layers.hdf5", extractor, LINES)
    assert {path.name: path.read_text() for path in folder.iterdir()} == left


def test_a_kill_before_the_plan_was_written_leaves_a_folder_that_is_gone_on_with(
    extractor: FrozenExtractor, tmp_path: Path
) -> None:
    folder = tmp_path / "layers.hdf5.parts"
    folder.mkdir()
    (folder / "plan.json.new").write_text("{half")
    write_layer_cache(tmp_path / "layers.hdf5", extractor, LINES)
    assert [path.name for path in tmp_path.iterdir()] == ["layers.hdf5"]


def test_a_stateful_extractor_is_refused(extractor: FrozenExtractor, tmp_path: Path) -> None:
    """What it carries over belongs to no sentence, and could not be gone on with after a kill."""
    stateful = FrozenExtractor(extractor.model, stateful=True)
    with pytest.raises(ValueError, match="extractor: expected a stateless one"):
        write_layer_cache(tmp_path / "layers.hdf5", stateful, LINES)
    assert list(tmp_path.iterdir()) == []


def test_no_sentence_and_no_batch_leave_nothing_behind(
    extractor: FrozenExtractor, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="sentences: expected at least one sentence, got none"):
        write_layer_cache(tmp_path / "layers.hdf5", extractor, [])
    with pytest.raises(ValueError, match="batch_size: expected at least 1, got 0"):
        write_layer_cache(tmp_path / "layers.hdf5", extractor, LINES, 0)
    with pytest.raises(TypeError, match=r"batch_size: expected an integer, got 2\.5"):
        write_layer_cache(tmp_path / "q.hdf5", extractor, LINES, 2.5)  # type: ignore[arg-type] # odd
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("leads_to", ["nowhere", "layers.hdf5", "folder/file"])
def test_a_link_is_never_replaced(
    extractor: FrozenExtractor, tmp_path: Path, leads_to: str
) -> None:
    """Neither one that leads nowhere, nor to itself, nor into a folder that is missing."""
    link = tmp_path / "layers.hdf5"
    link.symlink_to(leads_to)
    with pytest.raises(FileExistsError, match=r"path: expected a new file, .* a link that leads"):
        write_layer_cache(link, extractor, [["bank"]])
    assert link.is_symlink()
    assert list(tmp_path.iterdir()) == [link]


def test_what_was_done_is_kept_where_a_link_has_come_in_the_way(
    extractor: FrozenExtractor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, parts = tmp_path / "layers.hdf5", tmp_path / "layers.hdf5.parts"

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writing_module, "_assemble", stop)
        with pytest.raises(KeyboardInterrupt):
            write_layer_cache(path, extractor, LINES)
    done = sorted(parts.iterdir())
    path.symlink_to("nowhere")
    with pytest.raises(FileExistsError, match="a link that leads nowhere"):
        write_layer_cache(path, extractor, LINES)
    assert sorted(parts.iterdir()) == done
