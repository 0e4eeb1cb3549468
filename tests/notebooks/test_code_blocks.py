"""What fenced code on a page claims to print is what it prints.

Numbers in fenced code are not bound by name (see `prose_numbers`): they are outputs, so they are
produced again. Python blocks say what a line prints in a comment behind it; console blocks
(``text``) give the command after a dollar sign and its output below.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks.rules import ROOT

PAGES = [*sorted((ROOT / "book").glob("*.md")), *ROOT.glob("README.md")]
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(kind: str) -> list[Any]:
    """Return the blocks of a kind on all pages as parameters of a test."""
    return [
        pytest.param(match[2], id=f"{path.stem}-{number}")
        for path in PAGES
        for number, match in enumerate(BLOCK.finditer(path.read_text(encoding="utf-8")), start=1)
        if match[1] == kind and (kind == "python" or match[2].startswith("$ "))
    ]


def wrong_comments(source: str) -> list[str]:
    """List the printing lines of a block whose comment is not what they print."""
    printing = {
        statement.end_lineno or 0
        for statement in ast.walk(ast.parse(source))
        if isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("print(")
    }
    claimed = [
        line.partition("  # ")[2]
        for number, line in enumerate(source.splitlines(), start=1)
        if number in printing
    ]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "block", "exec"), {})  # noqa: S102 (the book's own code)
    shown = printed.getvalue().splitlines()
    if len(shown) != len(claimed):
        return [f"prints {len(shown)} lines, {len(claimed)} are claimed: {shown}"]
    return [
        f"prints {line!r}, the comment says {comment!r}"
        for line, comment in zip(shown, claimed, strict=True)
        if line != comment
    ]


def wrong_outputs(block: str, folder: Path) -> list[str]:
    """List the commands of a console block that print something else than it shows."""
    found = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        words = shlex.split(command)
        if words[0] != "python3":
            found.append(f"{command!r} is not a command that can be checked")
            continue
        script = ROOT / "elmo_toy" / words[1]
        done = subprocess.run(
            [sys.executable, script, *words[2:]],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        shown = done.stdout.strip()
        if expected.strip() and shown != expected.strip():
            found.append(f"{command!r} prints\n{shown}\nand the page shows\n{expected.strip()}")
        if done.returncode:
            found.append(f"{command!r} fails: {done.stderr}")
    return found


@pytest.mark.parametrize("source", blocks("python"))
def test_python_blocks(source: str) -> None:
    assert wrong_comments(source) == []


@pytest.mark.parametrize("block", blocks("text"))
def test_console_blocks(block: str, tmp_path: Path) -> None:
    assert wrong_outputs(block, tmp_path) == []


def test_there_are_blocks() -> None:
    assert blocks("python")
    assert blocks("text")


def test_a_comment_that_drifted_is_found() -> None:
    assert wrong_comments("print(\n    1 + 1\n)  # 2\nprint(3)  # 3\n") == []
    assert wrong_comments("print(1 + 1)  # 3\n") == ["prints '2', the comment says '3'"]
    assert wrong_comments("print('a')\n") == ["prints 'a', the comment says ''"]


def test_an_output_that_drifted_is_found(tmp_path: Path) -> None:
    demo = "$ python3 elmo_scalar_mix_demo.py\nMean loss: 0.4203369998\n"
    assert "prints\nDefault outputs" in wrong_outputs(demo, tmp_path)[0]
    assert "fails" in wrong_outputs("$ python3 elmo_scalar_mix_demo.py --no\n", tmp_path)[0]
    assert "is not a command that can be checked" in wrong_outputs("$ rm x\n", tmp_path)[0]
