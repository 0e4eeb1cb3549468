"""The archive: what a class without a network needs, in one zip.

The site, the notebooks, and the package as a wheel and as the stand-alone script. Packed twice from
one commit the archive has the same bytes.
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from .book import read_book
from .files import ROOT, PublishError, write_zip

# What builds leave in a site for themselves and for Sphinx; a reader has no use for it.
LEFT_OUT = {".fingerprint", ".buildinfo", ".nojekyll"}
PACKAGE_FILES = ("elmo_toy", "pyproject.toml", "README.md", "LICENSE")
BESIDE = (
    *("LICENSE", "LICENSE-text", "CITATION.cff"),
    *("notebooks/requirements.txt", "tools/constraints.txt"),
)

READ_ME = """{title}. {edition}

Read      Open index.html in a browser. That needs no server and no network.

Run       The notebooks are in the folder notebooks. With Python 3.11, 3.12 or 3.13, here:

              python -m pip install "./{wheel}[notebooks]" jupyterlab
              python -m jupyter lab notebooks

          The package is in this folder; what it needs comes from the network, or with
          --no-index --find-links FOLDER from wheels that you have. For the versions that were
          tried together, first:

              python -m pip install -r notebooks/requirements.txt

Check     The worked example, with Python alone:

              python elmo_scalar_mix_demo.py
"""


def site_files(site: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a built site by name."""
    for file in sorted(site.rglob("*")):
        if file.is_file() and file.name not in LEFT_OUT:
            yield file.relative_to(site).as_posix(), file.read_bytes()


def build_wheel(repository: Path, date: datetime) -> tuple[str, bytes]:
    """Build the package's wheel; return its name and content.

    In a copy, since setuptools leaves its own files beside the source, and without asking for
    anything: it is installed already. The wheel is packed again, since setuptools keeps the modes
    that the files have on this machine.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy, wheels = Path(folder) / "source", Path(folder) / "wheels"
        for name in PACKAGE_FILES:
            source = repository / name
            if source.is_dir():
                shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, copy / name)
        command = [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"),
            *(
                "--no-index",
                "--no-deps",
                "--no-build-isolation",
                "--wheel-dir",
                str(wheels),
                str(copy),
            ),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise PublishError(f"the package's wheel could not be built:\n{done.stderr}")
        (wheel,) = wheels.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        write_zip(wheel, files, date)
        return wheel.name, wheel.read_bytes()


def make_archive(site: Path, target: Path) -> None:
    """Pack the built `site`, the notebooks and the package into `target`."""
    book = read_book(site)
    files = dict(site_files(site))
    if "README.txt" in files:
        raise PublishError(f"{site} has a README.txt, which is the archive's own.")
    wheel, content = build_wheel(ROOT, book.date)
    read_me = READ_ME.format(title=book.title, edition=book.edition, wheel=wheel)
    own = {"README.txt": read_me.encode(), wheel: content}
    for name in BESIDE:
        own[name] = (ROOT / name).read_bytes()
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        own[f"notebooks/{notebook.name}"] = notebook.read_bytes()
    demo = ROOT / "elmo_toy" / "elmo_scalar_mix_demo.py"
    own[demo.name] = demo.read_bytes()
    packed = {f"{target.stem}/{name}": data for name, data in (files | own).items()}
    write_zip(target, packed, book.date)
