"""The figures of chapter 6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from elmo_toy._checks import Array
from elmo_toy.figures._style import (
    GRID,
    INK,
    LAYER_LOOKS,
    QUIET,
    RUN_LOOKS,
    label,
    label_ends,
)
from elmo_toy.figures._svg import Figure, Panel, colours

PAPER = colours()["paper"]


def _named_rows(axes: Axes, names: Sequence[str]) -> Array:
    """Set up one row a name, the first on top; return the places of the rows."""
    places = np.arange(len(names), dtype=float)[::-1]
    axes.set_yticks(places, list(names))
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return places


def gains_by_task(
    gains: Mapping[str, tuple[float, float]], claimed: tuple[float, float], *, alt: str
) -> Figure:
    """Gain and share of error removed of each task, beside each other.

    `gains` has both by task, in points and in per cent; `claimed` is the range of shares that the
    paper's text names.

    Book: chapter 6, "Table 1 at its scope".
    """
    panels = []
    for number, title in enumerate(("gain, points", "baseline's error removed, %")):
        panel = Panel(title, height=270)
        with panel.drawing() as axes:
            values = [both[number] for both in gains.values()]
            if number == 1:
                axes.axvspan(*claimed, color=GRID, alpha=0.55, linewidth=0)
                axes.text(
                    sum(claimed) / 2,
                    -0.85,
                    f"“{claimed[0]:g} – {claimed[1]:g}%”",
                    ha="center",
                    va="center",
                )
            places = _named_rows(axes, list(gains))
            axes.barh(places, values, 0.5, color=INK, alpha=0.8)
            for place, value in zip(places, values, strict=True):
                label(axes, f"{value:.1f}", (value, float(place)), xytext=(5, 0))
            axes.set(xlim=(0, 1.22 * max(values)), ylim=(-1.2, len(gains) - 0.4))
        panels.append(panel)
    caption = (
        "Table 1, test sets: with ELMo against without. The second panel has the same gains as "
        "shares of what the baseline got wrong; grey is the range that the paper's text names."
    )
    return Figure(tuple(panels), alt, caption)


def steps_of_gain(scores: Mapping[str, Sequence[float]], *, alt: str) -> Figure:
    """How the gain over the baseline adds up: last layer, then averaging, then learning.

    `scores` has by task the baseline, the last layer alone, all layers strongly and weakly
    regularised.

    Book: chapter 6, "One mixture or the last layer".
    """
    panel = Panel("gain over the baseline, points", width=340, height=225)
    with panel.drawing() as axes:
        places = _named_rows(axes, list(scores))
        for place, (baseline, *others) in zip(places, scores.values(), strict=True):
            ends = [0.0, *(score - baseline for score in others)]
            for (start, end), shade in zip(pairwise(ends), (0.85, 0.5, 0.25), strict=True):
                axes.barh(place, end - start, 0.42, left=start, color=INK, alpha=shade)
            steps = " + ".join(f"{end - start:.1f}" for start, end in pairwise(ends))
            label(axes, steps, (ends[-1], float(place)), xytext=(7, 0))
        label(axes, "last layer + average + learned", (0, len(scores) - 0.45), xytext=(0, 0))
        axes.set(xlim=(0, 6.4), ylim=(-0.6, len(scores) - 0.15))
    caption = (
        "Table 2, development sets. From left to right: the last layer alone, with a scale; all "
        "layers under a strong penalty, which is nearly their average; all layers under a weak "
        "one, which lets the weights move."
    )
    return Figure((panel,), alt, caption)


def insertion_points(
    scores: Mapping[str, Sequence[float]], baselines: Mapping[str, float], *, alt: str
) -> Figure:
    """Scores of three insertion points by task, and the baseline's of another table.

    `scores` has by task input, input and output, output; `baselines` the score without ELMo.

    Book: chapter 6, "Where it goes in".
    """
    panels = []
    names = ("input", "both", "output")
    for task, values in scores.items():
        panel = Panel(task, width=212, height=230)
        with panel.drawing() as axes:
            without = baselines[task]
            axes.axhline(without, color=QUIET, linewidth=1.2, linestyle=(0, (5, 2.5)))
            label(axes, f"without {without:.1f}", (-0.4, without), xytext=(0, -11))
            axes.plot(range(3), values, color=INK, marker="o", markersize=8)
            for place, value in enumerate(values):
                above = 13 if value > without else -13
                label(axes, f"{value:.1f}", (place, value), xytext=(0, above), ha="center")
            axes.set_xticks(range(3), names)
            axes.set(xlim=(-0.45, 2.5), ylim=(78.9, 90.6))
        panels.append(panel)
    caption = (
        "Table 3, development sets: where the mixture joins the task model. Dashed: without ELMo, "
        "from Table 2."
    )
    return Figure(tuple(panels), alt, caption)


def five_seeds(runs: Array, spread: float, differences: Mapping[str, float], *, alt: str) -> Figure:
    """Left, repeated tries of five runs; right, by how much two equal systems differ.

    `runs` (tries, 5) are in units of their own standard deviation, about their true mean, 0.
    `spread` is the standard deviation of one run in points, `differences` are printed ones.

    Book: chapter 6, "What the plus-minus is".
    """
    tries = Panel("mean ± deviation of five runs", height=330)
    with tries.drawing() as axes:
        axes.axvline(0, color=QUIET, linewidth=1.2)
        for place, values in enumerate(runs):
            mean, deviation = values.mean(), values.std(ddof=1)
            missed = abs(mean) > deviation
            axes.plot(values, [place] * len(values), "|", color=QUIET, markersize=9)
            axes.plot([mean - deviation, mean + deviation], [place] * 2, color=INK, linewidth=2.2)
            face = PAPER if missed else INK
            axes.plot(mean, place, "o", color=INK, markerfacecolor=face, markersize=8, zorder=3)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set(xlabel="deviations of one run", xlim=(-3.2, 3.2))
    equal = Panel("difference of two equal systems", height=330)
    with equal.drawing() as axes:
        grid = np.linspace(-0.75, 1.1, 300)
        for look, name, number in zip(RUN_LOOKS, ("one run", "five runs"), (1, 5), strict=False):
            deviation = spread * (2 / number) ** 0.5
            density = np.exp(-(grid**2) / (2 * deviation**2)) / deviation
            axes.plot(grid, density, **look.line)
            at = -1.15 * deviation
            label(
                axes,
                name,
                (at, float(np.exp(-(1.15**2) / 2) / deviation)),
                xytext=(-8, 4),
                ha="right",
            )
        top = 1 / (spread * 0.4**0.5)
        for height, (name, value) in zip((0.55, 0.3), differences.items(), strict=True):
            axes.plot([value, value], [0, height * top], color=INK, linewidth=1.2, linestyle=":")
            label(axes, f"{value:.1f}, {name}", (value, height * top), xytext=(5, 0))
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set(xlabel="points", xlim=(-0.75, 1.6), ylim=(0, 1.08 * top))
    caption = (
        "First, tries of five runs each about a known mean, the line: ticks are runs, hollow "
        "means are further from it than their own deviation. Second, how far two systems without "
        f"any difference come out apart if one run deviates by {spread:g} points; dotted, two "
        "printed differences."
    )
    return Figure((tries, equal), alt, caption)


def layers_by_task(
    scores: Mapping[str, Mapping[str, tuple[float, float]]],
    references: Mapping[str, Mapping[str, float]],
    *,
    alt: str,
) -> Figure:
    """Both contextual layers of two models, a panel a task, among scores of others.

    `scores` has by task and model the lower and the upper layer; `references` other scores by name.

    Book: chapter 6, "What the layers hold".
    """
    panels = []
    for task, models in scores.items():
        panel = Panel(task, height=300)
        with panel.drawing() as axes:
            for look, (name, values) in zip(RUN_LOOKS, models.items(), strict=False):
                axes.plot([1, 2], values, color=look.colour, linestyle=look.dash, zorder=2)
                for place, value in zip((1, 2), values, strict=True):
                    mark = LAYER_LOOKS[place]
                    axes.plot(place, value, **mark.points, markersize=11)
                    side = -1 if place == 1 else 1
                    text = f"{value:.1f}" if place == 2 else f"{name} {value:.1f}"
                    label(
                        axes,
                        text,
                        (place, value),
                        xytext=(10 * side, 0),
                        ha="right" if place == 1 else "left",
                    )
            for name, value in references[task].items():
                axes.axhline(value, color=QUIET, linewidth=1, linestyle=":", zorder=1)
                label(axes, f"{name} {value:.1f}", (1.5, value), xytext=(0, 9), ha="center")
            axes.set_xticks([1, 2], ["layer 1", "layer 2"])
            axes.set_xlim(0.1, 2.5)
            axes.margins(y=0.12)
        panels.append(panel)
    caption = (
        "Tables 5 and 6: word senses by the nearest sense average, parts of speech by a linear "
        "classifier. Marks are layers, lines are models."
    )
    return Figure(tuple(panels), alt, caption)


def paired_differences(
    differences: Mapping[str, Mapping[str, Sequence[float]]], reference: str, *, alt: str
) -> Figure:
    """How far conditions lie from a reference, a panel a task, a tick a seed.

    `differences` has by task and condition one difference a seed, in points; `reference` names what
    was taken away.

    Book: chapter 6, "What the mixture adds".
    """
    rows = [row for conditions in differences.values() for row in conditions.values()]
    furthest = 1.1 * max(abs(value) for row in rows for value in row)
    panels = []
    for task, conditions in differences.items():
        panel = Panel(task, height=76 + 30 * len(conditions))
        with panel.drawing() as axes:
            places = _named_rows(axes, list(conditions))
            axes.axvline(0, color=QUIET, linewidth=1.2)
            for place, values in zip(places, conditions.values(), strict=True):
                mean = float(np.mean(values))
                axes.plot([0, mean], [place] * 2, color=INK, linewidth=1.2)
                axes.plot(values, [place] * len(values), "|", color=QUIET, markersize=13)
                axes.plot(mean, place, "o", color=INK, markersize=8, zorder=3)
            axes.set(xlabel=f"points above the {reference}", xlim=(-furthest, furthest))
        panels.append(panel)
    caption = (
        f"Each condition less the {reference} of the same seed, with the same language model and "
        "labels. Ticks are seeds, dots their means."
    )
    return Figure(tuple(panels), alt, caption)


def weights_and_scores(
    weights: Mapping[str, Array], scores: Mapping[str, Array], *, alt: str
) -> Figure:
    """The learned weight of each layer against the score that the layer reaches alone.

    `weights` and `scores` have by task (seeds, layers), scores in per cent.

    Book: chapter 6, "What the weights say".
    """
    panels = []
    for task, learned in weights.items():
        panel = Panel(task, height=235)
        with panel.drawing() as axes:
            axes.axhline(1 / 3, color=QUIET, linewidth=1, linestyle=":")
            for look, x, y in zip(LAYER_LOOKS, scores[task].T, learned.T, strict=True):
                axes.plot(x, y, **look.points, markersize=8)
                before = look is LAYER_LOOKS[1]
                label(
                    axes,
                    look.name,
                    (float(x.min() if before else x.max()), float(y.mean())),
                    xytext=(-9 if before else 9, 0),
                    ha="right" if before else "left",
                )
            axes.set(xlabel="the layer alone, %", ylabel="weight", ylim=(0, 0.75))
            axes.set_yticks([0, 1 / 3, 2 / 3], ["0", "⅓", "⅔"])
            axes.margins(x=0.2)
        panels.append(panel)
    caption = (
        "What the mixture came to give each layer, against what that layer scores without the "
        "others; a mark a seed. Dotted: equal weights."
    )
    return Figure(tuple(panels), alt, caption)


def scores_by_labels(
    scores: Mapping[str, Mapping[str, Mapping[float, tuple[float, float]]]], *, alt: str
) -> Figure:
    """Score against the share of the labels, a panel a task.

    `scores` has by task, condition and share the mean and the deviation, in per cent.

    Book: chapter 6, "Where it goes in, and how many labels".
    """
    panels = []
    for task, conditions in scores.items():
        panel = Panel(task, height=265)
        with panel.drawing() as axes:
            ends = []
            for look, shares in zip(RUN_LOOKS, conditions.values(), strict=True):
                x = [100 * share for share in shares]
                mean, deviation = (np.array(v) for v in zip(*shares.values(), strict=True))
                axes.plot(x, mean, color=look.colour, linestyle=look.dash, marker=look.marker)
                axes.vlines(x, mean - deviation, mean + deviation, color=look.colour, linewidth=1.2)
                ends.append(mean[-1])
            axes.set_xscale("log")
            axes.set_xlabel("% of the labels", loc="left")
            axes.set_xlim(0.8, 1800)
            axes.set_xticks([1, 10, 100], ["1", "10", "100"])
            axes.xaxis.set_minor_locator(NullLocator())
            axes.spines["bottom"].set_bounds(0.8, 100)
            low, high = axes.get_ylim()
            gap = 0.09 * (high - low)
            label_ends(axes, 110, np.array(ends), list(conditions), gap)
            # A name outside of the axes would not be drawn: make room for the pushed ones.
            reach = max(end + place * gap for place, end in enumerate(sorted(ends, reverse=True)))
            axes.set_ylim(low, max(high, reach + gap / 2))
        panels.append(panel)
    caption = "Test scores in per cent; bars are ± one standard deviation over the seeds."
    return Figure(tuple(panels), alt, caption)
