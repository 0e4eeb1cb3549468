// Focuses each element that the keyboard reaches and says on which of them nothing is to be seen.
// Runs after a first press of Tab, so that the browser shows focus as it does for a keyboard.
() => {
  const still = document.createElement("style");
  still.textContent = "*, *::before, *::after { transition: none !important; animation: none !important; }";
  document.head.append(still);
  const SELECTOR =
    "a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex^='-']), [contenteditable]";
  const SIGNS = ["outlineStyle", "outlineWidth", "outlineColor", "boxShadow", "backgroundColor",
    "borderColor", "borderStyle", "textDecorationLine", "textDecorationColor", "textDecorationThickness"];
  const look = (element) => {
    const style = getComputedStyle(element);
    const signs = SIGNS.map((sign) => style[sign]);
    const outline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    return { text: signs.slice(3).join("|"), outline: outline ? signs.slice(0, 3).join("|") : "" };
  };
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
    const box = element.getBoundingClientRect();
    const empty = box.width * box.height === 0;
    if (empty || (before.text === after.text && before.outline === after.outline)) {
      unseen.push(element.outerHTML.slice(0, 140));
    }
  }
  still.remove();
  return { count, unseen };
}
