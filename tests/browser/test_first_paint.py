"""What a page does before anything of it shows: it has its fonts, and measures nothing."""

from __future__ import annotations

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


def test_the_button_up_shows_when_the_reader_turns_back(browser: Browser, served: Served) -> None:
    """The theme's script asks how high the head of the page is when it is scrolled, not before."""
    page = open_page(browser, served.http + GRADIENT)
    button = page.locator("#pst-back-to-top")
    page.mouse.move(200, 400)
    for wheel, shown in ((2000, False), (-400, True)):
        before = page.evaluate("scrollY")
        page.mouse.wheel(0, wheel)
        page.wait_for_function("(before) => scrollY !== before", arg=before)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        assert button.is_visible() == shown
    button.click()
    page.wait_for_function("() => scrollY === 0")
    page.context.close()
