"use strict";

/* The explorers' scripts against what elmo_toy computes. The file of states is named by
   ELMO_STATES and the folder of scripts by ELMO_SCRIPTS; tests/js/test_node.py writes both and
   starts this. */

const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");
const { runInThisContext } = require("node:vm");

// As much of a page as the scripts need to be loaded.
globalThis.HTMLElement = class {};
globalThis.customElements = { define() {} };
for (const name of ["elmo-math", "elmo-explorer", "elmo-mixture", "elmo-gradient"]) {
  const file = join(process.env.ELMO_SCRIPTS, `${name}.js`);
  runInThisContext(readFileSync(file, "utf-8"), { filename: file });
}
const { constants, states, walks } = JSON.parse(readFileSync(process.env.ELMO_STATES, "utf-8"));
const M = globalThis.ElmoMath;

function close(actual, expected, name, tolerance = 1e-12) {
  const [one, other] = [actual, expected].map((value) => [value].flat(2));
  assert.equal(one.length, other.length, name);
  one.forEach((value, i) => {
    const off = Math.abs(value - other[i]) / Math.max(1, Math.abs(other[i]));
    assert.ok(off <= tolerance, `${name}: ${value}, expected ${other[i]}, off by ${off}`);
  });
}

test("the constants are the package's", () => {
  for (const [name, value] of Object.entries(constants)) assert.deepEqual(M[name], value, name);
});

test("there are enough states to compare", () => assert.ok(states.length >= 500));

test("softmax and forward pass", () => {
  for (const state of states) {
    const weights = M.softmax(state.logits);
    close(weights, state.weights, "weights");
    const found = M.forward(weights, state.gamma);
    for (const name of ["mixtures", "scores", "probabilities", "losses", "loss"]) {
      close(found[name], state[name], name);
    }
    close(M.lossAt(weights, state.gamma), state.loss, "lossAt");
  }
});

test("gradients, the right one and the wrong one", () => {
  for (const state of states) {
    const by = M.gradients(state.weights, state.gamma);
    close(by.byOccurrence, state.byOccurrence, "by occurrence");
    close(by.logits, state.byLogit, "by logit");
    close(by.gamma, state.byGamma, "by gamma");
    close(by.weights, state.byWeight, "by weight");
    close(by.withoutM, state.withoutM, "without m");
  }
});

test("steps by the three rules", () => {
  for (const state of states) {
    for (const [rule, expected] of Object.entries(state.steps)) {
      const found = M.step(rule, state, state.rate);
      close(found.weights, expected.weights, rule);
      close(found.gamma, expected.gamma, rule);
    }
  }
});

test("the walk that no score sees, and one weight set", () => {
  for (const state of states) {
    const found = M.along(state.weights, state.gamma, state.amount);
    close(found.weights, state.along.weights, "weights along");
    close(found.gamma, state.along.gamma, "gamma along");
    close(M.withWeight(state.weights, state.layer, state.value), state.withWeight, "one weight");
  }
});

test("central differences, to the rounding that their step leaves", () => {
  for (const { logits, gamma, delta, measured, loss } of states) {
    const rounding = (4 * 2.2e-16 * Math.max(1, loss)) / delta;
    close(M.centralDifference(M.lossOfLogits, [...logits, gamma], delta), measured, "measured", 1e-12 + rounding);
  }
});

test("the gradient is that of the loss", () => {
  for (const { logits, gamma } of states) {
    const measured = M.centralDifference(M.lossOfLogits, [...logits, gamma], 1e-5);
    const by = M.gradients(M.softmax(logits), gamma);
    close([...by.logits, by.gamma], measured, "gradient", 1e-8);
  }
});

test("scores of any size", () => {
  assert.equal(M.logLoss(1000, 0), 1000);
  assert.equal(M.logLoss(-1000, 0), 0);
  // what is left of a score that is right and certain
  assert.ok(Math.abs(M.logLoss(50, 1) / Math.exp(-50) - 1) < 1e-12);
  assert.ok(Math.abs(M.logLoss(-50, 0) / Math.exp(-50) - 1) < 1e-12);
  assert.equal(M.sigmoid(-1000), 0);
  assert.deepEqual(M.softmax([1000, -1000]), [1, 0]);
});

test("numbers as text", () => {
  assert.equal(M.fixed(-0.00001, 2), "0.00");
  assert.equal(M.fixed(-0.7, 1), "−0.7");
  assert.equal(M.fixed(0.125, 2), "0.13");
  assert.equal(M.trimmed(1, 4), "1.0");
  assert.equal(M.trimmed(1, 2, 0), "1");
  assert.equal(M.vector([0.3, 1]), "[0.3, 1.0]");
});

/* Texts that hold a measured derivative are equal to the rounding of its step; all others agree
   letter by letter. */
const MEASURED = /^(measured|off)-/;
function sameText(name, found, expected, delta) {
  if (found === expected) return;
  assert.match(name, MEASURED, `${name}: ${found}, expected ${expected}`);
  const number = (text) => (text.startsWith("about") ? 0 : Number(text.replace("−", "-")));
  const off = Math.abs(number(found) - number(expected));
  assert.ok(off <= 1.01e-6 + 1e-15 / delta, `${name}: ${found}, expected ${expected}`);
}

for (const [name, explorer] of [["mixture", globalThis.ElmoMixture], ["gradient", globalThis.ElmoGradient]]) {
  test(`${name}: the same texts as in Jupyter for the same controls`, () => {
    for (const walk of walks[name]) {
      let state = new explorer().initial;
      for (const { control, value, texts, delta } of walk) {
        state = { ...state, ...explorer.moved(state, control, value) };
        const found = explorer.read(state);
        assert.deepEqual(Object.keys(found).sort(), Object.keys(texts).sort());
        for (const key of Object.keys(texts)) sameText(`${key}`, found[key], texts[key], delta);
      }
    }
  });

  test(`${name}: a link leads back to its state`, () => {
    const element = new explorer();
    for (const walk of walks[name]) {
      let state = element.initial;
      for (const { control, value } of walk) {
        state = { ...state, ...explorer.moved(state, control, value) };
        if (control === "guess" && name === "gradient") state.guess = ""; // nobody else's guess is sent
      }
      const back = element.decode(new URLSearchParams(element.encode(state)));
      assert.deepEqual(explorer.read(back), explorer.read({ ...state, guess: back.guess }));
    }
  });

  test(`${name}: an address that holds no state changes nothing`, () => {
    const element = new explorer();
    for (const query of ["", "w=1", "w=0.5,0.5", "w=a,b,c", "w=0,0,1", "w=0.2,0.3,0.6", "w=0.2,0.3,0.5&g=x",
      "w=0.2,0.3,0.5&p=1", "w=Infinity,0,0", "s=constructor", "s=none", "s=upper&g=", "s=upper&n=1,2",
      "w=0.2,0.3,0.5&shown=1", "w=<script>", "s=%00"]) {
      assert.equal(element.decode(new URLSearchParams(query)), null, query);
    }
  });
}

test("a link cannot lead out of the controls' ranges", () => {
  const mixture = new ElmoMixture().decode(new URLSearchParams("w=0.2,0.3,0.5&g=99&t=7&p=1e9,-1e9&shown=1e308,-1e308"));
  assert.deepEqual([mixture.gamma, mixture.along, ...mixture.guess, ...mixture.answer], [5, 0, 9, -9, 10, -10]);
  const gradient = new ElmoGradient().decode(new URLSearchParams("s=lower&g=-9&n=-3,99,1e9"));
  assert.deepEqual([gradient.gamma, gradient.rate, gradient.delta, gradient.steps], [-2, 0, 14, 500]);
});

test("what was shown of a link's mixture is in the next link, short and as an address may have it", () => {
  const element = new ElmoMixture();
  const sent = (query) => element.encode(element.decode(new URLSearchParams(`w=0.2,0.3,0.5&${query}`)));
  assert.match(sent("shown=1e308,-1e308"), /&shown=10,-10$/);
  assert.match(sent("shown=0.30000000000000004,1e-20"), /&shown=0.3,0$/);
  // as far as the scale carries one of loan's vectors: nothing that can be shown is cut
  const far = [-5, 5].flatMap((gamma) => Object.values(M.PRESETS).map((weights) => M.forward(weights, gamma).mixtures[1]));
  far.push(...M.LAYERS[1].map((layer) => layer.map((x) => 5 * x)));
  for (const answer of far) {
    const back = element.decode(new URLSearchParams(element.encode({ ...element.initial, shown: true, answer })));
    close(back.answer, answer, "answer");
  }
});

test("a prediction is asked and answered from the start of the runs", () => {
  const explorer = new ElmoGradient();
  explorer.state = { ...explorer.initial, steps: 101 };
  explorer.change = function (part) { this.state = { ...this.state, ...part }; };
  explorer.move("shown", "1");
  assert.equal(explorer.state.steps, 1);
  explorer.move("steps", "100");
  assert.equal(explorer.state.steps, 101);
  explorer.move("shown", "");
  assert.equal(explorer.state.steps, 0);
});

test("small steps of the difference are at the left of their slider and of the plot", () => {
  const drawn = {};
  const explorer = Object.assign(new ElmoGradient(), { picture: (name, shapes) => (drawn[name] = shapes) });
  const rounding = [0, 14].map((delta) => {
    explorer.state = { ...explorer.initial, delta };
    const texts = ElmoGradient.read(explorer.state);
    explorer.draw(texts);
    const [, x] = drawn.errors.match(/<path class="mark ink"[^>]*translate\(([\d.]+)/);
    return [texts.delta, Number(x)];
  });
  assert.deepEqual(rounding, [["10⁻¹⁵", 36], ["10⁻¹", 232]]);
  const labels = [...drawn.errors.matchAll(/<text x="([\d.]+)" y="([\d.]+)"[^>]*>(\D[^<]*)</g)];
  const placed = Object.fromEntries(labels.map(([, x, y, words]) => [words, [Number(x), Number(y)]]));
  assert.deepEqual(placed.difference, [4, 12]);
  assert.deepEqual(placed["step δ"], [238, 187]);
});

test("what the guess missed is of the mixture that was shown, and is drawn beside that only", () => {
  const drawn = {};
  const part = { lastElementChild: { setAttribute() {}, style: {} } };
  const explorer = Object.assign(new ElmoMixture(), {
    picture: (name, shapes) => (drawn[name] = shapes),
    state: new ElmoMixture().initial,
    part: () => part,
  });
  explorer.change = function (changed) {
    this.state = { ...this.state, ...changed };
    this.draw(ElmoMixture.read(this.state));
    return [ElmoMixture.read(this.state).miss, /class="line wrong/.test(drawn.plane)];
  };
  const moves = [["shown", "1"], ["gamma", 3], ["weight-0", 0.6], ["along", 0.1], ["preset", "upper"], ["gamma", 1],
    ["shown", ""], ["gamma", 2], ["shown", "1"]];
  const seen = moves.map(([control, value]) => explorer.change(ElmoMixture.moved(explorer.state, control, value)));
  assert.deepEqual(seen, [["2.42", true], ["2.42", false], ["2.42", false], ["2.42", false], ["2.42", false],
    ["2.42", true], ["?", false], ["?", false], ["1.90", true]]);
  // a guess that came with a link is somebody else's, until the reader asks again
  const sent = explorer.decode(new URLSearchParams(explorer.encode(explorer.state)));
  for (const [change, hidden] of [[sent, true], [ElmoMixture.moved(sent, "shown", ""), false],
    [ElmoMixture.moved(sent, "shown", "1"), false]]) {
    assert.equal(explorer.change(change)[1], !hidden && change.shown);
    assert.equal(part.hidden, hidden);
  }
});
