"""How well a representation tells the senses of the controlled corpus, and a baseline without one.

Both classifiers are as plain as can be, one for each ambiguous noun: the nearest of the two senses'
mean vectors, and counts of the words that stand in the sentence.

Book: chapter 1, "Layer by layer".
"""

from collections import Counter
from collections.abc import Callable, Sequence
from math import fsum, log

import numpy as np

from elmo_toy import text
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.token_encoder import FloatArray
from elmo_toy.toy_language import SENSES, Sentence


def target_vectors(model: BiLM, sentences: Sequence[Sentence], batch_size: int = 256) -> FloatArray:
    """Layers of each sentence's ambiguous noun: (sentences, layers, 2 * projection_dim)."""
    found = np.empty(
        (len(sentences), 1 + model.options.lstm.n_layers, 2 * model.options.lstm.projection_dim),
        dtype=model.dtype,
    )
    lengths = [len(sentence.tokens) for sentence in sentences]
    for rows in text.length_bucketed_batches(lengths, batch_size):
        layers, _ = model.embed([sentences[row].tokens for row in rows])
        targets = [sentences[row].target for row in rows]
        found[rows] = layers[np.arange(len(rows)), :, targets]
    return found


def nearest_centroid_scores(
    known: FloatArray, labelled: Sequence[Sentence], asked: FloatArray, test: Sequence[Sentence]
) -> list[float]:
    """Share of test sentences whose noun lies nearer to the mean vector of its own sense.

    The means are taken over the labelled sentences of the same noun. Where both are equally near
    (always so in the token layer, whose vector is the same in every sentence), half a hit is
    counted: 0.5 is chance.

    Parameters
    ----------
    known, asked : (sentences, layers, dim), `target_vectors` of ``labelled`` and of ``test``

    Returns
    -------
    One score a layer, token layer first.

    Book: chapter 1, "Layer by layer".
    """
    hits = np.zeros(known.shape[1])
    for noun, senses in SENSES.items():
        centroids = np.stack(
            [
                known[[s.noun == noun and s.sense == sense for s in labelled]].mean(axis=0)
                for sense in senses
            ]
        )
        for number, sense in enumerate(senses):
            vectors = asked[[s.noun == noun and s.sense == sense for s in test]]
            squared = ((vectors[:, None] - centroids) ** 2).sum(axis=3)
            own, other = squared[:, number], squared[:, 1 - number]
            # Means of equal vectors differ in the last digit: not a distance.
            tied = np.abs(own - other) <= 1e-5 * (own + other) + 1e-9
            hits += np.where(tied, 0.5, own < other).sum(axis=0)
    scores: list[float] = (hits / len(test)).tolist()
    return scores


def bag_of_words(sentence: Sentence) -> set[str]:
    """The words around the ambiguous noun, whatever their order."""
    return set(sentence.tokens) - {sentence.noun}


def naive_bayes_score(
    labelled: Sequence[Sentence],
    test: Sequence[Sentence],
    features: Callable[[Sentence], set[str]] = bag_of_words,
) -> float:
    """The same share for naive Bayes: a sense's score is ``sum_f log(1 + count(f, sense))``.

    The counts are those of the features in the ``labelled`` sentences of the same noun, whose
    senses are equally frequent. A tie is half a hit.

    Book: chapter 1, "What a bag of words can do".
    """
    counts = {(noun, sense): Counter[str]() for noun in SENSES for sense in SENSES[noun]}
    for sentence in labelled:
        counts[sentence.noun, sentence.sense].update(features(sentence))
    hits = 0.0
    for sentence in test:
        found = features(sentence)
        scores = {
            sense: fsum(log(1 + counts[sentence.noun, sense][feature]) for feature in found)
            for sense in SENSES[sentence.noun]
        }
        best = max(scores.values())
        winners = [sense for sense, score in scores.items() if score >= best - 1e-12]
        hits += (sentence.sense in winners) / len(winners)
    return hits / len(test)
