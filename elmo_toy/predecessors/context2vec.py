"""context2vec: a vector for the slot that a word stands in, the word itself not looked at.

    before, after = LSTM(<S> w_1 ... w_{k-1}), LSTM(</S> w_n ... w_{k+1})
    slot_k = W_2 relu(W_1 [before; after] + b_1) + b_2

trained so that ``slot_k . target[w_k]`` is high and ``slot_k . target[v]`` low for words ``v``
drawn at random. Unlike in the biLM, one loss reads both directions at once: no state of either has
read ``w_k``, so nothing leaks. The directions look their words up in tables of their own, and every
sentence starts from a zero state.

Source: Melamud, Goldberger and Dagan (2016), and their code, orenmel/context2vec.

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elmo_toy import text
from elmo_toy._checks import checked_parameters
from elmo_toy.bilm import lstm
from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import Layers
from elmo_toy.bilm.token_encoder import FloatArray, Shapes, sum_by_index
from elmo_toy.bilm.training import Gradients
from elmo_toy.predecessors import stacks
from elmo_toy.text import BoolArray, IntArray, Vocabulary


@dataclass(frozen=True)
class Context2VecOptions:
    """Sizes. The original: one layer of 600 units, a perceptron of 1200 and 600, 10 negatives."""

    lstm: LSTMOptions
    hidden_dim: int
    output_dim: int
    negatives: int = 10
    power: float = 0.75
    """Negatives are drawn in proportion to ``count**power``, as in word2vec."""

    def __post_init__(self) -> None:
        """Refuse impossible sizes."""
        for name in ("hidden_dim", "output_dim", "negatives"):
            text.checked_count(getattr(self, name), name)
        if not 0 <= self.power < np.inf:
            raise ValueError(f"power: expected a finite number from 0, got {self.power}")
        if self.lstm.joined:
            raise ValueError(
                "lstm: expected joined=False, since joined directions have read the slot's word"
            )


def parameter_shapes(options: Context2VecOptions, n_words: int) -> Shapes:
    """Name and shape of every parameter.

    >>> options = Context2VecOptions(LSTMOptions(4, 3, n_layers=1), hidden_dim=5, output_dim=2)
    >>> parameter_shapes(options, 9)["perceptron/W_1"]  # (before and after, hidden)
    (6, 5)
    """
    width, hidden, out = options.lstm.projection_dim, options.hidden_dim, options.output_dim
    return {
        **dict.fromkeys(stacks.TABLES, (n_words, width)),
        **lstm.parameter_shapes(options.lstm),
        "perceptron/W_1": (2 * width, hidden),
        "perceptron/b_1": (hidden,),
        "perceptron/W_2": (hidden, out),
        "perceptron/b_2": (out,),
        "target": (n_words, out),
    }


class SlotTrace(NamedTuple):
    """The slots of a batch, one row each, and what the backward pass needs of them."""

    reading: stacks.Reading
    kept: BoolArray  # (batch, tokens - 2): where a word stands
    around: FloatArray  # (slots, 2 * projection_dim): [before; after]
    hidden: FloatArray  # (slots, hidden_dim), after relu
    slots: FloatArray  # (slots, output_dim)


class Context2Vec:
    """A context2vec model.

    Parameters
    ----------
    options : Context2VecOptions
    parameters : mapping of names to arrays, as in `parameter_shapes`
    vocabulary : Vocabulary

    Examples
    --------
    >>> vocabulary = Vocabulary(["<S>", "</S>", "<UNK>", "the", "bank", "flooded"])
    >>> options = Context2VecOptions(LSTMOptions(4, 3, n_layers=1), hidden_dim=5, output_dim=2)
    >>> model = Context2Vec.initialise(options, np.random.default_rng(0), vocabulary)
    >>> first, second = model.embed([["the", "bank", "flooded"], ["the", "the", "flooded"]]).layers
    >>> bool((first[1, 1] == second[1, 1]).all())  # the same slot, whatever word stands in it
    True

    Book: chapter 6, "Our own table".
    """

    def __init__(
        self,
        options: Context2VecOptions,
        parameters: Mapping[str, FloatArray],
        vocabulary: Vocabulary,
    ) -> None:
        self.options = options
        self.parameters = checked_parameters(parameters, parameter_shapes(options, len(vocabulary)))
        self.vocabulary = vocabulary

    @classmethod
    def initialise(
        cls,
        options: Context2VecOptions,
        rng: np.random.Generator,
        vocabulary: Vocabulary,
        dtype: npt.DTypeLike = np.float32,
    ) -> Context2Vec:
        """Draw an untrained model: tables as the biLM's, matrices as its stacks', zero biases."""
        parameters: dict[str, FloatArray] = {}
        for name, shape in parameter_shapes(options, len(vocabulary)).items():
            if name in stacks.TABLES:
                parameters[name] = rng.uniform(-1.0, 1.0, shape)
            elif name == "target":
                parameters[name] = rng.normal(0.0, shape[1] ** -0.5, shape)
            elif len(shape) == 2 and name.startswith("perceptron"):
                parameters[name] = stacks.glorot((shape[0], shape[1]), rng)
            else:
                parameters[name] = np.zeros(shape)
        parameters |= lstm.initial_parameters(options.lstm, rng)
        return cls(options, {k: v.astype(dtype) for k, v in parameters.items()}, vocabulary)

    def embed(self, sentences: Sequence[Sequence[str]]) -> Layers:
        """Layer 0 is the word's own target vector, layer 1 the vector of its slot.

        Returns
        -------
        Layers: (batch, 2, tokens, output_dim), 0 where no token is, and the mask.
        """
        ids = text.batch_word_ids(sentences, self.vocabulary)
        trace = self._slots(ids)
        layers = np.zeros(
            (len(ids), 2, ids.shape[1] - 2, self.options.output_dim),
            self.parameters["target"].dtype,
        )
        layers[:, 0][trace.kept] = self.parameters["target"][self._words(ids, trace.kept)]
        layers[:, 1][trace.kept] = trace.slots
        return Layers(layers, trace.kept)

    def loss_and_gradients(
        self, ids: IntArray, negatives: IntArray
    ) -> tuple[float, int, Gradients]:
        """Negative sampling, with ``s`` the sigmoid and ``v_n`` the words drawn for the slot.

        ``loss = mean_k(-log s(slot_k . target[w_k]) - sum_n log s(-slot_k . target[v_n]))``

        Parameters
        ----------
        ids : (batch, tokens) int64, word ids + 1, boundaries included
        negatives : (slots, negatives) int64, rows of the target table
            See `draw_negatives`.

        Returns
        -------
        The loss, the number of slots, and the derivative for every parameter.
        """
        trace, p = self._slots(ids), self.parameters
        words = self._words(ids, trace.kept)
        if len(negatives) != len(words) or negatives.ndim != 2:
            raise ValueError(
                f"negatives: expected a row for each of {len(words)} slots, "
                f"got shape {negatives.shape}"
            )
        asked = np.concatenate([words[:, None], negatives], axis=1)  # (slots, 1 + negatives)
        targets = p["target"][asked]
        scores = np.einsum("sd,snd->sn", trace.slots, targets)
        scores[:, 0] *= -1  # now every term is log(1 + exp(score))
        loss = float(np.logaddexp(0, scores).sum() / len(words))
        dscores = 0.5 * (1 + np.tanh(0.5 * scores)) / len(words)  # the sigmoid
        dscores[:, 0] *= -1

        dtargets = dscores[:, :, None] * trace.slots[:, None]
        dslots = np.einsum("sn,snd->sd", dscores, targets)
        dhidden = (dslots @ p["perceptron/W_2"].T) * (trace.hidden > 0)
        gradients: Gradients = {
            "target": sum_by_index(
                asked.reshape(-1), dtargets.reshape(-1, targets.shape[2]), len(p["target"])
            ),
            "perceptron/W_2": trace.hidden.T @ dslots,
            "perceptron/b_2": dslots.sum(axis=0),
            "perceptron/W_1": trace.around.T @ dhidden,
            "perceptron/b_1": dhidden.sum(axis=0),
        }
        daround = dhidden @ p["perceptron/W_1"].T
        before, after = np.split(daround, 2, axis=1)
        upstream = np.zeros((*ids.shape, 2, before.shape[1]), dtype=before.dtype)
        upstream[:, :-2, 0][trace.kept] = before
        upstream[:, 2:, 1][trace.kept] = after
        gradients |= stacks.read_gradients(
            upstream, trace.reading, stacks.TABLES, p, self.options.lstm
        )
        return loss, len(words), gradients

    def _slots(self, ids: IntArray) -> SlotTrace:
        reading = stacks.read(ids, stacks.TABLES, self.parameters, self.options.lstm)
        # The word at place k has a token on its right, at the latest </S>: so the mask two places
        # on says where words are.
        kept = text.token_mask(ids)[:, 2:]
        states, p = reading.states, self.parameters
        around = np.concatenate([states[:, :-2, 0][kept], states[:, 2:, 1][kept]], axis=1)
        hidden = np.maximum(around @ p["perceptron/W_1"] + p["perceptron/b_1"], 0)
        slots = hidden @ p["perceptron/W_2"] + p["perceptron/b_2"]
        return SlotTrace(reading, kept, around, hidden, slots)

    @staticmethod
    def _words(ids: IntArray, kept: BoolArray) -> IntArray:
        words: IntArray = ids[:, 1:-1][kept] - text.SHIFT
        return words


def draw_negatives(
    slots: int, options: Context2VecOptions, frequencies: FloatArray, rng: np.random.Generator
) -> IntArray:
    """Draw words in proportion to ``frequency**power``: (slots, negatives) int64.

    >>> options = Context2VecOptions(LSTMOptions(4, 3), hidden_dim=5, output_dim=2, negatives=3)
    >>> draw_negatives(2, options, np.array([0.0, 1.0, 0.0]), np.random.default_rng(0)).tolist()
    [[1, 1, 1], [1, 1, 1]]
    """
    cumulative = np.cumsum(frequencies**options.power)
    points = rng.random((slots, options.negatives)) * cumulative[-1]
    # "right": a word of frequency 0 has an interval without a point in it.
    drawn: IntArray = np.searchsorted(cumulative, points, side="right")
    return drawn


def train(
    model: Context2Vec,
    sentences: Sequence[Sequence[str]],
    *,
    tokens: int,
    learning_rate: float,
    rng: np.random.Generator,
    batch_size: int = 64,
) -> tuple[Context2Vec, stacks.Curve]:
    """Train a copy of the model until it has filled ``tokens`` slots.

    Book: chapter 6, "Our own table".
    """
    copy = {name: value.copy() for name, value in model.parameters.items()}
    trained = Context2Vec(model.options, copy, model.vocabulary)
    rows = [text.batch_word_ids([sentence], model.vocabulary)[0] for sentence in sentences]
    counted = np.bincount(
        np.concatenate([row[1:-1] for row in rows]) - text.SHIFT, minlength=len(model.vocabulary)
    ).astype(np.float64)

    def step(batch: IntArray) -> tuple[float, int, Gradients]:
        ids = text.pad([rows[row] for row in batch])
        slots = int((ids[:, 2:] > 0).sum())
        return trained.loss_and_gradients(ids, draw_negatives(slots, model.options, counted, rng))

    curve = stacks.train(
        trained.parameters,
        step,
        np.array([len(row) for row in rows]),
        tokens=tokens,
        learning_rate=learning_rate,
        rng=rng,
        batch_size=batch_size,
    )
    return trained, curve
