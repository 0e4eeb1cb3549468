"""The original's second choice: token vectors by spelling in a file, contextual layers computed.

================  ==================================================================================
dataset           what it holds
================  ==================================================================================
``embedding``     (words, projection_dim): row r is the vector of line r of the vocabulary, as
                  bilm-tf's ``dump_token_embeddings`` writes it; float32 for a float32 model
``vocabulary``    ours: (1,) string, the words as a JSON list (bilm-tf keeps a text file beside it)
================  ==================================================================================

Token ids are line + 1, and 0 means "no token here", so the first word's id is 1.

Book: chapter 5, "Three caches".
"""

import dataclasses
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import h5py
import numpy as np

from elmo_toy import text
from elmo_toy.bilm import token_encoder
from elmo_toy.bilm.model import BiLM, Layers
from elmo_toy.bilm.token_encoder import CharacterOptions, FloatArray, LookupOptions
from elmo_toy.extractor import files
from elmo_toy.extractor.frozen import Sentences, read_by_length
from elmo_toy.extractor.progress import Progress
from elmo_toy.text import Batch, Vocabulary

KIND = "token cache"
BLOCK = 1024
"""Words that are encoded at a time."""


def token_vectors(model: BiLM, words: Sequence[str]) -> FloatArray:
    """What the token encoder makes of each word: (words, projection_dim).

    >>> from elmo_toy.bilm import load_pretrained
    >>> model = load_pretrained("toy-language")
    >>> vectors = token_vectors(model, ["muddy", "bank"])
    >>> layers = model.embed([["muddy", "bank"]]).layers
    >>> bool((layers[0, 0] == np.concatenate([vectors, vectors], axis=1)).all())
    True

    Book: chapter 5, "Three caches".
    """
    words = text.checked_tokens(words, "words")
    encoder = model.options.encoder
    if not isinstance(encoder, CharacterOptions):
        # [1:-1]: the ids of one sentence, which come with boundaries and the shift.
        return model.parameters["embedding"][model.ids([words])[0, 1:-1] - text.SHIFT]
    if len(words) == 0:
        return np.zeros((0, model.options.lstm.projection_dim), model.dtype)
    spelled = [text.character_ids(word, encoder.max_characters_per_token) for word in words]
    return token_encoder.encode_characters(np.array(spelled), model.parameters, encoder)[0]


def write_token_cache(
    path: Path | str, model: BiLM, vocabulary: Vocabulary, progress: TextIO | None = None
) -> None:
    """Encode every word of a vocabulary once and write the table, whole or not at all.

    Parameters
    ----------
    path : a new file
    model : BiLM, with a character or a lookup encoder
    vocabulary : Vocabulary
        Need not be the model's. A lookup encoder gives a word that it doesn't know the vector of
        its own ``<UNK>``, here as everywhere, or raises a KeyError if it has none.
    progress : text stream for a progress bar

    Raises
    ------
    FileExistsError
        If there is a file, or a symbolic link, even one that leads nowhere.

    Source: allenai/bilm-tf, ``model.py``, ``dump_token_embeddings``.
    Book: chapter 5, "Three caches".
    """
    path = Path(path)
    if path.exists():
        raise FileExistsError(f"path: expected a new file, {path} exists")
    if path.is_symlink():  # the file would take its place
        raise FileExistsError(f"path: expected a new file, {path} is a link that leads nowhere")
    # Blocks of equal size: none is a single word, which BLAS would round differently.
    blocks = np.array_split(np.arange(len(vocabulary)), -(-len(vocabulary) // BLOCK))
    table = np.empty((len(vocabulary), model.options.lstm.projection_dim), dtype=model.dtype)
    with Progress(progress, len(vocabulary), "words") as bar:
        for rows in blocks:
            table[rows] = token_vectors(model, [vocabulary.words[row] for row in rows])
            bar.advance(len(rows))
    header = files.header_of(KIND, model, encoder_only=True, crc32=files.checksum(table))
    with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        part = Path(folder) / path.name
        with h5py.File(part, "w", libver=files.LIBVER) as file:
            files.write_header(file, header)
            file.create_dataset("embedding", data=table, track_times=False)
            files.write_string(file, "vocabulary", json.dumps(vocabulary.words))
        files.publish(part, path)


class TokenCache:
    """A table of token vectors, and the model whose contextual layers are computed from them.

    Parameters
    ----------
    path : file that `write_token_cache` wrote
    model : BiLM
        With the token encoder that the file was made with, which is not used any more. Its LSTM
        layers are used as they are now, and may have been trained since.
    keep_boundaries : bool
        As in `FrozenExtractor`.

    Raises
    ------
    CacheError
        If the file is missing or damaged, or another token encoder's (the message names both).

    Examples
    --------
    >>> import tempfile
    >>> from elmo_toy.bilm import load_pretrained
    >>> model = load_pretrained("toy-language")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_token_cache(Path(folder) / "tokens.hdf5", model, model.vocabulary)
    ...     cache = TokenCache(Path(folder) / "tokens.hdf5", model)
    >>> bool((cache.embed([["the", "bank"]]).layers == model.embed([["the", "bank"]]).layers).all())
    True
    >>> cache.embed([["zebra"]])
    Traceback (most recent call last):
    KeyError: "word 'zebra' is not in the vocabulary of 200 words, and no other may stand in for it"

    Book: chapter 5, "Three caches".
    """

    def __init__(self, path: Path | str, model: BiLM, *, keep_boundaries: bool = False) -> None:
        path = Path(path)
        with files.opened(path) as file:
            header = files.read_header(file, KIND, path.name)
            expected_header = files.header_of(KIND, model, encoder_only=True)
            files.refuse_another(header, expected_header, path.name)
            self.embedding: FloatArray = file["embedding"][()]
            self.vocabulary = Vocabulary(json.loads(files.read_string(file, "vocabulary")))
            expected = (len(self.vocabulary), model.options.lstm.projection_dim)
            if (
                self.embedding.shape != expected
                or files.checksum(self.embedding) != header["crc32"]
            ):
                raise ValueError("embedding is not what was written")
        self.keep_boundaries = keep_boundaries
        # The same stacks over a lookup encoder, whose table the cache is. It needs no head.
        options = dataclasses.replace(model.options, encoder=LookupOptions(len(self.vocabulary)))
        stacks = {name: v for name, v in model.parameters.items() if name.startswith("Cell")}
        self._model = BiLM(options, {"embedding": self.embedding, **stacks})

    def embed(
        self,
        sentences: Sentences,
        batch_size: int = 64,
        progress: TextIO | None = None,
        *,
        use_unknown: bool = False,
    ) -> Layers:
        """Layers as `FrozenExtractor.embed` returns them, without spelling a word.

        Parameters
        ----------
        use_unknown : let ``<UNK>`` stand in for words that the vocabulary lacks

        Raises
        ------
        KeyError
            Naming the first word that is not in the vocabulary; also with ``use_unknown`` if
            there is no ``<UNK>``. It is never masked, as happens in the original.
        """

        def read(part: Sentences) -> Layers:
            ids = text.batch_word_ids(part, self.vocabulary, strict=not use_unknown)
            return self._model.layers(Batch.from_ids(ids))

        return read_by_length(
            self._model, read, sentences, batch_size, progress, keep_boundaries=self.keep_boundaries
        )
