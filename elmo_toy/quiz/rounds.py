"""The two quizzes around a session: five questions before it, seven after it.

The first five of the second ask for the same five constructs with other numbers.

Book: chapter 3, "A large weight is not an importance".
"""

from __future__ import annotations

import numpy as np

from elmo_toy import reported
from elmo_toy.descent import LAYER_SCORES
from elmo_toy.exercises.wrong_forward import mix
from elmo_toy.quiz import wrong
from elmo_toy.quiz.concept import floats, mistaken, no, yes
from elmo_toy.quiz.items import Item, Option, layer, number, vector
from elmo_toy.quiz.misconceptions import CHAPTERS, MISCONCEPTIONS
from elmo_toy.worked_example import LAYERS, OCCURRENCES, PRESETS, forward, state, state_at

#: What is asked for, and where its answer is worked out.
CONSTRUCTS = {
    "weights from logits": MISCONCEPTIONS["M2"].anchor,
    "a mixture by hand": f"{CHAPTERS[3]}#one-mixture-by-hand",
    "what differs between occurrences": MISCONCEPTIONS["M1"].anchor,
    "what gamma does": MISCONCEPTIONS["M5"].anchor,
    "what a large weight says": MISCONCEPTIONS["M9"].anchor,
    "a logit's gradient": MISCONCEPTIONS["M6"].anchor,
    "a result at its scope": f"{CHAPTERS[6]}#one-mixture-or-the-last-layer",
}


def _item(name: str, construct: str, objective: str, question: str, *options: Option) -> Item:
    return Item(name, question, options, objective, CONSTRUCTS[construct], construct)


def _plain(text: str, why: str, values: object = ()) -> Option:
    """A wrong option behind which no listed belief stands."""
    return Option(text, why, values=floats(values))


def pre_quiz() -> tuple[Item, ...]:
    """Five questions for the first minutes, answerable with vectors and a memory of the softmax.

    >>> [item.key for item in pre_quiz()]
    ['B', 'C', 'D', 'A', 'B']
    """
    return (
        _weights("pre-1", np.log([1.0, 2.0, 1.0]), "[0, log 2, 0]", right_at=1),
        _mixture("pre-2", 0, "upper", right_at=2),
        _what_differs(),
        _right_signs_doubled(),
        _one_large_weight(),
    )


def post_quiz() -> tuple[Item, ...]:
    """Seven questions for the last minutes or for home.

    >>> [item.key for item in post_quiz()]
    ['D', 'A', 'B', 'C', 'C', 'D', 'A']
    """
    return (
        _weights("post-1", np.log([3.0, 1.0, 1.0]), "[log 3, 0, 0]", right_at=3),
        _mixture("post-2", 1, "lower", right_at=0),
        _a_third_sentence(),
        _gamma_reversed(),
        _same_predictions(),
        _gradient_of_a_logit(),
        _last_layer_alone(),
    )


def _placed(right: Option, others: list[Option], place: int) -> list[Option]:
    return [*others[:place], right, *others[place:]]


def _weights(name: str, logits: np.ndarray, shown: str, right_at: int) -> Item:
    s = state_at(logits)
    raw, undivided, divided = (
        mistaken(mistake, s)
        for mistake in (
            "logits_as_weights",
            "exponentials_not_divided",
            "logits_divided_by_their_sum",
        )
    )
    right = s.forward.weights
    others = [
        no("M2", vector(raw), "Those are the logits; take the exponentials first.", raw),
        no("M2", vector(undivided), "Now divide by their sum: weights sum to one.", undivided),
        no(
            "M2",
            vector(divided),
            "That divides the logits by their sum; a softmax divides their exponentials.",
            divided,
        ),
    ]
    answer = yes(
        vector(right),
        f"The exponentials are {vector(undivided)}; divided by their sum they are the weights.",
        right,
    )
    return _item(
        name,
        "weights from logits",
        "O2",
        f"A softmax makes weights of the logits a = {shown}. Which weights?",
        *_placed(answer, others, right_at),
    )


def _mixture(name: str, k: int, preset: str, right_at: int) -> Item:
    s = state(preset)
    weights = s.forward.weights
    right = s.forward.mixtures[k]
    summed, largest = (mistaken(m, s)[k] for m in ("mixture_unweighted", "largest_layer_only"))
    plain = mix(PRESETS["equal"])[k]
    layers = ", ".join(f"{layer(j)} = {vector(h)}" for j, h in enumerate(LAYERS[k, :, 0]))
    parts = " + ".join(
        f"{number(weight)} · {vector(h)}"
        for weight, h in zip(weights, LAYERS[k, :, 0], strict=True)
    )
    others = [
        _plain(vector(summed), "You added the layers without their weights.", summed),
        no(
            "M9",
            vector(largest),
            "That is the layer with the largest weight alone: every layer enters.",
            largest,
        ),
        _plain(vector(plain), "That is the plain mean of the layers, at equal weights.", plain),
    ]
    return _item(
        name,
        "a mixture by hand",
        "O2",
        f"{OCCURRENCES[k].capitalize()}: {layers}. The weights are {vector(weights)}, γ = 1. What "
        "is e = γ (s₀h₀ + s₁h₁ + s₂h₂)?",
        *_placed(yes(vector(right), f"{parts}.", right), others, right_at),
    )


def _what_differs() -> Item:
    return _item(
        "pre-3",
        "what differs between occurrences",
        "O1",
        "ELMo gives bank one vector in “the river bank flooded” and another in “the bank approved "
        "a loan”. A task adds up three layers with learned weights. What makes the two vectors "
        "differ?",
        no(
            "M1",
            "the weights: they are computed from the sentence",
            "They are learned once for the task, and are the same for every token.",
        ),
        no(
            "M8",
            "the weights: each word gets its share of attention",
            "They are weights of layers. Words have none.",
        ),
        no(
            "M17",
            "nothing: a word has one vector",
            "In a lookup table. ELMo reads the sentence first.",
        ),
        yes(
            "the layers: two of the three have read the sentence",
            "The token layer is the same in both, the contextual layers differ, the weights are "
            "shared.",
        ),
    )


def _a_third_sentence() -> Item:
    return _item(
        "post-3",
        "what differs between occurrences",
        "O1",
        "The task is trained. Tomorrow bank turns up in a new sentence. What has to be computed "
        "for its vector?",
        no(
            "M1",
            "weights for this sentence, then the mixture",
            "The weights were learned for the task and stay as they are.",
        ),
        yes(
            "its contextual layers; the weights and γ stay",
            "The extractor reads the new sentence, and the same mixture adds up what it returns.",
        ),
        no(
            "M17",
            "nothing: it is looked up",
            "Only h₀ can be looked up by spelling.",
        ),
        no(
            "M10",
            "everything again: a new sentence means new training",
            "Nothing is trained: the extractor is frozen and the mixture is done.",
        ),
    )


def _right_signs_doubled() -> Item:
    s, doubled = state(), state("upper", 2.0)
    before, after = s.forward.loss, doubled.forward.loss
    twice, same = (
        wrong.loss_in_proportion(s, 2.0),
        float(mistaken("loss_without_gamma", doubled)),
    )
    half = wrong.loss_in_inverse_proportion(s, 2.0)
    return _item(
        "pre-4",
        "what gamma does",
        "O3",
        "A classifier gives each vector a score z and reads 1/(1 + e⁻ᶻ) as a probability. Its two "
        f"scores, {number(s.forward.scores[0])} and {number(s.forward.scores[1])}, have the right "
        "signs. The log loss, minus the logarithm of the probability that the right label gets, "
        f"is {number(before)} on average. All vectors are made twice as long. The loss",
        yes(
            f"falls to {number(after)}",
            "Both scores double, both are right: the classifier is surer, and rightly.",
            after,
        ),
        no("M5", f"stays at {number(same)}", "The directions stay. The scores double.", same),
        _plain(
            f"doubles to {number(twice)}", "The scores double. The loss falls with them.", twice
        ),
        no(
            "M5",
            f"is halved to {number(half)}",
            "It falls, but not in proportion: the log loss is no straight line.",
            half,
        ),
    )


def _gamma_reversed() -> Item:
    s = state("lower")
    reversed_ = state("lower", -1.0)
    before, after = s.forward.loss, reversed_.forward.loss
    negative = wrong.loss_in_proportion(s, -1.0)
    same = wrong.loss_by_size_of_gamma(s, -1.0)
    longer = state("lower", 2.0).forward.loss
    return _item(
        "post-4",
        "what gamma does",
        "O3",
        f"Lower-layer emphasis: the scores are {number(s.forward.scores[0])} for river (label 1) "
        f"and {number(s.forward.scores[1])} for loan (label 0), the loss is {number(before)}. Set "
        "γ from 1 to −1. The loss",
        no(
            "M5",
            f"stays at {number(same)}: only the size of γ counts",
            "Every score changes its sign, and both were wrong.",
            same,
        ),
        no(
            "M5",
            f"rises to {number(longer)}: γ must be positive",
            "Nothing asks γ to be positive. Training may take it below zero.",
            longer,
        ),
        yes(
            f"falls to {number(after)}",
            f"The scores are now {number(reversed_.forward.scores[0])} and "
            f"{number(reversed_.forward.scores[1])}: both signs are right.",
            after,
        ),
        no(
            "M5",
            f"becomes {number(negative)}",
            "γ multiplies the vectors, not the loss, and a log loss is never negative.",
            negative,
        ),
    )


def _one_large_weight() -> Item:
    return _item(
        "pre-5",
        "what a large weight says",
        "O6",
        "A trained mixture has layer weights [0.05, 0.15, 0.8]. What follows from these three "
        "numbers alone?",
        no(
            "M9",
            "the upper layer matters most for the task",
            "Not without the layer’s length, its direction, γ, and what reads the vector.",
        ),
        yes(
            "the upper layer’s numbers enter with the largest factor",
            "That, and no more. What else a weight may say is the middle of the session.",
        ),
        no(
            "M8",
            "the last words of the sentence matter most",
            "Layers are not places in a sentence.",
        ),
        no(
            "M19",
            "training from any start would give about the same",
            "That is a claim about other runs, of which these numbers say nothing.",
        ),
    )


def _same_predictions() -> Item:
    unseen = np.cross(*LAYER_SCORES)
    g = PRESETS["upper"] + 0.3 * unseen
    gamma = float(g.sum())
    first, second = forward(np.log(PRESETS["upper"])), forward(np.log(g / gamma), gamma)
    scores = " and ".join(number(score) for score in second.scores)
    return _item(
        "post-5",
        "what a large weight says",
        "O6",
        f"Mixture A: weights {vector(first.weights)}, γ = 1. Mixture B: weights "
        f"{vector(second.weights)}, γ = {number(gamma)}. Both give the scores {scores}. Which "
        "sentence holds?",
        no(
            "M9",
            "A or B is wrong: predictions fix the weights",
            "Two scores against three numbers: a direction is left over.",
        ),
        no(
            "M9",
            "under B the task relies on the lower contextual layer",
            "Then under A it relies on the upper one, for the same predictions.",
        ),
        yes(
            "while γ is free, the predictions leave the weights open",
            "Hold γ at 1, and two scores and a sum of one do fix three weights.",
        ),
        no(
            "M9",
            "A and B would agree for every head",
            "The vectors differ. This head cannot see the difference; another can.",
        ),
    )


def _gradient_of_a_logit() -> Item:
    s = state("lower")
    right = float(s.logit_gradient[2])
    bare, double, by_weight = (
        float(mistaken(name, s)[2])
        for name in ("without_m", "gradient_without_mean", "gradient_by_weights")
    )
    m, g = s.forward.mixed_scores, s.score_gradients
    scores = s.forward.layer_scores[:, 2]
    return _item(
        "post-6",
        "a logit's gradient",
        "O4",
        f"Lower-layer emphasis, γ = 1. The upper layer has weight {number(s.forward.weights[2])} "
        f"and scores {number(scores[0])} for river, {number(scores[1])} for loan; the mixed scores "
        f"are {number(m[0])} and {number(m[1])}; ∂L/∂z is {number(g[0])} and {number(g[1])}. What "
        "is ∂L/∂a₂?",
        no(
            "M6",
            number(bare),
            "That is the gradient without − m. Over the three logits it would not sum to zero.",
            bare,
        ),
        _plain(number(double), "You forgot the mean over the two examples.", double),
        no(
            "M7",
            number(by_weight),
            "That is the derivative by the weight, as if weights were free.",
            by_weight,
        ),
        yes(
            number(right),
            "s₂ times the sum over both occurrences of ∂L/∂z (c₂ − m).",
            right,
        ),
    )


def _last_layer_alone() -> Item:
    names = ("baseline", "last layer", "all, λ = 1", "all, λ = 0.001")
    none, last, average, learned = (
        reported.find(table=2, task="SQuAD", condition=name)[0].value for name in names
    )
    share = 100 * (last - none) / (learned - none)
    return _item(
        "post-7",
        "a result at its scope",
        "O8",
        f"Table 2, SQuAD, development set: {none} without ELMo, {last} with the last layer alone "
        f"(its γ learned), {average} with the average of all layers, {learned} with learned "
        "weights. What may be said?",
        yes(
            f"the last layer alone had {number(share, 0)}% of the whole gain",
            f"{number(last - none, 1)} of {number(learned - none, 1)} points. The learned weights "
            f"add {number(learned - average, 1)} to the average.",
        ),
        no(
            "M15",
            f"the learned mixture brought {number(learned - none, 1)} points",
            "Most of them were there with one layer and a scale.",
        ),
        no(
            "M9",
            "the last layer is the best single layer",
            "No other single layer is in the table.",
        ),
        no(
            "M15",
            f"learned weights beat the average by {number(learned - average, 1)} on new data",
            "One set, which was also used to choose settings, and no ± beside it.",
        ),
    )
