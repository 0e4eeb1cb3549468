"""The seminar's pages in the built book: links, anchors, tables, and no typed number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import site_checks
from site_checks import Page, Site

from elmo_toy import quiz
from elmo_toy.exercises.objectives import OBJECTIVES
from tools import prose_numbers

FOLDER = Path(__file__).resolve().parents[2] / "book" / "seminar"
KIT = (
    *("index", "plan", "notes", "objectives", "pre_quiz", "post_quiz", "concept_tests"),
    *("misconceptions", "faq", "feedback", "log", "access"),
)
#: What may stand before a whole number: it is a name.
NAMES_OF_PLACES = re.compile(r"(?:chapters?|Table)(?: \d(?:, \d)*(?:,| and)?)? $", re.IGNORECASE)


def page(site: Site, name: str) -> Page:
    return site.by_name[f"book/seminar/{name}.html"]


@pytest.mark.parametrize("name", [name for name in KIT if name != "log"])  # a record is typed
def test_no_number_is_typed(name: str) -> None:
    """Numbers come from the package or the plan, by name; chapters and tables have numbers."""
    text = (FOLDER / f"{name}.md").read_text("utf-8")
    typed = [
        text[max(0, number.start - 30) : number.end + 10]
        for number in prose_numbers.numbers(text)
        if number.mode != "code" and not NAMES_OF_PLACES.search(text[: number.start])
    ]
    assert not typed


@pytest.mark.parametrize(
    ("name", "items"),
    [
        ("pre_quiz", quiz.pre_quiz()),
        ("post_quiz", quiz.post_quiz()),
        ("concept_tests", quiz.concept_tests()),
    ],
)
def test_every_question_leads_to_its_place_in_the_book(
    name: str, items: tuple[quiz.Item, ...], site: Site
) -> None:
    where = page(site, name)
    for item in items:
        box = where.soup.find(id=f"item-{item.id.lower()}")
        assert box is not None, item.id
        links = [str(a["href"]) for a in box.select("details a")]
        assert len(links) == 1, item.id
        assert "#" in links[0]
        assert site_checks.broken(site, where, links[0]) is None
        assert box.select_one("details a").get_text(strip=True), "a link without a text"


@pytest.mark.parametrize("name", KIT)
def test_every_link_has_a_text(name: str, site: Site) -> None:
    article = page(site, name).body
    empty = [str(a) for a in article.select("a:not(.headerlink)") if not a.get_text(strip=True)]
    assert not empty


@pytest.mark.parametrize("section", ["the-short-plan", "the-middle-plan", "the-long-plan"])
def test_every_block_of_a_plan_leads_to_an_anchor(section: str, site: Site) -> None:
    where = page(site, "plan")
    rows = where.soup.select(f"section#{section} tbody tr")
    assert len(rows) >= 10
    for row in rows:
        links = [str(a["href"]) for a in row.select("a")]
        assert len(links) >= 2
        for link in links:
            assert "#" in link or link == "../../seminar/handout.html"
            assert site_checks.broken(site, where, link) is None


def test_every_misconception_has_a_place_an_item_and_a_remedy(site: Site) -> None:
    where = page(site, "misconceptions")
    for name, one in quiz.MISCONCEPTIONS.items():
        place = where.soup.find(id=name.lower())
        assert place is not None, name
        paragraph = place if place.name == "p" else place.find_next("p")
        text = " ".join(paragraph.get_text().split())
        assert text.startswith(f"{name}.")
        assert one.remedy.replace("'", "’") in text
        assert "Source:" in text
        links = [str(a["href"]) for a in paragraph.select("a")]
        assert any(f"concept_tests.html#ct{name[1:]}" in link for link in links), name


def test_the_matrix_has_no_hole(site: Site) -> None:
    rows = page(site, "objectives").soup.select("table tbody tr")
    assert [row.find("td").get_text(strip=True) for row in rows] == list(OBJECTIVES)
    for row in rows:
        assert all(cell.get_text(strip=True) for cell in row.select("td"))


def test_an_explorers_state_in_a_link_is_no_broken_link(site: Site) -> None:
    where = page(site, "plan")
    links = [str(a["href"]) for a in where.soup.select("a") if "#elmo-" in str(a["href"])]
    assert len(links) > 10
    assert all(site_checks.broken(site, where, link) is None for link in links)
    wrong = links[0].replace("elmo-", "elmo-no-")
    assert site_checks.broken(site, where, wrong) is not None


def test_the_log_is_honest(site: Site) -> None:
    """Sessions are in the first table; below it stands a rehearsal, which is none."""
    text = page(site, "log").body.get_text()
    rows = page(site, "log").body.select_one("table").select("tbody tr")
    taught = any(row.get_text(strip=True) for row in rows)
    assert taught != ("Not yet taught" in text)
