"""How far a changed word is felt: by layer, by direction, and by the distance from it.

Book: chapter 2, "How far context reaches".
"""

from collections.abc import Sequence

import numpy as np

from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.token_encoder import FloatArray
from elmo_toy.toy_language import Sentence


def layer_changes(
    model: BiLM, sentences: Sequence[Sequence[str]], changed: Sequence[Sequence[str]]
) -> FloatArray:
    """Relative change of each half of each layer: ``|h' - h| / |h|``.

    Parameters
    ----------
    sentences, changed : as many sentences, all of one length

    Returns
    -------
    (sentences, layers, 2, tokens); axis 2 is the direction, forward first.

    Raises
    ------
    ValueError
        If the sentences differ in number or in length.

    Examples
    --------
    >>> from elmo_toy.bilm import load_pretrained
    >>> model = load_pretrained("toy-language")
    >>> change = layer_changes(model, [["the", "old", "bank"]], [["the", "muddy", "bank"]])
    >>> (change[0, 1] > 0).tolist()  # layer 1: forward from the change on, backward up to it
    [[False, True, True], [True, True, False]]

    Book: chapter 2, "How far context reaches".
    """
    lengths = {len(tokens) for tokens in (*sentences, *changed)}
    if len(sentences) != len(changed) or len(lengths) != 1:
        raise ValueError(
            "changed: expected as many sentences as before, all of one length, got "
            f"{len(sentences)} and {len(changed)} of lengths {sorted(lengths)}"
        )
    # Two batches of one shape: rows that are equal so far are computed by the same operations, and
    # what has not been reached by the change is equal to the last bit.
    before, after = (
        halves.reshape(*halves.shape[:3], 2, -1)
        for halves in (model.embed(sentences).layers, model.embed(changed).layers)
    )
    change = np.linalg.norm(after - before, axis=4) / np.linalg.norm(before, axis=4)
    return np.moveaxis(change, 3, 2)


def changed_halves(tokens: Sequence[str], change: FloatArray) -> str:
    """Write one sentence's `layer_changes` as text: a cross where a half differs in any bit.

    Parameters
    ----------
    change : (layers, 2, tokens)

    Examples
    --------
    >>> print(changed_halves(["old", "bank"], np.array([[[0, 0.5], [0, 0.5]], [[0, 1], [2, 1]]])))
                old bank
    h0 forward  .   x
    h0 backward .   x
    h1 forward  .   x
    h1 backward x   x

    Book: chapter 2, "How far context reaches".
    """
    lines = [f"{'':12}{' '.join(tokens)}"]
    for layer, halves in enumerate(change):
        for direction, half in zip(("forward", "backward"), halves, strict=True):
            marks = [
                ("x" if value > 0 else ".").ljust(len(word))
                for word, value in zip(tokens, half, strict=True)
            ]
            lines.append(f"h{layer} {direction:9}{' '.join(marks)}".rstrip())
    return "\n".join(lines)


def change_by_offset(
    model: BiLM, sentences: Sequence[Sentence], furthest: int, rng: np.random.Generator
) -> FloatArray:
    """Mean of `layer_changes` at each offset from the changed word.

    Every word of every sentence is changed once, for another word of the same part of speech, drawn
    from the sentences. Offset -1 is the token before the change, 1 the token after it.

    Returns
    -------
    (layers, 2, 2 * furthest + 1): offsets from ``-furthest`` to ``furthest``.

    Book: chapter 2, "How far context reaches".
    """
    words: dict[str, list[str]] = {}
    for tag, word in sorted(
        {pair for s in sentences for pair in zip(s.tags, s.tokens, strict=True)}
    ):
        words.setdefault(tag, []).append(word)
    layers = 1 + model.options.lstm.n_layers
    totals, counts = np.zeros((layers, 2, 2 * furthest + 1)), np.zeros(2 * furthest + 1)
    for sentence in sentences:
        tokens, changed, places = list(sentence.tokens), [], []
        for place, (tag, word) in enumerate(zip(sentence.tags, tokens, strict=True)):
            others = [other for other in words[tag] if other != word]
            if others:
                new = others[int(rng.integers(len(others)))]
                changed.append([*tokens[:place], new, *tokens[place + 1 :]])
                places.append(place)
        if not places:
            continue
        change = layer_changes(model, [tokens] * len(changed), changed)
        for row, place in enumerate(places):
            low, high = max(0, place - furthest), min(len(tokens), place + furthest + 1)
            at = slice(low - place + furthest, high - place + furthest)
            totals[:, :, at] += change[row, :, :, low:high]
            counts[at] += 1
    mean: FloatArray = totals / np.maximum(counts, 1)
    return mean
