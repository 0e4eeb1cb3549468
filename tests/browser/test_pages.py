"""Every page of the built book in a real browser, served and opened from disk.

Each page is opened once in each mode; each test then asserts one property of all of these visits
and names every page that lacks it.
"""

from __future__ import annotations

import re

import pytest
from browser_checks import (
    CHECKS,
    SETTLE,
    Check,
    Mode,
    Served,
    Visit,
    faint_figures,
    layout_shift,
    look_at,
    new_context,
    problems_of,
    reflow_problems,
    search_problems,
    theme_switch_problems,
)
from playwright.sync_api import Browser, expect
from site_checks import REQUEST_BUDGET, WEIGHT_BUDGET, page_weight, weight_problem

LIGHT, DARK, PHONE = Mode("light"), Mode("dark"), Mode("light", width=360)


def page_names(served: Served) -> list[str]:
    """Return the pages with content, without one that only leads to another.

    The pages of the API reference are made alike, of entries: the longest two stand for the others.
    """
    pages = [page for page in served.site.pages if not page.leads_on]
    reference = [page for page in pages if re.match("book/api/(?!index)", page.name)]
    left_out = sorted(reference, key=lambda page: len(page.html))[:-2]
    return [page.name for page in pages if page not in left_out]


@pytest.fixture(scope="module")
def visits(browser: Browser, served: Served, axe: str) -> list[Visit]:
    """All visits to all pages; the slow part of these tests."""
    seen = []
    for mode in (LIGHT, DARK, PHONE):
        context = new_context(browser, mode)
        for name in page_names(served):
            seen.append(look_at(context, served.http, name, mode, axe, focus=mode != DARK))
        context.close()
    context = new_context(browser, LIGHT)
    seen += [look_at(context, served.file, name, LIGHT) for name in page_names(served)]
    context.close()
    return seen


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_no_page_has(check: Check, visits: list[Visit]) -> None:
    """No page, in no mode, has what the check looks for."""
    problems = problems_of(visits, check)
    assert not problems, "\n".join(problems)


def test_the_column_does_not_wait_for_the_contents_beside_it(
    browser: Browser, served: Served, halved: str
) -> None:
    """They come last in the file; text that is narrowed when they arrive jumps as it is read."""
    problems = []
    for name in page_names(served):
        if 'id="pst-secondary-sidebar"' in (served.site.root / name).read_text("utf-8"):
            context = new_context(browser, LIGHT)  # a first visit, with nothing in the cache
            seen = look_at(context, halved, name, LIGHT)
            assert seen.measured["layoutShift"] is not None
            problems += layout_shift(seen)
            context.close()
    assert not problems, "\n".join(problems)


def test_the_visits_met_the_book(visits: list[Visit], served: Served) -> None:
    """The checks had equations, figures, text in figures and stops of the keyboard to look at."""
    chapters = [seen for seen in visits if seen.name.startswith("notebooks/")]
    assert chapters
    for seen in chapters:
        assert seen.measured["equations"], seen.where
        if "/exercises_" in seen.name:  # which ask, and show no figure
            continue
        assert any(figure["texts"] for figure in seen.measured["figures"]), seen.where
        assert any(figure["marks"] for figure in seen.measured["figures"]), seen.where
    assert all(seen.focus["count"] > 3 for seen in visits if seen.focus)
    assert {seen.root for seen in visits} == {served.http, served.file}


def test_pages_keep_their_weight_with_fonts(visits: list[Visit], served: Served) -> None:
    """Counting all that the browser asked for, fonts too, every page is within its budget."""
    problems = []
    for name in page_names(served):
        asked = [seen.files for seen in visits if seen.name == name and seen.root == served.http]
        page = served.site.by_name[name]
        weight = page_weight(served.site, page, frozenset().union(*asked))
        problems += weight_problem(page, weight, WEIGHT_BUDGET)
    assert not problems, "\n".join(problems)


def test_pages_ask_for_few_files(visits: list[Visit], served: Served) -> None:
    """Each file costs a slow link another wait, whatever its size."""
    problems = []
    for seen in visits:
        asked = seen.files - {seen.name}
        if seen.root == served.http and len(asked) > REQUEST_BUDGET:
            problems.append(f"{seen.where}: asks for {len(asked)} files: {sorted(asked)}")
    assert not problems, "\n".join(problems)


def test_pages_can_be_enlarged_and_spaced(browser: Browser, served: Served) -> None:
    """At 200 and 400 %, and with the spacing that a reader may need, nothing is lost."""
    context = new_context(browser, LIGHT)
    page = context.new_page()
    problems = []
    for name in page_names(served):
        page.goto(served.http + name, wait_until="load")
        problems += reflow_problems(page, name)
    context.close()
    assert not problems, "\n".join(problems)


LOOSE = """() => [...document.querySelectorAll("span.math")].flatMap((formula) => {
  const next = formula.nextSibling;
  if (next?.nodeType !== Node.TEXT_NODE || !/^[.,;:)]/.test(next.data)) return [];
  const sign = document.createRange();
  sign.setStart(next, 0);
  sign.setEnd(next, 1);
  const last = [...formula.querySelectorAll(".base")].at(-1).getBoundingClientRect();
  const loose = sign.getBoundingClientRect().left < last.left;
  return [loose ? formula.querySelector("annotation").textContent : "held"];
})"""


@pytest.mark.parametrize("name", ["02_directional_lms", "04_gradient", "exercises_2_mixture"])
def test_no_line_begins_with_the_sign_after_a_formula(
    name: str, browser: Browser, served: Served
) -> None:
    """Of whatever length the formula is, and wherever it may break itself."""
    context = new_context(browser, PHONE)
    page = context.new_page()
    page.goto(served.http + f"notebooks/{name}.html", wait_until="load")
    found = set()
    for width in (320, 340, 360, 412):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate(SETTLE)
        found |= set(page.evaluate(LOOSE))
    context.close()
    assert found == {"held"}


@pytest.mark.parametrize("name", ["03_softmax_mixture", "06_experiments"])
def test_figures_take_the_reader_s_own_colours(name: str, browser: Browser, served: Served) -> None:
    """Where the system sets the colours, lines and text stand out, whatever theme was chosen."""
    page_name = f"notebooks/{name}.html"
    problems = []
    for scheme, chosen in (("dark", "light"), ("light", "dark")):
        mode = Mode(scheme)
        context = new_context(browser, mode, forced_colors="active")
        context.add_init_script(f"localStorage.setItem('mode', '{chosen}')")
        seen = look_at(context, served.http, page_name, mode)
        assert any(figure["texts"] for figure in seen.measured["figures"])
        problems += faint_figures(seen)
        context.close()
    assert not problems, "\n".join(problems)


def test_a_formula_that_a_late_font_widens_is_reached_by_keyboard(
    browser: Browser, served: Served
) -> None:
    """Its box keeps its size, so only the font's arrival says that it scrolls now."""
    context = new_context(browser, LIGHT)
    page = context.new_page()
    page.goto(served.http + "notebooks/07_carry_forward.html", wait_until="load")
    page.evaluate(SETTLE)
    formula = page.locator("article div.math").first
    assert formula.get_attribute("tabindex") is None
    formula.evaluate(
        """(box) => {
          const before = box.offsetHeight;
          box.querySelector(".katex").style.letterSpacing = "9rem";
          if (box.offsetHeight !== before) throw new Error("its box has another size");
        }"""
    )
    page.evaluate("document.fonts.dispatchEvent(new FontFaceSetLoadEvent('loadingdone'))")
    expect(formula).to_have_attribute("tabindex", "0")  # with the next layout
    context.close()


@pytest.mark.parametrize("way", ["http", "file"])
def test_search_finds_gamma(way: str, browser: Browser, served: Served) -> None:
    """A reader who searches for gamma gets to a page about it, also without a server."""
    context = new_context(browser, LIGHT)
    page = context.new_page()
    page.goto(getattr(served, way) + "index.html", wait_until="load")
    page.wait_for_url("**/book/index.html")
    problems = search_problems(page, "gamma", ("gamma", "γ"))
    context.close()
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("way", ["http", "file"])
def test_search_finds_no_word_of_the_language_itself(
    way: str, browser: Browser, served: Served
) -> None:
    """Each object of a script has a constructor and a __proto__; the index has what pages say."""
    context = new_context(browser, LIGHT)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    for word, said in (("constructor", "Search finished"), ("__proto__", "did not match any")):
        page.goto(f"{getattr(served, way)}search.html?q={word}", wait_until="load")
        expect(page.locator("#search-results .search-summary")).to_contain_text(said)
        links = page.locator("#search-results li a").evaluate_all("(all) => all.map((a) => a.href)")
        assert not [link for link in links if "undefined" in link]
    context.close()
    assert not errors


@pytest.mark.parametrize("way", ["http", "file"])
def test_theme_switch_works(way: str, browser: Browser, served: Served) -> None:
    """The theme can be switched by keyboard and stays as it was chosen."""
    context = new_context(browser, LIGHT)
    page = context.new_page()
    page.goto(getattr(served, way) + "book/index.html", wait_until="load")
    problems = theme_switch_problems(page)
    context.close()
    assert not problems, "\n".join(problems)


def test_pages_read_without_scripts(browser: Browser, served: Served) -> None:
    """With scripts off, each page shows its text, its figures and its equations.

    What a reader has to unfold, an exercise's answer say, may be folded: that needs no script.
    """
    mode = Mode(scripts=False)
    context = new_context(browser, mode)
    page = context.new_page()
    problems = []
    for name in page_names(served):
        if name in {"search.html", "genindex.html"}:
            continue
        page.goto(served.http + name, wait_until="load")
        if len(page.locator("article").inner_text().split()) < 50:
            problems.append(f"{name}: shows next to no text")
        folded = ":not(details:not([open]) *)"
        for selector in (f"article .katex{folded}", f"article figure svg{folded}"):
            hidden = [one for one in page.locator(selector).all() if not one.is_visible()]
            problems += [f"{name}: a {selector} is not to be seen"] if hidden else []
    context.close()
    assert not problems, "\n".join(problems)
