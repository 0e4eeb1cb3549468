"""The explorer of chapter 3: one place in two triangles."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import ipywidgets
import numpy as np

from elmo_toy._checks import Array, as_number
from elmo_toy.widgets._drawing import plane
from elmo_toy.widgets._explorer import Explorer
from elmo_toy.widgets._text import fixed, trimmed, vector
from elmo_toy.widgets._view import Texts, View, table
from elmo_toy.worked_example import GAMMAS, OCCURRENCES, PRESETS, forward

#: The direction of gamma * weights that changes no score; all its signs agree.
UNSEEN = np.array([2.0, 5.0, 4.0])
UNSEEN.flags.writeable = False
GAMMA_LIMIT = 5.0
FARTHEST = 0.3
LAYER_NAMES = ("token layer", "lower contextual", "upper contextual")


@dataclass(frozen=True)
class MixtureState:
    """Weights and gamma, moved along `UNSEEN`; the reader's guess, and the answer to it."""

    weights: tuple[float, ...]
    gamma: float = 1.0
    along: float = 0.0
    guess: tuple[float, float] = (2.5, 2.0)
    answer: tuple[float, float] | None = None

    @property
    def shown(self) -> bool:
        """Whether loan's mixture is shown."""
        return self.answer is not None

    @property
    def room(self) -> float:
        """How far along `UNSEEN`, in whole steps, gamma's slider reaches."""
        left = math.floor(100 * (GAMMA_LIMIT - abs(self.gamma)) / float(UNSEEN.sum()) + 1e-9) / 100
        return max(0.0, min(left, FARTHEST))

    @property
    def current(self) -> tuple[Array, float]:
        """Weights and gamma as they are after the move."""
        return move_along(np.array(self.weights), self.gamma, self.along)


def move_along(weights: Array, gamma: float, amount: float) -> tuple[Array, float]:
    """``g = gamma * weights + amount * (2, 5, 4)``, read back as weights and gamma.

    A negative gamma moves the other way, or g would leave the cone in which its signs agree.
    Book: chapter 3, "A large weight is not an importance".

    >>> weights, gamma = move_along(np.array([0.2, 0.3, 0.5]), 1.0, 0.3)
    >>> weights.round(3), round(gamma, 12)
    (array([0.186, 0.419, 0.395]), 4.3)
    """
    if amount == 0:
        return weights, gamma
    g = gamma * weights + (-amount if gamma < 0 else amount) * UNSEEN
    return g / g.sum(), float(g.sum())


def with_weight(weights: Array, layer: int, value: float) -> Array:
    """One weight set to a value; the others keep their proportion.

    >>> with_weight(np.array([0.2, 0.3, 0.5]), 2, 0.75).round(3)
    array([0.1 , 0.15, 0.75])
    """
    changed: Array = weights / (1 - weights[layer]) * (1 - value)
    changed[layer] = value
    return changed


def read(state: MixtureState) -> Texts:
    """Every text that the explorer shows, by name; loan's are ``?`` until it is shown.

    >>> read(MixtureState((0.2, 0.3, 0.5)))["river-mixture"]
    '[1.7, 1.1]'
    """
    weights, gamma = state.current
    result = forward(np.log(weights), gamma)
    texts = {
        "gamma": trimmed(gamma, 2, 0),
        "along": fixed(state.along, 2),
        "product": vector(gamma * weights),
        "largest": f"h{'₀₁₂'[int(weights.argmax())]}",
        "loss": fixed(result.loss, 6) if state.shown else "?",
        "guess": vector(state.guess),
        "answer": vector(state.answer) if state.answer else "?",
        "miss": fixed(math.dist(state.guess, state.answer), 2) if state.answer else "?",
        "room": "",
    }
    if state.room < FARTHEST:
        end = f"ends at {fixed(state.room, 2)}" if state.room else "has no room"
        limit = fixed(math.copysign(GAMMA_LIMIT, state.gamma), 0)
        texts["room"] = f"It {end} here: γ goes no further than {limit}."
    texts |= {f"guess-{i}": fixed(part, 2) for i, part in enumerate(state.guess)}
    texts |= {f"weight-{j}": fixed(weight, 3) for j, weight in enumerate(weights)}
    for k, name in enumerate(OCCURRENCES):
        row = {
            "mixture": vector(result.mixtures[k]),
            "score": trimmed(result.scores[k], 4),
            "probability": fixed(result.probabilities[k], 6),
            "loss": fixed(result.losses[k], 6),
        }
        hidden = name == "loan" and not state.shown
        texts |= {f"{name}-{part}": "?" if hidden else text for part, text in row.items()}
    return texts


def _mixtures(state: MixtureState) -> Array:
    weights, gamma = state.current
    return forward(np.log(weights), gamma).mixtures


def moved(state: MixtureState, control: str, value: Any) -> MixtureState:
    """The state after a control was set; weights and gamma start from what is shown."""
    name, _, number = control.partition("-")
    if name == "along":
        return replace(state, along=float(max(0.0, min(value, state.room))))
    if name == "guess":
        guess = list(state.guess)
        guess[int(number)] = value
        return replace(state, guess=(guess[0], guess[1]))
    if name == "shown":
        # the guess stays beside what it was a guess of, whatever moves afterwards
        x, y = _mixtures(state)[1].tolist()
        return replace(state, answer=(x, y) if value else None)
    if name == "preset" and value not in PRESETS:  # the empty line of the list
        return state
    weights, gamma = state.current
    if name == "gamma":
        gamma = value
    elif name == "preset":
        weights = PRESETS[value]
    else:
        weights = with_weight(weights, int(number), value)
    return replace(state, weights=tuple(weights.tolist()), gamma=gamma, along=0.0)


def mixture(preset: str = "upper", gamma: float = 1.0) -> Explorer:
    """The explorer that opens at a preset and a gamma.

    Parameters
    ----------
    preset
        One of `elmo_toy.worked_example.PRESETS`.
    gamma
        At most 5 in size.

    Raises
    ------
    ValueError
        For another preset or gamma, naming what was given.

    Book: chapter 3, "Move it yourself".

    >>> mixture().as_html()[:14]
    '<elmo-mixture '
    """
    if preset not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, given {preset!r}")
    scale = as_number(gamma, "gamma")
    if abs(scale) > GAMMA_LIMIT:
        raise ValueError(f"gamma must lie between -5 and 5, given {gamma!r}")
    start = MixtureState(tuple(PRESETS[preset].tolist()), scale)
    rows = []
    for name, weights in PRESETS.items():
        for scale in GAMMAS:
            shown = read(moved(MixtureState(tuple(weights.tolist()), scale), "shown", True))
            numbers = [
                shown[f"{who}-{what}"] for what in ("mixture", "probability") for who in OCCURRENCES
            ]
            rows.append([f"{name}, γ = {shown['gamma']}", *numbers, shown["loss"]])
    return Explorer(
        name="elmo-mixture",
        state=f"w={','.join(map(repr, start.weights))}&g={start.gamma!r}",
        description="one mixture of two occurrences' layers, in eight states of weights and gamma",
        head=["state", "river", "loan", "p(river)", "p(loan)", "mean loss"],
        rows=rows,
        make_view=lambda: View(start, read, moved, _controls(), _setting, _show),
    )


def _controls() -> dict[str, ipywidgets.DOMWidget]:
    slider = ipywidgets.FloatSlider
    wide = {"style": {"description_width": "12em"}, "layout": {"width": "34em"}, "readout": False}
    return {
        "guess-0": slider(min=-9, max=9, step=0.05, description="guess, across", **wide),
        "guess-1": slider(min=-9, max=9, step=0.05, description="guess, up", **wide),
        "shown": ipywidgets.ToggleButton(description="Show loan's mixture"),
        "preset": ipywidgets.Dropdown(options=["", *PRESETS], description="preset"),
        **{
            f"weight-{j}": slider(
                min=0.01, max=0.98, step=0.01, description=f"s{j}, {name}", **wide
            )
            for j, name in enumerate(LAYER_NAMES)
        },
        "gamma": slider(min=-5, max=5, step=0.1, description="scale γ", **wide),
        "along": slider(min=0, max=FARTHEST, step=0.01, description="along (2, 5, 4)", **wide),
    }


def _setting(state: MixtureState) -> dict[str, Any]:
    weights, gamma = state.current
    preset = [name for name, known in PRESETS.items() if np.allclose(known, weights, atol=1e-9)]
    return {
        **{f"guess-{i}": part for i, part in enumerate(state.guess)},
        "shown": state.shown,
        "preset": preset[0] if preset else "",
        **{f"weight-{j}": weight for j, weight in enumerate(weights.tolist())},
        "gamma": gamma,
        "along": state.along,
    }


def _show(state: MixtureState, texts: Texts) -> str:
    weights, _ = state.current
    mixtures = _mixtures(state)
    asked = state.answer is None or math.dist(state.answer, mixtures[1]) < 1e-9
    rows = [
        [name, *(texts[f"{name}-{part}"] for part in ("mixture", "score", "probability", "loss"))]
        for name in OCCURRENCES
    ]
    miss = f" The guess missed by {texts['miss']}." if state.shown else ""
    shares = ", ".join(texts[f"weight-{j}"] for j in range(3))
    return (
        plane(mixtures, weights, state.guess if asked else None, shown=state.shown)
        + f"<p>Weights {shares}, γ = {texts['gamma']}, γ·s = {texts['product']}.{miss}</p>"
        + f"<p>{texts['room']}</p>"
        + table(
            ["", "mixture", "score", "probability", "loss"],
            [*rows, ["mean", "", "", "", texts["loss"]]],
        )
    )
