// What a reader loses who enlarges the page or its spacing: what is cut off, and how wide it gets.
() => {
  const cuts = (value) => value === "hidden" || value === "clip";
  const cutOff = [...document.querySelectorAll("body *")].filter((element) => {
    // an equation's MathML is there to be heard, and hidden from sight; a field's text scrolls
    if (element.closest("svg, .math, noscript, input")) return false;
    const style = getComputedStyle(element);
    if (!cuts(style.overflowX) && !cuts(style.overflowY)) return false;
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) return false;
    if (!element.checkVisibility({ visibilityProperty: true })) return false;
    return (
      (cuts(style.overflowX) && element.scrollWidth > element.clientWidth + 1) ||
      (cuts(style.overflowY) && element.scrollHeight > element.clientHeight + 1)
    );
  });
  return {
    viewport: document.documentElement.clientWidth,
    scrollWidth: document.scrollingElement.scrollWidth,
    cutOff: cutOff.map((element) => element.outerHTML.slice(0, 100)),
  };
}
