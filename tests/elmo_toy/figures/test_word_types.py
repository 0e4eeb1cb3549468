"""Each figure of chapter 1 shows the pairs that it is given, where they lie, and its caption."""

from __future__ import annotations

import re

import numpy as np
import pytest

from elmo_toy.figures import cosine_backgrounds, pair_percentiles
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
    for text in ("one word", "different words", "h₀", "h₂", "cosine"):
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
