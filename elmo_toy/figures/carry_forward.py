"""The figures of chapter 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from elmo_toy._checks import Array
from elmo_toy.figures._style import (
    GRADIENT,
    LAYER_LOOKS,
    QUIET,
    RUN_LOOKS,
    label_ends,
)
from elmo_toy.figures._svg import FONT_SIZE, Figure, Panel

SHADES = 8


def jacobian_maps(maps: Mapping[str, Array], tokens: Sequence[str], *, alt: str) -> Figure:
    """Norms (tokens, tokens) of one position's derivative by another's input, a panel a map.

    Every panel is shaded up to its own largest norm off the diagonal. Cells of norm 0 stay empty.

    Book: chapter 7, "Recurrence against attention".
    """
    panels = []
    for title, norms in maps.items():
        panel = Panel(title, height=330)
        n = len(tokens)
        own = np.eye(n, dtype=bool)
        largest = norms[~own].max()
        levels = np.ceil(SHADES * np.minimum(norms / largest, 1)).astype(int)
        with panel.drawing() as axes:
            axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
            for level in range(1, SHADES + 1):
                cells = np.argwhere((levels == level) & ~own)
                if len(cells):
                    # One path a shade: a path a cell would be ten times the page.
                    shape = Path.make_compound_path(*(_cell(t, u) for t, u in cells))
                    shade = level / SHADES
                    axes.add_patch(
                        PathPatch(shape, facecolor=GRADIENT.colour, alpha=shade, linewidth=0)
                    )
            axes.plot(np.arange(n), np.arange(n), ".", color=QUIET, markersize=5)
            small = FONT_SIZE - 1
            axes.set_xticks(range(n), tokens, rotation=90, fontsize=small)
            axes.set_yticks(range(n), tokens, fontsize=small)
            axes.tick_params(length=0)
            axes.spines[["left", "bottom"]].set_visible(False)
        panels.append(panel)
    caption = (
        "Row: the position whose output is asked about. Column: the position whose input is moved. "
        "The further from the page's colour, the larger the derivative; empty: exactly 0. Each "
        "panel has its own scale. Dots: the word's own input, left out."
    )
    return Figure(tuple(panels), alt, caption)


def _cell(row: int, column: int) -> Path:
    """A square just short of its neighbours."""
    x, y, half = column, row, 0.46
    corners = [(-half, -half), (half, -half), (half, half), (-half, half), (-half, -half)]
    return Path([(x + dx, y + dy) for dx, dy in corners], closed=True)


def influence_by_distance(groups: Mapping[str, Mapping[str, Array]], *, alt: str) -> Figure:
    """Mean norm by distance, relative to that of the nearest words: a panel a group of models.

    `groups`: by title, then by model, (2 * furthest + 1,), from the furthest word after the
    position to the furthest before it, as `elmo_toy.attention.mean_by_offset` gives them; at most
    four models a group. The two sides are averaged.

    Book: chapter 7, "Decay with distance".
    """
    panels = []
    for title, curves in groups.items():
        panel = Panel(title)
        lines = []
        for curve in curves.values():
            furthest = len(curve) // 2
            both = curve[furthest + 1 :] + curve[:furthest][::-1]
            lines.append(both / both[0])
        distances = np.arange(1, furthest + 1)
        with panel.drawing() as axes:
            for look, line in zip(RUN_LOOKS, lines, strict=False):
                axes.plot(distances, line, **look.line, marker=look.marker, markersize=6)
            ends = np.array([line[-1] for line in lines])
            label_ends(axes, furthest, ends, list(curves), 0.085)
            axes.set(xlabel="words away", ylim=(0, 1.12), xlim=(0.7, 1.85 * furthest))
            axes.set_xticks(range(1, furthest + 1, 2 if furthest > 4 else 1))
        panels.append(panel)
    caption = (
        "Mean norm of the derivative by another word's input, divided by that for the next words, "
        "mean of both sides."
    )
    return Figure(tuple(panels), alt, caption)


def senses_by_objective(scores: Mapping[str, Mapping[str, Array]], *, alt: str) -> Figure:
    """Sense scores of both contextual layers, a panel a test, a row a model, a mark a seed.

    `scores` (seeds, layers) by test and by model.

    Book: chapter 7, "Hide the word instead".
    """
    panels = []
    for test, by_model in scores.items():
        panel = Panel(test, height=70 + 42 * len(by_model))
        with panel.drawing() as axes:
            axes.axvline(0.5, color=QUIET, linewidth=1, linestyle=":")
            rows = np.arange(len(by_model))[::-1]
            for row, found in zip(rows, by_model.values(), strict=True):
                for layer, up in ((1, 0.17), (2, -0.17)):
                    marks = {**LAYER_LOOKS[layer].points, "markersize": 8, "alpha": 0.75}
                    axes.plot(found[:, layer], np.full(len(found), row + up), **marks)
            axes.set_yticks(rows, [name.replace(", ", ",\n") for name in by_model])
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
            axes.grid(True, axis="x")
            axes.set_axisbelow(True)
            axes.set(xlim=(0.42, 1.03), ylim=(-0.6, len(by_model) - 0.4), xlabel="sense score")
            axes.set_xticks([0.5, 0.75, 1.0], ["0.5", "0.75", "1"])
        panels.append(panel)
    caption = (
        "Share of senses told by the nearest mean: triangles, layer 1; crosses, layer 2. A mark a "
        "training seed. Dotted: chance."
    )
    return Figure(tuple(panels), alt, caption)


def change_by_source(runs: Mapping[str, Mapping[str, Array]], *, alt: str) -> Figure:
    """Mean norm of the parts of a mixture's change against steps, a panel a run.

    `runs`: by title, then by part, (steps + 1,). The parts come in one order, at most four.

    Book: chapter 7, "When the extractor moves too".
    """
    highest = max(line.max() for parts in runs.values() for line in parts.values())
    panels = []
    for title, parts in runs.items():
        panel = Panel(title)
        with panel.drawing() as axes:
            ends = np.array([line[-1] for line in parts.values()])
            for look, line in zip(RUN_LOOKS, parts.values(), strict=False):
                axes.plot(line, **look.line)
                axes.plot(len(line) - 1, line[-1], color=look.colour, marker=look.marker)
            steps = len(next(iter(parts.values()))) - 1
            label_ends(axes, steps, ends, list(parts), 0.085 * highest)
            axes.set(xlabel="steps", xlim=(0, 1.7 * steps), ylim=(-0.03 * highest, 1.06 * highest))
            axes.set_xticks([0, steps // 2, steps])
        panels.append(panel)
    caption = (
        "How far the mixtures of the noun have moved since step 0, and which part of the change is "
        "whose: mean length over the sentences."
    )
    return Figure(tuple(panels), alt, caption)
