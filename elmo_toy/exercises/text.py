"""Numbers and lists as the texts of the exercises show them; every number there is computed.

Book: chapter 4, "Falling loss verifies nothing".
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike


def shown(value: ArrayLike, digits: int = 3) -> str:
    """A number, or an array in brackets, with at most so many decimals.

    >>> shown(0.4203369997), shown([[1.7, 1.1], [0.3, -1.0]]), shown(50)
    ('0.42', '[[1.7, 1.1], [0.3, -1]]', '50')
    """
    array = np.asarray(value)
    if array.ndim:
        return f"[{', '.join(shown(item, digits) for item in array)}]"
    number = round(float(array), digits) + 0.0
    return f"{number:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{number:.0f}"


def listed(items: Iterable[str]) -> str:
    """Words with commas and an "and".

    >>> listed(["14", "3", "6"])
    '14, 3 and 6'
    """
    *others, last = items
    return f"{', '.join(others)} and {last}" if others else last
