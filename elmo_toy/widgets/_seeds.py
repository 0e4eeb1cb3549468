"""The explorer of chapter 6: what fewer of our five seeds would have told."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any

import ipywidgets

from elmo_toy.experiments import tables
from elmo_toy.widgets._explorer import Explorer
from elmo_toy.widgets._text import fixed
from elmo_toy.widgets._view import Texts, View, table

TASKS = {"senses": "senses", "ewt": "EWT", "snips": "Snips"}
CONDITIONS = {
    "mixture": "mixture",
    "best": "best single layer",
    "top_gamma": "last layer, γ",
    "equal": "equal weights",
    "free": "free coefficients",
    "concatenation": "side by side",
    "concatenation_matched": "the same, matched",
}
SEEDS = 5
MOST_DRAWS = 500
#: Smaller means are zero: what is left of a sum of equal shares.
ZERO = 1e-9


@dataclass(frozen=True)
class SeedsState:
    """Two conditions on a task, how many seeds are drawn at a time, and how often they were.

    ``guess`` is in how many of the possible draws the reader expects another sign.
    """

    task: str = "ewt"
    one: str = "free"
    other: str = "mixture"
    size: int = 2
    draws: int = 0
    guess: int = 0
    shown: bool = False


@cache
def data() -> dict[str, Any]:
    """Names, and by task and condition the difference to the mixture in points, seed by seed.

    Book: chapter 6, "What the mixture adds".

    >>> [round(value, 2) for value in data()["tasks"]["ewt"]["free"]]
    [-0.99, 0.6, -1.13, -0.41, -0.32]
    """
    found = {}
    for task in TASKS:
        apart = tables.differences(task)
        apart["best"] = tables.minus(tables.best_layer(task).score, tables.cell(task, "mixture"))
        found[task] = {name: [100 * x for x in apart[name].values] for name in CONDITIONS}
    return {"names": TASKS, "conditions": CONDITIONS, "tasks": found}


def drawn(size: int, times: int) -> list[int]:
    """Places of so many draws in the list of all that are possible.

    Lehmer's generator, so that the page draws the same. Book: chapter 6, "What the mixture adds".

    >>> drawn(2, 5)
    [6, 7, 6, 9, 5]
    """
    places, x = [], 2018
    for _ in range(times):
        x = x * 16807 % 2147483647
        places.append(x % math.comb(SEEDS, size))
    return places


def summary(values: Sequence[float]) -> tuple[float, float]:
    """Mean and sample standard deviation, which for one value is NaN; means near 0 are 0.

    >>> summary([1.0, 2.0, 3.0])
    (2.0, 1.0)
    """
    mean = sum(values) / len(values)
    squares = sum((value - mean) * (value - mean) for value in values)
    deviation = math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else math.nan
    return (mean if abs(mean) > ZERO else 0.0), deviation


def differences(state: SeedsState) -> list[float]:
    """One condition minus the other, seed by seed, in points."""
    found = data()["tasks"][state.task]
    return [a - b for a, b in zip(found[state.one], found[state.other], strict=True)]


def possible(state: SeedsState) -> list[tuple[tuple[int, ...], float, float, bool]]:
    """Seeds, mean, deviation of every draw, and whether its sign is not that of all five.

    >>> [flips for *_, flips in possible(SeedsState(size=1))]
    [False, True, False, False, False]
    """
    values = differences(state)
    sign = _sign(summary(values)[0])
    rows = []
    for seeds in combinations(range(SEEDS), state.size):
        mean, deviation = summary([values[seed] for seed in seeds])
        rows.append((seeds, mean, deviation, _sign(mean) != sign))
    return rows


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _with_deviation(mean: float, deviation: float) -> str:
    spread = "no ±" if math.isnan(deviation) else f"± {fixed(deviation, 2)}"
    return f"{fixed(mean, 2)} {spread}"


def read(state: SeedsState) -> Texts:
    """Every text that the explorer shows, by name; counts of all draws are ``?`` until shown.

    >>> read(SeedsState(shown=True))["flips"]
    '2 of 10'
    """
    rows = possible(state)
    places = drawn(state.size, state.draws)
    flips = sum(row[3] for row in rows)
    means, spreads = [row[1] for row in rows], [row[2] for row in rows]
    wide = "none" if state.size == 1 else f"{fixed(min(spreads), 2)} to {fixed(max(spreads), 2)}"
    answer = {
        "flips": f"{flips} of {len(rows)}",
        "means": f"{fixed(min(means), 2)} to {fixed(max(means), 2)}",
        "spreads": wide,
    }
    last = rows[places[-1]] if places else None
    return {
        **{name: text if state.shown else "?" for name, text in answer.items()},
        "pair": f"{CONDITIONS[state.one]} − {CONDITIONS[state.other]}",
        "five": _with_deviation(*summary(differences(state))),
        "size": str(state.size),
        "possible": str(len(rows)),
        "guess": str(state.guess),
        "draws": str(state.draws),
        "turned": str(sum(rows[place][3] for place in places)),
        "last": f"{' '.join(map(str, last[0]))}: {_with_deviation(*last[1:3])}" if last else "none",
    }


def moved(state: SeedsState, control: str, value: Any) -> SeedsState:
    """The state after a control was set; ``draws`` adds to those made, and 0 forgets them."""
    if control == "draws":
        more = int(value)
        return replace(state, draws=min(MOST_DRAWS, state.draws + more) if more else 0)
    if control == "shown":
        return replace(state, shown=bool(value))
    part: Any = int(value) if control in ("size", "guess") else value
    changed = replace(state, **{control: part})
    return changed if control == "guess" else replace(changed, draws=0)


def seeds(task: str = "ewt", one: str = "free", other: str = "mixture") -> Explorer:
    """The explorer that opens at two conditions on a task.

    Parameters
    ----------
    task
        ``"senses"``, ``"ewt"`` or ``"snips"``.
    one, other
        Out of ``"mixture"``, ``"best"``, ``"top_gamma"``, ``"equal"``, ``"free"``,
        ``"concatenation"`` and ``"concatenation_matched"``.

    Raises
    ------
    ValueError
        For another task or condition, naming what was given.

    Book: chapter 6, "What the mixture adds".

    >>> seeds().as_html()[:12]
    '<elmo-seeds '
    """
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, given {task!r}")
    for name, given in (("one", one), ("other", other)):
        if given not in CONDITIONS:
            raise ValueError(f"{name} must be one of {', '.join(CONDITIONS)}, given {given!r}")
    rows = []
    for about, title in TASKS.items():
        for condition, words in CONDITIONS.items():
            if condition == "mixture":
                continue
            shown = [read(SeedsState(about, condition, size=n, shown=True)) for n in (1, 2, 3, 4)]
            rows.append(
                [f"{title}, {words}", shown[0]["five"], *(texts["flips"] for texts in shown)]
            )
    start = SeedsState(task, one, other)
    return Explorer(
        name="elmo-seeds",
        state=f"c={task},{one},{other}&n=2,0",
        description="difference to the mixture, and how many sets of fewer seeds change its sign",
        head=["points", "five seeds", *(f"another sign, {n}" for n in (1, 2, 3, 4))],
        rows=rows,
        make_view=lambda: View(start, read, moved, _controls(), _setting, _show),
        data=data(),
    )


def _controls() -> dict[str, ipywidgets.DOMWidget]:
    wide = {"style": {"description_width": "14em"}, "layout": {"width": "34em"}}
    conditions = [(words, name) for name, words in CONDITIONS.items()]
    return {
        "guess": ipywidgets.IntSlider(min=0, max=10, description="draws of another sign", **wide),
        "shown": ipywidgets.ToggleButton(description="Show all draws"),
        "task": ipywidgets.Dropdown(
            options=[(words, name) for name, words in TASKS.items()], description="task", **wide
        ),
        "one": ipywidgets.Dropdown(options=conditions, description="condition", **wide),
        "other": ipywidgets.Dropdown(options=conditions, description="minus", **wide),
        "size": ipywidgets.IntSlider(min=1, max=SEEDS, description="seeds in a draw", **wide),
        **{
            f"draws {n}": ipywidgets.Button(description=f"draw {n}" if n else "forget")
            for n in (1, 10, 100, 0)
        },
    }


def _setting(state: SeedsState) -> dict[str, Any]:
    return {
        name: getattr(state, name) for name in ("guess", "shown", "task", "one", "other", "size")
    }


def _show(state: SeedsState, texts: Texts) -> str:
    counts = Counter(drawn(state.size, state.draws))
    rows = [
        [
            " ".join(map(str, row[0])),
            _with_deviation(*row[1:3]),
            "another sign" if row[3] else "",
            f"× {counts[place]}",
        ]
        for place, row in enumerate(possible(state))
        if state.shown or counts[place]
    ]
    said = f" You said {texts['guess']}." if state.shown else ""
    return (
        f"<p>{texts['pair']}, points; all five seeds {texts['five']}. Another sign in "
        f"{texts['turned']} of {texts['draws']} draws, in {texts['flips']} possible ones.{said} "
        f"Means {texts['means']}, ± {texts['spreads']}; last draw {texts['last']}.</p>"
        + table(["seeds", "mean", "", "drawn"], rows)
    )
