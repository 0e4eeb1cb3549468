"""Run a script as `python3 NAME ARGUMENTS` does, in a Python that has no processes.

A page hands this file to the Python that it loaded (`page_python`).
"""

import contextlib
import io
import shlex
import sys
import traceback
from typing import Any


def run(source: str, name: str, arguments: str) -> tuple[str, int]:
    """Return what a script prints, on either stream, and the exit status.

    Parameters
    ----------
    source
        The text of the script.
    name
        What it is called: in a traceback and in its own help.
    arguments
        What a shell would part into words.
    """
    printed = io.StringIO()
    status: Any = 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            sys.argv = [name, *split(arguments)]
            exec(compile(source, name, "exec"), {"__name__": "__main__"})  # noqa: S102 (its purpose)
        except SystemExit as leaving:
            status = leaving.code
        except Exception:
            traceback.print_exc()
            status = 1
    if isinstance(status, str):  # sys.exit("why")
        return f"{printed.getvalue()}{status}\n", 1
    return printed.getvalue(), status or 0


def split(arguments: str) -> list[str]:
    """Part a line into words as a shell does, or leave with what is wrong about it."""
    try:
        return shlex.split(arguments)
    except ValueError as error:
        sys.exit(f"the arguments cannot be parted into words: {error}")
