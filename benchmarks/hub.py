"""What one student of a class costs a hub: memory and processor time of each notebook.

    python benchmarks/hub.py --python PYTHON [--output benchmarks/records/hub.json]

PYTHON is one of an environment that has JupyterLab and what ``.binder/requirements.txt`` names, as
the image of a hub has. Each notebook is run once from top to bottom in a fresh kernel of it; after
its last cell, Linux is asked for the most memory that it ever held (``VmHWM``) and for the
processor time of all its threads. The same is asked of an idle JupyterLab server, one of which
runs for each student beside the kernel. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.normalise_notebooks import ONE_THREAD, kernel_of  # noqa: E402  # path is set just above

NAMES = (
    "elmo-toy",
    "h5py",
    "ipykernel",
    "ipywidgets",
    "jupyterlab",
    "matplotlib",
    "numpy",
    "sympy",
)


def peak_megabytes(process: int) -> float:
    """Return the most memory that a running process ever held, in millions of bytes."""
    status = Path(f"/proc/{process}/status").read_text()
    [kilobytes] = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(kilobytes) * 1024 / 1e6


def processor_seconds(process: int) -> float:
    """Return the processor time of a running process and its threads, user and system."""
    # the name, second of the fields, may hold spaces; user time is the 14th
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(path: Path, folder: Path) -> dict[str, Any]:
    """Run a notebook in `folder` and return what it took."""
    notebook = nbformat.read(path, as_version=4)
    found: dict[str, Any] = {}

    def after_a_cell(**_: object) -> None:
        process = client.km.provisioner.pid
        found["peak_mb"] = round(peak_megabytes(process), 1)
        found["processor_s"] = round(processor_seconds(process), 2)

    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        on_cell_executed=after_a_cell,
    )
    client.execute(env={**os.environ, **ONE_THREAD})
    return found


def measure_server(python: Path, folder: Path) -> dict[str, Any]:
    """Start JupyterLab, wait for its answer, and return what it took until it idles."""
    options = ["--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root"]
    runtime = folder / "runtime"
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(runtime)}
    with subprocess.Popen(
        [python, "-m", "jupyterlab", *options, "--IdentityProvider.token=measured"],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            for _ in range(120):
                time.sleep(0.5)
                for file in runtime.glob("jpserver-*.json"):
                    url = json.loads(file.read_text())["url"]
                    try:
                        # the address is the server's own
                        for page in ("lab", "api/status", "api/contents"):
                            urlopen(f"{url}{page}?token=measured", timeout=10).read()  # noqa: S310
                    except URLError:
                        continue
                    return {
                        "peak_mb": round(peak_megabytes(server.pid), 1),
                        "processor_s": round(processor_seconds(server.pid), 2),
                    }
        finally:
            server.terminate()
    raise RuntimeError(f"JupyterLab of {python} did not answer within a minute")


def versions_of(python: Path) -> dict[str, str]:
    """Return the versions of what the measured environment runs."""
    program = (
        "import json, sys, platform; from importlib.metadata import version; "
        "print(json.dumps({'python': platform.python_version()} "
        "| {name: version(name) for name in sys.argv[1:]}))"
    )
    with tempfile.TemporaryDirectory() as folder:
        printed = subprocess.run(
            [python, "-c", program, *NAMES], cwd=folder, capture_output=True, check=True
        ).stdout
    found: dict[str, str] = json.loads(printed)
    return found


def main() -> None:
    """Measure all notebooks and the server; print and record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", type=Path, required=True, help="of the hub's environment")
    parser.add_argument("--output", type=Path, help="record to write, as JSON")
    arguments = parser.parse_args()
    python = arguments.python.absolute()
    record: dict[str, Any] = {
        "measured": datetime.now(UTC).strftime("%Y-%m-%d"),
        "versions": versions_of(python) | {"nbclient": version("nbclient")},
        "notebooks": {},
    }
    os.environ.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory() as folder:
        record["server"] = measure_server(python, Path(folder))
        with kernel_of(python):
            for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
                record["notebooks"][path.stem] = measure(path, Path(folder))
                print(f"{path.stem:24} {record['notebooks'][path.stem]}")
    print(f"{'JupyterLab, idle':24} {record['server']}")
    if arguments.output:
        arguments.output.parent.mkdir(exist_ok=True)
        arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
