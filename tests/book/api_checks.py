"""What makes the API reference defective: a name without an entry, a link that is not returned.

Each check reads the built site (and the package's sources) and returns a list of problems, as those
of `site_checks`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import Tag
from site_checks import Page, Site, heading_text, resolve

FOLDER = "book/api/"


@dataclass(frozen=True)
class Entry:
    """One entry: a function, class, method or value (``dt``), or a module (its section)."""

    name: str
    page: Page
    tag: Tag
    is_module: bool = False

    @property
    def text(self) -> Tag:
        """What is said of it, further entries within it included."""
        found = self.tag if self.is_module else self.tag.find_next_sibling("dd")
        assert isinstance(found, Tag)
        return found

    def is_own(self, tag: Tag) -> bool:
        """Say whether `tag` speaks of this entry and not of one within it."""
        inner = tag.find_parent("dd", class_=None)
        while inner is not None and inner.find_previous_sibling("dt", class_="sig") is None:
            inner = inner.find_parent("dd")  # a field's description
        return inner is (None if self.is_module else self.text)

    @property
    def places(self) -> list[Tag]:
        """Its links into the chapters."""
        links = [mark.find_parent("a") for mark in self.text.select(".book-place")]
        return [link for link in links if isinstance(link, Tag) and self.is_own(link)]

    @property
    def anchor(self) -> str:
        """Where a link to it leads."""
        return f"module-{self.name}" if self.is_module else str(self.tag["id"])


def entries(site: Site) -> Iterator[Entry]:
    """Yield the entries of all pages of the reference."""
    for page in site.pages:
        if page.name.startswith(FOLDER):
            for target in page.soup.select("[id^='module-']"):
                section = target if target.name == "section" else target.find_parent("section")
                assert isinstance(section, Tag)
                yield Entry(str(target["id"]).removeprefix("module-"), page, section, True)
            for tag in page.soup.select("dl.py > dt.sig[id]"):
                yield Entry(str(tag["id"]), page, tag)


def public_names(package: Path) -> Iterator[tuple[str, str]]:
    """Yield module and name of all that a package offers, read from its source.

    These are the functions and classes of its public modules, and what an ``__all__`` lists.
    """
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if any(part.startswith("_") for part in module.split(".")):
            continue
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                yield module, node.name
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                for name in ast.literal_eval(node.value):
                    yield module, name


def possible_entries(module: str, name: str, listed: set[str]) -> list[str]:
    """Return the entries that `name` of `module` may have.

    It may stand in a package above, which offers it, or in the module below that defines it.
    """
    parts = module.split(".")
    above = [".".join([*parts[:depth], name]) for depth in range(1, len(parts) + 1)]
    below = {
        entry
        for entry in listed
        if entry.startswith(f"{module}.")
        and entry.endswith(f".{name}")
        and not entry.removesuffix(f".{name}").rpartition(".")[2][0].isupper()  # a method
    }
    return sorted({*above, *below} & listed)


def names_without_entry(site: Site, package: Path) -> list[str]:
    """Every public name of the package has one entry."""
    names = [entry.name for entry in entries(site)]
    problems = [f"{name}: has {n} entries" for name, n in Counter(names).items() if n > 1]
    listed = set(names)
    modules: dict[str, list[str]] = {}
    for module, name in public_names(package):
        if not possible_entries(module, name, listed):
            modules.setdefault(module, []).append(name)
    return problems + [
        f"{module}: no entry for {', '.join(missing)}: add a heading and "
        f"`.. automodule:: {module}` to a page in {FOLDER} (a new page also to _toc.yml)"
        for module, missing in modules.items()
    ]


def leads_to(site: Site, page: Page, link: Tag) -> tuple[Page | None, str]:
    """Return the page and the anchor of a link on `page`."""
    url = str(link["href"])
    return site.by_name.get(resolve(page.name, url) or ""), unquote(urlsplit(url).fragment)


def section_at(page: Page, anchor: str) -> Tag | None:
    """Return the section of an anchor; without one, that of the whole page."""
    found = page.soup.find("section", id=anchor) if anchor else page.body.find("section")
    return found if isinstance(found, Tag) else None


def one_way_links(site: Site) -> list[str]:
    """Each entry leads to the heading that it names, and a line of that section leads back.

    An entry that names no section itself goes by its module.
    """
    problems = []
    everything = list(entries(site))
    modules = {entry.name for entry in everything if entry.is_module}
    with_place = {entry.name for entry in everything if entry.places}
    for entry in everything:
        for link in entry.places:
            problems += broken_return(site, entry, link)
        lines = entry.text.find_all(string=lambda text: "Book:" in text)
        if any(entry.is_own(line.parent) for line in lines) and not entry.places:
            problems.append(f"{entry.name}: its `Book:` line holds no link")
        around = {name for name in with_place if f"{entry.name}.".startswith(f"{name}.")}
        above = [name for name in modules if entry.name.startswith(f"{name}.")]
        module = max(above, key=len, default="")
        if not entry.is_module and not around & {module, *(around - modules)}:
            problems.append(
                f"{entry.name}: neither its docstring nor that of {module} has a line "
                '`Book: chapter N, "section"`'
            )
    return problems


def broken_return(site: Site, entry: Entry, link: Tag) -> list[str]:
    """Say what is wrong with a link of an entry into a chapter, or with the way back."""
    target, anchor = leads_to(site, entry.page, link)
    section = section_at(target, anchor) if target else None
    if target is None or section is None:
        return [f"{entry.name}: {link['href']} leads to no section"]
    heading = section.find(["h1", "h2", "h3", "h4"])
    assert isinstance(heading, Tag)
    _, quote, title = link.get_text().partition("\N{LEFT DOUBLE QUOTATION MARK}")
    title = title.rstrip("\N{RIGHT DOUBLE QUOTATION MARK}").replace(
        "\N{RIGHT SINGLE QUOTATION MARK}", "'"
    )
    if quote and " ".join(title.split()) != heading_text(heading):
        return [f"{entry.name}: names {title!r}, leads to {heading_text(heading)!r}"]
    for line in section.select(".in-code"):
        if line.find_parent("section") is section:
            for back in line.select("a"):
                page, returned = leads_to(site, target, back)
                if page is not None and (page.name, returned) == (entry.page.name, entry.anchor):
                    return []
    return [f"{entry.name}: no line in {target.name}#{anchor} leads back to it"]


def wrong_sources(site: Site, repository: Path, address: str) -> list[str]:
    """Each function, class and method leads to its lines in the repository."""
    problems = []
    for entry in entries(site):
        kinds = set((entry.tag.parent or entry.tag).get("class") or [])
        if entry.is_module or kinds & {"data", "attribute"}:
            continue
        link = entry.tag.select_one("a:has(> .viewcode-link)")
        url = str(link["href"]) if link else ""
        _, _, path = urlsplit(url).path.partition("/blob/main/")
        lines = urlsplit(url).fragment.replace("L", "").split("-")
        name = entry.name.rpartition(".")[2]
        if not url.startswith(f"{address}/") or not holds(repository / path, lines, name):
            problems.append(f"{entry.name}: its source is not at {url!r}")
    return problems


def holds(file: Path, lines: list[str], name: str) -> bool:
    """Say whether a function or class `name` is defined in exactly these lines of a file."""
    return any(
        isinstance(node, ast.FunctionDef | ast.ClassDef)
        and node.name == name
        and [
            str(min([node.lineno, *(d.lineno for d in node.decorator_list)])),
            str(node.end_lineno),
        ]
        == lines
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    )
