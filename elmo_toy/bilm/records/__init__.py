"""What was measured once because it takes too long for a chapter: one JSON file each."""

import json
from pathlib import Path
from typing import Any


def path(name: str) -> Path:
    """Where a record is."""
    return Path(__file__).parent / f"{name}.json"


def read(name: str) -> dict[str, Any]:
    """Read a record."""
    record: dict[str, Any] = json.loads(path(name).read_text(encoding="utf-8"))
    return record
