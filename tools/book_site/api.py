"""The API reference: docstrings as pages, each entry linked with the section that derives it.

The pages in `book/api/` name the modules; `sphinx.ext.autodoc` and `napoleon` make the entries.
Beside them this module

* turns a docstring's ``Book: chapter 3, "One mixture, by hand"`` into a link to that section, and
  adds to the section a line that leads back ("In code: softmax"); a place that isn't there is a
  warning, so the strict build fails;
* shows signatures as the source writes them, where autodoc would spell out ``FloatArray``;
* looks up what a docstring or a signature names (``LayerNorm``) where its module does;
* lists a name once: in the module that defines it, or in the package if that module is private;
* links each entry to its lines in the repository.
"""

import ast
import copy
import inspect
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.domains.python import ObjectEntry, PythonDomain
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "elmo_toy"

CHAPTER = re.compile(r"(?:^|/)(\d\d)_[^/]*$")
# Book: chapter 3, "One mixture, by hand", and chapter 4, "One step"; or: Book: chapters 3 and 4.
PLACES = re.compile(
    r'Book:\s+(?:(?:chapter\s+\d+,\s+"[^"]+"[,;]?(?:\s+and)?\s*)+|chapters?\s+\d+(?:\s+and\s+\d+)?)'
)
PLACE = re.compile(r'chapter\s+(\d+),\s+"([^"]+)"')
WHOLE = re.compile(r'(?<=[\s])(\d+)(?!,\s+")')
AUTOMODULE = re.compile(r"automodule:: *(\S+)")
Definition = ast.FunctionDef | ast.ClassDef
LONG_LINE = 8
"""Entries up to which a section's line names them all without being opened."""


# --- docstrings ---------------------------------------------------------------------------------


def places(docstring: str) -> list[tuple[int, str]]:
    """Return the chapters and sections that a docstring's ``Book:`` lines name.

    The title of a whole chapter is empty.
    """
    found = []
    for line in PLACES.findall(docstring):
        named = [(int(number), " ".join(title.split())) for number, title in PLACE.findall(line)]
        found += named or [(int(number), "") for number in WHOLE.findall(line)]
    return found


def link_places(docstring: str) -> str:
    """Write each place that a ``Book:`` line names as a reference, the role `book_reference`."""

    def linked(line: re.Match[str]) -> str:
        text, count = PLACE.subn(
            lambda place: f":book:`{place[1]}|{' '.join(place[2].split())}`", line[0]
        )
        return text if count else WHOLE.sub(r":book:`\1|`", text)

    return PLACES.sub(linked, docstring)


def prepare_docstring(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Make of the house's docstrings what napoleon and docutils read, and note their places."""
    text = "\n".join(lines)
    if found := places(text):
        documented_places(app.env).setdefault(name, found)
    lines[:] = mark_formulas(end_sections(link_places(text).split("\n")))


def underlines(line: str) -> bool:
    """Say whether `line` makes the one above it a section's title."""
    return len(line) > 2 and set(line) == {"-"}


def end_sections(lines: list[str]) -> list[str]:
    """End a section where its indented text ends, and write ``Returns`` as the field it becomes.

    napoleon takes all that follows a section's title for its content; two empty lines end it. It
    takes the first line of ``Returns`` for a type, where this package has a sentence.
    """
    made: list[str] = []
    section = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if underlines(following):
            section = line
        elif section and line and not line[0].isspace() and not made[-1]:
            section = ""
            made.append("")
        if section != "Returns":
            made.append(line)
        elif underlines(following):
            made += ["", ":Returns:"]
        elif not underlines(line):
            made.append(f"    {line}" if line else "")
    return made


def mark_formulas(lines: list[str]) -> list[str]:
    """Mark an indented block after an empty line as literal: that is how formulas are written.

    Only before the first section: within one, an indented block is a description's paragraph.
    """
    made: list[str] = []
    before = "*"  # the last line with text that is not part of a block
    for number, line in enumerate(lines):
        if underlines(line) or line == ":Returns:":
            return made + lines[number:]
        if not line.startswith("    "):
            before = line or before
        elif not made[-1] and before and not before.startswith(("* ", "  ", "..")):
            made += [] if before.endswith("::") else ["::", ""]
            before = ""  # the block's further paragraphs belong to it
        made.append(line)
    return made


# --- names and signatures -----------------------------------------------------------------------


@cache
def listed_modules(folder: Path) -> frozenset[str]:
    """Return the modules that the pages of the reference name."""
    texts = [page.read_text("utf-8") for page in folder.glob("*.md")]
    return frozenset(name for text in texts for name in AUTOMODULE.findall(text))


def skip_member(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave out what has its entry in another module, and what Python writes for named tuples."""
    current = app.env.temp_data.get("autodoc:module")
    defined_in = getattr(obj, "__module__", current)
    listed = listed_modules(Path(app.srcdir) / "book" / "api")
    if what == "module" and defined_in != current and defined_in in listed:
        return True
    if str(getattr(obj, "__doc__", "")).startswith("Alias for field number"):
        return True
    return None


@cache
def definitions(module: str) -> dict[str, Definition]:
    """Return the functions and classes of a module's source by qualified name."""
    found: dict[str, Definition] = {}

    def collect(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[prefix + node.name] = node
            if isinstance(node, ast.ClassDef):
                collect(node.body, f"{prefix}{node.name}.")

    collect(ast.parse(inspect.getsource(sys.modules[module])).body, "")
    return found


def getter(obj: object) -> object:
    """Return the function behind a property, anything else as it is."""
    if isinstance(obj, cached_property):
        return obj.func
    return obj.fget if isinstance(obj, property) else obj


def definition(obj: object) -> Definition | None:
    """Return where the source defines `obj`; None of a value."""
    obj = getter(obj)
    module = getattr(obj, "__module__", "") or ""
    if not module.startswith(PACKAGE):
        return None
    return definitions(module).get(getattr(obj, "__qualname__", ""))


def written(node: ast.expr | None) -> str:
    """Return an annotation as the source has it, without the quotes of a later name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return "" if node is None else ast.unparse(node)


def written_arguments(function: ast.FunctionDef) -> str:
    """Return the arguments between a function's brackets, without ``self`` or ``cls``."""
    arguments = copy.deepcopy(function.args)
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.annotation is not None:
            argument.annotation = ast.Name(written(argument.annotation))
    if arguments.args and arguments.args[0].arg in {"self", "cls"}:
        del arguments.args[0]
    return ast.unparse(arguments)


def written_fields(fields: list[ast.AnnAssign]) -> str:
    """Return the fields of a data class or named tuple as arguments."""
    parts = []
    for field in fields:
        default = f" = {ast.unparse(field.value)}" if field.value else ""
        parts.append(f"{ast.unparse(field.target)}: {written(field.annotation)}{default}")
    return ", ".join(parts)


def written_signature(
    app: Sphinx, what: str, name: str, obj: object, options: object, given: str, returns: str
) -> tuple[str, str] | None:
    """Return the signature that the source has: autodoc's spells out each alias of a type."""
    source = definition(obj)
    if isinstance(source, ast.FunctionDef):
        return f"({written_arguments(source)})", written(source.returns)
    if source is None:
        return None
    for node in source.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            return f"({written_arguments(node)})", ""
    fields = [node for node in source.body if isinstance(node, ast.AnnAssign)]
    return (f"({written_fields(fields)})", "") if fields else None


def possible_names(module: str, target: str) -> Iterator[str]:
    """Yield the full names that may list what `target` means in `module`, the likeliest first."""
    found: Any = sys.modules.get(module)
    for part in target.split("."):
        found = getattr(found, part, None)
    if isinstance(found, ModuleType):
        yield found.__name__
    # what a private module defines is listed by a package above it
    for base, name in (
        (getattr(found, "__module__", None) or "", getattr(found, "__qualname__", "")),
        (module, target),
    ):
        parts = base.split(".")
        for depth in range(len(parts), 0, -1):
            yield ".".join([*parts[:depth], name])


def look_up(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, contnode: nodes.Element
) -> nodes.Element | None:
    """Find what a docstring or a signature names; what has no entry stays without a link.

    A reference that somebody writes on a page (``{py:func}`elmo_toy.softmax```) has no module
    around it: it must lead somewhere, or the build warns.
    """
    module = node.get("py:module")
    if node["refdomain"] != "py" or not module or node["reftype"] not in {"obj", "class"}:
        return None
    domain = env.get_domain("py")
    for name in possible_names(module, node["reftarget"]):
        found = domain.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, contnode)
        if found is not None:
            return found
    return contnode


def look_up_exactly(app: Sphinx, doctree: nodes.document) -> None:
    """Keep Sphinx from taking the only `State` of some other module for the one that is meant."""
    for reference in doctree.findall(addnodes.pending_xref):
        if reference.get("py:module"):
            reference.attributes.pop("refspecific", None)


def source_address(config: Config, domain: str, info: dict[str, str]) -> str | None:
    """Return where the repository shows the lines of an entry; None of a value."""
    theme = config.html_theme_options
    found: Any = sys.modules.get(info["module"])
    for part in info["fullname"].split("."):
        found = getattr(found, part, None)
    source = definition(found)
    if source is None:
        return None
    path = getter(found).__module__.replace(".", "/")
    path += "/__init__.py" if (ROOT / path).is_dir() else ".py"
    first = min([source.lineno, *(decorator.lineno for decorator in source.decorator_list)])
    branch = theme.get("repository_branch", "main")
    return f"{theme['repository_url']}/blob/{branch}/{path}#L{first}-L{source.end_lineno}"


# --- between the entries and the chapters -------------------------------------------------------


def documented_places(env: BuildEnvironment) -> dict[str, list[tuple[int, str]]]:
    """Return the places in the book by entry, in the order of the pages."""
    found: dict[str, list[tuple[int, str]]] = env.__dict__.setdefault("api_places", {})
    return found


def plain(title: str) -> str:
    """Return a title as a docstring has it: with typewriter apostrophes and single spaces."""
    return " ".join(title.split()).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def chapter_of(docname: str) -> int:
    """Return the number of a chapter's page, 0 for any other."""
    match = CHAPTER.search(docname)
    return int(match[1]) if match else 0


def headings(env: BuildEnvironment, docname: str) -> Iterator[tuple[str, str]]:
    """Yield title and anchor of each section of a page; the page itself has the title ``""``."""
    yield "", ""
    for reference in env.tocs[docname].findall(nodes.reference):
        yield plain(reference.astext()), reference["anchorname"].removeprefix("#")


def book_reference(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, *others: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Make the role ``:book:`3|One mixture, by hand```: a reference to a section of a chapter."""
    chapter, title = text.split("|")
    quoted = f"\N{LEFT DOUBLE QUOTATION MARK}{title}\N{RIGHT DOUBLE QUOTATION MARK}"
    shown = f"chapter {chapter}, {quoted}" if title else chapter
    reference = addnodes.pending_xref(
        rawtext,
        nodes.inline(text=shown, classes=["book-place"]),
        refdomain="",
        reftype="book",
        reftarget=text,
        refexplicit=True,
        refwarn=True,
        refdoc=inliner.document.settings.env.docname,
    )
    return [reference], []


def find_section(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, contnode: nodes.Element
) -> nodes.Element | None:
    """Lead a `book_reference` to its section; None, so a warning, when there is none."""
    if node["reftype"] != "book":
        return None
    chapter, _, title = node["reftarget"].partition("|")
    for docname in env.found_docs:
        if chapter_of(docname) == int(chapter):
            for heading, anchor in headings(env, docname):
                if heading == plain(title):
                    return make_refnode(app.builder, node["refdoc"], docname, anchor, contnode)
    return None


def entries_by_place(env: BuildEnvironment) -> dict[tuple[int, str], list[str]]:
    """Return the full names of the entries that name each place."""
    found: dict[tuple[int, str], list[str]] = {}
    for name, named in documented_places(env).items():
        for chapter, title in named:
            found.setdefault((chapter, plain(title)), []).append(name)
    return found


def link_back(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add to the sections of a chapter, on web pages, a line with the entries that name them."""
    chapter = chapter_of(docname)
    if not chapter or app.builder.name != "html":
        return
    entries = entries_by_place(app.env)
    titles: dict[str, list[str]] = {}
    for title, anchor in headings(app.env, docname):
        titles.setdefault(anchor, []).append(title)
    for number, section in enumerate(list(doctree.findall(nodes.section))):
        anchors = ["", *section["ids"]] if number == 0 else section["ids"]  # first: the page
        named = [title for anchor in anchors for title in titles.get(anchor, [])]
        names = [name for title in named for name in entries.get((chapter, title), [])]
        if names:
            inner = (i for i, child in enumerate(section) if isinstance(child, nodes.section))
            at = next(inner, len(section))
            section[at:at] = [
                line_of_entries(app, docname, some, folded=folded)
                for folded, some in itertools.groupby(sorted(names, key=gives_away), gives_away)
            ]


def gives_away(name: str) -> bool:
    """Tell whether an entry is of exercises and quizzes, whose names can be half an answer."""
    return name.startswith((f"{PACKAGE}.exercises", f"{PACKAGE}.quiz"))


def line_of_entries(
    app: Sphinx, docname: str, names: Iterable[str], *, folded: bool = False
) -> nodes.raw:
    """Return the line "In code: softmax, scalar_mix", folded up if it is long or shall be."""
    domain = cast(PythonDomain, app.env.get_domain("py"))
    entries = {name: domain.objects[name] for name in names}
    links = []
    for name, shown in zip(entries, distinct_names(entries), strict=True):
        entry = entries[name]
        address = f"{app.builder.get_relative_uri(docname, entry.docname)}#{entry.node_id}"
        links.append(f'<a href="{address}"><code>{shown}</code></a>')
    text = ", ".join(links)
    if folded or len(links) > LONG_LINE:
        what = "Exercises and quizzes in code" if folded else "In code"
        count = f"{len(links)} {'entry' if len(links) == 1 else 'entries'}"
        html = f'<details class="in-code"><summary>{what}: {count}</summary><p>{text}</p></details>'
    else:
        html = f'<p class="in-code">In code: {text}</p>'
    return nodes.raw("", html, format="html")


def distinct_names(entries: Mapping[str, ObjectEntry]) -> list[str]:
    """Return the names to show, short; two that would be alike keep their module."""
    short = [short_name(name, is_module=entries[name].objtype == "module") for name in entries]
    return [
        own if short.count(own) == 1 else name.removeprefix(f"{PACKAGE}.")
        for name, own in zip(entries, short, strict=True)
    ]


def short_name(name: str, *, is_module: bool) -> str:
    """Return a name without its module, ``ScalarMix.step`` of a method; a module's in full."""
    if is_module:
        return name.removeprefix(f"{PACKAGE}.")
    parts = name.split(".")
    return ".".join(parts[-2:] if parts[-2][:1].isupper() else parts[-1:])


def configure(app: Sphinx, config: Config) -> None:
    """Set what a YAML file cannot hold."""
    config.linkcode_resolve = lambda domain, info: source_address(config, domain, info)


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    for extension in ("autodoc", "napoleon", "linkcode"):
        app.setup_extension(f"sphinx.ext.{extension}")
    app.add_role("book", book_reference)
    app.connect("config-inited", configure)
    # before napoleon, which comes at 500
    app.connect("autodoc-process-docstring", prepare_docstring, priority=400)
    app.connect("autodoc-process-signature", written_signature)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("doctree-read", look_up_exactly)
    app.connect("missing-reference", look_up)
    app.connect("missing-reference", find_section)
    app.connect("doctree-resolved", link_back)
