"""Self-attention, forward, backward and its Jacobian by formula: the other way to meet a neighbour.

For each head, with ``q_t = x_t Q``, ``k_u = x_u K``, ``v_u = x_u V``::

    p[t, u] = softmax_u(q_t . k_u / sqrt(head_dim))
    m_t     = sum_u p[t, u] v_u
    output  = sum over heads of m_t O

The softmax is the mixture's, over positions instead of layers, and computed anew for every pair of
tokens. Nothing here knows where a token stands: `position_vectors` have to be added for that.

Book: chapter 7, "Recurrence against attention".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from elmo_toy._checks import (
    LAYER_CODES,
    Array,
    all_finite,
    as_number,
    as_reals,
    describe,
    refuse_masked,
    refuse_non_finite,
)
from elmo_toy.scalar_mix import softmax
from elmo_toy.text import checked_count


class AttentionWeights(NamedTuple):
    """One layer of self-attention, its heads on axis 0."""

    query: Array  # (heads, dim, head_dim)
    key: Array  # (heads, dim, head_dim)
    value: Array  # (heads, dim, head_dim)
    output: Array  # (heads, head_dim, dim)


class AttentionTrace(NamedTuple):
    """Forward pass, named as in the module's text."""

    inputs: Array  # (batch, tokens, dim), 0 where masked
    queries: Array  # (batch, heads, tokens, head_dim), as keys, values and mixed
    keys: Array
    values: Array
    probabilities: Array  # (batch, heads, tokens, tokens): asking token, token attended to
    mixed: Array
    output: Array  # (batch, tokens, dim)


def draw_weights(
    dim: int, heads: int, rng: np.random.Generator, scale: float = 1.0
) -> AttentionWeights:
    """Draw the weights: normal, with a variance of ``scale**2 / dim``; heads of ``dim / heads``.

    Raises ValueError if the heads don't divide the dim, for sizes below 1 and a scale that isn't
    finite, TypeError for sizes that aren't whole.

    Book: chapter 7, "Recurrence against attention".
    """
    checked_count(dim, "dim")
    checked_count(heads, "heads")
    as_number(scale, "scale")
    if dim % heads:
        raise ValueError(f"heads: expected a divisor of dim = {dim}, got {heads}")
    inward, outward = (heads, dim, dim // heads), (heads, dim // heads, dim)
    return AttentionWeights(
        *(rng.normal(0.0, scale * dim**-0.5, shape) for shape in (inward,) * 3 + (outward,))
    )


def attend(inputs: Array, weights: AttentionWeights, mask: Array | None = None) -> AttentionTrace:
    """Let every token attend to every token of its sentence: the formulas of the module's text.

    Parameters
    ----------
    inputs
        (batch, tokens, dim); complex128 for the complex step.
    weights
    mask
        (batch, tokens) bool: where False, nobody attends, and what stands there is ignored. Each
        sentence needs a token.

    Returns
    -------
    AttentionTrace; rows of a masked *asking* token mean nothing.

    Raises
    ------
    ValueError
        For inputs, weights or a mask of another shape, a sentence without a token, inputs that
        aren't finite at unmasked positions, and scores or outputs beyond the dtype.
    TypeError
        For inputs or a mask of another dtype.

    Source: Vaswani et al. (2017), section 3.2. Book: chapter 7, "Recurrence against attention".

    >>> one = np.ones((1, 1, 1))                       # one head, one coordinate
    >>> trace = attend(np.array([[[0.0], [1.0]]]), AttentionWeights(one, one, one, one))
    >>> trace.probabilities[0, 0].round(3)             # 0 attends equally; softmax([0, 1])
    array([[0.5  , 0.5  ],
           [0.269, 0.731]])
    """
    inputs = _checked_inputs(inputs, weights, mask)
    heads = inputs[:, None]
    queries, keys, values = (heads @ matrix for matrix in weights[:3])
    with np.errstate(over="ignore", invalid="ignore"):
        scores = (queries @ keys.swapaxes(2, 3)) * weights.query.shape[2] ** -0.5
        finite = all_finite(scores) and all_finite(values)
    if not finite:
        raise ValueError(f"inputs, weights: expected scores and values within {scores.dtype}")
    if mask is not None:
        scores = np.where(mask[:, None, None, :], scores, -np.inf)
    probabilities = softmax(scores)
    mixed = probabilities @ values
    with np.errstate(over="ignore", invalid="ignore"):
        output = (mixed @ weights.output).sum(axis=1)
    if not all_finite(output):
        raise ValueError(f"weights.output: expected outputs within {output.dtype}")
    return AttentionTrace(inputs, queries, keys, values, probabilities, mixed, output)


def _checked_inputs(inputs: Array, weights: AttentionWeights, mask: Array | None) -> Array:
    """The inputs, 0 where masked."""
    shape = weights.query.shape
    for name, matrix in weights._asdict().items():
        wanted = shape if name != "output" else (shape[0], *shape[:0:-1])
        if len(shape) != 3 or matrix.shape != wanted:
            raise ValueError(
                f"weights.{name}: expected {wanted} beside a query (heads, dim, head_dim) of "
                f"{shape}, got {matrix.shape}"
            )
    refuse_masked(inputs, "inputs")
    if not isinstance(inputs, np.ndarray) or inputs.dtype.char not in LAYER_CODES:
        raise TypeError(f"inputs: expected an array of floats, got {describe(inputs)}")
    if inputs.ndim != 3 or inputs.shape[2] != shape[1]:
        raise ValueError(f"inputs: expected (batch, tokens, dim = {shape[1]}), got {inputs.shape}")
    kept = inputs
    if mask is not None:
        refuse_masked(mask, "mask")
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"mask: expected a bool array (batch, tokens), got {describe(mask)}")
        if mask.shape != inputs.shape[:2] or not mask.any(axis=1).all():
            raise ValueError(
                f"mask: expected a token in every row of (batch, tokens) = {inputs.shape[:2]}, "
                f"got {mask.shape} with rows of {mask.sum(axis=-1).tolist()}"
            )
        kept = np.where(mask[..., None], inputs, inputs.dtype.type(0))
    if not np.isfinite(kept).all():
        refuse_non_finite(inputs, mask, "inputs")
    return kept


def attention_gradients(
    upstream: Array, trace: AttentionTrace, weights: AttentionWeights
) -> tuple[Array, AttentionWeights]:
    """Carry a loss's derivative with respect to `attend`'s output back to inputs and weights.

    Parameters
    ----------
    upstream
        (batch, tokens, dim).

    Returns
    -------
    Derivatives with respect to the inputs and, as `AttentionWeights`, to the weights.

    Raises
    ------
    ValueError, TypeError
        For an upstream derivative of another shape, or one that isn't of finite real numbers.

    Source: the chain rule. Book: chapter 7, "Hide the word instead".
    """
    upstream = as_reals(upstream, "upstream", *trace.output.shape)
    scale = weights.query.shape[2] ** -0.5
    above = upstream[:, None]
    dmixed = above @ weights.output.swapaxes(1, 2)
    dprobabilities = dmixed @ trace.values.swapaxes(2, 3)
    # The softmax's Jacobian: p * (d - p . d), as in the mixture's logit gradient.
    mean = (trace.probabilities * dprobabilities).sum(axis=3, keepdims=True)
    dscores = trace.probabilities * (dprobabilities - mean) * scale
    dqueries = dscores @ trace.keys
    dkeys = dscores.swapaxes(2, 3) @ trace.queries
    dvalues = trace.probabilities.swapaxes(2, 3) @ dmixed
    dinputs = sum(
        (d @ matrix.swapaxes(1, 2)).sum(axis=1)
        for d, matrix in zip((dqueries, dkeys, dvalues), weights[:3], strict=True)
    )
    below = trace.inputs[:, None].swapaxes(2, 3)
    dquery, dkey, dvalue = ((below @ d).sum(axis=0) for d in (dqueries, dkeys, dvalues))
    doutput = (trace.mixed.swapaxes(2, 3) @ above).sum(axis=0)
    return np.asarray(dinputs), AttentionWeights(dquery, dkey, dvalue, doutput)


def attention_jacobian(inputs: Array, weights: AttentionWeights) -> Array:
    """``jacobian[t, i, u, j] = d output[t, i] / d input[u, j]``, of one sentence.

    A head's ``m_t`` depends on token u as a value, as a key, and, where u is t, as a query::

        d m_t / d x_u = p[t, u] V  +  p[t, u] (v_u - m_t) (q_t K) / sqrt(head_dim)
                        + [t = u] sum_w p[t, w] (v_w - m_t) (k_w Q) / sqrt(head_dim)

    (each product with its matrix transposed as shapes demand), and O after it. The first two terms
    are as large as ``p[t, u]``, whatever the distance between t and u.

    Parameters
    ----------
    inputs
        (tokens, dim).
    weights

    Returns
    -------
    (tokens, dim, tokens, dim).

    Source: derived from `attend`. Book: chapter 7, "Recurrence against attention".

    >>> one = np.ones((1, 1, 1))
    >>> jacobian = attention_jacobian(np.zeros((2, 1)), AttentionWeights(one, one, one, one))
    >>> jacobian[:, 0, :, 0]                    # all alike: half of each value, and nothing else
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    trace = attend(inputs[None], weights)
    p = trace.probabilities[0]
    scale = weights.query.shape[2] ** -0.5
    away = trace.values[0][:, None] - trace.mixed[0][:, :, None]  # (heads, t, u, head_dim)
    # Per head: what is moved of the value, and of the score that is softened into p.
    to_key = scale * trace.queries[0] @ weights.key.swapaxes(1, 2)  # (heads, t, dim)
    to_query = scale * trace.keys[0] @ weights.query.swapaxes(1, 2)  # (heads, w, dim)
    value = (weights.value @ weights.output).swapaxes(1, 2)  # (heads, dim, dim): O, V transposed
    shift = p[..., None] * (away @ weights.output[:, None])  # (heads, t, u, dim)
    jacobian: Array = np.einsum("htu,hij->tiuj", p, value, optimize=True)
    jacobian += np.einsum("htui,htj->tiuj", shift, to_key, optimize=True)
    tokens = np.arange(len(inputs))
    jacobian[tokens, :, tokens] += np.einsum("htwi,hwj->tij", shift, to_query, optimize=True)
    return jacobian


def block_norms(jacobian: Array) -> Array:
    """Frobenius norm of each token's derivative by each token: (t, i, u, j) -> (t, u).

    >>> block_norms(np.ones((2, 3, 2, 3)))
    array([[3., 3.],
           [3., 3.]])

    Book: chapter 7, "Recurrence against attention".
    """
    return np.asarray(np.linalg.norm(jacobian.swapaxes(1, 2), axis=(2, 3)))


def mean_by_offset(norms: Sequence[Array], furthest: int) -> Array:
    """Mean norm at each offset ``t - u`` between asking token t and token u, over sentences.

    Parameters
    ----------
    norms
        For each sentence (tokens, tokens), as `block_norms` gives them.
    furthest
        Largest offset in either direction, at least 0.

    Returns
    -------
    (2 * furthest + 1,): offsets from ``-furthest`` (u stands to the right) to ``furthest``; 0 where
    no sentence has such a pair.

    Book: chapter 7, "Decay with distance".

    >>> mean_by_offset([np.array([[1.0, 5.0], [3.0, 2.0]])], 1)
    array([5. , 1.5, 3. ])
    """
    checked_count(furthest, "furthest", 0)
    norms = [as_reals(m, f"norms[{k}]", len(m), len(m)) for k, m in enumerate(norms)]
    means = np.zeros(2 * furthest + 1)
    for place, offset in enumerate(range(-furthest, furthest + 1)):
        pairs = np.concatenate([np.diagonal(matrix, -offset) for matrix in norms])
        if pairs.size:
            means[place] = pairs.mean()
    return means


def change_with_order(
    read: Callable[[Sequence[str]], Array], tokens: Sequence[str], order: Sequence[int]
) -> float:
    """Relative change of a sentence's vectors when its words are put in another order.

    ``|read(tokens)[order] - read(tokens in that order)| / |read(tokens)|``: every word is followed
    to its new place. 0 for what is equivariant.

    Parameters
    ----------
    read
        From tokens to (tokens, dim).
    tokens
    order
        A permutation: what stands first, second, … afterwards.

    Raises
    ------
    ValueError, TypeError
        For an order that is no permutation of the tokens, and what is read if it isn't one vector
        of finite numbers a token, or nothing but zeros.

    Book: chapter 7, "Without positions".

    >>> def lengths(tokens):
    ...     return np.array([[len(token)] for token in tokens])
    >>> change_with_order(lengths, ["a", "muddy", "bank"], [2, 0, 1])
    0.0
    """
    if sorted(order) != list(range(len(tokens))):
        raise ValueError(f"order: expected each of 0 to {len(tokens) - 1} once, got {order}")
    before = as_reals(read(tokens), "read(tokens)", len(tokens), "dim")
    after = as_reals(read([tokens[k] for k in order]), "read(tokens in that order)", *before.shape)
    length = np.linalg.norm(before)
    if not length:
        raise ValueError("read: expected vectors other than 0, to which a change is relative")
    return float(np.linalg.norm(after - before[np.asarray(order)]) / length)


def position_vectors(tokens: int, dim: int) -> Array:
    """Sines and cosines of each position, wavelengths from 2 pi to nearly 20,000 pi.

    ``vector[k, 2i] = sin(k / 10000**(2i/dim))``, ``vector[k, 2i + 1] = cos(...)``.

    Returns
    -------
    (tokens, dim); `dim` must be even. ValueError or TypeError for other sizes.

    Source: Vaswani et al. (2017), section 3.5. Book: chapter 7, "Without positions".

    >>> position_vectors(2, 2).round(4)
    array([[0.    , 1.    ],
           [0.8415, 0.5403]])
    """
    checked_count(tokens, "tokens", 0)
    checked_count(dim, "dim")
    if dim % 2:
        raise ValueError(f"dim: expected an even number, got {dim}")
    angles = np.arange(tokens)[:, None] / 10000.0 ** (np.arange(0, dim, 2) / dim)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(tokens, dim)
