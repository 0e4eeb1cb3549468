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
    "jacobian_maps": (
        ({"forward": np.tri(3), "attention": np.ones((3, 3))}, ["the", "muddy", "bank"]),
        {},
        ["forward", "attention", "muddy"],
    ),
    "influence_by_distance": (
        ({"LSTM": {"biLM": np.arange(1.0, 6)}, "attention": {"trained": np.ones(5)}},),
        {},
        ["LSTM", "biLM", "attention", "trained", "words away"],
    ),
    "senses_by_objective": (
        ({"new cues": {"biLM": np.full((2, 3), 0.9), "joined": np.full((2, 3), 0.5)}},),
        {},
        ["new cues", "biLM", "joined", "sense score"],
    ),
    "change_by_source": (
        ({"frozen": {"coefficients": np.arange(3.0), "features": np.zeros(3)}},),
        {},
        ["frozen", "coefficients", "features", "steps"],
    ),
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
    "gains_by_task": (
        ({"SQuAD": (4.7, 24.9), "SNLI": (0.7, 5.8)}, (6.0, 20.0)),
        {},
        ["gain, points", "SNLI", "24.9", "“6 – 20%”"],
    ),
    "steps_of_gain": (
        ({"SQuAD": [80.8, 84.7, 85.0, 85.2], "SNLI": [88.1, 89.1, 89.3, 89.5]},),
        {},
        ["SNLI", "3.9 + 0.3 + 0.2", "1.0 + 0.2 + 0.2", "learned"],
    ),
    "insertion_points": (
        ({"SRL": [84.7, 84.3, 80.9]}, {"SRL": 81.6}),
        {},
        ["SRL", "84.7", "80.9", "without 81.6"],
    ),
    "five_seeds": (
        (np.eye(3, 5), 0.17, {"weights learned": 0.2, "last layer": 1.0}),
        {},
        ["0.2, weights learned", "1.0, last layer", "five runs", "deviates by 0.17"],
    ),
    "layers_by_task": (
        ({"senses": {"biLM": (67.4, 69.0), "CoVe": (59.4, 64.7)}}, {"senses": {"first": 65.9}}),
        {},
        ["biLM 67.4", "69.0", "CoVe 59.4", "first 65.9", "layer 2"],
    ),
    "paired_differences": (
        ({"senses": {"equal": [1.0, -0.5], "last layer": [2.0, 1.0]}}, "mixture"),
        {},
        ["senses", "equal", "last layer", "points above the mixture"],
    ),
    "weights_and_scores": (
        ({"senses": np.array([UPPER, UPPER])}, {"senses": np.array([[50, 90, 95]] * 2)}),
        {},
        ["senses", "h₀", "h₂", "the layer alone, %", "⅓"],
    ),
    "scores_by_labels": (
        ({"EWT": {name: {0.01: (40, 1), 1: (60 + n, 2)} for n, name in enumerate("ABCD")}},),
        {},
        ["EWT", ">A<", ">D<", "% of the labels", "100"],
    ),
    "frozen_and_learned": ((), {}, ["h₂ contextual", "spelling", "s′, γ′", "BiLSTM on [x; e]"]),
    "mixture_progress": (
        (
            {
                "input": (np.array([UPPER] * 3), np.ones(3)),
                "output": (RUN.weights[:3, 0], RUN.gamma[:3, 0]),
            },
        ),
        {},
        ["weights at the input", "weights at the output", "γ", "s₂"],
    ),
    "losses_by_factor": (
        ([0.5, 1, 2, 4], {"one": [1, 0.1, 0.01, 0.1], "two": [1, 1, 2, 3], "three": [1, 2, 3, 4]}),
        {},
        ["one", "two", "three", "γ multiplied with", "10⁻²"],
    ),
    "occlusion": (
        (
            ["muddy", "bank", "lends"],
            1,
            np.array([2, 0, 0.1]),
            np.array([3, 0, 0.2]),
            {0: ("its cue", "river")},
        ),
        {},
        ["distance that “bank” moves", "muddy", "its cue", "looked at", "lends"],
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
