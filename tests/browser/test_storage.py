"""What a browser keeps for the book: nothing where it refuses to, and nobody's rubbish."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser_checks import Mode, Served, Visit, new_context, search_problems, watch
from playwright.sync_api import Browser, BrowserContext, Page, expect

LIGHT = Mode("light")
# as Chromium and Firefox have it where a reader blocks cookies
DENIED = """for (const name of ["localStorage", "sessionStorage"]) {
  const get = () => { throw new DOMException("Access is denied.", "SecurityError"); };
  Object.defineProperty(window, name, { get });
}"""
CHAPTER = "notebooks/03_softmax_mixture.html"
SLIDES, HANDOUT = "seminar/slides.html", "seminar/handout.html"
ways = pytest.mark.parametrize("way", ["http", "file"])


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile."""
    made = new_context(browser, LIGHT)
    yield made
    made.close()


@pytest.fixture
def refused(context: BrowserContext) -> tuple[Page, Visit]:
    """A page that may keep nothing, and what goes wrong on it."""
    context.add_init_script(DENIED)
    page, seen = context.new_page(), Visit("", "", LIGHT)
    watch(page, seen)
    return page, seen


@ways
def test_without_storage_theme_and_search_work(
    way: str, refused: tuple[Page, Visit], served: Served
) -> None:
    """The theme's own script starts, switches as long as the page lives, and opens the search."""
    page, seen = refused
    page.goto(getattr(served, way) + CHAPTER, wait_until="load")
    root, switch = page.locator("html"), page.locator("button.theme-switch-button").first
    for mode, theme in (("dark", "dark"), ("light", "light"), ("auto", "light")):
        switch.click()
        expect(root).to_have_attribute("data-mode", mode)
        expect(root).to_have_attribute("data-theme", theme)
    page.keyboard.press("Control+k")
    expect(page.locator("#pst-search-dialog input")).to_be_focused()
    page.keyboard.press("Escape")
    assert not search_problems(page, "gamma", ("gamma", "γ"))
    assert not seen.errors


@ways
def test_without_storage_the_seminars_pages_work(
    way: str, refused: tuple[Page, Visit], served: Served
) -> None:
    page, seen = refused
    for name in (HANDOUT, SLIDES):
        page.goto(getattr(served, way) + name, wait_until="load")
        expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.get_by_role("button", name="Dark or light").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert not seen.errors


def test_what_is_kept_is_kept_by_the_browser_where_it_may_be(
    context: BrowserContext, served: Served
) -> None:
    """What stands in for it otherwise would lose the theme with the page."""
    page = context.new_page()
    page.goto(served.http + CHAPTER, wait_until="load")
    kinds = page.evaluate("() => [`${localStorage}`, `${sessionStorage}`]")
    assert kinds == ["[object Storage]"] * 2


@pytest.mark.parametrize("kept", ["purple", "auto", "dark light", "constructor"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_theme_but_light_and_dark(
    kept: str, scheme: str, browser: Browser, served: Served
) -> None:
    """Another page of the host may have written what it liked."""
    context = new_context(browser, Mode(scheme))
    context.add_init_script(f"localStorage.setItem('mode', '{kept}')")
    context.add_init_script(f"localStorage.setItem('theme', '{kept}')")
    page = context.new_page()
    for name in (CHAPTER, SLIDES, HANDOUT):
        page.goto(served.http + name, wait_until="commit")
        expect(page.locator("html")).to_have_attribute("data-theme", scheme)
    context.close()
