"""The environment that Binder gives the notebooks, made on this machine, without Docker.

    python tools/binder_environment.py      make it, where it is not there yet; print its Python

Binder's repo2docker turns ``.binder/`` into a Dockerfile. Its one line for pip is read from there
and run in a new virtual environment, from a copy of what the repository holds. Nothing of this
checkout is on the path of that Python: it has the package as a wheel, as Colab or a hub has it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from build_book import fingerprint
from failures import explained

if sys.platform != "win32":
    import fcntl

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".cache" / "binder"
STAMP = "fingerprint"
#: What the environment depends on.
SOURCES = (
    *(".binder", "notebooks/requirements.txt", "tools/constraints.txt"),
    *("pyproject.toml", "README.md", "LICENSE", "elmo_toy"),
)
NOT_COPIED = ("_build", "_generated", ".venv", ".cache", "__pycache__", "*.egg-info")
PIP_LINE = re.compile(r"^RUN \$\{KERNEL_PYTHON_PREFIX\}/bin/pip install (.+)$", re.MULTILINE)


class BinderError(RuntimeError):
    """What Binder would do cannot be found out, or does not work."""


def copy_repository(target: Path, root: Path = ROOT) -> None:
    """Copy what the repository holds, as a clone has it: nothing that was built or installed."""
    if not ((root / ".git").exists() and shutil.which("git")):
        shutil.copytree(root, target, ignore=shutil.ignore_patterns(*NOT_COPIED))
        return
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():  # and not one that was removed
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, target / name)


def dockerfile(repository: Path) -> str:
    """Return the Dockerfile that repo2docker makes for a repository.

    Raises
    ------
    BinderError
        with repo2docker's own words, where it refuses.
    """
    done = subprocess.run(
        [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(repository)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BinderError(f"repo2docker makes no Dockerfile of {repository}:\n{done.stderr}")
    return done.stdout


def pip_arguments(text: str) -> list[str]:
    r"""Return what the Dockerfile has pip install, without the advice to keep no downloads.

    >>> pip_arguments('RUN ${KERNEL_PYTHON_PREFIX}/bin/pip install --no-cache-dir -r "a b.txt"\n')
    ['-r', 'a b.txt']
    """
    lines = PIP_LINE.findall(text)
    if len(lines) != 1:
        raise BinderError(f"the Dockerfile should have one line for pip, it has {len(lines)}")
    return [word for word in shlex.split(lines[0]) if word != "--no-cache-dir"]


def python_of(environment: Path) -> Path:
    """Return the path of an environment's Python."""
    windows = sys.platform == "win32"
    return environment / ("Scripts/python.exe" if windows else "bin/python")


def make(environment: Path) -> None:
    """Run the Dockerfile's line for pip in a new environment, from a copy of the repository."""
    with tempfile.TemporaryDirectory() as scratch:
        repository = Path(scratch) / "repository"
        copy_repository(repository)
        arguments = pip_arguments(dockerfile(repository))
        venv.create(environment, clear=True, with_pip=True)
        done = subprocess.run(
            [
                *(str(python_of(environment)), "-m", "pip", "install", "--quiet"),
                *("--disable-pip-version-check", *arguments),
            ],
            cwd=repository,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        shutil.rmtree(environment)
        raise BinderError(
            explained("pip could not install what .binder/requirements.txt names", done.stderr)
        )


@contextmanager
def one_at_a_time(environment: Path) -> Iterator[None]:
    """Wait until no other process makes it, as one that checks which failed have left."""
    environment.parent.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":  # which locks no folder
        yield
        return
    folder = os.open(environment.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # it ends with its process, however that ends
        yield
    finally:
        os.close(folder)


def main() -> int:
    """Make the environment unless it is as it should be; print the path of its Python."""
    state = fingerprint(*(ROOT / source for source in SOURCES))
    stamp = ENVIRONMENT / STAMP
    with one_at_a_time(ENVIRONMENT):
        if not stamp.is_file() or stamp.read_text() != state:
            stamp.unlink(missing_ok=True)  # what is killed half-way does not look whole
            try:
                make(ENVIRONMENT)
                stamp.write_text(state)
            except (BinderError, OSError, subprocess.CalledProcessError) as error:
                print(error, file=sys.stderr)
                return 1
    print(python_of(ENVIRONMENT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
