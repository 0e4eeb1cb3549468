"""One browser for each test process, and one copy of the site that is served and opened from disk.

The copy is what `make archive` packs, unpacked. It lies in a folder whose name has spaces, and it
is served below the server's root, as a project's site is: an address that starts at the root, or
that is not quoted, shows.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
import threading
import time
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser_checks import FLAGS, Served, browser_program
from npm_packages import package_directory
from playwright.sync_api import Browser, sync_playwright
from publish.archive import make_archive
from site_checks import Site

if TYPE_CHECKING:
    from _typeshed import SupportsRead, SupportsWrite


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a line for each request."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class HalvingHandler(QuietHandler):
    """Serves a page in two halves, the second when the first has been drawn.

    The first half ends where the contents beside the text begin, which come after it in the file.
    """

    def copyfile(self, source: SupportsRead[bytes], outputfile: SupportsWrite[bytes]) -> None:
        """Send a file."""
        body = source.read()
        at = body.find(b'id="pst-secondary-sidebar"')
        outputfile.write(body[: max(at, 0)])
        if at > 0:
            time.sleep(0.5)
        outputfile.write(body[max(at, 0) :])


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium with a profile that is thrown away.

    For one module and no longer: while Playwright runs in a process, what a test of another folder
    prints with a Playwright of its own is refused.
    """
    try:
        program = browser_program()
    except RuntimeError as error:
        pytest.fail(str(error), pytrace=False)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """Read axe-core, at the version pinned in tools/npm_packages.py."""
    return (package_directory("axe-core") / "axe.min.js").read_text(encoding="utf-8")


@contextlib.contextmanager
def serving(folder: Path, handler: type[QuietHandler]) -> Iterator[str]:
    """Serve a folder on this machine; yields its address."""
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(handler, directory=str(folder))
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="session")
def serve_parent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Make a folder with spaces in its name, and the address at which it is served."""
    parent = tmp_path_factory.mktemp("served") / "a place with spaces"
    parent.mkdir()
    with serving(parent, QuietHandler) as address:
        yield parent, address


@pytest.fixture(scope="session")
def halved(served: Served) -> Iterator[str]:
    """Address of the book at a server that sends each page in two halves."""
    with serving(served.site.root, HalvingHandler) as address:
        yield address


@pytest.fixture(scope="session")
def served(site_folder: Path, serve_parent: tuple[Path, str]) -> Served:
    """Unpack the book's archive where it can be opened both ways: the archive is what is tried."""
    parent, address = serve_parent
    make_archive(site_folder, parent / "the book.zip")
    shutil.unpack_archive(parent / "the book.zip", parent)
    folder = parent / "the book"
    return Served(Site(folder), f"{address}the%20book/", f"{folder.as_uri()}/")
