"""The API reference holds every public name, each linked with its section in both directions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from api_checks import (
    FOLDER,
    entries,
    names_without_entry,
    one_way_links,
    public_names,
    wrong_sources,
)
from miniature import NOTATION, REPOSITORY, Miniature, copy_machinery, notebook
from site_checks import Site

PACKAGE = REPOSITORY / "elmo_toy"
LONGEST = 150_000
"""Bytes of HTML that a page of the reference may have: a longer one is two."""


def test_every_public_name_has_one_entry(site: Site) -> None:
    problems = names_without_entry(site, PACKAGE)
    assert not problems, "\n".join(problems)
    assert ("elmo_toy", "softmax") in set(public_names(PACKAGE))


def test_each_entry_and_its_section_lead_to_each_other(site: Site) -> None:
    problems = one_way_links(site)
    assert not problems, "\n".join(problems)
    assert sum(len(entry.places) for entry in entries(site)) > 200


def test_each_entry_leads_to_its_source(site: Site) -> None:
    configuration = (REPOSITORY / "_config.yml").read_text(encoding="utf-8")
    address = re.search(r"^  url: (\S+)$", configuration, re.MULTILINE)
    assert address
    problems = wrong_sources(site, REPOSITORY, address[1])
    assert not problems, "\n".join(problems)


def test_an_entry_shows_signature_formula_errors_and_example(site: Site) -> None:
    """As the source has them: the types by the names that it gives them."""
    (entry,) = [entry for entry in entries(site) if entry.name == "elmo_toy.scalar_mix.softmax"]
    assert entry.tag.get_text().strip().startswith("softmax(logits: ArrayLike) → Array")
    assert [dt.get_text() for dt in entry.text.select("dl.field-list > dt")] == [
        "Parameters:",
        "Returns:",
        "Raises:",
    ]
    assert entry.text.select("code")[0].get_text().startswith("weights[j] = exp(logits[j])")
    assert entry.text.select(".doctest .gp")  # highlighted


def test_a_name_means_what_it_means_in_its_module(site: Site) -> None:
    """Two modules have a `State`: a signature leads to the one that its module imports."""
    found = {entry.name: entry for entry in entries(site)}
    links = {
        str(link["href"]).rpartition("#")[2]
        for link in found["elmo_toy.bilm.model.BiLM.layers_from"].tag.select("a.reference.internal")
    }
    assert "elmo_toy.bilm.lstm.State" in links
    assert "elmo_toy.worked_example.State" not in links


def test_pages_are_short_and_search_knows_the_names(site: Site) -> None:
    sizes = {page.name: len(page.html) for page in site.pages if page.name.startswith(FOLDER)}
    assert {name: size for name, size in sizes.items() if size > LONGEST} == {}
    assert "scalar_mix_gradients" in (site.root / "searchindex.js").read_text(encoding="utf-8")


# --- they can fail --------------------------------------------------------------------------------

API = """<section id="a"><h1>Mixture</h1><span id="module-toy.mix"></span>
<dl class="py function"><dt class="sig" id="toy.mix.one">one()</dt>
<dd><p>Book: <a href="../../notebooks/03_mix.html#by-hand"><span class="book-place">chapter 3,
\N{LEFT DOUBLE QUOTATION MARK}By hand\N{RIGHT DOUBLE QUOTATION MARK}</span></a>.</p></dd></dl>
</section>"""
CHAPTER = """<main><section id="mix"><h1>Mix</h1><section id="by-hand"><h2>By hand</h2>
<p class="in-code">In code: <a href="../book/api/mix.html#toy.mix.one"><code>one</code></a></p>
</section><section id="other"><h2>Other</h2></section></section></main>"""


@pytest.mark.parametrize(
    ("api", "chapter", "problem"),
    [
        (("", ""), ("", ""), None),
        (("", ""), ("#toy.mix.one", "#other"), "no line in notebooks/03_mix.html#by-hand leads"),
        (("", ""), ("in-code", "no-code"), "no line in notebooks/03_mix.html#by-hand leads back"),
        (("#by-hand", "#nowhere"), ("", ""), "#nowhere leads to no section"),
        (("#by-hand", "#other"), ("", ""), "names 'By hand', leads to 'Other'"),
        (("book-place", "other"), ("", ""), "its `Book:` line holds no link"),
        (("Book:", ""), ("", ""), None),
        (("<p>Book:", "<p>No.</p><p hidden>"), ("", ""), None),
    ],
)
def test_a_link_in_one_direction_is_reported(
    tmp_path: Path, api: tuple[str, str], chapter: tuple[str, str], problem: str | None
) -> None:
    for name, text, change in (
        ("book/api/mix.html", API, api),
        ("notebooks/03_mix.html", CHAPTER, chapter),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.replace(*change) if change[0] else text, encoding="utf-8")
    found = one_way_links(Site(tmp_path))
    assert bool(found) == bool(problem)
    assert all(line.startswith("toy.mix.one: ") for line in found)
    assert problem is None or problem in found[0]


def test_an_entry_without_a_place_is_reported(tmp_path: Path) -> None:
    page = tmp_path / "book" / "api" / "mix.html"
    page.parent.mkdir(parents=True)
    page.write_text(API[: API.index("<p>")] + "</dd></dl></section>", encoding="utf-8")
    assert one_way_links(Site(tmp_path)) == [
        "toy.mix.one: neither its docstring nor that of toy.mix has a line "
        '`Book: chapter N, "section"`'
    ]


def test_a_name_without_an_entry_is_reported(tmp_path: Path) -> None:
    """A new module is named with what to add where; what is private needs no entry."""
    page = tmp_path / "site" / "book" / "api" / "mix.html"
    page.parent.mkdir(parents=True)
    page.write_text(API, encoding="utf-8")
    package = tmp_path / "toy"
    package.mkdir()
    (package / "__init__.py").write_text('from toy.mix import one\n__all__ = ["one"]\n')
    (package / "mix.py").write_text("def one(): ...\ndef _two(): ...\n")
    (package / "_three.py").write_text("def three(): ...\n")
    site = Site(tmp_path / "site")
    assert names_without_entry(site, package) == []
    (package / "quiz.py").write_text("class Question: ...\ndef ask(): ...\n")
    assert names_without_entry(site, package) == [
        "toy.quiz: no entry for Question, ask: add a heading and `.. automodule:: toy.quiz` to a "
        "page in book/api/ (a new page also to _toc.yml)"
    ]
    page.write_text(API + API, encoding="utf-8")
    assert "toy.mix.one: has 2 entries" in names_without_entry(site := Site(site.root), package)
    assert wrong_sources(site, tmp_path, "https://example.org")


def test_a_docstring_that_names_no_section_fails_the_build(tmp_path: Path) -> None:
    """The chapter is there, the section is not: the warning names the docstring and the section."""
    machinery = copy_machinery(tmp_path / "machinery")
    module = machinery / "elmo_toy" / "influence.py"
    source = module.read_text(encoding="utf-8")
    assert 'chapter 3, "No attention anywhere"' in source
    module.write_text(source.replace("No attention anywhere", "No such section"), encoding="utf-8")
    book = Miniature(tmp_path / "book", machinery)
    directive = "# Code\n\n```{eval-rst}\n.. automodule:: elmo_toy.influence\n```\n"
    book.write(
        notebooks__03_mix___ipynb=notebook("# Mix\n\n## No attention anywhere"),
        book__api__code___md=directive,
        book__notation___md=NOTATION,
    )
    built = book.build()
    assert built.returncode != 0
    assert "'book' reference target not found: 3|No such section" in built.stdout
    assert "elmo_toy.influence" in built.stdout
