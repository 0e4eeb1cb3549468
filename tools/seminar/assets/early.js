/* Runs before anything is drawn, so that nothing changes under the reader's eyes: dark or light as
   chosen anywhere in the book, and how the slides are looked at (see slides.js). */
"use strict";
(() => {
  const root = document.documentElement;
  let chosen = null;
  try {
    chosen = localStorage.getItem("mode");
  } catch {
    // a browser may refuse storage to a page from disk
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = /^(light|dark)$/.test(chosen) ? chosen : dark ? "dark" : "light";
  const asked = new URLSearchParams(location.search);
  root.dataset.mode = ["speaker", "present"].find((mode) => asked.has(mode)) || "read";
  // the formulas' fonts lie in the style sheet; asked for when the text is laid out, they would come
  // a moment too late and break its lines anew
  const fonts = ["KaTeX_Main", "KaTeX_Caligraphic", "KaTeX_Size1", "KaTeX_Size2"];
  for (const font of fonts) document.fonts.load(`1em ${font}`);
  document.fonts.load("italic 1em KaTeX_Math");
})();
