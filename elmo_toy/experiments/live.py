"""One seed at small size, in a few seconds: what a chapter runs in front of the reader.

The same functions as the recorded runs, in float64, so that it prints the same on every machine.

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

from typing import NamedTuple

from elmo_toy.bilm import load_pretrained
from elmo_toy.bilm.model import BiLM
from elmo_toy.experiments import data, sources
from elmo_toy.experiments.conditions import Setting
from elmo_toy.experiments.data import ToySizes
from elmo_toy.experiments.fits import FitSizes, LinearSizes
from elmo_toy.experiments.run import Group, Sizes, measure, run_group
from elmo_toy.experiments.sources import SourceSizes, Trained
from elmo_toy.experiments.store import Record

CONDITIONS = ("mixture", "layer_0", "layer_1", "layer_2", "concatenation")
CORPUS = ToySizes(text=2_000, labelled=4, development=4, test=8)
SOURCE = SourceSizes(32, 16, tokens=30_000, learning_rate=0.03, batch_size=16, dtype="float64")
SIZES = Sizes(
    {"toy": SOURCE},
    FitSizes(LinearSizes(rates=(0.03, 0.1), updates=80, batch=256, evaluations=4)),
)


SMALL = Setting("senses", "mixture", 0, labels=1.0)
"""What `small_record` measures."""


def small_record() -> Record:
    """One record at this size: it is kept beside the others, and a test makes it again.

    Book: chapter 6, "Our own table".
    """
    group = Group("toy", "bilm", SMALL.seed, (SMALL,))
    return run_group(data.toy(CORPUS), group, SIZES)[0]


class Live(NamedTuple):
    """What a live run found."""

    scores: dict[str, dict[str, float]]  # task -> condition -> test accuracy
    weights: dict[str, list[float]]  # task -> the mixture's weights, token layer first
    gamma: dict[str, float]  # task -> the mixture's gamma
    perplexity: float  # of the biLM trained here


def live(seed: int = 0) -> Live:
    """Read noun/verb words off a biLM trained here, and senses off the shipped one.

    In the few seconds that a page has, a language model learns syntax and hardly any sense: the one
    trained here tells nouns from verbs and not yet river banks from money banks. So senses are read
    off the ``toy-language`` model, which was trained for longer; there the seed only draws the
    labelled sentences. ``"untrained"`` is the network that the training here starts from.

    Examples
    --------
    >>> found = live(0)
    >>> found.scores["noun_verb"]["layer_2"] > found.scores["noun_verb"]["untrained"]
    True

    Book: chapter 6, "Our own table".
    """
    corpus = data.toy(CORPUS)
    shipped = load_pretrained("toy-language")
    wide = {name: value.astype("float64") for name, value in shipped.parameters.items()}
    pretrained = Trained(BiLM(shipped.options, wide, shipped.vocabulary).embed, {})
    trained = sources.build("bilm", corpus, seed, SOURCE)
    untrained = sources.build("untrained", corpus, seed, SOURCE)

    scores: dict[str, dict[str, float]] = {}
    weights: dict[str, list[float]] = {}
    gamma: dict[str, float] = {}
    for task, source, conditions in (
        ("noun_verb", trained, CONDITIONS),
        ("noun_verb", untrained, ("untrained",)),
        ("senses", pretrained, CONDITIONS),
        ("senses", untrained, ("untrained",)),
    ):
        settings = [Setting(task, condition, seed, labels=1.0) for condition in conditions]
        for condition, record in zip(
            conditions, measure(corpus, settings, source, SIZES), strict=True
        ):
            scores.setdefault(task, {})[condition] = round(record.score, 3)
            if condition == "mixture":
                weights[task] = [round(weight, 3) for weight in record.weights["input"]]
                gamma[task] = round(record.gamma["input"], 2)
    return Live(scores, weights, gamma, round(trained.facts["perplexity"], 1))
