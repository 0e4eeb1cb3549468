"""The built book on a classroom's network: many readers at one `python -m http.server`.

    python benchmarks/lan.py [--readers 200] [--output benchmarks/records/lan.json]

All readers open a chapter in the same moment, as when a teacher names one: each asks for the page,
then for every file that it loads, six at a time as a browser does, each over a connection of its
own, as the server's HTTP/1.0 has it. Then each opens the next chapter, with what it has kept.
Server and readers share this machine and its loopback address: no network is measured, and the
readers take processor time that the server would have. A run lasts 90 seconds at most.

The first server is Python's own; the second, `tools/serve.py`, is the same with a longer queue.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "_build" / "html"
PAGES = ("notebooks/03_softmax_mixture.html", "notebooks/04_gradient.html")
HOST = "127.0.0.1"
PORT = 8765
LIMIT = 90.0
AT_ONCE = 6
LOADED = re.compile(r'<(?:script|link|img)\b[^>]*?\s(?:src|href)="([^"#]+)"')
SERVERS = {
    "stock": ["-m", "http.server", str(PORT), "--bind", HOST],
    "for_a_class": [str(ROOT / "tools" / "serve.py"), str(PORT), "--bind", HOST],
}


@dataclass
class Visits:
    """What the readers met."""

    requests: list[float] = field(default_factory=list)
    pages: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    sent: int = 0


@cache
def files_of(page: str) -> list[str]:
    """Return the addresses of the site's files that a page loads."""
    text = (SITE / page).read_text("utf-8")
    found = {urlsplit(urljoin(f"/{page}", url)).path for url in LOADED.findall(text)}
    return sorted(
        name for name in found if not name.endswith(".html") and (SITE / name.lstrip("/")).is_file()
    )


async def get(path: str, visits: Visits) -> None:
    """Ask for one file over a connection of its own."""
    start = time.monotonic()
    wanted = (SITE / path.lstrip("/")).stat().st_size
    try:
        reader, writer = await asyncio.open_connection(HOST, PORT)
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {HOST}\r\n\r\n".encode())
        head, _, body = (await reader.read(-1)).partition(b"\r\n\r\n")
        writer.close()
        await writer.wait_closed()
    except OSError as error:
        visits.errors.append(f"{path}: {error}")
        return
    if b" 200 " not in head.split(b"\r\n")[0] or len(body) != wanted:
        visits.errors.append(f"{path}: {len(body)} of {wanted} bytes came")
        return
    visits.sent += len(body)
    visits.requests.append(time.monotonic() - start)


async def read(visits: Visits) -> None:
    """Open one page after the other, keeping what was loaded once."""
    kept: set[str] = set()
    window = asyncio.Semaphore(AT_ONCE)

    async def load(path: str) -> None:
        async with window:
            await get(path, visits)

    for page in PAGES:
        start = time.monotonic()
        await get(f"/{page}", visits)
        await asyncio.gather(*(load(name) for name in files_of(page) if name not in kept))
        kept.update(files_of(page))
        visits.pages.setdefault(page, []).append(time.monotonic() - start)


async def visit(readers: int, visits: Visits) -> None:
    """Let all readers start at once; who waits when the time is over has not finished."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LIMIT):
            await asyncio.gather(*(read(visits) for _ in range(readers)))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the least value that this share of the values does not exceed."""
    return sorted(values)[max(0, -int(-share * len(values) // 1) - 1)]


def wait_for(server: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers."""
    for _ in range(100):
        first = Visits()
        asyncio.run(get(f"/{PAGES[0]}", first))
        if first.requests:
            return
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with status {server.returncode}")
        time.sleep(0.1)
    raise RuntimeError("the server did not answer within ten seconds")


def measure(command: Sequence[str], readers: int) -> dict[str, Any]:
    """Start a server, let the readers loose on it, and return what was seen."""
    with subprocess.Popen(
        [sys.executable, *command], cwd=SITE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            wait_for(server)
            visits = Visits()
            start = time.monotonic()
            asyncio.run(visit(readers, visits))
            seconds = time.monotonic() - start
            status = Path(f"/proc/{server.pid}/status").read_text()
            fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
        finally:
            server.terminate()
    [peak] = re.findall(r"VmHWM:\s+(\d+) kB", status)
    first, next_one = (visits.pages.get(page, [LIMIT]) for page in PAGES)
    return {
        "unfinished": readers - len(visits.pages.get(PAGES[-1], [])),
        "requests": len(visits.requests),
        "errors": len(visits.errors),
        "error_kinds": sorted({error.partition(": ")[2] for error in visits.errors})[:5],
        "seconds": round(seconds, 1),
        "requests_per_s": round(len(visits.requests) / seconds),
        "megabytes": round(visits.sent / 1e6, 1),
        "request_median_s": round(percentile(visits.requests, 0.5), 3),
        "request_p95_s": round(percentile(visits.requests, 0.95), 3),
        "request_max_s": round(max(visits.requests), 2),
        "first_page_median_s": round(percentile(first, 0.5), 2),
        "first_page_p95_s": round(percentile(first, 0.95), 2),
        "next_page_p95_s": round(percentile(next_one, 0.95), 2),
        "server_peak_mb": round(int(peak) * 1024 / 1e6, 1),
        "server_processor_s": round(
            (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), 2
        ),
    }


def main() -> None:
    """Measure both servers; print and record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--readers", type=int, default=200, help="at once (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="record to write, as JSON")
    arguments = parser.parse_args()
    if not 1 <= arguments.readers <= 1000:
        parser.error(f"--readers: expected 1 to 1000, given {arguments.readers}")
    if not (SITE / PAGES[0]).is_file():
        parser.error(f"{SITE} has no book: run tools/build_book.py first")
    record: dict[str, Any] = {
        "measured": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 1),
        "readers": arguments.readers,
        "files_of_a_first_page": 1 + len(files_of(PAGES[0])),
        "bytes_of_a_first_page": sum(
            (SITE / name.lstrip("/")).stat().st_size for name in [PAGES[0], *files_of(PAGES[0])]
        ),
    }
    for name, command in SERVERS.items():
        record[name] = measure(command, arguments.readers)
        print(name, json.dumps(record[name], indent=1))
    if arguments.output:
        arguments.output.parent.mkdir(exist_ok=True)
        arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
