"""Links to states of the explorers, for a teacher to send: each made from the package's state.

A link's address is what the explorer's own button "Link to this state" makes, so that the page
opens as the session needs it; a test opens each and compares every number with the package's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from elmo_toy.widgets import _gradient, _mixture, _seeds, _shift
from elmo_toy.worked_example import PRESETS

PAGES = {
    "elmo-mixture": "notebooks/03_softmax_mixture",
    "elmo-gradient": "notebooks/04_gradient",
    "elmo-shift": "notebooks/02_directional_lms",
    "elmo-seeds": "notebooks/06_experiments",
}


@dataclass(frozen=True)
class Link:
    """One state of one explorer: what the link is called, and what to look at."""

    tag: str
    title: str
    query: str
    state: Any
    texts: Mapping[str, str]
    look_at: str

    @property
    def page(self) -> str:
        """The page with the explorer, without its ending."""
        return PAGES[self.tag]

    @property
    def fragment(self) -> str:
        """What follows the page's address."""
        return f"{self.tag}?{self.query}"

    @property
    def says(self) -> str:
        """What is to be seen there, as the package computes it."""
        return self.look_at.format_map(self.texts)


def numbers(values: Any) -> str:
    """Numbers as an address holds them.

    >>> numbers((0.2, 1.0))
    '0.2,1'
    """
    return ",".join(f"{value:.12g}" for value in values)


def mixture(title: str, preset: str, gamma: float = 1.0, along: float = 0.0) -> Link:
    """The explorer of chapter 3 with loan's mixture shown."""
    state = _mixture.MixtureState(tuple(PRESETS[preset].tolist()), gamma)
    state = _mixture.moved(_mixture.moved(state, "along", along), "shown", True)
    query = f"w={numbers(state.weights)}&g={gamma:g}&t={state.along:g}&p={numbers(state.guess)}"
    query += f"&shown={numbers(state.answer or ())}"
    look_at = "γ {gamma}, largest weight on {largest}, scores {river-score} and {loan-score}"
    texts = _mixture.read(state)
    return Link("elmo-mixture", title, query, state, texts, f"{look_at}, loss {{loss}}")


def gradient(title: str, preset: str, gamma: float, rate: float, steps: int) -> Link:
    """The explorer of chapter 4 after some steps, with all three rules shown."""
    place = _gradient.RATES.index(rate)
    state = _gradient.GradientState(preset, gamma, place, 10, steps, "", True)
    query = f"s={preset}&g={gamma:g}&n={place},{state.delta},{steps}&shown=1"
    texts = _gradient.read(state)
    look_at = "loss {start}; after {steps} loss {loss-0}, weights {weights-0}, γ {scale-0}"
    return Link("elmo-gradient", title, query, state, texts, look_at)


def shift(title: str, at: int) -> Link:
    """The explorer of chapter 2 at a place, its answer not shown."""
    state = _shift.ShiftState(at=at)
    look_at = "at {at}; forward is asked for {forward-asked}"
    query = f"k={at}&m={state.wiring}"
    return Link("elmo-shift", title, query, state, _shift.read(state), look_at)


def seeds(title: str, other: str, size: int) -> Link:
    """The explorer of chapter 6: a condition beside the mixture, so many seeds a draw."""
    state = _seeds.SeedsState(size=size, shown=True)
    query = f"c={state.task},{state.one},{state.other}&n={size},{state.draws}&shown=1"
    look_at = "five seeds {five} points; another sign in {flips} sets"
    return Link("elmo-seeds", title, query, state, _seeds.read(state), look_at)


LINKS: Mapping[str, Link] = MappingProxyType(
    {
        "walk start": mixture("Before the walk", "upper"),
        "walk end": mixture("At the end of the walk", "upper", along=0.3),
        "lower": mixture("Lower-layer emphasis", "lower"),
        "lower doubled": mixture("The same, twice as long", "lower", 2.0),
        "lower reversed": mixture("The same, reversed", "lower", -1.0),
        "one step": gradient("One step, three rules", "upper", 1.0, 0.1, 1),
        "far step": gradient("One step that is too long", "lower", 1.0, 5.0, 1),
        "run plus": gradient("A run from a positive scale", "upper", 1.0, 0.5, 500),
        "run minus": gradient("A run from a negative scale", "upper", -1.0, 0.5, 500),
        "shift": shift("The backward state at a word", 5),
        "two seeds": seeds("Two seeds instead of five", "mixture", 2),
    }
)
