"use strict";

/* <elmo-reader>: two sentences of the reader's own, read by the language model that comes with the
   package (chapters 1 and 5). Its twin for Jupyter is elmo_toy.widgets.reader. Prepared pairs come
   with the element, and so do the quantiles of random pairs; the model is loaded when it is asked
   for. What somebody types is only ever text. */

(() => {
  const { fixed, sum, withWeight } = ElmoMath;
  const { LOOKS, button, buttons, isMixture, limit, line, mark, predict, radios, slider, small, svg, table, text, value } = ElmoParts;
  const { abs, max, round, sqrt } = Math;
  const HERE = globalThis.document?.currentScript.src;
  const LONGEST = 300;
  const AMONG = { same: "pairs of one word", different: "pairs of two words" };
  const GUESSES = ["nearer", "further"];
  const EQUAL = [1 / 3, 1 / 3, 1 / 3];
  const MODELS = ["trained", "untrained"];
  const NAMES = ["token", "lower", "upper"];
  const BOTH = [0, 1];
  const percent = (chance) => `${fixed(100 * chance, 2)}%`;
  const replaced = (pair, k, value) => pair.map((old, i) => (i === Number(k) ? value : old));
  const shortened = (typed) => [...typed].slice(0, LONGEST).join("");
  const pause = () => new Promise((done) => setTimeout(done));

  /* Words and signs: lower case, every digit 0. */
  const tokensOf = (typed) => typed.replace(/[‘’]/g, "'").replace(/[“”]/g, '"').replace(/[—–]/g, "-").toLowerCase().replace(/\p{Nd}/gu, "0")
    .match(/[\p{L}\p{N}\p{M}]+(?:'[\p{L}\p{N}\p{M}]+)*|[^\p{L}\p{N}\p{M}\p{Z}\p{C}]/gu) || [];

  // What has been read, by its key.
  const known = new Map();
  const within = (place, tokens) => limit(place, [0, max(0, tokens.length - 1)]);
  const pairs = ({ texts, places }) => texts.map((typed, k) => [tokensOf(typed), places[k]]);
  const key = (state) => JSON.stringify(pairs(state));

  /* Percentile in a table of quantiles; the middle of those that are equal. */
  function placed(value, quantiles) {
    const last = quantiles.length - 1;
    const below = quantiles.filter((entry) => entry < value - 1e-9).length;
    const equal = quantiles.filter((entry) => abs(entry - value) <= 1e-9).length;
    const [low, high] = [quantiles[below - 1], quantiles[below]];
    if (equal) return (100 * (below + (equal - 1) / 2)) / last;
    if (!below || below > last) return below ? 100 : 0;
    return (100 * (below - 1 + (value - low) / (high - low))) / last;
  }

  /* Cosines and percentiles [model][layer], and the mixtures, from the products of the layers. */
  function numbers({ among, weights, gamma }, { products, untrained }) {
    const kinds = ElmoReader.data.quantiles;
    const trained = LOOKS.map((_, j) => products[j][j + 3] / sqrt(products[j][j] * products[j + 3][j + 3]));
    const cosines = [trained, untrained];
    const mix = (k, l) => gamma * gamma * sum(weights.flatMap((w, i) => weights.map((v, j) => w * v * products[3 * k + i][3 * l + j])));
    const [one, both, other] = [mix(0, 0), mix(0, 1), mix(1, 1)];
    return {
      cosines,
      at: cosines.map((values, m) => values.map((cosine, j) => placed(cosine, kinds[m][Object.keys(AMONG).indexOf(among)][j]))),
      upper: placed(trained[2], kinds[0][0][2]),
      mixture: both / sqrt(one * other),
      lengths: [one, other, max(0, one + other - 2 * both)].map(sqrt),
    };
  }

  class ElmoReader extends ElmoExplorer {
    failed = "";

    static read(state) {
      const { texts: typed, among, weights, gamma, guess, shown } = state;
      const found = known.get(key(state));
      const { cosines, at, upper, mixture, lengths } = found ? numbers(state, found) : {};
      const say = (words, open) => (found ? (open || shown ? words() : "?") : "–");
      const texts = {
        among: AMONG[among],
        gamma: fixed(gamma, 1),
        answer: say(() => fixed(upper, 0)),
        guess: !found || !guess || !shown ? "" : guess === GUESSES[Number(upper < 50)] ? "You were right." : `You said ${guess}.`,
        mixture: say(() => (gamma ? fixed(mixture, 3) : "none")),
      };
      ["length-0", "length-1", "distance"].forEach((name, i) => (texts[name] = say(() => fixed(lengths[i], 2))));
      weights.forEach((weight, j) => {
        texts[`weight-${j}`] = fixed(weight, 3);
        MODELS.forEach((name, m) => {
          texts[`${name}-${j}`] = say(() => fixed(cosines[m][j], 3), !j);
          texts[`${name}-at-${j}`] = say(() => fixed(at[m][j], 0), !j);
        });
      });
      pairs(state).forEach(([tokens, place], k) => {
        const word = tokens[place];
        texts[`note-${k}`] = !word ? "There is no word here yet."
          : [...typed[k]].length >= LONGEST ? `No more than ${LONGEST} characters are read.`
            : new TextEncoder().encode(word).length > 22 ? "Of this word 22 bytes are read." : "";
        texts[`word-${k}`] = word ?? "–";
        BOTH.forEach((d) => {
          const { words, own } = found?.expected[k][d] || { words: Array(5).fill(["–"]) };
          words.forEach(([word, chance], n) => {
            texts[`expected-${k}-${d}-${n}`] = word;
            texts[`chance-${k}-${d}-${n}`] = say(() => percent(chance), 1);
          });
          texts[`own-${k}-${d}`] = say(() => (own ? `${percent(own[0])}, place ${own[1]}` : "not among its 4000 words"), 1);
          const near = found?.nearest[k][d] || ["", "–", ""];
          ["before", "word", "after"].forEach((part, i) => (texts[`nearest-${k}-${d + 1}-${part}`] = near[i]));
        });
      });
      return texts;
    }

    /* A guess is about one pair; a word keeps its mark when the words around it change. */
    static moved({ texts, places, weights, guess }, control, value) {
      const [name, k] = control.split("-");
      if (name === "weight") return { weights: withWeight(weights, Number(k), value) };
      if (name === "place") return { places: replaced(places, k, Number(value)), guess: "" };
      if (name === "shown") return { shown: Boolean(value), guess: value ? guess : "" };
      if (name === "example") {
        const { texts, places } = ElmoReader.data.examples[value];
        return { texts, places, guess: "" };
      }
      if (name !== "text") return { [name]: value };
      const typed = shortened(value);
      const after = tokensOf(typed);
      const word = tokensOf(texts[k])[places[k]];
      const far = (place) => abs(place - places[k]);
      const [same] = [...after.keys()].filter((i) => after[i] === word).sort((i, j) => far(i) - far(j));
      const place = same ?? within(places[k], after);
      return { texts: replaced(texts, k, typed), places: replaced(places, k, place), guess: "" };
    }

    /* Let the model read what a state holds. */
    static look(state) {
      known.set(key(state), ElmoBilm.reading(ElmoReader.model, pairs(state)));
    }

    pressed(action, value) {
      return key(this.state) === key(ElmoReader.data.examples[value]);
    }

    setting(control, texts) {
      const [name, k] = control.split("-");
      if (name === "text") return [this.state.texts[k]];
      const words = `${texts[control]}${k ? ` of ${LOOKS[k][3]}` : ""}, cosine of the mixtures ${texts.mixture}`;
      return [k ? this.state.weights[k] : this.state[name], words];
    }

    encode({ texts: [a, b], places, among, weights, gamma, shown }) {
      return new URLSearchParams({ a, b, at: places, v: among, w: weights, g: gamma, ...(shown && { shown: 1 }) });
    }

    decode(query) {
      const texts = ["a", "b"].map((part) => shortened(query.get(part) ?? ""));
      const places = this.numbers(query.get("at"), 2);
      const weights = this.numbers(query.get("w") ?? `${EQUAL}`, 3);
      const [gamma] = this.numbers(query.get("g") ?? "1", 1) || [];
      const among = query.get("v") ?? "same";
      if (!places || gamma === undefined || !Object.hasOwn(AMONG, among) || !isMixture(weights)) return null;
      return { texts, among, weights, gamma: limit(gamma, [-2, 2]), guess: "", shown: query.has("shown"),
        places: places.map((place, k) => within(round(place), tokensOf(texts[k]))) };
    }

    connectedCallback() {
      ElmoReader.data = JSON.parse(this.getAttribute("data"));
      for (const example of Object.values(ElmoReader.data.examples)) known.set(key(example), example.reading);
      super.connectedCallback();
    }

    template() {
      const { id } = this;
      const { examples, files, size } = ElmoReader.data;
      const sentence = (k) => `<div><label for="${id}-text-${k}">Sentence ${"AB"[k]}, and a word in it</label>
        <input type="text" id="${id}-text-${k}" data-control="text-${k}" dir="auto" spellcheck="false" autocomplete="off">
        <div class="elmo-tokens" data-part="tokens-${k}"></div>
        <p class="elmo-note">${value(`note-${k}`)}</p></div>`;
      const expected = (k) => `<div><p><strong><bdi>${value(`word-${k}`)}</bdi></strong> in ${"AB"[k]}: what is expected there</p>
        <div class="elmo-expected">${BOTH.map((d) => `<div><p class="elmo-note">from the ${["left", "right"][d]}</p><ol>${
          [0, 1, 2, 3, 4].map((n) => `<li>${value(`expected-${k}-${d}-${n}`)}${value(`chance-${k}-${d}-${n}`)}</li>`).join("")
          }</ol><p class="elmo-note">the word itself: ${value(`own-${k}-${d}`)}</p></div>`).join("")}</div></div>`;
      const nearest = (k) => `<div><p>Nearest to ${"AB"[k]} in our sentences</p>${[1, 2].map((j) => `<p class="elmo-near">${
        LOOKS[j][2]}: ${value(`nearest-${k}-${j}-before`)} <strong>${value(`nearest-${k}-${j}-word`)}</strong>
        ${value(`nearest-${k}-${j}-after`)}</p>`).join("")}</div>`;
      return `${predict(`Take many pairs of one word. Will the upper layer put these two among the nearer half, or the further?`,
        radios(id, "guess", "the upper layer puts them", GUESSES.map((guess) => [guess, guess]))
          + button("shown", "1", "Show how near"),
        `<strong>${value("guess")}</strong> In the upper layer ${value("answer")} of 100 pairs of one word are further apart.`)}
        ${buttons("prepared pairs", Object.entries(examples).map(([name, example]) => button("example", name, example.name, 1)))}
        <div class="elmo-halves">${BOTH.map(sentence).join("")}</div>
        <div class="elmo-load"><button type="button" data-action="load">Load the model, ${size}</button>
          <progress max="${files + 17}" value="0" aria-label="loading"></progress><span role="status" data-part="load"></span></div>
        <div class="elmo-columns"><div>${svg("near", 400, 236)}
          ${radios(id, "among", "random pairs", Object.entries(AMONG))}</div><div>
          ${LOOKS.map((look, j) => slider(id, `weight-${j}`, `weight of ${look[2]}`, [0.01, 0.98, 0.01])).join("")}
          ${slider(id, "gamma", "scale γ", [-2, 2, 0.1])}
          <p>Mixtures: cosine <strong>${value("mixture")}</strong>, lengths ${value("length-0")} and ${value("length-1")},
            ${value("distance")} apart.</p></div></div>
        ${table(["cosine", "percentile", "untrained", "percentile"],
          LOOKS.map((look, j) => [`${look[2]} ${NAMES[j]}`, ...MODELS.flatMap((name) => [`${name}-${j}`, `${name}-at-${j}`])]))}
        <div class="elmo-halves">${BOTH.map(expected).join("")}${BOTH.map(nearest).join("")}</div>`;
    }

    act(action, value) {
      if (action === "load") this.load();
      else super.act(action, value);
    }

    async load() {
      if (this.busy) return;
      this.busy = "Loading …";
      this.tell();
      const bar = this.live.querySelector("progress");
      const step = () => pause((bar.value += 1));
      const script = (name) => new Promise((onload, onerror) =>
        document.head.append(Object.assign(document.createElement("script"), { src: new URL(name, HERE), onload, onerror })));
      bar.value = 0;
      try {
        for (let i = 0; i <= ElmoReader.data.files; i += 1) {
          await script(i ? `weights/english-small-${i - 1}.js` : "elmo-bilm.js");
          await step();
        }
        ElmoReader.model = await ElmoBilm.unpacked(ElmoWeights, ElmoWeights.about, step);
        const focused = document.activeElement.dataset.action === "load";
        this.live.classList.add("has-model");
        if (focused) this.live.querySelector("[type=text]").focus();
      } catch {
        this.failed = "It did not load; try again. ";
      }
      this.busy = "";
      this.update();
    }

    tell(unread) {
      this.live.setAttribute("aria-busy", Boolean(this.busy));
      this.part("load").textContent = this.busy || (ElmoReader.model ? "The model is loaded: type what you like."
        : `${this.failed}${unread ? "To read these sentences, load the model." : "Prepared pairs need no model, others do."}`);
    }

    update() {
      pairs(this.state).forEach(([tokens, place], k) => {
        const box = this.part(`tokens-${k}`);
        if (box.words !== tokens.join(" ")) {
          box.words = tokens.join(" ");
          box.innerHTML = radios(this.id, `place-${k}`, `word in ${"AB"[k]}`, tokens.map((_, i) => [i, "<bdi></bdi>"]));
          box.querySelectorAll("bdi").forEach((word, i) => (word.textContent = tokens[i]));
        }
        box.querySelectorAll("input").forEach((input, i) => (input.checked = i === place));
      });
      super.update();
      this.compute();
    }

    /* Read what is not known yet, one sentence at a time, so that the page can be used. */
    async compute() {
      const unread = !known.has(key(this.state)) && pairs(this.state).every(([tokens]) => tokens.length);
      const ready = ElmoReader.model && !this.busy && unread;
      if (ready) this.busy = "Computing …";
      this.tell(unread);
      if (!ready) return;
      const { state } = this;
      for (const [tokens] of pairs(state)) {
        for (const name of MODELS) {
          await pause();
          ElmoReader.model[name].read(tokens);
        }
      }
      ElmoReader.look(state);
      this.busy = "";
      this.update();
    }

    draw(texts) {
      const { state } = this;
      const found = known.get(key(state));
      const { cosines, at, mixture } = found ? numbers(state, found) : {};
      const x = (share) => 92 + 2.9 * share;
      let shapes = line([[x(50), 26], [x(50), 158]], "quiet dotted") + small([x(0), 14], "← further")
        + small([x(50), 14], texts.among, "middle") + small([x(100), 14], "nearer →", "end") + line([[x(0), 206], [x(100), 206]], "quiet thin")
        + small([4, 210], "cosine") + [0, 0.5, 1].map((c) => small([x(100 * c), 228], `${c}`, "middle")).join("");
      LOOKS.forEach(([shape, look, name], j) => {
        const y = 50 + 46 * j;
        shapes += text([4, y + 5], `${name} ${NAMES[j]}`, "start");
        if (!found) return;
        if (j && !state.shown) {
          shapes += text([x(50), y + 5], "?");
          return;
        }
        MODELS.forEach((model, m) => {
          const here = [x(at[m][j]), y + 16 * m - 7];
          const left = at[m][j] > 50;
          shapes += line([[x(50), here[1]], here], m ? "quiet" : look, 4 - 2 * m) + mark(m ? "dot" : shape, here, m ? "quiet hollow" : look, 1.2);
          if (!j) shapes += small([x(50) + (left ? -12 : 12), here[1] + 4], model, left ? "end" : "start");
        });
        shapes += mark(shape, [x(100 * limit(cosines[0][j], [0, 1])), 206], look);
      });
      if (found && state.shown && state.gamma) shapes += mark("star", [x(100 * limit(mixture, [0, 1])), 206], "ink");
      this.picture("near", shapes, `Percentiles among ${texts.among}: ${LOOKS.map((look, j) =>
        `${look[3]} ${texts[`trained-at-${j}`]}, untrained ${texts[`untrained-at-${j}`]}`).join("; ")}.`);
      this.live.querySelectorAll(".elmo-expected ol").forEach((list, i) => [...list.children].forEach((item, n) =>
        item.style.setProperty("--share", percent(found?.expected[i >> 1][i % 2].words[n][1] || 0))));
    }
  }

  globalThis.ElmoReader = ElmoReader;
  customElements.define("elmo-reader", ElmoReader);
})();
