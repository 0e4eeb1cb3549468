"""What the reader explorer is told by the model, beside the model and the chapter's functions."""

from __future__ import annotations

import unicodedata
from base64 import b64decode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_toy.bilm import load_pretrained, quantised
from elmo_toy.similarity import cosine, percentile
from elmo_toy.widgets import _reading
from elmo_toy.widgets._reading import (
    SENTENCES,
    models,
    occurrences,
    placed,
    quantiles,
    reading,
    scripts,
    tokens_of,
    vocabulary,
)

FIRST = ("he", "looked", "at", "his", "watch", ".")
SECOND = ("we", "zebra", "the", "boat")


@given(st.text(max_size=30))
def test_tokens_are_visible_and_lose_nothing_visible(text: str) -> None:
    tokens = tokens_of(text)
    assert all(token and not set(map(_kind, token)) & {"Z", "C"} for token in tokens)
    kept = [c for c in text.lower() if _kind(c) not in "ZC"]
    assert len("".join(tokens)) == len(kept)


def _kind(character: str) -> str:
    return unicodedata.category(character)[0]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Mr. Toad’s 12 motor–cars!", ["mr", ".", "toad's", "00", "motor", "-", "cars", "!"]),
        ("<b>bank</b>", ["<", "b", ">", "bank", "<", "/", "b", ">"]),
        ("'tis o'neil's'", ["'", "tis", "o'neil's", "'"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("e\u0301te\u0301 हिन्दी 👩\u200d🔬", ["e\u0301te\u0301", "हिन्दी", "👩", "🔬"]),
        ("", []),
        (" \u200b\t\n", []),
    ],
)
def test_words_and_signs(text: str, tokens: list[str]) -> None:
    assert tokens_of(text) == tokens


def test_our_sentences_stay_as_they_are() -> None:
    assert all(tuple(tokens_of(" ".join(sentence))) == sentence for sentence in SENTENCES)


@given(st.integers(0, 999), st.floats(-1, 1))
def test_a_table_of_quantiles_places_as_all_values_do(seed: int, value: float) -> None:
    reference = np.random.default_rng(seed).normal(0, 0.4, 2000)
    table = np.quantile(reference, np.linspace(0, 1, 41)).tolist()
    assert placed(value, table) == pytest.approx(float(percentile(value, reference)), abs=2.5)
    assert placed(table[7], table) == pytest.approx(100 * 7 / 40)


def test_equal_values_are_in_their_middle_and_ends_are_ends() -> None:
    assert placed(1.0, [1.0] * 41) == 50
    assert placed(1.25, [0.0, 1.0, 2.0]) == 62.5
    for rounding in (5e-10, -5e-10):
        assert placed(1.0 + rounding, [0.0, 1.0, 2.0]) == 50
    assert placed(0.5, [0.0, 0.5, 0.5, 1.0]) == 50
    assert [placed(x, [0.0, 1.0]) for x in (-1, 0, 1, 2)] == [0, 0, 100, 100]


def test_the_quantiles_are_of_the_chapters_pairs() -> None:
    for model, both in zip(models(), quantiles(), strict=True):
        background = occurrences(model).background(2000, np.random.default_rng(1))
        for reference, tables in zip(background, both, strict=True):
            for values, table in zip(reference, tables, strict=True):
                assert table == sorted(table)
                assert table[20] == pytest.approx(float(np.median(values)), abs=1e-5)


def test_a_reading_is_what_the_models_return() -> None:
    found = reading(FIRST, SECOND, (4, 1))
    for model, m in zip(models(), (0, 1), strict=True):
        one, other = (
            model.embed([list(tokens)]).layers[0, :, place]
            for tokens, place in ((FIRST, 4), (SECOND, 1))
        )
        lengths = np.sqrt(np.diag(found.products))
        cosines = found.products[range(3), range(3, 6)] / (lengths[:3] * lengths[3:])
        np.testing.assert_allclose(found.untrained if m else cosines, cosine(one, other))
    probabilities = models().trained.predictions(list(FIRST))[0, 4]
    words, own = found.expected[0][0]
    assert [chance for _, chance in words] == sorted(probabilities)[:-6:-1]
    assert all(probabilities[vocabulary().id(word)] == chance for word, chance in words)
    assert own
    assert own[0] == probabilities[vocabulary().id("watch")]
    assert sorted(probabilities)[-own[1]] == own[0]
    assert found.expected[1][0].own is None, "zebra is not among the words"


def test_the_nearest_is_the_nearest_in_another_sentence() -> None:
    sentence = SENTENCES[30]
    found = reading(sentence, FIRST, (1, 4))
    ours = occurrences(models().trained)
    vectors = models().trained.embed([list(sentence)]).layers[0]
    for layer in (1, 2):
        cosines = cosine(ours.vectors[:, layer], vectors[layer, 1])
        cosines[ours.sentences == 30] = -2
        before, word, after = found.nearest[0][layer - 1]
        best = int(cosines.argmax())
        assert word == ours.words[best]
        assert f"{before} {word} {after}".split() == list(SENTENCES[ours.sentences[best]])


def test_the_scripts_hold_the_packed_models() -> None:
    texts = scripts()
    assert len(texts) == _reading.FILES
    assert sum(map(len, texts)) <= 1_500_000
    parts = [text.split('"', 2)[1] for text in texts]
    model = load_pretrained("english-small")
    trained = quantised.pack(model.parameters).content
    encoder = quantised.pack(quantised.untrained(model).encoder).content
    assert b64decode("".join(parts)) == trained + encoder
