"""The figures of chapter 1."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from elmo_toy._checks import Array
from elmo_toy.figures._style import INK, LAYER_LOOKS, OCCURRENCE_LOOKS, Look, label
from elmo_toy.figures._svg import Figure, Panel, colours
from elmo_toy.similarity import Background

_RIVER, _LOAN = OCCURRENCE_LOOKS
_KINDS = (
    Look("river, river", _RIVER.colour, _RIVER.marker, _RIVER.dash),
    Look("loan, loan", _LOAN.colour, _LOAN.marker, _LOAN.dash),
    Look("river, loan", INK, "X", (0, (1.2, 1.8))),
)
"""Which occurrences a pair of *bank* joins: two of one sense, or one of each."""


def _spread(axes: Axes, y: float, values: Array, look: Look, *, hollow: bool = False) -> None:
    """Median as a marker, the middle half as a thick line, 5% to 95% as a thin one."""
    low, first, middle, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
    axes.plot([low, high], [y, y], color=look.colour, linewidth=1.2)
    axes.plot([first, third], [y, y], color=look.colour, linewidth=4)
    face = colours()["paper"] if hollow else look.colour
    axes.plot(middle, y, marker=look.marker, color=look.colour, markerfacecolor=face, markersize=9)


def _name_spread(axes: Axes, name: str, values: Array, y: float, *, beyond: float) -> None:
    """Write a name to the right of a spread, or to its left where it ends beyond a place.

    A name that left the axes would make them narrower than those of the other panels.
    """
    low, high = np.quantile(values, [0.05, 0.95])
    if high < beyond:
        label(axes, name, (float(high), y), xytext=(9, 0))
    else:
        label(axes, name, (float(low), y), xytext=(-9, 0), ha="right")


def _layer_axis(axes: Axes) -> None:
    layers = range(len(LAYER_LOOKS))
    axes.set_yticks(layers, [look.name for look in LAYER_LOOKS])
    axes.set_ylim(-0.55, len(LAYER_LOOKS) - 0.45)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def cosine_backgrounds(backgrounds: Mapping[str, Background], *, alt: str) -> Figure:
    """Cosines of random pairs at each layer, a panel for each model.

    Book: chapter 1, "A cosine needs a background".
    """
    panels = []
    for title, background in backgrounds.items():
        panel = Panel(title, height=235)
        with panel.drawing() as axes:
            _layer_axis(axes)
            axes.set(xlim=(-0.55, 1.15), xlabel="cosine")
            axes.set_xticks([-0.5, 0, 0.5, 1])
            axes.axvline(0, color=INK, linewidth=0.6)
            for j, look in enumerate(LAYER_LOOKS):
                _spread(axes, j + 0.17, background.same[j], look)
                _spread(axes, j - 0.17, background.different[j], look, hollow=True)
            for name, cosines, y in zip(
                ("one word", "two words"), background, (0.17, -0.17), strict=True
            ):
                _name_spread(axes, name, cosines[0], y, beyond=0.6)
        panels.append(panel)
    caption = (
        "Cosines of random pairs: one word twice (filled), two different words (hollow). "
        "Mark: median; thick: the middle half; thin: 5% to 95%."
    )
    return Figure(tuple(panels), alt, caption)


def pair_percentiles(
    percentiles: Mapping[str, tuple[tuple[Array, Array], ...]], *, caption: str, alt: str
) -> Figure:
    """Where the cosines of pairs of *bank* stand among random pairs, two panels for each model.

    `percentiles` gives for each model three results of `Background.percentiles`: of pairs
    river and river, loan and loan, river and loan.

    Book: chapter 1, "Layer by layer", and chapter 1, "English, and a smaller claim".
    """
    panels = []
    for title, kinds in percentiles.items():
        for number, among in enumerate(("same-word", "different-word")):
            panel = Panel(title, height=270)
            with panel.drawing() as axes:
                _layer_axis(axes)
                axes.set(xlim=(-3, 103), xlabel=f"percentile, {among} pairs")
                axes.set_xticks([0, 25, 50, 75, 100])
                axes.grid(True, axis="x")
                axes.set_axisbelow(True)
                for k, (look, found) in enumerate(zip(_KINDS, kinds, strict=True)):
                    for j, values in enumerate(found[number]):
                        _spread(axes, j + 0.27 * (1 - k), values, look)
                    _name_spread(axes, look.name, found[number][0], 0.27 * (1 - k), beyond=75)
            panels.append(panel)
    return Figure(tuple(panels), alt, caption)
