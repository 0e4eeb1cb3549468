"""A stack of attention blocks whose layers come out as a biLM's do.

    layer 0  =  word vector (+ position vector)
    a        =  layer + attention(layer)
    next     =  a + tanh(a W_1 + b_1) W_2 + b_2

A transformer's encoder without layer norm and dropout, and with tanh where others have ReLU or
GELU: what is left decides what a token can see. As everywhere, layers are
(batch, layers, tokens, dim), layer 0 first.

Book: chapter 7, "The mixture over another model".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from elmo_toy._checks import Array
from elmo_toy.attention import (
    AttentionTrace,
    AttentionWeights,
    attend,
    attention_gradients,
    attention_jacobian,
    block_norms,
    draw_weights,
    position_vectors,
)
from elmo_toy.text import checked_count, checked_flag, token_mask


@dataclass(frozen=True)
class TransformerOptions:
    """Sizes of a stack; without ``positions`` it cannot tell one order of words from another."""

    n_words: int
    dim: int
    heads: int
    hidden: int
    n_layers: int = 2
    positions: bool = True

    def __post_init__(self) -> None:
        """Refuse impossible sizes."""
        for name in ("n_words", "dim", "heads", "hidden", "n_layers"):
            checked_count(getattr(self, name), name)
        checked_flag(self.positions, "positions")
        if self.dim % self.heads:
            raise ValueError(f"heads: expected a divisor of dim = {self.dim}, got {self.heads}")


class BlockTrace(NamedTuple):
    """Forward pass of one block."""

    attention: AttentionTrace
    attended: Array  # input + attention, (batch, tokens, dim)
    hidden: Array  # (batch, tokens, hidden)
    output: Array


class Trace(NamedTuple):
    """Forward pass of a stack."""

    ids: Array  # (batch, tokens), 0 where no token is
    blocks: list[BlockTrace]
    layers: Array  # (batch, 1 + blocks, tokens, dim), 0 where no token is


class Transformer:
    """Parameters of a stack, and what it computes from word ids (line of the word + 1, 0: none).

    >>> options = TransformerOptions(n_words=5, dim=4, heads=2, hidden=8)
    >>> stack = Transformer.initialise(options, np.random.default_rng(0))
    >>> stack.read(np.array([[1, 4, 2], [1, 2, 0]])).layers.shape
    (2, 3, 3, 4)

    Source: Vaswani et al. (2017), section 3. Book: chapter 7, "The mixture over another model".
    """

    def __init__(self, options: TransformerOptions, parameters: dict[str, Array]) -> None:
        self.options = options
        self.parameters = parameters

    @classmethod
    def initialise(
        cls, options: TransformerOptions, rng: np.random.Generator, dtype: DTypeLike = np.float64
    ) -> Transformer:
        """Draw an untrained stack."""
        dim, hidden = options.dim, options.hidden
        parameters: dict[str, Array] = {"embedding": rng.uniform(-1, 1, (options.n_words, dim))}
        for block in range(options.n_layers):
            weights = draw_weights(dim, options.heads, rng)
            name = f"block_{block}/"
            parameters |= {name + part: value for part, value in weights._asdict().items()}
            parameters[name + "W_1"] = rng.normal(0.0, dim**-0.5, (dim, hidden))
            parameters[name + "b_1"] = np.zeros(hidden)
            parameters[name + "W_2"] = rng.normal(0.0, hidden**-0.5, (hidden, dim))
            parameters[name + "b_2"] = np.zeros(dim)
        return cls(options, {name: value.astype(dtype) for name, value in parameters.items()})

    def read(self, ids: Array) -> Trace:
        """Layers of a batch of word ids.

        Raises TypeError for ids that aren't whole, ValueError for a shape other than (batch,
        tokens), an id below 0 or above the number of words, and a sentence without a token.
        """
        mask, ids = token_mask(ids), np.asarray(ids)
        if ids.ndim != 2:
            raise ValueError(f"ids: expected (batch, tokens), got shape {ids.shape}")
        ids = ids.astype(np.int64)  # an unsigned 0 less 1 would be the largest number there is
        table = self.parameters["embedding"]
        if ids.size and ids.max() > len(table):
            raise ValueError(f"ids: expected at most {len(table)}, got {ids.max()}")
        x = table[ids - 1]
        if self.options.positions:
            x = x + position_vectors(ids.shape[1], self.options.dim).astype(x.dtype)
        blocks = self.run(x, mask)
        layers = np.stack([x, *(block.output for block in blocks)], axis=1)
        layers[~np.broadcast_to(mask[:, None], layers.shape[:3])] = 0
        return Trace(ids, blocks, layers)

    def run(self, x: Array, mask: Array | None = None) -> list[BlockTrace]:
        """Run the blocks on layer 0, (batch, tokens, dim)."""
        blocks = []
        for block in range(self.options.n_layers):
            w_1, b_1, w_2, b_2 = self._feed_forward(block)
            attention = attend(x, self.attention_weights(block), mask)
            attended = x + attention.output
            hidden = np.tanh(attended @ w_1 + b_1)
            x = attended + hidden @ w_2 + b_2
            blocks.append(BlockTrace(attention, attended, hidden, x))
        return blocks

    def gradients(self, trace: Trace, upstream: Array) -> dict[str, Array]:
        """Derivative of a loss for every parameter, from that for the top layer.

        Parameters
        ----------
        trace
            Of `read`.
        upstream
            (batch, tokens, dim), 0 where no token is.
        """
        gradients: dict[str, Array] = {}
        for block in reversed(range(self.options.n_layers)):
            name, kept = f"block_{block}/", trace.blocks[block]
            w_1, _, w_2, _ = self._feed_forward(block)
            dhidden = (upstream @ w_2.T) * (1 - kept.hidden**2)
            gradients[name + "W_2"] = np.tensordot(kept.hidden, upstream, ((0, 1), (0, 1)))
            gradients[name + "b_2"] = upstream.sum(axis=(0, 1))
            gradients[name + "W_1"] = np.tensordot(kept.attended, dhidden, ((0, 1), (0, 1)))
            gradients[name + "b_1"] = dhidden.sum(axis=(0, 1))
            upstream = upstream + dhidden @ w_1.T
            dinputs, dweights = attention_gradients(
                upstream, kept.attention, self.attention_weights(block)
            )
            gradients |= {name + part: value for part, value in dweights._asdict().items()}
            upstream = upstream + dinputs
        table = np.zeros_like(self.parameters["embedding"])
        present = trace.ids > 0
        np.add.at(table, trace.ids[present] - 1, upstream[present])
        gradients["embedding"] = table
        return gradients

    def jacobians(self, x: Array) -> list[Array]:
        """``d layer[t, i] / d layer 0[u, j]`` of each block's output, for one sentence.

        Parameters
        ----------
        x
            Layer 0, (tokens, dim).

        Returns
        -------
        One array (tokens, dim, tokens, dim) a block: the product of the blocks below it and its own
        ``(1 + d feed-forward) (1 + d attention)``.

        Book: chapter 7, "Recurrence against attention".
        """
        size = x.size
        total, found = np.eye(size), []
        for block, kept in enumerate(self.run(x[None])):
            w_1, _, w_2, _ = self._feed_forward(block)
            attention = attention_jacobian(kept.attention.inputs[0], self.attention_weights(block))
            total = total + attention.reshape(size, size) @ total
            slopes = 1 - kept.hidden[0] ** 2  # (tokens, hidden)
            by_token = (w_2.T * slopes[:, None]) @ w_1.T  # (tokens, dim, dim)
            total = total + (by_token @ total.reshape(*x.shape, size)).reshape(size, size)
            found.append(total.reshape(*x.shape, *x.shape))
        return found

    def norms(self, ids: Array) -> Array:
        """Frobenius norms of the top layer's derivative by layer 0: (tokens, tokens), words alone.

        Parameters
        ----------
        ids
            (1, tokens + 2), one sentence with its boundaries, which are read and left out.
            ValueError for more sentences, and for padding.

        Book: chapter 7, "Recurrence against attention".
        """
        trace = self.read(ids)
        if len(ids) != 1 or not trace.ids.all():
            raise ValueError(f"ids: expected one sentence without padding, got {ids.tolist()}")
        x = trace.layers[0, 0].astype(np.float64)
        return block_norms(self.jacobians(x)[-1])[1:-1, 1:-1]

    def attention_weights(self, block: int) -> AttentionWeights:
        """The attention of one block."""
        names: Sequence[str] = AttentionWeights._fields
        return AttentionWeights(*(self.parameters[f"block_{block}/{name}"] for name in names))

    def _feed_forward(self, block: int) -> tuple[Array, ...]:
        return tuple(self.parameters[f"block_{block}/{n}"] for n in ("W_1", "b_1", "W_2", "b_2"))
