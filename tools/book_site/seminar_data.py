"""What the seminar's pages are made from: the plan of a session, the quizzes, numbers by name."""

import re
import tomllib
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from elmo_toy import quiz
from elmo_toy.quiz.values import values as package_values

PLAN = Path(__file__).resolve().parents[2] / "book" / "seminar" / "plan.toml"
SLIDE = re.compile(r"^## .+ \{#([a-z-]+) \.[a-z]+ block=([a-z-]+)\}$", re.MULTILINE)


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
        "running": str(data["ladder"]["running"]),
        "pre items": str(len(sets()["pre"])),
        "post items": str(len(sets()["post"])),
        "concept tests": str(len(sets()["concept"])),
    }


@cache
def slides() -> dict[str, tuple[int, str]]:
    """The slides by name, in their order: the number that each shows, and its block.

    >>> slides()["fallback"]
    (2, 'arrive')
    """
    deck = SLIDE.findall(PLAN.with_name("slides.md").read_text("utf-8"))
    return {name: (number, block) for number, (name, block) in enumerate(deck, start=1)}


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
