"""Every figure of the book. Each function returns a `Figure` and demands its description, `alt`.

Book: chapter 3, "Inside the triangle".
"""

from elmo_toy.figures._style import RULE_LOOKS
from elmo_toy.figures._svg import Figure
from elmo_toy.figures.carry_forward import (
    change_by_source,
    influence_by_distance,
    jacobian_maps,
    senses_by_objective,
)
from elmo_toy.figures.experiments import (
    five_seeds,
    gains_by_task,
    insertion_points,
    layers_by_task,
    paired_differences,
    scores_by_labels,
    steps_of_gain,
    weights_and_scores,
)
from elmo_toy.figures.extractor import (
    frozen_and_learned,
    losses_by_factor,
    mixture_progress,
    occlusion,
)
from elmo_toy.figures.gradient import (
    contributions,
    error_against_step,
    falling_losses,
    head_turns,
    loss_by_rate,
    many_steps,
    penalty,
    simplex_paths,
)
from elmo_toy.figures.language_models import (
    context_reach,
    forgetting,
    learning_curve,
    losses_and_senses,
    one_position_shift,
    parameters_by_part,
)
from elmo_toy.figures.mixture import (
    gamma_rays,
    influence,
    layer_weights,
    same_predictions,
    two_cones,
    two_triangles,
)
from elmo_toy.figures.word_types import cosine_backgrounds, pair_percentiles

__all__ = [
    "RULE_LOOKS",
    "Figure",
    "change_by_source",
    "context_reach",
    "contributions",
    "cosine_backgrounds",
    "error_against_step",
    "falling_losses",
    "five_seeds",
    "forgetting",
    "frozen_and_learned",
    "gains_by_task",
    "gamma_rays",
    "head_turns",
    "influence",
    "influence_by_distance",
    "insertion_points",
    "jacobian_maps",
    "layer_weights",
    "layers_by_task",
    "learning_curve",
    "loss_by_rate",
    "losses_and_senses",
    "losses_by_factor",
    "many_steps",
    "mixture_progress",
    "occlusion",
    "one_position_shift",
    "pair_percentiles",
    "paired_differences",
    "parameters_by_part",
    "penalty",
    "same_predictions",
    "scores_by_labels",
    "senses_by_objective",
    "simplex_paths",
    "steps_of_gain",
    "two_cones",
    "two_triangles",
    "weights_and_scores",
]
