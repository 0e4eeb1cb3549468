"""Checks that several modules share; each error names the argument, what was given, what not.

Nothing here computes anything: a value is returned as it came, or as floats, or refused.
"""

from __future__ import annotations

import cmath
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]

LAYER_DTYPES = ("float32", "float64", "complex128")
REAL_DTYPES = ("float32", "float64")
#: The same as numpy's one-letter codes, which take a tiny array's call much less time to compare.
LAYER_CODES = "".join(np.dtype(name).char for name in LAYER_DTYPES)
REAL_CODES = "".join(np.dtype(name).char for name in REAL_DTYPES)


def as_numbers(values: ArrayLike, name: str) -> Array:
    """A float32, float64 or complex128 array; integers that aren't an array are welcome."""
    if type(values) is np.ndarray and values.dtype.char in LAYER_CODES:
        return values
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged, in numpy's words and without the argument's name
        raise ValueError(f"{name} must be numbers in a regular shape, given {values!r}") from error
    if array.dtype.kind in "iu" and not isinstance(values, np.ndarray):
        array = array.astype(np.float64)
    if array.dtype.char not in LAYER_CODES and array.size:
        raise TypeError(f"{name} must be {', '.join(LAYER_DTYPES)}, given {array.dtype}")
    return array


def as_number(value: ArrayLike, name: str) -> float:
    """One finite real number."""
    array = as_numbers(value, name)
    if array.shape != () or np.iscomplexobj(array) or not np.isfinite(array):
        raise ValueError(f"{name} must be one finite real number, given {value!r}")
    return float(array)


def as_reals(values: ArrayLike, name: str, *shape: int | str) -> Array:
    """Finite real numbers, whole ones welcome, of a shape: ``as_reals(known, "known", "n", 3)``.

    A word in `shape` stands for any length; without a shape any will do.
    """
    refuse_masked(values, name)
    if isinstance(values, np.ndarray) and (values.dtype.kind in "iu" or values.dtype == np.float16):
        values = values.astype(np.float64)
    array = as_numbers(values, name)
    if np.iscomplexobj(array):
        raise TypeError(f"{name} must be real, given {array.dtype}")
    fits = len(shape) == array.ndim and all(
        isinstance(wanted, str) or wanted == given
        for wanted, given in zip(shape, array.shape, strict=True)
    )
    if shape and not fits:
        comma = "," if len(shape) == 1 else ""
        wanted = ", ".join(map(str, shape)) + comma
        raise ValueError(f"{name} must have shape ({wanted}), given {array.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        finite = all_finite(array)
    if not finite:
        where = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise ValueError(f"{name} must be finite, given {array[where]} at {where}")
    return array


def check_mask(mask: Array | None, layers: Array) -> Array | None:
    if mask is None:
        return None
    refuse_masked(mask, "mask")
    expected = (layers.shape[0], layers.shape[2])
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise TypeError(f"mask must be a bool array (batch, tokens), given {describe(mask)}")
    if mask.shape != expected:
        raise ValueError(f"mask must have shape (batch, tokens) = {expected}, given {mask.shape}")
    if mask.all():
        return None
    if not mask.any():
        raise ValueError(f"mask must leave a token unmasked, given {mask.size} masked positions")
    return mask


def refuse_masked(value: object, name: str) -> None:
    """`numpy.ma` arrays hide values from some functions and show them to others."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{name} must not be a numpy masked array: which tokens count is what mask says"
        )


def describe(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"a {value.dtype} array of shape {value.shape}"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of shapes {[np.shape(item) for item in value]}"
    return f"a {type(value).__name__}"


def all_finite(array: Array) -> bool:
    """One pass without a temporary; a sum of squares that overflows asks for the slow look."""
    flat = array.reshape(-1)
    return cmath.isfinite(np.dot(flat, flat)) or bool(np.isfinite(flat).all())


def refuse_non_finite(array: Array, mask: Array | None, name: str) -> None:
    bad = ~np.isfinite(array)
    if mask is not None:
        bad &= mask[:, None, :, None] if array.ndim == 4 else mask[..., None]
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"{name} must be finite at unmasked positions, given {array[where]} at {where} "
            f"({int(bad.sum())} non-finite in all)"
        )


def checked_parameters(
    parameters: Mapping[str, Array], expected: Mapping[str, tuple[int, ...]]
) -> dict[str, Array]:
    """A model's parameters in the order of their shapes: none missing or left over, one dtype."""
    for name in sorted(expected.keys() | parameters.keys()):
        shape = parameters[name].shape if name in parameters else "nothing"
        if shape != expected.get(name, "nothing"):
            raise ValueError(
                f"parameters[{name!r}]: expected {expected.get(name, 'nothing')}, got {shape}"
            )
    dtypes = {value.dtype.name for value in parameters.values()}
    if not dtypes < set(REAL_DTYPES):
        raise ValueError(
            f"parameters: expected all float32 or all float64, got {', '.join(sorted(dtypes))}"
        )
    return {name: parameters[name] for name in expected}
