"""Every figure of the book. Each function returns a `Figure` and demands its description, `alt`."""

from elmo_toy.figures._style import RULE_LOOKS
from elmo_toy.figures._svg import Figure
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
    "context_reach",
    "contributions",
    "cosine_backgrounds",
    "error_against_step",
    "falling_losses",
    "forgetting",
    "gamma_rays",
    "head_turns",
    "influence",
    "layer_weights",
    "learning_curve",
    "loss_by_rate",
    "losses_and_senses",
    "many_steps",
    "one_position_shift",
    "pair_percentiles",
    "parameters_by_part",
    "penalty",
    "same_predictions",
    "simplex_paths",
    "two_cones",
    "two_triangles",
]
