"""Exercises of the book: each with hints, a solution, and a check that names the usual mistakes.

    from elmo_toy.exercises import check
    check("3.1", [0.1667, 0.3333, 0.5])

An exercise is a question with a place in the book (`exercise`), its answer judges what a reader
gives (`answers`), and the usual wrong formulas are run, not typed (`mistakes`). The notebooks of
exercises are written from here by ``tools/write_exercises.py``; `build` is the homework that goes
from an empty file to a mixture that learns.

Book: chapter 4, "Falling loss verifies nothing".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from elmo_toy.exercises import carry, context, gradient, mixture, task
from elmo_toy.exercises.answers import Verdict
from elmo_toy.exercises.exercise import Exercise

__all__ = ["EXERCISES", "Exercise", "Verdict", "check"]

#: All exercises by id, in the order of the chapters.
EXERCISES: Mapping[str, Exercise] = MappingProxyType(
    {
        exercise.id: exercise
        for module in (context, mixture, gradient, task, carry)
        for exercise in module.EXERCISES
    }
)


def check(exercise_id: str, answer: Any) -> Verdict:
    """Judge an answer: right, a usual mistake by name, close, or neither, then with the first hint.

    Parameters
    ----------
    exercise_id
        As in "3.2".
    answer
        What the exercise asks for; ``...`` and None are no answer yet.

    Raises
    ------
    KeyError
        For an id that no exercise has.
    TypeError
        For a number: 4.1 and 4.10 are the same one.

    Book: chapter 3, "One mixture, by hand".

    >>> check("3.1", [1, 2, 3])
    3.1: not yet: those are the exponentials of the logits, not yet divided by their sum
    >>> check("3.1", [0.167, 0.333, 0.5])
    3.1: right
    >>> check("3.1", ...)
    3.1: no answer yet: replace the ...
    """
    if not isinstance(exercise_id, str):
        raise TypeError(f'exercise_id must be a string, as in "3.2", given {exercise_id!r}')
    if exercise_id not in EXERCISES:
        raise KeyError(f"no exercise {exercise_id!r}; there are {', '.join(EXERCISES)}")
    exercise = EXERCISES[exercise_id]
    verdict = exercise.answer.judge(answer)
    hint = f". A hint: {exercise.hints[0]}" if verdict.status == "wrong" else ""
    return replace(verdict, text=f"{exercise_id}: {verdict.text}{hint}")
