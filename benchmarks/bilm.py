"""Speed of the bidirectional language model: training, and embedding one sentence.

    python benchmarks/bilm.py [--threads 1] [--seconds 5] [--profile]

Three sizes: that of ``toy-language`` (lookup table, 64 units projected to 32), that of
``english-small`` (characters, 160 units projected to 64, 4,000 words), and that of the released
model (2048 filters, 4096 units projected to 512) with random weights and a softmax over 4,000
words, since the released one's vocabulary was trained with samples. Where PyTorch is installed,
the same architecture in PyTorch trains on the same batches in the same run, in turns with ours, so
that a busy machine slows both. PyTorch's LSTM has neither clips nor a separate forget bias; all
sizes, the residual, the shared softmax, the clipped gradients and Adam are the same. The profile
times what misses its target piece by piece; `--profile` prints it without the rest.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import measuring

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=1, help="BLAS and PyTorch threads")
    parser.add_argument("--seconds", type=float, default=5.0, help="of training, each")
    parser.add_argument("--profile", action="store_true", help="time the pieces only")
    arguments = parser.parse_args()
    measuring.pin_threads(arguments.threads)

import numpy as np  # the thread count is read at import

from elmo_toy import text, toy_language  # as above
from elmo_toy.bilm import model as model_module  # as above
from elmo_toy.bilm import training  # as above
from elmo_toy.bilm.lstm import LSTMOptions  # as above
from elmo_toy.bilm.model import BiLM, Options  # as above
from elmo_toy.bilm.token_encoder import CharacterOptions, LookupOptions  # as above

try:
    import torch
except ImportError:
    torch = None

BATCH = 32
"""Sentences that are embedded together, beside one alone."""

Step = Callable[[text.IntArray], int]
TEN_WORDS = ["the", "old", "man", "sees", "the", "small", "house", "near", "the", "river"]


def made_up_english(words: int, sentences: int) -> list[list[str]]:
    """Sentences of 10 to 40 random spellings, as frequent as Zipf says."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    spellings = ["".join(rng.choice(letters, rng.integers(2, 11))) for _ in range(2 * words)]
    weights = 1.0 / np.arange(1, len(spellings) + 1)
    drawn = rng.choice(len(spellings), (sentences, 40), p=weights / weights.sum())
    return [[spellings[number] for number in row[: rng.integers(10, 41)]] for row in drawn]


def ours(model: BiLM, corpus: training.Corpus) -> Step:
    """One training step of the package."""
    optimiser = training.Adam(0.003)

    def step(rows: text.IntArray) -> int:
        loss, gradients = model.loss_and_gradients(*corpus.batch(rows))
        training.clip_by_global_norm(gradients, 10.0)
        optimiser.update(model.parameters, gradients)
        return loss.predictions

    return step


if torch is not None:

    class TorchBiLM(torch.nn.Module):
        """The same architecture; directions read right-padded batches, so nothing is packed."""

        def __init__(self, model: BiLM) -> None:
            super().__init__()
            nn, encoder, sizes = torch.nn, model.options.encoder, model.options.lstm
            width = sizes.projection_dim
            self.encoder, self.sizes = encoder, sizes
            if isinstance(encoder, CharacterOptions):
                self.table = nn.Embedding(262, encoder.embedding_dim, padding_idx=0)
                self.filters = nn.ModuleList(
                    nn.Conv1d(encoder.embedding_dim, number, size)
                    for size, number in encoder.filters
                )
                number = encoder.n_filters
                self.highways = nn.ModuleList(
                    nn.Linear(number, 2 * number) for _ in range(encoder.n_highway)
                )
                self.project = nn.Linear(number, width)
            else:
                self.table = nn.Embedding(encoder.n_words + 1, width, padding_idx=0)
            self.stacks = nn.ModuleList(
                nn.LSTM(width, sizes.dim, proj_size=width, batch_first=True)
                for _ in range(2 * sizes.n_layers)
            )
            self.head = nn.Linear(width, len(model.vocabulary or ()))

        def tokens(self, batch: text.Batch) -> torch.Tensor:
            """Token vectors (batch, tokens, width), 0 where no token is."""
            types = torch.from_numpy(batch.types)
            occurrences = torch.from_numpy(batch.occurrences)
            if isinstance(self.encoder, CharacterOptions):
                characters = self.table(types).transpose(1, 2)
                x = torch.cat([conv(characters).amax(2) for conv in self.filters], 1).relu()
                for layer in self.highways:
                    transformed, gate = layer(x).chunk(2, 1)
                    gate = gate.sigmoid()
                    x = gate * transformed.relu() + (1 - gate) * x
                x = self.project(x)
            else:
                x = self.table(types)
            return torch.cat([torch.zeros(1, x.shape[1]), x])[occurrences]

        def layers(self, batch: text.Batch) -> list[list[torch.Tensor]]:
            """Per direction the layers (batch, tokens, width) in reading order."""
            tokens = self.tokens(batch)
            lengths = torch.from_numpy(batch.lengths)[:, None]
            steps = torch.arange(tokens.shape[1])
            backward = torch.where(steps < lengths, lengths - 1 - steps, steps)
            rows = torch.arange(len(tokens))[:, None]
            found = []
            for direction in range(2):
                x = tokens if direction == 0 else tokens[rows, backward]
                outputs = []
                for layer in range(self.sizes.n_layers):
                    h, _ = self.stacks[direction * self.sizes.n_layers + layer](x)
                    x = h + x if layer > 0 and self.sizes.use_skip_connections else h
                    outputs.append(x)
                found.append(outputs)
            return found

        def loss(self, batch: text.Batch, targets: text.IntArray) -> torch.Tensor:
            """Mean of both directions' cross-entropies."""
            wanted = torch.from_numpy(targets)
            lengths = torch.from_numpy(batch.lengths)[:, None]
            steps = torch.arange(wanted.shape[1])
            backward = torch.where(steps < lengths, lengths - 1 - steps, steps)
            predicts = steps[1:] < lengths
            total = torch.zeros(())
            for direction, outputs in enumerate(self.layers(batch)):
                order = wanted if direction == 0 else wanted.gather(1, backward)
                scores = self.head(outputs[-1][:, :-1][predicts])
                total = total + torch.nn.functional.cross_entropy(
                    scores, order[:, 1:][predicts] - 1
                )
            return total / 2

    def theirs(network: TorchBiLM, corpus: training.Corpus) -> Step:
        """One training step of PyTorch."""
        optimiser = torch.optim.Adam(network.parameters(), 0.003)

        def step(rows: text.IntArray) -> int:
            batch, targets = corpus.batch(rows)
            optimiser.zero_grad()
            network.loss(batch, targets).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 10.0)
            optimiser.step()
            return int((batch.lengths - 1).sum())

        return step


def tokens_a_second(
    steps: dict[str, Step], corpus: training.Corpus, batch_size: int, enough: float, warm: int = 3
) -> dict[str, float]:
    """Speed of each step: they take turns, batch by batch."""
    rng = np.random.default_rng(1)
    batches = text.length_bucketed_batches(corpus.lengths, batch_size, rng)
    seconds: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for number in range(1_000_000):
        rows = batches[number % len(batches)]
        for name, step in steps.items():
            start = perf_counter()
            seen = step(rows)
            if number >= warm:
                seconds[name] += perf_counter() - start
                tokens[name] += seen
        if number > warm and min(seconds.values()) > enough:
            break
    return {name: tokens[name] / seconds[name] for name in steps}


def where_the_time_goes(step: Step, corpus: training.Corpus, batch_size: int) -> dict[str, float]:
    """Share of a training step in each of its parts."""
    parts = {
        "token encoder, forward": (model_module.token_encoder, "encode_characters"),
        "stacks, forward": (model_module.lstm, "layer_forward"),
        "softmax, both ways": (model_module, "head_loss"),
        "stacks, backward": (model_module.lstm, "layer_gradients"),
        "token encoder, backward": (model_module.token_encoder, "character_gradients"),
    }
    spent: Counter[str] = Counter()

    def timed(name: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*positional: object, **named: object) -> object:
            start = perf_counter()
            result = function(*positional, **named)
            spent[name] += perf_counter() - start
            return result

        return call

    originals = {name: getattr(*place) for name, place in parts.items()}
    for name, place in parts.items():
        setattr(*place, timed(name, originals[name]))
    start = perf_counter()
    for rows in text.length_bucketed_batches(corpus.lengths, batch_size)[::8]:
        step(rows)
    total = perf_counter() - start
    for name, place in parts.items():
        setattr(*place, originals[name])
    spent["the rest (batches, Adam, clipping)"] = total - sum(spent.values())
    return {name: part / total for name, part in spent.items()}


def softmax_profile(runs: int = 15) -> dict[str, float]:
    """Milliseconds of the vocabulary softmax with gradients, its products, and its other passes.

    1,280 predictions of 4,000 words from 64 numbers, in the pieces that the package works on. The
    passes over the scores are timed on the scores of one piece, and counted as often as they come.
    """
    rng = np.random.default_rng(0)
    states = rng.standard_normal((2, 640, 64)).astype(np.float32)
    targets = rng.integers(0, 4000, (2, 640))
    weights = rng.standard_normal((4000, 64)).astype(np.float32)
    bias = np.zeros(4000, dtype=np.float32)
    flat = states.reshape(-1, 64)

    def products() -> None:
        for start in range(0, len(flat), model_module.HEAD_CHUNK):
            part = flat[start : start + model_module.HEAD_CHUNK]
            scores = part @ weights.T
            scores @ weights
            scores.T @ part

    scores = -np.abs(flat[: model_module.HEAD_CHUNK] @ weights.T)
    ones = np.ones((len(scores), 1), np.float32)
    out = np.empty_like(scores)  # for what would change the scores, and so the next run's time
    passes: dict[str, Callable[[], object]] = {
        "adding the bias": lambda: np.add(scores, bias, out=scores),
        "each row's largest": lambda: scores.max(axis=1, keepdims=True),
        "taking it away": lambda: np.subtract(scores, 0 * ones, out=scores),
        "exponentials": lambda: np.exp(scores, out=out),
        "each row's sum": lambda: scores.sum(axis=1),
        "dividing by it": lambda: np.divide(scores, ones, out=scores),
        "dividing by the predictions": lambda: np.divide(scores, 1, out=scores),
        "the bias's gradient": lambda: scores.sum(axis=0),
    }
    whole: dict[str, Callable[[], object]] = {
        "softmax": lambda: model_module.head_loss(states, targets, weights, bias),
        "products": products,
    }
    times = measuring.in_turns(whole, runs) | measuring.in_turns(passes, runs)
    repeats = dict.fromkeys(whole, 1.0) | dict.fromkeys(passes, len(flat) / len(scores))
    return {name: 1000 * repeats[name] * seconds for name, seconds in times.items()}


def products_by_rows(runs: int = 9) -> dict[int, float]:
    """Milliseconds of the products of one step of a layer of the released size, by sentences.

    Both directions; a step's own products, with its recurrent weights and its projection.
    """
    rng = np.random.default_rng(0)
    recurrent = rng.standard_normal((2, 512, 16384), dtype=np.float32)
    projection = rng.standard_normal((2, 4096, 512), dtype=np.float32)

    def step(rows: int) -> None:
        np.zeros((2, rows, 512), np.float32) @ recurrent
        np.zeros((2, rows, 4096), np.float32) @ projection

    times = measuring.in_turns({str(n): partial(step, n) for n in (1, 2, 8, 32)}, runs)
    return {int(n): 1000 * seconds for n, seconds in times.items()}


def released(characters: CharacterOptions) -> CharacterOptions:
    """The released model's 2048 filters and two highways."""
    filters = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))
    return replace(characters, filters=filters, n_highway=2, max_characters_per_token=50)


ENGLISH = CharacterOptions(16, ((1, 16), (2, 32), (3, 48), (4, 64)), 1, 24)


def measure(enough: float = 5.0) -> dict[str, Any]:
    """Training and embedding speed of each size and library, and where our time goes."""
    if torch is not None:
        torch.set_num_threads(int(measuring.machine()["threads"]) or 1)
        torch.manual_seed(0)
    toy = [list(sentence.tokens) for sentence in toy_language.make_corpus(train=6_000).train]
    english = made_up_english(4_000, 4_000)
    words, many = toy_language.vocabulary(), text.Vocabulary.from_sentences(english, 4_000)
    cases = {
        "toy-language": (toy, words, LookupOptions(len(words)), LSTMOptions(64, 32), 64),
        "english-small": (english, many, ENGLISH, LSTMOptions(160, 64), 32),
        "released": (english, many, released(ENGLISH), LSTMOptions(4096, 512), 8),
    }
    found: dict[str, Any] = {}
    for name, (sentences, vocabulary, encoder, sizes, batch_size) in cases.items():
        large = name == "released"
        model = BiLM.initialise(Options(encoder, sizes), np.random.default_rng(0), vocabulary)
        corpus = training.Corpus(model, sentences)
        steps = {"numpy": ours(model, corpus)}
        sentence = TEN_WORDS if name == "toy-language" else english[0][:10]
        embed = {"numpy": lambda model=model, sentence=sentence, n=1: model.embed([sentence] * n)}
        if torch is not None:
            network = TorchBiLM(model)
            steps["PyTorch"] = theirs(network, corpus)

            def infer(
                network: TorchBiLM = network,
                model: BiLM = model,
                sentence: list[str] = sentence,
                n: int = 1,
            ) -> object:
                with torch.inference_mode():
                    return network.layers(text.Batch.from_ids(model.ids([sentence] * n)))

            embed["PyTorch"] = infer
        speeds = tokens_a_second(steps, corpus, batch_size, enough, warm=1 if large else 3)
        times = measuring.in_turns(embed, runs=9 if large else 41)
        many_times = measuring.in_turns(
            {library: partial(action, n=BATCH) for library, action in embed.items()},
            runs=3 if large else 15,
        )
        found[name] = {
            library: {
                "tokens_a_second": speeds[library],
                "ms_to_embed_ten_words": 1000 * seconds,
                "embedded_tokens_a_second": 10 * BATCH / many_times[library],
            }
            for library, seconds in times.items()
        }
        if not large:
            found[name]["where"] = where_the_time_goes(steps["numpy"], corpus, batch_size)
    return found


def growth(runs: int = 5) -> dict[str, Any]:
    """Seconds of a training step at the size of english-small as one size at a time grows."""
    english = made_up_english(16_000, 600)
    start = {"tokens": 20, "batch": 32, "vocabulary": 4000, "width": 160}
    ranges = {
        "tokens": [10, 20, 40],
        "batch": [16, 32, 64, 128],
        "vocabulary": [2000, 4000, 8000, 16000],
        "width": [160, 320, 640],
    }
    found: dict[str, Any] = {}
    for name, values in ranges.items():
        seconds = []
        for value in values:
            size = start | {name: value}
            words = text.Vocabulary.from_sentences(english, size["vocabulary"])
            options = Options(ENGLISH, LSTMOptions(size["width"], size["width"] * 2 // 5))
            model = BiLM.initialise(options, np.random.default_rng(0), words)
            stream = [word for sentence in english for word in sentence]
            n = size["tokens"]
            corpus = training.Corpus(
                model, [stream[n * row : n * (row + 1)] for row in range(size["batch"])]
            )
            step, rows = ours(model, corpus), np.arange(size["batch"])
            seconds.append(measuring.in_turns({"step": partial(step, rows)}, runs)["step"])
        exponent = measuring.exponent(list(map(float, values)), seconds)
        found[name] = {"sizes": values, "seconds": seconds, "exponent": exponent}
    return found


def profile() -> dict[str, Any]:
    """Time the pieces of what misses its target."""
    return {"softmax_ms": softmax_profile(), "products_ms": products_by_rows()}


def report_profile(found: dict[str, Any]) -> str:
    """Say the pieces in two lines."""
    softmax, by_rows = dict(found["softmax_ms"]), found["products_ms"]
    whole, products = softmax.pop("softmax"), softmax.pop("products")
    passes = ", ".join(f"{name} {ms:.1f}" for name, ms in softmax.items())
    rows = ", ".join(f"{ms:.1f} with {n}" for n, ms in by_rows.items())
    return (
        f"The vocabulary softmax with its gradients takes {whole:.1f} ms, its products alone "
        f"{products:.1f} ms: {whole / products:.2f} times their time. Its other passes over the "
        f"scores, each alone, in ms: {passes}; together {sum(softmax.values()):.1f}.\n"
        f"The products of one step of a layer at the released size take, in ms by sentences read "
        f"together: {rows}. A sentence alone is read as two."
    )


def main(enough: float = 5.0) -> str:
    """Measure, write the record, and return the tables."""
    sizes, grows, pieces = measure(enough), growth(), profile()
    measuring.write_record("bilm", {"sizes": sizes, "growth": grows, "profile": pieces})
    libraries = [name for name in ("numpy", "PyTorch") if name in sizes["released"]]
    heads = [
        "size",
        "library",
        "training tokens a second",
        "ms to embed ten words",
        f"tokens a second to embed {BATCH} such sentences",
    ]
    rows = [
        [
            size,
            library,
            f"{found[library]['tokens_a_second']:,.0f}",
            f"{found[library]['ms_to_embed_ten_words']:.2f}",
            f"{found[library]['embedded_tokens_a_second']:,.0f}",
        ]
        for size, found in sizes.items()
        for library in libraries
    ]
    lines = [measuring.table(heads, rows), ""]
    for size, found in sizes.items():
        if "where" in found:
            shares = ", ".join(f"{part} {share:.0%}" for part, share in found["where"].items())
            lines.append(f"Where a training step's time goes, {size}: {shares}.")
    lines.append(report_profile(pieces))
    exponents = ", ".join(f"{name} {of['exponent']:.2f}" for name, of in grows.items())
    lines.append(f"A training step's time grows with a size to the power: {exponents}.")
    return "\n".join(lines)


if __name__ == "__main__":
    print(report_profile(profile()) if arguments.profile else main(arguments.seconds))
