/* The presentation and the speaker's view. The page itself reads without this script.

   slides.html           all slides below each other, with their notes
   slides.html?present   one slide at a time, as large as the window
   slides.html?speaker   the same with notes, next slide and time, opened by the presentation

   The two windows tell each other the number of the slide by postMessage, which also works
   between pages from disk. */
"use strict";
(() => {
  const root = document.documentElement;
  const slides = [...document.querySelectorAll(".slide")];
  const element = (id) => document.getElementById(id);
  let current = Math.max(0, slides.findIndex((slide) => `#${slide.id}` === location.hash));
  let other = null; // the other window, of the two

  const mode = root.dataset.mode; // early.js has read it off the address

  const flipTheme = () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("mode", root.dataset.theme);
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // then it holds for this page
    }
  };
  element("theme").addEventListener("click", flipTheme);
  element("present").addEventListener("click", () => {
    location.href = `slides.html?present#${slides[current].id}`;
  });
  if (mode === "read") return;

  const show = (number, { tell = true, focus = true } = {}) => {
    current = Math.min(Math.max(number, 0), slides.length - 1);
    slides.forEach((slide, n) => {
      slide.classList.toggle("current", n === current);
      slide.classList.toggle("next", n === current + 1);
      // the speaker's preview is for the eye
      slide.toggleAttribute("inert", n !== current);
    });
    element("back").disabled = current === 0;
    element("on").disabled = current === slides.length - 1;
    history.replaceState(null, "", `#${slides[current].id}`);
    if (focus) slides[current].focus({ preventScroll: true }); // a screen reader reads it
    scrollTo(0, 0);
    if (tell && other && !other.closed) other.postMessage({ elmoSlide: current }, "*");
  };

  const openSpeaker = () => {
    if (mode !== "present") return;
    if (other && !other.closed) {
      other.focus();
      return;
    }
    const address = `slides.html?speaker#${slides[current].id}`;
    other = open(address, "elmo-speaker", "width=1200,height=800");
  };
  const leave = () => {
    if (mode === "speaker") close();
    else location.href = `slides.html#${slides[current].id}`;
  };
  const fill = () => {
    if (document.fullscreenElement) document.exitFullscreen();
    else root.requestFullscreen().catch(() => {});
  };

  addEventListener("message", (event) => {
    if (event.source !== other || typeof event.data?.elmoSlide !== "number") return;
    if (event.data.elmoSlide !== current) show(event.data.elmoSlide, { tell: false, focus: false });
  });
  element("back").addEventListener("click", () => show(current - 1, { focus: false }));
  element("on").addEventListener("click", () => show(current + 1, { focus: false }));
  element("speaker").addEventListener("click", openSpeaker);
  element("leave").addEventListener("click", leave);

  const keys = {
    ArrowRight: () => show(current + 1),
    ArrowDown: () => show(current + 1),
    PageDown: () => show(current + 1),
    " ": () => show(current + 1),
    ArrowLeft: () => show(current - 1),
    ArrowUp: () => show(current - 1),
    PageUp: () => show(current - 1),
    Home: () => show(0),
    End: () => show(slides.length - 1),
    s: openSpeaker,
    f: fill,
    d: flipTheme,
    Escape: leave,
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const onControl = event.target.closest?.("button, a, summary");
    if (onControl && (event.key === " " || event.key === "Enter")) return;
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  if (mode === "speaker") {
    other = opener;
    for (const notes of document.querySelectorAll("details.notes")) notes.open = true;
    element("timing").hidden = false;
    let started = Date.now();
    const tick = () => {
      const seconds = Math.floor((Date.now() - started) / 1000);
      const two = (n) => String(n).padStart(2, "0");
      element("elapsed").textContent = `${two(Math.floor(seconds / 60))}:${two(seconds % 60)}`;
    };
    element("restart").addEventListener("click", () => {
      started = Date.now();
      tick();
    });
    tick();
    setInterval(tick, 1000);
  }
  show(current, { tell: false });
})();
