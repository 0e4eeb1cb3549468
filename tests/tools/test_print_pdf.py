"""Printing without a browser: what is refused, and that no half file is left."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import print_pdf
import print_seminar
import pytest


def test_a_missing_page_is_named(tmp_path: Path) -> None:
    with pytest.raises(print_pdf.PrintError, match=r"no page .*nowhere.html"):
        print_pdf.print_page(tmp_path / "nowhere.html", tmp_path / "out.pdf")
    assert list(tmp_path.iterdir()) == []


def test_without_a_browser_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(print_pdf, "find_browser", lambda: None)
    page = tmp_path / "page.html"
    page.write_text("<title>page</title>")
    with pytest.raises(print_pdf.PrintError, match="Install one"):
        print_pdf.print_page(page, tmp_path / "out.pdf")


@pytest.mark.parametrize("tool", [print_pdf, print_seminar])
def test_a_tool_ends_with_a_message(
    tool: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(print_pdf, "find_browser", lambda: None)
    site, pdf = tmp_path / "site", tmp_path / "out.pdf"
    site.mkdir()
    arguments = (
        ["--site", str(site)] if tool is print_seminar else [str(site / "no.html"), str(pdf)]
    )
    monkeypatch.setattr("sys.argv", ["tool", *arguments])
    assert tool.main() == 1
    assert capsys.readouterr().err.strip()
