"""Run all benchmarks in turn, print their tables and put them into benchmarks/README.md.

    python benchmarks/everything.py [NAME ...]        (`make bench` runs it)

Each runs in a process of its own with one thread. PyTorch joins where it is installed; nothing else
is compared or needed. A quarter of an hour; the machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
README = HERE / "README.md"
NAMES = ("mixture", "bilm", "layer_cache", "start", "explorers")
GROWTH = HERE / "growth.svg"


def run(name: str) -> str:
    """Return what a benchmark prints; it ends all if it fails."""
    # Python puts the script's folder on the path, not the package's.
    path = os.pathsep.join(filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH")]))
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, str(HERE / f"{name}.py")],
        env={**os.environ, **threads, "PYTHONPATH": path},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.strip()


def put(text: str, name: str, table: str) -> str:
    """Return the page with what stands between the two marks of `name` replaced."""
    marks = rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)"
    if not re.search(marks, text, re.DOTALL):
        raise ValueError(f"README.md: expected the marks of {name}, found none")
    return re.sub(marks, lambda found: f"{found[1]}{table}\n{found[2]}", text, flags=re.DOTALL)


def machine_line() -> str:
    """Say in a line where the mixture's record was measured."""
    machine = json.loads((HERE / "records" / "mixture.json").read_text("utf-8"))["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return (
        f"{machine['date']}, {machine['processor']}, {machine['cores']} cores, "
        f"{machine['threads']} thread; {versions}."
    )


def draw_growth() -> None:
    """Draw time against size, on logarithmic axes, for the records that have it."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "growth", "font.size": 10})
    from matplotlib import pyplot as plt

    records = {
        name: json.loads((HERE / "records" / f"{name}.json").read_text("utf-8"))["result"]["growth"]
        for name in ("mixture", "bilm", "layer_cache")
    }
    panels: list[tuple[str, str, list[tuple[str, list[float], list[float], float]]]] = [
        ("Mixture", "sentences of 25 tokens", []),
        ("Language model, one training step", "size over the smallest", []),
        ("Layer cache", "sentences of 25 tokens", []),
    ]
    for name, ms in records["mixture"]["ms"].items():
        seconds = [value / 1000 for value in ms]
        exponent = records["mixture"]["exponent"][name]
        panels[0][2].append((name, records["mixture"]["sentences"], seconds, exponent))
    for name, found in records["bilm"].items():
        relative = [size / found["sizes"][0] for size in found["sizes"]]
        panels[1][2].append((name, relative, found["seconds"], found["exponent"]))
    for name, seconds in records["layer_cache"]["seconds"].items():
        exponent = records["layer_cache"]["exponent"][name]
        panels[2][2].append((name, records["layer_cache"]["sentences"], seconds, exponent))

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    for axis, (title, label, lines) in zip(axes, panels, strict=True):
        for (name, sizes, seconds, exponent), mark in zip(lines, "os^D", strict=False):
            axis.loglog(sizes, seconds, marker=mark, label=f"{name}, power {exponent:.2f}")
        axis.set(title=title, xlabel=label, ylabel="seconds")
        axis.legend(frameon=False, fontsize=8)
    figure.savefig(GROWTH, metadata={"Date": None})


def main(names: list[str]) -> None:
    """Run the benchmarks and rewrite the page."""
    for name in names:
        print(f"== {name}", flush=True)
        table = run(name)
        print(table, flush=True)
        README.write_text(put(README.read_text("utf-8"), name, table), "utf-8")
    README.write_text(put(README.read_text("utf-8"), "machine", machine_line()), "utf-8")
    draw_growth()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    chosen = parser.parse_args().names or list(NAMES)
    if unknown := set(chosen) - set(NAMES):
        parser.error(f"no benchmark of that name: {', '.join(sorted(unknown))}")
    main(chosen)
