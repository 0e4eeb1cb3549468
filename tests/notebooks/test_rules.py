"""Each rule finds what it is there for: a faultless notebook, spoilt in one place at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.notebooks import rules
from tests.notebooks.rules import Notebook
from tools import normalise_notebooks

ALT = "Two points on one line."
FIGURE = (
    f'<figure><svg role="img" aria-label="{ALT}" width="9" height="9"></svg>'
    '<svg aria-hidden="true" width="9" height="9"></svg><figcaption>Two.</figcaption></figure>'
)
LONG = " ".join(["word"] * 420)
OPENING = f"# One mixture\n\nHow can it give two vectors?\n\n{LONG}"


def text(name: str, source: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_markdown_cell(source, id=name)


def code(name: str, source: str, output: nbformat.NotebookNode | None = None, *tags: str) -> Any:
    cell = nbformat.v4.new_code_cell(source, id=name, outputs=[output] if output else [])
    if tags:
        cell.metadata["tags"] = list(tags)
    return cell


def printed(words: str, name: str = "stdout") -> nbformat.NotebookNode:
    return nbformat.v4.new_output("stream", name=name, text=words)


def shown(**data: str) -> nbformat.NotebookNode:
    kinds = {kind.replace("_", "/"): value for kind, value in data.items()}
    return nbformat.v4.new_output("display_data", data=kinds)


def good() -> nbformat.NotebookNode:
    """Return a notebook that keeps all rules."""
    computing = [
        code(f"step-{word}", "a = 1\nb = 2\nprint(a)\nprint(b)", printed("1\n2\n"))
        for word in ("one", "two", "three", "four", "five", "six")
    ]
    return nbformat.v4.new_notebook(
        cells=[
            code("install", "%pip install elmo-toy", None, "setup", "remove-cell"),
            text("title", OPENING),
            code("imports", "import numpy as np\n\nfrom elmo_toy import figures"),
            text("predict", "**Predict first.** Is $s_1 > 0$?"),
            *computing,
            code("figure", "figures.hull(weights)", shown(text_html=FIGURE, text_plain=ALT)),
            text(
                "formula",
                "$$\n\\begin{aligned}\na &= 1 \\\\\nb &= \\{2\\}\n\\end{aligned}\n$$\n\n"
                "Costs \\$3.\n\n"
                "<details><summary>Solution</summary>\n\n`{x}` and `a <b c>`\n\n</details>",
            ),
            text("doubt", f"## {rules.CLOSING}\n\nAll of it."),
        ]
    )


def read(notebook: nbformat.NotebookNode, stem: str = "03_sample") -> Notebook:
    count = 0
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.execution_count is None:
            count += 1
            cell.execution_count = count
    return Notebook(Path(f"{stem}.ipynb"), normalise_notebooks.normalise(notebook, stem))


def test_a_notebook_without_fault() -> None:
    assert rules.problems(read(good())) == []


def spoilt(rule: rules.Rule, name: str, source: str | None = None, **changes: Any) -> list[str]:
    """Change one cell of the good notebook, keep everything else, and apply one rule."""
    notebook = good()
    [cell] = [cell for cell in notebook.cells if cell.id == name]
    if source is not None:
        cell.source = source
    output = changes.pop("output", None)
    if output is not None:
        cell.outputs = [output]
    tags = changes.pop("tags", None)
    if tags is not None:
        cell.metadata["tags"] = tags
    cell.update(changes)
    return list(rule(read(notebook)))


def only(found: list[str]) -> str:
    [problem] = found
    return problem


def test_what_is_not_normalised() -> None:
    notebook = read(good())
    changed = Notebook(notebook.path, notebook.text.replace('"name": "python3"', '"name": "elmo"'))
    assert '+   "name": "python3"' in only(list(rules.normalised(changed)))


def test_cells_that_were_not_run() -> None:
    notebook = read(good())
    changed = Notebook(
        notebook.path, notebook.text.replace('"execution_count": 3', '"execution_count": null')
    )
    assert "'step-one' has execution count None" in only(list(rules.normalised(changed)))


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("step-one", "a = 1\n" * 16, "[step-one] has 16 lines, at most 15"),
        ("step-one", "\n", "[step-one] is empty"),
        ("title", "# Short?", "words, expected 400 to 3200"),
        ("title", "word " * 3300, "words, expected 400 to 3200"),
        ("title", "word " * 400 + "x" * rules.NOTEBOOK_BYTES, "bytes, at most"),
    ],
)
def test_size(name: str, source: str, message: str) -> None:
    assert message in only(spoilt(rules.size, name, source))


def test_lines_that_only_close_brackets_are_not_counted() -> None:
    source = "a = f(\n    {\n        1: [2],\n    },\n)\n\nif a:\n    b = (\n    )\n"
    assert len(rules.code_lines({"source": source})) == 5


def test_number_of_cells_and_lines() -> None:
    notebook = good()
    few = nbformat.v4.new_notebook(cells=notebook.cells[:5])
    found = list(rules.size(read(few)))
    assert found == ["2 code cells, expected 6 to 36", "6 code lines, expected 20 to 220"]
    many = good()
    many.cells[5:5] = [code(f"more-{i}", "a = 1\n" * 10) for i in range(30)]
    found = list(rules.size(read(many)))
    assert [problem.split(",")[0] for problem in found] == [
        "38 code cells",
        "327 code lines",
        "10 median lines of a cell",
    ]


@pytest.mark.parametrize("cell_id", ["3f2a91bc", "Step-one", "1-step", "step_one", "a--b"])
def test_ids_that_are_no_names(cell_id: str) -> None:
    assert f"[{cell_id}] is no name" in only(spoilt(rules.names, "step-one", id=cell_id))


@pytest.mark.parametrize("tag", ["raises-exception", "nbval-skip", "hide-output", "Exercise"])
def test_unknown_tags(tag: str) -> None:
    assert "unknown tags" in only(spoilt(rules.names, "step-one", tags=[tag]))


def test_raw_cells() -> None:
    notebook = good()
    notebook.cells.append(nbformat.v4.new_raw_cell("x", id="raw"))
    assert "[raw] is a raw cell" in only(list(rules.names(read(notebook))))


def test_attachments() -> None:
    found = spoilt(rules.names, "title", attachments={"a.png": {"image/png": "x"}})
    assert "attachments" in only(found)


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("step-one", "import numpy as np", "[step-one] imports: move it"),
        ("step-one", "def f():\n    from elmo_toy import figures", "[step-one] imports: move it"),
        ("imports", "import numpy as np\nprint(1)", "should import, and nothing else"),
        ("imports", "a = 1", "should import, and nothing else"),
        ("imports", "import sympy", "imports sympy; allowed: elmo_toy, matplotlib, numpy"),
        ("imports", "import os.path", "imports os.path"),
        ("imports", "from . import x", "imports ."),
        ("imports", "import numpy, urllib.request", "imports urllib.request"),
    ],
)
def test_imports(name: str, source: str, message: str) -> None:
    assert message in only(spoilt(rules.imports, name, source))


def test_sympy_belongs_to_the_derivation() -> None:
    notebook = good()
    notebook.cells[2].source = "import sympy as sp"
    assert list(rules.imports(read(notebook, "04_gradient"))) == []


def test_setup_cell_is_hidden_and_first() -> None:
    assert "not hidden" in only(spoilt(rules.imports, "install", tags=["setup"]))
    notebook = good()
    notebook.cells.insert(3, notebook.cells.pop(0))
    assert "not the first code cell" in only(list(rules.imports(read(notebook))))
    assert "more than one" in spoilt(rules.imports, "imports", tags=["setup", "hide-cell"])[0]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("!pip install x", "is not plain Python"),
        ("%matplotlib inline", "is not plain Python"),
        ("a = (", "is not plain Python"),
        ("# NBVAL_IGNORE_OUTPUT\na = 1", "'# NBVAL_IGNORE_OUTPUT'"),
        ("a = 1  # NBVAL_SKIP", "'# NBVAL_SKIP'"),
        ("sys.path.append('.')", "uses sys.path"),
        ("os.environ['A'] = '1'", "uses os.environ"),
        ("__import__('urllib')", "uses __import__"),
        ("with open('x') as f:\n    pass", "uses open"),
        ("plt.show()\na = 1", "uses plt.show"),
        ("a = np.random.rand(3)", "global random state: np.random.rand"),
        ("a = np.random.default_rng().random()", "default_rng without a seed"),
        ("a", None),
        ("a = np.random.default_rng(3).random()", None),
        ("figures.hull(a)  # a comment", None),
        ("mixture.plot(a)", None),
        ("a = ax.plot(x)", None),
        ("a;", "ends in a semicolon"),
        ("a;  # hidden", "ends in a semicolon"),
        ("ax.plot(x)", "ends in ax.plot(...)"),
        ("axes[0, 1].set_title('a').x()", "ends in axes[0, 1].set_title('a').x(...)"),
        ("plt.gca().plot(x)", "ends in plt.gca().plot(...)"),
    ],
)
def test_code(source: str, message: str | None) -> None:
    found = spoilt(rules.code, "step-one", source)
    if message is None:
        assert found == []
    else:
        assert message in only(found)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (printed("oh", "stderr"), "writes to stderr: 'oh'"),
        (shown(text_plain="<Figure size 640x480 with 1 Axes>"), "a matplotlib object"),
        (shown(text_plain="[<matplotlib.lines.Line2D object>]"), "a matplotlib object"),
        (shown(text_plain="<object object at 0x7f3c5c0b1a80>"), "a memory address"),
        (shown(text_plain="np.float64(0.5)"), "the repr of a numpy scalar"),
        (shown(text_plain="0.30000000000000004"), "a float's last digits"),
        (printed("loss 0.64565630622579\n"), "a float's last digits"),
        (printed("noise 5.551115123125783e-17\n"), "a float's last digits"),
        (printed("loss 0.4203369997, 5.6e-17, 0.000000000000001\n"), None),
        (printed("1234567890123456 parameters\n"), None),
        (printed("10%\r20%\n"), "text that overwrites itself"),
        (printed("RuntimeWarning: overflow\n"), "a warning"),
        (shown(text_html='<img src="data:image/png;base64,AA">'), "embedded data"),
        (shown(text_html=FIGURE), "shows other text than the drawing's"),
        (
            shown(text_html=FIGURE.replace('role="img"', ""), text_plain=ALT),
            "a drawing without role img",
        ),
        (
            shown(text_html=FIGURE.replace(ALT, "Too short."), text_plain="Too short."),
            "alternative text of 5 words",
        ),
        (
            shown(text_html=FIGURE.replace('height="9"></svg><s', "></svg><s"), text_plain=ALT),
            "a drawing without width and height",
        ),
        (
            shown(text_html='<svg aria-hidden="true" width="9" height="9"></svg>', text_plain=ALT),
            "no drawing that is not hidden",
        ),
    ],
)
def test_outputs(output: nbformat.NotebookNode, message: str | None) -> None:
    found = spoilt(rules.outputs, "step-one", output=output)
    if message is None:
        assert found == []
    else:
        assert message in only(found)


def test_pictures_and_errors_that_reach_the_file() -> None:
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="x", traceback=[])
    assert "raised ValueError" in only(spoilt(rules.outputs, "step-one", output=error))
    notebook = read(good())
    changed = Notebook(notebook.path, notebook.text.replace('"text/html"', '"image/svg+xml"'))
    assert "shows image/svg+xml" in only(list(rules.outputs(changed)))


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("title", "No title?", "should open with the one title (#)"),
        ("title", "# No question", "[title] asks no question"),
        ("title", "# In code\n\n`a?`", "[title] asks no question"),
        ("predict", "Look.", "[step-one] computes before the reader is asked"),
        ("formula", "# Another title", "should open with the one title (#)"),
    ],
)
def test_opening(name: str, source: str, message: str) -> None:
    assert message in only(spoilt(rules.opening, name, source))


def test_predicting_after_the_fact() -> None:
    notebook = good()
    notebook.cells.insert(6, notebook.cells.pop(3))
    assert "computes before" in only(list(rules.opening(read(notebook))))


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("doubt", "## Summary", "ends with 'Summary'"),
        ("doubt", "Nothing.", "ends with 'One mixture'"),
        ("doubt", f"## {rules.CLOSING}\n\n## Exercises", "ends with 'Exercises'"),
        ("title", f"## {rules.CLOSING.replace(chr(39), '’')}", None),
    ],
)
def test_closing(name: str, source: str, message: str | None) -> None:
    found = spoilt(rules.closing, name, source)
    if message is None:
        assert found == []
    else:
        assert message in only(found)


def test_code_after_the_closing_section() -> None:
    notebook = good()
    notebook.cells.append(code("late", "a = 1"))
    assert "code follows" in only(list(rules.closing(read(notebook))))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("```{note}\nx\n```", "a directive of MyST"),
        (":::{note}\nx\n:::", "a directive of MyST"),
        ("::: note\nx\n:::", "a colon fence of MyST"),
        ("see {ref}`x`", "a role of MyST"),
        ("(target)=\n\n## A", "a target of MyST"),
        ("% hidden", "a comment of MyST"),
        ("a {{ b }}", "a substitution of MyST"),
        ("[a](b){.c}", "an attribute of MyST"),
        ("<div>a</div>", "has <div>"),
        ("<img src='a'>", "has <img>"),
        ("<details><summary>a</summary>", "in different numbers"),
        ("<details>a</details>", "without a <summary>"),
        ("![a](b.png)", "has an image"),
        ("$x_{{1}} <y> 2$ `<div>` and ```\n<div>\n```", None),
    ],
)
def test_plain_markdown(source: str, message: str | None) -> None:
    found = spoilt(rules.plain_markdown, "formula", source)
    if message is None:
        assert found == []
    else:
        assert any(message in problem for problem in found)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (r"$$\begin{align} a \end{align}$$", "the environment align"),
        (r"$$\begin{align*} a \end{align*}$$", "the environment align*"),
        (r"\begin{aligned} a \end{aligned}", "outside dollar signs"),
        (r"\(x\)", "backslashed brackets"),
        (r"costs $3", "without its partner"),
        (r"$ x$", "blanks inside the dollar signs"),
        (r"$\bm{x}$", "\\bm, which"),
        (r"$x \label{a}$", "\\label, which"),
        (r"$\newcommand{\a}{b}$", "\\newcommand, which"),
        (r"$\argmax_x$", "\\argmax, which"),
        (r"$\R$", "\\R, which"),
        (r"$\pmatrix{a & b}$", "use \\begin"),
        (r"$\frac{1}{2$", "unbalanced braces"),
        ("$$\na\n\nb\n$$", "an empty line"),
        (r"$\Re x + \leq \color$", "\\color, which"),
        (r"$\Rightarrow \boldsymbol{x} \in \{1\}$ and `$`", None),
    ],
)
def test_mathematics(source: str, message: str | None) -> None:
    found = spoilt(rules.mathematics, "formula", source)
    if message is None:
        assert found == []
    else:
        assert message in only(found)


def test_mathematics_in_outputs() -> None:
    output = shown(text_latex=r"$\begin{align}x\end{align}$", text_plain="x")
    assert "align" in only(spoilt(rules.mathematics, "step-one", output=output))


def test_links(tmp_path: Path) -> None:
    for folder in ("book", "notebooks"):
        (tmp_path / folder).mkdir()
    page = tmp_path / "book/notation.md"
    page.write_text("# Notation\n\n## The `gamma` row\n\n(here)=\n\n## The `gamma` row\n")
    links = (
        "[a](https://example.org/x#y) [b](#one-mixture) [c](../book/notation.md#the-gamma-row-1) "
        "[d](../book/notation.md#here) `[e](nowhere.md)` [f [g]](../book/notation.md) "
    )
    broken = "[a](#two) [b](../book/other.md) [c](../book/notation.md#delta) [d](../book)"
    for name, source in (("good", links), ("bad", broken)):
        notebook = good()
        notebook.cells[1].source = f"{OPENING}\n\n{source}"
        path = tmp_path / f"notebooks/{name}.ipynb"
        path.write_text(read(notebook).text)
    assert rules.broken_links(tmp_path / "notebooks/good.ipynb") == []
    assert rules.broken_links(tmp_path / "notebooks/bad.ipynb") == [
        "bad.ipynb: (#two) leads to no heading of bad.ipynb",
        "bad.ipynb: (../book/other.md) leads to no file",
        "bad.ipynb: (../book/notation.md#delta) leads to no heading of notation.md",
        "bad.ipynb: (../book) leads to no file",
    ]


def test_report_marks_missed_targets(tmp_path: Path) -> None:
    path = tmp_path / "03_sample.ipynb"
    path.write_text(read(good()).text)
    assert "8 code cells (target 10 to 20)" in rules.report([path])
    assert "4 median lines of a cell" in rules.report([path])
