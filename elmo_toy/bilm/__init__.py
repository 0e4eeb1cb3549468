"""A bidirectional language model of the original architecture, at any size, in numpy.

``token_encoder`` (characters to token vector) and ``lstm`` (the two stacks) are functions with
their derivatives; ``model`` joins them and adds the language-model head; ``training`` trains,
``checkpoint`` reads and writes the released layout, ``senses`` measures on the controlled corpus.

Book: chapter 2, "Two directional language models".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elmo_toy.bilm.model import BiLM


def load_pretrained(name: str) -> BiLM:
    """Load one of the two small models that come with the package.

    Parameters
    ----------
    name : str
        ``"toy-language"`` or ``"english-small"``; the card beside the weights says what it is.

    Raises
    ------
    ValueError
        For any other name.

    Examples
    --------
    >>> model = load_pretrained("toy-language")
    >>> model.embed([["the", "muddy", "bank"]]).layers.shape
    (1, 3, 3, 64)

    Book: chapter 1, "Layer by layer".
    """
    # Here, because it costs h5py: the rest of the package does without it.
    from elmo_toy.bilm.checkpoint import PRETRAINED, read_checkpoint

    names = sorted(path.parent.name for path in PRETRAINED.glob("*/options.json"))
    if name not in names:
        raise ValueError(f"name: expected one of {', '.join(names)}, got {name!r}")
    return read_checkpoint(PRETRAINED / name)
