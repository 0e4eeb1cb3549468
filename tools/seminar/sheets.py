"""The worksheet, its key, and the handout: A4, from `book/seminar/worksheet.md` and `handout.md`.

Blank and key are one source: what stands in `[[name]]` is an empty box in one and the number in
the other, of the same size, so that nothing else moves.
"""

from collections.abc import Mapping

from book_site.katex import Renderer

from . import shell
from .formulas import FORMULAS
from .source import Reader, SourceError, read_source

#: How many sheets of paper each has; a line `---` in the source starts the next.
SHEETS = {"worksheet.md": 2, "handout.md": 1}


def _body(source: str, reader: Reader) -> str:
    parts = read_source(source).split("\n---\n")
    if len(parts) != SHEETS[source]:
        raise SourceError(f"{source}: {SHEETS[source]} sheets are expected, given {len(parts)}")
    return "\n".join(
        f'<section class="sheet {source[:-3]}">\n{reader.html(part)}</section>' for part in parts
    )


def worksheet(values: Mapping[str, str], renderer: Renderer, *, filled: bool) -> str:
    """Return the page of the worksheet, or with `filled` that of its key."""
    reader = Reader({**values, **FORMULAS}, renderer, filled=filled)
    return shell.page(
        "worksheet-key" if filled else "worksheet",
        _body("worksheet.md", reader),
        title="Key to the worksheet" if filled else "Worksheet",
        description=(
            "The worksheet filled in: every state, weight, loss and step, as the package computes."
            if filled
            else "Two sheets to fill in by hand: one mixture, two vectors, one step of learning."
        ),
        kind="worksheet",
        style="sheet",
    )


def handout(values: Mapping[str, str], renderer: Renderer) -> str:
    """Return the page of the handout."""
    return shell.page(
        "handout",
        _body("handout.md", Reader({**values, **FORMULAS}, renderer)),
        title="Handout: formulas and notation",
        description="One sheet: the formulas of the scalar mixture, its gradient, the notation.",
        kind="handout",
        style="sheet",
    )
