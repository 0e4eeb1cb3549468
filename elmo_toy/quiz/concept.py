"""One concept test for each misconception, to be voted on: CT5 is about M5, and so on.

Each can be decided with a pencil, by argument; the numbers confirm it. The right option is computed
by the package and a wrong number by running the wrong formula.

Book: chapter 3, "A large weight is not an importance".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elmo_toy import reported
from elmo_toy.descent import LAYER_SCORES, descend
from elmo_toy.exercises.mistakes import MISTAKES
from elmo_toy.quiz import wrong
from elmo_toy.quiz.items import Item, Option, layer, number, vector
from elmo_toy.quiz.misconceptions import MISCONCEPTIONS
from elmo_toy.scalar_mix import logit_penalty, softmax
from elmo_toy.worked_example import LAYERS, PRESETS, State, state, state_at

RIVER, LOAN = LAYERS[:, :, 0]
RIVER_SCORES, LOAN_SCORES = LAYER_SCORES


def no(belief: str, text: str, why: str, values: object = ()) -> Option:
    """A wrong option, and the belief that speaks from it."""
    return Option(text, why, misconception=belief, values=floats(values))


def yes(text: str, why: str, values: object = ()) -> Option:
    """The right option."""
    return Option(text, why, right=True, values=floats(values))


def floats(values: object) -> tuple[float, ...]:
    """A number, or the numbers of an array, as an option keeps them."""
    return tuple(float(value) for value in np.ravel(np.asarray(values, dtype=np.float64)))


def mistaken(name: str, s: State) -> np.ndarray:
    """What a listed mistake computes at a state."""
    return np.asarray(MISTAKES[name].compute(s))


def _test(belief: str, objective: str, question: str, *options: Option) -> Item:
    anchor = MISCONCEPTIONS[belief].anchor
    return Item(f"CT{belief[1:]}", question, options, objective, anchor, misconception=belief)


def concept_tests() -> tuple[Item, ...]:
    """All of them, in the order of the misconceptions.

    >>> [test.id for test in concept_tests()][:3], concept_tests()[4].key
    (['CT1', 'CT2', 'CT3'], 'D')
    """
    return tuple(_tests())


def _tests() -> Iterator[Item]:
    yield _weights_by_token()
    yield _parameters_are_weights()
    yield _common_shift()
    yield _negative_coordinate()
    yield _longer_vectors()
    yield _one_logit()
    yield _step_on_what()
    yield _which_neighbour()
    yield _other_units()
    yield _frozen()
    yield _identical_outputs()
    yield _duplicated_layer()
    yield _backward_target()
    yield _float_zero()
    yield _licensed_sentence()
    yield _larger_rate()
    yield _cached_by_spelling()
    yield _penalty_sees_the_shift()
    yield _two_starts()


def _weights_by_token() -> Item:
    return _test(
        "M1",
        "O1",
        "One task, one mixture. Its batch holds bank in “the river bank flooded” and bank in "
        "“the bank approved a loan”. What differs between the two?",
        no(
            "M1",
            "the weights s, and so e",
            "There is one set of weights for all tokens. A gate would have two; ELMo has none.",
        ),
        no(
            "M1",
            "the weights s and the layers h₁, h₂",
            "The layers do differ. The weights have no index for a token.",
        ),
        yes(
            "the layers h₁ and h₂, and so e",
            "Context came in with the layers. The weights and γ belong to the task.",
        ),
        no("M17", "nothing: it is the same word", "That holds for h₀ alone, the token layer."),
    )


def _parameters_are_weights() -> Item:
    s = state_at([0.0, 0.0, 0.0])
    logits, exponentials = (
        mistaken(name, s) for name in ("logits_as_weights", "exponentials_not_divided")
    )
    single = wrong.each_by_itself(s.logits)
    return _test(
        "M2",
        "O2",
        "A fresh mixture stores a = [0, 0, 0] and γ = 1. Which weights does it use?",
        no(
            "M2",
            vector(logits),
            "Those are the logits. With weights of zero every output would be zero.",
            logits,
        ),
        no(
            "M2",
            vector(exponentials),
            "Those are the exponentials, not yet divided by their sum.",
            exponentials,
        ),
        yes(
            vector(s.forward.weights),
            "Equal logits make equal weights: an untrained mixture is the plain mean.",
            s.forward.weights,
        ),
        no(
            "M2",
            vector(single),
            "That is a logistic function of each logit by itself; the softmax divides by the sum "
            "over all layers.",
            single,
        ),
    )


def _common_shift() -> Item:
    s, shifted = state(), state_at(state().logits + 1)
    right = shifted.forward.mixtures[0]
    undivided = wrong.mixed(0, np.exp(shifted.logits))
    added = wrong.mixed(0, s.forward.weights + 1)
    moved = s.forward.mixtures[0] + 1
    return _test(
        "M3",
        "O3",
        f"River’s mixture is {vector(s.forward.mixtures[0])}. Somebody adds 1 to each of the three "
        "logits. What is it now?",
        no(
            "M3",
            vector(undivided),
            "All three exponentials did grow by the factor e, and so did their sum.",
            undivided,
        ),
        yes(
            vector(right),
            "The common factor cancels in the softmax: same weights, same mixture, same loss.",
            right,
        ),
        no("M3", vector(added), "That adds 1 to each weight. They would sum to 4.", added),
        no("M3", vector(moved), "That adds 1 to each coordinate; logits are about layers.", moved),
    )


def _negative_coordinate() -> Item:
    weights = np.array([0.1, 0.1, 0.8])
    parts = weights * LOAN[:, 0]
    right, absolute, kept = parts.sum(), np.abs(parts).sum(), wrong.clipped(parts)
    clipped = max(0.0, float(right))
    return _test(
        "M4",
        "O2",
        f"The weights are {vector(weights)} and γ = 1. In their first coordinate loan’s layers "
        f"have {number(LOAN[0, 0])}, {number(LOAN[1, 0])} and {number(LOAN[2, 0])}. What is the "
        "mixture’s first coordinate?",
        no(
            "M4",
            number(clipped),
            "Nothing stops at zero: the mixture is a sum of signed numbers.",
            clipped,
        ),
        yes(
            number(right),
            f"{vector(parts)} add up to {number(right)}: positive weights, negative coordinate.",
            right,
        ),
        no(
            "M4",
            number(kept),
            "That leaves the negative part out. The weight is positive, the layer’s number isn’t.",
            kept,
        ),
        no("M4", number(absolute), "That drops the sign of the upper layer’s number.", absolute),
    )


def _longer_vectors() -> Item:
    s, doubled = state("lower"), state("lower", 2.0)
    before, after = s.forward.loss, doubled.forward.loss
    same = float(mistaken("loss_without_gamma", doubled))
    half, twice = wrong.loss_in_inverse_proportion(s, 2.0), wrong.loss_in_proportion(s, 2.0)
    return _test(
        "M5",
        "O3",
        f"With most weight on the lower contextual layer the scores are "
        f"{number(s.forward.scores[0])} for river and {number(s.forward.scores[1])} for loan: both "
        f"signs are wrong. The mean loss is {number(before)}. Double γ. What does the loss do?",
        no(
            "M5",
            f"falls to {number(half)}",
            "Longer vectors make the head surer. Here it is surer of what is wrong.",
            half,
        ),
        no(
            "M5",
            f"stays at {number(same)}",
            "The weights stay. The scores double, and the loss sees the scores.",
            same,
        ),
        no(
            "M5",
            f"doubles to {number(twice)}",
            "It rises, but the log loss of a doubled wrong score is less than twice the loss.",
            twice,
        ),
        yes(
            f"rises to {number(after)}",
            "Both scores double, both are wrong, and confidence in a wrong answer costs more.",
            after,
        ),
    )


def _one_logit() -> Item:
    weights = np.array([0.1, 0.1, 0.8])
    mixed = float(weights @ RIVER_SCORES)
    right = float(weights[0] * (RIVER_SCORES[0] - mixed))
    bare, weighted = float(RIVER_SCORES[0]), float(weights[0] * RIVER_SCORES[0])
    own = wrong.score_slope_own_weight(0, 0, weights)
    return _test(
        "M6",
        "O4",
        f"River’s layers score {vector(RIVER_SCORES)} at the head; the weights are "
        f"{vector(weights)} and γ = 1, so the mixed score is {number(mixed)}. Raise the logit of "
        "layer 0, which scores above zero, a little. How does river’s score change, per unit of "
        "the logit?",
        no(
            "M6",
            f"by {number(bare)}: it rises",
            "That is the layer’s score. The logit moves a weight, and that moves the others too.",
            bare,
        ),
        no(
            "M6",
            f"by {number(weighted)}: it rises",
            "That is the formula without − m: as if the other weights stood still.",
            weighted,
        ),
        no(
            "M6",
            f"by {number(own)}: it rises",
            "That is what the layer’s own weight does. The other two lose weight meanwhile.",
            own,
        ),
        yes(
            f"by {number(right)}: it falls",
            f"s₀ (c₀ − m) = {number(weights[0])} · ({number(bare)} − {number(mixed)}). The layer "
            "scores above zero and below the mixture, so more of it lowers the mixture’s score.",
            right,
        ),
    )


def _step_on_what() -> Item:
    s = state()
    right = s.updated.weights
    by_logits, by_weights, raw = (
        mistaken(name, s)
        for name in (
            "stepped_on_weights",
            "stepped_on_weights_by_weights",
            "softmax_not_taken_again",
        )
    )
    return _test(
        "M7",
        "O5",
        "One step of gradient descent at the default state, with rate η = 0.1. Which line gives "
        "the new weights?",
        no(
            "M7",
            f"s − η ∂L/∂a = {vector(by_logits)}",
            "The sum stays 1, since that gradient sums to zero, so it looks right. At a larger "
            "rate a weight turns negative.",
            by_logits,
        ),
        yes(
            f"softmax(a − η ∂L/∂a) = {vector(right)}",
            "Step on what is free, the logits; the softmax makes weights of the result at any "
            "rate.",
            right,
        ),
        no(
            "M7",
            f"s − η ∂L/∂s = {vector(by_weights)}",
            f"Right for free coefficients. These aren’t free: the sum is now "
            f"{number(float(by_weights.sum()))}.",
            by_weights,
        ),
        no(
            "M2",
            f"a − η ∂L/∂a = {vector(raw)}",
            "Those are the new logits. The softmax is still to be taken.",
            raw,
        ),
    )


def _which_neighbour() -> Item:
    return _test(
        "M8",
        "O1",
        "A trained mixture has s₂ = 0.8. In “the river bank flooded” the classifier says river. "
        "Which neighbour was it?",
        no(
            "M8",
            "flooded: the upper layer looks to the right",
            "Each contextual layer joins a state from the left and one from the right.",
        ),
        no(
            "M8",
            "river: s₂ is the share of its attention",
            "The softmax runs over layers. It has no entry for a word.",
        ),
        no(
            "M17",
            "none: a vector of bank holds bank only",
            "h₂ has read the sentence from both sides before any weight was applied.",
        ),
        yes(
            "that cannot be told from s",
            "Three numbers about layers, the same for each token. To ask about words, change a "
            "word and look again.",
        ),
    )


def _other_units() -> Item:
    factor = 10.0
    before = PRESETS["upper"]
    g = before / [1.0, 1.0, factor]
    right, undivided = g[2] / g.sum(), g[2]
    grown = before * [1.0, 1.0, factor]
    reverse = grown[2] / grown.sum()
    return _test(
        "M9",
        "O6",
        f"Weights {vector(before)}, γ = 1: the upper layer has half of the weight. Now it comes "
        "out in other units, every number ten times as large, and somebody sets weights and γ so "
        "that every output is what it was. The weight of the upper layer?",
        yes(
            number(right),
            f"γ·s must be {vector(g)}, which sums to γ = {number(g.sum())}; divided by that, "
            f"{vector(g / g.sum())}. From the largest weight to the smallest, with the same "
            "outputs.",
            right,
        ),
        no(
            "M9",
            number(before[2]),
            "Then the upper layer’s part of each output would be ten times what it was.",
            before[2],
        ),
        no(
            "M9",
            number(reverse),
            "That gives the layer more weight for larger numbers; it needs less.",
            reverse,
        ),
        no(
            "M9",
            number(undivided),
            "That is its share of γ·s. The weights have to sum to one again.",
            undivided,
        ),
    )


def _frozen() -> Item:
    return _test(
        "M10",
        "O7",
        "requires_grad=False: the language model is frozen. A tagger with one mixture is trained "
        "on top. Which numbers learn?",
        no("M10", "none", "Then no training would happen. The tagger learns in any case."),
        no(
            "M10",
            "the tagger’s",
            "And the mixture’s: frozen says where the gradient stops, below the mixture.",
        ),
        yes(
            "the tagger’s, three logits and γ",
            "Four numbers of ELMo learn. The language model’s don’t.",
        ),
        no(
            "M10",
            "all of them, the language model slowly",
            "That is fine-tuning, and needs requires_grad=True.",
        ),
    )


def _identical_outputs() -> Item:
    return _test(
        "M11",
        "O7",
        "num_output_representations=2. Before training the two outputs are identical to the last "
        "digit. Why?",
        yes(
            "both mixtures start with the same logits and γ",
            "Two mixtures of the same three layers. They part with the first step, because each "
            "gets its own gradient.",
        ),
        no(
            "M11",
            "a bug: they should be the two LSTM layers",
            "Each output is a mixture of all layers. The number counts mixtures.",
        ),
        no(
            "M11",
            "they share their parameters, and stay identical",
            "Each has logits and a γ of its own.",
        ),
        no(
            "M11",
            "the two directions were given the same weights",
            "The directions are halves of each layer, and have weights of their own.",
        ),
    )


def _duplicated_layer() -> Item:
    direction, tokens = 512, 600
    width = 2 * direction
    right = min(tokens, direction)
    return _test(
        "M12",
        "O7",
        f"The released token layer has {width} coordinates: {direction} numbers, written twice. "
        f"Stack it for {tokens} different words. The rank of that {tokens} × {width} matrix is at "
        "most",
        no(
            "M12",
            f"{width}",
            "That counts columns. Half of them repeat the other half.",
            width,
        ),
        no(
            "M12",
            f"{tokens}",
            f"{tokens} rows would allow it. The columns don’t: {direction} of them repeat.",
            tokens,
        ),
        yes(
            f"{right}",
            "Repeated columns add no rank. The copy makes the sum over layers defined.",
            right,
        ),
    )


def _backward_target() -> Item:
    return _test(
        "M13",
        "O1",
        "The backward language model reads “the river bank flooded” from its end. At bank it has "
        "read flooded and bank. Which token is this state asked for?",
        no("M13", "bank", "It has just read bank: the answer would be in its input."),
        no("M13", "flooded", "It has read that too. Backwards, the next token stands to the left."),
        no("M13", "the end mark", "That was the first thing it read."),
        yes("river", "The state after bank predicts what it has not read yet, one to the left."),
    )


def _float_zero() -> Item:
    logits = np.array([-9e10, 1.0, -9e10], dtype=np.float32)
    right = float(softmax(logits)[0])
    clipped = float(softmax(np.array([0.0, 1.0, 0.0]))[0])
    return _test(
        "M14",
        "O2",
        "To select one layer, AllenNLP’s documentation sets a = [−9·10¹⁰, 1, −9·10¹⁰], in "
        "float32. What does the computer hold as s₀?",
        yes(
            "exactly zero",
            "The exponential underflows. “Every weight is positive” needs exact arithmetic.",
            right,
        ),
        no(
            "M14",
            "something positive, too small to print",
            "In exact arithmetic. float32 has no number between zero and about 10⁻⁴⁵.",
        ),
        no(
            "M2",
            "−9·10¹⁰",
            "That is the logit. The softmax comes between it and the weight.",
            float(logits[0]),
        ),
        no(
            "M14",
            number(clipped),
            "That is the softmax of [0, 1, 0]: very negative logits are not zero logits.",
            clipped,
        ),
    )


def _licensed_sentence() -> Item:
    baseline, elmo = (
        reported.find(table=1, task="SQuAD", condition=name)[0] for name in ("baseline", "ELMo")
    )
    ner = reported.find(table=1, task="NER", condition="ELMo")[0]
    share = reported.error_removed(baseline.value, elmo.value)
    return _test(
        "M15",
        "O8",
        f"Table 1, SQuAD: {baseline.shown} for the baseline, {elmo.shown} with ELMo. NER: "
        f"{ner.shown}. Which sentence does the table license?",
        no(
            "M15",
            f"The learned mixture removed {number(share, 1)}% of the error on SQuAD.",
            "Everything that came with ELMo did, a large language model first of all. No column "
            "of the table has that language model without the mixture.",
        ),
        yes(
            f"One SQuAD system scored {number(elmo.value - baseline.value, 1)} F1 higher with ELMo "
            "added, on one test set.",
            "What was compared, on what, by how much. No more is in the row.",
        ),
        no(
            "M15",
            f"On new data NER will lie within {ner.shown} with 95% confidence.",
            f"± is a standard deviation over {ner.spread_over}, on one test set.",
        ),
        no(
            "M15",
            "Contextual vectors are better than static ones.",
            "Six systems, each with itself. And context alone is not enough: in chapter 1 the "
            "token table of a trained model beats the contextual layers of an untrained one.",
        ),
    )


def _larger_rate() -> Item:
    small, one, far = (state("lower", learning_rate=rate) for rate in (0.1, 1.0, 5.0))
    line = wrong.loss_on_a_straight_line(small, far.learning_rate)
    right = far.updated.loss
    return _test(
        "M16",
        "O3",
        f"Lower-layer emphasis, both signs wrong, loss {number(small.forward.loss)}. A step at "
        f"rate 0.1 takes it to {number(small.updated.loss)}. ∂L/∂γ is "
        f"{number(small.gamma_gradient)}. Same direction, rate 5: the loss is then",
        no(
            "M16",
            f"{number(one.updated.loss)}: it keeps falling, more slowly",
            "That is rate 1. A gradient promises a fall for small enough steps.",
            one.updated.loss,
        ),
        no(
            "M16",
            f"{number(line)}: fifty times the rate, fifty times the fall",
            "A log loss cannot be below zero: a straight line is no forecast.",
            line,
        ),
        yes(
            f"{number(right)}: it rises",
            f"γ is now {number(far.updated_gamma, 2)}. The logits were moved for a mixture that "
            "points forwards, and it points backwards.",
            right,
        ),
    )


def _cached_by_spelling() -> Item:
    return _test(
        "M17",
        "O7",
        "What can be computed once for each spelling, and kept for sentences that nobody has "
        "written yet?",
        yes("h₀", "The token layer sees characters only. h₁ and h₂ need the sentence."),
        no("M17", "h₀ and h₁", "The lower contextual layer has read the sentence as well."),
        no("M17", "h₀, h₁ and h₂", "Then there would be one vector a word, and no ELMo."),
        no("M17", "e, once the mixture is trained", "e holds h₁ and h₂, which need the sentence."),
    )


def _penalty_sees_the_shift() -> Item:
    before, after = np.zeros(3), np.ones(3)
    rises = {
        name: float(compute(after, 1.0)) - float(compute(before, 1.0))
        for name, compute in {
            "right": logit_penalty,
            "weights": MISTAKES["penalty_on_weights"].compute,
            "half": MISTAKES["half_the_penalty"].compute,
        }.items()
    }
    mean = rises["right"] / len(after)
    return _test(
        "M18",
        "O3",
        "The loss is the task’s plus λ (a₀² + a₁² + a₂²) with λ = 1. Change a from [0, 0, 0] to "
        "[1, 1, 1]. By how much does it rise?",
        no(
            "M18",
            f"{number(rises['weights'])}: the weights are the same",
            "The task’s part is. The penalty is on the logits, and sees the shift.",
            rises["weights"],
        ),
        no(
            "M18",
            number(mean),
            "That is the mean of the squares; the penalty is their sum.",
            mean,
        ),
        yes(
            number(rises["right"]),
            "The task cannot see a common shift, the penalty can, and pulls the logits’ sum to "
            "zero.",
            rises["right"],
        ),
        no(
            "M18",
            number(rises["half"]),
            "There is no one half in this penalty.",
            rises["half"],
        ),
    )


def _two_starts() -> Item:
    run = descend([PRESETS["upper"]] * 2, [1.0, -1.0], 500, 0.5)
    ends = run.weights[-1]
    up, down = (f"largest weight on {layer(int(end.argmax()))}" for end in ends)
    losses = " and ".join(number(loss) for loss in run.loss[-1])
    gammas = " and ".join(number(gamma, 2) for gamma in run.gamma[-1])
    return _test(
        "M19",
        "O6",
        f"Two runs of descent from weights {vector(PRESETS['upper'])}, one with γ = 1, one with "
        f"γ = −1. River’s layers score {vector(RIVER_SCORES)}, loan’s {vector(LOAN_SCORES)}. After "
        f"{run.steps[-1]} steps the losses are {losses}. Where is the weight?",
        no(
            "M19",
            f"both runs: {up}, the better layer",
            "One of them would need γ to cross zero. It has a way down on its own side.",
        ),
        yes(
            f"γ = 1: {up}; γ = −1: {down}",
            f"γ ends at {gammas}. The upper layer as it is, or the lower one reversed: opposite "
            "layers, next to the same loss. A learned weight is a fact about a run.",
        ),
        no(
            "M19",
            "both runs: where it was, only γ has moved",
            "The logits get a gradient in both runs, and follow it.",
        ),
        no(
            "M19",
            f"γ = 1: {up}; γ = −1: equal weights, it is lost",
            "Its loss is as low. No run is lost here.",
        ),
    )
