"""The browser checks can fail: a page with one fault is caught by the check for that fault."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import browser_checks
import pytest
from book_site.policy import meta_tag
from browser_checks import (
    CHECKS,
    Check,
    Mode,
    Visit,
    browser_program,
    look_at,
    new_context,
    reflow_problems,
    search_problems,
    theme_switch_problems,
)
from playwright.sync_api import Browser, expect

GOOD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A good page</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<style>
  body { background: #fff; color: #111; font: 16px sans-serif; margin: 8px }
  @media (prefers-color-scheme: dark) { body { background: #111; color: #eee } }
  .katex-html { font-family: KaTeX_Main, serif }
  .katex-mathml { position: absolute; clip-path: inset(50%) }
  svg { max-width: 100%; height: auto }
  a { color: inherit }
</style></head>
<body><a href="#main">Skip to main content</a>
<main id="main"><article><h1>A good page</h1>
<p>An equation: <span class="math"><span class="katex"><span class="katex-mathml"><math><mi>x</mi>
</math></span><span class="katex-html" aria-hidden="true">x</span></span></span></p>
<figure class="elmo-figure"><svg role="img" aria-label="A line that rises to the right" width="320"
 height="100" viewBox="0 0 320 100"><path d="M0 100L320 0" stroke="currentColor" fill="none"/>
<text x="20" y="30" font-size="14" fill="currentColor">river</text></svg></figure>
<button type="button">Press</button>
</article></main></body></html>
"""

LIGHT, DARK, PHONE = Mode("light"), Mode("dark"), Mode("light", width=360)
Open = Callable[..., Visit]


@pytest.fixture(scope="module")
def opened(browser: Browser, serve_parent: tuple[Path, str], axe: str) -> Iterator[Open]:
    """Serve the HTML as a page of its own and visit it, measuring what the checks need."""
    parent, address = serve_parent
    folder = parent / "canaries"
    folder.mkdir()
    contexts = {mode: new_context(browser, mode) for mode in (LIGHT, DARK, PHONE)}
    number = itertools.count()

    def open_page(html: str, mode: Mode, *checks: Check) -> Visit:
        name = f"{next(number)}.html"
        (folder / name).write_text(html, encoding="utf-8")
        return look_at(
            contexts[mode],
            f"{address}canaries/",
            name,
            mode,
            axe if browser_checks.accessibility_violations in checks else None,
            focus=browser_checks.keyboard_problems in checks,
        )

    yield open_page
    for context in contexts.values():
        context.close()


@pytest.mark.parametrize("mode", [LIGHT, DARK, PHONE], ids=str)
def test_a_good_page_passes_every_check(mode: Mode, opened: Open) -> None:
    """What the faults below are added to has none itself."""
    seen = opened(GOOD, mode, *CHECKS)
    assert [problem for check in CHECKS for problem in check(seen)] == []


BODY_END = "</article>"
SQUARE = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
POLICY = meta_tag()
FAULTS: list[tuple[Check, Mode, str, str, str]] = [
    (browser_checks.console_errors, LIGHT, BODY_END, "<script>console.error('oh')</script>", "oh"),
    (browser_checks.console_errors, LIGHT, BODY_END, "<script>nothing.at.all</script>", "uncaught"),
    *(
        (
            browser_checks.policy_violations, LIGHT, "<title>",
            f"{POLICY}<title>{thing}</title></head><body>{fault}<i>", f"{directive} stopped",
        )
        for thing, fault, directive in (
            ("script", "<script>document.title = 'ran'</script>", "script-src-elem"),
            ("handler", "<img src='data:,' alt='' onerror='alert(1)'>", "script-src-attr"),
            ("image", "<img src='https://c.org/a.png' alt=''>", "img-src"),
            ("style", "<link rel='stylesheet' href='https://c.org/a.css'>", "style-src-elem"),
            ("frame", "<iframe src='/other.html'></iframe>", "frame-src"),
            ("base", "<base href='/elsewhere/'>", "base-uri"),
        )
    ),
    (
        browser_checks.foreign_requests, LIGHT, BODY_END,
        '<img src="https://cdn.example.org/a.png" alt="A picture from afar" width="1" height="1">',
        "cdn.example.org",
    ),
    (
        browser_checks.foreign_requests, LIGHT, BODY_END,
        "<script>fetch('https:' + '//cdn.example.org/data').catch(() => 0)</script>",
        "cdn.example.org/data",
    ),
    (
        browser_checks.foreign_requests, LIGHT, BODY_END,
        '<script src="/at-the-root.js"></script>', "at-the-root.js",
    ),
    (
        browser_checks.failed_requests, LIGHT, BODY_END,
        '<script src="missing.js"></script>', "missing.js",
    ),
    (browser_checks.unset_equations, LIGHT, BODY_END, r"<p>$\gamma$ is a scale.</p>", "gamma"),
    (browser_checks.unset_equations, LIGHT, BODY_END, r"<p>\(s_j\) is a weight.</p>", "s_j"),
    (browser_checks.unset_equations, LIGHT, BODY_END, '<span class="math">x^2</span>', "not set"),
    (browser_checks.unset_equations, LIGHT, "<math><mi>x</mi>\n</math>", "x", "no MathML"),
    (browser_checks.unset_equations, LIGHT, "KaTeX_Main, serif", "serif", "style sheet"),
    (
        browser_checks.accessibility_violations, LIGHT, BODY_END,
        '<button type="button"></button>', "button-name",
    ),
    (
        browser_checks.accessibility_violations, LIGHT, BODY_END,
        '<p style="color: #aaa">Too faint to read.</p>', "color-contrast",
    ),
    (
        browser_checks.accessibility_violations, DARK, BODY_END,
        '<p style="color: #555">Too faint at night only.</p>', "color-contrast",
    ),
    (
        browser_checks.horizontal_scroll, PHONE, BODY_END,
        '<pre style="width: 700px">a long line of code</pre>', "wide in a window",
    ),
    (
        browser_checks.horizontal_scroll, PHONE, BODY_END,
        '<div style="overflow: hidden"><p style="width: 700px">cut off</p></div>', "sticks out",
    ),
    (
        browser_checks.layout_shift, LIGHT, "<h1>",
        "<div id=late></div><script>addEventListener('load', () => requestAnimationFrame(() =>"
        " requestAnimationFrame(() => late.style.height = '300px')))</script><h1>",
        "layout shift 0.",
    ),
    (browser_checks.invisible_figures, LIGHT, "svg { ", "svg { display: none; ", "shows nothing"),
    (browser_checks.invisible_figures, LIGHT, "svg { ", "svg { height: 0 !important; ", "nothing"),
    (
        browser_checks.invisible_figures, PHONE, "svg { max-width: 100%", "svg { width: 700px",
        "sticks out",
    ),
    (
        browser_checks.invisible_figures, LIGHT, BODY_END,
        '<img src="missing.png" alt="A picture that never arrives" width="9" height="9">', "broken",
    ),
    (
        browser_checks.invisible_figures, PHONE, BODY_END,
        f'<img src="{SQUARE}" alt="A square" style="width: 700px; height: 700px; max-width: 100%">',
        "distorted",
    ),
    (browser_checks.small_figure_text, LIGHT, 'font-size="14"', 'font-size="10.5"', "10.5 px"),
    (
        browser_checks.small_figure_text, PHONE, 'viewBox="0 0 320 100"', 'viewBox="0 0 640 200"',
        "at least 9",
    ),
    (browser_checks.faint_figures, LIGHT, 'stroke="currentColor"', 'stroke="#bbb"', "<path>"),
    (browser_checks.faint_figures, DARK, 'stroke="currentColor"', 'stroke="#444"', "<path>"),
    (
        browser_checks.faint_figures, LIGHT, 'stroke="currentColor"',
        'stroke="currentColor" opacity="0.3"', "<path>",
    ),
    (browser_checks.faint_figures, LIGHT, '14" fill="currentColor"', '14" fill="#888"', "<text>"),
    (
        browser_checks.faint_figures, LIGHT, "<text", '<rect width="100" height="60"/><text',
        '<text> "river"',
    ),
    (
        browser_checks.keyboard_problems, LIGHT, '<a href="#main">Skip',
        '<button type="button">First</button><a href="#main">Skip', "Tab first reaches 'First'",
    ),
    (
        browser_checks.keyboard_problems, LIGHT, '<a href="#main">',
        '<a href="#main" style="position: absolute; left: -999px">', "not a visible link",
    ),
    (
        browser_checks.keyboard_problems, LIGHT, "a { color",
        "button:focus { outline: none } a { color", "not to be seen on <button",
    ),
    (
        browser_checks.keyboard_problems, LIGHT, BODY_END,
        '<div style="position: fixed; inset: 40px 0 0 0; background: #ccc; z-index: 9"></div>',
        "something hides <button",
    ),
    (
        browser_checks.keyboard_problems, PHONE, BODY_END,
        '<div style="position: fixed; left: 100%"><button type="button">Beside</button></div>',
        'something hides <button type="button">Beside',
    ),
    (
        browser_checks.accessibility_violations, LIGHT, BODY_END,
        '<button type="button" style="all: unset; width: 9px" aria-label="A">a</button>'
        '<button type="button" style="all: unset; width: 9px" aria-label="B">b</button>',
        "target-size",
    ),
    (
        browser_checks.motion, LIGHT, "svg { ",
        "@keyframes turn { to { rotate: 1turn } } svg { animation: turn 9s infinite; ",
        "moves without end",
    ),
    (browser_checks.motion, LIGHT, "svg { ", "html { scroll-behavior: smooth } svg { ", "smoothly"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("check", "mode", "old", "new", "expected"),
    FAULTS,
    ids=[f"{fault[0].__name__}-{number}" for number, fault in enumerate(FAULTS)],
)
def test_a_fault_is_caught(
    check: Check, mode: Mode, old: str, new: str, expected: str, opened: Open
) -> None:
    """Each fault makes its check report it, by name."""
    assert old in GOOD
    faulty = GOOD.replace(old, new + (old if old == BODY_END else ""))
    problems = check(opened(faulty, mode, check))
    assert any(expected in problem for problem in problems), problems


def test_every_check_has_a_canary() -> None:
    """No check stands without a page that it rejects."""
    assert {fault[0] for fault in FAULTS} == set(CHECKS)


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("height: 2em; overflow: hidden", "at 200 % with wider spacing: cuts off <div"),
        ("width: 700px", "at 200 %: is 7"),
        ("width: 400px", "at 400 %: is 4"),
    ],
)
def test_a_page_that_cannot_be_enlarged_is_caught(
    style: str, expected: str, browser: Browser, serve_parent: tuple[Path, str]
) -> None:
    """What is cut off, or sticks out of the window, is named; the good page has neither."""
    parent, address = serve_parent
    text = f'<div style="{style}"><p style="margin: 0; line-height: 1">{"word " * 14}</p></div>'
    context = new_context(browser, LIGHT)
    page = context.new_page()
    for faulty in (False, True):
        html = GOOD.replace(BODY_END, text + BODY_END) if faulty else GOOD
        name = f"reflow{faulty:d}.html"  # of one name, the browser might keep the first
        (parent / name).write_text(html, encoding="utf-8")
        page.goto(address + name)
        problems = reflow_problems(page, name)
        assert any(expected in problem for problem in problems) == faulty, problems
    context.close()


def test_a_dead_search_and_a_dead_switch_are_caught(
    browser: Browser, serve_parent: tuple[Path, str]
) -> None:
    """A page whose search finds nothing, or whose theme switch does nothing, is reported."""
    parent, address = serve_parent
    dead = GOOD.replace(BODY_END, '<button class="theme-switch-button">Theme</button></article>')
    (parent / "dead.html").write_text(dead, encoding="utf-8")
    context = new_context(browser, LIGHT)
    context.set_default_timeout(1_000)
    page = context.new_page()
    page.goto(f"{address}dead.html")
    assert "does not change" in theme_switch_problems(page)[0]
    assert "finds nothing" in search_problems(page, "gamma", ("gamma",))[0]
    context.close()


def test_a_missing_browser_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a browser the tests do not pass by being skipped: they say what to install."""
    monkeypatch.setattr(browser_checks, "find_browser", lambda: None)
    with pytest.raises(RuntimeError, match="apt-get install chromium"):
        browser_program()


@pytest.mark.parametrize(
    ("extra", "expected"),
    [((), ["EvalError", "CompileError"]), (("wasm-unsafe-eval",), ["EvalError", "compiled"])],
)
def test_the_policy_stops_what_is_evaluated(
    extra: tuple[str, ...], expected: list[str], browser: Browser, serve_parent: tuple[Path, str]
) -> None:
    """No text becomes code; WebAssembly does only where a page's own setting says so."""
    parent, address = serve_parent
    (parent / "eval.js").write_text(
        """const outcome = [];
        try { outcome.push(eval("'evaluated'")); } catch (error) { outcome.push(error.name); }
        WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(
          () => outcome.push("compiled"), (error) => outcome.push(error.name)
        ).then(() => { document.title = outcome.join(" "); });""",
        encoding="utf-8",
    )
    page_text = f"<!doctype html><meta charset=utf-8>{meta_tag(extra=extra)}<title>?</title>"
    (parent / "eval.html").write_text(f"{page_text}<script src=eval.js></script>", encoding="utf-8")
    context = new_context(browser, LIGHT)
    page = context.new_page()
    page.goto(f"{address}eval.html")
    expect(page).to_have_title(" ".join(expected))
    context.close()


def test_what_is_waited_for_is_a_function() -> None:
    """An expression is text, which the policy lets be evaluated at once but not a frame later.

    So a wait for an expression fails where it has to wait, and on a quiet machine it seldom has to.
    """
    waits = [
        ast.unparse(node.args[0])
        for file in Path(__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "wait_for_function"
    ]
    assert waits
    assert [wait for wait in waits if "=>" not in wait] == []
