"""The bidirectional language model: token encoder, two LSTM stacks, one shared softmax.

`BiLM` keeps the parameters. Everything that it computes is computed by functions of
`token_encoder` and `lstm`, and by `head_loss` below.

Book: chapter 2, "Two factorisations".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elmo_toy import text
from elmo_toy._checks import checked_parameters
from elmo_toy.bilm import lstm, token_encoder
from elmo_toy.bilm.lstm import LayerWeights, LSTMOptions, ReadingOrder, State
from elmo_toy.bilm.token_encoder import CharacterOptions, EncoderOptions, FloatArray, Shapes
from elmo_toy.text import Batch, BoolArray, IntArray, Vocabulary

HEAD_CHUNK = 512
"""Predictions scored at a time: their scores over the vocabulary stay in the cache."""


@dataclass(frozen=True)
class Options:
    """Sizes of a model: its token encoder and its LSTM stacks.

    ``shift`` is ours, to show what goes wrong without it: with 0 a state is asked for the very
    token that it has read last.
    """

    encoder: EncoderOptions
    lstm: LSTMOptions
    shift: int = 1

    def __post_init__(self) -> None:
        """Refuse a shift that means nothing."""
        if self.shift not in (0, 1):
            raise ValueError(f"shift: expected 0 or 1, got {self.shift}")


def parameter_shapes(options: Options, n_words: int | None) -> Shapes:
    """Name and shape of every parameter; ``n_words`` is the head's, None for no head.

    >>> options = Options(token_encoder.LookupOptions(9), LSTMOptions(4, 3, n_layers=1))
    >>> for name, shape in parameter_shapes(options, 9).items():
    ...     print(name, shape)
    embedding (9, 3)
    Cell0/W_0 (2, 6, 16)
    Cell0/B (2, 16)
    Cell0/W_P_0 (2, 4, 3)
    softmax/W (9, 3)
    softmax/b (9,)
    """
    width = options.lstm.projection_dim
    shapes = token_encoder.parameter_shapes(options.encoder, width)
    shapes |= lstm.parameter_shapes(options.lstm)
    if n_words is not None:
        shapes |= {"softmax/W": (n_words, width), "softmax/b": (n_words,)}
    return shapes


class Layers(NamedTuple):
    """A model's output: (batch, layers, tokens, 2 * projection_dim), and (batch, tokens) bool."""

    layers: FloatArray
    mask: BoolArray


class Loss(NamedTuple):
    """Mean cross-entropy of each direction (natural logarithm) over its predictions."""

    forward: float
    backward: float
    predictions: int

    @property
    def mean(self) -> float:
        """What is trained on: the mean of the two directions."""
        return 0.5 * (self.forward + self.backward)

    @property
    def perplexities(self) -> tuple[float, float]:
        """``exp`` of each direction's mean cross-entropy."""
        return float(np.exp(self.forward)), float(np.exp(self.backward))

    @property
    def perplexity(self) -> float:
        """``exp`` of the mean of both."""
        return float(np.exp(self.mean))


class HeadLoss(NamedTuple):
    """Cross-entropy of the shared softmax, and derivatives of the directions' mean."""

    losses: FloatArray  # (2,): mean cross-entropy by direction
    dstates: FloatArray  # (2, predictions, projection_dim), derivative of the directions' mean
    dweights: FloatArray  # (words, projection_dim)
    dbias: FloatArray  # (words,)


def head_loss(
    states: FloatArray,
    targets: IntArray,
    weights: FloatArray,
    bias: FloatArray,
    *,
    gradients: bool = True,
) -> HeadLoss:
    """Score states with the softmax that both directions share.

    ``loss_d = mean_n(log(sum_v exp(W_v . h_dn + b_v)) - (W_t . h_dn + b_t))``, ``t`` the target.

    Parameters
    ----------
    states : (2, predictions, projection_dim)
    targets : (2, predictions) int64, rows of ``weights``
    weights, bias : (words, projection_dim), (words,)
    gradients : without them only ``losses`` is computed, the rest is 0

    Returns
    -------
    HeadLoss

    Examples
    --------
    >>> loss = head_loss(np.zeros((2, 3, 4)), np.zeros((2, 3), int), np.ones((5, 4)), np.zeros(5))
    >>> loss.losses.round(4).tolist()  # every word equally likely: log 5
    [1.6094, 1.6094]

    Book: chapter 2, "The one-position shift".
    """
    directions, predictions, width = states.shape
    flat_states, flat_targets = states.reshape(-1, width), targets.reshape(-1)
    cross_entropy = np.empty(len(flat_states), dtype=states.dtype)
    dstates = np.zeros_like(flat_states)
    dweights, dbias = np.zeros_like(weights), np.zeros_like(bias)
    for start in range(0, len(flat_states), HEAD_CHUNK):
        part = slice(start, start + HEAD_CHUNK)
        scores = flat_states[part] @ weights.T
        scores += bias
        scores -= scores.max(axis=1, keepdims=True)
        rows = np.arange(len(scores))
        target_scores = scores[rows, flat_targets[part]]
        np.exp(scores, out=scores)
        totals = scores.sum(axis=1)
        cross_entropy[part] = np.log(totals) - target_scores
        if gradients:
            scores /= totals[:, None]
            scores[rows, flat_targets[part]] -= 1
            scores /= directions * predictions
            dstates[part] = scores @ weights
            dweights += scores.T @ flat_states[part]
            dbias += scores.sum(axis=0)
    losses = cross_entropy.reshape(directions, predictions).mean(axis=1)
    return HeadLoss(losses, dstates.reshape(states.shape), dweights, dbias)


class BiLM:
    """A bidirectional language model.

    Parameters
    ----------
    options : Options
    parameters : mapping of names to arrays
        All of one dtype; names and shapes as in `parameter_shapes`.
    vocabulary : Vocabulary, optional
        The words of the language-model head (and of a lookup encoder). Without it the model
        computes layers from character ids, but no loss.

    Raises
    ------
    ValueError
        If a parameter is missing, left over, or of another shape than the options say; if they
        are not all float32 or all float64.

    Examples
    --------
    >>> vocabulary = Vocabulary(["<S>", "</S>", "<UNK>", "the", "bank"])
    >>> options = Options(token_encoder.LookupOptions(5), LSTMOptions(dim=4, projection_dim=3))
    >>> model = BiLM.initialise(options, np.random.default_rng(0), vocabulary)
    >>> layers, mask = model.embed([["the", "bank"], ["bank"]])
    >>> layers.shape, mask.tolist()
    ((2, 3, 2, 6), [[True, True], [True, False]])

    Book: chapter 2, "The two directions".
    """

    def __init__(
        self,
        options: Options,
        parameters: Mapping[str, FloatArray],
        vocabulary: Vocabulary | None = None,
    ) -> None:
        encoder = options.encoder
        n_words = None if vocabulary is None else len(vocabulary)
        if not isinstance(encoder, CharacterOptions) and n_words not in (None, encoder.n_words):
            raise ValueError(
                f"vocabulary: expected the encoder's {encoder.n_words} words, got {n_words}"
            )
        expected = parameter_shapes(options, n_words)
        self.options = options
        self.parameters = checked_parameters(parameters, expected)
        self.vocabulary = vocabulary

    @classmethod
    def initialise(
        cls,
        options: Options,
        rng: np.random.Generator,
        vocabulary: Vocabulary | None = None,
        dtype: npt.DTypeLike = np.float32,
    ) -> "BiLM":
        """Draw an untrained model: see `initial_parameters` of `token_encoder` and of `lstm`."""
        width = options.lstm.projection_dim
        parameters = token_encoder.initial_parameters(options.encoder, width, rng)
        parameters |= lstm.initial_parameters(options.lstm, rng)
        if vocabulary is not None:
            parameters["softmax/W"] = rng.normal(0.0, width**-0.5, (len(vocabulary), width))
            parameters["softmax/b"] = np.zeros(len(vocabulary))
        return cls(
            options, {name: value.astype(dtype) for name, value in parameters.items()}, vocabulary
        )

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """float32 or float64: what it computes in."""
        return self.parameters["Cell0/B"].dtype

    @property
    def layer_weights(self) -> list[LayerWeights]:
        """The parameters of the stacks, by layer."""
        layers = range(self.options.lstm.n_layers)
        names = [[f"Cell{layer}/{name}" for name in lstm.LAYER_PARAMETERS] for layer in layers]
        return [LayerWeights(*(self.parameters[name] for name in layer)) for layer in names]

    # Sentences to layers

    def ids(self, sentences: Sequence[Sequence[str]]) -> IntArray:
        """Ids of a batch, boundaries added: characters or words, whichever the encoder reads.

        A lookup encoder refuses unknown words unless its vocabulary holds ``<UNK>``.
        """
        encoder = self.options.encoder
        if isinstance(encoder, CharacterOptions):
            return text.batch_character_ids(sentences, encoder.max_characters_per_token)
        return text.batch_word_ids(sentences, self._checked_vocabulary())

    def embed(self, sentences: Sequence[Sequence[str]]) -> Layers:
        """Layers of every token; boundaries are read, then dropped. Stateless.

        Returns
        -------
        Layers: (batch, layers, tokens, 2 * projection_dim), token layer first, and the mask.
        """
        return Layers(*text.remove_boundaries(*self.layers(Batch.from_ids(self.ids(sentences)))))

    def layers(self, batch: Batch) -> Layers:
        """Layers of every token of a batch, boundaries included, each row from a zero state."""
        return self.layers_from(batch, self._zero_state(batch))[0]

    def layers_from(self, batch: Batch, state: State) -> tuple[Layers, State]:
        """Layers, starting from the given state of each row; and the state afterwards.

        Layer 0 is ``[token; token]``, layer j ``[forward_j; backward_j]``; 0 where no token is.
        """
        reading = self._read(batch, state)
        mask, width = batch.mask, self.options.lstm.projection_dim
        layers = np.empty(
            (mask.shape[0], 1 + self.options.lstm.n_layers, mask.shape[1], 2 * width),
            dtype=self.dtype,
        )
        layers[:, 0, :, :width] = layers[:, 0, :, width:] = reading.vectors
        for layer, output in enumerate(reading.trace.outputs, start=1):
            layers[:, layer] = reading.order.unread(output).reshape(*mask.shape, 2 * width)
        return Layers(layers, mask), reading.final

    # Language modelling

    def loss(self, batch: Batch, targets: IntArray) -> Loss:
        """Cross-entropy of both directions. For the parameters see `loss_and_gradients`."""
        reading = self._read(batch, self._zero_state(batch))
        return self._head(reading, targets, gradients=False)[0]

    def loss_and_gradients(
        self, batch: Batch, targets: IntArray
    ) -> tuple[Loss, dict[str, FloatArray]]:
        """Cross-entropy, and its derivative (of the directions' mean) for every parameter.

        In its reading order each direction predicts the token that it reads next: forward, the
        state after token k predicts token k + 1; backward, it predicts token k - 1. The boundary
        symbol that is read first is never predicted, the other one is, so both directions make
        ``length - 1`` predictions a sentence.

        Parameters
        ----------
        batch : Batch, boundaries included
        targets : (batch, tokens) int64, word ids + 1 and 0 where no token is
            As `text.batch_word_ids` makes them.

        Book: chapter 2, "The one-position shift".
        """
        reading = self._read(batch, self._zero_state(batch))
        loss, head, upstream = self._head(reading, targets, gradients=True)
        gradients = {"softmax/W": head.dweights, "softmax/b": head.dbias}
        dread, layer_gradients = lstm.stack_gradients(
            upstream, reading.trace, self.layer_weights, reading.order, self.options.lstm
        )
        gradients |= self._gradients_below(
            batch, reading, reading.order.unread(dread).sum(axis=2), layer_gradients
        )
        return loss, gradients

    def layer_gradients(self, batch: Batch, upstream: FloatArray) -> dict[str, FloatArray]:
        """Carry a loss's derivative with respect to the layers back to every parameter below them.

        The forward pass is that of `layers`, from zero states. The softmax over words is no part of
        it and has no entry here.

        Parameters
        ----------
        batch : Batch, boundaries included
        upstream : (batch, layers, tokens, 2 * projection_dim)
            With respect to what `layers` returns; what it holds where no token is, is lost.

        Returns
        -------
        A derivative for every parameter of the encoder and of the stacks, under the same name.

        Raises
        ------
        ValueError
            If ``upstream`` has another shape than the layers.

        >>> vocabulary = Vocabulary(["<S>", "</S>", "bank"])
        >>> options = Options(token_encoder.LookupOptions(3), LSTMOptions(dim=4, projection_dim=3))
        >>> model = BiLM.initialise(options, np.random.default_rng(0), vocabulary)
        >>> upstream = np.zeros((1, 3, 3, 6))
        >>> upstream[:, 0, 1] = 1.0  # the sum over the token layer of "bank", which holds it twice
        >>> batch = Batch.from_ids(model.ids([["bank"]]))
        >>> model.layer_gradients(batch, upstream)["embedding"].tolist()
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 2.0, 2.0]]

        Book: chapter 5, "Frozen, fine-tuned, adapted".
        """
        tokens, width = batch.occurrences.shape, self.options.lstm.projection_dim
        expected = (tokens[0], 1 + self.options.lstm.n_layers, tokens[1], 2 * width)
        if upstream.shape != expected:
            raise ValueError(
                f"upstream: expected the layers' shape {expected}, got {upstream.shape}"
            )
        reading = self._read(batch, self._zero_state(batch))
        halves = upstream[..., :width], upstream[..., width:]  # forward, backward
        *lower, top = (
            np.stack([reading.order.read(half[:, layer])[d] for d, half in enumerate(halves)])
            for layer in range(1, expected[1])
        )
        dread, layer_gradients = lstm.stack_gradients(
            top, reading.trace, self.layer_weights, reading.order, self.options.lstm, lower
        )
        # Layer 0 holds the token vector twice.
        dtokens = reading.order.unread(dread).sum(axis=2) + halves[0][:, 0] + halves[1][:, 0]
        return self._gradients_below(batch, reading, dtokens, layer_gradients)

    def predictions(self, sentence: Sequence[str]) -> FloatArray:
        """Probability of every word at every position: (2, tokens, words).

        Row k of direction 0 is conditioned on the words before position k alone, row k of
        direction 1 on the words after it alone.
        """
        self._checked_vocabulary()
        batch = Batch.from_ids(self.ids([sentence]))
        reading = self._read(batch, self._zero_state(batch))
        top = reading.order.unread(reading.trace.outputs[-1])[0]
        end, shift = len(top) - 1, self.options.shift
        states = np.stack([top[1 - shift : end - shift, 0], top[1 + shift : end + shift, 1]])
        scores = states @ self.parameters["softmax/W"].T + self.parameters["softmax/b"]
        scores = np.exp(scores - scores.max(axis=2, keepdims=True))
        probabilities: FloatArray = scores / scores.sum(axis=2, keepdims=True)
        return probabilities

    def _checked_vocabulary(self) -> Vocabulary:
        if self.vocabulary is None:
            raise ValueError(
                "vocabulary: this model has none, so it has no word ids and no "
                "language-model head; expected a model with one"
            )
        return self.vocabulary

    def _encode(self, batch: Batch) -> tuple[FloatArray, token_encoder.CharacterTrace | None]:
        """Token vectors (batch, tokens, projection_dim), 0 where no token is."""
        encoder, trace = self.options.encoder, None
        if isinstance(encoder, CharacterOptions):
            vectors, trace = token_encoder.encode_characters(batch.types, self.parameters, encoder)
        else:
            if batch.types.ndim != 1:
                raise ValueError(
                    "ids: this model reads word ids (batch, tokens), got rows of "
                    f"{batch.types.shape[1]} character ids"
                )
            if batch.types.size and batch.types.max() > encoder.n_words:
                raise ValueError(
                    f"ids: expected word ids up to {encoder.n_words}, got {batch.types.max()}"
                )
            vectors = self.parameters["embedding"][batch.types - text.SHIFT]
        nothing = np.zeros((1, vectors.shape[1]), dtype=vectors.dtype)
        return np.concatenate([nothing, vectors])[batch.occurrences], trace

    def _zero_state(self, batch: Batch) -> State:
        return State.zeros(self.options.lstm, len(batch.occurrences), self.dtype)

    def _read(self, batch: Batch, state: State) -> "_Reading":
        order = ReadingOrder(batch.lengths, batch.occurrences.shape[1])
        vectors, spelling = self._encode(batch)
        trace, final = lstm.stack_forward(
            order.read(vectors), self.layer_weights, order, state, self.options.lstm
        )
        return _Reading(order, vectors, spelling, trace, final)

    def _gradients_below(
        self,
        batch: Batch,
        reading: "_Reading",
        dtokens: FloatArray,
        layer_gradients: list[LayerWeights],
    ) -> dict[str, FloatArray]:
        """Of the stacks, by name, and of the encoder, from those of the token vectors."""
        gradients = {}
        for layer, gradient in enumerate(layer_gradients):
            for name, value in zip(lstm.LAYER_PARAMETERS, gradient, strict=True):
                gradients[f"Cell{layer}/{name}"] = value

        present = batch.occurrences > 0
        dtypes = token_encoder.sum_by_index(
            batch.occurrences[present] - 1, dtokens[present], len(batch.types)
        )
        if reading.spelling is not None and isinstance(self.options.encoder, CharacterOptions):
            gradients |= token_encoder.character_gradients(
                dtypes, reading.spelling, self.parameters, self.options.encoder
            )
        else:
            gradients["embedding"] = token_encoder.sum_by_index(
                batch.types - text.SHIFT, dtypes, len(self.parameters["embedding"])
            )
        return gradients

    def _head(
        self, reading: "_Reading", targets: IntArray, *, gradients: bool
    ) -> tuple[Loss, HeadLoss, FloatArray]:
        self._checked_vocabulary()
        order, top = reading.order, reading.trace.outputs[-1]
        if not np.issubdtype(targets.dtype, np.integer):
            raise TypeError(f"targets: expected integers, got {targets.dtype}")
        if targets.shape != reading.vectors.shape[:2]:
            raise ValueError(
                f"targets: expected (batch, tokens) = {reading.vectors.shape[:2]}, "
                f"got {targets.shape}"
            )
        read_targets = order.read(targets)
        shift, steps = self.options.shift, top.shape[1]
        predicts = np.arange(shift, steps)[:, None] < order.lengths  # (steps - shift, batch)
        next_targets = read_targets[:, shift:][:, predicts] - text.SHIFT
        if next_targets.size == 0 or next_targets.min() < 0:
            raise ValueError(
                "targets: expected a word id (line + 1) wherever a token is, and at "
                "least two tokens in some row (the boundary symbols)"
            )
        words = len(self.parameters["softmax/b"])
        if next_targets.max() >= words:
            raise ValueError(
                f"targets: expected word ids up to {words} (line + 1), "
                f"got {next_targets.max() + text.SHIFT}"
            )
        head = head_loss(
            top[:, : steps - shift][:, predicts],
            next_targets,
            self.parameters["softmax/W"],
            self.parameters["softmax/b"],
            gradients=gradients,
        )
        upstream = np.zeros_like(top)
        upstream[:, : steps - shift][:, predicts] = head.dstates
        forward, backward = head.losses.tolist()
        return Loss(forward, backward, next_targets.shape[1]), head, upstream


class _Reading(NamedTuple):
    """One forward pass: token vectors, what the encoder and the stacks keep, the final state."""

    order: ReadingOrder
    vectors: FloatArray
    spelling: token_encoder.CharacterTrace | None
    trace: lstm.StackTrace
    final: State


class StatefulBiLM:
    """Reads batch after batch and remembers the LSTM states of each row, as the original does.

    The same sentence then gives other vectors each time; the difference shrinks as the older
    state is forgotten. A smaller batch leaves the remaining rows' states as they were, a larger
    one starts its new rows from zero. `reset` forgets everything.

    >>> vocabulary = Vocabulary(["<S>", "</S>", "bank"])
    >>> options = Options(token_encoder.LookupOptions(3), LSTMOptions(dim=4, projection_dim=3))
    >>> model = BiLM.initialise(options, np.random.default_rng(0), vocabulary)
    >>> reader = StatefulBiLM(model)
    >>> first, second = (reader.embed([["bank"]]).layers for _ in range(2))
    >>> reader.reset()
    >>> third = reader.embed([["bank"]]).layers
    >>> bool(np.array_equal(first, second)), bool(np.array_equal(first, third))
    (False, True)

    Book: chapter 8, "State from batch to batch".
    """

    def __init__(self, model: BiLM) -> None:
        self.model = model
        self.reset()

    def reset(self) -> None:
        """Forget: the next batch starts from zero states."""
        self._state = State.zeros(self.model.options.lstm, 0, self.model.dtype)

    def embed(self, sentences: Sequence[Sequence[str]]) -> Layers:
        """As `BiLM.embed`, starting from the remembered states."""
        batch = Batch.from_ids(self.model.ids(sentences))
        rows = len(batch.occurrences)
        new = State.zeros(
            self.model.options.lstm, max(rows - self._state.cells.shape[2], 0), self.model.dtype
        )
        cells = np.concatenate([self._state.cells, new.cells], axis=2)
        states = np.concatenate([self._state.states, new.states], axis=2)
        start = State(cells[:, :, :rows], states[:, :, :rows])
        layers, final = self.model.layers_from(batch, start)
        cells[:, :, :rows], states[:, :, :rows] = final.cells, final.states
        self._state = State(cells, states)
        return Layers(*text.remove_boundaries(*layers))
