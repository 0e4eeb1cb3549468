"""Masked prediction: hide some words, keep both sides in sight, predict the hidden ones only.

A left-to-right model may not see the word that it is asked for, so it may not see anything to the
right of it either. Take the word itself away, and it may see all the rest. Two encoders are trained
in this way here: LSTM stacks, directions joined or apart, and a `Transformer`. Both give layers
(batch, layers, tokens, dim); the top one, whole, predicts.

Book: chapter 7, "Hide the word instead".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from elmo_toy import text
from elmo_toy._checks import Array
from elmo_toy.bilm import lstm, token_encoder
from elmo_toy.bilm.lstm import LAYER_PARAMETERS, LayerWeights, LSTMOptions, ReadingOrder, State
from elmo_toy.bilm.model import Layers, head_loss
from elmo_toy.text import Vocabulary
from elmo_toy.transformer import Transformer


class Hidden(NamedTuple):
    """A batch in which words are hidden: what is read, and where to predict."""

    ids: Array  # (batch, tokens), what the encoder reads
    places: Array  # (batch, tokens) bool, True where the word is to be predicted


def hide(
    ids: Array, mask_id: int, rng: np.random.Generator, *, rate: float = 0.15, blank: float = 0.8
) -> Hidden:
    """Choose words and hide them; of the chosen, not all disappear.

    Each word is chosen with probability `rate`, and one of each sentence at least. A chosen word
    becomes the mask symbol with probability `blank`; half of the rest become a word drawn from the
    batch, and half stay as they are. All chosen places are predicted. So a state cannot trust the
    word under it; with ``blank=1`` it could, wherever the word isn't the mask symbol.

    Parameters
    ----------
    ids
        (batch, tokens) word ids, boundaries at both ends and 0 on the right: neither is hidden.
    mask_id
        What a hidden word is read as.
    rng
    rate, blank
        BERT's are 0.15 and 0.8.

    Source: Devlin et al. (2019), section 3.1. Book: chapter 7, "Hide the word instead".

    >>> ids = np.array([[1, 7, 8, 9, 2, 0]])
    >>> hidden = hide(ids, 3, np.random.default_rng(0), rate=0.5, blank=1.0)
    >>> hidden.ids.tolist(), hidden.places.astype(int).tolist()
    ([[1, 3, 3, 3, 2, 0]], [[0, 1, 1, 1, 0, 0]])
    """
    for name, value in (("rate", rate), ("blank", blank)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name}: expected a probability, got {value}")
    lengths = (ids > 0).sum(axis=1)
    if not (lengths > 2).all():
        raise ValueError(f"ids: expected a word in every sentence, got lengths {lengths.tolist()}")
    columns = np.arange(ids.shape[1])
    words = (columns > 0) & (columns < lengths[:, None] - 1)
    draws = np.where(words, rng.random(ids.shape), 1.0)
    places = (draws < rate) | (words & (draws == draws.min(axis=1, keepdims=True)))
    fate = rng.random(ids.shape)
    others = rng.choice(ids[words], ids.shape)
    read = np.where(places & (fate < blank), mask_id, ids)
    read = np.where(places & (fate >= (1 + blank) / 2), others, read)
    return Hidden(read, places)


class Reading(NamedTuple):
    """What an encoder makes of a batch, and how a derivative gets back through it."""

    layers: Array  # (batch, layers, tokens, dim)
    pull_back: Callable[[Array], dict[str, Array]]  # from that of the top layer


@dataclass
class LSTMEncoder:
    """Chapter 2's stacks over a table of word vectors, without a head."""

    options: LSTMOptions
    parameters: dict[str, Array]

    @classmethod
    def initialise(
        cls,
        options: LSTMOptions,
        n_words: int,
        rng: np.random.Generator,
        dtype: DTypeLike = np.float64,
    ) -> LSTMEncoder:
        """Draw an untrained encoder, as `BiLM.initialise` does."""
        lookup = token_encoder.LookupOptions(n_words)
        parameters = token_encoder.initial_parameters(lookup, options.projection_dim, rng)
        parameters |= lstm.initial_parameters(options, rng)
        return cls(options, {name: value.astype(dtype) for name, value in parameters.items()})

    @property
    def width(self) -> int:
        """Both halves."""
        return 2 * self.options.projection_dim

    def read(self, ids: Array) -> Reading:
        """Layers of (batch, tokens) word ids, 0 for no token."""
        mask = ids > 0
        order = ReadingOrder(mask.sum(axis=1), ids.shape[1])
        table = self.parameters["embedding"]
        vectors = np.where(mask[..., None], table[ids - 1], table.dtype.type(0))
        weights = [
            LayerWeights(*(self.parameters[f"Cell{layer}/{name}"] for name in LAYER_PARAMETERS))
            for layer in range(self.options.n_layers)
        ]
        start = State.zeros(self.options, len(ids), table.dtype)
        trace, _ = lstm.stack_forward(order.read(vectors), weights, order, start, self.options)

        def pull_back(upstream: Array) -> dict[str, Array]:
            halves = np.split(upstream, 2, axis=2)
            read = np.stack([order.read(half)[way] for way, half in enumerate(halves)])
            dread, by_layer = lstm.stack_gradients(read, trace, weights, order, self.options)
            dtokens = order.unread(dread).sum(axis=2)[mask]
            gradients = {
                "embedding": token_encoder.sum_by_index(ids[mask] - 1, dtokens, len(table))
            }
            for layer, gradient in enumerate(by_layer):
                for name, value in zip(LAYER_PARAMETERS, gradient, strict=True):
                    gradients[f"Cell{layer}/{name}"] = value
            return gradients

        token_layer = np.concatenate([vectors, vectors], axis=2)
        upper = [order.unread(output).reshape(token_layer.shape) for output in trace.outputs]
        return Reading(np.stack([token_layer, *upper], axis=1), pull_back)


@dataclass
class TransformerEncoder:
    """A `Transformer` behind the same two names."""

    transformer: Transformer

    @property
    def parameters(self) -> dict[str, Array]:
        """The transformer's own, to be changed in place."""
        return self.transformer.parameters

    @property
    def width(self) -> int:
        """The dim of its layers."""
        return self.transformer.options.dim

    def read(self, ids: Array) -> Reading:
        """Layers of (batch, tokens) word ids, 0 for no token."""
        trace = self.transformer.read(ids)
        return Reading(trace.layers, lambda upstream: self.transformer.gradients(trace, upstream))


Encoder = LSTMEncoder | TransformerEncoder


@dataclass
class MaskedLM:
    """An encoder with a softmax over the vocabulary on its top layer.

    ``<UNK>`` of the vocabulary is the mask symbol: the text must not hold it.

    >>> vocabulary = Vocabulary(["<S>", "</S>", "<UNK>", "the", "bank"])
    >>> rng = np.random.default_rng(0)
    >>> encoder = LSTMEncoder.initialise(LSTMOptions(4, 3, joined=True), 5, rng)
    >>> model = MaskedLM.initialise(encoder, vocabulary, rng)
    >>> model.embed([["the", "bank"]]).layers.shape
    (1, 3, 2, 6)

    Book: chapter 7, "Hide the word instead".
    """

    encoder: Encoder
    vocabulary: Vocabulary
    head: dict[str, Array]  # W (words, width), b (words,)

    @classmethod
    def initialise(
        cls, encoder: Encoder, vocabulary: Vocabulary, rng: np.random.Generator
    ) -> MaskedLM:
        """Draw an untrained head, in the encoder's dtype."""
        dtype = encoder.parameters["embedding"].dtype
        weights = rng.normal(0.0, encoder.width**-0.5, (len(vocabulary), encoder.width))
        head = {"W": weights.astype(dtype), "b": np.zeros(len(vocabulary), dtype)}
        return cls(encoder, vocabulary, head)

    @property
    def parameters(self) -> dict[str, Array]:
        """All that is trained, by name; the arrays themselves."""
        return self.encoder.parameters | {f"head/{name}": a for name, a in self.head.items()}

    @property
    def mask_id(self) -> int:
        """The id that a hidden word is read as."""
        return self.vocabulary.id(text.UNKNOWN, strict=True) + text.SHIFT

    def ids(self, sentences: Sequence[Sequence[str]]) -> Array:
        """Word ids, boundaries added; an unknown word is refused, since ``<UNK>`` is the mask."""
        return text.batch_word_ids(sentences, self.vocabulary, strict=True)

    def embed(self, sentences: Sequence[Sequence[str]]) -> Layers:
        """Layers of every token, nothing hidden, boundaries dropped: as `BiLM.embed`."""
        ids = self.ids(sentences)
        return Layers(*text.remove_boundaries(self.encoder.read(ids).layers, ids > 0))

    def loss(self, hidden: Hidden, ids: Array) -> float:
        """Mean cross-entropy over the hidden places, natural logarithm; `ids` are the words."""
        return self._loss(hidden, ids, gradients=False)[0]

    def loss_and_gradients(self, hidden: Hidden, ids: Array) -> tuple[float, dict[str, Array]]:
        """The loss and its derivative for all `parameters`."""
        return self._loss(hidden, ids, gradients=True)

    def _loss(
        self, hidden: Hidden, ids: Array, *, gradients: bool
    ) -> tuple[float, dict[str, Array]]:
        reading = self.encoder.read(hidden.ids)
        top, places = reading.layers[:, -1], hidden.places
        found = head_loss(
            top[places][None],  # one direction: what sees both sides
            ids[places][None] - text.SHIFT,
            self.head["W"],
            self.head["b"],
            gradients=gradients,
        )
        if not gradients:
            return float(found.losses[0]), {}
        upstream = np.zeros_like(top)
        upstream[places] = found.dstates[0]
        head = {"head/W": found.dweights, "head/b": found.dbias}
        return float(found.losses[0]), reading.pull_back(upstream) | head
