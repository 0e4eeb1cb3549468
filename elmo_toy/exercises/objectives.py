"""What somebody can do after the seminar: eight objectives, each with a verb that can be checked.

Exercises and quiz items name one each, so that a test can say which objective nobody asks about.

Book: chapter 4, "Falling loss verifies nothing".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Objective:
    """``text`` continues "After the seminar you can"; ``chapters`` teach it or have exercises.

    >>> OBJECTIVES["O4"].verb
    'derive'
    """

    id: str
    verb: str
    text: str
    chapters: tuple[int, ...]


def _by_id(*objectives: Objective) -> Mapping[str, Objective]:
    return MappingProxyType({objective.id: objective for objective in objectives})


OBJECTIVES: Mapping[str, Objective] = _by_id(
    Objective(
        "O1",
        "distinguish",
        "distinguish a word type from its occurrences, and say where context enters a vector and "
        "which neighbours each state of the two language models has seen",
        (1, 2, 7),
    ),
    Objective(
        "O2",
        "compute",
        "compute a mixture by hand: from logits to weights, from weights to one vector for each "
        "occurrence, and from there to scores and a loss",
        (3, 4),
    ),
    Objective(
        "O3",
        "predict",
        "predict what a change of gamma, of one logit, of all logits together or of the rate does "
        "to weights, vectors and loss, before anything is run",
        (3, 4),
    ),
    Objective(
        "O4",
        "derive",
        "derive the gradient with respect to the logits and to gamma, and say what the mixed score "
        "that is subtracted does",
        (4, 5),
    ),
    Objective(
        "O5",
        "implement",
        "implement the mixture, its gradient and one step of descent, and check a gradient "
        "against differences of the loss",
        (3, 4, 8),
    ),
    Objective(
        "O6",
        "argue",
        "argue from numbers why a large layer weight is not an importance: give two mixtures with "
        "the same predictions and different largest weights",
        (3, 4, 6, 7),
    ),
    Objective(
        "O7",
        "decide",
        "decide what is frozen, what is learned, what may be cached and what has to be masked when "
        "a mixture is attached to a task, and where it is attached",
        (5, 7, 8),
    ),
    Objective(
        "O8",
        "read",
        "read a reported result at its scope: what was compared, what varied, and which claim the "
        "numbers do and do not support",
        (1, 2, 6, 7),
    ),
)
