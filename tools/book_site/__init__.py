"""Sphinx extension: what this book changes about the theme, and what it makes at build time.

The pages must load nothing from another host, read from `file://`, weigh little and be usable with
a keyboard and a screen reader. The theme alone does not do that, so this extension

* sets mathematics with KaTeX while the book is built, and turns a formula that KaTeX refuses into
  a warning (`katex`);
* replaces the theme's icon script (542 kB gzipped) by a font of the icons in use (`icons`);
* loads a script only on the pages that need it, and gives images their size (`pages`);
* leaves out the comments and the spaces of this book's own scripts (`scripts`);
* writes the weights of the language model that a page runs when it is asked to (`weights`);
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

from . import icons, katex, pages, scripts, weights
from .data_uri import data_uri

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
    if cache := os.environ.get("ELMO_EXECUTION_CACHE"):
        config.nb_execution_cache_path = cache
    config.html_static_path += [str(ROOT / "book" / "_static"), str(generated)]


FORMULA_FONTS = {
    *("Main-Regular", "Math-Italic", "Caligraphic-Regular"),
    *("Size1-Regular", "Size2-Regular", "Size3-Regular"),
}


def copy_katex_style(target: Path) -> None:
    """Copy KaTeX's style sheet with its woff2 fonts; every browser in use reads woff2.

    The fonts that the book's formulas use go into the style sheet itself: one that arrives after
    the first paint makes the lines around each formula jump.
    """
    dist = npm_packages.package_directory("katex") / "dist"
    (target / "fonts").mkdir(parents=True)
    style = (dist / "katex.min.css").read_text("utf-8")
    style = re.sub(r',url\(fonts/[\w-]+\.(?:woff|ttf)\) format\("\w+"\)', "", style)
    for font in dist.glob("fonts/*.woff2"):
        if font.stem.removeprefix("KaTeX_") in FORMULA_FONTS:
            style = style.replace(f"url(fonts/{font.name})", f"url({data_uri(font, 'font/woff2')})")
        else:
            shutil.copy(font, target / "fonts")
    shutil.copy(dist.parent / "LICENSE", target)
    (target / "katex.min.css").write_text(style, "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register everything with Sphinx (not for parallel writing: one KaTeX process answers)."""
    app.connect("config-inited", use_repository_files, priority=100)
    katex.setup(app)
    pages.setup(app)
    icons.setup(app)
    app.connect("build-finished", scripts.strip_scripts)
    app.connect("build-finished", weights.write_weights)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
