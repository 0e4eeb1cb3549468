"""What a notebook of the book looks like, as functions that list where one does not.

Each rule takes a `Notebook` and yields problems: sentences that name the cell and the thing. The
rules read the stored file only; nothing is run.

    python tests/notebooks/rules.py     size of each notebook against the targets, and its problems
"""

from __future__ import annotations

import ast
import html
import io
import json
import re
import statistics
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from tools import normalise_notebooks, prose_numbers  # noqa: E402  (the path is set just above)

IMPORTS = frozenset({"elmo_toy", "matplotlib", "numpy"})
#: The derivation is the one place where symbols are manipulated before the reader's eyes.
MORE_IMPORTS = {"04_gradient": frozenset({"sympy"})}
#: `setup` installs the package on hosts that lack it. The rest: what the theme and Jupyter Book
#: understand, and the two kinds of cell that a reader is asked to do something with.
TAGS = frozenset({"exercise", "hide-cell", "hide-input", "remove-cell", "setup", "solution"})
HIDING_TAGS = frozenset({"hide-cell", "remove-cell"})

CELL_LINES = 15
#: (target, what still passes). The targets are what good teaching notebooks measure. A chapter that
#: has much to show may leave them, but not the range in which published ones are still read:
#: the longest of ten corpora that were measured have 3100 words, 38 code cells and medians of 6 to
#: 10 lines a cell; below the lower bounds a chapter is a stub.
SIZES: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "words": ((700, 1500), (400, 3200)),
    "code cells": ((10, 20), (6, 36)),
    "code lines": ((40, 90), (20, 220)),
    "median lines of a cell": ((1, 4), (1, 6)),
}
NOTEBOOK_BYTES = 200_000

#: The notebooks of exercises are written by tools/write_exercises.py: a list of tasks, in which a
#: reader writes most of the code and which leads to no conclusion. The other rules hold for them.
EXERCISES = "exercises_"

PREDICT = re.compile(r"^\*\*Predict\b", re.MULTILINE)
CLOSING = "What this showed, what it didn't, what to doubt"

FORBIDDEN_NAMES = frozenset({"__import__", "eval", "exec", "get_ipython", "input", "open"})
FORBIDDEN_ATTRIBUTES = frozenset({"sys.path", "os.environ", "os.system", "plt.show"})
SEEDED = frozenset({"Generator", "PCG64", "SeedSequence", "default_rng"})
DRAWING = frozenset({"ax", "axes", "axs", "fig", "figure", "plt", "pyplot", "matplotlib", "mpl"})
NBVAL_MARKER = re.compile(r"#\s*(?:NBVAL_|PYTEST_VALIDATE_)\w+")

ENVIRONMENTS = frozenset(
    {"aligned", "array", "cases", "gathered", "smallmatrix"}
    | {f"{kind}matrix" for kind in ("", "p", "b", "B", "v", "V")}
)
#: What KaTeX or MathJax sets alone or the two set differently; what numbers an equation or lasts
#: beyond its formula.
MACROS = re.compile(
    r"""\\(?:
      argmax|argmin|bbox|bm|bra|Braket|braket|buildrel|C|ce|class|color|coloneqq|cssId|displaylines
      |enclose|eqalign|hfill|href|htmlClass|htmlData|htmlId|htmlStyle|includegraphics|KaTeX|ket
      |llbracket|lower|mathbbm|mathclap|mathllap|mathrlap|mmlToken|moveleft|moveright|N|pu|R|raise
      |Reals|require|rrbracket|shoveleft|shoveright|style|texttip|toggle|unicode|url|verb|Z
      |DeclareMathOperator|def|eqref|gdef|global|label|let|newcommand|newenvironment|nonumber|notag
      |providecommand|ref|renewcommand|tag
    )(?![A-Za-z])""",
    re.VERBOSE,
)
PRIMITIVES = re.compile(r"\\(?:[pb]?matrix|cases)\s*\{")

HTML_TAGS = frozenset({"br", "code", "details", "em", "kbd", "strong", "sub", "summary", "sup"})
MYST = {
    "a directive": re.compile(r"^\s*(?:`{3,}|~{3,}|:{3,})\s*\{", re.MULTILINE),
    "a colon fence": re.compile(r"^\s*:{3,}", re.MULTILINE),
    "a target": re.compile(r"^\([\w.:-]+\)=\s*$", re.MULTILINE),
    "a comment": re.compile(r"^%\s", re.MULTILINE),
    "a block break": re.compile(r"^\+\+\+", re.MULTILINE),
    "a substitution": re.compile(r"\{\{[^{}]*\}\}"),
    "an attribute": re.compile(r"(?<=[\])`])\{[.#][^}]*\}"),
}
FENCED = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)\s*$", re.DOTALL | re.MULTILINE)
ROLE = re.compile(r"\{[a-z][\w:.+-]*\}\Z")
INLINE_CODE = re.compile(r"(?P<ticks>`+)(?:.+?)(?<!`)(?P=ticks)(?!`)", re.DOTALL)
MATHEMATICS = re.compile(r"\$\$(.+?)\$\$|\$((?:\\.|[^$\\])+?)\$", re.DOTALL)
LINK = re.compile(r"(!?)\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\))?)")

Cell = dict[str, Any]
Problems = Iterator[str]


@dataclass(frozen=True)
class Notebook:
    """A stored notebook, read as JSON."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> Notebook:
        """Read a file."""
        return cls(path, path.read_text(encoding="utf-8"))

    @cached_property
    def cells(self) -> list[Cell]:
        """Return the cells, their sources and text outputs joined to strings."""
        cells: list[Cell] = []
        for cell in json.loads(self.text)["cells"]:
            outputs = [
                {
                    **output,
                    "text": "".join(output.get("text", [])),
                    "data": {
                        kind: "".join(value) if isinstance(value, list) else value
                        for kind, value in output.get("data", {}).items()
                    },
                }
                for output in cell.get("outputs", [])
            ]
            tags = cell["metadata"].get("tags", [])
            source = "".join(cell["source"])
            cells.append({**cell, "source": source, "outputs": outputs, "tags": tags})
        return cells

    @cached_property
    def markdown(self) -> list[Cell]:
        """Return the Markdown cells."""
        return [cell for cell in self.cells if cell["cell_type"] == "markdown"]

    @cached_property
    def code(self) -> list[Cell]:
        """Return the code cells without the set-up cell."""
        return [
            cell
            for cell in self.cells
            if cell["cell_type"] == "code" and "setup" not in cell["tags"]
        ]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Measure what there are targets for."""
        lines = [len(code_lines(cell)) for cell in self.code]
        words = sum(len(FENCED.sub("", cell["source"]).split()) for cell in self.markdown)
        return {
            "words": words,
            "code cells": len(lines),
            "code lines": sum(lines),
            "median lines of a cell": int(statistics.median_high(lines)) if lines else 0,
        }


def code_lines(cell: Cell) -> list[str]:
    """Return the lines of a cell, without blank ones and those where brackets only close.

    The formatter sets those, and how many depends on the line length, not on what there is to read.
    """
    lines = cell["source"].splitlines()
    return [line for line in lines if line.strip() and not re.fullmatch(r"[\s)\]},:]*", line)]


def without_code(markdown: str) -> str:
    """Return a Markdown text without fenced and inline code."""
    return INLINE_CODE.sub(" ", FENCED.sub(" ", markdown))


# --------------------------------------------------------------------------- the file


def normalised(notebook: Notebook) -> Problems:
    """Running the normaliser would change nothing."""
    name = notebook.path.name
    try:
        parsed = normalise_notebooks.parse(notebook.text, name)
        after = normalise_notebooks.normalise(parsed, name)
    except normalise_notebooks.NotebookError as error:
        yield str(error)
        return
    if after != notebook.text:
        excerpt = normalise_notebooks.difference(notebook.text, after, name)
        yield f"not normalised, run tools/normalise_notebooks.py:\n{excerpt}"


def size(notebook: Notebook) -> Problems:
    """No cell, and not the whole, is beyond what is read."""
    for cell in notebook.code:
        lines = len(code_lines(cell))
        if lines > CELL_LINES:
            yield f"[{cell['id']}] has {lines} lines, at most {CELL_LINES}: move code to elmo_toy"
        if not lines:
            yield f"[{cell['id']}] is empty"
    for name, value in notebook.sizes.items():
        low, high = SIZES[name][1]
        if notebook.path.stem.startswith(EXERCISES):
            low = 1
        if not low <= value <= high:
            yield f"{value} {name}, expected {low} to {high}"
    if len(notebook.text.encode()) > NOTEBOOK_BYTES:
        yield f"{len(notebook.text.encode())} bytes, at most {NOTEBOOK_BYTES}"


def names(notebook: Notebook) -> Problems:
    """Ids say what a cell does, tags are known ones, no cell is raw."""
    for cell in notebook.cells:
        cell_id = cell["id"]
        drawn = re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}.*)?", cell_id) and re.search(r"\d", cell_id)
        if drawn or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", cell_id):
            yield f"[{cell_id}] is no name: say in words-with-hyphens what the cell does"
        if unknown := sorted(set(cell["tags"]) - TAGS):
            yield f"[{cell_id}] has unknown tags {unknown}; known: {sorted(TAGS)}"
        if cell["cell_type"] == "raw":
            yield f"[{cell_id}] is a raw cell"
        if cell.get("attachments"):
            yield f"[{cell_id}] has attachments"


# --------------------------------------------------------------------------- code


def _parsed(cell: Cell) -> ast.Module | None:
    try:
        return ast.parse(cell["source"])
    except SyntaxError:
        return None


def described(notebook: Notebook) -> Problems:
    """A number in a figure's caption or description is put there by code: nothing binds it."""
    for cell in notebook.code:
        for node in ast.walk(_parsed(cell) or ast.Module([], [])):
            if isinstance(node, ast.keyword) and node.arg in ("alt", "caption"):
                texts = _texts(node.value)
                # h0 and a1 are names
                if typed := re.findall(r"(?<![A-Za-z\d])\d[\d.]*", " ".join(texts)):
                    yield f"[{cell['id']}] types {typed} in {node.arg}=: write it as {{value}}"


def _texts(node: ast.AST) -> Iterator[str]:
    """Yield the typed parts of a string expression, without what a format string computes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not isinstance(node, ast.FormattedValue):
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


def imports(notebook: Notebook) -> Problems:
    """One import cell, the first one, and only the packages that the chapters are about."""
    setup = [cell for cell in notebook.cells if "setup" in cell["tags"]]
    if len(setup) > 1 or any(cell["cell_type"] != "code" for cell in setup):
        yield "more than one set-up cell, or one without code"
    for cell in setup:
        if not HIDING_TAGS & set(cell["tags"]):
            yield f"[{cell['id']}] is a set-up cell that is not hidden"
        code = [other for other in notebook.cells if other["cell_type"] == "code"]
        if code[0]["id"] != cell["id"]:
            yield f"[{cell['id']}] is a set-up cell that is not the first code cell"
    allowed = IMPORTS | MORE_IMPORTS.get(notebook.path.stem, frozenset())
    for position, cell in enumerate(notebook.code):
        module = _parsed(cell)
        if module is None:
            continue
        found = [node for node in ast.walk(module) if isinstance(node, ast.Import | ast.ImportFrom)]
        if position == 0 and (not found or len(found) != len(module.body)):
            yield f"[{cell['id']}] is the first code cell: it should import, and nothing else"
        if position > 0 and found:
            yield f"[{cell['id']}] imports: move it to the import cell"
        for node in found:
            modules = (
                [node.module or "."]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
            )
            for name in modules:
                if name.partition(".")[0] not in allowed:
                    yield f"[{cell['id']}] imports {name}; allowed: {', '.join(sorted(allowed))}"


def code(notebook: Notebook) -> Problems:
    """Plain Python, which leaves the machine alone and gives the same numbers everywhere."""
    for cell in notebook.code:
        place = f"[{cell['id']}]"
        if marker := NBVAL_MARKER.search(cell["source"]):
            yield f"{place} has {marker[0]!r}: every output is compared"
        module = _parsed(cell)
        if module is None:
            yield f"{place} is not plain Python: no %magic, no !command, no syntax error"
            continue
        for node in ast.walk(module):
            if isinstance(node, ast.Name) and node.id in FORBIDDEN_NAMES:
                yield f"{place} uses {node.id}"
            if isinstance(node, ast.Attribute):
                name = ast.unparse(node)
                if name in FORBIDDEN_ATTRIBUTES:
                    yield f"{place} uses {name}"
                if re.match(r"(?:np|numpy)\.random\.\w+$", name) and node.attr not in SEEDED:
                    yield f"{place} uses the global random state: {name}"
            seeding = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("default_rng")
            if seeding and not (node.args or node.keywords):
                yield f"{place} uses default_rng without a seed"
        yield from _last_expression(place, cell["source"], module)


def _last_expression(place: str, source: str, module: ast.Module) -> Problems:
    significant = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.OP or token.string.strip()
        if token.type != tokenize.COMMENT
    ]
    if significant and significant[-1] == ";":
        yield f"{place} ends in a semicolon, which does not hide an output everywhere"
    last = module.body[-1] if module.body else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        function = last.value.func
        root = function
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
            root = root.func if isinstance(root, ast.Call) else root.value
        drawn = isinstance(root, ast.Name) and root.id in DRAWING
        if isinstance(function, ast.Attribute) and drawn:
            yield f"{place} ends in {ast.unparse(function)}(...), whose result would be shown"


# --------------------------------------------------------------------------- outputs

UNSTABLE = {
    "a matplotlib object": re.compile(r"<(?:matplotlib|Figure size|Axes)"),
    "a memory address": re.compile(r" at 0x[0-9a-f.]"),
    "the repr of a numpy scalar": re.compile(r"\bnp\.(?:float|int|bool|str)\w*\("),
    # 13 significant digits or more
    "a float's last digits, which differ between machines": re.compile(
        r"(?<![\w.])(?=\d*\.\d)(?:0\.0*)?[1-9]\.?(?:\d\.?){12,}"
    ),
    "text that overwrites itself": re.compile(r"[\r\x08]"),
    "embedded data": re.compile(r"data:[a-z]+/[\w.+-]+;base64"),
    "a warning": re.compile(r"\b\w+Warning:"),
}


def outputs(notebook: Notebook) -> Problems:
    """Text only, the same on every machine, and nothing that went wrong."""
    for cell in notebook.cells:
        place = f"[{cell['id']}]"
        for output in cell["outputs"]:
            if output["output_type"] == "error":
                yield f"{place} raised {output.get('ename')}"
            if output.get("name") == "stderr":
                yield f"{place} writes to stderr: {output['text']!r}"
            for kind, text in [("text", output["text"]), *output["data"].items()]:
                if kind.startswith("image/"):
                    yield f"{place} shows {kind}: figures come from elmo_toy.figures"
                elif isinstance(text, str):
                    visible = re.sub(r"<[^>]*>", " ", text) if kind == "text/html" else text
                    for what, pattern in UNSTABLE.items():
                        searched = text if what == "embedded data" else visible
                        if match := pattern.search(searched):
                            yield f"{place} shows {what}: {match[0]!r}"
            if "<svg" in output["data"].get("text/html", ""):
                yield from _figure(place, output["data"])


def _figure(place: str, data: dict[str, str]) -> Problems:
    spoken = 0
    for tag in re.findall(r"<svg\b(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", data["text/html"]):
        attributes = dict(re.findall(r"([\w:-]+)=\"([^\"]*)\"", tag))
        if not {"width", "height"} <= set(attributes):
            yield f"{place} has a drawing without width and height"
        if attributes.get("aria-hidden") == "true":
            continue
        alt = html.unescape(attributes.get("aria-label", ""))
        if attributes.get("role") != "img" or len(alt.split()) < 5:
            yield f"{place} has a drawing without role img and alternative text of 5 words or more"
        elif alt not in data.get("text/plain", ""):
            yield f"{place} shows other text than the drawing's alternative text as text/plain"
        spoken += 1
    if not spoken:
        yield f"{place} has no drawing that is not hidden from screen readers"


# --------------------------------------------------------------------------- prose


def opening(notebook: Notebook) -> Problems:
    """A title, one question, and a prompt to predict, before anything is computed."""
    titles = [
        cell["id"]
        for cell in notebook.markdown
        if re.search(r"^# ", FENCED.sub("", cell["source"]), re.MULTILINE)
    ]
    visible = [cell for cell in notebook.cells if "setup" not in cell["tags"]]
    first = visible[0]
    if titles != [first["id"]]:
        yield f"should open with the one title (#); [{first['id']}] is first, titles in {titles}"
    if "?" not in MATHEMATICS.sub(" ", without_code(first["source"])):
        yield f"[{first['id']}] asks no question"
    computing = [cell["id"] for cell in notebook.code[1:]]
    for cell in visible:
        if cell["id"] in computing[:1]:
            yield f"[{cell['id']}] computes before the reader is asked: **Predict first.** ..."
        if cell["cell_type"] == "markdown" and PREDICT.search(cell["source"]):
            break


def closing(notebook: Notebook) -> Problems:
    """The last section says what to make of it all."""
    if notebook.path.stem.startswith(EXERCISES):
        return
    found = [
        (position, heading.replace("’", "'"))
        for position, cell in enumerate(notebook.cells)
        if cell["cell_type"] == "markdown"
        for heading in re.findall(r"^##? (.+?)\s*$", FENCED.sub("", cell["source"]), re.MULTILINE)
    ]
    if not found or found[-1][1] != CLOSING:
        last = found[-1][1] if found else None
        yield f"should end with the section '## {CLOSING}', ends with {last!r}"
    elif any(cell["cell_type"] == "code" for cell in notebook.cells[found[-1][0] :]):
        yield "code follows the closing section"


def plain_markdown(notebook: Notebook) -> Problems:
    """Markdown that reads well wherever a notebook is opened."""
    for cell in notebook.markdown:
        place = f"[{cell['id']}]"
        unfenced = FENCED.sub("", cell["source"])
        for what, pattern in MYST.items():
            text = cell["source"] if what == "a directive" else unfenced
            if what in ("a substitution", "an attribute"):
                text = MATHEMATICS.sub(" ", without_code(text))
            if match := pattern.search(text):
                yield f"{place} has {what} of MyST: {match[0].strip()!r}"
        for match in INLINE_CODE.finditer(unfenced):
            if role := ROLE.search(unfenced[: match.start()]):
                yield f"{place} has a role of MyST: {role[0]}{match[0]}"
        prose = MATHEMATICS.sub(" ", without_code(cell["source"]))
        for tag in re.findall(r"</?([A-Za-z][\w-]*)(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", prose):
            if tag.lower() not in HTML_TAGS:
                yield f"{place} has <{tag}>; allowed: {', '.join(sorted(HTML_TAGS))}"
        if prose.count("<details") != prose.count("</details>"):
            yield f"{place} opens and closes <details> in different numbers"
        if "<details" in prose and "<summary" not in prose:
            yield f"{place} has <details> without a <summary>"
        if re.search(r"!\[", prose):
            yield f"{place} has an image: figures come from code cells"


def mathematics(notebook: Notebook) -> Problems:
    """Formulas that KaTeX and MathJax set alike."""
    for cell in notebook.cells:
        place = f"[{cell['id']}]"
        texts = [output["data"].get("text/latex", "") for output in cell["outputs"]]
        if cell["cell_type"] == "markdown":
            texts.append(without_code(cell["source"]))
        for text in texts:
            yield from (f"{place} {problem}" for problem in formula_problems(text))


def formula_problems(text: str) -> Problems:
    """List what is wrong with the mathematics of a Markdown text without code."""
    if re.search(r"\\[()\[\]]", MATHEMATICS.sub(" ", text)):
        yield "has mathematics between backslashed brackets: use dollar signs"
    outside = MATHEMATICS.sub(" ", re.sub(r"\\\$", " ", text))
    if "$" in outside:
        yield "has a dollar sign without its partner"
    if environment := re.search(r"\\begin\{\w+\*?\}", outside):
        yield f"has {environment[0]} outside dollar signs"
    for match in MATHEMATICS.finditer(text):
        formula = match[1] or match[2]
        for environment_name in re.findall(r"\\begin\{([^}]*)\}", formula):
            if environment_name not in ENVIRONMENTS:
                yield f"has the environment {environment_name}: use aligned, gathered or cases"
        for macro in MACROS.findall(formula):
            yield f"has {macro}, which KaTeX and MathJax do not share"
        if primitive := PRIMITIVES.search(formula):
            yield f"has {primitive[0]!r}: use \\begin{{...}}"
        if formula.count("{") - formula.count("\\{") != formula.count("}") - formula.count("\\}"):
            yield f"has unbalanced braces: {formula.strip()[:40]!r}"
        if match[1] is None and (formula[0].isspace() or formula[-1].isspace()):
            yield f"has blanks inside the dollar signs, which not every host reads: ${formula}$"
        if re.search(r"\n\s*\n", formula):
            yield f"has an empty line in a formula: {formula.strip()[:40]!r}"


Rule = Callable[[Notebook], Problems]
RULES: tuple[Rule, ...] = (
    normalised,
    size,
    names,
    described,
    imports,
    code,
    outputs,
    opening,
    closing,
    plain_markdown,
    mathematics,
)


def problems(notebook: Notebook) -> list[str]:
    """List everything that is wrong with a notebook."""
    return [f"{notebook.path.name}: {problem}" for rule in RULES for problem in rule(notebook)]


# --------------------------------------------------------------------------- links


def _markdown_of(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
    return "\n\n".join("".join(cell["source"]) for cell in cells)


def _anchors(path: Path) -> set[str]:
    text = _markdown_of(path)
    targets = re.findall(r"^\(([\w.:-]+)\)=\s*$", text, re.MULTILINE)
    return {slug for _, slug in prose_numbers.headings(text)} | set(targets)


def broken_links(path: Path) -> list[str]:
    """List the relative links of a page or notebook that lead nowhere."""
    found = []
    for _, target in LINK.findall(without_code(_markdown_of(path))):
        if re.match(r"[a-z][a-z0-9+.-]*:", target) or not target:
            continue
        file, _, anchor = target.partition("#")
        goal = (path.parent / file).resolve() if file else path
        if not goal.is_file():
            found.append(f"{path.name}: ({target}) leads to no file")
        elif anchor and goal.suffix in (".md", ".ipynb") and anchor not in _anchors(goal):
            found.append(f"{path.name}: ({target}) leads to no heading of {goal.name}")
    return found


def report(paths: list[Path]) -> str:
    """Tabulate the sizes of notebooks, with a star where a target is missed."""
    lines = []
    for path in paths:
        sizes = Notebook.read(path).sizes
        parts = [
            f"{value} {name}{'' if low <= value <= high else f' (target {low} to {high})'}"
            for name, value in sizes.items()
            for low, high in [SIZES[name][0]]
        ]
        lines.append(f"{path.name}: {', '.join(parts)}")
    return "\n".join(lines)


if __name__ == "__main__":
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    print(report(notebooks))
    everything = [problem for path in notebooks for problem in problems(Notebook.read(path))]
    everything += [problem for path in notebooks for problem in broken_links(path)]
    print("\n".join(everything))
    sys.exit(1 if everything else 0)
