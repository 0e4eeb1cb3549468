"""How a script is run for a page, tried in this Python; the rest is tried in a browser."""

import gzip
import json
from base64 import b64decode
from pathlib import Path
from types import SimpleNamespace

import pytest
from book_site import page_python
from book_site.page_python_run import run
from npm_packages import PACKAGES, package_directory
from sphinx.errors import ExtensionError


@pytest.mark.parametrize(
    ("source", "printed", "status"),
    [
        ("import sys; print(sys.argv)", "['a.py', '-x', 'two words']\n", 0),
        ("print(__name__); import sys; print('late', file=sys.stderr)", "__main__\nlate\n", 0),
        ("import sys; print(1); sys.exit(3)", "1\n", 3),
        ("import sys; sys.exit()", "", 0),
        ("import sys; sys.exit('why')", "why\n", 1),
    ],
)
def test_a_script_s_output_and_status(source: str, printed: str, status: int) -> None:
    assert run(source, "a.py", "-x 'two words'") == (printed, status)


def test_what_goes_wrong_is_printed_as_python_does() -> None:
    printed, status = run("x = 1\n1 / 0\n", "a.py", "")
    assert status == 1
    assert printed.startswith("Traceback (most recent call last):\n")
    assert 'File "a.py", line 2, in <module>' in printed
    assert printed.endswith("ZeroDivisionError: division by zero\n")
    assert "SyntaxError" in run("x =", "a.py", "")[0]
    message = "the arguments cannot be parted into words: No closing quotation\n"
    assert run("print(1)", "a.py", "'") == (message, 1)


@pytest.fixture(autouse=True)
def _same_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["pytest"])


def test_the_scripts_hold_the_package_s_files() -> None:
    files = dict(page_python.loaded_files())
    package = package_directory("pyodide")
    for name in page_python.SCRIPTS:
        assert files.pop(name) == (package / name).read_bytes()
    parts = []
    for number, text in enumerate(files.values()):
        head = f"(globalThis.ElmoPython??=[])[{number}]=".encode()
        assert text.startswith(head)
        parts.append(json.loads(text.removeprefix(head).removesuffix(b";\n")))
    content = gzip.decompress(b64decode("".join(parts)))
    for name, size in page_python.about()["unpacked"].items():
        assert content[:size] == (package / name).read_bytes()
        content = content[size:]
    assert content == b""
    assert PACKAGES["pyodide"].version in page_python.LICENCE.read_text("utf-8")


def test_the_size_is_said_beforehand_and_no_more_is_loaded() -> None:
    about = page_python.about()
    files = page_python.loaded_files()
    assert about["files"] == list(files)
    assert about["size"] == f"{sum(map(len, files.values())) / 1e6:.1f} MB"
    assert float(about["sent"].split()[0]) < float(about["size"].split()[0]) < 10
    assert about["lock"]["packages"] == {}


def test_only_a_site_with_a_page_for_it_gets_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html"))
    monkeypatch.setattr(page_python, "loaded_files", lambda: {"part-0.js": b"1;\n"})
    (tmp_path / "_static").mkdir()
    (tmp_path / "page.html").write_text("<p>nothing here</p>")
    page_python.write_python(app, None)
    assert not (tmp_path / "_static" / "pyodide").exists()
    (tmp_path / "page.html").write_text("<elmo-python></elmo-python>")
    page_python.write_python(app, RuntimeError())
    assert not (tmp_path / "_static" / "pyodide").exists()
    page_python.write_python(app, None)
    names = sorted(file.name for file in (tmp_path / "_static" / "pyodide").iterdir())
    assert names == ["LICENCE.txt", "part-0.js"]


def test_without_a_network_the_build_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Sphinx does not expect it would call a mistake of its own, and ask for a report."""

    def fetch(_: str) -> Path:
        raise RuntimeError("npm could not fetch pyodide: no host could be reached.")

    monkeypatch.setattr(page_python.npm_packages, "package_directory", fetch)
    page_python.about.cache_clear()
    with pytest.raises(ExtensionError, match="npm could not fetch pyodide: no host"):
        page_python.RunHere.run(SimpleNamespace())
