// Focuses each element that the keyboard reaches and says on which of them nothing is to be seen, and
// which of them lie under something else or outside the window when the focus comes to them.
// Runs after a first press of Tab, so that the browser shows focus as it does for a keyboard.
() => {
  const still = document.createElement("style");
  still.textContent = "*, *::before, *::after { transition: none !important; animation: none !important; }";
  document.head.append(still);
  const SELECTOR =
    "a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex^='-']), [contenteditable]";
  const SIGNS = ["outlineStyle", "outlineWidth", "outlineColor", "boxShadow", "backgroundColor",
    "borderColor", "borderStyle", "textDecorationLine", "textDecorationColor", "textDecorationThickness"];
  // Focus may show on the card that a link stands for, or on a box before or after the link.
  const card = (element) => element.closest(".sd-card") || element;
  const styles = (element) =>
    [[element], [element, "::before"], [element, "::after"], [card(element)]].map(
      ([target, pseudo]) => getComputedStyle(target, pseudo),
    );
  const look = (element) =>
    styles(element)
      .map((style) => {
        const outline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
        return SIGNS.map((sign) => (outline || !sign.startsWith("outline") ? style[sign] : ""));
      })
      .join("|");
  const unseen = [];
  let count = 0;
  for (const element of document.querySelectorAll(SELECTOR)) {
    if (element.disabled || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.tabIndex < 0 || element.closest("[inert], dialog:not([open])")) continue;
    document.activeElement.blur();
    const before = look(element);
    element.focus({ preventScroll: true });
    if (document.activeElement !== element) continue;
    count += 1;
    const after = look(element);
    const box = card(element).getBoundingClientRect();
    const empty = box.width * box.height === 0;
    if (empty || before === after) {
      unseen.push(element.outerHTML.slice(0, 140));
    }
  }
  // Backwards from the page's end: each then stops at the upper edge, where a bar may lie over it.
  const obscured = [];
  scrollTo(0, document.scrollingElement.scrollHeight);
  for (const element of [...document.querySelectorAll(SELECTOR)].reverse()) {
    if (element.disabled || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.tabIndex < 0 || element.closest("[inert], dialog:not([open])")) continue;
    document.activeElement.blur();
    element.focus();
    if (document.activeElement !== element) continue;
    const boxes = [...card(element).getClientRects()].filter((box) => box.width * box.height);
    const points = boxes.flatMap((box) =>
      [0.1, 0.5, 0.9].flatMap((x) =>
        [0.1, 0.5, 0.9].map((y) => [box.left + x * box.width, box.top + y * box.height]),
      ),
    );
    const free = points.some(([x, y]) => {
      const top = document.elementFromPoint(x, y);
      return top && (card(element).contains(top) || top.contains(element));
    });
    if (!free) obscured.push(element.outerHTML.slice(0, 140));
  }
  still.remove();
  scrollTo(0, 0);
  return { count, unseen, obscured };
}
