"use strict";

/* <elmo-seeds>: what fewer of our five seeds would have told (chapter 6). Its twin for Jupyter is
   elmo_toy.widgets.seeds. The differences come with the element. */

(() => {
  const { fixed, sum } = ElmoMath;
  const { abs, max, min, round, sign, sqrt } = Math;
  const { button, buttons, limit, line, mark, predict, slider, small, svg, text, value } = ElmoParts;
  const SEEDS = [0, 1, 2, 3, 4];

  /* All subsets of a size, in order. */
  const subsets = (size, from = 0) => (size ? SEEDS.slice(from).flatMap((seed) =>
    subsets(size - 1, seed + 1).map((rest) => [seed, ...rest])) : [[]]);

  /* Places of so many draws in that list, by Lehmer's generator. */
  function drawn(size, times) {
    const count = subsets(size).length;
    let x = 2018;
    return Array.from({ length: times }, () => (x = (x * 16807) % 2147483647) % count);
  }

  /* Mean (0 when near it) and sample standard deviation (NaN for one value). */
  function summary(values) {
    const mean = sum(values) / values.length;
    const squares = sum(values.map((x) => (x - mean) * (x - mean)));
    return [abs(mean) > 1e-9 ? mean : 0, sqrt(squares / (values.length - 1))];
  }

  function differences({ task, one, other }) {
    const found = ElmoSeeds.data.tasks[task];
    return found[one].map((x, i) => x - found[other][i]);
  }

  /* Seeds, mean, deviation of every draw, and whether its sign is not that of all five. */
  function possible(state) {
    const values = differences(state);
    const all = sign(summary(values)[0]);
    return subsets(state.size).map((seeds) => {
      const [mean, spread] = summary(seeds.map((seed) => values[seed]));
      return [seeds, mean, spread, sign(mean) !== all];
    });
  }

  const withSpread = ([mean, spread]) => `${fixed(mean, 2)} ${spread >= 0 ? `± ${fixed(spread, 2)}` : "no ±"}`;
  const span = (values) => `${fixed(min(...values), 2)} to ${fixed(max(...values), 2)}`;

  class ElmoSeeds extends ElmoExplorer {
    initial = { task: "ewt", one: "free", other: "mixture", size: 2, draws: 0, guess: 0, shown: false };

    static read(state) {
      const { conditions } = ElmoSeeds.data;
      const rows = possible(state);
      const places = drawn(state.size, state.draws);
      const last = rows[places.at(-1)];
      const all = (words) => (state.shown ? words : "?");
      const flips = (found) => found.filter((row) => row[3]).length;
      return {
        flips: all(`${flips(rows)} of ${rows.length}`),
        means: all(span(rows.map((row) => row[1]))),
        spreads: all(state.size > 1 ? span(rows.map((row) => row[2])) : "none"),
        pair: `${conditions[state.one]} − ${conditions[state.other]}`,
        five: withSpread(summary(differences(state))),
        size: `${state.size}`,
        possible: `${rows.length}`,
        guess: `${state.guess}`,
        draws: `${state.draws}`,
        turned: `${flips(places.map((place) => rows[place]))}`,
        last: last ? `${last[0].join(" ")}: ${withSpread(last.slice(1))}` : "none",
      };
    }

    static moved(state, control, value) {
      if (control === "draws") return { draws: Number(value) && min(500, state.draws + Number(value)) };
      if (control === "shown") return { shown: Boolean(value) };
      return control === "guess" ? { guess: value } : { [control]: value, draws: 0 };
    }

    setting(control, texts) {
      return [this.state[control], `${texts[control]} of ${control === "guess" ? texts.possible : 5}`];
    }

    encode({ task, one, other, size, draws, shown }) {
      return `c=${[task, one, other]}&n=${[size, draws]}${shown ? "&shown=1" : ""}`;
    }

    decode(query) {
      const [task, one, other] = (query.get("c") || "").split(",");
      const [size, draws] = this.numbers(query.get("n"), 2) || [];
      const { names, conditions } = ElmoSeeds.data;
      if (size === undefined || !Object.hasOwn(names, task)
        || ![one, other].every((name) => Object.hasOwn(conditions, name))) return null;
      return { ...this.initial, task, one, other, size: limit(round(size), [1, 5]), draws: limit(round(draws), [0, 500]),
        shown: query.has("shown") };
    }

    connectedCallback() {
      ElmoSeeds.data = JSON.parse(this.getAttribute("data"));
      super.connectedCallback();
    }

    template() {
      const { id } = this;
      const { names, conditions } = ElmoSeeds.data;
      const list = (part, label, all) => `<label>${label} <select data-control="${part}">${Object.entries(all).map(
        ([name, words]) => `<option value="${name}">${words}</option>`).join("")}</select></label>`;
      return `${predict(`All five seeds say ${value("five")} points. With ${value("size")} of them there are
          ${value("possible")} sets: how many have another sign?`,
        slider(id, "guess", "sets of another sign", [0, 10, 1]) + button("shown", "1", "Show all sets"),
        `You said ${value("guess")}. <strong>Another sign: ${value("flips")}.</strong> Means: ${value("means")}, ±:
          ${value("spreads")}.`)}
        <div class="elmo-columns"><div>${svg("sets", 400, 322)}</div><div>
          <div class="elmo-lists">${list("task", "task", names)}${list("one", "condition", conditions)}${
            list("other", "minus", conditions)}</div>
          ${slider(id, "size", "seeds in a draw", [1, 5, 1])}
          ${buttons("draws", [1, 10, 100, 0].map((n) => button("draws", n, n ? `draw ${n}` : "forget")))}
          <p>Last draw: ${value("last")}</p>
          <p>Another sign in ${value("turned")} of ${value("draws")} draws.</p></div></div>
        <p class="elmo-note">${value("pair")}, points. Lines: sets that were drawn, their mean ± standard deviation, how
          often they came.</p>`;
    }

    draw(texts) {
      const names = ElmoSeeds.data.conditions;
      const { one, other, size, draws, shown } = this.state;
      const values = differences(this.state);
      const rows = possible(this.state);
      const places = drawn(size, draws);
      const low = min(0, ...values);
      const wide = max(0, ...values) - low || 1;
      const x = (u) => 96 + (220 * (u - low)) / wide;
      const bar = ([mean, spread], y, look, width) => (spread > 0
        ? line([[x(mean - spread), y], [x(mean + spread), y]], look, width) : "") + mark("diamond", [x(mean), y], look, 0.8);
      const last = rows[places.at(-1)]?.[0] || [];
      let shapes = `<path style="stroke:var(--elmo-grid)" d="M${x(0).toFixed(1)} 24V300"/>`
        + text([x(0), 316], "0") + small([4, 14], `← ${names[other]} ahead`)
        + small([396, 14], `${names[one]} ahead →`, "end")
        + small([4, 48], "seeds") + small([4, 86], "all five") + bar(summary(values), 82, "ink", 3)
        + values.map((u, i) => mark("dot", [x(u), 44], last.includes(i) ? "ink" : "quiet hollow", 1.1)
          + small([x(u), 34], `${i}`, "middle")).join("");
      rows.forEach(([seeds, mean, spread, turned], i) => {
        const times = places.filter((place) => place === i).length;
        if (!times && !shown) return;
        const y = 116 + 19.5 * i;
        shapes += bar([mean, spread], y, turned ? "wrong" : "quiet", places.at(-1) === i ? 4 : 2)
          + small([4, y + 4], seeds.join(" ")) + small([396, y + 4], `× ${times}`, "end");
      });
      this.picture("sets", shapes, `Differences; all five ${texts.five}, last draw ${texts.last}.`);
    }
  }

  globalThis.ElmoSeeds = ElmoSeeds;
  customElements.define("elmo-seeds", ElmoSeeds);
})();
