/* Dark or light, as chosen anywhere in the book, before anything is drawn. */
"use strict";
(() => {
  let chosen = "auto";
  try {
    chosen = localStorage.getItem("mode") || "auto";
  } catch {
    // a browser may refuse storage to a page from disk
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = chosen === "auto" ? (dark ? "dark" : "light") : chosen;
})();
