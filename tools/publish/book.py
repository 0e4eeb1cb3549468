"""The built site, read as one book: its pages in order, without what only a screen needs.

On paper and in a reader nothing unfolds and nothing computes. So folded code and folded answers
are shown, an explorer is the table of some of its states, and a link leads within the book.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag

from .files import ROOT, PublishError, date_of

SCREEN_ONLY = (
    "a.headerlink, details.hide > summary, script, .toctree-wrapper, elmo-python, "
    # a quiz is a list of options with its reasons unfolded; links for a hub are made on a screen
    ".kit-quiz input, .kit-quiz button, .kit-said, .kit-asked, .elmo-links form, [hidden]"
)
NEEDS_A_SCREEN = "input, select, textarea, form, button, canvas, iframe, video, audio"

Address = Callable[[str, str], str]
"""Where a fragment (possibly empty) of the page with this key is found."""


@dataclass(frozen=True)
class Page:
    """One page: its file in the site, its title in the contents, and the author's part of it."""

    name: str
    title: str
    article: Tag

    @property
    def key(self) -> str:
        """A name that is a file's and an anchor's too."""
        return str(PurePosixPath(self.name).with_suffix("")).replace("/", "-")


@dataclass(frozen=True)
class Part:
    """Pages under one caption of the contents; the first ones may have none."""

    caption: str
    pages: tuple[Page, ...]


@dataclass(frozen=True)
class Book:
    """All pages in the order of the contents, and what stands on the title page."""

    title: str
    author: str
    language: str
    version: str
    address: str
    date: datetime
    parts: tuple[Part, ...]

    @cached_property
    def pages(self) -> dict[str, Page]:
        """Every page under its name."""
        return {page.name: page for part in self.parts for page in part.pages}

    @property
    def edition(self) -> str:
        """Version and date in words."""
        return f"Version {self.version}, {self.date.day} {self.date:%B %Y}"


NOTE = (
    "Made from the pages of the web edition. What is folded there, code and answers, is shown "
    "here; for each explorer, which computes in the web edition, there is a table of its states."
)


def read_book(site: Path) -> Book:
    """Read the built `site`.

    Raises
    ------
    PublishError
        Where there is no site, or a page of its contents is missing.
    """
    if not (site / "index.html").is_file():
        raise PublishError(f"{site} holds no built book (no index.html); build it first.")
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    first = front_page(site)
    soup = read(site, first)
    return Book(
        title=config["title"],
        author=config["author"],
        language=str(soup.html["lang"]) if soup.html else "en",
        version=project["version"],
        address=config["repository"]["url"],
        date=date_of(),
        parts=tuple(read_parts(site, first, soup)),
    )


def read(site: Path, name: str) -> BeautifulSoup:
    """Read one page."""
    file = site / name
    if not file.is_file():
        raise PublishError(f"the contents name {name}, which {site} does not have.")
    return BeautifulSoup(file.read_text("utf-8"), "html.parser")


def front_page(site: Path) -> str:
    """Return the page to which the site's root leads."""
    refresh = read(site, "index.html").find("meta", attrs={"http-equiv": "refresh"})
    return str(refresh["content"]).partition("url=")[2] if refresh else "index.html"


def read_parts(site: Path, first: str, soup: BeautifulSoup) -> Iterator[Part]:
    """Read the pages in the order of the contents beside the first one."""
    caption, pages = "", list[Page]()
    for tag in soup.select("nav.bd-links p.caption, nav.bd-links li > a.internal"):
        if tag.name == "p":
            if pages:
                yield Part(caption, tuple(pages))
            caption, pages = words(tag), []
            continue
        name = target(first, str(tag["href"]))[0]
        article = read(site, name).select_one("article")
        if article is None:
            raise PublishError(f"{name} has no article")
        pages.append(Page(name, words(tag), article))
    yield Part(caption, tuple(pages))


def light_code_colours(site: Path) -> str:
    """Return the site's colours of code in the light theme, for any document."""
    css = (site / "_static" / "pygments.css").read_text("utf-8")
    rules = re.findall(r'^html\[data-theme="light"\] (.*)$', css, re.MULTILINE)
    if not rules:
        raise PublishError("pygments.css names its light theme in an unknown way")
    return "\n".join(rules)


def words(tag: Tag) -> str:
    """Return the text of `tag` in one line."""
    return " ".join(tag.get_text().split())


def target(name: str, url: str) -> tuple[str, str]:
    """Return the file of the site and the fragment to which `url` on the page `name` leads."""
    parts = urlsplit(url)
    if not parts.path:
        return name, unquote(parts.fragment)
    place = list(PurePosixPath(name).parent.parts)
    for step in unquote(parts.path).split("/"):
        if step == "..":
            place = place[:-1]
        elif step not in ("", "."):
            place.append(step)
    return "/".join(place), unquote(parts.fragment)


def still(book: Book, page: Page, address: Address) -> Tag:
    """Return the article of `page` as it can be printed, with every link led by `address`.

    The article is changed in place, so once is enough for a book that was read.

    Raises
    ------
    PublishError
        Where something is left that needs a screen.
    """
    article = page.article
    for tag in article.select(SCREEN_ONLY):
        tag.decompose()
    for explorer in article.select(".elmo-explorer"):
        tabulate(explorer)
    for folded in article.find_all("details"):
        unfold(folded)
    for card in article.select(".sd-card"):
        link_title(card)
    for tag in article.select("[tabindex]"):
        del tag["tabindex"]
    for head in article.select("thead th:not([scope])"):
        head["scope"] = "col"
    number_title(article, page.title)
    move_anchors(book, page, address)
    for tag in article.select(NEEDS_A_SCREEN):
        raise PublishError(f"{page.name}: a <{tag.name}> needs a screen, so it cannot be printed")
    return article


def new_tag(name: str, text: str = "", **attributes: str) -> Tag:
    """Make an element."""
    tag = BeautifulSoup("", "html.parser").new_tag(name, attrs=attributes)
    if text:
        tag.string = text
    return tag


def tabulate(explorer: Tag) -> None:
    """Put the table of an explorer's states in its place, under a caption."""
    table, group = explorer.find("table"), explorer.select_one("[aria-label]")
    if table is None or group is None:
        raise PublishError(f"the explorer {explorer.name} holds no table with a description")
    description = str(group["aria-label"])
    caption = f"{description[:1].upper()}{description[1:]}. The web edition computes any state."
    table.insert(0, new_tag("caption", caption))
    box = new_tag("div", id=str(explorer["id"]))
    box["class"] = "explorer"
    box.append(table.extract())
    explorer.replace_with(box)


def unfold(folded: Tag) -> None:
    """Show what is folded: code as it is, anything else under its title."""
    if "hide" in folded.get_attribute_list("class"):
        folded.unwrap()
        return
    folded.name = "div"
    folded["class"] = "unfolded"
    del folded["open"]
    summary = folded.find("summary", recursive=False)
    if isinstance(summary, Tag):
        summary.name = "p"
        summary["class"] = "unfolded-title"


def link_title(card: Tag) -> None:
    """Let a card's title lead where the whole card does, by a link that no style sheet hides."""
    title, link = card.select_one(".sd-card-title"), card.select_one("a.sd-stretched-link")
    if title is not None and link is not None:
        link.extract()
        link.attrs = {"href": link["href"]}
        link.clear()
        link.extend(list(title.contents))
        title.append(link)


def number_title(article: Tag, title: str) -> None:
    """Put before the page's heading what the contents have before it, as the chapter's number."""
    heading = article.find("h1")
    if heading is None:
        raise PublishError(f"the page {title!r} has no heading")
    shown = words(heading)
    if title != shown and title.endswith(shown):
        heading.insert(0, title.removesuffix(shown))


def move_anchors(book: Book, page: Page, address: Address) -> None:
    """Make each anchor one of the whole book, and lead each link to its new place."""

    def own(name: str) -> str:
        return address(page.key, name).partition("#")[2]

    for tag in article_tags(page.article):
        for attribute, value in list(tag.attrs.items()):
            if attribute == "id":
                tag["id"] = own(str(value))
            elif attribute in {"href", "xlink:href"} and tag.name != "a":
                tag[attribute] = re.sub("^#(.+)", lambda m: "#" + own(m[1]), str(value))
            elif isinstance(value, str) and "url(#" in value:
                tag[attribute] = re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{own(m[1])})", value)
        if tag.name == "a" and tag.get("href") is not None:
            url = str(tag["href"])
            if urlsplit(url).scheme or url.startswith("//"):
                continue
            name, fragment = target(page.name, url)
            fragment = fragment.partition("?")[0]  # of an explorer, the state: a table has none
            if name in book.pages:
                tag["href"] = address(book.pages[name].key, fragment)
            else:  # a download, say: its name stays
                tag.name = "span"
                tag.attrs = {}


def article_tags(article: Tag) -> Iterator[Tag]:
    """Yield the article and every element in it."""
    yield article
    yield from article.find_all(True)
