"use strict";

/* <elmo-mixture>: one mixture in two triangles (chapter 3). Its twin for Jupyter is
   elmo_toy.widgets.mixture, which shows the same texts for the same controls. */

(() => {
  const { LAYERS, PRESETS, UNSEEN, along, dot, fixed, forward, sum, trimmed, vector, withWeight } = ElmoMath;
  const { LOOKS, button, buttons, key, isMixture, limit, line, mark, predict, presets, simplex, slider, small, svg, table,
    text, value } = ElmoParts;
  const NAMES = ["river", "loan"];
  const PARTS = ["mixture", "score", "probability", "loss"];
  const GAMMA = [-5, 5, 0.1];
  const ALONG = [0, 0.3, 0.01];
  const SIDE = [38, 174, 176]; // the triangle of weights: where h0 is, and its side
  // Where the names stand beside the layers’ marks: of river, of loan.
  const PLACES = [
    [[0, 20, "middle"], [8, -8, "start"], [8, -10, "middle"]],
    [[], [4, 20, "middle"], [0, -12, "middle"]],
  ];
  // g = gamma * weights seen from slightly above, with the line of equal weights upright.
  const VIEW = [[-0.804, 0.525, 0.279], [0.516, 0.382, 0.767]];
  const current = (state) => along(state.weights, state.gamma, state.along);
  // how far along, in whole steps, the scale of gamma's slider reaches
  const room = (gamma) => limit(Math.floor((100 * (GAMMA[1] - Math.abs(gamma))) / sum(UNSEEN) + 1e-9) / 100, ALONG);
  const near = (one, other) => Math.abs(one - other) < 1e-9;

  class ElmoMixture extends ElmoExplorer {
    initial = { weights: PRESETS.upper, gamma: 1, along: 0, guess: [2.5, 2], shown: false, answer: null };

    /* Everything that is shown as text, by name. */
    static read(state) {
      const { weights, gamma } = current(state);
      const result = forward(weights, gamma);
      const loan = (words) => (state.shown ? words : "?");
      const left = room(state.gamma);
      const texts = {
        gamma: trimmed(gamma, 2, 0),
        along: fixed(state.along, 2),
        product: vector(weights.map((weight) => gamma * weight)),
        largest: LOOKS[weights.indexOf(Math.max(...weights))][2],
        loss: loan(fixed(result.loss, 6)),
        guess: vector(state.guess),
        answer: state.shown ? vector(state.answer) : "?",
        miss: state.shown ? fixed(Math.hypot(...state.guess.map((x, i) => x - state.answer[i])), 2) : "?",
        room: left < ALONG[1] ? `It ${left ? `ends at ${fixed(left, 2)}` : "has no room"} here: γ goes no further than ${
          fixed(Math.sign(state.gamma) * GAMMA[1], 0)}.` : "",
      };
      state.guess.forEach((x, i) => (texts[`guess-${i}`] = fixed(x, 2)));
      weights.forEach((weight, j) => (texts[`weight-${j}`] = fixed(weight, 3)));
      NAMES.forEach((name, k) => {
        [vector(result.mixtures[k]), trimmed(result.scores[k], 4), fixed(result.probabilities[k], 6),
          fixed(result.losses[k], 6)].forEach((words, i) =>
          (texts[`${name}-${PARTS[i]}`] = k ? loan(words) : words));
      });
      return texts;
    }

    /* What a control does to a state: weights and gamma moved by hand start from what is shown. */
    static moved(state, control, value) {
      const [name, number] = control.split("-");
      if (name === "along") return { along: limit(value, [0, room(state.gamma)]) };
      if (name === "guess") return { guess: state.guess.map((x, i) => (i === Number(number) ? value : x)) };
      const { weights, gamma } = current(state);
      // The guess stays beside what it was a guess of, whatever moves afterwards.
      if (name === "shown") {
        return { shown: Boolean(value), answer: value ? forward(weights, gamma).mixtures[1] : null, sent: false };
      }
      if (name === "gamma") return { weights, gamma: Number(value), along: 0 };
      if (name === "preset") return { weights: PRESETS[value], gamma, along: 0 };
      return { weights: withWeight(weights, Number(number), value), gamma, along: 0 };
    }

    pressed(action, value) {
      const { weights, gamma } = current(this.state);
      return action === "gamma" ? near(gamma, Number(value)) : PRESETS[value].every((x, j) => near(x, weights[j]));
    }

    setting(control, texts) {
      const { weights, gamma } = current(this.state);
      const [name, number] = control.split("-");
      const { guess, along: amount, shown } = this.state;
      const loss = shown ? `, mean loss ${texts.loss}` : `, river’s mixture ${texts["river-mixture"]}`;
      return {
        weight: [weights[number], `${texts[control]} of ${LOOKS[number]?.[3]}${loss}`],
        guess: [guess[number], `guess at ${texts.guess}`],
        gamma: [gamma, `${texts.gamma}${gamma < 0 ? ", both vectors reversed" : ""}${loss}`],
        along: [amount, `${texts.along}, gamma ${texts.gamma}, largest weight ${texts.largest}${loss}${texts.room && `. ${texts.room}`}`],
      }[name];
    }

    encode({ weights, gamma, along: amount, guess, shown, answer }) {
      return `w=${weights}&g=${gamma}&t=${amount}&p=${guess}${shown ? `&shown=${answer.map((x) => +x.toFixed(12))}` : ""}`;
    }

    decode(query) {
      const weights = this.numbers(query.get("w"), 3);
      const [gamma, amount] = this.numbers(`${query.get("g") ?? 1},${query.get("t") ?? 0}`, 2) || [];
      const guess = this.numbers(query.get("p") ?? `${this.initial.guess}`, 2);
      const shown = query.has("shown");
      const answer = shown ? this.numbers(query.get("shown"), 2)?.map((x) => limit(x, [-10, 10])) : null;
      if (!isMixture(weights) || gamma === undefined || !guess || (shown && !answer)) return null;
      const state = { weights, gamma: limit(gamma, GAMMA), guess: guess.map((x) => limit(x, [-9, 9])) };
      // What comes shown with a link may be another’s guess, and is not judged.
      return { ...state, ...ElmoMixture.moved(state, "along", amount), shown, answer, sent: shown };
    }

    template() {
      const { id } = this;
      const rows = NAMES.map((name) =>
        [key(mark("star", [0, 0], name, 0.9)) + name, ...PARTS.map((part) => `${name}-${part}`)]);
      return `${predict(`The star is river’s mixture. The same weights mix loan’s three vectors. Drag the hollow
          diamond to where loan’s mixture will be.`,
        slider(id, "guess-0", "guess, across", [-2, 4, 0.05]) + slider(id, "guess-1", "guess, up", [-1.5, 3.5, 0.05])
          + button("shown", "1", "Show loan’s mixture"),
        `<span data-part="verdict"><strong>You missed by ${value("miss")}.</strong> The guess was ${value("guess")}, the
          mixture ${value("answer")}.</span> The hollow dots are the same place in both triangles, and γ moves each from there.`)}
        <div class="elmo-columns"><div>
          ${svg("plane", 400, 316, `<g class="handle"><circle r="18"/>${mark("diamond", [0, 0], "loan hollow", 1.2)}</g>`)}
          ${slider(id, "gamma", "scale γ", GAMMA)}
          ${buttons("values of gamma", [[1, "1, the article"], [2, "2, the article"], [-1, "−1"]].map(
            ([value, name]) => button("gamma", value, `γ = ${name}`, 1)))}
          ${slider(id, "along", "γ·s moved along (2, 5, 4)", ALONG)}
          <p class="elmo-note">What changes along this direction, and what stands still?
            Largest weight now: ${value("largest")}. ${value("room")}</p>
          ${table(PARTS, [...rows, ["mean", "", "", "", "loss"]])}</div><div>
          ${presets("presets of the weights")}
          ${svg("simplex", 250, 200, '<circle class="handle" r="18"/>')}
          ${LOOKS.map(([, , , name], j) =>
            slider(id, `weight-${j}`, `s${"₀₁₂"[j]}, ${name}`, [0.01, 0.98, 0.01])).join("")}
          ${svg("cones", 250, 208)}
          <p class="elmo-note">γ·s = ${value("product")}</p></div></div>`;
    }

    connectedCallback() {
      super.connectedCallback();
      this.drag("plane", (x, y) => {
        const units = [(x - 130) / 68, (216 - y) / 68].map((u) => limit(u * this.zoom, [-9, 9]));
        if (!this.state.shown) this.change({ guess: units.map((u) => Math.round(u * 20) / 20) });
      });
      this.drag("simplex", (x, y) => {
        const up = (SIDE[1] - y) / SIDE[2] / Math.sqrt(0.75);
        const cents = [(x - SIDE[0]) / SIDE[2] - up / 2, up].map((u) => limit(Math.round(u * 100), [1, 98]));
        cents[1] = Math.min(cents[1], 99 - cents[0]);
        const weights = [100 - sum(cents), ...cents].map((cent) => cent / 100);
        this.change({ weights, gamma: current(this.state).gamma, along: 0 });
      });
    }

    draw(texts) {
      this.part("verdict").hidden = this.state.sent;
      const { weights, gamma } = current(this.state);
      this.drawPlane(weights, forward(weights, gamma).mixtures, texts);
      this.drawSimplex(weights, texts);
      this.drawCones(weights, gamma, texts);
    }

    /* The origin stands still, and the picture shrinks when a vector would leave it. */
    drawPlane(weights, mixtures, texts) {
      const { guess, shown, answer, sent } = this.state;
      const missed = shown && !sent && answer.every((u, i) => near(u, mixtures[1][i]));
      const seen = [mixtures[0], ...(shown ? [mixtures[1]] : []), ...(missed ? [guess] : [])];
      this.zoom = Math.max(1, ...seen.map(([x, y]) => Math.max(x / 3.8, -x / 1.75, y / 3, -y / 1.3)));
      const unit = 68 / this.zoom;
      const at = ([x, y]) => [130 + x * unit, 216 - y * unit];
      const grid = [];
      for (let i = -9; i < 18; i += 1) grid.push(at([i, -9]), at([i, 18]), at([-9, i]), at([18, i]));
      const lines = grid.map(([x, y], i) => `${i % 2 ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
      let shapes = line([at([0, -9]), at([0, 18])], "quiet thin") + line([at([-9, 0]), at([18, 0])], "quiet thin")
        + line([at([-9, -9]), at([18, 18])], "quiet")
        + small([6, 18], "score below 0: loan")
        + small([394, 306], "score above 0: river", "end");
      NAMES.forEach((name, k) => {
        const corners = LAYERS[k].map(at);
        shapes += line([...corners, corners[0]], `${name} wash`);
        if (k && !shown) return;
        // The place in the triangle; gamma moves the mixture from there along the line through zero.
        const inside = at(LAYERS[k][0].map((_, i) => dot(weights, LAYERS[k].map((layer) => layer[i]))));
        shapes += corners.map((corner, j) => line([inside, corner], name, 6 * weights[j])).join("")
          + line([at([0, 0]), at(mixtures[k])], "gamma dotted") + mark("dot", inside, `${name} hollow`, 0.7);
      });
      NAMES.forEach((name, k) => LAYERS[k].forEach((layer, j) => {
        if (k && !j) return; // the token layer is one point for both
        const [x, y] = at(layer);
        const [dx, dy, anchor] = PLACES[k][j];
        shapes += mark(LOOKS[j][0], [x, y], LOOKS[j][1])
          + text([x + dx, y + dy], j ? `${name} ${LOOKS[j][2]}` : LOOKS[j][2], anchor);
      }));
      if (missed) {
        shapes += line([at(guess), at(mixtures[1])], "wrong dotted") + mark("diamond", at(guess), "loan hollow", 1.2);
      }
      if (shown) shapes += mark("star", at(mixtures[1]), "loan", 1.2);
      shapes += mark("star", at(mixtures[0]), "river", 1.2);
      const handle = this.part("plane").lastElementChild;
      handle.setAttribute("transform", `translate(${at(guess).map((u) => limit(u, [8, 392]))})`);
      handle.style.display = shown ? "none" : "";
      this.picture("plane", `<path style="stroke:var(--elmo-grid)" d="${lines}"/>${shapes}`,
        `A plane with two triangles. River’s mixture is at ${texts["river-mixture"]}, loan’s ${
          shown ? `at ${texts["loan-mixture"]}` : "is not shown yet"}.`);
    }

    drawSimplex(weights, texts) {
      const [shapes, at] = simplex(SIDE);
      const here = at(weights);
      const presets = Object.values(PRESETS).map((preset) => mark("dot", at(preset), "quiet hollow", 0.6));
      const pulls = LOOKS.map(([, look], j) =>
        line([here, at([0, 1, 2].map((i) => Number(i === j)))], look, 6 * weights[j]));
      this.picture("simplex", shapes + presets.join("") + pulls.join("") + mark("dot", here, "ink", 1.3),
        `The triangle of all weights, here ${[0, 1, 2].map((j) => texts[`weight-${j}`]).join(", ")}.`);
      this.part("simplex").lastElementChild.setAttribute("transform", `translate(${here})`);
    }

    drawCones(weights, gamma, texts) {
      const size = 46 / Math.max(1, Math.abs(gamma) / 2.2);
      const at = (g) => [125 + dot(VIEW[0], g) * size, 104 - dot(VIEW[1], g) * size];
      const corner = (j, length) => at([0, 1, 2].map((i) => (i === j ? length : 0)));
      const ray = 106 / size;
      let shapes = "";
      for (const sign of [1, -1]) {
        for (const far of [sign, 2 * sign]) {
          shapes += line([0, 1, 2, 0].map((j) => corner(j, far)), `gamma thin wash ${far < 0 ? "dotted" : ""}`);
        }
        LOOKS.forEach(([, look], j) => (shapes += line([at([0, 0, 0]), corner(j, sign * ray)], `${look} thin`)));
      }
      shapes += line([-ray, ray].map((far) => at(weights.map((weight) => far * weight))), "gamma dotted")
        + text([246, 20], "γ &gt; 0", "end") + text([246, 200], "γ &lt; 0", "end")
        + small([4, 101], "mixed signs:") + small([4, 117], "out of reach")
        + mark("dot", at([0, 0, 0]), "ink", 0.6) + mark("dot", at(weights.map((weight) => gamma * weight)), "gamma", 1.3);
      this.picture("cones", shapes, `Two cones that meet at zero: gamma times the weights, here ${texts.product}.`);
    }
  }

  customElements.define("elmo-mixture", ElmoMixture);
  globalThis.ElmoMixture = ElmoMixture;
})();
