"""Our runs: conditions x seeds on four tasks, recorded, and the tables made from the records.

``conditions`` names what is compared, ``data`` reads the corpora, ``sources`` trains what makes the
layers, ``fits`` trains what reads them, ``run`` goes through all of it on any
`concurrent.futures.Executor`, ``store`` keeps the records and ``tables`` makes the book's tables
from them. ``live`` is one seed at small size, for a chapter.

All at once: ``python tools/run_experiments.py DATA --output RECORDS``.

Book: chapter 6, "Our own table".
"""
