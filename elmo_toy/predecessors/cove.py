"""CoVe: the encoder of a translator, kept for its vectors.

The encoder is a bidirectional LSTM whose second layer reads *both* directions of the first. A
language model may not do that (its states would have read the word that they are to predict); a
translator may, since the sentence that it reads is given.

What is simplified: the original learns English to German with an attentional decoder that writes
the translation word by word. Here the second language has the same word order and one word for
each, so a softmax over its words at each position is the whole decoder; no attention, no decoder
state. And the second language is ours: every sense of an ambiguous noun has a word of its own, and
so have the noun and the verb of a word that is both. This supervision names the senses, in every
sentence of the text: no other extractor here is told as much.

Source: McCann, Bradbury, Xiong and Socher (2017), and their code, salesforce/cove.

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elmo_toy import text
from elmo_toy._checks import checked_parameters
from elmo_toy.bilm import lstm
from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import Layers, head_loss
from elmo_toy.bilm.token_encoder import FloatArray, Shapes
from elmo_toy.bilm.training import Gradients
from elmo_toy.predecessors import stacks
from elmo_toy.text import IntArray, Vocabulary
from elmo_toy.toy_language import NOUN_OR_VERB, Sentence

TABLES = ("embedding", "embedding")


def translate(sentence: Sentence) -> list[str]:
    """The sentence in the second language: a word for each word, in the same order.

    >>> from elmo_toy.toy_language import make_corpus
    >>> sentence = make_corpus(train=1, development=1, labelled=1, test=1).labelled[0]
    >>> sentence.tokens[7:10], translate(sentence)[7:10]
    (('this', 'bank', 'for'), ['this*', 'bank/water*', 'for*'])

    Book: chapter 6, "Our own table".
    """
    words = []
    for token, tag, sense in zip(sentence.tokens, sentence.tags, sentence.senses, strict=True):
        meaning = sense or (tag if token in NOUN_OR_VERB else None)
        words.append(f"{token}*" if meaning is None else f"{token}/{meaning}*")
    return words


@dataclass(frozen=True)
class CoVeOptions:
    """Sizes. The original: two layers of 300 units a direction, over 300-dimensional GloVe."""

    lstm: LSTMOptions

    def __post_init__(self) -> None:
        """Refuse a language model's stacks."""
        if not self.lstm.joined:
            raise ValueError("lstm: expected joined=True, both directions read by the layer above")


def parameter_shapes(options: CoVeOptions, n_words: int, n_translations: int) -> Shapes:
    """Name and shape of every parameter.

    >>> options = CoVeOptions(LSTMOptions(4, 3, joined=True))
    >>> parameter_shapes(options, 9, 11)["softmax/W"]
    (11, 6)
    """
    width = options.lstm.projection_dim
    return {
        "embedding": (n_words, width),
        **lstm.parameter_shapes(options.lstm),
        "softmax/W": (n_translations, 2 * width),
        "softmax/b": (n_translations,),
    }


class CoVe:
    """A translator of the toy language, word for word.

    Parameters
    ----------
    options : CoVeOptions
    parameters : mapping of names to arrays, as in `parameter_shapes`
    vocabulary, translations : Vocabulary of the first and of the second language

    Examples
    --------
    >>> first = Vocabulary(["<S>", "</S>", "the", "bank"])
    >>> second = Vocabulary(["<S>", "</S>", "the*", "bank/water*", "bank/money*"])
    >>> options = CoVeOptions(LSTMOptions(4, 3, joined=True))
    >>> model = CoVe.initialise(options, np.random.default_rng(0), first, second)
    >>> model.embed([["the", "bank"]]).layers.shape
    (1, 2, 2, 6)

    Book: chapter 6, "Our own table".
    """

    def __init__(
        self,
        options: CoVeOptions,
        parameters: Mapping[str, FloatArray],
        vocabulary: Vocabulary,
        translations: Vocabulary,
    ) -> None:
        self.options = options
        self.parameters = checked_parameters(
            parameters, parameter_shapes(options, len(vocabulary), len(translations))
        )
        self.vocabulary = vocabulary
        self.translations = translations

    @classmethod
    def initialise(
        cls,
        options: CoVeOptions,
        rng: np.random.Generator,
        vocabulary: Vocabulary,
        translations: Vocabulary,
        dtype: npt.DTypeLike = np.float32,
    ) -> CoVe:
        """Draw an untrained model, in the biLM's manner."""
        shapes = parameter_shapes(options, len(vocabulary), len(translations))
        parameters: dict[str, FloatArray] = {
            "embedding": rng.uniform(-1.0, 1.0, shapes["embedding"]),
            **lstm.initial_parameters(options.lstm, rng),
            "softmax/W": rng.normal(0.0, shapes["softmax/W"][1] ** -0.5, shapes["softmax/W"]),
            "softmax/b": np.zeros(shapes["softmax/b"]),
        }
        typed = {name: parameters[name].astype(dtype) for name in shapes}
        return cls(options, typed, vocabulary, translations)

    def embed(self, sentences: Sequence[Sequence[str]]) -> Layers:
        """Layer 0 is ``[token; token]``, layer 1 the top layer ``[forward; backward]``.

        Returns
        -------
        Layers: (batch, 2, tokens, 2 * projection_dim), boundaries dropped, and the mask.
        """
        ids = text.batch_word_ids(sentences, self.vocabulary)
        reading = self._read(ids)
        mask = text.token_mask(ids)
        tokens = self.parameters["embedding"][ids - text.SHIFT]
        top = reading.states.reshape(*ids.shape, -1)
        layers = np.stack([np.concatenate([tokens, tokens], axis=2), top], axis=1)
        return Layers(*text.remove_boundaries(layers, mask))

    def loss_and_gradients(self, ids: IntArray, targets: IntArray) -> tuple[float, int, Gradients]:
        """Mean cross-entropy of the translation of each word, boundaries not counted.

        Parameters
        ----------
        ids, targets : (batch, tokens) int64
            Word ids + 1 of the two languages, boundaries included, 0 where no token is.

        Returns
        -------
        The loss, the number of words, and the derivative for every parameter.
        """
        if ids.shape != targets.shape or ((ids > 0) != (targets > 0)).any():
            raise ValueError(
                f"targets: expected a word for each of the words of ids {ids.shape}, "
                f"got shape {targets.shape} or another mask"
            )
        reading, p = self._read(ids), self.parameters
        words = np.zeros(ids.shape, dtype=bool)
        words[:, 1:-1] = ids[:, 2:] > 0
        flat = reading.states.reshape(*ids.shape, -1)[words]
        asked = targets[words] - text.SHIFT
        head = head_loss(flat[None], asked[None], p["softmax/W"], p["softmax/b"])
        upstream = np.zeros((*ids.shape, 2, self.options.lstm.projection_dim), dtype=flat.dtype)
        upstream[words] = head.dstates[0].reshape(len(flat), 2, -1)
        gradients = {
            "softmax/W": head.dweights,
            "softmax/b": head.dbias,
            **stacks.read_gradients(upstream, reading, TABLES, p, self.options.lstm),
        }
        return float(head.losses[0]), len(asked), gradients

    def _read(self, ids: IntArray) -> stacks.Reading:
        return stacks.read(ids, TABLES, self.parameters, self.options.lstm)


def translation_vocabulary(sentences: Sequence[Sentence]) -> Vocabulary:
    """Boundaries, then every word of the translations, sorted."""
    words = {word for sentence in sentences for word in translate(sentence)}
    return Vocabulary([text.SENTENCE_START, text.SENTENCE_END, *sorted(words)])


def train(
    model: CoVe,
    sentences: Sequence[Sentence],
    *,
    tokens: int,
    learning_rate: float,
    rng: np.random.Generator,
    batch_size: int = 64,
) -> tuple[CoVe, stacks.Curve]:
    """Train a copy of the model until it has translated ``tokens`` words.

    Book: chapter 6, "Our own table".
    """
    copy = {name: value.copy() for name, value in model.parameters.items()}
    trained = CoVe(model.options, copy, model.vocabulary, model.translations)
    pairs = [
        (
            text.batch_word_ids([sentence.tokens], model.vocabulary)[0],
            text.batch_word_ids([translate(sentence)], model.translations)[0],
        )
        for sentence in sentences
    ]

    def step(batch: IntArray) -> tuple[float, int, Gradients]:
        return trained.loss_and_gradients(
            text.pad([pairs[row][0] for row in batch]), text.pad([pairs[row][1] for row in batch])
        )

    curve = stacks.train(
        trained.parameters,
        step,
        np.array([len(ids) for ids, _ in pairs]),
        tokens=tokens,
        learning_rate=learning_rate,
        rng=rng,
        batch_size=batch_size,
    )
    return trained, curve
