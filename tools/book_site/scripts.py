"""Our own scripts, in the site without the comments and the spaces that the source has.

The theme's, without what has the whole page laid out at their start. And Sphinx's search, which
finds only words that are there.
"""

import re
from pathlib import Path

from pygments.lexers.javascript import JavascriptLexer
from pygments.token import Comment, Whitespace
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

# After these a line may as well go on.
OPEN = ("{", "(", "[", ",", ";")
INDENTATION = re.compile(r"^\s+", re.MULTILINE)
# What would be read as one word, or as another sign, without the space between.
JOINED = re.compile(r"[\w$]{2}|\+\+|--|//|/\*")
# Where the theme's scripts have the whole page laid out before it is drawn, and what they do
# instead: the first measures each block of code, which elmo.js does; the second, how high the head
# of the page is, which can wait until a reader scrolls.
HEAD = 'document.getElementsByClassName("bd-header")[0]'
MEASURING = {
    "pydata-sphinx-theme.js": (
        r""""complete"===document\.readyState\?(\w+)\(\):window\.addEventListener\("load",\1\)""",
        "0",
    ),
    "bootstrap.js": (
        rf",([\w$]+)={re.escape(HEAD)}\.getBoundingClientRect\(\)"
        r"((?:(?!\1\.)[^}])*>)\1\.bottom(?![^}]*\b\1\.)",
        rf"\2{HEAD}.offsetHeight",
    ),
}
# Sphinx looks a reader's words up in plain objects, where "constructor" is a function that nobody
# put there. Sphinx 8.2 asks first; until then, that is all that the objects know.
INDEX = r"\bSearch\._index = index;"
BARE = r"""\g<0>
    for (const words of [index.terms, index.titleterms]) {
      Object.setPrototypeOf(words, { __proto__: null, hasOwnProperty: words.hasOwnProperty });
    }"""


def stripped(script: str) -> str:
    r"""Return `script` with the same code in fewer bytes.

    A line still ends where a semicolon might be missing. What is in a string or a template stays,
    but for its indentation.

    >>> stripped('// of three\nconst x = [1, 2].map((i) => `a  ${i + +1}`);  // b\n')
    'const x=[1,2].map((i)=>`a  ${i+ +1}`);'
    """
    code = space = ""
    for kind, text in JavascriptLexer(ensurenl=False, stripnl=False).get_tokens(script):
        if kind in Comment:
            continue
        if kind in Whitespace and "\n" not in text:
            space = " "
        elif kind in Whitespace:
            code += "" if code.endswith(OPEN) else "\n"
            space = ""
        else:
            code += (space if JOINED.fullmatch(code[-1:] + text[:1]) else "") + text
            space = ""
    return INDENTATION.sub("", code)


def strip_scripts(app: Sphinx, exception: Exception | None) -> None:
    """Replace our scripts in the finished site."""
    if exception is None and app.builder.format == "html":
        for script in (Path(app.outdir) / "_static").glob("elmo*.js"):
            script.write_text(stripped(script.read_text("utf-8")), "utf-8")


def stop_measuring(app: Sphinx, exception: Exception | None) -> None:
    """Take out of the theme's scripts what has the whole page laid out at their start."""
    if exception is None and app.builder.name == "html":
        for name, (measuring, instead) in MEASURING.items():
            script = Path(app.outdir) / "_static" / "scripts" / name
            _replace(script, measuring, instead, "the theme measures the page on load")


def find_own_words(app: Sphinx, exception: Exception | None) -> None:
    """Let the search find no word that every object of the language has."""
    if exception is None and app.builder.name == "html":
        script = Path(app.outdir) / "_static" / "searchtools.js"
        _replace(script, INDEX, BARE, "the search takes its index")


def _replace(script: Path, pattern: str, instead: str, what: str) -> None:
    """Change the one place of a script that is not ours."""
    text, n = re.subn(pattern, instead, script.read_text("utf-8"))
    if n != 1:
        raise ExtensionError(
            f"{script.name}: expected one place where {what}, found {n}; this version needs "
            "another way (see scripts.py)"
        )
    script.write_text(text, "utf-8")
