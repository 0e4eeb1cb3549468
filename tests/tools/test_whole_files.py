"""A file is there whole, or is what it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from whole_files import write_record, write_whole


def test_a_file_is_replaced_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "folder" / "out.pdf"
    write_whole(target, b"old")
    write_whole(target, b"new")
    assert target.read_bytes() == b"new"

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_whole(target, b"newer")
    assert target.read_bytes() == b"new"
    assert list(target.parent.iterdir()) == [target]


def test_a_new_file_can_be_read_by_all_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "a.ipynb"
    write_whole(target, b"one")
    assert target.stat().st_mode & 0o777 == 0o644
    target.chmod(0o600)
    write_whole(target, b"two")
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device without space")
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.ipynb"
    write_whole(target, b"one")
    opened = open
    monkeypatch.setattr("whole_files.os.fdopen", lambda *_: opened("/dev/full", "wb"))
    with pytest.raises(OSError, match="No space left"):
        write_whole(target, bytes(100_000))
    assert target.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [target]


def test_a_record_that_is_no_json_leaves_the_one_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    write_record(path, {"seeds": [1, 2]})
    assert path.read_text("utf-8") == '{\n "seeds": [\n  1,\n  2\n ]\n}\n'
    with pytest.raises(TypeError, match="not JSON serializable"):
        write_record(path, {"seeds": {1, 2}})
    assert '"seeds"' in path.read_text("utf-8")
    assert list(tmp_path.iterdir()) == [path]
