"""The scalar mixture of ELMo and its gradients.

    weights = softmax(logits)
    mixture[b, t] = gamma * sum_j weights[j] * layers[b, j, t]

One set of ``logits`` and one ``gamma`` serve every token of a task. With a `LayerNorm` each layer
is first shifted and scaled by one mean and one variance, taken over the batch.

Deliberate differences from the two original implementations (AllenNLP's ``ScalarMix`` and
bilm-tf's ``weight_layers``), each of them tested:

* Masked positions of the output are exactly 0 and pass no gradient, whatever stands there. The
  originals return ``weights[0] * gamma * pad`` (or, with layer norm, ``(pad - mean) / std``), and
  a NaN in the padding poisons their statistics.
* Nothing broadcasts: layers of unequal shape, wrong ranks and masks of the wrong shape are errors.
* A batch whose tokens are all masked is an error, where AllenNLP's layer norm gives NaN.
* Non-finite values at unmasked positions are errors, not silently passed on.
* The layer norm needs no mask (every token counts then); AllenNLP asserts that there is one.
* bilm-tf adds ``1/n`` to each logit before the softmax. The softmax is unchanged by that, so it is
  left out; the penalty acts on the logits as they are here, as it does there.
* "Top layer only" is the mixture of one layer, ``layers[:, -1:]`` with one logit: its weight is 1,
  its logit gradient is 0, its penalty is 0 at logit 0, and gamma is still learned. The layer norm
  is applied if asked for, where bilm-tf ignores the flag.

Book: chapter 3, "One mixture, by hand".
"""

from __future__ import annotations

import cmath
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from elmo_toy._checks import (
    LAYER_CODES,
    LAYER_DTYPES,
    REAL_CODES,
    REAL_DTYPES,
    Array,
    all_finite,
    as_number,
    as_numbers,
    as_reals,
    check_mask,
    describe,
    refuse_masked,
    refuse_non_finite,
)
from elmo_toy.layer_norm import (
    LayerNorm,
    Statistics,
    blocks,
    layer_gradients_through_norm,
    normalised_scores,
    statistics,
    sum_unmasked,
)


@dataclass(frozen=True)
class ScalarMixGradients:
    """Gradients of a scalar loss: ``logits`` (layers,), ``gamma``, ``layers`` like the layers."""

    logits: Array
    gamma: float
    layers: Array


def softmax(logits: ArrayLike) -> Array:
    """``weights[j] = exp(logits[j]) / sum_i exp(logits[i])`` over the last axis.

    Stabilised by the largest real part, so it neither overflows nor depends on a common shift.

    Parameters
    ----------
    logits
        (..., layers). float32, float64 or complex128, or Python numbers. ``-inf`` gives weight 0
        as long as one logit of the row is finite.

    Returns
    -------
    Weights of the same shape and dtype. Real weights lie in [0, 1] and sum to 1.

    Raises
    ------
    ValueError
        For NaN, ``+inf``, a row of only ``-inf``, no logit at all, or complex logits whose
        exponentials cancel: complex numbers are for the complex step, with tiny imaginary parts.
    TypeError
        For another dtype.

    Source: Peters et al. (2018), equation 1. Book: chapter 3, "One mixture, by hand".

    >>> softmax([np.log(0.2), np.log(0.3), np.log(0.5)]).round(12)
    array([0.2, 0.3, 0.5])
    """
    with np.errstate(all="ignore"):
        return _softmax(as_numbers(logits, "logits"))


def _softmax(values: Array) -> Array:
    """`softmax` of an array; 1e308 - -1e308 is -inf and its exp 0, which may warn."""
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ValueError(f"logits must be (..., layers) with a layer, given shape {values.shape}")
    is_complex = values.dtype.kind == "c"
    if is_complex and not np.isfinite(values.imag).all():
        raise ValueError(f"logits must not hold NaN or +inf, given {values}")
    largest = values.real.max(axis=-1, keepdims=True)  # NaN if there is one
    if not all_finite(largest):
        if np.isneginf(largest).any() and not np.isnan(largest).any():
            raise ValueError(f"logits must have a finite value in each row, given {values}")
        raise ValueError(f"logits must not hold NaN or +inf, given {values}")
    exponentials = np.exp(values - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    if is_complex:
        _refuse_cancelling(exponentials, total, values)
    weights: Array = exponentials / total
    return weights


def scalar_mix(
    layers: Array,
    logits: ArrayLike,
    gamma: complex = 1.0,
    mask: Array | None = None,
    layer_norm: LayerNorm | None = None,
    out: Array | None = None,
) -> Array:
    """``gamma * sum_j softmax(logits)[j] * layers[:, j]``, and 0 at masked positions.

    Parameters
    ----------
    layers
        (batch, layers, tokens, dim), one array, the token layer first. float32 or float64;
        complex128 (here or as logits or gamma) serves the complex-step check.
    logits
        (layers,), the unnormalised weights. AllenNLP's ``initial_scalar_parameters`` are these.
    gamma
        One number, of any sign.
    mask
        (batch, tokens) bool, True where there is a token; None: everywhere.
    layer_norm
        Normalise the layers first; None: take them as they are.
    out
        Where the mixture is written and what is returned: an array of its shape and dtype that
        shares no memory with the layers. None: a new one, whose memory costs a large batch time.

    Returns
    -------
    (batch, tokens, dim) in the dtype of `layers` (complex128 if an argument is complex).

    Raises
    ------
    ValueError
        For shapes that don't fit, an all-masked batch, non-finite values at unmasked positions,
        results beyond the range of the dtype, and an unfit `out`. What `out` holds after an error
        is not said.
    TypeError
        For layers that aren't one numpy array, or another dtype.

    Source: Peters et al. (2018), equation 1. Book: chapter 3, "One mixture, two vectors".

    >>> river = np.array([[[[1.0, 0.0]], [[0.0, 2.0]], [[3.0, 1.0]]]])
    >>> scalar_mix(river, np.log([0.2, 0.3, 0.5])).round(12)
    array([[[1.7, 1.1]]])
    """
    with np.errstate(all="ignore"):  # garbage at masked positions; the rest is refused below
        checked = _check(layers, logits, gamma, mask, layer_norm)
        batch, _, tokens, dim = layers.shape
        dtype = checked.coefficients.dtype
        if out is None:
            out = np.empty((batch, tokens, dim), dtype)
        else:
            _check_out(out, (batch, tokens, dim), dtype, layers)
        norm = None
        if layer_norm is not None and layers.size:
            norm = statistics(layers, checked.mask, layer_norm)
        finite = _mix(checked, norm, out)
    # Non-finite input shows in the output, which is a third the size: look there first. Only a
    # coefficient of exactly 0 could hide it (some BLAS skip zeros).
    if not all(checked.coefficients.tolist()):
        refuse_non_finite(layers, checked.mask, "layers")
    if not finite:
        _refuse_result(checked, gamma, "the mixture of these layers, logits and gamma")
    return out


def scalar_mix_gradients(
    layers: Array,
    logits: ArrayLike,
    gamma: float,
    upstream: Array,
    mask: Array | None = None,
    layer_norm: LayerNorm | None = None,
    out: Array | None = None,
) -> ScalarMixGradients:
    """Gradients of a loss through `scalar_mix`, given its gradient with respect to the mixture.

    With ``score[j] = sum(upstream * layers[:, j])`` over unmasked positions and
    ``m = sum_j weights[j] * score[j]``::

        d loss / d gamma     = m
        d loss / d logits[j] = gamma * weights[j] * (score[j] - m)       # sums to 0 over j
        d loss / d layers[j] = gamma * weights[j] * upstream

    With a layer norm the scores are those of the normalised layers, and the last line flows on
    through the batch's mean and variance, which the counted tokens share.

    Parameters
    ----------
    upstream
        (batch, tokens, dim), d loss / d mixture, in the dtype of `layers`. Ignored where masked.
    layers, logits, gamma, mask, layer_norm
        As in `scalar_mix`; real numbers only.
    out
        Where the layers' gradient is written: an array like layers that shares no memory with them
        or with `upstream`. None: a new one, whose memory costs a large batch time.

    Returns
    -------
    `ScalarMixGradients`; logits and gamma in float64, layers in their own dtype.

    Raises
    ------
    ValueError, TypeError
        As `scalar_mix`, and for an upstream gradient or `out` of another shape or dtype.

    Source: derived by sympy in `elmo_toy.symbolic`. Book: chapter 4, "The derivation".

    >>> river = np.array([[[[1.0, 0.0]], [[0.0, 2.0]], [[3.0, 1.0]]]])
    >>> upstream = np.array([[[1.0, -1.0]]])                    # the article's head, w = [1, -1]
    >>> gradients = scalar_mix_gradients(river, np.log([0.2, 0.3, 0.5]), 1.0, upstream)
    >>> gradients.logits.round(12), round(gradients.gamma, 12)
    (array([ 0.08, -0.78,  0.7 ]), 0.6)
    """
    with np.errstate(all="ignore"):  # garbage at masked positions; the rest is refused below
        checked = _check(layers, logits, gamma, mask, layer_norm, real_only=True)
        _check_upstream(upstream, checked)
        if out is None:
            out = np.empty(layers.shape, layers.dtype)
        else:
            _check_out(out, layers.shape, layers.dtype, layers, upstream)
        mask, weights, coefficients = checked.mask, checked.weights, checked.coefficients
        norm = None
        if layer_norm is not None and layers.size:
            norm = statistics(layers, mask, layer_norm)
            scores, total = normalised_scores(layers, upstream, mask, norm)
        else:
            scores = _scores(layers, upstream, mask)
        if not all_finite(scores):
            _refuse_result(
                checked, gamma, "the gradient of these arguments", ("upstream", upstream)
            )
        m = weights @ scores
        by_logit = gamma * weights * (scores - m)
        if norm is None:
            np.multiply(coefficients[:, None, None], upstream[:, None], out=out)
        else:
            layer_gradients_through_norm(coefficients, layers, upstream, scores, total, norm, out)
        if mask is not None:
            np.moveaxis(out, 1, 2)[~mask] = 0
        # Finite scores mean a finite upstream gradient, which no coefficient up to 1 can overflow.
        safe = norm is None and abs(gamma) <= 1
        if not (all_finite(by_logit) and (safe or all_finite(out))):
            _refuse_result(checked, gamma, "the gradient of these arguments")
    return ScalarMixGradients(logits=by_logit, gamma=float(m), layers=out)


def logit_penalty(logits: ArrayLike, strength: float) -> float:
    """``strength * sum(logits**2)``, the paper's lambda term, which the caller adds to the loss.

    Source: bilm-tf ``weight_layers(l2_coef=…)``, the paper's λ‖w‖². Gamma is never penalised.
    Raises ValueError for non-finite logits, a negative strength, or a penalty beyond float64.
    Book: chapter 4, "The penalty, and why a free gamma undoes it".

    >>> round(logit_penalty([0.1, 0.3, 0.5], 1.0), 12)
    0.35
    """
    penalty, _ = _penalty(logits, strength)
    return penalty


def logit_penalty_gradient(logits: ArrayLike, strength: float) -> Array:
    """``2 * strength * logits``, the gradient of `logit_penalty`; (layers,).

    Unlike the task's logit gradient it doesn't sum to 0: it pulls the common value to 0 too.
    Raises and source as `logit_penalty`. Book: chapter 4, "The penalty, and why a free gamma
    undoes it".

    >>> logit_penalty_gradient([0.5, -0.5], 0.1)
    array([ 0.1, -0.1])
    """
    _, gradient = _penalty(logits, strength)
    return gradient


@dataclass(kw_only=True)
class ScalarMix:
    """The parameters of one task mixture: logits, gamma, and whether each is trained.

    Build it with `from_logits` or `from_weights`: users of the original took one for the other.
    ``weights`` reads ``softmax(logits)``. Attributes may be assigned to by an optimiser.
    Raises ValueError or TypeError for what `softmax` or `scalar_mix` would refuse, and for flags
    that aren't bool.

    Source: AllenNLP ``ScalarMix``; ``trainable=False`` there freezes gamma too, so here each has
    its own flag. Book: chapter 3, "One mixture, by hand".

    >>> mix = ScalarMix.from_weights([0.2, 0.3, 0.5])
    >>> mix.weights.round(12), mix.gamma, mix.n_trainable
    (array([0.2, 0.3, 0.5]), 1.0, 4)
    """

    logits: Array
    gamma: float = 1.0
    train_logits: bool = True
    train_gamma: bool = True

    def __post_init__(self) -> None:
        values = as_numbers(self.logits, "logits")
        if values.ndim != 1 or np.iscomplexobj(values):
            raise ValueError(f"logits must be real with shape (layers,), given {describe(values)}")
        softmax(values)  # refuses NaN, +inf and a mixture of nothing
        for name in ("train_logits", "train_gamma"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                # "no" is true
                raise TypeError(f"{name} must be True or False, given {getattr(self, name)!r}")
        self.logits = np.array(values, dtype=np.float64)  # steps must not reach the caller's
        self.gamma = as_number(self.gamma, "gamma")

    @classmethod
    def from_logits(
        cls,
        logits: ArrayLike,
        gamma: float = 1.0,
        *,
        train_logits: bool = True,
        train_gamma: bool = True,
    ) -> ScalarMix:
        """From the numbers before the softmax; zeros give equal weights.

        Raises as the class. Book: chapter 3, "One mixture, by hand".

        >>> ScalarMix.from_logits([0.0, 0.0]).weights
        array([0.5, 0.5])
        """
        return cls(
            logits=as_numbers(logits, "logits"),
            gamma=gamma,
            train_logits=train_logits,
            train_gamma=train_gamma,
        )

    @classmethod
    def from_weights(
        cls,
        weights: ArrayLike,
        gamma: float = 1.0,
        *,
        train_logits: bool = True,
        train_gamma: bool = True,
    ) -> ScalarMix:
        """From the numbers after the softmax: non-negative, with sum 1; ``logits = log(weights)``.

        A weight of 0 becomes a logit of ``-inf``, which no step can move. Raises ValueError for
        weights that are negative or whose sum is off by more than 1e-6 (float32 rounding of 64
        weights stays below that). Book: chapter 3, "One mixture, by hand".

        >>> ScalarMix.from_weights([0.25, 0.75], gamma=2.0).logits.round(6)
        array([-1.386294, -0.287682])
        """
        values = as_numbers(weights, "weights")
        if values.ndim != 1 or np.iscomplexobj(values):
            raise ValueError(f"weights must be real with shape (layers,), given {describe(values)}")
        with np.errstate(over="ignore", invalid="ignore"):  # the sum says so
            total = float(values.sum())
        if not (values >= 0).all() or not abs(total - 1) <= 1e-6:
            raise ValueError(
                f"weights must be at least 0 and sum to 1, given {values} with sum {total}"
            )
        with np.errstate(divide="ignore"):  # log 0 is the -inf that we want
            logits = np.log(values)
        return cls.from_logits(logits, gamma, train_logits=train_logits, train_gamma=train_gamma)

    @property
    def weights(self) -> Array:
        """``softmax(logits)``, (layers,)."""
        return softmax(self.logits)

    @property
    def n_trainable(self) -> int:
        """How many numbers training may change."""
        return len(self.logits) * self.train_logits + int(self.train_gamma)

    def mix(
        self, layers: Array, mask: Array | None = None, layer_norm: LayerNorm | None = None
    ) -> Array:
        """`scalar_mix` with these parameters; (batch, tokens, dim)."""
        return scalar_mix(layers, self.logits, self.gamma, mask, layer_norm)

    def gradients(
        self,
        layers: Array,
        upstream: Array,
        mask: Array | None = None,
        layer_norm: LayerNorm | None = None,
    ) -> ScalarMixGradients:
        """`scalar_mix_gradients` with these parameters, trained or not."""
        return scalar_mix_gradients(layers, self.logits, self.gamma, upstream, mask, layer_norm)

    def step(self, gradients: ScalarMixGradients, learning_rate: float) -> None:
        """One step of gradient descent on what is trainable, logits and gamma at once.

        Raises ValueError for a learning rate or gradients that aren't finite, for a gradient of
        another mixture's shape, and for a step out of the finite numbers; TypeError for gradients
        that aren't `ScalarMixGradients` of real numbers. Nothing has moved then.
        Book: chapter 4, "One step".

        >>> mix = ScalarMix.from_logits([0.0, 0.0], train_gamma=False)
        >>> mix.step(ScalarMixGradients(np.array([1.0, -1.0]), 5.0, np.zeros(0)), 0.1)
        >>> mix.logits, mix.gamma
        (array([-0.1,  0.1]), 1.0)
        """
        rate = as_number(learning_rate, "learning_rate")
        if not isinstance(gradients, ScalarMixGradients):
            raise TypeError(f"gradients must be ScalarMixGradients, given {describe(gradients)}")
        by_logit = as_reals(gradients.logits, "gradients.logits", len(self.logits))
        by_gamma = as_number(gradients.gamma, "gradients.gamma")
        logits, gamma = self.logits, self.gamma
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            if self.train_logits:
                logits = logits - rate * by_logit
            if self.train_gamma:
                gamma = gamma - rate * by_gamma
        # A logit of -inf stays: its weight is 0.
        if not ((np.isfinite(logits) | (logits == self.logits)).all() and np.isfinite(gamma)):
            raise ValueError(
                f"learning_rate must keep logits and gamma finite, given {learning_rate}, "
                f"which leads to {logits} and {gamma}"
            )
        self.logits, self.gamma = logits, gamma


# --- checks -----------------------------------------------------------------------------------


class _Checked(NamedTuple):
    layers: Array
    weights: Array  # float64 or complex128
    coefficients: Array  # gamma * weights in the dtype of the result
    mask: Array | None  # None: nothing is masked


def _check(
    layers: Array,
    logits: ArrayLike,
    gamma: complex,
    mask: Array | None,
    layer_norm: LayerNorm | None,
    real_only: bool = False,
) -> _Checked:
    if layer_norm is not None and not isinstance(layer_norm, LayerNorm):
        # Truthy strings pass for a switch in the original; here the settings are the switch.
        raise TypeError(f"layer_norm must be a LayerNorm or None, given {layer_norm!r}")
    refuse_masked(layers, "layers")
    if not isinstance(layers, np.ndarray):
        raise TypeError(
            "layers must be one numpy array (batch, layers, tokens, dim), given "
            + describe(layers)
            + "; join a list of equal (batch, tokens, dim) arrays with np.stack(…, axis=1)"
        )
    if layers.dtype.char not in (REAL_CODES if real_only else LAYER_CODES):
        allowed = REAL_DTYPES if real_only else LAYER_DTYPES
        raise TypeError(f"layers must be {', '.join(allowed)}, given {layers.dtype}")
    if layers.ndim != 4:
        raise ValueError(
            f"layers must have 4 axes (batch, layers, tokens, dim), given shape {layers.shape}"
        )
    logit_array = as_numbers(logits, "logits")
    if logit_array.shape != (layers.shape[1],):
        raise ValueError(
            f"logits must have shape ({layers.shape[1]},), one a layer of layers "
            f"{layers.shape}, given shape {logit_array.shape}"
        )
    scale = as_numbers(gamma, "gamma")
    if scale.shape != () or not cmath.isfinite(scale):
        raise ValueError(f"gamma must be one finite number, given {gamma!r}")
    dtype = layers.dtype
    if logit_array.dtype.kind == "c" or scale.dtype.kind == "c":
        if real_only or dtype == np.float32:
            raise TypeError(
                "complex logits or gamma are for the forward pass on float64 or complex128 layers, "
                f"given {logit_array.dtype} and {scale.dtype} with {layers.dtype} layers"
            )
        dtype = np.dtype(np.complex128)
    if logit_array.dtype == np.float32:
        logit_array = logit_array.astype(np.float64)
    weights = _softmax(logit_array)
    coefficients = (scale * weights).astype(dtype, copy=False)
    return _Checked(layers, weights, coefficients, check_mask(mask, layers))


def _refuse_result(checked: _Checked, gamma: complex, what: str, *more: tuple[str, Array]) -> None:
    """Say why a result isn't finite: gamma, an argument at an unmasked position, or the range."""
    dtype = checked.coefficients.dtype
    if not np.isfinite(checked.coefficients).all():
        raise ValueError(f"gamma must keep gamma * weights within {dtype}, given {gamma!r}")
    for name, array in (("layers", checked.layers), *more):
        refuse_non_finite(array, checked.mask, name)
    raise ValueError(f"{what} is beyond the range of {dtype}")


def _check_upstream(upstream: Array, checked: _Checked) -> None:
    batch, _, tokens, dim = checked.layers.shape
    refuse_masked(upstream, "upstream")
    if not isinstance(upstream, np.ndarray) or upstream.dtype != checked.layers.dtype:
        raise TypeError(
            f"upstream must be a {checked.layers.dtype} array like layers, "
            f"given {describe(upstream)}"
        )
    if upstream.shape != (batch, tokens, dim):
        raise ValueError(
            f"upstream must have the mixture's shape {(batch, tokens, dim)}, given {upstream.shape}"
        )


def _check_out(out: Array, shape: tuple[int, ...], dtype: np.dtype[Any], *read: Array) -> None:
    refuse_masked(out, "out")
    if not isinstance(out, np.ndarray) or (out.dtype, out.shape) != (dtype, shape):
        raise ValueError(f"out must be a {dtype} array of shape {shape}, given {describe(out)}")
    shares = any(np.may_share_memory(out, array) for array in read)
    if shares or not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError(
            "out must be a writeable contiguous array that shares no memory with the arguments"
        )


def _refuse_cancelling(exponentials: Array, total: Array, logits: Array) -> None:
    """A total of 1e-8 of its terms' sizes has lost half its digits."""
    if (np.abs(total) < 1e-8 * np.abs(exponentials).sum(axis=-1, keepdims=True)).any():
        raise ValueError(
            "complex logits must have tiny imaginary parts, as in the complex step, "
            f"given {logits}, whose exponentials cancel"
        )


def _penalty(logits: ArrayLike, strength: float) -> tuple[float, Array]:
    """``strength * sum(logits**2)`` and its gradient, both finite."""
    values = as_numbers(logits, "logits")
    if np.iscomplexobj(values):
        raise TypeError(f"logits must be real in the penalty, given {values.dtype}")
    values = values.astype(np.float64)
    if values.ndim != 1:
        raise ValueError(f"logits must have shape (layers,), given shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"logits must be finite to be penalised, given {values}")
    factor = as_number(strength, "strength")
    if factor < 0:
        raise ValueError(f"strength must be at least 0, given {strength}")
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = factor * values  # before the square, which may overflow where the penalty doesn't
        penalty, gradient = float(scaled @ values), 2 * scaled
    if not (np.isfinite(penalty) and np.isfinite(gradient).all()):
        raise ValueError(f"the penalty of {values} at strength {strength} overflows float64")
    return penalty, gradient


# --- arithmetic -----------------------------------------------------------------------------------


def _mix(checked: _Checked, norm: Statistics | None, out: Array) -> bool:
    """Write sum_j coefficients[j] * layers[:, j] to `out`, 0 where masked; return if all is finite.

    One matrix product a sentence, without temporaries; with a layer norm, of a few sentences that
    are centred for it.
    """
    coefficients, finite = checked.coefficients, True
    shift = np.zeros((), out.dtype)
    parts: Iterable[slice] = (slice(None),)
    if norm is not None:
        parts = blocks(checked.layers)
        scaled = coefficients * norm.inverse_std
        coefficients, shift = scaled.astype(out.dtype), (scaled @ norm.rest).astype(out.dtype)
    for block in parts:
        layers, mixture = checked.layers[block], out[block]
        values = layers if norm is None else layers - norm.centre[:, None, None]
        flat = values.reshape(*layers.shape[:2], layers.shape[2] * layers.shape[3])
        np.matmul(coefficients, flat, out=mixture.reshape(len(flat), flat.shape[2]))
        if shift:
            mixture -= shift
        if checked.mask is not None:
            mixture[~checked.mask[block]] = 0
        finite = finite and all_finite(mixture)
    return finite


def _scores(layers: Array, upstream: Array, mask: Array | None) -> Array:
    """scores[j] = sum(upstream * layers[:, j]) over unmasked positions; (layers,), float64.

    Summed over a token's dims in the layers' dtype and over tokens in float64: as fast as one long
    sum, and in float32 it keeps a digit more where the layers share a large mean.
    """
    return sum_unmasked(np.vecdot(layers, upstream[:, None]), mask)
