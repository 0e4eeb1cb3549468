"use strict";

/* The language model in the page, and the explorer that asks it, against elmo_toy. The file of
   states holds the scripts with the weights; tests/js/test_node.py writes it and starts this. */

const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");
const { runInThisContext } = require("node:vm");

// As much of a page as the scripts need to be loaded.
globalThis.HTMLElement = class {};
globalThis.customElements = { define() {} };
for (const name of ["elmo-math", "elmo-explorer", "elmo-reader", "elmo-bilm"]) {
  const file = join(process.env.ELMO_SCRIPTS, `${name}.js`);
  runInThisContext(readFileSync(file, "utf-8"), { filename: file });
}
const { data, readings, scripts, tokens, walks } = JSON.parse(readFileSync(process.env.ELMO_STATES, "utf-8"));
scripts.forEach((script) => runInThisContext(script));
const parts = globalThis.ElmoWeights;
let steps = 0;
const loading = globalThis.ElmoBilm.unpacked(parts, parts.about, async () => { steps += 1; });
const explorer = globalThis.ElmoReader;
explorer.data = data.reader;

/* A state, read by the model where that has not happened and there is something to read. */
const looked = new Set();
function look(state) {
  const key = JSON.stringify([state.texts, state.places]);
  const texts = explorer.read(state);
  if (!looked.has(key) && texts["word-0"] !== "–" && texts["word-1"] !== "–") explorer.look(state);
  looked.add(key);
}

const { watch } = data.reader.examples;
const initial = { texts: watch.texts, places: watch.places, among: "same", weights: [1 / 3, 1 / 3, 1 / 3], gamma: 1,
  guess: "", shown: false };
const after = (walk) => walk.reduce((state, { control, value }) =>
  ({ ...state, ...explorer.moved(state, control, value) }), initial);

test("the files are within their budget, and as many as the element says", () => {
  assert.equal(scripts.length, data.reader.files);
  const size = scripts.reduce((total, script) => total + Buffer.byteLength(script), 0);
  assert.ok(size <= 1_500_000, `${size} bytes`);
  assert.equal(data.reader.size, `${(size / 1e6).toFixed(1)} MB`);
});

test("layers, probabilities and the untrained model are the package's", async () => {
  const model = await loading;
  assert.ok(readings.length > 10);
  for (const { pairs, ...expected } of readings) {
    const found = globalThis.ElmoBilm.reading(model, pairs);
    const close = (one, other, name) => {
      assert.ok(Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(other)), `${name}: ${one}, expected ${other}`);
    };
    found.products.flat().forEach((value, i) => close(value, expected.products.flat()[i], "products"));
    found.untrained.forEach((value, j) => close(value, expected.untrained[j], "untrained"));
    assert.deepEqual(found.nearest, expected.nearest);
    found.expected.flat().forEach(({ words, own }, i) => {
      const wanted = expected.expected.flat()[i];
      assert.deepEqual(words.map(([word]) => word), wanted.words.map(([word]) => word));
      words.forEach(([, chance], n) => close(chance, wanted.words[n][1], "probability"));
      assert.equal(own?.[1], wanted.own?.[1]);
      if (own) close(own[0], wanted.own[0], "own probability");
    });
  }
});

test("the progress that is shown has as many steps as loading takes", async () => {
  await loading;
  const element = Object.assign(new explorer(), { id: "e" });
  const [, most] = element.template().match(/<progress max="(\d+)"/);
  assert.equal(Number(most), data.reader.files + 1 + steps);
});

test("reader: the same texts as in Jupyter for the same controls", async () => {
  explorer.model = await loading;
  assert.ok(walks.reader.length >= 60);
  for (const walk of walks.reader) {
    let state = initial;
    for (const { control, value, texts } of walk) {
      state = { ...state, ...explorer.moved(state, control, value) };
      look(state);
      assert.deepEqual(explorer.read(state), texts, `${control} ${value}`);
    }
  }
});

test("what nobody has read yet shows dashes and no numbers", () => {
  const texts = explorer.read({ ...initial, texts: ["a sentence that is nowhere else", "another"], places: [1, 0], shown: true });
  for (const name of ["trained-0", "untrained-at-2", "mixture", "answer", "expected-0-1-2", "chance-1-0-0", "own-0-0",
    "nearest-1-2-word"]) assert.equal(texts[name], "–", name);
  assert.equal(texts["word-0"], "sentence");
});

test("words and signs are cut as the package cuts them", () => {
  for (const [typed, expected] of tokens) {
    const { texts, places } = explorer.moved({ ...initial, places: [999, 0] }, "text-0", typed);
    assert.ok(places[0] <= Math.max(0, expected.length - 1));
    if ([...typed].length > 300) assert.equal([...texts[0]].length, 300);
    else assert.equal(explorer.read({ ...initial, texts: [typed, "x"], places: [0, 0] })["word-0"], expected[0] ?? "–");
  }
});

test("a word keeps its mark when the words around it change", () => {
  const kept = (before, place, after) =>
    explorer.moved({ ...initial, texts: [before, "x"], places: [place, 0] }, "text-0", after).places[0];
  assert.deepEqual([kept("the bank .", 1, "on the old bank"), kept("bank x bank", 2, "bank bank bank bank"),
    kept("a b c", 2, "d e"), kept("", 0, "x"), kept("a", 0, "")], [3, 2, 1, 0, 0]);
});

test("reader: a link leads back to its state, and tells nobody's guess", () => {
  const element = new explorer();
  for (const state of walks.reader.map(after)) {
    const back = element.decode(new URLSearchParams(`${element.encode(state)}`));
    assert.deepEqual(back, { ...state, guess: "" });
  }
});

test("reader: an address that holds no state changes nothing, and none leads out of the sentences", () => {
  const element = new explorer();
  for (const query of ["", "a=x&b=y", "a=x&b=y&at=1", "a=x&b=y&at=a,b", "a=x&b=y&at=0,0&w=1", "a=x&b=y&at=0,0&w=0,0,1",
    "a=x&b=y&at=0,0&w=0.2,0.3,0.6", "a=x&b=y&at=0,0&g=x", "a=x&b=y&at=0,0&v=constructor", "w=<b>&s=<b>"]) {
    assert.equal(element.decode(new URLSearchParams(query)), null, query);
  }
  const found = element.decode(new URLSearchParams(`a=${"x ".repeat(400)}&at=-4,99.4&g=9`));
  assert.deepEqual([found.places, found.gamma, found.texts.map((typed) => typed.length)], [[0, 0], 2, [300, 0]]);
});

test("the upper layers are drawn when they are shown, and an unread pair draws no mark", () => {
  const drawn = {};
  const element = Object.assign(new explorer(), {
    picture: (name, shapes) => (drawn[name] = shapes), live: { querySelectorAll: () => [] },
  });
  const count = (state, words) => {
    element.state = { ...initial, ...state };
    element.draw(explorer.read(element.state));
    return drawn.near.split(words).length - 1;
  };
  assert.equal(count({}, 'class="mark layer-0'), 2);
  assert.equal(count({}, 'class="mark layer-2'), 0);
  assert.equal(count({ shown: true }, 'class="mark layer-2'), 2);
  assert.equal(count({ shown: true }, 'class="mark quiet hollow'), 3);
  assert.equal(count({ shown: true }, 'class="mark ink'), 1);
  assert.equal(count({ shown: true, gamma: 0 }, 'class="mark ink'), 0);
  assert.equal(count({ texts: ["unread", "as yet"], places: [0, 0], shown: true }, 'class="mark'), 0);
});
