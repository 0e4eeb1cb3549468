"""How much time and memory does a model of the released size take? Measured on random weights.

    python tools/measure_released_size.py [--output FILE]

Draws a model with the original's sizes, writes it in the released layout to a temporary folder
(about 375 MB), and then, in a process of its own, reads it and embeds sentences. Nothing is
downloaded. The record says how many cores there were; chapter 8 reads it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy

import numpy as np
from whole_files import write_record

from elmo_toy.bilm import checkpoint, records, token_encoder
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.released import RELEASED
from elmo_toy.bilm.token_encoder import CharacterOptions
from elmo_toy.text import Batch

REPEATS = 5
SENTENCES, WORDS = 32, 20
"""Size of the batch. A sentence of ten words is measured too."""


def memory() -> float:
    """Largest resident memory of this process until now, in MB (Linux).

    ``getrusage`` would count the process that started this one.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) / 1024


def times(call: Callable[[], object]) -> dict[str, float]:
    """Median and least processor time of several calls, after one that is not counted.

    Processor time, because the machine may do other things too; there is one thread.
    """
    call()
    seconds = []
    for _ in range(REPEATS):
        start = process_time()
        call()
        seconds.append(process_time() - start)
    return {"median": round(statistics.median(seconds), 4), "least": round(min(seconds), 4)}


def words(rng: np.random.Generator, number: int) -> list[str]:
    """Different words of five letters."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return ["".join(row) for row in letters[rng.integers(26, size=(number, 5))]]


def measure(folder: Path) -> dict[str, Any]:
    """Read the model and use it."""
    before = memory()
    start = process_time()
    model = checkpoint.read_checkpoint(folder)
    read = process_time() - start
    after_reading = memory()
    rng = np.random.default_rng(0)
    sentence = [words(rng, 10)]
    batch = [words(rng, WORDS) for _ in range(SENTENCES)]
    types = Batch.from_ids(model.ids(sentence)).types
    options = model.options.encoder
    if not isinstance(options, CharacterOptions):
        raise TypeError(f"options: expected a character encoder, got {options}")
    return {
        "read_seconds": round(read, 2),
        "ten_words_seconds": times(lambda: model.embed(sentence)),
        "of_which_spelling_seconds": times(
            lambda: token_encoder.encode_characters(types, model.parameters, options)
        ),
        "batch": {"sentences": SENTENCES, "words": WORDS},
        "batch_seconds": times(lambda: model.embed(batch)),
        "memory_mb": {
            "before": round(before),
            "after_reading": round(after_reading),
            "most": round(memory()),
        },
    }


def main() -> None:
    """Write the random model, measure it in a new process, write the record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path, default=records.path("released_size"))
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure is not None:
        print(json.dumps(measure(arguments.measure)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "original"
        checkpoint.write_checkpoint(
            BiLM.initialise(RELEASED["original"], np.random.default_rng(0)), folder
        )
        size = (folder / checkpoint.WEIGHTS).stat().st_size
        command = [sys.executable, __file__, "--measure", str(folder)]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    record = {
        "model": "original",
        "weights": "random",
        "dtype": "float32",
        "file_bytes": size,
        "machine": {
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
            "blas": blas["name"],
            "blas_threads": int(os.environ["OPENBLAS_NUM_THREADS"]),
            "times": "processor seconds; the machine did other things too",
        },
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "repeats": REPEATS,
        **json.loads(found),
    }
    write_record(arguments.output, record)
    print(json.dumps(record))


if __name__ == "__main__":
    main()
