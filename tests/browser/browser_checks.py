"""What makes a page defective in a browser, as small functions.

`look_at` opens a page, records what the browser does and measures the page; each check takes the
resulting `Visit` and returns a list of problems, empty when there are none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from browser import ADVICE, find_browser
from browser import FLAGS as TOOL_FLAGS
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response
from playwright.sync_api import Error as PlaywrightError
from site_checks import Site

HERE = Path(__file__).parent
MEASURE = (HERE / "measure.js").read_text(encoding="utf-8")
FOCUS = (HERE / "focus.js").read_text(encoding="utf-8")
REFLOW = (HERE / "reflow.js").read_text(encoding="utf-8")

DECORATIVE = "[style*='--elmo-grid']"
"""The grid of a figure carries no information and may be faint."""

SMALLEST_TEXT = {360: 9.0, 1280: 11.0}
"""CSS pixels that a figure's text has at least, for each width of the window.

Eleven pixels are 8 points, the size of a printed caption. On a phone a figure shrinks with its
column, but the phone is held closer: nine look no smaller there.
"""

MAX_LAYOUT_SHIFT = 0.02
"""Sum of a page's layout shifts, each the share of the window that moves times how far it moves.

All of a window 1280 px wide that moves down by one line, 26 px, has 26/1280 = 0.02: that is where a
reader loses the place. (The usual limit for a good page, 0.1, would let five lines pass.)
"""
LINE_CONTRAST = 3.0
TEXT_CONTRAST = 4.5

# For each window Chromium would draw two lists below its address bar, pages themselves, which takes
# longer than the page that is tested. Of what Playwright turns off in the same way, which is
# replaced by this, the rest is turned off again.
OFF = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"),
    *("AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades"),
    *("LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints"),
    *("PaintHolding", "PreconnectToSearch", "ThirdPartyStoragePartitioning"),
)

FLAGS = [
    *TOOL_FLAGS,
    # No name is looked up, so a request to another host fails at once instead of after a time-out.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    f"--disable-features={','.join(OFF)}",
]

WATCH_LAYOUT = """
window.layoutShift = { sum: 0, sources: [] };
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    window.layoutShift.sum += entry.value;
    for (const { node } of entry.sources || []) {
      if (node) window.layoutShift.sources.push(
        `<${node.nodeName.toLowerCase()}.${node.className || ""}>`);
    }
  }
}).observe({ type: "layout-shift", buffered: true });
"""

WATCH_POLICY = """
window.policyViolations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.policyViolations.push(
    `${event.effectiveDirective} stopped ${event.blockedURI} ${event.sample}`.trim());
});
"""

# What waits for the reader to come near (see later.py) is laid out, contained as it is then.
SETTLE = """async () => {
  for (const block of document.querySelectorAll("[data-later]")) {
    Object.assign(block.style, { contentVisibility: "visible", contain: "layout style paint" });
  }
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  do {  // a font is asked for when the text that needs it is laid out
    for (let count = 0; count < 3; count += 1) await frame();
    await document.fonts.ready;
  } while (document.fonts.status === "loading");
  await frame();
  const moving = document.getAnimations().filter(
    (animation) => animation.effect.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(moving.map((animation) => animation.finished));
}"""


def browser_program() -> str:
    """Return the path of the browser to test with.

    Raises
    ------
    RuntimeError
        When there is none; the message says what to install.
    """
    program = find_browser()
    if program is None:
        raise RuntimeError(ADVICE)
    return program


@dataclass(frozen=True)
class Mode:
    """How a page is looked at."""

    scheme: str = "light"
    width: int = 1280
    scripts: bool = True

    def __str__(self) -> str:
        """Words for the message of a failing test."""
        return f"{self.scheme}, {self.width} px" + ("" if self.scripts else ", scripts off")


@dataclass(frozen=True)
class Served:
    """A folder of pages, its address on this machine and its address on disk."""

    site: Site
    http: str
    file: str


@dataclass
class Visit:
    """What happened when a page was opened, and how it measured."""

    name: str
    root: str
    mode: Mode
    errors: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    measured: dict[str, Any] = field(default_factory=dict)
    violations: list[dict[str, Any]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    focus: dict[str, Any] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """The page and the mode, to begin a problem with."""
        return f"{self.name} ({self.mode})"

    @property
    def files(self) -> frozenset[str]:
        """The files of the site that the browser asked for, as paths from its root."""
        return frozenset(
            unquote(urlsplit(url.removeprefix(self.root)).path)
            for url in self.requested
            if url.startswith(self.root)
        )


def new_context(browser: Browser, mode: Mode, **also: Any) -> BrowserContext:
    """Make a fresh profile that looks at pages in this mode; `also` is for Playwright."""
    context = browser.new_context(
        color_scheme="dark" if mode.scheme == "dark" else "light",
        viewport={"width": mode.width, "height": 800},
        java_script_enabled=mode.scripts,
        reduced_motion="reduce",
        **also,
    )
    context.set_default_timeout(60_000)
    context.add_init_script(WATCH_LAYOUT + WATCH_POLICY)
    return context


def watch(page: Page, visit: Visit) -> None:
    """Record errors and requests of a page from now on."""

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            visit.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def on_request(request: Request) -> None:
        if not request.url.startswith(("data:", "blob:")):
            visit.requested.append(request.url)

    def on_failure(request: Request) -> None:
        visit.failed.append(f"{request.url}: {request.failure}")

    def on_response(response: Response) -> None:
        if response.status >= 400:
            visit.failed.append(f"{response.url}: status {response.status}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: visit.errors.append(f"uncaught: {error}"))
    page.on("request", on_request)
    page.on("requestfailed", on_failure)
    page.on("response", on_response)


def look_at(
    context: BrowserContext,
    root: str,
    name: str,
    mode: Mode,
    axe: str | None = None,
    focus: bool = False,
) -> Visit:
    """Open the page `name` of the site at `root` and measure it.

    Parameters
    ----------
    context
        A profile made by `new_context` for the same mode.
    root
        Address of the site's folder, ending in a slash.
    axe
        Source of axe-core, to look for accessibility violations too.
    focus
        Whether to walk over everything that the keyboard reaches.
    """
    result = Visit(name, root, mode)
    page = context.new_page()
    watch(page, result)
    page.goto(root + name, wait_until="load")
    page.evaluate(SETTLE)
    result.measured = page.evaluate(MEASURE, DECORATIVE)
    if axe:
        page.evaluate(axe)
        # What is drawn in an image is not read out, and takes axe longer than all the text.
        page.evaluate(
            "document.querySelectorAll('svg[role=img], svg[aria-hidden=true]')"
            ".forEach((image) => image.replaceChildren())"
        )
        # Without preload axe fetches no style sheet itself, which a page from disk may not do.
        found = page.evaluate(
            "axe.run(document, { resultTypes: ['violations'], preload: false,"
            " rules: { 'label-content-name-mismatch': { enabled: true },"
            " 'target-size': { enabled: true } } })"  # WCAG 2.2: 24 px, or room around it
        )
        result.violations = found["violations"]
    if focus:
        page.keyboard.press("Tab")
        page.evaluate(SETTLE)
        result.focus = page.evaluate(FIRST_STOP) | page.evaluate(FOCUS)
    # with scripts off the browser runs nothing, not even what listens
    result.stopped = page.evaluate("window.policyViolations || []")
    page.close()
    return result


FIRST_STOP = """() => {
  const element = document.activeElement;
  const box = element.getBoundingClientRect();
  const target = document.getElementById((element.getAttribute("href") || "").slice(1));
  return {
    first: element.textContent.trim(),
    leads: Boolean(target && target.closest("main")),
    seen: box.width > 1 && box.height > 1 && box.top >= 0 && box.left >= 0
      && box.right <= innerWidth && box.bottom <= innerHeight,
  };
}"""


# --- checks -------------------------------------------------------------------------------------


def console_errors(visit: Visit) -> list[str]:
    """No script fails and nothing is reported as an error."""
    return [f"{visit.where}: {error}" for error in visit.errors]


def policy_violations(visit: Visit) -> list[str]:
    """The page's own policy (Content-Security-Policy) stops nothing that the page needs."""
    return [f"{visit.where}: {what}" for what in visit.stopped]


def foreign_requests(visit: Visit) -> list[str]:
    """Nothing is asked from outside the site's folder."""
    return [
        f"{visit.where}: requests {url}"
        for url in visit.requested
        if not url.startswith(visit.root)
    ]


def failed_requests(visit: Visit) -> list[str]:
    """Everything that is asked for arrives."""
    return [f"{visit.where}: could not load {failure}" for failure in visit.failed]


def unset_equations(visit: Visit) -> list[str]:
    """Every equation is drawn in its own fonts, carries MathML, and no source is to be seen."""
    measured = visit.measured
    problems = [f"shows the source of an equation: {text!r}" for text in measured["raw"]]
    problems += [f"an equation is not set: {name}" for name in measured["unset"]]
    problems += [f"the font {family} did not load" for family in measured["badFonts"]]
    for equation in measured["equations"]:
        if not equation["spoken"]:
            problems.append(f"the equation {equation['name']!r} has no MathML")
        if not equation["set"]:
            problems.append(f"the equation {equation['name']!r} is not drawn by its style sheet")
    return [f"{visit.where}: {problem}" for problem in problems]


def accessibility_violations(visit: Visit) -> list[str]:
    """Nothing is there that axe-core objects to."""
    return [
        f"{visit.where}: axe {violation['id']} ({violation['impact']}), {violation['help']}: "
        f"{node['html'][:120]}"
        for violation in visit.violations
        for node in violation["nodes"][:5]
    ]


def horizontal_scroll(visit: Visit) -> list[str]:
    """No page is wider than the window, and nothing sticks out of it unreachably."""
    measured = visit.measured
    problems = [f"{visit.where}: {name} sticks out of the window" for name in measured["wide"][:5]]
    if measured["scrollWidth"] > measured["viewport"]:
        problems.append(
            f"{visit.where}: is {measured['scrollWidth']} px wide in a window of "
            f"{measured['viewport']} px"
        )
    return problems


def layout_shift(visit: Visit) -> list[str]:
    """Nothing jumps while the page loads."""
    shift = visit.measured["layoutShift"]
    if shift is not None and shift < MAX_LAYOUT_SHIFT:
        return []
    return [f"{visit.where}: layout shift {shift}, by {sorted(set(visit.measured['shifted']))}"]


def invisible_figures(visit: Visit) -> list[str]:
    """Each figure shows a picture, inside the window; an image arrives and keeps its shape."""
    problems = []
    for figure in visit.measured["figures"]:
        if not figure["visible"]:
            problems.append(f"{visit.where}: the figure {figure['name']} shows nothing")
        problems += [
            f"{visit.where}: {name} sticks out of the window" for name in figure["outside"]
        ]
    for fault in ("broken", "distorted"):
        problems += [f"{visit.where}: {name} is {fault}" for name in visit.measured[fault]]
    return problems


def small_figure_text(visit: Visit) -> list[str]:
    """Text in a figure stays readable at the size at which the figure is shown."""
    limit = SMALLEST_TEXT[visit.mode.width]
    problems = []
    for figure in visit.measured["figures"]:
        # A hundredth of a pixel is rounding of the scale.
        small = [text for text in figure["texts"] if text["size"] < limit - 0.01]
        if small:
            least = min(small, key=lambda text: text["size"])
            problems.append(
                f"{visit.where}: {figure['name']}: {len(small)} texts are too small, "
                f"{least['name']} has {least['size']:.1f} px, at least {limit:g} expected"
            )
    return problems


def faint_figures(visit: Visit) -> list[str]:
    """Lines and text of a figure stand out from what is behind them."""
    return [
        f"{visit.where}: {figure['name']}: {part['name']} is {part['colours']}, a contrast of "
        f"{part['contrast']:.2f}, at least {limit:g} expected"
        for figure in visit.measured["figures"]
        for kind, limit in (("marks", LINE_CONTRAST), ("texts", TEXT_CONTRAST))
        for part in figure[kind]
        if part["contrast"] < limit
    ]


def keyboard_problems(visit: Visit) -> list[str]:
    """Tab reaches the link to the main part first, and every stop shows that it has the focus."""
    focus = visit.focus
    if not focus:
        return []
    problems = []
    if not (focus["leads"] and focus["seen"]):
        problems.append(f"Tab first reaches {focus['first']!r}, not a visible link to <main>")
    if not focus["count"]:
        problems.append("the keyboard reaches nothing")
    problems += [f"focus is not to be seen on {element}" for element in focus["unseen"]]
    problems += [f"with the focus, something hides {element}" for element in focus["obscured"]]
    return [f"{visit.where}: {problem}" for problem in problems]


def motion(visit: Visit) -> list[str]:
    """Nothing moves by itself, for the reader of these visits has asked for less motion."""
    problems = [f"{visit.where}: {name} moves without end" for name in visit.measured["moving"]]
    if visit.measured["smooth"]:
        problems.append(f"{visit.where}: a link scrolls the page smoothly")
    return problems


Check = Callable[[Visit], list[str]]
CHECKS: tuple[Check, ...] = (
    console_errors,
    policy_violations,
    foreign_requests,
    failed_requests,
    unset_equations,
    accessibility_violations,
    horizontal_scroll,
    layout_shift,
    invisible_figures,
    small_figure_text,
    faint_figures,
    keyboard_problems,
    motion,
)


def problems_of(visits: list[Visit], check: Check) -> list[str]:
    """All problems that a check finds, each once."""
    return list(dict.fromkeys(problem for seen in visits for problem in check(seen)))


# --- what a reader changes ----------------------------------------------------------------------

WINDOW = (1280, 800)
"""In pixels; what is enlarged to 400 % has a quarter of each left (WCAG 2.2, 1.4.10)."""

SPACING = """
  * { line-height: 1.5 !important; letter-spacing: 0.12em !important;
      word-spacing: 0.16em !important }
  p { margin-bottom: 2em !important }
"""
"""The spacing that a reader may ask for without losing anything (WCAG 2.2, 1.4.12)."""


def reflow_problems(page: Page, name: str) -> list[str]:
    """Enlarge an open page, then widen its spacing: nothing is cut off or sticks out."""
    problems = []
    for times, spaced in ((2, False), (4, False), (2, True)):
        how = f"at {times}00 %{' with wider spacing' * spaced}"
        width, height = (length // times for length in WINDOW)
        page.set_viewport_size({"width": width, "height": height})
        if spaced:
            page.add_style_tag(content=SPACING)
        page.evaluate(SETTLE)
        found = page.evaluate(REFLOW)
        problems += [f"{name} {how}: cuts off {element}" for element in found["cutOff"][:5]]
        if found["scrollWidth"] > found["viewport"]:
            problems.append(f"{name} {how}: is {found['scrollWidth']} px wide")
    return problems


# --- what a reader does -------------------------------------------------------------------------


def search_problems(page: Page, word: str, shown: tuple[str, ...]) -> list[str]:
    """Search for `word` with the page's own search and open the first result.

    The page found must show one of `shown`: the index also holds the source of equations.
    """
    page.keyboard.press("Control+k")
    page.keyboard.type(word)
    page.keyboard.press("Enter")
    try:
        first = page.locator("#search-results li a").first
        first.wait_for()
    except PlaywrightError as error:
        return [f"{page.url}: the search for {word!r} finds nothing ({str(error).splitlines()[0]})"]
    first.click()
    page.wait_for_load_state()
    text = page.locator("article").inner_text().lower()
    if not any(form in text for form in shown):
        return [f"{page.url}: was found by the search but shows none of {shown}"]
    return []


def theme_switch_problems(page: Page) -> list[str]:
    """Use the theme switch by keyboard: the colours change, and a reload keeps them."""
    colour = "() => getComputedStyle(document.documentElement).backgroundColor + "
    colour += "getComputedStyle(document.body).backgroundColor"
    switch = page.locator("button.theme-switch-button").first
    if not switch.count():
        return [f"{page.url}: has no theme switch"]
    seen = [page.evaluate(colour)]
    for _ in range(3):
        switch.focus()
        page.keyboard.press("Enter")
        page.evaluate(SETTLE)
        seen.append(page.evaluate(colour))
    if len(set(seen)) < 2:
        return [f"{page.url}: the theme switch does not change the colours"]
    page.reload(wait_until="load")
    kept = page.evaluate(colour)
    return [] if kept == seen[-1] else [f"{page.url}: a reload loses the chosen theme"]
