"""The live view of an explorer: ipywidgets that move one state and print its texts."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import ipywidgets

Texts = Mapping[str, str]


class Choice(NamedTuple):
    """A value of a list whose lines depend on the state: (name, value) each."""

    options: Sequence[tuple[str, Any]]
    value: Any


class View:
    """One state, the controls that move it, and a table and a drawing that follow.

    Parameters
    ----------
    state
        Any frozen value.
    read
        Its texts by name, as the page shows them.
    moved
        The state after a control has been set to a value.
    controls
        Widgets by name; those with a value are kept at ``setting(state)[name]``, a value or a
        `Choice`. The name of a button also holds its number: ``steps 10``.
    show
        HTML of a state and its texts.
    """

    def __init__(
        self,
        state: Any,
        read: Callable[[Any], Texts],
        moved: Callable[[Any, str, Any], Any],
        controls: Mapping[str, ipywidgets.DOMWidget],
        setting: Callable[[Any], Mapping[str, Any]],
        show: Callable[[Any, Texts], str],
    ) -> None:
        self.start = self.state = state
        self.controls = dict(controls)
        self._read, self._moved, self._setting, self._show = read, moved, setting, show
        self._output = ipywidgets.HTML()
        self._updating = False
        reset = ipywidgets.Button(description="Reset")
        reset.on_click(lambda _: self._to(self.start))
        for name, control in self.controls.items():
            if isinstance(control, ipywidgets.Button):
                # "steps 10": what is moved, and by how much
                what, _, amount = name.partition(" ")
                control.on_click(lambda _, what=what, by=int(amount): self.move(what, by))
            else:
                control.observe(lambda change, name=name: self._observed(name, change), "value")
        self.box = ipywidgets.VBox([*self.controls.values(), reset, self._output])
        self._to(state)

    @property
    def texts(self) -> Texts:
        """What is shown now, by name."""
        return self._read(self.state)

    def move(self, control: str, value: Any) -> None:
        """Do what a reader does who moves a control."""
        self._to(self._moved(self.state, control, value))

    def _observed(self, name: str, change: Mapping[str, Any]) -> None:
        if not self._updating:  # a slider that follows the state must not move it
            self.move(name, change["new"])

    def _to(self, state: Any) -> None:
        self.state = state
        self._updating = True
        try:
            for name, value in self._setting(state).items():
                if isinstance(value, Choice):
                    self.controls[name].options, value = value
                self.controls[name].value = value
        finally:
            self._updating = False
        self._output.value = self._show(state, self.texts)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as HTML; the first cell of a row names it."""
    style = ' style="text-align:right;padding:0.1em 0.8em"'
    lines = [head, *rows]
    cells = [[f"<td{style}>{html.escape(cell)}</td>" for cell in line] for line in lines]
    return "<table>" + "".join(f"<tr>{''.join(line)}</tr>" for line in cells) + "</table>"
