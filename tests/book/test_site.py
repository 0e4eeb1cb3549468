"""The built book has none of the defects that `site_checks` looks for."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import site_checks
from site_checks import Site

REPOSITORY = Path(__file__).resolve().parents[2]

CHECKS: tuple[Callable[[Site], list[str]], ...] = (
    site_checks.foreign_requests,
    site_checks.unprotected_pages,
    site_checks.missing_alt_texts,
    site_checks.missing_sizes,
    site_checks.tables_without_headers,
    site_checks.vague_links,
    site_checks.broken_links,
    site_checks.duplicated_ids,
    site_checks.kernel_controls,
    site_checks.overweight_pages,
    site_checks.long_html,
    site_checks.blocking_scripts,
    site_checks.warnings_shown,
    site_checks.unrendered_markup,
    site_checks.disordered_headings,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_no_page_has(check: Callable[[Site], list[str]], site: Site) -> None:
    """No page has what the check looks for."""
    problems = check(site)
    assert not problems, "\n".join(problems)


def test_docstrings_name_sections_that_exist(site: Site) -> None:
    """Each `Book:` line of the package leads to a section of a built chapter."""
    problems = site_checks.unresolved_book_lines(site, REPOSITORY / "elmo_toy")
    assert not problems, "\n".join(problems)


def test_no_page_holds_a_local_path(site: Site) -> None:
    """Nothing in the book tells where it was built."""
    problems = site_checks.local_paths(
        site, REPOSITORY, Path(sys.prefix), Path(tempfile.gettempdir())
    )
    assert not problems, "\n".join(problems)


def test_every_page_of_the_contents_is_built(site: Site) -> None:
    """Each file of `_toc.yml` is a page, and the checks had images and links to look at."""
    contents = (REPOSITORY / "_toc.yml").read_text(encoding="utf-8")
    names = {f"{name}.html" for name in re.findall(r"\b(?:root|file): *(\S+)", contents)}
    assert len(names) > 3
    assert names <= set(site.by_name)
    assert "index.html" in site.by_name
    for page in site.pages:
        # exercises are asked in words and formulas
        if page.name.startswith("notebooks/") and "/exercises_" not in page.name:
            assert list(site_checks.images(page)), f"{page.name} has no figure"
            assert page.soup.select("a[href*='#']"), f"{page.name} has no anchor"


def test_the_script_can_be_downloaded(site: Site) -> None:
    """The book offers the stand-alone script, as it is, and the file of its states."""
    links = {
        site_checks.resolve(page.name, str(link["href"]))
        for page in site.pages
        for link in page.soup.select("a[href*='_downloads/']")
    }
    offered = {Path(name).name: site.root / name for name in links if name}
    script = REPOSITORY / "elmo_toy" / "elmo_scalar_mix_demo.py"
    assert offered[script.name].read_bytes() == script.read_bytes()
    assert any(name.endswith(".json") for name in offered), sorted(offered)
