"""What is compared: each condition is a configuration of the same parts, under one short name.

A *condition* says which extractor makes the layers, how they become one vector a token, and what
reads that vector. A *setting* is a condition on a task, with a share of the labels, a lambda and a
seed: the settings differ from the default in one thing at a time.

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from elmo_toy.task.combine import CombinerOptions
from elmo_toy.task.options import Attach

Source = Literal["bilm", "untrained", "context2vec", "cove", "words"]

TASKS: dict[str, str] = {
    "senses": "toy",
    "noun_verb": "toy",
    "ewt": "ewt",
    "snips": "snips",
}
"""The four tasks, and the corpus of each."""

VERSION = 1
"""Raised when the code changes what a configuration means: older records are then recomputed."""

SEEDS = (0, 1, 2, 3, 4)
LABELS = 0.1
PENALTY = 0.001


@dataclass(frozen=True)
class Condition:
    """One way from sentences to tags.

    Attributes
    ----------
    about : str
        One line for a table.
    source : str
        What makes the layers: the trained ``"bilm"``, the same ``"untrained"``, ``"context2vec"``,
        ``"cove"``, or ``"words"``: counts of words, no model at all.
    combiner : CombinerOptions
    layer : int, optional
        The only layer of the source that is handed on; None: all.
    attach : str
        Where the combined layers come in; see `elmo_toy.task.options.TaggerOptions`.
    recurrent_layers : int
        0: a linear reader of single tokens, which reads the combined vector alone. Above: a
        recurrent tagger with word vectors of its own.
    matched : bool
        Give a concatenation a width so small that it and its reader have no more numbers to learn
        than the mixture and its reader.
    """

    about: str
    source: Source = "bilm"
    combiner: CombinerOptions = field(default_factory=CombinerOptions)
    layer: int | None = None
    attach: Attach = "input"
    recurrent_layers: int = 0
    matched: bool = False


def _layer(number: int, *, learn_gamma: bool = False) -> CombinerOptions:
    return CombinerOptions("layer", number, learn_gamma=learn_gamma)


_CONCATENATION = CombinerOptions("concatenation")

LINEAR: dict[str, Condition] = {
    "mixture": Condition("ELMo: softmax weights and gamma"),
    "equal": Condition("equal weights, gamma learned", combiner=CombinerOptions("equal")),
    "layer_0": Condition("static lookup vector (token layer)", combiner=_layer(0)),
    "layer_1": Condition("layer 1 alone, no gamma", combiner=_layer(1)),
    "layer_2": Condition("top layer alone, no gamma", combiner=_layer(2)),
    "top_gamma": Condition("top layer alone, gamma learned", combiner=_layer(2, learn_gamma=True)),
    "free": Condition("three free coefficients", combiner=CombinerOptions("free")),
    "concatenation": Condition("all layers side by side", combiner=_CONCATENATION),
    "concatenation_matched": Condition(
        "the same, matched: as few parameters as the mixture", combiner=_CONCATENATION, matched=True
    ),
    "untrained": Condition("mixture over an untrained biLM", "untrained"),
    "untrained_concatenation": Condition(
        "all layers of an untrained biLM", "untrained", _CONCATENATION
    ),
    "bag_of_words": Condition("bag of words, the word among them", "words", _layer(0)),
    "context2vec": Condition("context2vec: the slot without its word", "context2vec", _layer(0), 1),
    "context2vec_and_word": Condition(
        "context2vec: the slot beside its word", "context2vec", _CONCATENATION
    ),
    "cove": Condition("CoVe: top layer of a translator's encoder", "cove", _layer(0), 1),
    "cove_and_word": Condition("CoVe beside its word vector", "cove", _CONCATENATION),
}
"""Read by a softmax on each token alone."""

RECURRENT: dict[str, Condition] = {
    "tagger": Condition("tagger without a language model", attach="none", recurrent_layers=2),
    "input": Condition("mixture at the input", attach="input", recurrent_layers=2),
    "output": Condition("mixture at the output", attach="output", recurrent_layers=2),
    "both": Condition("mixtures at input and output", attach="both", recurrent_layers=2),
    "after_first": Condition(
        "mixture after the first recurrent layer", attach="after_first", recurrent_layers=2
    ),
    "taglm": Condition(
        "TagLM: top layers after the first recurrent layer, unmixed",
        combiner=_layer(2),
        attach="after_first",
        recurrent_layers=2,
    ),
}
"""Read by a tagger of two recurrent layers."""

CONDITIONS = LINEAR | RECURRENT

LAMBDAS = (0.0, 0.001, 1.0)
FRACTIONS = (0.01, 0.1, 1.0)
FRACTION_CONDITIONS = ("mixture", "layer_0", "layer_2", "untrained", "bag_of_words")
"""The conditions that are also run with other shares of the labels."""


@dataclass(frozen=True)
class Setting:
    """What one record is about.

    >>> Setting("senses", "mixture", seed=3).name
    'senses/mixture/labels-0.1/lambda-0.001/seed-3'
    """

    task: str
    condition: str
    seed: int
    labels: float = LABELS
    penalty: float = PENALTY

    def __post_init__(self) -> None:
        """Refuse what isn't there."""
        for name, known in (("task", TASKS), ("condition", CONDITIONS)):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name}: expected one of {', '.join(known)}, got {getattr(self, name)!r}"
                )

    @property
    def name(self) -> str:
        """The record's name."""
        return (
            f"{self.task}/{self.condition}/labels-{self.labels:g}/lambda-{self.penalty:g}"
            f"/seed-{self.seed}"
        )

    @property
    def corpus(self) -> str:
        """Which corpus it needs."""
        return TASKS[self.task]


_Variation = tuple[str, dict[str, float]]


def plan(tasks: Sequence[str] = tuple(TASKS), seeds: Sequence[int] = SEEDS) -> list[Setting]:
    """All settings, the most important first.

    >>> settings = plan()
    >>> settings[0].name, len(settings) == len(set(settings))
    ('senses/mixture/labels-0.1/lambda-0.001/seed-0', True)

    Book: chapter 6, "Our own table".
    """
    linear: list[_Variation] = [(name, {}) for name in LINEAR]
    recurrent: list[_Variation] = [(name, {}) for name in RECURRENT]
    penalties: list[_Variation] = [
        ("mixture", {"penalty": penalty}) for penalty in LAMBDAS if penalty != PENALTY
    ]
    fractions: list[_Variation] = [
        (name, {"labels": labels})
        for labels in FRACTIONS
        if labels != LABELS
        for name in FRACTION_CONDITIONS
    ]
    return [
        Setting(task, name, seed, **changes)
        for name, changes in (*linear, *penalties, *fractions, *recurrent)
        for task in tasks
        for seed in seeds
        if applies(task, name)
    ]


def applies(task: str, condition: str) -> bool:
    """Whether a condition is run on a task.

    CoVe is trained on translations, which only the toy language has. The recurrent tagger is not
    run on ``"noun_verb"``, which a linear reader of any trained layer solves.

    >>> applies("ewt", "cove"), applies("senses", "cove")
    (False, True)
    """
    found = CONDITIONS[condition]
    if found.source == "cove" and TASKS[task] != "toy":
        return False
    return task != "noun_verb" or found.recurrent_layers == 0
