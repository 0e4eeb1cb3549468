"""The checks of the built site can fail: small faulty books are reported, or do not build."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import normalise_notebooks
import prose_numbers
import pytest
import site_checks
from book_site.policy import meta_tag
from miniature import NOTATION, REPOSITORY, Miniature, notebook
from site_checks import Page, Site
from test_site import CHECKS


def noise(side: int) -> bytes:
    """Make a PNG image that cannot be compressed, of 3 bytes for each of its pixels."""
    rows = b"".join(b"\0" + random.Random(row).randbytes(3 * side) for row in range(side))  # noqa: S311 - no secret
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


SVG = '<svg role="img" {} viewBox="0 0 9 9"><path d="M0 0L9 9" stroke="currentColor"/></svg>'
GOOD_SVG = SVG.format('aria-label="A line that falls to the right" width="9" height="9"')

ALT = """# Images

![](dot.png)

<img src="../_images/dot.png" alt="_images/dot.png is its only name" width="9" height="9">

<figure class="elmo-figure" aria-hidden="true"><svg width="9" height="9"></svg></figure>
"""
FOREIGN = """# Foreign

<script src="https://cdn.example.org/a.js" defer></script>
<iframe src="//video.example.org/1" title="A film"></iframe>
<p style="background: url('https://img.example.org/paper.png')">On paper.</p>
<script>fetch("https://api.example.org/v1")</script>
<style>@import "https://style.example.org/a.css";</style>
"""
POLICY = """# Policy

<p onclick="alert(1)">Press.</p>
<script>document.title = "ran";</script>
<script type="application/json">{"only": "data"}</script>
"""
LINKS = """# Links

<a href="notation.html#nowhere">An anchor that is not there</a>,
<a href="missing.html">a page that is not there</a>,
<a href="/notation.html">the root of some server</a>,
<a href="../../elsewhere.html">out of the site</a>,
<a href="notation.html#signs">a good one</a>.
"""
HEAVY = """# Heavy

![Noise that no compression makes smaller](noise.png)

<script src="blocking.js"></script><script src="blocking.js"></script>
"""
TEXT = """# Text

<h4 id="deep">Too deep</h4>
<p id="deep">The formula \\$s_j\\$ stays as it is, and so does {{ a variable }}.</p>
"""
WIDGET = """import ipywidgets
ipywidgets.IntSlider(description="gamma")"""
OUTPUT = f"""from IPython.display import HTML
print("RuntimeWarning: overflow encountered in exp")
HTML('{SVG.format('aria-label="Two words" width="100%"')}{GOOD_SVG}')"""


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Build one book whose pages have one kind of fault each; none of them stops a build."""
    book = Miniature(tmp_path_factory.mktemp("faulty"))
    book.write(
        book__notation___md=NOTATION,
        book__dot___png=noise(1),
        book__noise___png=noise(330),
        book__alt___md=ALT,
        book__foreign___md=FOREIGN,
        book__links___md=LINKS,
        book__policy___md=POLICY,
        book__wasm___md="---\nscript_sources: wasm-unsafe-eval\n---\n\n# WebAssembly\n",
        book__heavy___md=HEAVY,
        book__text___md=TEXT,
        notebooks__08_widget___ipynb=notebook("# Widget", WIDGET),
        notebooks__09_output___ipynb=notebook("# Output\n\n## A section", OUTPUT),
    )
    built = book.build()
    assert built.returncode == 0, built.stdout
    # A script that has no place in the configuration, so it is laid into the finished site.
    script = "let a = 0;" + "".join(f"a += {random.Random(i).random()};" for i in range(3000))  # noqa: S311 - no secret
    (book.site.root / "book" / "blocking.js").write_text(script, encoding="utf-8")
    return book.site


FAULTS: list[tuple[Callable[[Site], list[str]], str, str]] = [
    (site_checks.missing_alt_texts, "book/alt.html", "no real alt text: ''"),
    (site_checks.missing_alt_texts, "book/alt.html", "a file name as its text"),
    (site_checks.missing_alt_texts, "book/alt.html", "hidden from readers"),
    (site_checks.missing_alt_texts, "notebooks/09_output.html", "'Two words'"),
    (site_checks.missing_sizes, "notebooks/09_output.html", "no width"),
    (site_checks.missing_sizes, "notebooks/09_output.html", "no height"),
    (site_checks.foreign_requests, "book/foreign.html", "https://cdn.example.org/a.js"),
    (site_checks.foreign_requests, "book/foreign.html", "//video.example.org/1"),
    (site_checks.foreign_requests, "book/foreign.html", "https://img.example.org/paper.png"),
    (site_checks.foreign_requests, "book/foreign.html", "https://api.example.org/v1"),
    (site_checks.foreign_requests, "book/foreign.html", "https://style.example.org/a.css"),
    (site_checks.unprotected_pages, "book/policy.html", "has the handler onclick"),
    (site_checks.unprotected_pages, "book/policy.html", "'document.title = \"ran\";' is not in"),
    (site_checks.unprotected_pages, "book/foreign.html", "'fetch(\"https:"),
    (site_checks.unprotected_pages, "book/wasm.html", "script-src be 'wasm-unsafe-eval'"),
    (site_checks.broken_links, "book/links.html", "#nowhere"),
    (site_checks.broken_links, "book/links.html", "book/missing.html"),
    (site_checks.broken_links, "book/links.html", "out of the site (/notation.html)"),
    (site_checks.broken_links, "book/links.html", "out of the site (../../elsewhere.html)"),
    (site_checks.duplicated_ids, "book/text.html", "'deep'"),
    (site_checks.kernel_controls, "notebooks/08_widget.html", "state of a live widget"),
    (site_checks.overweight_pages, "book/heavy.html", "noise.png"),
    (site_checks.blocking_scripts, "book/heavy.html", "blocks the page"),
    (site_checks.blocking_scripts, "book/heavy.html", "2 times"),
    (site_checks.warnings_shown, "notebooks/09_output.html", "RuntimeWarning"),
    (site_checks.unrendered_markup, "book/text.html", "$s_j"),
    (site_checks.unrendered_markup, "book/text.html", "{{"),
    (site_checks.disordered_headings, "book/text.html", "h4 'Too deep' follows h1"),
]


@pytest.mark.parametrize(
    ("check", "page", "thing"),
    FAULTS,
    ids=[f"{c.__name__}-{i}" for i, (c, *_) in enumerate(FAULTS)],
)
def test_a_fault_is_reported(
    check: Callable[[Site], list[str]], page: str, thing: str, faulty: Site
) -> None:
    """The check names the page and the thing, and complains about no page without a fault."""
    problems = check(faulty)
    assert any(p.startswith(f"{page}: ") and thing in p for p in problems), "\n".join(problems)
    guilty = {fault_page for fault_check, fault_page, _ in FAULTS if fault_check is check}
    assert [p for p in problems if p.split(": ")[0] not in guilty] == []


SMALL_FAULTS: list[tuple[Callable[[Site], list[str]], dict[str, str], str]] = [
    (
        site_checks.foreign_requests,
        {
            "page.html": '<link rel="stylesheet" href="a.css">',
            "a.css": "@font-face { src: url(https://fonts.example.org/a.woff2) }",
        },
        "the file a.css that it loads requests https://fonts.example.org/a.woff2",
    ),
    (
        site_checks.foreign_requests,
        {
            "page.html": '<script src="a.js" defer></script>',
            "a.js": 'fetch("https://api.example.org/v1")',
        },
        "the file a.js that it loads requests https://api.example.org/v1",
    ),
    (
        site_checks.kernel_controls,
        {"page.html": '<button class="btn thebe-launch">Run</button>'},
        "is a control that needs a kernel",
    ),
    (
        site_checks.kernel_controls,
        {"page.html": '<script src="_static/embed-amd.js"></script>'},
        "loads the front end of a kernel",
    ),
    (
        site_checks.kernel_controls,
        {"page.html": '<div class="cell_output">FloatSlider(value=1.0)</div>'},
        "an output shows 'FloatSlider(value=' instead of a widget",
    ),
    *(
        (
            site_checks.warnings_shown,
            {"page.html": f'<article><div class="{classes}">it went wrong</div></article>'},
            "is an error message",
        )
        for classes in ("output traceback", "output stderr", "system-message")
    ),
    (
        site_checks.tables_without_headers,
        {"page.html": "<table><tr><td>1</td></tr></table>"},
        "has no header",
    ),
    (
        site_checks.tables_without_headers,
        {"page.html": "<table><tr><th>loss</th></tr><tr><td>1</td></tr></table>"},
        "the header 'loss' has no scope",
    ),
    (site_checks.vague_links, {"page.html": '<a href="a.html"> here </a>'}, "is called 'here'"),
    (site_checks.vague_links, {"page.html": '<a href="a.html"></a>'}, "is called ''"),
    (
        site_checks.missing_alt_texts,
        {"page.html": '<svg aria-label="A line that falls to the right"></svg>'},
        'is neither role="img" nor hidden',
    ),
    (
        site_checks.unrendered_markup,
        {"page.html": '<p class="katex"><span class="katex-error">frac 1</span></p>'},
        "an equation could not be set: 'frac 1'",
    ),
    (
        site_checks.unrendered_markup,
        {"page.html": '<span class="math">x squared</span>'},
        "an equation could not be set: 'x squared'",
    ),
    (
        site_checks.disordered_headings,
        {"page.html": "<h1>One</h1><h1>Two</h1>"},
        "its headings start with [1, 1], expected one h1",
    ),
    (
        site_checks.disordered_headings,
        {"page.html": "<h2>Before</h2><h1>The title</h1>"},
        "its headings start with [2, 1], expected one h1",
    ),
    (
        site_checks.disordered_headings,
        {"page.html": "<p>A page without a title.</p>"},
        "its headings start with [], expected one h1",
    ),
    (
        site_checks.disordered_headings,
        {"page.html": '<h1>One</h1><h2><a class="headerlink">#</a></h2>'},
        "an h2 is empty",
    ),
    (
        site_checks.broken_links,
        {"page.html": '<a href="javascript:void(0)">Press</a>'},
        "uses javascript:, which is no link",
    ),
]


GOOD_POLICY = meta_tag()
POLICIES = {
    "": "its policy has default-src None",
    GOOD_POLICY.replace("default-src 'none'", "default-src *"): "default-src ['*']",
    GOOD_POLICY.replace("base-uri 'none'; ", ""): "base-uri None",
    GOOD_POLICY.replace("script-src 'self'", "script-src 'self' 'unsafe-inline'"): "unsafe-inline",
    GOOD_POLICY.replace("script-src 'self'", "script-src 'unsafe-eval'"): "'unsafe-eval'",
    GOOD_POLICY.replace("img-src 'self'", "img-src https://img.example.org"): "img.example.org",
    f"<script src=a.js></script>{GOOD_POLICY}": "stands before its policy",
}


@pytest.mark.parametrize(("head", "thing"), POLICIES.items(), ids=range(len(POLICIES)))
def test_a_loose_policy_is_reported(head: str, thing: str, tmp_path: Path) -> None:
    """A page without a policy, with a late one, or with one that allows too much."""
    (tmp_path / "page.html").write_text(f"<meta charset=utf-8>{head}", encoding="utf-8")
    problems = site_checks.unprotected_pages(Site(tmp_path))
    assert any(thing in problem for problem in problems), problems
    (tmp_path / "page.html").write_text(f"<meta charset=utf-8>{GOOD_POLICY}", encoding="utf-8")
    assert site_checks.unprotected_pages(Site(tmp_path)) == []


@pytest.mark.parametrize(
    ("check", "files", "thing"),
    SMALL_FAULTS,
    ids=[f"{check.__name__}-{number}" for number, (check, *_) in enumerate(SMALL_FAULTS)],
)
def test_a_fault_in_a_file_written_by_hand_is_reported(
    check: Callable[[Site], list[str]], files: dict[str, str], thing: str, tmp_path: Path
) -> None:
    """The check reports the one fault, of a kind that a small book hardly produces."""
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (problem,) = check(Site(tmp_path))
    assert problem.startswith("page.html: ")
    assert thing in problem


def test_every_check_has_a_canary() -> None:
    """Each check rejects a page above, or below where a long page need not be written."""
    met = {fault[0] for fault in (*FAULTS, *SMALL_FAULTS)} | {site_checks.long_html}
    assert met == set(CHECKS)


def test_a_long_page_is_reported(tmp_path: Path) -> None:
    """A page is too long as a whole, or by a file that is encoded in it."""
    image = '<img src="data:image/png;base64,AAAA">'
    (tmp_path / "page.html").write_text(image, encoding="utf-8")
    assert site_checks.long_html(Site(tmp_path)) == []
    assert site_checks.long_html(Site(tmp_path), limit=10, inline=10) == [
        "page.html: 38 bytes of HTML, more than 10",
        "page.html: 26 bytes of a file are encoded in it, 'data:image/png;base64,AAAA'",
    ]


def test_an_empty_folder_is_no_site(tmp_path: Path) -> None:
    """A site that is not there does not pass for want of pages."""
    with pytest.raises(FileNotFoundError, match="no HTML file"):
        _ = Site(tmp_path).pages


def test_a_raising_cell_fails_every_build(tmp_path: Path) -> None:
    """A cell that raises fails the build, again the second time, and leaves no site."""
    book = Miniature(tmp_path)
    book.write(notebooks__03_raising___ipynb=notebook("# Raising", "1 / 0"))
    for attempt in ("first", "second"):
        built = book.build()
        assert built.returncode != 0, attempt
        assert "03_raising" in built.stdout, attempt
        assert "ZeroDivisionError" in built.stdout, attempt
        assert not book.site.root.exists(), attempt


WARNINGS = {
    "a page that is not there": "[text](nowhere.md)",
    "an anchor that is not there": "[text](#no-such-section)",
    "a function that is not documented": "{py:func}`elmo_toy.no_such_function`",
    "a formula that cannot be set": "$\\frac{1}$",
    "an image that is not there": "![A picture of nothing at all](nothing.png)",
}


def test_each_warning_fails_the_build(tmp_path: Path) -> None:
    """One build meets a page for each kind of warning; it names them all and fails."""
    book = Miniature(tmp_path)
    pages = {
        f"book__w{number}___md": f"# {kind}\n\n{text}\n"
        for number, (kind, text) in enumerate(WARNINGS.items())
    }
    noisy = 'import warnings\nwarnings.warn("look out", stacklevel=1)'
    book.write(**pages, notebooks__03_noisy___ipynb=notebook("# Noisy", noisy))
    built = book.build()
    assert built.returncode != 0
    assert not book.site.root.exists()
    warned = [line for line in built.stdout.splitlines() if "WARNING" in line or "ERROR" in line]
    for name in (*(f"book/w{number}.md" for number in range(len(WARNINGS))), "03_noisy.ipynb"):
        assert any(name in line for line in warned), f"{name} is not named:\n{built.stdout}"


def test_a_docstring_that_leads_nowhere_is_reported(tmp_path: Path, faulty: Site) -> None:
    """A wrong chapter, a wrong title and an unreadable line are named; a right one is not."""
    package = tmp_path / "toy"
    package.mkdir()
    assert site_checks.unresolved_book_lines(faulty, package) == [
        "toy: no docstring names a place in the book"
    ]
    (package / "code.py").write_text(
        '"""Text.\n\nBook: chapter 9, "A section".\n"""\n'
        'def one():\n    """Book: chapter 9,\n    "No section"."""\n'
        'def two():\n    """Book: chapter 9, "A section", chapter 8, "A section"."""\n'
        'def three():\n    """Book: somewhere in chapter 9."""\n'
        'def four():\n    """Book: chapter 9."""\n'
        'def five():\n    """Book: chapters 7 and 8."""\n',
        encoding="utf-8",
    )
    assert site_checks.unresolved_book_lines(faulty, package) == [
        'toy/code.py:one: chapter 9 has no section "No section"',
        'toy/code.py:two: chapter 8 has no section "A section"',
        "toy/code.py:three: cannot be read as a place in the book: 'somewhere in chapter 9.'",
        "toy/code.py:five: there is no chapter 7",
    ]


def test_a_local_path_is_reported(tmp_path: Path) -> None:
    """A page that holds a path of this machine is named."""
    (tmp_path / "page.html").write_text(f"<p>{tmp_path}/x.py</p>", encoding="utf-8")
    assert site_checks.local_paths(Site(tmp_path), tmp_path) == [
        f"page.html: holds the local path {tmp_path}"
    ]
    (tmp_path / "page.html").write_text(f"<p>https://example.org{tmp_path}/x</p>", encoding="utf-8")
    assert site_checks.local_paths(Site(tmp_path), tmp_path) == []


def test_a_notebook_that_is_not_normalised_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A notebook as an editor leaves it is named; the same one, normalised, is not."""
    file = tmp_path / "03_fresh.ipynb"
    file.write_text(notebook("# Fresh", "print(1)"), encoding="utf-8")
    assert normalise_notebooks.main(["--check", str(file)]) == 1
    assert "03_fresh.ipynb" in capsys.readouterr().err
    assert normalise_notebooks.main(["--execute", str(file)]) == 0
    assert normalise_notebooks.main(["--check", str(file)]) == 0


def test_where_a_link_leads() -> None:
    """Relative addresses are followed as a browser does; those that leave the site are not."""
    page = "book/index.html"
    assert site_checks.resolve(page, "") == page
    assert site_checks.resolve(page, "../notebooks/a%20b.html?v=1#x") == "notebooks/a b.html"
    assert site_checks.resolve(page, "./notation.html") == "book/notation.html"
    assert site_checks.resolve(page, "../") == "index.html"
    assert site_checks.resolve(page, "/book/index.html") is None
    assert site_checks.resolve(page, "../../x.html") is None


def test_a_page_weighs_what_it_loads(tmp_path: Path) -> None:
    """Style sheets and what they import count, each once; fonts and links do not."""
    (tmp_path / "a.css").write_text("@import 'b.css'; @font-face { src: url(f.woff2) }")
    (tmp_path / "b.css").write_text("p { background: url('p.png') }")
    (tmp_path / "p.png").write_bytes(b"0123456789")
    (tmp_path / "f.woff2").write_bytes(b"font")
    html = (
        '<link rel="stylesheet" href="a.css"><link rel="stylesheet" href="b.css"><a href="p.png">'
    )
    (tmp_path / "page.html").write_text(html)
    site = Site(tmp_path)
    page: Page = site.pages[0]
    weight = site_checks.page_weight(site, page)
    assert set(weight) == {"page.html", "a.css", "b.css", "p.png"}
    assert weight["p.png"] == 10
    assert "f.woff2" in site_checks.page_weight(site, page, frozenset({"f.woff2"}))


def test_a_stale_number_is_reported(tmp_path: Path) -> None:
    """A number in the prose that is not the package's any more is named; the right one is not."""
    values = prose_numbers.load_values(REPOSITORY / prose_numbers.VALUES)
    page = tmp_path / "mini.md"
    for shown, problems in (("0.420337", 0), ("0.420338", 1)):
        page.write_text(f"# Mini\n\nThe mean loss is {shown}.\n", encoding="utf-8")
        table = {"mini": [(shown, "default.loss")]}
        found = prose_numbers.check_page("mini", page, table, values, {})
        assert len(found) == problems, found
        assert all("0.420338" in problem for problem in found)
