"""The notebooks keep their rules, one test a rule; `rules` says what each demands, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.notebooks import rules
from tests.notebooks.rules import ROOT, Notebook

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PAGES = sorted([*(ROOT / "book").glob("*.md"), ROOT / "book" / "seminar" / "hub.md"])


def test_there_are_notebooks() -> None:
    assert {"03_softmax_mixture", "04_gradient"} <= {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_rule(path: Path, rule: rules.Rule) -> None:
    found = list(rule(Notebook.read(path)))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("path", [*NOTEBOOKS, *PAGES], ids=lambda path: path.stem)
def test_links(path: Path) -> None:
    found = rules.broken_links(path)
    assert not found, "\n" + "\n".join(found)
