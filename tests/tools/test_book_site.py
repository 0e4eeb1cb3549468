import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from book_site import pages, weights
from book_site.icons import keep_used_classes
from book_site.katex import CLOSING, OPENING, FormulaError, Renderer
from book_site.scripts import stripped
from sphinx.errors import ExtensionError


@pytest.fixture
def renderer() -> Iterator[Renderer]:
    renderer = Renderer()
    yield renderer
    renderer.close()


def test_a_formula_is_drawn_and_carries_mathml(renderer: Renderer) -> None:
    html = renderer.render(r"\gamma s_j", display=False)
    assert 'class="katex-html" aria-hidden="true"' in html
    assert "<math" in html
    assert "katex-display" not in html
    assert "katex-display" in renderer.render(r"\gamma s_j", display=True)


@pytest.mark.parametrize("formula", [r"\frac{1}{", r"\unknown", "a – b"])
def test_a_formula_that_latex_would_refuse_is_an_error(renderer: Renderer, formula: str) -> None:
    with pytest.raises(FormulaError):
        renderer.render(formula, display=False)
    assert renderer.render("x", display=False)  # and the next one is set


def test_katex_ends_when_its_input_ends(renderer: Renderer) -> None:
    # as it does when the build is killed: an orphan would hold the build's output open
    renderer.render("x", display=False)
    process = renderer._process
    assert isinstance(process, subprocess.Popen)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=10) == 0


@pytest.mark.parametrize(
    ("text", "glued"),
    [(", then", ","), ("’s).", "’s)."), ("'s", "'s"), (" and", ""), ("-th row", "-"), ("sh", "")],
)
def test_punctuation_after_a_formula(text: str, glued: str) -> None:
    found = CLOSING.match(text)
    assert found is not None
    assert found.group() == glued


def test_punctuation_before_a_formula() -> None:
    found = OPENING.search("the scale (“")
    assert found is not None
    assert found.group() == "(“"
    assert OPENING.search("the scale ") is None


STYLE = r"""
.fa-bars:before,.fa-navicon:before{content:"\f0c9"}.fa-moon:before{content:"\f186"}
@font-face{font-family:Icons;src:url(a.woff2)}html{--pst-icon-bell:"!"}
@keyframes fa-spin{0%{top:0}to{top:1px}}p{margin:0}
"""


def test_style_sheet_keeps_the_icons_in_use() -> None:
    css, characters = keep_used_classes(STYLE, {"fa-navicon", "fa-solid"})
    assert characters == {0xF0C9, ord("!")}
    for kept in ("fa-bars", "--pst-icon-bell", "p{margin:0}"):
        assert kept in css
    for gone in ("fa-moon", "font-face", "keyframes"):
        assert gone not in css


def test_style_sheet_of_another_kind_is_an_error() -> None:
    with pytest.raises(ExtensionError, match="names its icons in an unknown way"):
        keep_used_classes("p{margin:0}", {"fa-bars"})


def test_a_script_loses_comments_and_spaces_and_nothing_else() -> None:
    source = """/* What this is,
   in two lines. */

(() => {
  // why
  const url = "https://x  y"; // gone
  /* a */ const n = 4 /* b */;
  let one = n
  one = url.replace(/ \\/\\/ [ /*]/g, "") + +n - -n;
  return `a
    ${url  +  `b  ${ n }`} /* c */ // d`;
})();
"""
    assert stripped(source).splitlines() == [
        '(()=>{const url="https://x  y";const n=4;let one=n',
        'one=url.replace(/ \\/\\/ [ /*]/g,"")+ +n- -n;return`a',
        "${url+`b  ${n}`} /* c */ // d`;})();",
    ]


def test_weights_are_written_for_a_site_that_runs_the_model(tmp_path: Path) -> None:
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html"))
    (tmp_path / "_static").mkdir()
    (tmp_path / "page.html").write_text("<p>elmo-reader</p>", encoding="utf-8")
    weights.write_weights(app, None)
    assert not list(tmp_path.glob("_static/*"))
    (tmp_path / "page.html").write_text("<elmo-reader></elmo-reader>", encoding="utf-8")
    weights.write_weights(app, RuntimeError("the build failed"))
    assert not list(tmp_path.glob("_static/*"))
    weights.write_weights(app, None)
    written = sorted(tmp_path.glob("_static/weights/english-small-*.js"))
    assert len(written) == 8
    assert sum(file.stat().st_size for file in written) <= 1_500_000


def test_a_page_with_tables_waits_for_its_last_section() -> None:
    """And no other page: what has no table doesn't jump."""
    body = '<section id="first"><section id="last"><table></table></section></section>'
    link = '<link rel="expect" href="#last" blocking="render">\n'
    assert pages.first_paint(body) == link
    assert pages.first_paint(body.replace("table", "p")) == ""
    assert pages.first_paint("<table></table>") == ""
