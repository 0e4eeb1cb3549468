"""What a page does before anything of it shows: it has its fonts, and measures nothing."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import pytest
from browser_checks import Served
from playwright.sync_api import Browser, Page

GRADIENT = "notebooks/04_gradient.html"
PHONE = {"width": 412, "height": 823}
OBSERVE = """
window.begun = 0;  // how often the browser began with a font by itself
document.fonts.addEventListener("loading", () => { begun += 1; });
"""
# The faces that are ready, and those that a face stands beside a second time.
FACES = """() => [...document.fonts].filter((face) => face.status === "loaded")
  .map((face) => `${face.family.replaceAll('"', "")} ${face.weight} ${face.style}`).sort()"""
# How often a box's width is asked for when its block comes near: at once, and a frame later.
ASKED = """async () => {
  const width = Object.getOwnPropertyDescriptor(Element.prototype, "scrollWidth");
  let asked = 0;
  const get = function () { asked += 1; return width.get.call(this); };
  Object.defineProperty(Element.prototype, "scrollWidth", { ...width, get });
  const box = document.querySelector("article pre");
  box.dispatchEvent(new Event("contentvisibilityautostatechange"));
  const atOnce = asked;
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return [atOnce, asked];
}"""
ICONS = ["Font Awesome 6 Brands 400 normal", "Font Awesome 6 Free 900 normal"]
FORMULAS = [
    *(f"KaTeX_{name} 400 normal" for name in ("Caligraphic", "Main")),
    *("KaTeX_Math 400 italic", *(f"KaTeX_Size{size} 400 normal" for size in (1, 2, 3))),
]


def open_page(browser: Browser, address: str, *, slower: int = 1) -> Page:
    """Open a page on a phone, and wait until it has been quiet."""
    page = browser.new_context(viewport=PHONE).new_page()
    page.add_init_script(OBSERVE)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    page.goto(address, wait_until="networkidle")
    return page


@pytest.mark.parametrize(
    ("name", "expected"), [(GRADIENT, ICONS + FORMULAS), ("book/glossary.html", ICONS)]
)
def test_fonts_are_ready_before_the_first_layout(
    name: str, expected: list[str], browser: Browser, served: Served
) -> None:
    """Each once; a font that the layout itself had to begin with would lay out the page again.

    With a slow processor, as the page is for: on a fast one, a script of the theme may have the
    page laid out before its first frame.
    """
    page = open_page(browser, served.http + name, slower=4)
    assert page.evaluate(FACES) == expected
    assert page.evaluate("begun") == 0
    page.context.close()


def test_from_a_disk_the_browser_loads_the_fonts_itself(browser: Browser, served: Served) -> None:
    """Where a page may not read its own style sheets."""
    page = open_page(browser, served.file + GRADIENT)
    assert {"KaTeX_Main 400 normal", "KaTeX_Math 400 italic"} <= set(page.evaluate(FACES))
    assert page.evaluate("begun") > 0
    page.context.close()


def layouts_forced_by(events: list[dict[str, Any]]) -> set[str]:
    """Return the names of the scripts that had something laid out as they ran.

    A page's inline script has the name of the page.
    """

    def spans(*names: str) -> list[dict[str, Any]]:
        return [event for event in events if event["name"] in names and event["ph"] == "X"]

    def holds(outer: dict[str, Any], inner: dict[str, Any]) -> bool:
        end = outer["ts"] + outer["dur"]
        same_thread = all(outer[key] == inner[key] for key in ("pid", "tid"))
        return bool(same_thread and outer["ts"] <= inner["ts"] <= end)

    layouts = spans("Layout")
    assert layouts
    found = set()
    for script in spans("EvaluateScript", "FunctionCall"):
        address = script["args"].get("data", {}).get("url", "")
        if any(holds(script, layout) for layout in layouts):
            found.add(f"{script['name']} {PurePosixPath(urlsplit(address).path).name}")
    return found


@contextlib.contextmanager
def traced(browser: Browser) -> Iterator[list[dict[str, Any]]]:
    """Trace what runs meanwhile; the list is filled at the end."""
    events: list[dict[str, Any]] = []
    browser.start_tracing(categories=["devtools.timeline"])
    try:
        yield events
    finally:
        events += json.loads(browser.stop_tracing())["traceEvents"]


def test_no_script_has_the_page_laid_out_once_more(browser: Browser, served: Served) -> None:
    """To measure as blocks come near, or the page's head at the start, took a tenth of a second.

    The theme's script for scrolling and its own may still ask where something is, of a page that is
    laid out by then.
    """
    with traced(browser) as events:
        page = open_page(browser, served.http + GRADIENT, slower=4)
        page.context.close()
    ours = (" elmo.js", f" {PurePosixPath(GRADIENT).name}")
    forced = layouts_forced_by(events)
    assert not {name for name in forced if name.endswith(ours)}
    assert "EvaluateScript bootstrap.js" not in forced


def test_a_box_is_measured_after_the_layout_that_is_due(browser: Browser, served: Served) -> None:
    """What a script has changed meanwhile would otherwise be laid out for the answer."""
    page = open_page(browser, served.http + GRADIENT)
    at_once, later = page.evaluate(ASKED)
    assert at_once == 0
    assert later == 1
    page.context.close()


def test_a_script_that_measures_is_found(browser: Browser, served: Served) -> None:
    """Or the test before would pass by looking for nothing."""
    measures = "document.documentElement.append('a'); document.documentElement.offsetHeight;"
    with traced(browser) as events:
        page = browser.new_page()
        page.route(
            "**/elmo.js*",
            lambda route: route.fulfill(content_type="text/javascript", body=measures),
        )
        page.route(
            "**/measuring.html",
            lambda route: route.fulfill(
                content_type="text/html", body=f"<script>{measures}</script>"
            ),
        )
        page.goto(served.http + "book/glossary.html", wait_until="networkidle")
        page.goto(served.http + "measuring.html")
        page.close()
    assert {"EvaluateScript elmo.js", "EvaluateScript measuring.html"} <= layouts_forced_by(events)


def test_the_button_up_shows_when_the_reader_turns_back(browser: Browser, served: Served) -> None:
    """The theme's script asks how high the head of the page is when it is scrolled, not before."""
    page = open_page(browser, served.http + GRADIENT)
    button = page.locator("#pst-back-to-top")
    page.mouse.move(200, 400)
    for wheel, shown in ((2000, False), (-400, True)):
        before = page.evaluate("scrollY")
        page.mouse.wheel(0, wheel)
        page.wait_for_function(
            "([before, down]) => (down ? scrollY > before : scrollY < before)",
            arg=[before, wheel > 0],
        )
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        assert button.is_visible() == shown
    button.click()
    page.wait_for_function("() => scrollY === 0")
    page.context.close()
