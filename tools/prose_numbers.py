r"""Hold the numbers that are typed in prose to the values that the package computes.

Numbers in sentences are typed as a person would type them. For each page a table,
``tests/notebooks/numbers/<page>.toml``, binds each of them, in order of appearance, by name to one
value. Here a number is looked for in every Markdown cell of a notebook and in every section of a
page of ``book/``, compared with its table, and each value is compared at the rounding shown.

    python tools/prose_numbers.py --check           all pages; 1 if a number is not held
    python tools/prose_numbers.py --draft PAGE      a table for the page, with names to choose from

A table has one entry for a cell id (or for the slug of a heading)::

    [by-hand]
    numbers = [
      ["0.2", "default.weights.0"],          # a dotted name into tests/notebooks/values.py
      ["-0.314812", "default.logit_gradient.2"],
      ["0.022282", "-change.loss"],          # - : the text shows the value with its sign turned
      ["3", "~rate.limit"],                  # ~ : rounded to a whole number, or to a power of ten
      ["2.1e-11", "cited:article.finite_difference_error"],   # into tests/notebooks/cited.toml
      ["0.1", "given:the rate that the text chooses"],
      ["2", "formula"],                      # a whole number inside mathematics or code
      ["2018", "year"],  ["3.4", "section"],  ["3.11", "version"],
      ["132", "reference"],                  # volume, issue or page of a cited work
    ]

What counts as a number: whole numbers and decimals, with ``-`` or U+2212 before them; ``2.1e-11``,
``2.1\times10^{-11}``, ``10^{-8}``; both parts of a fraction; ``12%`` (compared with 0.12);
``1,024``. Prose, mathematics, inline code, alternative texts and summaries are read. Not read:
whole numbers in sub- and superscripts (``h_{k,0}``, ``x^2``), fenced code, link targets, HTML
attributes, list numbering, heading numbering, ordinals (``2nd``), digits inside a name
(``float32``).

A whole number must equal its value; a decimal must be its value rounded to the digits shown.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import json
import math
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token as Block
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin

ROOT = Path(__file__).resolve().parents[1]
TABLES = "tests/notebooks/numbers"
VALUES = "tests/notebooks/values.py"
CITED = "tests/notebooks/cited.toml"

Mode = Literal["prose", "math", "code"]


@dataclass(frozen=True)
class Number:
    """A number in a text: in the form that tables use, and where it stands."""

    shown: str
    mode: Mode
    start: int
    end: int


@dataclass(frozen=True)
class Section:
    """A Markdown cell, or what stands under one heading of a page."""

    key: str
    text: str
    first_line: int
    numbers: tuple[Number, ...]

    def place(self, number: Number) -> str:
        """Say where a number stands."""
        before = self.text[: number.start]
        line = self.first_line + before.count("\n")
        column = len(before) - before.rfind("\n")
        return f"line {line}, column {column}"

    def excerpt(self, number: Number) -> str:
        """Return the text around a number."""
        start, end = max(0, number.start - 30), min(len(self.text), number.end + 20)
        return " ".join(self.text[start:end].split())


# --------------------------------------------------------------------------- what a reader sees

#: Directives whose content is not text: everything else is read, so that no new one is a hole.
SILENT_DIRECTIVES = frozenset(
    (
        *("bibliography", "code", "code-block", "code-cell", "contents", "eval-rst", "image"),
        *("include", "literalinclude", "mermaid", "tableofcontents", "toctree"),
    )
)
#: Directives that are read from their second line on: what follows the name is a path or a layout.
SILENT_ARGUMENTS = frozenset(("figure", "grid"))
#: Roles whose content is text; what any other role holds is a target.
SPOKEN_ROLES = frozenset(("abbr", "kbd", "guilabel", "sub", "sup"))

MARKDOWN = (
    MarkdownIt("commonmark")
    .enable("table")
    .use(front_matter_plugin)
    .use(dollarmath_plugin)
    .use(amsmath_plugin)
    .use(colon_fence_plugin)
    .use(myst_block_plugin)
)

INLINE = re.compile(
    r"""
      (?P<escape>\\[\\$`*_<>\[\]{}()#])
    | (?:\{(?P<role>[\w:.+-]+)\})?(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)
    | \$\$(?P<display>.+?)\$\$
    | \$(?P<inline>(?:\\.|[^$\\])+?)\$
    | \\begin\{(?P<name>[a-zA-Z]+\*?)\}(?P<environment>.*?)\\end\{(?P=name)\}
    | (?P<silent>
          <!--.*?-->
        | <(?P<element>script|style)\b.*?</(?P=element)>
        | <(?:https?|mailto):[^>]*>
        | </?[A-Za-z](?:[^<>"']|"[^"]*"|'[^']*')*>
        | \]\(\s*(?:<[^<>]*>|(?:[^()\s]|\([^()\s]*\))*)(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)
        | \[\^[^\]]+\]
        | \{[#.][^}\s][^}]*\}
        | (?:https?://|doi:|arXiv:)[^\s<>)\]]+
        | &\#?\w+;
      )
    """,
    re.DOTALL | re.VERBOSE,
)
REFERENCE = re.compile(r"^ {0,3}\[([^\]^][^\]]*)\]:[ \t]+\S.*$", re.MULTILINE)
HEADING_NUMBER = re.compile(r"^[\s>]*#{1,6}[ \t]+(\d+(?:\.\d+)*\.?)(?=[ \t])")
LIST_NUMBER = re.compile(r"^(?:[\s>]|[-+*][ \t])*\d+[.)]")
#: A paragraph that numbers itself, as in **1. The first point.**
LEAD_NUMBER = re.compile(r"^[\s>]*\*\*\d+\.(?=[ \t])")
OPTION = re.compile(r"^[\s>]*:[\w-]+:")


@dataclass
class _Lines:
    """What the block structure says about the lines of a text."""

    silent: set[int]
    lists: set[int]
    mathematics: list[tuple[int, int]]
    headings: list[tuple[int, str]]


def _directive(info: str) -> tuple[str, str] | None:
    match = re.match(r"\{([^}]+)\}[ \t]*(.*)", info.strip())
    return (match[1], match[2]) if match else None


def _read_blocks(text: str, offset: int, found: _Lines) -> None:
    tokens = MARKDOWN.parse(text)
    for position, token in enumerate(tokens):
        if token.map is None:
            continue
        first, last = token.map[0] + offset, token.map[1] + offset
        if token.type in ("code_block", "front_matter", "myst_target", "myst_line_comment"):
            found.silent.update(range(first, last))
        elif token.type in ("fence", "colon_fence"):
            _read_fence(token, first, last, found)
        elif token.type == "list_item_open" and token.info:
            found.lists.add(first)
        elif token.type == "heading_open":
            found.headings.append((first, _slug(tokens[position + 1])))


def _read_fence(token: Block, first: int, last: int, found: _Lines) -> None:
    directive = _directive(token.info)
    if directive is None or directive[0] in SILENT_DIRECTIVES:
        found.silent.update(range(first, last))
        return
    if directive[0] in SILENT_ARGUMENTS:
        found.silent.add(first)
    content = token.content.splitlines()
    options = 0
    if content and content[0].strip() == "---":
        closing = [line for line, text in enumerate(content) if line and text.strip() == "---"]
        options = closing[0] + 1 if closing else 0
    else:
        while options < len(content) and OPTION.match(content[options]):
            options += 1
    found.silent.update(range(first + 1, first + 1 + options))
    if directive[0] == "math":
        found.mathematics.append((first + 1 + options, first + 1 + len(content)))
    else:
        _read_blocks("\n".join([""] * options + content[options:]), first + 1, found)


def _slug(inline: Block) -> str:
    """Return the anchor that MyST gives a heading."""
    title = "".join(
        child.content for child in inline.children or [] if child.type in ("text", "code_inline")
    )
    return re.sub(r"[^\w\u4e00-\u9fff\- ]", "", title.lower().replace(" ", "-"))


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def headings(text: str) -> list[tuple[int, str]]:
    """Return line (from 0) and anchor of each heading, a repeated one numbered as MyST does."""
    found = _Lines(set(), set(), [], [])
    _read_blocks(text, 0, found)
    slugs: list[tuple[int, str]] = []
    for line, slug in found.headings:
        taken = {earlier for _, earlier in slugs}
        number = 1
        while slug in taken:  # MyST appends to what it has appended to
            slug = f"{slug}-{number}"
            number += 1
        slugs.append((line, slug))
    return slugs


def _segments(text: str) -> Iterator[tuple[int, str, Mode]]:
    """Yield the parts of a text that are read: start, text (of unchanged length), kind."""
    found = _Lines(set(), set(), [], [])
    _read_blocks(text, 0, found)
    labels = {match[1].lower() for match in REFERENCE.finditer(text)}

    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for start, end in found.mathematics:
        yield starts[start], "".join(lines[start:end]), "math"
        found.silent.update(range(start, end))
    for index, line in enumerate(lines):
        if index in found.silent:
            lines[index] = _blank(line)
            continue
        marker = HEADING_NUMBER.match(line) or LEAD_NUMBER.match(line)
        if index in found.lists:
            marker = LIST_NUMBER.match(line)
        if marker:
            lines[index] = " " * marker.end() + line[marker.end() :]
    scanned = REFERENCE.sub(lambda match: _blank(match[0]), "".join(lines))
    scanned = re.sub(
        r"(?<=\])\[([^\]\[]+)\]",
        lambda match: _blank(match[0]) if match[1].lower() in labels else match[0],
        scanned,
    )

    position = 0
    for match in INLINE.finditer(scanned):
        yield position, scanned[position : match.start()], "prose"
        position = match.end()
        role = match["role"]
        if match["code"] is not None:
            start, content = match.start("code"), match["code"]
            if role is None:
                yield start, content, "code"
            elif role == "math":
                yield start, content, "math"
            elif spoken := re.match(r"(.*?)<[^<>]*>$", content, re.DOTALL):
                yield start, spoken[1], "prose"
            elif role in SPOKEN_ROLES:
                yield start, content, "prose"
        for group in ("display", "inline", "environment"):
            if match[group] is not None:
                yield match.start(group), match[group], "math"
    yield position, scanned[position:], "prose"


# --------------------------------------------------------------------------- numbers

MINUS = "-\u2212"
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
UNSIGNED = r"(?:\d+\.\d+|\d+|\.\d+)"
PERCENT = r"(?:[ \u00a0\u202f]?\\?%|[ \u00a0]per[ ]?cent\b)"
POWER = rf"""
    (?:(?P<mantissa>{UNSIGNED})[\s~]*(?:\\times|\\cdot|×|·)[\s~]*)?
    (?<![\d.])10(?:\s*\^\s*(?:\{{\s*(?P<braced>[-\u2212+]?\s*\d+)\s*\}}|(?P<digit>\d))
               |(?P<raised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+))
"""
PLAIN_NUMBER = re.compile(
    rf"""
      (?P<ignored>0[xX][0-9a-fA-F]+ | \d+(?:st|nd|rd|th)\b)
    | {POWER}
    | (?P<version>\d+(?:\.\d+){{2,}})
    | (?P<thousands>
        [1-9]\d{{0,2}}(?:(?P<comma>[,_\u2009\u202f])\d{{3}})(?:(?P=comma)\d{{3}})*(?!\d))
    | (?P<decimal>{UNSIGNED})(?:[eE](?P<exponent>[-+\u2212]?\d+))?
    """,
    re.VERBOSE,
)
MATH_NUMBER = re.compile(
    rf"""
      {POWER}
    | (?P<braceless>(?<=frac)\d(?=\d)|(?<=frac\d)\d)
    | (?P<thousands>[1-9]\d{{0,2}}(?:(?:\{{,\}}|\\,)\d{{3}})+(?!\d))
    | (?P<decimal>{UNSIGNED})(?:[eE](?P<exponent>[-+\u2212]?\d+))?
    """,
    re.VERBOSE,
)
#: Characters after which a minus sign in prose or code belongs to the number.
BEFORE_SIGN = " \t\n\u00a0([{,;:=<>~≈≤≥±*_|/\"'“‘—–&+×·"
#: The same in mathematics, where blanks do not count, and commands of which it holds.
BEFORE_SIGN_IN_MATH = "([{,;:=<>~≈≤≥±|/&+×·\\!^_-"
RELATIONS = frozenset(
    (
        *("approx", "cdot", "equiv", "exp", "ge", "geq", "gt", "in", "le", "left", "leq", "ln"),
        *("log", "longrightarrow", "lt", "mapsto", "ne", "neq", "pm", "qquad", "quad"),
        *(
            "colon",
            "gg",
            "iff",
            "implies",
            "ll",
            "mid",
            "rightarrow",
            "Rightarrow",
            "sim",
            "simeq",
            "times",
            "to",
        ),
    )
)
MATH_LENGTHS = re.compile(
    r"\\\\\[[^\]]*\]|\\(?:hspace|vspace|kern|mkern|label|ref|eqref|begin|end|phantom)\*?\{[^{}]*\}"
    r"|\\textcolor\{[^{}]*\}|\\kern\s*-?[\d.]+\s*[a-z]{2}"
)
MATH_TEXT = re.compile(
    r"\\(?:text|textrm|textbf|textit|texttt|mathrm|mathtt|operatorname)\*?\{([^{}]*)\}"
)


def _group_end(text: str, start: int) -> int:
    """Where the argument of ``_`` or ``^`` that begins at `start` ends."""
    if text[start : start + 1] == "\\":
        command = re.compile(r"\\(?:[A-Za-z]+|.)").match(text, start)
        end = command.end() if command else start + 1
        return _group_end(text, end) if text[end : end + 1] == "{" else end
    if text[start : start + 1] != "{":
        return start + 1
    depth = 0
    for position in range(start, len(text)):
        if text[position] in "{}" and text[position - 1] != "\\":
            depth += 1 if text[position] == "{" else -1
            if depth == 0:
                return position + 1
    return len(text)


def _without_indices(text: str) -> str:
    """Blank the sub- and superscripts that hold whole numbers only; a decimal there is read."""
    powers = re.finditer(POWER, text, re.VERBOSE)
    kept = {position for match in powers for position in range(*match.span())}
    result = text
    for index in re.finditer(r"(?<!\\)[_^]\s*", text):
        if index.start() in kept:
            continue
        end = _group_end(text, index.end())
        if not re.search(r"\.\d", text[index.end() : end]):
            result = result[: index.start()] + " " * (end - index.start()) + result[end:]
    return result


def _is_signed(text: str, start: int, mode: Mode, before: str) -> int | None:
    """Where the minus sign that belongs to the number at `start` stands, if one does."""
    if mode != "math":
        if start == 0 or text[start - 1] not in MINUS:
            return None
        previous = text[start - 2] if start > 1 else before
        return start - 1 if not previous or previous in BEFORE_SIGN else None
    head = text[:start].rstrip()
    if not head or head[-1] not in MINUS:
        return None
    sign = len(head) - 1
    head = head[:-1].rstrip()
    command = re.search(r"\\([A-Za-z]+)$", head)
    if command:
        return sign if command[1] in RELATIONS else None
    return sign if not head or head[-1] in BEFORE_SIGN_IN_MATH else None


def _inside_a_name(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 2) : match.start()]
    if re.search(r"[^\W_]\Z|\w_\Z", before) or (before[-1:] == "." and before[-2:-1].isdigit()):
        return True
    return bool(re.match(r"_\w|[A-Za-z]+\d", text[match.end() :]))


def _integer(text: str) -> int:
    return int(re.sub(r"\s", "", text).replace("\u2212", "-"))


def _canonical(match: re.Match[str]) -> str | None:
    groups: dict[str, str | None] = match.groupdict()
    if groups.get("ignored"):
        return None
    power = groups["braced"] or groups["digit"] or groups["raised"]
    if power:
        mantissa = f"{groups['mantissa']}e" if groups["mantissa"] else "10^"
        return f"{mantissa}{_integer(power.translate(SUPERSCRIPTS))}"
    if thousands := groups.get("thousands"):
        return re.sub(r"\D", "", thousands)
    if exponent := groups.get("exponent"):
        return f"{groups['decimal']}e{_integer(exponent)}"
    return groups.get("version") or groups.get("braceless") or groups.get("decimal")


def _numbers_in(start: int, text: str, mode: Mode, before: str) -> Iterator[Number]:
    if mode == "math":
        text = MATH_LENGTHS.sub(lambda match: _blank(match[0]), text)
        text = _without_indices(text)
        for words in MATH_TEXT.finditer(text):
            yield from _numbers_in(start + words.start(1), words[1], "prose", "")
        text = MATH_TEXT.sub(lambda words: _blank(words[0]), text)
    position = 0
    pattern = MATH_NUMBER if mode == "math" else PLAIN_NUMBER
    while match := pattern.search(text, position):
        end = match.end()
        shown = _canonical(match)
        grouped = match.groupdict().get("comma")
        if (mode == "code" and grouped == ",") or (mode == "prose" and grouped == "_"):
            # a list of numbers in code, not one number
            shown = re.split(r"\D", match[0])[0]
            end = match.start() + len(shown)
        position = end
        if shown is None or (mode != "math" and _inside_a_name(text, match)):
            continue
        first = match.start()
        sign = _is_signed(text, first, mode, before)
        if sign is not None:
            first, shown = sign, "-" + shown
        percent = re.compile(PERCENT).match(text, end)
        if percent and not (mode == "code" and text[percent.end() : percent.end() + 1].strip()):
            position = end = percent.end()
            shown += "%"
        yield Number(shown, mode, start + first, start + end)


def numbers(text: str) -> tuple[Number, ...]:
    r"""Return every number that a reader of a Markdown text sees, in order.

    >>> [number.shown for number in numbers("$h_{k,0} = [1, -0.5]$, so 12% of `2.1e-11`.")]
    ['1', '-0.5', '12%', '2.1e-11']
    """
    found = [
        number
        for start, part, mode in _segments(text)
        for number in _numbers_in(
            start, part, mode, text[start - 1 : start] if mode == "prose" else ""
        )
    ]
    return tuple(sorted(found, key=lambda number: number.start))


# --------------------------------------------------------------------------- pages


def pages(root: Path = ROOT) -> dict[str, Path]:
    """Return the pages that carry prose, by the name that their tables have."""
    found: dict[str, Path] = {}
    pages = [*root.glob("book/*.md"), *root.glob("book/seminar/hub.md")]
    for path in sorted([*root.glob("notebooks/*.ipynb"), *pages]):
        if path.name.startswith("exercises_"):
            continue  # no number in them is typed: tools/write_exercises.py puts values there
        if path.stem in found:
            raise ValueError(f"{path} and {found[path.stem]} would share one table: rename one")
        found[path.stem] = path
    return found


def sections(path: Path) -> list[Section]:
    """Return the Markdown cells of a notebook, or the sections of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return [
            Section(cell["id"], source, 1, numbers(source))
            for cell in json.loads(text)["cells"]
            if cell["cell_type"] == "markdown"
            for source in ["".join(cell["source"])]
        ]
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    marks = [(0, "top"), *headings(text)]
    bounds = [starts[line] for line, _ in marks] + [len(text)]
    found = numbers(text)
    result = []
    for (first, key), start, end in zip(marks, bounds, bounds[1:], strict=False):
        inside = tuple(
            Number(number.shown, number.mode, number.start - start, number.end - start)
            for number in found
            if start <= number.start < end
        )
        result.append(Section(key, text[start:end], first + 1, inside))
    return result


# --------------------------------------------------------------------------- values


def load_values(path: Path) -> Mapping[str, Any]:
    """Run the module that computes the values and return what its `values` returns."""
    spec = importlib.util.spec_from_file_location("prose_values", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    computed: Mapping[str, Any] = module.values()
    return computed


def load_cited(path: Path) -> dict[str, Any]:
    """Read the numbers that others printed: tables of ``name = {value = ..., source = "..."}``."""

    def values(table: dict[str, Any], place: str) -> Any:
        if not isinstance(table, dict):
            raise ValueError(f"{path}: {place} is {table!r}, expected {{value, source}}")
        if "value" in table:
            if len(str(table.get("source", "")).split()) < 2:
                raise ValueError(f"{path}: {place} names no source")
            return table["value"]
        return {key: values(entry, f"{place}.{key}") for key, entry in table.items()}

    if not path.exists():
        return {}
    loaded: dict[str, Any] = values(tomllib.loads(path.read_text(encoding="utf-8")), path.stem)
    return loaded


def _is_number(entry: Any) -> bool:
    return isinstance(entry, int | float) and not isinstance(entry, bool) and math.isfinite(entry)


def look_up(values: Any, name: str) -> float:
    """Follow a dotted name through dictionaries and sequences to a number.

    >>> look_up({"river": {"mixture": [1.7, 1.1]}}, "river.mixture.0")
    1.7
    """
    entry = values
    walked: list[str] = []
    for part in name.split("."):
        place = ".".join(walked) or "the values"
        if isinstance(entry, Mapping):
            if part not in entry:
                near = difflib.get_close_matches(part, list(entry), n=3)
                hint = f"; did you mean {', '.join(near)}?" if near else ""
                raise KeyError(f"{place} has no {part!r}{hint}")
            entry = entry[part]
        elif isinstance(entry, Sequence) and not isinstance(entry, str):
            if not part.isdigit() or int(part) >= len(entry):
                raise KeyError(f"{place} has {len(entry)} entries, asked for {part!r}")
            entry = entry[int(part)]
        else:
            raise KeyError(f"{place} is {entry!r} and has no {part!r}")
        walked.append(part)
    if not _is_number(entry):
        raise KeyError(f"{name} is {type(entry).__name__}, expected a finite number")
    return float(entry)


def flatten(values: Any, prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield every name that leads to a finite number, with that number."""
    if isinstance(values, Mapping):
        entries: Any = values.items()
    elif isinstance(values, Sequence) and not isinstance(values, str):
        entries = enumerate(values)
    else:
        if _is_number(values):
            yield prefix, float(values)
        return
    for key, entry in entries:
        yield from flatten(entry, f"{prefix}.{key}" if prefix else str(key))


SHOWN = re.compile(r"(-?)(?:10\^(-?\d+)|(\d*\.?\d+)(?:e(-?\d+))?(%?))")
#: Relative size of what floating point may add to an exact value.
NOISE = Fraction(1, 10**13)


def _power_of_ten(exponent: int) -> Fraction:
    return Fraction(10**exponent) if exponent >= 0 else Fraction(1, 10**-exponent)


def agrees(shown: str, value: float, *, loosely: bool = False) -> bool:
    """Whether `value`, rounded as `shown` is, gives `shown`.

    A whole number must be exact, up to floating-point noise, as must a bare power of ten; `loosely`
    allows the value to be rounded to a whole number, or a power of ten to be its order of
    magnitude.
    A value half way between two roundings agrees with both.

    >>> agrees("0.42", 0.4203), agrees("0.4204", 0.4203), agrees("3", 3.144)
    (True, False, False)
    """
    match = SHOWN.fullmatch(shown)
    if match is None:
        return False
    sign, power, digits, exponent, percent = match.groups()
    exact = Fraction(value)
    if sign:
        exact = -exact
    if power is not None:
        target = _power_of_ten(int(power))
        if loosely:
            return target <= exact < 10 * target
        return abs(exact - target) <= 10 * NOISE * target
    last_place = _power_of_ten(
        int(exponent or 0) - (2 if percent else 0) - len(digits.partition(".")[2])
    )
    target = Fraction(digits.replace(".", "")) * last_place
    if "." in digits or exponent or percent or loosely:
        return abs(exact - target) <= last_place / 2 + NOISE * abs(exact)
    return abs(exact - target) <= 10 * NOISE * max(Fraction(1), target)


# --------------------------------------------------------------------------- tables

Entry = tuple[str, str]
Table = dict[str, list[Entry]]
KINDS = ("formula", "given", "reference", "section", "version", "year")


def load_table(path: Path) -> Table:
    """Read a page's table.

    Raises
    ------
    ValueError
        where an entry is not a pair of strings.
    """
    table: Table = {}
    for key, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
        if not isinstance(entry, dict) or set(entry) != {"numbers"}:
            raise ValueError(f"{path}: [{key}] holds something else than numbers = [...]")
        for pair in entry["numbers"]:
            if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
                raise ValueError(f"{path}: [{key}] {pair!r} is not a pair of strings")
        table[key] = [(shown, name) for shown, name in entry["numbers"]]
    return table


def _wrong_declaration(number: Number, kind: str, reason: str) -> str | None:
    """Say why a number may not be declared instead of bound, or None."""
    shown = number.shown
    decimals = len(shown.rstrip("%").partition("e")[0].partition(".")[2])
    if kind == "year" and not re.fullmatch(r"(?:19|20)\d\d", shown):
        return "is no year"
    if kind == "section" and not re.fullmatch(r"\d{1,2}(\.\d{1,2}){0,2}", shown):
        return "is no number of a section, chapter, table or figure"
    if kind == "reference" and not (number.mode == "prose" and re.fullmatch(r"\d{1,4}", shown)):
        return "is no volume, issue or page"
    if kind == "version" and not re.fullmatch(r"\d+(\.\d{1,3})*", shown):
        return "is no version"
    if kind == "formula":
        whole = re.fullmatch(r"-?\d+|10\^-?\d+", shown)
        if number.mode == "prose" or not whole:
            return "is not a whole number inside mathematics or code"
    if kind == "given":
        if len(reason.split()) < 2:
            return "is given without a reason: write given:<why the text may choose it>"
        if decimals > (0 if "e" in shown else 2):
            return "has more digits than a chosen number: bind it to the value it was computed from"
    return None


def _wrong_binding(
    number: Number, name: str, values: Mapping[str, Any], cited: Mapping[str, Any]
) -> str | None:
    """Say what is wrong with binding a number to a name, or None."""
    kind, _, reason = name.partition(":")
    if kind in KINDS and (kind == "given" or not reason):
        wrong = _wrong_declaration(number, kind, reason)
        return f"{wrong} (bound as {name!r})" if wrong else None
    loosely = name.startswith("~")
    path = name.removeprefix("~")
    negative = path.startswith("-")
    path = path.removeprefix("-")
    try:
        if path.startswith("cited:"):
            value = look_up(cited, path.removeprefix("cited:"))
        else:
            value = look_up(values, path)
    except KeyError as error:
        return f"is bound to {name!r}: {error.args[0]}"
    if negative:
        value = -value
    if agrees(number.shown, value, loosely=loosely):
        return None
    if not loosely and agrees(number.shown, value, loosely=True):
        return (
            f"is bound to {name!r} = {value!r}, not equal: if it is rounded on purpose, '~{name}'"
        )
    return f"is bound to {name!r} = {value!r}"


def _align(
    section: Section, entries: Sequence[Entry]
) -> Iterator[tuple[Number, Entry | None] | tuple[None, Entry]]:
    """Pair the numbers of a section with its entries; None where one has no partner."""
    shown = [number.shown for number in section.numbers]
    matcher = difflib.SequenceMatcher(a=shown, b=[entry[0] for entry in entries], autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            yield from zip(section.numbers[first:last], entries[start:end], strict=True)
        else:
            yield from ((number, None) for number in section.numbers[first:last])
            yield from ((None, entry) for entry in entries[start:end])


def check_section(
    page: str,
    section: Section,
    entries: Sequence[Entry],
    values: Mapping[str, Any],
    cited: Mapping[str, Any],
) -> list[str]:
    """List the problems of one cell or section, each a sentence that names it."""
    problems = []
    text, listed = [number.shown for number in section.numbers], [shown for shown, _ in entries]
    if text != listed and sorted(text) == sorted(listed):
        problems.append(f"{page} [{section.key}]: the table lists the numbers in another order")
    for pair in _align(section, entries):
        if pair[0] is None:
            entry = pair[1]
            problems.append(
                f"{page} [{section.key}]: the table expects {entry[0]} ({entry[1]}) where the text "
                "has no such number"
            )
            continue
        number, binding = pair
        place = f"{page} [{section.key}] {section.place(number)}: {number.shown}"
        if binding is None or not binding[1]:
            problems.append(f"{place} is bound to nothing: “{section.excerpt(number)}”")
        elif wrong := _wrong_binding(number, binding[1], values, cited):
            problems.append(f"{place} {wrong}")
    return problems


def check_page(
    page: str,
    path: Path,
    table: Table,
    values: Mapping[str, Any],
    cited: Mapping[str, Any],
) -> list[str]:
    """List the problems of one page, each a sentence that names cell, number and binding."""
    found = sections(path)
    keys = {section.key for section in found}
    problems = [
        f"{page} [{key}]: the table has a cell that the page has not"
        for key in table
        if key not in keys
    ]
    for section in found:
        problems += check_section(page, section, table.get(section.key, []), values, cited)
    return problems


def check(root: Path = ROOT) -> list[str]:
    """List the problems of all pages below `root`, and the tables that belong to none."""
    known = pages(root)
    tables = {path.stem: path for path in sorted((root / TABLES).glob("*.toml"))}
    values = load_values(root / VALUES)
    cited = load_cited(root / CITED)
    problems = [f"{path}: no such page" for name, path in tables.items() if name not in known]
    for name, path in known.items():
        table = load_table(tables[name]) if name in tables else {}
        problems += check_page(name, path, table, values, cited)
    return problems


# --------------------------------------------------------------------------- drafts

CANDIDATES = 6
#: From this many significant digits on a match is no coincidence, and the draft fills in the name.
CERTAIN = 4


def _length(name: str) -> tuple[int, int]:
    return name.count("."), len(name)


def candidates(number: Number, names: Sequence[tuple[str, float]]) -> list[str]:
    """Names whose value shows as `number` does, shortest first, those of turned sign last."""
    shown = number.shown
    straight = [name for name, value in names if agrees(shown, value)]
    turned = [f"-{name}" for name, value in names if value and agrees(shown, -value)]
    return [*sorted(straight, key=_length), *sorted(turned, key=_length)]


def _significant(shown: str) -> int:
    digits = shown.rstrip("%").partition("e")[0].replace("-", "").replace(".", "")
    return 0 if "^" in shown else len(digits.lstrip("0"))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def draft(path: Path, table: Table, names: Sequence[tuple[str, float]]) -> str:
    """Write a table for the page: what is bound stays, for the rest names are offered."""
    lines: list[str] = []
    for section in sections(path):
        if not section.numbers:
            continue
        bare = re.fullmatch(r"[\w-]+", section.key, re.ASCII)
        lines += [f"[{section.key if bare else _quoted(section.key)}]", "numbers = ["]
        for number, entry in _align(section, table.get(section.key, [])):
            if number is None:
                continue
            if entry is not None and entry[1]:
                lines.append(f"  [{_quoted(number.shown)}, {_quoted(entry[1])}],")
                continue
            offered = candidates(number, names)
            if number.mode != "prose" and re.fullmatch(r"-?\d+", number.shown):
                offered.insert(0, "formula")
            if re.fullmatch(r"(?:19|20)\d\d", number.shown):
                offered.insert(0, "year")
            certain = offered and _significant(number.shown) >= CERTAIN
            name = offered[0] if certain else ""
            rest = " | ".join(offered[:CANDIDATES]) or "no value shows like this"
            more = f" and {len(offered) - CANDIDATES} more" if len(offered) > CANDIDATES else ""
            lines.append(f"  # {section.excerpt(number)}")
            lines.append(f"  [{_quoted(number.shown)}, {_quoted(name)}],  # {rest}{more}")
        lines += ["]", ""]
    return "\n".join(lines)


def summary(root: Path = ROOT) -> str:
    """Count the numbers bound in each way, for somebody who reviews the tables."""
    kinds: Counter[str] = Counter()
    for path in sorted((root / TABLES).glob("*.toml")):
        for entries in load_table(path).values():
            for _, name in entries:
                kind = name.lstrip("~-").partition(":")[0]
                kinds[kind if kind in (*KINDS, "cited") else "computed"] += 1
    return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or "no numbers"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="check all pages")
    action.add_argument("--draft", metavar="PAGE", help="print a table for the page")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    root: Path = options.root

    if options.check:
        problems = check(root)
        for problem in problems:
            print(problem, file=sys.stderr)
        print(f"{len(pages(root))} pages, {summary(root)}, {len(problems)} problems")
        return 1 if problems else 0
    known = pages(root)
    page = Path(options.draft).stem
    if page not in known:
        parser.error(f"no page {page!r}; there are {', '.join(known) or 'none'}")
    path = root / TABLES / f"{page}.toml"
    names = [*flatten(load_values(root / VALUES)), *flatten(load_cited(root / CITED), "cited:")]
    names = [(name.replace("cited:.", "cited:"), value) for name, value in names]
    print(draft(known[page], load_table(path) if path.exists() else {}, names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
