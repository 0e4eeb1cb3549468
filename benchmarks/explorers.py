"""How long an explorer takes to answer, in Chromium, on the built book.

    python benchmarks/explorers.py [--site _build/html]

For each explorer: microseconds to compute the texts of one state, and milliseconds of one update, a
control's move until the page is laid out again (median and 95th percentile of 400). Of
`elmo-reader` also: milliseconds to load its model, and to read a sentence of twelve words with the
trained and the untrained model.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import measuring

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "browser"), str(ROOT / "tests" / "book"), str(ROOT / "tools")]

from browser_checks import FLAGS, browser_program  # noqa: E402  # found on the path above
from explorer_checks import KINDS  # noqa: E402  # found on the path above
from playwright.sync_api import Page, sync_playwright  # noqa: E402  # found on the path above

UPDATES = """(element, many) => {
  const move = eval(many);
  const times = Array.from({ length: 400 }, (_, i) => {
    const start = performance.now();
    element.move(...move(i));
    element.getBoundingClientRect();
    return performance.now() - start;
  }).sort((one, other) => one - other);
  const read = element.constructor.read;
  const start = performance.now();
  for (let i = 0; i < 500; i += 1) read(element.state);
  return { state: 2 * (performance.now() - start), median: times[200], slow: times[380] };
}"""


READING = """async (element) => {
  const middle = (times) => times.sort((one, other) => one - other)[Math.floor(times.length / 2)];
  const now = () => performance.now();
  element.move("shown", "1");
  let start = now();
  await element.load();
  const load = now() - start;
  const read = [];
  for (let i = 0; i < 30; i += 1) {
    const tokens = `the man went down to the bank of the river${i} again .`.split(" ");
    start = now();
    ElmoReader.model.trained.read(tokens);
    ElmoReader.model.untrained.read(tokens);
    read.push(now() - start);
  }
  return { load, read: middle(read) };
}"""


def measure_explorer(page: Page, site: Path, kind: Any) -> dict[str, float]:
    """Open one explorer with all that it shows, and time it."""
    page.goto((site / kind.page).as_uri(), wait_until="load")
    element = page.locator(kind.tag).first
    shown = element.locator('button[data-action="shown"][value="1"]')
    if shown.count():
        shown.first.click()
    found: dict[str, float] = element.evaluate(UPDATES, kind.many)
    return {
        "microseconds_a_state": found["state"],
        "ms_an_update": found["median"],
        "ms_an_update_95th_percentile": found["slow"],
    }


def main(site: Path) -> str:
    """Measure every explorer, write the record, and return the table."""
    result: dict[str, dict[str, float]] = {}
    reading: dict[str, float] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_program(), args=FLAGS)
        for kind in KINDS:
            page = browser.new_page()
            result[kind.tag] = measure_explorer(page, site, kind)
            if kind.tag == "elmo-reader":
                page.goto((site / kind.page).as_uri(), wait_until="load")
                reading = page.locator(kind.tag).first.evaluate(READING)
            page.close()
        version = browser.version
        browser.close()
    measuring.write_record(
        "explorers", {"Chromium": version, "explorers": result, "reader_ms": reading}
    )
    rows = [[tag, *(f"{value:.1f}" for value in found.values())] for tag, found in result.items()]
    heads = ["explorer", "µs a state", "ms an update", "ms, 95th percentile"]
    load, read = reading["load"], reading["read"]
    return measuring.table(heads, rows) + (
        f"\n\n`elmo-reader`: its model loads in {load:,.0f} ms; both models read a sentence of "
        f"twelve words in {read:.0f} ms."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html", help="built book")
    print(main(parser.parse_args().site.resolve()))
