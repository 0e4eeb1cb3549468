"""From a source in `book/seminar/` to HTML: named numbers, blanks, formulas, figures.

The sources are Markdown, with four additions:

* `{{name}}` is a number of `values.values`, and `[[name]]` one that the blank worksheet leaves out;
* `$...$` and `$$...$$` are formulas, set here by KaTeX;
* `![](figure:name)` is a figure of `figures.FIGURES`.
"""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from book_site.katex import FormulaError, Renderer
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "book" / "seminar"

PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}|\[\[(\w+)\]\]")
#: What may hold a digit without being a number: an index, an address, and what is called by one.
NAMES = re.compile(r"_\{?(?:k,)?\d\}?|\]\([^)]*\)|^\d\. |\b(?:chapter|Table|Chapter) \d\b|\bA4\b")

TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
#: An inline formula, between two characters that no text has, and the sign that ends its clause.
IN_LINE = re.compile('<span class="math inline">\ue000(.*?)\ue001</span>([.,;:?)]*)', re.DOTALL)
FIRST_CELL = re.compile(r"<tr>\n<td[^>]*>((?!<span class=.math)\S.*?)</td>", re.DOTALL)


class SourceError(ValueError):
    """A source is not as it has to be; the message says where and what was expected."""


def bare_numerals(text: str) -> list[str]:
    """Return each line of a source that types a number instead of naming it.

    >>> bare_numerals("The loss is {{loss}} at $h_0$.")
    []
    >>> bare_numerals("The loss is 0.42.")
    ['The loss is 0.42.']
    """
    return [
        line
        for line in text.splitlines()
        if re.search(r"\d", NAMES.sub("", PLACEHOLDER.sub("", line)))
    ]


def kept_together(rendered: str) -> str:
    r"""Return HTML in which no line starts with the sign that follows a formula.

    >>> kept_together('of <span class="math inline">\ue000m\ue001</span>. And')
    'of <span class="unbroken"><span class="math">m</span>.</span> And'
    >>> kept_together('of <span class="math inline">\ue000m\ue001</span> and')
    'of <span class="math">m</span> and'
    """

    def formula(match: re.Match[str]) -> str:
        drawn = f'<span class="math">{match[1]}</span>'
        return f'<span class="unbroken">{drawn}{match[2]}</span>' if match[2] else drawn

    return IN_LINE.sub(formula, rendered)


class Reader:
    """Turns Markdown into HTML with the numbers of `values`.

    Parameters
    ----------
    values
        The numbers, as text under their names.
    renderer
        A KaTeX.
    figures
        What makes a figure's HTML of its name.
    filled
        Whether what `[[name]]` stands for is shown, as in the key.
    tables
        What a screen reader calls the tables, before their number.
    """

    def __init__(
        self,
        values: Mapping[str, str],
        renderer: Renderer,
        figures: Callable[[str], str] | None = None,
        *,
        filled: bool = True,
        tables: str = "Table",
    ) -> None:
        self._values, self._katex, self._figures = values, renderer, figures
        self._filled, self._called = filled, tables
        # html: the sources are this repository's own
        self._markdown = MarkdownIt("commonmark", {"html": True, "typographer": True})
        self._markdown.enable(["table", "smartquotes"])
        self._markdown.use(dollarmath_plugin, renderer=self._formula, allow_labels=False)

        def image(_renderer: object, tokens: Sequence[Token], place: int, *_: object) -> str:
            return self._image(str(tokens[place].attrs["src"]))

        self._markdown.add_render_rule("image", image)
        self._tables = 0

    def html(self, text: str) -> str:
        """Return the HTML of Markdown.

        Raises
        ------
        SourceError
            For a name that no number or figure has, and for a formula that KaTeX refuses.
        """
        rendered = kept_together(self._markdown.render(PLACEHOLDER.sub(self._number, text)))
        # a formula alone is no header: to a screen reader it is, to some checks it has no text
        rendered = FIRST_CELL.sub(r'<tr>\n<th scope="row">\1</th>', rendered)
        return TABLE.sub(self._wide, rendered)

    def inline(self, text: str) -> str:
        """Return the HTML of one line, without a paragraph around it."""
        return kept_together(self._markdown.renderInline(PLACEHOLDER.sub(self._number, text)))

    def _number(self, match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name not in self._values:
            raise SourceError(f"there is no number {name!r}; the names are in values.py")
        value = self._values[name]
        if match[1]:
            return value
        if self._filled:
            return f'<span class="blank">{html.escape(value)}</span>'
        return '<span class="blank" role="img" aria-label="to fill in"></span>'

    def _wide(self, match: re.Match[str]) -> str:
        """Let a table that is wider than a phone be scrolled, by keyboard too."""
        self._tables += 1
        name = f"{self._called} {self._tables}"
        return f'<div class="wide" role="region" aria-label="{name}" tabindex="0">{match[0]}</div>'

    def _formula(self, formula: str, options: Mapping[str, Any]) -> str:
        display = bool(options["display_mode"])
        try:
            drawn = self._katex.render(formula.replace("−", "-"), display=display)
        except FormulaError as error:
            raise SourceError(f"{error} in the formula {formula!r}") from error
        return f'<div class="math">{drawn}</div>' if display else f"\ue000{drawn}\ue001"

    def _image(self, address: str) -> str:
        kind, _, name = address.partition(":")
        if kind != "figure" or self._figures is None:
            raise SourceError(f"![](figure:name) is expected in a slide, given {address!r}")
        return self._figures(name)


def read_source(name: str) -> str:
    """Return a source without its leading comment, if no number is typed in it.

    Raises
    ------
    SourceError
        Where one is.
    """
    text = (SOURCES / name).read_text("utf-8")
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    if typed := bare_numerals(text):
        raise SourceError(f"{name}: a number is typed in {typed[0]!r}; give it a name in values.py")
    return text
