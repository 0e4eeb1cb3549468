"""Sizes of a tagger: what it reads, where the layers come in, which parameters that makes.

Book: chapter 5, "Where a mixture attaches".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from elmo_toy import text
from elmo_toy._checks import Array
from elmo_toy.task import combine, recurrent
from elmo_toy.task.combine import CombinerOptions

Attach = Literal["input", "output", "both", "after_first", "none"]


@dataclass(frozen=True)
class TaggerOptions:
    """Sizes of a tagger and what it reads.

    Attributes
    ----------
    n_tags : int
    n_layers, dim : int
        Of the extractor's layers.
    n_words, word_dim : int
        The task's own word vectors, trained with the rest; ``word_dim=0``: none.
    units : int
        Of each recurrent layer and direction.
    recurrent_layers : int
        0: a softmax on ``[x; e]``, a linear reader of single tokens.
    attach : str
        ``"input"``: before the first recurrent layer. ``"output"``: after the last. ``"both"``: two
        combiners with parameters of their own. ``"after_first"``: after the first of two or more
        (TagLM). ``"none"``: the tagger does without.
    combiner : CombinerOptions
        How layers become one vector, at every place alike.
    dropout : float
        Share of the numbers set to 0 before each recurrent layer and before the softmax, the others
        scaled up, in training alone.

    Source: Peters et al. (2018), section 3.3; "after_first": Peters et al. (2017).
    Book: chapter 5, "Where a mixture attaches".
    """

    n_tags: int
    n_layers: int
    dim: int
    n_words: int = 0
    word_dim: int = 0
    units: int = 32
    recurrent_layers: int = 1
    attach: Attach = "input"
    combiner: CombinerOptions = field(default_factory=CombinerOptions)
    dropout: float = 0.0

    def __post_init__(self) -> None:
        """Refuse impossible sizes and places."""
        for name, lowest in (
            ("n_tags", 1), ("n_layers", 1), ("dim", 1), ("n_words", 0), ("word_dim", 0),
            ("units", 1), ("recurrent_layers", 0),
        ):  # fmt: skip
            text.checked_count(getattr(self, name), name, lowest)
        if not isinstance(self.combiner, CombinerOptions):
            raise TypeError(f"combiner: expected CombinerOptions, got {self.combiner!r}")
        if (self.n_words == 0) != (self.word_dim == 0):
            raise ValueError(
                "n_words, word_dim: expected both 0 or both above, "
                f"got {self.n_words}, {self.word_dim}"
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout: expected at least 0 and below 1, got {self.dropout}")
        if self.attach not in ("input", "output", "both", "after_first", "none"):
            raise ValueError(
                "attach: expected 'input', 'output', 'both', 'after_first' or 'none', "
                f"got {self.attach!r}"
            )
        needed = {"output": 1, "both": 1, "after_first": 2}.get(self.attach, 0)
        if self.recurrent_layers < needed:
            raise ValueError(
                f"recurrent_layers: expected at least {needed} for attach={self.attach!r}, "
                f"got {self.recurrent_layers}"
            )
        if self.word_dim == 0 and self.attach not in ("input", "both"):
            raise ValueError(f"word_dim: expected at least 1 for attach={self.attach!r}, got 0")

    @property
    def places(self) -> dict[int, str]:
        """How many recurrent layers stand before each attached combiner, and the place's name."""
        last = self.recurrent_layers
        return {
            "input": {0: "input"},
            "output": {last: "output"},
            "both": {0: "input", last: "output"},
            "after_first": {1: "after_first"},
            "none": {},
        }[self.attach]

    def widths(self) -> list[int]:
        """What each recurrent layer, and at last the softmax, reads of a token."""
        combined = combine.output_width(self.combiner, self.n_layers, self.dim)
        below = [self.word_dim] + self.recurrent_layers * [2 * self.units]
        return [width + combined * (stage in self.places) for stage, width in enumerate(below)]


def parameter_shapes(options: TaggerOptions) -> dict[str, tuple[int, ...]]:
    """Name and shape of every parameter.

    >>> for name, shape in parameter_shapes(TaggerOptions(2, 3, 8, units=4)).items():
    ...     print(name, shape)
    input/logits (3,)
    input/gamma (1,)
    recurrent_0/W_0 (2, 12, 16)
    recurrent_0/B (2, 16)
    recurrent_0/W_P_0 (2, 4, 4)
    softmax/W (8, 2)
    softmax/b (2,)
    """
    shapes: dict[str, tuple[int, ...]] = {}
    if options.word_dim:
        shapes["words"] = (options.n_words, options.word_dim)
    combiner = combine.parameter_shapes(options.combiner, options.n_layers, options.dim)
    for place in options.places.values():
        shapes |= {f"{place}/{name}": shape for name, shape in combiner.items()}
    *widths, last = options.widths()
    for layer, width in enumerate(widths):
        layer_shapes = recurrent.parameter_shapes(width, options.units)
        shapes |= {f"recurrent_{layer}/{name}": shape for name, shape in layer_shapes.items()}
    return shapes | {"softmax/W": (last, options.n_tags), "softmax/b": (options.n_tags,)}


def initial_parameters(options: TaggerOptions, rng: np.random.Generator) -> dict[str, Array]:
    """Draw the parameters: Glorot and Bengio (2010), word vectors of about unit length."""
    parameters: dict[str, Array] = {}
    if options.word_dim:
        shape = (options.n_words, options.word_dim)
        parameters["words"] = rng.normal(0.0, options.word_dim**-0.5, shape)
    for place in options.places.values():
        drawn = combine.initial_parameters(options.combiner, options.n_layers, options.dim, rng)
        parameters |= {f"{place}/{name}": value for name, value in drawn.items()}
    *widths, last = options.widths()
    for layer, width in enumerate(widths):
        drawn = recurrent.initial_parameters(width, options.units, rng)
        parameters |= {f"recurrent_{layer}/{name}": value for name, value in drawn.items()}
    bound = (6.0 / (last + options.n_tags)) ** 0.5
    parameters["softmax/W"] = rng.uniform(-bound, bound, (last, options.n_tags))
    parameters["softmax/b"] = np.zeros(options.n_tags)
    return parameters
