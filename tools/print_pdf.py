"""Print a page of the built site as a PDF: `python tools/print_pdf.py PAGE.html FILE.pdf`.

Chromium prints the page from disk with its own print style: the size of the paper is the page's
`@page` rule, text stays text, fonts are embedded, headings become the outline, and the PDF is
tagged for screen readers. Needs Playwright and a Chromium, as the tests do (`tools/browser.py`).
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browser import ADVICE, FLAGS, find_browser
from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Error as PlaywrightError
from whole_files import write_whole

# No name is looked up: what a page asks of another host fails, whatever the network.
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND"
READY = """async () => {
  for (const image of document.images) image.loading = "eager";
  await document.fonts.ready;
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
}"""


class PrintError(RuntimeError):
    """A page could not be printed; the message says which, and why."""


@contextmanager
def printing_browser() -> Iterator[Browser]:
    """Start a Chromium to print several pages with.

    Raises
    ------
    PrintError
        When there is none; the message says what to install.
    """
    program = find_browser()
    if program is None:
        raise PrintError(ADVICE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*FLAGS, OFFLINE])
        try:
            yield browser
        finally:
            browser.close()


def print_page(
    html_path: Path,
    pdf_path: Path,
    *,
    browser: Browser | None = None,
    query: str = "",
    footer: str | None = None,
    margin: str | None = None,
    timeout: float = 120.0,
) -> None:
    """Print one page to `pdf_path`, which is replaced in one step, or left as it was.

    Parameters
    ----------
    html_path
        The page, read from disk with its style sheets and scripts.
    pdf_path
        Where the PDF goes; its folder is made.
    browser
        One from `printing_browser`; without it one is started for this page.
    query
        What follows `?` in the page's address.
    footer
        HTML at the foot of each sheet, in Chromium's form: its classes `pageNumber`, `totalPages`
        and `title` are filled in. It is drawn in the page's bottom margin.
    margin
        Of a page without an `@page` rule, as in CSS; its paper is then A4.
    timeout
        Seconds for loading the page.

    Raises
    ------
    PrintError
        Where the page doesn't exist or the browser cannot print it.
    """
    if not html_path.is_file():
        raise PrintError(f"there is no page {html_path} to print; has the book been built?")
    if browser is None:
        with printing_browser() as started:
            print_page(
                html_path,
                pdf_path,
                browser=started,
                query=query,
                footer=footer,
                margin=margin,
                timeout=timeout,
            )
        return
    address = html_path.resolve().as_uri() + (f"?{query}" if query else "")
    context = browser.new_context(color_scheme="light", reduced_motion="reduce")
    try:
        page = context.new_page()
        page.set_default_timeout(1000 * timeout)
        page.emulate_media(media="print")
        page.goto(address, wait_until="load")
        page.evaluate(READY)
        content = page.pdf(
            prefer_css_page_size=True,
            format="A4" if margin else None,
            margin={"top": margin, "right": margin, "bottom": margin, "left": margin}
            if margin
            else None,
            print_background=True,
            tagged=True,
            outline=True,
            display_header_footer=footer is not None,
            header_template="<span></span>",
            footer_template=footer or "<span></span>",
        )
    except PlaywrightError as error:
        raise PrintError(f"{html_path} could not be printed: {error.message}") from error
    finally:
        context.close()
    write_whole(pdf_path, content)


def main() -> int:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(description="Print a page of the built site as a PDF.")
    parser.add_argument("page", type=Path, help="an HTML file")
    parser.add_argument("pdf", type=Path, help="the PDF to write")
    arguments = parser.parse_args()
    try:
        print_page(arguments.page, arguments.pdf)
    except (PrintError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
