"""The figures of chapter 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from elmo_toy._checks import Array
from elmo_toy.descent import Descent, step_on_logits
from elmo_toy.figures._style import (
    GAMMA,
    GRADIENT,
    INK,
    LAYER_LOOKS,
    OCCURRENCE_LOOKS,
    PLACE,
    QUIET,
    RULE_LOOKS,
    RUN_LOOKS,
    WEIGHT_NAMES,
    Look,
    label,
    label_ends,
    mixture_mark,
    plane,
    powers_of_ten,
)
from elmo_toy.figures._svg import Figure, Panel, colours
from elmo_toy.worked_example import LAYERS, State


def contributions(state: State, *, alt: str) -> Figure:
    """Each occurrence's share of the gradient and their sum, for the three logits and gamma.

    Book: chapter 4, "Two occurrences, one gradient".
    """
    names = ["a₀", "a₁", "a₂", "γ"]
    by_occurrence = np.column_stack([state.logit_contributions, state.gamma_contributions])
    total = np.append(state.logit_gradient, state.gamma_gradient)
    panel = Panel("shares of ∂L/∂a and ∂L/∂γ", width=440, height=320)
    with panel.drawing() as axes:
        axes.axhline(0, color=QUIET, linewidth=1)
        axes.axvline(2.65, ymax=0.85, color=QUIET, linewidth=1, linestyle=":")
        places = np.arange(4) + np.array([0, 0, 0, 0.2])
        for k, look in enumerate(OCCURRENCE_LOOKS):
            face = to_rgba(look.colour, (1.0, 0.18)[k])
            axes.bar(
                places + (k - 1) * 0.27,
                by_occurrence[k],
                0.23,
                color=face,
                edgecolor=look.colour,
                label=look.name,
            )
        axes.bar(places + 0.27, total, 0.23, color=GRADIENT.colour, label="sum: the gradient")
        for place, value in zip(places, total, strict=True):
            up = value >= 0
            axes.text(
                place + 0.27,
                value + (0.012 if up else -0.012),
                f"{value:.3f}".replace("-", "−"),
                ha="center",
                va="bottom" if up else "top",
            )
        axes.set_xticks(places, names)
        axes.set_ylim(-0.4, 0.55)
        axes.legend(frameon=False, ncols=3, loc="upper left", borderaxespad=0, columnspacing=1)
    caption = (
        f"River and loan pull on the same four numbers. At {state.preset}-layer emphasis and γ = "
        f"{state.gamma:g}, the three logit sums add up to {abs(state.logit_gradient.sum()):.0f}."
    )
    return Figure((panel,), alt, caption)


def error_against_step(steps: Array, errors: Mapping[str, Array], *, alt: str) -> Figure:
    """Error of numerical gradients against their step, on logarithmic axes.

    An error of exactly 0 is drawn at the bottom of the axes, where the logarithm has no place.

    Book: chapter 4, "Error against step size".
    """
    panel = Panel("largest error of the gradient", width=440, height=330)
    floor = 1e-18
    with panel.drawing() as axes:
        for (name, error), look in zip(errors.items(), RUN_LOOKS, strict=False):
            axes.loglog(
                steps, np.maximum(error, floor), **look.line, marker=look.marker, label=name
            )
        axes.legend(frameon=False, loc="lower right", borderaxespad=0)
        axes.set(xlabel="step", ylim=(floor / 3, 3), xlim=(2e-16, 0.4))
        powers_of_ten(axes.yaxis, range(-18, 1, 3))
        powers_of_ten(axes.xaxis, range(-15, -2, 3))
        axes.grid(True)
    caption = (
        "Large steps leave out higher derivatives, small ones drown in rounding. The complex step "
        "subtracts nothing and has only the first error. Both axes are logarithmic; an error of "
        "exactly zero is drawn at the bottom."
    )
    return Figure((panel,), alt, caption)


def falling_losses(
    names: Sequence[str], before: Array, after: Mapping[str, Array], *, alt: str
) -> Figure:
    """Loss before and after one step of each rule, a row a state.

    Book: chapter 4, "Falling loss verifies nothing".
    """
    panel = Panel("mean loss before (|) and after one step", width=440, height=360)
    rows = np.arange(len(names))[::-1]
    with panel.drawing() as axes:
        axes.plot(before, rows, marker="|", markersize=16, color=INK, linestyle="none", mew=2)
        for shift, rule, look in zip((0.22, 0, -0.22), after, RULE_LOOKS, strict=False):
            losses = after[rule]
            for row, start, end in zip(rows, before, losses, strict=True):
                axes.plot([start, end], [row + shift] * 2, color=look.colour, linewidth=1.4)
            axes.plot(losses, rows + shift, **look.points, label=rule, markersize=7)
        axes.set_yticks(rows, names)
        axes.set(ylim=(-0.7, len(names) - 0.3), xlim=(0, 1.75))
        axes.tick_params(axis="y", length=0)
        axes.grid(True, axis="x")
        axes.legend(frameon=False, loc="upper right", handletextpad=0.2, borderaxespad=0)
    lowered = sum(int((losses < before).sum()) for losses in after.values())
    caption = (
        f"{lowered} of {len(after) * len(names)} steps lower the loss, those by the wrong rules "
        "(crimson) included."
    )
    return Figure((panel,), alt, caption)


def loss_by_rate(
    weights: Array, gamma: float, largest: float, marked: Mapping[str, float], *, alt: str
) -> Figure:
    """Loss and gamma after one step, against the learning rate of that step.

    Book: chapter 4, "When a step fails".
    """
    rates = np.linspace(0, largest, 61)
    points = [step_on_logits(weights, gamma, rate) for rate in rates]
    losses = np.array([float(point.loss) for point in points])
    gammas = np.array([float(point.gamma) for point in points])
    loss_panel, gamma_panel = Panel("loss after one step"), Panel("γ after one step")
    with loss_panel.drawing() as axes:
        axes.axhline(losses[0], color=QUIET, linewidth=1.2, linestyle=":")
        label(axes, "before", (0.0, losses[0]), xytext=(4, 11))
        axes.plot(rates, losses, **GRADIENT.line)
        _mark_rates(axes, marked)
        axes.set(xlabel="learning rate", xlim=(0, largest), ylim=(0, losses.max() * 1.05))
    with gamma_panel.drawing() as axes:
        axes.axhline(0, color=QUIET, linewidth=1)
        axes.plot(rates, gammas, **GAMMA.line)
        _mark_rates(axes, marked)
        axes.set(xlabel="learning rate", xlim=(0, largest))
    caption = " ".join(f"{name} at {rate:.3f}." for name, rate in marked.items())
    return Figure((loss_panel, gamma_panel), alt, caption)


def _mark_rates(axes: Axes, marked: Mapping[str, float]) -> None:
    for rate in marked.values():
        axes.axvline(rate, color=QUIET, linewidth=1, linestyle="--")
        axes.annotate(
            f"{rate:.3f}",
            (rate, 0.98),
            (4, 0),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            va="top",
        )


# --- the simplex ----------------------------------------------------------------------------------

#: Columns: where weight 1 on each layer lies on the page.
_CORNERS = np.array([[0.0, 1.0, 0.5], [0.0, 0.0, np.sqrt(0.75)]])


def _simplex(axes: Axes, margin: float) -> None:
    """Draw the triangle of weights, its corners named by the layer that has all of it."""
    right = 1.9 if margin < 0.2 else 1.3  # beside a small triangle the legend has room
    axes.set(aspect="equal", xlim=(-0.15, right), ylim=(-0.12, np.sqrt(0.75) + margin))
    axes.axis("off")
    closed = _CORNERS[:, [0, 1, 2, 0]]
    axes.fill(*closed, color=colours()["grid"], alpha=0.35, linewidth=0)
    axes.plot(*closed, color=QUIET, linewidth=1.2)
    for j, (x, y) in enumerate(((-4, -11), (4, -11), (0, 12))):
        look = LAYER_LOOKS[j]
        axes.plot(*_CORNERS[:, j], **look.points)
        label(axes, f"all {look.name}", tuple(_CORNERS[:, j]), xytext=(x, y), ha="center")


def simplex_paths(
    paths: Mapping[str, Array],
    looks: Sequence[Look] = RUN_LOOKS,
    *,
    alt: str,
    caption: str,
    margin: float = 0.12,
) -> Figure:
    """Up to four paths of weights, (points, 3) each, in the plane of weights that sum to one.

    A dot marks the start of each. Weights with another sum are drawn at their nearest point of
    that plane.

    Book: chapter 4, "Four ways to step", and chapter 4, "Many steps".
    """
    panel = Panel("weights", width=440, height=310 if margin < 0.2 else 430)
    with panel.drawing() as axes:
        _simplex(axes, margin)
        for (name, path), look in zip(paths.items(), looks, strict=False):
            on_plane = path + (1 - path.sum(axis=1, keepdims=True)) / path.shape[1]
            drawn = on_plane @ _CORNERS.T
            axes.plot(*drawn[0], **PLACE)
            axes.plot(*drawn.T, **look.line, marker=look.marker, markevery=[-1], label=name)
        axes.legend(
            frameon=False,
            loc="center right" if margin < 0.2 else "upper right",
            borderaxespad=0,
        )
    return Figure((panel,), alt, caption)


# --- many steps -----------------------------------------------------------------------------------


def many_steps(descent: Descent, names: Sequence[str], *, alt: str) -> Figure:
    """Loss, size of gamma, and weights of the runs of one descent, against the step.

    Book: chapter 4, "Many steps".
    """
    kept = descent.steps > 0  # the start has no place on a logarithmic axis
    steps = descent.steps[kept]
    gamma, weights = descent.gamma[kept], descent.weights[kept]
    powers = range(int(np.log10(steps[-1])) + 1)
    loss_panel, gamma_panel = Panel("mean loss", height=250), Panel("γ", height=250)
    with loss_panel.drawing() as axes:
        for run, look in enumerate(RUN_LOOKS[: len(names)]):
            axes.loglog(steps, descent.loss[kept, run], **look.line)
        axes.set_xlabel("step")
        powers_of_ten(axes.xaxis, powers)
        powers_of_ten(axes.yaxis, range(int(np.floor(np.log10(descent.loss.min()))), 1))
    with gamma_panel.drawing() as axes:
        axes.axhline(0, color=QUIET, linewidth=1)
        for run, look in enumerate(RUN_LOOKS[: len(names)]):
            axes.semilogx(steps, gamma[:, run], **look.line)
            at = 2 * len(steps) // 3
            up = 1 if gamma[at, run] > 0 else -1
            label(
                axes,
                names[run],
                (steps[at], gamma[at, run]),
                xytext=(-6, 15 * up),
                ha="right",
            )
        axes.set_xlabel("step")
        powers_of_ten(axes.xaxis, powers)
    weight_panels = []
    for run, name in enumerate(names):
        panel = Panel(f"weights, {name}", height=250)
        with panel.drawing() as axes:
            for j, look in enumerate(LAYER_LOOKS):
                axes.semilogx(steps, weights[:, run, j], **look.line)
            label_ends(axes, steps[-1], weights[-1, run], WEIGHT_NAMES, 0.09)
            axes.set(xlabel="step", ylim=(-0.03, 1.03), xlim=(None, steps[-1] * 3))
            powers_of_ten(axes.xaxis, powers)
        weight_panels.append(panel)
    caption = "Gradient descent on the same loss from each start. Steps are on a logarithmic axis."
    return Figure((loss_panel, gamma_panel, *weight_panels), alt, caption)


def penalty(strengths: Array, held: Array, free: Descent, strength: float, *, alt: str) -> Figure:
    """Weights against the penalty's strength with gamma held, and gamma growing when it is free.

    Book: chapter 4, "The penalty, and why a free gamma undoes it".
    """
    held_panel, free_panel = Panel("weights, γ held at 1"), Panel("γ, if it is free")
    with held_panel.drawing() as axes:
        for j, look in enumerate(LAYER_LOOKS):
            axes.semilogx(strengths, held[:, j], **look.line)
        axes.axhline(1 / 3, color=QUIET, linewidth=1, linestyle=":")
        label(axes, "equal", (strengths[0], 1 / 3), xytext=(2, 10))
        inside = len(strengths) // 2
        for j, (x, y) in enumerate(((-4, 11), (6, -11), (6, 9))):
            label(axes, WEIGHT_NAMES[j], (strengths[inside], held[inside, j]), xytext=(x, y))
        axes.set(xlabel="strength λ", ylim=(0, 1.05))
        powers_of_ten(axes.xaxis, range(-3, 1))
    with free_panel.drawing() as axes:
        axes.loglog(free.steps[1:], np.abs(free.gamma[1:, 0]), **GAMMA.line)
        axes.set(xlabel="step")
        powers_of_ten(axes.xaxis, range(int(np.log10(free.steps[-1])) + 1))
        powers_of_ten(axes.yaxis, range(int(np.log10(np.abs(free.gamma).max())) + 1))
    caption = (
        "γ held: a stronger penalty draws the weights towards equal and never quite there. γ free, "
        f"λ = {strength:g}: γ is still growing at the last step, while the weights draw together."
    )
    return Figure((held_panel, free_panel), alt, caption)


def head_turns(heads: Array, weights: Array, shown: Sequence[int], *, alt: str) -> Figure:
    """Two fixed mixtures, and the head's line of score 0 after three counts of steps.

    The arrow on a line is the head itself: it points to positive scores.

    Book: chapter 4, "The frozen head".
    """
    panel = Panel("score 0, and where it is positive", width=400, height=340)
    with panel.drawing() as axes:
        plane(axes, x=(-0.5, 2.3), y=(-0.4, 2.0))
        for order, step in enumerate(shown):
            towards = heads[step] / np.hypot(*heads[step])
            along = np.array([-towards[1], towards[0]])
            along = along if along.sum() > 0 else -along
            dash = ("--", "-.", "-")[order]
            axes.plot(*np.outer([-3, 3], along).T, color=INK, linewidth=1 + 0.5 * order, ls=dash)
            foot = (0.75, 1.95, 2.35)[order] * along
            tip = foot + 0.3 * towards
            axes.annotate(
                "",
                tuple(tip),
                tuple(foot),
                arrowprops={"arrowstyle": "->", "color": INK, "lw": 1.6},
            )
            label(
                axes, f"step {step}", tuple(tip), xytext=tuple(15 * towards + (12, 0)), ha="center"
            )
        for k, look in enumerate(OCCURRENCE_LOOKS):
            mixture = weights @ LAYERS[k, :, 0]
            mixture_mark(axes, mixture, look)
            label(axes, look.name, tuple(mixture), xytext=(12, 0))
    caption = (
        "Lines of score 0 while only the head is trained, the mixture held still. "
        "Arrows point to positive scores, where river belongs: the line turns until the arrow "
        "is on river's side."
    )
    return Figure((panel,), alt, caption)
