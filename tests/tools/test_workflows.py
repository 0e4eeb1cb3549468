"""What runs at the host of the repository: pinned, with few rights, and doing what it says."""

import os
import re
import subprocess
import sysconfig
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"uses: actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def zizmor(*paths: Path) -> subprocess.CompletedProcess[str]:
    return run(SCRIPTS / "zizmor", "--offline", "--pedantic", "--strict-collection", *paths)


def schema(name: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    return run(SCRIPTS / "check-jsonschema", "--builtin-schema", f"vendor.{name}", *paths)


def read(workflow: Path) -> dict[str, Any]:
    return yaml.safe_load(workflow.read_text("utf-8"))


def test_zizmor_finds_nothing() -> None:
    assert len(WORKFLOWS) >= 2
    done = zizmor(ROOT / ".github")
    assert done.returncode == 0, done.stdout


def test_the_files_are_of_their_schemas() -> None:
    done = schema("github-workflows", *WORKFLOWS)
    assert done.returncode == 0, done.stdout
    done = schema("dependabot", ROOT / ".github" / "dependabot.yml")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2", "@v6", "unpinned-uses"),
        ("permissions: {}", "permissions: write-all", "excessive-permissions"),
        ("        with:\n          persist-credentials: false\n", "", "artipacked"),
        ("run: make test", 'run: echo "${{ github.event.head_commit.message }}"', "template-inj"),
    ],
)
def test_zizmor_can_fail(old: str, new: str, finding: str, tmp_path: Path) -> None:
    text = (ROOT / ".github/workflows/book.yml").read_text("utf-8")
    assert old in text
    (tmp_path / "book.yml").write_text(text.replace(old, new), "utf-8")
    done = zizmor(tmp_path / "book.yml")
    assert done.returncode != 0
    assert finding in done.stdout


def test_the_schema_can_fail(tmp_path: Path) -> None:
    text = (ROOT / ".github/workflows/book.yml").read_text("utf-8")
    (tmp_path / "book.yml").write_text(text.replace("runs-on:", "run-on:"), "utf-8")
    done = schema("github-workflows", tmp_path / "book.yml")
    assert done.returncode != 0
    assert "book.yml" in done.stdout


def test_each_action_is_pinned_by_hash_with_its_version() -> None:
    for workflow in WORKFLOWS:
        uses = re.findall(r"uses: .*", workflow.read_text("utf-8"))
        assert [line for line in uses if not PINNED.fullmatch(line)] == []


def test_rights_are_given_to_the_job_that_needs_them() -> None:
    rights = {}
    for workflow in WORKFLOWS:
        content = read(workflow)
        assert content["permissions"] == {}, workflow.name
        for name, job in content["jobs"].items():
            rights[workflow.stem, name] = job["permissions"]
    assert rights == {
        ("book", "check"): {"contents": "read"},
        ("book", "ask"): {"pages": "read"},
        ("book", "publish"): {"pages": "write", "id-token": "write"},
        ("weekly", "rebuild"): {"contents": "read"},
        ("weekly", "report"): {"issues": "write"},
    }


def test_only_what_was_tested_on_main_is_published() -> None:
    jobs = read(ROOT / ".github/workflows/book.yml")["jobs"]
    steps = jobs["check"]["steps"]
    tested = next(i for i, step in enumerate(steps) if step.get("run") == "make test")
    kept = next(i for i, step in enumerate(steps) if "upload-pages" in step.get("uses", ""))
    assert tested < kept
    assert steps[kept]["with"]["path"] == "_build/html"
    assert jobs["publish"]["needs"] == ["check", "ask"]
    assert jobs["publish"]["if"] == "needs.ask.outputs.enabled == 'true'"
    assert steps[kept]["if"] == jobs["ask"]["if"] == "github.ref == 'refs/heads/main'"


@pytest.fixture
def github(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """Return what makes a stand-in for `gh` of a script, which logs what it was asked."""

    def stand_in(script: str) -> dict[str, str]:
        program = tmp_path / "gh"
        program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path / "log"}\n{script}\n', "utf-8")
        program.chmod(0o755)
        return {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}

    return stand_in


@pytest.mark.parametrize(
    ("script", "status", "output", "said"),
    [
        ("exit 0", 0, "enabled=true\n", ""),
        ("echo 'gh: Not Found (HTTP 404)' >&2; exit 1", 0, "enabled=false\n", "::notice::"),
        ("echo 'gh: Server Error (HTTP 502)' >&2; exit 1", 1, "", "gh: Server Error (HTTP 502)\n"),
    ],
)
def test_a_repository_without_pages_publishes_nothing_and_says_so(
    script: str,
    status: int,
    output: str,
    said: str,
    tmp_path: Path,
    github: Callable[[str], dict[str, str]],
) -> None:
    job = read(ROOT / ".github/workflows/book.yml")["jobs"]["ask"]
    (step,) = job["steps"]
    assert job["outputs"] == {"enabled": f"${{{{ steps.{step['id']}.outputs.enabled }}}}"}
    (tmp_path / "output").touch()
    done = run(
        *("bash", "-euo", "pipefail", "-c", step["run"]),
        **github(script),
        GH_REPO="OWNER/NAME",
        GITHUB_OUTPUT=str(tmp_path / "output"),
    )
    assert done.returncode == status
    assert (tmp_path / "output").read_text("utf-8") == output
    assert done.stdout.startswith(said)
    assert bool(done.stdout) == bool(said)
    assert (tmp_path / "log").read_text("utf-8") == "api --silent repos/OWNER/NAME/pages\n"


@pytest.mark.parametrize(("already_open", "opened"), [("0", True), ("1", False)])
def test_a_failing_week_opens_one_issue(
    already_open: str, opened: bool, tmp_path: Path, github: Callable[[str], dict[str, str]]
) -> None:
    job = read(ROOT / ".github/workflows/weekly.yml")["jobs"]["report"]
    assert (job["if"], job["needs"]) == ("failure()", "rebuild")
    (step,) = job["steps"]
    script = f'[ "$2" = list ] && echo {already_open}\nexit 0'
    done = run(
        *("bash", "-euo", "pipefail", "-c", step["run"]),
        **github(script),
        TITLE=step["env"]["TITLE"],
        RUN="https://example.org/run/1",
    )
    assert done.returncode == 0, done.stdout
    calls = (tmp_path / "log").read_text("utf-8").splitlines()
    assert any(call.startswith("issue create") for call in calls) == opened
    if opened:
        assert f"--title {step['env']['TITLE']} --body The book does not build" in calls[-1]
        assert calls[-1].endswith("The run: https://example.org/run/1")


def test_the_week_does_not_ask_for_the_pinned_versions() -> None:
    """It installs newer ones, so that test would fail each time."""
    steps = read(ROOT / ".github/workflows/weekly.yml")["jobs"]["rebuild"]["steps"]
    (lock,) = [path for path in steps[-1]["run"].split() if path.startswith("--ignore=")]
    assert "pinned" in (ROOT / lock.removeprefix("--ignore=")).read_text("utf-8")


def requirements(text: str) -> dict[str, Requirement]:
    found = [Requirement(line) for line in text.splitlines() if re.match(r"[\w-]+[><=]", line)]
    return {one.name: one for one in found}


def test_the_weekly_ranges_hold_the_pinned_versions() -> None:
    ranges = requirements((ROOT / "tools/ranges.txt").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    own = [*project["dependencies"], *(one for extra in extras for one in extra)]
    ranges |= requirements("\n".join(own))
    pinned = {}
    for folder in (".", "notebooks", "tests"):
        pinned |= requirements((ROOT / folder / "requirements.txt").read_text("utf-8"))
    for name in pinned.keys() - {"ruff", "mypy"}:  # a newer style is no fault of the book
        (exactly,) = pinned[name].specifier
        assert name in ranges, f"tools/ranges.txt does not have {name}"
        assert ranges[name].specifier.contains(exactly.version), ranges[name]
    assert ranges.keys() <= pinned.keys()
