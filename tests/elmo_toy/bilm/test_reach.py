"""A changed word is felt where it has been read, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from elmo_toy.bilm import load_pretrained
from elmo_toy.bilm.reach import change_by_offset, layer_changes
from elmo_toy.toy_language import Sentence, make_corpus

TOKENS = ["the", "river", "bank", "flooded", "the", "bank"]
CHANGED = ["the", "river", "the", "flooded", "the", "bank"]


def test_forward_halves_never_see_the_right_side_nor_backward_ones_the_left(make_model) -> None:
    change = layer_changes(make_model(), [TOKENS] * 3, [CHANGED] * 3)
    assert change.shape == (3, 3, 2, 6)
    assert (change[:, 0, :, 2] > 0).all()
    assert np.count_nonzero(change[:, 0]) == 3 * 2, "the token layer changes at one place"
    assert (change[:, 1:, 0] > 0).tolist() == [[[False] * 2 + [True] * 4] * 2] * 3
    assert (change[:, 1:, 1] > 0).tolist() == [[[True] * 3 + [False] * 3] * 2] * 3


def test_joined_directions_see_everything_from_layer_2_on(make_model) -> None:
    change = layer_changes(make_model(joined=True), [TOKENS], [CHANGED])[0]
    assert (change[2] > 0).all()
    assert not change[1, 0, :2].any()


def test_change_is_relative_to_the_half_before(make_model) -> None:
    model = make_model()
    before, after = (model.embed([tokens]).layers[0] for tokens in (TOKENS, CHANGED))
    width = model.options.lstm.projection_dim
    expected = np.linalg.norm((after - before)[2, 0, width:])
    expected /= np.linalg.norm(before[2, 0, width:])
    found = layer_changes(model, [TOKENS], [CHANGED])[0, 2, 1, 0]
    assert found == pytest.approx(expected, rel=1e-12)


def test_sentences_of_other_lengths_are_refused(make_model) -> None:
    with pytest.raises(ValueError, match=r"all of one length, got 1 and 1 of lengths \[5, 6\]"):
        layer_changes(make_model(), [TOKENS], [CHANGED[1:]])
    with pytest.raises(ValueError, match="as many sentences"):
        layer_changes(make_model(), [TOKENS], [CHANGED, CHANGED])


def test_mean_by_offset_is_that_of_the_single_changes() -> None:
    """Two nouns and one of everything else: each noun can be exchanged for the other alone."""
    model = load_pretrained("toy-language")
    tokens, tags = ("the", "bank", "near", "the", "river", "."), ("D", "N", "A", "D", "N", "P")
    found = change_by_offset(
        model, [Sentence(tokens, tags, (None,) * 6, ())], 2, np.random.default_rng(0)
    )
    changed = [["the", "river", *tokens[2:]], [*tokens[:4], "bank", "."]]
    first, second = layer_changes(model, [tokens] * 2, changed)
    assert found.shape == (3, 2, 5)
    np.testing.assert_allclose(found[:, :, 2], (first[:, :, 1] + second[:, :, 4]) / 2)
    np.testing.assert_allclose(found[:, :, 0], second[:, :, 2])  # no token two before the first
    np.testing.assert_allclose(found[:, :, 4], first[:, :, 3])
    assert found[1:, 0, 3:].all()
    assert not found[1:, 0, :2].any()


def test_sentences_in_which_nothing_can_be_exchanged_count_for_nothing() -> None:
    model = load_pretrained("toy-language")
    alone = Sentence((".",), ("PUNCT",), (None,), ())
    corpus = make_corpus(train=1, development=3, labelled=1, test=1)
    seeds = [np.random.default_rng(0) for _ in range(3)]
    assert not change_by_offset(model, [alone], 1, seeds[0]).any()
    with_it = change_by_offset(model, [*corpus.development, alone], 1, seeds[1])
    np.testing.assert_array_equal(with_it, change_by_offset(model, corpus.development, 1, seeds[2]))
