"use strict";

/* The quizzes: what was chosen is read from the page itself, where every answer and its reason stand
   in a folded list. Nothing is kept and nothing is sent. */
for (const quiz of document.querySelectorAll(".kit-quiz")) {
  const items = [...quiz.querySelectorAll(".kit-item")];
  const score = quiz.querySelector(".kit-score");
  const first = new Map(); // the first choice of each item: was it right?

  function tell() {
    if (!score || first.size < items.length) return;
    const right = [...first.values()].filter(Boolean).length;
    score.textContent = `${right} of ${items.length} right at the first choice.`;
  }

  function clear(item) {
    item.classList.remove("is-right", "is-wrong");
    item.querySelector(".kit-said").textContent = "";
  }

  for (const item of items) {
    // What was said is about the choice before.
    item.addEventListener("change", () => clear(item));
    item.querySelector("button").addEventListener("click", () => {
      const said = item.querySelector(".kit-said");
      const chosen = item.querySelector("input:checked");
      if (!chosen) {
        said.textContent = "Choose an answer first.";
        return;
      }
      const reason = item.querySelector(`li[data-letter="${chosen.value}"]`);
      const right = "right" in reason.dataset;
      if (!first.has(item)) first.set(item, right);
      item.classList.toggle("is-right", right);
      item.classList.toggle("is-wrong", !right);
      said.textContent = `${chosen.value}: ${right ? "right" : "not this one"}. ${reason.lastElementChild.textContent}`;
      tell();
    });
  }

  const restart = quiz.querySelector("[data-action=restart]");
  if (restart) restart.addEventListener("click", () => {
    first.clear();
    score.textContent = "";
    for (const item of items) {
      clear(item);
      for (const input of item.querySelectorAll("input")) input.checked = false;
    }
    items[0].querySelector("input").focus();
  });
}
