"""Check an EPUB with EPUBCheck: `python tools/epubcheck.py [--install] [FILE.epub]`.

EPUBCheck is a Java program; Debian and Ubuntu have it as a package. With `--install` it is
installed from there, as root, where it is missing; where that is not possible, it is said how, and
that is no failure unless there is a file to check.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from failures import explained, install_quietly

PACKAGED = Path("/usr/share/java/epubcheck.jar")
ADVICE = (
    "EPUBCheck was not found. Install it (Debian and Ubuntu: apt-get install epubcheck), or name "
    "its file in the environment: ELMO_EPUBCHECK=/path/to/epubcheck.jar; it needs Java."
)


def find_epubcheck() -> Path | None:
    """Return the program's file, or None where it or Java is missing."""
    jar = Path(os.environ.get("ELMO_EPUBCHECK") or PACKAGED)
    return jar if jar.is_file() and shutil.which("java") else None


def install_epubcheck() -> None:
    """Install it where that can be done without asking."""
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        install = "apt-get update -qq && apt-get install -y -qq --no-install-recommends epubcheck"
        print(f"Installing EPUBCheck: {install}", file=sys.stderr)
        done = install_quietly(["sh", "-c", install])
        if done.returncode != 0:
            print(explained("apt-get did not install EPUBCheck", done.stdout), file=sys.stderr)


def epubcheck(jar: Path, file: Path) -> subprocess.CompletedProcess[str]:
    """Check `file`; warnings fail it too. What was found is in ``stdout``."""
    # without the optimising compiler, which takes longer than the check
    command = ["java", "-XX:TieredStopAtLevel=1", "-jar", str(jar), "--failonwarnings", str(file)]
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def main() -> int:
    """Install it, check a file, or both."""
    parser = argparse.ArgumentParser(description="Check an EPUB with EPUBCheck.")
    parser.add_argument("--install", action="store_true", help="install EPUBCheck if it is missing")
    parser.add_argument("file", nargs="?", type=Path, help="the EPUB to check")
    arguments = parser.parse_args()
    if arguments.install and find_epubcheck() is None:
        install_epubcheck()
    jar = find_epubcheck()
    if jar is None:
        print(ADVICE, file=sys.stderr)
        return 2 if arguments.file else 0
    if arguments.file is None:
        print(jar)
        return 0
    done = epubcheck(jar, arguments.file)
    print(done.stdout, end="")
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
