"""Values of chapter 5."""

from __future__ import annotations

from typing import Any

import numpy as np

from elmo_toy.bilm import load_pretrained
from elmo_toy.bilm.adaptation import adapt
from elmo_toy.task.sense_tagging import double
from elmo_toy.toy_language import make_corpus, make_reports


def extractor_values() -> dict[str, Any]:
    """Return the perplexities on both domains, before and after adaptation."""
    corpus = make_corpus(train=0, development=100, labelled=7, test=4)
    reports = make_reports(train=800, development=50, test=80)
    new, chooses, general, test = (
        [sentence.tokens for sentence in part]
        for part in (reports.train, reports.development, corpus.development, reports.test)
    )
    found = adapt(
        double(load_pretrained("toy-language")),
        new,
        chooses,
        first_domain=general,
        second_domain=test,
        tokens=8_000,
        evaluations=2,
        rng=np.random.default_rng(0),
    )
    return {
        "general": [loss.first.perplexity for loss in (found.before, found.after)],
        "reports": [loss.second.perplexity for loss in (found.before, found.after)],
    }
