"""The other choice: the task's gradient goes on through the mixture into the biLM.

Frozen is the default everywhere else. Here every sentence is read anew at every update, no layer
may be cached, and what is learned is a copy of the whole language model for one task.

Book: chapter 5, "Frozen, fine-tuned, adapted".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elmo_toy import text
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.training import Optimiser, clip_by_global_norm
from elmo_toy.task.data import TaggedText
from elmo_toy.task.tagger import Tagger
from elmo_toy.task.training import Course, Evaluation, Fit, FitOptions, add_penalty, evaluate
from elmo_toy.text import Batch, IntArray, Vocabulary


@dataclass(frozen=True)
class FineTuned:
    """The task's side of the run, and the biLM as it was when development was best."""

    fit: Fit
    model: BiLM


def fine_tune(
    tagger: Tagger,
    model: BiLM,
    data: TaggedText,
    development: TaggedText,
    options: FitOptions,
    *,
    optimiser: Optimiser,
    model_optimiser: Optimiser,
    rng: np.random.Generator,
    vocabulary: Vocabulary | None = None,
    trace: bool = False,
) -> FineTuned:
    """Train copies of a tagger and of the biLM under it, on one loss.

    Parameters
    ----------
    tagger : Tagger, left as it is
    model : BiLM, left as it is
        Of the tagger's dtype. Its softmax over words is no part of the layers and stays.
    data, development : TaggedText
    options : FitOptions
        ``clip_norm`` is of all gradients together.
    optimiser, model_optimiser : Optimiser
        Of the tagger's parameters and of the model's, each fresh; the second usually the slower.
    rng : numpy Generator
        As in `training.fit`.
    vocabulary : Vocabulary, optional
        Of the tagger's own word vectors.
    trace : bool
        Keep weights and gamma after every update.

    Returns
    -------
    FineTuned

    Raises
    ------
    FloatingPointError, TypeError, KeyboardInterrupt
        As `training.fit`.

    Source: Peters et al. (2018), section 3.4 fine-tunes the language model *before* the task,
    without labels, and freezes it again; this is not that.
    Book: chapter 5, "Frozen, fine-tuned, adapted".
    """
    text.checked_generator(rng)
    tagger, model = tagger.copy(), _copy(model)
    kept = [model]

    def evaluation() -> Evaluation:
        return evaluate(tagger, development.embedded(model.embed, vocabulary))

    def keep() -> None:
        kept[0] = _copy(model)

    def step(rows: IntArray) -> float:
        part = data.rows(rows)
        batch = Batch.from_ids(model.ids(part.sentences))
        layers, mask = text.remove_boundaries(*model.layers(batch))
        found = tagger.loss_and_gradients(part.with_layers(layers, mask, vocabulary), rng)
        loss = found.loss + add_penalty(found, tagger, options.penalty)
        if not np.isfinite(loss):  # the run ends here, and there is no gradient to follow
            return loss
        # The boundaries were read and dropped: the loss doesn't depend on their own layers.
        upstream = np.pad(found.layers, ((0, 0), (0, 0), (1, 1), (0, 0)))
        by_model = model.layer_gradients(batch, upstream)
        everything = found.parameters | {f"bilm/{name}": g for name, g in by_model.items()}
        clip_by_global_norm(everything, options.clip_norm)  # in place
        optimiser.update(tagger.parameters, found.parameters)
        model_optimiser.update(model.parameters, by_model)
        return loss

    lengths = [len(sentence) for sentence in data.sentences]
    course = Course(tagger, options, evaluation, keep=keep, trace=trace)
    fit = course.run(step, lambda: text.length_bucketed_batches(lengths, options.batch_size, rng))
    return FineTuned(fit, kept[0])


def _copy(model: BiLM) -> BiLM:
    parameters = {name: value.copy() for name, value in model.parameters.items()}
    return BiLM(model.options, parameters, model.vocabulary)
