"""Bring notebooks into the one form in which they are stored.

A stored notebook has been run from top to bottom, keeps its text outputs and holds nothing that
differs between two runs or two machines: no pictures, no widget state, no times, no versions.

    python tools/normalise_notebooks.py notebooks/*.ipynb              rewrite
    python tools/normalise_notebooks.py --execute notebooks/*.ipynb    run, then rewrite
    python tools/normalise_notebooks.py --check notebooks/*.ipynb      change nothing; 1 if it would
    python tools/normalise_notebooks.py --execute --jobs 2 notebooks/*.ipynb     two at a time
    python tools/normalise_notebooks.py --execute --python PYTHON notebooks/*.ipynb
        run with another Python, in an empty folder: as on a host that has a notebook and no more

What a figure emits as ``text/html`` keeps its tags, alternative text, size and caption; the
drawing between ``<svg ...>`` and ``</svg>`` goes. The rule is read from
``tests/notebooks/nbval_sanitize.cfg``, which nbval reads too, so that what is stored and what is
compared cannot disagree.

Running takes at most 10 seconds of processor time a notebook (``--budget``), or the status is 1.
Running the cells is the one thing that puts execution counts right: without ``--execute`` a
notebook whose cells have not been run in order is an error, because renumbering them would hide it.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache, partial
from io import StringIO
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

import nbformat
import train_arguments
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, DeadKernelError
from nbformat import NotebookNode
from whole_files import write_whole

SANITISE_RULES = Path(__file__).resolve().parents[1] / "tests/notebooks/nbval_sanitize.cfg"

NOTEBOOK_METADATA: dict[str, Any] = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}
CELL_METADATA = ("mystnb", "slideshow", "tags")
WIDGET_TYPES = "application/vnd.jupyter.widget-"

#: What a notebook may take, in seconds of processor time: a reader waits for it, and the time on
#: the clock says more about what else the machine does.
SECONDS_PER_NOTEBOOK = 10.0
CELL_TIMEOUT = 60
DIFF_LINES = 40
#: Sums come out in another order, hence with other last digits, when a BLAS library splits them.
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


class NotebookError(ValueError):
    """A notebook that cannot be made canonical without its author."""


@cache
def sanitise_rules(path: Path = SANITISE_RULES) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Read the rules exactly as nbval does."""
    text = path.read_text(encoding="utf-8")
    pairs = re.findall(r"^regex: (.*)$\n^replace: (.*)$", text, flags=re.MULTILINE)
    return tuple((re.compile(pattern), replacement) for pattern, replacement in pairs)


def sanitise(text: str) -> str:
    """Empty the drawings and hide the memory addresses in one text output.

    >>> sanitise('<svg role="img" aria-label="A line." width="9"><path d="M0 0"/></svg>')
    '<svg role="img" aria-label="A line." width="9"></svg>'
    """
    for pattern, replacement in sanitise_rules():
        text = pattern.sub(replacement, text)
    return text


def _without_pictures(data: dict[str, Any]) -> dict[str, Any]:
    return {
        kind: sanitise(value) if isinstance(value, str) else value
        for kind, value in data.items()
        if not kind.startswith(("image/", WIDGET_TYPES))
    }


def _normal_outputs(outputs: Sequence[NotebookNode], count: int) -> list[NotebookNode]:
    kept: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream":
            text = sanitise(output.text)
            last = kept[-1] if kept else None
            if last is not None and last.output_type == "stream" and last.name == output.name:
                last.text += text
            else:
                kept.append(nbformat.v4.new_output("stream", name=output.name, text=text))
        elif output.output_type in ("display_data", "execute_result"):
            data = _without_pictures(output.data)
            if data:
                metadata = {key: value for key, value in output.metadata.items() if key in data}
                extra = {"execution_count": count} if output.output_type == "execute_result" else {}
                kept.append(
                    nbformat.v4.new_output(
                        output.output_type, data=data, metadata=metadata, **extra
                    )
                )
        else:
            kept.append(output)
    # two merged streams may have held one drawing between them
    for output in kept:
        if output.output_type == "stream":
            output.text = sanitise(output.text)
    return kept


def _normal_metadata(metadata: NotebookNode) -> dict[str, Any]:
    kept = {key: metadata[key] for key in CELL_METADATA if metadata.get(key)}
    if metadata.get("jupyter", {}).get("source_hidden"):
        kept["jupyter"] = {"source_hidden": True}
    return kept


def parse(text: str, name: str) -> NotebookNode:
    """Read a notebook of format 4 whose cells all have ids."""
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        raise NotebookError(f"{name}: not JSON: {error}") from error
    cells = raw.get("cells") if isinstance(raw, dict) and raw.get("nbformat") == 4 else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise NotebookError(f"{name}: not a notebook of format 4")
    ids = [cell.get("id") for cell in cells]
    for position, cell_id in enumerate(ids, start=1):
        if not cell_id:
            raise NotebookError(f"{name}: cell {position} has no id: name it after what it does")
        if ids.count(cell_id) > 1:
            raise NotebookError(f"{name}: two cells have the id {cell_id!r}")
    raw["nbformat_minor"] = max(5, raw.get("nbformat_minor", 0))
    notebook: NotebookNode = nbformat.reads(json.dumps(raw), as_version=4)
    return notebook


def normalise(notebook: NotebookNode, name: str) -> str:
    """Return the canonical text of a notebook that has been run.

    Raises
    ------
    NotebookError
        naming notebook and cell, where code has not been run, in order, from a fresh kernel.
    """
    cells = []
    count = 0
    for cell in notebook.cells:
        source = cell.source.replace("\r\n", "\n").rstrip("\n")
        metadata = _normal_metadata(cell.metadata)
        if cell.cell_type == "code":
            count += 1
            if cell.execution_count != count:
                raise NotebookError(
                    f"{name}: code cell {cell.id!r} has execution count {cell.execution_count}, "
                    f"expected {count}: run the notebook from the top, or use --execute"
                )
            normal = nbformat.v4.new_code_cell(
                source,
                id=cell.id,
                metadata=metadata,
                execution_count=count,
                outputs=_normal_outputs(cell.outputs, count),
            )
        elif cell.cell_type == "markdown":
            normal = nbformat.v4.new_markdown_cell(source, id=cell.id, metadata=metadata)
            if cell.get("attachments"):
                normal.attachments = cell.attachments
        else:
            normal = nbformat.v4.new_raw_cell(source, id=cell.id, metadata=metadata)
        cells.append(normal)
    result = nbformat.v4.new_notebook(cells=cells, metadata=NOTEBOOK_METADATA)
    result.nbformat_minor = 5
    nbformat.validate(result)
    return str(nbformat.writes(result, version=4)).rstrip("\n") + "\n"


@contextmanager
def kernel_of(python: Path) -> Iterator[None]:
    """Let `python3` be the kernel of another Python, with nothing of this checkout on its path."""
    with tempfile.TemporaryDirectory() as scratch:
        kernel = Path(scratch) / "kernels" / "python3"
        kernel.mkdir(parents=True)
        command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        specification = {"argv": command, "display_name": "Python 3", "language": "python"}
        (kernel / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")
        before = dict(os.environ)
        os.environ["JUPYTER_PATH"] = scratch
        os.environ.pop("PYTHONPATH", None)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def execute_apart(notebook: NotebookNode, python: Path) -> float:
    """Run the notebook in place, with another Python, in a folder that holds nothing else."""
    with tempfile.TemporaryDirectory() as folder, kernel_of(python):
        return execute(notebook, Path(folder))


def execute(notebook: NotebookNode, folder: Path) -> float:
    """Run the notebook in place, in a fresh kernel started in `folder`.

    Returns the seconds of processor time of the kernel and its threads; 0 on Windows, which does
    not tell.
    """
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        # without what a kernel says of its connection, which stays on this machine
        extra_arguments=["--IPKernelApp.log_level=40"],
        record_timing=False,
        store_widget_state=False,
    )
    # The kernel of this environment, not one of the same name that the user has registered.
    environment = {**os.environ, **ONE_THREAD}
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    before = os.times()
    client.execute(env=environment)  # returns when the kernel has ended, so that its time counts
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])  # of children: user and system


def difference(before: str, after: str, name: str) -> str:
    """Return the first lines of a unified diff, empty where there is none."""
    lines = list(
        difflib.unified_diff(
            before.splitlines(), after.splitlines(), name, f"{name} (normalised)", n=1, lineterm=""
        )
    )
    if not lines and before != after:
        return f"{name}: differs in its line ends only"
    if len(lines) > DIFF_LINES:
        lines = [*lines[:DIFF_LINES], f"... and {len(lines) - DIFF_LINES} more lines"]
    return "\n".join(lines)


def no_file(paths: Sequence[Path]) -> str:
    """Say of the first path that is no file what it is; nothing where all are files."""
    return next(
        (
            f"{path}: {'a folder' if path.is_dir() else 'no such file'}"
            for path in paths
            if not path.is_file()
        ),
        "",
    )


def treated(path: Path, options: argparse.Namespace) -> int:
    """Do with one notebook what the options say, and tell; return the exit status."""
    status = 0
    try:
        before = path.read_bytes().decode("utf-8")
        notebook = parse(before, str(path))
        if options.execute:
            seconds = (
                execute_apart(notebook, options.python.absolute())
                if options.python
                else execute(notebook, path.resolve().parent)
            )
            print(f"{path}: ran in {seconds:.1f} s of processor time")
            if seconds > options.budget:
                print(
                    f"{path}: needs {seconds:.1f} s of processor time, more than the "
                    f"{options.budget:g} s that a notebook may take",
                    file=sys.stderr,
                )
                status = 1
        after = normalise(notebook, str(path))
    except NotebookError as error:
        print(error, file=sys.stderr)
        return 1
    except UnicodeDecodeError as error:
        print(f"{path}: not UTF-8: {error}", file=sys.stderr)
        return 1
    except (CellControlSignal, DeadKernelError) as error:
        print(f"{path}: did not run to its end:\n{error}", file=sys.stderr)
        return 1
    if after == before:
        return status
    if options.check:
        excerpt = difference(before, after, str(path))
        print(f"{path}: not normalised:\n{excerpt}", file=sys.stderr)
        return 1
    write_whole(path, after.encode())
    print(f"{path}: rewritten")
    return status


def treated_quietly(path: Path, options: argparse.Namespace) -> tuple[int, str, str]:
    """Do the same in a process beside others; return the exit status and what is to be told."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        status = treated(path, options)
    return status, out.getvalue(), err.getvalue()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if it would")
    parser.add_argument("--execute", action="store_true", help="run the notebook first")
    parser.add_argument(
        "--python", type=Path, help="run it with this Python and not this one, in an empty folder"
    )
    parser.add_argument(
        "--budget",
        type=train_arguments.seconds,
        default=SECONDS_PER_NOTEBOOK,
        metavar="SECONDS",
        help="processor time that running one notebook may take (default: %(default)g)",
    )
    parser.add_argument(
        "--jobs",
        type=train_arguments.count,
        default=1,
        metavar="N",
        help="how many notebooks to run at a time (default: %(default)d)",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    if lacking := no_file(options.files):
        print(lacking, file=sys.stderr)
        return 2
    if options.python and not options.execute:
        parser.error("--python says what runs a notebook: it needs --execute")
    if options.python and not options.python.is_file():
        print(f"{options.python}: no such Python", file=sys.stderr)
        return 2

    if options.jobs == 1:
        return max([treated(path, options) for path in options.files])
    # A process's time is measured by that of its children, so each has one notebook at a time.
    status = 0
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as processes:
        try:
            for its_status, out, err in processes.map(
                partial(treated_quietly, options=options), options.files
            ):
                print(out, end="", flush=True)
                print(err, end="", flush=True, file=sys.stderr)
                status = max(status, its_status)
        except BaseException:  # they would be waited for; what runs a kernel refuses a mere request
            for process in active_children():
                process.kill()
            raise
    return status


if __name__ == "__main__":
    sys.exit(main())
