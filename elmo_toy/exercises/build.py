"""Homework: from an empty file to a mixture that learns, in five steps.

    python -m elmo_toy.exercises.build my_mixture.py

A reader writes five functions into a file of their own, with numpy alone. This program loads the
file, runs each function beside the right formula and the usual wrong ones, and says which steps
stand, what is wrong with the first that doesn't, and what the next one is. The status is 0 when all
five stand, 1 while they don't, and 2 if there is no such file. One solution is in
`elmo_toy.exercises.build_solution`.

Book: chapter 4, "Four witnesses".
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.exercises import build_solution as solution
from elmo_toy.exercises.answers import Function, Verdict, Wrong, named
from elmo_toy.exercises.wrong_mixtures import WRONG_MIXTURES

Formula = Callable[..., Any]


@dataclass(frozen=True)
class BuildStep:
    """One function of the homework, what it should do, and which other one it is made with."""

    name: str
    task: str
    answer: Function
    uses: str | None = None


class TheirError(Exception):
    """A reader's file did not load; the message says why, in terms of their file."""


# --- inputs, and the pieces of which wrong formulas are made --------------------------------------

_RNG = np.random.default_rng(7)
_HEAD, _RATE = np.array([1.0, -1.0, 0.5]), 0.3
_LABELS = np.array([1.0, 0.0])
#: Layers (occurrences, layers, dim), logits, gamma: three layers and then four.
_STATES = tuple(
    (_RNG.normal(size=(2, n_layers, 3)), _RNG.normal(size=n_layers), gamma)
    for n_layers, gamma in ((3, 1.5), (4, -0.7))
)
_SUPERVISED = tuple((*state, _HEAD, _LABELS) for state in _STATES)


@dataclass(frozen=True)
class _Pieces:
    """What a gradient is made from: weights, layer scores, mixed scores, errors."""

    s: Array
    c: Array  # (occurrences, layers)
    m: Array
    g: Array  # (p - y) / n
    gamma: float

    @classmethod
    def of(cls, layers: Array, logits: Array, gamma: float, head: Array, labels: Array) -> _Pieces:
        s, c = solution.softmax(logits), layers @ head
        g = (1 / (1 + np.exp(-gamma * (c @ s))) - labels) / len(labels)
        return cls(s, c, c @ s, g, gamma)

    @property
    def right(self) -> Array:
        gradient: Array = self.gamma * self.s * (self.g @ (self.c - self.m[:, None]))
        return gradient

    @property
    def by_weights(self) -> Array:
        by_weights: Array = self.gamma * (self.g @ self.c)
        return by_weights

    @property
    def by_gamma(self) -> float:
        return float(self.g @ self.m)


def _gradient(variant: Callable[[_Pieces], tuple[Array, float]]) -> Formula:
    """As a reader's function returns it: by logits and by gamma."""
    return lambda *state: variant(_Pieces.of(*state))


def _step(variant: Callable[[_Pieces], tuple[Array, float]], sign: float = -1.0) -> Formula:
    def step(
        layers: Array, logits: Array, gamma: float, head: Array, labels: Array, rate: float
    ) -> tuple[Array, float]:
        by_logits, by_gamma = variant(_Pieces.of(layers, logits, gamma, head, labels))
        return logits + sign * rate * by_logits, gamma + sign * rate * by_gamma

    return step


def _step_on_weights(
    layers: Array, logits: Array, gamma: float, head: Array, labels: Array, rate: float
) -> tuple[Array, float]:
    pieces = _Pieces.of(layers, logits, gamma, head, labels)
    return pieces.s - rate * pieces.right, gamma - rate * pieces.by_gamma


def _logits_first(
    layers: Array, logits: Array, gamma: float, head: Array, labels: Array, rate: float
) -> tuple[Array, float]:
    moved = logits - rate * _Pieces.of(layers, logits, gamma, head, labels).right
    return moved, gamma - rate * _Pieces.of(layers, moved, gamma, head, labels).by_gamma


def _gamma_first(
    layers: Array, logits: Array, gamma: float, head: Array, labels: Array, rate: float
) -> tuple[Array, float]:
    moved = gamma - rate * _Pieces.of(layers, logits, gamma, head, labels).by_gamma
    return logits - rate * _Pieces.of(layers, logits, moved, head, labels).right, moved


# --- the five steps -------------------------------------------------------------------------------

STEPS = (
    BuildStep(
        "softmax",
        "Logits `(layers,)` to weights `(layers,)`, positive with sum one. It is also tried with "
        "logits around 1000, whose exponentials overflow.",
        Function(
            "softmax(logits)",
            solution.softmax,
            ((np.array([0.0, 1.0, 2.0]),), (np.array([-3.0, 0.5]),), (1000 + np.arange(3.0),)),
            (
                Wrong(
                    lambda a: np.exp(a) / np.exp(a).sum(),
                    "it overflows for large logits: subtract the largest one first",
                ),
                Wrong(lambda a: a / a.sum(), "take the exponentials before you divide", "M2"),
                Wrong(
                    lambda a: np.exp(a - a.max()), "the exponentials are not divided by their sum"
                ),
                Wrong(
                    lambda a: solution.softmax(-a),
                    "the sign is reversed: a larger logit is a larger weight",
                ),
            ),
        ),
    ),
    BuildStep(
        "mix",
        "Layers `(occurrences, layers, dim)`, logits and gamma to mixtures `(occurrences, dim)`.",
        Function(
            "mix(layers, logits, gamma)",
            solution.mix,
            _STATES,
            WRONG_MIXTURES,
        ),
        uses="softmax",
    ),
    BuildStep(
        "loss",
        "The mean log loss of the occurrences: scores are mixtures times `head` `(dim,)`, labels "
        "`(occurrences,)` are 0 or 1. It returns one number.",
        Function(
            "loss(layers, logits, gamma, head, labels)",
            solution.loss,
            _SUPERVISED,
            (
                Wrong(
                    lambda *state: solution.loss(*state) * len(_LABELS),
                    "you forgot the mean over the examples",
                ),
                Wrong(
                    lambda *state: solution.loss(*state) / np.log(2),
                    "you took the loss in bits: the logarithm is the natural one",
                ),
                Wrong(
                    lambda h, a, gamma, w, y: solution.loss(h, a, gamma, w, 1 - y),
                    "the sign is reversed: that is the loss with the labels exchanged",
                ),
                Wrong(lambda h, a, _, w, y: solution.loss(h, a, 1.0, w, y), "gamma left out", "M5"),
                Wrong(
                    lambda *state: ((_Pieces.of(*state).g * 2) ** 2).mean(),
                    "that is the mean squared error of the probabilities",
                ),
            ),
        ),
        uses="mix",
    ),
    BuildStep(
        "gradient",
        "The derivatives of your loss, by hand: a pair, by logits `(layers,)` and by gamma. "
        "Compare it with differences of your loss before you run this.",
        Function(
            "gradient(layers, logits, gamma, head, labels)",
            _gradient(lambda x: (x.right, x.by_gamma)),
            _SUPERVISED,
            (
                Wrong(
                    _gradient(lambda x: (x.s * x.by_weights, x.by_gamma)),
                    "that is the gradient without `- m`",
                    "M6",
                ),
                Wrong(
                    _gradient(lambda x: (2 * x.right, 2 * x.by_gamma)),
                    "you forgot the mean over the examples",
                ),
                Wrong(
                    _gradient(lambda x: (-x.right, -x.by_gamma)),
                    "the sign is reversed: the gradient points uphill",
                ),
                Wrong(
                    _gradient(lambda x: (x.right / x.gamma, x.by_gamma)),
                    "gamma left out of the derivatives by the logits",
                    "M5",
                ),
                Wrong(
                    _gradient(lambda x: (x.by_weights, x.by_gamma)),
                    "that is the gradient with respect to the weights, as if they were free",
                    "M7",
                ),
                Wrong(
                    _gradient(lambda x: (x.right / x.s, x.by_gamma)), "the factor s_j is missing"
                ),
                Wrong(
                    _gradient(lambda x: (x.right, x.gamma * x.by_gamma)),
                    "by gamma you multiplied by the score z: its derivative is m",
                    "M5",
                ),
            ),
            pair=True,
        ),
        uses="softmax",
    ),
    BuildStep(
        "step",
        "One step of gradient descent, on logits and gamma at once: a pair, the new logits and the "
        "new gamma.",
        Function(
            "step(layers, logits, gamma, head, labels, rate)",
            _step(lambda x: (x.right, x.by_gamma)),
            tuple((*state, _RATE) for state in _SUPERVISED),
            (
                Wrong(
                    _step_on_weights,
                    "you stepped on the weights: step on the logits, and return logits",
                    "M7",
                ),
                Wrong(
                    _step(lambda x: (x.right, x.by_gamma), sign=1.0),
                    "you added the gradient: descent subtracts it",
                ),
                Wrong(_step(lambda x: (x.right, 0.0)), "you left gamma where it was: it steps too"),
                Wrong(
                    _step(lambda x: (0 * x.right, x.by_gamma)),
                    "you left the logits where they were: they step too",
                ),
                Wrong(
                    _step(lambda x: (x.right / _RATE, x.by_gamma / _RATE)),
                    "the rate is missing",
                ),
                Wrong(
                    _logits_first,
                    "you moved the logits before you took gamma's derivative: take both "
                    "derivatives at the old state",
                ),
                Wrong(
                    _gamma_first,
                    "you moved gamma before you took the logits' derivatives: take both "
                    "derivatives at the old state",
                ),
            ),
            pair=True,
        ),
        uses="gradient",
    ),
)


# --- a reader's file ------------------------------------------------------------------------------


def load(path: Path) -> ModuleType:
    """Import a file by its path; TheirError names the line where it fails.

    Raises
    ------
    TheirError
        For a file that cannot be read as Python, or raises while it is imported.
    """
    path = path.resolve()  # as the frames of a traceback name it
    spec = importlib.util.spec_from_file_location("my_mixture", path)
    if spec is None or spec.loader is None:
        raise TheirError(f"{path.name}: its name has to end in .py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(
        spec
    )  # dataclasses look there
    writing, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # leave nothing beside it
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise TheirError(f"{path.name}{_line(error, path)}: {named(error)}") from error
    finally:
        sys.dont_write_bytecode = writing
    return module


def _line(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(path) and error.lineno:
        return f", line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f", line {lines[-1]}" if lines else ""


def judge(module: ModuleType) -> list[Verdict]:
    """A verdict for each step, of a file's functions.

    >>> [verdict.status for verdict in judge(solution)]
    ['right', 'right', 'right', 'right', 'right']
    """
    verdicts: dict[str, Verdict] = {}
    for step in STEPS:
        verdict = step.answer.judge(getattr(module, step.name, None))
        if step.uses and not _settled(verdict) and not _settled(verdicts[step.uses]):
            # Made with a wrong function, a right one is wrong as well, and a mistake is another.
            number = [each.name for each in STEPS].index(step.uses) + 1
            verdict = Verdict("wrong", f"is asked again when step {number} stands")
        verdicts[step.name] = verdict
    return list(verdicts.values())


def _settled(verdict: Verdict) -> bool:
    return verdict.status in ("right", "unanswered")


def report(path: Path) -> tuple[list[str], bool]:
    """The lines that a reader sees, and whether all steps stand."""
    verdicts = judge(load(path))
    lines = []
    for number, (step, verdict) in enumerate(zip(STEPS, verdicts, strict=True), start=1):
        text = "not there yet" if verdict.status == "unanswered" else verdict.text
        if verdict.error:
            text = f"{path.name}{_line(verdict.error, path.resolve())}: {text}"
        lines.append(f"step {number} of {len(STEPS)}, {step.name}: {text}")
    waiting = [step for step, verdict in zip(STEPS, verdicts, strict=True) if not verdict.right]
    if not waiting:
        return [*lines, "all five steps stand: you have built a mixture that learns"], True
    first = waiting[0]
    where = "begin" if len(waiting) == len(STEPS) else "go on"
    lines.append(f"{where} with  def {first.answer.signature}:")
    lines.append(f"    {first.task}")
    return lines, False


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m elmo_toy.exercises.build",
        description="Check a file of your own against the five steps of the homework.",
    )
    parser.add_argument("file", type=Path, help="your file, as my_mixture.py; it may be empty")
    path = parser.parse_args(arguments).file
    if not path.is_file():
        print(f"{path}: no such file; make an empty one and run this again", file=sys.stderr)
        return 2
    try:
        lines, done = report(path)
    except TheirError as error:
        print(error)
        return 1
    print("\n".join(lines))
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
