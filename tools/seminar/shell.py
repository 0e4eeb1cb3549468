"""What the seminar's pages have in common: head, style sheets, and a way back to the book."""

import html
import re

from book_site.policy import meta_tag

PAGE = """<!DOCTYPE html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{policy}
<title>{title}</title>
<meta name="description" content="{description}">
<link rel="icon" type="image/svg+xml" href="../_static/favicon.svg">
<link rel="stylesheet" href="../_static/design_tokens.css">
<link rel="stylesheet" href="../_static/katex/katex.min.css">
<link rel="expect" href="#end" blocking="render">
<link rel="stylesheet" href="page.css">
<link rel="stylesheet" href="{name}.css">
<script src="early.js"></script>
{scripts}</head>
<body>
<a class="skip" href="#content">Skip to the {kind}</a>
<header class="bar">
<nav aria-label="Seminar">{links}</nav>
{controls}</header>
<main><article id="content" tabindex="-1">
{body}
</article></main>
<div id="end"></div>
{after}</body>
</html>
"""
#: Only the first cells of rows come with a scope of their own.
UNSCOPED = re.compile(r"<th(?![^>]*\bscope=)([ >])")
LINKS = {
    "../book/seminar/index.html": "The seminar kit",
    "slides.html": "Slides",
    "worksheet.html": "Worksheet",
    "worksheet-key.html": "Its key",
    "handout.html": "Handout",
}


def page(
    name: str,
    body: str,
    *,
    title: str,
    description: str,
    kind: str,
    style: str,
    scripts: tuple[str, ...] = (),
    controls: str = "",
    after: str = "",
) -> str:
    """Return a whole page; `style` and `scripts` name files beside it, `controls` go into its bar.

    Nothing is painted before the whole page is there, as in the book: a table whose rows still
    arrive changes its columns. The comment in the bar is where `print_seminar.py` puts a link to
    the page's PDF.
    """
    here = f"{name}.html"
    links = "".join(
        f'<a href="{address}"{" aria-current=page" if address == here else ""}>{text}</a>'
        for address, text in LINKS.items()
    )
    return PAGE.format(
        policy=meta_tag(),
        title=html.escape(title),
        description=html.escape(description),
        name=style,
        scripts="".join(f'<script src="{script}" defer></script>\n' for script in scripts),
        kind=kind,
        links=f"{links}<!-- PDF -->",
        controls=controls,
        body=UNSCOPED.sub(r'<th scope="col"\1', body),
        after=after,
    )
