"""The stand-alone script: what it prints, what it exports, and that its checks can fail."""

from __future__ import annotations

import ast
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elmo_toy import elmo_scalar_mix_demo as demo
from elmo_toy import worked_example

SCRIPT = Path(demo.__file__)
SOURCE = SCRIPT.read_text(encoding="utf-8")


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run as a reader does: the file alone (-I: no package, no environment), elsewhere."""
    return subprocess.run(
        [sys.executable, "-I", "-W", "error", str(script), *arguments],
        cwd=script.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    path = tmp_path / "elmo_scalar_mix_demo.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def exported(path: Path) -> dict[str, Any]:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """(path, leaf) of a nested record; containers show in the paths, so missing keys do too."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")
    else:
        yield path, value


# --- alone, small, old Pythons --------------------------------------------------------------------


def test_imports_nothing_outside_the_standard_library() -> None:
    imported = set()
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            imported.add(str(node.module).partition(".")[0])
    assert imported
    assert imported <= sys.stdlib_module_names


def vermin(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "import vermin; vermin.main()", "--no-tips", "-t=3.8-"]
    return subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)


def test_runs_on_python_3_8(copy: Path) -> None:
    assert vermin(copy).returncode == 0
    copy.write_text(SOURCE + "\nmatch HEAD:\n    case _:\n        pass\n", encoding="utf-8")
    newer = vermin(copy)
    assert newer.returncode != 0
    assert "Minimum required versions: 3.10" in newer.stdout


# --- what it prints -------------------------------------------------------------------------------


def test_prints_the_articles_block(copy: Path) -> None:
    result = run(copy)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[:3] == [
        "Default outputs: river [1.7, 1.1]; loan [0.3, 1.0]",
        "Mean loss: 0.4203369997",
        "After one simultaneous step: 0.3980548517",
    ]
    assert len(lines) == 4
    # The digits depend on the step and on the C library; the order of magnitude doesn't.
    assert re.fullmatch(r"Maximum finite-difference error: about \de-11", lines[3])


def test_help_names_the_option(copy: Path) -> None:
    result = run(copy, "--help")
    assert result.returncode == 0
    assert "--json FILE" in result.stdout


# --- what it exports ------------------------------------------------------------------------------


def test_states_equal_the_packages_in_every_field(copy: Path) -> None:
    assert run(copy, "--json", "states.json").returncode == 0
    states = exported(copy.parent / "states.json")["states"]
    package = [state.as_record() for state in worked_example.eight_states()]
    assert len(states) == len(package) == 8
    for own, reference in zip(states, package, strict=True):
        own_leaves, reference_leaves = dict(leaves(own)), dict(leaves(reference))
        assert list(own_leaves) == list(reference_leaves)  # the same keys, in the same order
        assert len(own_leaves) > 50
        for path, value in reference_leaves.items():
            if isinstance(value, str):
                assert own_leaves[path] == value, path
            else:
                assert isinstance(value, float), path
                assert isinstance(own_leaves[path], float), path
                assert own_leaves[path] == pytest.approx(value, rel=0, abs=1e-12), path


def test_order_of_the_eight_states(copy: Path) -> None:
    run(copy, "--json", "states.json")
    states = exported(copy.parent / "states.json")["states"]
    assert [(state["preset"], state["gamma"]) for state in states] == [
        (preset, gamma) for preset in ("upper", "equal", "lower", "token") for gamma in (1.0, 2.0)
    ]


def test_document_describes_itself(copy: Path) -> None:
    run(copy, "--json", "states.json")
    document = exported(copy.parent / "states.json")
    assert document["features_are"] == "invented"
    assert document["head"] == [1.0, -1.0]
    assert document["learning_rate"] == 0.1
    assert 0 < document["max_finite_difference_error"] < 1e-10
    assert document["finite_difference_step"] == demo.STEP


def test_export_to_standard_output_is_nothing_but_json(copy: Path) -> None:
    to_stdout, to_file = run(copy, "--json", "-"), run(copy, "--json", "states.json")
    assert (to_stdout.returncode, to_stdout.stderr) == (0, "")
    assert to_stdout.stdout == (copy.parent / "states.json").read_text(encoding="utf-8")
    assert to_file.stdout.startswith("Default outputs:")


def test_export_replaces_a_file_and_leaves_nothing_beside(copy: Path) -> None:
    target = copy.parent / "states.json"
    target.write_text("old", encoding="utf-8")
    assert run(copy, "--json", "states.json").returncode == 0
    assert len(exported(target)["states"]) == 8
    assert sorted(path.name for path in copy.parent.iterdir()) == [copy.name, target.name]


def test_export_is_as_readable_as_any_new_file(copy: Path) -> None:
    run(copy, "--json", "states.json")
    plain = copy.parent / "plain"
    plain.touch()
    target = copy.parent / "states.json"
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_export_through_a_symbolic_link_keeps_the_link(copy: Path) -> None:
    target, link = copy.parent / "target.json", copy.parent / "link.json"
    link.symlink_to(target)
    assert run(copy, "--json", "link.json").returncode == 0
    assert link.is_symlink()
    assert len(exported(target)["states"]) == 8


@pytest.mark.parametrize("path", ["missing/states.json", ".", "", os.devnull])
def test_unwritable_path_is_one_clear_line(copy: Path, path: str) -> None:
    result = run(copy, "--json", path)
    assert result.returncode == 2
    assert result.stdout == ""
    assert re.fullmatch(rf"cannot write to '{re.escape(path)}': [^\n]+\n", result.stderr)
    assert [entry.name for entry in copy.parent.iterdir()] == [copy.name]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device without space")
def test_full_disk_on_standard_output_is_one_clear_line(copy: Path) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        result = subprocess.run(
            [sys.executable, "-I", str(copy), "--json", "-"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.returncode != 0
    assert result.stderr.startswith("cannot write to '-': ")
    assert "Traceback" not in result.stderr


def test_failed_write_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "states.json"
    target.write_text("old", encoding="utf-8")

    def no_rename(source: str, destination: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", no_rename)
    assert demo.main(["--json", str(target)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


# --- its checks can fail --------------------------------------------------------------------------

BREAKS = {
    "logit gradient without the - m": ("(c - mixed_score)", "c"),
    "logit gradient without gamma": ("score_gradient * gamma * s * (c", "score_gradient * s * (c"),
    "logit gradient without the weight": ("gamma * s * (c -", "gamma * (c -"),
    "logit gradient with the wrong sign": (
        "score_gradient * gamma * s",
        "-score_gradient * gamma * s",
    ),
    "gamma gradient times gamma": ("score_gradient * mixed_score,", "score_gradient * score,"),
    "loss summed, not averaged": (
        "return log_loss(score[0], label) / len(OCCURRENCES)",
        "return log_loss(score[0], label)",
    ),
    "score gradient of the sum": (
        "(probability - label) / len(OCCURRENCES)",
        "(probability - label)",
    ),
    "score gradient with labels swapped": ("(probability - label)", "(probability + label - 1)"),
    "sigmoid of the wrong sign": (
        "1 / (1 + exp(-score))\n    layer",
        "1 / (1 + exp(score))\n    layer",
    ),
    "loss of the wrong sign": (
        "-score if label == 1 else score))",
        "score if label == 1 else -score))",
    ),
    "weights that don't sum to 1": ("power / fsum(powers)", "power / (1 + fsum(powers))"),
    "mixture without gamma": ("[gamma * dot(weights, coordinate)", "[dot(weights, coordinate)"),
    "one occurrence forgotten in the sum": ("zip(*contributions)]", "zip(*contributions[:1])]"),
    "shared gamma gradient of one occurrence": (
        'fsum(record["gamma_gradient"] for record in occurrences.values())',
        'occurrences["river"]["gamma_gradient"]',
    ),
    "update uphill": ("new_logits = [a - LEARNING", "new_logits = [a + LEARNING"),
    "gamma update uphill": ("new_gamma = gamma - LEARNING", "new_gamma = gamma + 5 * LEARNING"),
    "no update at all": (
        '"loss": loss([*new_logits, new_gamma])',
        '"loss": loss([*logits, gamma])',
    ),
    "a gradient that is not a number": (
        '"score_gradient": score_gradient',
        '"score_gradient": 0 * 1e999',
    ),
    "a logit gradient that is not a number": (
        "score_gradient * gamma * s * (c - mixed_score) for s, c in",
        "(float('nan') if c < 0 else score_gradient * gamma * s * (c - mixed_score)) for s, c in",
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_broken_formula_exits_non_zero_naming_the_state(copy: Path, name: str) -> None:
    old, new = BREAKS[name]
    assert SOURCE.count(old) == 1, "the break must hit one place"
    copy.write_text(SOURCE.replace(old, new), encoding="utf-8")
    result = run(copy, "--json", "states.json")
    assert result.returncode == 1
    assert result.stdout == ""
    assert re.match(
        r"check failed in state (upper|equal|lower|token), gamma [12]: ", result.stderr
    ), result.stderr
    assert [path.name for path in copy.parent.iterdir()] == [copy.name], "nothing may be exported"


def test_break_in_a_single_state_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only token-layer emphasis at gamma 2 is wrong, and only in loan's second logit."""
    correct = demo.state_record

    def broken(preset: str, gamma: float) -> dict[str, Any]:
        record = correct(preset, gamma)
        if (preset, gamma) == ("token", 2.0):
            record["occurrences"]["loan"]["logit_gradient"][1] += 2e-8
        return record

    monkeypatch.setattr(demo, "state_record", broken)
    assert demo.main([]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("check failed in state token, gamma 2: gradient of loan ")


@pytest.mark.parametrize("preset", demo.PRESETS)
@pytest.mark.parametrize("gamma", demo.GAMMAS)
def test_check_reports_the_error_that_it_found(preset: str, gamma: float) -> None:
    """A gradient shifted by less than the tolerance shows in the reported maximum."""
    record = demo.state_record(preset, gamma)
    assert demo.check_state(record) < 1e-10
    record["gamma_gradient"] += 5e-9
    assert demo.check_state(record) == pytest.approx(5e-9, rel=0.05)


def test_the_step_is_near_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times larger or smaller steps of the differences have larger errors."""

    def largest(step: float) -> float:
        monkeypatch.setattr(demo, "STEP", step)
        return max(
            demo.check_state(demo.state_record(preset, gamma))
            for preset in demo.PRESETS
            for gamma in demo.GAMMAS
        )

    step = demo.STEP
    assert largest(step) < min(largest(10 * step), largest(step / 10))
