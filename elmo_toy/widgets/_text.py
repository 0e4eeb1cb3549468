"""Numbers as text, written as the explorers' scripts write them."""

from __future__ import annotations

import math
from collections.abc import Iterable

MINUS = "−"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def fixed(value: float, digits: int) -> str:
    """With so many decimals, no sign before zero, and a real minus.

    A nudge of 1e-12 keeps a tie from being settled by the last bit of a sum, which may differ
    between numpy and a browser.

    >>> fixed(0.6456563062, 6), fixed(-0.00001, 2), fixed(-0.7, 1)
    ('0.645656', '0.00', '−0.7')
    """
    return f"{value * (1 + 1e-12):z.{digits}f}".replace("-", MINUS)


def trimmed(value: float, digits: int, least: int = 1) -> str:
    """As `fixed`, but without zeros at the end, of which `least` decimals may stay.

    >>> trimmed(1.7, 4), trimmed(1, 4), trimmed(1, 2, 0)
    ('1.7', '1.0', '1')
    """
    whole, _, part = fixed(value, digits).partition(".")
    kept = part.rstrip("0").ljust(least, "0")
    return f"{whole}.{kept}" if kept else whole


def vector(values: Iterable[float]) -> str:
    """In brackets, as the article prints vectors.

    >>> vector([0.3, 1.0])
    '[0.3, 1.0]'
    """
    return f"[{', '.join(trimmed(value, 4) for value in values)}]"


def power(value: float) -> str:
    """The power of ten just below a positive number.

    >>> power(2.1e-11)
    '10⁻¹¹'
    """
    exponent = math.floor(math.log10(value) + 1e-9)  # log10(1e-5) may come out just below -5
    return "10" + str(exponent).translate(_RAISED)


def difference(value: float) -> str:
    """Digits where there are any to be trusted, and below 1e-6 the order of magnitude only.

    >>> difference(0.2224372), difference(2.1e-11), difference(0.0)
    ('0.222437', 'about 10⁻¹¹', '0')
    """
    if value >= 1e-6:
        return fixed(value, 6)
    return f"about {power(value)}" if value else "0"
