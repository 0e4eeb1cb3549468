"""The design tokens: contrast in both themes, and tones that greyscale tells apart."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from elmo_toy.figures._style import (
    DIRECTION_LOOKS,
    LAYER_LOOKS,
    MODEL_LOOKS,
    OCCURRENCE_LOOKS,
    RULE_LOOKS,
    RUN_LOOKS,
)
from elmo_toy.figures._svg import colours

CSS = resources.files("elmo_toy").joinpath("design_tokens.css").read_text(encoding="utf-8")


def theme(selector: str) -> dict[str, str]:
    block = CSS[CSS.index(selector) :]
    return dict(re.findall(r"--elmo-([a-z0-9-]+): (#[0-9a-f]{6})", block[: block.index("}")]))


THEMES = {"light": theme(":root {"), "dark": theme('html[data-theme="dark"] {')}
THEMES["print"] = theme("@media print")
LINES = [name for name in THEMES["light"] if name not in ("paper", "grid")]


def luminance(colour: str) -> float:
    """Relative luminance of sRGB, as WCAG 2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_known_pairs() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_every_theme_defines_every_token() -> None:
    assert THEMES["dark"].keys() == THEMES["light"].keys() == THEMES["print"].keys()
    assert dict(colours()) == THEMES["light"]


@pytest.mark.parametrize("name", THEMES)
def test_lines_reach_3_to_1_and_text_4_5_to_1(name: str) -> None:
    tokens = THEMES[name]
    for line in LINES:
        assert contrast(tokens[line], tokens["paper"]) >= 3, (line, tokens[line])
    for text in ("ink", "quiet"):
        assert contrast(tokens[text], tokens["paper"]) >= 4.5, text


@pytest.mark.parametrize("name", THEMES)
def test_layers_are_one_ordered_scale(name: str) -> None:
    """Further from the page's colour is higher up, by a step that greyscale shows."""
    tokens = THEMES[name]
    steps = [contrast(tokens[f"layer-{j}"], tokens["paper"]) for j in range(3)]
    assert steps[1] > 1.5 * steps[0]
    assert steps[2] > 1.5 * steps[1]


LOOKS = (OCCURRENCE_LOOKS, LAYER_LOOKS, RUN_LOOKS, RULE_LOOKS, DIRECTION_LOOKS, MODEL_LOOKS)


@pytest.mark.parametrize("looks", LOOKS)
def test_looks_differ_without_colour(looks: tuple) -> None:
    assert len({look.marker for look in looks}) == len(looks)
    assert len({str(look.dash) for look in looks}) == len(looks)


@pytest.mark.parametrize("name", THEMES)
def test_what_is_told_apart_by_colour_has_colours_of_its_own(name: str) -> None:
    tokens = THEMES[name]
    named = ["river", "loan", "layer-0", "layer-1", "layer-2", "gamma", "gradient", "wrong"]
    assert len({tokens[token] for token in named}) == len(named)
