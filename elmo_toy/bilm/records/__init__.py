"""What was measured once because it takes too long for a chapter: one JSON file each.

Book: chapter 2, "Why separate stacks?".
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from elmo_toy.bilm.token_encoder import FloatArray


def path(name: str) -> Path:
    """Where a record is."""
    return Path(__file__).parent / f"{name}.json"


def read(name: str) -> dict[str, Any]:
    """Read a record: ``separate_stacks`` or ``released_size``."""
    record: dict[str, Any] = json.loads(path(name).read_text(encoding="utf-8"))
    return record


def separate_stacks(
    test: str, labels: str = "all"
) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Losses and sense scores of four models: what keeping the directions apart is good for.

    Parameters
    ----------
    test : ``"test"``, ``"new_cues"`` or ``"two_cues"``
    labels : ``"all"`` of the labelled sentences, or ``"few"`` of them

    Returns
    -------
    By model: held-out loss, the mean of both directions, (seeds,); scores (seeds, layers).

    Examples
    --------
    >>> losses, scores = separate_stacks("new_cues")
    >>> list(losses)
    ['bilm', 'sees_its_answer', 'joined', 'untrained']
    >>> scores["bilm"].shape, bool((scores["bilm"][:, 0] == 0.5).all())
    ((5, 3), True)

    Source: ``tools/measure_stacks.py``.
    Book: chapter 2, "Why separate stacks?".
    """
    models = read("separate_stacks")["models"]
    losses = {
        name: np.array([(run["loss"]["forward"] + run["loss"]["backward"]) / 2 for run in runs])
        for name, runs in models.items()
    }
    scores = {
        name: np.array([run["scores"][labels][test] for run in runs])
        for name, runs in models.items()
    }
    return losses, scores


def mean_and_deviation(values: FloatArray) -> str:
    """Mean and sample standard deviation as text.

    >>> mean_and_deviation(np.array([1.0, 2.0, 3.0]))
    '2.000 ± 1.000'
    """
    return f"{values.mean():.3f} ± {values.std(ddof=1):.3f}"
