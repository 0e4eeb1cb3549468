"""The character encoder against a plain reading of its definition, and its refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy.bilm import token_encoder
from elmo_toy.bilm.token_encoder import CharacterOptions, FloatArray, LookupOptions
from elmo_toy.text import character_ids

OPTIONS = CharacterOptions(3, ((1, 2), (2, 3), (4, 5)), n_highway=2, max_characters_per_token=12)


def parameters(options: CharacterOptions, width: int = 4, seed: int = 0) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    drawn = token_encoder.initial_parameters(options, width, rng)
    return {name: value + rng.normal(0, 0.3, value.shape) for name, value in drawn.items()}


def plain(token: str, values: dict[str, FloatArray], options: CharacterOptions) -> FloatArray:
    """One token, one filter, one position at a time; nothing is cut off."""
    table = np.concatenate([np.zeros((1, options.embedding_dim)), values["char_embed"]])
    characters = table[character_ids(token, options.max_characters_per_token)]
    features = []
    for index, (width, number) in enumerate(options.filters):
        kernel, bias = values[f"CNN/W_cnn_{index}"][0], values[f"CNN/b_cnn_{index}"]
        for f in range(number):
            features.append(
                max(
                    np.sum(characters[p : p + width] * kernel[:, :, f]) + bias[f]
                    for p in range(len(characters) - width + 1)
                )
            )
    x = np.array(features)
    x = np.maximum(x, 0) if options.activation == "relu" else np.tanh(x)
    for layer in range(options.n_highway):
        w = {
            part: values[f"CNN_high_{layer}/{part}"]
            for part in ("W_carry", "b_carry", "W_transform", "b_transform")
        }
        gate = 1 / (1 + np.exp(-(x @ w["W_carry"] + w["b_carry"])))
        x = gate * np.maximum(x @ w["W_transform"] + w["b_transform"], 0) + (1 - gate) * x
    result: FloatArray = x @ values["CNN_proj/W_proj"] + values["CNN_proj/b_proj"]
    return result


@given(
    st.lists(st.text(max_size=14), min_size=1, max_size=4),
    st.integers(0, 5),
    st.sampled_from(["relu", "tanh"]),
)
def test_encoding_is_the_definition(tokens: list[str], seed: int, activation: str) -> None:
    options = CharacterOptions(3, OPTIONS.filters, 2, 12, activation)
    values = parameters(options, seed=seed)
    ids = np.array([character_ids(token, 12) for token in tokens])
    vectors, _ = token_encoder.encode_characters(ids, values, options)
    expected = [plain(token, values, options) for token in tokens]
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-12)


def test_a_vector_does_not_depend_on_the_other_spellings_of_the_batch() -> None:
    values = parameters(OPTIONS)
    short, long = character_ids("a", 12), character_ids("abcdefghij", 12)
    alone, _ = token_encoder.encode_characters(short[None], values, OPTIONS)
    together, _ = token_encoder.encode_characters(np.stack([short, long]), values, OPTIONS)
    np.testing.assert_allclose(alone[0], together[0], rtol=0, atol=1e-12)


def test_released_shapes() -> None:
    released = CharacterOptions(
        16, ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)), n_highway=2
    )
    shapes = token_encoder.parameter_shapes(released, 512)
    assert shapes["char_embed"] == (261, 16)
    assert shapes["CNN/W_cnn_6"] == (1, 7, 16, 1024)
    assert shapes["CNN_high_1/W_carry"] == (2048, 2048)
    assert shapes["CNN_proj/W_proj"] == (2048, 512)


def test_no_projection_where_the_filters_already_fit() -> None:
    shapes = token_encoder.parameter_shapes(OPTIONS, OPTIONS.n_filters)
    assert not any(name.startswith("CNN_proj") for name in shapes)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (np.zeros((1, 12), dtype=np.int64), "from 1 to 261, got 0 to 0"),
        (np.full((1, 12), 262), "from 1 to 261, got 262 to 262"),
        (np.ones((1, 50), dtype=np.int64), r"max_characters_per_token = 12\), got shape \(1, 50\)"),
    ],
)
def test_ids_that_do_not_belong_are_refused(row: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        token_encoder.encode_characters(row, parameters(OPTIONS), OPTIONS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"activation": "gelu"}, "activation: expected 'relu' or 'tanh', got 'gelu'"),
        ({"filters": ()}, r"filters: expected \(width, number\)"),
        ({"filters": ((0, 2),)}, r"filters: expected .* got \(\(0, 2\),\)"),
        ({"n_highway": -1}, "n_highway: expected at least 0, got -1"),
        ({"embedding_dim": 0}, "embedding_dim: expected at least 1, got 0"),
        ({"max_characters_per_token": 3}, "widest filter's 4, got 3"),
    ],
)
def test_impossible_sizes_are_refused(changes: dict[str, object], message: str) -> None:
    sizes = {"embedding_dim": 3, "filters": OPTIONS.filters, "n_highway": 1, **changes}
    with pytest.raises(ValueError, match=message):
        CharacterOptions(**sizes)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueError, match="n_words: expected at least 1, got 0"):
        LookupOptions(0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("embedding_dim", 3.0), ("n_highway", True), ("max_characters_per_token", 12.5),
        ("filters", ((1, 2.5),)),
    ],
)  # fmt: skip
def test_sizes_are_whole(name: str, value: object) -> None:
    sizes = {"embedding_dim": 3, "filters": OPTIONS.filters, "n_highway": 1, name: value}
    with pytest.raises(TypeError, match=f"{name}: expected an integer, got"):
        CharacterOptions(**sizes)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(TypeError, match=r"n_words: expected an integer, got 1\.5"):
        LookupOptions(1.5)  # type: ignore[arg-type]  # wrong on purpose
