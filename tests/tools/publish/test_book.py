"""A site read as a book: its order, and what becomes of what only a screen needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import Tag
from publish import book
from publish.files import PublishError
from written_site import CHAPTER, FRONT, write_site


def address(key: str, fragment: str) -> str:
    return f"{key}.xhtml#{fragment}" if fragment else f"{key}.xhtml"


@pytest.fixture
def chapter(tmp_path: Path) -> Tag:
    """Return the chapter, made still."""
    made = book.read_book(write_site(tmp_path))
    return book.still(made, made.pages[CHAPTER], address)


def test_pages_come_in_the_order_of_the_contents(tmp_path: Path) -> None:
    made = book.read_book(write_site(tmp_path))
    assert [(part.caption, [page.title for page in part.pages]) for part in made.parts] == [
        ("", ["The book"]),
        ("The mixture & more", ["1 · One mixture"]),
    ]
    assert list(made.pages) == [FRONT, CHAPTER]
    assert [page.key for page in made.pages.values()] == ["book-index", "notebooks-01_mixture"]
    assert made.language == "en"
    assert made.title == "The ELMo companion"


def test_what_is_folded_is_shown(chapter: Tag) -> None:
    assert chapter.select("details, summary") == []
    assert "figures.line()" in chapter.get_text()
    assert "Show the code" not in chapter.get_text()
    answer = chapter.select_one("div.unfolded#answer")
    assert answer is not None
    assert book.words(answer) == "One answer It falls."


def test_an_explorer_is_its_table(chapter: Tag) -> None:
    box = chapter.select_one("div.explorer#elmo-mixture")
    assert box is not None
    assert [tag.name for tag in box.find_all(True)][:3] == ["table", "caption", "thead"]
    caption = "The mixture in two states. The web edition computes any state."
    assert book.words(box.select("caption")[0]) == caption
    assert [head.get("scope") for head in box.select("th")] == ["col", "col", "row"]
    assert chapter.select("elmo-mixture, elmo-python, [tabindex], [role=group]") == []


def test_links_lead_within_the_book(chapter: Tag) -> None:
    assert [link["href"] for link in chapter.select("a")] == [
        "notebooks-01_mixture.xhtml#rise",
        "book-index.xhtml#end",
        "book-index.xhtml",
        "https://example.org/x",
    ]
    assert "demo.py" in chapter.get_text(), "the name of a download stays"


def test_the_heading_has_the_chapters_number(chapter: Tag) -> None:
    assert book.words(chapter.select("h1")[0]) == "1 · One mixture"


def test_a_card_links_by_its_title(tmp_path: Path) -> None:
    made = book.read_book(write_site(tmp_path))
    front = book.still(made, made.pages[FRONT], address)
    (link,) = front.select("a")
    assert (book.words(link), link["href"]) == ("Chapter 1", "notebooks-01_mixture.xhtml")
    assert link.find_parent(class_="sd-card-title")


def test_anchors_of_all_pages_can_stand_in_one_document(tmp_path: Path) -> None:
    """Also those within a drawing, with what refers to them."""
    made = book.read_book(write_site(tmp_path))
    articles = [
        book.still(made, page, lambda key, fragment: f"#{key}.{fragment}")
        for page in made.pages.values()
    ]
    names = [tag["id"] for article in articles for tag in article.select("[id]")]
    assert len(names) == len(set(names))
    (path,) = articles[1].select("path[clip-path]")
    assert path["clip-path"] == "url(#notebooks-01_mixture.cut)"
    assert "notebooks-01_mixture.cut" in names


@pytest.mark.parametrize("name", ["input", "canvas", "iframe"])
def test_what_needs_a_screen_is_refused(tmp_path: Path, name: str) -> None:
    made = book.read_book(write_site(tmp_path, chapter=f"<{name}></{name}>"))
    with pytest.raises(PublishError, match=f"{CHAPTER}: a <{name}> needs a screen"):
        book.still(made, made.pages[CHAPTER], address)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="holds no built book"):
        book.read_book(tmp_path)
    write_site(tmp_path)
    (tmp_path / CHAPTER).unlink()
    with pytest.raises(PublishError, match=f"the contents name {CHAPTER}, which"):
        book.read_book(tmp_path)


def test_an_explorer_without_a_table_is_refused(tmp_path: Path) -> None:
    site = write_site(tmp_path, chapter='<elmo-x id="x" class="elmo-explorer"></elmo-x>')
    made = book.read_book(site)
    with pytest.raises(PublishError, match="the explorer elmo-x holds no table"):
        book.still(made, made.pages[CHAPTER], address)


def test_code_colours_are_the_light_ones(tmp_path: Path) -> None:
    site = write_site(tmp_path)
    assert book.light_code_colours(site) == ".highlight .k { color: #6730C5 } /* Keyword */"
    (site / "_static" / "pygments.css").write_text(".highlight .k { color: red }")
    with pytest.raises(PublishError, match="light theme in an unknown way"):
        book.light_code_colours(site)
