"""What may be kept of a frozen model's work: its bytes, and what a task can still change with it.

The more is kept, the less is left to compute, and the less to decide. A finished mixture stands
last, as the thing that is too little: the article's question, how to mix, is closed in it.

Book: chapter 5, "Three caches".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elmo_toy.bilm.model import Options
from elmo_toy.bilm.token_encoder import CharacterOptions
from elmo_toy.extractor.frozen import FrozenExtractor
from elmo_toy.extractor.layer_cache import LayerCache
from elmo_toy.extractor.token_cache import write_token_cache
from elmo_toy.extractor.writing import write_layer_cache
from elmo_toy.scalar_mix import ScalarMix
from elmo_toy.text import SENTENCE_END, SENTENCE_START, Vocabulary

ID_BYTES = np.dtype(np.int64).itemsize

CHANGES = ("weights", "gamma", "sentence", "word", "contextual layers", "token encoder")
"""What a task may want to change after the file is written: the mixture's weights, its gamma, to
read a sentence or a spelling that was not there, to train the LSTM layers, to train the encoder."""


@dataclass(frozen=True)
class Choice:
    """One choice of what is kept."""

    name: str
    ids_bytes: int
    """Ids that are made for 1000 tokens each time; never stored."""
    stored_bytes: int
    """Stored for 1000 tokens of text."""
    table_bytes: int
    """Stored once, however long the text is."""
    still_open: frozenset[str]
    """Those of `CHANGES` that need no new file."""


def choices(options: Options, n_words: int, itemsize: int = 4) -> tuple[Choice, ...]:
    """The original repository's three choices, and a finished mixture, for any sizes.

    ``layers = (1 + n_layers) * 2 * projection_dim * itemsize`` bytes a token, from the shapes that
    the files have; names, headers and the index by sentence come on top (see `measured_bytes`).

    Parameters
    ----------
    options : Options of a model
    n_words : words of the token cache's vocabulary
    itemsize : bytes of a number, 4 for float32

    Examples
    --------
    >>> from elmo_toy.bilm.released import RELEASED
    >>> for choice in choices(RELEASED["original"], 793_471):
    ...     print(f"{choice.name:22}{choice.stored_bytes:9}{choice.table_bytes:11}")
    character ids                 0          0
    token vectors                 0 1625028608
    all layers             12288000          0
    one finished mixture    4096000          0

    Source: the README of allenai/bilm-tf, which lists the three.
    Book: chapter 5, "Three caches".
    """
    sizes, encoder = options.lstm, options.encoder
    width = 2 * sizes.projection_dim * itemsize
    ids = encoder.max_characters_per_token if isinstance(encoder, CharacterOptions) else 1
    # A mixture is proportional to gamma, so another gamma is one factor away, unless it was 0.
    open_gamma = {"gamma"}
    open_mixture = open_gamma | {"weights"}
    open_sentence = open_mixture | {"sentence", "contextual layers"}
    table = n_words * sizes.projection_dim * itemsize
    layers = 1000 * (1 + sizes.n_layers) * width
    return (
        Choice("character ids", 1000 * ids * ID_BYTES, 0, 0, frozenset(CHANGES)),
        Choice("token vectors", 1000 * ID_BYTES, 0, table, frozenset(open_sentence)),
        Choice("all layers", 0, layers, 0, frozenset(open_mixture)),
        Choice("one finished mixture", 0, 1000 * width, 0, frozenset(open_gamma)),
    )


def measured_bytes(
    extractor: FrozenExtractor, sentences: Sequence[Sequence[str]], folder: Path
) -> dict[str, int]:
    """Write each choice for these sentences and look at the files: bytes, whole files.

    The token cache is that of the sentences' own words; the mixture, of equal weights, is stored
    as bare numbers (``mixture.npy``).

    Parameters
    ----------
    extractor : FrozenExtractor, stateless
    sentences : list of lists of tokens
    folder : an existing one, without files of these names

    Book: chapter 5, "Three caches".
    """
    tokens, layers, mixture = (
        folder / name for name in ("tokens.hdf5", "layers.hdf5", "mixture.npy")
    )
    words = sorted({token for sentence in sentences for token in sentence})
    vocabulary = Vocabulary([SENTENCE_START, SENTENCE_END, *words])
    write_token_cache(tokens, extractor.model, vocabulary)
    write_layer_cache(layers, extractor, sentences)
    mix = ScalarMix.from_logits(np.zeros(extractor.n_layers))
    with LayerCache(layers, extractor) as cache:
        mixed = [mix.mix(value[None])[0] for value in cache]
    np.save(mixture, np.concatenate(mixed))
    sizes = [0, *(path.stat().st_size for path in (tokens, layers, mixture))]
    return {c.name: n for c, n in zip(choices(extractor.model.options, 0), sizes, strict=True)}
