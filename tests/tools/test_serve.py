"""The server for a class: files, many at once, and a name for what goes wrong."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urljoin

import pytest
import serve
from book_site import web

SCRIPT = Path(serve.__file__)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of one page, beside a file that is none of it."""
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "a site"
    folder.mkdir()
    (folder / "index.html").write_text("<p>here</p>")
    return folder


@contextlib.contextmanager
def start(site: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Start the server; it has ended in the end."""
    # a shell's background job, as these tests may be, hands on that SIGINT is ignored
    with subprocess.Popen(
        ["env", "--default-signal=INT", sys.executable, SCRIPT, "0", site, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def said_port(process: subprocess.Popen[str]) -> int:
    """Return the port that the server says it has, once it has one."""
    assert process.stdout is not None
    return int(process.stdout.readline().split("http://localhost:")[1].split("/")[0])


@pytest.fixture
def port(site: Path) -> Iterator[int]:
    """Start the server as `make serve` does; it has nothing to complain of in the end."""
    with start(site, "--bind", "127.0.0.1") as process:
        yield said_port(process)
        process.terminate()
        assert process.stderr is not None
        assert [line for line in process.stderr if "code 404" not in line] == []


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


def test_what_is_missing_gets_the_books_page_with_links_into_this_copy(
    port: int, site: Path
) -> None:
    """From any depth, and below whatever address a proxy may put in front."""
    base = "https://example.org/book/"
    page = web.NOT_FOUND.format(
        language="en", policy="", base=base, title="100 % ELMo", links=f'<a href="{base}a/b.html">'
    )
    (site / "404.html").write_text(page, "utf-8")
    (site / "a").mkdir()
    (site / "a" / "b.html").write_text("b")
    # a folder without a page of its own is no address either
    for path in ("/nosuch.html", "/a/", "/a/c/d.html?q=/x/#/y/", "/no/such/folder/", "/a%2Fc"):
        status, body = get(port, path)
        assert (status, b"There is no such page" in body) == (404, True), path
        assert "100 % ELMo" in body.decode()
        links = re.findall(r'<a href="([^"]+)">', body.decode())
        reached = [urljoin(f"http://localhost/proxy/8000{path}", link) for link in links]
        assert reached == [f"http://localhost/proxy/8000/{end}" for end in ("", "a/b.html")], path
    assert get(port, "/a/b.html") == (200, b"b")
    assert serve.missing_page(site, "http://[") is not None  # what a program may ask for
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("HEAD", "/nosuch.html")
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (404, b"")
    connection.close()


def test_without_a_page_for_what_is_missing_the_servers_own_is_sent(port: int, site: Path) -> None:
    (site / "a").mkdir()
    (site / "a" / "b.html").write_text("b")
    for path in ("/nosuch.html", "/a/"):
        status, body = get(port, path)
        assert (status, b"404" in body, b"b.html" in body) == (404, True, False)


def test_a_reader_who_says_nothing_is_let_go(
    site: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Or each such connection, as browsers open in advance, keeps a thread for ever."""
    assert 0 < serve.QuietHandler.timeout <= 60
    monkeypatch.setattr(serve.QuietHandler, "timeout", 0.1)
    handler = functools.partial(serve.QuietHandler, directory=str(site))
    with serve.ClassServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with socket.create_connection(server.server_address, timeout=60) as connection:
                assert connection.recv(1) == b""
        finally:
            server.shutdown()
            thread.join()
    assert capfd.readouterr() == ("", "")


def test_the_queue_is_for_a_class() -> None:
    """Python's own is 5, so a test with one machine's readers could pass by luck."""
    assert serve.ClassServer.request_queue_size >= 1000


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments], capture_output=True, text=True, timeout=60
    )


def test_a_reader_who_leaves_is_no_news(port: int, site: Path) -> None:
    """The fixture sees that nothing was said; a class shuts its laptops in the middle of a page."""
    (site / "large.bin").write_bytes(bytes(20_000_000))
    with socket.create_connection(("127.0.0.1", port)) as reader:
        reader.sendall(b"GET /large.bin HTTP/1.0\r\n\r\n")
        assert reader.recv(1000)
        # closed so, the server is told at its next write and not by a timeout
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert get(port, "/") == (200, b"<p>here</p>")


def test_other_troubles_of_a_reader_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    with serve.ClassServer(("127.0.0.1", 0), serve.QuietHandler) as server:
        for trouble in (BrokenPipeError("gone"), ValueError("a mistake")):
            try:
                raise trouble
            except (OSError, ValueError):
                server.handle_error(None, ("127.0.0.1", 1))
    said = capsys.readouterr().err
    assert "a mistake" in said
    assert "gone" not in said


def test_it_stops_quietly_when_it_is_interrupted(site: Path) -> None:
    with start(site) as process:
        said_port(process)
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=60)
    assert (process.returncode, said.strip(), errors) == (0, "", "")


def test_make_serves_with_this_and_only_to_this_machine() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "serve", "PORT=9000"],
        cwd=SCRIPT.parents[1],
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if name != "MAKEFLAGS"},
    )
    last = done.stdout.splitlines()[-1]
    assert last == ".venv/bin/python tools/serve.py 9000 --bind 127.0.0.1"


def test_a_folder_without_a_book_is_named(tmp_path: Path) -> None:
    done = run("0", tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"{tmp_path} has no index.html: run `make book` first.\n"


def test_a_port_that_is_taken_is_named_and_another_one(site: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(str(port), site, "--bind", "127.0.0.1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Port {port} is in use, ")
    assert f"make serve PORT={port + 1 if port < 65535 else 8000}\n" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("70000",), "There is no port 70000; choose one from 1024 to 65535.\n"),
        (("-1",), "There is no port -1; choose one from 1024 to 65535.\n"),
        (("0", "--bind", "no such host"), "--bind no such host is no address of this machine"),
        # of a network for examples, which no machine is in
        (("0", "--bind", "192.0.2.1"), "--bind 192.0.2.1 is no address of this machine.\n"),
    ],
)
def test_what_cannot_be_served_is_named(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    (tmp_path / "index.html").touch()
    port, *bind = arguments
    done = run(*bind, "--", port, tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1


def test_a_port_of_the_system_is_named() -> None:
    """Root may have any port, so the error is made here."""
    said = serve.refusal(PermissionError(errno.EACCES, "Permission denied"), "", 80)
    assert said == "Port 80 is kept for the system; choose one from 1024 to 65535."
    assert serve.refusal(OSError(0, "odd"), "", 80).startswith("Port 80 cannot be served: ")
