"""`make` installs what it needs or says in a sentence why not; what is half installed is known.

With one wheel, made here, in place of the book's requirements, and a Python whose virtual
environments have the pip of the tests: the real ones take minutes.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pip
import pytest
from machine import (
    REPOSITORY,
    as_nobody,
    give_away,
    odd_folder,
    offline,
    read_only_home,
    run,
    small_disk,
)

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")

NO_NETWORK = (
    "pip could not install requirements.txt: no host could be reached. "
    "A network is needed the first time; what it brought is kept."
)
FULL_DISK = "the disk is full. Make room on it, then start again."
AGAIN = "The last installation was not finished, so .venv is made anew."

# What the repository's setuptools does for pip. Told to, it waits: a test ends it half-way.
BACKEND = """\
import shutil, time
from pathlib import Path

def build_editable(folder, config_settings=None, metadata_directory=None):
    Path("started").touch()
    while Path("wait").exists():
        time.sleep(0.05)
    return shutil.copy("wheels/miniature_project-1-py3-none-any.whl", folder).rpartition("/")[2]
"""
PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "miniature-project"
version = "1"
"""
PYTHON = """\
#!/bin/sh
if [ "$1 $2" = "-m venv" ]; then
    "{python}" -m venv --without-pip "$3" && echo "{pip}" >"$3"/lib/{version}/site-packages/pip.pth
else
    exec "{python}" "$@"
fi
"""


def make_wheel(folder: Path, name: str, content: bytes) -> None:
    """Write a wheel of version 1 that installs one file."""
    files = {
        f"{name}.bin": content,
        f"{name}-1.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
        f"{name}-1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any",
    }
    record = ""
    with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for file, text in files.items():
            data = text.encode() if isinstance(text, str) else text
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            record += f"{file},sha256={digest},{len(data)}\n"
            wheel.writestr(file, data)
        wheel.writestr(f"{name}-1.dist-info/RECORD", f"{record}{name}-1.dist-info/RECORD,,\n")


def write_checkout(folder: Path) -> None:
    """Write what `make environment-book` reads, and a folder of wheels."""
    for name in ("tools", "notebooks", "tests", "wheels", "programs", "pip"):
        (folder / name).mkdir(parents=True)
    for name in ("Makefile", "tools/environment.sh", "tools/failures.py"):
        shutil.copy(REPOSITORY / name, folder / name)
    for name in ("notebooks/requirements.txt", "tests/requirements.txt", "tools/constraints.txt"):
        (folder / name).touch()
    (folder / "requirements.txt").write_text("miniature-wheel==1\n")
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "backend.py").write_text(BACKEND)
    make_wheel(folder / "wheels", "miniature_wheel", bytes(2 << 20))
    make_wheel(folder / "wheels", "miniature_project", b"")
    (folder / "pip" / "pip").symlink_to(Path(pip.__file__).parent)


def write_python(folder: Path, script: str | None = None, *, place: Path | None = None) -> None:
    """Write the program `python3` of a machine: this one's, or a shell script.

    `place` is where that machine finds `folder`.
    """
    script = script or PYTHON.format(
        python=sys.executable,
        pip=(place or folder) / "pip",
        version=f"python{sys.version_info.major}.{sys.version_info.minor}",
    )
    (folder / "programs" / "python3").write_text(script)
    (folder / "programs" / "python3").chmod(0o755)


def variables(folder: Path, home: Path, *, wheels: bool = True) -> dict[str, str]:
    """Return the environment of a shell on that machine."""
    found = {
        "PATH": f"{folder / 'programs'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }
    if wheels:
        found |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "wheels"}
    return found


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines on standard error but for make's own."""
    return [line for line in done.stderr.splitlines() if not line.startswith("make: ")]


def stamps(folder: Path) -> list[str]:
    """Return which stamps say that all is installed."""
    return [path.name for path in (folder / ".venv").glob("installed-*")]


@pytest.fixture
def checkout() -> Iterator[Path]:
    """Return the checkout of an ordinary user whose home is read-only, in an odd place."""
    with odd_folder() as folder:
        write_checkout(folder / "elmo")
        write_python(folder / "elmo")
        give_away(folder / "elmo")
        yield folder / "elmo"


def test_without_network_then_with_a_folder_of_wheels(checkout: Path) -> None:
    home = read_only_home(checkout.parent)
    command, prefix = ("make", "environment-book"), (*offline(), *as_nobody())
    failed = run(command, checkout, variables(checkout, home, wheels=False), prefix=prefix)
    assert failed.returncode != 0
    assert said(failed) == [NO_NETWORK]
    assert stamps(checkout) == []
    assert not (checkout / ".venv" / "unfinished").exists(), "nothing was changed"

    environment = variables(checkout, home)
    done = run(command, checkout, environment, prefix=prefix)
    assert done.returncode == 0, done.stderr
    assert AGAIN not in done.stdout
    assert len(stamps(checkout)) == 1
    assert list(checkout.glob(".venv/lib/*/site-packages/miniature_wheel.bin"))
    again = run(command, checkout, environment, prefix=prefix)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda one: one.name)
def test_interrupted_half_way_and_started_again(checkout: Path, number: signal.Signals) -> None:
    home = read_only_home(checkout.parent)
    command, environment = ("make", "environment-book"), variables(checkout, home)
    (checkout / "wait").touch()
    # a shell's background job, as these tests may be, hands on that SIGINT is ignored
    interruptible = ("env", "--default-signal=INT")
    with subprocess.Popen(
        [*as_nobody(), *interruptible, *command],
        cwd=checkout,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            limit = time.monotonic() + 120
            while not (checkout / "started").exists():
                assert process.poll() is None
                assert time.monotonic() < limit, "pip did not come to the project"
                time.sleep(0.05)
            os.killpg(process.pid, number)
            process.wait(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode != 0
    assert list(checkout.glob(".venv/lib/*/site-packages/miniature_wheel.bin"))
    assert stamps(checkout) == []

    (checkout / "wait").unlink()
    done = run(command, checkout, environment, prefix=as_nobody())
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == AGAIN
    assert len(stamps(checkout)) == 1
    assert not (checkout / ".venv" / "unfinished").exists()


def test_a_full_disk_then_a_larger_one(tmp_path: Path) -> None:
    home = read_only_home(tmp_path)
    command = ("make", "--directory=elmo", "--no-print-directory", "environment-book")
    with small_disk("8m") as disk:
        elmo, place = disk.seen_from_here / "elmo", disk.folder / "elmo"
        write_checkout(elmo)
        write_python(elmo, place=place)
        environment = variables(place, home)

        used = shutil.disk_usage(elmo).used
        disk.resize(f"{used + 8192}")  # too small for the virtual environment
        failed = run(command, tmp_path, environment, prefix=disk.prefix)
        assert failed.returncode != 0
        assert said(failed) == [f"The virtual environment was not made: {FULL_DISK}"]
        assert not (elmo / ".venv").exists()

        disk.resize(f"{used + (1 << 20)}")  # too small for the wheel's file
        failed = run(command, tmp_path, environment, prefix=disk.prefix)
        assert failed.returncode != 0
        assert said(failed) == [f"pip could not install requirements.txt: {FULL_DISK}"]
        assert stamps(elmo) == []

        disk.resize("16m")
        done = run(command, tmp_path, environment, prefix=disk.prefix)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[0] == AGAIN
        assert len(stamps(elmo)) == 1


@pytest.mark.parametrize(
    ("python", "sentence"),
    [
        (
            '[ "$1" = --version ] && echo "Python 3.8.19" || exit 1',
            "Python 3.11, 3.12 or 3.13 is needed; found: Python 3.8.19.",
        ),
        (
            'case $2 in *ensurepip*) exit 1 ;; esac; echo "Python 3.11.2"',
            "python3 cannot make a virtual environment: it has no module venv or ensurepip.",
        ),
    ],
    ids=["old", "without ensurepip"],
)
@pytest.mark.parametrize("target", ["book", "test"])
def test_a_python_that_does_not_do(tmp_path: Path, python: str, sentence: str, target: str) -> None:
    """Whatever is asked of make, it ends there, and each sentence is followed by what to do."""
    folder = tmp_path / "elmo"
    write_checkout(folder)
    for name in ("sh", "make", "dirname"):  # and no other Python
        (folder / "programs" / name).symlink_to(str(shutil.which(name)))
    write_python(folder, f"#!/bin/sh\n{python}\n")
    environment = {"PATH": str(folder / "programs")}
    done = run(("make", target), folder, environment)
    assert done.returncode != 0
    [first, second] = said(done)
    assert first == sentence
    assert "nstall" in second
    assert done.stdout == ""
    assert not (folder / ".venv").exists()
    assert not (folder / "_build").exists()


def test_a_checkout_of_somebody_else(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("takes root, who owns the checkout")
    with odd_folder() as folder:
        write_checkout(folder / "elmo")
        write_python(folder / "elmo")
        environment = variables(folder / "elmo", read_only_home(folder))
        done = run(("make", "book"), folder / "elmo", environment, prefix=as_nobody())
        assert done.returncode != 0
        assert said(done) == [
            f"Nothing can be written in {folder / 'elmo'}: "
            "use a copy of the repository that is yours."
        ]
        assert not (folder / "elmo" / ".venv").exists()


APT_WITHOUT_NETWORK = """\
#!/bin/sh
[ "$1" = update ] && echo "W: Failed to fetch http://deb.debian.org/debian/dists/bookworm/InRelease\\
  Temporary failure resolving 'deb.debian.org'" && exit 0
echo "Reading package lists..."
echo "E: Unable to locate package make"
exit 100
"""


@pytest.mark.parametrize("apt", [None, APT_WITHOUT_NETWORK], ids=["none", "without network"])
def test_the_script_of_a_fresh_machine_names_what_is_missing(
    tmp_path: Path, apt: str | None
) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(REPOSITORY / ".ci" / "run", tmp_path / ".ci")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "sh", "dirname"):
        (programs / name).symlink_to(str(shutil.which(name)))
    if apt:
        (programs / "apt-get").write_text(apt)
        (programs / "apt-get").chmod(0o755)
    done = run(("bash", ".ci/run"), tmp_path, {"PATH": str(programs)})
    assert done.returncode != 0
    assert done.stdout == ""
    [cause, sentence] = done.stderr.splitlines()
    assert "apt-get: command not found" in cause or cause == "E: Unable to locate package make"
    assert sentence.startswith(
        "Missing and not installed: make python3 python3-venv. Installing takes Debian or Ubuntu, "
        "root and a network;"
    )


def test_checks_have_a_home_to_write_to() -> None:
    with odd_folder() as folder:
        home = read_only_home(folder)
        (folder / "elmo" / "tools").mkdir(parents=True)
        shutil.copy(REPOSITORY / "tools" / "check.sh", folder / "elmo" / "tools")
        first = folder / "elmo" / ".venv" / "bin" / "ruff"
        first.parent.mkdir(parents=True)
        first.write_text('#!/bin/sh\n: >"$HOME/written" && echo "$HOME"\nexit 1\n')
        first.chmod(0o755)
        give_away(folder / "elmo")
        environment = {**os.environ, "HOME": str(home)}
        command = ("sh", "tools/check.sh")
        done = run(command, folder / "elmo", environment, prefix=as_nobody())
        assert done.returncode == 1
        assert done.stdout.splitlines()[-1] == str(folder / "elmo" / ".cache" / "home")
