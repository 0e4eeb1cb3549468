"""Numbers that the seminar's pages quote, by name, as the text that stands on the page.

A page asks for one with a role, ``{value}`loss``` say, so none is typed.

Book: chapter 3, "A large weight is not an importance".
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elmo_toy import reported
from elmo_toy.descent import LAYER_SCORES, descend, rate_without_progress, step_on_weights
from elmo_toy.quiz.items import layer, number, vector
from elmo_toy.worked_example import LAYERS, PRESETS, State, forward, state

NAMES = ("river", "loan")


def values() -> Mapping[str, str]:
    """Every name and its text.

    >>> values()["loss"], values()["walk layer"], values()["river layer scores"]
    ('0.420337', 'h₁', '[1, −2, 2]')
    """
    upper, lower = state(), state("lower")
    found = {
        **_state("", upper),
        **_state("lower ", lower),
        **_state("doubled ", state("upper", 2.0)),
        **_state("lower doubled ", state("lower", 2.0)),
        **_walk(),
        **_steps(upper),
        **_two_runs(),
        **_paper(),
    }
    for k, name in enumerate(NAMES):
        found[f"{name} layer scores"] = vector(LAYER_SCORES[k])
        for j in range(3):
            found[f"{name} h{j}"] = vector(LAYERS[k, j, 0])
    return found


def largest(weights: np.ndarray) -> str:
    """Name of the layer with the largest weight."""
    return layer(int(np.argmax(weights)))


def _state(prefix: str, s: State) -> dict[str, str]:
    texts = {
        "weights": vector(s.forward.weights),
        "loss": f"{s.forward.loss:.6f}",
        "logit gradient": vector(s.logit_gradient, 6),
        "gamma gradient": number(s.gamma_gradient, 6),
        "loss after": f"{s.updated.loss:.6f}",
        "weights after": vector(s.updated.weights, 4),
    }
    for k, name in enumerate(NAMES):
        texts |= {
            name: vector(s.forward.mixtures[k]),
            f"{name} score": number(s.forward.scores[k]),
            f"{name} mixed score": number(s.forward.mixed_scores[k]),
            f"{name} probability": f"{s.forward.probabilities[k]:.6f}",
            f"{name} upstream": number(s.score_gradients[k], 6),
            f"{name} score by logit": vector(
                s.gamma * s.forward.weights * (LAYER_SCORES[k] - s.forward.mixed_scores[k])
            ),
            f"{name} distances": vector(LAYER_SCORES[k] - s.forward.mixed_scores[k]),
            f"{name} score without m": vector(s.gamma * s.forward.weights * LAYER_SCORES[k]),
        }
    return {prefix + name: text for name, text in texts.items()}


def _walk(amount: float = 0.3) -> dict[str, str]:
    """The walk along the direction that changes no score, and the way by other units."""
    unseen = np.cross(*LAYER_SCORES)
    g = PRESETS["upper"] + amount * unseen
    end = forward(np.log(g / g.sum()), float(g.sum()))
    units = PRESETS["upper"] / [1.0, 1.0, 10.0]
    texts = {
        "unseen": vector(unseen),
        "unseen sum": number(unseen.sum()),
        "walk amount": number(amount),
        "walk g": vector(g),
        "walk gamma": number(g.sum()),
        "walk weights": vector(end.weights),
        "walk layer": largest(end.weights),
        "walk scores": " and ".join(number(score) for score in end.scores),
        "walk loss": f"{end.loss:.6f}",
        "start layer": largest(PRESETS["upper"]),
        "units weights": vector(units / units.sum()),
        "units gamma": number(units.sum()),
    }
    for k, name in enumerate(NAMES):
        texts[f"walk {name}"] = vector(end.mixtures[k])
        products = [number(float(x)) for x in unseen * LAYER_SCORES[k]]
        texts[f"unseen times {name}"] = " + ".join(products).replace("+ −", "− ")
    return texts


def _steps(upper: State) -> dict[str, str]:
    sums = step_on_weights(PRESETS["upper"], 1.0).weights.sum()
    falling = upper.logit_gradient > 0
    negative = (upper.forward.weights[falling] / upper.logit_gradient[falling]).min()
    far = state("lower", learning_rate=5.0)
    rises = rate_without_progress(PRESETS["lower"], 1.0, 1.0, 5.0)
    return {
        "weight step sum": number(sums, 4),
        "rate of a negative weight": number(negative, 4),
        "rate without progress": number(rises),
        "far loss": number(far.updated.loss),
        "far gamma": number(far.updated_gamma, 2),
    }


def _two_runs(steps: int = 500) -> dict[str, str]:
    run = descend([PRESETS["upper"]] * 2, [1.0, -1.0], steps, 0.5)
    texts = {"runs steps": str(steps)}
    for i, name in enumerate(("plus", "minus")):
        weights = run.weights[-1, i]
        texts |= {
            f"run {name} layer": largest(weights),
            f"run {name} weight": number(float(weights.max())),
            f"run {name} gamma": number(run.gamma[-1, i], 2),
            f"run {name} loss": number(run.loss[-1, i], 6),
        }
    return texts


def _paper() -> dict[str, str]:
    none, last, average, learned = (
        reported.find(table=2, task="SQuAD", condition=name)[0].value
        for name in ("baseline", "last layer", "all, λ = 1", "all, λ = 0.001")
    )
    return {
        "last layer share": f"{(last - none) / (learned - none):.0%}",
        "learned over average": number(learned - average, 1),
    }
