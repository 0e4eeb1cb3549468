"""A language model whose weights stay as they are: sentences in, layers out.

What a task learns (mixture, gamma, its own model) stands after it and never reaches back.

Book: chapter 5, "What is frozen, what is learned".
"""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TextIO

import numpy as np

from elmo_toy import text
from elmo_toy.bilm.model import BiLM, Layers, StatefulBiLM
from elmo_toy.bilm.token_encoder import CharacterOptions
from elmo_toy.extractor.progress import Progress
from elmo_toy.text import Batch, IntArray

Sentences = Sequence[Sequence[str]]


def fingerprint(model: BiLM, *, encoder_only: bool = False) -> str:
    """SHA-256 of a model's options, parameters and vocabulary; or of what its token encoder has.

    Two models agree in it if they compute the same numbers for every sentence in the same way:
    names, shapes, dtypes, bytes and words all count. It is computed anew at each call, so a model
    that was trained on has another one.

    >>> from elmo_toy.bilm import load_pretrained
    >>> first, second = load_pretrained("toy-language"), load_pretrained("english-small")
    >>> len(fingerprint(first)), fingerprint(first) == fingerprint(second)
    (64, False)

    Book: chapter 5, "Three caches".
    """
    digest = hashlib.sha256()
    words = None if model.vocabulary is None else model.vocabulary.words
    options = dataclasses.asdict(model.options)
    names = sorted(model.parameters)
    if encoder_only:
        options = options["encoder"]
        names = [name for name in names if not name.startswith(("Cell", "softmax/"))]
        if isinstance(model.options.encoder, CharacterOptions):
            words = None  # those of the language-model head; spellings need none
    digest.update(json.dumps([options, words], sort_keys=True).encode())
    for name in names:
        value = model.parameters[name]
        # Byte order is part of the number, not of the machine.
        stored = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        digest.update(json.dumps([name, value.shape, value.dtype.name]).encode())
        digest.update(stored.data)
    return digest.hexdigest()


class FrozenExtractor:
    """Layers of sentences under a model that it only reads.

    Parameters
    ----------
    model : BiLM
        Its parameters are never written to.
    keep_boundaries : bool
        Leave ``<S>`` and ``</S>`` in: each sentence then has two tokens more. They are always read.
    stateful : bool
        False: every sentence starts from a zero state, so its layers depend on it alone. True: each
        row of a batch starts from what that row of the batch before left behind, as in the
        original; the layers then depend on order and batch size, and on what was embedded earlier,
        until `reset`.

    Raises
    ------
    TypeError
        If ``model`` is no BiLM, or a flag is not a bool.
    ValueError
        For ``stateful`` together with ``keep_boundaries``.

    Examples
    --------
    >>> from elmo_toy.bilm import load_pretrained
    >>> extractor = FrozenExtractor(load_pretrained("toy-language"))
    >>> layers, mask = extractor.embed([["the", "muddy", "bank"], [], ["the", "bank"]])
    >>> layers.shape, mask.sum(axis=1).tolist()
    ((3, 3, 3, 64), [3, 0, 2])

    Source: Peters et al. (2018), section 3.3: "we first freeze the weights of the biLM".
    Book: chapter 5, "What is frozen, what is learned".
    """

    def __init__(
        self, model: BiLM, *, keep_boundaries: bool = False, stateful: bool = False
    ) -> None:
        if not isinstance(model, BiLM):
            raise TypeError(f"model: expected a BiLM, got {type(model).__name__}")
        for name, flag in (("keep_boundaries", keep_boundaries), ("stateful", stateful)):
            if not isinstance(flag, bool):
                raise TypeError(f"{name}: expected True or False, got {flag!r}")
        if stateful and keep_boundaries:
            raise ValueError(
                "keep_boundaries: expected False with stateful=True, whose reader drops the "
                "boundaries, got True"
            )
        self.model = model
        self.keep_boundaries = keep_boundaries
        self._reader = StatefulBiLM(model) if stateful else None

    @property
    def stateful(self) -> bool:
        """Whether states are carried from batch to batch."""
        return self._reader is not None

    @property
    def n_layers(self) -> int:
        """The token layer and the contextual ones."""
        return 1 + self.model.options.lstm.n_layers

    @property
    def dim(self) -> int:
        """Width of a layer: both directions' ``projection_dim``."""
        return 2 * self.model.options.lstm.projection_dim

    @property
    def fingerprint(self) -> str:
        """`fingerprint` of the model as it is now."""
        return fingerprint(self.model)

    def reset(self) -> None:
        """Forget the carried states; nothing to forget when stateless."""
        if self._reader is not None:
            self._reader.reset()

    def embed(
        self, sentences: Sentences, batch_size: int = 64, progress: TextIO | None = None
    ) -> Layers:
        """Extract the layers of any number of sentences.

        Stateless, sentences of similar length are read together, whatever their order; the output
        is in the order of the input. Stateful, batches are cut in the order of the input, and any
        of them may be larger or smaller than the one before.

        Parameters
        ----------
        sentences : list of lists of tokens; an empty one has no token and keeps its row
        batch_size : int, how many are read at a time
        progress : text stream such as ``sys.stderr`` for a progress bar

        Returns
        -------
        Layers: (sentences, layers, tokens, dim) with the token layer first, 0 where no token is,
        and the mask (sentences, tokens).

        Raises
        ------
        ValueError
            For no sentence at all, or a batch size below 1.
        TypeError
            For strings where lists of tokens are expected, or a batch size that is no integer.
        KeyError
            From a lookup encoder without ``<UNK>``, naming the word.

        Book: chapter 5, "Padding and boundaries".
        """
        if self._reader is None:
            return read_by_length(
                self.model,
                self._read,
                sentences,
                batch_size,
                progress,
                keep_boundaries=self.keep_boundaries,
            )
        sentences = text.checked_sentences(sentences)
        text.checked_count(batch_size, "batch_size")
        rows = np.arange(len(sentences))
        batches = [rows[start : start + batch_size] for start in range(0, len(rows), batch_size)]
        tokens = max(len(sentence) for sentence in sentences)
        return _gather(self.model, self._reader.embed, sentences, batches, tokens, progress)

    def _read(self, sentences: Sentences) -> Layers:
        """Boundaries included."""
        return self.model.layers(Batch.from_ids(self.model.ids(sentences)))


def read_by_length(
    model: BiLM,
    read: Callable[[Sentences], Layers],
    sentences: Sentences,
    batch_size: int,
    progress: TextIO | None,
    *,
    keep_boundaries: bool,
) -> Layers:
    """Read sentences of similar length together, and put the layers into the input's order.

    Parameters
    ----------
    model : BiLM, whose sizes and dtype the layers have
    read : from a batch of sentences to its layers, boundaries included
    """

    def read_batch(part: Sentences) -> Layers:
        layers = read(part)
        return layers if keep_boundaries else Layers(*text.remove_boundaries(*layers))

    sentences = text.checked_sentences(sentences)
    lengths = [len(sentence) for sentence in sentences]
    batches = text.length_bucketed_batches(lengths, batch_size)
    tokens = max(lengths) + 2 * keep_boundaries
    return _gather(model, read_batch, sentences, batches, tokens, progress)


def _gather(
    model: BiLM,
    read: Callable[[Sentences], Layers],
    sentences: Sentences,
    batches: Sequence[IntArray],
    tokens: int,
    progress: TextIO | None,
) -> Layers:
    """Rows of batches to rows of the input."""
    sizes = model.options.lstm
    shape = (len(sentences), 1 + sizes.n_layers, tokens, 2 * sizes.projection_dim)
    layers, mask = np.zeros(shape, model.dtype), np.zeros((len(sentences), tokens), dtype=bool)
    with Progress(progress, len(sentences)) as bar:
        for rows in batches:
            part = read([sentences[row] for row in rows])
            layers[rows, :, : part.mask.shape[1]] = part.layers
            mask[rows, : part.mask.shape[1]] = part.mask
            bar.advance(len(rows))
    return Layers(layers, mask)
