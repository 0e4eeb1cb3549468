"""A quiz as elements of a page, and as a list with a key where nobody can answer it.

It is made of ordinary elements (fieldset, radio buttons, a folded answer), so that it reads and
folds without scripts and prints; elmo-quiz.js says what is right.
"""

import html
from collections.abc import Sequence
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator

from elmo_toy import quiz

from .seminar_data import sets

#: Builders whose format is HTML and whose reader cannot answer.
ON_PAPER = {"epub", "singlehtml"}


class Tag(nodes.General, nodes.Element):  # type: ignore[misc]  # docutils has no types
    """An element of HTML: its name is `name`, its attributes `html`; its children are ordinary."""


def tag(name: str, /, *children: nodes.Node | str, **attributes: str) -> Tag:
    """Make an element; an underscore at the end of an attribute's name is left out."""
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    inside = [nodes.Text(child) if isinstance(child, str) else child for child in children]
    return Tag("", *inside, name=name, html=given)


def visit_tag(translator: HTML5Translator, node: Tag) -> None:
    """Open an element."""
    attributes = "".join(f' {key}="{html.escape(text)}"' for key, text in node["html"].items())
    translator.body.append(f"<{node['name']}{attributes}>")


def depart_tag(translator: HTML5Translator, node: Tag) -> None:
    """Close it."""
    if node["name"] != "input":
        translator.body.append(f"</{node['name']}>")


class Quiz(nodes.General, nodes.Element):  # type: ignore[misc]  # docutils has no types
    """A set of questions as elements of HTML; `items` is the set's name, for other builders."""


class Key(nodes.General, nodes.Element):  # type: ignore[misc]  # docutils has no types
    """The answers of a set, which show on paper only."""


def visit_nothing(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write the children only."""


def item_elements(
    item: quiz.Item, where: Sequence[nodes.Node], number: str, *, asked: bool = False
) -> Tag:
    """One question: radio buttons, a button, what is said, and the folded answer.

    On paper one that is `asked` in class says so.
    """
    letters = quiz.LETTERS
    options = [
        tag(
            "label",
            tag("input", type="radio", name=item.id, value=letter),
            tag("span", f"{letter} ", class_="kit-letter"),
            tag("span", option.text),
        )
        for letter, option in zip(letters, item.options, strict=False)
    ]
    whys = [
        tag(
            "li",
            tag("strong", f"{letter}, right. " if option.right else f"{letter}. "),
            tag("span", option.explanation),
            data_letter=letter,
            **({"data_right": ""} if option.right else {}),
        )
        for letter, option in zip(letters, item.options, strict=False)
    ]
    mark = [tag("span", "Asked in class. ", class_="kit-asked")] if asked else []
    return tag(
        "fieldset",
        tag("legend", *mark, f"{number}{item.question}"),
        *options,
        tag("p", tag("button", "Check", type="button"), class_="kit-check"),
        tag("p", role="status", class_="kit-said"),
        tag(
            "details",
            tag("summary", "Answer and reasons"),
            tag("ul", *whys),
            nodes.paragraph("", "", nodes.Text("Worked out in "), *where, nodes.Text(".")),
        ),
        class_="kit-item",
        id=f"item-{item.id.lower()}",
    )


def key_lines(items: Sequence[quiz.Item]) -> list[str]:
    """The right letter of each question, why, and the beliefs behind the others."""
    lines = []
    for item in items:
        beliefs = ", ".join(
            f"{letter} {option.misconception}"
            for letter, option in zip(quiz.LETTERS, item.options, strict=False)
            if option.misconception
        )
        name = f"{item.id}: " if item.misconception else ""
        behind = f" ({beliefs})" if beliefs else ""
        right = item.right.text.removesuffix(".")
        lines.append(f"{name}{item.key}. {right}. {item.right.explanation}{behind}")
    return lines


def as_list(lines: Sequence[str]) -> nodes.enumerated_list:
    """A numbered list of plain lines."""
    return nodes.enumerated_list(
        "",
        *(nodes.list_item("", nodes.paragraph("", line)) for line in lines),
        enumtype="arabic",
        prefix="",
        suffix=".",
    )


def on_paper(items: Sequence[quiz.Item]) -> nodes.enumerated_list:
    """The questions with their options, unanswered."""
    entries = []
    for item in items:
        options = "".join(
            f"{letter}) {option.text}; "
            for letter, option in zip(quiz.LETTERS, item.options, strict=False)
        )
        entries.append(f"{item.question} {options.rstrip('; ')}")
    return as_list(entries)


def answer_key(name: str) -> Key:
    """The key of a set, on a page of its own when it is printed."""
    lines = [tag("li", line) for line in key_lines(sets()[name])]
    title = tag("p", tag("strong", "Key"))
    return Key("", tag("div", title, tag("ol", *lines), class_="kit-key"), items=name)


class PlainQuizzes(SphinxPostTransform):
    """For a builder whose reader cannot answer: questions as a list, the key after them."""

    default_priority: ClassVar[int] = 100

    def run(self, **_: Any) -> None:
        """Replace what only a page of the site can show."""
        builder = self.app.builder
        if builder.format == "html" and builder.name not in ON_PAPER:
            return
        for node in list(self.document.findall(Quiz)):
            node.replace_self([on_paper(sets()[node["items"]])])
        for node in list(self.document.findall(Key)):
            title = nodes.paragraph("", "", nodes.strong("", "Key"))
            node.replace_self([title, as_list(key_lines(sets()[node["items"]]))])


def setup(app: Sphinx) -> None:
    """Register the elements with Sphinx."""
    app.add_node(Tag, html=(visit_tag, depart_tag))
    for element in (Quiz, Key):
        app.add_node(element, html=(visit_nothing, visit_nothing))
    app.add_post_transform(PlainQuizzes)
