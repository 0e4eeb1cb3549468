"""The explorer of chapter 3, beside `worked_example`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy._checks import Array
from elmo_toy.widgets import mixture
from elmo_toy.widgets._mixture import MixtureState, move_along, moved, read, with_weight
from elmo_toy.worked_example import LAYERS, OCCURRENCES, eight_states, forward

UPPER = MixtureState((0.2, 0.3, 0.5))
weights = st.lists(st.floats(0.05, 1), min_size=3, max_size=3).map(
    lambda parts: np.array(parts) / sum(parts)
)


def test_the_article_numbers() -> None:
    texts = read(moved(UPPER, "shown", True))
    expected = {
        "river-mixture": "[1.7, 1.1]",
        "loan-mixture": "[0.3, 1.0]",
        "river-score": "0.6",
        "loan-score": "−0.7",
        "river-probability": "0.645656",
        "loan-probability": "0.331812",
        "loss": "0.420337",
    }
    assert {name: texts[name] for name in expected} == expected


def test_the_static_table_holds_the_eight_states() -> None:
    page = mixture().as_html()
    for state in eight_states():
        assert f"<td>{state.forward.loss:.6f}</td>" in page
        assert f"<td>{state.forward.probabilities[1]:.6f}</td>" in page
        assert f"{state.preset}, γ = {state.gamma:g}" in page


@given(weights, st.floats(-4, 4).filter(lambda g: abs(g) > 0.1), st.floats(0, 0.3))
def test_the_unseen_direction_keeps_scores_and_cone(s: Array, gamma: float, amount: float) -> None:
    new, scale = move_along(s, gamma, amount)
    assert new.min() > 0
    assert new.sum() == pytest.approx(1)
    assert np.sign(scale) == np.sign(gamma)
    before, after = forward(np.log(s), gamma), forward(np.log(new), scale)
    np.testing.assert_allclose(before.scores, after.scores, atol=1e-12)


@given(weights, st.integers(0, 2), st.floats(0.01, 0.98))
def test_one_weight_set_keeps_the_others_in_proportion(s: Array, layer: int, value: float) -> None:
    new = with_weight(s, layer, value)
    assert new[layer] == value
    assert new.sum() == pytest.approx(1)
    others = [j for j in range(3) if j != layer]
    assert new[others[0]] * s[others[1]] == pytest.approx(new[others[1]] * s[others[0]])


def test_loan_is_not_told_before_it_is_shown() -> None:
    hidden, shown = read(UPPER), read(moved(UPPER, "shown", True))
    told = {name for name in hidden if hidden[name] != shown[name]}
    loan = {f"loan-{part}" for part in ("mixture", "score", "probability", "loss")}
    assert told == loan | {"loss", "miss", "answer"}


def test_the_miss_is_the_distance_of_the_guess() -> None:
    state = moved(moved(UPPER, "guess-0", 3.3), "guess-1", 5.0)
    texts = read(moved(state, "shown", True))
    assert texts["miss"] == "5.00"  # from [0.3, 1.0]: 3 across, 4 up


def test_the_miss_stays_that_of_the_mixture_which_was_asked_for() -> None:
    state = shown = moved(UPPER, "shown", True)
    for control, value in (("gamma", 3.0), ("weight-0", 0.6), ("along", 0.1), ("preset", "lower")):
        state = moved(state, control, value)
        assert {read(state)[name] for name in ("miss", "answer")} == {"2.42", "[0.3, 1.0]"}
    assert read(state)["loan-mixture"] != "[0.3, 1.0]"
    again = moved(moved(state, "shown", False), "shown", True)
    assert read(again)["answer"] == read(again)["loan-mixture"]
    assert read(again)["miss"] != read(shown)["miss"]


def test_moving_by_hand_starts_from_what_is_shown() -> None:
    walked = moved(UPPER, "along", 0.3)
    again = moved(walked, "gamma", 2.0)
    assert again.along == 0
    np.testing.assert_allclose(again.weights, walked.current[0])
    set_by_hand = moved(walked, "weight-0", 0.5)
    assert set_by_hand.gamma == pytest.approx(4.3)


def test_the_walk_ends_where_the_scale_does() -> None:
    assert moved(moved(UPPER, "gamma", 5.0), "along", 0.3).along == 0
    assert abs(moved(moved(UPPER, "gamma", -4.0), "along", 0.3).current[1]) <= 5


@pytest.mark.parametrize(
    ("gamma", "words"),
    [
        (1.0, ""),
        (2.0, "It ends at 0.27 here: γ goes no further than 5."),
        (4.9, "It has no room here: γ goes no further than 5."),
        (-5.0, "It has no room here: γ goes no further than −5."),
    ],
)
def test_a_walk_without_room_says_why(gamma: float, words: str) -> None:
    state = moved(UPPER, "gamma", gamma)
    assert read(state)["room"] == read(moved(state, "along", 0.3))["room"] == words
    assert words in mixture("upper", gamma).view.box.children[-1].value


def test_an_unknown_preset_from_the_list_changes_nothing() -> None:
    assert moved(UPPER, "preset", "") == UPPER


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("top",), "preset must be one of upper"),
        (("upper", 6.0), "gamma must lie between -5 and 5"),
    ],
)
def test_a_bad_start_is_refused(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        mixture(*arguments)  # type: ignore[arg-type]  # what is tested


def test_the_live_view_follows_its_controls() -> None:
    """A slider moved in Jupyter gives the texts of the package's state, and moves the others."""
    view = mixture("upper").view
    view.controls["shown"].value = True
    view.controls["weight-2"].value = 0.75
    expected = moved(moved(UPPER, "shown", True), "weight-2", 0.75)
    assert view.texts == read(expected)
    assert view.controls["weight-0"].value == pytest.approx(0.1)
    view.controls["preset"].value = "lower"
    assert view.texts["loss"] == read(moved(expected, "preset", "lower"))["loss"]
    for text in (view.texts["loss"], view.texts["loan-mixture"]):
        assert text in view.box.children[-1].value
    view.box.children[-2].click()
    assert view.texts == read(UPPER)
    assert view.controls["shown"].value is False


def test_the_live_drawing_shows_loan_only_when_asked() -> None:
    view = mixture().view
    output = view.box.children[-1]
    assert output.value.count("<circle") == 1
    view.controls["shown"].value = True
    assert output.value.count("<circle") == len(OCCURRENCES)
    assert LAYERS.shape[1] * 2 <= output.value.count("<polyline")
    assert output.value.count('stroke-dasharray="2 4"') == 1  # what the guess missed
    view.controls["gamma"].value = 2.0
    assert output.value.count('stroke-dasharray="2 4"') == 0


def test_the_bundle_has_both_front_ends() -> None:
    explorer = mixture()
    bundle = explorer._repr_mimebundle_()
    # as ipywidgets 8 would say it itself; ipywidgets 7 would not
    live = "application/vnd.jupyter.widget-view+json"
    assert bundle[live] == explorer.view.box._repr_mimebundle_()[live]
    assert bundle["text/html"].startswith('<elmo-mixture id="elmo-mixture" class="elmo-explorer"')
    assert len(bundle["text/plain"].split()) > 5
