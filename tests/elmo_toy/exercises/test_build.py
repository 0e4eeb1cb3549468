"""The homework: the solution stands, each wrong step is named, errors are the reader's own."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import numpy as np
import pytest

from elmo_toy import worked_example
from elmo_toy.exercises import build, build_solution
from elmo_toy.exercises.build import STEPS
from elmo_toy.gradient_check import central_difference

SOLUTION = Path(build_solution.__file__).read_text(encoding="utf-8")


def run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str | None
) -> tuple[int, list[str]]:
    path = tmp_path / "my_mixture.py"
    if source is not None:
        path.write_text(source, encoding="utf-8")
    status = build.main([str(path)])
    captured = capsys.readouterr()
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name] * (source is not None)
    return status, (captured.out + captured.err).splitlines()


def test_the_solution_stands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = run(tmp_path, capsys, SOLUTION)
    assert status == 0
    assert [line.partition(": ")[2] for line in lines[:5]] == [
        "right, on 3 inputs",
        *["right, on 2 inputs"] * 4,
    ]
    assert lines[5] == "all five steps stand: you have built a mixture that learns"


def test_an_empty_file_says_where_to_begin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, lines = run(tmp_path, capsys, "")
    assert status == 1
    assert lines[0] == "step 1 of 5, softmax: not there yet"
    assert lines[5] == "begin with  def softmax(logits):"


def test_a_half_done_file_says_where_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, lines = run(tmp_path, capsys, SOLUTION.partition("def loss(")[0])
    assert status == 1
    assert lines[1:3] == [
        "step 2 of 5, mix: right, on 2 inputs",
        "step 3 of 5, loss: not there yet",
    ]
    assert lines[5] == "go on with  def loss(layers, logits, gamma, head, labels):"


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_each_wrong_step_is_named(step: build.BuildStep) -> None:
    assert len(step.answer.wrong) >= 4
    for wrong in step.answer.wrong:
        verdict = step.answer.judge(wrong.answer)
        assert verdict.wrong is wrong, wrong.sentence


@pytest.mark.parametrize(
    ("right", "wrong", "text"),
    [
        (" - mixed[:, None])", ")", "gradient: not yet: that is the gradient without `- m`"),
        (") / len(labels)\n", ")\n", "gradient: not yet: you forgot the mean over the examples"),
        (
            "return logits - rate * by_logits",
            "return softmax(logits) - rate * by_logits",
            "step: not yet: you stepped on the weights: step on the logits, and return logits",
        ),
        (" - np.max(logits)", "", "softmax: not yet: it overflows for large logits: subtract"),
        (
            '"j,kjd->kd", softmax(logits)',
            '"j,kjd->kd", logits',
            "mix: not yet: you used the logits",
        ),
        ("float(np.mean(", "float(np.sum(", "loss: not yet: you forgot the mean over the examples"),
        (
            "return by_logits, float",
            "return float",
            "gradient: your function's result: expected a pair, an",
        ),
        (
            "return by_logits, float(errors @ mixed)",
            "return np.append(by_logits, errors @ mixed)",
            "gradient: your function's result: expected a pair, an array (3,) and a number, "
            "given one array of shape (4,)",
        ),
        (
            "return logits - rate * by_logits, gamma - rate * by_gamma",
            "moved = logits - rate * by_logits\n"
            "    return moved, gamma - rate * gradient(layers, moved, gamma, head, labels)[1]",
            "step: not yet: you moved the logits before you took gamma's derivative",
        ),
        (
            "return logits - rate * by_logits, gamma - rate * by_gamma",
            "moved = gamma - rate * by_gamma\n"
            "    return logits - rate * gradient(layers, logits, moved, head, labels)[0], moved",
            "step: not yet: you moved gamma before you took the logits' derivatives",
        ),
        (
            "return logits - rate * by_logits, gamma - rate * by_gamma",
            "return [by_logits * 0, gamma]",
            "step: not yet: right on 0 of 2 inputs",
        ),
    ],
)
def test_a_mistake_in_a_file_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], right: str, wrong: str, text: str
) -> None:
    assert right in SOLUTION
    status, lines = run(tmp_path, capsys, SOLUTION.replace(right, wrong))
    assert status == 1
    assert any(text in line for line in lines), lines


def steps(lines: list[str]) -> list[str]:
    return [line.partition(": ")[2] for line in lines[:5]]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (" - mixed[:, None])", ")"),  # the step is wrong with it
        ("return by_logits, float(errors @ mixed)", "return np.append(by_logits, mixed[0])"),
    ],
)
def test_a_step_made_with_a_wrong_gradient_waits_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], right: str, wrong: str
) -> None:
    assert right in SOLUTION
    _, lines = run(tmp_path, capsys, SOLUTION.replace(right, wrong))
    assert steps(lines)[4] == "is asked again when step 4 stands"
    assert lines[5].startswith("go on with  def gradient(")


def test_what_is_right_without_a_wrong_function_below_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A softmax that overflows makes right mixtures of small logits."""
    _, lines = run(tmp_path, capsys, SOLUTION.replace(" - np.max(logits)", ""))
    assert steps(lines)[1:] == ["right, on 2 inputs"] * 4


def test_functions_on_top_of_a_wrong_softmax_wait_in_a_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, lines = run(tmp_path, capsys, SOLUTION.replace(" / exponentials.sum()", ""))
    waiting = [f"is asked again when step {number} stands" for number in (1, 2, 1, 4)]
    assert steps(lines)[1:] == waiting


def test_a_step_without_a_gradient_of_its_own_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "def step(layers, logits, gamma, head, labels, rate):\n    return logits, gamma\n"
    _, lines = run(tmp_path, capsys, source)
    assert steps(lines)[4] == "not yet: right on 0 of 2 inputs"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("x = 1\ndef f(:\n", "my_mixture.py, line 2: SyntaxError: "),
        ("x = 1\n\ny = x / 0\n", "my_mixture.py, line 3: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)\n", "my_mixture.py, line 1: SystemExit: 3"),
        ("import nothing_of_the_kind\n", "my_mixture.py, line 1: ModuleNotFoundError: No module"),
        ("x = 1\n\neval('1 +')\n", "my_mixture.py, line 3: SyntaxError: invalid syntax"),
        ("x = 1\n\0\n", "my_mixture.py: SyntaxError: source code string cannot contain null"),
    ],
)
def test_errors_in_the_file_are_reported_as_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, line: str
) -> None:
    status, lines = run(tmp_path, capsys, source)
    assert status == 1
    assert len(lines) == 1
    assert lines[0].startswith(line)


def test_a_file_may_define_a_dataclass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Which looks its module up by name, where its annotations are text."""
    head = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    status, lines = run(tmp_path, capsys, f"{head}@dataclass\nclass State:\n    gamma: float\n")
    assert status == 1
    assert lines[0] == "step 1 of 5, softmax: not there yet"


def test_a_file_named_as_on_the_page_is_told_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a path relative to the working folder."""
    monkeypatch.chdir(tmp_path)
    Path("my_mixture.py").write_text("x = 1\ny = x / 0\n", encoding="utf-8")
    assert build.main(["my_mixture.py"]) == 1
    assert capsys.readouterr().out.startswith("my_mixture.py, line 2: ZeroDivisionError")


def test_an_error_in_a_function_is_reported_at_its_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, lines = run(tmp_path, capsys, "def softmax(logits):\n    return logit\n")
    assert status == 1
    said = "your function raised NameError: name 'logit' is not defined"
    assert steps(lines)[0] == f"my_mixture.py, line 2: {said}"


def test_the_line_of_an_error_is_the_last_one_in_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a relative path, in a helper, within numpy."""
    monkeypatch.chdir(tmp_path)
    source = (
        "import numpy as np\n\n\ndef helper(x):\n    return np.reshape(x, (7, 7))\n\n\n"
        "def softmax(logits):\n    return helper(logits)\n"
    )
    Path("my_mixture.py").write_text(source, encoding="utf-8")
    assert build.main(["my_mixture.py"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert steps(lines)[0].startswith("my_mixture.py, line 5: your function raised ValueError: ")


def test_a_call_that_does_not_begin_has_no_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, lines = run(tmp_path, capsys, "def softmax():\n    pass\n")
    assert steps(lines)[0].startswith("my_mixture.py: your function raised TypeError: softmax()")


def test_the_page_of_the_homework_names_every_function_as_the_checker_does() -> None:
    page = (Path(__file__).resolve().parents[3] / "book" / "build_it_yourself.md").read_text(
        "utf-8"
    )
    for step in STEPS:
        assert f"`{step.answer.signature}`" in page


def test_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = run(tmp_path, capsys, None)
    assert status == 2
    assert lines[0].endswith("my_mixture.py: no such file; make an empty one and run this again")


def test_a_file_that_is_no_python(tmp_path: Path) -> None:
    path = tmp_path / "mixture.txt"
    path.touch()
    with pytest.raises(build.TheirError, match="its name has to end in"):
        build.load(path)


@pytest.mark.parametrize("source", ["x = 1\n", "x = 1 / 0\n"])
def test_only_a_readers_file_leaves_no_bytecode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "my_mixture.py"
    path.write_text(source, encoding="utf-8")
    with contextlib.suppress(build.TheirError):
        build.load(path)
    assert list(tmp_path.iterdir()) == [path]
    assert not sys.dont_write_bytecode, "other modules are cached as ever"


def test_the_solution_is_the_worked_example() -> None:
    default = worked_example.state()
    layers = worked_example.LAYERS[:, :, 0]
    rest = worked_example.HEAD, worked_example.LABELS
    assert build_solution.loss(layers, default.logits, 1.0, *rest) == pytest.approx(
        default.forward.loss, abs=1e-12
    )
    logits, gamma = build_solution.step(layers, default.logits, 1.0, *rest, 0.1)
    assert logits == pytest.approx(default.updated_logits, abs=1e-12)
    assert gamma == pytest.approx(default.updated_gamma, abs=1e-12)


def test_the_solutions_gradient_is_that_of_its_loss() -> None:
    rng = np.random.default_rng(3)
    layers, head, labels = rng.normal(size=(4, 3, 5)), rng.normal(size=5), np.array([1.0, 0, 0, 1])
    x = np.append(rng.normal(size=3), 1.4)
    by_logits, by_gamma = build_solution.gradient(layers, x[:3], x[3], head, labels)
    measured = central_difference(
        lambda at: build_solution.loss(layers, at[:3], float(at[3]), head, labels), x, 1e-5
    )
    assert np.append(by_logits, by_gamma) == pytest.approx(measured, abs=1e-9)
