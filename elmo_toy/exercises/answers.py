"""How an answer is judged: right, a known mistake by name, close, or none of these.

There are five kinds of answer. Each holds the right one and the usual wrong ones, and judges what a
reader gives: `Number` (also arrays, to three digits), `Count` (exactly), `Choices` (a set of
words), `Function` (run on fixed inputs beside the right and the wrong formulas) and `Witness` (any
answer with a property). Nothing that a reader hands over raises: the verdict says what it was.

Book: chapter 4, "Falling loss verifies nothing".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.exercises.closeness import DIGITS, agree, near, tolerance, within

Status = Literal["right", "mistake", "close", "wrong", "unanswered", "unreadable"]


@dataclass(frozen=True)
class Wrong:
    """An answer that is often given, and what it is; a function where functions are asked for."""

    answer: Any
    sentence: str
    misconception: str | None = None


@dataclass(frozen=True, repr=False)
class Verdict:
    """What `check` says of an answer; shown as its text."""

    status: Status
    text: str
    wrong: Wrong | None = None
    error: BaseException | None = None  # that a reader's function raised

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.status == "right"

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str | None:
        """In a notebook a hint shows its formulas, as the folded one above the cell does."""
        return self.text if self.status == "wrong" else None


def unanswered(given: Any, depth: int = 9) -> bool:
    """``...`` and ``None``, also as a whole list of them; a list may hold itself."""
    if isinstance(given, list | tuple) and given:
        return depth > 0 and all(unanswered(item, depth - 1) for item in given)
    return given is None or given is Ellipsis


def named(error: BaseException) -> str:
    """An error's kind and what it says, if it says something.

    >>> named(ValueError("no such layer"))
    'ValueError: no such layer'
    """
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # an error of a reader's own
        text = "(without a message)"
    return f"{type(error).__name__}: {text}"


_UNANSWERED = Verdict("unanswered", "no answer yet: replace the ...")


def _right(text: str = "") -> Verdict:
    return Verdict("right", f"right{text}")


def _mistake(wrong: Wrong) -> Verdict:
    return Verdict("mistake", f"not yet: {wrong.sentence}", wrong)


def _unreadable(text: str) -> Verdict:
    return Verdict("unreadable", text)


def _numbers(given: Any, shape: tuple[int, ...], *, finite: bool = True) -> Array | Verdict:
    """The answer as real numbers of a shape, or what is the matter with it."""
    expected = "one number" if shape == () else f"numbers of shape {shape}"
    if callable(given):
        return _unreadable(f"a function was given, expected {expected}: call it first")
    try:
        raw = np.asarray(given)
        if raw.dtype.kind not in "iuf":
            raise TypeError
        values = raw.astype(np.float64)
    except Exception:  # an object may be a reader's own, and raise anything
        return _unreadable(f"expected {expected}, given {_short(given)}")
    if values.shape != shape:
        return _unreadable(f"expected {expected}, given shape {values.shape}")
    if finite and not np.isfinite(values).all():
        return _unreadable(f"expected finite numbers, given {_short(given)}")
    return values


def _short(value: Any) -> str:
    try:
        text = " ".join(repr(value).split())
    except Exception:  # as above
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _form(value: Any) -> str:
    """What a value is rather than which."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"one array of shape {value.shape}"
    return _short(value)


_WORDS = {2: "two", 3: "three"}


# --- the kinds of answer --------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """A number or an array; what agrees to three digits is right, or to fewer if it is measured."""

    solution: Any
    wrong: tuple[Wrong, ...] = ()
    digits: int = DIGITS

    def judge(self, given: Any) -> Verdict:
        """Compare an answer, rounded or not, with the solution and the mistakes.

        >>> Number(0.420337, (Wrong(0.840674, "no mean"),)).judge(0.42)
        right
        >>> Number(0.420337, (Wrong(0.840674, "no mean"),)).judge(0.8407)
        not yet: no mean
        >>> Number(0.420337, (Wrong(0.840674, "no mean"),)).judge(0.422)
        close: give three digits, within 0.0005 of the right number
        """
        if unanswered(given):
            return _UNANSWERED
        solution = np.asarray(self.solution, dtype=np.float64)
        expected = _numbers(given, solution.shape)
        others = (_numbers(given, np.shape(wrong.answer)) for wrong in self.wrong)
        # A mistake may have a shape of its own.
        values = next((v for v in (expected, *others) if not isinstance(v, Verdict)), expected)
        if isinstance(values, Verdict):
            return values
        if agree(values, solution, self.digits):
            return _right()
        for wrong in self.wrong:
            if agree(values, wrong.answer, self.digits):
                return _mistake(wrong)
        more = f"give {_WORDS[self.digits]} digits"
        if near(values, solution, self.digits):
            return Verdict("close", f"close: {more}, {within(solution, self.digits)}")
        nearby = [wrong for wrong in self.wrong if near(values, wrong.answer, self.digits)]
        if len(nearby) == 1:
            return _mistake(nearby[0])
        if nearby:
            return Verdict("close", f"not yet: {more}, to tell which of the usual mistakes it is")
        if isinstance(expected, Verdict):
            return expected
        right = np.abs(values - solution) <= tolerance(solution, self.digits)
        some = f" ({right.sum()} of {right.size} numbers are right)" if right.any() else ""
        return Verdict("wrong", f"not yet{some}")


@dataclass(frozen=True)
class Count:
    """A whole number, or several; nothing is rounded."""

    solution: Any
    wrong: tuple[Wrong, ...] = ()

    def judge(self, given: Any) -> Verdict:
        """Compare exactly.

        >>> Count((6, 11), (Wrong((6, 6), "occurrences differ"),)).judge([6, 6])
        not yet: occurrences differ
        """
        if unanswered(given):
            return _UNANSWERED
        values = _numbers(given, np.shape(self.solution))
        if isinstance(values, Verdict):
            return values
        if np.array_equal(values, self.solution):
            return _right()
        for wrong in self.wrong:
            if np.array_equal(values, wrong.answer):
                return _mistake(wrong)
        return Verdict("wrong", "not yet")


@dataclass(frozen=True)
class Choices:
    """A set of words or letters out of `options`, in any order; as a list or in one string."""

    options: tuple[str, ...]
    solution: frozenset[str]
    wrong: tuple[Wrong, ...] = ()

    def judge(self, given: Any) -> Verdict:
        """Compare sets; capitals don't count.

        >>> Choices(("A", "B", "C"), frozenset({"A", "C"})).judge("c, a")
        right
        >>> Choices(("A", "B", "C"), frozenset({"A", "C"})).judge("D")
        expected some of A, B, C, as in "AB" or ["A", "B"], given 'D'
        """
        if unanswered(given):
            return _UNANSWERED
        known_options = {option.casefold(): option for option in self.options}
        items = [given] if isinstance(given, str) else given
        if isinstance(items, np.ndarray):
            items = items.ravel().tolist()  # also without an axis, over which nothing can run
        try:
            names = [name for item in items for name in self._split(str(item).casefold())]
        except Exception:  # nothing that can be run over, or a reader's own
            names = [""]
        if not set(names) <= set(known_options):
            return _unreadable(f"expected some of {self._syntax()}, given {_short(given)}")
        chosen = frozenset(known_options[name] for name in names)
        if chosen == self.solution:
            return _right()
        for wrong in self.wrong:
            if chosen == frozenset(wrong.answer):
                return _mistake(wrong)
        much, little = chosen - self.solution, self.solution - chosen
        parts = (f"{len(much)} too many" if much else "", f"{len(little)} missing" * bool(little))
        return Verdict("wrong", f"not yet: {', '.join(filter(None, parts))}")

    @property
    def _letters(self) -> bool:
        return all(len(option) == 1 for option in self.options)

    def _split(self, text: str) -> list[str]:
        """Words between commas; letters also without them."""
        words = [word.strip() for word in text.split(",")]
        return [*"".join("".join(words).split())] or [""] if self._letters else words

    def _syntax(self) -> str:
        first, second, *_ = self.options  # whatever is right, so that it gives nothing away
        together = f"{first}{second}" if self._letters else f"{first}, {second}"
        return f'{", ".join(self.options)}, as in "{together}" or ["{first}", "{second}"]'


Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Function:
    """A function, run on `probes` beside the right formula and the wrong ones.

    Where a `pair` is asked for, an array (n,) and a number, the formulas return pairs as well.
    """

    signature: str
    solution: Callable[..., Any]
    probes: tuple[Arguments, ...]
    wrong: tuple[Wrong, ...] = ()
    pair: bool = False

    def judge(self, given: Any) -> Verdict:
        """Run an answer; what it raises is reported as its own.

        >>> double = Function("f(x)", lambda x: 2 * x, ((1.0,), (3.0,)))
        >>> double.judge(lambda x: x + x)
        right, on 2 inputs
        >>> double.judge(lambda x: 1 / 0)
        your function raised ZeroDivisionError: division by zero
        """
        if unanswered(given):
            return _UNANSWERED
        if not callable(given):
            return _unreadable(f"expected a function, given {_short(given)}: leave out the call")
        found = []
        for probe in self.probes:
            try:
                with np.errstate(all="ignore"):
                    result = given(*_copied(probe))
            except (Exception, SystemExit) as error:  # theirs, whatever it is
                text = f"your function raised {named(error)}"
                return Verdict("unreadable", text, error=error)
            if unanswered(result):
                return _UNANSWERED
            values = self._read(result, np.shape(self._run(self.solution, probe)))
            if isinstance(values, Verdict):
                return _unreadable(f"your function's result: {values.text}")
            found.append(values)
        if self._same(found, self.solution):
            return _right(f", on {len(found)} inputs")
        for wrong in self.wrong:
            if self._same(found, wrong.answer):
                return _mistake(wrong)
        if not all(np.isfinite(values).all() for values in found):
            return _unreadable("your function's result has numbers that are not finite")
        same = sum(
            _close(values, self._run(self.solution, probe))
            for values, probe in zip(found, self.probes, strict=True)
        )
        return Verdict("wrong", f"not yet: right on {same} of {len(found)} inputs")

    def _same(self, found: list[Array], formula: Callable[..., Any]) -> bool:
        with np.errstate(all="ignore"):
            return all(
                _close(values, self._run(formula, probe))
                for values, probe in zip(found, self.probes, strict=True)
            )

    def _run(self, formula: Callable[..., Any], probe: Arguments) -> Any:
        """What a formula of ours gives; a pair as one array."""
        result = formula(*_copied(probe))
        return np.append(*result) if self.pair else result

    def _read(self, result: Any, shape: tuple[int, ...]) -> Array | Verdict:
        """What a reader's function gave, likewise; a mistake may overflow."""
        if not self.pair:
            return _numbers(result, shape, finite=False)
        expected = f"a pair, an array ({shape[0] - 1},) and a number"
        if not isinstance(result, tuple | list) or len(result) != 2:
            return _unreadable(f"expected {expected}, given {_form(result)}")
        first = _numbers(result[0], (shape[0] - 1,), finite=False)
        second = _numbers(result[1], (), finite=False)
        if isinstance(first, Verdict) or isinstance(second, Verdict):
            each = " and ".join(_form(part) for part in result)
            return _unreadable(f"expected {expected}, given the pair of {each}")
        return np.append(first, second)


def _copied(arguments: Arguments) -> Arguments:
    """A function may write into what it is given."""
    return tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments)


def _close(values: Array, target: Any) -> bool:
    target = np.asarray(target, dtype=np.float64)
    return values.shape == target.shape and bool(
        np.allclose(values, target, rtol=1e-6, atol=1e-9, equal_nan=True)
    )


@dataclass(frozen=True)
class Witness:
    """Any numbers of a shape with a property: `problem` says what is missing, None if nothing."""

    shape: tuple[int, ...]
    problem: Callable[[Array], str | None]
    solution: Any
    wrong: tuple[Wrong, ...] = ()

    def judge(self, given: Any) -> Verdict:
        """Ask for the property.

        >>> even = Witness((), lambda x: "that is odd" if x % 2 else None, 2)
        >>> even.judge(4), even.judge(3)
        (right, not yet: that is odd)
        """
        if unanswered(given):
            return _UNANSWERED
        values = _numbers(given, self.shape)
        if isinstance(values, Verdict):
            return values
        problem = self.problem(values)
        if problem is None:
            return _right()
        for wrong in self.wrong:
            if wrong.sentence == problem:
                return _mistake(wrong)
        return Verdict("wrong", f"not yet: {problem}")


Answer = Number | Count | Choices | Function | Witness
