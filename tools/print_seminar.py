"""Print the seminar's pages as PDFs: `python tools/print_seminar.py [--site DIR]`.

The slides, the worksheet, its key and the handout of a built site are printed into
`_build/seminar/` and copied beside their pages, each of which then links to its PDF. What else a
teacher prints, pages of the book, goes into the folder only: each PDF has its page's name.
"""

import argparse
import sys
from pathlib import Path

import seminar
from playwright.sync_api import Browser
from print_pdf import PrintError, print_page, printing_browser
from whole_files import write_whole

ROOT = Path(__file__).resolve().parents[1]
MARK = "<!-- PDF -->"
#: Pages of the book that are printed for a session.
KIT = ("index", "plan", "notes", "concept_tests", "pre_quiz", "post_quiz", "feedback")
LINK = '<a href="{name}.pdf">PDF</a>'


def print_all(browser: Browser, site: Path, output: Path) -> list[Path]:
    """Print every page of the seminar with `browser`; return the PDFs.

    Raises
    ------
    PrintError
        Where the site has no such page, or the browser cannot print one.
    """
    printed = []
    for name in seminar.PAGES:
        page = site / seminar.FOLDER / f"{name}.html"
        pdf = output / f"{name}.pdf"
        print_page(page, pdf, browser=browser)
        write_whole(page.with_suffix(".pdf"), pdf.read_bytes())
        text = page.read_text("utf-8").replace(MARK, LINK.format(name=name))
        write_whole(page, text.encode())
        printed.append(pdf)
    for name in KIT:
        pdf = output / f"{name}.pdf"
        print_page(site / "book" / "seminar" / f"{name}.html", pdf, browser=browser, margin="10mm")
        printed.append(pdf)
    return printed


def main() -> int:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(description="Print the seminar's pages as PDFs.")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--output", type=Path, default=ROOT / "_build" / "seminar")
    arguments = parser.parse_args()
    try:
        with printing_browser() as browser:
            for pdf in print_all(browser, arguments.site, arguments.output):
                print(pdf)
    except (PrintError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
