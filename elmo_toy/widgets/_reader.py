"""The explorer of chapters 1 and 5: sentences of the reader's own, read by the shipped model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from urllib.parse import urlencode

import ipywidgets
import numpy as np

from elmo_toy.widgets import _reading
from elmo_toy.widgets._explorer import Explorer
from elmo_toy.widgets._mixture import with_weight
from elmo_toy.widgets._reading import LONGEST, Reading, placed, tokens_of
from elmo_toy.widgets._text import fixed
from elmo_toy.widgets._view import Choice, Texts, View, table

#: By name: what it is called, and two sentences, each with the place of its word.
EXAMPLES: dict[str, tuple[str, tuple[str, int], tuple[str, int]]] = {
    "watch": (
        "watch, noun and verb",
        ("he looked at his watch and said nothing .", 4),
        ("we must watch the boat until the morning .", 2),
    ),
    "river": (
        "bank: river, river",
        ("the steep bank kept the cattle away from the water .", 2),
        ("grass and willows grew along the bank for many miles .", 6),
    ),
    "loan": (
        "bank: river, loan",
        ("the river had risen in the night and covered the bank .", 10),
        ("the treasury placed the public revenue in the bank .", 8),
    ),
    "raft": (
        "boat and raft",
        ("the boat went down the river .", 1),
        ("the raft went down the river .", 1),
    ),
    "left": (
        "left, side and verb",
        ("he stood on the left bank of the river .", 4),
        ("he left the house before noon .", 1),
    ),
}
AMONG = {"same": "pairs of one word", "different": "pairs of two words"}
GUESSES = ("nearer", "further")
MODELS = ("trained", "untrained")
LAYERS = ("h₀", "h₁", "h₂")
DIRECTIONS = ("from the left", "from the right")
NOTHING = "–"
#: Bytes of a word that the token encoder takes in.
WORD_BYTES = 22


@dataclass(frozen=True)
class ReaderState:
    """Two sentences as they were typed, the place of a word in each, and a mixture.

    ``among`` says which random pairs a cosine is placed among; ``guess`` is "" before there is one.
    """

    texts: tuple[str, str]
    places: tuple[int, int]
    among: str = "same"
    weights: tuple[float, ...] = (1 / 3, 1 / 3, 1 / 3)
    gamma: float = 1.0
    guess: str = ""
    shown: bool = False

    @property
    def tokens(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Of both sentences."""
        first, second = (tuple(tokens_of(text)) for text in self.texts)
        return first, second

    @property
    def reading(self) -> Reading | None:
        """What the model makes of both, None where there is no word."""
        return _reading.reading(*self.tokens, self.places) if all(self.tokens) else None


def example(name: str) -> ReaderState:
    """A prepared pair.

    >>> example("raft").tokens[0][1], example("raft").tokens[1][1]
    ('boat', 'raft')
    """
    _, first, second = EXAMPLES[name]
    return ReaderState((first[0], second[0]), (first[1], second[1]))


def note(text: str, place: int) -> str:
    """What a reader should know about a sentence and its word.

    >>> note("...", 0), note("", 0)
    ('', 'There is no word here yet.')
    """
    tokens = tokens_of(text)
    if not tokens:
        return "There is no word here yet."
    if len(text) >= LONGEST:
        return f"No more than {LONGEST} characters are read."
    long = len(tokens[place].encode()) > WORD_BYTES
    return f"Of this word {WORD_BYTES} bytes are read." if long else ""


class Mixed:
    """The mixtures of both occurrences, from the products of their layers."""

    def __init__(self, reading: Reading, weights: tuple[float, ...], gamma: float) -> None:
        across = np.kron(np.eye(2), np.array(weights))  # (2, 6)
        (one, both), (_, other) = (gamma**2 * (across @ reading.products @ across.T)).tolist()
        self.lengths = math.sqrt(one), math.sqrt(other)
        self.cosine = both / math.sqrt(one * other) if gamma else None
        self.distance = math.sqrt(max(0.0, one + other - 2 * both))


def read(state: ReaderState) -> dict[str, str]:
    """Every text that the explorer shows, by name; what is to be predicted is ``?`` at first.

    >>> texts = read(example("watch"))
    >>> texts["trained-0"], texts["trained-2"], texts["expected-0-0-1"]
    ('1.000', '?', 'head')
    """
    found = state.reading
    texts = {
        "among": AMONG[state.among],
        "gamma": fixed(state.gamma, 1),
        **{f"weight-{j}": fixed(weight, 3) for j, weight in enumerate(state.weights)},
    }
    for k, (text, tokens, place) in enumerate(
        zip(state.texts, state.tokens, state.places, strict=True)
    ):
        texts[f"note-{k}"] = note(text, place)
        texts[f"word-{k}"] = tokens[place] if tokens else NOTHING
    texts |= _numbers(state, found) | _words(found)
    if found and not state.shown:
        texts |= dict.fromkeys((*_NUMBERS[4:], "answer"), "?")
    return texts


#: The numbers that are shown, those of the token layer first.
_NUMBERS = (
    *(f"{model}{part}-{j}" for j in range(3) for model in MODELS for part in ("", "-at")),
    *("mixture", "length-0", "length-1", "distance"),
)


def _numbers(state: ReaderState, found: Reading | None) -> dict[str, str]:
    if not found:
        return dict.fromkeys((*_NUMBERS, "answer"), NOTHING) | {"guess": ""}
    lengths = np.sqrt(np.diag(found.products))
    cosines = found.products / np.outer(lengths, lengths)
    texts = {}
    for m, name in enumerate(MODELS):
        values = found.untrained if m else np.diag(cosines[:3, 3:]).tolist()
        tables = _reading.quantiles()[m][list(AMONG).index(state.among)]
        for j, value in enumerate(values):
            texts[f"{name}-{j}"] = fixed(value, 3)
            texts[f"{name}-at-{j}"] = fixed(placed(value, tables[j]), 0)
    upper = placed(float(cosines[2, 5]), _reading.quantiles()[0][0][2])
    right = state.guess == GUESSES[upper < 50]
    said = "You were right." if right else f"You said {state.guess}."
    mixed = Mixed(found, state.weights, state.gamma)
    return texts | {
        "mixture": "none" if mixed.cosine is None else fixed(mixed.cosine, 3),
        "length-0": fixed(mixed.lengths[0], 2),
        "length-1": fixed(mixed.lengths[1], 2),
        "distance": fixed(mixed.distance, 2),
        "answer": fixed(upper, 0),
        "guess": said if state.guess and state.shown else "",
    }


def _words(found: Reading | None) -> dict[str, str]:
    """What each direction expects, and the nearest occurrences."""
    texts = {}
    for k in range(2):
        for way in range(2):
            expected = found.expected[k][way] if found else None
            words = expected.words if expected else [(NOTHING, None)] * _reading.SHOWN
            for n, (word, chance) in enumerate(words):
                texts[f"expected-{k}-{way}-{n}"] = word
                texts[f"chance-{k}-{way}-{n}"] = NOTHING if chance is None else percent(chance)
            texts[f"own-{k}-{way}"] = _own(expected.own) if expected else NOTHING
        for layer in (1, 2):
            three = found.nearest[k][layer - 1] if found else ("", NOTHING, "")
            for name, words_there in zip(("before", "word", "after"), three, strict=True):
                texts[f"nearest-{k}-{layer}-{name}"] = words_there
    return texts


def _own(own: tuple[float, int] | None) -> str:
    return f"{percent(own[0])}, place {own[1]}" if own else "not among its 4000 words"


def percent(chance: float) -> str:
    """A probability in percent.

    >>> percent(0.0312)
    '3.12%'
    """
    return f"{fixed(100 * chance, 2)}%"


def moved(state: ReaderState, control: str, value: Any) -> ReaderState:
    """The state after a control was set; a guess is about one pair.

    A word keeps its mark when the words around it change.

    >>> moved(example("raft"), "text-0", "down the river went the boat .").places
    (5, 1)
    """
    name, _, number = control.partition("-")
    if name == "example":
        if value not in EXAMPLES:  # the empty line of the list
            return state
        pair = example(value)
        return replace(state, texts=pair.texts, places=pair.places, guess="")
    if name == "text":
        text = value[:LONGEST]
        place = kept_place(tokens_of(state.texts[int(number)]), state.places[int(number)], text)
        return replace(
            state,
            texts=_with(state.texts, number, text),
            places=_with(state.places, number, place),
            guess="",
        )
    if name == "place":
        return replace(state, places=_with(state.places, number, int(value)), guess="")
    if name == "weight":
        changed = with_weight(np.array(state.weights), int(number), value)
        return replace(state, weights=tuple(changed.tolist()))
    if name == "shown":
        return replace(state, shown=bool(value), guess=state.guess if value else "")
    return replace(state, **{name: value})


def kept_place(before: list[str], place: int, text: str) -> int:
    """Place of the same word in another text, the nearest one; else the place that is left.

    >>> kept_place(["the", "bank"], 1, "the old bank"), kept_place(["a", "b", "c"], 2, "x")
    (2, 0)
    """
    after = tokens_of(text)
    word = before[place] if before else None
    same = [other for other, token in enumerate(after) if token == word]
    return min(same, key=lambda p: abs(p - place), default=max(0, min(place, len(after) - 1)))


def _with(pair: tuple[Any, Any], number: str, value: Any) -> tuple[Any, Any]:
    return (pair[0], value) if number == "1" else (value, pair[1])


def _short(value: Any) -> Any:
    """Numbers to nine digits, lists and tuples likewise: more than is shown of them."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    return [_short(part) for part in value] if isinstance(value, list | tuple) else value


@cache
def data() -> dict[str, Any]:
    """What the page computes with until the model is loaded.

    Book: chapter 1, "Sentences of your own".

    >>> data()["size"]
    '1.1 MB'
    """
    examples = {}
    for name, (words, *_) in EXAMPLES.items():
        state = example(name)
        found = _reading.reading(*state.tokens, state.places)
        examples[name] = {
            "name": words,
            "texts": list(state.texts),
            "places": list(state.places),
            "reading": {
                "products": _short(found.products.tolist()),
                "untrained": _short(found.untrained),
                "expected": [
                    [{"words": _short(way.words), "own": _short(way.own)} for way in both]
                    for both in found.expected
                ],
                "nearest": found.nearest,
            },
        }
    megabytes = sum(len(script.encode()) for script in _reading.scripts()) / 1e6
    return {
        "examples": examples,
        "quantiles": _reading.quantiles(),
        "files": _reading.FILES,
        "size": f"{megabytes:.1f} MB",
    }


def reader(pair: str = "watch") -> Explorer:
    """The explorer that opens with a prepared pair.

    Parameters
    ----------
    pair
        A name in `EXAMPLES`.

    Raises
    ------
    ValueError
        For another name.

    Book: chapter 1, "Sentences of your own".

    >>> reader("raft").as_html()[:13]
    '<elmo-reader '
    """
    if pair not in EXAMPLES:
        raise ValueError(f"pair must be one of {', '.join(EXAMPLES)}, given {pair!r}")
    rows = []
    for name, (words, (first, _), (second, _)) in EXAMPLES.items():
        shown = read(replace(example(name), shown=True))
        at = [" ".join(shown[f"{model}-at-{j}"] for j in range(3)) for model in MODELS]
        cosines = " ".join(shown[f"trained-{j}"] for j in range(3))
        rows.append([words, cosines, *at, shown["mixture"], first, second])
    start = example(pair)
    places = ",".join(map(str, start.places))
    return Explorer(
        name="elmo-reader",
        state=urlencode({"a": start.texts[0], "b": start.texts[1], "at": places}),
        description="how near two words in two sentences are to each other, layer by layer",
        head=[
            "pair",
            "cosines at h₀ h₁ h₂",
            "percentiles among pairs of one word",
            "untrained",
            "equal mixture, cosine",
            "sentence A",
            "sentence B",
        ],
        rows=rows,
        make_view=lambda: View(start, read, moved, _controls(), _setting, _show),
        data=data(),
    )


def _controls() -> dict[str, ipywidgets.DOMWidget]:
    wide = {"style": {"description_width": "12em"}, "layout": {"width": "46em"}}
    controls: dict[str, ipywidgets.DOMWidget] = {
        "example": ipywidgets.Dropdown(
            options=[("your own", ""), *((words, name) for name, (words, *_) in EXAMPLES.items())],
            description="prepared pairs",
            **wide,
        )
    }
    for k, name in enumerate("AB"):
        controls[f"text-{k}"] = ipywidgets.Text(description=f"sentence {name}", **wide)
        controls[f"place-{k}"] = ipywidgets.Dropdown(description=f"word in {name}", **wide)
    guesses = [("…", ""), *((guess, guess) for guess in GUESSES)]
    controls["guess"] = ipywidgets.Dropdown(
        options=guesses, description="the upper layer will find them", **wide
    )
    controls["shown"] = ipywidgets.ToggleButton(description="Show how near")
    controls["among"] = ipywidgets.Dropdown(
        options=[(words, name) for name, words in AMONG.items()], description="among", **wide
    )
    for j, layer in enumerate(LAYERS):
        controls[f"weight-{j}"] = ipywidgets.FloatSlider(
            min=0.01, max=0.98, step=0.01, description=f"weight of {layer}", **wide
        )
    controls["gamma"] = ipywidgets.FloatSlider(min=-2, max=2, step=0.1, description="γ", **wide)
    return controls


def _setting(state: ReaderState) -> dict[str, Any]:
    named = (name for name in EXAMPLES if example(name).tokens == state.tokens)
    prepared = next((name for name in named if example(name).places == state.places), "")
    settings: dict[str, Any] = {"example": prepared}
    for k, tokens in enumerate(state.tokens):
        settings[f"text-{k}"] = state.texts[k]
        options = [(word, place) for place, word in enumerate(tokens)] or [(NOTHING, 0)]
        settings[f"place-{k}"] = Choice(options, state.places[k])
    for j, weight in enumerate(state.weights):
        settings[f"weight-{j}"] = weight
    rest = ("guess", "shown", "among", "gamma")
    return settings | {name: getattr(state, name) for name in rest}


def _show(_: ReaderState, texts: Texts) -> str:
    notes = [texts[f"note-{k}"] for k in range(2) if texts[f"note-{k}"]]
    rows = [
        [layer, *(texts[f"{model}{part}-{j}"] for model in MODELS for part in ("", "-at"))]
        for j, layer in enumerate(LAYERS)
    ]
    mixture = [texts[name] for name in ("mixture", "length-0", "length-1", "distance")]
    parts = [
        table(["", "cosine", f"among {texts['among']}", "untrained", "among them"], rows),
        table(["mixture: cosine", "length in A", "length in B", "distance"], [mixture]),
    ]
    for k, name in enumerate("AB"):
        expected = [
            [texts[f"{what}-{k}-{way}-{n}"] for way in range(2) for what in ("expected", "chance")]
            for n in range(_reading.SHOWN)
        ]
        own = [part for way in range(2) for part in (texts[f"word-{k}"], texts[f"own-{k}-{way}"])]
        heads = [f"{name}, {DIRECTIONS[0]}", "", DIRECTIONS[1], ""]
        parts.append(table(heads, [*expected, own]))
    near = [
        [f"{name}, {LAYERS[layer]}"]
        + [texts[f"nearest-{k}-{layer}-{part}"] for part in ("before", "word", "after")]
        for k, name in enumerate("AB")
        for layer in (1, 2)
    ]
    answer = f"{texts['guess']} At h₂ the pair is at {texts['answer']} among {AMONG['same']}."
    head = "".join(f"<p>{words}</p>" for words in (answer, *notes))
    return head + "".join(parts) + table(["nearest of ours", "", "", ""], near)
