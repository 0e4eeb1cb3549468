"""The seminar's slides and sheets before a browser sees them."""

from __future__ import annotations

import doctest
import importlib
import re
from collections.abc import Iterator

import pytest
from book_site.katex import Renderer
from book_site.seminar_data import plan
from bs4 import BeautifulSoup
from seminar import sheets, slides
from seminar.figures import FIGURES
from seminar.formulas import FORMULAS
from seminar.source import PLACEHOLDER, SOURCES, Reader, SourceError, bare_numerals, read_source
from seminar.values import values

from elmo_toy.worked_example import PRESETS

NAMES = ("slides.md", "worksheet.md", "handout.md")
SLIDE = """## Title {#name .words block=walk}
Text.
### Say
a
### Ask
b
### Expect
c
### If stuck
d
"""


@pytest.fixture(scope="module")
def renderer() -> Iterator[Renderer]:
    started = Renderer()
    yield started
    started.close()


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_no_source_types_a_number(name: str) -> None:
    """Each number is a name, and there are many: the scan had something to pass over."""
    assert bare_numerals(read_source(name)) == []
    assert len(PLACEHOLDER.findall((SOURCES / name).read_text("utf-8"))) > 25


@pytest.mark.parametrize("name", ["source", "values"])
def test_the_examples_in_the_docstrings_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"seminar.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("line", ["loss 0.42", "$h_0 = 1$", "| 3 |", "-2", "chapter 3 has 4"])
def test_a_typed_number_is_found(line: str) -> None:
    assert bare_numerals(f"fine\n{line}\nfine") == [line]


@pytest.mark.parametrize(
    "line", ["$h_{k,0}$ and $s_1$", "{{upper1_loss}}", "[[a_0]]", "1. first", "chapter 3", "h₀"]
)
def test_a_name_with_a_digit_is_no_number(line: str) -> None:
    assert bare_numerals(line) == []


def test_every_name_exists_and_every_formula_is_used() -> None:
    """None is left over, but for the numbers that a state has which the seminar passes by."""
    known = {**values(), **FORMULAS}
    for name in NAMES:
        used = {one or two for one, two in PLACEHOLDER.findall(read_source(name))}
        assert used <= set(known), name
    text = "".join(read_source(name) for name in NAMES)
    used = {one or two for one, two in PLACEHOLDER.findall(text)}
    states = (*PRESETS, "moved")
    assert {name for name in known.keys() - used if not name.startswith(states)} == set()


def test_the_numbers_are_those_of_the_article() -> None:
    """The article's printed numbers, under the names that the slides use."""
    found = values()
    assert (found["upper1_river_vector"], found["upper1_loan_vector"]) == ("[1.7, 1.1]", "[0.3, 1]")
    assert (found["upper1_loss"], found["new_loss"]) == ("0.420", "0.398")
    assert (found["lower1_loss"], found["lower2_loss"]) == ("1.104", "1.624")
    assert (found["da_0"], found["da_1"], found["da_2"]) == ("0.042", "0.273", "−0.315")


def test_the_worksheet_has_the_sums_that_the_gradient_is_about() -> None:
    """With m the three add up to zero, without it they don't, nor do the distances alone."""
    found = values()
    rows = {
        name: [float(found[f"river_{name}_{j}"].replace("−", "-")) for j in (0, 1, 2, "sum")]
        for name in ("c_minus_m", "by_logit", "without_m")
    }
    assert all(sum(row[:3]) == pytest.approx(row[3]) for row in rows.values())
    assert [row[3] for row in rows.values()] == [-0.8, 0, 0.6]
    asked = {two for _, two in PLACEHOLDER.findall(read_source("worksheet.md"))}
    assert {f"river_{name}_{j}" for name in rows for j in (0, 1, 2, "sum")} <= asked


def test_the_centre_is_a_counterexample() -> None:
    """Another layer has the largest weight, and no prediction differs in the digits shown."""
    found = values()
    assert found["upper_largest"] != found["moved_largest"]
    for name in ("river_p", "loan_p", "river_z", "loan_z", "loss"):
        assert found[f"moved_{name}"] == found[f"upper1_{name}"]
    assert (found["answer_vote"], found["answer_gamma"]) == ("no", "rises")


# --- sources --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{nothing}}", "no number 'nothing'"),
        ("[[nothing]]", "no number 'nothing'"),
        (r"$\frac{$", "in the formula"),
        ("![](picture.png)", "figure:name"),
        ("![](figure:nothing)", "no figure 'nothing'"),
    ],
)
def test_a_wrong_source_is_named(text: str, message: str, renderer: Renderer) -> None:
    reader = Reader({}, renderer, lambda name: slides.draw(name, "top"))
    with pytest.raises(SourceError, match=re.escape(message)):
        reader.html(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (" .words", " .odd", "a layout of top, side, words"),
        (" {#name .words block=walk}", "", "a slide starts with"),
        ("block=walk", "block=lunch", "the block 'lunch'"),
        ("### Ask\nb\n", "", "needs the notes Say, Ask, Expect, If stuck"),
        ("### Expect\nc\n", "### Expect\n", "needs the notes"),
    ],
)
def test_a_wrong_slide_is_named(old: str, new: str, message: str) -> None:
    assert len(slides.parse(SLIDE)) == 1
    with pytest.raises(SourceError, match=message):
        slides.parse(SLIDE.replace(old, new))


def test_a_slide_says_when_the_short_plan_shows_it() -> None:
    """In its notes, which the speaker's view shows; and whether at all."""
    told = {slide.name: slides.timed(slide) for slide in slides.parse(read_source("slides.md"))}
    assert told["shift"] == "minutes 5–11 of 60"
    assert told["two-places"] == "minutes 5–11 of 60; this slide is in reserve"
    assert told["one-step"] == "not in the plan of 60 minutes: skip this slide there"


def test_too_many_slides_or_a_name_twice_is_an_error() -> None:
    with pytest.raises(SourceError, match="two slides are named 'name'"):
        slides.parse(SLIDE * 2)
    with pytest.raises(SourceError, match="at most 18 slides are expected, given 19"):
        slides.parse(SLIDE * 19)


def test_a_figure_beside_words_needs_a_figure(renderer: Renderer) -> None:
    (slide,) = slides.parse(SLIDE.replace(".words", ".side"))
    with pytest.raises(SourceError, match="layout side and no figure"):
        slides.as_html(slide, 1, 1, values(), renderer)


def test_a_sheet_too_many_is_an_error(monkeypatch: pytest.MonkeyPatch, renderer: Renderer) -> None:
    monkeypatch.setattr(sheets, "read_source", lambda _: "one\n\n---\n\ntwo\n\n---\n\nthree")
    with pytest.raises(SourceError, match=r"worksheet.md: 2 sheets are expected, given 3"):
        sheets.worksheet({}, renderer, filled=True)


# --- the deck -------------------------------------------------------------------------------------


def test_the_slides_follow_the_plan() -> None:
    """In its order, every block with a slide; the fallback card second; a bet, then its end."""
    deck = slides.parse(read_source("slides.md"))
    blocks = [block["id"] for block in plan()["block"]]
    places = [blocks.index(slide.block) for slide in deck]
    assert places == sorted(places)
    assert set(places) == set(range(len(blocks)))
    names = [slide.name for slide in deck]
    assert names[1] == "fallback"
    assert names.index("bet") < names.index("vectors-move") < names.index("nobody-notices")


def test_every_figure_is_shown_once() -> None:
    shown = re.findall(r"figure:(\w+)", read_source("slides.md"))
    assert sorted(shown) == sorted(FIGURES)
    deck = slides.parse(read_source("slides.md"))
    assert sum("figure:" in slide.face for slide in deck) > len(deck) / 2


def test_a_figure_keeps_its_description_and_loses_its_caption() -> None:
    figure = FIGURES["loss_by_gamma"]()
    drawn = BeautifulSoup(slides.enlarged(figure, "top"), "html.parser")
    assert drawn.figcaption is None
    assert drawn.svg is not None
    assert drawn.svg["aria-label"] == figure.alt
    assert float(re.findall(r"\*([\d.]+)\)", str(drawn.svg["style"]))[0]) >= 440 * 1.85 / 16


# --- the worksheet --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def worksheets(renderer: Renderer) -> tuple[BeautifulSoup, BeautifulSoup]:
    """The blank worksheet and its key, parsed."""
    blank, key = (
        BeautifulSoup(sheets.worksheet(values(), renderer, filled=filled), "html.parser")
        for filled in (False, True)
    )
    return blank, key


def test_blank_and_key_differ_in_the_blanks_only(
    worksheets: tuple[BeautifulSoup, BeautifulSoup],
) -> None:
    """Emptied, the key is the blank worksheet; each blank is empty in one, filled in the other."""
    blank, key = (BeautifulSoup(str(page.article), "html.parser") for page in worksheets)
    empty, full = blank.select(".blank"), key.select(".blank")
    assert len(empty) == len(full) > 60
    assert not any(one.get_text() for one in empty)
    assert all(one.get_text().strip() for one in full)
    assert all(one["role"] == "img" and one["aria-label"] for one in empty)
    for one in (*empty, *full):
        one.replace_with("[blank]")
    assert str(blank) == str(key)


def test_no_line_starts_with_the_sign_after_a_formula(
    worksheets: tuple[BeautifulSoup, BeautifulSoup],
) -> None:
    """A browser may break a line on either side of a formula, whatever comes next."""
    formulas = worksheets[0].select("p span.math, li span.math")
    followed = [str(formula.next_sibling or "") for formula in formulas]
    assert sum(text[:1] in set(".,;:") for text in followed if text) > 10
    for formula, text in zip(formulas, followed, strict=True):
        unbroken = formula.parent is not None and formula.parent.get("class") == ["unbroken"]
        assert unbroken == (text[:1] in set(".,;:?)") and bool(text)), formula.get_text() + text


def test_the_worksheet_asks_for_what_it_should(
    worksheets: tuple[BeautifulSoup, BeautifulSoup],
) -> None:
    """Blanks for weights, m, p and loss, for one update, and a table of five states."""
    text = read_source("worksheet.md")
    asked = {two for _, two in PLACEHOLDER.findall(text) if two}
    for part in ("upper1_s_0", "upper1_river_m", "upper1_loan_p", "upper1_loss", "new_a_0"):
        assert part in asked
    assert {"new_gamma", "new_s_2", "moved_loss", "lower2_loss"} <= asked
    assert len(worksheets[0].select(".sheet")) == 2


# --- every page -----------------------------------------------------------------------------------


def test_pages_allow_no_script_within_them(renderer: Renderer) -> None:
    """The policy forbids what isn't a file of the site, and the page keeps to it."""
    page = BeautifulSoup(sheets.handout(values(), renderer), "html.parser")
    policy = page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    assert policy is not None
    assert "script-src 'self'" in str(policy)
    assert all(script.get("src") and not script.get_text() for script in page.select("script"))
    assert not [
        tag for tag in page.find_all(True) if any(name.startswith("on") for name in tag.attrs)
    ]


def test_the_direction_that_the_head_cannot_see_has_one_letter() -> None:
    """Not u: chapter 4 has a step of the logits under that name."""
    rows = (SOURCES / "handout.md").read_text("utf-8").splitlines()
    (row,) = [row for row in rows if "{{unseen}}" in row]
    assert row.startswith("| $n$ |")
    for name in ("formula_unseen", "formula_head_unseen"):
        assert "n_j" in FORMULAS[name]
