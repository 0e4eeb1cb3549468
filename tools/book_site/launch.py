"""Where else a notebook runs: the theme's links, by name, and a maker of links for a class's hub.

The theme draws its links to Binder and Colab with pictures that repeat their names; without them a
link is its name, and a page loads nothing for it. The directive ``{hub-links}`` writes the form of
`book/_static/elmo-links.js`, with this repository's address and notebooks in it, and
``{install-lines}`` what installs the package from there.
"""

import html
import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

HEADING = re.compile(r"^# (.+)$", re.MULTILINE)

FORM = """<div class="elmo-links" data-repository="{repository}">
<form class="pst-js-only" novalidate>
<p><label for="elmo-links-hub">Address of the hub</label>
<input id="elmo-links-hub" name="hub" type="url" inputmode="url" autocomplete="off"
 spellcheck="false" placeholder="https://hub.example.org" aria-describedby="elmo-links-said"></p>
<p><label for="elmo-links-branch">Branch or tag</label>
<input id="elmo-links-branch" name="branch" type="text" autocomplete="off" spellcheck="false"
 value="{branch}" aria-describedby="elmo-links-said"></p>
<p><label for="elmo-links-notebook">Notebook</label>
<select id="elmo-links-notebook" name="notebook">{options}</select></p>
<p id="elmo-links-said" role="status">Type the address of your hub.</p>
<p class="elmo-links-made" hidden><a href="{repository}">{repository}</a></p>
<p><button type="button" disabled>Copy the link</button></p>
</form>
<p>The pattern, with HUB, BRANCH and NOTEBOOK to be replaced, each slash in the last as
<code>%2F</code>:</p>
<pre tabindex="0"><code>{pattern}</code></pre>
</div>
"""
PATTERN = (
    "https://HUB/hub/user-redirect/git-pull"
    "?repo={repository}&urlpath=lab%2Ftree%2F{folder}%2FNOTEBOOK&branch=BRANCH"
)
INSTALL = """\
python -m venv elmo
elmo/bin/pip install jupyterlab "elmo-toy[notebooks] @ git+{repository}@{branch}"
elmo/bin/jupyter lab"""


def name_links(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Let the theme's menu of links say in words what they do."""
    for group in context.get("header_buttons", []):
        if group.get("label") == "launch-buttons":
            group["tooltip"] = "Run this notebook"
            for button in group["buttons"]:
                button["text"] = f"Run on {button['text']}"
                del button["icon"], button["tooltip"]


def title_of(notebook: Path) -> str:
    """Return a notebook's title, as its first heading says."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    found = HEADING.search(text)
    if found is None:
        raise ExtensionError(f"{notebook} has no title")
    return found[1]


class HubLinks(SphinxDirective):
    """The form that makes a link for nbgitpuller."""

    def run(self) -> list[nodes.Node]:
        """Write it, and in words what it does where no script runs."""
        theme = self.config.html_theme_options
        repository, branch = theme["repository_url"], theme["repository_branch"]
        options = []
        for notebook in sorted(Path(self.env.srcdir, "notebooks").glob("*.ipynb")):
            self.env.note_dependency(str(notebook))
            value, title = f"notebooks/{notebook.name}", title_of(notebook)
            number = re.match(r"0*(\d+)_", notebook.name)
            text = f"{number[1]} · {title}" if number else title
            options.append(f'<option value="{html.escape(value)}">{html.escape(text)}</option>')
        pattern = PATTERN.format(
            repository=re.sub(r"[:/]", lambda sign: f"%{ord(sign[0]):02X}", repository),
            folder=repository.rpartition("/")[2],
        )
        text = FORM.format(
            repository=html.escape(repository),
            branch=html.escape(branch),
            options="".join(options),
            pattern=html.escape(pattern),
        )
        return [nodes.raw("", text, format="html")]


class InstallLines(SphinxDirective):
    """What a student types to have the notebooks' package, with this repository's address."""

    def run(self) -> list[nodes.Node]:
        """Write it as any other listing."""
        theme = self.config.html_theme_options
        text = INSTALL.format(repository=theme["repository_url"], branch=theme["repository_branch"])
        return [nodes.literal_block(text, text, language="bash")]


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_directive("hub-links", HubLinks)
    app.add_directive("install-lines", InstallLines)
    app.connect("html-page-context", name_links, priority=950)
