"""Blocks that the browser may lay out later: which they are, and how high they are said to be."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from book_site.later import LARGE, Blocks, marked
from book_site.scripts import find_own_words, stop_measuring
from sphinx.errors import ExtensionError

MANY = "<i></i>" * LARGE


def page(block: str, deeper: str = "") -> str:
    """A page with one block below a second heading, and what stands below a third."""
    return (
        f'<section id="a"><h1>A</h1><p>{MANY}</p><section id="b"><h2>B</h2>\n{block}'
        f"<section><h3>C</h3>{deeper}</section></section></section>"
    )


def heights(block: str) -> tuple[int, int]:
    """Return the heights on a phone and on a desk of the one block of a page that is no heading."""
    found = Blocks(page(block)).found[1]
    return found.height(desk=False), found.height(desk=True)


def test_large_blocks_below_a_second_heading_are_marked() -> None:
    """At any depth from there, and with nothing of the page changed but for the mark."""
    before = page(f'<p class="x">{MANY}</p><p>small</p>', f"<div><p>{MANY}</p></div>")
    after = marked(before)
    mark = re.compile(r' data-later style="--phone:\d+px;--desk:\d+px"')
    assert mark.sub("", after) == before
    assert re.findall(r"<(\w+) data-later", after) == ["p", "div"]
    assert re.search(r'<p data-later style="[^"]+" class="x"><i>', after)


@pytest.mark.parametrize(
    "block",
    [
        "<p>" + "<i></i>" * (LARGE - 2) + "</p>",
        f'<p style="color: red">{MANY}</p>',
        f'<div class="kit-quiz docutils">{MANY}</div>',
        f"<div><elmo-mixture></elmo-mixture>{MANY}</div>",
    ],
    ids=["one element too few", "styled", "a quiz", "an explorer"],
)
def test_other_blocks_stay(block: str) -> None:
    """Small ones, and those whose style or height is another's business."""
    assert "data-later" not in marked(page(block))


@pytest.mark.parametrize(
    "before", ["<hr/>", '<img src="a.png">', "</p>", "<!-- <div> -->", "words"]
)
def test_what_holds_nothing_is_no_block(before: str) -> None:
    """The mark is on the block that follows, and a tag that ends nothing ends no section."""
    assert re.findall(r"<(\w+) data-later", marked(page(f"{before}<div>{MANY}</div>"))) == ["div"]


def test_text_takes_more_lines_on_a_phone() -> None:
    """88 signs: two lines there, 1.1 here, and the space around a paragraph."""
    assert heights(f"<p>{'word ' * 17}end</p>") == (
        round(26.4 * (88 / 44 + 0.75)),
        round(26.4 * (88 / 80 + 0.75)),
    )


def test_lines_of_code_are_counted_where_they_are_seen() -> None:
    """Three lines, and none of those that are folded away with their heading."""
    code = "<pre>a\n<b>b</b>\nc\n</pre>"
    assert heights(f"<div>{code}</div>") == (round(3 * 16.2 + 32),) * 2
    folded = f"<details><summary>Show</summary>{code}</details>"
    assert heights(f"<div>{folded}</div>") == (45, 45)
    opened = folded.replace("<details>", "<details open>")
    assert heights(f"<div>{opened}</div>")[1] > 3 * 16.2 + 32


def test_panels_stand_side_by_side_on_a_desk_and_shrink_on_a_phone() -> None:
    """Icons and the brackets of formulas are no panels."""
    panel = '<svg width="728" height="300" viewBox="0 0 728 300"><path d=""/></svg>'
    icon = '<svg width="24" height="24" viewBox="0 0 24 24"></svg>'
    bracket = '<svg width="0.667em" height="3.6em" viewBox="0 0 667 3600"></svg>'
    two = f"<div>{panel}{panel}{icon}{bracket}</div>"
    assert heights(two) == (300, round(300 * 700 / 728))
    assert heights(two.replace("0 0 728 300", "0,0 , 728.0,300")) == heights(two)
    assert heights(two.replace("0 0 728 300", "none")) == (26, 26)


def test_what_a_screen_reader_hears_of_a_formula_takes_no_room() -> None:
    """Its rows do, if it stands on a line of its own."""
    inline = "<math><semantics><mi>softmax</mi></semantics></math>"
    assert heights(f"<div>{inline}</div>") == (26, 26)
    rows = '<math display="block"><mtable><mtr>a</mtr><mtr>b</mtr></mtable></math>'
    assert heights(f"<div>{rows}</div>") == (46 + 60, 46 + 60)


MEASURES = '"complete"===document.readyState?Qx():window.addEventListener("load",Qx)'
HEIGHT = (
    'var t=up(),e=document.getElementsByClassName("bd-header")[0].getBoundingClientRect();'
    'window.addEventListener("scroll",(function(){this.oldScroll>this.scrollY&&this.scrollY>e.bottom'
    '?t.style.display="block":t.style.display="none"}))'
)


def theme(folder: Path, script: str = MEASURES, bootstrap: str = HEIGHT) -> SimpleNamespace:
    """Write the theme's scripts of a finished site; returns the application that made it."""
    scripts = folder / "_static" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "pydata-sphinx-theme.js").write_text(script, "utf-8")
    (scripts / "bootstrap.js").write_text(bootstrap, "utf-8")
    return SimpleNamespace(outdir=str(folder), builder=SimpleNamespace(name="html", format="html"))


def test_the_theme_measures_nothing_on_load(tmp_path: Path) -> None:
    """The call is taken out whatever the function is called; the rest stays."""
    stop_measuring(theme(tmp_path, f"function Qx(){{}}e(f),{MEASURES}}})();"), None)
    script = tmp_path / "_static" / "scripts" / "pydata-sphinx-theme.js"
    assert script.read_text("utf-8") == "function Qx(){}e(f),0})();"


def test_the_head_of_the_page_is_measured_when_it_is_scrolled(tmp_path: Path) -> None:
    """Its height was asked for on load, whatever the variable is called."""
    stop_measuring(
        theme(tmp_path, bootstrap=HEIGHT.replace("e=", "a$1=").replace("e.b", "a$1.b")), None
    )
    script = (tmp_path / "_static" / "scripts" / "bootstrap.js").read_text("utf-8")
    head = 'document.getElementsByClassName("bd-header")[0]'
    assert script.startswith('var t=up();window.addEventListener("scroll",')
    assert f"this.scrollY>{head}.offsetHeight?" in script
    assert "getBoundingClientRect" not in script


@pytest.mark.parametrize(
    "scripts",
    [
        {"bootstrap": HEIGHT.replace("?t", "+e.top?t")},
        {"script": "b()"},
        {"bootstrap": "b()"},
        {"script": f"{MEASURES},{MEASURES}"},
    ],
)
def test_a_theme_that_measures_elsewhere_fails_the_build(
    scripts: dict[str, str], tmp_path: Path
) -> None:
    """Or pages would grow slow without anybody's notice."""
    found = 2 if scripts.get("script", "").count("complete") == 2 else 0
    with pytest.raises(ExtensionError, match=rf"expected one place .* found {found}"):
        stop_measuring(theme(tmp_path, **scripts), None)


def test_a_theme_without_its_scripts_fails_the_build(tmp_path: Path) -> None:
    application = theme(tmp_path)
    (tmp_path / "_static" / "scripts" / "bootstrap.js").unlink()
    with pytest.raises(FileNotFoundError, match=r"bootstrap\.js"):
        stop_measuring(application, None)


@pytest.mark.parametrize(("places", "fails"), [(1, False), (0, True), (2, True)])
def test_a_search_that_takes_its_index_elsewhere_fails_the_build(
    places: int, fails: bool, tmp_path: Path
) -> None:
    """The words of the index become all that its objects know; where, has to be known."""
    script = tmp_path / "_static" / "searchtools.js"
    application = theme(tmp_path)
    script.write_text("Search._index = index; a();" * places, "utf-8")
    if fails:
        with pytest.raises(ExtensionError, match=rf"searchtools\.js: .* found {places};"):
            find_own_words(application, None)
        return
    find_own_words(application, RuntimeError("the build failed"))
    assert "__proto__: null" not in script.read_text("utf-8")
    find_own_words(application, None)
    mended = script.read_text("utf-8")
    assert mended.startswith("Search._index = index;\n")
    assert mended.endswith("} a();")
    assert mended.count("__proto__: null") == 1
