"""A table says the same as text and as HTML, and no cell goes missing."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy.tables import Table

CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=6)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4))
def test_html_holds_every_cell_with_its_row_and_column_named(rows: list) -> None:
    html = Table("a < b", ("", "one", "two & more"), tuple(rows)).as_html()
    table = ElementTree.fromstring(html)  # noqa: S314 - written just above
    assert table.findtext("caption") == "a < b"
    # The first column's header is empty: no header then, which a screen reader would read out.
    assert [cell.text or "" for cell in table.findall("thead/tr/td")] == [""]
    assert [cell.text or "" for cell in table.findall("thead/tr/th")] == ["one", "two & more"]
    assert {cell.get("scope") for cell in table.findall("thead/tr/th")} == {"col"}
    found = [[cell.text or "" for cell in row] for row in table.findall("tbody/tr")]
    assert found == [list(row) for row in rows]
    for row in table.findall("tbody/tr"):
        assert [(cell.tag, cell.get("scope")) for cell in row] == [("th", "row")] + [
            ("td", None)
        ] * 2


def test_text_aligns_names_left_and_numbers_right() -> None:
    table = Table("caption", ("", "a", "wide column"), (("first", "10.5", "1"), ("x", "9", "")))
    assert str(table).splitlines() == [
        "caption",
        "          a  wide column",
        "first  10.5            1",
        "x         9",
    ]


def test_a_notebook_gets_both() -> None:
    table = Table("caption", ("", "a"), (("x", "1"),))
    bundle = table._repr_mimebundle_(include=None)
    assert bundle == {"text/plain": str(table), "text/html": table.as_html()}


def test_refused() -> None:
    with pytest.raises(ValueError, match=r"2 cells, one a column, given 3: \('x', '1', '2'\)"):
        Table("caption", ("", "a"), (("x", "1", "2"),))
    with pytest.raises(ValueError, match="given '' and 1 rows"):
        Table("", ("", "a"), (("x", "1"),))
    with pytest.raises(ValueError, match="given 'caption' and 0 rows"):
        Table("caption", ("", "a"), ())
