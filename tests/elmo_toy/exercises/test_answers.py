"""How answers are judged: rounded ones are right, unreadable ones get a sentence, none raises."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy.exercises.answers import (
    Answer,
    Choices,
    Count,
    Function,
    Number,
    Witness,
    Wrong,
)
from elmo_toy.exercises.closeness import apart

NUMBER = Number(0.420337, (Wrong(0.840674, "no mean"),))
VECTOR = Number([0.042234, 0.272578, -0.314812], (Wrong([1.0, 2.0], "two of three"),))
COUNT = Count((6, 11), (Wrong((6, 6), "count occurrences"),))
PAIR = Function(
    "pair(x)",
    lambda x: (2 * x, 1.0),
    ((np.array([1.0, 2.0]),),),
    (Wrong(lambda x: (x, 1.0), "not doubled"),),
    pair=True,
)
CHOICES = Choices(("A", "B", "C"), frozenset("AB"), (Wrong(("A",), "one is missing"),))
FUNCTION = Function(
    "double(x)",
    lambda x: 2 * x,
    ((np.array([1.0, 2.0]),), (np.array([-3.0]),)),
    (Wrong(lambda x: x + 2, "you added"), Wrong(lambda x: x / 0, "you divided by nothing")),
)
WITNESS = Witness((2,), lambda x: "they are equal" if x[0] == x[1] else None, [1.0, 2.0])
WORDS = Choices(("all", "one layer", "none"), frozenset({"all", "one layer"}))
SYNTAX = 'expected some of A, B, C, as in "AB" or ["A", "B"]'
ONE_PAIR = "your function's result: expected a pair, an array (2,) and a number"
KINDS: tuple[Answer, ...] = (NUMBER, VECTOR, COUNT, CHOICES, FUNCTION, PAIR, WITNESS)


class HostileError(Exception):
    """A reader's own: whatever is asked of it, it raises."""

    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__

    def __array__(self, dtype: object = None, copy: object = None) -> None:
        raise RuntimeError

    def __iter__(self) -> None:
        raise RuntimeError


def raising(*_: object) -> None:
    raise HostileError


def of_itself() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


@pytest.mark.parametrize("answer", KINDS, ids=lambda answer: type(answer).__name__)
@pytest.mark.parametrize(
    "given",
    [
        HostileError(),
        [HostileError()],
        raising,
        lambda *_: HostileError(),
        of_itself(),
        lambda *_: of_itself(),
    ],
    ids=["object", "list", "raising", "returning", "of itself", "returning one of itself"],
)
def test_what_is_a_readers_own_may_raise_anything(answer: Answer, given: Any) -> None:
    verdict = answer.judge(given)
    assert verdict.status in {"unreadable", "wrong"}
    assert verdict.text


@pytest.mark.parametrize("answer", KINDS, ids=lambda answer: type(answer).__name__)
@pytest.mark.parametrize(
    "given", [None, ..., "soup", object(), float("nan"), [[1], [1, 2]], {}, 1j, True, lambda: 1]
)
def test_no_answer_raises_and_none_of_these_is_right(answer: Answer, given: Any) -> None:
    verdict = answer.judge(given)
    assert not verdict.right
    assert verdict.text
    assert (verdict.status == "unanswered") == (given in (None, ...))


@pytest.mark.parametrize(
    ("answer", "given", "text"),
    [
        (NUMBER, "0.42", "expected one number, given '0.42'"),
        (NUMBER, [0.42], "expected one number, given shape (1,)"),
        (NUMBER, np.nan, "expected finite numbers, given nan"),
        (NUMBER, lambda: 0.42, "a function was given, expected one number: call it first"),
        (NUMBER, True, "expected one number, given True"),
        (VECTOR, [1.0, 2.0], "not yet: two of three"),
        (VECTOR, [1.0, 3.0], "expected numbers of shape (3,), given shape (2,)"),
        (VECTOR, [0.042, 0.273, 1.0], "not yet (2 of 3 numbers are right)"),
        (VECTOR, [..., ..., None], "no answer yet: replace the ..."),
        (
            VECTOR,
            [0.042, ..., None],
            "expected numbers of shape (3,), given [0.042, Ellipsis, None]",
        ),
        (NUMBER, "x" * 59, f"expected one number, given '{'x' * 56}..."),
        (NUMBER, "x" * 58, f"expected one number, given '{'x' * 58}'"),
        (COUNT, (6, 6), "not yet: count occurrences"),
        (COUNT, (6, 11.0), "right"),
        (COUNT, (6, 11.01), "not yet"),
        (CHOICES, "b", "not yet: 1 missing"),
        (CHOICES, ["a", " B "], "right"),
        (CHOICES, "A", "not yet: one is missing"),
        (CHOICES, ["A", "C"], "not yet: 1 too many, 1 missing"),
        (CHOICES, ["A", "soup"], f"{SYNTAX}, given ['A', 'soup']"),
        (CHOICES, 3, f"{SYNTAX}, given 3"),
        (CHOICES, np.array(3), f"{SYNTAX}, given array(3)"),
        (CHOICES, np.array(["B", "a"]), "right"),
        (CHOICES, "AB", "right"),
        (CHOICES, " b,A ", "right"),
        (CHOICES, "a b", "right"),
        (CHOICES, {"A", "B"}, "right"),
        (CHOICES, ["A, B"], "right"),
        (CHOICES, "ABC", "not yet: 1 too many"),
        (CHOICES, "ABX", f"{SYNTAX}, given 'ABX'"),
        (CHOICES, "", f"{SYNTAX}, given ''"),
        (CHOICES, "A and B", f"{SYNTAX}, given 'A and B'"),
        (WORDS, "one layer, all", "right"),
        (WORDS, {"All", "one layer"}, "right"),
        (
            WORDS,
            "one layer all",
            'expected some of all, one layer, none, as in "all, one layer" or',
        ),
        (PAIR, lambda x: [x + x, 1], "right, on 1 inputs"),
        (PAIR, lambda x: (x, 1), "not yet: not doubled"),
        (PAIR, lambda x: np.append(x + x, 1), f"{ONE_PAIR}, given one array of shape (3,)"),
        (PAIR, lambda x: (1, x), f"{ONE_PAIR}, given the pair of 1 and one array of shape (2,)"),
        (PAIR, lambda x: (x, x, x), f"{ONE_PAIR}, given (array"),
        (PAIR, lambda x: 1.0, f"{ONE_PAIR}, given 1.0"),
        (PAIR, lambda x: (..., ...), "no answer yet"),
        (VECTOR, [0.04, 0.27, -0.31], "close: give three digits, each within 0.0005 of the right"),
        (WITNESS, [1, 1], "not yet: they are equal"),
        (WITNESS, [1, 3], "right"),
        (FUNCTION, lambda x: x * 2, "right, on 2 inputs"),
        (FUNCTION, lambda x: x + 2, "not yet: you added"),
        (FUNCTION, lambda x: x / np.zeros(1), "not yet: you divided by nothing"),
        (FUNCTION, lambda x: np.log(-np.abs(x)), "your function's result has numbers that are not"),
        (FUNCTION, lambda x: 2 * np.abs(x), "not yet: right on 1 of 2 inputs"),
        (FUNCTION, lambda x: ..., "no answer yet"),
        (FUNCTION, lambda: 1, "your function raised TypeError: "),
        (FUNCTION, lambda x: sys.exit(3), "your function raised SystemExit: 3"),
        (FUNCTION, lambda x: "x", "your function's result: expected numbers of shape (2,)"),
        (FUNCTION, 2.0, "expected a function, given 2.0: leave out the call"),
    ],
)
def test_what_is_said(answer: Answer, given: Any, text: str) -> None:
    assert answer.judge(given).text.startswith(text)


@given(st.floats(1e-6, 1e6), st.booleans())
def test_what_is_rounded_to_three_digits_is_right(value: float, negative: bool) -> None:
    value = -value if negative else value
    assert Number(value).judge(float(f"{value:.3g}")).right
    assert Number(value).judge(float(f"{value:.5g}")).right


@given(st.floats(1e-3, 1e3), st.floats(0.02, 5))
def test_two_percent_off_is_wrong(value: float, off: float) -> None:
    assert not Number(value).judge(value * (1 + off)).right
    assert apart(value, value * (1 + off))


@given(st.floats(1e-3, 1e3), st.booleans())
def test_what_is_rounded_to_two_digits_is_right_or_close(value: float, negative: bool) -> None:
    value = -value if negative else value
    rounded = float(f"{value:.2g}")
    assert Number(value).judge(rounded).status in ("right", "close")
    mistake = Number(1e6, (Wrong(value, "no"),)).judge(rounded)
    assert mistake.text == "not yet: no"


def test_close_to_two_mistakes_is_told_as_none_of_them() -> None:
    number = Number(1.0, (Wrong(0.2633, "one"), Wrong(0.2648, "other")))
    verdict = number.judge(0.26)
    assert verdict.text == "not yet: give three digits, to tell which of the usual mistakes it is"
    assert verdict.status == "close"
    assert number.judge(0.263).text == "not yet: one"


def test_close_to_the_right_number_says_so_whatever_mistake_is_near() -> None:
    number = Number(0.675, (Wrong(0.6667, "no"),))
    assert number.judge(0.67).status == "close"
    assert number.judge(0.667).text == "not yet: no"


def test_close_in_the_digits_that_are_asked_for() -> None:
    assert Number(0.1496, digits=2).judge(0.2).status == "wrong"
    assert Number(0.201, digits=2).judge(0.21).status == "wrong"
    assert Number(0.951, digits=2).judge(0.965).text.startswith("close: give two digits")


def test_fewer_digits_where_a_number_is_measured() -> None:
    assert not Number(0.1496).judge(0.151).right
    assert Number(0.1496, digits=2).judge(0.151).right


def test_a_function_may_write_into_what_it_gets() -> None:
    def doubling(x: np.ndarray[Any, Any]) -> Any:
        x *= 2
        return x

    assert FUNCTION.judge(doubling).right
    assert FUNCTION.judge(doubling).right


def test_a_wrong_formula_never_hides_the_right_one() -> None:
    same: Callable[[Any], Any] = lambda x: 2 * x  # noqa: E731  (as exercises write them)
    assert Function("f(x)", same, ((1.0,),), (Wrong(same, "no"),)).judge(same).right
