"""Serve the built book to a reader or a class: `python tools/serve.py [PORT] [FOLDER]`.

Python's `python -m http.server` lets five new connections wait; of a class that opens a page in the
same moment the others are turned away, and their browsers try again after seconds that double each
time. This is the same server with a queue for a class (`benchmarks/lan.py` measures both). It needs
Python's standard library only, and sends files of the folder, to readers, and does nothing else. An
address that leads nowhere gets the book's own page for that, as on a public host.
"""

from __future__ import annotations

import argparse
import errno
import functools
import re
import socket
import sys
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SITE = Path(__file__).resolve().parents[1] / "_build" / "html"

#: The first link of the page for what is missing: to the book, at its public address.
HOME = re.compile(r'<a href="(https?://[^"]*/)">')


def missing_page(folder: Path, asked: str) -> str | None:
    """Return the book's page for an address that leads nowhere; None where the folder has none.

    It is shown in place of a page of any folder, so its links are whole public addresses. Here they
    lead to this copy of the book, from the address that was asked for.
    """
    try:
        page = (folder / "404.html").read_text("utf-8")
    except OSError:
        return None
    root = "../" * (asked.partition("?")[0].count("/") - 1) or "./"
    home = HOME.search(page)
    return page.replace(f'href="{home[1]}', f'href="{root}') if home else page


class ClassServer(ThreadingHTTPServer):
    """Python's server, with room for a class that arrives at once."""

    request_queue_size = 1024  # a system may have a lower limit of its own

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a reader who went away before all was sent; the rest as Python does."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class QuietHandler(SimpleHTTPRequestHandler):
    """Sends files, without a line for each on the terminal: that would be thousands."""

    timeout = 60  # seconds; a reader who says nothing would keep a thread and a file for ever

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send the book's page for what is missing; of other errors Python's."""
        page = (
            missing_page(Path(self.directory), self.path) if code == HTTPStatus.NOT_FOUND else None
        )
        if page is not None:
            self.error_message_format = page.replace("%", "%%")
        super().send_error(code, message, explain)

    def list_directory(self, *_: object) -> None:
        """Show no list of files: a folder without a page is no address of the book."""
        self.send_error(HTTPStatus.NOT_FOUND, "File not found")

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing of what went well."""

    def log_error(self, format: str, *args: object) -> None:  # noqa: A002 - as its class has it
        """Say what went wrong, but nothing of a reader who has not asked for anything."""
        if getattr(self, "raw_requestline", b""):
            super().log_error(format, *args)


def refusal(error: Exception, bind: str, port: int) -> str:
    """Say why nothing can be served there, and what to do about it."""
    if isinstance(error, socket.gaierror):
        return f"--bind {bind} is no address of this machine: {error.strerror}"
    if isinstance(error, OverflowError) or port < 0:
        return f"There is no port {port}; choose one from 1024 to 65535."
    number = getattr(error, "errno", None)
    if number == errno.EADDRNOTAVAIL:
        return f"--bind {bind} is no address of this machine."
    if number == errno.EACCES:
        return f"Port {port} is kept for the system; choose one from 1024 to 65535."
    if number == errno.EADDRINUSE:
        other = port + 1 if port < 65535 else 8000
        return (
            f"Port {port} is in use, by another program or by this one in another window. "
            f"Choose another: python tools/serve.py {other}, or make serve PORT={other}"
        )
    return f"Port {port} cannot be served: {error}"


def main() -> int:
    """Serve until interrupted; return the exit status."""
    parser = argparse.ArgumentParser(description="Serve the built book to a reader or a class.")
    parser.add_argument("port", type=int, nargs="?", default=8000, help="default: %(default)s")
    parser.add_argument("folder", type=Path, nargs="?", default=SITE, help="default: _build/html")
    parser.add_argument("--bind", default="", metavar="ADDRESS", help="default: all addresses")
    arguments = parser.parse_args()
    if not (arguments.folder / "index.html").is_file():
        print(f"{arguments.folder} has no index.html: run `make book` first.", file=sys.stderr)
        return 2
    handler = functools.partial(QuietHandler, directory=str(arguments.folder))
    try:
        server = ClassServer((arguments.bind, arguments.port), handler)
    except (OSError, OverflowError) as error:
        print(refusal(error, arguments.bind, arguments.port), file=sys.stderr)
        return 2
    with server:
        address = f"http://localhost:{server.server_port}/"
        others = "" if arguments.bind else "; others put this machine's address for localhost"
        try:
            print(f"Serving {arguments.folder} on {address}{others} (stop with Ctrl-C)", flush=True)
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
