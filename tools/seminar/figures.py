"""The figures of the slides: the book's own, with what they are given computed here.

A slide says `![](figure:name)`, and its name is a function's below. Some show part of a figure's
panels, because a projector has less room than a page.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from elmo_toy import descent, figures, reported
from elmo_toy.bilm import load_pretrained, senses
from elmo_toy.figures import Figure
from elmo_toy.figures._style import INK, QUIET, RUN_LOOKS, label
from elmo_toy.figures._svg import Panel
from elmo_toy.similarity import Occurrences
from elmo_toy.text import add_boundaries
from elmo_toy.toy_language import make_corpus
from elmo_toy.worked_example import PRESETS, eight_states, state

from .values import AMOUNT, UNSEEN

UPPER = PRESETS["upper"]


def pairs_of_bank() -> Figure:
    """Chapter 1's percentiles of pairs of bank, in the trained model of the toy language."""
    model = load_pretrained("toy-language")
    corpus = make_corpus(0, train=0, development=400)
    read = Occurrences.read(model.embed, [sentence.tokens for sentence in corpus.development])
    bank = [sentence for sentence in corpus.test if sentence.noun == "bank"]
    by_the_river = np.array([sentence.sense == "water" for sentence in bank])
    found = senses.target_vectors(model, bank)
    background = read.background(2000, np.random.default_rng(1))
    placed = background.rank_groups(found[by_the_river], found[~by_the_river])
    return figures.pair_percentiles(
        {"pairs of bank": placed},
        caption="Pairs of bank among random pairs of the same layer, by the median.",
        alt="Percentiles of pairs of bank by layer. In the token layer all pairs lie together. In "
        "both contextual layers pairs of one sense rank above mixed pairs.",
    )


def shift() -> Figure:
    """Chapter 2's shift by one position."""
    return figures.one_position_shift(
        add_boundaries(["the", "muddy", "bank"]),
        alt="Two diagrams of the sentence the muddy bank: below what is read, above what is "
        "predicted. Forward, each state points one word to the right, backward one to the left.",
    )


def loss_by_gamma() -> Figure:
    """The loss against gamma for the two emphases that the seminar compares."""
    gammas = np.linspace(0, 3, 61)
    panel = Panel("mean loss against γ", width=440, height=340)
    with panel.drawing() as axes:
        axes.axhline(np.log(2), color=QUIET, linewidth=1, linestyle=":")
        label(axes, "a guess", (3, np.log(2)), xytext=(-4, 11), ha="right")
        for name, look, above, at in zip(
            ("upper", "lower"), RUN_LOOKS, (13, -14), (60, 52), strict=False
        ):
            losses = descent.loss_at(np.tile(PRESETS[name], (len(gammas), 1)), gammas)
            axes.plot(gammas, losses, **look.line)
            label(axes, name, (gammas[at], losses[at]), xytext=(-6, 13), ha="right")
            marked = [int(np.abs(gammas - gamma).argmin()) for gamma in (1, 2)]
            axes.plot(gammas[marked], losses[marked], marker=look.marker, color=INK, linestyle="")
            for i in marked:
                label(axes, f"{losses[i]:.3f}", (gammas[i], losses[i]), xytext=(4, above))
        axes.set(xlabel="γ", xlim=(0, 3), ylim=(0, 2.4), xticks=(0, 1, 2, 3), yticks=(0, 1, 2))
    return Figure(
        (panel,),
        alt="Mean loss against gamma, two curves from the loss of a guess: with upper-layer "
        "emphasis it falls as gamma grows, with lower-layer emphasis it rises.",
        caption="Marked: γ = 1 and γ = 2.",
    )


def retuned_weights() -> Figure:
    """The weights before and after the walk along the direction that the head cannot see."""
    moved = UPPER + AMOUNT * UNSEEN
    return figures.layer_weights(
        {"before": UPPER, "after retuning": moved / moved.sum()},
        alt="Bars of the three layer weights, the same for river and loan: before, the upper "
        "contextual layer has the largest; after retuning, the lower one.",
    )


def vectors_move() -> Figure:
    """The first two panels of chapter 3's discovery: vectors move, weights change order."""
    alt = (
        "Left, both vectors travel far, parallel to the line of score zero. Right, the weight of "
        "h1 rises past the falling weight of h2."
    )
    whole = figures.same_predictions(UPPER, UNSEEN, alt=alt)
    return Figure(whole.panels[:2], alt, whole.caption)


def scores_stand_still() -> Figure:
    """The third panel: scores and loss."""
    alt = (
        "Three flat lines along the same direction: the score of river, the mean loss and the "
        "score of loan do not change."
    )
    whole = figures.same_predictions(UPPER, UNSEEN, alt=alt)
    return Figure(whole.panels[2:], alt, whole.caption)


def cones() -> Figure:
    """Chapter 3's two cones."""
    return figures.two_cones(
        UPPER,
        alt="Two cones in three dimensions that touch at zero, one for positive and one for "
        "negative gamma; a dotted ray through both marks the weights.",
    )


def shares() -> Figure:
    """Chapter 4's contributions to the gradient."""
    return figures.contributions(
        state(),
        alt="Bars of the derivative of the loss by three logits and gamma: river and loan agree in "
        "sign on a1, a2 and gamma and disagree on a0, where their sum is small.",
    )


def falling() -> Figure:
    """Chapter 4's losses before and after a step by a right and by wrong rules."""
    states = eight_states()
    rules = {"right": descent.step_on_logits, "without m": descent.step_without_m}
    before = np.array([s.forward.loss for s in states])
    after = {
        name: np.array([float(rule(s.forward.weights, s.gamma).loss) for s in states])
        for name, rule in rules.items()
    }
    return figures.falling_losses(
        [f"{s.preset}, γ = {s.gamma:.0f}" for s in states],
        before,
        after,
        alt="Loss before and after one step in eight states for the right gradient and for the one "
        "without m: both fall everywhere, the wrong one at least as far.",
    )


def many_ends() -> Figure:
    """Chapter 4's four starts that end at one loss with four sets of weights."""
    presets, gammas = ["upper", "lower", "token", "upper"], [1, 1, 1, -1]
    starts = [PRESETS[preset] for preset in presets]
    soft = descent.descend(starts, gammas, 8000, 1.0, labels=np.array([0.9, 0.1]))
    return figures.simplex_paths(
        {
            f"{preset}, γ = {gamma}".replace("-", "−"): soft.weights[:, i]
            for i, (preset, gamma) in enumerate(zip(presets, gammas, strict=True))
        },
        caption="All four ends have the lowest possible loss to six digits.",
        alt="A triangle of weights with four paths from three starting points to four different "
        "ends, three in the half of the upper layer and one close to the lower layer's corner.",
    )


def steps_of_gain() -> Figure:
    """Chapter 6's parts of the paper's gain."""
    scores = {
        task: [result.value for result in reported.find(table=2, task=task)]
        for task in ("SQuAD", "SNLI", "SRL")
    }
    return figures.steps_of_gain(
        scores,
        alt="A bar for each of three tasks, the gain over the baseline in three parts. The last "
        "layer's part is by far the longest in each, that of the learned weights the shortest.",
    )


FIGURES: Mapping[str, Callable[[], Figure]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            *(pairs_of_bank, shift, loss_by_gamma, retuned_weights),
            *(vectors_move, scores_stand_still, cones, shares, falling, many_ends, steps_of_gain),
        )
    }
)
