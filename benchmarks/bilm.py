"""Speed of the bidirectional language model: training, and embedding one sentence.

    python benchmarks/bilm.py [--threads 1] [--seconds 10]

Two sizes: that of ``toy-language`` (lookup table, 64 units projected to 32) and that of
``english-small`` (characters, 160 units projected to 64, 4,000 words). Where PyTorch is installed,
the same architecture in PyTorch trains on the same batches in the same run, in turns with ours, so
that a busy machine slows both. PyTorch's LSTM has neither clips nor a separate forget bias; all
sizes, the residual, the shared softmax, the clipped gradients and Adam are the same.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable
from time import perf_counter

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--threads", type=int, default=1, help="BLAS and PyTorch threads")
parser.add_argument("--seconds", type=float, default=10.0, help="of training, each")
arguments = parser.parse_args()
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(arguments.threads)

import numpy as np  # noqa: E402  # the thread count is read at import

from elmo_toy import text, toy_language  # noqa: E402  # as above
from elmo_toy.bilm import model as model_module  # noqa: E402  # as above
from elmo_toy.bilm import training  # noqa: E402  # as above
from elmo_toy.bilm.lstm import LSTMOptions  # noqa: E402  # as above
from elmo_toy.bilm.model import BiLM, Options  # noqa: E402  # as above
from elmo_toy.bilm.token_encoder import CharacterOptions, LookupOptions  # noqa: E402  # as above

try:
    import torch
except ImportError:
    torch = None

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
    steps: dict[str, Step], corpus: training.Corpus, batch_size: int
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
            if number >= 3:  # warm
                seconds[name] += perf_counter() - start
                tokens[name] += seen
        if number > 3 and min(seconds.values()) > arguments.seconds:
            break
    return {name: tokens[name] / seconds[name] for name in steps}


def latency(action: Callable[[], object]) -> float:
    """Median milliseconds of one call."""
    times = []
    for _ in range(60):
        start = perf_counter()
        action()
        times.append(1000 * (perf_counter() - start))
    return float(np.median(times[10:]))


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


def main() -> None:
    """Measure both sizes and print a table."""
    if torch is not None:
        torch.set_num_threads(arguments.threads)
        torch.manual_seed(0)
    toy = [list(sentence.tokens) for sentence in toy_language.make_corpus(train=6_000).train]
    english = made_up_english(4_000, 4_000)
    words = toy_language.vocabulary()
    cases = {
        "toy-language": (toy, words, LookupOptions(len(words)), LSTMOptions(64, 32), 64),
        "english-small": (
            english,
            text.Vocabulary.from_sentences(english, 4_000),
            CharacterOptions(16, ((1, 16), (2, 32), (3, 48), (4, 64)), 1, 24),
            LSTMOptions(160, 64),
            32,
        ),
    }
    print(
        f"numpy {np.__version__}, PyTorch {torch.__version__ if torch else 'not installed'}, "
        f"threads: {arguments.threads}"
    )
    for name, (sentences, vocabulary, encoder, sizes, batch_size) in cases.items():
        rng = np.random.default_rng(0)
        model = BiLM.initialise(Options(encoder, sizes), rng, vocabulary)
        corpus = training.Corpus(model, sentences)
        steps = {"numpy": ours(model, corpus)}
        sentence = TEN_WORDS if name == "toy-language" else english[0][:10]
        embed = {"numpy": lambda model=model, sentence=sentence: model.embed([sentence])}
        if torch is not None:
            network = TorchBiLM(model)
            steps["PyTorch"] = theirs(network, corpus)

            def infer(
                network: TorchBiLM = network, model: BiLM = model, sentence: list[str] = sentence
            ) -> object:
                with torch.inference_mode():
                    return network.layers(text.Batch.from_ids(model.ids([sentence])))

            embed["PyTorch"] = infer
        for library, speed in tokens_a_second(steps, corpus, batch_size).items():
            print(
                f"{name:14} {library:8} {speed:9,.0f} training tokens a second, "
                f"{latency(embed[library]):6.2f} ms to embed ten words"
            )
        for part, share in where_the_time_goes(steps["numpy"], corpus, batch_size).items():
            print(f"{'':14} {share:8.0%} {part}")


if __name__ == "__main__":
    main()
