"""The figures of chapter 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import NullLocator

from elmo_toy._checks import Array
from elmo_toy.figures._style import (
    GAMMA,
    GRID,
    INK,
    LAYER_LOOKS,
    MIXTURE_MARK,
    OCCURRENCE_LOOKS,
    QUIET,
    RUN_LOOKS,
    WEIGHT_NAMES,
    label,
    label_ends,
    powers_of_ten,
)
from elmo_toy.figures._svg import Figure, Panel


def frozen_and_learned(*, alt: str) -> Figure:
    """What is frozen and where it may be cut and kept; what a task learns on top of it.

    Book: chapter 5, "What is frozen, what is learned".
    """
    panels = []
    panel = Panel("frozen: computed once", height=330)
    with panel.drawing() as axes:
        _canvas(axes)
        _words(axes, 4.8, 0.4, "the muddy bank")
        rows = zip((2.2, 4.6, 6.5, 8.4), (None, *LAYER_LOOKS), strict=True)
        names = ("ids", "h₀ token layer", "h₁ contextual", "h₂ contextual")
        for box, (height, look) in zip(names, rows, strict=True):
            _box(axes, 4.8, height, 4.4, box, look.colour if look else QUIET, fill=GRID)
        for low, high in ((0.75, 1.5), (2.85, 3.9), (5.25, 5.8), (7.15, 7.7)):
            _arrow(axes, (4.8, low), (4.8, high))
        _kept(axes, (1.7, 2.7), 7.3, "1 each\ntime")
        _kept(axes, (4.1, 5.1), 7.3, "2 by\nspelling")
        _kept(axes, (4.1, 8.9), 2.3, "3 by\nsentence")
    panels.append(panel)

    panel = Panel("learned: the task's own", height=330)
    with panel.drawing() as axes:
        _canvas(axes)
        _words(axes, 2.2, 0.4, "its words x")
        _words(axes, 7.9, 0.4, "h₀ h₁ h₂")
        for height, learned in ((2.7, "s, γ"), (6.5, "s′, γ′")):
            axes.plot(7.9, height, marker=MIXTURE_MARK, color=INK, markersize=17, zorder=6)
            label(axes, learned, (7.9, height), xytext=(13, 0))
        _box(axes, 2.9, 4.6, 5.0, "BiLSTM on [x; e]", INK)
        _box(axes, 2.9, 8.4, 5.0, "softmax on [h; e′]", INK)
        for start, end in (
            ((2.2, 0.8), (2.2, 3.9)),
            ((7.9, 0.8), (7.9, 2.2)),
            ((7.9, 3.1), (7.9, 6.0)),
            ((7.6, 2.9), (4.6, 3.95)),
            ((7.6, 6.7), (4.6, 7.75)),
            ((2.2, 5.25), (2.2, 7.7)),
        ):
            _arrow(axes, start, end)
        for at, name in (((5.6, 2.85), "e"), ((5.6, 6.65), "e′"), ((1.7, 6.5), "h")):
            _words(axes, *at, name)
    panels.append(panel)
    caption = (
        "Frozen: one sentence in the language model; the numbers mark what may be kept in a file. "
        "Learned: a tagger with a mixture (star) of the same layers at its input, and another at "
        "its output."
    )
    return Figure(tuple(panels), alt, caption)


def _canvas(axes: Axes) -> None:
    axes.set(xlim=(0, 10), ylim=(-0.2, 9.4))
    axes.axis("off")


def _words(axes: Axes, x: float, y: float, text: str) -> None:
    axes.text(x, y, text, ha="center", va="center")


def _box(
    axes: Axes, x: float, y: float, width: float, text: str, edge: str, fill: str = "none"
) -> None:
    corner = (x - width / 2, y - 0.6)
    axes.add_patch(
        FancyBboxPatch(corner, width, 1.2, "round,pad=0,rounding_size=0.2", fc=fill, ec=edge, lw=2)
    )
    _words(axes, x, y, text)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    arrow = {"arrowstyle": "->", "color": QUIET, "lw": 1.5, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=arrow)


def _kept(axes: Axes, ends: tuple[float, float], x: float, text: str) -> None:
    """Bracket what one of the three choices keeps; left of the boxes, or right of them."""
    side = 1 if x > 5 else -1
    low, high = ends
    edge = x + 0.25 * side
    axes.plot([x, edge, edge, x], [low, low, high, high], color=INK, linewidth=1.5)
    align = "left" if side > 0 else "right"
    axes.text(edge + 0.2 * side, (low + high) / 2, text, ha=align, va="center")


def mixture_progress(traces: Mapping[str, tuple[Array, Array]], *, alt: str) -> Figure:
    """Weights after each update, a panel a mixture, and gamma of all mixtures.

    `traces` has by place the weights (updates + 1, layers) and gamma (updates + 1,).

    Book: chapter 5, "Training the tagger".
    """
    panels = []
    every = np.concatenate([weights for weights, _ in traces.values()])
    lowest, highest = every.min(), every.max()
    for place, (weights, _) in traces.items():
        panel = Panel(f"weights at the {place}", height=270)
        updates = np.arange(len(weights))
        with panel.drawing() as axes:
            axes.axhline(1 / weights.shape[1], color=QUIET, linewidth=1, linestyle=":")
            for look, line in zip(LAYER_LOOKS, weights.T, strict=True):
                axes.plot(updates, line, **look.line)
                axes.plot(updates[-1], line[-1], **look.points)
            label_ends(axes, 1.02 * updates[-1], weights[-1], WEIGHT_NAMES, 0.011)
            axes.set(xlim=(0, 1.14 * updates[-1]), ylim=(lowest - 0.02, highest + 0.02))
            axes.set(xlabel="updates", yticks=np.arange(0.25, highest, 0.05))
        panels.append(panel)
    panel = Panel("γ", height=270)
    with panel.drawing() as axes:
        axes.axhline(1, color=QUIET, linewidth=1, linestyle=":")
        dashes = (GAMMA.dash, "-")
        for dash, (_, gamma) in zip(dashes, traces.values(), strict=True):
            axes.plot(np.arange(len(gamma)), gamma, color=GAMMA.colour, linestyle=dash)
            axes.plot(len(gamma) - 1, gamma[-1], **GAMMA.points)
        last = len(gamma) - 1
        ends = np.array([gamma[-1] for _, gamma in traces.values()])
        label_ends(axes, 1.02 * last, ends, list(traces), 0.03)
        axes.set(xlim=(0, 1.32 * last), xlabel="updates")
        axes.set_xticks(range(0, last + 1, 10))
    panels.append(panel)
    caption = (
        "Two mixtures of the same three layers while their tagger trains. Dotted: where both "
        "start, equal weights and γ = 1."
    )
    return Figure(tuple(panels), alt, caption)


def losses_by_factor(
    factors: Sequence[float], losses: Mapping[str, Sequence[float]], *, alt: str
) -> Figure:
    """Loss of trained taggers by what their gamma is multiplied with, both axes logarithmic.

    Book: chapter 5, "Longer is not better".
    """
    # Where there is room beside the lines that chapter 5 draws: column, offset, side.
    named: tuple[tuple[int, tuple[int, int], str], ...] = (
        (3, (0, -17), "center"),
        (0, (0, 14), "left"),
        (2, (8, -15), "left"),
    )
    panel = Panel("loss on test sentences", width=340, height=310)
    with panel.drawing() as axes:
        axes.axvline(1, 0.2, 0.78, color=GAMMA.colour, linestyle=GAMMA.dash, linewidth=1.5)
        for look, at, (name, line) in zip(RUN_LOOKS, named, losses.items(), strict=False):
            axes.loglog(factors, line, **look.line, marker=look.marker, markersize=7)
            column, offset, side = at
            label(axes, name, (factors[column], line[column]), xytext=offset, ha=side)
        axes.set(xlabel="γ multiplied with")
        axes.set_xticks(factors, [f"{factor:g}" for factor in factors])
        axes.xaxis.set_minor_locator(NullLocator())
        low, high = np.log10([min(map(min, losses.values())), max(map(max, losses.values()))])
        powers_of_ten(axes.yaxis, range(int(np.floor(low)), int(np.ceil(high)) + 1))
    caption = (
        "Each tagger is trained once (dotted line); then its γ is multiplied, and nothing else "
        "changes."
    )
    return Figure((panel,), alt, caption)


def occlusion(
    tokens: Sequence[str],
    target: int,
    mixture: Array,
    top: Array,
    marked: Mapping[int, tuple[str, str]],
    *,
    alt: str,
) -> Figure:
    """How far the word at `target` moves when each other word is replaced.

    `mixture` (tokens,) with the learned weights, `top` with the top layer's alone. `marked` has by
    place what is written beside a bar, and whose colour it gets: river's or loan's.

    Book: chapter 5, "What a neighbour changes".
    """
    colour = {look.name: look.colour for look in OCCURRENCE_LOOKS}
    places = np.arange(len(tokens))[::-1]
    panel = Panel(f"distance that “{tokens[target]}” moves", height=55 + 18 * len(tokens))
    with panel.drawing() as axes:
        colours = [colour[marked[k][1]] if k in marked else INK for k in range(len(tokens))]
        axes.barh(places + 0.2, mixture, 0.36, color=colours)
        others = np.arange(len(tokens)) != target
        crosses = {**LAYER_LOOKS[2].points, "markersize": 7, "clip_on": False}
        axes.plot(top[others], places[others] - 0.22, **crosses)
        for k, (text, _) in marked.items():
            label(axes, text, (max(mixture[k], top[k]), places[k]), xytext=(9, 0))
        label(axes, "looked at", (0, places[target]), xytext=(9, 0), color=QUIET)
        axes.set_yticks(places, tokens)
        axes.get_yticklabels()[target].set_fontweight("bold")
        axes.tick_params(axis="y", length=0, pad=9)  # room for half a cross
        axes.spines["left"].set_visible(False)
        furthest = max(mixture.max(), top.max())
        axes.set(ylim=(-0.7, len(tokens) - 0.3), xlim=(0, 1.2 * furthest))
    caption = (
        "Each word in turn is exchanged for a neutral one of its part of speech. Bars: the mixture "
        "with the learned weights. Crosses: the top layer alone."
    )
    return Figure((panel,), alt, caption)
