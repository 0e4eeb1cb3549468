"""What an exercise is: a question with its place, its hints, its solution and its answer.

Book: chapter 4, "Falling loss verifies nothing".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from elmo_toy.exercises.answers import Answer, Function, Wrong
from elmo_toy.exercises.mistakes import MISTAKES

#: The page of each chapter.
PAGES = {
    1: "01_word_types",
    2: "02_directional_lms",
    3: "03_softmax_mixture",
    4: "04_gradient",
    5: "05_frozen_extractor",
    6: "06_experiments",
    7: "07_carry_forward",
    8: "08_released_weights",
}
LEVELS = {1: "by hand", 2: "code", 3: "prove or extend"}


@dataclass(frozen=True)
class Exercise:
    """One exercise; `section` is a heading of its chapter, texts are Markdown with formulas."""

    id: str
    title: str
    section: str
    objective: str
    level: int
    minutes: int
    question: str
    hints: tuple[str, str]
    solution_text: str
    answer: Answer

    @property
    def chapter(self) -> int:
        """The number before the dot of the id."""
        return int(self.id.partition(".")[0])

    @property
    def anchor(self) -> str:
        """Page and heading, as in ``03_softmax_mixture.ipynb#one-mixture-by-hand``."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.section.lower().replace("'", "")).strip("-")
        return f"{PAGES[self.chapter]}.ipynb#{slug}"

    @property
    def code(self) -> str:
        """The cell in which a reader answers."""
        if isinstance(self.answer, Function):
            name = self.answer.signature.partition("(")[0]
            return f'def {self.answer.signature}:\n    return ...\n\n\ncheck("{self.id}", {name})'
        return f'answer = ...\ncheck("{self.id}", answer)'


def in_per_cent(share: float) -> Wrong:
    """The slip of giving a share in per cent, or a probability.

    >>> in_per_cent(0.25).answer
    25.0
    """
    return Wrong(100 * share, "that is in per cent: what is asked for lies between 0 and 1")


def as_share(per_cent: float) -> Wrong:
    """The other way round.

    >>> as_share(25.0).answer
    0.25
    """
    return Wrong(per_cent / 100, "that is the share itself: times 100 for per cent")


def known(*names: str, at: tuple[Any, ...]) -> tuple[Wrong, ...]:
    """The mistakes of these names, computed for a quantity's arguments.

    >>> from elmo_toy.worked_example import state
    >>> known("loss_without_mean", at=(state(),))[0].sentence
    'you forgot the mean over the two examples'
    """
    found = (MISTAKES[name] for name in names)
    return tuple(Wrong(m.compute(*at), m.sentence, m.misconception) for m in found)
