"""Values of chapter 7 and of the page on what carried forward."""

from __future__ import annotations

from typing import Any

import numpy as np

from elmo_toy.bilm import records
from elmo_toy.worked_example import PRESETS


def carry_values() -> dict[str, Any]:
    """Return what masked training was told, and what the mixture is to a layer's updates."""
    training = records.read("masked")["training"]
    weights = PRESETS["upper"]
    return {
        "rate": training["rate"],
        "blank": training["blank"],
        "by_update": np.cumsum(weights[::-1])[::-1].tolist(),
    }
