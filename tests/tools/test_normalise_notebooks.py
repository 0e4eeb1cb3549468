"""The normaliser: one form, reached in one step, losing nothing that a reader needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools import normalise_notebooks as tool

FIGURE = (
    '<figure class="elmo-figure"><svg role="img" aria-label="Two points, a > b."\n width="320"'
    ' height="200">\n<path d="M0 0"/>\n</svg><figcaption>Two points.</figcaption></figure>'
)
EMPTIED = FIGURE.replace('\n<path d="M0 0"/>\n', "")


def code(
    source: str, count: int | None, *outputs: nbformat.NotebookNode, **metadata: object
) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(
        source, id=f"cell-{count}", execution_count=count, outputs=list(outputs), metadata=metadata
    )


def stream(text: str, name: str = "stdout") -> nbformat.NotebookNode:
    return nbformat.v4.new_output("stream", name=name, text=text)


def shown(count: int | None = None, **data: str) -> nbformat.NotebookNode:
    kind = "display_data" if count is None else "execute_result"
    extra = {} if count is None else {"execution_count": count}
    names = {key.replace("_", "/", 1): value for key, value in data.items()}
    return nbformat.v4.new_output(kind, data=names, **extra)


def noisy() -> nbformat.NotebookNode:
    """Return a notebook as an editor leaves it."""
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# A title\n\nTwo spaces  \nbreak.\n", id="title"),
            code(
                "print(1)\n", 1, stream("1"), stream("\n"), execution={"iopub.status.busy": "now"}
            ),
            code(
                "figure", 2, shown(2, text_html=FIGURE, text_plain="Two points."), tags=["figure"]
            ),
            code("plot", 3, shown(image_png="iVBORw0KGgo=", text_plain="a plot"), collapsed=True),
            code("object()", 4, shown(4, text_plain="<object object at 0x7f3c5c0b1a80>")),
            code(
                "picture",
                5,
                shown(image_png="iVBORw0KGgo="),
                shown(image_jpeg="/9j/4AAQSkZJ"),
                shown(image_gif="R0lGODlh"),
                shown(**{"image_svg+xml": "<svg><path/></svg>"}),
            ),
        ],
        metadata={
            "kernelspec": {"name": "elmo", "display_name": "ELMo (.venv)", "language": "python"},
            "language_info": {"name": "python", "version": "3.11.2"},
            "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {}}},
        },
    )
    notebook.cells[2].outputs[0].data["application/vnd.jupyter.widget-view+json"] = {
        "model_id": "1"
    }
    return notebook


def normal(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    return nbformat.reads(tool.normalise(notebook, "sample.ipynb"), as_version=4)


def test_text_outputs_and_sources_stay() -> None:
    cells = normal(noisy()).cells
    assert cells[0].source == "# A title\n\nTwo spaces  \nbreak."
    assert [output.text for output in cells[1].outputs] == ["1\n"], "streams are merged"
    assert cells[3].outputs[0].data == {"text/plain": "a plot"}
    assert [cell.id for cell in cells] == ["title", *(f"cell-{count}" for count in range(1, 6))]


def test_figure_keeps_everything_but_its_drawing() -> None:
    assert normal(noisy()).cells[2].outputs[0].data == {
        "text/html": EMPTIED,
        "text/plain": "Two points.",
    }
    assert EMPTIED.count('aria-label="Two points, a > b."') == 1
    assert 'height="200"></svg>' in EMPTIED


def test_what_differs_between_runs_goes() -> None:
    text = tool.normalise(noisy(), "sample.ipynb")
    for noise in (
        "iopub",
        "iVBORw0",
        "image/",
        "model_id",
        "widget",
        "3.11",
        ".venv",
        "0x7f",
        "collapsed",
    ):
        assert noise not in text, noise
    assert normal(noisy()).cells[5].outputs == [], "nothing is left of a picture without text"
    assert normal(noisy()).cells[2].metadata == {"tags": ["figure"]}


def test_layout_of_the_file() -> None:
    text = tool.normalise(noisy(), "sample.ipynb")
    raw = json.loads(text)
    assert (raw["nbformat"], raw["nbformat_minor"]) == (4, 5)
    assert text == json.dumps(raw, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def test_idempotent_on_a_noisy_notebook() -> None:
    once = tool.normalise(noisy(), "sample.ipynb")
    assert tool.normalise(tool.parse(once, "sample.ipynb"), "sample.ipynb") == once


pieces = st.lists(
    st.sampled_from(
        ["<svg", ' width="1"', " a='>'", '"', ">", "/>", "</svg>", "x\n", "<p>", " at 0x", "7f3c5c"]
    ),
    max_size=12,
).map("".join)
outputs = st.lists(
    st.one_of(
        st.builds(stream, pieces, st.sampled_from(["stdout", "stderr"])),
        st.builds(lambda html, text: shown(text_html=html, text_plain=text), pieces, st.text()),
        st.builds(lambda image: shown(image_png=image), st.text()),
    ),
    max_size=5,
)


@settings(deadline=None)
@given(outputs, st.text())
def test_idempotent(produced: list[nbformat.NotebookNode], source: str) -> None:
    notebook = nbformat.v4.new_notebook(cells=[code(source, 1, *produced)])
    once = tool.normalise(notebook, "sample.ipynb")
    assert tool.normalise(tool.parse(once, "sample.ipynb"), "sample.ipynb") == once


@pytest.mark.parametrize("number", ["0.4203369997", "-0.314812", "2.1e-11", "0x1.8p+1", "1024"])
def test_rules_touch_no_number(number: str) -> None:
    for text in (
        number,
        f"at {number}",
        f"<b>{number}</b>",
        f'<svg aria-label="{number}">\n</svg>',
    ):
        assert number in tool.sanitise(text)


def test_exactly_two_rules() -> None:
    assert len(tool.sanitise_rules()) == 2


@pytest.mark.parametrize("counts", [(None,), (2,), (1, 3), (2, 1), (1, None)])
def test_cells_not_run_in_order_are_an_error(counts: tuple[int | None, ...]) -> None:
    notebook = nbformat.v4.new_notebook(cells=[code("1", count) for count in counts])
    with pytest.raises(tool.NotebookError, match=r"sample.ipynb: code cell 'cell-.*expected"):
        tool.normalise(notebook, "sample.ipynb")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not a notebook of format 4"),
        ('{"nbformat": 4, "cells": 5}', "not a notebook of format 4"),
        ('{"nbformat": 4, "cells": ["x"]}', "not a notebook of format 4"),
        ('{"nbformat": 3, "worksheets": []}', "not a notebook of format 4"),
        ('{"nbformat": 4, "cells": [{"cell_type": "markdown"}]}', "cell 1 has no id"),
        ('{"nbformat": 4, "cells": [{"id": "a"}, {"id": "a"}]}', "two cells have the id 'a'"),
    ],
)
def test_unreadable_notebooks_are_named(text: str, message: str) -> None:
    with pytest.raises(tool.NotebookError, match=f"sample.ipynb: {message}"):
        tool.parse(text, "sample.ipynb")


def saved(folder: Path, notebook: nbformat.NotebookNode) -> Path:
    path = folder / "sample.ipynb"
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    return path


def test_check_names_file_and_change_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, noisy())
    before = path.read_bytes()
    assert tool.main(["--check", str(path)]) == 1
    assert path.read_bytes() == before
    message = capsys.readouterr().err
    assert f"{path}: not normalised" in message
    assert re.search(r"^-.*iopub", message, re.MULTILINE), "the excerpt shows what goes"
    assert "more lines" in message


def test_rewriting_satisfies_the_check(tmp_path: Path) -> None:
    path = saved(tmp_path, noisy())
    path.chmod(0o644)
    assert tool.main([str(path)]) == 0
    assert tool.main(["--check", str(path)]) == 0
    assert [entry.name for entry in tmp_path.iterdir()] == ["sample.ipynb"], "nothing left beside"
    assert path.stat().st_mode & 0o777 == 0o644


def test_windows_line_ends_are_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path, noisy())
    tool.main([str(path)])
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert tool.main(["--check", str(path)]) == 1
    assert "line ends" in capsys.readouterr().err


def test_a_notebook_not_run_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, nbformat.v4.new_notebook(cells=[code("1", None)]))
    before = path.read_bytes()
    assert tool.main([str(path)]) == 1
    assert path.read_bytes() == before
    assert "use --execute" in capsys.readouterr().err


def test_execute_runs_in_the_notebooks_folder_with_one_thread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here.txt").write_text("found")
    source = (
        "import os\nprint(open('here.txt').read(), os.environ['OPENBLAS_NUM_THREADS'])\nobject()"
    )
    path = saved(tmp_path, nbformat.v4.new_notebook(cells=[code(source, None), code("1 + 1", 7)]))
    assert tool.main(["--execute", str(path)]) == 0
    assert re.search(r"sample.ipynb: ran in \d+\.\d s of processor time\n", capsys.readouterr().out)
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.execution_count for cell in cells] == [1, 2]
    assert cells[0].outputs[0].text == "found 1\n"
    assert cells[1].outputs[0].data == {"text/plain": "2"}
    # a second run, in a new kernel, changes nothing: the address of the object is not stored
    assert tool.main(["--check", "--execute", str(path)]) == 0


def test_execute_with_another_python_sees_nothing_of_this_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kernel starts in an empty folder, and no path leads here."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    venv.create(tmp_path / "other", symlinks=True)
    python = tmp_path / "other" / "bin" / "python"
    [place] = (tmp_path / "other").glob("lib/*/site-packages")
    (place / "kernel.pth").write_text(sysconfig.get_path("purelib"))
    source = "import os, sys\nprint(os.listdir(), sys.prefix, 'PYTHONPATH' in os.environ)"
    path = saved(tmp_path, nbformat.v4.new_notebook(cells=[code(source, None)]))
    assert tool.main(["--execute", "--python", os.path.relpath(python), str(path)]) == 0
    printed = nbformat.read(path, as_version=4).cells[0].outputs[0].text
    assert printed == f"[] {tmp_path / 'other'} False\n"
    assert os.environ["PYTHONPATH"] == os.environ["JUPYTER_PATH"] == str(tmp_path)


def test_a_python_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, noisy())
    assert tool.main(["--execute", "--python", str(tmp_path / "no"), str(path)]) == 2
    assert capsys.readouterr().err == f"{tmp_path / 'no'}: no such Python\n"
    with pytest.raises(SystemExit):
        tool.main(["--python", "python3", str(path)])
    assert "it needs --execute" in capsys.readouterr().err


BUSY = "import time\nwhile time.process_time() < 2.5:\n    pass"
IDLE = "import time\ntime.sleep(2.5)"


@pytest.mark.parametrize(("source", "status"), [(BUSY, 1), (IDLE, 0)], ids=["busy", "idle"])
def test_execute_limits_the_time_of_the_processor_and_not_of_the_clock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, status: int
) -> None:
    path = saved(tmp_path, nbformat.v4.new_notebook(cells=[code(source, None)]))
    assert tool.main(["--execute", "--budget", "2.4", str(path)]) == status
    message = capsys.readouterr().err
    assert ("more than the 2.4 s that a notebook may take" in message) == bool(status)


def test_a_notebook_has_ten_seconds_of_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path, nbformat.v4.new_notebook(cells=[code("1", 1)]))
    for seconds, status in ((9.9, 0), (10.1, 1)):
        monkeypatch.setattr(tool, "execute", lambda *_, seconds=seconds: seconds)
        assert tool.main(["--execute", str(path)]) == status


@pytest.mark.parametrize(("name", "said"), [("nosuch.ipynb", "no such file"), ("", "a folder")])
def test_what_is_no_file_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    path = saved(tmp_path, noisy())
    before = path.read_bytes()
    assert tool.main([str(path), str(tmp_path / name)]) == 2
    assert capsys.readouterr().err == f"{tmp_path / name}: {said}\n"
    assert path.read_bytes() == before, "nothing is written before the mistake is named"


def test_execute_reports_a_raising_cell_and_keeps_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, nbformat.v4.new_notebook(cells=[code("1 / 0", None)]))
    before = path.read_bytes()
    assert tool.main(["--execute", str(path)]) == 1
    assert path.read_bytes() == before
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_two_at_a_time_are_told_one_after_the_other(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """In the order in which they were named, each with its own time, and one failure is one."""
    paths = []
    for name, source in (("a", BUSY), ("b", "1 / 0"), ("c", "print(3)")):
        (tmp_path / name).mkdir()
        notebook = nbformat.v4.new_notebook(cells=[code(source, None)])
        paths.append(str(saved(tmp_path / name, notebook)))
    assert tool.main(["--execute", "--jobs", "2", *paths]) == 1
    said = capfd.readouterr()
    assert [line.partition(":")[0] for line in said.out.splitlines()] == [
        *(paths[0], paths[0], paths[2], paths[2])
    ]
    seconds = [float(found) for found in re.findall(r"ran in (\d+\.\d) s", said.out)]
    assert seconds[0] >= 2.5
    assert seconds[1] < seconds[0]
    assert f"{paths[1]}: did not run to its end:\n" in said.err
    assert "ZeroDivisionError" in said.err
    assert nbformat.read(paths[2], as_version=4).cells[0].outputs[0].text == "3\n"
    with pytest.raises(SystemExit):
        tool.main(["--jobs", "0", *paths])


def test_what_is_no_text_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sample.ipynb"
    path.write_bytes(b"\xff")
    assert tool.main([str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"{path}: not UTF-8: ")


INTERRUPTED_TWICE = """
import os, signal, sys, threading, time

def interrupt():
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.1)
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.02)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt, daemon=True).start()
    sys.path[:0] = [sys.argv[2]]
    import normalise_notebooks
    normalise_notebooks.main(["--execute", "--jobs", "2", *sys.argv[3:]])
"""


def test_an_interrupt_waits_for_no_notebook(tmp_path: Path) -> None:
    """Nor does a second one, and nothing has been written."""
    runs = tmp_path / "runs"
    source = f"open({str(runs)!r}, 'w').close()\nimport time\ntime.sleep(600)"
    path = saved(tmp_path, nbformat.v4.new_notebook(cells=[code(source, None)]))
    before = path.read_bytes()
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED_TWICE)
    done = subprocess.run(
        [sys.executable, script, runs, Path(tool.__file__).parent, path],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,  # a cell may take 60
    )
    assert done.returncode != 0
    assert "KeyboardInterrupt" in done.stderr
    assert path.read_bytes() == before
