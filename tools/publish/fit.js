/* Make what is wider than the sheet smaller; say what is still wider, and by how many pixels. */
() => {
  const edge = document.body.getBoundingClientRect().right + 1;
  const over = (element) => element.getBoundingClientRect().right - edge;
  const smallest = 0.6;

  const formulaEnd = (box) =>
    Math.max(...[...box.querySelectorAll(".base")].map((base) => base.getBoundingClientRect().right));
  for (const box of document.querySelectorAll(".katex-display")) {
    const room = edge - box.getBoundingClientRect().left;
    const need = formulaEnd(box) - box.getBoundingClientRect().left;
    if (need > room) box.style.fontSize = `${Math.max(smallest, 0.99 * room / need)}em`;
  }
  for (const code of document.querySelectorAll("pre")) {
    code.style.whiteSpace = "pre"; // a listing of longer lines gets smaller letters, to a limit
    const need = code.scrollWidth / code.clientWidth;
    code.style.whiteSpace = "";
    if (need > 1) code.style.fontSize = `${8.5 * Math.max(0.86, 0.96 / need)}pt`;
  }
  for (const table of document.querySelectorAll("table")) {
    for (let size = 1; over(table) > 0 && size > smallest; size -= 0.05) {
      table.style.fontSize = `${0.9 * size}em`;
      if (size < 0.8) table.classList.add("wraps"); // smaller still would be harder to read
    }
  }

  const found = [];
  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest(".katex-mathml, svg *")) continue;
    const pixels = Math.round(over(element));
    if (pixels > 0) {
      const page = element.closest(".page");
      const text = element.textContent.trim().slice(0, 60);
      found.push(`${page ? page.id : "front"}: <${element.localName}> by ${pixels} px: ${text}`);
    }
  }
  return found;
}
