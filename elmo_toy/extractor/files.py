"""What both caches' files share: who made them, and one error for all that can be wrong with one.

A file carries its header as an attribute of the HDF5 root: JSON in ASCII, of fixed length, so that
it stands in the object header, which HDF5 guards by a checksum (strings of variable length stand
where it doesn't).

Book: chapter 5, "Three caches".
"""

import contextlib
import dataclasses
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from elmo_toy.bilm.model import BiLM
from elmo_toy.extractor.frozen import fingerprint

Header = dict[str, Any]

HEADER = "elmo_toy"
LIBVER = ("v110", "v110")
"""Any HDF5 from version 1.10 reads it; older ones write no checksums of names and headers."""

DAMAGE = (OSError, RuntimeError, KeyError, TypeError, ValueError)
"""What h5py raises on files that are cut or changed."""


class CacheError(ValueError):
    """A cache that is missing, damaged or another model's; the message names file and place."""


def header_of(kind: str, model: BiLM, *, encoder_only: bool = False, **rest: Any) -> Header:
    """Which model, or which token encoder, makes a cache; ``rest`` is what else the cache notes."""
    options = model.options.encoder if encoder_only else model.options
    header: Header = {
        "kind": kind,
        "fingerprint": fingerprint(model, encoder_only=encoder_only),
        "dtype": model.dtype.name,
        "options": dataclasses.asdict(options),
        **rest,
    }
    read_back: Header = json.loads(json.dumps(header))  # tuples are lists in JSON
    return read_back


def write_header(file: h5py.File, header: Mapping[str, Any]) -> None:
    """Attach a header to an open file."""
    file.attrs[HEADER] = np.bytes_(json.dumps(header).encode("ascii"))


def read_header(file: h5py.File, kind: str, name: str) -> Header:
    """Header of an open file; a CacheError if it has none, or another kind's."""
    stored = file.attrs.get(HEADER)
    header: Any = None if stored is None else json.loads(bytes(stored))
    found = header.get("kind") if isinstance(header, dict) else None
    if not isinstance(header, dict) or found != kind:
        raise CacheError(
            f"{name}: expected a {kind} of this package, found "
            + ("an HDF5 file without its header" if found is None else f"a {found}")
        )
    return header


def refuse_another(header: Header, expected: Mapping[str, Any], name: str) -> None:
    """Raise a CacheError that names both sides of the first difference that matters."""
    for key, value in expected.items():
        if header.get(key) != value:
            raise CacheError(
                f"{name}: {key}: expected {_shown(value)}, as asked for now, "
                f"found {_shown(header.get(key))}, as this cache was made"
            )


def _shown(value: object) -> str:
    return repr(value[:12] + "…") if isinstance(value, str) and len(value) == 64 else repr(value)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """An HDF5 file to read; whatever is wrong with it becomes a CacheError that names it."""
    if not path.is_file():
        raise CacheError(f"{path.name}: expected a file at {path}, found none")
    with damage_named(path.name), h5py.File(path, "r") as file:
        yield file


@contextlib.contextmanager
def damage_named(place: str, whole: str = "HDF5 file") -> Iterator[None]:
    """Turn what is raised on damaged files into a CacheError that names the place."""
    try:
        yield
    except CacheError:
        raise
    except DAMAGE as error:
        raise CacheError(f"{place}: expected a whole {whole}, found damage ({error})") from error


def checksum(value: npt.NDArray[Any] | str) -> int:
    """CRC-32 of an array's bytes or of ASCII text: HDF5 has none for contiguous data.

    >>> checksum(np.zeros(2, dtype=np.float32)), checksum("bank")
    (1696784233, 3630219130)
    """
    if isinstance(value, str):
        return zlib.crc32(value.encode("ascii"))
    return zlib.crc32(np.ascontiguousarray(value).data)


def write_string(file: h5py.File, name: str, value: str) -> None:
    """Write one string as a (1,) dataset of variable-length strings, as AllenNLP's command does."""
    dataset = file.create_dataset(name, (1,), dtype=h5py.string_dtype(), track_times=False)
    dataset[0] = value
    dataset.attrs["crc32"] = np.uint32(checksum(value))


def read_string(file: h5py.File, name: str) -> str:
    """Read what `write_string` wrote; ValueError if it has changed."""
    dataset = file[name]
    value: str = dataset[0].decode("ascii")
    if checksum(value) != dataset.attrs["crc32"]:
        raise ValueError(f"{name} is not what was written")
    return value


def publish(part: Path, path: Path) -> None:
    """Give a finished file its name, at once and whole: its bytes are on the disk before that."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.replace(path)
