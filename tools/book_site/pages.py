"""What each page loads, and the size of its images."""

import html
import json
import re
from pathlib import Path
from typing import Any

import imagesize
from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator

from .policy import meta_tag

TOGGLE_SETTINGS = "toggle-settings.js"
# A script is loaded where its mark stands in the page's text.
SCRIPTS_BY_MARK = {
    "clipboard.min.js": 'class="highlight',
    "copybutton.js": 'class="highlight',
    TOGGLE_SETTINGS: "dropdown admonition",
    "togglebutton.js": "dropdown admonition",
    "design-tabs.js": "sd-tab-set",
    "elmo-math.js": 'class="elmo-explorer"',
    "elmo-explorer.js": 'class="elmo-explorer"',
    "elmo-mixture.js": "<elmo-mixture",
    "elmo-gradient.js": "<elmo-gradient",
    "elmo-shift.js": "<elmo-shift",
    "elmo-seeds.js": "<elmo-seeds",
    "elmo-links.js": 'class="elmo-links"',
    "elmo-quiz.js": 'class="kit-quiz"',
    "elmo-reader.js": "<elmo-reader",
    "elmo-python.js": "<elmo-python",
}
# Inline scripts that no page needs: for a version switcher that this book has not; the state of the
# explorers' views for a kernel, which stay out of the page; what TOGGLE_SETTINGS holds.
UNUSED_INLINE = ("DOCUMENTATION_OPTIONS.pagename", "vnd.jupyter.widget-state", "toggle")
STYLES_BY_MARK = {"_static/katex/katex.min.css": 'class="katex'}


def toggle_settings(config: Config) -> str:
    """Return what sphinx_togglebutton writes into every page as inline scripts."""
    return (
        f"let toggleHintShow = {json.dumps(config.togglebutton_hint)};\n"
        f"let toggleHintHide = {json.dumps(config.togglebutton_hint_hide)};\n"
        f"let toggleOpenOnPrint = {json.dumps(str(config.togglebutton_open_on_print).lower())};\n"
        f"let togglebuttonSelector = {json.dumps(config.togglebutton_selector)};\n"
    )


def choose_assets(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Keep the scripts and style sheets that this page uses; no script holds up the page."""
    body = context["body"] = with_scopes(context.get("body", ""))

    def wanted(asset: object, by_mark: dict[str, str]) -> bool:
        name = str(getattr(asset, "filename", None) or "")
        return all(mark in body for end, mark in by_mark.items() if name.endswith(end))

    context["css_files"] = [f for f in context["css_files"] if wanted(f, STYLES_BY_MARK)]
    scripts = []
    for script in context["script_files"]:
        if script.filename:
            script.attributes["defer"] = "defer"
        elif any(mark in str(script.attributes) for mark in UNUSED_INLINE):
            continue
        else:  # the page's policy would stop it
            raise ExtensionError(f"{pagename}: an inline script is added: {script.attributes}")
        if wanted(script, SCRIPTS_BY_MARK):
            scripts.append(script)
    context["script_files"] = scripts
    context["metatags"] = context.get("metatags", "") + first_paint(body)


def with_scopes(body: str) -> str:
    """Say of each header of a table whether it is a column's or a row's.

    >>> with_scopes('<th class="head"><p>loss</p></th>')
    '<th scope="col" class="head"><p>loss</p></th>'
    """
    return body.replace('<th class="head', '<th scope="col" class="head').replace(
        '<th class="stub', '<th scope="row" class="stub'
    )


def first_paint(body: str) -> str:
    """Let a page with tables paint once its last section is there.

    A table whose rows still arrive gives its columns other widths with each of them, and what
    stands below jumps. A browser that doesn't know the link paints as it always did.
    """
    sections = re.findall(r'<section id="([^"]+)"', body)
    if "<table" not in body or not sections:
        return ""
    return f'<link rel="expect" href="#{sections[-1]}" blocking="render">\n'


DESCRIBING = re.compile(
    r'<meta [^>]*(?:property="og:|name="(?:description|twitter:card)")[^>]*>'
    r'|<link rel="canonical"[^>]*>'
)
FRONT_PAGE = """<!DOCTYPE html>
<html lang="{language}">
<meta charset="utf-8">
{policy}
<title>{title}</title>
{described}
<link rel="icon" type="image/svg+xml" href="_static/favicon.svg">
<meta http-equiv="refresh" content="0; url={target}">
<main><p><a href="{target}">{title}</a></p></main>
</html>
"""


def write_front_page(app: Sphinx, exception: Exception | None) -> None:
    """Lead from the site's root to the first page, in a page that is valid by itself.

    The root is the address that people pass on, so it describes itself as the first page does.
    """
    if exception is None and app.builder.format == "html" and app.config.root_doc != "index":
        first = Path(app.outdir) / app.builder.get_target_uri(app.config.root_doc)
        tags = DESCRIBING.findall(first.read_text("utf-8")) if first.is_file() else []
        text = FRONT_PAGE.format(
            policy=meta_tag(),
            described="\n".join(tags),
            language=app.config.language,
            title=html.escape(app.config.html_title),
            target=app.builder.get_target_uri(app.config.root_doc),
        )
        (Path(app.outdir) / "index.html").write_text(text, "utf-8")


def size_images(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give each local image its width and height, so that the page does not jump as it loads."""
    for image in doctree.findall(nodes.image):
        path = Path(app.srcdir) / image["uri"]
        if {"width", "height", "scale"} & set(image.attributes) or not path.is_file():
            continue
        width, height = imagesize.get(path)
        if width > 0 and height > 0:
            image["width"], image["height"] = f"{width}px", f"{height}px"


def visit_hidden_cell(translator: HTML5Translator, node: HideCodeCellNode) -> None:
    """Open a folded cell; its name is its text, which myst-nb hides behind an aria-label."""
    classes = " ".join(["hide", *node["classes"]])
    show, hide = html.escape(node["prompt_show"]), html.escape(node["prompt_hide"])
    translator.body.append(
        f'<details class="{classes}"><summary>'
        f'<span class="collapsed">{show}</span><span class="expanded">{hide}</span></summary>\n'
    )


def depart_hidden_cell(translator: HTML5Translator, node: HideCodeCellNode) -> None:
    """Close a folded cell."""
    translator.body.append("</details>\n")


def allow_links_to_targets(app: Sphinx, doctree: nodes.document) -> None:
    """Let `page.md#name` lead to the target `(name)=` of that page, as it does to a heading."""
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for name, explicit in doctree.nametypes.items():
        if explicit and doctree.nameids.get(name):
            slugs.setdefault(name, (0, doctree.nameids[name], ""))


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.setup_extension("myst_nb")
    app.add_node(HideCodeCellNode, override=True, html=(visit_hidden_cell, depart_hidden_cell))
    app.add_js_file(TOGGLE_SETTINGS, priority=400)  # before the script that reads them
    app.connect("doctree-read", allow_links_to_targets)
    app.connect("doctree-resolved", size_images)
    app.connect("html-page-context", choose_assets, priority=950)
    app.connect("build-finished", write_front_page, priority=900)  # after the theme's own
