"""Build the book strictly: `python tools/build_book.py [--source DIR] [--output DIR]`.

A warning, a raising cell or a reference that leads nowhere fails the build, every time: a build
starts from an empty folder, since an incremental one does not repeat the warnings of pages that it
does not read again. The site is built beside its place and moved there when it is complete, so a
failed build leaves the last good site, and no half one. Nothing is done when nothing changed since
the last good build.

`--source` builds another folder (its own `_toc.yml` and pages) with this repository's
configuration, package and look.
"""

import argparse
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from jupyter_book.sphinx import build_sphinx
from sphinx.util.console import nocolor

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "elmo_toy"
DEMO = PACKAGE / "elmo_scalar_mix_demo.py"
DEMO_STATES = Path("book") / "_generated" / "elmo_scalar_mix_states.json"
# What the look and the behaviour of every book depend on, whichever folder it stands in.
SHARED = (PACKAGE, ROOT / "tools", ROOT / "book" / "_static", ROOT / "_config.yml")
FINGERPRINT = ".fingerprint"
# Folders of a source that hold no input: they are generated, or belong to a tool.
NO_INPUT = {"_build", "_generated", "__pycache__"}


def files_below(path: Path) -> Iterator[Path]:
    """Yield the files that can change a build, in a fixed order."""
    if path.is_file():
        yield path
    elif path.is_dir():
        for child in sorted(path.iterdir()):
            generated = child.name in NO_INPUT or (child / FINGERPRINT).exists()
            if not generated and not child.name.startswith("."):
                yield from files_below(child)


def fingerprint(*paths: Path) -> str:
    """Return a hash of names and contents below `paths`, and of the installed versions."""
    digest = hashlib.sha256(sys.version.encode())
    for version in sorted(
        f"{distribution.name}=={distribution.version}"
        for distribution in importlib.metadata.distributions()
    ):
        digest.update(f"{version}\n".encode())
    for path in paths:
        for file in files_below(path.resolve()):
            digest.update(f"{file.relative_to(path.resolve().parent)}\n".encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def inputs(source: Path) -> list[Path]:
    """Return what a build of `source` depends on."""
    if source == ROOT:  # and not its tests, its README and so on
        return [ROOT / "_toc.yml", ROOT / "book", ROOT / "notebooks", *SHARED]
    return [source, *SHARED]


def execution_cache(source: Path) -> Path:
    """Return the folder of executed notebooks that belongs to the package as it is now.

    The cache itself looks at cells only: with one folder for all versions of the package, a
    changed formula would leave its old numbers in the book. Folders of other versions are removed.
    """
    folders = source / ".cache" / "book"
    current = folders / fingerprint(PACKAGE)[:16]
    current.mkdir(parents=True, exist_ok=True)
    for folder in folders.iterdir():
        if folder != current:
            shutil.rmtree(folder)
    return current


def write_demo_states(source: Path) -> bool:
    """Run the stand-alone script for the file of states that the book offers beside it."""
    target = source / DEMO_STATES
    target.parent.mkdir(exist_ok=True)
    command = [sys.executable, str(DEMO), "--json", str(target)]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def set_environment(source: Path, scratch: Path) -> None:
    """Set what the build and the notebooks' kernels read from the environment."""
    # this repository's package, whatever is installed
    python_path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{ROOT}{os.pathsep}{python_path}" if python_path else str(ROOT)
    os.environ["ELMO_EXECUTION_CACHE"] = str(execution_cache(source))
    # one thread: sums in the same order, so the same last digits, on every machine
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    # a profile of the kernels' own: nobody's start-up files, and no warnings about the debugger or
    # about the kernel's connection, which stays on this machine
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    os.environ["IPYTHONDIR"] = str(scratch / "ipython")
    profile = scratch / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 40\n")


def run_jupyter_book(source: Path, site: Path) -> bool:
    """Do what `jupyter-book build -n -W --keep-going --all` does; say whether all went well."""
    if not sys.stdout.isatty():
        nocolor()
    overrides = {
        "external_toc_path": str(source / "_toc.yml"),
        "latex_individualpages": False,
        "nitpicky": True,
    }
    result = build_sphinx(
        source,
        site,
        noconfig=True,
        path_config=ROOT / "_config.yml",
        confoverrides=overrides,
        freshenv=True,
        warningiserror=True,
        keep_going=True,
    )
    return bool(result == 0)


def replace(site: Path, output: Path) -> None:
    """Move the finished site to its place."""
    output.parent.mkdir(parents=True, exist_ok=True)
    old = site.with_name("old")
    if output.exists():
        output.rename(old)
    site.rename(output)


def build(source: Path, output: Path) -> int:
    """Build the book in `source` into `output`; return the exit status."""
    started = time.monotonic()
    state = fingerprint(*inputs(source))
    stamp = output / FINGERPRINT
    if stamp.is_file() and stamp.read_text() == state:
        print(f"Nothing changed since the last build: {output}")
        return 0
    if source == ROOT and not write_demo_states(source):
        print(f"{DEMO.name} failed, so the book was not built.", file=sys.stderr)
        return 1
    output.parent.mkdir(parents=True, exist_ok=True)
    # beside the output, on the same disk: moving it there is then one step
    with tempfile.TemporaryDirectory(prefix=".building-", dir=output.parent) as scratch:
        set_environment(source, Path(scratch))
        site = Path(scratch) / "html"
        if not run_jupyter_book(source, site):
            print(f"The book was not built; {output} is as it was before.", file=sys.stderr)
            return 1
        (site / FINGERPRINT).write_text(state)
        replace(site, output)
    print(f"Built {output} in {time.monotonic() - started:.0f} s.")
    return 0


def main() -> int:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(description="Build the book strictly.")
    parser.add_argument("--source", type=Path, default=ROOT, help="folder of the book")
    parser.add_argument("--output", type=Path, help="folder of the site: SOURCE/_build/html")
    arguments = parser.parse_args()
    source = arguments.source.resolve()
    output = arguments.output or source / "_build" / "html"
    return build(source, output.resolve())


if __name__ == "__main__":
    sys.exit(main())
