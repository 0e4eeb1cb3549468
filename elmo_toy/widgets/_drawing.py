"""Small drawings for the live views, in the book's colours; the page draws its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.worked_example import LAYERS, OCCURRENCES

_PLANE = (400, 316)
#: Where zero lies, and how many pixels a unit has.
_ORIGIN, _UNIT = np.array([130.0, 216.0]), 68.0
_DASHES = ("", "7 4")


@cache
def _colour(name: str) -> str:
    css = resources.files("elmo_toy").joinpath("design_tokens.css").read_text(encoding="utf-8")
    found = re.search(rf"--elmo-{name}: (#[0-9a-f]{{6}})", css)
    if found is None:
        raise KeyError(f"design_tokens.css has no colour {name!r}")
    return found[1]


def _line(points: Array | Sequence[Array], colour: str, width: float = 2, dash: str = "") -> str:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<polyline points="{places}" fill="none" stroke="{colour}" '
        f'stroke-width="{width:.1f}" stroke-dasharray="{dash}"/>'
    )


def _text(at: Array | Sequence[float], words: str) -> str:
    return f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" fill="currentColor">{words}</text>'


def _svg(size: tuple[int, int], shapes: Sequence[str], words: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{words}" '
        f'width="{size[0]}" height="{size[1]}" font-size="13">{"".join(shapes)}</svg>'
    )


def plane(mixtures: Array, weights: Array, guess: Sequence[float] | None, *, shown: bool) -> str:
    """Both triangles, the mixtures, the guess, and the head's line of score 0, as SVG.

    `mixtures` (2, 2) and `weights` (3,); loan's mixture is left out until it is shown.
    Without a guess, which is of another mixture by then, neither it nor what it missed is drawn.
    """
    seen = np.vstack([mixtures[: 1 + shown], *([] if guess is None else [guess])])
    zoom = max(1.0, float((seen / [3.8, 3.0]).max()), float((-seen / [1.75, 1.3]).max()))

    def at(points: Array | Sequence[float]) -> Array:
        placed: Array = _ORIGIN + np.asarray(points) * np.array([1, -1]) * _UNIT / zoom
        return placed

    shapes = [_line(at(np.array([[-9, -9], [18, 18]])), "currentColor", 1)]
    shapes.append(_text((6, 18), "score below 0: loan"))
    shapes.append(_text((268, 306), "score above 0: river"))
    for k, name in enumerate(OCCURRENCES):
        corners, colour = at(LAYERS[k, :, 0]), _colour(name)
        shapes.append(_line(corners[[0, 1, 2, 0]], colour, dash=_DASHES[k]))
        shapes += [_text(corners[j] + [8, -8], f"{name} h{'₀₁₂'[j]}") for j in (1, 2)]
        if k == 0 or shown:
            star = at(mixtures[k])
            inside = at(weights @ LAYERS[k, :, 0])
            shapes += [_line([inside, corners[j]], colour, 6 * weights[j]) for j in range(3)]
            shapes.append(f'<circle cx="{star[0]:.1f}" cy="{star[1]:.1f}" r="8" fill="{colour}"/>')
    if guess is not None:
        x, y = at(guess)
        diamond = np.array([[x, y - 9], [x + 7, y], [x, y + 9], [x - 7, y], [x, y - 9]])
        shapes.append(_line(diamond, _colour("loan")))
        if shown:
            shapes.append(_line([at(guess), at(mixtures[1])], _colour("wrong"), dash="2 4"))
    words = "Two triangles of layer vectors, the mixtures and the guess in one plane."
    return _svg(_PLANE, shapes, words)


def histories(series: Sequence[Array]) -> str:
    """Loss against steps, a line for each rule, as SVG."""
    highest = max(float(np.max(losses)) for losses in series)
    last = max(10, len(series[0]) - 1)
    looks = (("gradient", ""), ("wrong", ""), ("wrong", "2 4"))
    shapes = [_line([np.array([40.0, y]), np.array([390.0, y])], "currentColor", 1) for y in (150,)]
    for losses, (colour, dash) in zip(series, looks, strict=False):
        x = 40 + 350 * np.arange(len(losses)) / last
        y = 150 - 130 * np.asarray(losses) / highest
        shapes.append(_line(np.stack([x, y], axis=1), _colour(colour), dash=dash))
    shapes += [_text((4, 26), f"{highest:.2f}"), _text((4, 154), "0"), _text((360, 168), f"{last}")]
    return _svg((400, 176), shapes, "Mean loss of each rule against the steps taken.")
