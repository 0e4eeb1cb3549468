"""The slides: `book/seminar/slides.md` as one page that reads, presents and prints.

Without a script the page is read from top to bottom, each slide with its speaker notes folded
below. `slides.js` adds the presentation, `slides.html?present`, and a speaker's view in a second
window. reveal.js was tried first: its speaker's view is a document written with a script inside,
which the Content-Security-Policy of these pages forbids.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from book_site.katex import Renderer
from book_site.seminar_data import heading_anchor, minute_marks, plan

from elmo_toy.figures import Figure

from . import shell
from .figures import FIGURES
from .source import Reader, SourceError, read_source

NOTES = ("Say", "Ask", "Expect", "If stuck")
LAYOUTS = ("top", "side", "words")
MOST = 18
SCALE = 1.85
"""A figure's enlargement at least: its smallest text, 13 px, is then 24 px at 1280 by 720."""
ROOM = {"top": (1196, 475), "side": (820, 670)}
"""Pixels that a layout has for a figure, wide and high, on a slide of 1280 by 720."""

HEADING = re.compile(
    r"^(?P<title>.+?) \{#(?P<name>[a-z-]+) \.(?P<layout>[a-z]+) block=(?P<block>[a-z-]+)"
    r"(?P<reserve> reserve)?\}$"
)
CONTROLS = """<div class="controls">
<button type="button" id="present">Present</button>
<button type="button" id="back">Previous</button>
<button type="button" id="on">Next</button>
<button type="button" id="speaker">Speaker’s view</button>
<button type="button" id="theme">Dark or light</button>
<button type="button" id="leave">Leave</button>
</div>
"""
SPEAKER = """<section class="timing" id="timing" aria-label="Time" hidden>
<p>Since the start: <span id="elapsed" role="timer"></span></p>
<button type="button" id="restart">Start again</button>
</section>
"""
INTRODUCTION = """<header class="about">
<h1>The seminar’s slides</h1>
<p>{count} slides, each with notes in four parts for whoever teaches: what to say, what to ask, what
to expect, and what helps if the room is stuck. The numbers are computed by the book’s own package.
Nothing here needs a network.</p>
<p><a class="begin" href="slides.html?present">Present them</a> in this window: arrow keys, space,
Page Up and Page Down, Home and End move, <kbd>S</kbd> opens the speaker’s view in a second window,
<kbd>F</kbd> fills the screen, <kbd>D</kbd> switches dark and light, <kbd>Esc</kbd> leaves. Printed,
this page has one slide to a sheet.</p>
</header>
"""


@dataclass(frozen=True)
class Slide:
    """One slide, still in Markdown."""

    name: str
    title: str
    layout: str
    block: str
    face: str
    notes: Mapping[str, str]
    reserve: bool = False


def blocks() -> dict[str, str]:
    """Return the titles of the blocks of the seminar's plan, under their names."""
    return {block["id"]: block["title"] for block in plan()["block"]}


def parse(source: str) -> list[Slide]:
    """Split the source into slides.

    Raises
    ------
    SourceError
        Where a slide has no name, an unknown layout, or lacks one of the four notes; and where
        there are more slides than a seminar has room for.
    """
    found = [_slide(part) for part in re.split(r"^## ", source, flags=re.MULTILINE)[1:]]
    if len(found) > MOST:
        raise SourceError(f"at most {MOST} slides are expected, given {len(found)}")
    names = [slide.name for slide in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SourceError(f"two slides are named {twice[0]!r}")
    return found


def _slide(part: str) -> Slide:
    first, _, rest = part.partition("\n")
    heading = HEADING.match(first.strip())
    if heading is None or heading["layout"] not in LAYOUTS:
        raise SourceError(
            f"a slide starts with '## Title {{#name .layout block=name}}', with a layout of "
            f"{', '.join(LAYOUTS)}; given '## {first}'"
        )
    if heading["block"] not in blocks():
        raise SourceError(
            f"slide {heading['name']!r} is in the block {heading['block']!r}; the plan has "
            f"{', '.join(blocks())}"
        )
    face, *parts = re.split(r"^### ", rest, flags=re.MULTILINE)
    notes = {}
    for note in parts:
        kind, _, text = note.partition("\n")
        notes[kind.strip()] = text.strip()
    if tuple(notes) != NOTES or not all(notes.values()):
        raise SourceError(
            f"slide {heading['name']!r} needs the notes {', '.join(NOTES)}, each with text; "
            f"given {', '.join(notes) or 'none'}"
        )
    return Slide(
        heading["name"],
        heading["title"],
        heading["layout"],
        heading["block"],
        face.strip(),
        notes,
        reserve=heading["reserve"] is not None,
    )


def timed(slide: Slide) -> str:
    """Return when the shortest plan shows a slide, or that it doesn't."""
    length = plan()["plans"][0]
    marks = {block["id"]: f"{start}–{end}" for block, start, end in minute_marks(length)}
    if slide.block not in marks:
        return f"not in the plan of {length} minutes: skip this slide there"
    reserve = "; this slide is in reserve" if slide.reserve else ""
    return f"minutes {marks[slide.block]} of {length}{reserve}"


def enlarged(figure: Figure, layout: str) -> str:
    """Return a figure's HTML without its caption, as large as the layout has room for."""
    width, height = ROOM[layout]
    wide = sum(panel.width for panel in figure.panels)
    high = max(panel.height for panel in figure.panels)
    scale = max(SCALE, min(width / wide, height / high))
    drawn = re.sub(r"<figcaption>.*?</figcaption>", "", figure.as_html(), flags=re.DOTALL)
    return re.sub(
        r'(<svg [^>]*width="(\d+)"[^>]*style=")',
        lambda match: f"{match[1]}width:calc(var(--u)*{int(match[2]) * scale / 16:.2f});",
        drawn,
    )


def draw(name: str, layout: str) -> str:
    """Return the HTML of the figure `name` for a slide of this layout."""
    if name not in FIGURES:
        raise SourceError(f"there is no figure {name!r}, only {', '.join(FIGURES)}")
    if layout not in ROOM:
        raise SourceError(f"a slide with a figure has the layout {' or '.join(ROOM)}")
    return enlarged(FIGURES[name](), layout)


def as_html(
    slide: Slide, number: int, count: int, values: Mapping[str, str], renderer: Renderer
) -> str:
    """Return a slide with its notes."""
    reader = Reader(
        values, renderer, lambda name: draw(name, slide.layout), tables=f"Table, slide {number},"
    )
    face = reader.html(slide.face)
    if slide.layout == "side":
        # a figure is a paragraph of its own in Markdown; here it is the right half
        drawn = re.search(r"<p>(<figure.*?</figure>)</p>", face, re.DOTALL)
        if drawn is None:
            raise SourceError(f"slide {slide.name!r} has the layout side and no figure")
        face = (
            f'<div class="words">{face.replace(drawn[0], "")}</div>'
            f'<div class="picture">{drawn[1]}</div>'
        )
    else:
        face = re.sub(r"<p>(<figure.*?</figure>)</p>", r"\1", face, flags=re.DOTALL)
    block = blocks()[slide.block]
    anchor = f"../book/seminar/notes.html#{heading_anchor(block)}"
    link = f'<a href="{anchor}">{block}</a>'
    notes = f"<dt>Block of the plan</dt><dd>{link}, {timed(slide)}</dd>" + "".join(
        f"<dt>{kind}</dt><dd>{reader.inline(text)}</dd>" for kind, text in slide.notes.items()
    )
    title = reader.inline(slide.title)
    return (
        f'<section class="slide {slide.layout}" id="{slide.name}" aria-labelledby="{slide.name}-t"'
        f' tabindex="-1">\n<div class="face"><h2 id="{slide.name}-t">{title}</h2>\n{face}\n'
        f'<p class="count"><span class="unseen">slide </span>{number}'
        f'<span class="unseen"> of {count}</span></p></div>\n'
        f'<details class="notes"><summary>Notes: {title}</summary><dl>{notes}</dl></details>\n'
        "</section>"
    )


def page(values: Mapping[str, str], renderer: Renderer) -> str:
    """Return the page of the slides."""
    found = parse(read_source("slides.md"))
    body = "\n".join(
        as_html(slide, n, len(found), values, renderer) for n, slide in enumerate(found, 1)
    )
    return shell.page(
        "slides",
        INTRODUCTION.format(count=len(found)) + body,
        title="Slides: one mixture, two vectors",
        description="The slides of a seminar on ELMo's scalar mixture, with speaker notes.",
        kind="slides",
        style="slides",
        scripts=("slides.js",),
        controls=CONTROLS,
        after=SPEAKER,
    )
