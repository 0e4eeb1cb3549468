"""The exercises: each solution passes, each mistake is named, and all of the book is reached."""

from __future__ import annotations

import ast
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter

from elmo_toy import descent, exercises
from elmo_toy.bilm.model import parameter_shapes
from elmo_toy.bilm.released import RELEASED
from elmo_toy.exercises import EXERCISES, Exercise, check
from elmo_toy.exercises.answers import Choices, Count, Function, Number, Witness
from elmo_toy.exercises.closeness import apart
from elmo_toy.exercises.exercise import LEVELS, PAGES
from elmo_toy.exercises.mistakes import MISCONCEPTION_IDS
from elmo_toy.exercises.objectives import OBJECTIVES
from tools import prose_numbers

PACKAGE = Path(exercises.__file__).parent
NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
every_exercise = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)


@every_exercise
def test_the_solution_passes(exercise: Exercise) -> None:
    verdict = check(exercise.id, exercise.answer.solution)
    assert verdict.right, verdict


@every_exercise
def test_every_mistake_is_recognised_with_its_sentence(exercise: Exercise) -> None:
    given = len(exercise.answer.wrong)
    assert given >= 3, f"{exercise.id}: at least three wrong answers are expected, given {given}"
    for wrong in exercise.answer.wrong:
        verdict = check(exercise.id, wrong.answer)
        assert verdict.status == "mistake"
        assert verdict.wrong is wrong
        assert str(verdict) == f"{exercise.id}: not yet: {wrong.sentence}"
        assert wrong.misconception in (None, *MISCONCEPTION_IDS)


@every_exercise
def test_solution_and_mistakes_differ_in_three_digits(exercise: Exercise) -> None:
    answer = exercise.answer
    named = [("the solution", answer.solution)]
    named += [(wrong.sentence, wrong.answer) for wrong in answer.wrong]
    for (one, first), (other, second) in combinations(named, 2):
        match answer:
            case Number():
                differ = apart(first, second)
            case Function():
                with np.errstate(all="ignore"):
                    differ = any(apart(first(*p), second(*p)) for p in answer.probes)
            case Choices():
                differ = set(first) != set(second)
            case Count() | Witness():
                differ = not np.array_equal(first, second)
        assert differ, f"{one} / {other}"


#: Numbers as texts print them: 0.675, -3, 16,384; not the digits of names such as W_0.
NUMBER = re.compile(r"(?<![\w.])-?\d{1,3}(?:,\d{3})+|(?<![\w.,])-?\d+(?:\.\d+)?")


@every_exercise
def test_the_answer_that_a_solution_prints_is_accepted(exercise: Exercise) -> None:
    """Of all numbers that are printed, those nearest to the right ones."""
    if isinstance(exercise.answer, Function | Choices):
        return  # code, which is run in test_solutions, and words
    text = exercise.solution_text
    printed = np.array([float(n.replace(",", "")) for n in NUMBER.findall(text)])
    right = np.asarray(exercise.answer.solution, float)
    nearest = printed[np.abs(right[..., None] - printed).argmin(axis=-1)]
    verdict = check(exercise.id, nearest)
    assert verdict.right, f"{nearest.tolist()}: {verdict}"


def test_how_printed_numbers_are_found() -> None:
    assert NUMBER.findall("$W_0 = -3$, 16,384 and [0.5, -1] make 4.55%; 9.") == [
        *("-3", "16,384", "0.5", "-1", "4.55", "9")
    ]


@every_exercise
def test_a_share_in_per_cent_is_recognised_and_the_other_way_round(exercise: Exercise) -> None:
    answer = exercise.answer
    if not isinstance(answer, Number) or np.ndim(answer.solution):
        return
    if "per cent" in exercise.question:
        assert "times 100" in str(check(exercise.id, answer.solution / 100))
    elif re.search(r"\b(share|probability)\b", exercise.question):
        assert "in per cent" in str(check(exercise.id, answer.solution * 100))


@every_exercise
def test_the_syntax_that_is_shown_gives_no_answer_away(exercise: Exercise) -> None:
    if isinstance(exercise.answer, Choices):
        shown = re.findall(r'as in "(.*?)" or', str(check(exercise.id, 3)))
        verdict = check(exercise.id, *shown)
        assert verdict.status in ("mistake", "wrong")


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("1.3", 67.5, "that is in per cent"),
        ("3.1", [0.17, 0.33, 0.5], "close: give three digits, each within 0.0005"),
        ("3.2", [[2.4, 0.8], [1.6, 2.8]], "river and loan are in each other's place"),
        ("3.2", [[3.4, 2.2], [0.6, 2]], "the weights of the chapter's default state"),
        ("3.4", 0.78, "close: give three digits, within 0.0005 of the right number"),
        ("3.7", "d, c a", "right"),
        ("4.1", 0.72, "close: give three digits"),
        ("4.2", [0.19, 0.34, -0.53], "close: give three digits"),
        ("4.6", 1.525, "that is where the loss after the step is lowest"),
        ("4.6", 1.53, "that is where the loss after the step is lowest"),
        ("6.2", 4.5, "close: give three digits"),
        ("6.2", 11, "that is averaging and learning together"),
        ("6.2", 89, "that is what the last layer alone brought"),
        ("6.3", "BC", "B is right, C is not"),
        ("6.4", 15, "that is in per cent"),
    ],
)
def test_what_readers_have_answered(name: str, answer: object, said: str) -> None:
    assert said in str(check(name, answer))


def test_the_rate_of_the_lowest_loss_is_that_of_a_grid() -> None:
    rates = np.arange(0.01, 4.5, 0.01)
    losses = [descent.step_on_logits(np.array([0.2, 0.6, 0.2]), 2.0, r).loss for r in rates]
    found = EXERCISES["4.6"].answer.wrong[0].answer
    assert found == pytest.approx(rates[np.argmin(losses)], abs=0.01)


@every_exercise
@pytest.mark.parametrize("answer", [None, ...])
def test_unanswered_says_so(exercise: Exercise, answer: object) -> None:
    verdict = check(exercise.id, answer)
    assert verdict.status == "unanswered"
    assert not verdict.right
    assert repr(verdict) == f"{exercise.id}: no answer yet: replace the ..."


@every_exercise
def test_unreadable_answers_get_a_sentence(exercise: Exercise) -> None:
    for answer in ("soup", np.nan, [[1], [1, 2]], np.full((9, 9), 0.5)):
        assert check(exercise.id, answer).status in ("unreadable", "wrong")


def test_an_answer_that_is_nothing_known_gets_the_first_hint() -> None:
    assert str(check("3.4", 123.0)).endswith(f"not yet. A hint: {EXERCISES['3.4'].hints[0]}")


def test_a_hint_shows_its_formulas_in_a_notebook() -> None:
    formats = DisplayFormatter().format
    hint = check("2.2", (0.0, 0.0))
    assert hint.status == "wrong"
    assert "$[x, h]" in formats(hint)[0]["text/markdown"]
    assert list(formats(check("2.2", ...))[0]) == ["text/plain"]


def test_an_unknown_id() -> None:
    with pytest.raises(KeyError, match=r"no exercise '9\.9'; there are 1\.1, 1\.2"):
        check("9.9", 1)
    number: Any = 4.10
    with pytest.raises(TypeError, match=r'exercise_id must be a string, as in "3\.2", given 4\.1'):
        check(number, 1)


def test_spread() -> None:
    assert len(EXERCISES) >= 24
    chapters = Counter(exercise.chapter for exercise in EXERCISES.values())
    assert set(chapters) == set(PAGES)
    assert min(chapters.values()) >= 2
    others = [number for chapter, number in chapters.items() if chapter not in (3, 4)]
    assert min(chapters[3], chapters[4]) > max(others)
    levels = Counter(exercise.level for exercise in EXERCISES.values())
    assert set(levels) == set(LEVELS)
    assert min(levels.values()) >= 6
    assert {exercise.objective for exercise in EXERCISES.values()} == set(OBJECTIVES)


def test_objectives_name_the_chapters_where_they_are_exercised() -> None:
    for exercise in EXERCISES.values():
        assert exercise.chapter in OBJECTIVES[exercise.objective].chapters, exercise.id


def test_ids_are_in_order() -> None:
    numbers = [tuple(map(int, exercise_id.split("."))) for exercise_id in EXERCISES]
    assert numbers == sorted(numbers)
    for chapter in PAGES:
        own = [number for first, number in numbers if first == chapter]
        assert own == list(range(1, len(own) + 1))


@every_exercise
def test_anchor_exists(exercise: Exercise) -> None:
    page, _, anchor = exercise.anchor.partition("#")
    text = "\n\n".join(section.text for section in prose_numbers.sections(NOTEBOOKS / page))
    assert anchor in {slug for _, slug in prose_numbers.headings(text)}


@every_exercise
def test_texts(exercise: Exercise) -> None:
    assert 2 <= exercise.minutes <= 20
    assert all(exercise.hints)
    for text in (exercise.question, *exercise.hints, exercise.solution_text):
        assert text.count("$") % 2 == 0
        assert not re.search(r"\b(simply|just|of course|obviously)\b", text)
    assert ast.parse(exercise.code)


def test_no_decimal_is_typed_in_a_text() -> None:
    """What binds the numbers of the other pages' prose to values is here the f-string itself."""
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in ("question", "hints", "solution_text"):
                typed = [
                    part.value
                    for part in ast.walk(node.value)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                ]
                # exercise numbers are names
                found = re.findall(r"\d+\.\d+", re.sub(r"exercise\s\d+\.\d+", "", " ".join(typed)))
                assert not found, f"{path.name}, line {node.value.lineno}: {found}"


# --- single exercises against something that they were not made from ------------------------------


def test_the_size_of_a_cell_is_that_of_the_released_shapes() -> None:
    shapes = parameter_shapes(RELEASED["original"], None)
    (first, *_) = [name.rpartition("/")[0] for name in shapes if name.endswith("W_P_0")]
    sizes = [np.prod(shape) for name, shape in shapes.items() if name.startswith(f"{first}/")]
    both_directions = sum(int(size) for size in sizes)
    assert both_directions == 2 * EXERCISES["8.1"].answer.solution


def test_no_logits_move_the_score_faster_than_the_bound() -> None:
    scores = np.array([1.0, -2.0, 2.0])
    logits = np.random.default_rng(0).normal(0, 5, size=(20000, 3))
    logits = np.concatenate([logits, [[-40.0, 0.0, 0.0]]])
    weights = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    slopes = 3 * weights * (scores - (weights @ scores)[:, None])
    bound = EXERCISES["4.10"].answer.solution
    assert np.abs(slopes).max() <= bound
    assert np.abs(slopes).max() == pytest.approx(bound, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_two_systems_simulated(seed: int) -> None:
    """A hundred thousand tries, as the hint says, are enough for the digits that are asked for."""
    draws = np.random.default_rng(seed).normal(scale=0.17, size=(100_000, 2, 3)).mean(axis=2)
    share = (np.abs(draws[:, 0] - draws[:, 1]) >= 0.2).mean()
    assert check("6.4", share).right


def test_rounded_witnesses_are_witnesses() -> None:
    for exercise_id in ("3.8", "4.7", "5.4"):
        assert check(exercise_id, np.round(EXERCISES[exercise_id].answer.solution, 3)).right


@pytest.mark.parametrize("seed", range(40))
def test_a_state_hides_the_forgotten_term_where_the_loss_is_stationary_in_gamma(seed: int) -> None:
    """To three digits, as the exercise asks; and at no other gamma, nearly 0 or large."""
    weights = np.random.default_rng(seed).dirichlet(np.ones(3) * 3).round(3)
    losses = descent.loss_at(weights, gammas := np.linspace(-30, 30, 60_001))
    lowest = gammas[losses.argmin()]
    stationary = abs(lowest) < 29.9
    assert check("4.7", [*weights, float(f"{lowest:.3g}")]).right == stationary
    for other in (0.0025, -0.0025, lowest + 0.5, lowest - 0.5, 40.0, -40.0):
        assert not check("4.7", [*weights, other]).right
