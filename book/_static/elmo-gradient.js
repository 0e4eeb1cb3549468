"use strict";

/* <elmo-gradient>: the gradient of the mixture and two wrong ones, step by step (chapter 4). Its
   twin for Jupyter is elmo_toy.widgets.gradient, which shows the same texts for the same controls. */

(() => {
  const { PRESETS, centralDifference, fixed, gradients, lossAt, lossOfLogits, lossOfWeights, step, sum } = ElmoMath;
  const { button, buttons, key, limit, line, mark, predict, presets, radios, simplex, slider, small, svg, table, text,
    value } = ElmoParts;
  const RULES = [["right", "gradient", "right"], ["without m", "wrong", "without − m"],
    ["on weights", "wrong dotted", "on the weights"]];
  const LEGEND = [["river", "river"], ["loan", "loan"], ["gradient", "sum"]];
  const RATES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];
  const DELTAS = [...Array(15).keys()].map((i) => Number(`1e-${15 - i}`));
  const MOST = 500;
  const FAR = 100; // a run that has come so far, as a wrong one may, stays where it is
  const ROWS = ["a₀", "a₁", "a₂", "γ"];
  const GUESSES = { up: "higher", stay: "the same", down: "lower" };
  const power = (value) => `10${String(Math.floor(Math.log10(value) + 1e-9)).replace(/./g, (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)])}`;
  const difference = (value) => (value >= 1e-6 ? fixed(value, 6) : value ? `about ${power(value)}` : "0");
  const thinned = (points) => points.filter((_, i) => i % Math.ceil(points.length / 80) === 0 || i === points.length - 1);
  const largest = (values, others) => Math.max(...values.map((value, i) => Math.abs(value - others[i])));

  /* A line for each rule, the right one on top, and marks where they end. */
  const ways = (runs) => runs.map((run, r) => line(run, RULES[r][1])).reverse().join("")
    + runs.map((run, r) => mark("dot", run.at(-1), RULES[r][1], 0.9)).reverse().join("");

  /* All points that a rule passes from the start of a state to its last step; what has been
     computed is kept until the start or the rate changes. */
  const kept = { key: "", runs: [] };
  function history(state) {
    const key = `${state.preset} ${state.gamma} ${state.rate}`;
    if (kept.key !== key) {
      const weights = PRESETS[state.preset];
      const logits = weights.map(Math.log);
      Object.assign(kept, { key, runs: RULES.map(() => [{ logits, weights, gamma: state.gamma }]) });
    }
    return kept.runs.map((run, i) => {
      while (run.length <= state.steps) {
        const last = run.at(-1);
        const far = Math.max(...[...last.weights, last.gamma].map(Math.abs)) > FAR;
        run.push(far ? last : step(RULES[i][0], last, RATES[state.rate]));
      }
      return run.slice(0, state.steps + 1);
    });
  }

  /* What a rule subtracts at a point, and what is measured of the loss there, along what it moves. */
  function witness(rule, { logits, weights, gamma }) {
    const by = gradients(weights, gamma);
    const subtracted = [...(rule === "without m" ? by.withoutM : by.logits), by.gamma];
    const [loss, moves] = rule === "on weights" ? [lossOfWeights, weights] : [lossOfLogits, logits];
    const measured = (delta) => centralDifference(loss, [...moves, gamma], delta);
    return { by, subtracted, measured, off: (delta) => largest(subtracted, measured(delta)) };
  }

  class ElmoGradient extends ElmoExplorer {
    initial = { preset: "upper", gamma: 1, rate: 3, delta: 10, steps: 0, guess: "", shown: false };

    /* Everything that is shown as text, by name. */
    static read(state) {
      const runs = history(state);
      const first = history({ ...state, steps: 1 });
      const texts = {
        gamma: fixed(state.gamma, 1),
        rate: `${RATES[state.rate]}`,
        delta: power(DELTAS[state.delta]),
        steps: `${state.steps} step${state.steps === 1 ? "" : "s"}`,
        guess: state.guess ? `You said: ${GUESSES[state.guess]}.` : "You made no prediction.",
        start: fixed(lossAt(first[0][0].weights, state.gamma), 6),
      };
      RULES.forEach(([rule], i) => {
        const now = runs[i].at(-1);
        const seen = witness(rule, now);
        const show = (words) => (i && !state.shown ? "?" : words);
        texts[`loss-${i}`] = show(fixed(lossAt(now.weights, now.gamma), 6));
        texts[`total-${i}`] = show(fixed(sum(seen.subtracted.slice(0, 3)), 6));
        texts[`off-${i}`] = show(difference(seen.off(DELTAS[state.delta])));
        texts[`weights-${i}`] = show(now.weights.map((weight) => fixed(weight, 3)).join(" "));
        texts[`scale-${i}`] = show(fixed(now.gamma, 4));
        texts[`first-${i}`] = fixed(lossAt(first[i][1].weights, first[i][1].gamma), 6);
        if (i) return;
        seen.by.byOccurrence.forEach((row, k) => {
          row.forEach((value, j) => (texts[`${["river", "loan"][k]}-${j}`] = fixed(value, 6)));
          texts[`${["river", "loan"][k]}-total`] = fixed(sum(row.slice(0, 3)), 6);
        });
        seen.subtracted.forEach((value, j) => (texts[`sum-${j}`] = fixed(value, 6)));
        seen.measured(DELTAS[state.delta]).forEach((value, j) => (texts[`measured-${j}`] = fixed(value, 6)));
      });
      return texts;
    }

    static moved(state, control, value) {
      if (control === "steps") return { steps: Number(value) && Math.min(MOST, state.steps + Number(value)) };
      if (control === "shown") return { shown: Boolean(value), steps: Number(Boolean(value)) };
      return { [control]: value };
    }

    pressed(action, value) {
      return this.state.preset === value;
    }

    setting(control, texts) {
      const { guess, gamma, rate, delta } = this.state;
      return {
        guess: [guess],
        gamma: [gamma, `${texts.gamma}, loss ${texts["loss-0"]}`],
        rate: [rate, `${texts.rate}, loss ${texts["loss-0"]} after ${texts.steps}`],
        delta: [delta, `${texts.delta}, largest difference ${texts["off-0"]}`],
      }[control];
    }

    encode({ preset, gamma, rate, delta, steps, shown }) {
      return `s=${preset}&g=${gamma}&n=${[rate, delta, steps]}${shown ? "&shown=1" : ""}`;
    }

    decode(query) {
      const preset = query.get("s");
      const [gamma, rate, delta, steps] = this.numbers(`${query.get("g") ?? 1},${query.get("n") ?? "3,10,0"}`, 4) || [];
      if (!Object.hasOwn(PRESETS, preset) || gamma === undefined) return null;
      const index = (value, most) => limit(Math.round(value), [0, most]);
      return { ...this.initial, preset, gamma: limit(gamma, [-2, 2]), rate: index(rate, RATES.length - 1),
        delta: index(delta, DELTAS.length - 1), steps: index(steps, MOST), shown: query.has("shown") };
    }

    template() {
      const { id } = this;
      const rows = ROWS.map((name, j) => [name, `river-${j}`, `loan-${j}`, `sum-${j}`, `measured-${j}`]);
      rows.splice(3, 0, ["total", "river-total", "loan-total", "total-0", ""]);
      const rules = RULES.map(([, look, name], i) => [key(line([[-11, 0], [11, 0]], look)) + name,
        ...["loss", "total", "off", "weights", "scale"].map((part) => `${part}-${i}`)]);
      return `${predict(`Somebody forgets the − m in the gradient. Somebody else subtracts the right gradient, but from the
          weights. One step from the start, where will their losses be?`,
        radios(id, "guess", "their losses after one step", Object.entries(GUESSES)) + button("shown", "1", "Take the step"),
        `<strong>${value("guess")}</strong> One step takes the loss from ${value("start")} to
          ${value("first-1")} without − m, to ${value("first-2")} on the weights, and to ${value("first-0")} by the right
          formula. What tells them apart is in the last table: the sum, and the witness.`)}
        <div class="elmo-halves"><div>
          ${presets("where the runs start")}
          ${slider(id, "gamma", "scale γ at the start", [-2, 2, 0.1])}</div><div>
          ${buttons("steps of descent", [1, 10, 100, 0].map((n) => button("steps", n, n ? `+ ${n}` : "back to 0")))}
          ${slider(id, "rate", "learning rate", [0, RATES.length - 1, 1])}</div></div>
        <div class="elmo-columns"><div>
          <p class="elmo-note">Derivatives of the loss after ${value("steps")} by the right rule</p>
          ${table(["river", "loan", "sum", "measured"], rows)}
          ${slider(id, "delta", "measured with a step δ of", [0, DELTAS.length - 1, 1])}
          <p class="elmo-note">Largest difference of sum and measured: ${value("off-0")}</p>
          ${svg("histories", 400, 190)}</div><div>
          ${svg("bars", 250, 150)}${svg("errors", 250, 190)}${svg("paths", 250, 180)}</div></div>
        <div class="elmo-scroll" role="group" aria-label="three rules compared">${
          table(["loss", "adds up to", "off the witness", "weights", "γ"], rules)}</div>
        <p class="elmo-note">Adds up to: the sum of what the rule subtracts from the logits, or the weights. Off the
          witness: the largest difference between that and what is measured.</p>`;
    }

    draw(texts) {
      const runs = history(this.state).slice(0, this.state.shown ? 3 : 1);
      this.drawBars(gradients(runs[0].at(-1).weights, runs[0].at(-1).gamma));
      this.drawErrors(runs, texts);
      this.drawHistories(runs, texts);
      const [shapes, at] = simplex([50, 150, 150]);
      this.picture("paths", shapes + ways(runs.map((run) => thinned(run).map(({ weights }) => at(weights))))
        + mark("dot", at(runs[0][0].weights), "ink", 0.8),
        `Paths of the weights in their triangle; the right one ends at ${texts["weights-0"]}.`);
    }

    drawBars({ byOccurrence: [river, loan] }) {
      const all = [river, loan, river.map((value, j) => value + loan[j])];
      const scale = 56 / Math.max(1e-9, ...all.flat().map(Math.abs));
      const bars = all.map((values, k) => values.map((value, j) => `<rect class="bar ${LEGEND[k][0]}"
        x="${10 + 61 * j + 17 * k}" width="14" y="${(72 - Math.max(0, value * scale)).toFixed(2)}"
        height="${Math.abs(value * scale).toFixed(2)}"/>`).join(""));
      const names = ROWS.map((name, j) => text([34 + 61 * j, 147], name));
      this.picture("bars", line([[2, 72], [248, 72]], "quiet thin") + bars.join("") + names.join("")
        + LEGEND.map(([look, name], k) => `<rect class="bar ${look}" x="${2 + 60 * k}" y="2" width="9" height="9"/>${
          small([16 + 60 * k, 11], name)}`).join(""),
      "Bars of the derivatives by three logits and gamma, for river, for loan and summed.");
    }

    /* Largest error of the measured derivatives against their step, both as powers of ten. */
    drawErrors(runs, texts) {
      const at = (i, off) => [36 + 14 * i, 28 - 8 * Math.log10(limit(off, [1e-16, 9]))];
      const curves = runs.map((run, r) => DELTAS.map(witness(RULES[r][0], run.at(-1)).off));
      const shapes = curves.map((offs, r) => line(offs.map((off, i) => at(i, off)), RULES[r][1]));
      const ticks = [0, 5, 10, 15].map((n) => small([30, 32 + 8 * n], power(10 ** -n), "end"));
      const below = [0, 7, 14].map((i) => small([36 + 14 * i, 172], power(DELTAS[i]), "middle"));
      this.picture("errors", line([[36, 20], [36, 158], [238, 158]], "quiet thin") + ticks.join("") + below.join("")
        + small([238, 187], "step δ", "end") + small([4, 12], "difference")
        + shapes.reverse().join("") + mark("dot", at(this.state.delta, curves[0][this.state.delta]), "ink"),
        `Difference between formula and measurement against the step; at ${texts.delta} it is ${texts["off-0"]}.`);
    }

    drawHistories(runs, texts) {
      const last = Math.max(10, this.state.steps);
      const steps = thinned([...runs[0].keys()]);
      const panels = [["mean loss", ({ weights, gamma }) => lossAt(weights, gamma), 40], ["γ", ({ gamma }) => gamma, 244]];
      const shapes = panels.map(([name, value, left]) => {
        const series = runs.map((run) => steps.map((i) => limit(value(run[i]), [-99, 99])));
        const low = Math.min(...series.flat(), name === "γ" ? series[0][0] - 0.1 : 0);
        const high = Math.max(...series.flat(), low + 0.2);
        const at = (i, y) => [left + (150 * i) / last, 150 - (126 * (y - low)) / (high - low)];
        return line([[left, 20], [left, 150], [left + 150, 150]], "quiet thin")
          + small([left, 12], name) + small([left - 4, 28], fixed(high, 1), "end")
          + small([left - 4, 152], fixed(low, 1), "end") + small([left, 168], "0", "middle")
          + small([left + 150, 168], `${last}`, "end") + small([left + 75, 184], "step", "middle")
          + ways(series.map((ys) => ys.map((y, i) => at(steps[i], y))));
      });
      this.picture("histories", shapes.join(""), `Mean loss and gamma against the steps taken; the right rule’s loss is ${
        texts["loss-0"]} after ${texts.steps}.`);
    }
  }

  customElements.define("elmo-gradient", ElmoGradient);
  globalThis.ElmoGradient = ElmoGradient;
})();
