"""From probabilities to a score: accuracy, accuracy on ambiguous words, F1 of whole slots.

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.experiments.data import TaskData
from elmo_toy.task.data import TaggedText


def choose(
    log_p: Array, sentences: Sequence[Sequence[str]], choices: Mapping[str, tuple[int, ...]]
) -> list[list[int]]:
    """The most probable tag of each token, among those that its word can have if that is known.

    Parameters
    ----------
    log_p : (n, tokens, n_tags)

    >>> log_p = np.log([[[0.2, 0.3, 0.5]]])
    >>> choose(log_p, [["bank"]], {}), choose(log_p, [["bank"]], {"bank": (0, 1)})
    ([[2]], [[1]])
    """
    best = log_p.argmax(axis=2)
    chosen = []
    for row, sentence in enumerate(sentences):
        tags = best[row, : len(sentence)].tolist()
        for place, word in enumerate(sentence):
            if word in choices:
                allowed = choices[word]
                tags[place] = allowed[int(log_p[row, place, list(allowed)].argmax())]
        chosen.append(tags)
    return chosen


def scores(task: TaskData, asked: TaggedText, log_p: Array) -> dict[str, float]:
    """All the scores of a task on one set of sentences, its own metric first.

    >>> text = TaggedText([["a", "b"]], [["x", None]], ("x", "y"))
    >>> task = TaskData("t", "accuracy", text, text, {"test": text})
    >>> scores(task, text, np.log([[[0.7, 0.3], [0.5, 0.5]]]))
    {'accuracy': 1.0}
    """
    chosen = choose(log_p, asked.sentences, task.choices)
    names = task.pool.tag_names
    right: list[bool] = []
    ambiguous: list[bool] = []
    for sentence, tags, answers in zip(asked.sentences, asked.tags, chosen, strict=True):
        for word, tag, answer in zip(sentence, tags, answers, strict=True):
            if tag is not None:
                right.append(names[answer] == tag)
                if word in task.ambiguous:
                    ambiguous.append(right[-1])
    found = {"accuracy": float(np.mean(right))}
    if ambiguous:
        found["ambiguous"] = float(np.mean(ambiguous))
    if task.metric == "f1":
        answered = [[names[answer] for answer in answers] for answers in chosen]
        return {
            "f1": slot_f1([[tag or "O" for tag in tags] for tags in asked.tags], answered),
            **found,
        }
    return found


def slot_f1(true: Sequence[Sequence[str]], answered: Sequence[Sequence[str]]) -> float:
    """F1 over slots: right is a slot whose kind, first and last token are all right.

    ValueError for labels as `slots` refuses them, and answers to more or fewer tokens.

    >>> slot_f1([["B-a", "I-a", "O", "B-b"]], [["B-a", "I-a", "B-c", "O"]])
    0.5
    """
    hits = named = asked = 0
    for tags, answers in zip(true, answered, strict=True):
        if len(tags) != len(answers):
            raise ValueError(
                f"answered: expected one label a token, got {len(answers)} for {len(tags)}"
            )
        expected, found = slots(tags), slots(answers)
        hits += len(expected & found)
        asked += len(expected)
        named += len(found)
    return 2 * hits / (asked + named) if asked + named else 1.0


def slots(labels: Sequence[str]) -> set[tuple[str, int, int]]:
    """(kind, first, last) of each slot in BIO labels.

    An ``I-`` that continues nothing begins a slot, as in the evaluation script of CoNLL-2000.
    ValueError for a label that is neither ``O`` nor ``B-`` or ``I-`` with a kind.

    >>> sorted(slots(["I-a", "I-a", "B-a", "I-b", "O"]))
    [('a', 0, 1), ('a', 2, 2), ('b', 3, 3)]
    """
    found: set[tuple[str, int, int]] = set()
    kind, first = "", 0
    for place, label in enumerate([*labels, "O"]):
        mark, _, name = label.partition("-")
        if label != "O" and not (mark in ("B", "I") and name):
            raise ValueError(f"labels: expected 'O', 'B-kind' or 'I-kind', got {label!r}")
        if kind and (mark != "I" or name != kind):
            found.add((kind, first, place - 1))
            kind = ""
        if mark != "O" and not kind:
            kind, first = name, place
    return found
