"""Going through a plan: groups of settings that share an extractor, on any executor, resumable.

A *group* is one corpus, one kind of extractor and one seed. It is computed by one function of plain
arguments, `run_group`, so it runs in this process, in a pool of processes, or on a cluster::

    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(2) as executor:
        run(plan(), Store(folder), load, executor)       # load: see `data.load`

    from dask.distributed import Client                      # many machines
    with Client("tcp://scheduler:8786") as client:
        run(plan(), Store(folder), load, client.get_executor())

Only the process that calls `run` writes, a record as soon as its group hands it over; what is
recorded already isn't computed again.

Book: chapter 6, "Our own table".
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple, TextIO

import numpy as np

from elmo_toy import text
from elmo_toy._checks import Array
from elmo_toy.experiments import sources
from elmo_toy.experiments.conditions import CONDITIONS, VERSION, Condition, Setting
from elmo_toy.experiments.counts import bag_of_words
from elmo_toy.experiments.data import Corpus, TaskData
from elmo_toy.experiments.fits import FitSizes, Parts, fit_condition
from elmo_toy.experiments.sources import SourceSizes, Trained
from elmo_toy.experiments.store import OtherConfigurationError, Record, Store
from elmo_toy.task.data import Embed, Tagged, TaggedText
from elmo_toy.text import BoolArray, Vocabulary

COUNTED_WORDS = 400
"""A bag of words counts the commonest words of its labelled sentences, so many at most."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of a whole run: of the extractors by corpus, and of the fits."""

    sources: dict[str, SourceSizes] = field(
        default_factory=lambda: {
            "toy": SourceSizes(tokens=300_000),
            "ewt": SourceSizes(tokens=300_000),
            "snips": SourceSizes(tokens=200_000),
        }
    )
    fits: FitSizes = field(default_factory=FitSizes)


DEFAULT_SIZES = Sizes()


class Group(NamedTuple):
    """Settings of one corpus, extractor and seed."""

    corpus: str
    source: str
    seed: int
    settings: tuple[Setting, ...]

    @property
    def name(self) -> str:
        """For a progress line."""
        return f"{self.corpus} {self.source} seed {self.seed}: {len(self.settings)} settings"


def groups(settings: Sequence[Setting], at_most: int | None = None) -> list[Group]:
    """Sort settings into groups; groups and their settings keep the plan's order.

    ``at_most`` so many settings a group: progress is then kept more often, but the extractor is
    trained for each of the parts, unless there is a cache.

    >>> [group.name for group in groups([Setting("senses", "mixture", 0),
    ...                                  Setting("noun_verb", "layer_1", 0)])]
    ['toy bilm seed 0: 2 settings']
    """
    members: dict[tuple[str, str, int], list[Setting]] = {}
    for setting in settings:
        key = (setting.corpus, CONDITIONS[setting.condition].source, setting.seed)
        members.setdefault(key, []).append(setting)
    step = at_most or max(len(settings), 1)
    longest = max((len(found) for found in members.values()), default=0)
    return [
        Group(*key, tuple(found[start : start + step]))
        for start in range(0, longest, step)  # the first part of each before the second of any
        for key, found in members.items()
        if start < len(found)
    ]


def configuration(setting: Setting, facts: dict[str, Any], sizes: Sizes) -> dict[str, Any]:
    """All that a result depends on, as it stands in the record.

    Parameters
    ----------
    facts : of the corpus
    """
    chosen = CONDITIONS[setting.condition]
    condition = asdict(chosen)
    del condition["about"]  # words for a reader change nothing
    return {
        "version": VERSION,
        "setting": asdict(setting),
        "condition": condition,
        "corpus": facts,
        "source": asdict(sizes.sources[setting.corpus]),
        "fits": asdict(sizes.fits.of(chosen)),
    }


def run_group(
    corpus: Corpus, group: Group, sizes: Sizes, cache: Path | None = None
) -> list[Record]:
    """Train the group's extractor and measure all its settings.

    Book: chapter 6, "Our own table".
    """
    if group.source == "words":
        return measure(corpus, group.settings, None, sizes)
    source_sizes = sizes.sources[group.corpus]
    trained = sources.build(group.source, corpus, group.seed, source_sizes, cache)
    return measure(corpus, group.settings, trained, sizes)


def measure(
    corpus: Corpus, settings: Sequence[Setting], trained: Trained | None, sizes: Sizes
) -> list[Record]:
    """Measure settings on one extractor, or without one: then words are counted."""
    held_out: dict[str, dict[str, Tagged]] = {}
    drawn: dict[tuple[str, float, int], _Drawn] = {}
    records = []
    for setting in settings:
        started = process_time()
        task, condition = corpus.tasks[setting.task], CONDITIONS[setting.condition]
        key = (setting.task, setting.labels, setting.seed)
        if key not in drawn:
            drawn[key] = _Drawn(task, setting)
        embed = trained.embed if trained else drawn[key].count_words
        if task.name not in held_out or trained is None:
            held_out[task.name] = {
                name: asked.embedded(embed) for name, asked in _held_out(task).items()
            }
        fitted = fit_condition(
            task,
            condition,
            drawn[key].parts(embed, held_out[task.name], condition),
            setting.penalty,
            setting.seed,
            sizes.fits,
        )
        records.append(
            Record(
                name=setting.name,
                configuration=configuration(setting, corpus.facts, sizes),
                scores=fitted.scores,
                development=fitted.development,
                learning_rate=fitted.learning_rate,
                weights=fitted.weights,
                gamma=fitted.gamma,
                parameters=fitted.parameters,
                source=trained.facts if trained else {},
                versions={"python": platform.python_version(), "numpy": np.__version__},
                seconds=round(process_time() - started, 2),
            )
        )
    return records


def _held_out(task: TaskData) -> dict[str, TaggedText]:
    return {"development": task.development, **task.tests}


class _Drawn:
    """The labelled sentences of one task, share and seed, and the words that they make known."""

    def __init__(self, task: TaskData, setting: Setting) -> None:
        self._task = task
        self._labelled = task.draw(setting.labels, np.random.default_rng([setting.seed, 2]))
        counted = Counter(word for sentence in self._labelled.sentences for word in sentence)
        # A word met once is an unknown one, so that the vector of unknown words is trained too.
        self._known = [word for word, number in counted.most_common() if number > 1]
        self._vocabulary = Vocabulary(
            [text.SENTENCE_START, text.SENTENCE_END, text.UNKNOWN, *sorted(self._known)]
        )
        self._train: Tagged | None = None

    def count_words(self, sentences: Sequence[Sequence[str]]) -> tuple[Array, BoolArray]:
        """`bag_of_words` of the commonest known words, as layers."""
        lengths = np.array([len(sentence) for sentence in sentences])
        mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
        return bag_of_words(sentences, self._known[:COUNTED_WORDS]).astype(np.float32), mask

    def parts(self, embed: Embed, held_out: dict[str, Tagged], condition: Condition) -> Parts:
        """What a condition reads: all layers of the source, or the one that it asks for."""
        if self._train is None:
            self._train = self._labelled.embedded(embed)
        read = {
            name: (asked, self._read(asked, held_out[name], condition))
            for name, asked in _held_out(self._task).items()
        }
        development = read.pop("development")
        train = self._read(self._labelled, self._train, condition)
        return Parts(train, development, read, len(self._vocabulary))

    def _read(self, asked: TaggedText, embedded: Tagged, condition: Condition) -> Tagged:
        if condition.layer is not None:
            chosen = slice(condition.layer, condition.layer + 1)
            embedded = replace(embedded, layers=np.ascontiguousarray(embedded.layers[:, chosen]))
        if condition.recurrent_layers == 0:
            return embedded
        words = text.batch_word_ids(asked.sentences, self._vocabulary, boundaries=False)
        return replace(embedded, words=words)


def run(
    settings: Sequence[Setting],
    store: Store,
    load: Callable[[str], Corpus],
    executor: Executor,
    *,
    sizes: Sizes = DEFAULT_SIZES,
    cache: Path | None = None,
    at_most: int | None = None,
    progress: TextIO | None = None,
) -> list[str]:
    """Compute what isn't recorded yet; records of another configuration are replaced, by name.

    Parameters
    ----------
    settings : see `conditions.plan`
    store : Store
    load : name of a corpus -> Corpus
    executor : any `concurrent.futures.Executor`
    sizes : Sizes
    cache : folder that keeps trained extractors, optional; on the machines that compute
    at_most : settings a group; see `groups`
    progress : where to say what is done, for example ``sys.stderr``

    Returns
    -------
    The names of the records that were computed.

    Raises
    ------
    Exception
        Whatever a group raised, after the records of the other groups have been stored.

    Book: chapter 6, "Our own table".
    """
    corpora = {name: load(name) for name in dict.fromkeys(s.corpus for s in settings)}
    missing = []
    for setting in settings:
        wanted = configuration(setting, corpora[setting.corpus].facts, sizes)
        try:
            store.get(setting.name, wanted)
        except OtherConfigurationError as error:
            _say(progress, f"{error}: computed again")
            missing.append(setting)
        except KeyError:
            missing.append(setting)
    _say(progress, f"{len(settings) - len(missing)} recorded already, {len(missing)} to compute")

    waiting: dict[Future[list[Record]], Group] = {
        executor.submit(run_group, corpora[group.corpus], group, sizes, cache): group
        for group in groups(missing, at_most)
    }
    done: list[str] = []
    errors: list[BaseException] = []
    for future in as_completed(waiting):
        failure = future.exception()
        if failure is not None:
            errors.append(failure)
            _say(progress, f"{waiting[future].name}: {type(failure).__name__}: {failure}")
            continue
        for record in future.result():
            store.put(record)
            done.append(record.name)
        _say(progress, f"{len(done)} of {len(missing)}: {waiting[future].name}")
    if errors:
        raise errors[0]
    return done


def _say(progress: TextIO | None, line: str) -> None:
    if progress is not None:
        progress.write(f"{line}\n")
        progress.flush()
