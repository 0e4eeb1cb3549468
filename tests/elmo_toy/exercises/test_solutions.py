"""Every exercise's right answer by another way than the exercises compute it.

By hand, by `math`, by the complex step, by plain loops, by trying; and the code that is shown to
readers, in solutions and hints, is run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from elmo_toy import descent
from elmo_toy.exercises import EXERCISES, build_solution, check
from elmo_toy.exercises.answers import Choices, Function, Witness
from elmo_toy.gradient_check import complex_step
from elmo_toy.scalar_mix import logit_penalty, scalar_mix, softmax
from elmo_toy.worked_example import HEAD, LABELS, LAYERS, forward, sigmoid

#: As the chapter prints them.
RIVER, LOAN = [(1, 0), (0, 2), (3, 1)], [(1, 0), (2, 0), (-1, 2)]
TOKEN, LOWER = np.array([0.6, 0.2, 0.2]), np.array([0.2, 0.6, 0.2])


def by_hand_lstm() -> list[float]:
    """[1, 2] W = [2 - 2, 3 - 4, 1 + 2, -2 + 2]; see exercise 2.2."""
    i, j, f, o = 0.0, -1.0, 3.0, 0.0
    cell = 2 / (1 + math.exp(-(f + 1))) + math.tanh(j) / (1 + math.exp(-i))
    return [cell, 3 * math.tanh(cell) / (1 + math.exp(-o))]


def mixtures() -> list[list[float]]:
    """Weights 0.2, 0.6, 0.2 and gamma 2."""
    return [
        [2 * sum(s * layer[d] for s, layer in zip((0.2, 0.6, 0.2), layers, strict=True))
         for d in range(2)]
        for layers in (RIVER, LOAN)
    ]  # fmt: skip


def gamma_of_lowest_loss() -> float:
    """Of the preset ``token``, whose mixed scores are 0.6 for label 1 and 0.4 for label 0."""
    tried = [n / 10_000 for n in range(-50_000, 50_001)]
    return min(tried, key=lambda g: math.log1p(math.exp(-0.6 * g)) + math.log1p(math.exp(0.4 * g)))


def gradient(weights: np.ndarray, gamma: float) -> np.ndarray:
    return complex_step(lambda a: forward(a, gamma).loss, np.log(weights))


def loss_after(rate: float) -> float:
    """One step from ``lower`` and gamma 2, its gradient by the complex step."""
    start = np.append(np.log(LOWER), 2.0)
    end = start - rate * complex_step(lambda x: forward(x[:3], x[3]).loss, start)
    return float(forward(end[:3], float(end[3])).loss)


def rate_without_progress() -> float:
    before = float(forward(np.log(LOWER), 2.0).loss)
    return next(rate for rate in np.arange(0.01, 10, 0.01) if loss_after(rate) > before)


def weights_after_many_steps() -> np.ndarray:
    """A loop over the homework's step."""
    logits, gamma = np.log(TOKEN), -1.0
    for _ in range(1000):
        logits, gamma = build_solution.step(LAYERS[:, :, 0], logits, gamma, HEAD, LABELS, 0.5)
    return softmax(logits)


def pairs(reaches: Callable[[int, int], bool]) -> int:
    return sum(reaches(asked, moved) for asked, moved in product(range(7), repeat=2))


def coefficients_in_a_residual_stack() -> list[float]:
    """Move one of h_0 and the updates by 1, and look how far the mixture moves."""
    found = []
    for moved in range(3):
        parts = np.zeros(3)
        parts[moved] = 1
        found.append(float(TOKEN @ parts.cumsum()))
    return found


def losses_with_and_without_a_padded_row() -> tuple[float, float]:
    """Mixed by the package, with zeros in a third row; either label there costs the same."""
    rows = np.concatenate([LAYERS, np.zeros_like(LAYERS[:1])])
    river, loan, pad = scalar_mix(rows, np.log(LOWER))[:, 0] @ [1.0, -1.0]
    two = math.log(1 + math.exp(-river)) + math.log(1 + math.exp(loan))
    one, zero = (math.log(1 + math.exp(sign * pad)) for sign in (-1, 1))
    assert one == zero
    return (two + one) / 3, two / 2


#: Numbers; where a search has a grid, as near as its steps.
NUMBERS: dict[str, Callable[[], Any]] = {
    "1.1": lambda: (len({"the", "bank", "by", "river", ".", "lent"}), 7 + 4),
    "1.3": lambda: (14 + 7 + 6) / (20 + 10 + 10),
    "2.1": lambda: (["<S>", "the", "muddy", "bank", "flooded"].index("flooded"), 2),
    "2.2": by_hand_lstm,
    "2.4": lambda: (300, 700),
    "3.1": lambda: [1 / 6, 2 / 6, 3 / 6],
    "3.2": mixtures,
    "3.4": gamma_of_lowest_loss,
    "4.1": lambda: (math.log(1 + math.exp(-1.2)) + math.log(1 + math.exp(0.8))) / 2,
    "4.2": lambda: gradient(TOKEN, 2.0),
    "4.4": lambda: softmax(np.log(LOWER) - 0.5 * gradient(LOWER, 1.0)),
    "4.6": rate_without_progress,
    "4.8": weights_after_many_steps,
    "4.9": lambda: min(range(-10, 11), key=lambda t: (1 + t) ** 2 + (2 + t) ** 2 + (6 + t) ** 2),
    "4.10": lambda: 3.0,  # its own test tries many logits
    "5.1": lambda: 5000 + (3 + 1) + (3 + 1),
    "5.5": losses_with_and_without_a_padded_row,
    "6.1": lambda: 100 * 3.2 / 18.6,
    "6.2": lambda: 100 * 0.2 / 4.4,
    "6.4": lambda: 0.15,  # its own test simulates
    "7.1": coefficients_in_a_residual_stack,
    "7.3": lambda: (
        pairs(lambda asked, moved: moved <= asked),
        pairs(lambda asked, moved: moved <= asked or moved >= asked),
        pairs(lambda asked, moved: True),
    ),
    "8.1": lambda: 1024 * 4 * 4096 + 4 * 4096 + 4096 * 512,
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_right(name: str) -> None:
    assert check(name, NUMBERS[name]()).right
    if name not in ("4.6", "6.4"):
        assert np.shape(EXERCISES[name].answer.solution) == np.shape(NUMBERS[name]())
        np.testing.assert_allclose(EXERCISES[name].answer.solution, NUMBERS[name](), rtol=1e-4)


def test_every_kind_of_exercise_is_checked_here() -> None:
    others = {
        name
        for name, exercise in EXERCISES.items()
        if isinstance(exercise.answer, Choices | Function | Witness)
    }
    assert set(NUMBERS) == set(EXERCISES) - others


# --- words ----------------------------------------------------------------------------------------


def test_what_a_common_shift_changes() -> None:
    def quantities(logits: np.ndarray) -> dict[str, Any]:
        found = forward(logits, 1.5)
        return {
            "weights": found.weights,
            "mixtures": found.mixtures,
            "loss": found.loss,
            "logit gradient": complex_step(lambda a: forward(a, 1.5).loss, logits),
            "penalty": logit_penalty(logits, 0.1),
        }

    before, after = quantities(np.array([0.3, -1, 2])), quantities(np.array([1.3, 0, 3]))
    changed = [name for name in before if not np.allclose(before[name], after[name])]
    assert check("3.3", changed).right


def test_what_a_mixture_can_reach() -> None:
    """By construction where it can; where it cannot, a gamma of either sign has a wrong sign."""
    reached = []
    for name, g in {
        "A": (2, 3, 5), "B": (0, -1, 1), "C": (-2, -5, -4), "D": (0, 0, 0), "E": (1, 0, 1),
    }.items():  # fmt: skip
        assert f"{name}: ${list(g)}$" in EXERCISES["3.7"].question
        gamma = sum(g)
        weights = np.array(g) / gamma if gamma else np.full(3, 1 / 3)
        if (weights > 0).all() and np.allclose(gamma * softmax(np.log(weights)), g):
            reached.append(name)
    assert check("3.7", reached).right


def test_the_only_file_from_which_a_mixture_learns_and_the_licensed_sentence() -> None:
    assert check("5.2", "all layers").right
    assert check("6.3", "b").right


def test_a_spread_is_called_what_its_caption_calls_it() -> None:
    """The caption of Table 1 has the five runs of NER and of SST-5, and is silent on SNLI."""
    assert "92.22 ± 0.10, over five runs with different random seeds" in EXERCISES["6.3"].question
    assert "SNLI" not in EXERCISES["6.3"].question
    assert "88.7 ± 0.17 for SNLI" in EXERCISES["6.4"].question
    assert "Suppose" in EXERCISES["6.4"].question


# --- witnesses ------------------------------------------------------------------------------------


def test_another_important_layer_with_the_same_predictions() -> None:
    *weights, gamma = EXERCISES["3.8"].answer.solution
    head = np.array([1.0, 1.0])
    start = forward(np.log([0.2, 0.3, 0.5]), head=head)
    found = forward(np.log(weights), gamma, head=head)
    np.testing.assert_allclose(found.scores, start.scores, atol=1e-12)
    assert found.loss == pytest.approx(start.loss)
    assert np.argmax(weights) == 0


@pytest.mark.parametrize(
    ("g", "said"),
    [
        ((0.56, 0.12, 0.5), "right"),
        ((0.23, 0.285, 0.5), "the largest weight has to be the token layer's"),
        ((0.0, 0.4, 0.5), "the first three have to be positive weights"),
        ((0.62, 0.11, 0.5), "the scores are not the same"),  # 0.02 more for both
    ],
)
def test_what_is_said_of_another_explanation(g: tuple[float, ...], said: str) -> None:
    """Walked along (-2, 1, 0), which changes neither score; the last is beside that way."""
    gamma = sum(g)
    assert said in str(check("3.8", [*(part / gamma for part in g), gamma]))


def test_a_mixture_does_not_know_its_layers_scores() -> None:
    layers = LAYERS.copy()
    layers[0, :, 0] = EXERCISES["5.4"].answer.solution
    start = np.log([0.2, 0.3, 0.5])
    np.testing.assert_allclose(forward(start, layers=layers).mixtures[0], [1.7, 1.1])
    slopes = [
        complex_step(lambda a, at=at: forward(a, layers=at).scores[0], start)
        for at in (layers, LAYERS)
    ]
    np.testing.assert_allclose(slopes, [[0, 0, 0], [0.08, -0.78, 0.7]], atol=1e-12)


# --- code -----------------------------------------------------------------------------------------

FENCED = re.compile(r"```python\n(.*?)```", re.DOTALL)
#: One-line solutions, and the names that their hints take as given.
LINES = {
    "1.2": "100 * ((background < cosine).mean() + (background == cosine).mean() / 2)",
    "2.3": "np.exp(-np.mean(np.log(chances)))",
    "5.3": "losses[mask].mean()",
    "7.2": "np.stack([(g_new - g) @ h, g @ (h_new - h), (g_new - g) @ (h_new - h)])",
    "8.3": "np.concatenate([np.zeros((1, table.shape[1])), table])[ids]",
}
FUNCTIONS = [name for name, e in EXERCISES.items() if isinstance(e.answer, Function)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_code_that_is_shown_is_right(name: str) -> None:
    exercise = EXERCISES[name]
    assert isinstance(exercise.answer, Function)
    signature = exercise.answer.signature
    if name in LINES:
        code = f"def {signature}:\n    return {LINES[name]}\n"
        parts = re.findall(r"`([^`]+)`", " ".join((*exercise.hints, exercise.solution_text)))
        whole = LINES[name].removeprefix("np.stack([").removesuffix("])")
        assert {LINES[name]} & set(parts) or set(whole.split(", ")) <= set(parts)
    else:
        (code,) = FENCED.findall(exercise.solution_text)
    given: dict[str, Any] = {"np": np, "sigmoid": sigmoid}
    exec(code, given)  # noqa: S102  (the package's own)
    verdict = check(name, given[signature.partition("(")[0]])
    assert verdict.right, verdict


# --- numbers in solutions -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("1.2", "the half makes their place 50 and not\n0."),
        ("1.3", "14, 7 and 6 times. Together 27 of\n40"),
        ("2.2", "\\sigma(4) \\cdot\n2 + \\sigma(0) \\tanh(-1)"),
        ("2.3", "one in 20 it is\n20:"),
        ("3.2", "[0.8, 1.4]$ and\n$[1.2, 0.4]"),
        ("3.7", "$\\gamma$ is the sum, 10,"),
        ("3.7", "$\\gamma = -11$"),
        ("3.8", "g = [0.68, 0.06, 0.5]$. Its sum is $\\gamma = 1.24$"),
        ("4.9", "The penalty falls from 4.1\nto 1.4."),  # (1 + 4 + 36) / 10, (4 + 1 + 9) / 10
        ("4.10", "scores, 4."),
        ("5.4", "three times $[1.7, 1.1]$"),
        (
            "5.5",
            "\\log 2 = 0.693$ for either label. River's and loan's losses are\n1.037 and 1.171.",
        ),
        ("5.5", "Counted: 2.902 divided by three,\n0.967. Masked: 2.209 divided by two, 1.104,"),
        ("6.1", "3.2 of 18.6 points of error:\n17.2%. From 90 the same gain would be\n32%."),
        ("6.2", "0.2 of 4.4 points:\n4.55%."),
        ("6.2", "\n89%, averaging the rest."),  # 3.9 of 4.4
        ("7.3", "1 + \\dots +\n7 = 28$ pairs"),
        ("8.1", "1024 rows times 16,384 columns. `B`:\n16,384. `W_P_0`: 4096 by 512."),
    ],
)
def test_a_number_in_a_solution_is_the_one_worked_out_by_hand(name: str, part: str) -> None:
    assert part in EXERCISES[name].solution_text


def test_numbers_of_the_best_gamma_and_of_the_rate_that_is_too_large() -> None:
    best, at_one, at_two = (float(forward(np.log(TOKEN), g).loss) for g in (0.7808407, 1, 2))
    text = EXERCISES["3.4"].solution_text
    assert f"{best:.4f}. At 1 it is\n{at_one:.4f} and at 2 it is {at_two:.4f}" in text
    turns = 2 / complex_step(lambda g: forward(np.log(LOWER), g[0]).loss, np.array([2.0]))[0]
    assert f"At a rate of {turns:.2f} the new" in EXERCISES["4.6"].solution_text
    assert loss_after(turns) == pytest.approx(math.log(2))
    assert loss_after(turns) < forward(np.log(LOWER), 2.0).loss


def test_two_starts_end_at_nearly_the_same_loss() -> None:
    run = descent.descend([TOKEN, TOKEN], [-1.0, 1.0], 1000, 0.5)
    assert run.weights[-1].argmax(axis=1).tolist() == [1, 2]
    assert abs(run.loss[-1, 0] - run.loss[-1, 1]) < 0.001


def test_without_m_the_three_derivatives_add_up_to_gamma_times_the_derivative_by_gamma() -> None:
    by_gamma = complex_step(lambda g: forward(np.log(TOKEN), g[0]).loss, np.array([2.0]))[0]
    assert f"{2 * by_gamma:.3f}, which is" in EXERCISES["4.2"].solution_text
