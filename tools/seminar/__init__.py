"""The seminar's slides, worksheet and handout, written into the built site.

Their sources are in `book/seminar/`, their numbers come from `elmo_toy` (`values`), their figures
are the book's (`figures`). `write` is called at the end of a build of the book; `print_seminar.py`
makes PDFs of what it wrote.
"""

import shutil
from pathlib import Path

from book_site.katex import Renderer

from . import sheets, slides
from .source import SourceError
from .values import values

FOLDER = "seminar"
ASSETS = Path(__file__).parent / "assets"
#: The pages, without `.html`; each is printed as a PDF of the same name.
PAGES = ("slides", "worksheet", "worksheet-key", "handout")

__all__ = ["FOLDER", "PAGES", "SourceError", "write"]


def write(site: Path, renderer: Renderer) -> None:
    """Write the four pages, with their style sheets and scripts, into the folder of a built site.

    Raises
    ------
    SourceError
        Where a source names what doesn't exist, types a number, or lacks a part.
    """
    folder = site / FOLDER
    folder.mkdir(exist_ok=True)
    pages = {
        "slides": slides.page(values(), renderer),
        "worksheet": sheets.worksheet(values(), renderer, filled=False),
        "worksheet-key": sheets.worksheet(values(), renderer, filled=True),
        "handout": sheets.handout(values(), renderer),
    }
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, "utf-8")
    for asset in ASSETS.iterdir():
        shutil.copy(asset, folder)
