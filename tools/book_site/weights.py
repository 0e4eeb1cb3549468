"""The language model's weights, as scripts that a page loads when a reader asks for them.

Made from the checkpoint at every build, so that there is one copy of the numbers.
"""

from pathlib import Path

from sphinx.application import Sphinx

from elmo_toy.widgets import _reading

ELEMENT = "<elmo-reader"


def write_weights(app: Sphinx, exception: Exception | None) -> None:
    """Write `_static/weights/` into a finished site that has a page for them."""
    site = Path(app.outdir)
    if exception is not None or app.builder.format != "html":
        return
    if any(ELEMENT in page.read_text("utf-8") for page in site.rglob("*.html")):
        folder = site / "_static" / "weights"
        folder.mkdir(exist_ok=True)
        for number, script in enumerate(_reading.scripts()):
            (folder / f"{_reading.MODEL}-{number}.js").write_text(script, "utf-8")
