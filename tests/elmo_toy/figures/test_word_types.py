"""Each figure of chapter 1 shows the pairs that it is given, where they lie, and its caption."""

from __future__ import annotations

import re

import numpy as np
import pytest

from elmo_toy.figures import cosine_backgrounds, pair_percentiles
from elmo_toy.figures._svg import Panel
from elmo_toy.similarity import Background

ALT = "what the figure shows, in enough words"
LAYERS = np.arange(3.0)[:, None]
BACKGROUND = Background(1 - 0.2 * LAYERS + 0 * np.arange(4), -0.1 * LAYERS + 0.1 * np.arange(4))
KINDS = tuple(
    (50 + sign * 10 * LAYERS + np.arange(4), 100 - 10 * LAYERS - np.arange(4))
    for sign in (1, 1, -1)
)


def test_backgrounds_have_a_panel_a_model_and_name_both_kinds_of_pair() -> None:
    html = cosine_backgrounds({"model one": BACKGROUND, "model two": BACKGROUND}, alt=ALT).as_html()
    for text in ("model one", "model two"):
        assert html.count(f">{text}<") == 1
    for text in ("one word", "two words", "h₀", "h₂", "cosine"):
        assert html.count(f">{text}<") == 2, text


def test_percentiles_have_two_panels_a_model_that_say_among_which_pairs() -> None:
    figure = pair_percentiles({"model": KINDS}, caption="the point", alt=ALT)
    first, second = figure.panels
    assert "same-word pairs" in first.svg
    assert "different-word pairs" in second.svg
    assert "the point" in figure.as_html()
    for panel in figure.panels:
        assert panel.width <= 330, "two stand beside each other"
        for text in ("river, river", "loan, loan", "river, loan"):
            assert text in panel.svg


@pytest.mark.parametrize("number", [0, 1])
def test_river_and_loan_keep_their_colours(number: int) -> None:
    figure = pair_percentiles({"model": KINDS}, caption="the point", alt=ALT)
    colours = set(re.findall(r"#[0-9a-f]{6}", figure.panels[number].svg))
    assert {"#0072b2", "#d55e00"} <= colours


def test_three_kinds_of_pair_are_expected() -> None:
    with pytest.raises(ValueError, match="zip"):
        pair_percentiles({"model": KINDS[:2]}, caption="the point", alt=ALT)


def test_all_panels_have_the_same_axes_wherever_their_names_stand() -> None:
    """Two panels can be compared by eye only then."""
    spreads = (-0.2, 0.0, 0.4, 0.55, 0.85, 0.95)
    models = {
        f"at {place}": Background(BACKGROUND.same, place + 0.05 * np.zeros((3, 4)))
        for place in spreads
    }
    panels = cosine_backgrounds(models, alt=ALT).panels
    assert len(set(map(_place_of_zero, panels))) == 1


def _place_of_zero(panel: Panel) -> str:
    """Where the tick label of cosine 0 stands."""
    found = re.search(r' x="([\d.]+)"[^>]*>0\.0</text>', panel.svg)
    assert found is not None
    return found[1]
