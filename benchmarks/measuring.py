"""What the benchmarks share: fair turns, the machine's limit, and how a result is written."""

from __future__ import annotations

import datetime
import json
import os
import platform
import resource
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

RECORDS = Path(__file__).with_name("records")


def pin_threads(threads: int) -> None:
    """Limit every library to so many threads. To be called before numpy is imported."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)


def in_turns(
    actions: Mapping[str, Callable[[], object]], runs: int, calls: int = 1
) -> dict[str, float]:
    """Median seconds of one call of each action.

    The actions take turns, so that a busy moment of the machine meets all of them; the first run of
    each warms it up and isn't counted. A run is so many `calls`, for what is too short to time.
    """
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    for run in range(runs + 1):
        for name, action in actions.items():
            start = perf_counter()
            for _ in range(calls):
                action()
            if run:
                seconds[name].append((perf_counter() - start) / calls)
    return {name: sorted(times)[len(times) // 2] for name, times in seconds.items()}


def page_faults(action: Callable[[], object], calls: int = 5) -> float:
    """Pages that the system has to hand out, zeroed, during one call of an action."""
    action()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(calls):
        action()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / calls


def machine() -> dict[str, Any]:
    """The processor, the versions and the threads that a result was measured with."""
    versions = {"Python": platform.python_version()}
    for name in ("numpy", "torch", "h5py"):
        try:
            versions[name] = __import__(name).__version__
        except ImportError:
            versions[name] = "not installed"
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        processor = names[0].split(":")[1].strip() if names else processor
    return {
        "date": datetime.date.today().isoformat(),
        "processor": processor,
        "cores": os.cpu_count(),
        "threads": int(os.environ.get("OPENBLAS_NUM_THREADS", 0)),
        "versions": versions,
    }


def write_record(name: str, result: object) -> Path:
    """Write `result` with the machine's description to ``records/NAME.json``, whole or not."""
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / f"{name}.json"
    beside = path.with_suffix(".json.part")
    beside.write_text(
        json.dumps({"machine": machine(), "result": result}, indent=1) + "\n", "utf-8"
    )
    beside.replace(path)
    return path


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """The slope of log seconds over log size: 1 where twice the size takes twice the time."""
    import numpy as np

    slope: float = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    return slope
