"""Quizzes of the seminar: five questions before, seven after, nineteen concept tests to vote on.

Questions are data. The right answer is computed by the package, and a wrong number by running the
wrong formula, so that whoever makes that mistake finds their number among the options. The pages in
`book/seminar/` show them.

Book: chapter 3, "A large weight is not an importance".
"""

from elmo_toy.quiz.concept import concept_tests
from elmo_toy.quiz.items import LETTERS, Item, Option, number, vector
from elmo_toy.quiz.misconceptions import MISCONCEPTIONS, Misconception
from elmo_toy.quiz.rounds import post_quiz, pre_quiz

__all__ = [
    "LETTERS",
    "MISCONCEPTIONS",
    "Item",
    "Misconception",
    "Option",
    "concept_tests",
    "number",
    "post_quiz",
    "pre_quiz",
    "vector",
]
