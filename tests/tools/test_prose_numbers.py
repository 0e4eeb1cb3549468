"""The check of numbers in prose: what it reads, how it rounds, how each way to be wrong fails."""

from __future__ import annotations

import doctest
import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools import prose_numbers as tool

VALUES = {
    "default": {
        "weights": [0.2, 0.3, 0.5],
        "loss": 0.4203369997,
        "logit_gradient": [0.042234, 0.2725781, -0.3148119],
        "probability": 0.645656,
    },
    "rate": 3.144,
    "error": 2.1e-11,
    "exact": 0.1 + 0.2,
    "half": 0.125,
    "width": 1024,
    "flag": True,
}
CITED = {"article": {"error": 2.1e-11}}


def shown(text: str) -> list[str]:
    return [number.shown for number in tool.numbers(text)]


# --------------------------------------------------------------------------- what is read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("weights 0.2, 0.3 and .5.", ["0.2", "0.3", ".5"]),
        (
            "−0.7 and -0.7, (-1) but 3-4, 3–4 and x-1",
            ["-0.7", "-0.7", "-1", "3", "4", "3", "4", "1"],
        ),
        ("$-0.314812$, $(-1)$, $x = - 0.5$", ["-0.314812", "-1", "-0.5"]),
        (r"$\approx -0.3$, $a & -2 \\ -3$, $[1,-1]$", ["-0.3", "-2", "-3", "1", "-1"]),
        (r"$a - 0.1 \nabla$, $x^{2}-1$, $\gamma-2$, $m(x)-3$", ["0.1", "1", "2", "3"]),
        ("about 2.1e-11, `1e-12`, 9e10, −9e10", ["2.1e-11", "1e-12", "9e10", "-9e10"]),
        (r"$2.1\times10^{-11}$, $10^{-8}$, $-2\cdot 10^{3}$", ["2.1e-11", "10^-8", "-2e3"]),
        ("2.1 × 10⁻¹¹ and 10⁻⁸", ["2.1e-11", "10^-8"]),
        (r"$\frac{1}{2}$, $\tfrac12$, 1/3", ["1", "2", "1", "2", "1", "3"]),
        (r"12%, 12.5 %, $16.7\%$, 7 per cent", ["12%", "12.5%", "16.7%", "7%"]),
        (r"1,024, $1{,}024$, `1_024`, `[1,024]`", ["1024", "1024", "1024", "1", "024"]),
        (r"$h_{k,0}$, $e_1$, $x^2$, $s^{(1)}_{\text{layer 2}}$, $t_{k+1}$, $\ell_2$", []),
        (r"$e^{-0.5}$ and $x_{0.25}$", ["-0.5", "0.25"]),
        (r"$2x + \sqrt3 + \cdot4$", ["2", "3", "4"]),
        (r"$\text{float32 and 7}$", ["7"]),
        (r"$a \\[2pt] b \hspace{3em} \begin{array}{cc} 4 \end{array}$", ["4"]),
        ("h_0, `h_1`, float32, x1, layer2vec, N18, 2nd, 21st, 0x7f, 03_softmax.ipynb", []),
        ("commit 7cffee2, 80fb606", []),
        ("3D, 512-coordinate, 10 s, 5x", ["3", "512", "10", "5"]),
        ("**0.42**, _0.43_, *0.44*", ["0.42", "0.43", "0.44"]),
        ("1.0.4, 3.11, NAACL 2018", ["1.0.4", "3.11", "2018"]),
        ("[a 1.5](b/2.ipynb#x-3 'title 4') and ![alt 5](6.png)", ["1.5", "5"]),
        ("[text 1][ref-2]\n\n[ref-2]: https://example.org/3 'four 4'", ["1"]),
        ("[[1, 2], [3, 4]][5]", ["1", "2", "3", "4", "5"]),
        ("<https://example.org/1> https://example.org/2 arXiv:1802.05365", []),
        ("<details open='1'><summary>Step 2</summary>\n\n3\n\n</details> <!-- 4 -->", ["2", "3"]),
        ("$0.1 <x< 0.2 > 0.05$", ["0.1", "0.2", "0.05"]),
        ("`a <b 0.1` and `c> 0.2`", ["0.1", "0.2"]),
        ("costs \\$3 and 4 \\$ more", ["3", "4"]),
        ("note[^1]\n\n[^1]: text 5", ["5"]),
        ("## 3.1 Two vectors, [1.7, 1.1]\n\nText 2", ["1.7", "1.1", "2"]),
        ("1. first 3\n2. second 4\n\n> 3. third 5", ["3", "4", "5"]),
        ("the loss was\n3. Then it fell", ["3"]),
        ("**1. First point.** is 2, **3.5** is not", ["2", "3.5"]),
        ("**4.** and **5.6 as**", ["4", "5.6"]),
        ("```python\nx = 1\n```\n\n~~~\n2\n~~~\n\n    indented 3\n\n4", ["4"]),
        ("$$\n- 0.3 + 0.4\n$$", ["-0.3", "0.4"]),
        ("| a | 0.1 |\n|---|---|\n| b | -0.2 |", ["0.1", "-0.2"]),
    ],
)
def test_numbers_that_a_reader_sees(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nnumber: 1\n---\n# Title 2", ["2"]),
        ("(label-1)=\n# Title\n\n% comment 2\n\n3", ["3"]),
        ("```{note} Title 1\n:class: c2\nBody 3\n```", ["1", "3"]),
        (":::{admonition} Title 1\nBody 2\n\n```{code-block} python\n3\n```\n:::", ["1", "2"]),
        ("```{math}\n:label: eq-1\n- 0.3 + x_2\n```", ["-0.3"]),
        ("```{figure} path/1.png\n:width: 200px\nCaption 3\n```", ["3"]),
        ("::::{grid} 1 1 2 2\n:gutter: 3\n\n:::{grid-item} Title 4\n5\n:::\n::::", ["4", "5"]),
        ("- item\n\n  ```{note}\n  Body 1\n  ```", ["1"]),
        ("{ref}`Section 2 <sec-3>`, {doc}`04_gradient`, {cite}`peters2018`", ["2"]),
        ("{math}`0.5`, {sub}`2`, {py:func}`a.b2`", ["0.5", "2"]),
        ("```{toctree}\n1\n```\n\n```{bibliography} 2\n```", []),
        ("\\begin{equation}\n-0.5\n\\end{equation}", ["-0.5"]),
        ("text {#anchor-1 .c2} 3", ["3"]),
    ],
)
def test_numbers_in_myst_pages(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


@settings(deadline=None)
@given(st.text(alphabet="01.-−,%^_${}[]()`<>\\ \nae#:|~×⁻¹'\"*!"))
def test_any_text_can_be_read_and_positions_point_at_digits(text: str) -> None:
    for number in tool.numbers(text):
        assert any(character.isdigit() for character in text[number.start : number.end])


@settings(deadline=None)
@given(st.decimals(min_value=-1000, max_value=1000, places=4).map(str))
def test_a_typed_decimal_is_found_in_every_kind_of_text(decimal: str) -> None:
    typed = decimal if decimal != "-0.0000" else "0.0000"
    for text in ("so {} is", "$x = {}$", "`{}`", "| {} |\n|---|", "[{}](a)", "**{}**"):
        assert shown(text.format(typed)) == [typed]
        assert shown(text.format(typed.replace("-", "−"))) == [typed]


# --------------------------------------------------------------------------- rounding


@settings(deadline=None)
@given(st.floats(min_value=-1e3, max_value=1e3), st.integers(0, 8))
def test_what_python_prints_agrees_and_a_unit_in_the_last_place_does_not(
    value: float, digits: int
) -> None:
    fixed = f"{value:.{digits}f}"
    assert tool.agrees(fixed, value, loosely=digits == 0)
    unit = 1.01 * 10.0**-digits
    assert not tool.agrees(fixed, value + unit, loosely=True)
    assert not tool.agrees(fixed, value - unit, loosely=True)


@settings(deadline=None)
@given(st.floats(min_value=1e-20, max_value=1e20), st.integers(1, 6))
def test_scientific_notation_rounds_at_its_last_significant_digit(
    value: float, digits: int
) -> None:
    mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
    assert tool.agrees(f"{mantissa}e{int(exponent)}", value)
    unit = float(Fraction(10) ** (int(exponent) - digits)) * 1.001
    assert not tool.agrees(f"{mantissa}e{int(exponent)}", value + unit)


@pytest.mark.parametrize(
    ("text", "value", "loosely", "expected"),
    [
        ("0.12", 0.125, False, True),
        ("0.13", 0.125, False, True),
        ("0.12", 0.1251, False, False),
        ("0.3", 0.1 + 0.2, False, True),
        ("3", 3.0000000000000004, False, True),
        ("3", 3.144, False, False),
        ("3", 3.144, True, True),
        ("0", 5.6e-17, False, True),
        ("-0.3", 0.3, False, False),
        ("0.0", -0.04, False, True),
        ("12%", 0.1249, False, True),
        ("12%", 0.1251, False, False),
        ("16.7%", 1 / 6, False, True),
        ("10^-8", 1e-8, False, True),
        ("10^-8", 2e-8, False, False),
        ("10^-8", 2e-8, True, True),
        ("10^-8", 1.1e-7, True, False),
        ("2e-11", 2.1e-11, False, True),
        ("9e10", 9e10, False, True),
        ("1024", 1024, False, True),
        ("1024", 1023.6, False, False),
        ("1.0.4", 1.0, False, False),
    ],
)
def test_rounding(text: str, value: float, loosely: bool, expected: bool) -> None:
    assert tool.agrees(text, value, loosely=loosely) is expected


# --------------------------------------------------------------------------- tables

TEXT = "Weights 0.2, 0.3; loss 0.42; gradient $-0.314812$ in 2018, step $x^2 + 2$."
ENTRIES = [
    ("0.2", "default.weights.0"),
    ("0.3", "default.weights.1"),
    ("0.42", "default.loss"),
    ("-0.314812", "default.logit_gradient.2"),
    ("2018", "year"),
    ("2", "formula"),
]


def problems(text: str, entries: list[tuple[str, str]]) -> list[str]:
    section = tool.Section("by-hand", text, 1, tool.numbers(text))
    return tool.check_section("03_page", section, entries, VALUES, CITED)


def bound(number: str, name: str) -> list[str]:
    return problems(f"The number {number} here.", [(number, name)])


def test_a_bound_text_has_no_problems() -> None:
    assert problems(TEXT, ENTRIES) == []


def test_unbound_number_fails() -> None:
    [problem] = problems(TEXT, ENTRIES[:2] + ENTRIES[3:])
    assert problem.startswith("03_page [by-hand] line 1, column 24: 0.42 is bound to nothing")
    [problem] = bound("0.2", "")
    assert "bound to nothing" in problem


def test_drifted_text_fails() -> None:
    found = problems(TEXT.replace("0.42", "0.43"), ENTRIES)
    assert any("0.43 is bound to nothing" in problem for problem in found)
    assert any("expects 0.42 (default.loss)" in problem for problem in found)


def test_drifted_value_fails() -> None:
    section = tool.Section("by-hand", TEXT, 1, tool.numbers(TEXT))
    drifted: dict[str, Any] = {**VALUES, "default": {**VALUES["default"], "loss": 0.4251}}
    [problem] = tool.check_section("03_page", section, ENTRIES, drifted, CITED)
    assert problem.endswith("0.42 is bound to 'default.loss' = 0.4251")


def test_wrong_binding_fails() -> None:
    [problem] = problems(TEXT, [("0.2", "default.weights.2"), *ENTRIES[1:]])
    assert "0.2 is bound to 'default.weights.2' = 0.5" in problem


def test_reordered_numbers_fail() -> None:
    found = problems(TEXT, [ENTRIES[1], ENTRIES[0], *ENTRIES[2:]])
    assert "03_page [by-hand]: the table lists the numbers in another order" in found


def test_extra_entry_fails() -> None:
    [problem] = problems(TEXT, [*ENTRIES, ("0.5", "default.weights.2")])
    assert "expects 0.5 (default.weights.2) where the text has no such number" in problem


@pytest.mark.parametrize(
    ("number", "name"),
    [
        ("0.31", "-default.logit_gradient.2"),
        ("3", "~rate"),
        ("2.1e-11", "error"),
        ("2.1e-11", "cited:article.error"),
        ("10⁻¹¹", "~error"),
        ("1,024", "width"),
        ("65%", "default.probability"),
        ("0.1", "given:the rate that the article chooses"),
        ("3.4", "section"),
        ("3.11", "version"),
        ("2237", "reference"),
    ],
)
def test_ways_to_bind(number: str, name: str) -> None:
    [found] = tool.numbers(number)
    assert problems(f"The number {number} here.", [(found.shown, name)]) == []


@pytest.mark.parametrize(
    ("number", "name", "message"),
    [
        ("0.2", "default.weight.0", "default has no 'weight'; did you mean weights?"),
        ("0.2", "default.weights.3", "default.weights has 3 entries, asked for '3'"),
        ("0.2", "default.weights", "default.weights is list, expected a finite number"),
        ("0.2", "default.loss.0", "has no '0'"),
        ("1", "flag", "flag is bool"),
        ("0.2", "cited:article.other", "article has no 'other'"),
        ("3", "rate", "if it is rounded on purpose, '~rate'"),
        ("0.31", "default.logit_gradient.2", "= -0.3148119"),
        ("0.2", "given:", "without a reason"),
        ("0.2", "given:chosen", "without a reason"),
        ("0.646", "given:chosen by the text", "more digits than a chosen number"),
        ("2.1e-11", "given:chosen by the text", "more digits than a chosen number"),
        ("0.65", "formula", "not a whole number inside mathematics"),
        ("3", "formula", "not a whole number inside mathematics"),
        ("0.65", "year", "is no year"),
        ("3018", "year", "is no year"),
        ("0.645656", "section", "is no number of a section"),
        ("0.645656", "version", "is no version"),
        ("0.64", "reference", "is no volume, issue or page"),
    ],
)
def test_bindings_that_do_not_hold(number: str, name: str, message: str) -> None:
    [problem] = bound(number, name)
    assert message in problem


def test_a_decimal_in_mathematics_is_no_formula() -> None:
    [problem] = problems("$0.65 x$", [("0.65", "formula")])
    assert "not a whole number inside mathematics" in problem


# --------------------------------------------------------------------------- a whole book


def book(root: Path, table: str, markdown: str = "The loss is 0.42.") -> Path:
    """Make a book of one notebook and one page; the page is bound, the notebook has `table`."""
    for folder in ("notebooks", "book", tool.TABLES):
        (root / folder).mkdir(parents=True)
    cells = [
        {"id": "by-hand", "cell_type": "markdown", "source": [markdown]},
        {"id": "code", "cell_type": "code", "source": "0.77"},
    ]
    (root / "notebooks/03_page.ipynb").write_text(json.dumps({"cells": cells}))
    page = "Top 0.2\n\n# The title\n\n0.3\n\n## Part 1: a\n\n0.5\n\n## Part 1: a\n\n0.42\n"
    (root / "book/index.md").write_text(page)
    (root / tool.TABLES / "index.toml").write_text(
        '[top]\nnumbers = [["0.2", "weights.0"]]\n'
        '[the-title]\nnumbers = [["0.3", "weights.1"]]\n'
        '[part-1-a]\nnumbers = [["1", "given:the first part"], ["0.5", "weights.2"]]\n'
        '[part-1-a-1]\nnumbers = [["1", "given:the first part"], ["0.42", "loss"]]\n'
    )
    (root / tool.TABLES / "03_page.toml").write_text(table)
    (root / tool.VALUES).write_text(
        "def values():\n    return {'weights': [0.2, 0.3, 0.5], 'loss': 0.4203, 'rate': 3.144}\n"
    )
    (root / tool.CITED).write_text('[a]\nb = {value = 2.1e-11, source = "A paper, Table 1"}\n')
    return root


GOOD = '[by-hand]\nnumbers = [["0.42", "loss"]]\n'


def test_a_bound_book_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = book(tmp_path, GOOD)
    assert tool.check(root) == []
    assert tool.main(["--check", "--root", str(root)]) == 0
    assert capsys.readouterr().out == "2 pages, 5 computed, 2 given, 0 problems\n"


def test_check_fails_with_a_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = book(tmp_path, GOOD, "The loss\nis 0.42 and 0.43.")
    assert tool.main(["--check", "--root", str(root)]) == 1
    message = "03_page [by-hand] line 2, column 13: 0.43 is bound to nothing: “The loss is 0.42"
    assert message in capsys.readouterr().err


def test_place_in_a_page_counts_from_its_first_line(tmp_path: Path) -> None:
    root = book(tmp_path, GOOD)
    page = root / "book/index.md"
    page.write_text(page.read_text().replace("0.5", "0.6"))
    assert any("index [part-1-a] line 9, column 1: 0.6" in problem for problem in tool.check(root))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "0.42 is bound to nothing"),
        (GOOD + '[other]\nnumbers = [["1", "rate"]]', "03_page [other]: the table has a cell that"),
        (GOOD + "[code]\nnumbers = []", "03_page [code]: the table has a cell that the page"),
    ],
)
def test_tables_that_do_not_fit(tmp_path: Path, table: str, message: str) -> None:
    assert any(message in problem for problem in tool.check(book(tmp_path, table)))


def test_a_table_without_a_page_fails(tmp_path: Path) -> None:
    root = book(tmp_path, GOOD)
    (root / tool.TABLES / "old.toml").write_text("")
    [problem] = tool.check(root)
    assert problem.endswith("old.toml: no such page")


@pytest.mark.parametrize(
    "table", ["[a]\nnumber = []", "a = 1", '[a]\nnumbers = [["1"]]', "[a]\nnumbers = [[1, 'b']]"]
)
def test_malformed_tables_are_named(tmp_path: Path, table: str) -> None:
    with pytest.raises(ValueError, match=r"03_page\.toml: \[a\]"):
        tool.check(book(tmp_path, table))


def test_pages_of_one_name_are_an_error(tmp_path: Path) -> None:
    root = book(tmp_path, GOOD)
    (root / "book/03_page.md").write_text("")
    with pytest.raises(ValueError, match="would share one table"):
        tool.pages(root)


@pytest.mark.parametrize("cited", ["[a]\nb = 1.0", "[a]\nb = {value = 1.0}"])
def test_cited_numbers_name_their_source(tmp_path: Path, cited: str) -> None:
    root = book(tmp_path, GOOD)
    (root / tool.CITED).write_text(cited)
    with pytest.raises(ValueError, match=r"cited\.a\.b"):
        tool.check(root)


def test_draft_keeps_what_is_bound_and_offers_names_for_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "Loss 0.42, then 0.4203, $-3.144$, rate 3, $2$ of 2018, error 2.1e-11, 0.77."
    root = book(tmp_path, GOOD, text)
    assert tool.main(["--draft", "notebooks/03_page.ipynb", "--root", str(root)]) == 0
    printed = capsys.readouterr().out
    drafted = tomllib.loads(printed)
    assert drafted["by-hand"]["numbers"] == [
        ["0.42", "loss"],
        ["0.4203", "loss"],
        ["-3.144", "-rate"],
        ["3", ""],
        ["2", ""],
        ["2018", "year"],
        ["2.1e-11", ""],
        ["0.77", ""],
    ]
    assert '["2", ""],  # formula' in printed
    assert '["2.1e-11", ""],  # cited:a.b' in printed
    assert '["0.77", ""],  # no value shows like this' in printed


def test_a_draft_whose_names_were_chosen_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = book(tmp_path, "", "Loss 0.42, weights $0.2, 0.3$.")
    tool.main(["--draft", "03_page", "--root", str(root)])
    lines = capsys.readouterr().out.splitlines()
    chosen = [
        line.replace('""', f'"{line.partition("  # ")[2].split(" ")[0]}"')
        if line.startswith("  [")
        else line
        for line in lines
    ]
    (root / tool.TABLES / "03_page.toml").write_text("\n".join(chosen))
    assert tool.check(root) == []


def test_drafting_an_unknown_page_names_the_known_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = book(tmp_path, GOOD)
    with pytest.raises(SystemExit):
        tool.main(["--draft", "04_page", "--root", str(root)])
    assert "no page '04_page'; there are index, 03_page" in capsys.readouterr().err


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(tool) == doctest.TestResults(failed=0, attempted=3)
