"""The values that numbers in prose are bound to, all of them computed by `elmo_toy`.

`tools/prose_numbers.py` looks a name such as ``default.river.mixture.0`` up in what `values`
returns. Nothing is typed here but names and the inputs that a text chooses (a rate, a strength):
what others printed stands in ``cited.toml``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from elmo_toy import descent, gradient_check, our_sentences, text, worked_example
from elmo_toy import elmo_scalar_mix_demo as script
from elmo_toy.bilm import kernels, load_pretrained, lstm, records, released
from elmo_toy.bilm.model import BiLM
from elmo_toy.geometry import gamma_range
from elmo_toy.similarity import (
    Occurrences,
    cosine,
    leave_pair_out,
    nearest_mean,
    percentile,
    relabelled,
)
from elmo_toy.toy_language import make_corpus
from elmo_toy.worked_example import HEAD, LAYERS, OCCURRENCES, PRESETS

sys.path.insert(0, str(Path(__file__).parent))  # this file is also loaded from elsewhere
from values_carry import carry_values
from values_extractor import extractor_values
from values_hosts import hosts_values
from values_reported import reported_values


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
        "direction_sum": float(direction.sum()),
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


def _word_types() -> dict[str, Any]:
    """Return what chapter 1 measures on the two shipped models and on their untrained starts."""
    corpus = make_corpus(0, train=0, development=400)
    tags = np.array([tag for s in corpus.development for tag in s.tags])
    ours = our_sentences.RIVER + our_sentences.LOAN + our_sentences.OTHERS
    half = len(our_sentences.RIVER)
    others = sorted({word for s in ours[: 2 * half] for word in s} - {"bank"})
    bag = np.array([[float(word in s) for word in others] for s in ours[: 2 * half]])
    found: dict[str, Any] = {
        "middle": float(percentile(np.ones(()), np.ones(2))),
        "bag": leave_pair_out(bag[:half], bag[half:]),
    }
    for state in ("trained", "untrained"):
        toy = Occurrences.read(
            _model("toy-language", state).embed, [s.tokens for s in corpus.development]
        )
        known, asked = toy.sentences < 20, toy.sentences >= 100
        english = Occurrences.read(_model("english-small", state).embed, ours)
        bank = english.vectors[english.words == "bank"]
        layers = range(toy.vectors.shape[1])
        tag_scores = []
        for j in layers:
            vectors = toy.vectors[:, j]
            told = nearest_mean(vectors[known], tags[known].tolist(), vectors[asked])
            tag_scores.append(float(np.mean(told == tags[asked])))
        found[state] = {
            "tags": tag_scores,
            "same_word": [float(c) for c in cosine(*toy.vectors[toy.words == "bank"][:2])],
            "english": [leave_pair_out(bank[:half, j], bank[half:, j]) for j in layers],
            "english_chance": [_chance(bank[:half, j], bank[half:, j]) for j in layers],
        }
    return found


def _chance(first: np.ndarray, second: np.ndarray) -> float:
    """Return the score that nineteen random deals in twenty do not exceed."""
    deals = relabelled(first, second, 200, np.random.default_rng(2))
    return float(np.quantile(deals, 0.95))


def _model(name: str, state: str) -> BiLM:
    """Return a shipped model, or the network that its training started from."""
    model = load_pretrained(name)
    if state == "trained":
        return model
    return BiLM.initialise(model.options, np.random.default_rng(0), model.vocabulary)


def _lstm_step() -> dict[str, Any]:
    """Return the step of one LSTM unit that chapter 2 takes by hand."""
    x, h, c, projection = 2.0, 1.0, 1.0, 2.0
    kernel = np.array([[1.0, 1, -1, 1], [-2, -1, 1, -2]])  # columns i, j, f, o
    weights = lstm.LayerWeights(
        np.stack([kernel] * 2), np.zeros((2, 4)), np.full((2, 1, 1), projection)
    )
    sizes = lstm.LSTMOptions(dim=1, projection_dim=1)
    trace = lstm.layer_forward(
        np.full((2, 1, 1, 1), x), weights, [1], np.full((2, 1, 1), c), np.full((2, 1, 1), h), sizes
    )
    return {
        "x": x,
        "h": h,
        "c": c,
        "projection": projection,
        "kernel": kernel.tolist(),
        "from_x": (x * kernel[0]).tolist(),
        "from_h": (h * kernel[1]).tolist(),
        "gates": (x * kernel[0] + h * kernel[1]).tolist(),
        "half_open": float(trace.gates[1, 0, 0, 0, 0]),
        "cell": float(trace.cells[0, 1, 0, 0]),
        "state": float(trace.states[0, 1, 0, 0]),
        "clip": sizes.cell_clip,
        "forget_bias": kernels.FORGET_BIAS,
    }


def _language_models() -> dict[str, Any]:
    """Return what chapters 2 and 8 say about steps, recorded models and released sizes."""
    record = records.read("separate_stacks")["models"]
    losses = {
        name: float(np.mean([list(run["loss"].values()) for run in runs]))
        for name, runs in record.items()
    }
    original = released.RELEASED["original"]
    cost = records.read("released_size")
    words = cost["batch"]["sentences"] * cost["batch"]["words"]
    return {
        "step": _lstm_step(),
        "loss": losses,
        "perplexity": {name: float(np.exp(loss)) for name, loss in losses.items()},
        "scores": {
            name: {
                test: np.mean([run["scores"]["all"][test] for run in runs], axis=0).tolist()
                for test in ("test", "new_cues")
            }
            for name, runs in record.items()
        },
        "character_ids": text.CHARACTER_IDS,
        "filters": original.encoder.n_filters,
        "millions": {
            name: sum(released.parameter_counts(options).values()) / 1e6
            for name, options in released.RELEASED.items()
        },
        "gates_millions": released.parameter_counts(original)["LSTM gates"] / 1e6,
        "megabytes": 4 * sum(released.parameter_counts(original).values()) / 1e6,
        "words_a_second": words / cost["batch_seconds"]["median"],
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
        "word_types": _word_types(),
        "language_models": _language_models(),
        "carry": carry_values(),
        "extractor": extractor_values(),
        "reported": reported_values(),
        "hosts": hosts_values(),
        "float64": {"eps": float(np.finfo(np.float64).eps)},
    }
