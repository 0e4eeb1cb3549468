"""Whole files, the same bytes each time."""

import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from build_book import SCRATCH, only_build_in

ROOT = Path(__file__).resolve().parents[2]
EARLIEST = 315532800
"""1 January 1980, before which a zip file cannot say when."""


class PublishError(RuntimeError):
    """Something cannot be published; the message says what, and why."""


def date_of(repository: Path = ROOT) -> datetime:
    """Return when the book was last changed, which no build changes.

    That is SOURCE_DATE_EPOCH, as reproducible builds have it, or else the time of the last
    commit; in a copy without Git, 1 January 1980.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None and (repository / ".git").exists() and shutil.which("git"):
        command = ["git", "-C", str(repository), "log", "-1", "--format=%ct"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        given = done.stdout.strip() if done.returncode == 0 else None
    try:
        seconds = int(given or EARLIEST)
    except ValueError:
        raise PublishError(
            f"SOURCE_DATE_EPOCH is {given!r}, expected seconds since 1970, such as 1735689600"
        ) from None
    return datetime.fromtimestamp(max(seconds, EARLIEST), tz=UTC)


def write_zip(
    target: Path, files: Mapping[str, bytes], date: datetime, first: str | None = None
) -> None:
    """Write `files` by name: in one order, at one time, with one mode.

    `first` is written first and not compressed, as an EPUB has its type. Compressed bytes depend
    on the zlib that Python was built with, so two machines may differ in them; one does not.
    """
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(files, key=lambda name: (name != first, name)):
            entry = zipfile.ZipInfo(name, date.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_STORED if name == first else zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whose modes these are
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, files[name], compresslevel=9)


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """Yield a folder for making `target`, which moves to its place when it is complete.

    What is made has the target's name. A build that fails or is interrupted leaves the last good
    one; what is killed leaves its folder to the next build, which removes it.
    """
    if target.is_dir():
        raise PublishError(f"{target} is a folder; name a file.")
    with (
        only_build_in(target.parent),
        tempfile.TemporaryDirectory(
            prefix=SCRATCH, dir=target.parent, ignore_cleanup_errors=True
        ) as folder,
    ):
        yield Path(folder)
        (Path(folder) / target.name).replace(target)
