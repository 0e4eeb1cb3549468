"""Files that are written whole or not at all."""

import json
import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` beside `path` and move it there: no reader sees half a file.

    Its folder is made; a file that was there keeps its mode.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode if path.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        beside.chmod(mode)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_record(path: Path, record: object) -> None:
    """Write a measurement's record as JSON, whole or not at all."""
    write_whole(path, (json.dumps(record, indent=1) + "\n").encode())
