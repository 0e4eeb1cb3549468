"""Speed of the scalar mixture, forward and backward, beside numpy's ways, PyTorch and the memory.

    python benchmarks/mixture.py [--threads 1] [--runs 15] [--profile]

Float32 at the released model's size and float64 at the worked example's. The peers compute the same
quantities in the same run, in turns. The limit of a large batch is memory: the bytes that must be
read and written, at the speed at which this machine copies an array of the layers' size into
another one. A backward pass returns gradients of logits, gamma and layers. `In place` writes the
mixture, or the layers' gradient, into memory that is used again. The profile times the pieces of
which a call consists, each alone; `--profile` prints it without the rest.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import measuring

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=1, help="BLAS and PyTorch threads")
    parser.add_argument("--runs", type=int, default=15, help="of which the median counts")
    parser.add_argument("--profile", action="store_true", help="time the pieces of a call only")
    arguments = parser.parse_args()
    measuring.pin_threads(arguments.threads)

import numpy as np  # the thread count is read at import

from elmo_toy import LayerNorm, _checks, layer_norm, scalar_mix, scalar_mix_gradients  # as above

try:
    import torch
except ImportError:
    torch = None

Array = np.ndarray[Any, np.dtype[Any]]
Actions = dict[str, Callable[[], object]]

LOGITS = np.array([0.1, 0.2, 0.3])
#: Batch, layers, tokens, dim.
LARGE = ((32, 3, 25, 1024), (32, 3, 50, 1024), (128, 3, 25, 1024), (128, 3, 50, 1024))
TINY = (1, 3, 1, 2)


def weights_of(logits: Array, dtype: Any) -> Array:
    """A softmax without any check."""
    exponentials = np.exp(logits - logits.max())
    return (exponentials / exponentials.sum()).astype(dtype)


def forward(layers: Array) -> Actions:
    """Ours and numpy's ways to the mixture."""

    def plain() -> Array:
        weights = weights_of(LOGITS, layers.dtype)
        total = weights[0] * layers[:, 0]
        for j in range(1, len(weights)):
            total = total + weights[j] * layers[:, j]
        return 1.0 * total

    place = np.empty_like(layers[:, 0])
    return {
        "elmo_toy": lambda: scalar_mix(layers, LOGITS),
        "elmo_toy in place": lambda: scalar_mix(layers, LOGITS, out=place),
        "numpy sum": plain,
        "einsum": lambda: np.einsum("j,bjtd->btd", weights_of(LOGITS, layers.dtype), layers),
    }


def backward(layers: Array, upstream: Array) -> Actions:
    """Ours and numpy's plain way to the three gradients."""

    def plain() -> tuple[Array, Array, Array]:
        weights = weights_of(LOGITS, layers.dtype)
        scores = np.stack([(upstream * layers[:, j]).sum() for j in range(len(weights))])
        m = weights @ scores
        return weights * (scores - m), m, weights[:, None, None] * upstream[:, None]

    place = np.empty_like(layers)
    return {
        "elmo_toy": lambda: scalar_mix_gradients(layers, LOGITS, 1.0, upstream),
        "elmo_toy in place": lambda: scalar_mix_gradients(layers, LOGITS, 1.0, upstream, out=place),
        "numpy sum": plain,
    }


def norm(layers: Array, upstream: Array) -> tuple[Actions, Actions]:
    """Ours with the layer norm, and numpy's plain way to its mixture."""
    settings = LayerNorm()

    def plain() -> Array:
        mean = layers.mean(axis=(0, 2, 3), keepdims=True)
        variance = ((layers - mean) ** 2).mean(axis=(0, 2, 3), keepdims=True)
        normalised = (layers - mean) / np.sqrt(variance + settings.epsilon)
        return np.einsum("j,bjtd->btd", weights_of(LOGITS, layers.dtype), normalised)

    places = np.empty_like(layers[:, 0]), np.empty_like(layers)

    def mix(out: Array | None = None) -> object:
        return scalar_mix(layers, LOGITS, layer_norm=settings, out=out)

    def differentiate(out: Array | None = None) -> object:
        return scalar_mix_gradients(layers, LOGITS, 1.0, upstream, layer_norm=settings, out=out)

    return (
        {
            "elmo_toy": mix,
            "elmo_toy in place": partial(mix, places[0]),
            "numpy sum": plain,
        },
        {"elmo_toy": differentiate, "elmo_toy in place": partial(differentiate, places[1])},
    )


if torch is not None:

    def torch_actions(layers: Array, upstream: Array, with_norm: bool) -> tuple[Actions, Actions]:
        """The sum of weighted layers as AllenNLP's module writes it, and its autograd."""
        logits = torch.from_numpy(LOGITS).to(torch.from_numpy(layers).dtype).requires_grad_()
        gamma = torch.ones((), dtype=logits.dtype, requires_grad=True)
        tensors = [
            torch.from_numpy(np.ascontiguousarray(layers[:, j])).requires_grad_()
            for j in range(layers.shape[1])
        ]
        above = torch.from_numpy(upstream)

        def normalised(x: torch.Tensor) -> torch.Tensor:
            centred = x - x.mean()
            return centred / torch.sqrt((centred**2).mean() + 1e-12)

        def mix() -> torch.Tensor:
            weights = torch.softmax(logits, 0)
            values = tensors
            values = [normalised(x) for x in tensors] if with_norm else tensors
            return gamma * sum(w * x for w, x in zip(weights, values, strict=True))

        def infer() -> object:
            with torch.inference_mode():
                return mix()

        def differentiate() -> object:
            return torch.autograd.grad(mix(), [logits, gamma, *tensors], above)

        return {"PyTorch": infer}, {"PyTorch": differentiate}


#: `elmo_toy.scalar_mix` is the function; its module's own pieces are timed here.
MIXTURE = importlib.import_module("elmo_toy.scalar_mix")


def pieces(layers: Array, upstream: Array) -> Actions:
    """What the passes consist of, each on its own."""
    weights = weights_of(LOGITS, layers.dtype)
    flat = layers.reshape(*layers.shape[:2], -1)
    mixture, gradient = np.empty_like(upstream), np.empty_like(layers)
    flat_mixture, columns = mixture.reshape(len(flat), -1), weights[:, None, None]
    norm = layer_norm.statistics(layers, None, LayerNorm())
    checked = MIXTURE._check(layers, LOGITS, 1.0, None, None)
    scores, total = layer_norm.normalised_scores(layers, upstream, None, norm)
    return {
        "forward, in place": lambda: scalar_mix(layers, LOGITS, out=mixture),
        "its matrix products": lambda: np.matmul(weights, flat, out=flat_mixture),
        "a look at the result": lambda: _checks.all_finite(mixture),
        "writing a new result": lambda: np.full_like(mixture, 1),
        "writing into an old one": lambda: mixture.fill(1),
        "backward, in place": lambda: scalar_mix_gradients(
            layers, LOGITS, 1.0, upstream, out=gradient
        ),
        "its scores": lambda: MIXTURE._scores(layers, upstream, None),
        "its weighted copies": lambda: np.multiply(columns, upstream[:, None], out=gradient),
        "writing a new layers' gradient": lambda: np.full_like(gradient, 1),
        "writing into an old layers' gradient": lambda: gradient.fill(1),
        "layer norm: statistics": lambda: layer_norm.statistics(layers, None, LayerNorm()),
        "layer norm: mixture": lambda: MIXTURE._mix(checked, norm, mixture),
        "layer norm: scores": lambda: layer_norm.normalised_scores(layers, upstream, None, norm),
        "layer norm: layers' gradient": lambda: layer_norm.layer_gradients_through_norm(
            weights, layers, upstream, scores, total, norm, gradient
        ),
    }


def tiny_pieces() -> Actions:
    """What a tiny call consists of."""
    layers = np.ones(TINY)
    weights, flat = weights_of(LOGITS, layers.dtype), layers.reshape(1, 3, -1)

    def errstate() -> None:
        with np.errstate(all="ignore"):
            pass

    return {
        "forward": lambda: scalar_mix(layers, LOGITS),
        "numpy's softmax": lambda: weights_of(LOGITS, layers.dtype),
        "numpy's matrix product": lambda: np.matmul(weights, flat),
        "softmax with its checks": lambda: MIXTURE._softmax(LOGITS),
        "all checks and the softmax": lambda: MIXTURE._check(layers, LOGITS, 1.0, None, None),
        "a look at the result": lambda: _checks.all_finite(layers[:, 0]),
        "np.errstate": errstate,
    }


def profile(runs: int = 15) -> dict[str, Any]:
    """Milliseconds and page faults of each piece for the smallest and largest batch; µs if tiny."""
    rng = np.random.default_rng(0)
    found: dict[str, Any] = {}
    for shape in (LARGE[0], LARGE[-1]):
        layers = rng.standard_normal(shape, dtype=np.float32)
        upstream = rng.standard_normal((shape[0], *shape[2:]), dtype=np.float32)
        place = np.empty_like(layers)
        actions: Actions = {"a copy of the layers": partial(np.copyto, place, layers)}
        actions |= pieces(layers, upstream)
        times = measuring.in_turns(actions, runs)
        found[" × ".join(map(str, shape))] = {
            name: {"ms": 1000 * times[name], "page_faults": measuring.page_faults(action)}
            for name, action in actions.items()
        }
    tiny = measuring.in_turns(tiny_pieces(), runs, calls=2000)
    return {"batches": found, "tiny_us": {name: 1e6 * seconds for name, seconds in tiny.items()}}


def measure(runs: int = 15) -> list[dict[str, Any]]:
    """Measure every size, and say for each pass the milliseconds by name and the limit."""
    rng = np.random.default_rng(0)
    result: list[dict[str, Any]] = []
    for shape in (*LARGE, TINY):
        tiny = shape == TINY
        dtype = np.float64 if tiny else np.float32
        layers = rng.standard_normal(shape).astype(dtype)
        upstream = rng.standard_normal((shape[0], *shape[2:])).astype(dtype)
        normed = norm(layers, upstream)
        passes = {
            "forward": (forward(layers), layers.nbytes + upstream.nbytes),
            # reads layers and the gradient of the mixture, writes the layers' gradient
            "backward": (backward(layers, upstream), 2 * layers.nbytes + upstream.nbytes),
            # the layers are read twice: for the statistics, then for the mixture
            "forward, layer norm": (normed[0], 2 * layers.nbytes + upstream.nbytes),
            "backward, layer norm": (normed[1], 3 * layers.nbytes + 2 * upstream.nbytes),
        }
        if torch is not None:
            for with_norm, name in ((False, ""), (True, ", layer norm")):
                ahead, back = torch_actions(layers, upstream, with_norm)
                passes["forward" + name][0].update(ahead)
                passes["backward" + name][0].update(back)
        place = np.empty_like(layers)
        for name, (actions, n_bytes) in passes.items():
            # The copy takes turns with the rest: alone, it would find small batches in the cache.
            actions["copy"] = partial(np.copyto, place, layers)
            times = measuring.in_turns(actions, runs, calls=2000 if tiny else 1)
            copy = times.pop("copy")
            result.append(
                {
                    "shape": shape,
                    "pass": name,
                    "ms": {who: 1000 * seconds for who, seconds in times.items()},
                    "limit_ms": None if tiny else 1000 * copy * n_bytes / (2 * layers.nbytes),
                }
            )
    return result


def growth(runs: int = 9) -> dict[str, Any]:
    """Milliseconds of the forward and backward pass from 1 to 256 sentences of 25 tokens."""
    rng = np.random.default_rng(0)
    sizes = [2**k for k in range(9)]
    found: dict[str, list[float]] = {"forward": [], "backward": []}
    for batch in sizes:
        layers = rng.standard_normal((batch, 3, 25, 1024)).astype(np.float32)
        upstream = rng.standard_normal((batch, 25, 1024)).astype(np.float32)
        place = np.empty_like(layers)
        times = measuring.in_turns(
            {
                "forward": lambda layers=layers: scalar_mix(layers, LOGITS),
                "backward": lambda layers=layers, upstream=upstream, place=place: (
                    scalar_mix_gradients(layers, LOGITS, 1.0, upstream, out=place)
                ),
            },
            runs,
        )
        for name, seconds in times.items():
            found[name].append(1000 * seconds)
    upper = slice(3, None)  # below, a call's overhead counts
    return {
        "sentences": sizes,
        "ms": found,
        "exponent": {
            name: measuring.exponent(list(map(float, sizes[upper])), times[upper])
            for name, times in found.items()
        },
    }


def report(result: list[dict[str, Any]]) -> str:
    """The result as a table."""
    names = list(dict.fromkeys(name for row in result for name in row["ms"]))
    heads = ["batch × layers × tokens × dim", "pass", *(f"{n}, ms" for n in names)]
    rows = []
    for row in result:
        times, limit = row["ms"], row["limit_ms"]
        digits = 4 if limit is None else 2
        rows.append(
            [
                " × ".join(map(str, row["shape"])),
                row["pass"],
                *(f"{times[n]:.{digits}f}" if n in times else "" for n in names),
                "" if limit is None else f"{limit:.2f}",
                "" if limit is None else f"{times['elmo_toy'] / limit:.2f}",
                "" if limit is None else f"{times['elmo_toy in place'] / limit:.2f}",
                f"{times['PyTorch'] / times['elmo_toy']:.1f}" if "PyTorch" in times else "",
            ]
        )
    return measuring.table(
        [*heads, "limit, ms", "ours / limit", "in place / limit", "PyTorch / ours"], rows
    )


def report_profile(found: dict[str, Any]) -> str:
    """The pieces as a table, and those of a tiny call in a line."""
    shapes, batches = list(found["batches"]), list(found["batches"].values())
    rows = [
        [name, *(f"{of[name]['ms']:.2f} ({of[name]['page_faults']:.0f})" for of in batches)]
        for name in batches[0]
    ]
    tiny = ", ".join(f"{name} {us:.1f}" for name, us in found["tiny_us"].items())
    return (
        measuring.table(["ms (page faults)", *shapes], rows)
        + f"\n\nMicroseconds of a tiny call's pieces: {tiny}."
    )


def main(runs: int = 15) -> str:
    """Measure, write the record, and return the tables."""
    if torch is not None:
        torch.set_num_threads(int(measuring.machine()["threads"]) or 1)
    sizes, grows, found = measure(runs), growth(), profile(runs)
    measuring.write_record("mixture", {"sizes": sizes, "growth": grows, "profile": found})
    exponents = ", ".join(f"{name} {value:.2f}" for name, value in grows["exponent"].items())
    return (
        report(sizes)
        + f"\n\nTime grows with the number of sentences (8 to 256) to the power: {exponents}.\n\n"
        + report_profile(found)
    )


if __name__ == "__main__":
    print(report_profile(profile(arguments.runs)) if arguments.profile else main(arguments.runs))
