"""Sentences through two LSTM stacks and back, and a loop that trains on tokens.

The stacks are those of `elmo_toy.bilm.lstm`. Here each direction may read a table of its own, and
what is trained on top is up to the caller.

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from elmo_toy import text
from elmo_toy.bilm import lstm
from elmo_toy.bilm.lstm import LayerWeights, LSTMOptions, ReadingOrder, State
from elmo_toy.bilm.token_encoder import FloatArray, Parameters, sum_by_index
from elmo_toy.bilm.training import Adam, Gradients, clip_by_global_norm
from elmo_toy.text import IntArray

TABLES = ("embedding/forward", "embedding/backward")
"""The input vectors of each direction; `context2vec` has two tables, `cove` one."""


class Reading(NamedTuple):
    """One forward pass: what it read, in which order, and what the stacks keep."""

    ids: IntArray
    order: ReadingOrder
    trace: lstm.StackTrace

    @property
    def states(self) -> FloatArray:
        """Top layer after each token has been read: (batch, tokens, 2, projection_dim)."""
        return self.order.unread(self.trace.outputs[-1])


def layer_weights(parameters: Parameters, options: LSTMOptions) -> list[LayerWeights]:
    """The parameters of the stacks, by layer."""
    return [
        LayerWeights(*(parameters[f"Cell{layer}/{name}"] for name in lstm.LAYER_PARAMETERS))
        for layer in range(options.n_layers)
    ]


def read(
    ids: IntArray, tables: tuple[str, str], parameters: Parameters, options: LSTMOptions
) -> Reading:
    """Run both directions over a batch, every sentence from a zero state.

    Parameters
    ----------
    ids : (batch, tokens) int64
        Word ids + 1 and 0 for no token, boundaries included, as `text.batch_word_ids` makes them.
    tables : names of the parameters in which the forward and the backward direction look words up
    parameters, options : of the stacks and the tables
    """
    mask = text.token_mask(ids)
    order = ReadingOrder(text.sentence_lengths(mask), ids.shape[1])
    vectors = []
    for direction, table in enumerate(tables):
        looked_up = np.where(mask[:, :, None], parameters[table][ids - text.SHIFT], 0)
        vectors.append(order.read(looked_up.astype(parameters[table].dtype))[direction])
    read_vectors = np.stack(vectors)
    start = State.zeros(options, len(ids), read_vectors.dtype)
    trace, _ = lstm.stack_forward(
        read_vectors, layer_weights(parameters, options), order, start, options
    )
    return Reading(ids, order, trace)


def read_gradients(
    upstream: FloatArray,
    reading: Reading,
    tables: tuple[str, str],
    parameters: Parameters,
    options: LSTMOptions,
) -> Gradients:
    """Carry a loss's derivative with respect to `Reading.states` back to tables and stacks.

    Parameters
    ----------
    upstream : (batch, tokens, 2, projection_dim)
    """
    by_direction = [reading.order.read(upstream[:, :, d])[d] for d in range(2)]
    dread, by_layer = lstm.stack_gradients(
        np.stack(by_direction),
        reading.trace,
        layer_weights(parameters, options),
        reading.order,
        options,
    )
    gradients: Gradients = {}
    for layer, by_name in enumerate(by_layer):
        for name, value in zip(lstm.LAYER_PARAMETERS, by_name, strict=True):
            gradients[f"Cell{layer}/{name}"] = value
    mask = text.token_mask(reading.ids)
    dtokens, rows = reading.order.unread(dread)[mask], reading.ids[mask] - text.SHIFT
    for direction, table in enumerate(tables):
        gradient = sum_by_index(rows, dtokens[:, direction], len(parameters[table]))
        gradients[table] = gradients[table] + gradient if table in gradients else gradient
    return gradients


def glorot(shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Uniform in the range of Glorot and Bengio (2010)."""
    bound = (6.0 / sum(shape)) ** 0.5
    return rng.uniform(-bound, bound, shape)


class Curve(NamedTuple):
    """What a training run leaves beside the parameters: mean losses of its tenths, and tokens."""

    losses: tuple[float, ...]
    tokens: int


Step = Callable[[IntArray], tuple[float, int, Gradients]]
"""Rows of a corpus -> mean loss, number of predictions, gradients."""


def train(
    parameters: dict[str, FloatArray],
    step: Step,
    lengths: IntArray,
    *,
    tokens: int,
    learning_rate: float,
    rng: np.random.Generator,
    batch_size: int = 64,
    clip_norm: float = 10.0,
    decay: Literal["linear", "none"] = "linear",
) -> Curve:
    """Train ``parameters`` in place with Adam until ``tokens`` predictions have been made.

    Batches, clipping and the falling learning rate are those of `elmo_toy.bilm.training.train`.

    Raises
    ------
    FloatingPointError
        If the loss is no longer finite.
    TypeError
        If ``rng`` is no Generator.

    >>> parameters = {"p": np.array([1.0])}
    >>> def step(rows):  # (p - 3)**2
    ...     return float((parameters["p"] - 3)[0] ** 2), len(rows), {"p": 2 * (parameters["p"] - 3)}
    >>> curve = train(parameters, step, np.ones(8, int), tokens=800, learning_rate=0.1,
    ...               rng=np.random.default_rng(0), batch_size=4)
    >>> parameters["p"].round(2).tolist(), curve.tokens
    ([3.0], 800)
    """
    text.checked_count(tokens, "tokens")
    text.checked_generator(rng)
    optimiser, seen, losses = Adam(learning_rate), 0, [[0.0, 0.0] for _ in range(10)]
    while seen < tokens:
        for rows in text.length_bucketed_batches(lengths, batch_size, rng):
            if decay == "linear":
                optimiser.learning_rate = learning_rate * (1 - seen / tokens)
            loss, predictions, gradients = step(rows)
            if not np.isfinite(loss):
                raise FloatingPointError(
                    f"the loss became {loss} after {seen} tokens; expected a finite one "
                    "(try a lower learning rate)"
                )
            clip_by_global_norm(gradients, clip_norm)
            optimiser.update(parameters, gradients)
            tenth = losses[10 * seen // tokens]
            tenth[0] += loss * predictions
            tenth[1] += predictions
            seen += predictions
            if seen >= tokens:
                break
    return Curve(tuple(total / number for total, number in losses if number), seen)
