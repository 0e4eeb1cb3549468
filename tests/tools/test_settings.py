"""What is said in more than one file is the same in all of them."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import elmo_toy
from elmo_toy.exercises import EXERCISES

ROOT = Path(__file__).resolve().parents[2]
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def files_of_the_repository() -> set[str]:
    """Return the paths of its files; what Git ignores is left out, as it is where Git is not."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        done = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        return {name for name in done.stdout.splitlines() if (ROOT / name).is_file()}
    return walked(ROOT)


def walked(folder: Path) -> set[str]:
    """Return the paths of the files below `folder` that nothing has generated."""
    found = set()
    for place, folders, names in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if name in {".binder", ".ci", ".github"}
            or (
                not name.startswith((".", "_build", "_generated", "__pycache__"))
                and not name.endswith(".egg-info")
            )
        ]
        found |= {(Path(place) / name).relative_to(folder).as_posix() for name in names}
    return found


def test_a_download_without_git_has_the_same_files(tmp_path: Path) -> None:
    assert files_of_the_repository() <= walked(ROOT)
    kept = {"README.md", ".ci/run", ".binder/a.txt", "tools/a.py", ".gitignore"}
    generated = {"_build/html/a.html", ".venv/a.py", ".cache/npm/a.js", "book/_generated/a.json"}
    for name in kept | generated:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert walked(tmp_path) == kept


def test_repository_address_is_set_once_and_cited_once() -> None:
    address = CONFIG["repository"]["url"]
    assert CITATION["repository-code"] == address
    name = address.split("//")[1]
    found = {
        file
        for file in files_of_the_repository()
        if name in (ROOT / file).read_text("utf-8", errors="ignore")
    }
    # the notebooks' set-up cells have it from tools/setup_cells.py; another test holds them to it
    notebooks = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("notebooks/*.ipynb")}
    assert found == {"_config.yml", "CITATION.cff"} | notebooks


def test_versions_agree() -> None:
    version = PROJECT["project"]["version"]
    assert elmo_toy.__version__ == version
    assert CITATION["version"] == version
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_authors_and_title_agree() -> None:
    assert CITATION["authors"] == [{"name": CONFIG["author"]}]
    assert PROJECT["project"]["authors"] == [{"name": CONFIG["author"]}]
    assert CITATION["title"].startswith(CONFIG["title"])
    assert (ROOT / "README.md").read_text("utf-8").startswith(f"# {CONFIG['title']}\n")


def test_every_requirement_is_pinned() -> None:
    for file in (
        *("requirements.txt", "notebooks/requirements.txt", ".binder/requirements.txt"),
        *("tests/requirements.txt", "tools/constraints.txt"),
    ):
        for line in (ROOT / file).read_text("utf-8").splitlines():
            if line and not line.startswith(("#", "-")) and line != ".":
                assert re.fullmatch(r"[\w.-]+==[\w.]+", line), f"{file}: {line}"


def test_pinned_versions_are_within_the_ranges_of_the_package() -> None:
    requirements = (ROOT / "notebooks" / "requirements.txt").read_text("utf-8")
    pinned = dict(re.findall(r"^([\w-]+)==(\d+)\.", requirements, re.M))
    ranges = list(PROJECT["project"]["dependencies"])
    for extra in PROJECT["project"]["optional-dependencies"].values():
        ranges += [one for one in extra if not one.startswith("elmo-toy")]
    for one in ranges:
        name, low, high = re.fullmatch(r"([\w-]+)>=(\d+)[\d.]*,<(\d+)", one).groups()
        assert int(low) <= int(pinned[name]) < int(high), one


def test_readme_is_short_and_links_to_what_exists() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 120
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", readme):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "RELEASE.md"])
def test_the_files_that_are_named_exist(name: str) -> None:
    """Those with their folder, but for what a build makes and what a recipe calls `name`."""
    text = re.sub(r"https?://\S+", "", (ROOT / name).read_text("utf-8"))
    paths = set(re.findall(r"(?<![\w./-])(?:[\w.-]+/)+[\w.-]*\w", text))
    known = {path.name for path in ROOT.iterdir()}
    named = {
        path
        for path in paths
        if path.partition("/")[0] in known - {".venv", ".cache", "_build"}
        and not re.search(r"\b(?:09_|_|elmo-)name\.", path)
    }
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_each_recipe_has_five_lines() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    recipes = re.findall(r"^## An? (\w+)\n\n((?:\d\. .*\n)+)", text, re.MULTILINE)
    assert [name for name, _ in recipes] == ["chapter", "figure", "explorer", "exercise"]
    assert {lines.count("\n") for _, lines in recipes} == {5}


def test_readme_counts_what_there_is() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f" {len(EXERCISES)} exercises " in readme
    chapters = re.findall(r"^\| (\d) (.+?) \|", readme, re.MULTILINE)
    titles = re.findall(r"title: (\d) · (.+)", (ROOT / "_toc.yml").read_text("utf-8"))
    assert chapters == titles


def test_readme_example_prints_what_it_says(capsys: Any) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    example = readme.split("```python\n")[1].split("```")[0]
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 - our own text
    assert capsys.readouterr().out.strip() == example.strip().rpartition("# ")[2]
