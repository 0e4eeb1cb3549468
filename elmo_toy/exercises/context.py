"""Exercises on chapters 1 and 2: occurrences, and where context comes in.

Book: chapter 2, "The two directions".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.bilm.kernels import FORGET_BIAS
from elmo_toy.bilm.lstm import LayerWeights, LSTMOptions, layer_forward
from elmo_toy.exercises.answers import Count, Function, Number, Wrong
from elmo_toy.exercises.exercise import Exercise, in_per_cent
from elmo_toy.exercises.mistakes import MISTAKES, right
from elmo_toy.exercises.text import listed, shown
from elmo_toy.similarity import percentile
from elmo_toy.worked_example import sigmoid

# --- 1.1 ------------------------------------------------------------------------------------------

_TWO = ("the bank by the river bank .", "the bank lent .")
_TOKENS = " ".join(_TWO).split()
_TYPES = len(set(_TOKENS))

_1_1 = Exercise(
    id="1.1",
    title="How many vectors?",
    section="Type and occurrence",
    objective="O1",
    level=1,
    minutes=4,
    question=f"""Two sentences go through a bidirectional language model, the full stops as tokens:
*{_TWO[0]}* and *{_TWO[1]}*

How many different vectors does the token layer $h_0$ return for them, and how many a contextual
layer, if no two contexts happen to give the same state? Answer with two whole numbers.""",
    hints=(
        "What is each layer a function of: the spelling, or the spelling and everything around it?",
        "Count the types once for $h_0$, and the tokens once for $h_1$.",
    ),
    solution_text=f"""The token layer is a function of the spelling, so it has one vector a type:
{_TYPES}. A contextual layer depends on the whole sentence and on the position in it, so each of the
{len(_TOKENS)} occurrences has its own. The two occurrences of *bank* within the first sentence
differ too.""",
    answer=Count(
        (_TYPES, len(_TOKENS)),
        (
            Wrong(
                (_TYPES, _TYPES), "a word has no one contextual vector: count occurrences", "M17"
            ),
            Wrong(
                (len(_TOKENS), len(_TOKENS)),
                "the token layer is the same wherever a spelling stands: count types",
                "M17",
            ),
            Wrong((len(_TOKENS), _TYPES), "the two numbers are in each other's place"),
            Wrong((_TYPES - 1, len(_TOKENS) - 2), "the full stop is a token too"),
            Wrong(
                (_TYPES, _TYPES + len(set(_TWO[0].split()) & set(_TWO[1].split()))),
                "two occurrences in one sentence have different contexts as well",
                "M17",
            ),
        ),
    ),
)

# --- 1.2 ------------------------------------------------------------------------------------------


def _place(value: float, background: Array) -> float:
    return float(percentile(np.array(value), background))


def _share_below(value: float, background: Array) -> float:
    return float(100 * (background < value).mean())


_BACKGROUND = np.array([0.1, 0.4, 0.4, 0.4, 0.7, 0.8, 0.9, 0.9, 0.95, 1.0])
_PROBES = (
    *((value, _BACKGROUND) for value in (0.4, 0.75, 0.9, 1.2)),
    (0.3, np.random.default_rng(1).normal(size=50)),
    (1.0, np.ones(4)),
)

_1_2 = Exercise(
    id="1.2",
    title="A cosine's place",
    section="A cosine needs a background",
    objective="O8",
    level=2,
    minutes=8,
    question="""Write `place(cosine, background)`: where one cosine stands among those of a
background, `(n,)`, in per cent. Half of the cosines that are equal to it count as below it, so that
what is equal to all stands in the middle.""",
    hints=(
        "Count what is smaller and what is equal, separately.",
        "`100 * ((background < cosine).mean() + (background == cosine).mean() / 2)`",
    ),
    solution_text=f"""The second hint is the whole function. In a token layer all pairs of one word
have the same cosine, and the half makes their place {shown(_place(1.0, np.ones(4)))} and not
{shown(_share_below(1.0, np.ones(4)))}. A cosine alone says little: the same number is low in one
layer and high in another.""",
    answer=Function(
        "place(cosine, background)",
        _place,
        _PROBES,
        (
            Wrong(_share_below, "what is equal has to count half: you left it out"),
            Wrong(
                lambda value, background: float(100 * (background <= value).mean()),
                "what is equal has to count half: you counted all of it",
            ),
            Wrong(
                lambda value, background: _place(value, background) / 100,
                "that is the share: times 100 for per cent",
            ),
            Wrong(
                lambda value, background: 100 - _place(value, background),
                "you counted what is above",
            ),
        ),
    ),
)

# --- 1.3 ------------------------------------------------------------------------------------------

_SENSES = {"bank": (14, 6), "spring": (3, 7), "bass": (6, 4)}
_ALL = np.array(list(_SENSES.values()))
_SPLITS = listed(
    f"*{word}* stands {first} times in its first sense and {second} times in its second"
    for word, (first, second) in _SENSES.items()
)
_BEST = float(_ALL.max(axis=1).sum() / _ALL.sum())

_1_3 = Exercise(
    id="1.3",
    title="What no lookup can pass",
    section="Where a lookup wins",
    objective="O1",
    level=3,
    minutes=10,
    question=f"""In a test of senses {_SPLITS}.

Prove that a classifier which reads the noun's own $h_0$ and nothing else, however large, cannot be
right on more than a certain share of this test, and give that share.""",
    hints=(
        "All occurrences of a noun have the same $h_0$. How many answers can the classifier give "
        "for one noun?",
        "For each word the best single answer is its more frequent sense. Add these up, and divide "
        "by the number of occurrences.",
    ),
    solution_text=f"""$h_0$ is a function of the spelling, so a function of $h_0$ gives all
occurrences of a word one answer. For each word that is right at most as often as the more frequent
sense: {listed(str(most) for most in _ALL.max(axis=1))} times. Together {_ALL.max(axis=1).sum()} of
{_ALL.sum()}, which is {shown(_BEST)}. The bound is reached by answering with each word's more
frequent sense, so it is exact. What is above it in a table of results came from the neighbours: the
tagger of chapter 5 passes such a bound on token layers, but it reads those of the whole
sentence.""",
    answer=Number(
        _BEST,
        (
            Wrong(0.5, "that is guessing: a lookup may learn each word's more frequent sense"),
            Wrong(
                float(_ALL.sum(axis=0).max() / _ALL.sum()),
                "that is one answer for all words: a lookup has one for each",
            ),
            Wrong(
                float((_ALL.max(axis=1) / _ALL.sum(axis=1)).mean()),
                "you averaged over words: average over occurrences",
            ),
            Wrong(1.0, "that takes another vector for another sense, which no lookup has", "M17"),
            in_per_cent(_BEST),
        ),
    ),
)

# --- 2.1 ------------------------------------------------------------------------------------------

_SENTENCE = "the muddy bank flooded ."
_PLACE = _SENTENCE.split().index("bank") + 1  # <S> stands at 0
_END = len(_SENTENCE.split()) + 1

_2_1 = Exercise(
    id="2.1",
    title="Who is asked for what",
    section="The one-position shift",
    objective="O1",
    level=1,
    minutes=4,
    question=f"""*{_SENTENCE}* is read with its boundaries, so that `<S>` stands at position 0 and
`</S>` at {_END}. Which position's token is the forward state predicting that has consumed
*bank*, at {_PLACE}? Which one the backward state at *bank*? Answer with two whole numbers.""",
    hints=(
        "A state must not be asked for what it has read, its own token included.",
        "Forward has read everything up to *bank*, backward everything from its end down to it.",
    ),
    solution_text=f"""Forward $t_{{k+1}}$, position {_PLACE + 1}; backward $t_{{k-1}}$, position
{_PLACE - 1}. Both have consumed *bank*. If either were asked for it, the answer would be the last
thing that it read, and no neighbour would be needed.""",
    answer=Count(
        (_PLACE + 1, _PLACE - 1),
        (
            Wrong((_PLACE, _PLACE), "both have read that token: the answer would be seen", "M13"),
            Wrong((_PLACE + 1, _PLACE), "the backward state has read its own token too", "M13"),
            Wrong((_PLACE - 1, _PLACE + 1), "the two directions are in each other's place", "M13"),
            Wrong(
                (_PLACE + 1, _PLACE + 1),
                "the backward state has read that token already: it goes on to the left",
                "M13",
            ),
            Wrong((_END, 0), "one token at a time: the next in its direction, not the last"),
        ),
    ),
)

# --- 2.2 ------------------------------------------------------------------------------------------

_X, _H, _C, _PROJECTION = 1.0, 2.0, 2.0, 3.0
_KERNEL = np.array([[2.0, 3.0, 1.0, -2.0], [-1.0, -2.0, 1.0, 1.0]])
_GATES = np.array([_X, _H]) @ _KERNEL  # i, j, f, o


def _step(
    gates: Array = _GATES, *, forget_bias: float = FORGET_BIAS, projection: float = _PROJECTION
) -> Array:
    """One unit's cell and state, in the order i, j, f, o."""
    i, j, f, o = gates
    cell = sigmoid(f + forget_bias) * _C + sigmoid(i) * np.tanh(j)
    return np.array([cell, projection * sigmoid(o) * np.tanh(cell)])


def _by_package() -> Array:
    both = LayerWeights(
        np.array([_KERNEL, _KERNEL]), np.zeros((2, 4)), np.full((2, 1, 1), _PROJECTION)
    )
    cell, state = (np.full((2, 1, 1), value) for value in (_C, _H))
    sizes = LSTMOptions(dim=1, projection_dim=1)
    trace = layer_forward(np.full((2, 1, 1, 1), _X), both, [1], cell, state, sizes)
    return np.array([trace.cells[0, 1, 0, 0], trace.states[0, 1, 0, 0]])


_CELL, _STATE = _by_package()
_2_2 = Exercise(
    id="2.2",
    title="One step of one unit",
    section="One LSTM step by hand",
    objective="O1",
    level=1,
    minutes=10,
    question=f"""Take the step of the chapter with $x = {_X:g}$, $h = {_H:g}$, $c = {_C:g}$, no
bias, a projection of {_PROJECTION:g} and $W = \\begin{{bmatrix}}
{" & ".join(f"{w:g}" for w in _KERNEL[0])} \\\\ {" & ".join(f"{w:g}" for w in _KERNEL[1])}
\\end{{bmatrix}}$, columns in the order $i, j, f, o$.

Compute $c'$ and $h'$ with a calculator, and answer with both.""",
    hints=(
        "First the four numbers $[x, h]\\,W$. One of them goes through a tanh, and the forget gate "
        "gets 1 added.",
        "$c' = \\sigma(f + 1)\\, c + \\sigma(i) \\tanh(j)$, then "
        "$h' = \\sigma(o) \\tanh(c')$ times the projection.",
    ),
    solution_text=f"""$[i, j, f, o] = {shown(_GATES)}$. So $c' = \\sigma({_GATES[2] + 1:g}) \\cdot
{_C:g} + \\sigma({_GATES[0]:g}) \\tanh({_GATES[1]:g}) = {shown(_CELL)}$ and $h' = {_PROJECTION:g}\\,
\\sigma({_GATES[3]:g}) \\tanh({shown(_CELL)}) = {shown(_STATE)}$. Through $h$ and $c$ the token
before has its say, and nowhere else.""",
    answer=Number(
        np.array([_CELL, _STATE]),
        (
            Wrong(_step(forget_bias=0.0), "the 1 added to the forget gate is missing"),
            Wrong(
                _step(_GATES[[0, 2, 1, 3]]),
                "you read the columns as i, f, j, o: the candidate is the second",
            ),
            Wrong(_step(projection=1.0), "the projection of the state is missing"),
            Wrong(
                np.array([_CELL, _PROJECTION * sigmoid(_GATES[3]) * _CELL]),
                "the tanh of the cell is missing in the state",
            ),
            Wrong(
                _step(_X * _KERNEL[0]),
                "you left out the old state: it is the second row of the matrix",
            ),
            Wrong(_step()[::-1].copy(), "cell and state are in each other's place"),
        ),
    ),
)

# --- 2.3 ------------------------------------------------------------------------------------------

_CHANCES = ((0.5, 0.25, 0.1, 0.05), (0.2, 0.2, 0.2), (0.9, 0.01), (1.0,), (0.3, 0.6, 0.1, 0.1, 0.7))
_EVEN = 20


def _perplexity(formula: str) -> object:
    return lambda chances: MISTAKES[formula].compute(np.log(chances))


_2_3 = Exercise(
    id="2.3",
    title="Perplexity",
    section="A language model trained live",
    objective="O8",
    level=2,
    minutes=6,
    question=f"""A language model gives the tokens of a text the probabilities `chances`, `(n,)`.
Write `perplexity(chances)`, as numpy or as plain Python. Before you run it: what does it return if
every probability is one in {_EVEN}?""",
    hints=(
        "It is the exponential of the mean loss, and a token's loss is minus its log-probability.",
        "`np.exp(-np.mean(np.log(chances)))`",
    ),
    solution_text=f"""The second hint. With equal chances of one in {_EVEN} it is
{shown(right("perplexity", np.log(np.full(3, 1 / _EVEN))))}: as unsure as among so many equally
likely words. It is the geometric mean of the inverse probabilities, so one word that was thought
impossible weighs more than many that were expected. Perplexities of models that see different
things, one side of a gap or both, cannot be compared.""",
    answer=Function(
        "perplexity(chances)",
        lambda chances: right("perplexity", np.log(chances)),
        tuple((np.array(chances),) for chances in _CHANCES),
        tuple(
            Wrong(_perplexity(name), MISTAKES[name].sentence)
            for name in (
                "perplexity_of_the_sum",
                "perplexity_base_two",
                "perplexity_is_loss",
                "perplexity_of_mean_probability",
            )
        ),
    ),
)

# --- 2.4 ------------------------------------------------------------------------------------------

_WIDTH, _N_OCCURRENCES, _N_TYPES = 512, 700, 300

_2_4 = Exercise(
    id="2.4",
    title="The rank of a doubled layer",
    section="The two directions",
    objective="O1",
    level=3,
    minutes=8,
    question=f"""The released token layer has {2 * _WIDTH} columns, {_WIDTH} numbers written twice.
A text has {_N_OCCURRENCES} tokens of {_N_TYPES} types. Stack a layer's vectors to a matrix, one row
a token.

Prove an upper bound of the rank for the token layer and one for a contextual layer, as small as
these facts allow, and answer with the two bounds.""",
    hints=(
        "Equal rows add nothing to a rank, and neither do equal columns.",
        "Count the different rows and the different columns, and take the smaller number.",
    ),
    solution_text=f"""The rank is at most the number of different rows and at most the number of
different columns. Token layer: {_N_TYPES} different rows, {_WIDTH} different columns, so
{min(_N_TYPES, _WIDTH)}. Contextual layer: all {_N_OCCURRENCES} rows may differ, and all
{2 * _WIDTH} columns, since the two halves come from different stacks: {_N_OCCURRENCES}. With more
types than {_WIDTH} the token layer would stop there; the second copy never adds anything.""",
    answer=Count(
        (min(_N_TYPES, _WIDTH), _N_OCCURRENCES),
        (
            Wrong((2 * _WIDTH, 2 * _WIDTH), "a rank is at most the number of rows", "M12"),
            Wrong(
                (_WIDTH, _N_OCCURRENCES),
                "a bound, but not the smallest: tokens of one type have equal rows here",
                "M12",
            ),
            Wrong(
                (_N_OCCURRENCES, _N_OCCURRENCES),
                "the token layer's rows are equal for one type, and its columns come twice",
                "M12",
            ),
            Wrong(
                (min(_N_TYPES, _WIDTH),) * 2,
                "the contextual layer differs from occurrence to occurrence",
                "M17",
            ),
            Wrong(
                (min(_N_TYPES, _WIDTH), _WIDTH),
                "the two halves of a contextual layer are not copies of each other",
                "M12",
            ),
        ),
    ),
)

EXERCISES: Sequence[Exercise] = (_1_1, _1_2, _1_3, _2_1, _2_2, _2_3, _2_4)
