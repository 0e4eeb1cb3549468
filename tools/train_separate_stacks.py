"""Why are the two directions kept apart? Train what happens otherwise, on the controlled corpus.

    python tools/train_separate_stacks.py [--seeds 0 1 2 3 4] [--tokens 2500000] [--output FILE]

Trains, for each seed, a model whose states are asked for the very token that they have read
(``sees_its_answer``) and one whose directions are joined after layer 1 (``joined``), exactly as
`train_toy_language.py` trains the biLM, whose record already holds the biLM and the untrained
network. Writes perplexity and sense scores of both: a lower loss need not mean better features.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

import train_toy_language as toy

from elmo_toy.bilm import checkpoint
from elmo_toy.bilm.model import Options
from elmo_toy.toy_language import make_corpus

VARIANTS: dict[str, Options] = {
    "sees_its_answer": dataclasses.replace(toy.OPTIONS, shift=0),
    "joined": dataclasses.replace(
        toy.OPTIONS, lstm=dataclasses.replace(toy.OPTIONS.lstm, joined=True)
    ),
}
RECORD = checkpoint.PRETRAINED / toy.NAME / "separate_stacks.json"


def main() -> None:
    """Train both variants with every seed and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--tokens", type=int, default=2_500_000)
    parser.add_argument("--output", type=Path, default=RECORD)
    arguments = parser.parse_args()
    corpus = make_corpus(toy.CORPUS_SEED)
    record: dict[str, object] = {}
    for name, options in VARIANTS.items():
        measured = []
        for seed in arguments.seeds:
            _, found = toy.train_seed(seed, corpus, arguments.tokens, options)
            measured.append(found)
            print(name, json.dumps(found["perplexity"]), json.dumps(found["scores"]), flush=True)
        record[name] = measured
    part = arguments.output.with_suffix(".part")
    part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    part.replace(arguments.output)


if __name__ == "__main__":
    main()
