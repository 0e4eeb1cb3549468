"""The book's PDF, printed once, read again with pypdf; and small ones that must fail."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import print_pdf
import pytest
from bs4 import BeautifulSoup, Tag
from publish import pdf
from publish.book import Book, read_book, words
from publish.files import PublishError
from pypdf import PdfReader
from written_site import write_site


@pytest.fixture(scope="module")
def book(site_folder: Path) -> Book:
    """Read the book as it is built."""
    return read_book(site_folder)


@pytest.fixture(scope="module")
def folder(site_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Print the whole book, once, into a folder; the slow part of these tests."""
    made = tmp_path_factory.mktemp("pdf")
    pdf.make_pdf(site_folder, made / "book.pdf")
    return made


@pytest.fixture(scope="module")
def printed(folder: Path) -> PdfReader:
    """Read the PDF."""
    return PdfReader(folder / "book.pdf")


@pytest.fixture(scope="module")
def document(folder: Path) -> BeautifulSoup:
    """Read what was printed."""
    return BeautifulSoup((folder / "book.html").read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def tags(printed: PdfReader) -> list[dict[str, Any]]:
    """Return the elements of the structure that screen readers follow, in their order."""

    def below(element: Any) -> Iterator[dict[str, Any]]:
        found = element.get_object()
        if isinstance(found, list):
            for one in found:
                yield from below(one)
        elif isinstance(found, dict):
            if "/S" in found:
                yield found
            if "/K" in found:
                yield from below(found["/K"])

    return list(below(printed.root_object["/StructTreeRoot"]))


def everything(book: Book, selector: str) -> list[Tag]:
    return [tag for page in book.pages.values() for tag in page.article.select(selector)]


def outline(printed: PdfReader) -> list[tuple[int, str, int]]:
    """Return depth, title and sheet of each entry."""

    def below(entries: list[Any], depth: int) -> Iterator[tuple[int, str, int]]:
        for entry in entries:
            if isinstance(entry, list):
                yield from below(entry, depth + 1)
            else:
                sheet = printed.get_destination_page_number(entry)
                assert sheet is not None
                yield depth, " ".join(str(entry.title).split()), sheet + 1

    return list(below(printed.outline, 0))


def test_it_says_what_it_is(printed: PdfReader, book: Book) -> None:
    """Title, author and language, on A4, with the title in the window's bar."""
    assert printed.metadata is not None
    assert (printed.metadata.title, printed.metadata.author) == (book.title, book.author)
    assert printed.metadata.creation_date == book.date
    root = printed.root_object
    assert root["/Lang"] == book.language
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert root["/MarkInfo"]["/Marked"]
    for sheet in printed.pages:
        assert [round(float(side) / 72 * 25.4) for side in sheet.mediabox[2:]] == [210, 297]


def test_the_outline_has_every_page_under_its_part(printed: PdfReader, book: Book) -> None:
    """And the contents name the sheets on which the pages start."""
    entries = outline(printed)
    wanted = [(0, "Contents")]
    for part in book.parts:
        wanted += [(0, part.caption)] if part.caption else []
        wanted += [(int(bool(part.caption)), page.title) for page in part.pages]
    found = [(depth, title) for depth, title, _ in entries]
    assert [entry for entry in found if entry in wanted] == wanted
    sections = everything(book, "h2")
    assert len(entries) >= len(wanted) + len(sections) > 50

    sheets = {title: sheet for depth, title, sheet in entries if (depth, title) in wanted}
    first = min(sheet for title, sheet in sheets.items() if title != "Contents")
    contents = printed.pages[sheets["Contents"] - 1 : first - 1]
    listed = "\n".join(sheet.extract_text() for sheet in contents)
    for page in book.pages.values():
        assert re.search(rf"{re.escape(page.title)}\s*{sheets[page.title]}\b", listed), page.title
    last = printed.pages[-1].extract_text()
    assert str(len(printed.pages)) in last.split(), "a sheet bears its number"


def test_links_lead_within_the_pdf(printed: PdfReader, document: BeautifulSoup, book: Book) -> None:
    """Each place that a link of the document asks for exists and is led to."""
    asked = {str(link["href"]).removeprefix("#") for link in document.select("a[href^='#']")}
    links = [
        annotation.get_object()
        for sheet in printed.pages
        for annotation in sheet.get("/Annots", [])
    ]
    led = {str(link["/Dest"]).removeprefix("/") for link in links if "/Dest" in link}
    assert led == asked
    assert len(led) > 50
    assert led <= {name.removeprefix("/") for name in printed.named_destinations}
    addresses = [link["/A"]["/URI"] for link in links if "/A" in link]
    shown = {
        str(link["href"])
        for link in everything(book, "a[href^=http]")
        if link.find_parent(hidden=True) is None
    }
    assert len(set(addresses)) == len(shown), set(addresses) ^ shown


def test_every_figure_and_formula_is_described(tags: list[dict[str, Any]], book: Book) -> None:
    """The PDF has the descriptions of the site's figures, and each formula's TeX source."""
    described = Counter(" ".join(tag.get("/Alt", "").split()) for tag in tags_of(tags, "Figure"))
    figures = [str(svg["aria-label"]) for svg in everything(book, "svg[aria-label]")]
    formulas = [words(source) for source in everything(book, ".katex annotation")]
    assert len(figures) > 20
    assert len(formulas) > 100
    assert described == Counter(" ".join(text.split()) for text in figures + formulas)


def tags_of(tags: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    return [tag for tag in tags if tag["/S"].removeprefix("/") in kinds]


def test_nothing_of_a_page_is_missing(tags: list[dict[str, Any]], book: Book) -> None:
    """Tables, those of the explorers too, with their rows, and headings are all tagged."""
    assert len(tags_of(tags, "Table")) == len(everything(book, "table")) > 10
    # the browser tags no row in which nothing stands, as that of the log's table to be filled in
    rows = [row for row in everything(book, "tr") if row.get_text(strip=True)]
    assert len(tags_of(tags, "TR")) == len(rows)
    parts = sum(bool(part.caption) for part in book.parts)
    headings = len(everything(book, "h1, h2, h3, h4")) + parts + 1
    assert len(tags_of(tags, "H1", "H2", "H3", "H4", "H5")) == headings


def test_every_font_is_in_the_file(printed: PdfReader) -> None:
    """Each is embedded; one of drawn glyphs is so by its nature."""
    seen = set()
    for sheet in printed.pages:
        for font in sheet["/Resources"].get("/Font", {}).values():
            font = font.get_object()
            if font["/Subtype"] == "/Type3":
                continue
            inner = font["/DescendantFonts"][0].get_object() if "/DescendantFonts" in font else font
            assert {"/FontFile", "/FontFile2", "/FontFile3"} & set(inner["/FontDescriptor"]), font
            seen.add(str(font["/BaseFont"]).partition("+")[2])
    assert any("KaTeX" in name for name in seen), seen
    assert len(seen) > 5


def test_code_and_answers_are_shown(document: BeautifulSoup, book: Book) -> None:
    """Nothing asks to be unfolded, and the code behind each figure is there."""
    page = document
    assert page.select("details, summary, script, button, [tabindex]") == []
    assert len(page.select(".cell_input pre")) == len(everything(book, ".cell_input pre")) > 50
    assert len(page.select(".unfolded")) == len(everything(book, "details:not(.hide)"))
    assert len(page.select(".explorer caption")) == len(everything(book, ".elmo-explorer"))


def test_a_long_line_goes_on_and_wide_things_shrink(tmp_path: Path) -> None:
    """Nothing of them is cut off; the document says so before it is printed."""
    line = "x" * 150 + " END"
    cells = "".join(f"<td>{number:06}</td>" for number in range(14))
    chapter = f"<pre>{line}</pre><table><tbody><tr>{cells}</tr></tbody></table>"
    site = write_site(tmp_path / "site", chapter=chapter)
    target = tmp_path / "book.pdf"
    pdf.make_pdf(site, target)
    text = PdfReader(target).pages[-1].extract_text()
    assert "END" in text
    assert "000013" in text


def test_what_is_wider_than_a_sheet_is_refused(tmp_path: Path) -> None:
    site = write_site(tmp_path / "site", chapter='<p style="width: 900px">wide words</p>')
    with pytest.raises(PublishError, match=r"notebooks-01_mixture: <p> by \d+ px: wide words"):
        pdf.make_pdf(site, tmp_path / "book.pdf")


def test_without_a_browser_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(print_pdf, "find_browser", lambda: None)
    with pytest.raises(PublishError, match="apt-get install chromium"):
        pdf.make_pdf(write_site(tmp_path / "site"), tmp_path / "book.pdf")


def test_a_browser_that_is_none_is_told_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELMO_BROWSER", str(tmp_path / "nothing"))
    with pytest.raises(PublishError, match=r"^the browser failed: .*nothing.*$"):
        pdf.make_pdf(write_site(tmp_path / "site"), tmp_path / "book.pdf")


def test_a_title_is_a_string_of_a_style_sheet() -> None:
    assert pdf.css_string('the "law" \\ of') == '"the \\"law\\" \\\\ of"'
