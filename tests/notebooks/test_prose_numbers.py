"""Every number in the book's prose is held to one value; each page passes by itself.

``python tools/prose_numbers.py --draft PAGE`` prints a table for a page to start from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tools import prose_numbers as tool

PAGES = tool.pages()
TABLES = {path.stem: path for path in sorted((tool.ROOT / tool.TABLES).glob("*.toml"))}


@pytest.fixture(scope="module")
def values() -> Mapping[str, Any]:
    """Compute what the names stand for."""
    return tool.load_values(tool.ROOT / tool.VALUES)


def test_there_are_pages() -> None:
    assert {"03_softmax_mixture", "04_gradient", "index"} <= set(PAGES)


def test_every_table_has_a_page() -> None:
    assert sorted(set(TABLES) - set(PAGES)) == []


@pytest.mark.parametrize("page", PAGES)
def test_numbers_of_a_page(page: str, values: Mapping[str, Any]) -> None:
    table = tool.load_table(TABLES[page]) if page in TABLES else {}
    cited = tool.load_cited(tool.ROOT / tool.CITED)
    found = tool.check_page(page, PAGES[page], table, values, cited)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("page", TABLES)
def test_no_result_is_declared_as_given(page: str) -> None:
    for key, entries in tool.load_table(TABLES[page]).items():
        for shown, name in entries:
            if name.partition(":")[0] in ("given", "formula"):
                decimals = shown.rstrip("%").partition("e")[0].partition(".")[2]
                assert len(decimals) <= 2, f"{page} [{key}]: {shown} is bound as {name!r}"
