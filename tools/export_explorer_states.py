"""Write what `elmo_toy` computes, for the explorers' scripts to be compared with.

    python tools/export_explorer_states.py STATES.json [--states 600] [--seed 2018]

`states` are random places with everything that the mathematics computes there; `walks` are random
sequences of controls with every text that an explorer then shows; `readings` are what the shipped
language model makes of pairs of sentences, with `scripts`, from which a page has that model.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
import train_arguments
from whole_files import write_whole

from elmo_toy import descent
from elmo_toy.gradient_check import central_difference
from elmo_toy.scalar_mix import softmax
from elmo_toy.widgets import _gradient, _mixture, _reader, _reading, _seeds, _shift
from elmo_toy.worked_example import HEAD, LABELS, LAYERS, PRESETS, forward, state_at

WALKS = 60
MOVES = 8
#: What readers type: plain, markup, other scripts, signs that are seen and signs that aren't.
TYPED = (
    *(" ".join(sentence) for sentence in _reading.SENTENCES[::6]),
    "The Bank “paid” Mr. O'Neil's 1,200 dollars — twice!",
    "<img src=x onerror=alert(1)> <script>alert('bank')</script> &amp; <b>bank</b>",
    "שלום עולם bank مرحبا",
    "we 🚣 to the bank 👩\u200d🔬 e\u0301te\u0301 naïve हिन्दी 銀行",
    f"{'a' * 40} supercalifragilisticexpialidocious bank",
    "bank " * 500,
    "bank",
    "",
    " \u200b\t ",
)


def random_state(rng: np.random.Generator) -> dict[str, Any]:
    """Return one place and what is computed there."""
    logits = rng.normal(size=3) * rng.choice([0.3, 1.0, 3.0])
    gamma, rate = float(rng.uniform(-5, 5)), float(10 ** rng.uniform(-2, 0.7))
    delta, amount = float(10 ** -rng.uniform(1, 8)), float(rng.uniform(0, 0.3))
    weights = softmax(logits)
    here, by = state_at(logits, gamma), descent.gradients_at(weights, gamma)
    moved, scale = _mixture.move_along(weights, gamma, amount)
    layer, value = int(rng.integers(3)), float(rng.uniform(0.01, 0.98))
    rules = {
        "right": descent.step_on_logits,
        "without m": descent.step_without_m,
        "on weights": descent.step_on_weights_with_logit_gradient,
    }
    steps = {name: rule(weights, gamma, rate) for name, rule in rules.items()}
    shares = np.column_stack([here.logit_contributions, here.gamma_contributions])
    x = np.append(logits, gamma)
    return {
        "logits": logits.tolist(),
        "gamma": gamma,
        "rate": rate,
        "delta": delta,
        "amount": amount,
        "layer": layer,
        "value": value,
        "weights": weights.tolist(),
        "mixtures": here.forward.mixtures.tolist(),
        "scores": here.forward.scores.tolist(),
        "probabilities": here.forward.probabilities.tolist(),
        "losses": here.forward.losses.tolist(),
        "loss": here.forward.loss,
        "byOccurrence": shares.tolist(),
        "byLogit": here.logit_gradient.tolist(),
        "byGamma": here.gamma_gradient,
        "byWeight": by.weights.tolist(),
        "withoutM": by.logits_without_m.tolist(),
        "steps": {
            name: {"weights": point.weights.tolist(), "gamma": float(point.gamma)}
            for name, point in steps.items()
        },
        "along": {"weights": moved.tolist(), "gamma": scale},
        "withWeight": _mixture.with_weight(weights, layer, value).tolist(),
        "measured": central_difference(lambda y: forward(y[:3], y[3]).loss, x, delta).tolist(),
    }


def mixture_walk(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return random controls of `elmo-mixture` with the texts after each."""
    state = _mixture.MixtureState(tuple(PRESETS["upper"].tolist()))
    walk = []
    for _ in range(MOVES):
        control = str(rng.choice(["weight", "gamma", "along", "guess", "preset", "shown"]))
        value: Any = {
            "weight": rng.integers(1, 99) / 100,
            "gamma": rng.integers(-50, 51) / 10,
            "along": rng.integers(0, 31) / 100,
            "guess": rng.integers(-30, 81) / 20,
            "preset": str(rng.choice(list(PRESETS))),
            "shown": bool(rng.integers(2)),
        }[control]
        if control in ("weight", "guess"):
            control += f"-{rng.integers(3 if control == 'weight' else 2)}"
        state = _mixture.moved(state, control, value)
        walk.append({"control": control, "value": value, "texts": _mixture.read(state)})
    return walk


def gradient_walk(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return random controls of `elmo-gradient` with the texts after each.

    Measured derivatives carry the rounding of their step, so that step comes with the texts.
    """
    state = _gradient.GradientState()
    walk = []
    for _ in range(MOVES):
        control = str(rng.choice(["preset", "gamma", "rate", "delta", "steps", "guess", "shown"]))
        value: Any = {
            "preset": str(rng.choice(list(PRESETS))),
            "gamma": rng.integers(-20, 21) / 10,
            "rate": int(rng.integers(len(_gradient.RATES))),
            "delta": int(rng.integers(len(_gradient.DELTAS))),
            "steps": int(rng.choice([0, 1, 10, 100])),
            "guess": str(rng.choice(list(_gradient.GUESSES))),
            "shown": bool(rng.integers(2)),
        }[control]
        state = _gradient.moved(state, control, value)
        delta = _gradient.DELTAS[state.delta]
        texts = _gradient.read(state)
        walk.append({"control": control, "value": value, "texts": texts, "delta": delta})
    return walk


def shift_walk(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return random controls of `elmo-shift` with the texts after each."""
    state = _shift.ShiftState()
    walk = []
    for _ in range(MOVES):
        control = str(rng.choice(["at", "wiring", "guess", "shown"]))
        value: Any = {
            "at": int(rng.integers(len(_shift.TOKENS))),
            "wiring": str(rng.choice(list(_shift.WIRINGS))),
            "guess": int(rng.integers(len(_shift.WORDS))),
            "shown": bool(rng.integers(2)),
        }[control]
        state = _shift.moved(state, control, value)
        walk.append({"control": control, "value": value, "texts": _shift.read(state)})
    return walk


def seeds_walk(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return random controls of `elmo-seeds` with the texts after each."""
    state = _seeds.SeedsState()
    walk = []
    for _ in range(MOVES):
        control = str(rng.choice(["task", "one", "other", "size", "draws", "guess", "shown"]))
        value: Any = {
            "task": str(rng.choice(list(_seeds.TASKS))),
            "one": str(rng.choice(list(_seeds.CONDITIONS))),
            "other": str(rng.choice(list(_seeds.CONDITIONS))),
            "size": int(rng.integers(1, 6)),
            "draws": int(rng.choice([0, 1, 10, 100])),
            "guess": int(rng.integers(11)),
            "shown": bool(rng.integers(2)),
        }[control]
        state = _seeds.moved(state, control, value)
        walk.append({"control": control, "value": value, "texts": _seeds.read(state)})
    return walk


def reader_walk(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return random controls of `elmo-reader` with the texts after each, and the state."""
    state = _reader.example("watch")
    walk = []
    for _ in range(MOVES):
        names = ["text", "place", "example", "among", "weight", "gamma", "guess", "shown"]
        control = str(rng.choice(names))
        side = int(rng.integers(2))
        places = len(state.tokens[side])
        if control == "place" and not places:  # there is nothing to choose
            control = "text"
        value: Any = {
            "text": TYPED[int(rng.integers(len(TYPED)))],
            "place": int(rng.integers(max(places, 1))),
            "example": str(rng.choice(list(_reader.EXAMPLES))),
            "among": str(rng.choice(list(_reader.AMONG))),
            "weight": rng.integers(1, 99) / 100,
            "gamma": rng.integers(-20, 21) / 10,
            "guess": str(rng.choice(_reader.GUESSES)),
            "shown": bool(rng.integers(2)),
        }[control]
        if control == "weight":
            control += f"-{rng.integers(3)}"
        elif control in ("text", "place"):
            control += f"-{side}"
        state = _reader.moved(state, control, value)
        walk.append({"control": control, "value": value, "texts": _reader.read(state)})
    return walk


def readings(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return what the model makes of pairs of sentences, unrounded."""
    sentences = [tuple(tokens) for typed in TYPED if (tokens := _reading.tokens_of(typed[:300]))]
    found = []
    for first in sentences:
        second = sentences[int(rng.integers(len(sentences)))]
        places = (int(rng.integers(len(first))), int(rng.integers(len(second))))
        reading = _reading.reading(first, second, places)
        found.append(
            {
                "pairs": [[first, places[0]], [second, places[1]]],
                "products": reading.products.tolist(),
                "untrained": reading.untrained,
                "expected": [[way._asdict() for way in both] for both in reading.expected],
                "nearest": reading.nearest,
            }
        )
    return found


def export(n_states: int, seed: int) -> dict[str, Any]:
    """Return everything that the tests in Node read."""
    rng = np.random.default_rng(seed)
    return {
        "constants": {
            "LAYERS": LAYERS[:, :, 0].tolist(),
            "HEAD": HEAD.tolist(),
            "LABELS": LABELS.tolist(),
            "PRESETS": {name: weights.tolist() for name, weights in PRESETS.items()},
            "UNSEEN": _mixture.UNSEEN.tolist(),
            "LAYER_SCORES": descent.LAYER_SCORES.tolist(),
        },
        "states": [random_state(rng) for _ in range(n_states)],
        "walks": {
            "mixture": [mixture_walk(rng) for _ in range(WALKS)],
            "gradient": [gradient_walk(rng) for _ in range(WALKS)],
            "shift": [shift_walk(rng) for _ in range(WALKS)],
            "seeds": [seeds_walk(rng) for _ in range(4 * WALKS)],
            "reader": [reader_walk(rng) for _ in range(WALKS)],
        },
        "data": {"shift": _shift.data(), "seeds": _seeds.data(), "reader": _reader.data()},
        "tokens": [[typed, _reading.tokens_of(typed)] for typed in TYPED],
        "readings": readings(rng),
        "scripts": _reading.scripts(),
    }


def main() -> int:
    """Read the command line and write the file."""
    parser = argparse.ArgumentParser(description="Write states for the explorers' tests.")
    parser.add_argument("path", type=train_arguments.file)
    parser.add_argument("--states", type=train_arguments.count, default=600)
    parser.add_argument("--seed", type=train_arguments.seed, default=2018)
    arguments = parser.parse_args()
    text = json.dumps(export(arguments.states, arguments.seed), default=float)
    write_whole(arguments.path, text.encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
