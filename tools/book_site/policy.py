"""What a page may load and run: its Content-Security-Policy, in a meta tag.

Everything comes from the site's own folder, served or opened from disk (`'self'` matches both in
Chromium and Firefox). Nothing comes from another host, no inline script or handler runs, and no
text is evaluated as code. Two things are let through:

* `style=""` attributes and `<style>` elements, since KaTeX places the parts of a formula with them
  and the figures their colours; a style cannot load anything from elsewhere either.
* What a page asks for in its front matter, out of `EXTRA_SCRIPT_SOURCES`: a page that runs
  WebAssembly says `script_sources: wasm-unsafe-eval`. That compiles WebAssembly and nothing else.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from .scripts import stripped

DIRECTIVES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self' data:",
    "connect-src": "'self'",  # the search fetches the lines around a word that it found
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
}
EXTRA_SCRIPT_SOURCES = {"wasm-unsafe-eval"}
EARLY_SCRIPT = stripped(Path(__file__).with_name("early.js").read_text("utf-8"))
"""The one inline script; {mode} stands for light, dark or auto."""


def policy(inline_scripts: Iterable[str] = (), extra: Iterable[str] = ()) -> str:
    """Return a page's policy.

    Parameters
    ----------
    inline_scripts
        The text of each inline script that may run, to the letter.
    extra
        What else the page's scripts may do, out of `EXTRA_SCRIPT_SOURCES`.
    """
    if unknown := set(extra) - EXTRA_SCRIPT_SOURCES:
        raise ValueError(
            f"script_sources: {sorted(unknown)[0]!r} is not allowed, "
            f"only {', '.join(sorted(EXTRA_SCRIPT_SOURCES))}"
        )
    hashes = [hashlib.sha256(script.encode()).digest() for script in inline_scripts]
    scripts = [DIRECTIVES["script-src"], *(f"'{source}'" for source in extra)]
    scripts += [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes]
    directives = {**DIRECTIVES, "script-src": " ".join(scripts)}
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


def meta_tag(inline_scripts: Iterable[str] = (), extra: Iterable[str] = ()) -> str:
    """Return the policy as a tag for a page's head, before anything that it is about."""
    text = policy(inline_scripts, extra)
    return f'<meta http-equiv="Content-Security-Policy" content="{text}">'


def add_policy(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Put the policy of a page before everything that it loads."""
    if app.builder.name == "epub":  # no reading system knows a policy
        return
    early_script = EARLY_SCRIPT.replace("{mode}", context.get("default_mode", "auto"))
    meta: Mapping[str, Any] = context.get("meta") or {}
    try:
        tag = meta_tag([early_script], str(meta.get("script_sources", "")).split())
    except ValueError as error:
        raise ExtensionError(f"{pagename}: {error}") from error
    context["early_script"] = early_script
    context["metatags"] = f"{tag}\n{context.get('metatags', '')}"


def setup(app: Sphinx) -> None:
    """Connect to Sphinx, after whatever else writes into a page's head."""
    app.connect("html-page-context", add_policy, priority=960)
