"""Domain adaptation: language-model training continued on unlabelled text of a second domain.

It is a stage of its own, between the first training of the language model and the training of a
task model on labelled examples. It uses no label, and the task model doesn't exist yet; when the
task model is trained the language model is frozen again, or it isn't: that is another decision.
"Frozen" says that the *task's* gradient doesn't reach the language model, not that its parameters
were never changed before. The article keeps the stages apart; the original paper's supplement
(A.1) too: one epoch on the text of the task, labels ignored, and the weights fixed from then on.

Book: chapter 5, "Frozen, fine-tuned, adapted".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TextIO

import numpy as np

from elmo_toy import text
from elmo_toy.bilm.model import BiLM, Loss
from elmo_toy.bilm.training import Adam, Corpus, TrainingRun, evaluate, train

Text = Sequence[Sequence[str]]


class Domains(NamedTuple):
    """One model's loss on held-out text of the first domain, and of the second."""

    first: Loss
    second: Loss


@dataclass(frozen=True)
class Adaptation:
    """What adapting came to.

    Attributes
    ----------
    model : BiLM
        The adapted model, frozen: see `frozen`.
    before, after : Domains
        Losses of the given model and of the adapted one on the same held-out sentences;
        ``.second.perplexity`` and ``.first.perplexity`` hold the gain and what it cost.
    run : TrainingRun
        The curve on the development sentences, and whether it was interrupted.
    """

    model: BiLM
    before: Domains
    after: Domains
    run: TrainingRun

    @property
    def gain(self) -> float:
        """How many times lower the second domain's perplexity has become."""
        return self.before.second.perplexity / self.after.second.perplexity

    @property
    def forgetting(self) -> float:
        """How many times higher the first domain's perplexity has become."""
        return self.after.first.perplexity / self.before.first.perplexity


def frozen(model: BiLM) -> BiLM:
    """Copy a model so that its parameters can be read but not written.

    An optimiser that is given them raises a ValueError at its first step. `train` still works: it
    trains a copy.

    >>> from elmo_toy.bilm import load_pretrained
    >>> model = frozen(load_pretrained("toy-language"))
    >>> model.parameters["Cell0/B"].flags.writeable
    False
    """
    parameters = {name: value.copy() for name, value in model.parameters.items()}
    for value in parameters.values():
        value.flags.writeable = False
    return BiLM(model.options, parameters, model.vocabulary)


def adapt(
    model: BiLM,
    sentences: Text,
    development: Text,
    *,
    first_domain: Text,
    second_domain: Text,
    rng: np.random.Generator,
    tokens: int = 25_000,
    learning_rate: float = 0.005,
    batch_size: int = 32,
    clip_norm: float = 10.0,
    evaluations: int = 10,
    progress: TextIO | None = None,
) -> Adaptation:
    """Continue the language-model training of a model on text of a second domain; freeze it again.

    Nothing of the first domain is trained on, so the model forgets: ``first_domain`` measures how
    much. Adam starts afresh, its learning rate falls linearly to 0.

    Parameters
    ----------
    model : BiLM, left as it is
        With a vocabulary, which stays the same: a word outside it is predicted as ``<UNK>``.
    sentences : lists of tokens, without boundaries
        Text of the second domain to train on.
    development : lists of tokens
        Text of the second domain that chooses among the parameters met on the way; the given
        model's are among them.
    first_domain, second_domain : lists of tokens
        Held-out text that is measured before and after, and used for nothing else.
    rng, tokens, batch_size, clip_norm, evaluations, progress
        As in `training.train`.
    learning_rate : float

    Returns
    -------
    Adaptation; after Control-C with what was reached until then.

    Raises
    ------
    ValueError, TypeError, FloatingPointError
        As `training.train` and `training.Corpus`; a TypeError if ``rng`` is no Generator.

    Examples
    --------
    >>> from elmo_toy.bilm import load_pretrained
    >>> from elmo_toy.toy_language import make_corpus, make_reports
    >>> corpus = make_corpus(train=0, development=100, labelled=0, test=0)
    >>> reports = make_reports(train=500, development=50, test=100)
    >>> texts = corpus.development, reports.train, reports.development, reports.test
    >>> first, *second = ([sentence.tokens for sentence in part] for part in texts)
    >>> result = adapt(
    ...     load_pretrained("toy-language"),
    ...     *second[:2],
    ...     first_domain=first,
    ...     second_domain=second[2],
    ...     tokens=8_000,
    ...     rng=np.random.default_rng(0),
    ... )
    >>> [round(loss.perplexity) for loss in result.before]
    [15, 250]
    >>> result.gain > 8, result.forgetting > 1.2
    (True, True)

    Source: Peters et al. (2018), section 3.4 and supplement A.1; the article, "Freeze the feature
    extractor; learn how the task uses it".
    Book: chapter 5, "Frozen, fine-tuned, adapted".
    """
    text.checked_generator(rng)
    tests = [Corpus(model, text) for text in (first_domain, second_domain)]
    run = train(
        model,
        Corpus(model, sentences),
        Corpus(model, development),
        tokens=tokens,
        optimiser=Adam(learning_rate),
        rng=rng,
        batch_size=batch_size,
        clip_norm=clip_norm,
        evaluations=evaluations,
        decay=True,
        progress=progress,
    )
    before, after = (Domains(*(evaluate(m, test) for test in tests)) for m in (model, run.model))
    return Adaptation(frozen(run.model), before, after, run)
