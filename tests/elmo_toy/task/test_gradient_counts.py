"""Each stage trains its own parts, and the counts are those of what an update changes."""

from __future__ import annotations

import numpy as np

from elmo_toy.bilm import load_pretrained
from elmo_toy.bilm.training import Adam
from elmo_toy.task.combine import CombinerOptions
from elmo_toy.task.data import TaggedText
from elmo_toy.task.fine_tuning import fine_tune
from elmo_toy.task.gradient_counts import PARTS, gradient_counts
from elmo_toy.task.options import TaggerOptions
from elmo_toy.task.tagger import Tagger
from elmo_toy.task.training import FitOptions

DATA = TaggedText(
    [["every", "muddy", "bank", "floods"], ["one", "bank", "lends"]],
    [[None, None, "water", None], [None, "money", None]],
    ("water", "money"),
)
MODEL = load_pretrained("toy-language")


def make(combiner: CombinerOptions) -> Tagger:
    assert MODEL.vocabulary is not None
    words = len(MODEL.vocabulary)
    options = TaggerOptions(2, 3, 64, words, 2, units=2, attach="both", combiner=combiner)
    return Tagger.initialise(options, np.random.default_rng(0))


def moved(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> int:
    return sum(int((after[name] != value).sum()) for name, value in before.items())


def test_each_stage_has_its_parts() -> None:
    counts = gradient_counts(make(CombinerOptions()), MODEL, DATA, MODEL.vocabulary)
    trained = {stage: [part for part in PARTS if of[part]] for stage, of in counts.items()}
    assert trained == {
        "frozen": ["logits", "gamma", "tagger"],
        "fine-tuned": ["logits", "gamma", "tagger", "biLM"],
        "adaptation": ["biLM", "softmax over words"],
    }
    assert (counts["frozen"]["logits"], counts["frozen"]["gamma"]) == (6, 2)
    for part in ("logits", "gamma", "tagger"):
        assert counts["fine-tuned"][part] == counts["frozen"][part]


def test_a_fixed_mixture_leaves_the_tagger_alone() -> None:
    fixed = make(CombinerOptions("equal", learn_gamma=False))
    frozen = gradient_counts(fixed, MODEL, DATA, MODEL.vocabulary)["frozen"]
    learned = gradient_counts(make(CombinerOptions()), MODEL, DATA, MODEL.vocabulary)["frozen"]
    assert frozen == learned | {"logits": 0, "gamma": 0}


def test_the_token_layer_trains_the_vectors_of_the_words_and_not_of_the_boundaries() -> None:
    counts = gradient_counts(make(CombinerOptions("layer", 0)), MODEL, DATA, MODEL.vocabulary)
    words = {word for tokens in DATA.sentences for word in tokens}
    assert counts["fine-tuned"]["biLM"] == len(words) * MODEL.options.lstm.projection_dim


def test_counts_are_the_numbers_that_an_update_changes() -> None:
    tagger = make(CombinerOptions())
    counts = gradient_counts(tagger, MODEL, DATA, MODEL.vocabulary)["fine-tuned"]
    tuned = fine_tune(
        tagger,
        MODEL,
        DATA,
        DATA,
        FitOptions(updates=1, evaluations=1),
        optimiser=Adam(0.01),
        model_optimiser=Adam(0.01),
        rng=np.random.default_rng(0),
        vocabulary=MODEL.vocabulary,
    )
    assert tuned.fit.best.updates == 1
    own = counts["logits"] + counts["gamma"] + counts["tagger"]
    assert moved(tagger.parameters, tuned.fit.tagger.parameters) == own
    assert moved(MODEL.parameters, tuned.model.parameters) == counts["biLM"]
