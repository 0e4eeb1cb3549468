"""The picture that a link to the book shows elsewhere: one card, drawn while the book is built."""

import textwrap
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from elmo_toy import worked_example
from elmo_toy.figures._style import INK, OCCURRENCE_LOOKS, QUIET

NAME = "card.png"
SIZE = (1200, 630)  # what the sites that show such cards ask for
DPI = 100
ALT = (
    "The book's title beside its worked example: the layers of two occurrences of bank, drawn as "
    "two triangles, and the two vectors that one mixture makes of them."
)


def draw(title: str, subtitle: str, path: Path) -> None:
    """Draw the card of a book into `path`, the same bytes each time.

    The picture is the worked example: each occurrence's layers span a triangle, and the same three
    weights pick a point of each.
    """
    with rc_context({"font.family": "DejaVu Sans"}):  # comes with matplotlib
        figure = Figure(figsize=(SIZE[0] / DPI, SIZE[1] / DPI), dpi=DPI, facecolor="white")
        lines = textwrap.wrap(title, 14)
        figure.text(0.06, 0.86, "\n".join(lines), size=44, weight="bold", color=INK, va="top")
        figure.text(0.06, 0.34, textwrap.fill(subtitle, 32), size=22, color=QUIET, va="top",
                    linespacing=1.4)  # fmt: skip
        axes = figure.add_axes((0.5, 0.1, 0.46, 0.8))
        axes.set_axis_off()
        axes.set_aspect("equal")
        mixtures = worked_example.state().forward.mixtures
        for look, layers, mixture in zip(
            OCCURRENCE_LOOKS, worked_example.LAYERS[:, :, 0], mixtures, strict=True
        ):
            face = Polygon(layers, facecolor=look.colour, alpha=0.1, edgecolor="none")
            axes.add_patch(face)
            axes.plot(*np.vstack([layers, layers[:1]]).T, lw=2.5, **look.line)
            axes.plot(*layers.T, ms=11, **look.points)
            axes.annotate(
                "", mixture, (0, 0),
                arrowprops={"arrowstyle": "-|>,head_length=0.9,head_width=0.45", "lw": 6,
                            "color": look.colour, "shrinkA": 0, "shrinkB": 0},
            )  # fmt: skip
            x, y = mixture
            axes.text(x, y + 0.12, look.name, size=22, color=look.colour, ha="left", va="bottom")
        axes.plot(0, 0, "o", ms=9, color=INK)
        axes.margins(0.08)
        figure.savefig(path, metadata={"Software": None})
