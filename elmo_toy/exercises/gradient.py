"""Exercises on chapter 4: the gradient, one step and many.

Book: chapter 4, "The derivation".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.descent import (
    LAYER_SCORES,
    Point,
    descend,
    gradients_at,
    loss_at,
    rate_without_progress,
    step_on_logits,
    step_on_weights_with_logit_gradient,
)
from elmo_toy.exercises.answers import Function, Number, Witness, Wrong
from elmo_toy.exercises.exercise import Exercise, known
from elmo_toy.exercises.mistakes import MISTAKES, mistakes_of
from elmo_toy.exercises.mixture import STATIONARY
from elmo_toy.exercises.text import shown
from elmo_toy.gradient_check import central_difference, forward_difference
from elmo_toy.scalar_mix import logit_penalty
from elmo_toy.worked_example import LABELS, PRESETS, state, state_at

# --- 4.1 ------------------------------------------------------------------------------------------

_TOKEN = state("token", gamma=2.0)
_RIVER_Z, _LOAN_Z = (f"{score:g}" for score in _TOKEN.forward.scores.round(9))

_4_1 = Exercise(
    id="4.1",
    title="The loss of one state",
    section="A loss to differentiate",
    objective="O2",
    level=1,
    minutes=6,
    question=f"""Weights ${shown(_TOKEN.forward.weights)}$ (the preset `token`) and $\\gamma =
{_TOKEN.gamma:g}$: compute the two scores and the mean loss. Answer with the loss, to three digits.
The labels are {LABELS[0]:g} for river and {LABELS[1]:g} for loan.""",
    hints=(
        "A layer's score is its first coordinate less its second. Mix the scores, then scale.",
        f"The scores are {_RIVER_Z} and {_LOAN_Z}; the losses are $\\log(1 + e^{{-z}})$ for label "
        "1 and $\\log(1 + e^z)$ for label 0.",
    ),
    solution_text=f"""Scores {_RIVER_Z} and {_LOAN_Z}: river on the right side, loan on the wrong
one. The losses are ${shown(_TOKEN.forward.losses)}$, natural logarithms, and their mean is
{shown(_TOKEN.forward.loss)}.""",
    answer=Number(
        _TOKEN.forward.loss,
        known(*(mistake.name for mistake in mistakes_of("loss")), at=(_TOKEN,)),
    ),
)

# --- 4.2 ------------------------------------------------------------------------------------------

_4_2 = Exercise(
    id="4.2",
    title="Three derivatives by hand",
    section="Two occurrences, one gradient",
    objective="O4",
    level=1,
    minutes=12,
    question=f"""The state of exercise 4.1: weights ${shown(_TOKEN.forward.weights)}$ and $\\gamma =
{_TOKEN.gamma:g}$. The layer scores are ${shown(LAYER_SCORES[0])}$ for river and
${shown(LAYER_SCORES[1])}$ for loan, and the probabilities ${shown(_TOKEN.forward.probabilities)}$.
Compute the three derivatives $\\partial\\mathcal{{L}}/\\partial a_j$ with a calculator. Before you
start: what will they add up to?""",
    hints=(
        "For each occurrence: $(p_k - y_k)/2$, times $\\gamma s_j (c_{k,j} - m_k)$. Then add both.",
        f"The mixed scores are $m = {shown(_TOKEN.forward.mixed_scores)}$.",
    ),
    solution_text=f"""River sends ${shown(_TOKEN.logit_contributions[0])}$ and loan
${shown(_TOKEN.logit_contributions[1])}$; the sum is ${shown(_TOKEN.logit_gradient)}$, and its three
numbers add up to zero, but for rounding. Without the $-m_k$ they add up to
{shown(MISTAKES["without_m"].compute(_TOKEN).sum())}, which is $\\gamma\\,
\\partial\\mathcal{{L}}/\\partial\\gamma$.""",
    answer=Number(
        _TOKEN.logit_gradient,
        known(*(mistake.name for mistake in mistakes_of("logit gradient")), at=(_TOKEN,)),
    ),
)

# --- 4.3 ------------------------------------------------------------------------------------------

_RNG = np.random.default_rng(43)
_GRADIENT_PROBES = tuple((_RNG.normal(size=3), gamma) for gamma in (1.5, -0.7, 2.5))


def _by_state(compute: Callable[..., Array]) -> Callable[..., Array]:
    return lambda logits, gamma: compute(state_at(logits, gamma))


_4_3 = Exercise(
    id="4.3",
    title="The gradient in code",
    section="The derivation",
    objective="O5",
    level=2,
    minutes=15,
    question=f"""Write `gradient(logits, gamma)`, the three derivatives of the mean loss of the
worked example, with numpy alone. The layer scores are `c =
np.array({LAYER_SCORES.astype(int).tolist()})` and the labels `y =
np.array({LABELS.astype(int).tolist()})`.""",
    hints=(
        "Weights, mixed scores `m` `(2,)`, probabilities `p` `(2,)`; then one line.",
        "`gamma * s * ((p - y) / 2 @ (c - m[:, None]))`",
    ),
    solution_text=f"""

```python
def gradient(logits, gamma):
    c = np.array({LAYER_SCORES.astype(int).tolist()})
    y = np.array({LABELS.astype(int).tolist()})
    s = np.exp(logits) / np.exp(logits).sum()
    m = c @ s
    p = 1 / (1 + np.exp(-gamma * m))
    return gamma * s * ((p - y) / 2 @ (c - m[:, None]))
```

A falling loss would not have told you that it is right: compare it with differences of the
loss.""",
    answer=Function(
        "gradient(logits, gamma)",
        _by_state(lambda s: s.logit_gradient),
        _GRADIENT_PROBES,
        tuple(
            Wrong(_by_state(mistake.compute), mistake.sentence, mistake.misconception)
            for mistake in mistakes_of("logit gradient")
        ),
    ),
)

# --- 4.4 ------------------------------------------------------------------------------------------

_STEP = state("lower", gamma=1.0, learning_rate=0.5)

_4_4 = Exercise(
    id="4.4",
    title="One step, by hand",
    section="One step",
    objective="O3",
    level=1,
    minutes=8,
    question=f"""Weights ${shown(_STEP.forward.weights)}$ and $\\gamma = {_STEP.gamma:g}$. The logit
gradient is ${shown(_STEP.logit_gradient)}$. Take one step of gradient descent with the rate
{_STEP.learning_rate:g}. Which weights does the mixture have afterwards?""",
    hints=(
        "Which numbers does a step subtract the gradient from? They are not the weights.",
        "The new logits are $\\log s_j$ less the rate times the derivative. Or multiply: each "
        "weight by $e^{-\\eta\\, \\partial\\mathcal{L}/\\partial a_j}$, then divide by the sum.",
    ),
    solution_text=f"""The logits become ${shown(_STEP.updated_logits)}$, and their softmax is
${shown(_STEP.updated.weights)}$. Subtracting the gradient from the weights themselves would give
${shown(MISTAKES["stepped_on_weights"].compute(_STEP))}$: the sum is one as well, and it is another
update, which turns a weight negative at a larger rate.""",
    answer=Number(
        _STEP.updated.weights,
        known(*(mistake.name for mistake in mistakes_of("updated weights")), at=(_STEP,)),
    ),
)

# --- 4.5 ------------------------------------------------------------------------------------------


def _polynomial(x: Array) -> float:
    return float(x[0] ** 3 + 2 * x[0] * x[1] + x[-1] ** 4)


_POINT = np.array([0.7, -1.2, 0.4])
_DIFFERENCE_PROBES = tuple((_polynomial, _POINT, step) for step in (0.1, 0.5))

_4_5 = Exercise(
    id="4.5",
    title="Central differences",
    section="Error against step size",
    objective="O5",
    level=2,
    minutes=10,
    question="""Write `central(f, x, step)`: all derivatives of `f` at `x`, an array of any length,
by central differences, one coordinate after the other. It is tried with large steps, so that its
error shows.""",
    hints=(
        "Copy `x`, move one coordinate up, evaluate; copy again, move it down, evaluate.",
        "`(f(up) - f(down)) / (2 * step)` for each coordinate.",
    ),
    solution_text="""

```python
def central(f, x, step):
    slopes = []
    for i in range(len(x)):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        slopes.append((f(up) - f(down)) / (2 * step))
    return np.array(slopes)
```

The error is of order `step` squared; a one-sided difference has one of order `step`.""",
    answer=Function(
        "central(f, x, step)",
        central_difference,
        _DIFFERENCE_PROBES,
        (
            Wrong(forward_difference, "that is a one-sided difference: move down as well"),
            Wrong(
                lambda f, x, step: (
                    2 * central_difference(f, x, step) - forward_difference(f, x, step)
                ),
                "that is a one-sided difference: move up as well",
            ),
            Wrong(
                lambda f, x, step: 2 * central_difference(f, x, step),
                "divide by twice the step: up and down are that far apart",
            ),
            Wrong(
                lambda f, x, step: -central_difference(f, x, step),
                "the sign is reversed: up less down",
            ),
            Wrong(
                lambda f, x, step: 2 * step * central_difference(f, x, step),
                "you did not divide by the step",
            ),
        ),
    ),
)

# --- 4.6 ------------------------------------------------------------------------------------------

_AT = PRESETS["lower"], 2.0
_RATE = rate_without_progress(*_AT, 1.0, 5.0)
_TURNS = 2.0 / float(gradients_at(*_AT).gamma)


def _lowest() -> float:
    """The rate after whose step the loss is lowest: it falls before it, and rises after."""
    low, high = 0.0, _RATE
    while high - low > 1e-6:
        third = (high - low) / 3
        left, right = (step_on_logits(*_AT, rate).loss for rate in (low + third, high - third))
        low, high = (low, high - third) if left < right else (low + third, high)
    return low


def _first_rise(step: Callable[..., Point]) -> float:
    """The rate at which a step first leaves the loss where it was."""
    before = loss_at(*_AT)
    high = next(rate for rate in np.arange(0.05, 20, 0.05) if step(*_AT, rate).loss > before)
    low = high - 0.05
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if step(*_AT, middle).loss < before else (low, middle)
    return float(low)


_4_6 = Exercise(
    id="4.6",
    title="The rate that is too large",
    section="When a step fails",
    objective="O3",
    level=2,
    minutes=10,
    question=f"""From the preset `lower`, ${shown(_AT[0])}$, with $\\gamma = {_AT[1]:g}$: above
which rate does one step on logits and $\\gamma$ together no longer lower the loss? To three digits.
At $\\gamma = 1$ it was {shown(rate_without_progress(_AT[0], 1.0, 1.0, 5.0))}; will it be larger or
smaller here?""",
    hints=(
        "`descent.step_on_logits(weights, gamma, rate).loss` is the loss after a step.",
        "Try many rates and look for the first whose loss is not below the loss before the step; "
        "or ask `descent.rate_without_progress`.",
    ),
    solution_text=f"""At a rate of {shown(_TURNS)} the new $\\gamma$ is zero, and beyond it the
mixture is reversed. The loss is back where it was at {shown(_RATE)}. So a step that helped at one
rate need not help at another, and a falling loss at a small rate says nothing about large ones.""",
    answer=Number(
        _RATE,
        (
            Wrong(
                _lowest(),
                "that is where the loss after the step is lowest: look for where it is back at "
                "the loss before the step",
            ),
            Wrong(_TURNS, "that is where gamma changes its sign: the loss is still lower there"),
            Wrong(
                rate_without_progress(_AT[0], 1.0, 1.0, 5.0),
                "that is the rate for gamma 1",
                "M16",
            ),
            Wrong(
                _first_rise(step_on_weights_with_logit_gradient),
                "you stepped on the weights: step on the logits, then take the softmax again",
                "M7",
            ),
        ),
    ),
)

# --- 4.7 ------------------------------------------------------------------------------------------

_NOT_WEIGHTS = "the first three have to be positive weights with sum one, gamma comes fourth"
_EQUAL = "those are the equal weights of the chapter: look for others"
_NO_GAMMA = "at gamma 0 every logit derivative is 0, right or wrong: look for another gamma"
_SEEN = "here the derivatives add up to something without the m, so it would be noticed"
_NEVER_ZERO = (
    "the loss is nowhere stationary in gamma here: both signs are right, or both are wrong"
)


def _hides_the_mistake(answer: Array) -> str | None:
    weights, gamma = answer[:3], answer[3]
    if (weights <= 0).any() or abs(weights.sum() - 1) > 2e-3:
        return _NOT_WEIGHTS
    if np.ptp(weights) < 2e-3:
        return _EQUAL
    if abs(gamma) < 2e-3:
        return _NO_GAMMA
    # Not the sum itself, gamma times this: it is small wherever gamma is.
    if abs(gradients_at(weights, gamma).gamma) > 2e-3:
        return _SEEN
    # A saturated loss has a derivative that is small and never 0.
    positive = LAYER_SCORES @ weights > 0
    return _NEVER_ZERO if len({*(positive == LABELS)}) == 1 else None


_4_7 = Exercise(
    id="4.7",
    title="Where a forgotten term hides",
    section="Falling loss verifies nothing",
    objective="O4",
    level=3,
    minutes=15,
    question="""The chapter showed that at equal weights forgetting $-m_k$ changes nothing in the
first step. Prove for which states the forgotten term changes the gradient by *nothing at all*, so
that even the sum of the three derivatives is zero, and give such a state with unequal weights and a
$\\gamma$ that is not zero. Answer with $[s_0, s_1, s_2, \\gamma]$, to three digits or more.""",
    hints=(
        "By how much do the right and the wrong derivative of one logit differ?",
        "By $\\gamma s_j\\, \\partial\\mathcal{L}/\\partial\\gamma$. When is that 0 for all $j$?",
    ),
    solution_text=f"""The wrong derivative less the right one is $\\gamma s_j \\sum_k \\tfrac{{p_k -
y_k}}{{2}} m_k = \\gamma s_j\\, \\partial\\mathcal{{L}}/\\partial\\gamma$. As $s_j > 0$ it vanishes
for all $j$ if and only if $\\gamma = 0$ or $\\gamma$ is where the loss is stationary in it. For the
weights ${shown(STATIONARY[:3])}$ that is $\\gamma = {shown(STATIONARY[3])}$, the answer of exercise
3.4. A test of a gradient at one well chosen point proves little: take several, and none where
something is zero.""",
    answer=Witness(
        (4,),
        _hides_the_mistake,
        STATIONARY,
        (
            Wrong(np.array([1 / 3, 1 / 3, 1 / 3, 1.0]), _EQUAL, "M6"),
            Wrong(np.array([0.2, 0.3, 0.5, 0.0]), _NO_GAMMA),
            Wrong(np.array([0.2, 0.3, 0.5, 1.0]), _SEEN, "M6"),
            Wrong(np.array([0.1, 0.1, 0.8, 20.0]), _NEVER_ZERO),
            Wrong(np.array([0.6, 0.2, 0.3, 0.8]), _NOT_WEIGHTS),
        ),
    ),
)

# --- 4.8 ------------------------------------------------------------------------------------------

_MANY, _MANY_RATE = 1000, 0.5


def _weights_after(gamma: float, *, train_gamma: bool = True) -> Array:
    start = [PRESETS["token"]]
    run = descend(start, [gamma], _MANY, _MANY_RATE, train_gamma=train_gamma)
    weights: Array = run.weights[-1, 0]
    return weights


_END, _OTHER_END = _weights_after(-1.0), _weights_after(1.0)

_4_8 = Exercise(
    id="4.8",
    title="The same loss from the other side",
    section="Many steps",
    objective="O6",
    level=2,
    minutes=8,
    question=f"""Start at the preset `token` with $\\gamma = -1$ and take {_MANY} steps with the
rate {_MANY_RATE:g} by `descent.descend`. Which weights does the run end with? Before you run it:
which layer will have the largest, and with $\\gamma = +1$ at the start?""",
    hints=(
        "With a negative gamma a layer helps if its scores have the *wrong* signs.",
        "`run = descent.descend([PRESETS['token']], [-1], steps, rate)`; the last weights are "
        "`run.weights[-1, 0]`.",
    ),
    solution_text=f"""From $\\gamma = -1$ the weights end at ${shown(_END)}$, from $+1$ at
${shown(_OTHER_END)}$, with nearly the same loss. The lower contextual layer has the scores
${shown(LAYER_SCORES[:, 1])}$, wrong for both labels, and a negative $\\gamma$ turns them round.
Which layer is "the important one" was decided by a sign at the start.""",
    answer=Number(
        _END,
        (
            Wrong(_OTHER_END, "that is the run from gamma +1", "M19"),
            Wrong(_weights_after(-1.0, train_gamma=False), "gamma has to learn as well"),
            Wrong(np.array(PRESETS["token"]), "those are the weights at the start"),
        ),
    ),
)

# --- 4.9 ------------------------------------------------------------------------------------------

_LOGITS = np.array([1.0, 2.0, 6.0])
_STRENGTH = 0.1
_SHIFT = -float(_LOGITS.mean())

_4_9 = Exercise(
    id="4.9",
    title="What the penalty picks",
    section="The penalty, and why a free gamma undoes it",
    objective="O3",
    level=1,
    minutes=5,
    question=f"""Add one number $t$ to all of the logits ${shown(_LOGITS)}$, and the weights stay.
For which $t$ is the penalty $\\lambda \\lVert a \\rVert^2$ smallest, with $\\lambda =
{_STRENGTH:g}$?""",
    hints=(
        "Write the penalty as a function of $t$ and differentiate it.",
        "$\\sum_j (a_j + t) = 0$.",
    ),
    solution_text=f"""The derivative $2\\lambda \\sum_j (a_j + t)$ is zero at minus the mean, $t =
{_SHIFT:g}$, whatever $\\lambda$. The penalty falls from {shown(logit_penalty(_LOGITS, _STRENGTH))}
to {shown(logit_penalty(_LOGITS + _SHIFT, _STRENGTH))}. The loss does not care, so training with the
penalty ends at logits with sum zero: it picks one of the many descriptions of a mixture.""",
    answer=Number(
        _SHIFT,
        (
            Wrong(-_SHIFT, "the sign is reversed"),
            Wrong(
                -float(_LOGITS.max()),
                "that shift is the one that keeps a softmax from overflowing",
            ),
            Wrong(0.0, "the weights don't see the shift, the penalty does", "M18"),
            Wrong(-float(_LOGITS.sum()), "minus the sum: divide by the number of logits"),
            Wrong(-float(np.median(_LOGITS)), "that minimises absolute values, not squares"),
            Wrong(
                _SHIFT * _STRENGTH, "the strength scales the penalty and does not move its minimum"
            ),
        ),
    ),
)

# --- 4.10 -----------------------------------------------------------------------------------------

_GAMMA = 3.0
_RIVER = LAYER_SCORES[0]
_BOUND = _GAMMA * float(np.ptp(_RIVER)) / 4

_4_10 = Exercise(
    id="4.10",
    title="How fast can a score move?",
    section="The derivation",
    objective="O4",
    level=3,
    minutes=15,
    question=f"""River's layer scores are ${shown(_RIVER)}$, and $\\gamma = {_GAMMA:g}$. Prove a
bound of $|\\partial z / \\partial a_j|$ that holds for every $j$ and all logits, the smallest one
that does, and give it as a number.""",
    hints=(
        "Write $c_j - m$ with the mean of the *other* layers: $m$ contains $s_j c_j$ itself.",
        "$c_j - m = (1 - s_j)(c_j - \\bar c)$, where $\\bar c$ is a weighted mean of the other "
        "scores. How large can $s_j (1 - s_j)$ be?",
    ),
    solution_text=f"""$\\partial z / \\partial a_j = \\gamma s_j (1 - s_j)(c_j - \\bar c)$. The
middle factor is at most a quarter, at $s_j = \\tfrac12$; the last is at most the range of the
scores, {np.ptp(_RIVER):g}. So the bound is $\\gamma$ times the range divided by four:
{shown(_BOUND)}. It is approached with half of the weight on the highest score and nearly half on
the lowest, which are those of the upper and the lower contextual layer, and never reached, since
the third weight is positive.""",
    answer=Number(
        _BOUND,
        (
            Wrong(4 * _BOUND, "the factor $s_j (1 - s_j)$ is missing: it is at most a quarter"),
            Wrong(2 * _BOUND, "$s_j (1 - s_j)$ is at most a quarter, not a half"),
            Wrong(_BOUND / _GAMMA, "gamma left out"),
            Wrong(
                _GAMMA * float(np.abs(_RIVER).max()) / 4,
                "that is the largest score: what counts is a difference of two",
                "M6",
            ),
        ),
    ),
)

EXERCISES: Sequence[Exercise] = (_4_1, _4_2, _4_3, _4_4, _4_5, _4_6, _4_7, _4_8, _4_9, _4_10)
