"""Sentences to layers with a frozen language model, and what of that may be kept in a file.

``frozen`` extracts, ``elmo`` puts mixtures on top in the manner of AllenNLP's module.
``token_cache`` and ``layer_cache`` are the original repository's two kinds of file, ``sizes`` says
what each costs and what it still lets a task change. Only what needs no HDF5 is imported here.

Book: chapter 5, "What is frozen, what is learned".
"""

from elmo_toy.extractor.elmo import Elmo, ElmoGradients, ElmoOutput
from elmo_toy.extractor.frozen import FrozenExtractor, fingerprint

__all__ = ["Elmo", "ElmoGradients", "ElmoOutput", "FrozenExtractor", "fingerprint"]
