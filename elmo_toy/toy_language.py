"""A controlled corpus: a small grammar whose ambiguous nouns have known senses.

A sentence is one clause or two, joined by a conjunction. A clause is ::

    DET (ADJ) NOUN [ADP DET (ADJ) NOUN] (ADV) VERB DET (ADJ) NOUN [ADP DET (ADJ) NOUN]

and may belong to one of seven *domains*. Fourteen nouns (*bank* among them) belong to two domains
each: those are their senses. Which one is meant is told by *cue words* of the domain, elsewhere
**in the same clause**, 1 to 8 tokens to the left, to the right or on both sides. Everything else
(clause shapes, positions, neutral words, lengths) is drawn before and without regard to the sense,
so that nothing but the cue tells it. Ten words are nouns in one place and verbs in another.

Domains of the two clauses of a sentence are drawn independently. So the clause boundary says which
cue counts, and a bag of words cannot know; it solves the plain test by construction.

The text for the language model uses every cue. The labelled examples use two thirds of them; the
rest is kept for the test ``new_cues``.

*Reports* are a second kind of text, to adapt a language model to: the same words, senses and cues,
other clauses and other frequencies.

Book: chapter 1, "A language whose senses are known".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from elmo_toy.text import Vocabulary, checked_count

Item = TypeVar("Item")

MAX_DISTANCE = 8
SIDES = ("left", "right", "both")


Choice = Literal["all", "known", "new"]


class Cues(NamedTuple):
    """Cue words of one domain, by tag. The last third is *new*: no labelled example holds it."""

    NOUN: tuple[str, ...]
    ADJ: tuple[str, ...]
    VERB: tuple[str, ...]

    def choose(self, tag: str, choice: Choice) -> tuple[str, ...]:
        """Cues of one tag: all, those that labelled examples may hold, or the others."""
        words: tuple[str, ...] = getattr(self, tag)
        known = {"NOUN": 4, "ADJ": 1, "VERB": 1}[tag]
        return {"all": words, "known": words[:known], "new": words[known:]}[choice]


def _words(line: str) -> tuple[str, ...]:
    return tuple(line.split())


def _cues(nouns: str, adjectives: str, verbs: str) -> Cues:
    return Cues(_words(nouns), _words(adjectives), _words(verbs))


DOMAINS: dict[str, Cues] = {
    "water": _cues("river boat shore fisherman tide harbour", "muddy salty", "floods sails"),
    "money": _cues("loan broker coin cheque vault debt", "wealthy thrifty", "lends borrows"),
    "music": _cues("violin singer concert choir drum melody", "tuneful choral", "sings conducts"),
    "sport": _cues(
        "player stadium referee racket coach trophy", "athletic unbeaten", "kicks tackles"
    ),
    "forest": _cues("oak fox owl hunter deer squirrel", "leafy wild", "grazes nests"),
    "body": _cues("doctor nurse lung patient surgeon fever", "sore injured", "heals bandages"),
    "machine": _cues(
        "engine cable robot mechanic motor circuit", "electric rusty", "welds repairs"
    ),
}

SENSES: dict[str, tuple[str, str]] = {
    "bank": ("water", "money"),
    "bass": ("water", "music"),
    "spring": ("water", "machine"),
    "current": ("water", "machine"),
    "note": ("money", "music"),
    "return": ("money", "sport"),
    "chest": ("money", "body"),
    "pitch": ("music", "sport"),
    "organ": ("music", "body"),
    "bat": ("sport", "forest"),
    "stroke": ("sport", "body"),
    "palm": ("forest", "body"),
    "mouse": ("forest", "machine"),
    "crane": ("forest", "machine"),
}
"""The ambiguous nouns and the domains of their two senses; each domain has four of them."""

NOUN_OR_VERB = _words("visits plans reports answers marks guides orders watches walks calls")
"""Neutral words that are nouns in one place and verbs in another."""

NEUTRAL: dict[str, tuple[str, ...]] = {
    "DET": _words("the this that every some each one another"),
    "ADJ": _words(
        "old small big new quiet strange famous lonely young grey heavy bright local simple pretty"
        " broken empty clean"
    ),
    "NOUN": NOUN_OR_VERB
    + _words(
        "man woman child friend neighbour stranger visitor teacher family girl boy picture story"
        " letter window table house street corner box chair door lamp paper town village cousin"
        " guest baker driver bottle basket blanket mirror"
    ),
    "VERB": NOUN_OR_VERB
    + _words(
        "sees finds likes remembers needs describes leaves shows hides brings takes keeps wants"
        " knows meets follows forgets carries"
    ),
    "ADV": _words("slowly often never quickly gladly always rarely today again suddenly"),
    "ADP": _words("near behind with for beside under without from"),
    "CCONJ": _words("and but while because although so"),
    "PUNCT": (".",),
}


def words() -> list[str]:
    """Every word of the language once, sorted.

    >>> len(words()), "bank" in words()
    (197, True)
    """
    found = set(SENSES)
    for cues in DOMAINS.values():
        found.update(*cues)
    found.update(*NEUTRAL.values())
    return sorted(found)


def vocabulary() -> Vocabulary:
    """The words, with the boundary symbols and ``<UNK>`` in front."""
    return Vocabulary(["<S>", "</S>", "<UNK>", *words()])


@dataclass(frozen=True)
class Sentence:
    """One sentence with what the grammar knows about it.

    Attributes
    ----------
    tokens : tuple of str
    tags : tuple of str
        Part of speech of each token.
    senses : tuple of str or None
        Domain of each ambiguous noun, None for every other token.
    cues : tuple of int
        Positions of the cue words that tell the ambiguous noun's sense.
    """

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    senses: tuple[str | None, ...]
    cues: tuple[int, ...]

    @property
    def target(self) -> int:
        """Position of the ambiguous noun; labelled sentences have exactly one."""
        positions = [place for place, sense in enumerate(self.senses) if sense is not None]
        if len(positions) != 1:
            raise ValueError(
                f"sentence: expected one ambiguous noun, got {len(positions)} in "
                f"{' '.join(self.tokens)!r}"
            )
        return positions[0]

    @property
    def noun(self) -> str:
        """The ambiguous noun."""
        return self.tokens[self.target]

    @property
    def sense(self) -> str:
        """Domain of the ambiguous noun."""
        return next(sense for sense in self.senses if sense is not None)


@dataclass(frozen=True)
class ToyCorpus:
    """Splits that share no sentence.

    ``train`` and ``development`` are text for the language model: any number of ambiguous nouns a
    sentence, every cue. The others hold one ambiguous noun a sentence, each noun and sense equally
    often: ``labelled`` to learn senses from, ``test`` made in the same way, ``new_cues`` with cue
    words that ``labelled`` never contains, ``two_cues`` with one cue in the noun's clause and one
    of the noun's other sense in the other clause.
    """

    train: tuple[Sentence, ...]
    development: tuple[Sentence, ...]
    labelled: tuple[Sentence, ...]
    test: tuple[Sentence, ...]
    new_cues: tuple[Sentence, ...]
    two_cues: tuple[Sentence, ...]

    def few(self, each: int) -> tuple[Sentence, ...]:
        """The first labelled sentences, so many of each noun and sense."""
        return self.labelled[: each * sum(len(senses) for senses in SENSES.values())]


def make_corpus(
    seed: int = 0,
    *,
    train: int = 40_000,
    development: int = 1_000,
    labelled: int = 100,
    test: int = 50,
) -> ToyCorpus:
    """Draw a corpus; the same one for the same arguments.

    Parameters
    ----------
    seed : int
    train, development : number of sentences
    labelled, test : sentences for each noun and sense; ``test`` holds for all three tests

    Examples
    --------
    >>> corpus = make_corpus(train=10, development=2, labelled=1, test=1)
    >>> len(corpus.train), len(corpus.labelled), len(corpus.two_cues)
    (10, 28, 28)
    >>> " ".join(corpus.labelled[0].tokens), corpus.labelled[0].sense
    ('each cousin without every clean river hides this bank for the old friend .', 'water')

    Book: chapter 1, "A language whose senses are known".
    """
    numbers = {"train": train, "development": development, "labelled": labelled, "test": test}
    for name, number in numbers.items():
        checked_count(number, name, least=0)
    draw = _Draw(np.random.default_rng(seed))
    unique = partial(_unique, seen=set[tuple[str, ...]]())

    def examples(number: int, choice: Choice, *, contrast: bool = False) -> tuple[Sentence, ...]:
        sides = SIDES[:2] if contrast else SIDES  # one cue of each sense
        return tuple(
            unique(
                partial(
                    draw.example, noun, sense, sides[turn % len(sides)], choice, contrast=contrast
                )
            )
            for turn in range(number)
            for noun, senses in SENSES.items()
            for sense in senses
        )

    # The tests first, so that they are the same whatever the size of the rest.
    return ToyCorpus(
        test=examples(test, "known"),
        new_cues=examples(test, "new"),
        two_cues=examples(test, "known", contrast=True),
        labelled=examples(labelled, "known"),
        development=tuple(unique(draw.text) for _ in range(development)),
        train=tuple(unique(draw.text) for _ in range(train)),
    )


@dataclass(frozen=True)
class Reports:
    """Unlabelled text of a second kind; splits that share no sentence, nor any with `ToyCorpus`."""

    train: tuple[Sentence, ...]
    development: tuple[Sentence, ...]
    test: tuple[Sentence, ...]


def make_reports(
    seed: int = 0, *, train: int = 4_000, development: int = 500, test: int = 500
) -> Reports:
    """Draw reports, which say when or where first; the same ones for the same arguments.

    A sentence is one clause or two, as in `make_corpus`. A clause is ::

        ADV or [ADP DET (ADJ) NOUN], then DET (ADJ) NOUN VERB DET (ADJ) NOUN

    so every report begins as no sentence of `make_corpus` does: with an adverb or a preposition.
    Three times out of four a word comes from the few that prevail in reports: "because" and "so"
    among the conjunctions, the nouns that are verbs too among the verbs, and of a domain's cues
    those that `make_corpus` never shows in a labelled example. Every word is one of `words`; what
    an ambiguous noun means is again told by the cues of its clause.

    Parameters
    ----------
    seed : int
    train, development, test : number of sentences

    Examples
    --------
    >>> reports = make_reports(train=10, development=2, test=5)
    >>> len(reports.train), " ".join(reports.test[4].tokens)
    (10, 'without another bank the answers borrows every vault .')

    Book: chapter 5, "Frozen, fine-tuned, adapted".
    """
    for name, number in {"train": train, "development": development, "test": test}.items():
        checked_count(number, name, least=0)
    draw = _DrawReports(np.random.default_rng(seed))
    text = partial(_unique, draw.text, set[tuple[str, ...]]())
    # The test first, so that it is the same whatever the size of the rest.
    return Reports(
        test=tuple(text() for _ in range(test)),
        development=tuple(text() for _ in range(development)),
        train=tuple(text() for _ in range(train)),
    )


def _unique(make: Callable[[], Sentence], seen: set[tuple[str, ...]]) -> Sentence:
    """Draw until the sentence is a new one."""
    while True:
        sentence = make()
        if sentence.tokens not in seen:
            seen.add(sentence.tokens)
            return sentence


# Clause shapes


class _Shape(NamedTuple):
    """Tags of one clause, the place of its ambiguous noun, and the places of its cues."""

    tags: tuple[str, ...]
    target: int
    cues: tuple[int, ...]


@cache
def _clause_tags() -> tuple[tuple[str, ...], ...]:
    """The 72 clauses of the grammar."""
    phrases = (("DET", "NOUN"), ("DET", "ADJ", "NOUN"))
    additions = ((), *(("ADP", *phrase) for phrase in phrases))
    return tuple(
        (*subject, *of_subject, *adverb, "VERB", *other, *of_other)
        for subject, of_subject, adverb, other, of_other in product(
            phrases, additions, ((), ("ADV",)), phrases, additions
        )
    )


@cache
def _shapes() -> dict[tuple[int | None, int | None], tuple[_Shape, ...]]:
    """All ways to place a noun and its cues, by their distances to the left and to the right."""
    found: dict[tuple[int | None, int | None], list[_Shape]] = {}
    for tags in _clause_tags():
        nouns = [place for place, tag in enumerate(tags) if tag == "NOUN"]
        cues = [place for place, tag in enumerate(tags) if tag in Cues._fields]
        for target in nouns:
            left: list[int | None] = [c for c in cues if 0 < target - c <= MAX_DISTANCE]
            right: list[int | None] = [c for c in cues if 0 < c - target <= MAX_DISTANCE]
            for a, b in product([None, *left], [None, *right]):
                key = (None if a is None else target - a, None if b is None else b - target)
                places = tuple(place for place in (a, b) if place is not None)
                if places:
                    found.setdefault(key, []).append(_Shape(tags, target, places))
    return {key: tuple(shapes) for key, shapes in found.items()}


@cache
def _distances(side: str) -> tuple[tuple[int | None, int | None], ...]:
    """The pairs of distances that a side allows."""
    wanted = {"left": (True, False), "right": (False, True), "both": (True, True)}[side]
    return tuple(key for key in _shapes() if (key[0] is not None, key[1] is not None) == wanted)


@cache
def _report_tags() -> tuple[tuple[str, ...], ...]:
    """The 12 clauses of reports."""
    phrases = (("DET", "NOUN"), ("DET", "ADJ", "NOUN"))
    openings = (("ADV",), *(("ADP", *phrase) for phrase in phrases))
    return tuple(
        (*opening, *subject, "VERB", *other)
        for opening, subject, other in product(openings, phrases, phrases)
    )


class _Clause(NamedTuple):
    tokens: list[str]
    tags: tuple[str, ...]
    senses: list[str | None]
    cues: tuple[int, ...]


class _Draw:
    """Draws clauses and sentences from a random generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._uniform = rng.random

    def one(self, items: Sequence[Item]) -> Item:
        return items[int(self._uniform() * len(items))]

    def shape(self, side: str) -> _Shape:
        """First the distances, each as likely as the other, then a clause that has them."""
        return self.one(_shapes()[self.one(_distances(side))])

    def word(self, tag: str) -> str:
        return self.one(NEUTRAL[tag])

    def cue(self, domain: str, tag: str, choice: Choice) -> str:
        return self.one(DOMAINS[domain].choose(tag, choice))

    def neutral(self, tags: tuple[str, ...]) -> _Clause:
        return _Clause([self.word(tag) for tag in tags], tags, [None] * len(tags), ())

    def clause(self, shape: _Shape, noun: str | None, domain: str, choice: Choice) -> _Clause:
        """A neutral clause, then its cues and its ambiguous noun put in."""
        clause = self.neutral(shape.tags)
        for place in shape.cues:
            clause.tokens[place] = self.cue(domain, shape.tags[place], choice)
        if noun is not None:
            clause.tokens[shape.target] = noun
            clause.senses[shape.target] = domain
        return clause._replace(cues=shape.cues)

    def sentence(self, clauses: Sequence[_Clause]) -> Sentence:
        """Join clauses with a conjunction, in random order; a full stop ends them."""
        first, *rest = clauses if self._uniform() < 0.5 else clauses[::-1]
        tokens, tags, senses, cues = [*first.tokens], [*first.tags], [*first.senses], [*first.cues]
        for clause in rest:
            cues += [len(tokens) + 1 + place for place in clause.cues]
            tokens += [self.word("CCONJ"), *clause.tokens]
            tags += ["CCONJ", *clause.tags]
            senses += [None, *clause.senses]
        tokens += NEUTRAL["PUNCT"]
        return Sentence(tuple(tokens), (*tags, "PUNCT"), (*senses, None), tuple(cues))

    def example(
        self, noun: str, sense: str, side: str, choice: Choice, *, contrast: bool
    ) -> Sentence:
        """One labelled sentence; with ``contrast`` the other clause holds a cue that misleads."""
        clause = self.clause(self.shape(side), noun, sense, choice)
        if contrast:
            (other,) = set(SENSES[noun]) - {sense}
            misleading = self.clause(self.shape(side), None, other, choice)
            return self.sentence([clause, misleading._replace(cues=())])
        if self._uniform() < 0.4:
            return self.sentence([clause, self.neutral(self.one(_clause_tags()))])
        return self.sentence([clause])

    def text(self) -> Sentence:
        """One sentence for the language model."""
        clauses = [self.text_clause()]
        if self._uniform() < 0.5:
            clauses.append(self.text_clause())
        return self.sentence(clauses)

    def text_clause(self) -> _Clause:
        """Any domain or none, an ambiguous noun or none, one cue or several."""
        kind = self._uniform()
        if kind < 0.15:
            return self.neutral(self.one(_clause_tags()))
        noun = self.one(list(SENSES))
        domain = self.one(SENSES[noun])
        shape = self.shape(self.one(SIDES))
        more = tuple(
            place
            for place, tag in enumerate(shape.tags)
            if tag in Cues._fields and place != shape.target and self._uniform() < 0.5
        )
        shape = shape._replace(cues=tuple(sorted({*shape.cues, *more})))
        return self.clause(shape, noun if kind < 0.8 else None, domain, "all")


PREVAILING: dict[str, tuple[str, ...]] = {
    "VERB": NOUN_OR_VERB,
    "CCONJ": _words("because so"),
    "ADV": _words("today again suddenly"),
    "ADP": _words("near from"),
}
"""The neutral words that are the most frequent ones in reports."""


class _DrawReports(_Draw):
    """Draws reports: other clauses, and words of which some prevail."""

    def word(self, tag: str) -> str:
        prevails = tag in PREVAILING and self._uniform() < 0.75
        return self.one(PREVAILING[tag]) if prevails else super().word(tag)

    def cue(self, domain: str, tag: str, choice: Choice) -> str:
        """Of all cues, three times out of four one that no labelled example holds."""
        if choice == "all":
            choice = "new" if self._uniform() < 0.75 else "known"
        return super().cue(domain, tag, choice)

    def text_clause(self) -> _Clause:
        """As often neutral or with an ambiguous noun as in `_Draw.text_clause`."""
        kind, tags = self._uniform(), self.one(_report_tags())
        if kind < 0.15:
            return self.neutral(tags)
        noun = self.one(list(SENSES))
        domain = self.one(SENSES[noun])
        target = self.one([place for place, tag in enumerate(tags) if tag == "NOUN"])
        others = [p for p, tag in enumerate(tags) if tag in Cues._fields and p != target]
        told = self.one(others)
        cues = tuple(place for place in others if place == told or self._uniform() < 0.5)
        return self.clause(_Shape(tags, target, cues), noun if kind < 0.8 else None, domain, "all")
