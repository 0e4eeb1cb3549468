"""A site of two pages, written by hand: what the archive, the PDF and the EPUB read of a site."""

from __future__ import annotations

from pathlib import Path

FRONT = "book/index.html"
CHAPTER = "notebooks/01_mixture.html"

NAVIGATION = """<nav class="bd-links"><ul><li><a class="reference internal" href="{front}">The book
</a></li></ul><p class="caption"><span>The <i>mixture</i> &amp; more</span></p>
<ul><li><a class="reference internal" href="{chapter}">1 · One mixture</a></li></ul></nav>"""

PAGE = """<!DOCTYPE html><html lang="en"><body>{navigation}<article class="bd-article">
<section id="{id}"><h1>{title}<a class="headerlink" href="#{id}">#</a></h1>{body}</section>
</article></body></html>"""

FORMULA = (
    '<span class="math"><span class="katex"><span class="katex-mathml">'
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow>'
    '<mi mathvariant="script">L</mi></mrow><annotation encoding="application/x-tex">\\mathcal{L}'
    '</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">'
    '<span class="base">L</span></span></span></span>'
)
FIGURE = (
    '<figure class="elmo-figure"><svg xmlns="http://www.w3.org/2000/svg" role="img" '
    'aria-label="A line that falls from left to right" width="90" height="50" '
    'viewBox="0 0 90 50"><defs><clipPath id="cut"><path d="M 0 0 L 90 0 L 90 50 z"/></clipPath>'
    '</defs><path clip-path="url(#cut)" d="M 0 0 L 90 50" '
    'style="fill:none;stroke:var(--elmo-river, #0072b2)"/></svg>'
    "<figcaption>A line.</figcaption></figure>"
)
EXPLORER = (
    '<elmo-mixture id="elmo-mixture" class="elmo-explorer" state="g=1"><div class="elmo-static" '
    'tabindex="0" role="group" aria-label="the mixture in two states"><table><thead><tr>'
    '<th scope="col">state</th><th>loss</th></tr></thead><tbody><tr><th scope="row">upper</th>'
    "<td>0.42</td></tr></tbody></table></div></elmo-mixture>"
    '<elmo-python data="{}"></elmo-python>'
)
CHAPTER_BODY = f"""<p>The loss {FORMULA} on <a class="reference internal" href="#rise">a rise</a>,
<a class="reference internal" href="../book/index.html#end">the end</a>,
<a class="reference internal" href="../book/index.html">the front</a>,
<a class="reference download internal" href="../_downloads/1/demo.py"><code>demo.py</code></a>,
<a class="reference external" href="https://example.org/x">elsewhere</a>.</p>
<h2 id="rise">A rise<a class="headerlink" href="#rise">#</a></h2>
<div class="cell"><details class="hide above-input"><summary>Show the code</summary>
<div class="cell_input"><pre>figures.line()</pre></div></details>{FIGURE}</div>
<details id="answer"><summary>One answer</summary>
<p>It falls.</p></details>
{EXPLORER}
"""
FRONT_BODY = """<div class="sd-card"><div class="sd-card-title">Chapter 1</div><p>It mixes.</p>
<a class="sd-stretched-link sd-hide-link-text" href="../notebooks/01_mixture.html">One</a></div>
<p id="end">The end.</p><div class="toctree-wrapper compound"></div>"""


def write_site(folder: Path, front: str = FRONT_BODY, chapter: str = CHAPTER_BODY) -> Path:
    """Write the site into `folder`, with these texts on its two pages; return it."""
    pages = {
        FRONT: ("#", "../notebooks/01_mixture.html", "The book", front),
        CHAPTER: ("../book/index.html", "#", "One mixture", chapter),
    }
    for name, (to_front, to_chapter, title, body) in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        navigation = NAVIGATION.format(front=to_front, chapter=to_chapter)
        text = PAGE.format(navigation=navigation, id="start", title=title, body=body)
        (folder / name).write_text(text, encoding="utf-8")
    refresh = f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={FRONT}">'
    (folder / "index.html").write_text(refresh, encoding="utf-8")
    katex = folder / "_static" / "katex"
    katex.mkdir(parents=True, exist_ok=True)
    (katex / "katex.min.css").write_text(".katex { font-style: italic }", encoding="utf-8")
    colours = 'html[data-theme="light"] .highlight .k { color: #6730C5 } /* Keyword */\n'
    (folder / "_static" / "pygments.css").write_text(colours, encoding="utf-8")
    return folder
