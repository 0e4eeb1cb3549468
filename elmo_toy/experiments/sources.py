"""What makes the layers: the biLM, trained and untrained, and the predecessors' extractors.

All are trained for as many tokens, with the same optimiser, learning rate and batches, and have
stacks of one size. Each seed trains its own. A folder may keep trained parameters from one run to
the next; it changes the time alone.

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from elmo_toy.bilm import training
from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import BiLM, Options
from elmo_toy.bilm.token_encoder import FloatArray, LookupOptions
from elmo_toy.experiments.conditions import VERSION
from elmo_toy.experiments.data import Corpus
from elmo_toy.predecessors import context2vec, cove
from elmo_toy.predecessors.context2vec import Context2Vec, Context2VecOptions
from elmo_toy.predecessors.cove import CoVe, CoVeOptions
from elmo_toy.task.data import Embed


@dataclass(frozen=True)
class SourceSizes:
    """Sizes and training of an extractor; ``tokens`` counts predictions of each direction."""

    dim: int = 64
    projection_dim: int = 32
    tokens: int = 300_000
    learning_rate: float = 0.01
    batch_size: int = 32
    dtype: str = "float32"

    @property
    def lstm(self) -> LSTMOptions:
        """The stacks of all of them, two layers unless said otherwise."""
        return LSTMOptions(self.dim, self.projection_dim)


Parameters = dict[str, FloatArray]


class Trained(NamedTuple):
    """An extractor: a function from sentences to layers, and what is known of its training."""

    embed: Embed
    facts: dict[str, float]


class _Kind(NamedTuple):
    """How one kind of extractor is made: trained parameters and facts; and a model of them."""

    train: Callable[[Corpus, int, SourceSizes], tuple[Parameters, dict[str, float]]]
    model: Callable[[Corpus, Parameters, SourceSizes], Any]


def build(
    source: str, corpus: Corpus, seed: int, sizes: SourceSizes, cache: Path | None = None
) -> Trained:
    """Train an extractor, or take its parameters out of the cache.

    Parameters
    ----------
    source : ``"bilm"``, ``"untrained"``, ``"context2vec"`` or ``"cove"``
    corpus : Corpus
    seed : int
        Of the start and of the order of the text.
    sizes : SourceSizes
    cache : folder, optional

    Raises
    ------
    ValueError
        For another source, or CoVe where there are no translations.

    Book: chapter 6, "Our own table".
    """
    if source not in _KINDS:
        raise ValueError(f"source: expected one of {', '.join(_KINDS)}, got {source!r}")
    if source == "cove" and not corpus.parsed:
        raise ValueError(f"source: {corpus.name} has no translations for 'cove'")
    kind = _KINDS[source]
    key = json.dumps([VERSION, source, seed, corpus.facts, vars(sizes)], sort_keys=True)
    path = None if cache is None else cache / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.npz"
    if path is not None and path.exists():
        with np.load(path) as stored:
            facts = json.loads(str(stored["facts"]))
            parameters = {name: stored[name] for name in stored.files if name != "facts"}
    else:
        started = process_time()
        parameters, facts = kind.train(corpus, seed, sizes)
        facts["seconds"] = round(process_time() - started, 1)
        if path is not None:
            _write(path, parameters, facts)
    return Trained(kind.model(corpus, parameters, sizes).embed, facts)


def _write(path: Path, parameters: Parameters, facts: dict[str, float]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez(file, allow_pickle=False, facts=np.array(json.dumps(facts)), **parameters)
    part.replace(path)


# The biLM


def _bilm_options(corpus: Corpus, sizes: SourceSizes) -> Options:
    return Options(LookupOptions(len(corpus.vocabulary)), sizes.lstm)


def _bilm(corpus: Corpus, parameters: Parameters, sizes: SourceSizes) -> BiLM:
    return BiLM(_bilm_options(corpus, sizes), parameters, corpus.vocabulary)


def _start(corpus: Corpus, rng: np.random.Generator, sizes: SourceSizes) -> BiLM:
    options = _bilm_options(corpus, sizes)
    return BiLM.initialise(options, rng, corpus.vocabulary, np.dtype(sizes.dtype))


def _train_bilm(
    corpus: Corpus, seed: int, sizes: SourceSizes
) -> tuple[Parameters, dict[str, float]]:
    rng = np.random.default_rng(seed)
    start = _start(corpus, rng, sizes)
    run = training.train(
        start,
        training.Corpus(start, corpus.text),
        training.Corpus(start, corpus.development),
        tokens=sizes.tokens,
        optimiser=training.Adam(sizes.learning_rate),
        rng=rng,
        batch_size=sizes.batch_size,
        evaluations=4,
        decay=True,
    )
    if run.interrupted:  # a half-trained model is not a result
        raise KeyboardInterrupt
    best = min(point.development.mean for point in run.history)
    facts = {"tokens": run.tokens, "perplexity": round(float(np.exp(best)), 3)}
    return run.model.parameters, facts


def _draw_untrained(
    corpus: Corpus, seed: int, sizes: SourceSizes
) -> tuple[Parameters, dict[str, float]]:
    """The very network that this seed's training starts from."""
    return _start(corpus, np.random.default_rng(seed), sizes).parameters, {"tokens": 0}


# The predecessors


def _context2vec_options(sizes: SourceSizes) -> Context2VecOptions:
    """One recurrent layer, as in the original; vectors as wide as a layer of the biLM."""
    width = 2 * sizes.projection_dim
    return Context2VecOptions(replace(sizes.lstm, n_layers=1), 2 * width, width)


def _context2vec(corpus: Corpus, parameters: Parameters, sizes: SourceSizes) -> Context2Vec:
    return Context2Vec(_context2vec_options(sizes), parameters, corpus.vocabulary)


def _train_context2vec(
    corpus: Corpus, seed: int, sizes: SourceSizes
) -> tuple[Parameters, dict[str, float]]:
    rng = np.random.default_rng(seed)
    start = Context2Vec.initialise(
        _context2vec_options(sizes), rng, corpus.vocabulary, np.dtype(sizes.dtype)
    )
    model, curve = context2vec.train(
        start,
        corpus.text,
        tokens=sizes.tokens,
        learning_rate=sizes.learning_rate,
        rng=rng,
        batch_size=sizes.batch_size,
    )
    return model.parameters, {"tokens": curve.tokens, "loss": round(curve.losses[-1], 4)}


def _cove_options(sizes: SourceSizes) -> CoVeOptions:
    return CoVeOptions(replace(sizes.lstm, joined=True, use_skip_connections=False))


def _cove(corpus: Corpus, parameters: Parameters, sizes: SourceSizes) -> CoVe:
    translations = cove.translation_vocabulary(corpus.parsed)
    return CoVe(_cove_options(sizes), parameters, corpus.vocabulary, translations)


def _train_cove(
    corpus: Corpus, seed: int, sizes: SourceSizes
) -> tuple[Parameters, dict[str, float]]:
    rng = np.random.default_rng(seed)
    start = CoVe.initialise(
        _cove_options(sizes),
        rng,
        corpus.vocabulary,
        cove.translation_vocabulary(corpus.parsed),
        np.dtype(sizes.dtype),
    )
    model, curve = cove.train(
        start,
        corpus.parsed,
        tokens=sizes.tokens,
        learning_rate=sizes.learning_rate,
        rng=rng,
        batch_size=sizes.batch_size,
    )
    return model.parameters, {"tokens": curve.tokens, "loss": round(curve.losses[-1], 4)}


_KINDS: dict[str, _Kind] = {
    "bilm": _Kind(_train_bilm, _bilm),
    "untrained": _Kind(_draw_untrained, _bilm),
    "context2vec": _Kind(_train_context2vec, _context2vec),
    "cove": _Kind(_train_cove, _cove),
}
