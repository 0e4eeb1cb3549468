"""Is this machine ready for the seminar? One line for each thing, and what to do about it.

    python -m elmo_toy.check

The status is 0 if everything is there and 1 otherwise. It has to give its advice where numpy is
missing or Python is old, so nothing but the standard library is imported before it is tried, and
the syntax is that of Python 3.8.

Book: chapter 3, "A head that reads the vectors".
"""

import importlib
import importlib.util
import platform
import sys
import tempfile

OLDEST, TOO_NEW = (3, 11), (3, 14)  # as pyproject.toml has it; the tests hold the two together
NUMPY = 2  # the major version
NUMBER = 0.420337  # the mean loss of the worked example's default state
NOTEBOOKS = ("ipykernel", "ipywidgets", "matplotlib", "h5py", "sympy")
INSTALL = "in the folder of the book, python -m pip install -r requirements.txt"


class Item:
    """One line of the report: what was looked at, whether it is well, what was found or to do."""

    def __init__(self, name: str, ready: bool, text: str) -> None:
        self.name, self.ready, self.text = name, ready, text

    def __str__(self) -> str:
        return "{:4} {}: {}".format("ok" if self.ready else "FAIL", self.name, self.text)


def python(version: "tuple[int, ...]" = tuple(sys.version_info[:3])) -> Item:
    """The version of Python.

    >>> print(python((3, 8, 10)))
    FAIL Python: 3.8.10, needed 3.11 to 3.13: install one of these, or use the site or Binder
    """
    text = ".".join(str(part) for part in version)
    if OLDEST <= tuple(version[:2]) < TOO_NEW:
        return Item("Python", True, f"{text} on {platform.system()}")
    wanted = "{}.{} to {}.{}".format(*OLDEST, TOO_NEW[0], TOO_NEW[1] - 1)
    advice = "install one of these, or use the site or Binder"
    return Item("Python", False, f"{text}, needed {wanted}: {advice}")


def numpy() -> Item:
    """Whether numpy is there, and new enough."""
    try:
        version = importlib.import_module("numpy").__version__
    except Exception as error:  # a broken numpy raises all kinds of things
        return Item("numpy", False, f"{_first_line(error)}: {INSTALL}")
    if int(version.partition(".")[0]) < NUMPY:
        advice = f'python -m pip install --upgrade "numpy>={NUMPY}"'
        return Item("numpy", False, f"{version}, needed {NUMPY} or newer: {advice}")
    return Item("numpy", True, version)


def number() -> Item:
    """Whether the package computes the one number that everybody in the room should have."""
    name = "elmo_toy"
    try:
        example = importlib.import_module("elmo_toy.worked_example")
        found = float(example.state().forward.loss)
    except ModuleNotFoundError as error:
        return Item(name, False, f"waits for {error.name}")
    except Exception as error:  # whatever is wrong, the advice is the same
        return Item(name, False, f"{_first_line(error)}: {INSTALL}")
    if abs(found - NUMBER) < 5e-7:
        return Item(name, True, f"computes {found:.6f}, as it should")
    advice = "you have changed the package, or it is another version: install it anew"
    return Item(name, False, f"computes {found:.6f}, expected {NUMBER}: {advice}")


def notebooks() -> Item:
    """Whether the packages are there that the notebooks need."""
    missing = [name for name in NOTEBOOKS if importlib.util.find_spec(name) is None]
    if missing:
        return Item("notebooks", False, "without {}: {}".format(", ".join(missing), INSTALL))
    return Item("notebooks", True, ", ".join(NOTEBOOKS))


def folder(path: str = ".") -> Item:
    """Whether this folder can be written to, as notebooks and homework have to be."""
    try:
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        advice = "change to a folder of your own"
        return Item("folder", False, f"{_first_line(error)}: {advice}")
    return Item("folder", True, "can be written to")


def _first_line(error: Exception) -> str:
    return ": ".join([type(error).__name__, *str(error).splitlines()[:1]])


def report() -> "list[Item]":
    """Look at everything.

    >>> [item.name for item in report()]
    ['Python', 'numpy', 'elmo_toy', 'notebooks', 'folder']
    """
    return [python(), numpy(), number(), notebooks(), folder()]


def main() -> int:
    """Print the report and a last line; return the exit status."""
    items = report()
    for item in items:
        print(item)
    if all(item.ready for item in items):
        print("ready")
        return 0
    print("not ready: do what the lines with FAIL say. Until then the site, which needs no Python,")
    print("has all of the book: reading, explorers, quizzes.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
