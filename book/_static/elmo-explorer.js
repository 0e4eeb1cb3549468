"use strict";

/* What the explorers share. An explorer fills its element beside the static table in it, keeps one
   plain state, redraws at once when it changes, and writes it into a link. Its class says what the
   state is (`encode`, `decode`), what a control does (`moved`), what is shown as text (`read`) and
   what is drawn (`draw`). */

globalThis.ElmoExplorer = class extends HTMLElement {
  connectedCallback() {
    if (this.live) return;
    this.start = this.decode(new URLSearchParams(this.getAttribute("state") || "")) || this.initial;
    this.state = this.start;
    this.live = document.createElement("div");
    this.live.className = "elmo-live";
    this.live.innerHTML = `${this.template()}<p class="elmo-foot"><button type="button"
      data-action="reset">Reset</button><span><span role="status" data-part="linked"></span>
      <button type="button" data-action="link">Link to this state</button></span></p>`;
    this.append(this.live);
    this.classList.add("is-live");
    const all = (selector) => [...this.live.querySelectorAll(selector)];
    this.values = all("[data-value]");
    this.controls = all("[data-control]");
    this.toggles = all("button[aria-pressed]");
    this.variants = all(".elmo-stack > *");
    this.live.addEventListener("input", ({ target }) =>
      this.move(target.dataset.control, target.type === "range" ? Number(target.value) : target.value));
    this.live.addEventListener("click", ({ target }) => {
      const pressed = target.closest("button");
      if (pressed) this.act(pressed.dataset.action, pressed.value);
    });
    addEventListener("hashchange", () => this.follow());
    // A table that is too wide is a stop of the keyboard, and only then.
    const boxes = new ResizeObserver(() => all(".elmo-scroll").forEach((box) =>
      (box.tabIndex = box.scrollWidth > box.clientWidth + 1 ? 0 : -1)));
    all(".elmo-scroll").forEach((box) => boxes.observe(box));
    this.update();
    this.follow();
  }

  /* Take the state that a link brought; anything else in an address changes nothing. */
  follow() {
    const [name, query] = location.hash.slice(1).split("?");
    const state = query && name === this.id && this.decode(new URLSearchParams(query));
    if (!state) return;
    this.change(state);
    this.scrollIntoView();
  }

  /* Exactly so many finite numbers from an address, or null. */
  numbers(words, count) {
    const found = (words || "").split(",").map((word) => (word.trim() ? Number(word) : NaN));
    return found.length === count && found.every(Number.isFinite) ? found : null;
  }

  move(control, value) {
    this.change(this.constructor.moved(this.state, control, value));
  }

  act(action, value) {
    if (action === "link") {
      history.replaceState(null, "", `#${this.id}?${this.encode(this.state)}`);
      this.part("linked").textContent = "It is in the address bar now.";
    } else if (action === "reset") this.change(this.start);
    else this.move(action, value);
    // The button that shows an answer makes room for the one that hides it: the focus moves on.
    if (action === "shown") this.variants[Number(this.state.shown)].querySelector("button").focus();
  }

  change(part) {
    this.state = { ...this.state, ...part };
    this.update();
  }

  part(name) {
    return this.live.querySelector(`[data-part="${name}"]`);
  }

  update() {
    const texts = this.constructor.read(this.state);
    for (const element of this.values) {
      const words = texts[element.dataset.value];
      if (element.textContent !== words) element.textContent = words ?? "";
    }
    for (const control of this.controls) {
      const [value, spoken] = this.setting(control.dataset.control, texts);
      if (control.type === "radio") {
        control.checked = control.value === value;
      } else {
        control.value = value;
        // Of the others the value itself is read out.
        if (control.type === "range") control.setAttribute("aria-valuetext", spoken);
      }
    }
    for (const button of this.toggles) {
      button.setAttribute("aria-pressed", this.pressed(button.dataset.action, button.value));
    }
    this.variants.forEach((variant, i) => variant.classList.toggle("is-off", this.state.shown !== (i === 1)));
    this.part("linked").textContent = "";
    this.draw(texts);
  }

  /* Draw into the group of a figure what is not drawn there yet, and say in words what is seen. */
  picture(name, shapes, words) {
    const part = this.part(name);
    if (part.drawn !== shapes) part.firstElementChild.innerHTML = part.drawn = shapes;
    part.setAttribute("aria-label", words);
  }

  /* Hand over where the pointer drags, in the units of the drawing. */
  drag(name, moved) {
    const svg = this.part(name);
    let dragging = false;
    const report = ({ clientX, clientY }) => {
      const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
      moved(x, y);
    };
    svg.addEventListener("pointerdown", (event) => {
      // A finger that starts beside the handle scrolls the page.
      if (event.button || (event.pointerType === "touch" && !event.target.closest(".handle"))) return;
      dragging = true;
      svg.setPointerCapture(event.pointerId);
      report(event);
    });
    svg.addEventListener("pointermove", (event) => dragging && report(event));
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => (dragging = false));
  }
};

globalThis.ElmoParts = (() => {
  const LOOKS = [
    ["square", "layer-0", "h₀", "token layer"],
    ["triangle", "layer-1", "h₁", "lower contextual"],
    ["plus", "layer-2", "h₂", "upper contextual"],
  ];
  const SHAPES = {
    star: "M0-10 2.4-3.2 9.5-3.1 3.8 1.2 5.9 8.1 0 4-5.9 8.1-3.8 1.2-9.5-3.1-2.4-3.2Z",
    diamond: "M0-8 6.5 0 0 8-6.5 0Z",
    square: "M-4.5-4.5H4.5V4.5H-4.5Z",
    triangle: "M0-6 5.5 4.5H-5.5Z",
    plus: "M-2-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
    dot: "M-5 0A5 5 0 0 1 5 0 5 5 0 0 1-5 0Z",
  };
  const place = (point) => point.map((u) => u.toFixed(2));

  const line = (points, look, width) => `<polyline class="line ${look}" points="${points.map(place).join(" ")}"${
    width ? ` style="stroke-width:${width.toFixed(1)}"` : ""}/>`;
  const text = (point, words, anchor = "middle", look = "") =>
    `<text x="${place(point)[0]}" y="${place(point)[1]}" text-anchor="${anchor}" class="${look}">${words}</text>`;
  const mark = (shape, point, look, size = 1) => `<path class="mark ${look}" d="${SHAPES[shape]}"
    transform="translate(${place(point)}) scale(${size})"/>`;

  const small = (point, words, anchor = "start") => text(point, words, anchor, "small");

  const parts = {
    LOOKS,
    line,
    mark,
    small,
    text,
    limit: (value, [low, high]) => Math.min(Math.max(value, low), high),

    /* Whether three numbers from an address are weights. */
    isMixture: (weights) => weights && Math.min(...weights) > 0 && Math.abs(ElmoMath.sum(weights) - 1) < 1e-6,

    /* A native slider with its label and its value as text. */
    slider: (id, control, label, [low, high, step]) => `<div class="elmo-slider">
      <label for="${id}-${control}">${label}</label><span data-value="${control}"></span>
      <input type="range" id="${id}-${control}" data-control="${control}" min="${low}" max="${high}" step="${step}"></div>`,

    button: (action, value, words, pressed) => `<button type="button" data-action="${action}" value="${value}"${
      pressed ? ' aria-pressed="false"' : ""}>${words}</button>`,

    buttons: (label, buttons) => `<p class="elmo-buttons" role="group" aria-label="${label}">${buttons.join("")}</p>`,

    /* One of several, given by their values and words. */
    radios: (id, control, label, all) => `<div role="radiogroup" aria-label="${label}" class="elmo-buttons">${
      all.map(([value, words]) => `<label><input type="radio" name="${id}-${control}" value="${value}"
        data-control="${control}">${words}</label>`).join("")}</div>`,

    /* Rows of a heading and the names of the texts that stand in their cells. */
    table: (head, rows) => `<table class="elmo-numbers"><thead><tr><td></td>${
      head.map((name) => `<th scope="col">${name}</th>`).join("")}</tr></thead><tbody>${
      rows.map(([name, ...cells]) => `<tr><th scope="row">${name}</th>${
        cells.map((cell) => `<td data-value="${cell}"></td>`).join("")}</tr>`).join("")}</tbody></table>`,

    presets: (label) => parts.buttons(label, Object.keys(ElmoMath.PRESETS).map((name) => parts.button("preset", name, name, 1))),

    /* A question that is asked before its answer shows; both take the room of the longer one. */
    predict: (question, act, answer) => `<div class="elmo-predict elmo-stack"><div><p><strong>Predict first.</strong>
      ${question}</p><div class="elmo-row">${act}</div></div>
      <div><p>${answer}</p>${parts.button("shown", "", "Predict again")}</div></div>`,

    value: (name) => `<span data-value="${name}"></span>`,

    key: (shape) => `<svg class="elmo-key" width="24" height="20" viewBox="-12 -10 24 20" aria-hidden="true">${shape}</svg>`,

    svg: (name, width, height, handle = "") => `<figure><svg role="img" data-part="${name}" width="${width}"
      height="${height}" viewBox="0 0 ${width} ${height}"><g></g>${handle}</svg></figure>`,

    /* The triangle of weights, and where weights lie in it; weights of another sum than one at
       their nearest point of its plane. */
    simplex([left, down, side]) {
      const at = (weights) => {
        const off = (1 - weights[0] - weights[1] - weights[2]) / 3;
        const up = weights[2] + off;
        return [left + side * (weights[1] + off + up / 2), down - side * up * Math.sqrt(0.75)];
      };
      const corners = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(at);
      const marks = corners.map((corner, j) => mark(LOOKS[j][0], corner, LOOKS[j][1])
        + text([corner[0] + [0, 0, 10][j], corner[1] + [20, 20, 0][j]], `all ${LOOKS[j][2]}`, j > 1 ? "start" : "middle"));
      return [line([...corners, corners[0]], "quiet wash") + marks.join(""), at];
    },
  };
  return parts;
})();
