"""An explorer on a page, moved as a reader moves it, beside the package's state of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Locator, Page

from elmo_toy.widgets import _gradient, _mixture, _reader, _seeds, _shift
from elmo_toy.worked_example import PRESETS, eight_states

Texts = Mapping[str, str]
LOSSES = tuple(f"{state.forward.loss:.6f}" for state in eight_states())


@dataclass(frozen=True)
class Kind:
    """What the tests know of an explorer."""

    tag: str
    page: str
    start: Any
    read: Callable[[Any], Texts]
    moved: Callable[[Any, str, Any], Any]
    #: What its static table holds.
    static: tuple[str, ...] = LOSSES
    #: The slider whose end changes most.
    slider: str = "gamma"
    #: A control that leads to another drawing.
    other: str = "button[value=lower]"
    #: As a script: the control that move i of many sets, and its value.
    many: str = "(i) => ['gamma', ((i % 40) - 20) / 10]"
    #: How many controls are to be seen with everything shown, at least.
    controls: int = 12


MIXTURE = Kind(
    "elmo-mixture",
    "notebooks/03_softmax_mixture.html",
    _mixture.MixtureState(tuple(PRESETS["upper"].tolist())),
    _mixture.read,
    _mixture.moved,
)
GRADIENT = Kind(
    "elmo-gradient",
    "notebooks/04_gradient.html",
    _gradient.GradientState(),
    _gradient.read,
    _gradient.moved,
)
SHIFT = Kind(
    "elmo-shift",
    "notebooks/02_directional_lms.html",
    _shift.ShiftState(),
    _shift.read,
    _shift.moved,
    static=tuple(text for model in _shift.data()["models"].values() for text in model["texts"]),
    slider="at",
    other="input[value=joined]",
    many="(i) => ['at', i % 12]",
    controls=7,
)
SEEDS = Kind(
    "elmo-seeds",
    "notebooks/06_experiments.html",
    _seeds.SeedsState(),
    _seeds.read,
    _seeds.moved,
    static=tuple(
        _seeds.read(_seeds.SeedsState(task, name))["five"]
        for task in _seeds.TASKS
        for name in _seeds.CONDITIONS
        if name != "mixture"
    ),
    slider="size",
    other="button[value='100']",
    many="(i) => ['size', 1 + (i % 5)]",
    controls=11,
)
READER = Kind(
    "elmo-reader",
    "notebooks/01_word_types.html",
    _reader.example("watch"),
    _reader.read,
    _reader.moved,
    static=tuple(
        text
        for name, (words, (first, _), (second, _)) in _reader.EXAMPLES.items()
        for text in (
            *(words, first, second),
            _reader.read(dataclasses.replace(_reader.example(name), shown=True))["mixture"],
        )
    ),
    slider="weight-2",
    other="input[value=different]",
    many="(i) => ['weight-2', (1 + (i % 90)) / 100]",
    controls=17,
)
KINDS = (MIXTURE, GRADIENT, SHIFT, SEEDS, READER)


@dataclass
class Driver:
    """Moves the controls of an explorer, and says where its numbers are not the package's."""

    page: Page
    kind: Kind
    state: Any = None
    problems: list[str] = field(default_factory=list)
    moves: int = 0

    def __post_init__(self) -> None:
        self.state = self.kind.start if self.state is None else self.state

    @property
    def element(self) -> Locator:
        """The explorer."""
        return self.page.locator(self.kind.tag)

    def control(self, name: str) -> Locator:
        """A slider."""
        return self.element.locator(f'input[type=range][data-control="{name}"]')

    def button(self, action: str, value: str) -> Locator:
        """A button; one that an unseen variant holds cannot be pressed."""
        return self.element.locator(f'button[data-action="{action}"][value="{value}"]')

    @property
    def shown(self) -> dict[str, str]:
        """The texts on the page by name; a name whose texts differ is a problem."""
        found: dict[str, str] = self.page.evaluate(
            """tag => Object.fromEntries([...document.querySelectorAll(`${tag} [data-value]`)]
                 .map((part) => [part.dataset.value, part.textContent]))""",
            self.kind.tag,
        )
        return found

    def compare(self, what: str) -> None:
        """Compare all texts with the package's for the state that the controls should have led to.

        A derivative that is measured carries the rounding of its step.
        """
        self.moves += 1
        self.page.wait_for_function(
            "tag => !document.querySelector(`${tag} [aria-busy=true]`)", arg=self.kind.tag
        )
        expected = self.kind.read(self.state)
        for name, text in self.shown.items():
            wanted = expected[name] if name else ""
            if text != wanted and not self._within_rounding(name, text, wanted):
                self.problems.append(f"{what}: {name} shows {text!r}, the package has {wanted!r}")

    def _within_rounding(self, name: str, text: str, wanted: str) -> bool:
        if not name.startswith(("measured-", "off-")) or "?" in (text, wanted):
            return False
        numbers = [
            0.0 if word.startswith("about") else float(word.replace("−", "-"))
            for word in (text, wanted)
        ]
        rounding = 1e-15 / _gradient.DELTAS[self.state.delta]
        return abs(numbers[0] - numbers[1]) <= 1.01e-6 + rounding

    def to(self, control: str, value: Any, what: str) -> None:
        """Follow a control in the package's state, and compare."""
        before = self.state
        self.state = self.kind.moved(self.state, control, value)
        if self.state == before:
            self.problems.append(f"{what}: {control} did not move, it is at {value!r}")
        self.compare(f"{what} {control}")

    def key(self, name: str, key: str) -> None:
        """Press a key on a slider."""
        slider = self.control(name)
        slider.focus()
        self.page.keyboard.press(key)
        self.to(name, _number(slider), key)

    def point(self, name: str, share: float) -> None:
        """Press on a slider at a share of its length."""
        slider = self.control(name)
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        assert box
        slider.click(position={"x": box["width"] * share, "y": box["height"] / 2})
        self.to(name, _number(slider), "pointer on")

    def press(self, action: str, value: str, key: str | None = None) -> None:
        """Press a button, with the pointer or with a key."""
        button = self.button(action, value)
        if key is None:
            button.click()
        else:
            button.focus()
            self.page.keyboard.press(key)
        convert = {"gamma": float, "steps": int}.get(action, str)
        self.to(action, convert(value), "press")

    def drag(self, part: str, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag from a place in a drawing to another, in shares of its width and height."""
        svg = self.element.locator(f'[data-part="{part}"]')
        svg.scroll_into_view_if_needed()
        box = svg.bounding_box()
        assert box
        mouse = self.page.mouse
        places = [
            (box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)
        ]
        mouse.move(*places[0])
        mouse.down()
        mouse.move(*places[1], steps=3)
        mouse.up()

    def reset(self) -> None:
        """Press the button that leads back to the start."""
        self.element.get_by_role("button", name="Reset").click()
        self.state = self.kind.start

    def start_again(self) -> None:
        """Open the page without a link, which is where its reset leads, and come back to here."""
        state = self.state
        self.page.goto(self.page.url.partition("#")[0], wait_until="load")
        self.state = self.kind.start
        self.compare("opened again")
        self.press("shown", "1" if state.shown else "")

    @property
    def height(self) -> float:
        """How high the explorer is on the page."""
        box = self.element.bounding_box()
        assert box
        return box["height"]

    def control_problems(self) -> list[str]:
        """Controls smaller than 24 px, and sliders whose value is not spoken in words."""
        problems = []
        controls = self.element.locator("button:visible, input:visible, select:visible").all()
        if len(controls) < self.kind.controls:
            problems.append(f"only {len(controls)} controls are to be seen")
        for control in controls:
            box = control.bounding_box()
            if not box or min(box["width"], box["height"]) < 24:
                problems.append(f"too small: {control.evaluate('(e) => e.outerHTML')[:80]}")
        for slider in self.element.locator("input[type=range]").all():
            spoken = slider.get_attribute("aria-valuetext") or ""
            if len(spoken.split()) < 3:
                problems.append(f"a slider says no more than {spoken!r}")
        return problems

    def keyboard_problems(self) -> list[str]:
        """Controls that Tab does not reach, or on which its focus is not to be seen."""
        self.element.evaluate("(e) => { e.tabIndex = -1; e.focus(); }")
        reached = set()
        for _ in range(40):
            self.page.keyboard.press("Tab")
            name = self.element.evaluate(
                """(explorer) => {
                  const active = document.activeElement;
                  if (!explorer.contains(active)) return "";
                  const outlined = getComputedStyle(active).outlineStyle !== "none";
                  return (outlined ? "" : "unseen: ") + active.outerHTML.slice(0, 120);
                }"""
            )
            if not name:
                break
            reached.add(name)
        wanted = self.element.evaluate(
            """(it) => [...it.querySelectorAll("button, select, input:not([type=radio])")]
                 .filter((e) => e.checkVisibility({ visibilityProperty: true }))
                 .map((e) => e.outerHTML.slice(0, 120))"""
        )
        missed = [f"Tab does not reach {name}" for name in wanted if name not in reached]
        return missed + [name for name in reached if name.startswith("unseen")]

    def link(self) -> dict[str, str]:
        """Ask for a link to the state, and say what it holds."""
        self.element.get_by_role("button", name="Link to this state").click()
        _, mark, query = self.page.url.partition(f"#{self.kind.tag}?")
        assert mark, self.page.url
        return dict(part.split("=") for part in query.split("&"))


def _number(slider: Locator) -> float | int:
    value = float(slider.input_value())
    # a place in a list
    return int(value) if slider.get_attribute("data-control") in ("rate", "delta") else value
