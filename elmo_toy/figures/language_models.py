"""The figures of chapters 2 and 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter

from elmo_toy._checks import Array
from elmo_toy.figures._style import (
    DIRECTION_LOOKS,
    INK,
    LAYER_LOOKS,
    MODEL_LOOKS,
    QUIET,
    label,
    powers_of_ten,
)
from elmo_toy.figures._svg import Figure, Panel


def one_position_shift(tokens: Sequence[str], *, alt: str) -> Figure:
    """Which state predicts which token, by direction; `tokens` with their boundary symbols.

    Book: chapter 2, "The one-position shift".
    """
    panels = []
    last = len(tokens) - 1
    for look, step in zip(DIRECTION_LOOKS, (1, -1), strict=True):
        panel = Panel(look.name, height=210)
        with panel.drawing() as axes:
            axes.set(xlim=(-0.55, last + 0.55), ylim=(-0.4, 2.45))
            axes.axis("off")
            for k, token in enumerate(tokens):
                asked = 0 <= k + step <= last
                axes.text(k, 0, token, ha="center", va="center")
                if not asked:
                    continue
                _arrow(axes, (k, 0.2), (k, 0.87), QUIET)
                axes.plot(k, 1, **look.points, markersize=11, zorder=4)
                _arrow(axes, (k, 1.1), (k + 0.88 * step, 1.84), look.colour)
                if 0 <= k + 2 * step <= last:
                    _arrow(axes, (k + 0.16 * step, 1), (k + 0.84 * step, 1), look.colour)
                axes.text(
                    k + step, 2, tokens[k + step], ha="center", va="center", fontweight="bold"
                )
        panels.append(panel)
    caption = (
        "Below: what is read. Middle: states, which hand themselves on in reading order. Above, in "
        "bold: what each state is asked for, never the token under it."
    )
    return Figure(tuple(panels), alt, caption)


def _arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    axes.annotate(
        "", end, start, arrowprops={"arrowstyle": "->", "color": colour, "lw": 1.5, "shrinkA": 0}
    )


def learning_curve(
    tokens: Sequence[int], forward: Sequence[float], backward: Sequence[float], *, alt: str
) -> Figure:
    """Loss of both directions on sentences that were not trained on, against tokens trained on.

    Book: chapter 2, "A language model trained live".
    """
    panel = Panel("held-out loss, nats a token")
    thousands = np.asarray(tokens) / 1000
    with panel.drawing() as axes:
        for look, losses in zip(DIRECTION_LOOKS, (forward, backward), strict=True):
            axes.plot(thousands, losses, **look.line, marker=look.marker, markersize=7)
        for look, losses, at in zip(DIRECTION_LOOKS, (forward, backward), (2, 3), strict=True):
            above = 1 if losses[at] == max(forward[at], backward[at]) else -1
            label(
                axes,
                look.name,
                (thousands[at], losses[at]),
                xytext=(6 * above, 14 * above),
                ha="left" if above > 0 else "right",
            )
        axes.set(xlabel="thousand tokens", xlim=(0, None), ylim=(3, 5.6))
    caption = "Each direction predicts every token once. Point 0: the untrained network."
    return Figure((panel,), alt, caption)


def context_reach(changes: Array, *, alt: str) -> Figure:
    """Mean relative change by offset from a changed word: (layers, 2, offsets), a panel a half.

    Book: chapter 2, "How far context reaches".
    """
    furthest = changes.shape[2] // 2
    offsets = np.arange(-furthest, furthest + 1)
    panels = []
    for direction, look in enumerate(DIRECTION_LOOKS):
        panel = Panel(f"{look.name} half", height=270)
        with panel.drawing() as axes:
            axes.axvline(0, color=QUIET, linewidth=1, linestyle=":")
            for layer, layer_look in zip((1, 2), LAYER_LOOKS[1:], strict=True):
                axes.plot(
                    offsets,
                    changes[layer, direction],
                    **layer_look.line,
                    marker=layer_look.marker,
                    markersize=7,
                )
            far = 1.05 * changes[1:].max()
            axes.set(xlabel="tokens from the changed word", ylim=(-0.03 * far, far))
            axes.set_xticks(range(-furthest, furthest + 1, 4))
            side = -1 if direction == 0 else 1
            axes.text(side * furthest, 0.06 * far, "exactly 0", ha=("left", "right")[direction])
            for layer, up in ((1, 1), (2, -1)):
                at = furthest - 4 * side
                label(
                    axes,
                    LAYER_LOOKS[layer].name,
                    (offsets[at], changes[layer, direction, at]),
                    xytext=(-10 * up * side, 12 * up),
                    ha="center",
                )
        panels.append(panel)
    caption = (
        "Mean relative change of each half of a contextual layer when one word is exchanged. "
        "Negative: tokens before it. The token layer changes at 0 alone and is left out."
    )
    return Figure(tuple(panels), alt, caption)


def losses_and_senses(
    losses: Mapping[str, Array], scores: Mapping[str, Array], *, alt: str
) -> Figure:
    """Loss against sense score, a panel a contextual layer, a point a seed.

    `losses` (seeds,) and `scores` (seeds, layers) by model, in the order biLM, sees its answer,
    joined, untrained.

    Book: chapter 2, "Why separate stacks?".
    """
    panels = []
    for layer in (1, 2):
        panel = Panel(f"layer {layer}", height=310)
        with panel.drawing() as axes:
            axes.axhline(0.5, color=QUIET, linewidth=1, linestyle=":")
            axes.text(3.6, 0.485, "chance", ha="center", va="top")
            for look, name in zip(MODEL_LOOKS, losses, strict=True):
                x, y = losses[name], scores[name][:, layer]
                axes.plot(x, y, **look.points, markersize=8, alpha=0.75)
                above = look.name in ("joined", "untrained")
                aside, side = (8, "right") if x.mean() > 4 else (10, "left")
                label(
                    axes,
                    look.name,
                    (float(x.mean()), float(y.max() if above else y.min())),
                    xytext=(aside, 13 if above else -13),
                    ha=side,
                )
            axes.set(
                xlabel="loss, nats a token (lower: better)",
                ylabel="sense score",
                xlim=(-0.25, 5.7),
                ylim=(0.4, 1.04),
            )
        panels.append(panel)
    caption = (
        "Loss on held-out sentences against the share of senses told, cue words that no labelled "
        "sentence holds. A point a training seed."
    )
    return Figure(tuple(panels), alt, caption)


def parameters_by_part(counts: Mapping[str, Mapping[str, int]], *, alt: str) -> Figure:
    """Bars of parameter counts by part of a model, a panel a model.

    Book: chapter 8, "The official files".
    """
    panels = []
    largest = max(max(parts.values()) for parts in counts.values()) / 1e6
    for name, parts in counts.items():
        panel = Panel(f"{name}, {sum(parts.values()) / 1e6:.1f} million", height=230)
        with panel.drawing() as axes:
            values = [count / 1e6 for count in parts.values()]
            places = np.arange(len(values))[::-1]
            axes.barh(places, values, 0.6, color=INK, alpha=0.75)
            for place, value in zip(places, values, strict=True):
                label(axes, f"{value:.1f}", (value, float(place)), xytext=(5, 0))
            axes.set_yticks(places, list(parts))
            axes.set(xlim=(0, 1.28 * largest), xlabel="million numbers")
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)  # it would be faint on the bars
        panels.append(panel)
    caption = "Numbers in the weight file, by part, computed from the shapes."
    return Figure(tuple(panels), alt, caption)


def forgetting(changes: Array, *, alt: str) -> Figure:
    """Largest change of each layer from one reading of a sentence to the next, by reading.

    Book: chapter 8, "State from batch to batch".
    """
    panel = Panel("change since the reading before")
    readings = np.arange(2, len(changes) + 2)
    with panel.drawing() as axes:
        for layer, look in zip((1, 2), LAYER_LOOKS[1:], strict=True):
            axes.semilogy(
                readings, changes[:, layer], **look.line, marker=look.marker, markersize=7
            )
        for layer in (1, 2):
            end = (readings[-1], changes[-1, layer])
            label(axes, LAYER_LOOKS[layer].name, end, xytext=(9, 0))
        axes.set(xlabel="reading of the same sentence", xlim=(1.7, len(changes) + 2.2))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
        low, high = np.log10([changes[:, 1:].min(), changes[:, 1:].max()])
        powers_of_ten(axes.yaxis, range(2 * int(low // 2), int(np.ceil(high)) + 1, 2))
    caption = "States are carried from one reading to the next; what they held before fades."
    return Figure((panel,), alt, caption)
