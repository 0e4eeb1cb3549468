"""The menu of a notebook's page, and the maker of links for a hub, by keyboard in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from browser_checks import SETTLE, Mode, Served, Visit, new_context, watch
from playwright.sync_api import Browser, Page, expect

NOTEBOOK, HUB = "notebooks/03_softmax_mixture.html", "book/seminar/hub.html"
AXE = "axe.run(document, { resultTypes: ['violations'], preload: false })"


@pytest.fixture(params=["http", "file"])
def way(request: pytest.FixtureRequest, served: Served) -> str:
    """The address of the book, served and on disk."""
    address: str = getattr(served, request.param)
    return address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a fresh profile, as narrow as a phone."""
    context = new_context(browser, Mode("light", width=360))
    yield context.new_page()
    context.close()


def test_the_menu_opens_by_keyboard_and_asks_nobody(page: Page, way: str, axe: str) -> None:
    visit = Visit(NOTEBOOK, way, Mode())
    watch(page, visit)
    page.goto(way + NOTEBOOK, wait_until="load")
    menu = page.get_by_role("button", name="Run this notebook")
    menu.focus()
    page.keyboard.press("Enter")
    for name in ("Run on Binder", "Run on Colab"):
        link = page.get_by_role("link", name=name)
        expect(link).to_be_visible()
        page.keyboard.press("ArrowDown")
        expect(link).to_be_focused()
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    page.evaluate(SETTLE)
    page.evaluate(axe)
    assert page.evaluate(AXE)["violations"] == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Run on Binder")).to_be_hidden()
    assert not visit.errors
    assert all(url.startswith(way) for url in visit.requested)


def test_a_link_is_made_as_one_types(page: Page, way: str, axe: str) -> None:
    visit = Visit(HUB, way, Mode())
    watch(page, visit)
    page.goto(way + HUB, wait_until="load")
    hub, branch = page.get_by_label("Address of the hub"), page.get_by_label("Branch or tag")
    said, copy = page.locator("#elmo-links-said"), page.get_by_role("button", name="Copy the link")
    made = page.locator(".elmo-links-made a")
    expect(said).to_have_text("Type the address of your hub.")
    expect(copy).to_be_disabled()

    hub.focus()
    page.keyboard.type("hub.example.org")
    expect(said).to_contain_text("should look like https://hub.example.org")
    expect(hub).to_have_attribute("aria-invalid", "true")
    expect(made).to_be_hidden()
    page.keyboard.press("Home")
    page.keyboard.type("https://")
    expect(hub).not_to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Enter")  # which sends the form nowhere
    expect(made).to_be_visible()

    page.keyboard.press("Tab")
    page.keyboard.type("v1 x")  # over the name that is selected
    expect(branch).to_have_attribute("aria-invalid", "true")
    for _ in range(2):
        page.keyboard.press("Backspace")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    url = urlsplit(str(made.get_attribute("href")))
    assert f"{url.scheme}://{url.netloc}" == "https://hub.example.org"
    query = parse_qs(url.query, strict_parsing=True)
    assert query["branch"] == ["v1"]
    assert query["urlpath"][0].endswith("/notebooks/02_directional_lms.ipynb")
    expect(made).to_have_text(str(made.get_attribute("href")))
    page.keyboard.press("Tab")
    expect(made).to_be_focused()
    page.keyboard.press("Tab")
    expect(copy).to_be_focused()
    page.keyboard.press("Enter")
    expect(said).to_contain_text("link is")  # copied, or selected where a browser forbids it

    page.evaluate(axe)
    assert page.evaluate(AXE)["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert not visit.errors
    assert all(url.startswith(way) for url in visit.requested)


def test_without_scripts_the_pattern_is_there(browser: Browser, served: Served) -> None:
    context = new_context(browser, Mode(scripts=False))
    page = context.new_page()
    page.goto(served.file + HUB, wait_until="load")
    expect(page.locator(".elmo-links form")).to_be_hidden()
    expect(page.locator(".elmo-links pre")).to_contain_text("/hub/user-redirect/git-pull?repo=")
    context.close()
