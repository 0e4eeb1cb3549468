"""What the seminar's pages are made of: quizzes, the plan, tables from data, numbers by name.

```{quiz} pre            all items of a set, or one: CT5
```{answer-key} concept  letters and reasons, for paper
```{plan} 60             the plan of so many minutes, from book/seminar/plan.toml
```{cut-list}            what to give up, and in which order
```{homework}            what to do at home, in how many minutes
```{explorer-links}      states of the explorers, to send
```{objectives}          which exercise and which question reaches each objective
```{misconceptions}      beliefs, who voiced them, what helps
{value}`loss`            a number that `elmo_toy.quiz.values` or the plan computes
{marks}`gamma`           a block's minutes in each plan
{explorer}`walk end`     a link to a state of an explorer
{slide}`bet`             a link to a slide, with its number as text
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

from elmo_toy import quiz
from elmo_toy.exercises import EXERCISES
from elmo_toy.exercises.objectives import OBJECTIVES

from . import seminar_quiz
from .explorer_links import LINKS
from .seminar_data import (
    PLAN,
    asked_in_class,
    heading_anchor,
    minute_marks,
    minutes,
    plan,
    sets,
    slides,
    values,
)
from .seminar_quiz import Quiz, answer_key, item_elements, tag

CONCEPT_TESTS = "book/seminar/concept_tests.md"
NOTES = "book/seminar/notes.md"
EXERCISE_PAGE = "notebooks/exercises_2_mixture.ipynb"  # of chapters 3 and 4, as the homework is
SHEETS = {
    "slides": "Slides",
    "worksheet": "worksheet",
    "worksheet-key": "its key",
    "handout": "handout",
}
THREAD = re.compile(r"([\w-]+)/([\w-]+)#(\d+)")


# --- directives -----------------------------------------------------------------------------------


class SeminarDirective(SphinxDirective):
    """What the directives share: Markdown that the build checks like any other."""

    def markdown(self, text: str) -> list[nodes.Node]:
        """Parse Markdown; a link that leads nowhere is a warning, and so an error."""
        return self.parse_text_to_nodes(text)

    def inline(self, text: str) -> list[nodes.Node]:
        """Parse one line of Markdown, without its paragraph."""
        return [child for part in self.markdown(text) for child in part.children]

    def chosen(self) -> tuple[quiz.Item, ...]:
        """The set of questions that the argument names."""
        name = self.arguments[0]
        if name not in sets():
            raise self.error(f"no quiz {name!r}; there are {', '.join(sets())}")
        return sets()[name]


class QuizDirective(SeminarDirective):
    """Questions that can be answered on the page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the elements."""
        items = self.chosen()
        several = len(items) > 1
        shown = [
            item_elements(
                item,
                self.inline(f"[](/{item.anchor})"),
                f"{place}. " if several else "",
                asked=item.id in asked_in_class(),
            )
            for place, item in enumerate(items, start=1)
        ]
        if several:
            restart = tag("button", "Start again", type="button", data_action="restart")
            status = tag("p", role="status", class_="kit-score")
            shown.append(tag("div", status, tag("p", restart), class_="kit-foot"))
        found: list[nodes.Node] = [
            Quiz("", tag("div", *shown, class_="kit-quiz"), items=self.arguments[0])
        ]
        return found + ([answer_key(self.arguments[0])] if several else [])


class KeyDirective(SeminarDirective):
    """The key of a set that stands on the page question by question."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the elements."""
        self.chosen()
        return [answer_key(self.arguments[0])]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def opened(name: str) -> str:
    """What a block opens, as Markdown: an explorer's state, a concept test or a place.

    A place has the title of its heading as text, or what stands before a bar.

    >>> opened("Pre-quiz|book/seminar/pre_quiz.md#before-the-session")
    '[Pre-quiz](/book/seminar/pre_quiz.md#before-the-session)'
    """
    if name.startswith("explorer:"):
        return f"{{explorer}}`{name.removeprefix('explorer:')}`"
    if name.startswith("CT"):
        return f"[{name}](/{CONCEPT_TESTS}#{concept_anchor(name)})"
    text, _, place = name.rpartition("|")
    return f"[{text}](/{place})"


def concept_anchor(name: str) -> str:
    """The heading of a concept test: its name alone.

    >>> concept_anchor("CT5")
    'ct5'
    """
    return name.lower()


def note(block: dict[str, Any]) -> str:
    """A block's title, leading to its notes."""
    return f"[{block['title']}](/{NOTES}#{heading_anchor(block['title'])})"


class PlanDirective(SeminarDirective):
    """One of the plans, with minute marks."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        lengths = {str(length): length for length in plan()["plans"]}
        if self.arguments[0] not in lengths:
            raise self.error(f"no plan {self.arguments[0]!r}; there are {', '.join(lengths)}")
        length = lengths[self.arguments[0]]
        rows = [
            [f"{start}–{end}", note(block), "<br>".join(doings(block, length))]
            for block, start, end in minute_marks(length)
        ]
        return self.markdown(table(("Minute", "Block", "Who does what"), rows))


def doings(block: dict[str, Any], length: int) -> list[str]:
    """What teacher and participants do in a block, what is shown, and whether it may go."""
    here = {name: slide for name, slide in slides().items() if slide.block == block["id"]}
    shown = [f"{{slide}}`{name}`" for name, slide in here.items() if not slide.reserve]
    spare = [f"slide {{slide}}`{name}`" for name, slide in here.items() if slide.reserve]
    spare += map(opened, block.get("spare", ()))
    talk = "with time to talk" if length in block.get("talk", ()) else "once"
    votes = block.get("vote", ())
    lines = {
        "You": block["you"],
        "They": block["they"],
        "Slides": enumerated(shown),
        "Worksheet": enumerated(block.get("worksheet", ())),
        "Vote": enumerated([*map(opened, votes), talk] if votes else []),
        "Open": enumerated(map(opened, block.get("open", ()))),
        "In reserve": enumerated(spare),
    }
    told = [f"**{what}:** {text}" for what, text in lines.items() if text]
    return told + (["**Never cut.**"] if block.get("never_cut") else [])


def enumerated(parts: Iterable[str]) -> str:
    """Return the parts as a sentence, or nothing where there are none."""
    listed = ", ".join(parts)
    return listed and f"{listed}."


class CutListDirective(SeminarDirective):
    """What to give up, in order."""

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        blocks = {block["id"]: block for block in plan()["block"]}
        rows = [
            [str(place), note(blocks[cut["block"]]), cut["how"], str(cut["saves"])]
            for place, cut in enumerate(plan()["cut"], start=1)
        ]
        return self.markdown(table(("Order", "Block", "How", "Minutes saved"), rows))


class HomeworkDirective(SeminarDirective):
    """What to do at home."""

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        rows = [
            [task_text(task), str(minutes(task)), "must" if task["must"] else "may"]
            for task in plan()["homework"]
        ]
        return self.markdown(table(("Homework", "Minutes", "Must or may"), rows))


def task_text(task: dict[str, Any]) -> str:
    """A task of the homework, an exercise with a link to it.

    >>> task_text({"exercise": "3.2"}).partition("]")[0]
    '[Exercise 3.2: One mixture, by hand again'
    """
    if "exercise" not in task:
        return str(task["text"])
    heading = f"Exercise {task['exercise']}: {EXERCISES[task['exercise']].title}"
    return f"[{heading}](/{EXERCISE_PAGE}#{heading_anchor(heading)})"


class ExplorerLinksDirective(SeminarDirective):
    """States of the explorers, and what is to be seen there."""

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        rows = [[f"{{explorer}}`{name}`", link.says] for name, link in LINKS.items()]
        return self.markdown(table(("Link", "What it shows"), rows))


class ObjectivesDirective(SeminarDirective):
    """Which exercises and which questions reach each objective."""

    def run(self) -> list[nodes.Node]:
        """Make the table."""
        rows = [
            [name, f"**{objective.verb}**", ", ".join(exercises(name)), ", ".join(questions(name))]
            for name, objective in OBJECTIVES.items()
        ]
        lines = [f"* **{name}** {objective.text}." for name, objective in OBJECTIVES.items()]
        head = ("Objective", "Verb", "Exercises", "Questions")
        return [*self.markdown("\n".join(lines)), *self.markdown(table(head, rows))]


def exercises(objective: str) -> list[str]:
    """Names of the exercises that reach an objective."""
    return [name for name, exercise in EXERCISES.items() if exercise.objective == objective]


def questions(objective: str) -> list[str]:
    """Names of the questions that reach an objective, concept tests with a link."""
    items = (*sets()["pre"], *sets()["post"], *sets()["concept"])
    return [
        opened(item.id) if item.misconception else item.id
        for item in items
        if item.objective == objective
    ]


class MisconceptionsDirective(SeminarDirective):
    """Beliefs, who voiced them, and what helps."""

    def run(self) -> list[nodes.Node]:
        """Make a list with a target for each belief."""
        return self.markdown("\n\n".join(map(belief, quiz.MISCONCEPTIONS.values())))


def belief(one: quiz.Misconception) -> str:
    """A belief as a paragraph with a target of its own."""
    sources = ", ".join(map(source, one.sources))
    lines = (
        f"({one.id.lower()})=\n**{one.id}.** “{one.belief}”",
        f"*Source:* {sources}. *Item:* {opened(f'CT{one.id[1:]}')}.",
        f"*What helps:* {one.remedy} [](/{one.anchor})",
    )
    return "<br>".join(lines)


def source(name: str) -> str:
    """A public thread as a link, another source as it is; in Markdown."""
    return f"{{thread}}`{name}`" if THREAD.fullmatch(name) else name


# --- roles ----------------------------------------------------------------------------------------


class SeminarRole(SphinxRole):
    """A role that makes one node of its text, or says why it can't, with file and line."""

    def make(self) -> nodes.Node:
        """Make the node; a ValueError otherwise."""
        raise NotImplementedError

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Make it, or report."""
        try:
            return [self.make()], []
        except ValueError as error:
            return [], [self.inliner.reporter.error(str(error), line=self.lineno)]


class ValueRole(SeminarRole):
    """A computed number by its name."""

    def make(self) -> nodes.Node:
        """Look it up."""
        if self.text not in values():
            raise ValueError(f"no value {self.text!r}; there are {', '.join(values())}")
        return nodes.Text(values()[self.text])


class MarksRole(SeminarRole):
    """When a block starts and ends, in each plan that has it."""

    def make(self) -> nodes.Node:
        """Write the minutes."""
        marks = [
            f"{start}–{end} of {length}"
            for length in plan()["plans"]
            for block, start, end in minute_marks(length)
            if block["id"] == self.text
        ]
        if not marks:
            raise ValueError(f"no block {self.text!r} in {PLAN.name}")
        return nodes.Text(f"Minutes {', '.join(marks)}.")


class ExplorerRole(SeminarRole):
    """A link to a state of an explorer."""

    def make(self) -> nodes.Node:
        """Make the link."""
        if self.text not in LINKS:
            raise ValueError(f"no link {self.text!r}; there are {', '.join(LINKS)}")
        link = LINKS[self.text]
        uri = self.env.app.builder.get_relative_uri(self.env.docname, link.page)
        return nodes.reference("", link.title, refuri=f"{uri}#{link.fragment}")


class SlideRole(SeminarRole):
    """A link to a slide as it is presented, by its name; the text is its number."""

    def make(self) -> nodes.Node:
        """Make the link."""
        if self.text not in slides():
            raise ValueError(f"no slide {self.text!r}; there are {', '.join(slides())}")
        uri = self.env.app.builder.get_relative_uri(self.env.docname, "seminar/slides")
        return nodes.reference(
            "", str(slides()[self.text].number), refuri=f"{uri}?present#{self.text}"
        )


class ThreadRole(SeminarRole):
    """A link to a public thread, given as ``owner/repository#number``."""

    def make(self) -> nodes.Node:
        """Make the link."""
        thread = THREAD.fullmatch(self.text)
        if not thread:
            raise ValueError(f"{self.text!r} is no thread: owner/repository#number expected")
        owner, repository, number = thread.groups()
        uri = f"https://github.com/{owner}/{repository}/issues/{number}"
        return nodes.reference("", f"{repository} {number}", refuri=uri)


class SheetRole(SeminarRole):
    """A link to the slides or to a sheet, which `seminar` (in `tools`) writes into the site."""

    def make(self) -> nodes.Node:
        """Make the link."""
        if self.text not in SHEETS:
            raise ValueError(f"no sheet {self.text!r}; there are {', '.join(SHEETS)}")
        uri = self.env.app.builder.get_relative_uri(self.env.docname, f"seminar/{self.text}")
        return nodes.reference("", SHEETS[self.text], refuri=uri)


DIRECTIVES = {
    "quiz": QuizDirective,
    "answer-key": KeyDirective,
    "plan": PlanDirective,
    "cut-list": CutListDirective,
    "homework": HomeworkDirective,
    "explorer-links": ExplorerLinksDirective,
    "objectives": ObjectivesDirective,
    "misconceptions": MisconceptionsDirective,
}
ROLES = {
    "value": ValueRole,
    "marks": MarksRole,
    "explorer": ExplorerRole,
    "slide": SlideRole,
    "thread": ThreadRole,
    "sheet": SheetRole,
}


def setup(app: Sphinx) -> None:
    """Register everything with Sphinx."""
    seminar_quiz.setup(app)
    for name, directive in DIRECTIVES.items():
        app.add_directive(name, directive)
    for name, role in ROLES.items():
        app.add_role(name, role())
