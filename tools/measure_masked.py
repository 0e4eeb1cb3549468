"""What masked prediction makes of senses, and how far it reaches: train, measure, record.

    python tools/measure_masked.py [--processes 2] [--seeds 0 1 2 3 4] [--tokens 2500000]

On the controlled corpus of `train_toy_language.py`, with its learning rate, batches and number of
tokens read, four encoders are trained to predict hidden words (`elmo_toy.masked_lm`): the biLM's
LSTM stacks with their directions ``joined`` from layer 2 on or ``apart`` until the softmax, and two
blocks of ``attention``, with positions and ``without_positions``. The record (which chapter 7
reads) holds for each seed the curve of the held-out loss, the loss where one word at a time is
hidden, sense scores by layer, trained and untrained, and the norms of the top layer's Jacobian.
"""

from __future__ import annotations

import argparse
import dataclasses
import platform
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from time import perf_counter
from typing import Any

import train_toy_language as toy  # first: it sets the number of BLAS threads

import numpy as np  # isort: skip
import train_arguments  # isort: skip
from whole_files import write_record  # isort: skip

from elmo_toy.attention import mean_by_offset
from elmo_toy.bilm import records, senses
from elmo_toy.bilm.jacobian import half_norms
from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import BiLM, Options
from elmo_toy.masked_lm import LSTMEncoder, MaskedLM, TransformerEncoder
from elmo_toy.masked_training import one_at_a_time, target_vectors
from elmo_toy.masked_training import train as train_masked
from elmo_toy.toy_language import ToyCorpus, make_corpus, vocabulary
from elmo_toy.transformer import Transformer, TransformerOptions

ATTENTION = TransformerOptions(len(vocabulary()), dim=64, heads=4, hidden=128)
VARIANTS: dict[str, LSTMOptions | TransformerOptions] = {
    "joined": dataclasses.replace(toy.SIZES, joined=True),
    "apart": toy.SIZES,
    "attention": ATTENTION,
    "without_positions": dataclasses.replace(ATTENTION, positions=False),
}
EXAMPLE = ["every", "fisherman", "watches", "the", "bank", "near", "this", "muddy", "river", "."]
ONE_AT_A_TIME, JACOBIANS, FURTHEST = 100, 25, 8

Measured = dict[str, Any]


@cache
def corpus_of(train: int) -> ToyCorpus:
    """The corpus of the shipped model, with so many sentences to train on."""
    return make_corpus(toy.CORPUS_SEED, train=train)


def untrained(variant: str, seed: int) -> tuple[MaskedLM, np.random.Generator]:
    """The model that a seed starts from, and the generator that goes on."""
    rng = np.random.default_rng(seed)
    options, words = VARIANTS[variant], vocabulary()
    encoder: LSTMEncoder | TransformerEncoder
    if isinstance(options, TransformerOptions):
        encoder = TransformerEncoder(Transformer.initialise(options, rng, np.float32))
    else:
        encoder = LSTMEncoder.initialise(options, len(words), rng, np.float32)
    return MaskedLM.initialise(encoder, words, rng), rng


def sense_scores(model: MaskedLM, corpus: ToyCorpus) -> Measured:
    """As `train_toy_language.sense_scores`."""
    known = target_vectors(model, corpus.labelled)
    asked = {test: target_vectors(model, getattr(corpus, test)) for test in toy.TESTS}
    return {
        number: {
            test: [
                round(score, 4)
                for score in senses.nearest_centroid_scores(
                    known[: len(labels)], labels, asked[test], getattr(corpus, test)
                )
            ]
            for test in toy.TESTS
        }
        for number, labels in (("all", corpus.labelled), ("few", corpus.few(toy.FEW)))
    }


def jacobian_norms(model: MaskedLM, sentences: Sequence[Sequence[str]]) -> Measured:
    """Of the top layer by layer 0: the example's map, and the mean at each offset."""

    def norms(tokens: Sequence[str]) -> Any:
        encoder = model.encoder
        if isinstance(encoder, LSTMEncoder):
            return np.hypot(*half_norms(as_bilm(encoder), tokens))  # the layer is both halves
        return encoder.transformer.norms(model.ids([tokens]))

    offsets = mean_by_offset([norms(tokens) for tokens in sentences], FURTHEST)
    return {
        "example": np.round(norms(EXAMPLE), 4).tolist(),
        "by_offset": np.round(offsets, 4).tolist(),
    }


def as_bilm(encoder: LSTMEncoder) -> BiLM:
    """The same stacks as a biLM, whose head is none of theirs."""
    words, options = vocabulary(), Options(toy.OPTIONS.encoder, encoder.options)
    shape = (len(words), encoder.options.projection_dim)
    head = {"softmax/W": np.zeros(shape, np.float32), "softmax/b": np.zeros(shape[0], np.float32)}
    return BiLM(options, encoder.parameters | head, words)


def measure(variant: str, seed: int, train: int, tokens: int) -> Measured:
    """Train one variant with one seed."""
    corpus = corpus_of(train)
    model, rng = untrained(variant, seed)
    held_out = [sentence.tokens for sentence in corpus.development]
    found: Measured = {
        "seed": seed,
        "parameters": sum(value.size for value in model.parameters.values()),
        "untrained_scores": sense_scores(model, corpus),
    }
    started = perf_counter()
    curve = train_masked(
        model,
        [sentence.tokens for sentence in corpus.train],
        held_out,
        tokens=tokens,
        learning_rate=toy.LEARNING_RATE,
        rng=rng,
        batch_size=toy.BATCH_SIZE,
        clip_norm=toy.CLIP_NORM,
    )
    found["seconds"] = round(perf_counter() - started, 1)
    found["predictions"] = curve[-1].predictions
    found["curve"] = [[point.tokens, round(point.development, 5)] for point in curve]
    found["one_at_a_time"] = round(one_at_a_time(model, held_out[:ONE_AT_A_TIME]), 5)
    found["scores"] = sense_scores(model, corpus)
    found["jacobian"] = jacobian_norms(model, held_out[:JACOBIANS])
    return found


def measure_all(
    jobs: Sequence[tuple[str, int, int, int]], processes: int
) -> Iterator[tuple[str, Measured]]:
    """Results of `measure` with the encoder's name, as they come."""
    if processes == 1:
        yield from ((job[0], measure(*job)) for job in jobs)
        return
    with ProcessPoolExecutor(processes) as executor:
        runs = {executor.submit(measure, *job): job[0] for job in jobs}
        for run in as_completed(runs):
            yield runs[run], run.result()


def main() -> None:
    """Measure, and write the record after each training run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=train_arguments.seed, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--tokens", type=train_arguments.count, default=2_500_000)
    parser.add_argument("--sentences", type=train_arguments.count, default=40_000)
    parser.add_argument("--processes", type=train_arguments.count, default=1)
    parser.add_argument("--output", type=train_arguments.file, default=records.path("masked"))
    arguments = parser.parse_args()
    train_arguments.check_seeds(parser, arguments.seeds)

    models: dict[str, list[Measured]] = {name: [] for name in VARIANTS}
    record = {
        "corpus": {
            "seed": toy.CORPUS_SEED,
            "sentences": arguments.sentences,
            "one_at_a_time_sentences": ONE_AT_A_TIME,
            "jacobian_sentences": JACOBIANS,
            "jacobian_example": " ".join(EXAMPLE),
        },
        "sizes": {name: dataclasses.asdict(options) for name, options in VARIANTS.items()},
        "training": {
            "optimiser": "adam",
            "learning_rate": toy.LEARNING_RATE,
            "decay": "linear",
            "batch_size": toy.BATCH_SIZE,
            "clip_norm": toy.CLIP_NORM,
            "tokens": arguments.tokens,
            "rate": 0.15,
            "blank": 0.8,
        },
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "models": models,
    }
    jobs = [
        (name, seed, arguments.sentences, arguments.tokens)
        for seed in arguments.seeds
        for name in VARIANTS
    ]
    for name, found in measure_all(jobs, arguments.processes):
        models[name] = sorted([*models[name], found], key=lambda one: one["seed"])
        print(name, found["seed"], found["curve"][-1], found["scores"]["all"], flush=True)
        write_record(arguments.output, record)


if __name__ == "__main__":
    main()
