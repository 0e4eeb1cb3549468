"""Why are the two directions kept apart? Train what happens otherwise, and record it.

    python tools/measure_stacks.py [--seeds 0 1 2 3 4] [--tokens 2500000] [--output FILE]

On the controlled corpus, for each seed, exactly as `train_toy_language.py` trains the biLM: a model
whose states are asked for the token that they have just read (``sees_its_answer``), and one whose
second layer reads both directions of the first (``joined``). The biLM itself and the untrained
network have been measured by `train_toy_language.py` with the same seeds and settings; with
``--tokens`` or ``--seeds`` other than its own they are measured again here. The record (which
chapter 2 reads) holds all four: losses of both directions on the development sentences and sense
scores by layer.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import platform
from collections.abc import Sequence
from math import log
from typing import Any

import train_toy_language as toy  # first: it sets the number of BLAS threads

import numpy as np  # isort: skip
import train_arguments  # isort: skip
from whole_files import write_record  # isort: skip

from elmo_toy.bilm import checkpoint, records, training
from elmo_toy.bilm.model import BiLM, Loss, Options
from elmo_toy.toy_language import ToyCorpus, make_corpus

Measured = dict[str, Any]

VARIANTS: dict[str, Options] = {
    "bilm": toy.OPTIONS,
    "sees_its_answer": dataclasses.replace(toy.OPTIONS, shift=0),
    "joined": dataclasses.replace(
        toy.OPTIONS, lstm=dataclasses.replace(toy.OPTIONS.lstm, joined=True)
    ),
}


def summary(
    seed: int, losses: Sequence[float], scores: dict[str, Any], parameters: int
) -> Measured:
    """One line of the record."""
    forward, backward = (round(loss, 5) for loss in losses)
    return {
        "seed": seed,
        "parameters": parameters,
        "loss": {"forward": forward, "backward": backward},
        "scores": scores,
    }


def size(model: BiLM) -> int:
    """How many numbers are trained."""
    return sum(value.size for value in model.parameters.values())


def measure(seed: int, corpus: ToyCorpus, tokens: int, options: Options) -> Measured:
    """Train one variant with one seed."""
    model, found = toy.train_seed(seed, corpus, tokens, options)
    development = training.Corpus(model, [sentence.tokens for sentence in corpus.development])
    loss: Loss = training.evaluate(model, development)
    return summary(seed, (loss.forward, loss.backward), found["scores"], size(model))


def measure_untrained(seed: int, corpus: ToyCorpus) -> Measured:
    """The network that the biLM's training starts from."""
    model, _ = toy.untrained(seed)
    development = training.Corpus(model, [sentence.tokens for sentence in corpus.development])
    loss = training.evaluate(model, development)
    return summary(
        seed, (loss.forward, loss.backward), toy.sense_scores(model, corpus), size(model)
    )


def already_measured(
    seeds: Sequence[int], settings: dict[str, Any]
) -> dict[str, list[Measured]] | None:
    """The biLM and the untrained network out of the shipped model's record, if they are these."""
    path = checkpoint.PRETRAINED / toy.NAME / "record.json"
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    same = record.get("training") == settings and record["corpus"]["seed"] == toy.CORPUS_SEED
    if not same or [found["seed"] for found in record["seeds"]] != list(seeds):
        return None
    return {
        name: [
            summary(
                found["seed"],
                [log(found[prefix + "perplexity"][key]) for key in ("forward", "backward")],
                found[prefix + "scores"],
                found["parameters"],
            )
            for found in record["seeds"]
        ]
        for name, prefix in (("bilm", ""), ("untrained", "untrained_"))
    }


def main() -> None:
    """Measure, and write the record after each training run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=train_arguments.seed, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--tokens", type=train_arguments.count, default=2_500_000)
    parser.add_argument(
        "--output", type=train_arguments.file, default=records.path("separate_stacks")
    )
    arguments = parser.parse_args()
    train_arguments.check_seeds(parser, arguments.seeds)

    settings = {
        "optimiser": "adam",
        "learning_rate": toy.LEARNING_RATE,
        "decay": "linear",
        "batch_size": toy.BATCH_SIZE,
        "clip_norm": toy.CLIP_NORM,
        "tokens": arguments.tokens,
    }
    corpus = make_corpus(toy.CORPUS_SEED)
    models: dict[str, list[Measured]] = {name: [] for name in (*VARIANTS, "untrained")}
    known = already_measured(arguments.seeds, settings)
    models.update(known or {})
    record = {
        "corpus": {
            "seed": toy.CORPUS_SEED,
            "sentences": len(corpus.train),
            "development_sentences": len(corpus.development),
            "test_sentences": len(corpus.test),
        },
        "sizes": dataclasses.asdict(toy.SIZES),
        "training": settings,
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "models": models,
    }
    for seed in arguments.seeds:
        if known is None:
            models["untrained"].append(measure_untrained(seed, corpus))
        for name, options in VARIANTS.items():
            if known is None or name not in known:
                models[name].append(measure(seed, corpus, arguments.tokens, options))
                print(name, json.dumps(models[name][-1]), flush=True)
        write_record(arguments.output, record)


if __name__ == "__main__":
    main()
