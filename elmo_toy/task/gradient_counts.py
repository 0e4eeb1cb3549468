"""Who gets a gradient, found by counting: with a model frozen, fine-tuned, adapted.

Book: chapter 5, "What is frozen, what is learned".
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elmo_toy import text
from elmo_toy._checks import Array
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.training import Corpus
from elmo_toy.task.data import TaggedText
from elmo_toy.task.tagger import Tagger
from elmo_toy.text import Vocabulary

PARTS = ("logits", "gamma", "tagger", "biLM", "softmax over words")
"""Of the mixtures: logits, gamma. ``tagger``: everything else that belongs to the task. ``biLM``:
what the layers are made with. Its softmax over words makes no layer, it is there to be trained."""


def gradient_counts(
    tagger: Tagger, model: BiLM, data: TaggedText, vocabulary: Vocabulary | None = None
) -> dict[str, dict[str, int]]:
    """How many numbers of each part have a derivative other than 0, stage by stage.

    Parameters
    ----------
    tagger : Tagger
    model : BiLM, of the tagger's dtype
    data : TaggedText
        All of it is one batch. A word that it lacks gets no gradient in any stage.
    vocabulary : Vocabulary, optional
        Of the tagger's own word vectors.

    Returns
    -------
    Counts by stage, then by part (`PARTS`). ``"frozen"``: the task's loss, whose gradient ends at
    the layers. ``"fine-tuned"``: it goes on into the model. ``"adaptation"``: the language model's
    own loss, on the same sentences without their tags; there is no tagger yet.

    Examples
    --------
    >>> from elmo_toy.bilm import load_pretrained
    >>> from elmo_toy.task.options import TaggerOptions
    >>> options = TaggerOptions(2, 3, 64, units=4)
    >>> tagger = Tagger.initialise(options, np.random.default_rng(0))
    >>> data = TaggedText([["the", "bank"]], [[None, "money"]], ("water", "money"))
    >>> counts = gradient_counts(tagger, load_pretrained("toy-language"), data)
    >>> [counts["frozen"][part] for part in ("logits", "gamma", "biLM")]
    [3, 1, 0]

    Book: chapter 5, "What is frozen, what is learned".
    """
    batch, targets = Corpus(model, data.sentences).batch(np.arange(len(data.sentences)))
    layers, mask = text.remove_boundaries(*model.layers(batch))
    found = tagger.loss_and_gradients(data.with_layers(layers, mask, vocabulary))
    # The boundaries were read and dropped: the loss doesn't depend on their own layers.
    upstream = np.pad(found.layers, ((0, 0), (0, 0), (1, 1), (0, 0)))
    by_task = model.layer_gradients(batch, upstream)
    _, by_words = model.loss_and_gradients(batch, targets)
    return {
        "frozen": _counts(found.parameters, {}),
        "fine-tuned": _counts(found.parameters, by_task),
        "adaptation": _counts({}, by_words),
    }


def _counts(tagger: Mapping[str, Array], model: Mapping[str, Array]) -> dict[str, int]:
    counts = dict.fromkeys(PARTS, 0)
    for name, gradient in tagger.items():
        last = name.split("/")[-1]
        counts[last if last in PARTS else "tagger"] += int(np.count_nonzero(gradient))
    for name, gradient in model.items():
        part = "softmax over words" if name.startswith("softmax/") else "biLM"
        counts[part] += int(np.count_nonzero(gradient))
    return counts
