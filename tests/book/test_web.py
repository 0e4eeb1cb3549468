"""What the site tells search engines and those who link to it is there, true and valid."""

from __future__ import annotations

import doctest
import json
import re
import struct
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from xml.etree import ElementTree

import pytest
import yaml
from book_site import card, web
from bs4 import Tag
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document
from site_checks import Page, Site, resolve
from sphinx.errors import ExtensionError

REPOSITORY = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((REPOSITORY / "_config.yml").read_text("utf-8"))
BASE = web.public_address(CONFIG["repository"]["url"])
NO_TEXT = {"search.html", "genindex.html", "404.html"}


def content(page: Page, name: str) -> str | None:
    """Return what a meta tag of the page says, which must be there once at most."""
    found = page.soup.select(f'meta[name="{name}"], meta[property="{name}"]')
    assert len(found) <= 1, f"{page.name}: {name} is there {len(found)} times"
    return str(found[0]["content"]) if found else None


def data_of(page: Page) -> dict[str, Any]:
    """Return the structured data of a page; one that is no JSON raises."""
    (script,) = page.soup.select('script[type="application/ld+json"]')
    data: dict[str, Any] = json.loads(script.get_text())
    return data


def undescribed_pages(site: Site, base: str) -> list[str]:
    """Each page has a description of its own and, unless it only lists others, its addresses."""
    problems = []
    own = [page for page in site.pages if not page.leads_on]
    descriptions = Counter(content(page, "description") for page in own)
    for page in own:
        description = content(page, "description") or ""
        found = []
        if not 50 <= len(description) <= 160:
            found.append(f"its description has {len(description)} characters: {description!r}")
        if descriptions[description] > 1:
            found.append("another page has its description")
        if page.name in NO_TEXT:
            found += [] if content(page, "robots") == "noindex" else ["a search engine lists it"]
        else:
            links = [str(link["href"]) for link in page.soup.select("link[rel=canonical]")]
            if links != [base + page.name]:
                found.append(f"its canonical link is {links}")
            if content(page, "og:url") != base + page.name:
                found.append(f"its card leads to {content(page, 'og:url')}")
            if content(page, "og:description") != description:
                found.append("its card has another description")
            image = content(page, "og:image") or ""
            if not image.startswith(base) or image.removeprefix(base) not in site.files:
                found.append(f"its card has no picture: {image!r}")
        problems += [f"{page.name}: {problem}" for problem in found]
    return problems


def test_every_page_is_described(site: Site) -> None:
    problems = undescribed_pages(site, BASE)
    assert not problems, "\n".join(problems)


TEXT = "A page that says in fifty characters and more what it has."
GOOD = f"""<meta name="description" content="{TEXT}">
<link rel="canonical" href="https://a.org/b/page.html">
<meta property="og:url" content="https://a.org/b/page.html">
<meta property="og:description" content="{TEXT}">
<meta property="og:image" content="https://a.org/b/card.png">"""
FAULTS = [
    ("that says in fifty", "", "characters"),
    ('https://a.org/b/page.html">\n<meta', 'page.html">\n<meta', "canonical link is ['page.html']"),
    ('"og:url" content="https://a.org/b/', '"og:url" content="/', "card leads to /page.html"),
    ("card.png", "missing.png", "no picture"),
    ("https://a.org/b/card.png", "card.png", "no picture"),
    ('"og:description" content="A', '"og:description" content="B', "another description"),
]


@pytest.mark.parametrize(("old", "new", "thing"), FAULTS, ids=range(len(FAULTS)))
def test_a_badly_described_page_is_reported(old: str, new: str, thing: str, tmp_path: Path) -> None:
    (tmp_path / "card.png").touch()
    (tmp_path / "page.html").write_text(GOOD, "utf-8")
    assert undescribed_pages(Site(tmp_path), "https://a.org/b/") == []
    assert old in GOOD
    (tmp_path / "page.html").write_text(GOOD.replace(old, new), "utf-8")
    problems = undescribed_pages(Site(tmp_path), "https://a.org/b/")
    assert any(thing in problem for problem in problems), problems


def test_two_pages_with_one_description_are_reported(tmp_path: Path) -> None:
    for name in ("search.html", "genindex.html"):
        (tmp_path / name).write_text(f'{GOOD}<meta name="robots" content="noindex">', "utf-8")
    problems = undescribed_pages(Site(tmp_path), "https://a.org/b/")
    assert problems == [
        "genindex.html: another page has its description",
        "search.html: another page has its description",
    ]


def test_the_sitemap_has_each_page_once(site: Site) -> None:
    root = ElementTree.parse(site.root / "sitemap.xml").getroot()  # noqa: S314 - our own file
    names = {"sitemap": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    listed = [tag.text for tag in root.iterfind("sitemap:url/sitemap:loc", names)]
    pages = {page.name for page in site.pages if not page.leads_on} - NO_TEXT
    known = {f"{name}.html" for name in re.findall(
        r"\b(?:root|file): *(\S+)", (REPOSITORY / "_toc.yml").read_text("utf-8"))}  # fmt: skip
    assert known <= pages
    assert Counter(listed) == Counter(BASE + name for name in pages if name in known)
    assert f"Sitemap: {BASE}sitemap.xml" in (site.root / "robots.txt").read_text("utf-8")


def test_structured_data_names_the_book_and_its_chapters(site: Site) -> None:
    book = data_of(site.by_name["book/index.html"])
    assert book["@type"] == ["Book", "LearningResource"]
    assert book["name"] == CONFIG["title"]
    assert book["url"] == f"{BASE}book/index.html"
    assert book["author"]["name"] == CONFIG["author"]
    assert book["about"]["sameAs"] == "https://doi.org/10.18653/v1/N18-1202"
    assert "CC BY 4.0" in (REPOSITORY / "README.md").read_text("utf-8")
    assert book["license"] == "https://creativecommons.org/licenses/by/4.0/"
    chapters = [page for page in site.pages if page.name.startswith("notebooks/")]
    assert len(chapters) >= 8
    for page in chapters:
        chapter = data_of(page)
        assert chapter["@context"] == "https://schema.org"
        assert chapter["@type"] == ["Chapter", "LearningResource"]
        assert chapter["isPartOf"]["@id"] == book["@id"] == BASE
        assert chapter["url"] == BASE + page.name
        assert chapter["description"] == content(page, "description")
        assert chapter["inLanguage"] == CONFIG["sphinx"]["config"]["language"]


def test_the_card_has_the_size_that_its_tags_say(site: Site) -> None:
    picture = (site.root / web.CARD).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == card.SIZE
    page = site.by_name["book/index.html"]
    assert (content(page, "og:image:width"), content(page, "og:image:height")) == ("1200", "630")
    assert len(picture) < 100_000


def test_the_page_for_addresses_that_lead_nowhere_works_at_any_depth(site: Site) -> None:
    page = site.by_name["404.html"]
    assert not page.soup.select("script, link[rel=stylesheet], img, [src]")
    links = [str(link["href"]) for link in page.soup.select("main a")]
    assert len(links) > 8
    for link in links:
        name = link.removeprefix(BASE) or "index.html"
        assert link.startswith(BASE)
        assert name in site.by_name, link
        # from whatever address it is shown at, the link leads to the same page
        assert urljoin(f"{BASE}no/such/page.html", link) == BASE + link.removeprefix(BASE)


def test_the_root_describes_itself_as_the_page_that_it_leads_to(site: Site) -> None:
    root, first = site.by_name["index.html"], site.by_name["book/index.html"]
    assert root.leads_on
    for name in ("description", "og:url", "og:title", "og:image", "og:image:alt", "twitter:card"):
        assert content(root, name) == content(first, name) is not None, name
    (link,) = root.soup.select("link[rel=canonical]")
    assert link["href"] == f"{BASE}book/index.html"


def test_the_favicon_is_on_every_page(site: Site) -> None:
    for page in site.pages:
        (icon,) = page.soup.select("link[rel=icon]")
        assert isinstance(icon, Tag)
        href = str(icon["href"])
        assert href.startswith("data:") or resolve(page.name, href) == "_static/favicon.svg"


def test_the_address_follows_from_the_repository() -> None:
    assert doctest.testmod(web).failed == 0
    assert CONFIG["repository"]["url"].startswith("https://github.com/OWNER/")  # until it is known
    for address in ("https://example.org/a/b", "https://github.com/only-one", "a/b"):
        with pytest.raises(ExtensionError, match=r"like https://github.com/OWNER/REPOSITORY"):
            web.public_address(address)


def described(source: str) -> str:
    """Return the description of a small page in reStructuredText."""
    document = new_document("page", get_default_settings(Parser))
    Parser().parse(source, document)
    assert isinstance(document, nodes.document)
    return web.described("Page", "A book", document)


def test_a_description_is_the_question_or_the_first_text_of_its_length() -> None:
    question = "What is it that a description of a page should tell the reader of a list?"
    filler = "Some paragraph that is long enough to be the description of a whole page."
    assert described(f"{filler}\n\n**The question.** {question}\n\nMore.") == question
    assert described(f"Short.\n\n{filler}\n") == filler
    assert described("Short.") == (
        "Page: a page of A book, an executable book on deep contextualized words."
    )
    formula = r"A long first sentence with :math:`\\gamma` that no list of results would draw well."
    assert described(f"{formula}\n\n{filler}") == filler
    assert described("word " * 60).endswith("word…")
