"""What the browser may lay out later: a page's large blocks that are not near the screen yet.

A formula takes fifty elements and a page has thousands of them; a phone lays all of them out before
it shows the first line. `content-visibility: auto` lets it leave a block until the reader comes
near, but it has to know about how high the block will be: a height that is far off moves the scroll
bar, and the place where a reload ends. So each large block below a second heading gets two heights
here, for a phone and for a desk, estimated from its text, its lines of code and its figures;
elmo.css uses them. Small blocks hold a tenth of a page's elements and stay as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from sphinx.application import Sphinx

LARGE = 40  # elements

# The look of elmo.css in px; pairs are for a phone and for a desk.
CHARACTERS = (44, 80)  # on a line
LINE = 26.4
CODE_LINE = 16.2
AROUND_CODE = 32
SUMMARY = 45  # a folded block
FORMULA = 46  # on a line of its own, and what each further row adds
FORMULA_ROW = 30
PANEL_WIDTH = (364, 700)  # what a figure has
SIDE_BY_SIDE = (1, 2)

VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
#: Their text takes no room, or its room is counted otherwise.
UNSEEN = {"svg", "script", "style", "math", "button"}
PX = re.compile(r"[\d.]+(?:px)?")
NUMBER = re.compile(r"-?\d*\.?\d+")


@dataclass
class Block:
    """A child of a section: where its tag begins, and what its height is estimated from."""

    start: int
    tag: str
    stays: bool  # is laid out with the page
    elements: int = 0
    characters: int = 0
    items: int = 0  # entries, paragraphs and, for two, rows of tables: the space around them
    code: list[int] = field(default_factory=list)  # lines
    formula_rows: int = 0
    formulas: int = 0
    folded: int = 0
    panels: list[tuple[float, float]] = field(default_factory=list)  # width, height

    def height(self, desk: bool) -> int:
        """Estimate the height in px, on a phone or on a desk."""
        text = LINE * (self.characters / CHARACTERS[desk] + self.items * 0.75)
        code = sum(CODE_LINE * lines + AROUND_CODE for lines in self.code)
        formulas = FORMULA * self.formulas + FORMULA_ROW * self.formula_rows
        panels = sum(high * min(1, PANEL_WIDTH[desk] / wide) for wide, high in self.panels)
        panels /= min(SIDE_BY_SIDE[desk], max(1, len(self.panels)))
        return round(max(LINE, text + code + formulas + panels + SUMMARY * self.folded))


class Blocks(HTMLParser):
    """The blocks of a page that stand below a second heading, or one below it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[Block] = []
        self._block: Block | None = None
        self._depth = 0  # open tags around it
        self._open: list[tuple[str, bool]] = []  # tags, and whether their text is unseen
        self._line_starts = [0]
        for line in page.split("\n"):
            self._line_starts.append(self._line_starts[-1] + len(line) + 1)
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a block where a section's child begins, and count what its height comes from."""
        attributes = dict(attrs)
        around = [name for name, _ in self._open[-2:]]
        begins = around == ["section", "section"] and tag not in VOID | {"section"}
        if self._block is None and begins:
            line, column = self.getpos()
            self._depth = len(self._open)
            # a quiz takes more room; the margins of wide blocks fall together with others
            named = {"kit-quiz", "kit-wide"} & set((attributes.get("class") or "").split())
            stays = "style" in attributes or bool(named)
            self._block = Block(self._line_starts[line - 1] + column, tag, stays)
        if self._block is not None:
            self._count(self._block, tag, attributes)
        if tag not in VOID:
            folded = tag == "details" and "open" not in attributes
            unseen = bool(self._open) and self._open[-1][1]
            self._open.append((tag, unseen or folded or tag in UNSEEN))

    def handle_endtag(self, tag: str) -> None:
        """End an element, and the block if it is this one."""
        if tag in VOID or all(tag != name for name, _ in self._open):
            return  # what ends nothing
        while self._open.pop()[0] != tag:
            pass  # a tag that may be left open, as a table's cell
        if self._block is not None and len(self._open) <= self._depth:
            self.found.append(self._block)
            self._block = None

    def handle_data(self, data: str) -> None:
        """Count what a reader sees."""
        if self._block is None or self._open[-1][1]:
            return
        if any(tag == "pre" for tag, _ in self._open):
            self._block.code[-1] += data.count("\n")
        else:
            self._block.characters += len(data.strip())

    def _count(self, block: Block, tag: str, attributes: dict[str, str | None]) -> None:
        block.elements += 1
        block.stays |= tag.startswith("elmo-")  # a script makes something else of it
        if self._open[-1][1] and tag != "mtr":
            return
        if tag == "pre":
            block.code.append(0)
        elif tag == "details" and "open" not in attributes:
            block.folded += 1
        elif tag == "math" and attributes.get("display") == "block":
            block.formulas += 1
        elif tag == "svg" and PX.fullmatch(attributes.get("width") or ""):  # a bracket's is in em
            box = NUMBER.findall(attributes.get("viewbox") or "")
            if len(box) == 4 and float(box[2]) > 100:  # no icon
                block.panels.append((float(box[2]), float(box[3])))
        block.formula_rows += tag == "mtr"
        if tag != "p" or self._open[-1][0] not in {"td", "th"}:
            block.items += {"tr": 2, "dd": 1, "p": 1}.get(tag, 0)


def marked(page: str) -> str:
    """Return a page with its large blocks marked, and their heights."""
    for block in reversed(Blocks(page).found):
        if block.elements >= LARGE and not block.stays:
            at = block.start + 1 + len(block.tag)
            heights = f"--phone:{block.height(desk=False)}px;--desk:{block.height(desk=True)}px"
            page = f'{page[:at]} data-later style="{heights}"{page[at:]}'
    return page


def mark_blocks(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Mark the large blocks of a page that is about to be written."""
    if app.builder.name != "epub" and "body" in context:
        context["body"] = marked(context["body"])


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("html-page-context", mark_blocks, priority=952)  # after what reads the body
