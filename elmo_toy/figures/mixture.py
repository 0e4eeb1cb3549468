"""The figures of chapter 3."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import to_rgba

from elmo_toy._checks import Array
from elmo_toy.descent import LAYER_SCORES, loss_at
from elmo_toy.figures._style import (
    GAMMA,
    INK,
    LAYER_LOOKS,
    LAYER_NAMES,
    OCCURRENCE_LOOKS,
    PLACE,
    QUIET,
    WEIGHT_NAMES,
    label,
    label_ends,
    mixture_mark,
    plane,
    triangle,
)
from elmo_toy.figures._svg import PANEL_WIDTH, Figure, Panel, colours
from elmo_toy.worked_example import LAYERS, OCCURRENCES

_PLANE = {"x": (-1.6, 3.7), "y": (-0.7, 2.6)}
_PLANE_HEIGHT = 245


def two_triangles(weights: Array, *, alt: str) -> Figure:
    """Each occurrence's hull with the mixture of `weights`: one place in two triangles.

    Book: chapter 3, "Inside the triangle".
    """
    panels = []
    for k, look in enumerate(OCCURRENCE_LOOKS):
        corners = LAYERS[k, :, 0]
        mixture = weights @ corners
        panel = Panel(look.name, height=_PLANE_HEIGHT)
        with panel.drawing() as axes:
            plane(axes, **_PLANE)
            triangle(axes, corners, look)
            for corner, weight in zip(corners, weights, strict=True):
                # The heavier the layer, the thicker its pull.
                axes.plot(*np.array([mixture, corner]).T, color=look.colour, lw=5 * weight)
            mixture_mark(axes, mixture, look)
            text = f"[{mixture[0]:.1f}, {mixture[1]:.1f}]"
            label(axes, text, tuple(mixture), xytext=((20, 36), (12, 13))[k], fontweight="bold")
        panels.append(panel)
    shown = ", ".join(f"{weight:.2g}" for weight in weights)
    caption = (
        f"The mixture (star) with weights {shown} and γ = 1 has the same barycentric place in both "
        "triangles, and another place in the plane. Line width: the layer's weight."
    )
    return Figure(tuple(panels), alt, caption)


def gamma_rays(weights: Array, ranges: list[tuple[float, float]], *, alt: str) -> Figure:
    """Where γ moves each mixture: along a line through 0, inside its hull for a range only.

    Book: chapter 3, "What gamma is, and what it isn't".
    """
    panels = []
    for k, look in enumerate(OCCURRENCE_LOOKS):
        corners = LAYERS[k, :, 0]
        mixture = weights @ corners
        panel = Panel(look.name, height=_PLANE_HEIGHT + 25)
        with panel.drawing() as axes:
            plane(axes, x=(-2.1, 3.9), y=(-1.6, 2.7))
            triangle(axes, corners, look)
            ends = np.outer([-1, 2], mixture)
            axes.plot(*ends.T, **GAMMA.line)
            low, high = ranges[k]
            axes.plot(*np.outer([low, high], mixture).T, color=GAMMA.colour, linewidth=5)
            for gamma in (-1, 2):
                axes.plot(*(gamma * mixture), marker="o", color=GAMMA.colour, markersize=6)
                place = (
                    {"xytext": (0, -14), "ha": "center"}
                    if gamma < 0
                    else {"xytext": (-9, 3), "ha": "right"}
                )
                label(axes, f"γ = {gamma}".replace("-", "−"), tuple(gamma * mixture), **place)
            mixture_mark(axes, mixture, look)
        panels.append(panel)
    caption = " ".join(
        f"{name.capitalize()}: inside its hull for γ from {low:.3f} to {high:.3f}."
        for name, (low, high) in zip(OCCURRENCES, ranges, strict=True)
    )
    return Figure(tuple(panels), alt, caption + " Star: γ = 1. Dotted: what γ reaches.")


def two_cones(weights: Array, *, alt: str) -> Figure:
    """γ times the weights in three dimensions: two cones that meet at zero.

    Book: chapter 3, "Gamma times the weights is one vector".
    """
    panel = Panel("g = γ · (s₀, s₁, s₂)", width=PANEL_WIDTH, height=310)
    # Seen from slightly above, with the line of equal weights upright: the cones stand on each
    # other's point. The rows are the page's two directions.
    elevation, turn = np.radians(16), np.radians(20)
    upright = np.array([1, 1, 1]) / np.sqrt(3)
    across, deep = np.array([-1, 1, 0]) / np.sqrt(2), np.array([-1, -1, 2]) / np.sqrt(6)
    right = np.cos(turn) * across + np.sin(turn) * deep
    back = -np.sin(turn) * across + np.cos(turn) * deep
    view = np.array([right, np.cos(elevation) * upright + np.sin(elevation) * back])

    def seen(points: Array) -> Array:
        projected: Array = np.asarray(points) @ view.T
        return projected

    with panel.drawing() as axes:
        axes.set(aspect="equal", xlim=(-2.2, 2.2), ylim=(-1.9, 1.9))
        axes.axis("off")
        for sign, tone in ((1, colours()["gamma"]), (-1, colours()["gamma"])):
            for gamma in (1, 2):
                corners = seen(sign * gamma * np.eye(3))
                axes.fill(*corners.T, color=tone, alpha=0.16, linewidth=0)
                axes.plot(
                    *corners[[0, 1, 2, 0]].T, color=tone, lw=1.4, ls="-" if sign > 0 else "--"
                )
            for j, layer in enumerate(LAYER_LOOKS):
                end = seen(sign * 2.25 * np.eye(3)[j])
                axes.plot(*np.array([[0, 0], end]).T, color=layer.colour, lw=1.6)
                if sign > 0:
                    away = 14 * end / (end @ end) ** 0.5
                    label(axes, f"g{'₀₁₂'[j]}", tuple(end), xytext=tuple(away), ha="center")
        ray = seen(np.outer([-2.2, 2.2], weights))
        axes.plot(*ray.T, **GAMMA.line, linewidth=2.4)
        axes.plot(*seen(weights), **PLACE)
        axes.plot(0, 0, marker="o", color=INK, markersize=6)
        label(axes, "γ = 0", (0.0, 0.0), xytext=(10, -4))
        label(axes, "γ = 1", tuple(seen(np.array([0, 1, 0]))), xytext=(6, -9))
        label(axes, "γ > 0", (1.1, 0.55))
        label(axes, "γ < 0", (1.1, -0.55))
        label(axes, "mixed signs:\nout of reach", (-2.15, 0.0))
    caption = (
        "All vectors g = γ·s that a mixture can have. The direction is the weights; how far out, "
        "the sum of the three coordinates, is γ (triangles at 1 and 2, dashed at −1 and −2). "
        "Outside the two cones the signs are mixed, and no mixture gets there."
    )
    return Figure((panel,), alt, caption)


def same_predictions(coefficients: Array, along: Array, *, alt: str) -> Figure:
    """Move γ·s from `coefficients` along a direction that the head cannot see.

    Book: chapter 3, "A large weight is not an importance".
    """
    amounts = np.linspace(0, 0.3, 31)
    path = coefficients + amounts[:, None] * along  # (31, 3)
    gamma = path.sum(axis=1)
    weights = path / gamma[:, None]
    scores = path @ LAYER_SCORES.T
    direction = f"({', '.join(f'{part:g}' for part in along)})"
    plane_panel = Panel("vectors move …", height=300)
    with plane_panel.drawing() as axes:
        plane(axes, x=(-0.5, 7), y=(-0.5, 7))
        axes.plot([0, 7], [0, 7], color=QUIET, linewidth=1.4)
        label(axes, "score 0", (5.6, 5.6), xytext=(-8, 14), ha="right")
        for k, look in enumerate(OCCURRENCE_LOOKS):
            vectors = path @ LAYERS[k, :, 0]
            axes.plot(*vectors.T, **look.line)
            mixture_mark(axes, vectors[0], look)
            axes.plot(*vectors[-1], **look.points)
            label(
                axes,
                look.name,
                tuple(vectors[18]),
                xytext=(9, -9) if k == 0 else (-9, 9),
                ha="left" if k == 0 else "right",
            )
    weight_panel = Panel("… weights change order …", height=300)
    with weight_panel.drawing() as axes:
        for j, look in enumerate(LAYER_LOOKS):
            axes.plot(amounts, weights[:, j], **look.line)
        label_ends(axes, amounts[-1], weights[-1], WEIGHT_NAMES, 0.03)
        axes.set(
            xlabel=f"how far along {direction}", ylabel="weight", xlim=(0, 0.33), ylim=(0, 0.55)
        )
        axes.set_xticks([0, 0.1, 0.2, 0.3])
    score_panel = Panel("… scores and loss stand still", height=300)
    with score_panel.drawing() as axes:
        for k, look in enumerate(OCCURRENCE_LOOKS):
            axes.plot(amounts, scores[:, k], **look.line)
            label(axes, f"score, {look.name}", (0.01, scores[0, k]), xytext=(0, 12))
        axes.plot(amounts, loss_at(weights, gamma), color=INK, linewidth=1.6)
        label(axes, "mean loss", (0.01, float(loss_at(weights, gamma)[0])), xytext=(0, -12))
        axes.set(xlabel=f"how far along {direction}", xlim=(0, 0.3), ylim=(-1.1, 1.1))
        axes.set_xticks([0, 0.1, 0.2, 0.3])
    caption = (
        f"γ·s moved along {direction}: each mixture slides parallel to the head's line of score 0 "
        "(stars: where they start), the lower contextual layer overtakes the upper one, and the "
        "head notices nothing."
    )
    return Figure((plane_panel, weight_panel, score_panel), alt, caption)


def influence(matrices: dict[str, Array], *, alt: str) -> Figure:
    """`token_influence` matrices, one panel each: row, the mixture; column, the layers changed.

    Book: chapter 3, "No attention anywhere".
    """
    panels = []
    for title, matrix in matrices.items():
        panel = Panel(title, height=300)
        n = len(matrix)
        with panel.drawing() as axes:
            axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
            for t, u in np.ndindex(matrix.shape):
                shade = matrix[t, u] / matrix.max()
                axes.fill(
                    [u - 0.46, u + 0.46, u + 0.46, u - 0.46],
                    [t - 0.46, t - 0.46, t + 0.46, t + 0.46],
                    color=colours()["gradient"],
                    alpha=0.04 + 0.31 * float(shade),  # the number on it keeps 4.5:1 in both themes
                    linewidth=0,
                )
                text = "0" if matrix[t, u] == 0 else f"{matrix[t, u]:.2f}"
                axes.text(u, t, text, ha="center", va="center")
            ticks = range(n)
            axes.set_xticks(ticks, [str(u + 1) for u in ticks])
            axes.set_yticks(ticks, [str(t + 1) for t in ticks])
            axes.set(xlabel="layers of token …", ylabel="mixture of token …")
            axes.tick_params(length=0)
            axes.spines[["left", "bottom"]].set_visible(False)
        panels.append(panel)
    caption = (
        "Largest derivative of one token's mixture with respect to another token's layers. "
        "Invented layers, drawn from a fixed seed."
    )
    return Figure(tuple(panels), alt, caption)


def layer_weights(groups: dict[str, Array], *, alt: str) -> Figure:
    """Layer weights as bars, a panel each: rows of (occurrences, layers) or one (layers,).

    Book: chapter 3, "No attention anywhere".
    """
    panels = []
    for title, weights in groups.items():
        panel = Panel(title, height=230)
        rows = np.broadcast_to(weights, (len(OCCURRENCES), LAYERS.shape[1]))
        with panel.drawing() as axes:
            for k, look in enumerate(OCCURRENCE_LOOKS):
                places = np.arange(3) + (k - 0.5) * 0.4
                # Full and hollow, so that greyscale tells them apart.
                face = to_rgba(look.colour, (1.0, 0.18)[k])
                axes.bar(places, rows[k], 0.34, color=face, edgecolor=look.colour, label=look.name)
                for place, value in zip(places, rows[k], strict=True):
                    axes.text(place, value + 0.02, f"{value:.2f}".lstrip("0"), ha="center")
            axes.legend(frameon=False, ncols=2, loc="upper left", borderaxespad=0)
            axes.set_xticks(range(3), WEIGHT_NAMES)
            axes.set(ylim=(0, 1.15), ylabel="weight")
            axes.set_yticks([0, 0.5, 1])
        panels.append(panel)
    caption = (
        "Weights by layer ("
        + ", ".join(f"s{'₀₁₂'[j]} {name}" for j, name in enumerate(LAYER_NAMES))
        + ")."
    )
    return Figure(tuple(panels), alt, caption)
