"""Blocks that are laid out when the reader comes near: they wait, and nobody notices."""

from __future__ import annotations

import pytest
from browser_checks import SETTLE, Mode, Served, new_context
from playwright.sync_api import Browser, Page

GRADIENT = "notebooks/04_gradient.html"
PHONE = {"width": 412, "height": 823}

WAITING = """() => [...document.querySelectorAll("[data-later]")]
  .map((block) => !block.firstElementChild.checkVisibility({ contentVisibilityAuto: true }))"""

STOPS = """() => [...document.querySelectorAll("article :is(pre, div.math)")]
  .map((box) => box.tabIndex === 0)"""

ESTIMATED_AND_REAL = """() => [...document.querySelectorAll("[data-later]")].map((block) => [
  parseFloat(block.style.getPropertyValue(innerWidth <= 700 ? "--phone" : "--desk")),
  block.offsetHeight])"""

# What is drawn outside of a block further than its clip margin; what scrolls in a box is in it.
CUT_OFF = """() => {
  const problems = [];
  for (const block of document.querySelectorAll("[data-later]")) {
    const own = block.getBoundingClientRect();
    const margin = parseFloat(getComputedStyle(block).overflowClipMargin);
    if (!(margin > 0)) problems.push(`no clip margin: ${block.outerHTML.slice(0, 80)}`);
    const look = (element) => {
      const box = element.getBoundingClientRect();
      if (box.width && (box.left < own.left - margin || box.right > own.right + margin)) {
        problems.push(element.outerHTML.slice(0, 80));
      }
      if (getComputedStyle(element).overflowX !== "visible") return;
      if (!element.matches(".katex, svg")) [...element.children].forEach(look);
    };
    if (getComputedStyle(block).overflowX === "visible") [...block.children].forEach(look);
  }
  return problems;
}"""


def top_of(page: Page, section: str) -> float:
    """Return where a section begins in the window, in px."""
    top: float = page.evaluate(
        "(id) => document.getElementById(id).getBoundingClientRect().top", section
    )
    return top


def open_page(browser: Browser, address: str) -> Page:
    """Open a page on a phone, as it is when nothing has been scrolled yet."""
    page = browser.new_context(viewport=PHONE, reduced_motion="no-preference").new_page()
    page.goto(address, wait_until="load")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return page


def laid_out(page: Page) -> float:
    """Return how many boxes the browser has made up to now, of elements and of text."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "LayoutObjects"))


@pytest.mark.parametrize("name", [GRADIENT, "book/notation.html"])
def test_most_of_a_long_page_waits_for_the_reader(
    name: str, browser: Browser, served: Served
) -> None:
    """Scripts measure nothing that is not laid out: that would have it laid out at once."""
    page = open_page(browser, served.http + name)
    waiting = page.evaluate(WAITING)
    assert not waiting[0]
    assert sum(waiting) > len(waiting) / 3
    at_first = laid_out(page)
    page.evaluate(SETTLE)
    assert at_first < 0.8 * laid_out(page)
    page.context.close()


def test_tab_finds_the_boxes_that_scroll_further_down(browser: Browser, served: Served) -> None:
    """What is next may not be laid out yet; and no box that doesn't scroll is a stop."""
    page = open_page(browser, served.http + GRADIENT)
    assert any(page.evaluate(WAITING))
    page.keyboard.press("Tab")
    stops = page.evaluate(STOPS)
    page.evaluate(SETTLE)
    assert stops == page.evaluate(STOPS)
    assert set(stops) == {True, False}
    page.context.close()


@pytest.mark.parametrize("width", [360, 1280])
def test_estimated_heights_come_near_the_real_ones(
    width: int, browser: Browser, served: Served
) -> None:
    """A scroll bar tells how long a chapter is, within a fifth; and nothing is cut off.

    Other pages stay within a factor of two: a page of tables, or of folded answers, has few such
    blocks, whose room depends on what the browser makes of their columns.
    """
    context = new_context(browser, Mode(width=width))
    page = context.new_page()
    problems = []
    pages = [page.name for page in served.site.pages if "data-later" in page.html]
    # the reference's pages are made alike, of entries
    for name in [n for n in pages if "/api/" not in n or n.endswith(("mixture.html", "bilm.html"))]:
        page.goto(served.http + name, wait_until="load")
        page.evaluate(SETTLE)
        heights = page.evaluate(ESTIMATED_AND_REAL)
        estimated, real = (sum(pair[k] for pair in heights) for k in (0, 1))
        factor = 1.2 if "/0" in name else 2
        if heights and not 1 / factor < estimated / real < factor:
            problems.append(f"{name}: {estimated:.0f} px estimated, {real:.0f} px")
        problems += [f"{name}: is cut off: {element}" for element in page.evaluate(CUT_OFF)]
    context.close()
    assert not problems, "\n".join(problems)


def test_links_lead_to_their_section(browser: Browser, served: Served) -> None:
    """Also across blocks whose true heights come only now, and after them in both directions."""
    page = open_page(browser, served.http + GRADIENT)
    sections = ["the-frozen-head", "the-derivation", "many-steps", "a-loss-to-differentiate"]
    for section in sections:
        page.evaluate("(id) => { location.hash = id; }", section)
        page.wait_for_timeout(100)  # an animation would be on its way
        assert 0 <= top_of(page, section) < 100, section
    page.goto("about:blank")
    page.goto(f"{served.http}{GRADIENT}#many-steps", wait_until="load")
    assert 0 <= top_of(page, "many-steps") < 100
    page.context.close()


def test_text_stands_still_while_the_reader_scrolls_up(browser: Browser, served: Served) -> None:
    """Blocks above get their true heights, and what is read moves by what was scrolled."""
    page = open_page(browser, f"{served.http}{GRADIENT}#many-steps")
    page.mouse.move(200, 400)
    before = top_of(page, "many-steps")
    for count in range(1, 9):
        page.mouse.wheel(0, -400)
        page.wait_for_function(
            "([id, top]) => document.getElementById(id).getBoundingClientRect().top > top",
            arg=["many-steps", before + 400 * count - 2],
        )
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        assert top_of(page, "many-steps") == pytest.approx(before + 400 * count, abs=2)
    page.context.close()
