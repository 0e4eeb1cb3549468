"""The four tasks as one kind of object, over three corpora of text.

Texts for the extractors and labelled sentences stand side by side, so that an extractor is trained
once for all the tasks of its corpus. Everything is small on purpose: five seeds of everything are
to fit into minutes.

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from elmo_toy import toy_language
from elmo_toy.experiments import files
from elmo_toy.experiments.counts import ambiguous_words
from elmo_toy.experiments.files import Example, Tokens
from elmo_toy.task.data import TaggedText
from elmo_toy.text import Vocabulary
from elmo_toy.toy_language import NOUN_OR_VERB, SENSES, Sentence

LONGEST = 40
"""Labelled sentences of EWT with more tokens are left out: padding would cost more than they."""


@dataclass(frozen=True)
class ToySizes:
    """Sentences of the controlled corpus; ``labelled``, ``development``, ``test`` by sense."""

    text: int = 20_000
    labelled: int = 100
    development: int = 10
    test: int = 50
    seed: int = 0


@dataclass(frozen=True)
class TaskData:
    """Labelled sentences of one task.

    Attributes
    ----------
    name : str
    metric : str
        ``"accuracy"``, or ``"f1"`` of whole slots.
    pool : TaggedText
        What labelled sentences are drawn from.
    development : TaggedText
    tests : dict of TaggedText
        The first is the task's own.
    groups : int
        Sentence number n of the pool belongs to group ``n % groups``; as many are drawn of each.
    choices : mapping
        Tags that a word can have, if they are known: the senses of an ambiguous noun.
    ambiguous : frozenset of str
        Words that are scored apart as well.
    """

    name: str
    metric: str
    pool: TaggedText
    development: TaggedText
    tests: dict[str, TaggedText]
    groups: int = 1
    choices: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    ambiguous: frozenset[str] = frozenset()

    @property
    def n_tags(self) -> int:
        """How many tags there are."""
        return len(self.pool.tag_names)

    def draw(self, share: float, rng: np.random.Generator) -> TaggedText:
        """A share of the pool, as many sentences of each group, at least one.

        >>> text = TaggedText([["a"]] * 40, [["x"]] * 40, ("x",))
        >>> task = TaskData("t", "accuracy", text, text, {"test": text}, groups=4)
        >>> len(task.draw(0.1, np.random.default_rng(0)).sentences)
        4
        """
        each, groups = len(self.pool.sentences) // self.groups, range(self.groups)
        number = max(1, round(share * each))
        turns = [rng.permutation(each)[:number] for _ in groups]
        rows = [turn * self.groups + group for group in groups for turn in turns[group].tolist()]
        return self.pool.rows(sorted(rows))


@dataclass(frozen=True)
class Corpus:
    """Text without labels for the extractors, and the tasks on it.

    ``parsed`` holds the same text with its senses, which only the toy language has: what CoVe is
    trained on. ``facts`` go into the records.
    """

    name: str
    text: tuple[Tokens, ...]
    development: tuple[Tokens, ...]
    vocabulary: Vocabulary
    tasks: dict[str, TaskData]
    facts: dict[str, Any]
    parsed: tuple[Sentence, ...] = ()


# The controlled corpus


def toy(sizes: ToySizes = ToySizes()) -> Corpus:
    """Tasks (a) and (b): senses, and words that are nouns in one place and verbs in another.

    Both are asked in the same sentences, those with one ambiguous noun.

    >>> corpus = toy(ToySizes(text=20, labelled=2, development=1, test=1))
    >>> senses = corpus.tasks["senses"]
    >>> senses.n_tags, senses.choices["bank"], list(senses.tests)
    (28, (0, 1), ['test', 'new_cues', 'two_cues'])

    Book: chapter 6, "Our own table".
    """
    corpus = toy_language.make_corpus(
        sizes.seed,
        train=sizes.text,
        development=max(1, sizes.text // 50),
        labelled=sizes.labelled + sizes.development,
        test=sizes.test,
    )
    by_sense = len(corpus.test) // sizes.test
    parts = {
        "pool": corpus.labelled[: sizes.labelled * by_sense],
        "development": corpus.labelled[sizes.labelled * by_sense :],
        "test": corpus.test,
        "new_cues": corpus.new_cues,
        "two_cues": corpus.two_cues,
    }
    names = tuple(f"{noun}/{sense}" for noun, senses in SENSES.items() for sense in senses)
    return Corpus(
        "toy",
        tuple(sentence.tokens for sentence in corpus.train),
        tuple(sentence.tokens for sentence in corpus.development),
        toy_language.vocabulary(),
        {
            "senses": _task(
                "senses",
                {part: _tagged(found, _senses, names) for part, found in parts.items()},
                groups=by_sense,
                choices={
                    noun: (names.index(f"{noun}/{first}"), names.index(f"{noun}/{second}"))
                    for noun, (first, second) in SENSES.items()
                },
            ),
            "noun_verb": _task(
                "noun_verb",
                {
                    part: _tagged(parts[part], _nouns_and_verbs, ("NOUN", "VERB"))
                    for part in ("pool", "development", "test")
                },
                groups=by_sense,
            ),
        },
        {"name": "toy", **vars(sizes)},
        corpus.train,
    )


def _senses(sentence: Sentence) -> list[str | None]:
    return [
        None if sense is None else f"{token}/{sense}"
        for token, sense in zip(sentence.tokens, sentence.senses, strict=True)
    ]


def _nouns_and_verbs(sentence: Sentence) -> list[str | None]:
    return [
        tag if token in NOUN_OR_VERB else None
        for token, tag in zip(sentence.tokens, sentence.tags, strict=True)
    ]


def _tagged(sentences: Sequence[Sentence], tags: Any, names: tuple[str, ...]) -> TaggedText:
    return TaggedText(
        [sentence.tokens for sentence in sentences], [tags(one) for one in sentences], names
    )


def _task(name: str, parts: dict[str, TaggedText], **more: Any) -> TaskData:
    tests = {part: found for part, found in parts.items() if part not in ("pool", "development")}
    return TaskData(name, "accuracy", parts["pool"], parts["development"], tests, **more)


# The recorded data sets


@dataclass(frozen=True)
class RecordedSizes:
    """Labelled sentences, and words that the extractors know (boundaries, ``<UNK>`` included)."""

    pool: int = 3000
    development: int = 300
    test: int = 700
    vocabulary: int = 3000
    seed: int = 0


def ewt(folder: Path, sizes: RecordedSizes = RecordedSizes()) -> Corpus:
    """Task (c): universal parts of speech. The extractors read the training sentences' words.

    Book: chapter 6, "Our own table".
    """
    rng = np.random.default_rng(sizes.seed)
    train, development, test = (
        _shuffled(files.ewt(folder, part), rng) for part in ("train", "dev", "test")
    )
    short = [example for example in train if len(example[0]) <= LONGEST]
    return _recorded(
        "ewt",
        sizes,
        text=train,
        held_out=development[sizes.development :],
        pool=short,
        development=[e for e in development[: sizes.development] if len(e[0]) <= LONGEST],
        test=[example for example in test if len(example[0]) <= LONGEST],
        sha256={source.file: source.sha256 for source in files.EWT.values()},
    )


def snips(folder: Path, sizes: RecordedSizes = RecordedSizes()) -> Corpus:
    """Task (d): slots. The extractors read the training utterances that aren't development data.

    Book: chapter 6, "Our own table".
    """
    rng = np.random.default_rng(sizes.seed)
    train = _shuffled(files.snips(folder, "train"), rng)
    test = _shuffled(files.snips(folder, "validate"), rng)
    development, rest = train[: sizes.development], train[sizes.development :]
    return _recorded(
        "snips",
        sizes,
        text=rest,
        held_out=development,
        pool=rest,
        development=development,
        test=test,
        sha256={source.file: source.sha256 for source in files.SNIPS.values()},
    )


def load(name: str, folder: Path | None) -> Corpus:
    """Read one of the three corpora; the toy language needs no folder.

    Raises
    ------
    ValueError
        For another name, or without the folder where one is needed.
    """
    if name == "toy":
        return toy()
    readers = {"ewt": partial(ewt), "snips": partial(snips)}
    if name not in readers:
        raise ValueError(f"name: expected 'toy', 'ewt' or 'snips', got {name!r}")
    if folder is None:
        raise ValueError(f"folder: expected the folder that holds {name}/, got None")
    return readers[name](folder)


def _shuffled(examples: list[Example], rng: np.random.Generator) -> list[Example]:
    return [examples[row] for row in rng.permutation(len(examples)).tolist()]


def _recorded(
    name: str,
    sizes: RecordedSizes,
    *,
    text: list[Example],
    held_out: list[Example],
    pool: list[Example],
    development: list[Example],
    test: list[Example],
    sha256: dict[str, str],
) -> Corpus:
    words = [tokens for tokens, _ in text]
    everywhere = [*text, *held_out, *development, *test]
    names = tuple(sorted({tag for _, tags in everywhere for tag in tags}))

    def tagged(examples: list[Example]) -> TaggedText:
        return TaggedText([tokens for tokens, _ in examples], [tags for _, tags in examples], names)

    task = TaskData(
        name,
        {"ewt": "accuracy", "snips": "f1"}[name],
        tagged(pool[: sizes.pool]),
        tagged(development),
        {"test": tagged(test[: sizes.test])},
        ambiguous=ambiguous_words(text) if name == "ewt" else frozenset(),
    )
    return Corpus(
        name,
        tuple(words),
        tuple(tokens for tokens, _ in held_out[:300]),
        Vocabulary.from_sentences(words, sizes.vocabulary),
        {name: task},
        {"name": name, **vars(sizes), "sha256": sha256},
    )
