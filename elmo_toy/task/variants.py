"""A trained tagger, changed in one respect and asked again.

Book: chapter 5, "Longer is not better".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from numpy.typing import ArrayLike

from elmo_toy.scalar_mix import ScalarMix
from elmo_toy.task.combine import WEIGHTED
from elmo_toy.task.data import Tagged
from elmo_toy.task.tagger import Tagger
from elmo_toy.task.training import Evaluation, evaluate


def scaled(tagger: Tagger, factor: float) -> Tagger:
    """Multiply gamma, learned or fixed, at every place; free coefficients, which have none, too.

    Everything else stays as it was trained, so what follows reads vectors of another length.

    Raises
    ------
    ValueError
        For a tagger that concatenates, or reads no layers.

    >>> import numpy as np
    >>> from elmo_toy.task.options import TaggerOptions
    >>> tagger = Tagger.initialise(TaggerOptions(2, 3, 4), np.random.default_rng(0))
    >>> scaled(tagger, 2.0).combiner("input").gamma
    2.0

    Book: chapter 5, "Longer is not better".
    """
    options = tagger.options
    if options.combiner.kind == "concatenation" or not options.places:
        raise ValueError(
            "tagger: expected one with a gamma or free coefficients, got combiner "
            f"{options.combiner.kind!r}, attached {options.attach!r}"
        )
    if options.combiner.kind in WEIGHTED:
        combiner = replace(options.combiner, gamma=factor * options.combiner.gamma)
        options = replace(options, combiner=combiner)
    parameters = tagger.copy().parameters
    for name, value in parameters.items():
        if name.split("/")[-1] in ("gamma", "coefficients"):
            value *= factor
    return Tagger(options, parameters)


def losses_by_gamma(tagger: Tagger, data: Tagged, factors: Iterable[float]) -> list[Evaluation]:
    """Evaluate a trained tagger with gamma multiplied by each of the factors.

    A factor of 1 is the tagger as it is; 0 takes the layers away.

    Book: chapter 5, "Longer is not better".
    """
    return [evaluate(scaled(tagger, factor), data) for factor in factors]


def with_weights(tagger: Tagger, weights: ArrayLike) -> Tagger:
    """Give every mixture of a tagger these weights; gamma and everything else stay as trained.

    Parameters
    ----------
    tagger : Tagger
        With combiners of the kind ``"mixture"``.
    weights : (layers,), at least 0, with sum 1

    Raises
    ------
    ValueError
        For other weights, or another kind.

    >>> import numpy as np
    >>> from elmo_toy.task.options import TaggerOptions
    >>> tagger = Tagger.initialise(TaggerOptions(2, 3, 4), np.random.default_rng(0))
    >>> with_weights(tagger, [0.0, 0.0, 1.0]).combiner("input").weights
    array([0., 0., 1.])

    Book: chapter 5, "What a neighbour changes".
    """
    if tagger.options.combiner.kind != "mixture":
        raise ValueError(
            f"tagger: expected combiner 'mixture', got {tagger.options.combiner.kind!r}"
        )
    logits = ScalarMix.from_weights(weights).logits
    if logits.shape != (tagger.options.n_layers,):
        raise ValueError(
            f"weights: expected {tagger.options.n_layers}, one a layer, got {len(logits)}"
        )
    parameters = tagger.copy().parameters
    for place in tagger.options.places.values():
        parameters[f"{place}/logits"] = logits.astype(tagger.dtype)
    return Tagger(tagger.options, parameters)
