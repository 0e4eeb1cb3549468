"""The whole book as one document, and its PDF."""

import html
import io
import re
import shutil
from datetime import datetime
from pathlib import Path

from bs4 import Tag
from playwright.sync_api import Browser
from playwright.sync_api import Error as PlaywrightError
from print_pdf import READY, PrintError, print_page, printing_browser
from pypdf import PdfReader, PdfWriter
from pypdf.generic import BooleanObject, DictionaryObject, NameObject

from .book import NOTE, Book, Page, light_code_colours, read_book, still, words
from .files import PublishError

HERE = Path(__file__).parent
NUMBER = '<span class="number">{}</span>'


def address(key: str, fragment: str) -> str:
    """Return where an anchor of a page is found in the one document."""
    return f"#{key}.{fragment}" if fragment else f"#{key}"


def lower_headings(article: Tag) -> None:
    """Make each heading one level lower: the highest is that of the parts."""
    for level in range(5, 0, -1):
        for heading in article.find_all(f"h{level}"):
            heading.name = f"h{level + 1}"


def leave_figures_to_drawings(article: Tag) -> None:
    """Let a drawing, which has a description, be the figure, and not the box around it as well."""
    for figure in article.find_all("figure"):
        figure.name, figure["class"] = "div", "figure"
    for caption in article.find_all("figcaption"):
        caption.name, caption["class"] = "p", "figcaption"


def name_formulas(article: Tag) -> None:
    """Give each formula its TeX source as the description in the PDF, which holds no MathML."""
    for formula in article.select(".katex"):
        source, hidden = formula.find("annotation"), formula.select_one(".katex-mathml")
        if source is None or hidden is None:
            raise PublishError(f"a formula has no TeX source: {words(formula)[:60]!r}")
        formula["role"], formula["aria-label"] = "img", words(source)
        hidden.decompose()
        for tag in formula.select("[aria-hidden]"):
            del tag[
                "aria-hidden"
            ]  # what is hidden is no part of the PDF's structure, described or not


def css_string(text: str) -> str:
    """Return `text` as a string of a style sheet."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def running_head(page: Page) -> str:
    """Return the rule that puts the page's title above its sheets."""
    title = css_string(page.title)
    font = 'font: 9pt "Liberation Sans", Arial, sans-serif; color: #444'
    return (
        f"@page {page.key} {{ @top-right {{ content: {title}; {font} }} }}\n"
        f"#{page.key} {{ page: {page.key} }}\n"
    )


def contents(book: Book) -> str:
    """Return the list of the pages; the numbers of their sheets come later."""
    lines = ['<nav class="contents" id="contents"><h1 class="page-title">Contents</h1>']
    for part in book.parts:
        lines.append(f"<p>{html.escape(part.caption)}</p>" if part.caption else "")
        lines.append("<ul>")
        lines += [
            f'<li><a href="#{page.key}">{html.escape(page.title)}<span class="dots"></span>'
            f"{NUMBER.format('')}</a></li>"
            for page in part.pages
        ]
        lines.append("</ul>")
    return "\n".join([*lines, "</nav>"])


def document(book: Book, colours: str) -> str:
    """Return the whole book as one HTML document."""
    title, author = html.escape(book.title), html.escape(book.author)
    body = [
        f'<section class="front"><p class="book-title">{title}</p><p>{author}</p>'
        f'<p>{book.edition}</p><p class="note">{NOTE}</p></section>',
        contents(book),
    ]
    for part in book.parts:
        for number, page in enumerate(part.pages):
            article = still(book, page, address)
            leave_figures_to_drawings(article)
            name_formulas(article)
            article.select("h1")[0]["class"] = "page-title"
            if part.caption:
                lower_headings(article)
            caption = html.escape(part.caption)
            head = f'<h1 class="part">{caption}</h1>' if caption and number == 0 else ""
            body.append(
                f'<section class="page" id="{page.key}">{head}{article.decode_contents()}</section>'
            )
    heads = "".join(running_head(page) for page in book.pages.values())
    return (
        f'<!DOCTYPE html>\n<html lang="{book.language}"><head><meta charset="utf-8">'
        f'<title>{title}</title><meta name="author" content="{author}">'
        '<link rel="stylesheet" href="katex/katex.min.css">'
        f"<style>{colours}\n{(HERE / 'book.css').read_text('utf-8')}\n"
        f"{(HERE / 'pdf.css').read_text('utf-8')}\n{heads}</style></head>"
        f"<body>{''.join(body)}</body></html>"
    )


def fitted(browser: Browser, file: Path) -> str:
    """Return the document in `file` with everything as wide as the sheet at most.

    Raises
    ------
    PublishError
        Where something is wider still, and would be cut off.
    """
    context = browser.new_context(color_scheme="light")
    try:
        page = context.new_page()
        page.set_default_timeout(120_000)  # as print_page has it
        page.emulate_media(media="print")
        page.goto(file.resolve().as_uri(), wait_until="load")
        page.evaluate(READY)
        wide: list[str] = page.evaluate((HERE / "fit.js").read_text("utf-8"))
        if wide:
            raise PublishError("wider than the sheet, in the PDF:\n" + "\n".join(wide))
        return page.content()
    finally:
        context.close()


def sheets(pdf: Path, book: Book) -> list[int]:
    """Return the number of the sheet on which each page of the book starts."""
    reader = PdfReader(pdf)
    places = reader.named_destinations
    numbers = []
    for page in book.pages.values():
        place = places.get(page.key) or places.get(f"/{page.key}")
        number = reader.get_destination_page_number(place) if place else None
        if number is None:
            raise PublishError(f"{page.name} is not to be found in the PDF")
        numbers.append(number + 1)
    return numbers


def number_contents(text: str, numbers: list[int]) -> str:
    """Put the numbers of the sheets into the list of contents."""
    left = iter(numbers)
    return re.sub(
        r'(<span class="number">)\d*(</span>)', lambda m: f"{m[1]}{next(left)}{m[2]}", text
    )


def describe(pdf: Path, book: Book) -> bytes:
    """Return the printed PDF with the title, the author and the date of the book.

    A viewer then shows the title, not the file's name, as PDF/UA asks.
    """
    writer = PdfWriter(pdf, incremental=True)  # what was printed stays as it is
    when = pdf_date(book.date)
    writer.add_metadata(
        {
            "/Title": book.title,
            "/Author": book.author,
            "/Subject": book.edition,
            "/Creator": "tools/build_pdf.py, with Chromium",
            "/CreationDate": when,
            "/ModDate": when,
        }
    )
    shown = DictionaryObject({NameObject("/DisplayDocTitle"): BooleanObject(True)})
    writer.root_object[NameObject("/ViewerPreferences")] = shown
    content = io.BytesIO()
    writer.write(content)
    return content.getvalue()


def pdf_date(date: datetime) -> str:
    """Return a date as PDF writes it."""
    return f"D:{date:%Y%m%d%H%M%S}+00'00'"


def make_pdf(site: Path, target: Path) -> None:
    """Print the built `site` to `target`, in a folder of its own where drafts may lie.

    Printed twice: only a printed sheet says which number the contents must name.
    """
    book = read_book(site)
    file, draft = target.with_name("book.html"), target.with_name("draft.pdf")
    shutil.copytree(site / "_static" / "katex", target.with_name("katex"))
    file.write_text(document(book, light_code_colours(site)), "utf-8")
    try:
        with printing_browser() as browser:
            text = fitted(browser, file)
            numbers = [0] * len(book.pages)
            for _ in range(3):
                file.write_text(number_contents(text, numbers), "utf-8")
                print_page(file, draft, browser=browser)
                printed, numbers = numbers, sheets(draft, book)
                if printed == numbers:
                    break
            else:
                raise PublishError("the contents of the PDF do not come to rest")
    except PrintError as error:
        raise PublishError(str(error)) from error
    except PlaywrightError as error:  # with pages of what the browser was told
        raise PublishError(f"the browser failed: {error.message.splitlines()[0]}") from error
    target.write_bytes(describe(draft, book))
