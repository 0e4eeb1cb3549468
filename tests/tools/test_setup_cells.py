"""The cell that installs the package where it is missing: the same in every notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools import normalise_notebooks, setup_cells

CONFIG = "repository:\n  url: {url}\n  branch: {branch}\n"


def notebook(*counts: int | None, setup: str | None = None) -> Any:
    """A title and code cells with these execution counts."""
    cells = [nbformat.v4.new_markdown_cell("# Title", id="title")]
    if setup is not None:
        cell = nbformat.v4.new_code_cell(setup, id="old", execution_count=1)
        cell.metadata["tags"] = ["setup", "hide-cell"]
        cells.append(cell)
    for number, count in enumerate(counts):
        shown = nbformat.v4.new_output(
            "execute_result", data={"text/plain": "1"}, execution_count=count
        )
        cells.append(
            nbformat.v4.new_code_cell("1", id=f"c{number}", execution_count=count, outputs=[shown])
        )
    return nbformat.v4.new_notebook(cells=cells)


def test_every_notebook_has_the_cell_for_the_address_that_is_set() -> None:
    assert setup_cells.main(["--check"]) == 0


@pytest.mark.parametrize("before", [notebook(1, 2, 3), notebook(2, 3, 4, setup="print(1)")])
def test_the_cell_comes_before_all_code_and_counts_as_run(before: Any) -> None:
    cells = setup_cells.with_setup_cell(before, "pass").cells
    assert [cell.id for cell in cells] == ["title", "install-where-missing", "c0", "c1", "c2"]
    assert [cell.get("execution_count") for cell in cells[1:]] == [1, 2, 3, 4]
    assert [cell.outputs[0].execution_count for cell in cells[2:]] == [2, 3, 4]
    assert cells[1].outputs == []
    assert set(cells[1].metadata.tags) == {"setup", "remove-cell"}


@pytest.mark.parametrize("counts", [(1, 3), (None, None), (3, 4)])
def test_a_notebook_that_was_not_run_in_order_is_named(
    counts: tuple[int | None, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sample.ipynb"
    path.write_text(nbformat.writes(notebook(*counts)))
    before = path.read_bytes()
    assert setup_cells.main([str(path)]) == 1
    assert path.read_bytes() == before
    assert "run the notebook from the top" in capsys.readouterr().err


def test_writing_satisfies_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sample.ipynb"
    path.write_text(nbformat.writes(notebook(1, 2)))
    before = path.read_bytes()
    assert setup_cells.main(["--check", str(path)]) == 1
    assert path.read_bytes() == before
    assert "run tools/setup_cells.py" in capsys.readouterr().err
    assert setup_cells.main([str(path)]) == 0
    assert setup_cells.main(["--check", str(path)]) == 0
    assert normalise_notebooks.main(["--check", str(path)]) == 0


def test_another_address_makes_every_cell_out_of_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = tmp_path / "_config.yml"
    configuration.write_text(CONFIG.format(url="https://example.org/a/b", branch="v1.2"))
    text = setup_cells.source(configuration)
    assert '"git+https://example.org/a/b@v1.2"' in text
    monkeypatch.setattr(setup_cells, "source", lambda: text)
    assert setup_cells.main(["--check"]) == 1


@pytest.mark.parametrize(
    ("url", "branch", "name"),
    [
        ("git@github.com:a/b", "main", "url"),
        ("https://github.com", "main", "url"),
        ('"https://github.com/a/b{c}"', "main", "url"),
        ("https://github.com/a/b", '"a b"', "branch"),
        ("https://github.com/a/b", '"-x"', "branch"),
    ],
)
def test_an_address_that_cannot_stand_there_is_named(
    url: str, branch: str, name: str, tmp_path: Path
) -> None:
    configuration = tmp_path / "_config.yml"
    configuration.write_text(CONFIG.format(url=url, branch=branch))
    with pytest.raises(ValueError, match=f"_config.yml: repository: {name}: is no"):
        setup_cells.source(configuration)


def test_a_fork_with_a_wrong_address_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> str:
        raise ValueError("_config.yml: repository: url: is no https address: 'x'")

    monkeypatch.setattr(setup_cells, "source", refuse)
    assert setup_cells.main([]) == 2
    assert capsys.readouterr().err == "_config.yml: repository: url: is no https address: 'x'\n"


def test_what_is_no_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert setup_cells.main(["--check", str(tmp_path / "nofile.ipynb")]) == 2
    assert setup_cells.main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"{tmp_path}/nofile.ipynb: no such file\n{tmp_path}: a folder\n"
    )
