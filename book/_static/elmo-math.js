"use strict";

/* The mathematics of the explorers: what elmo_toy.worked_example, descent and gradient_check
   compute for the worked example, once more. The tests compare the two on random states to 1e-12.
   A classic script without a page in it, so that Node can run it too. */

globalThis.ElmoMath = (() => {
  const LAYERS = [
    [[1, 0], [0, 2], [3, 1]],
    [[1, 0], [2, 0], [-1, 2]],
  ];
  const HEAD = [1, -1];
  const LABELS = [1, 0];
  const PRESETS = {
    upper: [0.2, 0.3, 0.5],
    equal: [1 / 3, 1 / 3, 1 / 3],
    lower: [0.2, 0.6, 0.2],
    token: [0.6, 0.2, 0.2],
  };
  const UNSEEN = [2, 5, 4]; // g = gamma * weights may follow it: no score changes

  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const dot = (one, other) => sum(one.map((value, i) => value * other[i]));
  const LAYER_SCORES = LAYERS.map((layers) => layers.map((layer) => dot(layer, HEAD)));

  function softmax(logits) {
    const top = Math.max(...logits);
    const exponentials = logits.map((logit) => Math.exp(logit - top));
    const total = sum(exponentials);
    return exponentials.map((value) => value / total);
  }

  function sigmoid(score) {
    const small = Math.exp(-Math.abs(score));
    return (score > 0 ? 1 : small) / (1 + small);
  }

  function logLoss(score, label) {
    return ((score > 0 ? 1 : 0) - label) * score + Math.log1p(Math.exp(-Math.abs(score)));
  }

  /* Every intermediate of the forward pass; the first axis of an array is the occurrence. */
  function forward(weights, gamma) {
    const mixtures = LAYERS.map((layers) =>
      HEAD.map((_, i) => gamma * dot(weights, layers.map((layer) => layer[i]))));
    const scores = mixtures.map((mixture) => dot(mixture, HEAD));
    const losses = scores.map((score, k) => logLoss(score, LABELS[k]));
    const probabilities = scores.map(sigmoid);
    return { weights, mixtures, scores, probabilities, losses, loss: sum(losses) / 2 };
  }

  const lossAt = (weights, gamma) =>
    sum(LAYER_SCORES.map((row, k) => logLoss(gamma * dot(weights, row), LABELS[k]))) / 2;

  /* The right gradients beside the wrong one; byOccurrence holds each one's share of the logits'
     and of gamma's. */
  function gradients(weights, gamma) {
    const mixed = LAYER_SCORES.map((row) => dot(weights, row));
    const upstream = mixed.map((m, k) => (sigmoid(gamma * m) - LABELS[k]) / 2);
    const byOccurrence = LAYER_SCORES.map((row, k) => [
      ...row.map((score, j) => gamma * weights[j] * upstream[k] * (score - mixed[k])),
      upstream[k] * mixed[k],
    ]);
    const [river, loan] = byOccurrence;
    const byWeight = weights.map((_, j) => gamma * sum(upstream.map((g, k) => g * LAYER_SCORES[k][j])));
    return {
      byOccurrence,
      logits: weights.map((_, j) => river[j] + loan[j]),
      gamma: river[3] + loan[3],
      weights: byWeight,
      withoutM: weights.map((weight, j) => weight * byWeight[j]),
    };
  }

  /* (f(x + step) - f(x - step)) / (2 step) along each coordinate. */
  function centralDifference(f, x, step) {
    const moved = (i, by) => x.map((value, j) => (i === j ? value + by : value));
    return x.map((_, i) => (f(moved(i, step)) - f(moved(i, -step))) / (2 * step));
  }

  /* The loss as a function of (three logits, gamma), and of (three free weights, gamma). */
  const lossOfLogits = (x) => lossAt(softmax(x.slice(0, 3)), x[3]);
  const lossOfWeights = (x) => lossAt(x.slice(0, 3), x[3]);

  /* One step of a run { logits, weights, gamma } by a rule: the gradient of the logits, the one
     without m, or the logits' gradient subtracted from the weights. The last two are wrong. */
  function step(rule, run, rate) {
    const by = gradients(run.weights, run.gamma);
    const gamma = run.gamma - rate * by.gamma;
    if (rule === "on weights") {
      return { logits: null, weights: run.weights.map((w, j) => w - rate * by.logits[j]), gamma };
    }
    const slope = rule === "right" ? by.logits : by.withoutM;
    const logits = run.logits.map((logit, j) => logit - rate * slope[j]);
    return { logits, weights: softmax(logits), gamma };
  }

  /* Weights and gamma after g = gamma * weights has gone along (2, 5, 4): away from zero, or g
     would leave the cone in which all its signs agree. */
  function along(weights, gamma, amount) {
    if (amount === 0) return { weights, gamma };
    const away = gamma < 0 ? -amount : amount;
    const g = weights.map((weight, j) => gamma * weight + away * UNSEEN[j]);
    const total = sum(g);
    return { weights: g.map((value) => value / total), gamma: total };
  }

  /* Weight j set to a value; the others keep their proportion. */
  function withWeight(weights, j, value) {
    const others = 1 - weights[j];
    return weights.map((weight, i) => (i === j ? value : (weight / others) * (1 - value)));
  }

  /* Numbers as text. The nudge keeps a tie from being settled by the last bit of a sum. */
  function fixed(value, digits) {
    const text = (value * (1 + 1e-12)).toFixed(digits);
    return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "\u2212");
  }

  /* As `fixed`, but without zeros at the end, of which `least` may stay. */
  function trimmed(value, digits, least = 1) {
    const [whole, part = ""] = fixed(value, digits).split(".");
    const kept = part.replace(/0+$/, "").padEnd(least, "0");
    return kept ? `${whole}.${kept}` : whole;
  }

  const vector = (values) => `[${values.map((value) => trimmed(value, 4)).join(", ")}]`;

  return {
    LAYERS, HEAD, LABELS, PRESETS, UNSEEN, LAYER_SCORES, sum, dot, softmax, sigmoid, logLoss,
    forward, lossAt, gradients, centralDifference, lossOfLogits, lossOfWeights, step, along,
    withWeight, fixed, trimmed, vector,
  };
})();
