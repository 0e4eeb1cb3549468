"""The command line that the three forms of the book share."""

import argparse
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from build_book import stop

from .files import ROOT, PublishError, beside

BUILT = ROOT / "_build"


def publish(make: Callable[[Path, Path], None], name: str, doc: str | None) -> int:
    """Make a file of the built site as the command line says; return the exit status.

    `make` is given the site and the file to make, in a folder of its own.
    """
    parser = argparse.ArgumentParser(description=(doc or "").partition(":")[0] + ".")
    parser.add_argument("--site", type=Path, default=BUILT / "html", help="the built book")
    parser.add_argument("--output", type=Path, default=BUILT / name, help="the file to make")
    arguments = parser.parse_args()
    target = arguments.output.resolve()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    started = time.monotonic()
    try:
        with beside(target) as folder:
            make(arguments.site.resolve(), folder / target.name)
    except (PublishError, OSError) as error:
        print(f"{error}\n{target.name} was not made.", file=sys.stderr)
        return 1
    size = target.stat().st_size / 1e6
    print(f"Made {target} ({size:.1f} MB) in {time.monotonic() - started:.0f} s.")
    return 0
