"""What an explorer is, whatever it explores: a display bundle with two front ends."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from elmo_toy.widgets._view import View


@dataclass(frozen=True)
class Explorer:
    """Shown by a notebook cell: live in Jupyter, computed by the page itself in the book.

    Parameters
    ----------
    name
        Of the custom element, ``elmo-…``; also its id, to which a link leads.
    state
        Where it starts, in the form of its links.
    description
        What it is, for hosts that show text only; at least five words.
    head, rows
        The static table that stands in for it where nothing computes.
    make_view
        Makes the live view; called when a notebook asks for it.
    data
        What the page computes with, where that was measured: JSON in an attribute.
    """

    name: str
    state: str
    description: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    make_view: Callable[[], View]
    data: Mapping[str, Any] | None = None
    _made: list[View] = field(default_factory=list, repr=False)

    @property
    def view(self) -> View:
        """The live view, made at its first use."""
        if not self._made:
            self._made.append(self.make_view())
        return self._made[0]

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        # put together here, because ipywidgets 7, which Colab has, offers no bundle of its own
        live = {"version_major": 2, "version_minor": 0, "model_id": self.view.box.model_id}
        return {
            "application/vnd.jupyter.widget-view+json": live,
            "text/plain": f"Explorer: {self.description}",
            "text/html": self.as_html(),
        }

    def as_html(self) -> str:
        """The custom element with its static table."""
        cells = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in self.head)
        lines = [
            f'<th scope="row">{html.escape(row[0])}</th>'
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:])
            for row in self.rows
        ]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        data = json.dumps(self.data, separators=(",", ":"), ensure_ascii=False)
        attribute = "" if self.data is None else f' data="{html.escape(data)}"'
        return (
            f'<{self.name} id="{self.name}" class="elmo-explorer" '
            f'state="{html.escape(self.state)}"{attribute}>'
            f'<div class="elmo-static" tabindex="0" role="group" '
            f'aria-label="{html.escape(self.description)}">'
            f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>"
            f"</{self.name}>"
        )
