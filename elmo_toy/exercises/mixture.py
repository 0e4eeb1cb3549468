"""Exercises on chapter 3: the mixture.

Book: chapter 3, "One mixture, by hand".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.descent import loss_at
from elmo_toy.exercises.answers import Choices, Function, Number, Witness, Wrong
from elmo_toy.exercises.closeness import tolerance
from elmo_toy.exercises.exercise import Exercise, known
from elmo_toy.exercises.mistakes import mistakes_of, right
from elmo_toy.exercises.text import listed, shown
from elmo_toy.exercises.wrong_mixtures import WRONG_MIXTURES, WRONG_MIXTURES_OF_TOKENS
from elmo_toy.exercises.wrong_others import EPSILON
from elmo_toy.scalar_mix import scalar_mix
from elmo_toy.worked_example import LABELS, LAYERS, PRESETS, forward, sigmoid, state, state_at

# --- 3.1 ------------------------------------------------------------------------------------------

_RATIOS = (1, 2, 3)
_GIVEN = state_at(np.log(_RATIOS), gamma=2.0)

_3_1 = Exercise(
    id="3.1",
    title="From logits to weights",
    section="One mixture, by hand",
    objective="O2",
    level=1,
    minutes=4,
    question=f"""A task has learned the logits $a = [0, \\log {_RATIOS[1]}, \\log {_RATIOS[2]}]$ and
$\\gamma = {_GIVEN.gamma:g}$. Which weights does its mixture have?""",
    hints=(
        "The weights are the softmax of the logits. Where does gamma come in?",
        f"The exponentials are {listed(map(str, _RATIOS))}; divide them by their sum.",
    ),
    solution_text=f"""The exponentials {listed(map(str, _RATIOS))} divided by their sum
{sum(_RATIOS)}: $s = {shown(_GIVEN.forward.weights)}$. What $\\gamma$ is makes no difference to the
weights: it multiplies the mixture, after the softmax.""",
    answer=Number(
        _GIVEN.forward.weights,
        known(
            "logits_as_weights",
            "exponentials_not_divided",
            "logits_divided_by_their_sum",
            "gamma_inside_the_softmax",
            "gamma_among_the_logits",
            at=(_GIVEN,),
        ),
    ),
)

# --- 3.2 ------------------------------------------------------------------------------------------

_LOWER = state("lower", gamma=2.0)
_RIVER, _LOAN = _LOWER.forward.mixtures

_3_2 = Exercise(
    id="3.2",
    title="One mixture, by hand again",
    section="One mixture, by hand",
    objective="O2",
    level=1,
    minutes=6,
    question=f"""The chapter's two occurrences, the weights ${shown(_LOWER.forward.weights)}$ and
$\\gamma = {_LOWER.gamma:g}$. Compute $e_{{\\text{{river}}}}$ and $e_{{\\text{{loan}}}}$, and answer
with both as `[[., .], [., .]]`.""",
    hints=(
        "The same three weights for both occurrences; each coordinate by itself.",
        f"First river's sum of layers times weights, $"
        f"{shown(_RIVER / _LOWER.gamma)}$, then times gamma.",
    ),
    solution_text=f"""The sums are ${shown(_RIVER / _LOWER.gamma)}$ and
${shown(_LOAN / _LOWER.gamma)}$, and twice that is ${shown(_RIVER)}$ and ${shown(_LOAN)}$.""",
    answer=Number(
        _LOWER.forward.mixtures,
        known(*(mistake.name for mistake in mistakes_of("mixtures")), at=(_LOWER,)),
    ),
)

# --- 3.3 ------------------------------------------------------------------------------------------

_QUANTITIES = ("weights", "mixtures", "loss", "logit gradient", "penalty")

_3_3 = Exercise(
    id="3.3",
    title="One more for every logit",
    section="Where paper and code differ",
    objective="O3",
    level=1,
    minutes=3,
    question=f"""Somebody adds 1 to all three logits. Which of these change: {listed(_QUANTITIES)}?
The penalty is $\\lambda \\lVert a \\rVert^2$. Answer with a list of these words.""",
    hints=(
        "What happens to numerator and denominator of the softmax?",
        "Only what looks at the logits themselves can notice.",
    ),
    solution_text="""The penalty alone. In the softmax $e^1$ cancels, so the weights stay, and with
them everything that is made from weights: mixtures, loss, and the loss's gradient, which is
$\\gamma s_j \\sum_k \\tfrac{p_k - y_k}{2} (c_{k,j} - m_k)$. The penalty adds squares of the
logits, so it is what picks one of the many logits that describe the same mixture.""",
    answer=Choices(
        _QUANTITIES,
        frozenset({"penalty"}),
        (
            Wrong(_QUANTITIES, "a common shift cancels in the softmax", "M3"),
            Wrong(_QUANTITIES[:4], "it is the other way round: these only see the weights", "M3"),
            Wrong((), "the penalty squares the logits themselves, so it sees the shift", "M18"),
            Wrong(
                ("logit gradient", "penalty"),
                "the loss's gradient is made from weights and scores: it stays",
                "M3",
            ),
            Wrong(("weights", "penalty"), "the shift cancels in the softmax", "M3"),
        ),
    ),
)

# --- 3.4 ------------------------------------------------------------------------------------------

_TOKEN = PRESETS["token"]


def _minimum(slope: Callable[[float], float], low: float, high: float) -> float:
    """Where an increasing slope crosses 0."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return low


def _best_gamma(mixed: Array, labels: Array = LABELS) -> float:
    return _minimum(lambda gamma: float(mixed @ (sigmoid(gamma * mixed) - labels)), -20.0, 20.0)


def _least_squares(mixed: Array) -> float:
    tried = np.linspace(-5, 5, 20001)
    errors = (sigmoid(tried[:, None] * mixed) - LABELS) ** 2
    return float(tried[errors.mean(axis=1).argmin()])


_MIXED = forward(np.log(_TOKEN)).mixed_scores
BEST_GAMMA = _best_gamma(_MIXED)
_LOSSES = [float(loss_at(_TOKEN, gamma)) for gamma in (1.0, BEST_GAMMA, 2.0)]

_3_4 = Exercise(
    id="3.4",
    title="How long should the vectors be?",
    section="What gamma is, and what it isn't",
    objective="O3",
    level=2,
    minutes=10,
    question=f"""Hold the weights at the preset `token`, ${shown(_TOKEN)}$. One of the two
occurrences then has the right sign and one the wrong sign. Find the $\\gamma$ with the lowest mean
loss, to three digits. Before you search: is it above or below 1?""",
    hints=(
        "`forward(np.log(PRESETS['token']), gamma).loss` is the loss. Try many values of gamma.",
        "`gammas = np.linspace(-5, 5, 10001)`, then the argmin of the losses.",
    ),
    solution_text=f"""The mixed scores are ${shown(_MIXED)}$: river is right, loan is wrong. A
longer vector makes both more certain, which helps the one and costs the other, so there is a best
length: $\\gamma = {shown(BEST_GAMMA)}$, with loss {shown(_LOSSES[1], 4)}. At 1 it is
{shown(_LOSSES[0], 4)} and at 2 it is {shown(_LOSSES[2], 4)}. There the derivative
$\\partial\\mathcal{{L}}/\\partial\\gamma$ is zero.""",
    answer=Number(
        BEST_GAMMA,
        (
            Wrong(-BEST_GAMMA, "the sign is reversed: that is best with the labels exchanged"),
            Wrong(
                _best_gamma(right("mixtures", state("token")).sum(axis=1)),
                "you added the coordinates: the head subtracts the second from the first",
            ),
            Wrong(_least_squares(_MIXED), "that minimises the squared error, not the log loss"),
            Wrong(1.0, "that is where a mixture starts, not where this loss is lowest", "M5"),
            Wrong(2.0, "longer is not better: one of the two signs is wrong", "M5"),
            Wrong(0.0, "that is no opinion at all; a little one is better here"),
        ),
    ),
)

# --- 3.5 ------------------------------------------------------------------------------------------

_RNG = np.random.default_rng(35)
_MIX_PROBES = tuple(
    (_RNG.normal(size=(2, 3, 3, 4)), _RNG.normal(size=3), gamma) for gamma in (1.0, 2.0, -0.5)
)


_3_5 = Exercise(
    id="3.5",
    title="The mixture in code",
    section="The same mixture, by code",
    objective="O5",
    level=2,
    minutes=12,
    question="""Write `mix(layers, logits, gamma)` with numpy alone: layers `(batch, layers, tokens,
dim)`, logits `(layers,)`, result `(batch, tokens, dim)`.""",
    hints=(
        "First the weights. Then a sum over axis 1, which is the axis of layers.",
        "`np.einsum('j,bjtd->btd', weights, layers)`, times gamma.",
    ),
    solution_text="""

```python
def mix(layers, logits, gamma):
    weights = np.exp(logits - np.max(logits))
    weights = weights / weights.sum()
    return gamma * np.einsum("j,bjtd->btd", weights, layers)
```

Subtracting the largest logit changes nothing and keeps the exponentials from overflowing.""",
    answer=Function(
        "mix(layers, logits, gamma)",
        lambda layers, logits, gamma: scalar_mix(layers, logits, gamma),
        _MIX_PROBES,
        (*WRONG_MIXTURES, *WRONG_MIXTURES_OF_TOKENS),
    ),
)

# --- 3.6 ------------------------------------------------------------------------------------------

_NORM_PROBES = tuple((_RNG.normal(1.0, 2.0, size=(2, 3, 4, 5)),) for _ in range(2))

_3_6 = Exercise(
    id="3.6",
    title="The layer norm of the mixture",
    section="Where paper and code differ",
    objective="O5",
    level=2,
    minutes=12,
    question=f"""Before mixing, the released code may normalise. Write `normalise(layers)`, for
`(batch, layers, tokens, dim)` without a mask: each layer less its mean, divided by the root of its
variance plus epsilon, with one mean and one population variance for a layer. Take an epsilon of
{EPSILON:g}, large enough for its place to show.""",
    hints=(
        "Over which axes does a mean run that one layer shares with no other?",
        "`layers.mean(axis=(0, 2, 3), keepdims=True)`, and `var` with the same arguments.",
    ),
    solution_text=f"""

```python
def normalise(layers):
    mean = layers.mean(axis=(0, 2, 3), keepdims=True)
    variance = layers.var(axis=(0, 2, 3), keepdims=True)
    return (layers - mean) / np.sqrt(variance + {EPSILON:g})
```

All tokens of a batch share the two numbers. That is how, with the layer norm and only with it, a
token's mixture depends on another token's layers.""",
    answer=Function(
        "normalise(layers)",
        lambda layers: right("layer norm", layers),
        _NORM_PROBES,
        tuple(
            Wrong(mistake.compute, mistake.sentence, mistake.misconception)
            for mistake in mistakes_of("layer norm")
        ),
    ),
)

# --- 3.7 ------------------------------------------------------------------------------------------

_VECTORS = {
    "A": (2, 3, 5),
    "B": (0, -1, 1),
    "C": (-2, -5, -4),
    "D": (0, 0, 0),
    "E": (1, 0, 1),
}

_3_7 = Exercise(
    id="3.7",
    title="What a mixture can reach",
    section="Gamma times the weights is one vector",
    objective="O3",
    level=3,
    minutes=8,
    question=f"""Only $g = \\gamma s$ enters a mixture. Which of these vectors are $\\gamma s$ for
some finite logits and some $\\gamma$, in exact arithmetic?
{listed(f"{name}: ${list(g)}$" for name, g in _VECTORS.items())}. Give the letters, and prove that
the others cannot be reached.""",
    hints=(
        "Finite logits make every weight positive. Which signs can the three coordinates have?",
        "All have the sign of gamma. If one is zero, gamma is, and so are all.",
    ),
    solution_text=f"""$g_j = \\gamma s_j$ with every $s_j > 0$, so all coordinates have the sign of
$\\gamma$. A: $\\gamma$ is the sum, {sum(_VECTORS["A"])}, and the weights are $g / \\gamma$. C: the
same, with $\\gamma = {sum(_VECTORS["C"])}$. D: $\\gamma = 0$ with any weights. B has mixed signs
and E a zero beside numbers that are not: neither is reached. (On a computer E can be, once an
exponential underflows; in exact arithmetic it is a limit.) B is "what the upper layer adds to the
lower one".""",
    answer=Choices(
        tuple(_VECTORS),
        frozenset("ACD"),
        (
            Wrong(("A", "D"), "gamma may be negative", "M5"),
            Wrong(("A",), "gamma may be negative, and it may be zero", "M5"),
            Wrong(("A", "C"), "gamma may be zero"),
            Wrong(("A", "C", "D", "E"), "a weight of zero takes a logit of minus infinity", "M14"),
            Wrong(("A", "B", "C", "D"), "the three coordinates have one sign, gamma's", "M4"),
            Wrong(tuple(_VECTORS), "not everything: all coordinates have gamma's sign", "M4"),
            Wrong(("A", "D", "E"), "gamma may be negative, and no weight is exactly zero", "M14"),
        ),
    ),
)

# --- 3.8 ------------------------------------------------------------------------------------------

_OTHER_HEAD = np.array([1.0, 1.0])
_OTHER_SCORES = LAYERS[:, :, 0] @ _OTHER_HEAD  # (2, 3)
_START = PRESETS["upper"]
_TARGET = _OTHER_SCORES @ _START
_UNSEEN = np.cross(*_OTHER_SCORES) / 3  # what this head cannot see: (-2, 1, 0)
_T = -0.24
_MOVED = _START + _T * _UNSEEN
_FOUND = np.append(_MOVED / _MOVED.sum(), _MOVED.sum())
_CHAPTERS = _START + 0.3 * np.array([2.0, 5.0, 4.0])

_NOT_WEIGHTS = "the first three have to be positive weights with sum one, gamma comes fourth"
_OTHER_PREDICTIONS = "the scores are not the same, so the predictions differ"
_STILL_UPPER = "the largest weight has to be the token layer's, the first"


def _other_explanation(answer: Array) -> str | None:
    weights, gamma = answer[:3], answer[3]
    if (weights <= 0).any() or abs(weights.sum() - 1) > 2e-3:
        return _NOT_WEIGHTS
    if np.abs(gamma * _OTHER_SCORES @ weights - _TARGET).max() > 2 * tolerance(_TARGET):
        return _OTHER_PREDICTIONS
    if weights.argmax() != 0:
        return _STILL_UPPER
    return None


_3_8 = Exercise(
    id="3.8",
    title="The same predictions, another important layer",
    section="A large weight is not an importance",
    objective="O6",
    level=3,
    minutes=15,
    question=f"""Let another head read the mixtures, $w = {shown(_OTHER_HEAD)}$. At the weights
${shown(_START)}$ with $\\gamma = 1$ its two scores are ${shown(_TARGET)}$, and the upper layer has
the largest weight. Find weights and a $\\gamma$ with the same two scores, where the *token* layer
has the largest weight. Answer with $[s_0, s_1, s_2, \\gamma]$, to three digits or more.""",
    hints=(
        "What does this head see of each layer? Find a direction of $\\gamma s$ that changes "
        "neither score.",
        f"The layer scores are ${shown(_OTHER_SCORES[0])}$ for river and "
        f"${shown(_OTHER_SCORES[1])}$ for loan; orthogonal to both is ${shown(_UNSEEN)}$. "
        "Walk along it while all three coordinates stay positive.",
    ),
    solution_text=f"""From $g = {shown(_START)}$ take a step of ${shown(_T)}$ along
${shown(_UNSEEN)}$: $g = {shown(_MOVED)}$. Its sum is $\\gamma = {shown(_FOUND[3])}$, and $s = g /
\\gamma = {shown(_FOUND[:3])}$. Both scores, both probabilities and the loss are what they were. The
token layer is the same for both occurrences and cannot tell them apart by itself, and yet it has
the largest weight now: with a free scale, weights do not say what predictions rest on.""",
    answer=Witness(
        (4,),
        _other_explanation,
        _FOUND,
        (
            Wrong(np.append(_MOVED, _MOVED.sum()), _NOT_WEIGHTS),
            Wrong(
                np.append(_CHAPTERS / _CHAPTERS.sum(), _CHAPTERS.sum()), _OTHER_PREDICTIONS, "M9"
            ),
            Wrong(np.append(_START, 1.0), _STILL_UPPER, "M9"),
        ),
    ),
)

#: Weights and gamma; used by the exercise on a forgotten term in `gradient`.
STATIONARY = np.append(_TOKEN, BEST_GAMMA)

EXERCISES: Sequence[Exercise] = (_3_1, _3_2, _3_3, _3_4, _3_5, _3_6, _3_7, _3_8)
