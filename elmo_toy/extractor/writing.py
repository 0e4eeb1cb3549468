"""Writing a layer cache so that neither a kill nor a full disk leaves half of one.

Extraction is the expensive part, so it is done in parts, each a small file of its own in
``NAME.parts`` beside the cache: written under another name, then renamed, so a part is whole or is
not there. When all parts are there they are put together into one file, which gets its name last.
Whoever calls again after an interruption goes on at the first missing part. Two who call at the
same time would write into the same files, so the second is refused.

Book: chapter 5, "Three caches".
"""

import contextlib
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import h5py
import numpy as np

from elmo_toy import text
from elmo_toy.bilm.token_encoder import FloatArray
from elmo_toy.extractor import files
from elmo_toy.extractor.frozen import FrozenExtractor, Sentences
from elmo_toy.extractor.layer_cache import (
    CHECKSUMS,
    INDEX,
    check_extractor,
    index_key,
    layer_header,
)
from elmo_toy.extractor.progress import Progress

if sys.platform != "win32":
    import fcntl

PART = 256
"""Sentences in a part: what an interruption loses at most, and what is in memory at a time."""


def write_layer_cache(
    path: Path | str,
    extractor: FrozenExtractor,
    sentences: Sentences,
    batch_size: int = 64,
    progress: TextIO | None = None,
) -> None:
    """Extract the layers of every sentence into a new file, or go on where a call was interrupted.

    A part is always extracted in the same batches, so an interrupted run leaves, in the end, the
    same bytes as one without an interruption.

    Parameters
    ----------
    path : a new file; ``NAME.parts`` beside it is made and removed again
    extractor : FrozenExtractor, stateless
    sentences : list of lists of tokens; order, equal sentences and empty ones are kept
    batch_size : int, how many sentences are read at a time
    progress : text stream for a progress bar

    Raises
    ------
    FileExistsError
        If there is a file, or a symbolic link, even one that leads nowhere.
    ValueError, TypeError
        If the extractor is stateful, or none; for a batch size that isn't a whole number above 0.
    CacheError
        If what an interrupted call left behind has another model, options, sentences or batch
        size; the message names both. Remove the folder to begin anew. If there is a folder
        ``NAME.parts`` that no such call left behind: it is not touched. If another call is writing
        the same file.

    Book: chapter 5, "Three caches".
    """
    path = Path(path)
    sentences = text.checked_sentences(sentences)
    check_extractor(extractor)
    if extractor.stateful:
        raise ValueError(
            "extractor: expected a stateless one, whose layers depend on the sentence alone, got "
            "stateful=True; what it carries over is not part of a sentence"
        )
    text.checked_count(batch_size, "batch_size")
    keys = [index_key(sentence) for sentence in sentences]
    header = layer_header(extractor) | {"sentences": len(sentences)}
    # One JSON string a sentence: where one ends is part of the text.
    digest = hashlib.sha256(json.dumps(keys).encode()).hexdigest()
    plan = header | {"text": digest, "batch_size": batch_size, "part": PART}
    folder = path.with_name(f"{path.name}.parts")
    if path.exists():
        if not folder.is_dir() or _read_plan(folder) != plan:
            raise FileExistsError(f"path: expected a new file, {path} exists")
    elif path.is_symlink():  # the file would take its place
        raise FileExistsError(f"path: expected a new file, {path} is a link that leads nowhere")
    else:
        folder.mkdir(exist_ok=True)
        with _alone(folder):
            _begin(folder, plan)
            starts = range(0, len(sentences), PART)
            with Progress(progress, len(sentences)) as bar:
                for start in starts:
                    part = sentences[start : start + PART]
                    if not _is_whole(folder / f"{start}.part", len(part)):
                        _write_part(folder / f"{start}.part", extractor, part, batch_size)
                    bar.advance(len(part))
            parts = (folder / f"{start}.part" for start in starts)
            _assemble(folder / path.name, parts, header, keys)
            files.publish(folder / path.name, path)
    shutil.rmtree(folder)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Refuse a second writer, as long as the first one's process lives; not on Windows."""
    if sys.platform == "win32":  # which locks no folder
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise files.CacheError(
                f"{folder.name}: expected to be the only writer, found another at work"
            ) from error
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(descriptor)


def _begin(folder: Path, plan: files.Header) -> None:
    """Make the folder of the parts this plan's, or find that it is."""
    found = _read_plan(folder)
    if found is not None:
        files.refuse_another(found, plan, f"{folder.name} (an interrupted cache)")
    else:
        part = folder / "plan.json.new"
        # It is removed in the end, so it has to be ours. A kill may have left a beginning.
        if others := sorted(entry.name for entry in folder.iterdir() if entry != part):
            raise files.CacheError(
                f"{folder.name}: expected a new folder or an interrupted cache's, "
                f"found {others[0]} and no plan.json"
            )
        part.write_text(json.dumps(plan), encoding="ascii")
        part.replace(folder / "plan.json")


def _read_plan(folder: Path) -> files.Header | None:
    plan = folder / "plan.json"
    if not plan.is_file():
        return None
    try:
        found: files.Header = dict(json.loads(plan.read_text(encoding="ascii")))
    except (ValueError, TypeError) as error:
        raise files.CacheError(
            f"{folder.name}: plan.json: expected what an interrupted cache left, found damage "
            f"({error}); remove the folder to begin anew"
        ) from error
    return found


def _write_part(
    path: Path, extractor: FrozenExtractor, sentences: Sentences, batch_size: int
) -> None:
    """A line of type, shape and checksum, with its own checksum, and the numbers of each sentence.

    The padding is left out.
    """
    layers, mask = extractor.embed(sentences, batch_size)
    new = path.with_suffix(".new")
    with new.open("wb") as file:
        for padded, length in zip(layers, mask.sum(axis=1), strict=True):
            value = np.ascontiguousarray(padded[:, :length])
            line = json.dumps([value.dtype.str, value.shape, files.checksum(value)])
            file.write(f"{files.checksum(line)} {line}\n".encode("ascii"))
            file.write(value.data)
    new.replace(path)


def _read_part(path: Path) -> Iterator[tuple[FloatArray, int]]:
    """Layers of each sentence of a part, with their checksum; a CacheError where it's damaged."""
    with files.damage_named(str(path), "part"), path.open("rb") as file:
        while stored := file.readline():
            checksum, line = stored.decode("ascii").rstrip("\n").split(" ", 1)
            if files.checksum(line) != int(checksum):
                raise ValueError("not the line that was written")
            dtype, shape, checksum = json.loads(line)
            value = np.empty(shape, dtype)  # may hold what was read before: is it filled?
            if file.readinto(value.data) < value.nbytes or files.checksum(value) != checksum:
                raise ValueError("not the numbers that were written")
            yield value, checksum


def _is_whole(path: Path, sentences: int) -> bool:
    """Whether a part is there, undamaged, with so many sentences."""
    try:
        return sum(1 for _ in _read_part(path)) == sentences
    except files.CacheError:
        return False


def _assemble(path: Path, parts: Iterator[Path], header: files.Header, keys: list[str]) -> None:
    """Put the parts together in the original's layout, one sentence in memory at a time."""
    checksums: list[int] = []
    with h5py.File(path, "w", libver=files.LIBVER) as file:
        files.write_header(file, header)
        for part in parts:
            for value, checksum in _read_part(part):
                file.create_dataset(str(len(checksums)), data=value, track_times=False)
                checksums.append(checksum)
        file.attrs[CHECKSUMS] = np.array(checksums, dtype=np.uint32)
        lines = {key: str(line) for line, key in reversed(list(enumerate(keys)))}
        files.write_string(file, INDEX, json.dumps(lines))
