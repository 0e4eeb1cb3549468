"""What build_book.py runs: `python tools/run_jupyter_book.py CONTENTS CONFIGURATION SITE`.

Does what `jupyter-book build -n -W --keep-going --all` does with the folder of CONTENTS, but with
a configuration from another folder.
"""

import sys
from pathlib import Path

from jupyter_book.sphinx import build_sphinx
from sphinx.util.console import nocolor


def main(contents: str, configuration: str, site: str) -> int:
    """Build the site strictly; return the exit status."""
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
    sys.exit(main(*sys.argv[1:]))
