"""What the seminar's pages are made from: the plan of a session, the quizzes, numbers by name."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from elmo_toy import quiz
from elmo_toy.exercises import EXERCISES
from elmo_toy.quiz.values import values as package_values

PLAN = Path(__file__).resolve().parents[2] / "book" / "seminar" / "plan.toml"
SLIDE = re.compile(r"^## .+ \{#([a-z-]+) \.[a-z]+ block=([a-z-]+)( reserve)?\}$", re.MULTILINE)


@cache
def plan() -> dict[str, Any]:
    """The blocks of a session and their minutes."""
    return tomllib.loads(PLAN.read_text("utf-8"))


@cache
def sets() -> dict[str, tuple[quiz.Item, ...]]:
    """The quizzes by name; each concept test is also a set of its own."""
    concept = quiz.concept_tests()
    alone = {item.id: (item,) for item in concept}
    return {"pre": quiz.pre_quiz(), "post": quiz.post_quiz(), "concept": concept, **alone}


@cache
def values() -> dict[str, str]:
    """Every number that a page can ask for, as text."""
    data = plan()
    lengths = dict(zip(("short", "middle", "long"), map(str, data["plans"]), strict=True))
    votes = {f"vote {name}": str(value) for name, value in data["vote"].items()}
    return {
        **package_values(),
        **lengths,
        **votes,
        "homework must": str(sum(minutes(task) for task in data["homework"] if task["must"])),
        "homework may": str(sum(minutes(task) for task in data["homework"] if not task["must"])),
        "homework reasons": listed(
            task["exercise"] for task in data["homework"] if task.get("reason")
        ),
        "proofs": listed(
            name for name, one in EXERCISES.items() if re.search(r"\bprove\b", one.question, re.I)
        ),
        "running": str(data["ladder"]["running"]),
        "pre items": str(len(sets()["pre"])),
        "post items": str(len(sets()["post"])),
        "concept tests": str(len(sets()["concept"])),
    }


@cache
def asked_in_class() -> frozenset[str]:
    """The questions of the quizzes that the plan asks; the others are for home.

    >>> sorted(asked_in_class())[:3]
    ['post-3', 'post-4', 'post-5']
    """
    return frozenset(name for block in plan()["block"] for name in block.get("asked", ()))


class Place(NamedTuple):
    """Where a slide stands: the number that it shows, its block, and whether it is in reserve."""

    number: int
    block: str
    reserve: bool


@cache
def slides() -> dict[str, Place]:
    """The slides by name, in their order.

    >>> slides()["fallback"]
    Place(number=2, block='arrive', reserve=False)
    """
    deck = SLIDE.findall(PLAN.with_name("slides.md").read_text("utf-8"))
    return {
        name: Place(number, block, bool(reserve))
        for number, (name, block, reserve) in enumerate(deck, start=1)
    }


def minutes(task: dict[str, Any]) -> int:
    """How long a task of the homework takes.

    >>> minutes({"exercise": "3.2"})
    6
    """
    return EXERCISES[task["exercise"]].minutes if "exercise" in task else int(task["minutes"])


def listed(names: Iterable[str]) -> str:
    """Names in a sentence.

    >>> listed(["1.3", "2.4", "3.7"])
    '1.3, 2.4 and 3.7'
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def minute_marks(length: int) -> list[tuple[dict[str, Any], int, int]]:
    """The blocks of one plan, each with the minutes at which it starts and ends.

    >>> [(block["id"], start, end) for block, start, end in minute_marks(60)][:2]
    [('arrive', 0, 5), ('two-banks', 5, 11)]
    """
    data = plan()
    column = data["plans"].index(length)
    minutes = [block["minutes"][column] for block in data["block"]]
    ends = list(accumulate(minutes))
    return [
        (block, end - long, end)
        for block, long, end in zip(data["block"], minutes, ends, strict=True)
        if long
    ]


def heading_anchor(title: str) -> str:
    """The anchor that MyST gives a heading.

    >>> heading_anchor("Two banks and a bet")
    'two-banks-and-a-bet'
    """
    return re.sub(r"[^\w\- ]", "", title.lower().replace(" ", "-"))
