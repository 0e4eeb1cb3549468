"""Run the experiments of chapter 6: all that is not recorded yet.

    python tools/run_experiments.py DATA --output RECORDS   everything again, into a new folder
    python tools/run_experiments.py DATA                    what the package's records lack: nothing
    python tools/run_experiments.py DATA --workers 2 --only ewt --output RECORDS
    python tools/run_experiments.py --only senses           the toy language needs no data
    python tools/run_experiments.py --list
    python tools/run_experiments.py --small                 the one record that a test makes again

DATA holds ``ewt/`` and ``snips/`` (their origin: ``elmo_toy/experiments/files.py``; a missing or
different file is named). A run that is stopped goes on where it was. A record of another
configuration is named and computed again. All of it takes about half an hour of one core.

Other machines: `elmo_toy.experiments.run.run` takes any executor, a Dask cluster's too.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy, and for the workers too

import train_arguments

from elmo_toy.experiments import data
from elmo_toy.experiments.conditions import SEEDS, TASKS, Setting, plan
from elmo_toy.experiments.files import DataError
from elmo_toy.experiments.live import small_record
from elmo_toy.experiments.run import run
from elmo_toy.experiments.store import SHIPPED, SMALL, Store

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "experiments"
AT_MOST = 8
"""Settings a group: a stopped run loses no more than these of each worker."""


def chosen(only: Sequence[str], seeds: Sequence[int]) -> list[Setting]:
    """The settings whose names hold all of the given parts, of ``senses/mixture`` say."""
    return [setting for setting in plan(seeds=seeds) if all(part in setting.name for part in only)]


def main() -> None:
    """Run, or list."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", help="folder that holds ewt/ and snips/")
    parser.add_argument("--workers", type=train_arguments.count, default=1)
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="parts of names")
    parser.add_argument("--seeds", type=train_arguments.seed, nargs="+", default=list(SEEDS))
    parser.add_argument(
        "--output", type=train_arguments.folder, default=SHIPPED, help="folder of records"
    )
    parser.add_argument("--list", action="store_true", help="name the settings and stop")
    parser.add_argument("--small", action="store_true", help="make the small record again and stop")
    arguments = parser.parse_args()
    train_arguments.check_seeds(parser, arguments.seeds)

    if arguments.small:
        record = small_record()
        Store(SMALL if arguments.output == SHIPPED else arguments.output).put(record)
        print(record.name, record.score)
        return
    settings = chosen(arguments.only, arguments.seeds)
    store = Store(arguments.output)
    if arguments.list:
        for setting in settings:
            print("recorded" if setting.name in store.names() else "missing ", setting.name)
        return
    if not settings:
        parser.error(f"--only {' '.join(arguments.only)}: no setting's name holds all of these")
    needed = {TASKS[setting.task] for setting in settings} - {"toy"}
    if arguments.data is None and needed:
        parser.error(f"expected the folder that holds {', '.join(sorted(needed))}")
    # "spawn": a worker reads OPENBLAS_NUM_THREADS before it imports numpy, on every system.
    with ProcessPoolExecutor(arguments.workers, mp_context=get_context("spawn")) as executor:
        try:
            run(
                settings,
                store,
                partial(data.load, folder=arguments.data),
                executor,
                cache=CACHE,
                at_most=AT_MOST,
                progress=sys.stderr,
            )
        except DataError as error:
            parser.error(str(error))
        except KeyboardInterrupt:
            executor.shutdown(cancel_futures=True)
            raise


if __name__ == "__main__":
    main()
