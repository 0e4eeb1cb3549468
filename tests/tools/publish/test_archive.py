"""The archive: complete, the same bytes each time, and of use without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from miniature import NOTATION, Miniature, notebook
from publish import archive
from publish.files import ROOT, PublishError, date_of
from written_site import write_site


@pytest.fixture(scope="module")
def packed(site_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pack the whole book."""
    target = tmp_path_factory.mktemp("archive") / "book.zip"
    archive.make_archive(site_folder, target)
    return target


@pytest.fixture(scope="module")
def unpacked(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack it in a folder with spaces in its name."""
    folder = tmp_path_factory.mktemp("un packed")
    with zipfile.ZipFile(packed) as opened:
        opened.extractall(folder)
    return folder / "book"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name not in archive.LEFT_OUT
    }


def test_the_site_and_the_notebooks_are_in_it_unchanged(unpacked: Path, site_folder: Path) -> None:
    """So what the tests say of the site, they say of the archive's."""
    there = contents(unpacked)
    site = contents(site_folder)
    assert {name: there[name] for name in site} == site
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert notebooks
    for file in notebooks:
        assert there[f"notebooks/{file.name}"] == file.read_bytes()
    own = there.keys() - site.keys() - {f"notebooks/{file.name}" for file in notebooks}
    (wheel,) = (name for name in own if name.endswith(".whl"))
    assert wheel in there["README.txt"].decode()
    assert own - {wheel} == {"README.txt", "elmo_scalar_mix_demo.py", *archive.BESIDE}


def test_the_versions_that_it_names_are_in_it(unpacked: Path) -> None:
    """A file of requirements reads others, which are of no use outside the archive."""
    read_me = (unpacked / "README.txt").read_text("utf-8")
    (name,) = re.findall(r"install -r (\S+)", read_me)
    others = re.findall(r"^-[rc] (\S+)", (unpacked / name).read_text("utf-8"), re.MULTILINE)
    assert others
    assert [
        other for other in others if not (unpacked / name).parent.joinpath(other).is_file()
    ] == []


def test_packing_twice_gives_the_same_bytes(
    packed: Path, site_folder: Path, tmp_path: Path
) -> None:
    old = os.umask(0o077)
    try:
        archive.make_archive(site_folder, tmp_path / "book.zip")
    finally:
        os.umask(old)
    assert (tmp_path / "book.zip").read_bytes() == packed.read_bytes()


def test_the_package_installs_without_a_network(unpacked: Path, tmp_path: Path) -> None:
    """With the files that it reads, and without looking at the repository."""
    (wheel,) = unpacked.glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*install, "--target", str(tmp_path / "lib"), str(wheel)], check=True)
    code = (
        "import elmo_toy; from elmo_toy.bilm import load_pretrained; from elmo_toy import figures;"
        "print(elmo_toy.__file__, type(load_pretrained('toy-language')).__name__)"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "lib")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(tmp_path / "lib" / "elmo_toy" / "__init__.py"), "BiLM"]


def test_a_book_built_twice_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In two places, with other hashes of strings, and with every cell run again."""
    cells = (
        "# One mixture\n\nWith $\\gamma$ at 1.",
        "import matplotlib.pyplot as plt\n\nfrom elmo_toy import figures, widgets",
        "print({name: hash(name) is None for name in ('river', 'loan')})",
        "widgets.mixture()",
        # slower than the kernel waits before it sends what was printed
        "import time\n\nprint('one', end='')\ntime.sleep(0.5)\nprint('  line')",
    )
    made = []
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        book = Miniature(tmp_path / seed)
        book.write(book__notation___md=NOTATION, notebooks__03_mixture___ipynb=notebook(*cells))
        built = book.build()
        assert built.returncode == 0, built.stdout
        target = tmp_path / seed / "book.zip"
        archive.write_zip(target, dict(archive.site_files(book.site.root)), date_of())
        made.append(target)
    one, two = ({n: z.read(n) for n in z.namelist()} for z in map(zipfile.ZipFile, made))
    assert "one  line" in BeautifulSoup(one["notebooks/03_mixture.html"], "html.parser").get_text()
    assert [name for name in one.keys() | two.keys() if one.get(name) != two.get(name)] == []
    assert made[0].read_bytes() == made[1].read_bytes()


def test_a_file_of_the_site_is_not_overwritten(tmp_path: Path) -> None:
    site = write_site(tmp_path / "site")
    (site / "README.txt").touch()
    with pytest.raises(PublishError, match=r"has a README\.txt"):
        archive.make_archive(site, tmp_path / "book.zip")


def test_a_package_that_does_not_build_is_told(tmp_path: Path) -> None:
    (tmp_path / "elmo_toy").mkdir()
    for name in archive.PACKAGE_FILES[1:]:
        (tmp_path / name).touch()
    (tmp_path / "pyproject.toml").write_text("[project")
    with pytest.raises(PublishError, match="the package's wheel could not be built"):
        archive.build_wheel(tmp_path, date_of())
