"""Records of what was measured: one line of JSON each, a file a task, written whole or not at all.

A record carries the configuration that it was measured under. Asked for under another one, it is
not used: `Store.get` names the record and what differs.

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SHIPPED = Path(__file__).parent / "records"
"""The records that come with the package; the book's tables are made from them."""

SMALL = SHIPPED / "small"
"""One record of `live.small_record`, which a test makes again."""


@dataclass(frozen=True)
class Record:
    """One result.

    Attributes
    ----------
    name : str
        See `conditions.Setting.name`.
    configuration : dict
        Everything that the result depends on: setting, condition, sizes, data with SHA-256.
    scores : dict
        By test and metric; the first is the task's own.
    development : float
        The same metric on the development sentences, by which the learning rate and the moment to
        stop were chosen.
    learning_rate : float
        The one chosen.
    weights, gamma : dict
        By place (``"input"``, ``"output"``, ``"after_first"``): the learned softmax weights (or
        coefficients) of the layers, and gamma. Empty where there are none.
    parameters : int
        How many numbers the reader and its combiners learn.
    source : dict
        What is known of the extractor: tokens, held-out perplexity or last loss, seconds.
    versions : dict
    seconds : float
        CPU time of all the fits, the extractor's training not counted.
    """

    name: str
    configuration: dict[str, Any]
    scores: dict[str, float]
    development: float
    learning_rate: float
    weights: dict[str, list[float]]
    gamma: dict[str, float]
    parameters: int
    source: dict[str, float]
    versions: dict[str, str]
    seconds: float

    @property
    def seed(self) -> int:
        """The seed of its setting."""
        return int(self.configuration["setting"]["seed"])

    @property
    def score(self) -> float:
        """The task's own metric on its own test."""
        return next(iter(self.scores.values()))


class OtherConfigurationError(ValueError):
    """A record of this name was measured under another configuration."""


class Store:
    """A folder of records.

    Raises
    ------
    ValueError
        If the folder is a file, or what is in it is no record.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()))
    >>> record = Record("t/c/seed-0", {"v": 1}, {"f1": 0.5}, 0.5, 0.1, {}, {}, 3, {}, {}, 0.0)
    >>> store.put(record)
    >>> Store(store.folder).get("t/c/seed-0", {"v": 1}) == record
    True

    Book: chapter 6, "Our own table".
    """

    def __init__(self, folder: Path = SHIPPED) -> None:
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"folder: expected a folder of records, got the file {folder}")
        self.folder = folder
        self._records: dict[str, Record] = {}
        for path in sorted(folder.glob("*.jsonl")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                try:
                    record = Record(**json.loads(line))
                except (TypeError, ValueError) as error:
                    raise ValueError(
                        f"{path}, line {number}: expected a record, got {line[:60]!r} ({error})"
                    ) from error
                self._records[record.name] = record

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def __len__(self) -> int:
        return len(self._records)

    def names(self) -> set[str]:
        """Of all records."""
        return set(self._records)

    def get(self, name: str, configuration: Mapping[str, Any] | None = None) -> Record:
        """Look a record up.

        Raises
        ------
        KeyError
            If there is none of this name.
        OtherConfigurationError
            If it was measured under another configuration than the given one.
        """
        if name not in self._records:
            raise KeyError(f"no record {name!r} in {self.folder}")
        record = self._records[name]
        if configuration is not None:
            # As JSON has it: tuples are lists there.
            differing = _differences(record.configuration, json.loads(json.dumps(configuration)))
            if differing:
                raise OtherConfigurationError(
                    f"{name}: recorded under another configuration ({'; '.join(differing)})"
                )
        return record

    def put(self, record: Record) -> None:
        """Add a record (or replace the one of its name) and write its task's file."""
        self._records[record.name] = Record(**json.loads(json.dumps(asdict(record))))
        task = record.name.partition("/")[0]
        lines = [
            json.dumps(asdict(one)) + "\n"
            for name, one in sorted(self._records.items())
            if name.partition("/")[0] == task
        ]
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"{task}.part"
        part.write_text("".join(lines), encoding="utf-8")
        part.replace(self.folder / f"{task}.jsonl")


def _differences(recorded: Any, wanted: Any, path: str = "") -> list[str]:
    """Say in words where two configurations differ."""
    if isinstance(recorded, dict) and isinstance(wanted, dict):
        return [
            line
            for key in sorted(recorded.keys() | wanted.keys())
            for line in _differences(
                recorded.get(key, "nothing"), wanted.get(key, "nothing"), f"{path}.{key}".strip(".")
            )
        ]
    return [] if recorded == wanted else [f"{path}: {recorded!r}, now {wanted!r}"]
