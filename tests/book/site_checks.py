"""What makes a built site defective, as small functions.

Each check takes a `Site` (a folder of HTML, read once) and returns a list of problems, empty when
there are none. A problem is a sentence that names the page and the thing. The checks read files
only: what needs a browser is in ``tests/browser``.
"""

from __future__ import annotations

import ast
import base64
import gzip
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, NavigableString, Tag

WEIGHT_BUDGET = 300_000
"""Bytes that a page and everything it loads may weigh, gzipped."""

REQUEST_BUDGET = 20
"""Files that a page may ask for besides itself: style sheets, scripts, images, its icon."""

HTML_LIMIT = 450_000
"""Bytes that one HTML file may have, uncompressed.

The longest chapter has most of that: some ninety equations and twenty drawings, set at build time.
They compress to a tenth, so the weight hardly shows them, but a browser parses it all before the
page stands still. A table of data or a figure of thousands of points goes over the limit.
"""

INLINE_LIMIT = 4_000
"""Bytes that a file encoded into a page (``data:``) may have.

An icon fits. A picture does not: in a file of its own it is fetched once, and while the text shows.
"""

TINY_SCRIPT = 8_000
"""Gzipped bytes up to which a script may block the page.

A new connection brings about ten packets of 1.4 kB before it waits for an answer: a script of half
that costs one round trip, and may have to run before the first paint, as one that sets the theme.
"""

THEME_TEMPLATES = ("webpack-macros.html", "sbt-webpack-macros.html")
"""Files that the theme leaves among its static files and that no reader opens."""

FILE_NAME = re.compile(r"_images/|\.(png|svg|jpe?g|gif|webp|avif)\b", re.IGNORECASE)
SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
CSS_REFERENCE = re.compile(
    r"""@import\s+(?:url\()?\s*['"]?(?P<sheet>[^'")\s;]+)|url\(\s*['"]?(?P<file>[^'")]+)['"]?\s*\)"""
)
SCRIPT_REQUEST = re.compile(
    r"""(?:\bimport\s*\(?|\bfrom|\bfetch\s*\(|\bimportScripts\s*\(|\bWorker\s*\(|\bWebSocket\s*\(
         |\bopen\s*\(\s*['"](?:GET|POST|HEAD)['"]\s*,|\.(?:src|href)\s*=)
        \s*['"`](?P<url>(?:https?:|wss?:)?//[^'"`\s]+)""",
    re.VERBOSE,
)
WIDGET_TEXT = re.compile(r"\b(?:interactive\(children=|(?:Float|Int)Slider\(value=|Output\(\))")
KERNEL_SCRIPT = re.compile(
    r"thebe|ipywidgets|jupyter-widgets|html-manager|embed-amd|require(?:\.min)?\.js|nglview",
    re.IGNORECASE,
)
WARNING_TEXT = re.compile(r"\b\w*Warning\b|Traceback \(most recent call last\)")
RAW_MARKUP = re.compile(
    r"\$[^$\s][^$]*\$|\\\(|\\\[|\\begin\{|^:{3,}|\{(?:ref|numref|doc|eq|cite|py:\w+|glue:\w+)\}`|\{\{",
    re.MULTILINE,
)
PLACE = re.compile(r'chapter (\d+), "([^"]+)"')
CHAPTERS = re.compile(r"chapters? (\d+)(?: and (\d+))?(?:[.;]|$)")


@dataclass(frozen=True)
class Page:
    """One HTML file of the site: `name` is its path from the site's root, with slashes."""

    name: str
    file: Path

    @cached_property
    def html(self) -> str:
        """The text of the file."""
        return self.file.read_text(encoding="utf-8")

    @cached_property
    def soup(self) -> BeautifulSoup:
        """The parsed page."""
        return BeautifulSoup(self.html, "html.parser")

    @cached_property
    def ids(self) -> list[str]:
        """Every place that an anchor can lead to, in order of appearance."""
        return [str(tag["id"]) for tag in self.soup.find_all(id=True)]

    @property
    def leads_on(self) -> bool:
        """Whether it is only there to lead to another page."""
        refresh = re.compile(r"^refresh$", re.IGNORECASE)
        return self.soup.find("meta", attrs={"http-equiv": refresh}) is not None

    @property
    def body(self) -> Tag:
        """The author's part of the page, without the theme's bars."""
        found = self.soup.find("article") or self.soup.find("main") or self.soup
        assert isinstance(found, Tag)
        return found


@dataclass(frozen=True)
class Site:
    """A folder of built HTML."""

    root: Path

    @cached_property
    def files(self) -> frozenset[str]:
        """Every file's path from the root; compared as text, so that case counts everywhere."""
        return frozenset(
            file.relative_to(self.root).as_posix()
            for file in self.root.rglob("*")
            if file.is_file()
        )

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        """The HTML files that a reader can open; a folder without any would pass every check."""
        names = sorted(
            name
            for name in self.files
            if name.endswith(".html") and PurePosixPath(name).name not in THEME_TEMPLATES
        )
        if not names:
            raise FileNotFoundError(f"{self.root} holds no HTML file")
        return tuple(Page(name, self.root / name) for name in names)

    @cached_property
    def by_name(self) -> dict[str, Page]:
        """The pages under their names."""
        return {page.name: page for page in self.pages}


def is_foreign(url: str) -> bool:
    """Say whether loading `url` asks another host (or any host, for a page opened from disk)."""
    return url.startswith("//") or urlsplit(url).scheme in {"http", "https", "ws", "wss", "ftp"}


def resolve(page_name: str, url: str) -> str | None:
    """Return the site's file that a relative `url` on a page or in a style sheet means.

    ``None`` when it leaves the site or starts at the server's root, which is another place when
    the site lies in a sub-folder or on a disk.
    """
    path = unquote(urlsplit(url).path)
    if not path:
        return page_name
    if path.startswith("/"):
        return None
    parts: list[str] = list(PurePosixPath(page_name).parent.parts)
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    name = "/".join(parts)
    return f"{name}/index.html".lstrip("/") if path.endswith("/") or not name else name


def describe(tag: Tag) -> str:
    """Return the opening tag, shortened: enough to find it on the page."""
    text = str(tag).split(">", 1)[0] + ">"
    return text if len(text) <= 160 else text[:157] + "..."


# --- what a page requests -----------------------------------------------------------------------

REQUESTING_RELS = {
    "stylesheet", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch",
    "icon", "apple-touch-icon", "mask-icon", "manifest", "prerender",
}  # fmt: skip
SOURCE_ATTRIBUTES = {
    "script": ("src",), "img": ("src", "srcset"), "source": ("src", "srcset"), "iframe": ("src",),
    "embed": ("src",), "object": ("data",), "video": ("src", "poster"), "audio": ("src",),
    "track": ("src",), "input": ("src",), "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"), "base": ("href",), "frame": ("src",), "feimage": ("href",),
}  # fmt: skip


def tag_requests(tag: Tag) -> Iterator[str]:
    """Yield the addresses that the browser asks for because of this tag."""
    if tag.name == "link" and REQUESTING_RELS & {rel.lower() for rel in tag.get("rel") or []}:
        yield str(tag.get("href", ""))
    for attribute in SOURCE_ATTRIBUTES.get(tag.name, ()):
        value = str(tag.get(attribute, ""))
        if attribute == "srcset":
            yield from (part.split()[0] for part in value.split(",") if part.strip())
        elif value:
            yield value
    if tag.name == "meta" and str(tag.get("http-equiv", "")).lower() == "refresh":
        yield str(tag.get("content", "")).partition("url=")[2]
    if tag.get("style"):
        yield from css_references(str(tag["style"]))
    if tag.name == "style":
        yield from css_references(tag.get_text())
    if tag.name == "script" and not tag.get("src"):
        yield from (match["url"] for match in SCRIPT_REQUEST.finditer(tag.get_text()))


def css_references(css: str) -> Iterator[str]:
    """Yield the addresses in a style sheet: imports, fonts, images."""
    for match in CSS_REFERENCE.finditer(re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)):
        url = match["sheet"] or match["file"]
        if not url.startswith(("data:", "#")):
            yield url.strip()


@cache
def file_references(file: Path) -> tuple[str, ...]:
    """Return the addresses that a style sheet or script asks for once it is loaded."""
    if file.suffix == ".css":
        return tuple(css_references(file.read_text(encoding="utf-8")))
    if file.suffix in {".js", ".mjs"}:
        text = file.read_text(encoding="utf-8")
        return tuple(match["url"] for match in SCRIPT_REQUEST.finditer(text))
    return ()


def loaded_files(site: Site, page: Page) -> set[str]:
    """Return the site's files that a page loads, but fonts, whose use only a browser knows."""
    loaded: set[str] = set()
    queue = [
        (page.name, url)
        for tag in page.soup.find_all(True)
        if tag.name != "base"
        for url in tag_requests(tag)
    ]
    while queue:
        base, url = queue.pop()
        name = None if is_foreign(url) or SCHEME.match(url) else resolve(base, url)
        if name in site.files and name not in loaded and name != page.name:
            if PurePosixPath(name).suffix in {".woff", ".woff2", ".ttf", ".otf", ".eot"}:
                continue
            loaded.add(name)
            queue.extend((name, inner) for inner in file_references(site.root / name))
    return loaded


def foreign_requests(site: Site) -> list[str]:
    """No page, nor a style sheet or script that it loads, asks another host for anything."""
    problems = []
    for page in site.pages:
        for tag in page.soup.find_all(True):
            problems += [
                f"{page.name}: {describe(tag)} requests {url} from another host"
                for url in tag_requests(tag)
                if is_foreign(url)
            ]
        for name in sorted(loaded_files(site, page)):
            problems += [
                f"{page.name}: the file {name} that it loads requests {url} from another host"
                for url in file_references(site.root / name)
                if is_foreign(url)
            ]
    return problems


# --- what a page may run ------------------------------------------------------------------------

RUNS_WEBASSEMBLY = frozenset({"book/reproduce.html"})
"""The pages that may compile WebAssembly, when the reader asks for it."""

POLICY_SOURCES = {
    "script-src": re.compile(r"'self'|'sha256-[\w+/]{43}='"),
    "style-src": re.compile(r"'self'|'unsafe-inline'"),
}
OTHER_SOURCES = re.compile(r"'self'|'none'|data:")
MUST_BE = {"default-src": "'none'", "object-src": "'none'", "base-uri": "'none'"}


def policy_of(page: Page) -> dict[str, list[str]]:
    """Return the page's Content-Security-Policy, each directive with its sources."""
    tag = page.soup.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    directives = str(tag["content"]).split(";") if isinstance(tag, Tag) else []
    return {words[0]: words[1:] for words in map(str.split, directives) if words}


def is_code(script: Tag) -> bool:
    """Say whether a script runs; another type is data for one that does."""
    return re.search(r"javascript|module|^$", str(script.get("type", ""))) is not None


def unprotected_pages(site: Site) -> list[str]:
    """Each page has a policy before whatever it is about, and keeps within it without a browser.

    The policy lets nothing come from another host, no text run as code, and WebAssembly on the
    pages listed here; no tag has an inline handler, and each inline script's hash is in the policy.
    """
    problems = []
    for page in site.pages:
        policy = policy_of(page)
        found = [f"its policy has {one} {policy.get(one)}" for one, value in MUST_BE.items()
                 if policy.get(one) != [value]]  # fmt: skip
        for directive, sources in policy.items():
            allowed = POLICY_SOURCES.get(directive, OTHER_SOURCES)
            found += [
                f"its policy lets {directive} be {source}"
                for source in sources
                if not allowed.fullmatch(source)
                and not (source == "'wasm-unsafe-eval'" and page.name in RUNS_WEBASSEMBLY)
            ]
        for tag in page.soup.find_all(True):
            if tag.name in {"script", "style", "link"}:
                before = tag.find_previous("meta", attrs={"http-equiv": "Content-Security-Policy"})
                found += [] if before else [f"{describe(tag)} stands before its policy"]
            found += [
                f"{describe(tag)} has the handler {one}" for one in tag.attrs if one[:2] == "on"
            ]
            if tag.name == "script" and not tag.get("src") and is_code(tag):
                digest = base64.b64encode(hashlib.sha256(tag.get_text().encode()).digest()).decode()
                if f"'sha256-{digest}'" not in policy.get("script-src", []):
                    found.append(f"the script {tag.get_text().strip()[:40]!r} is not in its policy")
        problems += [f"{page.name}: {problem}" for problem in found]
    return problems


# --- images -------------------------------------------------------------------------------------


def is_hidden(tag: Tag) -> bool:
    """Say whether screen readers are told to pass over this tag."""
    return any(parent.get("aria-hidden") == "true" for parent in (tag, *tag.parents))


def images(page: Page) -> Iterator[Tag]:
    """Yield the images that carry content: all in a figure, elsewhere those not hidden."""
    for tag in page.soup.find_all(["img", "svg"]):
        if not tag.find_parent("svg") and (tag.find_parent("figure") or not is_hidden(tag)):
            yield tag


def alternative_text(tag: Tag) -> str:
    """Return what a screen reader says instead of an image."""
    if tag.name == "img":
        return " ".join(str(tag.get("alt", "")).split())
    title = tag.find("title", recursive=False)
    return " ".join(str(tag.get("aria-label") or (title.get_text() if title else "")).split())


def missing_alt_texts(site: Site) -> list[str]:
    """Every image has an alternative text of five words or more that isn't a file name.

    Of a figure's panels one may speak for all, the others hidden; but no figure is silent.
    """
    problems = []
    for page in site.pages:
        for figure in page.soup.select("figure:has(img, svg)"):
            if all(is_hidden(tag) for tag in figure.select("img, svg")):
                problems.append(
                    f"{page.name}: the figure {describe(figure)} is hidden from readers"
                )
        for tag in images(page):
            text = alternative_text(tag)
            if is_hidden(tag):
                continue
            if tag.name == "svg" and tag.get("role") != "img":
                problems.append(f'{page.name}: {describe(tag)} is neither role="img" nor hidden')
            elif FILE_NAME.search(text):
                problems.append(
                    f"{page.name}: {describe(tag)} has a file name as its text: {text!r}"
                )
            elif len(text.split()) < 5:
                problems.append(f"{page.name}: {describe(tag)} has no real alt text: {text!r}")
    return problems


def has_size(tag: Tag, side: str) -> bool:
    """Say whether an image has its width or height in pixels, as an attribute or as a style."""
    style = re.search(rf"(?:^|;)\s*{side}:\s*([^;]+)", str(tag.get("style", "")))
    values = [str(tag.get(side, "")), style[1].strip() if style else ""]
    return any(re.fullmatch(r"[1-9]\d*(\.\d+)?(px)?", value) for value in values)


def missing_sizes(site: Site) -> list[str]:
    """Every image says its width and height, so that the page doesn't jump when it arrives."""
    return [
        f"{page.name}: {describe(tag)} has no {side} in pixels"
        for page in site.pages
        for tag in images(page)
        for side in ("width", "height")
        if not has_size(tag, side)
    ]


# --- tables and names of links ------------------------------------------------------------------

SAYS_NOTHING = {
    "",
    "click here",
    "here",
    "link",
    "more",
    "read more",
    "this",
    "this link",
    "this page",
}


def tables_without_headers(site: Site) -> list[str]:
    """Every table of data names its columns or rows, and each header says of which it is."""
    problems = []
    for page in site.pages:
        # the general index stands in columns, which is no data
        for table in page.body.select("table:not(.indextable)"):
            headers = table.find_all("th")
            if not headers:
                problems.append(f"{page.name}: {describe(table)} has no header")
            problems += [
                f"{page.name}: the header {' '.join(tag.get_text().split())!r} has no scope"
                for tag in headers
                if tag.get("scope") not in {"col", "row", "colgroup", "rowgroup"}
            ]
    return problems


def vague_links(site: Site) -> list[str]:
    """Each link says where it leads, when it is read out alone too."""
    return [
        f"{page.name}: {describe(link)} is called {text!r}"
        for page in site.pages
        for link in page.body.find_all("a", href=True)
        for text in [" ".join((str(link.get("aria-label") or "") or link.get_text()).split())]
        if text.lower() in SAYS_NOTHING and not link.find("img")
    ]


# --- links --------------------------------------------------------------------------------------


def broken_links(site: Site) -> list[str]:
    """Every internal link, anchor, download and loaded file leads somewhere."""
    problems = []
    for page in site.pages:
        for tag in page.soup.find_all(True):
            urls = set() if tag.name == "base" else set(tag_requests(tag))
            if tag.name in {"a", "area", "link"} and tag.get("href") is not None:
                urls.add(str(tag["href"]))
            for url in sorted(urls):
                problem = broken(site, page, url)
                if problem:
                    problems.append(f"{page.name}: {describe(tag)} {problem}")
    sheets = {name for page in site.pages for name in loaded_files(site, page) if ".css" in name}
    problems += [
        f"{name}: the style sheet names {url}, which does not exist"
        for name in sorted(sheets)
        for url in file_references(site.root / name)
        if not is_foreign(url) and not existing_font_or_file(site, resolve(name, url))
    ]
    return problems


def existing_font_or_file(site: Site, name: str | None) -> bool:
    """Say whether a file that a style sheet names is there, for fonts in today's format.

    Style sheets list each font in formats for old browsers too, which need not be shipped.
    """
    if name is None:
        return False
    return name in site.files or str(PurePosixPath(name).with_suffix(".woff2")) in site.files


def broken(site: Site, page: Page, url: str) -> str | None:
    """Say why `url` on `page` leads nowhere; ``None`` when it leads somewhere."""
    if is_foreign(url) or url.startswith(("mailto:", "data:")):
        return None
    if SCHEME.match(url):
        return f"uses {url.split(':')[0]}:, which is no link"
    name = resolve(page.name, url)
    if name is None:
        return f"leads out of the site ({url})"
    if name not in site.files:
        return f"leads to {name}, which does not exist"
    anchor = unquote(urlsplit(url).fragment).partition("?")[0]  # then an explorer's state
    target = site.by_name.get(name)
    if anchor and anchor != "top" and target and anchor not in target.ids:
        return f"leads to #{anchor}, which {name} does not have"
    return None


def duplicated_ids(site: Site) -> list[str]:
    """No two things on a page share an id, or an anchor means either."""
    return [
        f"{page.name}: {count} elements have the id {name!r}"
        for page in site.pages
        for name, count in Counter(page.ids).items()
        if count > 1
    ]


# --- what only works with a kernel --------------------------------------------------------------


def kernel_controls(site: Site) -> list[str]:
    """No control that needs a running kernel, which a static page doesn't have."""
    problems = []
    for page in site.pages:
        for tag in page.soup.find_all(["script", "link", "button", "div", "a"]):
            source = str(tag.get("src") or tag.get("href") or "")
            inline = tag.get_text() if tag.name == "script" else ""
            classes = " ".join(tag.get("class") or [])
            if str(tag.get("type", "")).startswith("application/vnd.jupyter.widget"):
                problems.append(f"{page.name}: {describe(tag)} is the state of a live widget")
            elif tag.name in {"script", "link"} and KERNEL_SCRIPT.search(source + inline):
                problems.append(f"{page.name}: {describe(tag)} loads the front end of a kernel")
            elif re.search(r"thebe|jupyter-widgets|widget-subarea", classes):
                problems.append(f"{page.name}: {describe(tag)} is a control that needs a kernel")
        for output in page.soup.select(".cell_output"):
            match = WIDGET_TEXT.search(output.get_text())
            if match:
                problems.append(f"{page.name}: an output shows {match[0]!r} instead of a widget")
    return problems


# --- weight -------------------------------------------------------------------------------------


@cache
def gzipped(file: Path) -> int:
    """Return the bytes of a file on the wire: compressed, unless that makes it larger."""
    content = file.read_bytes()
    return min(len(content), len(gzip.compress(content, 9)))


def page_weight(site: Site, page: Page, also: frozenset[str] = frozenset()) -> dict[str, int]:
    """Return the bytes on the wire of a page and of every local file that it loads.

    `also` names the files that a browser was seen to load: fonts, and what scripts ask for.
    """
    names = {page.name} | loaded_files(site, page) | also
    return {name: gzipped(site.root / name) for name in sorted(names)}


def weight_problem(page: Page, weight: dict[str, int], budget: int) -> list[str]:
    """Name what is heaviest, when a page is over its budget."""
    total = sum(weight.values())
    if total <= budget:
        return []
    heaviest = sorted(weight.items(), key=lambda item: -item[1])[:3]
    parts = ", ".join(f"{name} {size:,}" for name, size in heaviest)
    return [f"{page.name}: weighs {total:,} bytes gzipped, budget {budget:,}; heaviest: {parts}"]


def overweight_pages(site: Site, budget: int = WEIGHT_BUDGET) -> list[str]:
    """Every page is within its budget, fonts not counted (the browser test counts them)."""
    return [
        problem
        for page in site.pages
        for problem in weight_problem(page, page_weight(site, page), budget)
    ]


def long_html(site: Site, limit: int = HTML_LIMIT, inline: int = INLINE_LIMIT) -> list[str]:
    """No HTML file is so long that nothing shows until it has been parsed."""
    problems = [
        f"{page.name}: {page.file.stat().st_size:,} bytes of HTML, more than {limit:,}"
        for page in site.pages
        if page.file.stat().st_size > limit
    ]
    for page in site.pages:
        problems += [
            f"{page.name}: {len(match[0]):,} bytes of a file are encoded in it, {match[0][:40]!r}"
            for match in re.finditer(r"data:[\w+./-]*[;,][^\"'\s)]+", page.html)
            if len(match[0]) > inline
        ]
    return problems


def blocking_scripts(site: Site) -> list[str]:
    """Each script is on a page once, and doesn't hold it up unless it is tiny."""
    problems = []
    for page in site.pages:
        scripts = page.soup.find_all("script", src=True)
        sources = Counter(urlsplit(str(tag["src"])).path for tag in scripts)
        problems += [
            f"{page.name}: the script {source} is there {count} times"
            for source, count in sources.items()
            if count > 1
        ]
        for tag in scripts:
            name = resolve(page.name, str(tag["src"]))
            waits = tag.has_attr("defer") or tag.has_attr("async") or tag.get("type") == "module"
            if not waits and name in site.files:
                size = gzipped(site.root / name)
                if size > TINY_SCRIPT:
                    problems.append(
                        f"{page.name}: the script {name} ({size:,} bytes gzipped) blocks the page"
                    )
    return problems


# --- text ---------------------------------------------------------------------------------------


def visible_text(page: Page, *without: str) -> str:
    """Return the text of the author's part of a page, leaving out what the selectors match."""
    left_out = {id(tag) for tag in page.body.select(", ".join(("script", "style", *without)))}

    def texts(tag: Tag) -> Iterator[str]:
        for child in tag.children:
            if id(child) in left_out:
                yield " "
            elif isinstance(child, Tag):
                yield from texts(child)
            elif type(child) is NavigableString:  # and no comment, which is a kind of it
                yield child

    return "".join(texts(page.body))


def warnings_shown(site: Site) -> list[str]:
    """No page shows a reader a warning or a traceback.

    A warning is allowed where a person wrote it: in code, in a docstring's example, and as the
    title of a note.
    """
    problems = []
    for page in site.pages:
        text = visible_text(
            page, ".cell_input", ".doctest", ".admonition-title", "p code", "li code", "td code"
        )
        problems += [
            f"{page.name}: shows {match[0]!r} ({' '.join(text[match.start() :][:80].split())})"
            for match in WARNING_TEXT.finditer(text)
        ]
        problems += [
            f"{page.name}: {describe(tag)} is an error message"
            for tag in page.soup.select(".output.traceback, .output.stderr, .system-message")
        ]
    return problems


def unrendered_markup(site: Site) -> list[str]:
    """No page shows the source of a formula, a role or a directive."""
    problems = []
    for page in site.pages:
        text = visible_text(page, "pre", "code", ".katex")
        problems += [
            f"{page.name}: shows raw markup: {match[0][:60]!r}"
            for match in RAW_MARKUP.finditer(text)
        ]
        problems += [
            f"{page.name}: an equation could not be set: {tag.get_text()[:60]!r}"
            for tag in page.soup.select(".katex-error, .math:not(:has(.katex))")
        ]
    return problems


def disordered_headings(site: Site) -> list[str]:
    """One h1, first; no level is left out on the way down."""
    problems = []
    for page in site.pages:
        if page.leads_on:
            continue
        headings = page.body.find_all(re.compile(r"^h[1-6]$"))
        levels = [int(tag.name[1]) for tag in headings]
        if levels.count(1) != 1 or levels[0] != 1:
            problems.append(f"{page.name}: its headings start with {levels[:3]}, expected one h1")
        for tag, before, level in zip(headings[1:], levels, levels[1:], strict=False):
            if level > before + 1:
                problems.append(f"{page.name}: h{level} {heading_text(tag)!r} follows h{before}")
        problems += [
            f"{page.name}: an {tag.name} is empty" for tag in headings if not heading_text(tag)
        ]
    return problems


def local_paths(site: Site, *folders: Path) -> list[str]:
    """No page holds the path of a folder of the machine that built it."""
    # The same words may be part of an address, so nothing of a name stands before the path.
    found = {folder: re.compile(rf"(?<![\w.~/-]){re.escape(str(folder))}/") for folder in folders}
    return [
        f"{page.name}: holds the local path {folder}"
        for page in site.pages
        for folder, path in found.items()
        if path.search(page.html)
    ]


# --- from the code to the book ------------------------------------------------------------------


def heading_text(tag: Tag) -> str:
    """Return a heading as its author typed it: no link sign, no number, single spaces."""
    copy = BeautifulSoup(str(tag), "html.parser")
    for extra in copy.select(".headerlink, .section-number, .katex-html, annotation"):
        extra.decompose()
    # Sphinx sets typographic apostrophes; a docstring has the plain one.
    return " ".join(copy.get_text().split()).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def sections(site: Site) -> dict[int, set[str]]:
    """Return the titles of the sections of each numbered chapter of the built site."""
    found: dict[int, set[str]] = {}
    for page in site.pages:
        chapter = re.search(r"(?:^|/)(\d\d)_[^/]*\.html$", page.name)
        if chapter:
            titles = {heading_text(tag) for tag in page.body.find_all(re.compile(r"^h[1-4]$"))}
            found.setdefault(int(chapter[1]), set()).update(titles)
    return found


def book_lines(package: Path) -> Iterator[tuple[str, int, str]]:
    """Yield where the docstrings of a package say that a thing is derived: name, chapter, title.

    A line names a section or several (``Book: chapter 3, "By hand"; chapter 4, "One step"``), or
    whole chapters (``Book: chapters 3 and 4.``), which have no title here. A line of another form
    has chapter 0 and its text as title.
    """
    for file in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                continue
            name = f"{file.relative_to(package.parent)}:{getattr(node, 'name', 'module')}"
            text = " ".join((ast.get_docstring(node) or "").split())
            for line in text.split("Book: ")[1:]:
                places = re.match(rf"(?:{PLACE.pattern}[,;]?\s*(?:and )?)+", line)
                whole = CHAPTERS.match(line)
                if places:
                    for chapter, title in PLACE.findall(places[0]):
                        yield name, int(chapter), title
                elif whole:
                    for chapter in filter(None, whole.groups()):
                        yield name, int(chapter), ""
                else:
                    yield name, 0, line[:60]


def unresolved_book_lines(site: Site, package: Path) -> list[str]:
    """Each section or chapter that a docstring names exists in the built book."""
    existing = sections(site)
    lines = list(book_lines(package))
    problems = [] if lines else [f"{package.name}: no docstring names a place in the book"]
    for name, chapter, title in lines:
        if not chapter:
            problems.append(f"{name}: cannot be read as a place in the book: {title!r}")
        elif chapter not in existing:
            problems.append(f"{name}: there is no chapter {chapter}")
        elif title and title not in existing[chapter]:
            problems.append(f'{name}: chapter {chapter} has no section "{title}"')
    return problems
