"""The book as an EPUB 3 package: a page is a file, without scripts and without fonts of its own.

Mathematics is MathML, which EPUB readers set themselves; drawings are SVG within the text, with
their descriptions and with colours in full, since few readers know variables of style sheets.
"""

import html
import re
import unicodedata
import uuid
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from bs4 import Tag

from .book import NOTE, Book, Page, light_code_colours, read_book, still, words
from .files import ROOT, PublishError, write_zip

HERE = Path(__file__).parent
STYLES = ("book.css", "epub.css")
TYPE = "application/epub+zip"
# What the HTML parser writes in small letters and XML wants as SVG spells it.
SVG_NAMES = {
    name.lower(): name
    for name in (
        *("viewBox", "preserveAspectRatio", "clipPath", "clipPathUnits", "linearGradient"),
        *("radialGradient", "gradientUnits", "gradientTransform", "markerWidth", "markerHeight"),
        *("markerUnits", "refX", "refY", "textLength", "lengthAdjust", "textPath", "startOffset"),
        *("patternUnits", "patternTransform", "foreignObject", "pathLength"),
    )
}
ACCESSIBILITY = """\
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessMode">visual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
<meta property="schema:accessibilityFeature">alternativeText</meta>
<meta property="schema:accessibilityFeature">MathML</meta>
<meta property="schema:accessibilityFeature">structuralNavigation</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityFeature">readingOrder</meta>
<meta property="schema:accessibilityHazard">none</meta>
<meta property="schema:accessibilitySummary">Every figure has a description, every formula is
MathML with its TeX source beside it, tables have headers, and nothing depends on colour.</meta>"""
CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="EPUB/package.opf"
media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""


def address(key: str, fragment: str) -> str:
    """Return where an anchor of a page is found in the package."""
    return f"{key}.xhtml#{fragment}" if fragment else f"{key}.xhtml"


def xhtml(title: str, language: str, body: str) -> str:
    """Return a document of the package."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" '
        f'lang="{language}" xml:lang="{language}">\n<head><title>{html.escape(title)}</title>'
        f'<link rel="stylesheet" type="text/css" href="book.css"/></head>\n'
        f"<body>{body}</body></html>\n"
    )


def light_tokens() -> dict[str, str]:
    """Return the book's colours in the light theme."""
    css = (ROOT / "elmo_toy" / "design_tokens.css").read_text("utf-8")
    root = css[css.index(":root {") : css.index("}")]
    return dict(re.findall(r"(--elmo-[\w-]+): (#[0-9a-f]{6})", root))


def resolve_colours(style: str, tokens: dict[str, str]) -> str:
    """Return a style whose colours are written out."""
    return re.sub(r"var\((--elmo-[\w-]+)(?:, *[^)]+)?\)", lambda match: tokens[match[1]], style)


def set_mathematics(article: Tag) -> None:
    """Leave of each formula its MathML, with its TeX source as the text for other readers."""
    for formula in article.select(".katex"):
        maths, source = formula.find("math"), formula.find("annotation")
        if maths is None or source is None:
            raise PublishError(f"a formula has no MathML: {formula.get_text()[:60]!r}")
        for letter in maths.find_all("mi", attrs={"mathvariant": "script"}):
            # a letter of its own, which readers show that know no variants, as browsers do
            letter.string = unicodedata.lookup(f"SCRIPT CAPITAL {letter.get_text()}")
            del letter["mathvariant"]
        maths["alttext"] = words(source)
        formula.replace_with(maths.extract())
    for display in article.select(".katex-display"):
        display.unwrap()


def draw_plainly(article: Tag, tokens: dict[str, str]) -> None:
    """Spell SVG as XML wants it, and write its colours out."""
    for tag in article.select("svg, svg *"):
        tag.name = SVG_NAMES.get(tag.name, tag.name)
        for name in [name for name in tag.attrs if name in SVG_NAMES]:
            tag[SVG_NAMES[name]] = tag.attrs.pop(name)
    for tag in article.select("[style*='var(']"):
        tag["style"] = resolve_colours(str(tag["style"]), tokens)


def chapter(book: Book, page: Page, caption: str, tokens: dict[str, str]) -> str:
    """Return a page of the book as a document of the package."""
    article = still(book, page, address)
    set_mathematics(article)
    draw_plainly(article, tokens)
    part = f'<p class="part">{html.escape(caption)}</p>' if caption else ""
    text = xhtml(page.title, book.language, part + article.decode_contents(formatter="minimal"))
    try:
        ET.fromstring(text)  # noqa: S314 - our own document
    except ET.ParseError as error:
        raise PublishError(f"{page.name} is no XML: {error}") from error
    return text


def navigation(book: Book) -> str:
    """Return the contents, which a reader's menu shows too."""
    items = ['<li><a href="title.xhtml">Title page</a></li>']
    for part in book.parts:
        pages = [
            f'<li><a href="{page.key}.xhtml">{html.escape(page.title)}</a></li>'
            for page in part.pages
        ]
        if part.caption:
            caption = html.escape(part.caption)
            items.append(f"<li><span>{caption}</span><ol>{''.join(pages)}</ol></li>")
        else:
            items += pages
    body = f'<nav epub:type="toc" role="doc-toc"><h1>Contents</h1><ol>{"".join(items)}</ol></nav>'
    return xhtml("Contents", book.language, body)


def title_page(book: Book) -> str:
    """Return the first document."""
    body = (
        f'<section epub:type="titlepage"><h1>{html.escape(book.title)}</h1>'
        f"<p>{html.escape(book.author)}</p><p>{book.edition}</p><p>{NOTE}</p></section>"
    )
    return xhtml(book.title, book.language, body)


def properties(text: str) -> Iterator[str]:
    """Yield what the package has to say about a document."""
    if "<math" in text:
        yield "mathml"
    if "<svg" in text:
        yield "svg"
    if 'epub:type="toc"' in text:
        yield "nav"


def package(book: Book, documents: dict[str, str]) -> str:
    """Return the package file: who and what the book is, its files, and their order."""
    identifier = uuid.uuid5(uuid.NAMESPACE_URL, f"{book.address}#{book.version}")
    manifest, spine = [], []
    for name, text in documents.items():
        key = name.removesuffix(".xhtml")
        said = " ".join(properties(text))
        said = f' properties="{said}"' if said else ""
        manifest.append(
            f'<item id="{key}" href="{name}" media-type="application/xhtml+xml"{said}/>'
        )
        spine.append(f'<itemref idref="{key}"/>')
    manifest.append('<item id="style" href="book.css" media-type="text/css"/>')
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"
xml:lang="{book.language}" prefix="schema: http://schema.org/">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{identifier}</dc:identifier>
<dc:title>{html.escape(book.title)}</dc:title>
<dc:creator>{html.escape(book.author)}</dc:creator>
<dc:language>{book.language}</dc:language>
<meta property="dcterms:modified">{book.date:%Y-%m-%dT%H:%M:%SZ}</meta>
{ACCESSIBILITY}
</metadata>
<manifest>
{chr(10).join(manifest)}
</manifest>
<spine>
{chr(10).join(spine)}
</spine>
</package>
"""


def make_epub(site: Path, target: Path) -> None:
    """Write the built `site` as an EPUB to `target`."""
    book = read_book(site)
    tokens = light_tokens()
    documents = {"title.xhtml": title_page(book), "nav.xhtml": navigation(book)}
    for part in book.parts:
        for number, page in enumerate(part.pages):
            caption = part.caption if number == 0 else ""
            documents[f"{page.key}.xhtml"] = chapter(book, page, caption, tokens)
    style = [light_code_colours(site), *((HERE / n).read_text("utf-8") for n in STYLES)]
    files = {
        "mimetype": TYPE,
        "META-INF/container.xml": CONTAINER,
        "EPUB/package.opf": package(book, documents),
        "EPUB/book.css": "\n".join(style),
        **{f"EPUB/{name}": text for name, text in documents.items()},
    }
    encoded = {name: text.encode() for name, text in files.items()}
    write_zip(target, encoded, book.date, first="mimetype")
