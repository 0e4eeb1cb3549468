"""Mixtures over one frozen language model, in the manner of AllenNLP's ``Elmo`` module.

Book: chapter 5, "Where a mixture attaches".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elmo_toy import text
from elmo_toy.bilm.model import BiLM, Layers
from elmo_toy.bilm.token_encoder import CharacterOptions, FloatArray
from elmo_toy.layer_norm import LayerNorm
from elmo_toy.scalar_mix import ScalarMix, ScalarMixGradients
from elmo_toy.text import Batch, BoolArray, IntArray

LAYER_NORM = LayerNorm(epsilon=1e-13, boundaries="counted")
"""AllenNLP mixes before it removes the boundaries, so they enter the statistics."""


@dataclass(frozen=True)
class ElmoOutput:
    """What `Elmo.forward` returns, and what its gradients need of it."""

    representations: tuple[FloatArray, ...]
    """One a mixture: (batch, tokens, dim), 0 where no token is."""
    mask: BoolArray
    """(batch, tokens); like the representations, without boundaries unless they are kept."""
    batch: Batch
    """What the language model read, boundaries included."""
    read: Layers
    """(batch, layers, tokens + 2, dim) and its mask: what was mixed, boundaries included."""
    dropped: tuple[FloatArray | None, ...]
    """By mixture: what dropout multiplied with, 0 or ``1 / (1 - dropout)``; None without."""


@dataclass(frozen=True)
class ElmoGradients:
    """Gradients of a loss through `Elmo.forward`."""

    mixtures: tuple[ScalarMixGradients, ...]
    """Logits and gamma of each mixture. Those of fixed parameters are computed, never applied."""
    layers: FloatArray | None
    """d loss / d ``output.read.layers``, summed over the mixtures; None if the model is frozen."""


class Elmo:
    """One language model, read once; as many mixtures of its layers as a task has places for.

    The order is AllenNLP's: mix with the boundaries, remove the boundaries, then dropout.
    Differences, each of them tested: every batch starts from zero states; padding of a
    representation is exactly 0, with layer norm too; no mixture at all, and boundaries that the
    caller has added already, are errors.

    Parameters
    ----------
    model : BiLM
    num_output_representations : int
        How many mixtures, at least 1. They are equal until training moves them apart, and are
        *not* the model's layers: those are in ``output.read.layers``.
    requires_grad : bool
        Whether a gradient goes on into the language model. False: it is frozen.
    do_layer_norm : bool
        Normalise each layer before it is mixed. Its statistics are the whole batch's, so a
        sentence's representation then depends on the sentences beside it.
    dropout : float
        In [0, 1), applied in training alone.
    keep_sentence_boundaries : bool
        Leave ``<S>`` and ``</S>`` in the output.
    scalar_mix_parameters : (layers,), optional
        *Logits* (before the softmax) of every mixture, which then stay as they are, and gamma with
        them. ``[0, 0, 1]`` does not select the top layer; ``[-9e10, -9e10, 1]`` does.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, what was given and what was expected.

    Examples
    --------
    >>> from elmo_toy.bilm import load_pretrained
    >>> elmo = Elmo(load_pretrained("toy-language"), 2)
    >>> output = elmo.forward(elmo.ids([["the", "muddy", "bank"], ["the", "bank"]]))
    >>> len(output.representations), output.representations[0].shape
    (2, (2, 3, 64))
    >>> elmo.trainable
    {'mixture_0/logits': 3, 'mixture_0/gamma': 1, 'mixture_1/logits': 3, 'mixture_1/gamma': 1}

    Source: allenai/allennlp, ``modules/elmo.py``.
    Book: chapter 5, "Where a mixture attaches".
    """

    def __init__(
        self,
        model: BiLM,
        num_output_representations: int = 1,
        *,
        requires_grad: bool = False,
        do_layer_norm: bool = False,
        dropout: float = 0.5,
        keep_sentence_boundaries: bool = False,
        scalar_mix_parameters: Sequence[float] | FloatArray | None = None,
    ) -> None:
        if not isinstance(model, BiLM):
            raise TypeError(f"model: expected a BiLM, got {type(model).__name__}")
        count = num_output_representations
        if isinstance(count, bool) or not isinstance(count, int | np.integer):
            raise TypeError(
                f"num_output_representations: expected how many mixtures, got {count!r}"
            )
        if count < 1:
            raise ValueError(
                f"num_output_representations: expected at least 1 mixture, got {count}"
            )
        for name, flag in (
            ("requires_grad", requires_grad),
            ("do_layer_norm", do_layer_norm),
            ("keep_sentence_boundaries", keep_sentence_boundaries),
        ):
            if not isinstance(flag, bool):
                raise TypeError(f"{name}: expected True or False, got {flag!r}")
        if isinstance(dropout, bool) or not isinstance(dropout, int | float | np.floating):
            raise TypeError(f"dropout: expected a number, got {dropout!r}")
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout: expected at least 0 and below 1, got {dropout}")
        layers = 1 + model.options.lstm.n_layers
        fixed = scalar_mix_parameters is not None
        logits = np.zeros(layers) if scalar_mix_parameters is None else scalar_mix_parameters
        if np.shape(logits) != (layers,):
            raise ValueError(
                f"scalar_mix_parameters: expected {layers} logits, one a layer, "
                f"got shape {np.shape(logits)}"
            )
        self.model = model
        self.requires_grad = requires_grad
        self.dropout = float(dropout)
        self.keep_sentence_boundaries = keep_sentence_boundaries
        self.layer_norm = LAYER_NORM if do_layer_norm else None
        self.mixtures = [
            ScalarMix.from_logits(logits, train_logits=not fixed, train_gamma=not fixed)
            for _ in range(count)
        ]

    @property
    def trainable(self) -> dict[str, int]:
        """Names and sizes of what training may change; the language-model head is never used."""
        sizes = {}
        for index, mixture in enumerate(self.mixtures):
            if mixture.train_logits:
                sizes[f"mixture_{index}/logits"] = len(mixture.logits)
            if mixture.train_gamma:
                sizes[f"mixture_{index}/gamma"] = 1
        if self.requires_grad:
            for name, value in self.model.parameters.items():
                if not name.startswith("softmax/"):
                    sizes[f"bilm/{name}"] = value.size
        return sizes

    def ids(self, sentences: Sequence[Sequence[str]]) -> IntArray:
        """What `forward` reads: ids *without* boundaries, as AllenNLP's ``batch_to_ids``.

        Returns
        -------
        Character ids (batch, tokens, characters), or word ids (batch, tokens) for a lookup encoder.
        """
        encoder = self.model.options.encoder
        if isinstance(encoder, CharacterOptions):
            return text.batch_character_ids(
                sentences, encoder.max_characters_per_token, boundaries=False
            )
        return _inner(self.model.ids(sentences))

    def forward(
        self, ids: IntArray, *, training: bool = False, rng: np.random.Generator | None = None
    ) -> ElmoOutput:
        """Read a batch once, mix its layers once a mixture.

        Parameters
        ----------
        ids : as `ids` makes them; 0 where no token is, boundaries are added here
        training : apply dropout, which takes ``rng``

        Raises
        ------
        ValueError
            For ids of another rank or width than the model reads, ids that bring boundaries along,
            a padding that is not on the right; for training with dropout and no ``rng``.
        """
        batch = Batch.from_ids(self._with_boundaries(self._checked(ids)))
        read = self.model.layers(batch)
        representations, dropped = [], []
        for mixture in self.mixtures:
            mixed = mixture.mix(read.layers, read.mask, self.layer_norm)
            if not self.keep_sentence_boundaries:
                mixed = text.remove_boundaries(mixed[:, None], read.mask)[0][:, 0]
            factors = self._dropout(mixed, rng) if training and self.dropout else None
            representations.append(mixed if factors is None else mixed * factors)
            dropped.append(factors)
        mask = read.mask
        if not self.keep_sentence_boundaries:
            mask = text.remove_boundaries(read.layers[:, :1], read.mask)[1]
        return ElmoOutput(tuple(representations), mask, batch, read, tuple(dropped))

    def gradients(self, upstreams: Sequence[FloatArray], output: ElmoOutput) -> ElmoGradients:
        """Carry a loss's derivative back through `forward`.

        Parameters
        ----------
        upstreams : one a mixture, (batch, tokens, dim), d loss / d representation
        output : what `forward` returned

        Returns
        -------
        ElmoGradients. ``layers`` is None unless ``requires_grad``; it goes on into
        ``model.layer_gradients(output.batch, layers)``.

        Book: chapter 5, "Frozen, fine-tuned, adapted".
        """
        if len(upstreams) != len(self.mixtures):
            raise ValueError(
                f"upstreams: expected {len(self.mixtures)}, one a mixture, got {len(upstreams)}"
            )
        layers, mask = output.read
        gradients = []
        for mixture, representation, factors, upstream in zip(
            self.mixtures, output.representations, output.dropped, upstreams, strict=True
        ):
            if np.shape(upstream) != representation.shape:
                raise ValueError(
                    f"upstreams: expected the representation's shape {representation.shape}, "
                    f"got {np.shape(upstream)}"
                )
            through = upstream if factors is None else upstream * factors
            if not self.keep_sentence_boundaries:
                through = _put_back(through, output.mask)
            gradients.append(
                mixture.gradients(layers, through.astype(layers.dtype), mask, self.layer_norm)
            )
        total: FloatArray | None = None
        if self.requires_grad:
            total = np.sum([gradient.layers for gradient in gradients], axis=0)
        return ElmoGradients(tuple(gradients), total)

    def _checked(self, ids: IntArray) -> IntArray:
        if not isinstance(ids, np.ndarray):
            raise TypeError(
                f"ids: expected the array that Elmo.ids makes, got a {type(ids).__name__}"
            )
        encoder = self.model.options.encoder
        if isinstance(encoder, CharacterOptions):
            width = encoder.max_characters_per_token
            expected, fits = f"character ids (batch, tokens, {width})", ids.shape[2:] == (width,)
        else:
            expected, fits = "word ids (batch, tokens)", ids.ndim == 2
        if not fits:
            raise ValueError(f"ids: this model reads {expected}, got shape {ids.shape}")
        return ids

    def _with_boundaries(self, ids: IntArray) -> IntArray:
        start, end = self.model.ids([[]])[0]
        lengths = text.sentence_lengths(text.token_mask(ids))
        for row, length in enumerate(lengths):
            if length >= 2 and (ids[row, [0, length - 1]] == [start, end]).all():
                raise ValueError(
                    f"ids: row {row} brings its boundaries along; expected ids without them "
                    "(boundaries=False), they are added here"
                )
        padded = np.zeros((len(ids), ids.shape[1] + 2, *ids.shape[2:]), dtype=np.int64)
        padded[:, 1:-1] = ids
        padded[:, 0] = start
        padded[np.arange(len(ids)), lengths + 1] = end
        return padded

    def _dropout(self, mixed: FloatArray, rng: np.random.Generator | None) -> FloatArray:
        if not isinstance(rng, np.random.Generator):
            raise ValueError(f"rng: expected a numpy Generator for dropout in training, got {rng}")
        kept = rng.random(mixed.shape) >= self.dropout
        return kept.astype(mixed.dtype) / mixed.dtype.type(1 - self.dropout)


def _inner(ids: IntArray) -> IntArray:
    """Word ids without the boundaries."""
    layers, _ = text.remove_boundaries(ids[:, None, :, None], text.token_mask(ids))
    inner: IntArray = layers[:, 0, :, 0]
    return inner


def _put_back(upstream: FloatArray, mask: BoolArray) -> FloatArray:
    """A derivative where the boundaries are still there: 0 at them and where no token is."""
    batch, tokens, dim = upstream.shape
    out = np.zeros((batch, tokens + 2, dim), dtype=upstream.dtype)
    out[:, 1:-1] = np.where(mask[:, :, None], upstream, 0)
    return out
