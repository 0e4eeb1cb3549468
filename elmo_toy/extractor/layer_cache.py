"""The original's third choice: all layers of every sentence in a file, nothing left to compute.

=====================  =============================================================================
dataset                what it holds
=====================  =============================================================================
``"0"``, ``"1"``, …    one dataset a line of the text: (layers, tokens, dim), float32 for a float32
                       model, as bilm-tf's ``dump_bilm_embeddings`` writes it. A blank line has 0
                       tokens.
``sentence_to_index``  (1,) string, as AllenNLP's command writes it: JSON, sentence -> line number
                       as a string; of equal sentences the first line
=====================  =============================================================================

Header and checksums are attributes of the root, so that readers of the original layout, which count
``len(file.keys()) - 1`` sentences, go on working. HDF5 lists the names as strings (0, 1, 10, 2):
here lines are counted, never listed.

Layers are extracted statelessly, so they are a function of the sentence, and the file can be asked
by sentence. A stateful extractor is refused: its layers depend on all lines before (the original's
file holds such layers), and an interrupted file could not be gone on with.

Book: chapter 5, "Three caches".
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import h5py
import numpy as np

from elmo_toy import text
from elmo_toy.bilm.model import Layers
from elmo_toy.bilm.token_encoder import FloatArray
from elmo_toy.extractor import files
from elmo_toy.extractor.frozen import FrozenExtractor
from elmo_toy.text import checked_tokens

KIND = "layer cache"
INDEX, CHECKSUMS = "sentence_to_index", "crc32"


def index_key(tokens: Sequence[str]) -> str:
    r"""Write a sentence as its key in ``sentence_to_index``; no two sentences share one.

    Tokens are joined by spaces, as AllenNLP writes them. What would be ambiguous then is escaped:
    a space inside a token as ``\s``, a backslash as ``\\``, an empty token as ``\e``.

    >>> print(index_key(["and/or", "1 000", ""]))
    and/or 1\s000 \e

    Book: chapter 5, "Three caches".
    """
    return " ".join(
        token.replace("\\", "\\\\").replace(" ", "\\s") or "\\e" for token in checked_tokens(tokens)
    )


class LayerCache:
    """A finished file of layers, read one sentence or one batch at a time.

    Parameters
    ----------
    path : file that `write_layer_cache` wrote
    extractor : FrozenExtractor, optional
        Given, the file is refused unless this extractor's model and options made it. Without, it
        is read as it is: that is what the cache is for, the model need not be there.

    Raises
    ------
    CacheError
        If the file is missing, damaged or another extractor's (the message names both); when a
        line is read, if its numbers have changed since they were written.

    Examples
    --------
    >>> import tempfile
    >>> from elmo_toy.bilm import load_pretrained
    >>> from elmo_toy.extractor.writing import write_layer_cache
    >>> extractor = FrozenExtractor(load_pretrained("toy-language"))
    >>> text_lines = [["the", "muddy", "bank"], [], ["the", "bank"]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_layer_cache(Path(folder) / "layers.hdf5", extractor, text_lines)
    ...     with LayerCache(Path(folder) / "layers.hdf5", extractor) as cache:
    ...         [layers.shape for layers in cache], cache.find(["the", "bank"])
    ([(3, 3, 64), (3, 0, 64), (3, 2, 64)], 2)

    Source: allenai/bilm-tf, ``elmo.py``, ``dump_bilm_embeddings``.
    Book: chapter 5, "Three caches".
    """

    def __init__(self, path: Path | str, extractor: FrozenExtractor | None = None) -> None:
        self.path = Path(path)
        if extractor is not None:
            check_extractor(extractor)
        with ExitStack() as stack:
            self._file: h5py.File = stack.enter_context(files.opened(self.path))
            self.header = files.read_header(self._file, KIND, self.path.name)
            if extractor is not None:
                files.refuse_another(self.header, layer_header(extractor), self.path.name)
            self._checksums = self._file.attrs[CHECKSUMS]
            found = len(self._file) - 1  # all but the index
            if not len(self) == found == len(self._checksums):
                raise files.CacheError(
                    f"{self.path.name}: expected {len(self)} sentences, found {found}"
                )
            self._stack = stack.pop_all()
        self._index: dict[str, str] | None = None

    def __enter__(self) -> "LayerCache":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._stack.close()

    def __len__(self) -> int:
        """How many lines."""
        return int(self.header["sentences"])

    def __getitem__(self, line: int) -> FloatArray:
        """Layers of one line: (layers, tokens, dim)."""
        if isinstance(line, bool) or not isinstance(line, int | np.integer):
            raise TypeError(f"line: expected an integer, got {line!r}")
        if not self._file:
            raise ValueError(f"{self.path.name}: expected an open cache, it has been closed")
        if not 0 <= line < len(self):
            raise IndexError(f"line: expected 0 to {len(self) - 1}, got {line}")
        place = f"{self.path.name}: line {line}"
        with files.damage_named(place):
            value: FloatArray = self._file[str(line)][()]
            if files.checksum(value) != self._checksums[line]:
                raise ValueError("its numbers are not what was written")
        return value

    def __iter__(self) -> Iterator[FloatArray]:
        """Every line's layers, in the order of the text, one in memory at a time."""
        return (self[line] for line in range(len(self)))

    def batches(self, batch_size: int) -> Iterator[Layers]:
        """Consecutive lines, padded: layers (batch, layers, tokens, dim), mask (batch, tokens).

        Raises ValueError for a batch size below 1, TypeError for one that is no integer.
        """
        text.checked_count(batch_size, "batch_size")
        starts = range(0, len(self), batch_size)
        return (
            pad_layers([self[line] for line in range(start, min(start + batch_size, len(self)))])
            for start in starts
        )

    def find(self, tokens: Sequence[str]) -> int:
        """Line of a sentence, the first of equal ones; a KeyError that names it if there is none.

        The index is read at the first call and then kept; it is the text's size, not the layers'.
        """
        if self._index is None:
            with files.damage_named(f"{self.path.name}: {INDEX}"):
                index: dict[str, str] = json.loads(files.read_string(self._file, INDEX))
            self._index = index
        line = self._index.get(index_key(tokens))
        if line is None:
            raise KeyError(f"sentence {list(tokens)} is not in {self.path.name}")
        return int(line)


def layer_header(extractor: FrozenExtractor) -> files.Header:
    """What a layer cache remembers of the extractor that made it."""
    return files.header_of(KIND, extractor.model, keep_boundaries=extractor.keep_boundaries)


def check_extractor(extractor: object) -> None:
    """Raise a TypeError for anything else, a bare model for example."""
    if not isinstance(extractor, FrozenExtractor):
        raise TypeError(f"extractor: expected a FrozenExtractor, got {type(extractor).__name__}")


def pad_layers(sentences: Sequence[FloatArray]) -> Layers:
    """Stack sentences (layers, tokens, dim) of unequal length, 0 where no token is.

    Raises ValueError if there is none, or if they differ in layers, dim or dtype.

    >>> layers, mask = pad_layers([np.ones((3, 2, 4)), np.ones((3, 0, 4))])
    >>> layers.shape, mask.tolist()
    ((2, 3, 2, 4), [[True, True], [False, False]])

    Book: chapter 5, "Padding and boundaries".
    """
    kinds = {(layers.shape[0], layers.shape[2], layers.dtype.name) for layers in sentences}
    if len(kinds) != 1:  # unequal ones would be broadcast or cast without a word
        raise ValueError(
            "sentences: expected at least one, all of the same layers, dim and dtype, "
            f"got {sorted(kinds)}"
        )
    lengths = np.array([layers.shape[1] for layers in sentences])
    n_layers, _, dim = sentences[0].shape
    padded = np.zeros((len(sentences), n_layers, int(lengths.max()), dim), sentences[0].dtype)
    for row, layers in zip(padded, sentences, strict=True):
        row[:, : layers.shape[1]] = layers
    mask: text.BoolArray = np.arange(padded.shape[2]) < lengths[:, None]
    return Layers(padded, mask)
