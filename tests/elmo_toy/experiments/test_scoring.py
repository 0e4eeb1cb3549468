"""Slots, their F1, and accuracy within what a word can mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy.experiments.data import TaskData
from elmo_toy.experiments.scoring import choose, scores, slot_f1, slots
from elmo_toy.task.data import TaggedText

LABELS = st.sampled_from(["O", "B-a", "I-a", "B-b", "I-b"])


def slots_by_definition(labels: list[str]) -> set[tuple[str, int, int]]:
    """Every stretch of one kind that begins where a slot begins and ends where one ends."""

    def kind(place: int) -> str:
        return labels[place][2:] if 0 <= place < len(labels) and labels[place] != "O" else ""

    def begins(place: int) -> bool:
        return kind(place) != "" and (labels[place][0] == "B" or kind(place - 1) != kind(place))

    found = set()
    for first in filter(begins, range(len(labels))):
        last = first
        while kind(last + 1) == kind(first) and not begins(last + 1):
            last += 1
        found.add((kind(first), first, last))
    return found


@given(st.lists(LABELS, max_size=8))
def test_slots_are_those_of_the_definition(labels: list[str]) -> None:
    assert slots(labels) == slots_by_definition(labels)


@given(st.lists(st.lists(LABELS, min_size=1, max_size=5), min_size=1, max_size=4))
def test_f1_is_one_for_the_truth_and_zero_for_nothing(rows: list[list[str]]) -> None:
    assert slot_f1(rows, rows) == 1.0
    if any(slots(row) for row in rows):
        assert slot_f1(rows, [["O"] * len(row) for row in rows]) == 0.0


def test_f1_by_hand() -> None:
    true = [["B-a", "I-a", "O"], ["B-b", "B-b", "O"]]  # 3 slots
    answered = [["B-a", "O", "O"], ["B-b", "B-b", "B-a"]]  # 4 slots, 2 of them right
    assert slot_f1(true, answered) == pytest.approx(2 * 2 / (3 + 4))


def test_a_word_is_read_in_one_of_its_own_senses() -> None:
    log_p = np.log(np.array([[[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]]]))
    assert choose(log_p, [["bank", "bass"]], {"bank": (1, 0)}) == [[1, 2]]


def test_accuracy_counts_labelled_tokens_and_ambiguous_words_apart() -> None:
    text = TaggedText([["a", "b", "a"], ["b"]], [["x", None, "y"], ["y"]], ("x", "y"))
    task = TaskData("t", "accuracy", text, text, {"test": text}, ambiguous=frozenset("a"))
    log_p = np.log(np.array([[[0.9, 0.1]] * 3, [[0.1, 0.9], [0.5, 0.5], [0.5, 0.5]]]))
    assert scores(task, text, log_p) == {"accuracy": pytest.approx(2 / 3), "ambiguous": 0.5}


def test_slots_come_first_where_slots_are_the_task() -> None:
    text = TaggedText([["a", "b"]], [["B-x", "O"]], ("B-x", "O"))
    task = TaskData("t", "f1", text, text, {"test": text})
    found = scores(task, text, np.log(np.array([[[0.9, 0.1], [0.6, 0.4]]])))
    assert list(found.items()) == [("f1", pytest.approx(2 / 3)), ("accuracy", 0.5)]


@pytest.mark.parametrize("label", ["B", "I", "B-", "I-", "X-a", "b-a", ""])
def test_labels_that_are_no_bio_are_refused(label: str) -> None:
    with pytest.raises(ValueError, match=f"expected 'O', 'B-kind' or 'I-kind', got '{label}'"):
        slots(["B-a", label])


def test_every_token_is_answered() -> None:
    with pytest.raises(ValueError, match="answered: expected one label a token, got 1 for 2"):
        slot_f1([["B-a", "O"]], [["B-a"]])
