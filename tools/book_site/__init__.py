"""Sphinx extension: what this book changes about the theme, and what it makes at build time.

The pages must load nothing from another host, read from `file://`, weigh little and be usable with
a keyboard and a screen reader. The theme alone does not do that, so this extension

* sets mathematics with KaTeX while the book is built, and turns a formula that KaTeX refuses into
  a warning (`katex`);
* replaces the theme's icon script (542 kB gzipped) by a font of the icons in use (`icons`);
* lets a page load and run what it needs and nothing else (`policy`);
* puts the style sheets together, without the rules that no page uses (`styles`);
* makes the API reference from docstrings, linked with the chapters (`api`);
* makes the seminar's quizzes, plans and tables from data (`seminar`);
* lets the browser lay out what is far from the screen when the reader comes near (`later`);
* loads a script only on the pages that need it, and gives images their size (`pages`);
* names the links that run a notebook elsewhere, and makes links for a class's hub (`launch`);
* describes the pages to those who link to them (`web`, `card`);
* makes each page's theme and fonts ready before its first paint (`early.js`);
* leaves out the comments and the spaces of this book's own scripts, and of the theme's what has the
  page laid out at its start (`scripts`);
* writes the weights of the language model that a page runs when it is asked to (`weights`);
* writes the Python that a page runs its listing with when it is asked to (`page_python`);
* overrides the few templates whose markup fails an accessibility check (`templates/`).
"""

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import npm_packages
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

from . import (
    api,
    icons,
    katex,
    later,
    launch,
    page_python,
    pages,
    policy,
    scripts,
    seminar,
    styles,
    web,
    weights,
)

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = Path(__file__).parent / "templates"


def use_repository_files(app: Sphinx, config: Config) -> None:
    """Point the configuration at this repository's files, whichever book is being built.

    The paths are set here and not in `_config.yml`, where they would be relative to the folder of
    the book: a test builds a book of two pages elsewhere with the same look.
    """
    config.templates_path.insert(0, str(TEMPLATES))
    generated = Path(tempfile.mkdtemp(prefix="book_site_"))
    app.connect("build-finished", lambda *_: shutil.rmtree(generated), priority=950)
    copy_katex_style(generated / "katex")
    shutil.copy(ROOT / "elmo_toy" / "design_tokens.css", generated)
    (generated / pages.TOGGLE_SETTINGS).write_text(pages.toggle_settings(config), "utf-8")
    if cache := os.environ.get("ELMO_EXECUTION_CACHE"):
        config.nb_execution_cache_path = cache
    config.html_static_path += [str(ROOT / "book" / "_static"), str(generated)]


def copy_katex_style(target: Path) -> None:
    """Copy KaTeX's style sheet with its woff2 fonts; every browser in use reads woff2."""
    dist = npm_packages.package_directory("katex") / "dist"
    shutil.copytree(dist / "fonts", target / "fonts", ignore=shutil.ignore_patterns("*.ttf", "*ff"))
    style = (dist / "katex.min.css").read_text("utf-8")
    style = re.sub(r',url\(fonts/[\w-]+\.(?:woff|ttf)\) format\("\w+"\)', "", style)
    shutil.copy(dist.parent / "LICENSE", target)
    (target / "katex.min.css").write_text(style, "utf-8")


def write_seminar(app: Sphinx, exception: Exception | None) -> None:
    """Write the slides and sheets of the seminar into the site, if this is the book's."""
    if exception is not None or app.builder.format != "html" or Path(app.srcdir) != ROOT:
        return
    import seminar as sheets  # it imports this package

    try:
        sheets.write(Path(app.outdir), katex.renderer)
        for page in sorted((Path(app.outdir) / "seminar").glob("*.html")):
            web.describe_page(app.config, Path(app.outdir), f"seminar/{page.name}")
    except sheets.SourceError as error:
        raise ExtensionError(f"the seminar's slides and sheets: {error}") from error


def setup(app: Sphinx) -> dict[str, Any]:
    """Register everything with Sphinx (not for parallel writing: one KaTeX process answers)."""
    app.connect("config-inited", use_repository_files, priority=100)
    katex.setup(app)
    api.setup(app)
    pages.setup(app)
    policy.setup(app)
    web.setup(app)
    icons.setup(app)
    styles.setup(app)
    later.setup(app)
    launch.setup(app)
    seminar.setup(app)
    page_python.setup(app)
    app.connect("build-finished", write_seminar, priority=400)  # before KaTeX is ended
    app.connect("build-finished", scripts.strip_scripts)
    app.connect("build-finished", scripts.stop_measuring)
    app.connect("build-finished", scripts.find_own_words)
    app.connect("build-finished", weights.write_weights)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
