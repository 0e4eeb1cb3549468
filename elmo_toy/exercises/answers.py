"""How an answer is judged: right, a known mistake by name, or neither.

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

DIGITS = 3

Status = Literal["right", "mistake", "wrong", "unanswered", "unreadable"]


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

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.status == "right"

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str | None:
        """In a notebook a hint shows its formulas, as the folded one above the cell does."""
        return self.text if self.status == "wrong" else None


def tolerance(value: Any, digits: int = DIGITS) -> float:
    """Half a unit of the third digit of the largest number, or of another digit.

    >>> tolerance(1.104) > 0.004, tolerance([0.25, 0.042]) < 0.0006
    (True, True)
    """
    largest = float(np.max(np.abs(value), initial=0.0))
    exponent = np.floor(np.log10(largest)) if largest else 0.0
    return float(0.5 * 10.0 ** (exponent - digits + 1) * (1 + 1e-9))


def apart(first: Any, second: Any) -> bool:
    """Whether two values differ even after both have been rounded to three digits."""
    one, two = np.asarray(first, float), np.asarray(second, float)
    if one.shape != two.shape:
        return True
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        return not np.array_equal(one, two, equal_nan=True)
    return float(np.abs(one - two).max()) > tolerance(one) + tolerance(two)


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
        """
        if unanswered(given):
            return _UNANSWERED
        solution = np.asarray(self.solution, dtype=np.float64)
        values = _numbers(given, solution.shape)
        if isinstance(values, Verdict):
            for wrong in self.wrong:  # a mistake may have a shape of its own
                other = _numbers(given, np.shape(wrong.answer))
                if not isinstance(other, Verdict) and self._agrees(other, wrong.answer):
                    return _mistake(wrong)
            return values
        if self._agrees(values, solution):
            return _right()
        for wrong in self.wrong:
            if self._agrees(values, wrong.answer):
                return _mistake(wrong)
        agree = np.abs(values - solution) <= tolerance(solution, self.digits)
        some = f" ({agree.sum()} of {agree.size} numbers are right)" if agree.any() else ""
        return Verdict("wrong", f"not yet{some}")

    def _agrees(self, values: Array, target: Any) -> bool:
        target = np.asarray(target, dtype=np.float64)
        if values.shape != target.shape:
            return False
        return bool((np.abs(values - target) <= tolerance(target, self.digits)).all())


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
    """A set of words out of `options`, in any order; one word may stand alone."""

    options: tuple[str, ...]
    solution: frozenset[str]
    wrong: tuple[Wrong, ...] = ()

    def judge(self, given: Any) -> Verdict:
        """Compare sets; capitals don't count.

        >>> Choices(("A", "B"), frozenset({"A"})).judge("a")
        right
        >>> Choices(("A", "B"), frozenset({"A"})).judge("C")
        expected some of A, B, given 'C'
        """
        if unanswered(given):
            return _UNANSWERED
        known_options = {option.casefold(): option for option in self.options}
        items = [given] if isinstance(given, str) else given
        if isinstance(items, np.ndarray):
            items = items.ravel().tolist()  # also without an axis, over which nothing can run
        try:
            names = [str(item).strip().casefold() for item in items]
        except Exception:  # nothing that can be run over, or a reader's own
            names = [""]
        if not set(names) <= set(known_options):
            return _unreadable(f"expected some of {', '.join(self.options)}, given {_short(given)}")
        chosen = frozenset(known_options[name] for name in names)
        if chosen == self.solution:
            return _right()
        for wrong in self.wrong:
            if chosen == frozenset(wrong.answer):
                return _mistake(wrong)
        much, little = chosen - self.solution, self.solution - chosen
        parts = (f"{len(much)} too many" if much else "", f"{len(little)} missing" * bool(little))
        return Verdict("wrong", f"not yet: {', '.join(filter(None, parts))}")


Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Function:
    """A function, run on `probes` beside the right formula and the wrong ones."""

    signature: str
    solution: Callable[..., Any]
    probes: tuple[Arguments, ...]
    wrong: tuple[Wrong, ...] = ()

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
                return _unreadable(f"your function raised {named(error)}")
            if unanswered(result):
                return _UNANSWERED
            shape = np.shape(self.solution(*_copied(probe)))
            values = _numbers(result, shape, finite=False)  # a mistake may overflow
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
        agree = sum(
            _close(values, self.solution(*_copied(probe)))
            for values, probe in zip(found, self.probes, strict=True)
        )
        return Verdict("wrong", f"not yet: right on {agree} of {len(found)} inputs")

    def _same(self, found: list[Array], formula: Callable[..., Any]) -> bool:
        with np.errstate(all="ignore"):
            return all(
                _close(values, formula(*_copied(probe)))
                for values, probe in zip(found, self.probes, strict=True)
            )


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
