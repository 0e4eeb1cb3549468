"""The mixture and its gradients beside a second implementation that shares nothing with the first.

Plain Python: lists and loops, no numpy, 50 decimal digits, so that its own rounding is out of
sight. Gradients come out of the forward pass with dual numbers, ``value + slope * e`` where
``e * e = 0``: one pass for each number that is differentiated, and no formula of a gradient.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest

from elmo_toy import LayerNorm, scalar_mix, scalar_mix_gradients
from elmo_toy.layer_norm import Boundaries

TOLERANCE = 1e-12


@dataclass(frozen=True)
class Dual:
    """A number and its derivative with respect to the one that is differentiated."""

    value: Decimal
    slope: Decimal = Decimal(0)

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, self.slope + other.slope)

    def __sub__(self, other: Dual) -> Dual:
        return Dual(self.value - other.value, self.slope - other.slope)

    def __mul__(self, other: Dual) -> Dual:
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    def __truediv__(self, other: Dual) -> Dual:
        quotient = self.value / other.value
        return Dual(quotient, (self.slope - quotient * other.slope) / other.value)

    def exp(self) -> Dual:
        """With its own value as the derivative."""
        return Dual(self.value.exp(), self.value.exp() * self.slope)

    def sqrt(self) -> Dual:
        """With 1 / (2 * root) as the derivative."""
        root = self.value.sqrt()
        return Dual(root, self.slope / (2 * root))


ZERO = Dual(Decimal(0))
Layers = list[list[list[list[Dual]]]]  # [sentence][layer][token][dim]
Mixture = list[list[list[Dual]]]  # [sentence][token][dim]


def total(numbers: list[Dual]) -> Dual:
    result = ZERO
    for number in numbers:
        result = result + number
    return result


def counted_positions(mask: list[list[bool]], boundaries: str) -> list[tuple[int, int]]:
    """Which (sentence, token) the statistics are made from."""
    positions = []
    for b, row in enumerate(mask):
        tokens = [t for t, there in enumerate(row) if there]
        if boundaries == "left_out":
            tokens = tokens[1:-1]
        positions += [(b, t) for t in tokens]
    return positions


def plain_mix(
    layers: Layers,
    logits: list[Dual],
    gamma: Dual,
    mask: list[list[bool]],
    norm: tuple[float, str] | None,
) -> Mixture:
    exponentials = [logit.exp() for logit in logits]
    weights = [e / total(exponentials) for e in exponentials]
    shifts, scales = [ZERO] * len(logits), [Dual(Decimal(1))] * len(logits)
    if norm is not None:
        epsilon, boundaries = norm
        positions = counted_positions(mask, boundaries)
        for j in range(len(logits)):
            values = [x for b, t in positions for x in layers[b][j][t]]
            n = Dual(Decimal(len(values)))
            shifts[j] = total(values) / n
            variance = total([(x - shifts[j]) * (x - shifts[j]) for x in values]) / n
            scales[j] = (variance + Dual(Decimal(epsilon))).sqrt()
    mixture: Mixture = []
    for b, row in enumerate(mask):
        mixture.append([])
        for t, there in enumerate(row):
            dims = range(len(layers[b][0][t]))
            mixture[b].append(
                [
                    gamma
                    * total(
                        [
                            weights[j] * ((layers[b][j][t][i] - shifts[j]) / scales[j])
                            for j in range(len(logits))
                        ]
                    )
                    if there
                    else ZERO
                    for i in dims
                ]
            )
    return mixture


def constants(nested: Any) -> Any:
    """Nested lists of floats as duals; a float is a decimal number exactly."""
    return [constants(x) for x in nested] if isinstance(nested, list) else Dual(Decimal(nested))


def indices(nested: Any, *index: int) -> Iterator[tuple[int, ...]]:
    if not isinstance(nested, list):
        yield index
        return
    for i, item in enumerate(nested):
        yield from indices(item, *index, i)


def flat(nested: Any) -> list[Any]:
    return [x for item in nested for x in flat(item)] if isinstance(nested, list) else [nested]


@dataclass(frozen=True)
class Case:
    """Arguments of a mixture as plain numbers, and what the plain implementation makes of them."""

    name: str
    layers: list[Any]  # [sentence][layer][token][dim] of floats
    logits: list[float]
    gamma: float
    mask: list[list[bool]]
    upstream: list[Any]
    norm: tuple[float, Boundaries] | None = None  # epsilon, boundaries

    def witness(self, nudged: str = "", index: tuple[int, ...] = ()) -> Mixture:
        """The mixture, with slopes along one entry of the argument `nudged`."""
        arguments = {name: constants(getattr(self, name)) for name in ("layers", "logits", "gamma")}
        if nudged:
            holder: Any = arguments
            *path, last = (nudged, *index)
            for key in path:
                holder = holder[key]
            holder[last] = Dual(holder[last].value, Decimal(1))
        return plain_mix(**arguments, mask=self.mask, norm=self.norm)

    def derivatives(self, name: str) -> list[float]:
        """Of ``sum(upstream * mixture)``, along each entry of an argument in turn."""
        weights = [Decimal(x) for x in flat(self.upstream)]
        slopes = []
        for index in indices(getattr(self, name)):
            mixture = flat(self.witness(name, index))
            slopes.append(float(sum(w * x.slope for w, x in zip(weights, mixture, strict=True))))
        return slopes


def case(
    name: str,
    seed: int,
    *,
    lengths: list[int],
    n_layers: int = 3,
    gamma: float = 1.0,
    norm: tuple[float, Boundaries] | None = None,
    centre: float = 0.0,
    logits: list[float] | None = None,
) -> Case:
    """Rows of `lengths` tokens, padded on the right; two dims."""
    rng = random.Random(seed)  # noqa: S311 (no secret)
    tokens = max(lengths)

    def numbers(*shape: int) -> Any:
        if not shape:
            return rng.gauss(centre, 1)
        return [numbers(*shape[1:]) for _ in range(shape[0])]

    return Case(
        name=name,
        layers=numbers(len(lengths), n_layers, tokens, 2),
        logits=logits or [rng.gauss(0, 1) for _ in range(n_layers)],
        gamma=gamma,
        mask=[[t < length for t in range(tokens)] for length in lengths],
        upstream=[[[rng.gauss(0, 1) for _ in range(2)] for _ in range(tokens)] for _ in lengths],
        norm=norm,
    )


ARTICLE = Case(
    "article",
    layers=[
        [[[1.0, 0.0]], [[0.0, 2.0]], [[3.0, 1.0]]],
        [[[1.0, 0.0]], [[2.0, 0.0]], [[-1.0, 2.0]]],
    ],
    logits=[math.log(0.2), math.log(0.3), math.log(0.5)],
    gamma=1.0,
    mask=[[True], [True]],
    upstream=[[[1.0, -1.0]], [[1.0, -1.0]]],
)
CASES = [
    ARTICLE,
    case("no norm", 1, lengths=[3, 3], gamma=1.7),
    case("masked, negative gamma", 2, lengths=[3, 1], gamma=-2.5),
    case("one layer", 3, lengths=[2], n_layers=1, gamma=0.5),
    case("a dominant logit", 4, lengths=[2], logits=[30.0, -20.0, 1.0]),
    case("norm", 5, lengths=[3, 2], gamma=1.3, norm=(1e-12, "counted")),
    case("norm, boundaries left out", 6, lengths=[4, 3], norm=(1e-12, "left_out")),
    case(
        "norm, epsilon counts, negative gamma", 7, lengths=[2, 3], gamma=-1.0, norm=(0.5, "counted")
    ),
    case("left out, a row of boundaries", 8, lengths=[4, 2], gamma=-0.7, norm=(1e-3, "left_out")),
    case("norm beside a large mean", 9, lengths=[3], norm=(1e-12, "counted"), centre=100.0),
]


def close(ours: Any, witness: list[float], scale: float = 1.0) -> None:
    """To 1e-12 of the number, or of 1 where it is smaller; `scale` where digits cancel before."""
    for mine, theirs in zip(np.ravel(ours).tolist(), witness, strict=True):
        assert abs(mine - theirs) <= TOLERANCE * scale * max(1, abs(theirs))


def ours(case: Case) -> dict[str, Any]:
    return {
        "layers": np.array(case.layers),
        "logits": np.array(case.logits),
        "gamma": case.gamma,
        "mask": np.array(case.mask),
        "layer_norm": None if case.norm is None else LayerNorm(*case.norm),
    }


@pytest.mark.parametrize("c", [pytest.param(c, id=c.name) for c in CASES])
def test_mixture_and_gradients_equal_plain_pythons(c: Case) -> None:
    # Layers around 100 with a spread of 1 are known to 100 roundings of their spread.
    scale = 100.0 if "large mean" in c.name else 1.0
    arguments = ours(c)
    with localcontext(prec=50):
        close(scalar_mix(**arguments), [float(x.value) for x in flat(c.witness())], scale)
        gradients = scalar_mix_gradients(**arguments, upstream=np.array(c.upstream))
        for name in ("layers", "logits", "gamma"):
            close(getattr(gradients, name), c.derivatives(name), scale)
