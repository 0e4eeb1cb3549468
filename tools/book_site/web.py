"""What search engines and the sites that link to the book read: nothing here is for its pages.

Where the site is published follows from `repository: url:` in `_config.yml`; another address can be
given there as Sphinx's `html_baseurl`. A page gets a canonical link, a description, the tags of a
card for sites that show one, and structured data (schema.org); the site gets a sitemap, a
`robots.txt`, the card's picture and the page for addresses that lead nowhere.
"""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError
from sphinx.util.display import progress_message

from . import card
from .policy import meta_tag

ROOT = Path(__file__).resolve().parents[2]
DESCRIPTION = range(50, 161)  # characters: what a search engine shows of it
OPENING = re.compile(r"^The question\.\s+")
SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=\S)")
CARD = f"_static/{card.NAME}"
LICENCE = "https://creativecommons.org/licenses/by/4.0/"
# Pages that hold no text of their own.
LISTS = {
    "search": "Search {book} for a word, a name or a symbol; the search runs in your browser.",
    "genindex": "The index of {book}: where each name of its package and each term is explained.",
}


def public_address(repository: str) -> str:
    """Return where the pages of a repository at GitHub are published.

    >>> public_address("https://github.com/OWNER/REPOSITORY")
    'https://OWNER.github.io/REPOSITORY/'
    >>> public_address("https://github.com/OWNER/OWNER.github.io")
    'https://OWNER.github.io/'
    """
    parts = urlsplit(repository.removesuffix(".git"))
    names = parts.path.strip("/").split("/")
    if parts.scheme != "https" or parts.hostname != "github.com" or len(names) != 2:
        raise ExtensionError(
            "repository: url: in _config.yml must be like https://github.com/OWNER/REPOSITORY, "
            f"given {repository!r}; for another host say where the site is published: "
            "html_baseurl, below sphinx: config:"
        )
    owner, name = names
    host = f"https://{owner}.github.io/"
    return host if name.lower() == f"{owner}.github.io".lower() else f"{host}{name}/"


def set_address(app: Sphinx, config: Config) -> None:
    """Set the address from which Sphinx makes each page's canonical link."""
    if not config.html_baseurl:
        config.html_baseurl = public_address(config.html_theme_options["repository_url"])
    if not config.html_baseurl.endswith("/"):
        config.html_baseurl += "/"


def shortened(text: str) -> str:
    """Return as many whole sentences of `text` as make a description; a long one is cut.

    >>> shortened("a table has one row for each spelling. What is lost? " + "And so on, now. " * 8)
    'A table has one row for each spelling. What is lost? And so on, now. And so on, now. And so \
on, now. And so on, now. And so on, now. And so on, now.'
    >>> len(shortened("word " * 60)) <= DESCRIPTION[-1]
    True
    """
    whole = " ".join(text.split())
    whole = whole[:1].upper() + whole[1:]
    taken = ""
    for sentence in SENTENCE_END.split(whole):
        longer = f"{taken} {sentence}".strip()
        if len(longer) > DESCRIPTION[-1]:
            break
        taken = longer
    if len(taken) in DESCRIPTION:
        return taken
    if len(whole) <= DESCRIPTION[-1]:
        return whole
    return whole[: DESCRIPTION[-1] - 1].rpartition(" ")[0].rstrip(",;:") + "…"


def paragraphs(doctree: nodes.document) -> Iterator[str]:
    """Yield the texts of a page that a description can be made of, the question first."""
    found = []
    for paragraph in doctree.findall(nodes.paragraph):
        in_prose = isinstance(paragraph.parent, (nodes.section, nodes.document))
        if in_prose and not any("\\" in math.astext() for math in paragraph.findall(nodes.math)):
            found.append(paragraph.astext())
    question = next((text for text in found[:4] if OPENING.match(text)), None)
    if question:
        yield OPENING.sub("", question)
    yield from found


def described(title: str, book: str, doctree: nodes.document | None) -> str:
    """Return a description of a page: its question, or the first text of it that has the length."""
    for text in paragraphs(doctree) if doctree else ():
        short = shortened(text)
        if len(short) in DESCRIPTION:
            return short
    return shortened(f"{title}: a page of {book}, an executable book on deep contextualized words.")


def given_description(metatags: str) -> str | None:
    """Return the description that a page has in its front matter (`myst: html_meta:`)."""
    tag = re.search(r'<meta [^>]*name="description"[^>]*>', metatags)
    content = tag and re.search(r'content="([^"]*)"', tag.group())
    return html.unescape(content.group(1)) if content else None


def work(config: Config) -> dict[str, Any]:
    """Return the book in the words of schema.org, from the configuration and CITATION.cff."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    (paper,) = citation["references"]
    return {
        "@type": ["Book", "LearningResource"],
        "@id": config.html_baseurl,
        "name": config.html_title,
        "url": config.html_baseurl,
        "author": {"@type": "Organization", "name": config.author},
        "datePublished": str(citation["date-released"]),
        "version": citation["version"],
        "license": LICENCE,
        "isAccessibleForFree": True,
        "keywords": citation["keywords"],
        "learningResourceType": "executable textbook",
        "educationalLevel": "higher education",
        "about": {
            "@type": "ScholarlyArticle",
            "name": paper["title"],
            "sameAs": f"https://doi.org/{paper['doi']}",
        },
        "accessMode": ["textual", "visual"],
        "accessModeSufficient": [{"@type": "ItemList", "itemListElement": ["textual"]}],
        "accessibilityFeature": ["MathML", "alternativeText", "structuralNavigation", "index"],
        "image": config.html_baseurl + CARD,
    }


def structured_data(config: Config, page: dict[str, Any], *, front: bool) -> str:
    """Return the data of a page: the whole book on its front page, a chapter of it elsewhere."""
    if front:
        data = work(config) | page | {"name": config.html_title}
    else:
        book = {"@type": "Book", "@id": config.html_baseurl, "name": config.html_title}
        data = {"@type": ["Chapter", "LearningResource"], **page, "isPartOf": book}
    text = json.dumps({"@context": "https://schema.org", "inLanguage": config.language, **data})
    # "</script>" would end the script; data is no script that a policy could stop
    text = text.replace("<", "\\u003c")
    return f'<script type="application/ld+json">{text}</script>\n'


def card_tags(config: Config, title: str, description: str, url: str, *, front: bool) -> str:
    """Return what makes a link to the page a card; readers' browsers do not fetch the picture."""
    tags = {
        "og:type": "website" if front else "article",
        "og:site_name": config.html_title,
        "og:title": title,
        "og:description": description,
        "og:url": url,
        "og:locale": "en_GB",
        "og:image": config.html_baseurl + CARD,
        "og:image:width": str(card.SIZE[0]),
        "og:image:height": str(card.SIZE[1]),
        "og:image:alt": card.ALT,
    }
    lines = [f'<meta property="{k}" content="{html.escape(v)}">' for k, v in tags.items()]
    return "\n".join([*lines, '<meta name="twitter:card" content="summary_large_image">', ""])


def add_tags(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Describe a page to those who link to it."""
    if app.builder.name == "epub":  # a file on a reader's device has no address
        return
    config, metatags = app.config, context.get("metatags", "")
    title = html.unescape(re.sub(r"<[^>]+>", "", context.get("title") or config.html_title))
    description = given_description(metatags)
    if description is None:
        if pagename in LISTS:
            description = LISTS[pagename].format(book=config.html_title)
        else:
            description = described(title, config.html_title, doctree)
        metatags += f'<meta name="description" content="{html.escape(description)}">\n'
    if pagename in LISTS:
        metatags += '<meta name="robots" content="noindex">\n'
    else:
        url = config.html_baseurl + app.builder.get_target_uri(pagename)
        front = pagename == config.root_doc
        page = {"name": title, "description": description, "url": url}
        metatags += card_tags(config, title, description, url, front=front)
        metatags += structured_data(config, page, front=front)
    context["metatags"] = metatags


def describe_page(config: Config, out: Path, name: str) -> None:
    """Describe a page that Sphinx doesn't make, from its own title and description."""
    path = out / name
    text = path.read_text("utf-8")
    title = re.search(r"<title>(.*?)</title>", text, re.DOTALL)
    description = given_description(text)
    if title is None or description is None:
        raise ValueError(f"{name}: expected a title and a description")
    heading, url = html.unescape(title.group(1)), config.html_baseurl + name
    page = {"name": heading, "description": description, "url": url}
    tags = f'<link rel="canonical" href="{html.escape(url)}">\n'
    tags += card_tags(config, heading, description, url, front=False)
    tags += structured_data(config, page, front=False)
    path.write_text(text.replace("</head>", f"{tags}</head>", 1), "utf-8")


NOT_FOUND = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
{policy}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="description" content="There is no such page in {title}; here are those that there are.">
<title>No such page — {title}</title>
<link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; font: 1.0625rem/1.65 system-ui, sans-serif; }}
body {{ max-width: 40rem; margin: 0 auto; padding: 2rem 1.25rem; }}
h1 {{ line-height: 1.2; }}
a {{ color: inherit; }}
li {{ margin: 0.4rem 0; }}
.skip {{ position: absolute; top: -10rem; }}
.skip:focus {{ position: static; }}
:focus-visible {{ outline: 3px solid; outline-offset: 2px; }}
</style>
</head>
<body>
<a class="skip" href="#main">Skip to main content</a>
<main id="main"><article>
<h1>There is no such page</h1>
<p>The address leads to nothing in <a href="{base}">{title}</a>: the page may have moved, or a
letter of the address may be wrong. These are the pages that there are; each has a search field.</p>
<ul>
{links}
</ul>
</article></main>
</body>
</html>
"""


def write_files(app: Sphinx, exception: Exception | None) -> None:
    """Write what belongs to the site and not to a page of it."""
    if exception is not None or app.builder.name != "html":
        return
    base, title, out = app.config.html_baseurl, app.config.html_title, Path(app.outdir)
    names = sorted(app.env.found_docs, key=lambda name: (name != app.config.root_doc, name))
    pages = {name: base + app.builder.get_target_uri(name) for name in names}
    locations = "\n".join(f"<url><loc>{html.escape(url)}</loc></url>" for url in pages.values())
    (out / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{locations}\n</urlset>\n',
        "utf-8",
    )
    (out / "robots.txt").write_text(
        f"User-agent: *\nAllow: /\nSitemap: {base}sitemap.xml\n", "utf-8"
    )
    links = "\n".join(
        f'<li><a href="{html.escape(url)}">{html.escape(app.env.titles[name].astext())}</a></li>'
        for name, url in pages.items()
    )
    # it is shown in place of a page of any folder, so it needs no file and only whole addresses
    (out / "404.html").write_text(
        NOT_FOUND.format(
            language=app.config.language, policy=meta_tag(), base=base, links=links,
            title=html.escape(title),
        ),
        "utf-8",
    )  # fmt: skip
    with progress_message("drawing the card of the book"):
        card.draw(title, "How can one learned mixture give two vectors for bank?", out / CARD)


def setup(app: Sphinx) -> None:
    """Connect to Sphinx, before the policy is put in front of all tags."""
    app.connect("config-inited", set_address, priority=900)  # after the book's configuration
    app.connect("html-page-context", add_tags, priority=955)
    app.connect("build-finished", write_files)
