"""A table of results that a page shows as a table, and a terminal as aligned text.

Book: chapter 6, "Table 1 at its scope".
"""

from __future__ import annotations

import html
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Rows of text under named columns; the first cell of a row names it.

    Parameters
    ----------
    caption
        What the cells are: a table that is quoted alone still says it.
    columns
        One name for each cell of a row.
    rows
        Rows of cells. An empty cell is shown as it is.

    Raises
    ------
    ValueError
        Without caption or rows, or for a row that has not one cell a column.

    Book: chapter 6, "Table 1 at its scope".

    >>> print(Table("Squares", ("number", "square"), (("2", "4"), ("12", "144"))))
    Squares
    number  square
    2            4
    12         144
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.caption or not self.rows:
            raise ValueError(
                f"caption and rows must not be empty, given {self.caption!r} and "
                f"{len(self.rows)} rows"
            )
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"each of the rows must have {len(self.columns)} cells, one a column, "
                    f"given {len(row)}: {row}"
                )

    def __str__(self) -> str:
        """Align the first column at its left, the others, which hold numbers, at their right."""
        lines = [self.columns, *self.rows]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        shown = [self.caption]
        for first, *rest in lines:
            cells = [first.ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
            shown.append("  ".join(cells).rstrip())
        return "\n".join(shown)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self.as_html()}

    def as_html(self) -> str:
        """One ``<table>`` whose cells know their row's and their column's name."""

        def cell(tag: str, text: str, side: str, more: str = "") -> str:
            style = f"text-align:{side};padding-inline:0.45rem"
            return f'<{tag}{more} style="{style}">{html.escape(text)}</{tag}>'

        def line(scope: str, tag: str, cells: tuple[str, ...]) -> str:
            first, *rest = cells
            # A header that names nothing is no header: a screen reader would read it out.
            named = (
                cell("th", first, "left", f' scope="{scope}"')
                if first or scope == "row"
                else "<td></td>"
            )
            more = ' scope="col"' if tag == "th" else ""
            return f"<tr>{named}{''.join(cell(tag, text, 'right', more) for text in rest)}</tr>"

        body = "".join(line("row", "td", row) for row in self.rows)
        return (
            f'<table><caption style="caption-side:top">{html.escape(self.caption)}</caption>'
            f"<thead>{line('col', 'th', self.columns)}</thead><tbody>{body}</tbody></table>"
        )
