"""Serve the built book to a whole class: `python tools/serve.py [PORT] [--bind ADDRESS] [FOLDER]`.

Python's `python -m http.server` lets five new connections wait; of a class that opens a page in the
same moment the others are turned away, and their browsers try again after seconds that double each
time. This is the same server with a queue for a class (`benchmarks/lan.py` measures both). It needs
Python's standard library only, and sends files of the folder, to readers, and does nothing else.
"""

from __future__ import annotations

import argparse
import functools
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SITE = Path(__file__).resolve().parents[1] / "_build" / "html"


class ClassServer(ThreadingHTTPServer):
    """Python's server, with room for a class that arrives at once."""

    request_queue_size = 1024  # a system may have a lower limit of its own


class QuietHandler(SimpleHTTPRequestHandler):
    """Sends files, without a line for each on the terminal: that would be thousands."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing of what went well."""


def main() -> int:
    """Serve until interrupted; return the exit status."""
    parser = argparse.ArgumentParser(description="Serve the built book to a whole class.")
    parser.add_argument("port", type=int, nargs="?", default=8000, help="default: %(default)s")
    parser.add_argument("folder", type=Path, nargs="?", default=SITE, help="default: _build/html")
    parser.add_argument("--bind", default="", metavar="ADDRESS", help="default: all addresses")
    arguments = parser.parse_args()
    if not (arguments.folder / "index.html").is_file():
        print(f"{arguments.folder} has no index.html: run `make book` first", file=sys.stderr)
        return 2
    handler = functools.partial(QuietHandler, directory=str(arguments.folder))
    try:
        server = ClassServer((arguments.bind, arguments.port), handler)
    except (OSError, OverflowError) as error:
        print(f"port {arguments.port} cannot be served: {error}", file=sys.stderr)
        return 2
    with server:
        print(f"Serving {arguments.folder} on port {server.server_port} (stop with Ctrl-C)")
        sys.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
