"""The explorer of chapter 2, beside the language model and the record."""

from __future__ import annotations

import numpy as np
import pytest

from elmo_toy.bilm import lstm, reach, records
from elmo_toy.bilm.model import BiLM, Options
from elmo_toy.bilm.token_encoder import LookupOptions
from elmo_toy.toy_language import vocabulary
from elmo_toy.widgets import shift
from elmo_toy.widgets._shift import (
    DIRECTIONS,
    LAST,
    TOKENS,
    WIRINGS,
    WORDS,
    ShiftState,
    asked_for,
    data,
    has_read,
    moved,
    read,
)


@pytest.mark.parametrize("joined", [False, True])
def test_the_top_state_has_read_what_can_change_it(joined: bool) -> None:
    """Exchange one word after the other: exactly what a state has consumed moves it."""
    sizes = lstm.LSTMOptions(dim=8, projection_dim=4, joined=joined)
    options = Options(LookupOptions(len(vocabulary())), sizes)
    model = BiLM.initialise(options, np.random.default_rng(0), vocabulary())
    words = list(TOKENS[1:-1])
    others = [[*words[:i], "wealthy", *words[i + 1 :]] for i in range(len(words))]
    change = reach.layer_changes(model, [words] * len(words), others)[:, -1]
    wiring = "joined" if joined else "apart"
    for way, direction in enumerate(DIRECTIONS):
        for at in range(1, LAST):
            reached = [place + 1 for place in np.flatnonzero(change[:, way, at - 1])]
            inside = [place for place in has_read(direction, at, wiring) if 0 < place < LAST]
            assert sorted(inside) == reached, (direction, at)


@pytest.mark.parametrize("wiring", WIRINGS)
def test_each_direction_is_asked_for_every_token_but_its_first(wiring: str) -> None:
    for direction in DIRECTIONS:
        asked = [asked_for(direction, at, wiring) for at in range(len(TOKENS))]
        tasks = sorted(place for place in asked if place <= LAST)
        first = 0 if direction == "forward" else LAST
        expected = set(range(len(TOKENS))) - (set() if wiring == "leak" else {first})
        assert tasks == sorted(expected)


def test_only_apart_has_no_state_read_its_answer() -> None:
    for wiring in WIRINGS:
        seen = [
            asked_for(way, at, wiring) in has_read(way, at, wiring)
            for way in DIRECTIONS
            for at in range(len(TOKENS))
            if asked_for(way, at, wiring) <= LAST
        ]
        assert not any(seen) if wiring == "apart" else all(seen)


def test_what_is_measured_is_the_record() -> None:
    losses, scores = records.separate_stacks("new_cues")
    for wiring, (_, model) in WIRINGS.items():
        texts = read(ShiftState(wiring=wiring))
        assert texts["loss"] == records.mean_and_deviation(losses[model])
        for layer in (1, 2):
            wanted = records.mean_and_deviation(scores[model][:, layer])
            assert texts[f"layer-{layer}"] == wanted


def test_the_backward_task_is_not_told_before_it_is_shown() -> None:
    hidden, shown = read(ShiftState()), read(ShiftState(shown=True))
    told = {name for name in hidden if hidden[name] != shown[name]}
    assert told == {"backward-asked", "backward-seen"}
    assert (shown["backward-asked"], shown["backward-seen"]) == ("the", "which it has not read")


def test_the_ends() -> None:
    end = read(ShiftState(LAST, shown=True))
    assert (end["forward-asked"], end["forward-seen"]) == ("nothing", "which it is not scored on")
    assert (end["backward-read"], end["backward-asked"]) == ("</S>", ".")
    start = read(ShiftState(0, shown=True))
    assert (start["forward-read"], start["forward-asked"]) == ("<S>", "every")
    assert start["backward-asked"] == "nothing"
    assert read(ShiftState(0, "leak"))["forward-asked"] == "<S>"


def test_a_guess_is_about_one_place_and_one_wiring() -> None:
    state = moved(moved(ShiftState(), "guess", WORDS.index("the")), "shown", True)
    assert read(state)["guess"] == "You were right."
    wrong = moved(state, "guess", WORDS.index("near"))
    assert read(wrong)["guess"] == "You said near."
    for control, value in (("at", 4), ("wiring", "leak")):
        assert read(moved(state, control, value))["guess"] == ""
    assert moved(state, "shown", False).guess == -1


@pytest.mark.parametrize("at", [-1, 12, 1.5, 5.0, True])
def test_a_bad_start_is_refused(at: object) -> None:
    with pytest.raises(ValueError, match=f"at must be a place between 0 and 11, given {at}"):
        shift(at)  # type: ignore[arg-type]  # what is tested


def test_the_live_view_follows_its_controls() -> None:
    view = shift().view
    view.controls["wiring"].value = "joined"
    view.controls["at"].value = 7
    view.controls["guess"].value = WORDS.index("near")
    view.controls["shown"].value = True
    assert view.texts == read(ShiftState(7, "joined", WORDS.index("near"), shown=True))
    output = view.box.children[-1].value
    for text in (view.texts["loss"], view.texts["layer-2"], "You were right.", "● asked"):
        assert text in output
    view.box.children[-2].click()
    assert view.texts == read(ShiftState())
    assert view.controls["at"].value == 5


def test_the_static_table_holds_the_three_wirings() -> None:
    page = shift(9).as_html()
    assert 'state="k=9&amp;m=apart"' in page
    assert "&quot;tokens&quot;:[&quot;&lt;S&gt;&quot;" in page
    for model in data()["models"].values():
        for text in (model["name"], *model["texts"]):
            assert f">{text}</t" in page
    bundle = shift()._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert len(bundle["text/plain"].split()) > 5
