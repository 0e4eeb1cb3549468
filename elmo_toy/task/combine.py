"""From several layers to one vector a token: the mixture of ELMo, and what it is compared with.

Each way is a `Combiner`: its trained numbers, its forward pass, its gradients. Vectors at masked
positions are 0 and pass no gradient. The lambda penalty is apart: see `logit_penalties`.

Book: chapter 5, "Where a mixture attaches".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np

from elmo_toy import text
from elmo_toy._checks import (
    REAL_CODES,
    Array,
    all_finite,
    check_mask,
    describe,
    refuse_masked,
    refuse_non_finite,
)
from elmo_toy.layer_norm import LayerNorm
from elmo_toy.scalar_mix import (
    logit_penalty,
    logit_penalty_gradient,
    scalar_mix,
    scalar_mix_gradients,
    softmax,
)

Kind = Literal["mixture", "equal", "layer", "free", "concatenation"]
KINDS: tuple[Kind, ...] = ("mixture", "equal", "layer", "free", "concatenation")
WEIGHTED = KINDS[:3]
"""The kinds with weights that sum to 1, a gamma and an optional layer norm."""


@dataclass(frozen=True)
class CombinerOptions:
    """Which way to combine; what of it is learned.

    Attributes
    ----------
    kind : str
        ``"mixture"``: ``gamma * sum_j softmax(logits)_j layers_j``, logits learned (ELMo).
        ``"equal"``: the same with equal weights that stay. ``"layer"``: ``gamma * layers_j``.
        ``"free"``: ``sum_j c_j layers_j``, one learned number a layer, no softmax and no gamma,
        each ``1 / layers`` at the start. ``"concatenation"``: all layers, one beside the other.
    layer : int
        The layer of ``kind="layer"``; -1 is the top one, 0 the token layer.
    gamma : float
        What gamma starts from.
    learn_gamma : bool
        False: it stays. For the three kinds with a gamma.
    layer_norm : LayerNorm, optional
        For the three kinds with a gamma.
    width : int, optional
        A concatenation is multiplied with a learned matrix (layers * dim, width). It serves to
        give what comes after it as many parameters as after a mixture.

    Book: chapter 5, "Where a mixture attaches".
    """

    kind: Kind = "mixture"
    layer: int = -1
    gamma: float = 1.0
    learn_gamma: bool = True
    layer_norm: LayerNorm | None = None
    width: int | None = None

    def __post_init__(self) -> None:
        """Refuse what would be ignored."""
        if self.kind not in KINDS:
            raise ValueError(f"kind: expected one of {', '.join(KINDS)}, got {self.kind!r}")
        if isinstance(self.layer, bool) or not isinstance(self.layer, int | np.integer):
            raise TypeError(f"layer: expected an integer, got {self.layer!r}")
        if not isinstance(self.learn_gamma, bool):
            raise TypeError(f"learn_gamma: expected True or False, got {self.learn_gamma!r}")
        if not isinstance(self.layer_norm, LayerNorm | None):
            raise TypeError(f"layer_norm: expected a LayerNorm or None, got {self.layer_norm!r}")
        if not isinstance(self.gamma, int | float | np.floating) or not np.isfinite(self.gamma):
            raise ValueError(f"gamma: expected a finite number, got {self.gamma!r}")
        if self.kind != "layer" and self.layer != -1:
            raise ValueError(f"layer: expected only with kind 'layer', got {self.kind!r}")
        if self.kind not in WEIGHTED and (self.gamma != 1.0 or self.layer_norm is not None):
            raise ValueError(f"gamma, layer_norm: {self.kind!r} has neither, got one")
        if self.kind not in WEIGHTED and not self.learn_gamma:
            raise ValueError(f"learn_gamma: {self.kind!r} has no gamma to hold, got False")
        if self.width is not None:
            text.checked_count(self.width, "width")
            if self.kind != "concatenation":
                raise ValueError(f"width: expected only with 'concatenation', got {self.kind!r}")


class CombinerGradients(NamedTuple):
    """Of a scalar loss: for each trained parameter, and for the layers."""

    parameters: dict[str, Array]
    layers: Array  # (batch, layers, tokens, dim)


class Combiner(Protocol):
    """One way to combine layers (batch, layers, tokens, dim) into (batch, tokens, width).

    All of them raise TypeError or ValueError for layers, a mask or an upstream derivative of
    another shape or dtype, another number of layers, a batch of masked tokens alone, and layers (of
    those that it reads) or an upstream derivative that aren't finite at unmasked positions.
    """

    parameters: dict[str, Array]
    """What is trained, by name; an optimiser changes these arrays in place."""

    def forward(self, layers: Array, mask: Array) -> Array:
        """One vector a token: (batch, tokens, width), 0 where ``mask`` (batch, tokens) is False."""
        ...

    def gradients(self, layers: Array, mask: Array, upstream: Array) -> CombinerGradients:
        """Carry a derivative (batch, tokens, width) back; what ``upstream`` holds at pads is lost.

        Gradients are added up over all tokens: every token shares the same parameters.
        """
        ...


class WeightedSum:
    """The kinds ``"mixture"``, ``"equal"`` and ``"layer"``: `elmo_toy.scalar_mix` does the work."""

    def __init__(
        self, options: CombinerOptions, n_layers: int, parameters: Mapping[str, Array]
    ) -> None:
        self.options = options
        self.parameters = dict(parameters)
        self._n_layers = n_layers
        # One layer is a mixture of one layer: the others aren't touched.
        number = options.layer % n_layers
        self._chosen = slice(number, number + 1) if options.kind == "layer" else slice(None)

    @property
    def weights(self) -> Array:
        """(layers,), at least 0, with sum 1."""
        weights = np.zeros(self._n_layers)
        weights[self._chosen] = softmax(self._logits())
        return weights

    @property
    def gamma(self) -> float:
        """Learned or fixed."""
        return (
            float(self.parameters["gamma"][0]) if self.options.learn_gamma else self.options.gamma
        )

    def forward(self, layers: Array, mask: Array) -> Array:
        """See `Combiner`."""
        _check_layers(layers, mask, self._n_layers)
        chosen = layers[:, self._chosen]
        return scalar_mix(chosen, self._logits(), self.gamma, mask, self.options.layer_norm)

    def gradients(self, layers: Array, mask: Array, upstream: Array) -> CombinerGradients:
        """See `Combiner`."""
        _check_layers(layers, mask, self._n_layers)
        found = scalar_mix_gradients(
            layers[:, self._chosen],
            self._logits(),
            self.gamma,
            upstream,
            mask,
            self.options.layer_norm,
        )
        everything = {"logits": found.logits, "gamma": np.array([found.gamma])}
        by_layer = found.layers
        if by_layer.shape != layers.shape:
            by_layer = np.zeros_like(layers)
            by_layer[:, self._chosen] = found.layers
        return CombinerGradients(
            {name: everything[name].astype(p.dtype) for name, p in self.parameters.items()},
            by_layer,
        )

    def _logits(self) -> Array:
        if "logits" in self.parameters:
            return self.parameters["logits"]
        return np.zeros(1 if self.options.kind == "layer" else self._n_layers)


class FreeCoefficients:
    """The kind ``"free"``: ``sum_j c_j layers_j``; nothing holds the numbers together."""

    def __init__(self, parameters: Mapping[str, Array]) -> None:
        self.parameters = dict(parameters)

    @property
    def weights(self) -> Array:
        """(layers,), of any sign and sum."""
        return self.parameters["coefficients"].astype(np.float64)

    @property
    def gamma(self) -> float:
        """There is none: 1."""
        return 1.0

    def forward(self, layers: Array, mask: Array) -> Array:
        """See `Combiner`."""
        coefficients = self.parameters["coefficients"]
        layers = _checked_layers(layers, mask, len(coefficients))
        return np.asarray(np.einsum("bjtd,j->btd", layers, coefficients))

    def gradients(self, layers: Array, mask: Array, upstream: Array) -> CombinerGradients:
        """See `Combiner`."""
        coefficients = self.parameters["coefficients"]
        layers = _checked_layers(layers, mask, len(coefficients))
        upstream = _checked_upstream(upstream, mask, layers, layers.shape[3])
        return CombinerGradients(
            {"coefficients": np.einsum("bjtd,btd->j", layers, upstream)},
            coefficients[:, None, None] * upstream[:, None],
        )


class Concatenation:
    """The kind ``"concatenation"``: ``[layer_0; layer_1; ...]``, times a matrix if it has one."""

    def __init__(self, n_layers: int, parameters: Mapping[str, Array]) -> None:
        self.parameters = dict(parameters)
        self._n_layers = n_layers

    def forward(self, layers: Array, mask: Array) -> Array:
        """See `Combiner`."""
        flat = self._side_by_side(_checked_layers(layers, mask, self._n_layers))
        return flat @ self.parameters["projection"] if self.parameters else flat

    def gradients(self, layers: Array, mask: Array, upstream: Array) -> CombinerGradients:
        """See `Combiner`."""
        layers = _checked_layers(layers, mask, self._n_layers)
        flat = self._side_by_side(layers)
        projection = self.parameters.get("projection")
        width = flat.shape[2] if projection is None else projection.shape[1]
        upstream = _checked_upstream(upstream, mask, layers, width)
        gradients = {}
        if projection is not None:
            gradients["projection"] = np.tensordot(flat, upstream, axes=((0, 1), (0, 1)))
            upstream = upstream @ projection.T
        batch, n_layers, tokens, dim = layers.shape
        by_layer = upstream.reshape(batch, tokens, n_layers, dim).transpose(0, 2, 1, 3)
        return CombinerGradients(gradients, np.ascontiguousarray(by_layer))

    def _side_by_side(self, layers: Array) -> Array:
        """(batch, tokens, layers * dim)."""
        batch, n_layers, tokens, dim = layers.shape
        projection = self.parameters.get("projection")
        if projection is not None and len(projection) != n_layers * dim:
            raise ValueError(
                f"layers: expected {n_layers} of dim {len(projection) / n_layers:g}, as the "
                f"projection {projection.shape} reads, got {layers.shape}"
            )
        return layers.transpose(0, 2, 1, 3).reshape(batch, tokens, n_layers * dim)


AnyCombiner = WeightedSum | FreeCoefficients | Concatenation


def parameter_shapes(
    options: CombinerOptions, n_layers: int, dim: int
) -> dict[str, tuple[int, ...]]:
    """Name and shape of everything that is trained.

    >>> parameter_shapes(CombinerOptions(), 3, 64)
    {'logits': (3,), 'gamma': (1,)}
    >>> parameter_shapes(CombinerOptions("layer", learn_gamma=False), 3, 64)
    {}
    """
    if not -n_layers <= options.layer < n_layers:
        raise ValueError(f"layer: expected -{n_layers} to {n_layers - 1}, got {options.layer}")
    shapes: dict[str, tuple[int, ...]] = {}
    if options.kind == "mixture":
        shapes["logits"] = (n_layers,)
    if options.kind in WEIGHTED and options.learn_gamma:
        shapes["gamma"] = (1,)
    if options.kind == "free":
        shapes["coefficients"] = (n_layers,)
    if options.width is not None:
        shapes["projection"] = (n_layers * dim, options.width)
    return shapes


def initial_parameters(
    options: CombinerOptions, n_layers: int, dim: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Equal weights and the given gamma; a projection is drawn (Glorot and Bengio, 2010)."""
    parameters: dict[str, Array] = {}
    for name, shape in parameter_shapes(options, n_layers, dim).items():
        if name == "projection":
            bound = (6.0 / sum(shape)) ** 0.5
            parameters[name] = rng.uniform(-bound, bound, shape)
        else:
            start = {"logits": 0.0, "gamma": options.gamma, "coefficients": 1 / n_layers}[name]
            parameters[name] = np.full(shape, start)
    return parameters


def output_width(options: CombinerOptions, n_layers: int, dim: int) -> int:
    """Dimensions of the combined vector.

    >>> [output_width(CombinerOptions(kind), 3, 64) for kind in ("mixture", "concatenation")]
    [64, 192]
    """
    return (options.width or n_layers * dim) if options.kind == "concatenation" else dim


def combiner(
    options: CombinerOptions, n_layers: int, parameters: Mapping[str, Array]
) -> AnyCombiner:
    """Build the combiner of these options around parameters (`initial_parameters`, or trained).

    Each is a `Combiner`.

    Examples
    --------
    >>> river = np.array([[[[1.0, 0.0]], [[0.0, 2.0]], [[3.0, 1.0]]]])
    >>> mask = np.array([[True]])
    >>> logits = {"logits": np.log([0.2, 0.3, 0.5]), "gamma": np.array([1.0])}
    >>> combiner(CombinerOptions(), 3, logits).forward(river, mask).round(12).tolist()
    [[[1.7, 1.1]]]
    >>> combiner(CombinerOptions("layer", learn_gamma=False), 3, {}).forward(river, mask).tolist()
    [[[3.0, 1.0]]]

    Source: Peters et al. (2018), equation 1; "top" as Peters et al. (2017) have it.
    Book: chapter 5, "Where a mixture attaches".
    """
    if options.kind in WEIGHTED:
        return WeightedSum(options, n_layers, parameters)
    return (
        FreeCoefficients(parameters)
        if options.kind == "free"
        else Concatenation(n_layers, parameters)
    )


def logit_penalties(
    parameters: Mapping[str, Array], strength: float
) -> tuple[float, dict[str, Array]]:
    """``strength * sum(logits**2)`` over all mixtures of a model, and its gradients.

    The paper's lambda term. A loss is the task's alone; whoever trains adds this to it. Gamma, free
    coefficients and everything else go unpenalised.

    Parameters
    ----------
    parameters : names to arrays; what counts is called ``logits`` or ``.../logits``
    strength : lambda, at least 0

    >>> penalty, gradients = logit_penalties({"input/logits": np.array([1.0, 2.0])}, 0.1)
    >>> round(penalty, 12), gradients["input/logits"].round(12).tolist()
    (0.5, [0.2, 0.4])

    Source: Peters et al. (2018), section 3.3. Book: chapter 5, "Training the tagger".
    """
    logits = {name: p for name, p in parameters.items() if name.split("/")[-1] == "logits"}
    gradients = {
        name: logit_penalty_gradient(p, strength).astype(p.dtype) for name, p in logits.items()
    }
    return sum(logit_penalty(p, strength) for p in logits.values()), gradients


def _check_layers(layers: Array, mask: Array, n_layers: int) -> None:
    refuse_masked(layers, "layers")
    if not isinstance(layers, np.ndarray) or layers.dtype.char not in REAL_CODES:
        raise TypeError(f"layers: expected a float32 or float64 array, got {describe(layers)}")
    if layers.ndim != 4 or layers.shape[1] != n_layers:
        raise ValueError(
            f"layers: expected (batch, layers = {n_layers}, tokens, dim), got {layers.shape}"
        )
    check_mask(mask, layers)


def _checked_layers(layers: Array, mask: Array, n_layers: int) -> Array:
    """The layers, 0 where masked, for the kinds that `elmo_toy.scalar_mix` doesn't compute."""
    _check_layers(layers, mask, n_layers)
    return _finite(layers, mask[:, None, :, None], mask, "layers")


def _checked_upstream(upstream: Array, mask: Array, layers: Array, width: int) -> Array:
    """The upstream derivative, 0 where masked."""
    refuse_masked(upstream, "upstream")
    if not isinstance(upstream, np.ndarray) or upstream.dtype != layers.dtype:
        raise TypeError(
            f"upstream: expected a {layers.dtype} array like layers, got {describe(upstream)}"
        )
    if upstream.shape != (*mask.shape, width):
        raise ValueError(f"upstream: expected {(*mask.shape, width)}, got {upstream.shape}")
    return _finite(upstream, mask[:, :, None], mask, "upstream")


def _finite(values: Array, counts: Array, mask: Array, name: str) -> Array:
    kept = np.where(counts, values, values.dtype.type(0))
    with np.errstate(over="ignore"):
        if not all_finite(kept):
            refuse_non_finite(values, mask, name)
    return kept
