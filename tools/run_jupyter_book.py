"""What build_book.py runs: `python tools/run_jupyter_book.py CONTENTS CONFIGURATION SITE`.

Does what `jupyter-book build -n -W --keep-going --all` does with the folder of CONTENTS, but with
a configuration from another folder. Ends when its standard input does.
"""

import os
import sys
import threading
from pathlib import Path

import npm_packages
from jupyter_book.sphinx import build_sphinx
from sphinx.util.console import nocolor


def end_with_parent() -> None:
    """End this process, whatever it does, when the one that holds its standard input ends.

    Killed, that one could not end it, and the next build would find it still writing.
    """
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def main(contents: str, configuration: str, site: str) -> int:
    """Build the site strictly; return the exit status."""
    try:
        npm_packages.package_directory("katex")  # here, or Sphinx would wrap up what it says
    except (RuntimeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    if not sys.stdout.isatty():
        nocolor()
    overrides = {
        "external_toc_path": contents,
        "latex_individualpages": False,
        "nitpicky": True,
    }
    result = build_sphinx(
        Path(contents).parent,
        Path(site),
        noconfig=True,
        path_config=Path(configuration),
        confoverrides=overrides,
        freshenv=True,
        warningiserror=True,
        keep_going=True,
    )
    return int(result != 0)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    sys.exit(main(*sys.argv[1:]))
