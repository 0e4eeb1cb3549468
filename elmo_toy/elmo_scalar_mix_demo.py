#!/usr/bin/env python3
"""One learned mixture, two vectors for "bank": the worked example in plain Python.

    python3 elmo_scalar_mix_demo.py                  check everything, print a summary
    python3 elmo_scalar_mix_demo.py --json FILE      and export the eight states to FILE
    python3 elmo_scalar_mix_demo.py --json -         the eight states on standard output instead

Standard library only, Python 3.8 or later. The features are invented: they isolate the mixture
and measure nothing. Two occurrences of "bank" have three layers of two coordinates each. One
softmax over the layers, shared by both occurrences, and one scale gamma mix them; a fixed head w
scores the result. Formulas, with j for the layer and k for the occurrence:

    s_j       = exp(a_j) / sum_i exp(a_i)                       weights from logits
    e_k       = gamma * sum_j s_j h_kj                          mixture
    z_k       = w . e_k                                         score
    p_k       = 1 / (1 + exp(-z_k))                             probability of label 1
    L         = mean over k of -log(p_k if y_k = 1 else 1 - p_k)
    c_kj      = w . h_kj   and   m_k = sum_j s_j c_kj           layer scores, mixed score
    dL/dz_k   = (p_k - y_k) / 2                                 2, as L is the mean of two
    dL/da_j   = sum_k dL/dz_k * gamma * s_j * (c_kj - m_k)
    dL/dgamma = sum_k dL/dz_k * m_k

The loss is computed from the mixtures, the gradients from the layer scores. Central differences
of the loss check every gradient in all eight states (four presets of the weights, gamma 1 and 2).
The program exits with status 1 and names the state if one differs, or if the update that it
exports does not lower the loss.

Book: chapter 3, "One mixture, by hand".
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from math import exp, fsum, log, log1p
from typing import Any

# name: (label, [token layer, lower contextual layer, upper contextual layer])
OCCURRENCES = {
    "river": (1.0, [[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]),
    "loan": (0.0, [[1.0, 0.0], [2.0, 0.0], [-1.0, 2.0]]),
}
HEAD = [1.0, -1.0]
PRESETS = {  # the weights, named after the layer that they emphasise
    "upper": [0.2, 0.3, 0.5],
    "equal": [1 / 3, 1 / 3, 1 / 3],
    "lower": [0.2, 0.6, 0.2],
    "token": [0.6, 0.2, 0.2],
}
GAMMAS = [1.0, 2.0]
LEARNING_RATE = 0.1
STEP = 1e-5  # of the differences, whose error ~ STEP**2 + 1e-16 / STEP is least near here
TOLERANCE = 1e-8  # of the differences; a wrong formula is off by 1e-3 and more


class CheckFailed(Exception):
    """A gradient or an update is wrong; the message names the state."""


def dot(u: Sequence[float], v: Sequence[float]) -> float:
    """Inner product; fsum adds without intermediate rounding."""
    return fsum(x * y for x, y in zip(u, v))


def softmax(logits: Sequence[float]) -> list[float]:
    """Positive weights with sum 1. Subtracting the largest logit only prevents overflow."""
    powers = [exp(a - max(logits)) for a in logits]
    return [power / fsum(powers) for power in powers]


def mix(layers: Sequence[Sequence[float]], logits: Sequence[float], gamma: float) -> list[float]:
    """Mixture e = gamma * sum_j s_j h_j, coordinate by coordinate."""
    weights = softmax(logits)
    return [gamma * dot(weights, coordinate) for coordinate in zip(*layers)]


def log_loss(score: float, label: float) -> float:
    """-log(p) for label 1 and -log(1 - p) for label 0, where p = 1 / (1 + exp(-score))."""
    return log1p(exp(-score if label == 1 else score))


def loss_of_score(score: Sequence[float], label: float) -> float:
    """Share of the mean loss that an occurrence with score [z] and this label has."""
    return log_loss(score[0], label) / len(OCCURRENCES)


def loss(parameters: Sequence[float], names: Sequence[str] = tuple(OCCURRENCES)) -> float:
    """Mean loss at parameters [a_0, a_1, a_2, gamma], or what the named occurrences add to it."""
    *logits, gamma = parameters
    shares = []
    for name in names:
        label, layers = OCCURRENCES[name]
        shares.append(loss_of_score([dot(HEAD, mix(layers, logits, gamma))], label))
    return fsum(shares)


def occurrence_record(name: str, logits: Sequence[float], gamma: float) -> dict[str, Any]:
    """Every intermediate of one occurrence, with its contribution to the gradients."""
    label, layers = OCCURRENCES[name]
    weights = softmax(logits)
    mixture = mix(layers, logits, gamma)
    score = dot(HEAD, mixture)
    probability = 1 / (1 + exp(-score))
    layer_scores = [dot(HEAD, layer) for layer in layers]
    mixed_score = dot(weights, layer_scores)
    score_gradient = (probability - label) / len(OCCURRENCES)
    return {
        "label": label,
        "layers": layers,
        "mixture": mixture,
        "layer_scores": layer_scores,
        "mixed_score": mixed_score,
        "score": score,
        "probability": probability,
        "loss": log_loss(score, label),
        "score_gradient": score_gradient,
        # Raising one logit takes weight from the other layers: hence the "- mixed_score".
        "logit_gradient": [
            score_gradient * gamma * s * (c - mixed_score) for s, c in zip(weights, layer_scores)
        ],
        "gamma_gradient": score_gradient * mixed_score,
    }


def state_record(preset: str, gamma: float) -> dict[str, Any]:
    """One state: both occurrences, the shared gradients and one simultaneous update."""
    logits = [log(weight) for weight in PRESETS[preset]]
    occurrences = {name: occurrence_record(name, logits, gamma) for name in OCCURRENCES}
    contributions = [record["logit_gradient"] for record in occurrences.values()]
    logit_gradient = [fsum(column) for column in zip(*contributions)]
    gamma_gradient = fsum(record["gamma_gradient"] for record in occurrences.values())
    new_logits = [a - LEARNING_RATE * slope for a, slope in zip(logits, logit_gradient)]
    new_gamma = gamma - LEARNING_RATE * gamma_gradient
    return {
        "preset": preset,
        "gamma": gamma,
        "logits": logits,
        "weights": softmax(logits),
        "occurrences": occurrences,
        "loss": loss([*logits, gamma]),
        "logit_gradient": logit_gradient,
        "gamma_gradient": gamma_gradient,
        "learning_rate": LEARNING_RATE,
        "updated": {
            "logits": new_logits,
            "gamma": new_gamma,
            "weights": softmax(new_logits),
            "loss": loss([*new_logits, new_gamma]),
        },
    }


def gradient_errors(
    gradient: Sequence[float], f: Callable[[Sequence[float]], float], x: Sequence[float]
) -> list[float]:
    """Errors of a gradient of f at x against (f(x + STEP) - f(x - STEP)) / (2 STEP)."""
    errors = []
    for i, slope in enumerate(gradient):
        ahead = f([*x[:i], x[i] + STEP, *x[i + 1 :]])
        behind = f([*x[:i], x[i] - STEP, *x[i + 1 :]])
        errors.append(abs(slope - (ahead - behind) / (2 * STEP)))
    return errors


def check_state(state: dict[str, Any]) -> float:
    """Largest error of all gradients of a state; raises CheckFailed if a check fails."""
    where = f"state {state['preset']}, gamma {state['gamma']:g}"
    parameters = [*state["logits"], state["gamma"]]
    gradient = [*state["logit_gradient"], state["gamma_gradient"]]
    checks = {"shared gradient": gradient_errors(gradient, loss, parameters)}
    for name, record in state["occurrences"].items():
        gradient = [*record["logit_gradient"], record["gamma_gradient"]]
        share = partial(loss, names=[name])
        checks[f"gradient of {name}"] = gradient_errors(gradient, share, parameters)
        gradient, score = [record["score_gradient"]], [record["score"]]
        share = partial(loss_of_score, label=record["label"])
        checks[f"score gradient of {name}"] = gradient_errors(gradient, share, score)
    for what, errors in checks.items():
        if not all(error <= TOLERANCE for error in errors):  # "not <=" also catches NaN
            raise CheckFailed(f"{where}: {what} differs from central differences by {errors}")
    before, after = state["loss"], state["updated"]["loss"]
    if not after < before:
        raise CheckFailed(f"{where}: the update does not lower the loss: {before!r} -> {after!r}")
    return max(max(errors) for errors in checks.values())


def write_json(document: dict[str, Any], path: str) -> None:
    """Write beside the file and rename, so that it is never half written; "-" is stdout."""
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    if path == "-":
        print(text, end="", flush=True)
        return
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError("not a regular file")  # renaming would replace a device such as /dev/null
    target = os.path.realpath(path)  # a symbolic link stays one
    beside = f"{target}.{os.getpid()}.part"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, target)
    finally:
        if os.path.exists(beside):
            os.remove(beside)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, print, export. Status 0: every check passed; 1: one failed; 2: can't write."""
    parser = argparse.ArgumentParser(description="One learned mixture, two vectors for 'bank'.")
    parser.add_argument("--json", metavar="FILE", help="export the eight states; - for stdout")
    path = parser.parse_args(arguments).json
    states = [state_record(preset, gamma) for preset in PRESETS for gamma in GAMMAS]
    try:
        largest_error = max(check_state(state) for state in states)
    except CheckFailed as failure:
        print(f"check failed in {failure}", file=sys.stderr)
        return 1
    if path is not None:
        document = {
            "about": "worked example of a scalar mixture; eight states: four presets, two gammas",
            "features_are": "invented",
            "head": HEAD,
            "learning_rate": LEARNING_RATE,
            "finite_difference_step": STEP,
            "max_finite_difference_error": largest_error,
            "states": states,
        }
        try:
            write_json(document, path)
        except OSError as error:
            print(f"cannot write to {path!r}: {error.strerror or error}", file=sys.stderr)
            return 2
    if path != "-":
        outputs = "; ".join(
            f"{name} {[round(x, 10) for x in record['mixture']]}"
            for name, record in states[0]["occurrences"].items()
        )
        print(f"Default outputs: {outputs}")
        print(f"Mean loss: {states[0]['loss']:.10f}")
        print(f"After one simultaneous step: {states[0]['updated']['loss']:.10f}")
        print(f"Maximum finite-difference error: about {largest_error:.0e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
