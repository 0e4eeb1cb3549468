"""`make test` checks what it says, as strictly as it says: the guards are still at their posts.

A check that somebody takes out, or makes lenient to get past it, would be missed by no other test.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
SANITISER = "tests/notebooks/nbval_sanitize.cfg"


def commands(script: str) -> list[str]:
    """Return the commands of a shell script, each on one line, without comments."""
    lines = re.sub(r"\s*\\\n\s*", " ", script).splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


CHECKS = commands((ROOT / "tools" / "check.sh").read_text("utf-8"))
EXPECTED = [
    "$bin/ruff check .",
    "$bin/ruff format --check .",
    "$bin/mypy",
    "$bin/vermin --no-tips --violations -t=3.8- elmo_toy/elmo_scalar_mix_demo.py",
    "$bin/python tools/build_book.py",
    "binder=$($bin/python tools/binder_environment.py)",
    '$bin/python tools/normalise_notebooks.py --check --execute --jobs 2 --python "$binder" '
    "--budget 20 notebooks/*.ipynb",
    f"$bin/python -m pytest notebooks $workers -p no:cov --nbval --nbval-sanitize-with {SANITISER}",
    "exec $bin/python -m pytest $workers --cov --cov-report=term",
]


def test_comments_and_broken_lines_are_read_as_a_shell_does() -> None:
    assert commands("# a\nb \\\n    --c\n\n  # d\n") == ["b --c"]


@pytest.mark.parametrize("command", EXPECTED)
def test_a_check_is_run(command: str) -> None:
    """Word for word: no `|| true`, no `--nbval-lax`, no test left out."""
    assert CHECKS.count(command) == 1


def test_the_first_failure_ends_the_checks() -> None:
    assert CHECKS[0] == "set -eu"
    assert not [line for line in CHECKS if re.search(r"set \+|\|\||\bexit\b|\btrap\b", line)]


def test_what_has_a_head_start_is_done_again_where_its_failure_counts() -> None:
    start, end = CHECKS.index("{"), CHECKS.index("} >/dev/null 2>&1 &")
    after = CHECKS[CHECKS.index("wait") :]
    assert start < end
    for command in CHECKS[start + 1 : end]:
        again = {command, f"binder=$({command})", f"ELMO_BROWSER=$({command})"}
        assert again & set(after), command


def test_make_and_ci_run_the_checks() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^test: .*\n\t@sh tools/check\.sh$", makefile, re.M)
    assert "make test </dev/null" in commands((ROOT / ".ci" / "run").read_text("utf-8"))


def test_the_build_is_strict() -> None:
    code = (ROOT / "tools" / "run_jupyter_book.py").read_text("utf-8")
    for setting in ('"nitpicky": True', "warningiserror=True", "freshenv=True"):
        assert code.count(setting) == 1, setting
    config = (ROOT / "_config.yml").read_text("utf-8")
    for setting in ("nb_execution_raise_on_error: true", "stderr_output: error"):
        assert config.count(setting) == 1, setting
    assert "suppress_warnings" not in config
    assert "nitpick_ignore" not in config


def test_warnings_are_errors_in_tests() -> None:
    pytest_settings = SETTINGS["pytest"]["ini_options"]
    assert pytest_settings["filterwarnings"] == ["error"]
    assert pytest_settings["xfail_strict"] is True
    assert {"tests", "elmo_toy"} <= set(pytest_settings["testpaths"])
    options = pytest_settings["addopts"]
    assert {"--strict-markers", "--strict-config", "--doctest-modules"} <= set(options)
    left_out = ("--ignore", "--deselect", "-k", "-m", "-W", "--no-cov")
    assert not [one for one in options if one.startswith(left_out)]


def test_coverage_is_demanded_of_the_whole_package() -> None:
    coverage = SETTINGS["coverage"]
    assert coverage["run"]["source"] == ["elmo_toy"]
    assert "omit" not in coverage["run"] | coverage["report"]
    assert coverage["report"]["fail_under"] >= 95
    assert set(coverage["report"]["exclude_also"]) == {"if TYPE_CHECKING:", "@overload"}


def test_types_are_checked_strictly_in_the_whole_package() -> None:
    mypy = SETTINGS["mypy"]
    assert mypy["strict"] is True
    assert {"elmo_toy", "tools"} <= set(mypy["files"])
    assert "exclude" not in mypy
    for override in mypy["overrides"]:  # for libraries without types, not for this code
        assert set(override) == {"module", "ignore_missing_imports"}
        assert not [name for name in override["module"] if name.startswith(("elmo_toy", "tools"))]


def test_style_is_checked_everywhere() -> None:
    ruff = SETTINGS["ruff"]
    assert ruff["extend-exclude"] == ["_build"]
    assert {"E", "F", "W", "B", "D", "I", "S"} <= set(ruff["lint"]["select"])
