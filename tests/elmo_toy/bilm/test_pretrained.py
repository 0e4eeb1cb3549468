"""The shipped models: quick to load, as good as their records say, and small."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest
import train_toy_language

from elmo_toy.bilm import load_pretrained, senses
from elmo_toy.bilm.checkpoint import PRETRAINED
from elmo_toy.bilm.model import BiLM
from elmo_toy.bilm.training import Corpus, evaluate
from elmo_toy.toy_language import ToyCorpus, make_corpus

NAMES = sorted(path.parent.name for path in PRETRAINED.glob("*/options.json"))
TESTS = ("test", "new_cues", "two_cues")


def record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PRETRAINED / name / "record.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def corpus() -> ToyCorpus:
    return make_corpus(record("toy-language")["corpus"]["seed"], train=1)


@pytest.fixture(scope="module")
def model() -> BiLM:
    return load_pretrained("toy-language")


def test_the_shipped_models() -> None:
    assert "toy-language" in NAMES


def test_an_unknown_name_is_refused_with_those_that_exist() -> None:
    for name in ("elmo", "", "../pretrained/toy-language"):
        with pytest.raises(ValueError, match=r"name: expected one of .*toy-language.* got '"):
            load_pretrained(name)


@pytest.mark.parametrize("name", NAMES)
def test_loading_and_embedding_are_quick(name: str) -> None:
    """Under 0.3 s and 20 ms; the best of several, so that a busy machine does not decide."""

    def best(times: int, action: Any) -> float:
        seconds = []
        for _ in range(times):
            start = perf_counter()
            action()
            seconds.append(perf_counter() - start)
        return min(seconds)

    sentence = ["the", "old", "man", "sees", "the", "small", "house", "near", "the", "river"]
    loaded = load_pretrained(name)
    assert best(3, lambda: load_pretrained(name)) < 0.3
    assert best(7, lambda: loaded.embed([sentence])) < 0.02


@pytest.mark.parametrize("name", NAMES)
def test_a_model_takes_at_most_3_mb_and_has_a_card(name: str) -> None:
    files = list((PRETRAINED / name).iterdir())
    assert sum(path.stat().st_size for path in files) <= 3_000_000
    card = (PRETRAINED / name / "README.md").read_text("utf-8")
    for word in ("Data", "Size", "seed", "tokens", "Perplexity", "What it cannot do", "Retrain"):
        assert word in card, word


@pytest.mark.parametrize("name", NAMES)
def test_a_card_says_what_the_record_says(name: str) -> None:
    tool = importlib.import_module(f"train_{name.replace('-', '_')}")
    assert (PRETRAINED / name / "README.md").read_text("utf-8") == tool.card(record(name))


def test_the_recorded_scores_are_those_of_the_shipped_weights(
    model: BiLM, corpus: ToyCorpus
) -> None:
    scores = train_toy_language.sense_scores(model, corpus)
    for number, expected in record("toy-language")["seeds"][0]["scores"].items():
        for test in TESTS:
            # two sentences of 1,400: another BLAS may decide a near tie the other way
            np.testing.assert_allclose(
                scores[number][test], expected[test], rtol=0, atol=2.1 / len(corpus.test)
            )


def test_the_recorded_perplexities_are_those_of_the_shipped_weights(
    model: BiLM, corpus: ToyCorpus
) -> None:
    loss = evaluate(model, Corpus(model, [sentence.tokens for sentence in corpus.development]))
    expected = record("toy-language")["seeds"][0]["perplexity"]
    assert loss.perplexities == pytest.approx((expected["forward"], expected["backward"]), rel=1e-3)


@pytest.mark.skipif("english-small" not in NAMES, reason="english-small is not shipped")
def test_the_english_record_is_that_of_the_shipped_weights() -> None:
    """By sentences that stand in the record; the texts that it was trained on are not ours."""
    english = load_pretrained("english-small")
    found = record("english-small")
    own = Corpus(english, [sentence.split() for sentence in found["own_sentences"]])
    loss, expected = evaluate(english, own), found["own_perplexity"]
    assert loss.perplexities == pytest.approx((expected["forward"], expected["backward"]), rel=1e-3)
    assert sum(value.size for value in english.parameters.values()) == found["parameters"]


def test_the_recorded_baseline_is_the_corpuss(corpus: ToyCorpus) -> None:
    expected = record("toy-language")["bag_of_words"]["all"]
    for test in TESTS:
        score = senses.naive_bayes_score(corpus.labelled, getattr(corpus, test))
        assert score == pytest.approx(expected[test], abs=5e-5)


def test_the_top_layer_tells_the_senses_in_every_seed() -> None:
    """At least 0.95, with five seeds; the token layer at chance."""
    seeds = record("toy-language")["seeds"]
    assert [seed["seed"] for seed in seeds] == [0, 1, 2, 3, 4]
    for seed in seeds:
        for test in TESTS:
            scores = seed["scores"]["all"][test]
            assert scores[0] == 0.5
            assert scores[-1] >= 0.95, (seed["seed"], test)
        # with cues that no labelled example holds, an untrained network is at chance, too
        assert max(abs(score - 0.5) for score in seed["untrained_scores"]["all"]["new_cues"]) < 0.06


def test_the_recorded_untrained_scores_are_those_of_the_seeds_first_draw(
    corpus: ToyCorpus,
) -> None:
    start, _ = train_toy_language.untrained(1)
    scores = train_toy_language.sense_scores(start, corpus)
    for number, expected in record("toy-language")["seeds"][1]["untrained_scores"].items():
        for test in TESTS:
            np.testing.assert_allclose(
                scores[number][test], expected[test], rtol=0, atol=2.1 / len(corpus.test)
            )


def test_the_command_of_the_card_makes_a_folder_of_the_same_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a small corpus and few tokens."""
    small = make_corpus(train=300, development=20, labelled=10, test=2)
    monkeypatch.setattr(train_toy_language, "make_corpus", lambda _: small)
    output = tmp_path / "toy-language"
    arguments = ["--seeds", "0", "1", "--tokens", "2000", "--output", str(output)]
    monkeypatch.setattr(sys, "argv", ["train_toy_language.py", *arguments])
    train_toy_language.main()
    shipped = {path.name for path in (PRETRAINED / "toy-language").iterdir()}
    assert {path.name for path in output.iterdir()} == shipped
    again = json.loads((output / "record.json").read_text("utf-8"))
    assert again.keys() == record("toy-language").keys()
    assert again["seeds"][0].keys() == record("toy-language")["seeds"][0].keys()
    with pytest.raises(SystemExit):  # the folder exists now
        train_toy_language.main()
