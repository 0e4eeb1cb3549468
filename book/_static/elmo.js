"use strict";

/* A browser refuses to fetch one local file from another. Without this the search page, opened from
   a disk, would try to fetch each page that it found, for the lines around the word. */
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

/* A formula or a figure that is too wide scrolls in its own box. Such a box must be reachable with
   the keyboard, but only while it does scroll: a stop at every formula would be a burden. (The
   theme does the same for code and tables.) */
(function () {
  function mark(box) {
    if (box.scrollWidth > box.clientWidth + 1) {
      box.tabIndex = 0;
    } else {
      box.removeAttribute("tabindex");
    }
  }

  const boxes = document.querySelectorAll("div.math");
  const observer = new ResizeObserver((entries) => entries.forEach((entry) => mark(entry.target)));
  boxes.forEach((box) => observer.observe(box));
  // A font that arrives late widens a formula, and its box stays as it was.
  const markAll = () => boxes.forEach(mark);
  document.fonts.ready.then(markAll);
  document.fonts.addEventListener("loadingdone", markAll);
})();

/* The theme has this as a handler within the page, which the page's policy stops. */
document.querySelectorAll(".elmo-print").forEach((button) => {
  button.addEventListener("click", () => window.print());
});
