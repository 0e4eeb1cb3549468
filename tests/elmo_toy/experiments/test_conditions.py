"""The plan varies one thing at a time from its default, and every reader has the same budget."""

from __future__ import annotations

from collections import Counter

import pytest

from elmo_toy.experiments import fits
from elmo_toy.experiments.conditions import (
    CONDITIONS,
    FRACTIONS,
    LABELS,
    LAMBDAS,
    LINEAR,
    PENALTY,
    SEEDS,
    TASKS,
    Setting,
    applies,
    plan,
)
from elmo_toy.experiments.fits import FitSizes, tagger_options
from elmo_toy.task.tagger import parameter_shapes


def test_every_condition_is_run_on_every_task_that_it_applies_to_with_every_seed() -> None:
    settings = plan()
    assert len({setting.name for setting in settings}) == len(settings)
    default = [s for s in settings if (s.labels, s.penalty) == (LABELS, PENALTY)]
    counted = Counter((setting.task, setting.condition) for setting in default)
    assert set(counted.values()) == {len(SEEDS)}
    assert set(counted) == {(t, c) for t in TASKS for c in CONDITIONS if applies(t, c)}


def test_one_thing_at_a_time() -> None:
    for setting in plan():
        changed = [setting.labels != LABELS, setting.penalty != PENALTY]
        assert sum(changed) <= 1, setting
        if setting.penalty != PENALTY:
            assert setting.condition == "mixture"
    for task in TASKS:
        mixtures = [s for s in plan([task], [0]) if s.condition == "mixture"]
        assert {s.penalty for s in mixtures} == set(LAMBDAS)
        assert {s.labels for s in mixtures} == set(FRACTIONS)


def test_the_first_settings_are_the_defaults_of_all_tasks_and_seeds() -> None:
    first = plan()[: len(TASKS) * len(SEEDS)]
    assert {(s.task, s.seed) for s in first} == {(t, seed) for t in TASKS for seed in SEEDS}
    assert {s.condition for s in first} == {"mixture"}


def test_the_untrained_model_and_a_bag_of_words_stand_beside_every_share_of_the_labels() -> None:
    for task in TASKS:
        for labels in FRACTIONS:
            found = {s.condition for s in plan([task], [0]) if s.labels == labels}
            assert {"mixture", "untrained", "bag_of_words"} <= found


@pytest.mark.parametrize("n_tags", [2, 17, 28, 72])
def test_a_matched_concatenation_learns_no_more_numbers_than_the_mixture(n_tags: int) -> None:
    def parameters(condition: str, more: int = 0) -> int:
        options = tagger_options(CONDITIONS[condition], 3, 64, n_tags, 0, FitSizes())
        shapes = parameter_shapes(options)
        if more:
            return (options.combiner.width + more) * (3 * 64 + n_tags) + n_tags
        return sum(
            int(a * b) for a, b in ((s[0], s[1] if len(s) > 1 else 1) for s in shapes.values())
        )

    matched, mixture = parameters("concatenation_matched"), parameters("mixture")
    if n_tags == 2:  # two tags have one direction to be told apart in: width 1 is the least
        assert matched == 194 + 2
    else:
        assert matched <= mixture < parameters("concatenation_matched", more=1)
    assert parameters("concatenation") > 2.5 * mixture


def test_conditions_differ_in_what_their_names_say() -> None:
    kinds = {name: condition.combiner.kind for name, condition in LINEAR.items()}
    assert kinds["mixture"] == kinds["untrained"] == "mixture"
    assert [LINEAR[f"layer_{j}"].combiner.layer for j in range(3)] == [0, 1, 2]
    assert not LINEAR["layer_2"].combiner.learn_gamma
    assert LINEAR["top_gamma"].combiner.learn_gamma
    assert LINEAR["top_gamma"].combiner.layer == 2
    taglm, after_first = CONDITIONS["taglm"], CONDITIONS["after_first"]
    assert taglm.attach == after_first.attach == "after_first"
    assert not taglm.combiner.learn_gamma
    assert {CONDITIONS[c].recurrent_layers for c in ("tagger", "input", "output", "both")} == {2}


def test_both_grids_have_as_many_learning_rates() -> None:
    sizes = fits.FitSizes()
    assert len(sizes.linear.rates) == len(sizes.recurrent.rates) == 3


def test_what_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"task: expected one of senses, .*, got 'sense'"):
        Setting("sense", "mixture", 0)
    with pytest.raises(ValueError, match=r"condition: expected one of mixture, .*, got 'mix'"):
        Setting("senses", "mix", 0)
