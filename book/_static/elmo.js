"use strict";

/* A browser refuses to fetch one local file from another. Without this the search page, opened from
   a disk, would try to fetch each page that it found, for the lines around the word. */
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

/* A box that is too wide scrolls by itself. Such a box must be reachable with the keyboard, but only
   while it does scroll: a stop at every formula would be a burden. Nothing is measured before it is
   laid out, which for most of a page is when the reader comes near (see later.py). */
(function () {
  const boxes = document.querySelectorAll(
    "div.math, pre, .cell_output > .output, .pst-scrollable-table-container");

  function mark(box) {
    if (!box.checkVisibility({ contentVisibilityAuto: true })) return;
    if (box.scrollWidth > box.clientWidth + 1) {
      box.tabIndex = 0;
    } else {
      box.removeAttribute("tabindex");
    }
  }

  const observer = new ResizeObserver((entries) => entries.forEach((entry) => mark(entry.target)));
  boxes.forEach((box) => observer.observe(box));
  // A font that arrives late widens a formula, and its box stays as it was.
  document.fonts.addEventListener("loadingdone", () => boxes.forEach(mark));
})();

/* The theme has this as a handler within the page, which the page's policy stops. */
document.querySelectorAll(".elmo-print").forEach((button) => {
  button.addEventListener("click", () => window.print());
});
