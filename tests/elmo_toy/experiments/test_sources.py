"""Extractors: one a seed, the same from the cache, the untrained one where training begins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elmo_toy.experiments import sources
from elmo_toy.experiments.data import Corpus
from elmo_toy.experiments.run import Sizes

SENTENCES = [["the", "river", "bank"], ["each", "loan"]]


@pytest.mark.parametrize(
    ("source", "n_layers"), [("bilm", 3), ("untrained", 3), ("context2vec", 2), ("cove", 2)]
)
def test_a_seed_makes_one_extractor_and_the_cache_keeps_it(
    tiny_corpus: Corpus, tiny_sizes: Sizes, tmp_path: Path, source: str, n_layers: int
) -> None:
    sizes = tiny_sizes.sources["toy"]
    first = sources.build(source, tiny_corpus, 0, sizes, tmp_path)
    again = sources.build(source, tiny_corpus, 0, sizes)
    stored = sources.build(source, tiny_corpus, 0, sizes, tmp_path)
    other = sources.build(source, tiny_corpus, 1, sizes, tmp_path)
    layers, mask = first.embed(SENTENCES)
    assert layers.shape == (2, n_layers, 3, 2 * sizes.projection_dim)
    assert layers.dtype == np.float64
    assert mask.tolist() == [[True, True, True], [True, True, False]]
    np.testing.assert_array_equal(again.embed(SENTENCES)[0], layers)
    np.testing.assert_array_equal(stored.embed(SENTENCES)[0], layers)
    assert stored.facts == first.facts
    assert np.abs(other.embed(SENTENCES)[0] - layers).max() > 1e-3
    assert len(list(tmp_path.iterdir())) == 2
    assert first.facts["tokens"] >= (0 if source == "untrained" else sizes.tokens)


def test_the_untrained_network_is_where_the_training_starts(
    tiny_corpus: Corpus, tiny_sizes: Sizes
) -> None:
    sizes = tiny_sizes.sources["toy"]
    untrained = sources.build("untrained", tiny_corpus, 0, sizes).embed(SENTENCES)[0]
    trained = sources.build("bilm", tiny_corpus, 0, sizes).embed(SENTENCES)[0]
    difference = np.abs(trained - untrained)
    assert 1e-3 < difference.max() < 1.0  # of so few steps


def test_what_cannot_be_trained_is_refused(tiny_corpus: Corpus, tiny_sizes: Sizes) -> None:
    sizes = tiny_sizes.sources["toy"]
    with pytest.raises(ValueError, match="source: expected one of bilm, untrained, context2vec, c"):
        sources.build("glove", tiny_corpus, 0, sizes)
    bare = Corpus("ewt", tiny_corpus.text, (), tiny_corpus.vocabulary, {}, {})
    with pytest.raises(ValueError, match="source: ewt has no translations for 'cove'"):
        sources.build("cove", bare, 0, sizes)
