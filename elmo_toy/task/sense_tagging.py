"""One small tagging task, from start to end: the senses of the toy language's ambiguous nouns.

A sentence has one labelled token, its ambiguous noun, and the tag is a domain. It is small enough
to be trained while a reader waits, in float64, so that it comes out the same on every machine.

Book: chapter 5, "What is frozen, what is learned".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.senses import target_vectors
from elmo_toy.bilm.training import Adam
from elmo_toy.task.combine import CombinerOptions
from elmo_toy.task.data import Tagged, TaggedText
from elmo_toy.task.fine_tuning import FineTuned, fine_tune
from elmo_toy.task.options import Attach, TaggerOptions
from elmo_toy.task.probes import Classify, by_group
from elmo_toy.task.tagger import Tagger
from elmo_toy.task.training import Fit, FitOptions, fit
from elmo_toy.text import Vocabulary
from elmo_toy.toy_language import DOMAINS, NEUTRAL, Sentence, ToyCorpus

MIXTURE = CombinerOptions()
WORD_DIM = UNITS = 16
BATCH, PENALTY, EVALUATIONS = 35, 0.001, 2
RATE, MODEL_RATE = 0.01, 0.001


def tagged(sentences: Sequence[Sentence]) -> TaggedText:
    """Sentences of the toy language, each ambiguous noun tagged with its domain.

    >>> from elmo_toy.toy_language import make_reports
    >>> data = tagged(make_reports(train=0, development=0, test=5).test)
    >>> [tag for tag in data.tags[4] if tag]
    ['money']

    Book: chapter 5, "What is frozen, what is learned".
    """
    return TaggedText(
        [sentence.tokens for sentence in sentences],
        [sentence.senses for sentence in sentences],
        tuple(DOMAINS),
    )


def texts(corpus: ToyCorpus, each: int = 5) -> dict[str, TaggedText]:
    """Split a corpus: the first ``each`` labelled sentences of every noun and sense to learn from.

    The other labelled sentences are for development. The two tests are those that need context.

    >>> from elmo_toy.toy_language import make_corpus
    >>> corpus = make_corpus(train=0, development=0, labelled=7, test=5)
    >>> {name: len(part.sentences) for name, part in texts(corpus).items()}
    {'training': 140, 'development': 56, 'new cues': 140, 'two cues': 140}

    Book: chapter 5, "What is frozen, what is learned".
    """
    known = corpus.few(each)
    return {
        "training": tagged(known),
        "development": tagged(corpus.labelled[len(known) :]),
        "new cues": tagged(corpus.new_cues),
        "two cues": tagged(corpus.two_cues),
    }


def probe_scores(
    classify: Classify, model: BiLM, corpus: ToyCorpus, each: int = 5
) -> dict[str, list[float]]:
    """Share of senses that a probe tells from one layer at the noun, a probe for each noun.

    It learns from the same sentences as the tagger of `texts`, and has no words and no recurrent
    layer of its own.

    Returns
    -------
    By test, one share a layer, token layer first.

    >>> from elmo_toy.bilm import load_pretrained
    >>> from elmo_toy.task.probes import linear
    >>> from elmo_toy.toy_language import make_corpus
    >>> corpus = make_corpus(train=0, development=0, labelled=5, test=2)
    >>> probe_scores(linear, load_pretrained("toy-language"), corpus)["new cues"][0]
    0.5

    Book: chapter 5, "Training the tagger".
    """

    def read(sentences: Sequence[Sentence]) -> tuple[Array, list[str], list[str]]:
        vectors = target_vectors(model, sentences)
        return vectors, [s.sense for s in sentences], [s.noun for s in sentences]

    known, senses, nouns = read(corpus.few(each))
    scores: dict[str, list[float]] = {}
    for name, test in {"new cues": corpus.new_cues, "two cues": corpus.two_cues}.items():
        asked, right, of = read(test)
        answers = (
            by_group(classify, known[:, j], senses, nouns, asked[:, j], of)
            for j in range(known.shape[1])
        )
        scores[name] = [float(np.mean(np.array(told) == right)) for told in answers]
    return scores


def neutral_words(sentence: Sentence) -> list[str]:
    """For each word a neutral one of its part of speech, to put in its place.

    >>> from elmo_toy.toy_language import make_corpus
    >>> neutral_words(make_corpus(train=0, development=0, labelled=1, test=1).test[0])[:3]
    ['another', 'clean', 'mirror']

    Book: chapter 5, "What a neighbour changes".
    """
    return [NEUTRAL[tag][-1] for tag in sentence.tags]  # the last nouns are no verbs


def double(model: BiLM) -> BiLM:
    """Copy a model into float64.

    >>> from elmo_toy.bilm import load_pretrained
    >>> double(load_pretrained("toy-language")).dtype
    dtype('float64')

    Book: chapter 5, "What is frozen, what is learned".
    """
    parameters = {name: value.astype(np.float64) for name, value in model.parameters.items()}
    return BiLM(model.options, parameters, model.vocabulary)


def new_tagger(
    data: Tagged,
    vocabulary: Vocabulary,
    attach: Attach = "both",
    combiner: CombinerOptions = MIXTURE,
) -> Tagger:
    """Draw a tagger for these layers: one recurrent layer, word vectors of its own.

    Book: chapter 5, "Where a mixture attaches".
    """
    _, n_layers, _, dim = data.layers.shape
    options = TaggerOptions(
        len(DOMAINS),
        n_layers,
        dim,
        n_words=len(vocabulary),
        word_dim=WORD_DIM,
        units=UNITS,
        attach=attach,
        combiner=combiner,
    )
    return Tagger.initialise(options, np.random.default_rng(0), data.layers.dtype)


def train(tagger: Tagger, data: Mapping[str, Tagged], epochs: int = 6) -> Fit:
    """Train a copy of a tagger on ``data["training"]``; ``data["development"]`` chooses the best.

    >>> from elmo_toy.bilm import load_pretrained
    >>> from elmo_toy.toy_language import make_corpus
    >>> model = double(load_pretrained("toy-language"))
    >>> parts = texts(make_corpus(train=0, development=0, labelled=3, test=1), each=2)
    >>> data = {n: part.embedded(model.embed, model.vocabulary) for n, part in parts.items()}
    >>> found = train(new_tagger(data["training"], model.vocabulary), data)
    >>> [point.updates for point in found.history], found.best.development.accuracy > 0.5
    ([0, 6, 12], True)

    Book: chapter 5, "Training the tagger".
    """
    return fit(
        tagger,
        data["training"],
        data["development"],
        _options(epochs),
        optimiser=Adam(RATE),
        rng=np.random.default_rng(0),
        trace=True,
    )


def train_both(
    tagger: Tagger, model: BiLM, data: Mapping[str, TaggedText], epochs: int = 4
) -> FineTuned:
    """Train copies of a tagger and of the language model under it, the latter ten times slower.

    Book: chapter 5, "Frozen, fine-tuned, adapted".
    """
    return fine_tune(
        tagger,
        model,
        data["training"],
        data["development"],
        _options(epochs),
        optimiser=Adam(RATE),
        model_optimiser=Adam(MODEL_RATE),
        rng=np.random.default_rng(0),
        vocabulary=model.vocabulary,
    )


def linear_reader(data: Tagged, n_tags: int, epochs: int = 8) -> Tagger:
    """Train a softmax on the mixture of single tokens, with nothing else to read.

    Book: chapter 5, "Longer is not better".
    """
    _, n_layers, _, dim = data.layers.shape
    options = TaggerOptions(n_tags, n_layers, dim, recurrent_layers=0)
    tagger = Tagger.initialise(options, np.random.default_rng(0), data.layers.dtype)
    return train(tagger, {"training": data, "development": data}, epochs).tagger


def single_tokens(layers: Array, tags: Sequence[int]) -> Tagged:
    """Layers of single tokens (n, layers, dim) with their tags: each a row of one token.

    >>> single_tokens(np.ones((2, 3, 4)), [0, 1]).layers.shape
    (2, 3, 1, 4)

    Book: chapter 5, "Longer is not better".
    """
    return Tagged(
        layers[:, :, None], np.ones((len(layers), 1), dtype=bool), np.array(tags)[:, None]
    )


def padded_by_words(data: TaggedText, number: int, word: str = "<PAD>") -> TaggedText:
    """Put a word at the end of every sentence, so many times: what a mask is there to avoid.

    >>> padded_by_words(TaggedText([["bank"]], [["money"]], ("money",)), 2).sentences
    [['bank', '<PAD>', '<PAD>']]

    Book: chapter 5, "Padding and boundaries".
    """
    return TaggedText(
        [[*tokens, *number * [word]] for tokens in data.sentences],
        [[*tags, *number * [None]] for tags in data.tags],
        data.tag_names,
    )


def _options(epochs: int) -> FitOptions:
    return FitOptions(epochs=epochs, batch_size=BATCH, penalty=PENALTY, evaluations=EVALUATIONS)
