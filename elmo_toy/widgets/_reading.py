"""What the shipped language model makes of two words in two sentences, for the explorer of it.

Everything is computed with the rounded weights that a page loads, in float64, so that the page and
this agree to far more digits than are shown.
"""

from __future__ import annotations

import json
import re
import unicodedata
from base64 import b64encode
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from elmo_toy import our_sentences
from elmo_toy._checks import Array
from elmo_toy.bilm import load_pretrained, quantised
from elmo_toy.bilm.checkpoint import PRETRAINED, VOCABULARY, format_options
from elmo_toy.bilm.model import BiLM
from elmo_toy.similarity import Occurrences, cosine
from elmo_toy.text import Vocabulary

MODEL = "english-small"
#: Characters of a sentence that are read.
LONGEST = 300
SHOWN = 5
#: Steps of the table of random pairs, and the pairs of either kind that it is made from.
STEPS, PAIRS = 40, 2000
FILES = 8
SENTENCES = our_sentences.RIVER + our_sentences.LOAN + our_sentences.OTHERS

_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "—": "-", "–": "-"})
_PIECE = re.compile("w+(?:'w+)*|[.']")


def tokens_of(text: str) -> list[str]:
    """Words and signs of what somebody typed, in the manner of the texts that the model has read.

    Lower case, every digit 0. A word is letters, digits and marks that belong to them; every other
    visible character is a token by itself, and what cannot be seen parts them.

    >>> tokens_of("Mr. Toad's 12 motor-cars!")
    ['mr', '.', "toad's", '00', 'motor', '-', 'cars', '!']
    """
    plain = text.translate(_QUOTES).lower()
    plain = "".join("0" if unicodedata.category(c) == "Nd" else c for c in plain)
    kinds = "".join("'" if c == "'" else _KINDS.get(unicodedata.category(c)[0], ".") for c in plain)
    return [plain[found.start() : found.end()] for found in _PIECE.finditer(kinds)]


_KINDS = {"L": "w", "N": "w", "M": "w", "Z": " ", "C": " "}


class Models(NamedTuple):
    """The trained model as a page loads it, and the untrained one as a page makes it."""

    trained: BiLM
    untrained: BiLM


@cache
def vocabulary() -> Vocabulary:
    """The words that the model can predict."""
    return Vocabulary.read(PRETRAINED / MODEL / VOCABULARY)


@cache
def models() -> Models:
    """Both models, float64."""
    model = load_pretrained(MODEL)
    return Models(quantised.rounded(model), quantised.untrained(model).model)


@cache
def scripts() -> tuple[str, ...]:
    """The files that a page loads to run the models, as classic scripts.

    The first holds sizes, words, sentences and the state of the generator that draws the untrained
    stacks; all of them a part of the weights, as text in base 64.
    """
    model = load_pretrained(MODEL)
    start = quantised.untrained(model)
    trained, encoder = quantised.pack(model.parameters), quantised.pack(start.encoder)
    about = {
        "options": format_options(model.options),
        "trained": trained.sizes,
        "untrained": encoder.sizes,
        "generator": [str(start.state), str(start.increment)],
        "words": " ".join(vocabulary().words),
        "sentences": [" ".join(sentence) for sentence in SENTENCES],
    }
    text = b64encode(trained.content + encoder.content).decode()
    length = -(-len(text) // FILES)
    parts = [json.dumps(text[i * length : (i + 1) * length]) for i in range(FILES)]
    parts[0] += f";ElmoWeights.about={json.dumps(about, ensure_ascii=False)}"
    return tuple(
        f"(globalThis.ElmoWeights??=[])[{number}]={part};\n" for number, part in enumerate(parts)
    )


@cache
def occurrences(model: BiLM) -> Occurrences:
    """Every token of our sentences."""
    return Occurrences.read(model.embed, SENTENCES)


@cache
def quantiles() -> list[list[list[list[float]]]]:
    """Cosines of random pairs: (trained or not, same word or different, layer, 41 quantiles).

    The pairs are those of the chapter.

    Book: chapter 1, "A cosine needs a background".

    >>> [round(value, 2) for value in quantiles()[0][0][2][::20]]
    [0.38, 0.84, 0.99]
    """
    shares = np.linspace(0, 1, STEPS + 1)
    found = []
    for model in models():
        background = occurrences(model).background(PAIRS, np.random.default_rng(1))
        found.append([np.quantile(kind, shares, axis=1).T.round(5).tolist() for kind in background])
    return found


def placed(value: float, table: Sequence[float]) -> float:
    """Percentile of a value in a table of evenly spaced quantiles, straight lines between them.

    Where several are equal, their middle; below or above all of them 0 or 100.

    >>> placed(1.5, [0.0, 1.0, 2.0]), placed(1.0, [1.0, 1.0, 1.0]), placed(-1.0, [0.0, 1.0])
    (75.0, 50.0, 0.0)
    """
    last = len(table) - 1
    below = sum(entry < value - 1e-9 for entry in table)
    equal = sum(abs(entry - value) <= 1e-9 for entry in table)
    if equal:
        return 100 * (below + (equal - 1) / 2) / last
    if below in (0, last + 1):
        return 100.0 if below else 0.0
    low, high = table[below - 1], table[below]
    return 100 * (below - 1 + (value - low) / (high - low)) / last


class Expected(NamedTuple):
    """What one direction predicts at a place: the likeliest words, and the word that stands there.

    ``own`` is its probability and its place among all words, None for a word that the model cannot
    predict.
    """

    words: list[tuple[str, float]]
    own: tuple[float, int] | None


class Reading(NamedTuple):
    """Two occurrences as the model has them.

    ``products`` are those of the trained layers, both occurrences', each with each: (6, 6).
    ``untrained`` are the cosines of the untrained ones, (3,). ``expected`` and ``nearest`` are for
    each occurrence: the forward and the backward direction's, and the nearest of our occurrences in
    both contextual layers, as the words before it, itself, and the words after it.
    """

    products: Array
    untrained: list[float]
    expected: list[list[Expected]]
    nearest: list[list[tuple[str, str, str]]]


@lru_cache(maxsize=64)
def layers_of(tokens: tuple[str, ...], trained: bool = True) -> Array:
    """Layers of a sentence: (3, tokens, dim)."""
    found: Array = models()[not trained].embed([list(tokens)]).layers[0]
    return found


@lru_cache(maxsize=64)
def predictions_of(tokens: tuple[str, ...]) -> Array:
    """Probabilities at every place: (2, tokens, words)."""
    return models().trained.predictions(list(tokens))


@lru_cache(maxsize=64)
def reading(first: tuple[str, ...], second: tuple[str, ...], places: tuple[int, int]) -> Reading:
    """Read two sentences, and look at one word in each.

    Book: chapter 1, "Sentences of your own".

    >>> sentence = ("the", "river", "bank")
    >>> reading(sentence, ("a", "bank"), (2, 1)).nearest[0][1]
    ('a clerk of the', 'bank', 'counted the silver into a bag .')
    """
    pair = list(zip((first, second), places, strict=True))
    vectors = np.concatenate([layers_of(tokens)[:, place] for tokens, place in pair])
    one, other = (layers_of(tokens, trained=False)[:, place] for tokens, place in pair)
    return Reading(
        vectors @ vectors.T,
        cosine(one, other).tolist(),
        [[_expected(tokens, place, way) for way in range(2)] for tokens, place in pair],
        [[_nearest(tokens, place, layer) for layer in (1, 2)] for tokens, place in pair],
    )


def _expected(tokens: tuple[str, ...], place: int, way: int) -> Expected:
    probabilities = predictions_of(tokens)[way, place]
    top = np.argsort(-probabilities, kind="stable")[:SHOWN]
    words = [(vocabulary().words[row], float(probabilities[row])) for row in top]
    if tokens[place] not in vocabulary():
        return Expected(words, None)
    own = probabilities[vocabulary().id(tokens[place])]
    return Expected(words, (float(own), int((probabilities > own).sum()) + 1))


def _nearest(tokens: tuple[str, ...], place: int, layer: int) -> tuple[str, str, str]:
    """Among occurrences in other sentences than this one."""
    ours = occurrences(models().trained)
    cosines = cosine(ours.vectors[:, layer], layers_of(tokens)[layer, place])
    same = [number for number, sentence in enumerate(SENTENCES) if sentence == tokens]
    row = int(np.where(np.isin(ours.sentences, same), -2, cosines).argmax())
    sentence = SENTENCES[ours.sentences[row]]
    at = row - int(np.flatnonzero(ours.sentences == ours.sentences[row])[0])
    return " ".join(sentence[:at]), sentence[at], " ".join(sentence[at + 1 :])
