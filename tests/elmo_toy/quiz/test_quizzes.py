"""Every question: its right answer computed another way, its wrong ones by a formula."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from elmo_toy import descent, quiz, reported
from elmo_toy.exercises import EXERCISES
from elmo_toy.exercises.mistakes import MISCONCEPTION_IDS as IDS
from elmo_toy.exercises.objectives import OBJECTIVES
from elmo_toy.gradient_check import complex_step
from elmo_toy.quiz import Item
from elmo_toy.quiz.rounds import CONSTRUCTS
from elmo_toy.scalar_mix import scalar_mix, softmax
from elmo_toy.worked_example import LAYERS, PRESETS, forward

PACKAGE = Path(quiz.__file__).parent
PRE, POST, CONCEPT = quiz.pre_quiz(), quiz.post_quiz(), quiz.concept_tests()
ALL = (*PRE, *POST, *CONCEPT)
BY_ID = {item.id: item for item in ALL}
UPPER, LOWER = PRESETS["upper"], PRESETS["lower"]
each = pytest.mark.parametrize("item", ALL, ids=lambda item: item.id)


def loss(weights: np.ndarray, gamma: float) -> float:
    return float(descent.loss_at(weights, gamma))


def mixture(k: int, weights: np.ndarray) -> np.ndarray:
    return np.asarray(scalar_mix(LAYERS, np.log(weights))[k, 0])


def slope_of_rivers_score() -> float:
    """By the complex step, at the weights of CT6."""
    start = np.log([0.1, 0.1, 0.8])
    return float(complex_step(lambda a: forward(a).scores[0], start)[0])


def weight_after_other_units() -> float:
    """Weights that give the old mixtures from layers of which one is ten times as long."""
    units = np.array([1.0, 1.0, 10.0])
    g = UPPER / units
    after = forward(np.log(g / g.sum()), g.sum(), layers=LAYERS * units[:, None, None])
    np.testing.assert_allclose(after.mixtures, forward(np.log(UPPER)).mixtures, atol=1e-12)
    return float(after.weights[2])


def rank_of_a_duplicated_layer() -> float:
    """At a sixteenth of the size: 32 numbers written twice, for 37 words."""
    half = np.random.default_rng(0).normal(size=(37, 32))
    return 16.0 * float(np.linalg.matrix_rank(np.hstack([half, half])))


def gradient_of_the_upper_logit() -> float:
    return float(complex_step(lambda a: forward(a).loss, np.log(LOWER))[2])


#: The right numbers, by another way than the quiz computes them.
RIGHT: dict[str, Callable[[], object]] = {
    "CT2": lambda: softmax([0.0, 0.0, 0.0]),
    "CT3": lambda: scalar_mix(LAYERS, np.log(UPPER) + 1)[0, 0],
    "CT4": lambda: mixture(1, np.array([0.1, 0.1, 0.8]))[0],
    "CT5": lambda: loss(LOWER, 2.0),
    "CT6": slope_of_rivers_score,
    "CT7": lambda: descent.step_on_logits(UPPER, 1.0, 0.1).weights,
    "CT9": weight_after_other_units,
    "CT12": rank_of_a_duplicated_layer,
    "CT14": lambda: 0.0,
    "CT16": lambda: float(descent.step_on_logits(LOWER, 1.0, 5.0).loss),
    "CT18": lambda: 3.0,
    "pre-1": lambda: [0.25, 0.5, 0.25],
    "pre-2": lambda: mixture(0, UPPER),
    "pre-4": lambda: loss(UPPER, 2.0),
    "post-1": lambda: [0.6, 0.2, 0.2],
    "post-2": lambda: mixture(1, LOWER),
    "post-4": lambda: loss(LOWER, -1.0),
    "post-6": gradient_of_the_upper_logit,
}


def test_numeric_items_are_the_ones_checked_here() -> None:
    assert {item.id for item in ALL if item.right.values} == set(RIGHT)


@pytest.mark.parametrize("name", RIGHT)
def test_the_right_answer_is_right(name: str) -> None:
    expected = np.ravel(np.asarray(RIGHT[name](), dtype=float))
    np.testing.assert_allclose(BY_ID[name].right.values, expected, rtol=1e-9, atol=1e-12)


def test_two_starts_end_at_opposite_layers() -> None:
    run = descent.descend([UPPER, UPPER], [1.0, -1.0], 500, 0.5)
    assert run.weights[-1].argmax(axis=1).tolist() == [2, 1]
    assert (run.loss[-1] < 0.0015).all()
    assert BY_ID["CT19"].right.text == "γ = 1: largest weight on h₂; γ = −1: largest weight on h₁"


def test_the_table_is_quoted_as_printed() -> None:
    shown = {result.shown for result in reported.find(table=1, task="SQuAD")[1:]}
    assert all(text in BY_ID["CT15"].question for text in shown)
    assert "4.7 F1" in BY_ID["CT15"].right.text
    assert "89%" in BY_ID["post-7"].right.text
    columns = {result.condition for result in reported.find(table=1)}
    assert columns == {"earlier best", "baseline", "ELMo"}, "none has the model and no mixture"


def explanation(item: str, letter: str) -> str:
    return BY_ID[item].options[quiz.LETTERS.index(letter)].explanation


def test_numbers_in_explanations() -> None:
    """Table 2 has 80.8, 84.7, 85.0 and 85.2 for SQuAD."""
    far = descent.step_on_logits(LOWER, 1.0, 5.0)
    assert explanation("CT16", "C").startswith(f"γ is now −{abs(float(far.gamma)):.2f}")
    stepped = descent.step_on_weights(UPPER, 1.0, 0.1)
    assert f"the sum is now {stepped.weights.sum():.3f}" in explanation("CT7", "C")
    assert explanation("post-7", "A") == (
        "3.9 of 4.4 points. The learned weights add 0.2 to the average."
    )
    texts = [option.text for option in BY_ID["post-7"].options]
    assert texts[1] == "the learned mixture brought 4.4 points"
    assert "beat the average by 0.2 on new data" in texts[3]


def test_numbers_in_explanations_that_are_words() -> None:
    assert "They would sum to 4" in explanation("CT3", "C")
    assert (UPPER + 1).sum() == pytest.approx(4)
    assert "zero and about 10⁻⁴⁵" in explanation("CT14", "B")
    assert np.log10(np.nextafter(np.float32(0), np.float32(1))) == pytest.approx(-45, abs=0.2)
    assert "fifty times the rate, fifty times the fall" in BY_ID["CT16"].options[1].text
    assert "rate 0.1" in BY_ID["CT16"].question
    assert "rate 5:" in BY_ID["CT16"].question
    assert "Four numbers of ELMo learn" in explanation("CT10", "C")
    assert "From the largest weight to the smallest" in explanation("CT9", "A")
    after = UPPER / [1, 1, 10]
    assert (int(UPPER.argmax()), int(after.argmin())) == (2, 2)


def test_no_number_of_an_option_is_typed() -> None:
    """The last argument of an option is computed: a typed number there would be an invented one."""
    for name in ("concept.py", "rounds.py"):
        tree = ast.parse((PACKAGE / name).read_text("utf-8"))
        calls = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("no", "yes", "_plain")
        ]
        assert len(calls) > 20
        for call in calls:
            long = 3 + (call.func.id == "no")  # type: ignore[attr-defined]  # a Name, see above
            if len(call.args) == long:
                assert not isinstance(call.args[-1], (ast.Constant, ast.List, ast.Tuple)), (
                    ast.unparse(call)
                )


@each
def test_every_answer_is_explained(item: Item) -> None:
    assert item.question[0].isupper() or item.question[0] in "rn"  # a name of code may begin it
    for option in item.options:
        assert len(option.explanation.split()) >= 4, option
        assert option.misconception is None or option.misconception in IDS
        assert not (option.right and option.misconception)


@pytest.mark.parametrize("item", CONCEPT, ids=lambda item: item.id)
def test_a_wrong_vote_names_a_belief(item: Item) -> None:
    assert all(option.right or option.misconception for option in item.options)
    beliefs = {option.misconception for option in item.options}
    assert item.misconception in beliefs, "nothing to choose for those who hold it"


def test_every_misconception_has_a_concept_test() -> None:
    assert tuple(quiz.MISCONCEPTIONS) == IDS
    assert [item.misconception for item in CONCEPT] == list(IDS)
    assert [item.id for item in CONCEPT] == [f"CT{name[1:]}" for name in IDS]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_has_an_exercise_and_a_question(objective: str) -> None:
    assert any(exercise.objective == objective for exercise in EXERCISES.values())
    assert any(item.objective == objective for item in ALL)


def test_every_question_has_a_known_objective() -> None:
    assert {item.objective for item in ALL} <= set(OBJECTIVES)


def test_pairs_ask_for_the_same_with_other_numbers() -> None:
    assert (len(PRE), len(POST)) == (5, 7)
    assert [item.construct for item in PRE] == [item.construct for item in POST[:5]]
    assert {item.construct for item in POST} == set(CONSTRUCTS)
    for before, after in zip(PRE, POST, strict=False):
        assert before.objective == after.objective
        assert before.question != after.question
        if before.right.values:
            assert before.right.values != after.right.values


def test_the_right_letter_cannot_be_guessed() -> None:
    letters = Counter(item.key for item in ALL)
    assert set(letters) == set("ABCD")
    assert max(letters.values()) < len(ALL) / 2


def test_ids_are_unique() -> None:
    assert len(BY_ID) == len(ALL)


def test_misconceptions_say_what_helps() -> None:
    for one in quiz.MISCONCEPTIONS.values():
        assert one.sources
        assert one.belief.endswith(".")
        assert one.remedy.endswith(".")
        page, _, heading = one.anchor.partition("#")
        assert (PACKAGE.parents[1] / page).is_file()
        assert heading
