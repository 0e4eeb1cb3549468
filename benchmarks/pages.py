"""Weight and speed of the built pages on a slow phone: a table in Markdown.

    python benchmarks/pages.py [--runs 5] [--markdown benchmarks/pages.md] [PAGE ...]

Each run is a first visit (nothing cached) in Chromium with a window of 412 px, the processor four
times slower, and a link of 1.6 Mbit/s with 150 ms until an answer begins. The server on this
machine compresses as a web host does. Bytes are those on the wire, requests what the browser asked
for; the times are the least of the runs, since a busy machine only ever adds to them, with the
median beside it:

* LCP, the largest contentful paint: when the largest text or picture of the first screen is there;
* CLS, the cumulative layout shift (of one run; it doesn't depend on the machine);
* TBT, the total blocking time: of each task longer than 50 ms the part above that, from the first
  paint of any content until the page has been quiet (https://web.dev/articles/tbt). What is
  blocked before that paint, when a reader has nothing to press yet, delays the paint and is in LCP;
  "before" has it on its own. It counts tasks that run a script; the first layout is in one.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import gzip
import os
import shutil
import statistics
import sys
import threading
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from browser import ADVICE, FLAGS, find_browser  # noqa: E402 - found beside this folder only

LATENCY = 150  # ms
BYTES_A_SECOND = 1.6e6 / 8
SLOWER = 4
WINDOW = {"width": 412, "height": 823}
COMPRESSED = {".html", ".css", ".js", ".svg", ".xml", ".txt", ".json"}
QUIET = 1_000  # ms without a task or a request: the page has been quiet

OBSERVE = """
window.measured = { lcp: 0, cls: 0, long: [], paint: 0, largest: "" };
const on = (type, take) => new PerformanceObserver(
  (list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
on("largest-contentful-paint", (e) => {
  measured.lcp = e.startTime;
  measured.largest = e.element ? e.element.outerHTML.slice(0, 60) : "";
});
on("layout-shift", (e) => { if (!e.hadRecentInput) measured.cls += e.value; });
on("longtask", (e) => measured.long.push([e.startTime, e.duration]));
on("paint", (e) => { if (e.name === "first-contentful-paint") measured.paint = e.startTime; });
"""


class CompressingHandler(SimpleHTTPRequestHandler):
    """Serves a folder over kept connections, text compressed."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Send a file."""
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        self.send_response(200)
        body = path.read_bytes()
        if path.suffix in COMPRESSED:
            body = compressed(path)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@functools.cache
def compressed(path: Path) -> bytes:
    """Return a file as it is sent; once, so that later runs are not slowed by it."""
    return gzip.compress(path.read_bytes(), 9)


@dataclass(frozen=True)
class Run:
    """What one visit measured: bytes, requests and milliseconds."""

    size: int
    requests: int
    paint: float
    lcp: float
    cls: float
    tbt: float
    before: float
    largest: str


def visit(browser: Browser, address: str) -> Run:
    """Open a page as a reader with a slow phone does who has never been here."""
    context = browser.new_context(viewport=WINDOW, device_scale_factor=2)
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(OBSERVE)
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    session.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": LATENCY,
            "downloadThroughput": BYTES_A_SECOND,
            "uploadThroughput": BYTES_A_SECOND,
        },
    )
    asked: dict[str, float] = {}

    def on_request(event: dict[str, Any]) -> None:
        if not event["request"]["url"].startswith("data:"):
            asked[event["requestId"]] = 0.0

    def on_finished(event: dict[str, Any]) -> None:
        if event["requestId"] in asked:
            asked[event["requestId"]] = event["encodedDataLength"]

    session.on("Network.requestWillBeSent", on_request)
    session.on("Network.loadingFinished", on_finished)
    page.goto(address, wait_until="networkidle")
    page.wait_for_timeout(QUIET)
    found: dict[str, Any] = page.evaluate("measured")
    context.close()
    paint = found["paint"]
    tasks = [(start, start + length) for start, length in found["long"]]
    before = sum(max(0.0, min(end, paint) - start - 50) for start, end in tasks)
    blocked = sum(max(0.0, end - max(start, paint) - 50) for start, end in tasks)
    return Run(
        round(sum(asked.values())),
        len(asked),
        *(found[name] for name in ("paint", "lcp", "cls")),
        blocked,
        before,
        found["largest"],
    )


def row(name: str, runs: list[Run]) -> str:
    """Return a page's line of the table."""

    def least(values: list[float], digits: int = 0) -> str:
        return f"{min(values):.{digits}f} ({statistics.median(values):.{digits}f})"

    return (
        f"| {name} | {runs[0].size / 1000:.0f} | {runs[0].requests} "
        f"| {least([run.lcp / 1000 for run in runs], 2)} | {max(run.cls for run in runs):.3f} "
        f"| {least([run.tbt for run in runs])} | {least([run.before for run in runs])} |"
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="visits to each page")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--markdown", type=Path, help="file to write the record to as well")
    parser.add_argument("--verbose", action="store_true", help="each run, with its largest paint")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="only these, as book/index.html")
    arguments = parser.parse_args()
    # with windows, as a reader's: the one without, which the tests prefer, paints in another way
    program = os.environ.get("ELMO_BROWSER") or shutil.which("chromium") or find_browser()
    if program is None:
        print(ADVICE, file=sys.stderr)
        return 1
    site = arguments.site.resolve()
    names = arguments.pages or sorted(
        path.relative_to(site).as_posix()
        for path in site.rglob("*.html")
        if path.parent != site and "_static" not in path.parts
    )
    missing = [name for name in names if not (site / name).is_file()]
    if missing or not names:
        print(
            f"{site} has no page {missing[0] if missing else ''}; build the book first: make book"
        )
        return 2
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(CompressingHandler, directory=str(site))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    lines = [
        "| page | kB | requests | LCP s | CLS | TBT ms | before ms |",
        "|---|---|---|---|---|---|---|",
    ]
    busy = [os.getloadavg()[0]]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        for name in names:
            address = f"http://127.0.0.1:{server.server_port}/{name}"
            runs = [visit(browser, address) for _ in range(arguments.runs)]
            lines.append(row(name, runs))
            print(lines[-1], flush=True)
            if arguments.verbose:
                for run in runs:
                    print("   ", run)
        busy.append(os.getloadavg()[0])
        said = (
            f"Measured on {datetime.datetime.now(datetime.UTC):%Y-%m-%d} with Chromium "
            f"{browser.version}, {arguments.runs} runs, by `python benchmarks/pages.py`: "
            f"{WINDOW['width']} px, {LATENCY} ms, 1.6 Mbit/s, processor {SLOWER} times slower. "
            f"Meanwhile {min(busy):.0f} to {max(busy):.0f} other processes wanted one of this "
            f"machine's {os.cpu_count()} processors; on a calm one the times are shorter."
        )
        browser.close()
    server.shutdown()
    print(said)
    if arguments.markdown:
        text = "\n".join(["# Speed of the pages on a slow phone", "", said, "", *lines, ""])
        arguments.markdown.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
