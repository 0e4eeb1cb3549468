"""Build the book strictly: `python tools/build_book.py [--source DIR] [--output DIR]`.

A warning, a raising cell or a reference that leads nowhere fails the build, every time: a build
starts from an empty folder, since an incremental one does not repeat the warnings of pages that it
does not read again. The site is built beside its place and moved there when it is complete, so a
failed or interrupted build leaves the last good site, and no half one. Nothing is done when
nothing changed since the last good build, and nothing is replaced but a site of this tool.

`--source` builds another folder (its own `_toc.yml` and pages) with this repository's
configuration, package and look.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from failures import FULL_DISK, is_full

if sys.platform != "win32":
    import fcntl

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "elmo_toy"
DEMO = PACKAGE / "elmo_scalar_mix_demo.py"
DEMO_STATES = Path("book") / "_generated" / "elmo_scalar_mix_states.json"
# What the look and the behaviour of every book depend on, whichever folder it stands in.
SHARED = (PACKAGE, ROOT / "tools", ROOT / "book" / "_static", ROOT / "_config.yml")
# What runs the notebooks and builds the pages; a book of a test stands without them.
REQUIREMENTS = (ROOT / "requirements.txt", ROOT / "notebooks" / "requirements.txt")
CONTENTS = "_toc.yml"
FINGERPRINT = ".fingerprint"
SCRATCH = ".building-"
# Folders of a source that hold no input: they are generated, or belong to a tool.
NO_INPUT = {"_build", "_generated", "__pycache__"}

# The name that a line of a requirements file begins with; options and comments have none.
DISTRIBUTION = re.compile(r"[A-Za-z0-9][\w.-]*")

# What a cell prints is sent when the cell ends, or before a figure: sent in pieces, as a slow
# machine does every fifth of a second, a line would be broken where two pieces meet.
KERNEL_SETTINGS = """\
import ipykernel.iostream
ipykernel.iostream.OutStream.flush_interval = 3600
get_config().IPKernelApp.log_level = 40
"""


def files_below(path: Path) -> Iterator[Path]:
    """Yield the files that can change a build, in a fixed order."""
    if path.is_file():
        yield path
    elif path.is_dir():
        for child in sorted(path.iterdir()):
            generated = child.name in NO_INPUT or (child / FINGERPRINT).exists()
            if not generated and not child.name.startswith("."):
                yield from files_below(child)


def versions(*requirements: Path) -> list[str]:
    """Return the installed versions of what the files require, and of what that brings along.

    Not of all that is installed: JupyterLab or the tests' tools, installed later, change no page.
    """
    wanted = [
        line
        for file in requirements
        if file.is_file()
        for line in file.read_text("utf-8").splitlines()
        if DISTRIBUTION.match(line)
    ]
    found: dict[str, str] = {}
    while wanted:
        name = canonical(wanted.pop())
        if name in found:
            continue
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:  # for another system, say
            found[name] = "none"
            continue
        found[name] = distribution.version
        wanted += [line for line in distribution.requires or [] if "extra ==" not in line]
    return sorted(f"{name}=={version}" for name, version in found.items())


def canonical(requirement: str) -> str:
    """Return the name in a requirement, as names are compared.

    >>> canonical("Sphinx_Design>=0.6; python_version > '3'")
    'sphinx-design'
    """
    name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def fingerprint(*paths: Path) -> str:
    """Return a hash of names and contents below `paths`, and of the versions that matter."""
    digest = hashlib.sha256(sys.version.encode())
    for version in versions(*REQUIREMENTS):
        digest.update(f"{version}\n".encode())
    for path in paths:
        for file in files_below(path.resolve()):
            digest.update(f"{file.relative_to(path.resolve().parent)}\n".encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def inputs(source: Path) -> list[Path]:
    """Return what a build of `source` depends on."""
    if source == ROOT:  # and not its tests, its README and so on
        return [ROOT / CONTENTS, ROOT / "book", ROOT / "notebooks", *SHARED]
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
        if folder != current or not is_whole(folder):
            shutil.rmtree(folder)
    current.mkdir(exist_ok=True)
    return current


def is_whole(cache: Path) -> bool:
    """Say whether every executed notebook that the cache lists can be read.

    One is listed first and written then: a full disk leaves half of it, and so does a killed build.
    """
    database = cache / "global.db"
    if not database.exists():
        return not any(cache.iterdir())
    try:
        with closing(sqlite3.connect(database)) as connection:
            for (key,) in connection.execute("SELECT hashkey FROM nbcache").fetchall():
                json.loads((cache / "executed" / key / "base.ipynb").read_bytes())
    except (OSError, ValueError, sqlite3.Error):
        return False
    return True


def write_demo_states(source: Path) -> bool:
    """Run the stand-alone script for the file of states that the book offers beside it."""
    target = source / DEMO_STATES
    target.parent.mkdir(exist_ok=True)
    command = [sys.executable, str(DEMO), "--json", str(target)]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def home_for(source: Path) -> Path:
    """Return the user's home, or a folder in its place where nobody can write there.

    Matplotlib and Jupyter keep files there, and what they say where they cannot is on every page.
    """
    named = os.environ.get("HOME")
    if named and os.access(named, os.W_OK):
        return Path(named)
    home = source / ".cache" / "home"
    home.mkdir(parents=True, exist_ok=True)
    return home


def build_environment(source: Path, scratch: Path) -> dict[str, str]:
    """Return what the build and the notebooks' kernels read from the environment."""
    temporary = scratch / "tmp"
    temporary.mkdir()
    # a profile of the kernels' own: nobody's start-up files, and no warnings about the debugger or
    # about the kernel's connection, which stays on this machine
    profile = scratch / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_kernel_config.py").write_text(KERNEL_SETTINGS)
    python_path = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        # this repository's package, whatever is installed
        "PYTHONPATH": f"{ROOT}{os.pathsep}{python_path}" if python_path else str(ROOT),
        "ELMO_EXECUTION_CACHE": str(execution_cache(source)),
        # one thread: sums in the same order, so the same last digits, on every machine
        "OPENBLAS_NUM_THREADS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "HOME": str(home_for(source)),
        "IPYTHONDIR": str(profile.parent),
        # what is killed leaves its files there, as a kernel that of its connection
        "TMPDIR": str(temporary),
    }


def run_jupyter_book(source: Path, site: Path, scratch: Path) -> bool:
    """Build `source` into `site`; say whether all went well.

    In a process of its own: nbclient, which runs the notebooks, puts its own handlers for signals
    in place and takes them away again, so that process would not end in order when it is told to.
    Its standard input ends when this process does, however that ends, and it ends with it.
    """
    command = [
        *(sys.executable, str(ROOT / "tools" / "run_jupyter_book.py")),
        *(str(source / CONTENTS), str(ROOT / "_config.yml"), str(site)),
    ]
    environment = build_environment(source, scratch)
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE) as process:
        try:
            return process.wait() == 0
        except BaseException:
            process.kill()
            raise


def replace(site: Path, output: Path) -> None:
    """Move the finished site to its place."""
    old = site.with_name("old")
    try:
        if output.exists():
            output.rename(old)
        site.rename(output)
    finally:
        if old.exists() and not output.exists():  # stopped between the two
            old.rename(output)


@contextmanager
def only_build_in(folder: Path) -> Iterator[None]:
    """Wait until no other build works in `folder`; remove what an interrupted one left there."""
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":  # which locks no folder
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        # the lock ends with its process, however that ends
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"Waiting for another build in {folder}.", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        for leftover in folder.glob(f"{SCRATCH}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        yield
    finally:
        os.close(handle)


def refusal(source: Path, output: Path) -> str | None:
    """Say why `source` cannot be built into `output`; None when it can."""
    if not (source / CONTENTS).is_file():
        return f"{source} has no file {CONTENTS}, which lists the pages of a book."
    if output.exists() and not output.is_dir():
        return f"{output} is a file; the site needs a folder of its own."
    if output.is_dir() and any(output.iterdir()) and not (output / FINGERPRINT).is_file():
        return (
            f"{output} holds files that no build of a book made, so it is not replaced: "
            "empty it, or name another folder with --output."
        )
    return None


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
    # beside the output, on the same disk: moving it there is then one step
    with tempfile.TemporaryDirectory(
        prefix=SCRATCH, dir=output.parent, ignore_cleanup_errors=True
    ) as scratch:
        site = Path(scratch) / "html"
        if not run_jupyter_book(source, site, Path(scratch)):
            if is_full(Path(scratch)):
                print(f"{output.parent}: {FULL_DISK}", file=sys.stderr)
            else:
                keep_tracebacks(Path(scratch))
            print(f"The book was not built; {output} is as it was before.", file=sys.stderr)
            return 1
        (site / FINGERPRINT).write_text(state)
        replace(site, output)
    print(f"Built {output} in {time.monotonic() - started:.0f} s.")
    return 0


def keep_tracebacks(scratch: Path) -> None:
    """Keep what Sphinx has written about a failure, and named, from being removed."""
    for log in scratch.glob("tmp/sphinx-err-*.log"):
        kept = shutil.copy(log, tempfile.gettempdir())
        print(f"The full traceback was moved to {kept}", file=sys.stderr)


def stop(number: int, _frame: object) -> None:
    """Leave in order on a signal: running programs are ended and temporary files removed."""
    sys.exit(128 + number)


def main() -> int:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(description="Build the book strictly.")
    parser.add_argument("--source", type=Path, default=ROOT, help="folder of the book")
    parser.add_argument("--output", type=Path, help="folder of the site: SOURCE/_build/html")
    arguments = parser.parse_args()
    source = arguments.source.resolve()
    output = (arguments.output or source / "_build" / "html").resolve()
    if problem := refusal(source, output):
        print(problem, file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        with only_build_in(output.parent):
            return build(source, output)
    except OSError as error:  # a full disk, a folder of somebody else's
        print(f"{error}\nThe book was not built; {output} is as it was before.", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
