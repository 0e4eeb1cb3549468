"""The seminar's slides as they are presented, and its PDFs.

What holds for every page of the site, these four included, is in `test_pages.py`.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_checks import SETTLE, Mode, Served, new_context, watch
from browser_checks import Visit as Watched
from playwright.sync_api import Browser, Page, expect
from print_seminar import KIT, print_all
from pypdf import PdfReader
from seminar import FOLDER, PAGES

SMALLEST = 24.0
"""Pixels that text on a slide of 1280 by 720 has at least."""
A4 = (595, 842)

# What of the slide on the screen lies outside of it, and its smallest text.
MEASURE_SLIDE = """() => {
  const slide = document.querySelector(".slide.current");
  const face = slide.querySelector(".face");
  const room = face.getBoundingClientRect();
  const outside = (box) => box.left < room.left - 1 || box.right > room.right + 1
    || box.top < room.top - 1 || box.bottom > room.bottom + 1;
  const out = [...face.querySelectorAll("svg:not(svg svg), table")]
    .filter((element) => outside(element.getBoundingClientRect())).map((one) => one.tagName);
  let smallest = Infinity;
  const walker = document.createTreeWalker(face, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    const spoken = element.closest(".katex-mathml, .unseen"); // for screen readers only
    if (!node.textContent.trim() || box.width < 1 || spoken) continue;
    if (outside(box)) out.push(node.textContent.trim().slice(0, 40));
    let size = parseFloat(getComputedStyle(element).fontSize);
    const matrix = element.getScreenCTM && element.getScreenCTM();
    if (matrix) size *= Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c));
    smallest = Math.min(smallest, size);
  }
  for (const formula of face.querySelectorAll("div.math")) {
    if (formula.scrollWidth > formula.clientWidth + 1) out.push("a formula");
  }
  const fills = Math.abs(room.width - innerWidth) < 1 && Math.abs(room.height - innerHeight) < 1;
  const scrolls = face.scrollHeight > face.clientHeight + 1;
  return { name: slide.id, out, smallest, fills, scrolls };
}"""
SHOWN = "document.querySelector('.slide.current').id"


def opened(browser: Browser, address: str, scheme: str = "light") -> tuple[Page, Watched]:
    """Open a page at the size of a projector, and keep what goes wrong."""
    context = new_context(browser, Mode(scheme))
    page = context.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    seen = Watched("slides", "", Mode(scheme))
    watch(page, seen)
    page.goto(address, wait_until="load")
    page.evaluate(SETTLE)
    return page, seen


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_slide_fits_and_is_legible(scheme: str, browser: Browser, served: Served) -> None:
    """Nothing sticks out or scrolls, no text is small, no script is refused."""
    page, seen = opened(browser, f"{served.file}seminar/slides.html?present", scheme)
    count = page.locator(".slide").count()
    assert 12 <= count <= 18
    problems, names = [], []
    for _ in range(count):
        measured: dict[str, Any] = page.evaluate(MEASURE_SLIDE)
        names.append(measured["name"])
        problems += [f"{measured['name']}: {what} sticks out" for what in measured["out"]]
        if measured["smallest"] < SMALLEST - 0.05 or measured["scrolls"] or not measured["fills"]:
            problems.append(str(measured))
        page.keyboard.press("ArrowRight")
    page.context.close()
    assert not problems, "\n".join(problems)
    assert len(set(names)) == count
    assert names[1] == "fallback"
    assert not seen.errors


def test_a_presented_slide_is_accessible(browser: Browser, served: Served, axe: str) -> None:
    """Of the slide on the screen alone; of all slides and sheets, `test_pages.py` looks."""
    page, _ = opened(browser, f"{served.file}seminar/slides.html?present#nobody-notices")
    page.evaluate(axe)
    found = page.evaluate(
        "axe.run(document, { resultTypes: ['violations'], preload: false })"
        ".then((result) => result.violations.map((one) => `${one.id}: ${one.nodes[0].html}`))"
    )
    page.context.close()
    assert not found, "\n".join(found)


@pytest.mark.parametrize("way", ["http", "file"])
def test_the_keyboard_moves(way: str, browser: Browser, served: Served) -> None:
    """Every key that the page names does what it says, and the address follows."""
    page, seen = opened(browser, f"{getattr(served, way)}seminar/slides.html?present#gamma")
    names = page.evaluate("[...document.querySelectorAll('.slide')].map((one) => one.id)")
    at = names.index("gamma")
    moves = {"ArrowRight": 1, "Space": 1, "PageDown": 1, "ArrowLeft": -1, "PageUp": -1}
    for key, step in moves.items():
        page.keyboard.press(key)
        at += step
        assert page.evaluate(SHOWN) == names[at]
        assert page.url.endswith(f"#{names[at]}")
        assert page.evaluate("document.activeElement.id") == names[at]
    for key, end in {"Home": 0, "ArrowUp": 0, "End": -1, "ArrowDown": -1}.items():
        page.keyboard.press(key)
        assert page.evaluate(SHOWN) == names[end]
    theme = page.evaluate("document.documentElement.dataset.theme")
    page.keyboard.press("d")
    assert page.evaluate("document.documentElement.dataset.theme") != theme
    page.keyboard.press("Escape")
    page.wait_for_url(f"**/slides.html#{names[-1]}")
    assert page.locator(".face:visible").count() == len(names)
    page.context.close()
    assert not seen.errors


@pytest.mark.parametrize("way", ["http", "file"])
def test_the_speakers_view_moves_along(way: str, browser: Browser, served: Served) -> None:
    """The second window shows the notes of the slide on the screen, whichever window moves."""
    page, seen = opened(browser, f"{getattr(served, way)}seminar/slides.html?present#gamma")
    with page.context.expect_page() as waiting:
        page.keyboard.press("s")
    speaker = waiting.value
    watch(speaker, seen)
    speaker.wait_for_load_state()
    for part in ("Say", "Ask", "Expect", "If stuck"):
        assert speaker.locator("#gamma dt", has_text=part).is_visible()
    assert speaker.locator("#elapsed").inner_text().startswith("00:")
    page.keyboard.press("ArrowRight")
    expect(speaker.locator(".slide.current")).to_have_id("head")
    assert not speaker.locator("#gamma dt").first.is_visible()
    speaker.keyboard.press("ArrowRight")
    expect(page.locator(".slide.current")).to_have_id("vectors-move")
    page.context.close()
    assert not seen.errors


# --- PDFs -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def printed(
    browser: Browser, served: Served, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A copy of the seminar's part of the site, with its PDFs."""
    site = tmp_path_factory.mktemp("printed") / "site"
    for folder in (FOLDER, "_static", "book/seminar"):
        shutil.copytree(served.site.root / folder, site / folder)
    print_all(browser, site, site.parent / "pdf")
    yield site
    shutil.rmtree(site)


@pytest.mark.parametrize(
    ("name", "pages", "words"),
    [
        ("slides", range(12, 19), ("One mixture, two vectors", "If something fails")),
        ("worksheet", range(2, 3), ("The mixture", "One update")),
        ("worksheet-key", range(2, 3), ("only h", "−0.315")),
        ("handout", range(1, 2), ("Forward", "Backward", "4.3")),
    ],
)
def test_a_pdf_is_whole(name: str, pages: range, words: tuple[str, ...], printed: Path) -> None:
    """Its count of pages, their size, no empty one, text and outline that can be got out, tags."""
    content = (printed / FOLDER / f"{name}.pdf").read_bytes()
    assert content == (printed.parent / "pdf" / f"{name}.pdf").read_bytes()
    pdf = PdfReader(io.BytesIO(content))
    assert len(pdf.pages) in pages
    size = (960, 540) if name == "slides" else A4
    for page in pdf.pages:
        assert (float(page.mediabox.width), float(page.mediabox.height)) == pytest.approx(
            size, abs=1
        )
        assert len(page.extract_text().split()) > 8
    text = " ".join(" ".join(page.extract_text() for page in pdf.pages).split())
    assert all(word in text for word in words), text[:300]
    assert pdf.outline
    assert pdf.trailer["/Root"]["/MarkInfo"]["/Marked"]
    assert pdf.trailer["/Root"]["/Lang"] == "en"


def test_what_the_teacher_prints_is_there_too(printed: Path) -> None:
    """Pages of the book on A4: no more than two sheets a plan, what is asked in class first."""
    pdfs = {name: PdfReader(printed.parent / "pdf" / f"{name}.pdf") for name in KIT}
    texts = {name: [one.extract_text() for one in pdf.pages] for name, pdf in pdfs.items()}
    for name, pdf in pdfs.items():
        box = pdf.pages[0].mediabox
        assert (float(box.width), float(box.height)) == pytest.approx(A4, abs=1), name
    starts = [
        next(n for n, text in enumerate(texts["plan"]) if f"\n{title}\n" in f"\n{text}")
        for title in ("The short plan", "The middle plan", "The long plan", "When time is short")
    ]
    assert starts == [0, 2, 4, 6]
    assert len(texts["feedback"]) == 1
    for name in ("pre_quiz", "post_quiz"):
        assert texts[name][0].count("Asked in class.") == 3
        assert texts[name][-1].startswith("Key")


def test_every_font_is_in_the_pdf(printed: Path) -> None:
    """A printer without our fonts prints the same."""
    for name in PAGES:
        for page in PdfReader(printed / FOLDER / f"{name}.pdf").pages:
            for font in (one.get_object() for one in page["/Resources"]["/Font"].values()):
                if font["/Subtype"] == "/Type3":  # the drawings of its letters themselves
                    continue
                below = font["/DescendantFonts"][0].get_object()
                assert {"/FontFile2", "/FontFile3"} & set(below["/FontDescriptor"]), (name, font)


def test_the_pages_lead_to_their_pdfs(printed: Path, served: Served) -> None:
    for name in PAGES:
        link = f'href="{name}.pdf"'
        assert link in (printed / FOLDER / f"{name}.html").read_text("utf-8")
        assert link not in (served.site.root / FOLDER / f"{name}.html").read_text("utf-8")
