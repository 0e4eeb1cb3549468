"""The usual wrong formulas, as formulas: what they give is computed, and what they are is said.

`QUANTITIES` holds the right formula of each quantity, `MISTAKES` the wrong ones, each with the
sentence that a reader hears who used it and, where one applies, the misconception behind it. A
distractor of a quiz and the feedback of an exercise are the same object.

    right("logit gradient", state())                  what it should be
    MISTAKES["without_m"].compute(state())            what comes out without the m

Formulas of the worked example take a `State` (preset, gamma and rate are in it); the others take
what their quantity says. A mistake may be invisible at one setting and show at another: gamma left
out changes nothing at gamma 1.

Misconceptions, by id: M1 weights depend on the token; M2 parameters are the weights; M3 a common
shift of the logits matters; M4 positive weights make positive coordinates; M5 gamma is a
probability, or larger is better; M6 a logit's gradient is its layer's score; M7 a step may be taken
on the weights; M8 weights are attention over words; M9 a large weight is an important layer;
M10 frozen means that nothing learns; M11 two equal mixtures are a bug; M12 the token layer holds
1024 facts; M13 the backward state at k predicts token k; M14 every weight is positive on a
computer; M15 Table 1 isolates the mixture; M16 a step that helped once always helps; M17 a word has
one vector; M18 a penalty on the logits leaves the shift free; M19 training finds the best weights.

Book: chapter 4, "Falling loss verifies nothing".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from elmo_toy.exercises import wrong_forward, wrong_gradient, wrong_others
from elmo_toy.exercises.wrong_others import EPSILON, norm
from elmo_toy.reported import error_removed
from elmo_toy.scalar_mix import logit_penalty

__all__ = [
    "MISCONCEPTION_IDS",
    "MISTAKES",
    "QUANTITIES",
    "Mistake",
    "Quantity",
    "mistakes_of",
    "right",
]

MISCONCEPTION_IDS = tuple(f"M{number}" for number in range(1, 20))
"""The ids of the beliefs in `elmo_toy.quiz.misconceptions`."""

Formula = Callable[..., Any]


@dataclass(frozen=True)
class Quantity:
    """What is asked for: its right formula, and in words what the formula takes."""

    name: str
    takes: str
    formula: Formula


@dataclass(frozen=True)
class Mistake:
    """A wrong formula for a quantity; `sentence` tells its user what it was.

    Book: chapter 4, "Falling loss verifies nothing".

    >>> from elmo_toy.worked_example import state
    >>> mistake = MISTAKES["without_m"]
    >>> mistake.compute(state()).round(6), mistake.sentence
    (array([-0.002253,  0.205847, -0.426031]), 'that is the gradient without `- m`')
    """

    name: str
    quantity: str
    sentence: str
    compute: Formula
    misconception: str | None = None


def right(quantity: str, *arguments: Any) -> Any:
    """The right value of a quantity; KeyError naming the quantities for an unknown one.

    >>> from elmo_toy.worked_example import state
    >>> round(right("loss", state()), 6)
    0.420337
    """
    if quantity not in QUANTITIES:
        raise KeyError(f"no quantity {quantity!r}; there are {', '.join(QUANTITIES)}")
    return QUANTITIES[quantity].formula(*arguments)


def mistakes_of(quantity: str) -> tuple[Mistake, ...]:
    """The wrong formulas of a quantity, in the order of `MISTAKES`.

    >>> [mistake.name for mistake in mistakes_of("penalty")]
    ['half_the_penalty', 'penalty_on_weights', 'penalty_of_absolutes']
    """
    return tuple(mistake for mistake in MISTAKES.values() if mistake.quantity == quantity)


# --- the tables -----------------------------------------------------------------------------------

_STATE = "a State of the worked example"
_LAYERS = f"layers (batch, layers, tokens, dim); epsilon is {EPSILON}"


def _quantities(*rows: tuple[str, str, Formula]) -> Mapping[str, Quantity]:
    return MappingProxyType({row[0]: Quantity(*row) for row in rows})


QUANTITIES = _quantities(
    ("weights", _STATE, lambda s: s.forward.weights),  # (3,)
    ("mixtures", _STATE, lambda s: s.forward.mixtures),  # (2, 2)
    ("scores", _STATE, lambda s: s.forward.scores),  # (2,)
    ("probabilities", _STATE, lambda s: s.forward.probabilities),  # (2,)
    ("loss", _STATE, lambda s: s.forward.loss),
    ("logit gradient", _STATE, lambda s: s.logit_gradient),  # (3,)
    ("gamma gradient", _STATE, lambda s: s.gamma_gradient),
    ("updated weights", _STATE, lambda s: s.updated.weights),  # (3,)
    ("updated loss", _STATE, lambda s: s.updated.loss),
    ("layer norm", _LAYERS, norm),
    ("penalty", "logits, strength", logit_penalty),
    ("perplexity", "log-probabilities (tokens,), in nats", lambda x: float(np.exp(-np.mean(x)))),
    ("error removed", "scores in per cent before and after", error_removed),
)
"""The right formula of everything that is asked for, by name."""


MISTAKES: Mapping[str, Mistake] = MappingProxyType(
    {
        row[0]: Mistake(*row)
        for module in (wrong_forward, wrong_gradient, wrong_others)
        for row in module.ROWS
    }
)
"""The usual wrong formulas, by name."""
