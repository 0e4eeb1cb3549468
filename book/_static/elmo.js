"use strict";

/* A browser refuses to fetch one local file from another. Without this the search page, opened from
   a disk, would try to fetch each page that it found, for the lines around the word. */
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

/* A box that is too wide scrolls by itself. Such a box must be reachable with the keyboard, but only
   while it does scroll: a stop at every formula would be a burden. To measure a box is to have it
   laid out, which for most of a page is when the reader comes near (see later.py), or presses Tab:
   the next stop may be far away. */
globalThis.ElmoBoxes = (() => {
  const boxes = new Set();

  // What is in a box is asked too: a box that is itself not laid out yet doesn't know it.
  const width = (box) => Math.max(box.scrollWidth, box.firstElementChild?.offsetWidth || 0);
  const scrolls = (box) => width(box) > box.clientWidth + 1
    || (box.matches("pre") && box.scrollHeight > box.clientHeight + 1);

  function mark(some) {
    const found = some.map(scrolls); // all are measured before any is changed
    some.forEach((box, k) => {
      if (found[k]) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  }

  // A box may be there while what is in it is not.
  const isLaidOut = (box) => (box.firstElementChild ?? box).checkVisibility({ contentVisibilityAuto: true });
  const markLaidOut = (some) => mark(some.filter(isLaidOut));
  const observer = new ResizeObserver((entries) => markLaidOut(entries.map((entry) => entry.target)));

  // To measure at once would have the page laid out for it; an observer that begins anew is told
  // of the box once the page is laid out anyhow.
  function ask(box) {
    observer.unobserve(box);
    observer.observe(box);
  }

  function watch(box) {
    boxes.add(box);
    observer.observe(box);
    box.addEventListener("contentvisibilityautostatechange", () => ask(box));
  }

  document.querySelectorAll("div.math, pre, .cell_output > .output, .pst-scrollable-table-container")
    .forEach(watch);
  // A font that arrives late widens a formula, and its box stays as it was.
  document.fonts.addEventListener("loadingdone", () => boxes.forEach(ask));
  addEventListener("keydown", function first({ key }) {
    if (key !== "Tab") return;
    removeEventListener("keydown", first);
    mark([...boxes]);
  });
  return { mark, watch };
})();

/* The theme has this as a handler within the page, which the page's policy stops. */
document.querySelectorAll(".elmo-print").forEach((button) => {
  button.addEventListener("click", () => window.print());
});
