"""The numbers of the slides and sheets: each has a name and is computed by `elmo_toy`.

The sources in `book/seminar/` say `{{name}}`, or `[[name]]` where the worksheet leaves a blank,
and hold no number of their own.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np
from book_site.seminar_data import plan
from numpy.typing import NDArray

from elmo_toy import descent, reported
from elmo_toy.worked_example import (
    GAMMAS,
    HEAD,
    LABELS,
    LAYERS,
    LEARNING_RATE,
    OCCURRENCES,
    PRESETS,
    Forward,
    eight_states,
    forward,
    sigmoid,
    state,
)

Array = NDArray[np.float64]

#: A direction of gamma * s that no score of this head sees: chapter 3.
UNSEEN = np.array([2.0, 5.0, 4.0])
#: Of the paper.
YEAR = 2018
#: How far the seminar walks along it.
AMOUNT = 0.3
#: Scores whose sigmoid and losses the worksheet tabulates, for a room without calculators. With a
#: minus sign they change places.
TABULATED = np.array([0.4, 0.6, 0.7, 0.8, 1.2, 1.4, 1.6])


def number(value: float, digits: int = 3) -> str:
    """Return a number with a real minus sign, and no sign on a zero.

    >>> number(-0.70004), number(-0.0001), number(2, 0)
    ('−0.700', '0.000', '2')
    """
    text = f"{value:.{digits}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "−")


def short(value: float) -> str:
    """Return a number that has few digits of its own, without trailing zeros.

    >>> short(0.5), short(-1.0), short(0.1 + 0.2)
    ('0.5', '−1', '0.3')
    """
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return ("0" if text == "-0" else text).replace("-", "−")


def vector(values: Iterable[float]) -> str:
    """Return a vector of such numbers.

    >>> vector([1.7, 1.1])
    '[1.7, 1.1]'
    """
    return f"[{', '.join(map(short, values))}]"


def _indexed(name: str, values: Iterable[float], digits: int) -> dict[str, str]:
    return {f"{name}_{j}": number(value, digits) for j, value in enumerate(values)}


def _forward(name: str, result: Forward, gamma: float) -> dict[str, str]:
    """Name the numbers of one forward pass."""
    found = {f"{name}_loss": number(result.loss), f"{name}_gamma": short(gamma)}
    found |= {f"{name}_s_{j}": short(weight) for j, weight in enumerate(result.weights)}
    found |= _indexed(f"{name}_weight", result.weights, 3)
    for k, occurrence in enumerate(OCCURRENCES):
        prefix = f"{name}_{occurrence}"
        found |= {
            f"{prefix}_vector": vector(result.mixtures[k]),
            f"{prefix}_m": short(result.mixed_scores[k]),
            f"{prefix}_z": short(result.scores[k]),
            f"{prefix}_p": number(result.probabilities[k]),
            f"{prefix}_right": number(abs(1 - LABELS[k] - result.probabilities[k])),
            f"{prefix}_loss": number(result.losses[k]),
        }
    return found


def _given() -> dict[str, str]:
    """Name what the worked example is given."""
    found = {"head": vector(HEAD), "rate": short(LEARNING_RATE), "amount": short(AMOUNT)}
    for k, occurrence in enumerate(OCCURRENCES):
        found[f"{occurrence}_label"] = short(LABELS[k])
        for j in range(LAYERS.shape[1]):
            found[f"{occurrence}_h_{j}"] = vector(LAYERS[k, j, 0])
            found[f"{occurrence}_c_{j}"] = short(descent.LAYER_SCORES[k, j])
    for name, weights in PRESETS.items():
        found[f"{name}_weights"] = ", ".join(number(w, 3) if name == "equal" else short(w)
                                             for w in weights)  # fmt: skip
    for i, score in enumerate(TABULATED):
        p = float(sigmoid(score))
        found |= {
            f"tabulated_z_{i}": short(score),
            f"tabulated_p_{i}": number(p),
            f"tabulated_positive_{i}": number(-np.log(p)),
            f"tabulated_negative_{i}": number(-np.log1p(-p)),
        }
    return found


def _gradient() -> dict[str, str]:
    """Name the gradient at the default state and the step down it."""
    default = state()
    found = _indexed("a", default.logits, 3) | _indexed("new_a", default.updated_logits, 3)
    for k, occurrence in enumerate(OCCURRENCES):
        found[f"{occurrence}_dz"] = number(default.score_gradients[k])
        found[f"{occurrence}_dgamma"] = number(default.gamma_contributions[k])
        found |= {
            f"{occurrence}_c_minus_m_{j}": short(score - default.forward.mixed_scores[k])
            for j, score in enumerate(default.forward.layer_scores[k])
        }
    weights, m = default.forward.weights, default.forward.mixed_scores[0]
    scores = default.forward.layer_scores[0]
    rows = {
        "c_minus_m": scores - m,
        "without_m": weights * scores,
        "by_logit": weights * (scores - m),
    }
    for name, row in rows.items():
        found |= {f"river_{name}_{j}": short(part) for j, part in enumerate(row)}
        found[f"river_{name}_sum"] = short(float(row.sum()))
    found |= _indexed("da", default.logit_gradient, 3) | {
        "da_sum": number(float(default.logit_gradient.sum()), 0),
        "dgamma": number(default.gamma_gradient),
        "new_gamma": number(default.updated_gamma),
        "new_loss": number(default.updated.loss),
    }
    return found | _indexed("new_s", default.updated.weights, 3)


def _unseen() -> dict[str, str]:
    """Name what changes, and what doesn't, along the direction that the head cannot see."""
    g = PRESETS["upper"] + AMOUNT * UNSEEN
    moved = forward(np.log(g / g.sum()), float(g.sum()))
    found = _forward("moved", moved, float(g.sum()))
    found["unseen"] = f"({', '.join(map(short, UNSEEN))})"
    found["gamma_per_unit"] = short(UNSEEN.sum())
    for k, occurrence in enumerate(OCCURRENCES):
        parts = [short(part) for part in descent.LAYER_SCORES[k] * UNSEEN]
        total = short(float(descent.LAYER_SCORES[k] @ UNSEEN))
        terms = parts[0] + "".join(
            f" − {part[1:]}" if part.startswith("−") else f" + {part}" for part in parts[1:]
        )
        found[f"{occurrence}_unseen_sum"] = f"{terms} = {total}"
    return found


def _states() -> dict[str, str]:
    """Name the eight states: four presets times two scales."""
    found: dict[str, str] = {}
    for s in eight_states():
        found |= _forward(f"{s.preset}{s.gamma:.0f}", s.forward, s.gamma)
    return found


def _words() -> dict[str, str]:
    """Name the answers that are words, each decided by numbers."""
    before, after = (forward(np.log(PRESETS["lower"]), gamma).loss for gamma in GAMMAS)
    g = PRESETS["upper"] + AMOUNT * UNSEEN
    moved, default = forward(np.log(g / g.sum()), float(g.sum())), state().forward
    same = np.allclose(moved.probabilities, default.probabilities, rtol=0, atol=1e-12)
    mixed = not np.array_equal(LAYERS[0], LAYERS[1])
    return {
        "answer_gamma": "rises" if after > before else "falls",
        "answer_vote": "no"
        if same and moved.weights.argmax() != default.weights.argmax()
        else "yes",
        "answer_differs": "only h" if mixed else "none",
        "name": "Key",  # where people write theirs
        "upper_largest": f"h{'₀₁₂'[default.weights.argmax()]}",
        "moved_largest": f"h{'₀₁₂'[moved.weights.argmax()]}",
        "moved_weights": ", ".join(number(weight) for weight in moved.weights),
        "moved_g": f"({', '.join(map(short, g))})",
    }


def _wrong() -> dict[str, str]:
    """Name what the gradient without m does."""
    states = eight_states()
    fallen = sum(
        float(descent.step_without_m(s.forward.weights, s.gamma).loss) < s.forward.loss
        for s in states
    )
    wrong = descent.step_without_m(PRESETS["upper"], 1.0)
    without = descent.gradients_at(PRESETS["upper"], 1.0).logits_without_m
    return {
        "states": str(len(states)),
        "wrong_falls": str(fallen),
        "wrong_loss": number(float(wrong.loss)),
        "wrong_sum": number(float(without.sum())),
    }


def _paper() -> dict[str, str]:
    """Name the few numbers that are the paper's, and the one that is the plan's."""
    snli = [result.value for result in reported.find(table=2, task="SNLI")]
    none, last, average, learned = snli
    return {
        "year": str(YEAR),
        "running": str(plan()["ladder"]["running"]),
        "snli_step_last": number(last - none, 1),
        "snli_step_learned": number(learned - average, 1),
    }


@cache
def values() -> Mapping[str, str]:
    """Return every number of the slides and sheets, as text under its name.

    >>> values()["upper1_river_vector"], values()["upper1_loss"], values()["lower2_loss"]
    ('[1.7, 1.1]', '0.420', '1.624')
    """
    return MappingProxyType(
        _given() | _gradient() | _unseen() | _states() | _words() | _wrong() | _paper()
    )
