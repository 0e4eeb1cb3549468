"""The server for a class: files, many at once, and a name for what goes wrong."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path

import pytest
import serve

SCRIPT = Path(serve.__file__)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of one page, beside a file that is none of it."""
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "a site"
    folder.mkdir()
    (folder / "index.html").write_text("<p>here</p>")
    return folder


@pytest.fixture
def port(site: Path) -> Iterator[int]:
    """Start the server as a teacher does."""
    with subprocess.Popen(
        [sys.executable, SCRIPT, "0", site, "--bind", "127.0.0.1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        yield int(said.split("on port ")[1].split()[0])
        process.terminate()
        assert process.stderr is not None
        assert "GET" not in process.stderr.read()


def get(port: int, path: str) -> tuple[int, bytes]:
    """Ask for a path as it stands, without tidying it up; return status and body."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def test_a_class_gets_the_page(port: int) -> None:
    with ThreadPoolExecutor(60) as readers:
        pages = list(readers.map(lambda _: get(port, "/"), range(120)))
    assert set(pages) == {(200, b"<p>here</p>")}


def test_nothing_outside_the_folder_is_sent(port: int) -> None:
    for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/nosuch.html"):
        status, body = get(port, path)
        assert status == 404
        assert b"secret" not in body


def test_the_queue_is_for_a_class() -> None:
    """Python's own is 5, so a test with one machine's readers could pass by luck."""
    assert serve.ClassServer.request_queue_size >= 1000


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments], capture_output=True, text=True, timeout=60
    )


def test_a_folder_without_a_book_is_named(tmp_path: Path) -> None:
    done = run("0", tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"{tmp_path} has no index.html: run `make book` first\n"


def test_a_port_that_is_taken_or_none_is_named(site: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(str(port), site, "--bind", "127.0.0.1")
    assert done.returncode == 2
    assert done.stderr.startswith(f"port {port} cannot be served: ")
    assert run("70000", site).stderr.startswith("port 70000 cannot be served: ")
