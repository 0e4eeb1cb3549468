"""Our own scripts, in the site without the comments and the indentation that the source has."""

import re
from pathlib import Path

from sphinx.application import Sphinx

# Whole lines only: what stands beside code, or within a string, stays.
LEFT_OUT = re.compile(r"^\s*(?://.*|/\*(?:(?!\*/)[\s\S])*\*/)$\n?|^\s+", re.MULTILINE)


def stripped(script: str) -> str:
    """Return `script` with the same code in fewer bytes."""
    return LEFT_OUT.sub("", script)


def strip_scripts(app: Sphinx, exception: Exception | None) -> None:
    """Replace our scripts in the finished site."""
    if exception is None and app.builder.format == "html":
        for script in (Path(app.outdir) / "_static").glob("elmo*.js"):
            script.write_text(stripped(script.read_text("utf-8")), "utf-8")
