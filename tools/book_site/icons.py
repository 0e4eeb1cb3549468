"""The icons of the theme: a font that holds the ones in use.

The theme's style sheet has a class for each of Font Awesome's 1,900 icons, and its script draws
them (1.5 MB). The classes work as well without the script, with the font that the theme ships.
After the pages are written, that font is cut down to the icons that occur in them, and the
classes of the others are removed from the style sheet. Font Awesome Free's icons are CC BY 4.0 and
its fonts SIL OFL 1.1; the notice stays in the style sheet.
"""

import logging
import re
import shutil
import tempfile
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

from .data_uri import data_uri

FONT = "fa-solid-900.ttf"
# .fa-bars:before,.fa-navicon:before{content:"\\f0c9"}
ICON_RULE = re.compile(r'((?:\.fa-[\w-]+:+before,?)+)\{content:"([^"]*)"\}')
# --pst-icon-bell:"", the character itself: the icons that style sheets draw
ICON_LITERAL = re.compile(r'content:"\\([ef]\w{3})"')
ICON_VARIABLE = re.compile(r'--pst-icon-[\w-]+:"(.)"')
FONT_FACE = re.compile(r"@font-face\{[^}]*\}")
# FontAwesome's own animations and layouts: spinning, stacking, pulling
UNUSED = re.compile(r"(?:@keyframes fa-|@-webkit-keyframes fa-)[\w-]+\{(?:[^{}]*\{[^}]*\})*\}")


def cut_down(app: Sphinx, exception: Exception | None) -> None:
    """Replace fonts and style sheet of the finished site."""
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    static = site / "_static"
    used = set()
    for page in site.rglob("*.html"):
        used.update(re.findall(r"\bfa-[\w-]+", page.read_text("utf-8")))

    style = static / "styles" / "pydata-sphinx-theme.css"
    css = style.read_text("utf-8")
    book_style = (static / "styles" / "sphinx-book-theme.css").read_text("utf-8")
    characters = {ord(character) for character in ICON_VARIABLE.findall(css)}
    characters.update(int(code, 16) for code in ICON_LITERAL.findall(book_style))

    def keep_if_used(rule: re.Match[str]) -> str:
        selectors, content = rule.groups()
        if not used & set(re.findall(r"fa-[\w-]+", selectors)):
            return ""
        characters.add(int(content.removeprefix("\\"), 16))
        return rule.group()

    css = ICON_RULE.sub(keep_if_used, css)
    css = UNUSED.sub("", css)
    css = FONT_FACE.sub("", css)
    with tempfile.TemporaryDirectory() as scratch:
        font = Path(scratch) / "icons.woff"
        write_font(static / "vendor" / "fontawesome" / "webfonts" / FONT, font, characters)
        # within the style sheet: an icon that arrives later moves its neighbours
        css += (
            '@font-face{font-family:"Font Awesome 6 Free";font-weight:900;font-style:normal;'
            f"src:url({data_uri(font, 'font/woff')})}}"
        )
    style.write_text(css, "utf-8")


def write_font(source: Path, target: Path, characters: set[int]) -> None:
    """Write the glyphs of `characters` as a woff file."""
    options = subset.Options()
    options.flavor = "woff"
    options.layout_features = []
    options.drop_tables += ["FFTM"]
    with TTFont(source) as font:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=characters)
        subsetter.subset(font)
        subset.save_font(font, target, options)


def remove_unused_files(app: Sphinx, exception: Exception | None) -> None:
    """Remove what no page loads: the icon script, the whole fonts, source maps, translations."""
    if exception is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for folder in ("vendor", "locales"):
        shutil.rmtree(static / folder, ignore_errors=True)
    for pattern in ("**/*.map", "scripts/fontawesome.*", "*webpack-macros.html"):
        for path in static.glob(pattern):
            path.unlink()


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    app.connect("build-finished", cut_down, priority=800)
    app.connect("build-finished", remove_unused_files, priority=810)
