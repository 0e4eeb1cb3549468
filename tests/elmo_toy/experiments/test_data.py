"""The four tasks: what is labelled, what is drawn, and files that are refused by name."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elmo_toy.experiments import counts, data, files
from elmo_toy.experiments.data import Corpus, RecordedSizes
from elmo_toy.experiments.files import DataError
from elmo_toy.task.data import TaggedText
from elmo_toy.toy_language import NOUN_OR_VERB, SENSES

EWT = [[("The", "DET"), ("set", "NOUN"), ("2019", "NUM")], [("Set", "VERB"), ("it", "PRON")]]
SNIPS = [
    {"intent": "PlayMusic", "tok": ["play", "abba", "9"], "lab": ["O", "B-artist", "O"]},
    {"intent": "PlayMusic", "tok": [], "lab": []},
    {"intent": "GetWeather", "tok": ["rain", "today"], "lab": ["O", "B-timeRange"]},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Made-up files under the names of the real ones, whose SHA-256 is then expected."""

    def write(sources: dict[str, files.Source], part: str, content: str) -> None:
        path = tmp_path / sources[part].file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(content.encode()))
        sha256 = hashlib.sha256(content.encode()).hexdigest()
        monkeypatch.setitem(sources, part, replace(sources[part], sha256=sha256))

    for part in files.EWT:
        sentences = ["\n".join(f"{form}\t{tag}\tX" for form, tag in rows) for rows in EWT]
        write(files.EWT, part, "\n\n".join(sentences * 12) + "\n\n")
    for part in files.SNIPS:
        write(files.SNIPS, part, "".join(json.dumps(row) + "\n" for row in SNIPS * 12))
    return tmp_path


def test_ewt_is_lower_case_with_digits_as_0(folder: Path) -> None:
    first, second = files.ewt(folder, "train")[:2]
    assert first == (("the", "set", "0000"), ("DET", "NOUN", "NUM"))
    assert second == (("set", "it"), ("VERB", "PRON"))


def test_snips_leaves_an_empty_utterance_out(folder: Path) -> None:
    found = files.snips(folder, "validate")
    assert len(found) == 24
    assert found[0] == (("play", "abba", "0"), ("O", "B-artist", "O"))


def test_the_two_corpora_keep_development_and_test_out_of_the_text(folder: Path) -> None:
    sizes = RecordedSizes(pool=5, development=4, test=3, vocabulary=6)
    ewt, snips = data.ewt(folder, sizes), data.snips(folder, sizes)
    assert (len(ewt.text), len(ewt.development)) == (24, 20)
    assert (len(snips.text), len(snips.development)) == (20, 4)
    for corpus, metric in ((ewt, "accuracy"), (snips, "f1")):
        task = corpus.tasks[corpus.name]
        assert task.metric == metric
        assert [len(t.sentences) for t in (task.pool, task.development)] == [5, 4]
        assert len(task.tests["test"].sentences) == 3
        assert len(corpus.vocabulary) == 6
        assert set(corpus.facts["sha256"]) == {
            s.file for s in files.__dict__[corpus.name.upper()].values()
        }
    assert ewt.tasks["ewt"].ambiguous == {"set"}


@pytest.mark.parametrize("damage", ["missing", "another text"])
def test_a_file_that_is_not_the_one_measured_is_named(folder: Path, damage: str) -> None:
    path = folder / "snips" / "snips_train.jsonl.gz"
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(gzip.compress(b"{}\n"))
    with pytest.raises(DataError) as caught:
        data.load("snips", folder)
    for part in (str(path), damage, "sonos/nlu-benchmark", files.SNIPS["train"].sha256):
        assert part in str(caught.value)


def test_load_needs_a_known_name_and_a_folder() -> None:
    with pytest.raises(ValueError, match="name: expected 'toy', 'ewt' or 'snips', got 'x'"):
        data.load("x", None)
    with pytest.raises(ValueError, match="folder: expected the folder that holds ewt/, got None"):
        data.load("ewt", None)


def test_senses_and_nouns_or_verbs_are_asked_in_the_same_sentences(tiny_corpus: Corpus) -> None:
    senses, noun_verb = tiny_corpus.tasks["senses"], tiny_corpus.tasks["noun_verb"]
    assert senses.pool.sentences == noun_verb.pool.sentences
    for sentence, tags in zip(senses.pool.sentences, senses.pool.tags, strict=True):
        (labelled,) = (place for place, tag in enumerate(tags) if tag is not None)
        noun, _, sense = str(tags[labelled]).partition("/")
        assert sentence[labelled] == noun
        assert sense in SENSES[noun]
    for sentence, tags in zip(noun_verb.pool.sentences, noun_verb.pool.tags, strict=True):
        assert all((tag in ("NOUN", "VERB")) == (w in NOUN_OR_VERB)
                   for w, tag in zip(sentence, tags, strict=True))  # fmt: skip
    for noun, choices in senses.choices.items():
        assert [senses.pool.tag_names[tag].partition("/")[0] for tag in choices] == [noun, noun]


def test_no_labelled_sentence_is_in_another_part(tiny_corpus: Corpus) -> None:
    senses = tiny_corpus.tasks["senses"]
    parts = [senses.pool, senses.development, *senses.tests.values()]
    everything = [tuple(s) for part in parts for s in part.sentences] + list(tiny_corpus.text)
    assert len(set(everything)) == len(everything)
    assert tuple(s.tokens for s in tiny_corpus.parsed) == tiny_corpus.text


def test_a_draw_takes_as_many_of_each_sense() -> None:
    corpus = data.toy(data.ToySizes(text=5, labelled=10, development=1, test=1))
    task = corpus.tasks["senses"]
    first, same, other = (task.draw(0.3, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert first == same
    assert first.sentences != other.sentences
    for drawn in (first, other, task.draw(0.001, np.random.default_rng(0))):
        senses = [tag for tags in drawn.tags for tag in tags if tag is not None]
        assert len(set(senses)) == 28
        assert {senses.count(sense) for sense in senses} == {len(senses) // 28}
    assert task.draw(1.0, np.random.default_rng(0)).sentences == task.pool.sentences


def test_a_draw_is_a_part_of_the_pool() -> None:
    text = TaggedText([[str(n)] for n in range(50)], [["x"]] * 50, ("x",))
    task = data.TaskData("t", "accuracy", text, text, {"test": text})
    drawn = [sentence[0] for sentence in task.draw(0.2, np.random.default_rng(0)).sentences]
    assert len(set(drawn)) == 10
    assert set(drawn) <= {str(n) for n in range(50)}
    assert drawn != [str(n) for n in range(10)]


def test_a_bag_of_words_does_not_know_the_order() -> None:
    sentence = ["the", "bank", "of", "the", "river"]
    known = ["the", "bank", "river"]
    found = counts.bag_of_words([sentence, sentence[::-1]], known)
    np.testing.assert_array_equal(found[0, 0], found[1, 0, ::-1])
    assert found[0, 0, 1].tolist() == [0, 1, 0, 2, 0, 1]  # bank, among two "the" and a river
    assert found[0, 0, 2].tolist() == [0, 0, 0, 2, 1, 1]  # of: not known itself
