"""The icons of the theme: fonts that hold the ones in use.

The theme's style sheet has a class for each of Font Awesome's 1,900 icons, and its script draws
them (1.5 MB). The classes work as well without the script, with the fonts that the theme ships.
After the pages are written, those fonts are cut down to the icons that occur in them, and the
classes of the others are removed from the style sheet. Font Awesome Free's icons are CC BY 4.0 and
its fonts SIL OFL 1.1; the notice stays in the style sheet.
"""

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from .fonts import small_font

SHEET = "icons.css"
# file of the theme -> how its style sheet names the font
FONTS = {
    "fa-solid-900.ttf": 'font-family:"Font Awesome 6 Free";font-weight:900',
    "fa-brands-400.ttf": 'font-family:"Font Awesome 6 Brands";font-weight:400',
}
# .fa-bars:before,.fa-navicon:before{content:"\f0c9"}
CLASS_RULE = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\([0-9a-f]+) ?"\}')
# What style sheets draw: --pst-icon-bell:"", with the character itself, or content:"\f107"
VARIABLE = re.compile(r'--pst-icon-[\w-]+:"(.)"')
LITERAL = re.compile(r'content:"\\(f[0-9a-f]{3})"')
FONT_FACE = re.compile(r"@font-face\{[^}]*\}")
# for icons that spin or bounce, which no page has
ANIMATION = re.compile(r"@(?:-webkit-)?keyframes fa-[\w-]+\{(?:[^{}]*\{[^}]*\})*\}")


def cut_down(app: Sphinx, exception: Exception | None) -> None:
    """Replace the icons of the finished site."""
    if exception is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    used = set()
    for page in Path(app.outdir).rglob("*.html"):
        used.update(re.findall(r"\bfa-[\w-]+", page.read_text("utf-8")))
    style = static / "styles" / "pydata-sphinx-theme.css"
    css, characters = keep_used_classes(style.read_text("utf-8"), used)
    book_style = (static / "styles" / "sphinx-book-theme.css").read_text("utf-8")
    characters.update(int(code, 16) for code in LITERAL.findall(book_style))
    style.write_text(css, "utf-8")
    faces = ""
    for file, name in FONTS.items():
        font = small_font(static / "vendor" / "fontawesome" / "webfonts" / file, characters)
        if font:
            # within a style sheet: an icon that arrives later moves its neighbours; and within a
            # small one, so that the fonts are ready for the first layout (see early.js)
            faces += f"@font-face{{{name};font-style:normal;src:url({font})}}"
    (static / SHEET).write_text(faces, "utf-8")


def keep_used_classes(css: str, used: set[str]) -> tuple[str, set[int]]:
    """Return `css` without the classes of unused icons, and the characters of the others."""
    characters = {ord(character) for character in VARIABLE.findall(css)}
    found = set()

    def keep_if_used(rule: re.Match[str]) -> str:
        classes = used & set(re.findall(r"fa-[\w-]+", rule.group(1)))
        found.update(classes)
        if classes:
            characters.add(int(rule.group(2), 16))
        return rule.group() if classes else ""

    css = CLASS_RULE.sub(keep_if_used, css)
    if not found or not characters:
        raise ExtensionError("the theme's style sheet names its icons in an unknown way")
    return FONT_FACE.sub("", ANIMATION.sub("", css)), characters


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
    app.connect("build-finished", cut_down, priority=800)
    app.connect("build-finished", remove_unused_files, priority=810)
