"""The values that numbers in prose are bound to, all of them computed by `elmo_toy`.

`tools/prose_numbers.py` looks a name such as ``default.river.mixture.0`` up in what `values`
returns. Nothing is typed here but names and the inputs that a text chooses (a rate, a strength):
what others printed stands in ``cited.toml``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elmo_toy import descent, gradient_check, worked_example
from elmo_toy import elmo_scalar_mix_demo as script
from elmo_toy.geometry import gamma_range
from elmo_toy.worked_example import HEAD, LAYERS, OCCURRENCES, PRESETS


def _state(state: worked_example.State) -> dict[str, Any]:
    """Return a state's record with its two occurrences beside the rest."""
    record = state.as_record()
    occurrences: dict[str, Any] = record.pop("occurrences")
    return {
        **record,
        **occurrences,
        "weights_sum": sum(record["weights"]),
        "gradient_sum": sum(record["logit_gradient"]),
        "fall": record["loss"] - record["updated"]["loss"],
        "vector": [record["gamma"] * weight for weight in record["weights"]],
        "contributions": {
            name: [
                [weight * coordinate for coordinate in layer]
                for weight, layer in zip(
                    record["weights"], occurrences[name]["layers"], strict=True
                )
            ]
            for name in occurrences
        },
    }


def _hull(k: int) -> dict[str, float]:
    """Return the gammas that keep an occurrence's mixture inside its triangle of layers."""
    low, high = gamma_range(LAYERS[k, :, 0], PRESETS["upper"] @ LAYERS[k, :, 0])
    return {"low": low, "high": high}


def _vector(vector: np.ndarray) -> dict[str, Any]:
    """Split gamma times the weights into its two factors."""
    gamma = float(vector.sum())
    return {"vector": vector.tolist(), "gamma": gamma, "weights": (vector / gamma).tolist()}


def _unseen() -> dict[str, Any]:
    """Return the direction that the two scores do not see, and a walk along it."""
    scores = LAYERS[:, :, 0] @ HEAD
    direction = np.cross(scores[0], scores[1])
    products = direction * scores
    walk = {"step": 0.3}
    walked = PRESETS["upper"] + walk["step"] * direction
    return {
        "direction": direction.tolist(),
        "products": {name: products[k].tolist() for k, name in enumerate(OCCURRENCES)},
        "largest_score": float(np.abs(scores).max()),
        **walk,
        **_vector(walked),
    }


def _rescaled(factor: float = 10.0) -> dict[str, Any]:
    """Return the mixture that undoes a scaling of the upper layer."""
    return {"factor": factor, **_vector(PRESETS["upper"] / [1.0, 1.0, factor])}


def _steps(preset: str, gamma: float) -> dict[str, Any]:
    """Return where each way to step leads from a preset, at the book's learning rate."""
    found: dict[str, Any] = {}
    for step in (*descent.STEPS.values(), descent.step_without_m):
        point = step(PRESETS[preset], gamma)
        weights = np.asarray(point.weights)
        found[step.__name__.removeprefix("step_")] = {
            "weights": weights.tolist(),
            "sum": float(weights.sum()),
            "gamma": float(point.gamma),
            "loss": float(point.loss),
        }
    return found


def _rates() -> dict[str, Any]:
    """Return the learning rates at which something changes."""
    upper = worked_example.state("upper")
    lower = worked_example.state("lower")
    falling = upper.logit_gradient > 0
    weights = upper.forward.weights[falling]
    far = 5.0
    return {
        "negative_weight": float((weights / upper.logit_gradient[falling]).min()),
        "lower_gamma_zero": lower.gamma / lower.gamma_gradient,
        "lower_loss_rises": descent.rate_without_progress(PRESETS["lower"], 1.0, 1.0, far),
        "far": far,
        "lower_far": _state(worked_example.state("lower", learning_rate=far))["updated"],
    }


def _many() -> dict[str, Any]:
    """Return where many steps end: with certain and with uncertain labels, and with a penalty."""
    steps, rate = 4000, 0.5
    labels = np.array([0.9, 0.1])
    start = PRESETS["upper"]
    soft = descent.descend([start], [1.0], steps, rate, labels=labels)
    strengths = [0.001, 0.1, 1.0]
    held = descent.descend(
        [start] * 3, np.ones(3), steps, rate, strength=strengths, train_gamma=False
    )
    return {
        "steps": steps,
        "rate": rate,
        "soft": {"labels": labels.tolist(), "loss": float(soft.loss[-1, 0])},
        "penalty": {
            "strengths": strengths,
            "top_weights": held.weights[-1].max(axis=-1).tolist(),
        },
    }


def _script() -> dict[str, Any]:
    """Return what the stand-alone script reports."""
    records = [script.state_record(preset, gamma) for preset in script.PRESETS for gamma in (1, 2)]
    return {"step": script.STEP, "max_error": max(map(script.check_state, records))}


def _errors() -> dict[str, Any]:
    """Return the largest error of numerical differentiation, for each step size."""
    state = worked_example.state()

    def loss(point: np.ndarray) -> Any:
        return worked_example.forward(point[:3], point[3]).loss

    point = np.array([*state.logits, state.gamma])
    gradient = np.array([*state.logit_gradient, state.gamma_gradient])
    errors = gradient_check.error_against_step(loss, gradient, point)
    return {
        "central": {
            f"1e-{exponent}": float(error) for exponent, error in enumerate(errors.central, start=1)
        },
        "central_best": float(errors.central.min()),
        "central_best_step": float(errors.steps[errors.central.argmin()]),
    }


def values() -> dict[str, Any]:
    """Compute everything once.

    >>> round(values()["default"]["loss"], 10)
    0.4203369997
    """
    states = {
        f"{state.preset}-{state.gamma:g}": _state(state) for state in worked_example.eight_states()
    }
    return {
        "default": states["upper-1"],
        "states": states,
        "presets": {name: weights.tolist() for name, weights in PRESETS.items()},
        "head": HEAD.tolist(),
        "counts": {
            "states": len(states),
            "presets": len(PRESETS),
            "occurrences": len(OCCURRENCES),
            "layers": LAYERS.shape[1],
            "coordinates": LAYERS.shape[3],
        },
        "hull": {name: _hull(k) for k, name in enumerate(OCCURRENCES)},
        "unseen": _unseen(),
        "rescaled": _rescaled(),
        "steps": _steps("upper", 1.0),
        "rates": _rates(),
        "errors": _errors(),
        "many": _many(),
        "script": _script(),
        "weight_gradient": descent.gradients_at(PRESETS["upper"], 1.0).weights.tolist(),
        "float64": {"eps": float(np.finfo(np.float64).eps)},
    }
