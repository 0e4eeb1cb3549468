"use strict";

/* The explorers of what was recorded, against elmo_toy's twins of them. tests/js/test_node.py writes
   the file of states and the scripts, and starts this. */

const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");
const { runInThisContext } = require("node:vm");

// As much of a page as the scripts need to be loaded.
globalThis.HTMLElement = class {};
globalThis.customElements = { define() {} };
for (const name of ["elmo-math", "elmo-explorer", "elmo-shift", "elmo-seeds"]) {
  const file = join(process.env.ELMO_SCRIPTS, `${name}.js`);
  runInThisContext(readFileSync(file, "utf-8"), { filename: file });
}
const { data, walks } = JSON.parse(readFileSync(process.env.ELMO_STATES, "utf-8"));

const KINDS = { shift: globalThis.ElmoShift, seeds: globalThis.ElmoSeeds };
for (const [name, explorer] of Object.entries(KINDS)) {
  explorer.data = data[name];

  test(`${name}: the same texts as in Jupyter for the same controls`, () => {
    assert.ok(walks[name].length >= 60);
    for (const walk of walks[name]) {
      let state = new explorer().initial;
      for (const { control, value, texts } of walk) {
        state = { ...state, ...explorer.moved(state, control, value) };
        assert.deepEqual(explorer.read(state), texts, `${control} ${value}`);
      }
    }
  });

  test(`${name}: a link leads back to its state, and tells nobody's guess`, () => {
    const element = new explorer();
    for (const walk of walks[name]) {
      let state = element.initial;
      for (const { control, value } of walk) state = { ...state, ...explorer.moved(state, control, value) };
      const back = element.decode(new URLSearchParams(element.encode(state)));
      assert.deepEqual(back, { ...state, guess: element.initial.guess });
    }
  });

  test(`${name}: an address that holds no state changes nothing`, () => {
    const element = new explorer();
    for (const query of ["", "k=1", "k=&m=apart", "k=a&m=apart", "k=1,2&m=apart", "m=joined", "k=1&m=constructor",
      "k=1&m=<script>", "k=Infinity&m=leak", "k=%00&m=apart", "c=ewt,free", "c=ewt,free,mixture", "c=ewt,free,mixture&n=a",
      "c=ewt,free,mixture&n=2", "c=ewt,free,toString&n=2,0", "c=constructor,free,mixture&n=2,0", "c=<b>&n=2,0"]) {
      assert.equal(element.decode(new URLSearchParams(query)), null, query);
    }
  });
}

test("a link cannot lead out of the sentence", () => {
  const places = ["-4", "99", "4.4"].map((k) => new ElmoShift().decode(new URLSearchParams(`k=${k}&m=leak`)).at);
  assert.deepEqual(places, [0, 11, 4]);
});

test("nor out of the sets that are possible", () => {
  const found = ["-4,0", "99,1e9", "2.6,-3"].map((n) =>
    new ElmoSeeds().decode(new URLSearchParams(`c=snips,best,mixture&n=${n}`)));
  assert.deepEqual(found.map(({ size, draws }) => [size, draws]), [[1, 0], [5, 500], [3, 0]]);
});

test("a set is drawn when it came, or when all are shown, and in crimson when its sign is another", () => {
  const drawn = {};
  const explorer = Object.assign(new ElmoSeeds(), { picture: (name, shapes) => (drawn[name] = shapes) });
  const count = (state, words) => {
    explorer.state = { ...explorer.initial, ...state };
    explorer.draw(ElmoSeeds.read(explorer.state));
    return drawn.sets.split(words).length - 1;
  };
  assert.equal(count({}, "× "), 0);
  assert.equal(count({ draws: 1 }, "× 1"), 1);
  assert.equal(count({ shown: true }, "× 0"), 10);
  assert.equal(count({ shown: true }, "mark wrong"), 2);
  assert.equal(count({ shown: true, size: 5 }, "mark wrong"), 0);
  assert.equal(count({ draws: 1 }, "mark ink"), 3); // the mean of all, and the two that were drawn
});

test("the drawing marks who reads its answer, and keeps the backward task until it is shown", () => {
  const drawn = {};
  const explorer = Object.assign(new ElmoShift(), { picture: (name, shapes) => (drawn[name] = shapes) });
  const count = (state, words) => {
    explorer.state = { ...explorer.initial, ...state };
    explorer.draw(ElmoShift.read(explorer.state));
    return drawn.walk.split(words).length - 1;
  };
  assert.equal(count({}, "asked for"), 1);
  assert.equal(count({ shown: true }, "asked for"), 2);
  assert.equal(count({ shown: true, at: 0 }, "asked for"), 1);
  assert.equal(count({ shown: true }, "reads its answer"), 0);
  for (const wiring of ["leak", "joined"]) assert.equal(count({ shown: true, wiring }, "reads its answer"), 2);
  assert.equal(count({}, "&lt;S>"), 1);
  assert.equal(count({}, "<S>"), 0);
});
