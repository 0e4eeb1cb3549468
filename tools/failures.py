"""What made a download or an installation fail, in a sentence instead of a page.

    COMMAND 2>&1 | python tools/failures.py WHAT     what COMMAND said, or the sentence in its place

Knows the two troubles that programs describe at length and that are nobody's mistake: no network
and a full disk. Needs nothing but Python's standard library, since it also speaks for what installs
the rest.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

# as pip, npm, Playwright and apt-get put it
NETWORK = re.compile(
    r"NewConnectionError|Connect(?:ion)?Timeout|ReadTimeout|ProxyError|ConnectionResetError"
    r"|name resolution|Temporary failure resolving|[Cc]ould not resolve|Could not connect to"
    r"|Network is unreachable|[Cc]onnection (?:refused|timed out|reset)|Read timed out"
    r"|\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|ECONNRESET|ETIMEDOUT)\b"
)
DISK = re.compile(
    r"No space left on device|\bENOSPC\b|Disk quota exceeded|\bEDQUOT\b|enough free space"
)
NO_NETWORK = (
    "no host could be reached. A network is needed the first time; what it brought is kept."
)
FULL_DISK = "the disk is full. Make room on it, then start again."
# what a failing program leaves free of a full disk is less than the file that it could not write
ROOM = 4 << 20


def reason(said: str) -> str | None:
    """Say why a program failed, from what it said; None where that is something else.

    >>> reason("npm error code EAI_AGAIN")
    'no host could be reached. A network is needed the first time; what it brought is kept.'
    >>> reason("OSError: [Errno 28] No space left on device")
    'the disk is full. Make room on it, then start again.'
    >>> reason("No such option")
    """
    if DISK.search(said):
        return FULL_DISK
    return NO_NETWORK if NETWORK.search(said) else None


def explained(what: str, said: str) -> str:
    r"""Return a sentence about what failed, or, where the reason is not known, all that was said.

    >>> explained("npm could not fetch katex", "EAI_AGAIN").partition(".")[0]
    'npm could not fetch katex: no host could be reached'
    >>> explained("npm could not fetch katex", "It has been withdrawn.")
    'npm could not fetch katex:\nIt has been withdrawn.'
    """
    known = reason(said)
    return f"{what}: {known}" if known else f"{what}:\n{said.rstrip()}"


def install_quietly(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run what installs something and may ask nothing; the pages that it says are in ``stdout``."""
    return subprocess.run(
        command,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )


def is_full(folder: Path) -> bool:
    """Say whether nothing more of any size can be written in `folder`."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM))
    except OSError as error:
        return reason(str(error)) == FULL_DISK
    return False


if __name__ == "__main__":
    print(explained(sys.argv[1], sys.stdin.read()))
