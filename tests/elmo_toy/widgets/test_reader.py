"""The explorer of the reader's own sentences: its states, its texts and its two front ends."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from elmo_toy.scalar_mix import scalar_mix
from elmo_toy.similarity import cosine
from elmo_toy.widgets import _reading, reader
from elmo_toy.widgets._reader import (
    AMONG,
    EXAMPLES,
    WORD_BYTES,
    ReaderState,
    data,
    example,
    kept_place,
    moved,
    read,
)


def shown(name: str) -> ReaderState:
    return replace(example(name), shown=True)


def test_the_prepared_pairs_succeed_and_fail_as_the_chapter_says() -> None:
    """Percentiles in the upper layer, among pairs of one word."""
    upper = {name: float(read(shown(name))["trained-at-2"]) for name in EXAMPLES}
    assert upper["watch"] < 5
    assert upper["left"] < 5
    assert upper["river"] < 25, "two river banks come out far apart"
    assert upper["loan"] > 70, "a river bank and a bank of money near"
    untrained = read(shown("watch"))["untrained-at-2"]
    assert 50 < float(untrained) < 60


def test_half_of_the_failing_pair_is_the_same_number_for_number() -> None:
    first, second = example("loan").tokens
    (one, other) = (
        _reading.layers_of(tokens)[:, place]
        for tokens, place in zip((first, second), example("loan").places, strict=True)
    )
    np.testing.assert_allclose(one[:, 64:], other[:, 64:], atol=1e-12)
    assert (np.abs(one[1:, :64] - other[1:, :64]).max(axis=1) > 0.1).all()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_mixture_is_that_of_the_layers(name: str) -> None:
    state = replace(shown(name), weights=(0.2, 0.3, 0.5), gamma=-1.5)
    layers = np.stack(
        [
            _reading.layers_of(tokens)[:, [place]]
            for tokens, place in zip(state.tokens, state.places, strict=True)
        ]
    )
    one, other = scalar_mix(layers, np.log(state.weights), state.gamma)[:, 0]
    texts = {name: text.replace("−", "-") for name, text in read(state).items()}
    assert float(texts["mixture"]) == pytest.approx(float(cosine(one, other)), abs=6e-4)
    assert float(texts["length-0"]) == pytest.approx(float(np.linalg.norm(one)), abs=6e-3)
    assert float(texts["length-1"]) == pytest.approx(float(np.linalg.norm(other)), abs=6e-3)
    assert float(texts["distance"]) == pytest.approx(float(np.linalg.norm(one - other)), abs=6e-3)


def test_equal_weights_listen_to_the_token_layer_most() -> None:
    """Chapter 5 says so of boat and raft."""
    texts = read(shown("raft"))
    cosines = [float(texts[f"trained-{j}"]) for j in range(3)]
    assert cosines == sorted(cosines)
    assert float(texts["mixture"]) < sum(cosines[:2]) / 2


def test_without_gamma_there_is_no_direction() -> None:
    texts = read(replace(shown("left"), gamma=0.0))
    assert (texts["mixture"], texts["length-0"], texts["distance"]) == ("none", "0.00", "0.00")


def test_a_word_beside_itself() -> None:
    first, _ = EXAMPLES["raft"][1:]
    texts = read(ReaderState((first[0], first[0]), (1, 1), shown=True))
    assert {texts[f"trained-{j}"] for j in range(3)} == {"1.000"}
    assert (texts["trained-at-2"], texts["distance"]) == ("100", "0.00")


def test_the_upper_layers_are_not_told_before_they_are_shown() -> None:
    hidden, told = read(example("watch")), read(shown("watch"))
    changed = {name for name in hidden if hidden[name] != told[name]}
    kinds = ("trained", "trained-at", "untrained", "untrained-at")
    numbers = {f"{kind}-{j}" for kind, j in product(kinds, (1, 2))}
    assert changed == numbers | {"mixture", "length-0", "length-1", "distance", "answer"}
    assert {hidden[name] for name in changed} == {"?"}


def test_a_guess_is_about_one_pair_and_the_upper_layer() -> None:
    state = moved(moved(example("watch"), "guess", "further"), "shown", True)
    assert read(state)["guess"] == "You were right."
    wrong = moved(state, "guess", "nearer")
    assert read(wrong)["guess"] == "You said nearer."
    # whatever the percentiles in the table are among
    assert read(moved(state, "among", "different"))["guess"] == "You were right."
    for control, value in (("example", "raft"), ("place-0", 1), ("text-1", "a bank")):
        assert moved(state, control, value).guess == ""
    assert moved(state, "shown", False).guess == ""
    assert moved(state, "weight-2", 0.7).guess == "further"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("", "There is no word here yet."),
        (" \u200b ", "There is no word here yet."),
        ("bank " * 500, "No more than 300 characters are read."),
        ("x" * 23, "Of this word 22 bytes are read."),
        ("x" * 22, ""),
        ("ש" * 12, "Of this word 22 bytes are read."),
        ("x" * 900, "No more than 300 characters are read."),
        ("<script>alert(1)</script>", ""),
        ("🚣 🚣", ""),
    ],
)
def test_whatever_is_typed_gets_an_answer_or_a_sentence(text: str, note: str) -> None:
    state = moved(replace(example("raft"), shown=True, places=(0, 1)), "text-0", text)
    texts = read(state)
    assert texts["note-0"] == note
    readable = "no word" not in note
    for name in ("trained-1", "untrained-at-2", "mixture", "chance-0-1-4"):
        assert (texts[name] == "–") != readable
    assert texts["word-1"] == "raft"


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_word_that_is_shown_is_at_its_place(name: str) -> None:
    """By occurrence, direction or layer, and rank."""
    texts, found = read(shown(name)), shown(name).reading
    assert found
    for k, way in product(range(2), range(2)):
        words, own = found.expected[k][way]
        for n, (word, chance) in enumerate(words):
            assert texts[f"expected-{k}-{way}-{n}"] == word
            assert float(texts[f"chance-{k}-{way}-{n}"][:-1]) == pytest.approx(
                100 * chance, abs=5.1e-3
            )
        assert own
        assert texts[f"own-{k}-{way}"].endswith(f"%, place {own[1]}")
        three = [texts[f"nearest-{k}-{way + 1}-{part}"] for part in ("before", "word", "after")]
        assert tuple(three) == found.nearest[k][way]


def test_a_word_that_cannot_be_predicted_is_said_so() -> None:
    texts = read(ReaderState(("a zebra", "the bank"), (1, 1)))
    assert texts["own-0-0"] == "not among its 4000 words"
    assert len(_reading.vocabulary()) == 4000
    chance, place = texts["own-1-1"].split("%, place ")
    assert 0 <= float(chance) <= 100
    assert 1 <= int(place) <= 4000


def test_a_word_is_read_up_to_so_many_bytes() -> None:
    """What is beyond them changes nothing, the last of them does; two more mark its ends."""
    long = "x" * 40
    vectors = [
        _reading.layers_of((long[:n],))[0, 0] for n in (WORD_BYTES - 1, WORD_BYTES, WORD_BYTES + 1)
    ]
    assert not np.array_equal(vectors[0], vectors[1])
    np.testing.assert_array_equal(vectors[1], vectors[2])


def test_a_word_keeps_its_mark_when_words_around_it_change() -> None:
    assert kept_place(["the", "bank", "."], 1, "on the old bank") == 3
    assert kept_place(["bank", "x", "bank"], 2, "bank bank bank bank") == 2
    assert kept_place(["a", "b", "c"], 2, "d e") == 1
    assert kept_place([], 0, "x") == kept_place(["a"], 0, "") == 0


def test_the_empty_line_of_the_list_changes_nothing() -> None:
    assert moved(example("raft"), "example", "") == example("raft")


def test_no_more_of_a_sentence_is_kept_than_is_read() -> None:
    assert len(moved(example("raft"), "text-1", "a " * 400).texts[1]) == _reading.LONGEST


def test_an_unknown_pair_is_refused() -> None:
    with pytest.raises(ValueError, match=r"pair must be one of watch, river.*given 'bank'"):
        reader("bank")


def test_the_live_view_follows_its_controls() -> None:
    view = reader().view
    assert view.controls["example"].value == "watch"
    view.controls["text-0"].value = "The <b>bank</b> closed"
    view.controls["place-0"].value = 4
    view.controls["among"].value = "different"
    view.controls["weight-2"].value = 0.8
    view.controls["gamma"].value = -1.0
    view.controls["guess"].value = "nearer"
    view.controls["shown"].value = True
    assert view.controls["example"].value == ""
    assert view.controls["place-0"].label == "bank"
    state = view.state
    assert state.tokens[0] == ("the", "<", "b", ">", "bank", "<", "/", "b", ">", "closed")
    assert (state.places, state.among, state.gamma, state.shown) == ((4, 2), "different", -1, True)
    output = view.box.children[-1].value
    for text in (view.texts["mixture"], view.texts["trained-at-1"], view.texts["own-0-1"]):
        assert text in output
    view.controls["text-1"].value = "<script>"
    view.controls["place-1"].value = 1
    assert ">script<" in view.box.children[-1].value
    assert "<script" not in view.box.children[-1].value
    view.controls["text-1"].value = ""
    assert "no word here" in view.box.children[-1].value
    view.controls["example"].value = ""
    view.controls["example"].value = "raft"
    assert view.texts["word-1"] == "raft"
    view.box.children[-2].click()
    assert view.texts == read(example("watch"))


def test_the_static_table_and_the_data_hold_every_pair() -> None:
    page = reader("raft").as_html()
    assert 'state="a=the+boat+went+down+the+river+.&amp;b=the+raft' in page
    for name, (words, *_) in EXAMPLES.items():
        texts = read(shown(name))
        cells = (texts["mixture"], " ".join(texts[f"untrained-at-{j}"] for j in range(3)))
        assert all(f"<td>{cell}</td>" in page for cell in cells)
        assert f">{words}</th>" in page
        assert data()["examples"][name]["reading"]["untrained"][1] == pytest.approx(
            float(texts["untrained-1"]), abs=5e-4
        )
    assert len(page) < 20_000
    assert set(AMONG) == {"same", "different"}
