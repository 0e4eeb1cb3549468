/* Sets formulas with KaTeX: `node katex.js KATEX`. Reads one JSON object a line from standard
   input and answers with one. It ends when its input ends, so it cannot outlive the build, however
   that ends. */
"use strict";

const katex = require(process.argv[2]);
const lines = require("readline").createInterface({ input: process.stdin });

lines.on("line", (line) => {
  const { formula, displayMode } = JSON.parse(line);
  let answer;
  try {
    // strict: what LaTeX would refuse, another renderer of the same notebook may refuse too
    const options = { displayMode, throwOnError: true, strict: "error" };
    answer = { html: katex.renderToString(formula, options) };
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
});
