"""Every figure of the book. Each function returns a `Figure` and demands its description, `alt`."""

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
    "Figure",
    "contributions",
    "cosine_backgrounds",
    "error_against_step",
    "falling_losses",
    "gamma_rays",
    "head_turns",
    "influence",
    "layer_weights",
    "loss_by_rate",
    "many_steps",
    "pair_percentiles",
    "penalty",
    "same_predictions",
    "simplex_paths",
    "two_cones",
    "two_triangles",
]
