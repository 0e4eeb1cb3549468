"""Explorers: one object, two front ends.

In a notebook with a kernel an explorer is an ipywidgets view; on a page without one it is a custom
element that computes in the browser (`book/_static/`), with a static table inside for a reader
without scripts. Both show the same texts for the same controls: the tests compare them.

Book: chapter 3, "Move it yourself".
"""

from elmo_toy.widgets._explorer import Explorer
from elmo_toy.widgets._gradient import gradient
from elmo_toy.widgets._mixture import mixture
from elmo_toy.widgets._reader import reader
from elmo_toy.widgets._seeds import seeds
from elmo_toy.widgets._shift import shift

__all__ = ["Explorer", "gradient", "mixture", "reader", "seeds", "shift"]
