"""What each half of a contextual layer makes of each token: derivatives through the recurrence.

One step takes the memory ``s = [cell; state]`` of the token before and its own input x. With the
step's derivatives ``A_t = d s_t / d s_(t-1)`` and ``B_t = d s_t / d x_t``, the chain rule gives,
for u read before t::

    d s_t / d x_u = A_t A_(t-1) ... A_(u+1) B_u

one factor for each step between the two: the recurrence's path from u to t is t - u steps long.

Book: chapter 7, "Recurrence against attention".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elmo_toy.bilm import lstm
from elmo_toy.bilm.lstm import LayerTrace, LayerWeights, LSTMOptions, ReadingOrder, State
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.token_encoder import FloatArray
from elmo_toy.text import Batch


def half_jacobians(model: BiLM, sentence: Sequence[str]) -> list[FloatArray]:
    """``jacobian[way, t, i, u, j] = d half[t, i] / d token[u, j]`` of each contextual layer.

    Parameters
    ----------
    model : BiLM
    sentence : tokens, without boundaries (which are read, and left out of the result)

    Returns
    -------
    For each contextual layer (2, tokens, projection_dim, tokens, projection_dim) in float64. Axis 0
    is the half, forward first; the token vectors are what the lowest layer reads.

    Examples
    --------
    >>> from elmo_toy.bilm import load_pretrained
    >>> lower, upper = half_jacobians(load_pretrained("toy-language"), ["the", "muddy", "bank"])
    >>> np.abs(upper[0]).max(axis=(1, 3)) > 0  # forward: nothing from the right
    array([[ True, False, False],
           [ True,  True, False],
           [ True,  True,  True]])

    Source: derived from `lstm.layer_forward`.
    Book: chapter 7, "Recurrence against attention".
    """
    options = model.options.lstm
    weights = [
        LayerWeights(*(value.astype(np.float64) for value in values))
        for values in model.layer_weights
    ]
    width = options.projection_dim
    vectors = model.layers(Batch.from_ids(model.ids([sentence]))).layers[:, 0, :, :width]
    steps = vectors.shape[1]
    order = ReadingOrder(np.array([steps]), steps)
    state = State.zeros(options, 1, np.float64)
    trace, _ = lstm.stack_forward(
        order.read(vectors.astype(np.float64)), weights, order, state, options
    )
    token = np.eye(steps * width).reshape(steps, width, steps, width)
    below = np.stack([token, token])
    found: list[FloatArray] = []
    for layer, kept in enumerate(trace.layers):
        inputs = below
        if layer > 0 and options.joined:
            inputs = np.stack([np.concatenate(list(below), axis=1)] * 2)
        above = np.empty_like(below)
        for way in range(2):
            through = _layer_jacobian(kept, weights[layer], way, options)
            if way == 1:  # from reading order to that of the sentence
                through = through[::-1, :, ::-1]
            above[way] = np.tensordot(through, inputs[way], 2)
        below = above + below if layer > 0 and options.use_skip_connections else above
        found.append(below[:, 1:-1, :, 1:-1])
    return found


def half_norms(model: BiLM, sentence: Sequence[str]) -> FloatArray:
    """Frobenius norms of the top layer's `half_jacobians`: (2, tokens, tokens), forward first.

    Row t, column u: how strongly the half at token t depends on the vector of token u.

    Book: chapter 7, "Recurrence against attention".
    """
    upper = half_jacobians(model, sentence)[-1]
    norms: FloatArray = np.linalg.norm(upper.swapaxes(2, 3), axis=(3, 4))
    return norms


def _layer_jacobian(
    trace: LayerTrace, weights: LayerWeights, way: int, options: LSTMOptions
) -> FloatArray:
    """``d state[t, i] / d input[u, j]`` of one layer and direction, in reading order."""
    steps, dim, width = trace.gates.shape[2], options.dim, options.projection_dim
    found = np.zeros((steps, width, steps, trace.input_dim))
    kernel = weights.kernel[way].T.reshape(4, dim, -1)[[1, 0, 2, 3]]  # j, i, f, o, as the trace
    by_input = np.zeros((steps, dim + width, trace.input_dim))  # of the memory now, for each u
    for t in range(steps):
        candidate, i, f, o = trace.gates[:, way, t, 0]
        before, squashed = trace.cells[way, t, 0], trace.squashed[way, t, 0]
        inside = np.abs(trace.cells[way, t + 1, 0]) < options.cell_clip
        cell_by_gate = np.stack(
            [(1 - candidate**2) * i, i * (1 - i) * candidate, f * (1 - f) * before]
        )
        # Columns: [input; state before], the kernel's rows.
        cell = inside[:, None] * (cell_by_gate[:, :, None] * kernel[:3]).sum(axis=0)
        shown = o * (1 - squashed**2)
        show = (o * (1 - o) * squashed)[:, None] * kernel[3] + shown[:, None] * cell
        visible = (np.abs(trace.states[way, t + 1, 0]) < options.proj_clip)[:, None]
        project = visible * weights.projection[way].T
        state, own = project @ show, trace.input_dim
        kept = np.diag(inside * f)
        step = np.block(  # A_t: rows cell and state, columns cell and state before
            [[kept, cell[:, own:]], [project @ (shown[:, None] * kept), state[:, own:]]]
        )
        by_input[:t] = step @ by_input[:t]
        by_input[t] = np.concatenate([cell[:, :own], state[:, :own]])  # B_t
        found[t, :, : t + 1] = by_input[: t + 1, dim:].swapaxes(0, 1)
    return found
