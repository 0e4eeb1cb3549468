"""The explorer of chapter 2: what a state has read, and what it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import ipywidgets

from elmo_toy.bilm import records
from elmo_toy.text import add_boundaries
from elmo_toy.widgets._explorer import Explorer
from elmo_toy.widgets._view import Texts, View, table

SENTENCE = "every fisherman watches the bank near this muddy river ."
TOKENS = tuple(add_boundaries(SENTENCE.split()))
LAST = len(TOKENS) - 1
#: What can be asked for: a token, or nothing.
WORDS = (*TOKENS, "nothing")
WIRINGS = {
    "apart": ("directions apart, shifted", "bilm"),
    "leak": ("shift left out", "sees_its_answer"),
    "joined": ("directions joined", "joined"),
}
DIRECTIONS = ("forward", "backward")


@dataclass(frozen=True)
class ShiftState:
    """A place in the sentence, the wiring, and what the reader expects the backward state's to be.

    ``guess`` is a place in `WORDS`; -1 before there is one.
    """

    at: int = 5
    wiring: str = "apart"
    guess: int = -1
    shown: bool = False


@cache
def data() -> dict[str, Any]:
    """What the page computes with: the sentence, and the record of each wiring.

    By wiring: its name, and the texts of the loss and of both layers' sense scores.
    Book: chapter 2, "Why separate stacks?".

    >>> data()["models"]["leak"]["texts"][0]
    '0.000 ± 0.000'
    """
    losses, scores = records.separate_stacks("new_cues")
    models = {}
    for wiring, (name, model) in WIRINGS.items():
        columns = losses[model], scores[model][:, 1], scores[model][:, 2]
        models[wiring] = {
            "name": name,
            "texts": [records.mean_and_deviation(column) for column in columns],
        }
    return {"tokens": list(TOKENS), "models": models}


def has_read(direction: str, at: int, wiring: str) -> list[int]:
    """Places that the top state of a direction has consumed, in reading order.

    Joined, its second layer takes in both directions of the first at every token that it passes,
    and so the whole sentence; what came by way of the other side is last.

    >>> has_read("backward", 9, "apart")
    [11, 10, 9]
    >>> len(has_read("backward", 9, "joined"))
    12
    """
    order = list(range(len(TOKENS)))
    if direction == "backward":
        order.reverse()
    return order if wiring == "joined" else order[: order.index(at) + 1]


def asked_for(direction: str, at: int, wiring: str) -> int:
    """Place in `WORDS` of what a state is to predict; the last states have nothing to predict.

    >>> WORDS[asked_for("forward", 5, "apart")], WORDS[asked_for("backward", 0, "apart")]
    ('near', 'nothing')
    """
    if wiring == "leak":
        return at
    place = at + 1 if direction == "forward" else at - 1
    return place if 0 <= place <= LAST else len(TOKENS)


def read(state: ShiftState) -> Texts:
    """Every text that the explorer shows, by name; the backward state's task is ``?`` at first.

    >>> read(ShiftState(at=9))["backward-read"]
    '</S> . river'
    """
    model = data()["models"][state.wiring]
    backward = asked_for("backward", state.at, state.wiring)
    right = "You were right." if state.guess == backward else f"You said {WORDS[state.guess]}."
    texts = {
        "at": TOKENS[state.at],
        "guess": right if state.shown and state.guess >= 0 else "",
        "wiring": model["name"],
        **dict(zip(("loss", "layer-1", "layer-2"), model["texts"], strict=True)),
    }
    for direction in DIRECTIONS:
        places = has_read(direction, state.at, state.wiring)
        asked = asked_for(direction, state.at, state.wiring)
        seen = "has read" if asked in places else "has not read"
        hidden = direction == "backward" and not state.shown
        texts[f"{direction}-read"] = " ".join(TOKENS[place] for place in places)
        texts[f"{direction}-asked"] = "?" if hidden else WORDS[asked]
        seen = f"which it {'is not scored on' if asked > LAST else seen}"
        texts[f"{direction}-seen"] = "yours to say" if hidden else seen
    return texts


def moved(state: ShiftState, control: str, value: Any) -> ShiftState:
    """The state after a control was set; a guess is about one place and one wiring."""
    if control == "guess":
        return replace(state, guess=int(value))
    if control == "shown":
        return replace(state, shown=bool(value), guess=state.guess if value else -1)
    if control == "wiring":
        return replace(state, wiring=value, guess=-1)
    return replace(state, at=int(value), guess=-1)


def shift(at: int = 5) -> Explorer:
    """The explorer that opens at a place of its sentence.

    Parameters
    ----------
    at
        From 0, the boundary symbol before it, to 11, the one behind.

    Raises
    ------
    ValueError
        For another place, naming what was given.

    Book: chapter 2, "Why separate stacks?".

    >>> shift().as_html()[:12]
    '<elmo-shift '
    """
    if type(at) is not int or at not in range(len(TOKENS)):
        raise ValueError(f"at must be a place between 0 and {LAST}, given {at!r}")
    rows = []
    for wiring in WIRINGS:
        shown = read(ShiftState(at, wiring, shown=True))
        tasks = [f"{shown[f'{way}-asked']}, {shown[f'{way}-seen']}" for way in DIRECTIONS]
        measured = [shown[name] for name in ("loss", "layer-1", "layer-2")]
        rows.append([shown["wiring"], *tasks, *measured])
    heads = (f"{way} at {TOKENS[at]} is asked for" for way in DIRECTIONS)
    start = ShiftState(at)
    return Explorer(
        name="elmo-shift",
        state=f"k={at}&m=apart",
        description="what states have read and are asked for under three wirings, and the losses",
        head=["wiring", *heads, "loss", "senses, layer 1", "senses, layer 2"],
        rows=rows,
        make_view=lambda: View(start, read, moved, _controls(), _setting, _show),
        data=data(),
    )


def _controls() -> dict[str, ipywidgets.DOMWidget]:
    wide = {"style": {"description_width": "14em"}, "layout": {"width": "34em"}}
    asked = [("…", -1), *((word, place) for place, word in enumerate(WORDS))]
    wirings = [(name, wiring) for wiring, (name, _) in WIRINGS.items()]
    return {
        "guess": ipywidgets.Dropdown(
            options=asked, description="the backward state is asked for", **wide
        ),
        "shown": ipywidgets.ToggleButton(description="Show its task"),
        "at": ipywidgets.IntSlider(min=0, max=LAST, description="place", **wide),
        "wiring": ipywidgets.Dropdown(options=wirings, description="wiring", **wide),
    }


def _setting(state: ShiftState) -> dict[str, Any]:
    return {name: getattr(state, name) for name in ("guess", "shown", "at", "wiring")}


def _show(state: ShiftState, texts: Texts) -> str:
    rows = []
    for place, token in enumerate(TOKENS):
        cells = []
        for way in DIRECTIONS:
            read_it = "●" if place in has_read(way, state.at, state.wiring) else ""
            told = state.shown or way == "forward"
            asked = told and place == asked_for(way, state.at, state.wiring)
            cells.append(f"{read_it} asked" if asked else read_it)
        rows.append([cells[0], token, cells[1]])
    tasks = [[way, *(texts[f"{way}-{what}"] for what in ("asked", "seen"))] for way in DIRECTIONS]
    measured = [[texts[name] for name in ("wiring", "loss", "layer-1", "layer-2")]]
    return (
        f"<p>{texts['guess']}</p>"
        + table(["forward has read", f"at {texts['at']}", "backward has read"], rows)
        + table(["", "asked for", ""], tasks)
        + table(["", "loss", "senses, layer 1", "senses, layer 2"], measured)
    )
