"""One style sheet for all pages, of the rules that they use.

The theme's style sheets have rules for all that any site might hold (310 kB), and a page waits for
ten of them before it shows anything. After the pages are written, the sheets are put together in
their order, without the rules whose classes or ids are on no page and in no script. KaTeX's stays
apart, for the pages with formulas, and its fonts are cut down to the signs in use.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

BUNDLE = "book.css"
KATEX = "_static/katex/katex.min.css"
THEME = ("_static/styles/theme.css", "_static/styles/pydata-sphinx-theme.css")
# Bootstrap's script puts these names together: "bs-" + "tooltip" + "-auto"
MADE_BY_SCRIPTS = re.compile(r"bs-tooltip-\w+")
TOKEN = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\.|[{}();]""", re.DOTALL)
COMMENT = re.compile(r"/\*(?!!).*?\*/", re.DOTALL)  # a licence's notice begins with /*!
NAME = re.compile(r"[.#]((?:[\w-]|\\.)+)")
ATTRIBUTE = re.compile(r'\b(?:class|id)="([^"]*)"')
WORD = re.compile(r"[\w-]+")
REFERENCE = re.compile(r"url\(\s*(['\"]?)(?!data:|#)([^'\")]+)\1\s*\)")
IMPORT = re.compile(r"""@import\s+['"]([^'"]+)['"]\s*;""")

sheets: list[str] = []  # of all pages, in their order; filled as pages are written


def remember_sheets(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Note which style sheets there are, before some of them are left out of this page."""
    if app.builder.name == "epub":  # which has sheets of its own
        return
    names = [str(sheet.filename) for sheet in context["css_files"] if sheet.filename]
    if not sheets:
        sheets.extend([*THEME, *(name for name in names if name != KATEX)])
    context["css_files"] = [sheet for sheet in context["css_files"] if sheet.filename == KATEX]


def rules(css: str) -> Iterator[tuple[str, str | None]]:
    """Yield each rule of a style sheet: what stands before its block, and the block, if any."""
    start = inside = depth = brackets = 0
    for token in TOKEN.finditer(css):
        sign = token.group()
        if sign in "()":
            brackets += 1 if sign == "(" else -1
        elif brackets:
            continue
        elif sign == "{":
            depth += 1
            if depth == 1:
                inside = token.end()
        elif sign == "}":
            depth -= 1
            if depth == 0:
                yield css[start : inside - 1].strip(), css[inside : token.start()]
                start = token.end()
        elif sign == ";" and depth == 0:
            yield css[start : token.end()].strip(), None
            start = token.end()


def selectors(prelude: str) -> list[str]:
    """Return the selectors of a rule; a comma within brackets parts none."""
    found, start, depth = [], 0, 0
    for place, sign in enumerate(prelude):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            found.append(prelude[start:place].strip())
            start = place + 1
    return [*found, prelude[start:].strip()]


def is_used(selector: str, words: set[str]) -> bool:
    """Say whether a selector can mean something: each class and id of it occurs.

    What is in brackets counts for nothing: `:not(.a)` means what has no `a`, and `:is(.a, .b)` is
    kept though it may mean nothing.
    """
    outside = re.sub(r"\[[^\]]*\]", "", selector)
    while "(" in outside:
        shorter = re.sub(r"\([^()]*\)", "", outside)
        if shorter == outside:
            return True
        outside = shorter
    names = (re.sub(r"\\(.)", r"\1", name) for name in NAME.findall(outside))
    return all(name in words or MADE_BY_SCRIPTS.fullmatch(name) for name in names)


def keep_used(css: str, words: set[str]) -> str:
    """Return a style sheet without the rules that mean nothing, and without comments."""
    kept = []
    for prelude, body in rules(COMMENT.sub("", css)):
        if body is None:
            kept += [] if prelude.startswith("@charset") else [prelude]
        elif prelude.startswith(("@media", "@supports", "@container")):
            inner = keep_used(body, words)
            kept += [f"{prelude}{{{inner}}}"] if inner else []
        elif prelude.startswith("@"):  # keyframes, fonts, pages
            kept.append(f"{prelude}{{{body}}}")
        else:
            notice, _, prelude = prelude.rpartition("*/")
            left = [one for one in selectors(prelude) if is_used(one, words)]
            notice = f"{notice}*/" if notice else ""
            kept += [f"{notice}{','.join(left)}{{{body}}}"] if left else [notice] * bool(notice)
    return re.sub(r"\s*\n\s*", " ", "\n".join(kept))


def read(static: Path, name: str) -> str:
    """Return a style sheet with what it imports, its addresses relative to `static`."""
    path = (static.parent / name).resolve()
    css = path.read_text("utf-8")

    def moved(reference: re.Match[str]) -> str:
        target = (path.parent / reference.group(2)).resolve()
        return f"url({target.relative_to(static.resolve()).as_posix()})"

    css = REFERENCE.sub(moved, css)
    return IMPORT.sub(lambda found: read(static, str(path.parent / found.group(1))), css)


def occurring_words(site: Path) -> set[str]:
    """Return the classes and ids of all pages, and every word of the scripts."""
    words: set[str] = set()
    for page in site.rglob("*.html"):
        for names in ATTRIBUTE.findall(page.read_text("utf-8")):
            words.update(names.split())
    for script in (site / "_static").rglob("*.js"):
        words.update(WORD.findall(script.read_text("utf-8")))
    return words


def bundle(app: Sphinx, exception: Exception | None) -> None:
    """Write the style sheet of the finished site."""
    if exception is not None or app.builder.format != "html" or not sheets:
        return
    site = Path(app.outdir)
    static = site / "_static"
    words = occurring_words(site)
    css = "\n".join(keep_used(read(static, name), words) for name in sheets)
    (static / BUNDLE).write_text(css, "utf-8")
    sheets.clear()


def setup(app: Sphinx) -> None:
    """Connect to Sphinx: after the icons are cut down, before unused files are removed."""
    app.connect("html-page-context", remember_sheets, priority=945)
    app.connect("build-finished", bundle, priority=805)
