"""What the paper printed in its tables, typed, and what follows from it by arithmetic.

The numbers are those of the paper as published at NAACL 2018 (arXiv:1802.05365v2). The version
submitted to another conference half a year before has other ones, for SQuAD, for the last layer
and for part of speech; none of them is here.

Book: chapter 6, "Table 1 at its scope".
"""

from __future__ import annotations

from dataclasses import dataclass

from elmo_toy.tables import Table

#: What the spreads of Table 1 were taken over: by its caption, or by the text of section 4.
_SPREAD_OVER = {
    "92.22": "five runs with different random seeds",
    "54.7": "five runs with different random seeds",
    "88.7": "five random seeds, which the text says and the caption does not",
    "91.93": "not said in this paper",
}


@dataclass(frozen=True)
class Result:
    """One number of one of the paper's tables.

    Attributes
    ----------
    table
        Number of the table.
    task
        The paper's name of it.
    condition
        What is compared: the column of Tables 1 to 3, the row of Tables 5 and 6.
    split
        ``"test"`` or ``"development"``.
    metric
        ``"F1"``, ``"accuracy"`` or ``"average F1"``, in per cent.
    printed, printed_spread
        The value and what stands after ±, digit by digit; the latter empty for most.
    spread_over
        What the spread, a standard deviation, was taken over; empty without a spread.
    system
        Whose system it is, where the paper compares with somebody else's.
    """

    table: int
    task: str
    condition: str
    split: str
    metric: str
    printed: str
    printed_spread: str = ""
    spread_over: str = ""
    system: str = ""

    @property
    def value(self) -> float:
        """The number, in per cent."""
        return float(self.printed)

    @property
    def spread(self) -> float | None:
        """The standard deviation, None where the paper prints none."""
        return float(self.printed_spread) if self.printed_spread else None

    @property
    def source(self) -> str:
        """Where it was printed."""
        return f"Peters et al. (2018), Table {self.table}"

    @property
    def shown(self) -> str:
        """The number as the paper writes it."""
        return f"{self.printed} ± {self.printed_spread}" if self.printed_spread else self.printed


#: Table 1: task, metric; the earlier best and whose it is; baseline; with ELMo; printed increase,
#: absolute and relative. "Relative" is the share of the baseline's error that is gone.
_TABLE_1 = (
    ("SQuAD", "F1", "84.4", "Liu et al. (2017)", "81.1", "85.8", "4.7", "24.9"),
    ("SNLI", "accuracy", "88.6", "Chen et al. (2017)", "88.0", "88.7 ± 0.17", "0.7", "5.8"),
    ("SRL", "F1", "81.7", "He et al. (2017)", "81.4", "84.6", "3.2", "17.2"),
    ("Coref", "average F1", "67.2", "Lee et al. (2017)", "67.2", "70.4", "3.2", "9.8"),
    ("NER", "F1", "91.93 ± 0.19", "Peters et al. (2017)", "90.15", "92.22 ± 0.10", "2.06", "21"),
    ("SST-5", "accuracy", "53.7", "McCann et al. (2017)", "51.4", "54.7 ± 0.5", "3.3", "6.8"),
)
_DEVELOPMENT = {"SQuAD": "F1", "SNLI": "accuracy", "SRL": "F1"}
_TABLE_2 = {
    "baseline": ("80.8", "88.1", "81.6"),
    "last layer": ("84.7", "89.1", "84.1"),
    "all, λ = 1": ("85.0", "89.3", "84.6"),
    "all, λ = 0.001": ("85.2", "89.5", "84.8"),
}
_TABLE_3 = {
    "input": ("85.1", "88.9", "84.7"),
    "input and output": ("85.6", "89.5", "84.3"),
    "output": ("84.8", "88.7", "80.9"),
}
_TABLES_5_AND_6 = (
    (5, "WSD", "first sense", "65.9", "WordNet"),
    (5, "WSD", "trained for WSD (2017)", "69.9", "Raganato et al. (2017a)"),
    (5, "WSD", "trained for WSD (2016)", "70.1", "Iacobacci et al. (2016)"),
    (5, "WSD", "CoVe, layer 1", "59.4", "McCann et al. (2017)"),
    (5, "WSD", "CoVe, layer 2", "64.7", "McCann et al. (2017)"),
    (5, "WSD", "biLM, layer 1", "67.4", ""),
    (5, "WSD", "biLM, layer 2", "69.0", ""),
    (6, "POS", "trained for POS (2011)", "97.3", "Collobert et al. (2011)"),
    (6, "POS", "trained for POS (2016)", "97.6", "Ma and Hovy (2016)"),
    (6, "POS", "trained for POS (2015)", "97.8", "Ling et al. (2015)"),
    (6, "POS", "CoVe, layer 1", "93.3", "McCann et al. (2017)"),
    (6, "POS", "CoVe, layer 2", "92.8", "McCann et al. (2017)"),
    (6, "POS", "biLM, layer 1", "97.3", ""),
    (6, "POS", "biLM, layer 2", "96.8", ""),
)


def _results() -> tuple[Result, ...]:
    found = []
    for task, metric, earlier, system, baseline, elmo, *_ in _TABLE_1:
        for condition, shown, whose in (
            ("earlier best", earlier, system),
            ("baseline", baseline, ""),
            ("ELMo", elmo, ""),
        ):
            value, _sign, spread = shown.partition(" ± ")
            over = _SPREAD_OVER[value] if spread else ""
            found.append(Result(1, task, condition, "test", metric, value, spread, over, whose))
    for table, columns in ((2, _TABLE_2), (3, _TABLE_3)):
        for number, (task, metric) in enumerate(_DEVELOPMENT.items()):
            for condition, values in columns.items():
                value = values[number]
                found.append(Result(table, task, condition, "development", metric, value))
    for table, task, condition, value, system in _TABLES_5_AND_6:
        metric = "F1" if task == "WSD" else "accuracy"
        found.append(Result(table, task, condition, "test", metric, value, system=system))
    return tuple(found)


RESULTS = _results()
"""Every number of Tables 1, 2, 3, 5 and 6, in the paper's order."""


def find(
    *,
    table: int | None = None,
    task: str | None = None,
    condition: str | None = None,
    split: str | None = None,
) -> tuple[Result, ...]:
    """Select results; what is not asked for may be anything.

    Returns
    -------
    At least one result, in the paper's order.

    Raises
    ------
    ValueError
        For a table, task, condition or split that no result has, with those that there are.
    KeyError
        For a combination that the paper does not report.

    Source: `RESULTS`. Book: chapter 6, "Table 1 at its scope".

    >>> [found.shown for found in find(table=1, task="NER")]
    ['91.93 ± 0.19', '90.15', '92.22 ± 0.10']
    """
    asked = {"table": table, "task": task, "condition": condition, "split": split}
    asked = {name: wanted for name, wanted in asked.items() if wanted is not None}
    found = RESULTS
    for name, wanted in asked.items():
        known = list(dict.fromkeys(getattr(result, name) for result in RESULTS))
        if wanted not in known:
            raise ValueError(f"{name} must be one of {known}, given {wanted!r}")
        found = tuple(result for result in found if getattr(result, name) == wanted)
    if not found:
        raise KeyError(f"the paper reports nothing for {asked}")
    return found


def get(table: int, task: str, condition: str) -> Result:
    """The one result of a table in this task and condition; the errors are those of `find`.

    Book: chapter 6, "One mixture or the last layer".

    >>> get(2, "SRL", "all, λ = 1").value
    84.6
    """
    (result,) = find(table=table, task=task, condition=condition)
    return result


def error_removed(before: float, after: float) -> float:
    """Share of the error that is gone, in per cent: ``100 * (after - before) / (100 - before)``.

    The paper's "relative" increase. It compares tasks whose baselines are far apart, and it makes
    a given gain look larger the better the baseline was.

    Parameters
    ----------
    before, after
        Scores in per cent, `before` below 100.

    Raises
    ------
    ValueError
        For a score outside 0 to 100, or a baseline without an error to remove.

    Source: Table 1 of the paper, recomputed. Book: chapter 6, "Table 1 at its scope".

    >>> round(error_removed(81.1, 85.8), 1), round(error_removed(88.0, 88.7), 1)
    (24.9, 5.8)
    """
    for name, score in (("before", before), ("after", after)):
        if not 0 <= score <= 100:
            raise ValueError(f"{name} must be a score from 0 to 100, given {score}")
    if before == 100:
        raise ValueError("before must leave an error to remove, given 100")
    return 100 * ((after - before) / (100 - before))


@dataclass(frozen=True)
class Check:
    """A number that the paper derives, beside the same number computed from its tables.

    Attributes
    ----------
    what
        What it is the number of.
    printed
        As the paper writes it, without sign or unit.
    computed
        From the printed table, not rounded.
    where
        Where the paper prints it.
    """

    what: str
    printed: str
    computed: float
    where: str

    @property
    def rounded(self) -> str:
        """The computed number with as many decimals as the paper prints."""
        return f"{self.computed:.{len(self.printed.partition('.')[2])}f}"

    @property
    def agrees(self) -> bool:
        """Whether the paper prints what its own table gives."""
        return self.rounded == self.printed


def increases() -> tuple[Check, ...]:
    """The last column of Table 1, recomputed: for each task the gain, then the error removed.

    Book: chapter 6, "Table 1 at its scope".

    >>> [(check.what, check.printed, check.rounded) for check in increases() if not check.agrees]
    [('NER, gain', '2.06', '2.07')]
    """
    checks = []
    for task, *_, gain, share in _TABLE_1:
        before, after = get(1, task, "baseline").value, get(1, task, "ELMo").value
        removed = error_removed(before, after)
        checks.append(Check(f"{task}, gain", gain, after - before, "Table 1"))
        checks.append(Check(f"{task}, % of error removed", share, removed, "Table 1"))
    return tuple(checks)


def statements() -> tuple[Check, ...]:
    """Differences that the paper's text states, recomputed from its tables.

    Book: chapter 6, "Table 1 at its scope".

    >>> [(check.what, check.printed, check.rounded) for check in statements() if not check.agrees]
    [('largest % of error removed', '20', '25')]
    """
    shares = [check.computed for check in increases() if "error" in check.what]

    def over(table: int, task: str, condition: str, other: str) -> float:
        return get(table, task, condition).value - get(table, task, other).value

    one, two = "section 4", "section 5.1"
    squad = (2, "SQuAD")
    return (
        Check("smallest % of error removed", "6", min(shares), one),
        Check("largest % of error removed", "20", max(shares), one),
        Check("SQuAD over the earlier best", "1.4", over(1, "SQuAD", "ELMo", "earlier best"), one),
        Check("SST-5 over the earlier best", "1.0", over(1, "SST-5", "ELMo", "earlier best"), one),
        Check("SQuAD, last layer", "3.9", over(*squad, "last layer", "baseline"), two),
        Check("SQuAD, averaging", "0.3", over(*squad, "all, λ = 1", "last layer"), two),
        Check("SQuAD, learning", "0.2", over(*squad, "all, λ = 0.001", "all, λ = 1"), two),
    )


def as_table(table: int) -> Table:
    """One of the paper's tables, to show in a page or to print.

    Raises
    ------
    ValueError
        For a table that is not among `RESULTS`.

    Book: chapter 6, "One mixture or the last layer".

    >>> print(as_table(3))
    The paper's Table 3: development sets, %
                   input  input and output  output
    SQuAD F1        85.1              85.6    84.8
    SNLI accuracy   88.9              89.5    88.7
    SRL F1          84.7              84.3    80.9
    """
    results = find(table=table)
    tasks = list(dict.fromkeys((result.task, result.metric) for result in results))
    caption = f"The paper's Table {table}: {results[0].split} sets, %"
    if len(tasks) == 1:  # Tables 5 and 6: a row a system
        systems = tuple((result.condition, result.shown) for result in results)
        return Table(caption, ("", " ".join(tasks[0])), systems)
    columns = tuple(dict.fromkeys(result.condition for result in results))
    rows = tuple(
        (f"{task} {metric}", *(get(table, task, column).shown for column in columns))
        for task, metric in tasks
    )
    return Table(caption, ("", *columns), rows)
