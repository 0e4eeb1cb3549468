"""No test sentence is trained on, and what trains leaves what it was given alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from elmo_toy._checks import Array
from elmo_toy.bilm import load_pretrained
from elmo_toy.bilm.model import BiLM
from elmo_toy.similarity import nearest_mean
from elmo_toy.task import sense_tagging
from elmo_toy.task.data import UNLABELLED, Tagged, TaggedText
from elmo_toy.task.probes import linear
from elmo_toy.task.training import evaluate
from elmo_toy.toy_language import DOMAINS, NOUN_OR_VERB, SENSES, make_corpus, make_reports

CORPUS = make_corpus(train=0, development=0, labelled=3, test=2)
TEXTS = sense_tagging.texts(CORPUS, each=2)


@pytest.fixture(scope="module")
def model() -> BiLM:
    return sense_tagging.double(load_pretrained("toy-language"))


def features(model: BiLM) -> dict[str, Tagged]:
    return {name: part.embedded(model.embed, model.vocabulary) for name, part in TEXTS.items()}


def test_parts_share_no_sentence_and_hold_each_sense_equally_often() -> None:
    for first, second in combinations(TEXTS.values(), 2):
        assert not set(first.sentences) & set(second.sentences)
    told = [
        (tokens[k], tag)
        for tokens, tags in zip(TEXTS["training"].sentences, TEXTS["training"].tags, strict=True)
        for k, tag in enumerate(tags)
        if tag is not None
    ]
    expected = [(noun, sense) for noun, senses in SENSES.items() for sense in senses]
    assert sorted(told) == sorted(2 * expected)
    assert len(TEXTS["development"].sentences) == len(expected)


def test_every_ambiguous_noun_of_a_report_is_tagged() -> None:
    reports = make_reports(train=0, development=0, test=50).test
    found = sense_tagging.tagged(reports)
    for sentence, tags in zip(reports, found.tags, strict=True):
        assert [tag is not None for tag in tags] == [word in SENSES for word in sentence.tokens]
    assert found.tag_names == tuple(DOMAINS)


def test_neutral_words_keep_the_part_of_speech_and_tell_no_sense() -> None:
    cues = {word for cues in DOMAINS.values() for words in cues for word in words}
    for sentence in CORPUS.two_cues:
        neutral = sense_tagging.neutral_words(sentence)
        assert len(neutral) == len(sentence.tokens)
        assert not set(neutral) & (cues | set(SENSES) | set(NOUN_OR_VERB))


def test_training_learns_the_task_and_leaves_tagger_and_layers_alone(model: BiLM) -> None:
    data = features(model)
    before = {name: part.layers.copy() for name, part in data.items()}
    assert model.vocabulary is not None
    tagger = sense_tagging.new_tagger(data["training"], model.vocabulary)
    started = tagger.copy()
    found = sense_tagging.train(tagger, data, epochs=10)
    assert found.history[-1].updates == 10 * 2, "56 sentences are two batches"
    assert found.best.development.labelled == 28
    assert found.best.development.accuracy > 0.8
    assert evaluate(started, data["development"]).accuracy < 0.4
    assert set(found.mixtures) == {"input", "output"}
    for name, part in data.items():
        assert np.array_equal(part.layers, before[name])
    for name, value in started.parameters.items():
        assert np.array_equal(tagger.parameters[name], value), name


def test_training_both_changes_a_copy_of_the_model(model: BiLM) -> None:
    few = {name: part.rows(range(6)) for name, part in TEXTS.items()}
    assert model.vocabulary is not None
    data = few["training"].embedded(model.embed, model.vocabulary)
    tagger = sense_tagging.new_tagger(data, model.vocabulary)
    before = {name: value.copy() for name, value in model.parameters.items()}
    tuned = sense_tagging.train_both(tagger, model, few, epochs=2)
    assert tuned.fit.best.updates > 0
    changed = {n for n, value in before.items() if (tuned.model.parameters[n] != value).any()}
    assert changed == {name for name in before if not name.startswith("softmax/")}
    for name, value in before.items():
        assert np.array_equal(model.parameters[name], value), name


def test_a_linear_reader_reads_its_token_alone() -> None:
    rng = np.random.default_rng(0)
    tags = rng.integers(0, 2, 30)
    layers = rng.normal(size=(30, 3, 4))
    layers[:, 2, 0] = 4 * tags - 2
    data = sense_tagging.single_tokens(layers, tags.tolist())
    assert data.tags.tolist() == tags[:, None].tolist()
    assert data.mask.shape == (30, 1)
    reader = sense_tagging.linear_reader(data, 2, epochs=300)
    assert reader.options.recurrent_layers == 0
    assert evaluate(reader, data).accuracy > 0.9


def test_padding_words_follow_the_sentence_unlabelled() -> None:
    data = TaggedText([["the", "bank"], ["bank"]], [[None, "money"], ["water"]], ("water", "money"))
    padded = sense_tagging.padded_by_words(data, 1)
    assert padded.sentences == [["the", "bank", "<PAD>"], ["bank", "<PAD>"]]
    assert padded.tag_ids().tolist() == [[UNLABELLED, 1, UNLABELLED], [0, UNLABELLED, UNLABELLED]]
    assert sense_tagging.padded_by_words(data, 0).sentences == [["the", "bank"], ["bank"]]


def test_a_probe_tells_nothing_from_the_token_layer_and_much_from_a_trained_one(
    model: BiLM,
) -> None:
    """The token layer is the same in every sentence; each sense is asked equally often."""
    for classify in (linear, nearest_mean):
        scores = sense_tagging.probe_scores(classify, model, CORPUS, each=2)
        for shares in scores.values():
            assert shares[0] == 0.5
            assert shares[1] > 0.8


def test_a_probe_is_asked_about_the_noun_of_the_test_it_is_named_for(model: BiLM) -> None:
    """A reader that answers by what it was shown: the vectors of each test's own nouns."""
    shown: list[int] = []

    def count(known: Array, labels: Sequence[str], asked: Array) -> list[str]:
        shown.append(len(asked))
        return [sorted(set(labels))[0]] * len(asked)

    scores = sense_tagging.probe_scores(count, model, CORPUS, each=2)
    assert scores == {"new cues": [0.5] * 3, "two cues": [0.5] * 3}
    assert sum(shown) == 3 * (len(CORPUS.new_cues) + len(CORPUS.two_cues))
