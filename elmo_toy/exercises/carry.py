"""Exercises on chapters 7 and 8: what carries forward, and the released files.

Book: chapter 8, "What is in the file".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.bilm.kernels import FORGET_BIAS
from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.exercises.answers import Count, Function, Number, Wrong
from elmo_toy.exercises.exercise import Exercise
from elmo_toy.exercises.text import shown
from elmo_toy.worked_example import PRESETS, sigmoid

_RNG = np.random.default_rng(72)

# --- 7.1 ------------------------------------------------------------------------------------------

_RESIDUAL = PRESETS["token"]
_ENTERS = _RESIDUAL[::-1].cumsum()[::-1]

_7_1 = Exercise(
    id="7.1",
    title="What a weight means in a residual stack",
    section="The mixture over another model",
    objective="O6",
    level=1,
    minutes=5,
    question=f"""In a residual stack $h_1 = h_0 + \\Delta_1$ and $h_2 = h_1 + \\Delta_2$. A mixture
has the weights ${shown(_RESIDUAL)}$ and $\\gamma = 1$. With which coefficients do $h_0$,
$\\Delta_1$ and $\\Delta_2$ enter it?""",
    hints=(
        "Write every layer out in terms of $h_0$ and the updates, then collect.",
        "$h_0$ is in all three layers, $\\Delta_1$ in two, $\\Delta_2$ in one.",
    ),
    solution_text=f"""${shown(_ENTERS)}$. The word vector enters whole, whatever its layer's weight;
even with no weight on layer 0 it would. So a weight is not a share, and weights of different models
cannot be compared.""",
    answer=Number(
        _ENTERS,
        (
            Wrong(_RESIDUAL, "those are the weights: an upper layer contains the lower ones", "M9"),
            Wrong(_RESIDUAL.cumsum(), "you added up from the wrong end: an update is above", "M9"),
            Wrong(np.ones(3), "an update is in its own layer and in those above, not in all"),
            Wrong(_ENTERS / _ENTERS.sum(), "these are no weights: they need not sum to one", "M9"),
        ),
    ),
)

# --- 7.2 ------------------------------------------------------------------------------------------

_SPLIT_PROBES = tuple(
    (_RNG.normal(size=3), _RNG.normal(size=(3, 4)), _RNG.normal(size=3), _RNG.normal(size=(3, 4)))
    for _ in range(2)
)


def _split(
    variant: Callable[[Array, Array, Array, Array], tuple[Array, ...]],
) -> Callable[..., Array]:
    return lambda g, h, g_new, h_new: np.stack(variant(g, h, g_new, h_new))


_7_2 = Exercise(
    id="7.2",
    title="Two reasons to change",
    section="When the extractor moves too",
    objective="O7",
    level=2,
    minutes=10,
    question="""Coefficients $g = \\gamma s$ `(layers,)` and layers $h$ `(layers, dim)` both change,
to `g_new` and `h_new`. Write `split(g, h, g_new, h_new)`: three rows `(3, dim)`, the mixture's
change by the coefficients alone, by the features alone, and by both at once. They have to add up to
the change.""",
    hints=(
        "Multiply out $(g + \\delta g)(h + \\delta h)$.",
        "`(g_new - g) @ h`, `g @ (h_new - h)`, `(g_new - g) @ (h_new - h)`",
    ),
    solution_text="""`np.stack` of the three products of the second hint. With a frozen extractor
the second and the third are exactly zero.""",
    answer=Function(
        "split(g, h, g_new, h_new)",
        _split(lambda g, h, gn, hn: ((gn - g) @ h, g @ (hn - h), (gn - g) @ (hn - h))),
        _SPLIT_PROBES,
        (
            Wrong(
                _split(lambda g, h, gn, hn: ((gn - g) @ hn, g @ (hn - h), (gn - g) @ (hn - h))),
                "the first part takes the old features: with the new ones both is counted twice",
            ),
            Wrong(
                _split(lambda g, h, gn, hn: ((gn - g) @ h, gn @ (hn - h), (gn - g) @ (hn - h))),
                "the second part takes the old coefficients: otherwise both is counted twice",
            ),
            Wrong(
                _split(lambda g, h, gn, hn: ((gn - g) @ h, g @ (hn - h), 0 * (g @ h))),
                "the part of both at once is missing: the three don't add up to the change",
            ),
            Wrong(
                _split(lambda g, h, gn, hn: (g @ (hn - h), (gn - g) @ h, (gn - g) @ (hn - h))),
                "coefficients and features are in each other's place",
            ),
            Wrong(
                _split(lambda g, h, gn, hn: ((g - gn) @ h, g @ (h - hn), (g - gn) @ (h - hn))),
                "the sign is reversed: new less old",
            ),
        ),
    ),
)

# --- 7.3 ------------------------------------------------------------------------------------------

_N = 7
_HALF = _N * (_N + 1) // 2

_7_3 = Exercise(
    id="7.3",
    title="Who can influence whom",
    section="Recurrence against attention",
    objective="O1",
    level=3,
    minutes=8,
    question=f"""A sentence of {_N} tokens, no boundaries. For how many pairs (position asked about,
position moved) can the derivative differ from zero, in the forward half of an LSTM layer, in both
halves of the layer together, and in one block of self-attention? Prove each number, and answer with
the three.""",
    hints=(
        "A position also depends on itself.",
        "Forward: the positions up to and including one's own. Add these up.",
    ),
    solution_text=f"""Forward, position $t$ depends on $1, \\dots, t$, so there are $1 + \\dots +
{_N} = {_HALF}$ pairs. The backward half has as many, and the two share the diagonal: together all
{_N**2}. Attention has all {_N**2} at once. What differs is that no half of the LSTM sees both
sides, and how the influence got there.""",
    answer=Count(
        (_HALF, _N**2, _N**2),
        (
            Wrong((_HALF - _N, _N**2 - _N, _N**2 - _N), "a position depends on itself as well"),
            Wrong((_HALF, _HALF, _N**2), "the other half reaches the other side"),
            Wrong((_N**2, _N**2, _N**2), "the forward half has not read what comes later"),
            Wrong((_HALF, 2 * _HALF, _N**2), "the two halves share the diagonal: count it once"),
            Wrong((_N - 1, 2 * (_N - 1), _N**2), "a recurrence carries further than one neighbour"),
        ),
    ),
)

# --- 8.1 ------------------------------------------------------------------------------------------

_SIZES = LSTMOptions(4096, 512)
_INPUT = 2 * _SIZES.projection_dim  # [x, h], both of projected width


def _cell_size(rows: int = _INPUT, blocks: int = 4, *, bias: bool = True) -> int:
    matrix = rows * blocks * _SIZES.dim
    return matrix + bias * blocks * _SIZES.dim + _SIZES.dim * _SIZES.projection_dim


_8_1 = Exercise(
    id="8.1",
    title="The size of a cell",
    section="What is in the file",
    objective="O7",
    level=1,
    minutes=6,
    question=f"""The original has {_SIZES.dim} units a direction and layer, a state projected to
{_SIZES.projection_dim}, and an input of {_SIZES.projection_dim}. How many numbers do `W_0`, `B` and
`W_P_0` of one cell hold together?""",
    hints=(
        "`W_0` acts on the input beside the *projected* state, and has four blocks of columns.",
        f"`W_0` is {_INPUT} by {4 * _SIZES.dim}. `W_P_0` has no bias beside it.",
    ),
    solution_text=f"""`W_0`: {_INPUT} rows times {4 * _SIZES.dim:,} columns. `B`:
{4 * _SIZES.dim:,}. `W_P_0`: {_SIZES.dim} by {_SIZES.projection_dim}. Together {_cell_size():,};
there are four such cells, two layers in two directions.""",
    answer=Count(
        _cell_size(),
        (
            Wrong(_cell_size(bias=False), "the bias `B` is missing"),
            Wrong(_cell_size(blocks=3), "three gates and a candidate: four blocks of columns"),
            Wrong(
                _cell_size(_SIZES.projection_dim + _SIZES.dim),
                "the state that goes back in has been projected",
            ),
            Wrong(
                _cell_size(_SIZES.projection_dim),
                "the rows of the state are missing: it stands beside the input",
            ),
            Wrong(_cell_size() - _SIZES.dim * _SIZES.projection_dim, "the projection is missing"),
            Wrong(4 * _cell_size(), "that is all four cells: one was asked for"),
            Wrong(_cell_size() + _SIZES.projection_dim, "the projection has no bias"),
        ),
    ),
)

# --- 8.2 ------------------------------------------------------------------------------------------

_UNITS = 3
_STEP_PROBES = tuple((_RNG.normal(size=4 * _UNITS), _RNG.normal(size=_UNITS)) for _ in range(3))


def _cell(order: str = "ijfo", bias: float = FORGET_BIAS) -> Callable[..., Array]:
    """Cell and output before projection, for blocks of columns in an order."""

    def step(columns: Array, cell: Array) -> Array:
        block = dict(zip(order, np.split(columns, 4), strict=True))
        new = sigmoid(block["f"] + bias) * cell + sigmoid(block["i"]) * np.tanh(block["j"])
        return np.stack([new, sigmoid(block["o"]) * np.tanh(new)])

    return step


_8_2 = Exercise(
    id="8.2",
    title="Reading the columns",
    section="Reading it wrong",
    objective="O5",
    level=2,
    minutes=12,
    question="""`columns` `(4 * units,)` is $[x, h]\\,W + b$ of a released cell, and `cell`
`(units,)` the old cell. Write `step(columns, cell)`: two rows, the new cell and the output
$\\sigma(o) \\tanh(c')$ before its projection; leave out the clips. Every order of the blocks runs:
the check is the only thing that tells them apart.""",
    hints=(
        "Four blocks, `np.split(columns, 4)`. The page says in which order they are stored.",
        "`i, j, f, o`, and the forget gate gets 1 added, which is not in the file.",
    ),
    solution_text="""

```python
def step(columns, cell):
    i, j, f, o = np.split(columns, 4)
    new = sigmoid(f + 1) * cell + sigmoid(i) * np.tanh(j)
    return np.stack([new, sigmoid(o) * np.tanh(new)])
```

`sigmoid` is imported above. No shape betrays a wrong order; only numbers that
somebody has recorded do.""",
    answer=Function(
        "step(columns, cell)",
        _cell(),
        _STEP_PROBES,
        (
            Wrong(_cell("ifjo"), "you read i, f, j, o: the candidate is the second block"),
            Wrong(_cell("ijof"), "you read i, j, o, f: the forget gate comes third"),
            Wrong(_cell("fijo"), "you read f, i, j, o: the input gate comes first"),
            Wrong(
                _cell(bias=0.0), "the 1 added to the forget gate is missing: it is not in the file"
            ),
            Wrong(
                lambda columns, cell: np.stack(
                    [
                        _cell()(columns, cell)[0],
                        sigmoid(columns[-_UNITS:]) * _cell()(columns, cell)[0],
                    ]
                ),
                "the tanh of the cell is missing in the output",
            ),
        ),
    ),
)

# --- 8.3 ------------------------------------------------------------------------------------------

_TABLE = _RNG.normal(size=(6, 2))
_IDS = np.array([3, 1, 6, 0, 0])


def _shifted(table: Array) -> Array:
    return np.concatenate([np.zeros((1, table.shape[1])), table])


_8_3 = Exercise(
    id="8.3",
    title="The row that is missing",
    section="The zero row",
    objective="O7",
    level=2,
    minutes=6,
    question="""The file's table has a row for each of $n$ characters. Batches use ids from 1 to $n$
for them, and 0 for positions behind the end. Write `look_up(ids, table)`, ids `(positions,)`,
result `(positions, dim)`, with zeros where the id is 0.""",
    hints=(
        "By how much are ids and rows apart? And what does numpy return for a row -1?",
        "Put a row of zeros in front of the table, then index.",
    ),
    solution_text="""`np.concatenate([np.zeros((1, table.shape[1])), table])[ids]`. Without the
extra row, `table[ids - 1]` fetches the *last* row where the id is 0, without a word. (The zeros
enter an encoder with biases and don't stay zeros: mask afterwards as well.)""",
    answer=Function(
        "look_up(ids, table)",
        lambda ids, table: _shifted(table)[ids],
        ((_IDS, _TABLE), (np.array([0, 1, 2]), _TABLE[:3])),
        (
            Wrong(
                lambda ids, table: table[ids - 1],
                "row -1 is the last row: an id of 0 has to give zeros",
            ),
            Wrong(
                lambda ids, table: np.concatenate([table, table[:1] * 0])[ids],
                "ids start at 1, rows at 0: every character got its neighbour's row",
            ),
            Wrong(
                lambda ids, table: np.where(ids[:, None] > 0, table[ids % len(table)], 0),
                "ids start at 1, rows at 0: you zeroed the padding, and shifted nothing",
            ),
        ),
    ),
)

EXERCISES: Sequence[Exercise] = (_7_1, _7_2, _7_3, _8_1, _8_2, _8_3)
