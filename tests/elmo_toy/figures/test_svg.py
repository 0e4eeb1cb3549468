"""What every figure keeps: a description, a size, the page's colours, ids of its own."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from elmo_toy.figures._svg import Figure, Panel, colours

ALT = "one line that rises from left to right"


def panel() -> Panel:
    made = Panel("title")
    with made.drawing() as axes:
        axes.plot([0, 1], [0, 1], color=colours()["river"])
        axes.text(0.5, 0.5, "γ < 1")
        axes.grid(True)
    return made


def test_html_is_well_formed_and_carries_alt_text_size_and_caption() -> None:
    html = Figure((panel(),), ALT, "a < b").as_html()
    figure = ElementTree.fromstring(html)  # noqa: S314 - made above
    svg = figure.find(".//{http://www.w3.org/2000/svg}svg")
    assert svg is not None
    assert (svg.get("role"), svg.get("aria-label")) == ("img", ALT)
    assert (svg.get("width"), svg.get("height")) == ("320", "290")
    caption = figure.find("figcaption")
    assert caption is not None
    assert caption.text == "a < b"
    assert "γ &lt; 1" in html


def test_plain_text_is_the_alt_text() -> None:
    bundle = Figure((panel(),), ALT, "caption")._repr_mimebundle_()
    assert bundle["text/plain"] == f"Figure: {ALT}"
    assert sorted(bundle) == ["text/html", "text/plain"]


def test_only_the_first_panel_speaks() -> None:
    html = Figure((panel(), panel()), ALT, "caption").as_html()
    assert html.count('role="img"') == 1
    assert html.count('aria-hidden="true"') == 1


def test_every_colour_is_the_pages() -> None:
    """A literal colour would not follow the dark theme."""
    html = Figure((panel(),), ALT, "caption").as_html()
    assert "var(--elmo-river, #0072b2)" in html
    assert "currentColor" in html
    outside_variables = re.sub(r"var\(--elmo-[a-z0-9-]+, #[0-9a-f]{6}\)", "", html)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?!-)", outside_variables) == []


def test_ids_are_unique_within_a_figure_and_differ_between_figures() -> None:
    two = Figure((panel(), panel()), ALT, "caption").as_html()
    other = Figure((panel(),), ALT + " again", "caption").as_html()
    ids = re.findall(r' id="([^"]+)"', two)
    assert ids
    assert len(ids) == len(set(ids))
    assert not set(ids) & set(re.findall(r' id="([^"]+)"', other))
    referred = set(re.findall(r'(?:href="#|url\(#)([^")]+)', two))
    assert referred <= set(ids)


def test_the_same_figure_is_the_same_text() -> None:
    first, second = (Figure((panel(),), ALT, "caption").as_html() for _ in range(2))
    assert first == second


def test_no_date_no_creator_no_document_type() -> None:
    html = Figure((panel(),), ALT, "caption").as_html()
    assert "matplotlib" not in html
    assert "<metadata" not in html
    assert "<!DOCTYPE" not in html


def test_matplotlibs_own_settings_are_left_alone() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    one, two = Panel("one"), Panel("two")  # both open at once
    for made in (one, two):
        with made.drawing() as axes:
            axes.plot(np.arange(3))
    assert dict(mpl.rcParams) == before
    assert "<text" in two.svg


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((), ALT, "caption"), "panels and caption must not be empty"),
        (((object(),), "too short", "caption"), "alt must describe the figure in 5 words"),
        (((object(),), "", "caption"), "alt must describe"),
        (((object(),), ALT, ""), "panels and caption must not be empty"),
    ],
)
def test_figures_without_description_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Figure(*arguments)
