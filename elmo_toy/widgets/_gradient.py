"""The explorer of chapter 4: the gradient of the mixture, and two wrong ones beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import ipywidgets
import numpy as np

from elmo_toy import descent
from elmo_toy._checks import Array, as_number
from elmo_toy.gradient_check import central_difference
from elmo_toy.scalar_mix import softmax
from elmo_toy.widgets._drawing import histories
from elmo_toy.widgets._explorer import Explorer
from elmo_toy.widgets._text import difference, fixed, power
from elmo_toy.widgets._view import Texts, View, table
from elmo_toy.worked_example import GAMMAS, OCCURRENCES, PRESETS, forward, state_at

RULES = ("right", "without m", "on weights")
RULE_NAMES = ("right", "without − m", "on the weights")
RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
DELTAS = tuple(float(f"1e-{i}") for i in range(15, 0, -1))
MOST_STEPS = 500
FAR = 100.0
GUESSES = {"up": "higher", "stay": "the same", "down": "lower"}


@dataclass(frozen=True)
class GradientState:
    """A start, the learning rate and the difference's step (as places in lists), steps taken."""

    preset: str = "upper"
    gamma: float = 1.0
    rate: int = 3
    delta: int = 10
    steps: int = 0
    guess: str = ""
    shown: bool = False


@dataclass(frozen=True)
class RunPoint:
    """Where a run is; ``moves`` is what its rule subtracts from, the logits or the weights."""

    moves: Array
    weights: Array
    gamma: float

    @property
    def loss(self) -> float:
        """Mean log loss."""
        return float(descent.loss_at(self.weights, self.gamma))


@lru_cache(maxsize=64)
def history(rule: str, preset: str, gamma: float, rate: float, steps: int) -> tuple[RunPoint, ...]:
    """The points from a start to so many steps by one rule, (steps + 1) of them.

    Logits are carried along, not read back from the weights, as a program that trains does. A run
    that has come further than `FAR`, as one with a wrong rule and a large rate does, stays there.
    Book: chapter 4, "Falling loss verifies nothing".

    >>> round(history("right", "upper", 1.0, 0.1, 1)[-1].loss, 10)
    0.3980548517
    """
    weights = PRESETS[preset]
    points = [RunPoint(weights if rule == "on weights" else np.log(weights), weights, gamma)]
    for _ in range(steps):
        now = points[-1]
        if np.abs([*now.weights, now.gamma]).max() > FAR:
            points.append(now)
            continue
        by = descent.gradients_at(now.weights, now.gamma)
        slope = by.logits_without_m if rule == "without m" else by.logits
        moves = now.moves - rate * slope
        weights = moves if rule == "on weights" else softmax(moves)
        points.append(RunPoint(moves, weights, now.gamma - rate * float(by.gamma)))
    return tuple(points)


def witness(rule: str, point: RunPoint, delta: float) -> tuple[Array, Array]:
    """What a rule subtracts from (logits or weights, gamma), and what is measured of the loss.

    The measurement is along what the rule moves. Book: chapter 4, "Four witnesses".

    >>> start = history("without m", "upper", 1.0, 0.1, 0)[-1]
    >>> subtracted, measured = witness("without m", start, 1e-5)
    >>> (subtracted - measured)[:3].round(6)
    array([-0.044487, -0.066731, -0.111219])
    """
    by = descent.gradients_at(point.weights, point.gamma)
    slope = by.logits_without_m if rule == "without m" else by.logits

    def of_logits(x: Array) -> float:
        return float(forward(x[:3], x[3]).loss)

    def of_weights(x: Array) -> float:
        return float(descent.loss_at(x[:3], x[3]))

    loss = of_weights if rule == "on weights" else of_logits
    measured = central_difference(loss, np.append(point.moves, point.gamma), delta)
    return np.append(slope, by.gamma), measured


def read(state: GradientState) -> Texts:
    """Every text that the explorer shows, by name; wrong rules' are ``?`` until they are shown.

    >>> read(GradientState())["sum-2"]
    '−0.314812'
    """
    rate, delta = RATES[state.rate], DELTAS[state.delta]
    start = float(descent.loss_at(PRESETS[state.preset], state.gamma))
    texts = {
        "gamma": fixed(state.gamma, 1),
        "rate": f"{rate:g}",
        "delta": power(delta),
        "steps": f"{state.steps} step{'' if state.steps == 1 else 's'}",
        "guess": f"You said: {GUESSES[state.guess]}." if state.guess else "You made no prediction.",
        "start": fixed(start, 6),
    }
    for i, rule in enumerate(RULES):
        now = history(rule, state.preset, state.gamma, rate, state.steps)[-1]
        subtracted, measured = witness(rule, now, delta)
        row = {
            "loss": fixed(now.loss, 6),
            "total": fixed(float(subtracted[:3].sum()), 6),
            "off": difference(float(np.abs(subtracted - measured).max())),
            "weights": " ".join(fixed(weight, 3) for weight in now.weights),
            "scale": fixed(now.gamma, 4),
        }
        hidden = i > 0 and not state.shown
        texts |= {f"{part}-{i}": "?" if hidden else text for part, text in row.items()}
        texts[f"first-{i}"] = fixed(history(rule, state.preset, state.gamma, rate, 1)[-1].loss, 6)
        if i == 0:
            texts |= _derivatives(now, subtracted, measured)
    return texts


def _derivatives(point: RunPoint, total: Array, measured: Array) -> dict[str, str]:
    """The table of derivatives: by occurrence, summed, measured."""
    shares = state_at(point.moves, point.gamma)
    texts: dict[str, str] = {}
    for k, name in enumerate(OCCURRENCES):
        row = [*shares.logit_contributions[k], shares.gamma_contributions[k]]
        texts |= {f"{name}-{j}": fixed(value, 6) for j, value in enumerate(row)}
        texts[f"{name}-total"] = fixed(float(shares.logit_contributions[k].sum()), 6)
    texts |= {f"sum-{j}": fixed(value, 6) for j, value in enumerate(total)}
    return texts | {f"measured-{j}": fixed(value, 6) for j, value in enumerate(measured)}


def moved(state: GradientState, control: str, value: Any) -> GradientState:
    """The state after a control was set; ``steps`` adds to those taken, and 0 goes back.

    ``shown`` takes the one step that is asked about, and goes back to where it is asked.
    """
    if control == "steps":
        return replace(state, steps=min(MOST_STEPS, state.steps + value) if value else 0)
    if control == "shown":
        return replace(state, shown=bool(value), steps=int(bool(value)))
    return replace(state, **{control: value})


def gradient(preset: str = "upper", gamma: float = 1.0) -> Explorer:
    """The explorer that starts its runs at a preset and a gamma.

    Parameters
    ----------
    preset
        One of `elmo_toy.worked_example.PRESETS`.
    gamma
        At most 2 in size.

    Raises
    ------
    ValueError
        For another preset or gamma, naming what was given.

    Book: chapter 4, "One step".

    >>> gradient().as_html()[:15]
    '<elmo-gradient '
    """
    if preset not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, given {preset!r}")
    start = GradientState(preset, as_number(gamma, "gamma"))
    if abs(start.gamma) > 2:
        raise ValueError(f"gamma must lie between -2 and 2, given {gamma!r}")
    rows = []
    for name in PRESETS:
        for scale in GAMMAS:
            shown = read(GradientState(name, scale, steps=1, shown=True))
            before = read(GradientState(name, scale))
            derivatives = [before[f"sum-{j}"] for j in range(4)]
            losses = [shown["start"], *(shown[f"loss-{i}"] for i in range(3))]
            rows.append([f"{name}, γ = {scale:g}", *derivatives, *losses])
    return Explorer(
        name="elmo-gradient",
        state=f"s={preset}&g={start.gamma!r}",
        description="derivatives in eight states, and one step by a right rule and two wrong ones",
        head=["state", "a₀", "a₁", "a₂", "γ", "loss", *(f"step, {name}" for name in RULE_NAMES)],
        rows=rows,
        make_view=lambda: View(start, read, moved, _controls(), _setting, _show),
    )


def _controls() -> dict[str, ipywidgets.DOMWidget]:
    wide = {"style": {"description_width": "14em"}, "layout": {"width": "34em"}}
    steps = {
        f"steps {n}": ipywidgets.Button(description=f"+ {n}" if n else "back to 0")
        for n in (1, 10, 100, 0)
    }
    return {
        "guess": ipywidgets.Dropdown(
            options=[("…", ""), *((words, guess) for guess, words in GUESSES.items())],
            description="wrong rules' loss after a step",
            **wide,
        ),
        "shown": ipywidgets.ToggleButton(description="Take the step"),
        "preset": ipywidgets.Dropdown(options=list(PRESETS), description="start", **wide),
        "gamma": ipywidgets.FloatSlider(
            min=-2, max=2, step=0.1, description="γ at the start", **wide
        ),
        "rate": ipywidgets.SelectionSlider(
            options=[(f"{rate:g}", i) for i, rate in enumerate(RATES)],
            description="learning rate",
            **wide,
        ),
        "delta": ipywidgets.SelectionSlider(
            options=[(power(delta), i) for i, delta in enumerate(DELTAS)],
            description="step δ of the difference",
            **wide,
        ),
        **steps,
    }


def _setting(state: GradientState) -> dict[str, Any]:
    return {
        name: getattr(state, name)
        for name in ("guess", "shown", "preset", "gamma", "rate", "delta")
    }


def _show(state: GradientState, texts: Texts) -> str:
    rows = [
        [name, *(texts[f"{part}-{j}"] for part in ("river", "loan", "sum", "measured"))]
        for j, name in enumerate(("a₀", "a₁", "a₂", "γ"))
    ]
    rows.insert(3, ["total", texts["river-total"], texts["loan-total"], texts["total-0"], ""])
    rules = [
        [name, *(texts[f"{part}-{i}"] for part in ("loss", "total", "off", "weights", "scale"))]
        for i, name in enumerate(RULE_NAMES)
    ]
    runs = [
        np.array(
            [
                point.loss
                for point in history(
                    rule, state.preset, state.gamma, RATES[state.rate], state.steps
                )
            ]
        )
        for rule in RULES[: 3 if state.shown else 1]
    ]
    said = f"<p>{texts['guess']}</p>" if state.shown else ""
    return (
        f"{said}<p>After {texts['steps']}:</p>"
        + table(["", "river", "loan", "sum", "measured"], rows)
        + table(["", "loss", "adds up to", "off the witness", "weights", "γ"], rules)
        + histories(runs)
    )
