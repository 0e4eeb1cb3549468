"""Each figure of the chapters draws what it is given, and demands its description."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from elmo_toy import descent, figures
from elmo_toy.similarity import Background
from elmo_toy.worked_example import PRESETS, eight_states, state

ALT = "what the figure shows, in enough words"
BACKGROUND = Background(np.ones((3, 4)), np.eye(3, 4))
PERCENTILES = ((np.full((3, 4), 50.0), np.full((3, 4), 100.0)),) * 3
UPPER = PRESETS["upper"]
RUN = descent.descend([UPPER, UPPER], [1.0, -1.0], 20, 0.5)
STEPS = 10.0 ** -np.arange(1, 16)
CALLS: dict[str, tuple[tuple, dict[str, Any], list[str]]] = {
    "cosine_backgrounds": (({"one": BACKGROUND, "two": BACKGROUND},), {}, ["one word", "two"]),
    "pair_percentiles": (
        ({"model": PERCENTILES},),
        {"caption": "caption"},
        ["river, loan", "same-word pairs", "caption"],
    ),
    "one_position_shift": ((["<S>", "bank", "</S>"],), {}, ["forward", "backward", "&lt;S&gt;"]),
    "learning_curve": (([0, 9, 20, 31], [5, 4, 3.5, 3.2], [5, 4, 3.4, 3.3]), {}, ["backward"]),
    "context_reach": ((np.ones((3, 2, 9)),), {}, ["forward half", "exactly 0"]),
    "losses_and_senses": (
        (
            {name: np.arange(2.0) for name in "abcd"},
            {name: np.full((2, 3), 0.5) for name in "abcd"},
        ),
        {},
        ["biLM", "sees its answer", "joined", "untrained", "chance", "layer 2"],
    ),
    "parameters_by_part": (
        ({"small": {"gates": 2_000_000, "highway": 500_000}},),
        {},
        ["small, 2.5 million", "2.0", "highway"],
    ),
    "forgetting": ((np.array([[0, 1, 2], [0, 0.1, 0.2], [0, 1e-3, 1e-2]]),), {}, ["h₁", "h₂"]),
    "two_triangles": ((UPPER,), {}, ["river", "[1.7, 1.1]", "loan", "[0.3, 1.0]"]),
    "gamma_rays": ((UPPER, [(0.444, 1.2), (0.769, 1.111)]), {}, ["0.444 to 1.200", "γ = −1"]),
    "two_cones": ((UPPER,), {}, ["γ &gt; 0", "γ &lt; 0", "out of reach"]),
    "same_predictions": (
        (UPPER, np.array([2.0, 5, 4])),
        {},
        ["score, loan", "mean loss", "along (2, 5, 4)"],
    ),
    "influence": (({"plain": np.eye(2), "normed": np.ones((2, 2))},), {}, ["plain", "1.00"]),
    "layer_weights": (({"one": UPPER, "two": np.array([UPPER, UPPER])},), {}, [".20", ".50"]),
    "contributions": ((state(),), {}, ["0.042", "−0.315", "−0.222", "add up to 0"]),
    "error_against_step": (
        (STEPS, {"central difference": STEPS**2, "complex step": 0 * STEPS}),
        {},
        ["central difference", "complex step"],
    ),
    "falling_losses": (
        (
            [s.preset for s in eight_states()],
            np.ones(8),
            {"right": np.zeros(8), "wrong": np.full(8, 0.5)},
        ),
        {},
        ["upper", "right", "wrong", "16 of 16 steps"],
    ),
    "loss_by_rate": ((PRESETS["lower"], 1.0, 6.0, {"turns": 2.129}), {}, ["turns at 2.129"]),
    "simplex_paths": (
        ({"path": np.array([UPPER, [0.1, 0.1, 0.9]])},),
        {"caption": "caption"},
        ["all h₂", "path", "caption"],
    ),
    "many_steps": ((RUN, ["plus", "minus"]), {}, ["weights, minus", "plus", "mean loss"]),
    "penalty": (
        (np.array([0.1, 1]), np.array([UPPER, UPPER]), RUN, 0.7),
        {},
        ["equal", "strength λ", "λ = 0.7"],
    ),
    "head_turns": (
        (np.array([[1.0, -1], [-1, 1]]), PRESETS["lower"], [0, 1]),
        {},
        ["step 0", "step 1"],
    ),
}


def test_every_public_figure_is_called_here_and_demands_alt() -> None:
    public = {name for name in figures.__all__ if name[0].islower()}
    assert public == CALLS.keys()
    for name in public:
        alt = inspect.signature(getattr(figures, name)).parameters["alt"]
        assert (alt.kind, alt.default) == (alt.KEYWORD_ONLY, alt.empty), name


@pytest.mark.parametrize("name", CALLS)
def test_figure_holds_its_labels_within_its_panels_and_budget(name: str) -> None:
    arguments, options, expected = CALLS[name]
    figure = getattr(figures, name)(*arguments, **options, alt=ALT)
    html = figure.as_html()
    for text in expected:
        assert text in html, text
    for panel in figure.panels:
        assert panel.width <= 440, "wider would make its text too small on a phone"
    assert len(html) < 40_000, "a page holds ten of them"
    assert "nan" not in html


@pytest.mark.parametrize("name", CALLS)
def test_figure_refuses_an_empty_description(name: str) -> None:
    arguments, options, _ = CALLS[name]
    with pytest.raises(ValueError, match="alt must describe"):
        getattr(figures, name)(*arguments, **options, alt="")
