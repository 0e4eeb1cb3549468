"use strict";

/* The language model that comes with the package, forward: elmo_toy.bilm's token encoder, stacks and
   softmax once more, on weights as elmo_toy.bilm.quantised stores them. Loaded with the weights,
   when a reader asks for them. A classic script without a page in it, so that Node can run it too. */

globalThis.ElmoBilm = (() => {
  const { exp, max, min, sqrt } = Math;
  const sigmoid = (x) => 1 / (1 + exp(-x));
  // Twice as fast as Math.tanh, and as good here: small values need no more digits than others.
  const tanh = (x) => 2 * sigmoid(2 * x) - 1;

  function dot(one, other) {
    let total = 0;
    for (let i = 0; i < one.length; i += 1) total += one[i] * other[i];
    return total;
  }

  /* out += x W, W with a row for each of x. */
  function multiply(x, weights, out) {
    const columns = out.length;
    for (let i = 0, at = 0; i < x.length; i += 1, at += columns) {
      const value = x[i];
      if (value) for (let j = 0; j < columns; j += 1) out[j] += value * weights[at + j];
    }
    return out;
  }

  /* All matrices from bytes: of each the factors of its columns, then the numbers of all. */
  function unpack(buffer, start, sizes) {
    const found = {};
    let factors = start;
    let numbers = start + 4 * sizes.reduce((total, [, , columns]) => total + columns, 0);
    for (const [name, rows, columns] of sizes) {
      const scale = new Float32Array(buffer.slice(factors, (factors += 4 * columns)));
      found[name] = Float64Array.from(rows ? new Int8Array(buffer, numbers, rows * columns) : scale,
        rows ? (number, i) => number * scale[i % columns] : undefined);
      numbers += rows * columns;
    }
    return [found, numbers];
  }

  /* numpy's PCG64: uniform numbers below 1. */
  function generator([state, increment]) {
    const wrap = (x, bits = 128) => BigInt.asUintN(bits, x);
    return () => {
      state = wrap(state * 0x2360ed051fc65da44385df649fccf645n + increment);
      const mixed = wrap(state ^ (state >> 64n), 64);
      const turn = state >> 122n;
      return Number(wrap((mixed >> turn) | (mixed << (64n - turn)), 64) >> 11n) / 2 ** 53;
    };
  }

  /* A matrix as untrained stacks start, uniform in the range of Glorot and Bengio, in float32. */
  function drawn(random, rows, columns) {
    const bound = sqrt(6 / (rows + columns));
    return Float64Array.from({ length: rows * columns }, () => Math.fround(-bound + 2 * bound * random()));
  }

  class Model {
    constructor(options, weights) {
      Object.assign(this, { options, weights, vectors: new Map(), kept: new Map() });
    }

    /* The token vector of a spelling: bytes, filters, the largest of each, highways, projection. */
    token(word) {
      if (this.vectors.has(word)) return this.vectors.get(word);
      const { filters, n_highway: highways, embedding: { dim }, max_characters_per_token: most } = this.options.char_cnn;
      const { weights } = this;
      const boundary = { "<S>": [256], "</S>": [257] };
      const bytes = Object.hasOwn(boundary, word) ? boundary[word] : new TextEncoder().encode(word).slice(0, most - 2);
      const ids = [258, ...bytes, 259];
      const { length } = ids;
      while (ids.length < most) ids.push(260);
      const embedded = Float64Array.from(ids.flatMap((id) =>
        [...weights.char_embed.subarray(dim * id, dim * (id + 1))]));
      let x = filters.flatMap(([width, number], k) => {
        const best = new Float64Array(number).fill(-Infinity);
        // All windows that lie in the padding are alike: one of them is enough.
        for (let at = 0; at <= min(length, most - width); at += 1) {
          multiply(embedded.subarray(dim * at, dim * (at + width)), weights[`CNN/W_cnn_${k}`], new Float64Array(number))
            .forEach((value, f) => (best[f] = max(best[f], value)));
        }
        return [...best.map((value, f) => max(0, value + weights[`CNN/b_cnn_${k}`][f]))];
      });
      for (let k = 0; k < highways; k += 1) {
        const [gate, turned] = ["carry", "transform"].map((part) =>
          multiply(x, weights[`CNN_high_${k}/W_${part}`], weights[`CNN_high_${k}/b_${part}`].slice()));
        x = x.map((value, i) => {
          const g = sigmoid(gate[i]);
          return g * max(0, turned[i]) + (1 - g) * value;
        });
      }
      const vector = multiply(x, weights["CNN_proj/W_proj"], weights["CNN_proj/b_proj"].slice());
      this.vectors.set(word, vector);
      return vector;
    }

    /* One layer in one direction over vectors in reading order. */
    layer(inputs, l, d) {
      const { dim, projection_dim: width, cell_clip: cellClip, proj_clip: clip } = this.options.lstm;
      const [kernel, bias, projection] = ["W_0", "B", "W_P_0"].map((part) => this.weights[`Cell${l}/${part}/${d}`]);
      const recurrent = kernel.subarray(inputs[0].length * 4 * dim);
      const cell = new Float64Array(dim);
      let state = new Float64Array(width);
      return inputs.map((input) => {
        const gates = multiply(state, recurrent, multiply(input, kernel, bias.slice()));
        const out = cell.map((before, i) => {
          const c = sigmoid(gates[2 * dim + i] + 1) * before + sigmoid(gates[i]) * tanh(gates[dim + i]);
          cell[i] = max(-cellClip, min(cellClip, c));
          return sigmoid(gates[3 * dim + i]) * tanh(cell[i]);
        });
        state = multiply(out, projection, new Float64Array(width)).map((h) => max(-clip, min(clip, h)));
        return state;
      });
    }

    /* Layers of every token, boundaries too: [layer][direction][place]; layer 0 is the token's. The
       last sentences are kept: somebody who types changes one of them. */
    read(tokens) {
      const line = tokens.join(" ");
      if (this.kept.has(line)) return this.kept.get(line);
      const vectors = ["<S>", ...tokens, "</S>"].map((word) => this.token(word));
      const layers = [[vectors, vectors]];
      for (let l = 0; l < this.options.lstm.n_layers; l += 1) {
        layers.push(layers[l].map((below, d) => {
          const order = d ? [...below].reverse() : below;
          const out = this.layer(order, l, d).map((h, k) => (l ? h.map((value, i) => value + order[k][i]) : h));
          return d ? out.reverse() : out;
        }));
      }
      if (this.kept.size > 3) this.kept.clear();
      this.kept.set(line, layers);
      return layers;
    }

    /* Probabilities of every word at a place of what was read, from one side of it. */
    expected(layers, place, d) {
      const { "softmax/W": weights, "softmax/b": bias } = this.weights;
      return ElmoMath.softmax(multiply(layers.at(-1)[d][place + (d ? 2 : 0)], weights, bias.slice()));
    }
  }

  /* The vectors of a token in each layer, both directions joined. */
  const vectorsAt = (layers, place) => layers.map(([forward, backward]) => [...forward[place + 1], ...backward[place + 1]]);

  /* Both models from what the weights' scripts left; says between its steps how far it is. */
  async function unpacked([...parts], about, step) {
    const text = atob(parts.join(""));
    const { buffer } = Uint8Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
    const { options } = about;
    const { dim, projection_dim: width, n_layers: count } = options.lstm;
    const [weights, end] = unpack(buffer, 0, about.trained);
    const [start] = unpack(buffer, end, about.untrained);
    const random = generator(about.generator.map(BigInt));
    for (let l = 0; l < count; l += 1) {
      for (const [part, rows, columns] of [["W_0", 2 * width, 4 * dim], ["W_P_0", dim, width]]) {
        for (const d of [0, 1]) {
          await step();
          start[`Cell${l}/B/${d}`] = new Float64Array(4 * dim);
          start[`Cell${l}/${part}/${d}`] = drawn(random, rows, columns);
        }
      }
    }
    const [trained, untrained] = [weights, start].map((found) => new Model(options, found));
    const words = about.words.split(" ");
    const ours = [];
    for (const sentence of about.sentences.map((line) => line.split(" "))) {
      if (ours.length % 6 === 0) await step();
      const layers = trained.read(sentence);
      ours.push({ sentence, vectors: sentence.map((_, k) => vectorsAt(layers, k)) });
    }
    return { trained, untrained, words, ours };
  }

  const cosine = (one, other) => dot(one, other) / sqrt(dot(one, one) * dot(other, other));

  /* Before, itself and after: of the nearest occurrence in another of our sentences. */
  function nearest(ours, tokens, vector, layer) {
    let best = -2;
    let found;
    for (const { sentence, vectors } of ours) {
      if (sentence.join(" ") === tokens.join(" ")) continue;
      vectors.forEach((layers, k) => {
        const near = cosine(layers[layer], vector);
        if (near > best) [best, found] = [near, [sentence.slice(0, k).join(" "), sentence[k], sentence.slice(k + 1).join(" ")]];
      });
    }
    return found;
  }

  /* What elmo_toy.widgets._reading.reading returns, for two pairs of tokens and a place. */
  function reading({ trained, untrained, words, ours }, pairs) {
    const read = pairs.map(([tokens]) => trained.read(tokens));
    const vectors = read.map((layers, k) => vectorsAt(layers, pairs[k][1]));
    const [one, other] = pairs.map(([tokens, place]) => vectorsAt(untrained.read(tokens), place));
    const all = vectors.flat();
    return {
      products: all.map((x) => all.map((y) => dot(x, y))),
      untrained: one.map((x, j) => cosine(x, other[j])),
      expected: pairs.map(([tokens, place], k) => [0, 1].map((d) => {
        const found = trained.expected(read[k], place, d);
        const top = [...found.keys()].sort((i, j) => found[j] - found[i]).slice(0, 5);
        const own = found[words.indexOf(tokens[place])];
        return {
          words: top.map((row) => [words[row], found[row]]),
          own: own === undefined ? null : [own, found.filter((value) => value > own).length + 1],
        };
      })),
      nearest: pairs.map(([tokens], k) => [1, 2].map((layer) => nearest(ours, tokens, vectors[k][layer], layer))),
    };
  }

  return { reading, unpacked };
})();
