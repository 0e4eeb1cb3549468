"""Python in the page: the core of Pyodide, as scripts that a page loads when a reader asks for it.

A browser lets a page from disk fetch nothing, but run scripts that lie beside it. So the two files
that Pyodide fetches, the compiled interpreter and the standard library, become text in classic
scripts, and one way to load serves a site on a server, on disk and in the archive. Pyodide's own
scripts are those of its package, to the letter. Nothing is left out and nothing can be added: the
list of packages that Pyodide may load is empty.
"""

import gzip
import html
import json
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any

import npm_packages
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

FOLDER = "pyodide"
ELEMENT = "<elmo-python"
# Each is half a megabyte and more, so that the progress is seen on a slow line.
PARTS = 12
SCRIPTS = ("pyodide.asm.js", "pyodide.js")
FETCHED = ("pyodide.asm.wasm", "python_stdlib.zip")
RUN = Path(__file__).with_name("page_python_run.py")
LICENCE = Path(__file__).with_name("page_python_licence.txt")


@cache
def loaded_files() -> dict[str, bytes]:
    """Return the scripts that a page loads, in their order; fetches the package if need be."""
    package = npm_packages.package_directory("pyodide")
    files = {name: (package / name).read_bytes() for name in SCRIPTS}
    content = b"".join((package / name).read_bytes() for name in FETCHED)
    text = b64encode(gzip.compress(content, mtime=0)).decode()
    length = -(-len(text) // PARTS)
    for i in range(PARTS):
        part = json.dumps(text[i * length : (i + 1) * length])
        files[f"part-{i}.js"] = f"(globalThis.ElmoPython??=[])[{i}]={part};\n".encode()
    return files


@cache
def about() -> dict[str, Any]:
    """Return what the page is told: the files' names, sizes and versions, how to run a script.

    `size` is what is asked of a server that compresses nothing, or of a disk; `sent` what comes
    from one that does.
    """
    package = npm_packages.package_directory("pyodide")
    lock = json.loads((package / "pyodide-lock.json").read_text("utf-8"))
    files = loaded_files()
    size = sum(map(len, files.values()))
    sent = sum(len(gzip.compress(content)) for content in files.values())
    return {
        "files": list(files),
        "unpacked": {name: (package / name).stat().st_size for name in FETCHED},
        "size": f"{size / 1e6:.1f} MB",
        "sent": f"{sent / 1e6:.1f} MB",
        "pyodide": npm_packages.PACKAGES["pyodide"].version,
        "run": RUN.read_text("utf-8"),
        "lock": {"info": lock["info"], "packages": {}},
    }


class RunHere(SphinxDirective):
    """Where the control stands that runs the next listing of its section."""

    def run(self) -> list[nodes.Node]:
        """Write an element that its script fills: without scripts there is nothing to see."""
        try:
            data = html.escape(json.dumps(about()))
        except (RuntimeError, OSError) as error:  # no network: Sphinx would ask for a report
            raise ExtensionError(str(error)) from error
        return [nodes.raw("", f'{ELEMENT} data="{data}"></elmo-python>\n', format="html")]


def write_python(app: Sphinx, exception: Exception | None) -> None:
    """Write `_static/pyodide/` into a finished site that has a page for it."""
    site = Path(app.outdir)
    if exception is not None or app.builder.format != "html":
        return
    if any(ELEMENT in page.read_text("utf-8") for page in site.rglob("*.html")):
        folder = site / "_static" / FOLDER
        folder.mkdir(exist_ok=True)
        for name, content in loaded_files().items():
            (folder / name).write_bytes(content)
        (folder / "LICENCE.txt").write_bytes(LICENCE.read_bytes())


def setup(app: Sphinx) -> None:
    """Connect to Sphinx, after the style sheets looked for names in the site's own scripts."""
    app.add_directive("run-here", RunHere)
    app.connect("build-finished", write_python, priority=850)
