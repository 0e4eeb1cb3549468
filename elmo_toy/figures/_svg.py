"""Matplotlib panels as inline SVG that follows the page: its theme, its font, its width.

An image has a fixed background and shrinks with its text on a phone. So a figure of this book is a
row of small SVG panels inside one ``<figure>``: they stand side by side where there is room and
below each other where there isn't, always at their own size, and their colours are the page's.
"""

from __future__ import annotations

import html
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure

PANEL_WIDTH = 320  # two fit beside each other in the book's column, one on a 360 px phone
PANEL_HEIGHT = 290
FONT_SIZE = 14.0

_SVG = "http://www.w3.org/2000/svg"
_UNTOLD = 'aria-hidden="true"'


@cache
def colours() -> MappingProxyType[str, str]:
    """Colour names and their light values, from ``design_tokens.css``.

    >>> colours()["river"]
    '#0072b2'
    """
    css = resources.files("elmo_toy").joinpath("design_tokens.css").read_text(encoding="utf-8")
    light = css[css.index(":root {") : css.index("}", css.index(":root {"))]
    return MappingProxyType(dict(re.findall(r"--elmo-([a-z0-9-]+): (#[0-9a-f]{6})", light)))


def _style() -> dict[Any, Any]:
    ink, quiet = colours()["ink"], colours()["quiet"]
    return {
        "svg.fonttype": "none",  # text stays text: searchable, in the page's font
        "svg.hashsalt": "elmo",
        "axes.facecolor": "none",
        "font.size": FONT_SIZE,
        "axes.titlesize": FONT_SIZE,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": FONT_SIZE,
        "xtick.labelsize": FONT_SIZE - 1,
        "ytick.labelsize": FONT_SIZE - 1,
        "text.color": ink,
        "axes.labelcolor": ink,
        "axes.titlecolor": ink,
        "axes.edgecolor": quiet,
        "xtick.color": quiet,
        "ytick.color": quiet,
        "xtick.labelcolor": ink,
        "ytick.labelcolor": ink,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 1,
        "grid.color": colours()["grid"],
        "grid.linewidth": 1,
        "lines.linewidth": 2.2,
        "lines.markersize": 8,
        "lines.solid_capstyle": "round",
        "axes.formatter.useoffset": False,
        "figure.constrained_layout.use": True,
        "path.simplify_threshold": 0.3,
    }


class Panel:
    """One axes on its own canvas, `width` by `height` CSS pixels."""

    def __init__(
        self, title: str = "", width: int = PANEL_WIDTH, height: int = PANEL_HEIGHT
    ) -> None:
        self.width, self.height = width, height
        self.svg = ""
        with mpl.rc_context(_style()):
            # 72 dots an inch make matplotlib's points the page's pixels.
            self._figure = MatplotlibFigure(figsize=(width / 72, height / 72), dpi=72)
            self._axes = self._figure.add_subplot()
            self._axes.set_title(title)

    @contextmanager
    def drawing(self) -> Iterator[Axes]:
        """Draw on the axes with the book's style; the panel is finished when the block ends."""
        with mpl.rc_context(_style()):
            yield self._axes
            buffer = io.StringIO()
            self._figure.savefig(buffer, format="svg", metadata={"Date": None})
        self.svg = buffer.getvalue()


@dataclass(frozen=True)
class Figure:
    """Panels with a required description, shown as HTML in the book and as text elsewhere.

    Parameters
    ----------
    panels
        In reading order.
    alt
        What the figure shows, for somebody who can't see it: at least five words.
    caption
        Printed below, the figure's one point.

    Raises
    ------
    ValueError
        Without panels, or with an alt text too short to describe anything.
    """

    panels: tuple[Panel, ...]
    alt: str
    caption: str

    def __post_init__(self) -> None:
        if len(self.alt.split()) < 5:
            raise ValueError(f"alt must describe the figure in 5 words or more, given {self.alt!r}")
        if not self.panels or not self.caption:
            raise ValueError(
                f"panels and caption must not be empty, given {len(self.panels)} panels and "
                f"caption {self.caption!r}"
            )

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": f"Figure: {self.alt}", "text/html": self.as_html()}

    def as_html(self) -> str:
        """One ``<figure>``; the first panel carries the description of all of them."""
        prefix = f"elmo-{zlib.crc32((self.alt + self.caption).encode()):x}"
        parts = []
        for number, panel in enumerate(self.panels):
            told = f'role="img" aria-label="{html.escape(self.alt)}"' if number == 0 else ""
            parts.append(
                f'<svg xmlns="{_SVG}" {told or _UNTOLD}'
                f' width="{panel.width}" height="{panel.height}"'
                f' viewBox="0 0 {panel.width} {panel.height}"'
                ' style="max-width:100%;height:auto;font-family:inherit">'
                f"{_tidy(panel.svg, f'{prefix}-{number}')}</svg>"
            )
        row = '<div style="display:flex;flex-wrap:wrap;gap:0.5rem 1rem">'
        return (
            f'<figure class="elmo-figure" style="margin:1rem 0">{row}{"".join(parts)}</div>'
            f"<figcaption>{html.escape(self.caption)}</figcaption></figure>"
        )


def _tidy(svg: str, prefix: str) -> str:
    """Matplotlib's SVG less what a page doesn't need, with the page's colours, font and ids.

    Ids are shared by a whole page, so they get the figure's own prefix.
    """
    root = ElementTree.fromstring(svg)  # noqa: S314 - matplotlib has just written it
    names: dict[str, str] = {}
    for element in root.iter():
        if element.tag != f"{{{_SVG}}}g" and "id" in element.attrib:
            names[element.attrib["id"]] = f"{prefix}-{len(names)}"
    return "".join(_tidy_element(child, names) for child in root)


def _tidy_element(element: ElementTree.Element, names: dict[str, str]) -> str:
    tag = element.tag.removeprefix(f"{{{_SVG}}}")
    if tag in ("metadata", "style") or element.get("id") == "patch_1":  # patch_1: the background
        return ""
    attributes = {name.split("}")[-1]: value for name, value in element.attrib.items()}
    if tag == "g":
        attributes.pop("id", None)
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    inner = "".join(_tidy_element(child, names) for child in element)
    if tag == "g" and not attributes:
        return inner
    text = html.escape(element.text.strip()) if element.text else ""
    told = "".join(f' {name}="{_tidy_value(name, attributes[name], names)}"' for name in attributes)
    return f"<{tag}{told}>{text}{inner}</{tag}>" if text or inner else f"<{tag}{told}/>"


def _tidy_value(name: str, value: str, names: dict[str, str]) -> str:
    if name == "id":
        return names[value]
    if name == "href":
        return "#" + names[value[1:]]
    if name == "clip-path":
        return f"url(#{names[value[5:-1]]})"
    value = re.sub(r"-?\d+\.\d+(e-\d+)?", _one_decimal, value)
    if name == "style":
        value = re.sub(r"font-family: [^;]*;? ?", "", value)  # the page's font
        value = re.sub(r"font: (?:[a-z]+ )*?(\d+ |bold )?([\d.]+px) [^;]*", _font, value)
        for colour_name, colour in colours().items():
            page = (
                "currentColor" if colour_name == "ink" else f"var(--elmo-{colour_name}, {colour})"
            )
            value = value.replace(colour, page)
        value = value.replace("; ", ";").replace(": ", ":")
    return html.escape(" ".join(value.split()))


def _font(match: re.Match[str]) -> str:
    weight = f"font-weight: {match[1].strip()}; " if match[1] else ""
    return f"{weight}font-size: {match[2]}"


def _one_decimal(match: re.Match[str]) -> str:
    """Tenths of a pixel are enough, and halve the file."""
    text = f"{float(match.group()):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
