"""One look for each thing, in every figure: occurrences, layers, mixture, gamma, gradient."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import NullLocator

from elmo_toy._checks import Array
from elmo_toy.figures._svg import FONT_SIZE, colours

QUIET, INK, GRID = colours()["quiet"], colours()["ink"], colours()["grid"]


@dataclass(frozen=True)
class Look:
    """A colour with the marker and the dash that tell it apart without colour."""

    name: str
    colour: str
    marker: str
    dash: Any

    @property
    def line(self) -> dict[str, Any]:
        """Keyword arguments of a line."""
        return {"color": self.colour, "linestyle": self.dash}

    @property
    def points(self) -> dict[str, Any]:
        """Keyword arguments of markers."""
        return {"color": self.colour, "marker": self.marker, "linestyle": "none"}


OCCURRENCE_LOOKS = (
    Look("river", colours()["river"], "o", "-"),
    Look("loan", colours()["loan"], "D", (0, (5, 2.5))),
)
LAYER_LOOKS = (
    Look("h₀", colours()["layer-0"], "s", (0, (1.2, 1.8))),
    Look("h₁", colours()["layer-1"], "^", (0, (5, 2.5))),
    Look("h₂", colours()["layer-2"], "P", "-"),
)
WEIGHT_NAMES = ("s₀", "s₁", "s₂")
LAYER_NAMES = ("token layer", "lower contextual", "upper contextual")
GAMMA = Look("γ", colours()["gamma"], "v", (0, (1, 1.5)))
GRADIENT = Look("gradient", colours()["gradient"], ">", "-")
WRONG = Look("wrong", colours()["wrong"], "X", (0, (3, 1.5, 1, 1.5)))
WRONG_TOO = Look("wrong too", colours()["wrong"], "s", (0, (8, 2)))
#: Lines that are neither an occurrence, a layer, gamma nor a gradient: runs, and ways to measure.
RUN_LOOKS = (
    Look("first", colours()["ink"], "o", "-"),
    Look("second", colours()["quiet"], "^", (0, (5, 2.5))),
    Look("third", colours()["ink"], "v", (0, (1.2, 1.8))),
    Look("fourth", colours()["quiet"], "D", (0, (6, 2, 1, 2))),
)
#: The ways to step: the right one, two wrong ones, and one that is right for the weights.
RULE_LOOKS = (GRADIENT, WRONG, WRONG_TOO, RUN_LOOKS[2])
#: Where something starts, or lies among all weights: not a mixture, so not its star.
PLACE: dict[str, Any] = {
    "marker": "o",
    "color": INK,
    "markersize": 9,
    "linestyle": "none",
    "zorder": 6,
}
MIXTURE_MARK = "*"


def label(axes: Axes, text: str, at: tuple[float, ...], **options: Any) -> None:
    """Write beside a thing, in ink: coloured text would have to be darker than a line."""
    settings: dict[str, Any] = {"fontsize": FONT_SIZE, "va": "center", "xytext": (8, 0)}
    axes.annotate(text, (at[0], at[1]), textcoords="offset points", **(settings | options))


def label_ends(axes: Axes, x: float, ends: Array, names: Sequence[str], gap: float) -> None:
    """Name lines at their right ends, at least `gap` apart where the ends are closer."""
    places = np.array(ends, dtype=float)
    order = np.argsort(places)
    for lower, upper in pairwise(order):
        places[upper] = max(places[upper], places[lower] + gap)
    for name, place in zip(names, places, strict=True):
        label(axes, name, (x, place), xytext=(6, 0))


def powers_of_ten(axis: Axis, exponents: Iterable[int]) -> None:
    """Label a logarithmic axis at these powers; matplotlib would set the exponent too small."""
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    exponents = list(exponents)
    labels = [f"10{str(n).translate(raised)}" for n in exponents]
    axis.set_ticks([10.0**n for n in exponents], labels)
    axis.set_minor_locator(NullLocator())


def plane(axes: Axes, x: tuple[float, float], y: tuple[float, float]) -> None:
    """Set up a plane whose axes have no names: the coordinates are invented and mean nothing."""
    axes.set(xlim=x, ylim=y, aspect="equal")
    axes.grid(True)
    axes.axhline(0, color=QUIET, linewidth=1, zorder=1)
    axes.axvline(0, color=QUIET, linewidth=1, zorder=1)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)
    axes.set_axisbelow(True)


def triangle(axes: Axes, corners: Array, look: Look) -> None:
    """Draw the hull of three layer vectors, each corner with its layer's mark and name."""
    closed = [*range(len(corners)), 0]
    axes.fill(*corners.T, color=look.colour, alpha=0.1, linewidth=0)
    axes.plot(*corners[closed].T, **look.line, linewidth=1.8)
    centre = corners.mean(axis=0)
    for corner, layer in zip(corners, LAYER_LOOKS, strict=True):
        axes.plot(*corner, **layer.points, markersize=9, zorder=4)
        away = corner - centre
        step = 15 * away / (away @ away) ** 0.5
        label(axes, layer.name, tuple(corner), xytext=tuple(step), ha="center")


def mixture_mark(axes: Axes, at: Array, look: Look, **options: Any) -> None:
    """Draw the star that means a mixture, in its occurrence's colour."""
    axes.plot(*at, marker=MIXTURE_MARK, color=look.colour, markersize=17, zorder=6, **options)


#: The two reading directions: arrows that point the way each reads, in no colour of their own.
DIRECTION_LOOKS = (
    Look("forward", colours()["ink"], ">", "-"),
    Look("backward", colours()["quiet"], "<", (0, (5, 2.5))),
)
#: Models of chapter 2. Crimson: their states see the token that they are asked for.
MODEL_LOOKS = (
    Look("biLM", colours()["ink"], "o", "-"),
    Look("sees its answer", colours()["wrong"], "X", (0, (3, 1.5, 1, 1.5))),
    Look("joined", colours()["wrong"], "D", (0, (5, 2.5))),
    Look("untrained", colours()["quiet"], "s", (0, (1.2, 1.8))),
)
