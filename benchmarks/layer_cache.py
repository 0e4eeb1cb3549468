"""Speed and memory of the layer cache, at the released model's width.

    python benchmarks/layer_cache.py [--sentences 1200] [--folder DIRECTORY] [--profile]

Sentences of 25 tokens, three layers of 1024 float32: 307 kB each. The extractor is replaced by one
that hands out prepared layers, so that the file alone is timed. Beside it: the same bytes written
and read as one raw file (flushed to the disk, then read back through the system's page cache, as
the cache is), and one h5py dataset a sentence written plainly, with no part files, no checksums
and no way to go on after a stop. Then the whole file is streamed through a mixture and a linear
probe by a process that may hold only a tenth of its size beside what it starts with. The profile
times the steps of writing and reading one by one; `--profile` prints it without the rest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import measuring

if __name__ == "__main__":
    measuring.pin_threads(1)

import h5py
import numpy as np

from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import BiLM, Layers, Options
from elmo_toy.bilm.token_encoder import LookupOptions
from elmo_toy.extractor import files, writing
from elmo_toy.extractor.frozen import FrozenExtractor
from elmo_toy.extractor.layer_cache import LayerCache
from elmo_toy.extractor.writing import write_layer_cache
from elmo_toy.text import Vocabulary

TOKENS, LAYERS, DIM = 25, 3, 1024
SENTENCE_BYTES = TOKENS * LAYERS * DIM * 4


class PreparedExtractor(FrozenExtractor):
    """Hands out the same random layers for each sentence, without a model's work."""

    def __init__(self) -> None:
        words = Vocabulary.from_sentences([["word"]], 4)
        options = Options(LookupOptions(len(words)), LSTMOptions(1, DIM // 2))
        super().__init__(BiLM.initialise(options, np.random.default_rng(0), words))
        rng = np.random.default_rng(1)
        self.layers = rng.standard_normal((256, LAYERS, TOKENS, DIM), dtype=np.float32)

    def embed(self, sentences: Any, batch_size: int = 64, progress: Any = None) -> Layers:
        """As many of the prepared layers as there are sentences."""
        del batch_size, progress
        n = len(sentences)
        return Layers(self.layers[:n], np.ones((n, TOKENS), dtype=bool))


def flush(path: Path) -> None:
    """Wait until a file is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def raw(path: Path, layers: Any, n: int) -> None:
    """The same bytes as one file."""
    with path.open("wb") as file:
        for number in range(n):
            file.write(layers[number % len(layers)].data)
    flush(path)


def plain_h5py(path: Path, layers: Any, n: int) -> None:
    """One dataset a sentence, written once."""
    with h5py.File(path, "w") as file:
        for number in range(n):
            file.create_dataset(str(number), data=layers[number % len(layers)])
    flush(path)


def ours(path: Path, extractor: PreparedExtractor, n: int) -> None:
    """The layer cache."""
    write_layer_cache(path, extractor, [["word"] * TOKENS] * n)
    flush(path)


def read_raw(path: Path, n: int) -> float:
    """Sum one number a sentence, so that nothing is read in vain."""
    total = 0.0
    with path.open("rb") as file:
        for _ in range(n):
            total += float(np.frombuffer(file.read(SENTENCE_BYTES), dtype=np.float32)[0])
    return total


def read_h5py(path: Path, n: int) -> float:
    """The same from datasets."""
    with h5py.File(path) as file:
        return sum(float(file[str(number)][()][0, 0, 0]) for number in range(n))


def read_ours(path: Path, _: int) -> float:
    """The same from the cache, which compares every checksum."""
    with LayerCache(path) as cache:
        return sum(float(layers[0, 0, 0]) for layers in cache)


def measure(n: int, folder: Path, runs: int = 3) -> dict[str, Any]:
    """MB a second of each way to write and to read `n` sentences."""
    extractor = PreparedExtractor()
    files = {name: folder / name for name in ("raw", "h5py", "cache")}
    write_actions = {
        "raw": lambda: raw(files["raw"], extractor.layers, n),
        "h5py": lambda: plain_h5py(files["h5py"], extractor.layers, n),
        "cache": lambda: ours(files["cache"], extractor, n),
    }
    read_actions = {"raw": read_raw, "h5py": read_h5py, "cache": read_ours}
    seconds: dict[str, dict[str, list[float]]] = {"write": {}, "read": {}}
    for _ in range(runs):
        for name, write in write_actions.items():
            files[name].unlink(missing_ok=True)
            start = perf_counter()
            write()
            seconds["write"].setdefault(name, []).append(perf_counter() - start)
        for name, read in read_actions.items():
            start = perf_counter()
            read(files[name], n)
            seconds["read"].setdefault(name, []).append(perf_counter() - start)
    megabytes = n * SENTENCE_BYTES / 1e6
    return {
        what: {name: megabytes / sorted(times)[runs // 2] for name, times in by_name.items()}
        for what, by_name in seconds.items()
    }


def profile(n: int, folder: Path, runs: int = 3) -> dict[str, float]:
    """Milliseconds a 100 MB of the steps of which writing and reading consist, each on its own."""
    extractor = PreparedExtractor()
    sentences = [["word"] * TOKENS] * writing.PART
    starts, part = range(0, n, writing.PART), folder / "0.part"
    rounds, layers = len(starts), extractor.layers[: writing.PART]
    h5, cache = folder / "h5py", folder / "cache"
    ours(cache, extractor, rounds * writing.PART)

    def repeated(action: Callable[[], object]) -> Callable[[], None]:
        def all_parts() -> None:
            for _ in starts:
                action()

        return all_parts

    def datasets() -> None:
        with h5py.File(h5, "w", libver=files.LIBVER) as file:
            for number in range(rounds * writing.PART):
                value = layers[number % len(layers)]
                file.create_dataset(str(number), data=value, track_times=False)

    actions: dict[str, Callable[[], object]] = {
        "writing the parts": repeated(
            lambda: writing._write_part(part, extractor, sentences, writing.PART)
        ),
        "reading them again": repeated(lambda: writing._is_whole(part, writing.PART)),
        "of either, the checksums": repeated(lambda: [files.checksum(value) for value in layers]),
        "writing the datasets": datasets,
        "waiting for the disk": lambda: flush(h5),
        "reading the datasets": lambda: read_h5py(h5, rounds * writing.PART),
        "reading the cache": lambda: read_ours(cache, 0),
    }
    megabytes = rounds * writing.PART * SENTENCE_BYTES / 1e6
    times = measuring.in_turns(actions, runs)
    return {name: 1000 * seconds * 100 / megabytes for name, seconds in times.items()}


def report_profile(found: dict[str, float]) -> str:
    """Say the steps in a line."""
    steps = ", ".join(f"{name} {ms:.0f}" for name, ms in found.items())
    return f"Milliseconds for 100 MB, each step alone: {steps}."


STREAM = """
import resource, sys
import numpy as np
from elmo_toy import scalar_mix
from elmo_toy.extractor.layer_cache import LayerCache
from elmo_toy.task.probes import LinearProbe

path, allowed = sys.argv[1], int(sys.argv[2])
def held():
    status = open("/proc/self/status").read()
    return 1024 * int(status.split("VmData:")[1].split()[0])
probe = LinearProbe(tuple("abcde"), np.random.default_rng(0).normal(size=(1024, 5)), np.zeros(5))
# OpenBLAS takes 32 MB for itself at the first large product
scalar_mix(np.zeros((4, 3, 25, 1024), np.float32), [0.1, 0.2, 0.3])
start = held()
resource.setrlimit(resource.RLIMIT_DATA, (start + allowed, start + allowed))
tokens = 0
with LayerCache(path) as cache:
    for layers, mask in cache.batches(4):
        mixture = scalar_mix(layers, [0.1, 0.2, 0.3], mask=mask)
        tokens += len(probe.predict(mixture[mask]))
print(tokens, held() - start)
"""


def stream(path: Path, allowed: int) -> dict[str, int]:
    """Read the whole cache through a mixture and a probe with at most so many bytes of data more.

    The system refuses memory beyond; a process that needed it would end in a MemoryError.
    """
    done = subprocess.run(
        [sys.executable, "-c", STREAM, str(path), str(allowed)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    tokens, held = map(int, done.stdout.split())
    return {"tokens": tokens, "allowed_bytes": allowed, "held_bytes": held}


def growth(folder: Path, largest: int) -> dict[str, Any]:
    """Seconds to write and read from an eighth of the sentences to all of them."""
    extractor = PreparedExtractor()
    sizes = [largest // 8, largest // 4, largest // 2, largest]
    found: dict[str, list[float]] = {"write": [], "read": []}
    for n in sizes:
        path = folder / f"growth{n}"
        start = perf_counter()
        ours(path, extractor, n)
        found["write"].append(perf_counter() - start)
        start = perf_counter()
        read_ours(path, n)
        found["read"].append(perf_counter() - start)
        path.unlink()
    exponents = {
        name: measuring.exponent(list(map(float, sizes)), times) for name, times in found.items()
    }
    return {"sentences": sizes, "seconds": found, "exponent": exponents}


def main(n: int = 1200, place: str | None = None) -> str:
    """Measure, write the record, and return the tables."""
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        speeds = measure(n, folder)
        streamed = stream(folder / "cache", n * SENTENCE_BYTES // 10)
        for path in folder.iterdir():
            path.unlink()
        steps = profile(n, folder)
        grows = growth(folder, n)
    size = n * SENTENCE_BYTES
    measuring.write_record(
        "layer_cache",
        {
            "bytes": size,
            "megabytes_a_second": speeds,
            "streamed": streamed,
            "growth": grows,
            "profile_ms_for_100_mb": steps,
        },
    )
    rows = [
        [
            what,
            *(f"{by_name[who]:,.0f}" for who in ("cache", "h5py", "raw")),
            f"{by_name['cache'] / by_name['h5py']:.2f}",
            f"{by_name['cache'] / by_name['raw']:.2f}",
        ]
        for what, by_name in speeds.items()
    ]
    heads = ["MB a second", "layer cache", "h5py, plainly", "raw file", "ours / h5py", "ours / raw"]
    exponents = ", ".join(f"{what} {value:.2f}" for what, value in grows["exponent"].items())
    return (
        measuring.table(heads, rows)
        + f"\n\n{size / 1e6:,.0f} MB were streamed through a mixture and a probe "
        f"({streamed['tokens']:,} tokens) by a process that was allowed "
        f"{streamed['allowed_bytes'] / 1e6:,.0f} MB of data beside its start and held "
        f"{streamed['held_bytes'] / 1e6:,.0f} MB in the end.\n"
        f"Time grows with the number of sentences to the power: {exponents}.\n"
        + report_profile(steps)
    )


def only_profile(n: int, place: str | None) -> str:
    """Return the steps alone."""
    with tempfile.TemporaryDirectory(dir=place) as name:
        return report_profile(profile(n, Path(name)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sentences", type=int, default=1200, help="of 307 kB each")
    parser.add_argument("--folder", help="where the files are written, and removed again")
    parser.add_argument("--profile", action="store_true", help="time the steps only")
    arguments = parser.parse_args()
    chosen = only_profile if arguments.profile else main
    print(chosen(arguments.sentences, arguments.folder))
