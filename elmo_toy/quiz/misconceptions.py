"""What people believe about the mixture: nineteen beliefs, who voiced each, and what helps.

The ids are those of `elmo_toy.exercises.mistakes`, which has wrong formulas for many of them.

Book: chapter 3, "A large weight is not an importance".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from elmo_toy.exercises.exercise import PAGES

CHAPTERS = {number: f"notebooks/{page}.ipynb" for number, page in PAGES.items()}
ARTICLE = "the article, which warns of it"
OURS = "found while this book was written"


@dataclass(frozen=True)
class Misconception:
    """A belief, as its holder would say it.

    ``sources`` are public threads (``owner/repository#number``) or who warns of it; ``remedy`` is
    one sentence for the teacher; ``anchor`` the place in the book.

    >>> MISCONCEPTIONS["M17"].belief
    'A word has an ELMo vector, which can be looked up and kept.'
    """

    id: str
    belief: str
    sources: tuple[str, ...]
    remedy: str
    anchor: str


def _table(
    *rows: tuple[str, tuple[str, ...], str, int, str],
) -> Mapping[str, Misconception]:
    found = {}
    for place, (belief, sources, remedy, chapter, slug) in enumerate(rows, start=1):
        name = f"M{place}"
        found[name] = Misconception(name, belief, sources, remedy, f"{CHAPTERS[chapter]}#{slug}")
    return MappingProxyType(found)


MISCONCEPTIONS = _table(
    (
        "The layer weights depend on the token or on its sentence.",
        (ARTICLE,),
        "Set ELMo's mixture beside a gate that has what the belief describes, and compare.",
        3,
        "no-attention-anywhere",
    ),
    (
        "The parameters that are stored or printed are the weights.",
        ("allenai/allennlp#2392", "allenai/allennlp#2566", "allenai/bilm-tf#48"),
        "Write logits and weights in two columns; never write a number without saying which.",
        3,
        "one-mixture-by-hand",
    ),
    (
        "Adding the same number to every logit changes the mixture.",
        ("bilm-tf, which adds 1/n to each logit",),
        "Cancel the factor in the fraction, once, on the board.",
        3,
        "where-paper-and-code-differ",
    ),
    (
        "Positive weights make positive coordinates.",
        (ARTICLE,),
        "Write out the three parts of loan's first coordinate.",
        3,
        "positive-weights-negative-coordinates",
    ),
    (
        "Gamma is a probability, or at least positive, and a larger one is better.",
        (ARTICLE,),
        "Double gamma where both signs are wrong, after a prediction.",
        3,
        "what-gamma-is-and-what-it-isnt",
    ),
    (
        "The gradient of a logit is its layer's score.",
        (ARTICLE,),
        "Ask what a rise of one logit does to the other weights; the sum has to stay one.",
        4,
        "the-derivation",
    ),
    (
        "One may subtract the gradient from the weights.",
        (ARTICLE,),
        "Compare the four candidates and their sums.",
        4,
        "four-ways-to-step",
    ),
    (
        "The weights are attention: they say which words mattered.",
        (ARTICLE,),
        "Draw the two axes, layers upwards and words across, and mark where the softmax runs.",
        3,
        "no-attention-anywhere",
    ),
    (
        "The layer with the largest weight is the one that matters most.",
        (ARTICLE,),
        "Walk along the direction that the head cannot see.",
        3,
        "a-large-weight-is-not-an-importance",
    ),
    (
        "Frozen means that nothing of ELMo learns.",
        ("allenai/allennlp#1574", "allenai/allennlp#2700", "tensorflow/hub#57"),
        "Count the numbers that get a gradient, part by part.",
        5,
        "what-is-frozen-what-is-learned",
    ),
    (
        "Two outputs that are identical are a bug, or are the two LSTM layers.",
        ("allenai/allennlp#1516", "allenai/allennlp#3310", "allenai/allennlp#1789"),
        "Look at two mixtures before and after one step.",
        5,
        "where-a-mixture-attaches",
    ),
    (
        "The token layer holds as many facts as it has coordinates.",
        ("allenai/allennlp#1614", "allenai/bilm-tf#61"),
        "Ask for the rank of a matrix whose second half repeats its first.",
        3,
        "the-released-shapes",
    ),
    (
        "The backward state at a token predicts that token, or the next one.",
        ("ratsgo/embedding#41",),
        "Cover the sentence with a card from the right and ask what is still hidden.",
        2,
        "the-one-position-shift",
    ),
    (
        "Every weight of a softmax is positive, on a computer too.",
        ("the documentation of AllenNLP's class Elmo, which selects a layer by it",),
        "Keep the theorem and its words: finite logits, exact arithmetic.",
        3,
        "where-paper-and-code-differ",
    ),
    (
        "Table 1 measures the mixture, and its ± is a confidence interval.",
        (ARTICLE,),
        "Let them choose the sentence that the table licenses.",
        6,
        "why-complete-systems-dont-isolate-the-mixture",
    ),
    (
        "A step that lowered the loss shows that the rate is safe.",
        (ARTICLE,),
        "Take the same direction at three rates, from lower-layer emphasis.",
        4,
        "when-a-step-fails",
    ),
    (
        "A word has an ELMo vector, which can be looked up and kept.",
        ("allenai/bilm-tf#58",),
        "Fill in what may be kept by spelling and what only by sentence and position.",
        5,
        "three-caches",
    ),
    (
        "A penalty on the logits leaves the shift free.",
        (OURS,),
        "Compute the penalty at two sets of logits that give the same weights.",
        4,
        "the-penalty-and-why-a-free-gamma-undoes-it",
    ),
    (
        "Training settles at the best weights, so they say which layer is best.",
        (OURS,),
        "Start twice, with gamma of either sign, and compare losses before weights.",
        4,
        "many-steps",
    ),
)
"""The nineteen beliefs by their ids, M1 to M19."""
