"use strict";

/* <elmo-shift>: what a state has read and what it is asked for (chapter 2). Its twin for Jupyter is
   elmo_toy.widgets.shift. The sentence and what was measured come with the element. */

(() => {
  const { button, buttons, limit, line, mark, predict, radios, slider, svg, text, value } = ElmoParts;
  const WAYS = ["forward", "backward"];
  const safe = (word) => word.replace("<", "&lt;");
  const last = () => ElmoShift.data.tokens.length - 1;

  /* Places that the top state has consumed, in reading order; joined, the other side's are last. */
  function hasRead(way, at, wiring) {
    const order = [...ElmoShift.data.tokens.keys()];
    if (way === "backward") order.reverse();
    return wiring === "joined" ? order : order.slice(0, order.indexOf(at) + 1);
  }

  /* The place of what it is to predict, or one behind the last for nothing. */
  function askedFor(way, at, wiring) {
    if (wiring === "leak") return at;
    return way === "forward" ? at + 1 : at ? at - 1 : last() + 1;
  }

  class ElmoShift extends ElmoExplorer {
    initial = { at: 5, wiring: "apart", guess: -1, shown: false };

    static read({ at, wiring, guess, shown }) {
      const { tokens, models } = ElmoShift.data;
      const words = [...tokens, "nothing"];
      const right = guess === askedFor("backward", at, wiring);
      const [loss, one, two] = models[wiring].texts;
      const texts = { at: tokens[at], wiring: models[wiring].name, loss, "layer-1": one, "layer-2": two,
        guess: !shown || guess < 0 ? "" : right ? "You were right." : `You said ${words[guess]}.` };
      WAYS.forEach((way, i) => {
        const places = hasRead(way, at, wiring);
        const asked = askedFor(way, at, wiring);
        texts[`${way}-read`] = places.map((place) => tokens[place]).join(" ");
        texts[`${way}-asked`] = i && !shown ? "?" : words[asked];
        texts[`${way}-seen`] = i && !shown ? "yours to say"
          : `which it ${asked > last() ? "is not scored on" : places.includes(asked) ? "has read" : "has not read"}`;
      });
      return texts;
    }

    static moved(state, control, value) {
      if (control === "guess") return { guess: Number(value) };
      if (control === "shown") return { shown: Boolean(value), guess: value ? state.guess : -1 };
      return { [control]: value, guess: -1 };
    }

    pressed(action, value) {
      return this.state.guess === Number(value);
    }

    setting(control, texts) {
      return [this.state[control], `at ${texts.at}, forward is asked for ${texts["forward-asked"]}`];
    }

    encode({ at, wiring, shown }) {
      return `k=${at}&m=${wiring}${shown ? "&shown=1" : ""}`;
    }

    decode(query) {
      const [at] = this.numbers(query.get("k"), 1) || [];
      const wiring = query.get("m");
      if (at === undefined || !Object.hasOwn(ElmoShift.data.models, wiring)) return null;
      return { ...this.initial, at: limit(Math.round(at), [0, last()]), wiring, shown: query.has("shown") };
    }

    connectedCallback() {
      ElmoShift.data = JSON.parse(this.getAttribute("data"));
      super.connectedCallback();
    }

    template() {
      const { tokens, models } = ElmoShift.data;
      const guesses = [...tokens, "nothing"].map((word, i) => button("guess", i, safe(word), 1));
      const reading = WAYS.map((way, i) => `<p class="elmo-reading"><strong>${["Forward", "Backward"][i]}</strong> at
        ${value("at")} has read
        <em>${value(`${way}-read`)}</em>. Asked for: <strong>${value(`${way}-asked`)}</strong>, ${
        value(`${way}-seen`)}.</p>`);
      return `${predict(`The backward state at ${value("at")} reads from the right. Which token is it asked for?`,
        buttons("the backward state is asked for", guesses) + button("shown", "1", "Show its task"),
        `<strong>${value("guess")}</strong> The backward state at ${value("at")} is asked for <strong>${
          value("backward-asked")}</strong>. Now walk to both ends.`)}
        <div class="elmo-columns"><div>${svg("walk", 400, 342)}</div><div>
          ${slider(this.id, "at", "place", [0, last(), 1])}
          ${radios(this.id, "wiring", "wiring", Object.entries(models).map(([wiring, { name }]) => [wiring, name]))}
          ${reading.join("")}</div></div>
        <p class="elmo-measured"><strong>Measured, ${value("wiring")}:</strong> loss ${value("loss")} nats; sense score
          ${value("layer-1")} in layer 1, ${value("layer-2")} in layer 2; five seeds, new cue words.</p>`;
    }

    draw(texts) {
      const { at, wiring, shown } = this.state;
      const { tokens } = ElmoShift.data;
      const y = (place) => 48 + 25.5 * place;
      let shapes = line([[122, y(at)], [278, y(at)]], "quiet dotted");
      WAYS.forEach((way, i) => {
        const [x, out, anchor, look] = [[122, -12, "end", "ink"], [278, 12, "start", "quiet"]][i];
        const point = (place) => [x, y(place)];
        const places = hasRead(way, at, wiring);
        const split = places.indexOf(at);
        const asked = askedFor(way, at, wiring);
        shapes += text([x - 2 * out, 18], `${way} has read`, anchor)
          + line(places.slice(split).map(point), "wrong dotted") + line(places.slice(0, split + 1).map(point), look, 3)
          + places.map((place, n) => (n > split ? mark("dot", point(place), "wrong hollow", 0.8)
            : mark(n < split ? "dot" : "diamond", point(place), look))).join("");
        if (asked > last() || (i && !shown)) return;
        const seen = places.includes(asked);
        const [tip, to] = [x - 3 * out, y(asked)];
        const wings = [-6, 6].map((up) => [tip + out / 2, to + up]);
        shapes += line([point(at), [x - 2 * out, to], [tip, to], wings[0], [tip, to], wings[1]], seen ? "wrong" : look)
          + text([x + out, to + 5], seen ? "reads its answer" : "asked for", anchor, seen ? "wrong" : "small");
      });
      shapes += tokens.map((token, place) =>
        text([200, y(place) + 5], safe(token), "middle", place === at ? "here" : "")).join("");
      this.picture("walk", shapes, `At ${texts.at} forward has read ${texts["forward-read"]}, backward ${texts["backward-read"]}.`);
    }
  }

  globalThis.ElmoShift = ElmoShift;
  customElements.define("elmo-shift", ElmoShift);
})();
