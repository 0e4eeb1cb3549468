"""The script that runs in its page: what the page's Python prints is what Python prints here.

Python is started twice, once from a server and once from disk, since a start takes seconds.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from book_site.page_python import about, loaded_files
from browser_checks import (
    MEASURE,
    SETTLE,
    Mode,
    Served,
    Visit,
    accessibility_violations,
    horizontal_scroll,
    new_context,
    watch,
)
from playwright.sync_api import Browser, Locator, Page, expect

from tests.conftest import REPOSITORY

SCRIPT = REPOSITORY / "elmo_toy" / "elmo_scalar_mix_demo.py"
PATIENCE = 120_000
"""Milliseconds within which a busy machine is sure to have started Python."""

PAGE = "book/reproduce.html"
LIGHT, PHONE = Mode("light"), Mode("dark", width=360)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a fresh profile."""
    context = new_context(browser, LIGHT)
    yield context.new_page()
    context.close()


def python3(*arguments: str) -> tuple[str, int]:
    """Run the script as the page says that one does; its output and its status."""
    command = [sys.executable, str(SCRIPT), *arguments]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.stdout, done.returncode


def visited(page: Page, root: str) -> Visit:
    """Open the page and record what it asks for."""
    visit = Visit(PAGE, root, LIGHT)
    watch(page, visit)
    page.goto(root + PAGE, wait_until="load")
    page.evaluate(SETTLE)
    return visit


def status(page: Page) -> Locator:
    return page.locator("elmo-python [role=status]")


def printed(page: Page) -> str:
    return page.locator("elmo-python pre").text_content() or ""


def says(text: str, code: int) -> str:
    """What the page says of a run that printed `text`."""
    lines = text.count("\n")
    version = about()["lock"]["info"]["python"]
    return f"Python {version} ended with status {code}; {lines} line{'s' * (lines != 1)} printed."


def run(page: Page, arguments: str) -> str:
    """Type arguments, press Enter; what is printed."""
    typed = page.get_by_label("Arguments")
    typed.fill(arguments)
    typed.press("Enter")
    return printed(page)


def later(visit: Visit, asked: int) -> list[str]:
    """The files that the page asked for since."""
    return [url.rpartition("/")[2] for url in visit.requested[asked:] if "favicon" not in url]


def test_it_prints_what_python_prints(page: Page, served: Served, axe: str) -> None:
    """By keyboard, from a server: a start that fails, one that doesn't, other arguments."""
    visit = visited(page, served.http)
    asked = len(visit.requested)
    button = page.locator("elmo-python button")
    expect(button).to_have_text(f"Run it here (loads {about()['size']} first)")
    shown = page.locator("section#the-script .highlight-python pre").text_content()
    assert shown == SCRIPT.read_text("utf-8")
    height = page.evaluate("document.body.scrollHeight")

    page.route("**/part-3.js", lambda route: route.abort())
    button.focus()
    page.keyboard.press("Enter")
    failed = "A part of Python did not come; try again."
    expect(status(page)).to_have_text(failed, timeout=PATIENCE)
    assert printed(page) == ""
    assert visit.failed.pop().startswith(f"{served.http}_static/pyodide/part-3.js: net::ERR_FAILED")
    assert "ERR_FAILED" in visit.errors.pop()

    page.unroute("**/part-3.js")
    page.keyboard.press("Space")
    text, code = python3()
    expect(status(page)).to_have_text(says(text, code), timeout=PATIENCE)
    assert printed(page) == text
    expect(button).to_have_text("Run it again")
    expect(button).to_be_focused()
    files = list(loaded_files())
    again = files.index("part-3.js")
    assert later(visit, asked) == files[: again + 1] + files[again:]  # once each, but for that one

    asked = len(visit.requested)
    page.context.set_offline(True)
    assert run(page, "--nosuch") == python3("--nosuch")[0]
    assert status(page).inner_text() == says(*python3("--nosuch"))
    assert run(page, "'") == "the arguments cannot be parted into words: No closing quotation\n"
    assert run(page, "--json /no/folder") == python3("--json", "/no/folder")[0]
    assert page.locator("elmo-python pre").get_attribute("aria-live") == "polite"
    here, there = run(page, "--json -"), python3("--json", "-")[0]
    assert NUMBER.sub("#", here) == NUMBER.sub("#", there)
    # another library of functions may round a last digit in another way
    numbers = [float(number) for number in NUMBER.findall(there)]
    assert [float(number) for number in NUMBER.findall(here)] == pytest.approx(numbers, abs=1e-10)
    assert page.locator("elmo-python pre").get_attribute("aria-live") == "off"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator("elmo-python pre")).to_be_focused()  # it scrolls, behind the licences
    assert run(page, "") == text
    assert page.locator("elmo-python pre").get_attribute("tabindex") is None
    assert page.evaluate("document.body.scrollHeight") == height

    page.context.set_offline(False)
    page.set_viewport_size({"width": PHONE.width, "height": 800})
    page.emulate_media(color_scheme="dark")
    page.evaluate(SETTLE)
    visit.measured = page.evaluate(MEASURE, "")
    page.evaluate(axe)
    found = page.evaluate("axe.run('elmo-python', {resultTypes: ['violations'], preload: false})")
    visit.violations = found["violations"]
    assert not accessibility_violations(visit) + horizontal_scroll(visit)
    page.emulate_media(media="print")
    expect(page.locator("elmo-python")).to_be_hidden()
    assert not visit.errors + visit.failed + later(visit, asked)
    assert not page.evaluate("policyViolations")


def test_it_runs_from_disk_without_a_network(page: Page, served: Served) -> None:
    visit = visited(page, served.file)
    page.context.set_offline(True)
    asked = len(visit.requested)
    page.get_by_role("button", name="Run it here").click()
    text, code = python3()
    expect(status(page)).to_have_text(says(text, code), timeout=PATIENCE)
    assert printed(page) == text
    assert later(visit, asked) == list(loaded_files())
    assert not visit.errors + visit.failed + page.evaluate("policyViolations")


def test_a_browser_that_forbids_it_is_told_so(page: Page, served: Served) -> None:
    page.add_init_script("WebAssembly.compile = () => Promise.reject(new Error('forbidden here'))")
    visit = visited(page, served.http)
    asked = len(visit.requested)
    page.get_by_role("button", name="Run it here").click()
    forbidden = "Python does not start in this browser: forbidden here"
    expect(status(page)).to_have_text(forbidden, timeout=PATIENCE)
    assert not later(visit, asked)


def test_without_scripts_there_is_no_control(browser: Browser, served: Served) -> None:
    context = new_context(browser, Mode(scripts=False))
    page = context.new_page()
    page.goto(served.http + PAGE, wait_until="load")
    assert page.locator("elmo-python").inner_text() == ""
    assert page.locator("elmo-python").evaluate("(e) => e.offsetHeight") == 0
    context.close()
