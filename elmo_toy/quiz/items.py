"""A question with its options, and the rules that every one of them keeps.

Book: chapter 4, "Falling loss verifies nothing".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LETTERS = "ABCDE"
"""What options are called by, in their order."""
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Option:
    """One answer: what it says, and what a person who chose it hears.

    ``values`` are the numbers in it, for the rule that no two options look alike; ``misconception``
    is the belief that a wrong one speaks for.
    """

    text: str
    explanation: str
    right: bool = False
    misconception: str | None = None
    values: tuple[float, ...] = ()


@dataclass(frozen=True)
class Item:
    """A question with one right option.

    ``anchor`` is the place in the book where the answer is worked out, as ``page#heading`` from the
    root of the repository. ``construct`` is what it asks for: an item of the first quiz and one of
    the last with the same construct are a pair.

    Raises
    ------
    ValueError
        Unless exactly one option is right, no two look alike to three digits, and each says why.

    >>> Item("x", "1 + 1?", (Option("2", "yes", True), Option("3", "no")), "O2", "a#b").key
    'A'
    """

    id: str
    question: str
    options: tuple[Option, ...]
    objective: str
    anchor: str
    construct: str = ""
    misconception: str | None = None

    def __post_init__(self) -> None:
        if sum(option.right for option in self.options) != 1:
            raise ValueError(f"options of {self.id} must have one that is right")
        if not 2 <= len(self.options) <= len(LETTERS):
            raise ValueError(f"options of {self.id} must be 2 to 5, given {len(self.options)}")
        for option in self.options:
            if not option.explanation.strip():
                raise ValueError(f"option {option.text!r} of {self.id} must say why")
        if len({option.text for option in self.options}) < len(self.options):
            raise ValueError(f"options of {self.id} must differ in their text")
        numbers = [option.values for option in self.options if option.values]
        for looks in (_three_decimals, _three_digits):
            if len({looks(values) for values in numbers}) < len(numbers):
                raise ValueError(f"options of {self.id} must differ in three digits: {numbers}")

    @property
    def right(self) -> Option:
        """The right option."""
        return next(option for option in self.options if option.right)

    @property
    def key(self) -> str:
        """The letter of the right option."""
        return LETTERS[self.options.index(self.right)]


def _three_decimals(values: tuple[float, ...]) -> tuple[str, ...]:
    return tuple(f"{value:z.3f}" for value in values)


def _three_digits(values: tuple[float, ...]) -> tuple[str, ...]:
    return tuple(f"{value:z.3g}" for value in values)


def number(value: float, digits: int = 3, least: int = 0) -> str:
    """As text: so many decimals, but at the end no zeros beyond `least`, and a real minus.

    >>> number(1.104294), number(-0.5), number(2.0), number(2.0, least=1)
    ('1.104', '−0.5', '2', '2.0')
    """
    whole, _, part = f"{float(value):z.{digits}f}".replace("-", MINUS).partition(".")
    kept = part.rstrip("0").ljust(least, "0")
    return f"{whole}.{kept}" if kept else whole


def layer(index: int) -> str:
    """Name of a layer, the token layer being 0.

    >>> layer(1)
    'h₁'
    """
    return f"h{'₀₁₂'[index]}"


def vector(values: Iterable[float], digits: int = 3) -> str:
    """In brackets; whole numbers beside others keep one decimal.

    >>> vector([0.3, 1.0]), vector([1.0, -2.0, 2.0])
    ('[0.3, 1.0]', '[1, −2, 2]')
    """
    numbers = list(values)
    least = int(any(number(value, digits) != number(value, 0) for value in numbers))
    return f"[{', '.join(number(value, digits, least) for value in numbers)}]"
