"""The quizzes and the links of the seminar's pages, used as a reader uses them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from book_site.explorer_links import LINKS
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
from explorer_checks import KINDS, Driver
from playwright.sync_api import Browser, Locator, Page, expect

from elmo_toy import quiz
from elmo_toy.quiz import LETTERS, Item

PRE, POST, CONCEPT = quiz.pre_quiz(), quiz.post_quiz(), quiz.concept_tests()
PAGES = {
    "book/seminar/pre_quiz.html": PRE,
    "book/seminar/post_quiz.html": POST,
    "book/seminar/concept_tests.html": CONCEPT,
}
PRE_QUIZ, POST_QUIZ, CONCEPT_TESTS = PAGES
PLAN = "book/seminar/plan.html"
LIGHT = Mode("light")
ANSWERED = (LIGHT, Mode("dark"), Mode("light", width=360))


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a fresh profile."""
    context = new_context(browser, LIGHT)
    yield context.new_page()
    context.close()


def box(page: Page, item: Item) -> Locator:
    """The fieldset of a question."""
    return page.locator(f"#item-{item.id.lower()}")


def expected(item: Item, letter: str) -> str:
    """What is said to somebody who chose a letter."""
    option = item.options[LETTERS.index(letter)]
    verdict = "right" if option.right else "not this one"
    return f"{letter}: {verdict}. {option.explanation}"


def answer(page: Page, item: Item, letter: str) -> None:
    """Choose and check with the pointer."""
    box(page, item).get_by_text(item.options[LETTERS.index(letter)].text, exact=True).first.click()
    box(page, item).get_by_role("button").click()


def a_wrong_letter(item: Item) -> str:
    return "B" if item.key == "A" else "A"


def focused(page: Page) -> str:
    """Name or text of what has the focus."""
    found: str = page.evaluate(
        """() => {
          const active = document.activeElement;
          return `${active.name || ""}${active.value || active.innerText}`;
        }"""
    )
    return found


@pytest.mark.parametrize("way", ["http", "file"])
def test_a_quiz_by_keyboard(way: str, page: Page, served: Served) -> None:
    """Tab into a question, arrows to an answer, Tab and a key to check: reasons and a score."""
    visit = Visit(PRE_QUIZ, getattr(served, way), LIGHT)
    watch(page, visit)
    page.goto(visit.root + PRE_QUIZ, wait_until="load")
    asked = len(visit.requested)
    first = box(page, PRE[0])
    first.evaluate("(e) => { e.tabIndex = -1; e.focus(); e.removeAttribute('tabindex'); }")
    for place, item in enumerate(PRE):
        page.keyboard.press("Tab")
        assert focused(page).startswith(item.id)
        if place == 0:  # nothing chosen yet
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            expect(first.get_by_role("status")).to_have_text("Choose an answer first.")
            page.keyboard.press("Shift+Tab")
        letter = a_wrong_letter(item) if place == 0 else item.key
        page.keyboard.press("Space")
        for _ in range(LETTERS.index(letter)):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
        assert focused(page) == "Check"
        page.keyboard.press("Enter" if place % 2 else "Space")
        expect(box(page, item).get_by_role("status")).to_have_text(expected(item, letter))
        page.keyboard.press("Tab")  # to the folded answer
    score = page.locator(".kit-score")
    expect(score).to_have_text("4 of 5 right at the first choice.")
    answer(page, PRE[0], PRE[0].key)  # a second choice changes no score
    expect(score).to_have_text("4 of 5 right at the first choice.")

    page.get_by_role("button", name="Start again").focus()
    page.keyboard.press("Enter")
    assert focused(page).startswith(PRE[0].id)
    assert page.locator("input:checked").count() == 0
    assert "".join(page.locator(".kit-quiz [role=status]").all_inner_texts()) == ""

    assert not visit.errors + visit.failed
    later = [url for url in visit.requested[asked:] if not url.endswith("favicon.svg")]
    assert not later, "something was requested after the page had come"
    kept = page.evaluate(
        "() => [document.cookie, sessionStorage.length, Object.keys(localStorage)]"
    )
    assert kept[:2] == ["", 0]
    assert not [key for key in kept[2] if key not in ("mode", "theme")]  # the theme's own


@pytest.mark.parametrize("first_right", [True, False])
def test_another_choice_takes_back_what_was_said(
    first_right: bool, page: Page, served: Served
) -> None:
    """The mark and the sentence are about a choice, and another one has not been checked."""
    page.goto(served.http + PRE_QUIZ, wait_until="load")
    item, other = PRE[0], PRE[1]
    letters = [item.key, a_wrong_letter(item)]
    one, another = letters if first_right else letters[::-1]
    answer(page, other, other.key)
    answer(page, item, one)
    mark = re.compile(r"\bis-(right|wrong)\b")
    said = box(page, item).get_by_role("status")
    expect(said).to_have_text(expected(item, one))
    expect(box(page, item)).to_have_class(mark)
    box(page, item).get_by_role("radio").nth(LETTERS.index(another)).check()
    expect(said).to_have_text("")
    expect(box(page, item)).not_to_have_class(mark)
    expect(box(page, other)).to_have_class(mark)  # of another question it stays
    expect(box(page, other).get_by_role("status")).to_have_text(expected(other, other.key))
    box(page, item).get_by_role("button").click()
    expect(said).to_have_text(expected(item, another))


@pytest.mark.parametrize("name", PAGES)
def test_every_answer_is_explained_when_it_is_chosen(name: str, page: Page, served: Served) -> None:
    page.goto(served.http + name, wait_until="load")
    said = page.evaluate(
        """() => [...document.querySelectorAll(".kit-item input")].map((input) => {
          const item = input.closest(".kit-item");
          input.click();
          item.querySelector("button").click();
          return [input.name + input.value, item.querySelector(".kit-said").textContent];
        })"""
    )
    assert dict(said) == {
        f"{item.id}{letter}": expected(item, letter)
        for item in PAGES[name]
        for letter in LETTERS[: len(item.options)]
    }


@pytest.mark.parametrize("mode", ANSWERED, ids=str)
def test_an_answered_quiz_is_accessible(
    mode: Mode, browser: Browser, served: Served, axe: str
) -> None:
    context = new_context(browser, mode)
    page = context.new_page()
    visit = Visit(POST_QUIZ, served.http, mode)
    page.goto(served.http + POST_QUIZ, wait_until="load")
    for item, letter in zip(POST, (POST[0].key, *map(a_wrong_letter, POST[1:])), strict=True):
        answer(page, item, letter)
        box(page, item).locator("summary").click()
    expect(page.locator(".kit-score")).to_have_text("1 of 7 right at the first choice.")
    page.evaluate(SETTLE)
    visit.measured = page.evaluate(MEASURE, "")
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'], preload: false })")
    visit.violations = found["violations"]
    small = page.evaluate(
        """() => [...document.querySelectorAll(".kit-quiz :is(button, input, summary)")]
             .map((e) => e.getBoundingClientRect())
             .filter((b) => Math.min(b.width, b.height) < 24)"""
    )
    context.close()
    problems = accessibility_violations(visit) + horizontal_scroll(visit)
    assert not problems, "\n".join(problems)
    assert not small


def test_a_concept_test_fits_a_screen(page: Page, served: Served) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(served.http + CONCEPT_TESTS, wait_until="load")
    heights = page.evaluate(
        """() => [...document.querySelectorAll(".kit-item")].map((item) => {
          const top = item.closest("section").getBoundingClientRect().top;
          return [item.id, item.getBoundingClientRect().bottom - top];
        })"""
    )
    assert len(heights) == len(CONCEPT)
    assert not [row for row in heights if row[1] > 650], heights


def test_without_scripts_the_answers_unfold(browser: Browser, served: Served) -> None:
    context = new_context(browser, Mode(scripts=False))
    page = context.new_page()
    page.goto(served.http + PRE_QUIZ, wait_until="load")
    assert page.get_by_role("button", name="Check").count() == 0
    for item in PRE:
        reason = box(page, item).get_by_text(item.right.explanation, exact=True)
        expect(reason).to_be_hidden()
        box(page, item).locator("summary").click()
        expect(reason).to_be_visible()
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_on_paper_questions_come_first_and_the_key_on_another_sheet(
    name: str, page: Page, served: Served
) -> None:
    page.goto(served.http + name, wait_until="load")
    key = page.locator(".kit-key")
    expect(key).to_be_hidden()
    page.emulate_media(media="print")
    expect(key).to_be_visible()
    assert key.evaluate("(e) => getComputedStyle(e).breakBefore") == "page"
    assert key.locator("li").count() == len(PAGES[name])
    for item in PAGES[name]:
        expect(box(page, item).locator("legend")).to_be_visible()
        assert not box(page, item).locator("details").is_visible()
        assert not box(page, item).locator("button").is_visible()
    bottom = page.locator(".kit-item").last.evaluate("(e) => e.getBoundingClientRect().bottom")
    assert key.evaluate("(e) => e.getBoundingClientRect().top") >= bottom


def test_the_fallback_card_is_the_first_sheet(page: Page, served: Served) -> None:
    page.goto(served.http + "book/seminar/index.html", wait_until="load")
    page.emulate_media(media="print")
    card = page.locator(".kit-card")
    assert card.evaluate("(e) => getComputedStyle(e).breakAfter") == "page"
    before = page.locator("article p, article h1").first
    assert before.evaluate("(e) => e.tagName") == "H1"
    bottom = card.evaluate("(e) => e.getBoundingClientRect().bottom")
    assert bottom < 1000, "higher than a sheet"


def test_every_link_of_the_plan_opens_the_state_that_it_names(page: Page, served: Served) -> None:
    """Each number that the explorer then shows is the package's for that state."""
    kinds = {kind.tag: kind for kind in KINDS}
    page.goto(served.http + PLAN, wait_until="load")
    table = page.locator("section#links-to-send")
    addresses = {
        link.inner_text(): link.evaluate("(e) => e.href") for link in table.locator("a").all()
    }
    shown = table.inner_text()
    problems = []
    for tag in {link.tag for link in LINKS.values()}:
        for link in LINKS.values():
            if link.tag == tag:
                assert link.says in shown
                page.goto(addresses[link.title], wait_until="load")
                driver = Driver(page, kinds[tag], link.state)
                driver.compare(link.title)
                problems += driver.problems
                for name, text in link.texts.items():
                    if f"{{{name}}}" in link.look_at:
                        assert driver.shown[name] == text, link.title
    assert not problems, "\n".join(problems)


def test_the_walk_is_on_the_screen_when_its_link_opens(page: Page, served: Served) -> None:
    """On a projector nobody has to look for the slider that the session is about."""
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(served.http + PLAN, wait_until="load")
    page.locator("section#links-to-send").get_by_text(LINKS["walk start"].title).click()
    expect(page.locator("elmo-mixture").get_by_label("moved along")).to_be_in_viewport(ratio=1)


def test_a_guess_that_came_with_a_link_is_not_judged(page: Page, served: Served) -> None:
    """Nobody who opens the end of the walk has guessed; whoever asks again is told."""
    page.goto(served.http + PLAN, wait_until="load")
    page.locator("section#links-to-send").get_by_text(LINKS["walk end"].title).click()
    explorer = page.locator("elmo-mixture")
    expect(explorer.get_by_text("The hollow dots")).to_be_visible()
    expect(explorer.get_by_text("You missed by")).to_be_hidden()
    assert explorer.locator(".wrong").count() == 0
    explorer.get_by_role("button", name="Predict again").click()
    explorer.get_by_role("button", name="Show loan").click()
    expect(explorer.get_by_text("You missed by")).to_be_visible()
    assert explorer.locator(".wrong").count() == 1
