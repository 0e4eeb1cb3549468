"""Machines that lack something, made of this one: no network, a small disk, somebody else's."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SECONDS = 240
"""For what takes seconds: a test that hangs fails, one on a busy machine does not."""

NOBODY = 65534

# A new network namespace has a loopback interface, which is down; no machine's is, and the
# notebooks' kernels are spoken to over it. 0x8914 is SIOCSIFFLAGS, 1 is IFF_UP.
LOOPBACK_UP = """\
import fcntl, os, socket, struct, sys
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 1))
os.execvp(sys.argv[1], sys.argv[1:])
"""


def works(*command: str) -> bool:
    """Say whether a command can be run here, and succeeds."""
    if shutil.which(command[0]) is None:
        return False
    done = subprocess.run(command, capture_output=True, check=False, timeout=SECONDS)
    return done.returncode == 0


@functools.cache
def offline() -> tuple[str, ...]:
    """Return what to put before a command that is to find no network."""
    prefix = ("unshare", "--net", sys.executable, "-c", LOOPBACK_UP)
    if not works(*prefix, "true"):
        pytest.skip("a network cannot be taken away here: it takes root and `unshare --net`")
    return prefix


@functools.cache
def as_nobody() -> tuple[str, ...]:
    """Return what to put before a command that is to be run by an ordinary user.

    Where it is allowed, that user may read whatever root may, such as a Python in root's home, but
    can write no more than any other.
    """
    if os.geteuid() != 0:
        return ()  # this is one
    user = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    read = "-all,+dac_read_search"
    for prefix in ((*user, f"--inh-caps={read}", f"--ambient-caps={read}"), user):
        if works(*prefix, sys.executable, "-c", "import sphinx"):
            return prefix
    pytest.skip("no ordinary user can run this Python: it takes `setpriv`")


def give_away(folder: Path) -> None:
    """Make `folder` and what is in it that user's own."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def run(
    command: Sequence[str | Path],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    prefix: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder`."""
    return subprocess.run(
        [*prefix, *command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


class SmallDisk:
    """A disk of its own for `folder`, which only the programs started on it see."""

    def __init__(self, folder: Path, keeper: subprocess.Popen[str]) -> None:
        self.folder = folder
        self.keeper = keeper

    @property
    def seen_from_here(self) -> Path:
        """The folder as this process reaches it."""
        return Path(f"/proc/{self.keeper.pid}/root{self.folder}")

    @property
    def prefix(self) -> tuple[str, ...]:
        """What to put before a command that is to be run on the disk, in its folder."""
        enter = ("nsenter", f"--target={self.keeper.pid}", "--mount", "--")
        return (*enter, "sh", "-c", 'cd "$0" && exec "$@"', str(self.folder))

    def resize(self, size: str) -> None:
        """Make the disk larger or smaller."""
        command = ("mount", "-o", f"remount,size={size}", str(self.folder))
        subprocess.run([*self.prefix, *command], check=True, timeout=SECONDS)


@contextmanager
def small_disk(size: str) -> Iterator[SmallDisk]:
    """Make a disk of that size in memory, as `mount` reads it: "2m"."""
    mount = 'mount -t tmpfs -o size="$1" small "$0" && echo mounted && exec cat'
    with tempfile.TemporaryDirectory() as folder:
        command = ["unshare", "--mount", "sh", "-c", mount, folder, size]
        if shutil.which(command[0]) is None or shutil.which("nsenter") is None:
            pytest.skip("a small disk takes `unshare` and `nsenter`")
        # it holds the disk until its standard input ends
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as keeper:
            assert keeper.stdout is not None
            if keeper.stdout.readline() != "mounted\n":
                pytest.skip("a small disk cannot be mounted here: it takes root")
            yield SmallDisk(Path(folder), keeper)


@contextmanager
def odd_folder() -> Iterator[Path]:
    """Make a folder with spaces and other letters than ASCII's in its path, for any user."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        odd = Path(folder) / "Bücher, Λόγος und 言葉"
        odd.mkdir()
        yield odd


def read_only_home(folder: Path) -> Path:
    """Make a home in which nobody but root can write."""
    home = folder / "home"
    home.mkdir(mode=0o555)
    return home
