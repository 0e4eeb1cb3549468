"""What is fetched or installed on the way to `make test`, on a machine without a network."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from machine import REPOSITORY, offline, run
from miniature import Miniature, copy_machinery
from npm_packages import PACKAGES

TOOLS = REPOSITORY / "tools"
REASON = "no host could be reached. A network is needed the first time; what it brought is kept."
NO_KATEX = f"npm could not fetch katex@{PACKAGES['katex'].version}: {REASON}\n"
APT = """\
#!/bin/sh
echo "W: Failed to fetch http://deb.debian.org/debian/dists/bookworm/InRelease\\
  Temporary failure resolving 'deb.debian.org'"
echo "E: Unable to locate package $5"
exit 100
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A machine with nothing but a shell (and `unshare`) and an apt-get that finds no network."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "unshare"):
        (programs / name).symlink_to(str(shutil.which(name)))
    (programs / "apt-get").write_text(APT)
    (programs / "apt-get").chmod(0o755)
    return {
        "PATH": str(programs),
        "HOME": str(tmp_path),
        "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "browsers"),
    }


def test_no_browser(tmp_path: Path, environment: dict[str, str]) -> None:
    command = (sys.executable, TOOLS / "browser.py", "--install")
    done = run(command, tmp_path, environment, prefix=offline())
    assert (done.returncode, done.stdout) == (1, "")
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Installing a ")]
    assert lines[-2:] == [
        f"Playwright installed no browser: {REASON}",
        next(line for line in lines if line.startswith("Tests and printing need Chromium")),
    ]
    # the first way, where root could go it
    assert lines[:-2] in ([], [f"apt-get installed no browser: {REASON}"])


def test_no_epubcheck_is_no_failure(tmp_path: Path, environment: dict[str, str]) -> None:
    environment["ELMO_EPUBCHECK"] = str(tmp_path / "missing.jar")
    done = run((sys.executable, TOOLS / "epubcheck.py", "--install"), tmp_path, environment)
    assert (done.returncode, done.stdout) == (0, "")
    *lines, advice = done.stderr.splitlines()
    assert advice.startswith("EPUBCheck was not found. Install it")
    assert lines[1:] in ([], [f"apt-get did not install EPUBCheck: {REASON}"])


def test_no_katex(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "tools").mkdir()
    for name in ("npm_packages.py", "failures.py"):
        shutil.copy(TOOLS / name, tmp_path / "tools")
    command = (sys.executable, "tools/npm_packages.py", "katex")
    done = run(command, tmp_path, environment, prefix=offline())
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == NO_KATEX
    assert list((tmp_path / ".cache" / "npm").iterdir()) == []


def test_no_katex_for_a_build(tmp_path: Path, environment: dict[str, str]) -> None:
    book = Miniature(tmp_path / "book", copy_machinery(tmp_path / "machinery"))
    book.write(book__index___md="# A miniature book\n")
    (book.machinery / ".cache" / "npm").unlink()
    command = (sys.executable, book.machinery / "tools" / "build_book.py", "--source", book.folder)
    done = run(command, tmp_path, environment, prefix=offline())
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"{NO_KATEX}The book was not built; {book.site.root} is as it was before.\n"
    )
    assert list((book.folder / "_build").iterdir()) == []
