"""Exercises on chapters 5 and 6: the task, and what was measured.

Book: chapter 5, "What is frozen, what is learned".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from elmo_toy._checks import Array
from elmo_toy.exercises.answers import Choices, Count, Function, Number, Witness, Wrong
from elmo_toy.exercises.exercise import Exercise, as_share, in_per_cent, known
from elmo_toy.exercises.mistakes import right
from elmo_toy.exercises.text import listed, shown
from elmo_toy.reported import find, get
from elmo_toy.worked_example import HEAD, LAYERS, PRESETS, log_loss, state

# --- 5.1 ------------------------------------------------------------------------------------------

_MIXTURES, _LAYERS, _TAGGER, _BILM = 2, 3, 5_000, 1_000_000

_5_1 = Exercise(
    id="5.1",
    title="How many numbers learn?",
    section="What is frozen, what is learned",
    objective="O7",
    level=1,
    minutes=4,
    question=f"""A tagger of {_TAGGER:,} parameters uses `Elmo(..., requires_grad=False,
num_output_representations={_MIXTURES})` over a language model with {_BILM:,} parameters and
{_LAYERS} layers. How many numbers does training change?""",
    hints=(
        "What does the flag stop, and what lies above the place where it stops it?",
        f"The tagger's, and for each of {_MIXTURES} mixtures its logits and its gamma.",
    ),
    solution_text=f"""{_TAGGER:,} of the tagger and {_MIXTURES} times ({_LAYERS} logits and one
$\\gamma$): {_TAGGER + _MIXTURES * (_LAYERS + 1):,}. Freezing stops the gradient at the layers; the
mixtures and the tagger stand above them.""",
    answer=Count(
        _TAGGER + _MIXTURES * (_LAYERS + 1),
        (
            Wrong(_TAGGER, "frozen is the language model: the mixtures learn", "M10"),
            Wrong(0, "frozen is the language model: mixtures and tagger learn", "M10"),
            Wrong(
                _TAGGER + _LAYERS + 1,
                f"{_MIXTURES} outputs are {_MIXTURES} mixtures, each with numbers of its own",
                "M11",
            ),
            Wrong(_TAGGER + _MIXTURES * _LAYERS, "each mixture has a gamma too"),
            Wrong(
                _TAGGER + _BILM + _MIXTURES * (_LAYERS + 1), "the language model is frozen", "M10"
            ),
            Wrong(_MIXTURES * (_LAYERS + 1), "the tagger learns as well"),
        ),
    ),
)

# --- 5.2 ------------------------------------------------------------------------------------------

_FILES = ("character ids", "token vectors", "all layers", "finished mixture")

_5_2 = Exercise(
    id="5.2",
    title="Which file?",
    section="Three caches",
    objective="O7",
    level=1,
    minutes=4,
    question=f"""A frozen model, a fixed set of sentences, many training runs with many mixtures.
The language model is not to be run again, and logits and $\\gamma$ are to be learned. Which of
these files are enough: {listed(_FILES)}? Answer with a list of these words.""",
    hints=(
        "What does the derivative of a logit need to know of each layer?",
        "Two of them still need the language model, and one no longer has its parts.",
    ),
    solution_text="""All layers, and nothing else. From ids or token vectors the contextual layers
would have to be computed, by the language model. A finished mixture is a sum, and the derivative of
a logit needs what each layer scores by itself; from a sum only $\\gamma$ can still be learned.""",
    answer=Choices(
        _FILES,
        frozenset({"all layers"}),
        (
            Wrong(("finished mixture",), "a sum doesn't remember its parts: no logit can learn"),
            Wrong(
                ("all layers", "finished mixture"),
                "of a finished mixture only gamma can still be learned",
            ),
            Wrong(
                ("token vectors", "all layers"),
                "token vectors leave the contextual layers to be computed",
                "M17",
            ),
            Wrong(("token vectors",), "a spelling has one token vector, and no one context", "M17"),
            Wrong(_FILES[:3], "from ids and token vectors the language model has to run again"),
            Wrong(("character ids",), "from ids everything has to be computed again"),
        ),
    ),
)

# --- 5.3 ------------------------------------------------------------------------------------------

_RNG = np.random.default_rng(53)
_LENGTHS = np.array([5, 2, 3])
_MASK = np.arange(5) < _LENGTHS[:, None]
_LOSSES = np.where(_MASK, _RNG.uniform(0, 2, size=(3, 5)), 7.0)  # what stands there is no loss
_MASK_PROBES = (
    (_LOSSES, _MASK),
    (_LOSSES[1:], _MASK[1:]),
    (_RNG.uniform(0, 2, size=(3, 5)), _MASK),
)

_5_3 = Exercise(
    id="5.3",
    title="A mean over tokens",
    section="Padding and boundaries",
    objective="O7",
    level=2,
    minutes=6,
    question="""Write `mean_loss(losses, mask)`: losses `(sentences, tokens)`, mask of the same
shape, True where there is a token. Each token counts once, whatever stands at the padding.""",
    hints=(
        "What has to be left out of the sum, and what of the number that it is divided by?",
        "`losses[mask].mean()`",
    ),
    solution_text="""`losses[mask].mean()`. A mean over all positions depends on how long the
longest sentence of the batch is; a mean of the sentences' means lets a token of a short sentence
count for more.""",
    answer=Function(
        "mean_loss(losses, mask)",
        lambda losses, mask: losses[mask].mean(),
        _MASK_PROBES,
        (
            Wrong(lambda losses, mask: losses.mean() + 0 * mask.sum(), "you counted the padding"),
            Wrong(
                lambda losses, mask: (losses * mask).mean(),
                "you divided by all positions: divide by the number of tokens",
            ),
            Wrong(lambda losses, mask: losses[mask].sum(), "that is the sum, not the mean"),
            Wrong(
                lambda losses, mask: ((losses * mask).sum(axis=1) / mask.sum(axis=1)).mean(),
                "you averaged the sentences' means: a token of a short sentence counts for more",
            ),
            Wrong(
                lambda losses, mask: losses[~mask].mean(),
                "you turned the mask round: True is a token",
            ),
        ),
    ),
)

# --- 5.4 ------------------------------------------------------------------------------------------

_WEIGHTS = PRESETS["upper"]
_RIVER = LAYERS[0, :, 0]
_E = _WEIGHTS @ _RIVER


def _slopes(layers: Array) -> Array:
    """``dz/da_j`` at gamma 1."""
    scores = layers @ HEAD
    slopes: Array = _WEIGHTS * (scores - _WEIGHTS @ scores)
    return slopes


_OTHER_MIXTURE = "the mixture of these layers is another one"
_OWN = "those are river's own layers: others were asked for"
_SAME_SLOPES = "the derivatives of the score by the logits are the same as river's"


def _remembers_nothing(layers: Array) -> str | None:
    if np.abs(layers - _RIVER).max() < 0.01:
        return _OWN
    if np.abs(_WEIGHTS @ layers - _E).max() > 0.01:
        return _OTHER_MIXTURE
    return _SAME_SLOPES if np.abs(_slopes(layers) - _slopes(_RIVER)).max() < 0.01 else None


_FORGOTTEN = np.array([_E, _E, _E])

_5_4 = Exercise(
    id="5.4",
    title="A sum forgets its parts",
    section="Three caches",
    objective="O4",
    level=3,
    minutes=10,
    question=f"""Prove that from a finished mixture the derivatives with respect to the logits
cannot be computed: give three layers, two coordinates each, that have river's mixture ${shown(_E)}$
at the weights ${shown(_WEIGHTS)}$ and $\\gamma = 1$, but other derivatives $\\partial z / \\partial
a_j$ with the head ${shown(HEAD)}$ than river's ${shown(_slopes(_RIVER))}$. Answer with `[[., .],
[., .], [., .]]`.""",
    hints=(
        "Add something to one layer and take it back from another, so that the sum stays.",
        "Or make all three layers equal: what is the derivative then?",
    ),
    solution_text=f"""The plainest example: three times ${shown(_E)}$. The mixture is the same, and
as every layer scores what the mixture scores, all three derivatives are zero. One mixture, two sets
of derivatives: there is no function from the one to the other. To give one layer and take from
another along $[1, 1]$, to which this head is blind, would not do: the scores stay, and with them
the derivatives.""",
    answer=Witness(
        (3, 2),
        _remembers_nothing,
        _FORGOTTEN,
        (
            Wrong(_RIVER, _OWN),
            Wrong(_RIVER + np.outer([0.5, 0, -0.2], [1, 1]), _SAME_SLOPES),
            Wrong(LAYERS[1, :, 0], _OTHER_MIXTURE),
        ),
    ),
)

# --- 5.5 ------------------------------------------------------------------------------------------

_LOWER = state("lower")
_ROWS = np.append(_LOWER.forward.losses, log_loss(0.0, np.zeros(())))  # a row of zeros scores 0
_COUNTED, _MASKED = float(_ROWS.mean()), float(_ROWS[:-1].mean())
_FREE = float(_ROWS[:-1].sum() / len(_ROWS))  # as if a padded row cost nothing

_5_5 = Exercise(
    id="5.5",
    title="With and without a padded row",
    section="Padding and boundaries",
    objective="O7",
    level=1,
    minutes=6,
    question=f"""A batch holds river, loan and a row of padding, whose layers are zeros. The weights
are ${shown(PRESETS["lower"])}$ with $\\gamma = {_LOWER.gamma:g}$, the head is ${shown(HEAD)}$, and
river's and loan's scores are ${shown(_LOWER.forward.scores)}$ for the labels 1 and 0. What is the
mean log loss if the padded row is counted, with whatever label stands there, and what is it if the
row is masked? Before you compute: which is lower? Answer with `[counted, masked]`.""",
    hints=(
        "What does the head make of a vector of zeros, and what does the log loss of that?",
        "A score of zero is a probability of one half for either label. Three losses divided by "
        "three, two losses divided by two.",
    ),
    solution_text=f"""A mixture of zeros is zero, so the padded row's score is zero, its probability
one half and its loss $\\log 2 = {shown(_ROWS[-1])}$ for either label. River's and loan's losses are
{shown(_ROWS[0])} and {shown(_ROWS[1])}. Counted: {shown(_ROWS.sum())} divided by three,
{shown(_COUNTED)}. Masked: {shown(_ROWS[:-1].sum())} divided by two, {shown(_MASKED)}, as if the row
were not there. Both signs are wrong here, and padding makes that look better: enough of it takes
any loss towards $\\log 2$, and nothing has been learned.""",
    answer=Number(
        np.array([_COUNTED, _MASKED]),
        (
            Wrong([_MASKED, _COUNTED], "the two numbers are in each other's place"),
            Wrong(
                [_FREE, _MASKED],
                "a score of zero is no loss of zero: a probability of one half costs log 2",
            ),
            Wrong(
                [_COUNTED, _FREE],
                "the mask takes the row out of the number that you divide by as well",
            ),
            Wrong(
                [_COUNTED, _COUNTED],
                "you counted the padding: with the mask there are two losses and no third",
            ),
            Wrong(
                [_MASKED, _MASKED],
                "a padded row that is counted changes the mean: it has a loss of its own",
            ),
            Wrong([_ROWS.sum(), _ROWS[:-1].sum()], "those are sums, not means"),
        ),
    ),
)

# --- 6.1 ------------------------------------------------------------------------------------------

_BEFORE = get(1, "SRL", "baseline").value
_AFTER = get(1, "SRL", "ELMo").value

_6_1 = Exercise(
    id="6.1",
    title="The share of the error",
    section="Table 1 at its scope",
    objective="O8",
    level=1,
    minutes=4,
    question=f"""Semantic roles, Table 1: {_BEFORE} without ELMo, {_AFTER} with it. Which share of
the error is gone, in per cent? And which would it be if the same gain started at 90?""",
    hints=(
        "How much error was there to remove?",
        "The gain, divided by 100 less the score before, times 100.",
    ),
    solution_text=f"""{shown(_AFTER - _BEFORE, 1)} of {shown(100 - _BEFORE, 1)} points of error:
{shown(right("error removed", _BEFORE, _AFTER), 1)}%. From 90 the same gain would be
{shown(right("error removed", 90, 90 + _AFTER - _BEFORE), 1)}%. The answer asked for is the first. A
share makes a gain look larger the better the baseline was.""",
    answer=Number(
        right("error removed", _BEFORE, _AFTER),
        (
            *known(
                "points_gained",
                "relative_to_the_score",
                "relative_to_the_new_error",
                "share_not_in_per_cent",
                at=(_BEFORE, _AFTER),
            ),
            Wrong(
                right("error removed", 90, 90 + _AFTER - _BEFORE),
                "that is the second question: answer with the share from the table's baseline",
            ),
        ),
    ),
)

# --- 6.2 ------------------------------------------------------------------------------------------

_NONE, _LAST, _AVERAGE, _LEARNED = (r.value for r in find(table=2, task="SQuAD"))
_GAIN = _LEARNED - _NONE

_6_2 = Exercise(
    id="6.2",
    title="What learning the weights brought",
    section="One mixture or the last layer",
    objective="O8",
    level=1,
    minutes=5,
    question=f"""Table 2, SQuAD: {_NONE} without ELMo, {_LAST} with the last layer, {_AVERAGE} with
the average of all layers, {_LEARNED} with learned weights. Which share of the whole gain was
brought by *learning* the weights, in per cent?""",
    hints=(
        "Which two conditions differ in nothing else?",
        "Learned weights less average, divided by learned weights less no ELMo.",
    ),
    solution_text=f"""{shown(_LEARNED - _AVERAGE, 1)} of {shown(_GAIN, 1)} points:
{shown(100 * (_LEARNED - _AVERAGE) / _GAIN, 2)}%. The last layer alone, with its scale, had brought
{shown(100 * (_LAST - _NONE) / _GAIN, 0)}%, averaging the rest. The gain of a complete system is not
the gain of its mixture.""",
    answer=Number(
        100 * (_LEARNED - _AVERAGE) / _GAIN,
        (
            Wrong(
                100 * (_LEARNED - _LAST) / _GAIN,
                "that is averaging and learning together: compare with the average",
                "M15",
            ),
            Wrong(100.0, "that credits the mixture with everything that ELMo brought", "M15"),
            Wrong(_LEARNED - _AVERAGE, "those are points: divide by the whole gain"),
            Wrong(
                right("error removed", _AVERAGE, _LEARNED),
                "that is a share of the error: divide by the whole gain",
            ),
            as_share(100 * (_LEARNED - _AVERAGE) / _GAIN),
            Wrong(100 * (_LAST - _NONE) / _GAIN, "that is what the last layer alone brought"),
        ),
    ),
)

# --- 6.3 ------------------------------------------------------------------------------------------

_NER = get(1, "NER", "ELMo")
_SENTENCES = {
    "A": "the true mean lies within the ± with 95% confidence",
    "B": "runs with other seeds scatter about their mean by about the ±",
    "C": "on another test set of the kind the score would lie within the ±",
    "D": "the mixture improves NER by more than its ±",
}

_6_3 = Exercise(
    id="6.3",
    title="Which sentence is licensed?",
    section="What the plus-minus is",
    objective="O8",
    level=1,
    minutes=4,
    question=f"""NER with ELMo: {_NER.shown}, over {_NER.spread_over}. Which of these does the ±
support? {". ".join(f"{letter}: {text}" for letter, text in _SENTENCES.items())}. Answer with a
letter, or several.""",
    hints=(
        "What was different between the five runs, and what was the same?",
        "A standard deviation says how far one run lies from the mean of runs.",
    ),
    solution_text="""B. By the table's caption this ± is a standard deviation over seeds. It is no
confidence interval of a mean (A), it says nothing about other data, since all runs had one test set
(C), and the runs are of a complete system, which differs from its baseline in much more than a
mixture (D).""",
    answer=Choices(
        tuple(_SENTENCES),
        frozenset({"B"}),
        (
            Wrong(("A",), "the ± is a deviation of runs, not a confidence interval", "M15"),
            Wrong(("C",), "the test set was the same for all runs: it didn't vary"),
            Wrong(("D",), "the systems differ in more than the mixture", "M15"),
            Wrong(("A", "B"), "B is right, A is not: no confidence interval was computed", "M15"),
            Wrong(("B", "C"), "B is right, C is not: one test set cannot say it"),
            Wrong(("B", "D"), "B is right, D is not: complete systems were compared", "M15"),
            Wrong(tuple(_SENTENCES), "only one of them follows from five seeds", "M15"),
        ),
    ),
)

# --- 6.4 ------------------------------------------------------------------------------------------

_RUNS = 3
_DIFFERENCE = 0.2
_SNLI = get(1, "SNLI", "ELMo")
_SPREAD = float(_SNLI.spread or math.nan)


def _chance(deviation: float) -> float:
    """That a normal difference with this deviation is at least `_DIFFERENCE` from 0."""
    return math.erfc(_DIFFERENCE / deviation / math.sqrt(2))


_6_4 = Exercise(
    id="6.4",
    title="Two systems without a difference",
    section="What the plus-minus is",
    objective="O8",
    level=2,
    minutes=10,
    question=f"""Table 1 has {_SNLI.shown} for SNLI. Its caption explains the ± of NER and of
SST-5, but not this one. Suppose that this, too, is a standard deviation over seeds, and that runs
scatter normally. Two systems do not differ, and each is run with {_RUNS} seeds. How often do their
means come out {_DIFFERENCE} or more apart, in either direction? Answer with a probability, to two
digits; simulate it, or compute it.""",
    hints=(
        "Which deviation has the mean of several runs? Which the difference of two such means?",
        f"The difference has the deviation $\\sigma \\sqrt{{2/{_RUNS}}}$. In a simulation: "
        f"`rng.normal(size=(100_000, 2, {_RUNS})).mean(axis=2)`, times the deviation.",
    ),
    solution_text=f"""The difference of the means has the deviation $\\sigma\\sqrt{{2/{_RUNS}}} =
{shown(_SPREAD * math.sqrt(2 / _RUNS))}$. It is at least {_DIFFERENCE} in size with probability
{shown(_chance(_SPREAD * math.sqrt(2 / _RUNS)))}. With one run each it would be
{shown(_chance(_SPREAD * math.sqrt(2)))}. (A simulation of a hundred thousand tries is good to two
digits, and two are asked for.)""",
    answer=Number(
        _chance(_SPREAD * math.sqrt(2 / _RUNS)),
        (
            Wrong(_chance(_SPREAD * math.sqrt(2)), "that is one run each"),
            Wrong(
                _chance(_SPREAD / math.sqrt(_RUNS)),
                "you let one of the two means scatter only: both do",
            ),
            Wrong(_chance(_SPREAD * math.sqrt(2 / _RUNS)) / 2, "that is one direction: both count"),
            Wrong(
                1 - _chance(_SPREAD * math.sqrt(2 / _RUNS)), "that is how often they come closer"
            ),
            Wrong(
                _chance(_SPREAD * math.sqrt(2) / _RUNS),
                "a mean's deviation falls with the root of the number of runs",
            ),
            in_per_cent(_chance(_SPREAD * math.sqrt(2 / _RUNS))),
        ),
        digits=2,
    ),
)

EXERCISES: Sequence[Exercise] = (_5_1, _5_2, _5_3, _5_4, _5_5, _6_1, _6_2, _6_3, _6_4)
