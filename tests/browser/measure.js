// Everything that is measured on an open page, as one plain object. Thresholds are not here:
// browser_checks.py judges. `decorative` is a selector of marks that carry no information.
(decorative) => {
  const viewport = document.documentElement.clientWidth;
  const article = document.querySelector("article") || document.body;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });

  const name = (element) => {
    const label = element.getAttribute("aria-label") || element.alt || element.textContent || "";
    const kind = element.tagName.toLowerCase();
    const classes = element.getAttribute("class");
    const text = label.trim().replace(/\s+/g, " ").slice(0, 40);
    return `<${kind}${classes ? `.${classes.trim().split(/\s+/).join(".")}` : ""}> "${text}"`;
  };
  const shown = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && element.checkVisibility({ visibilityProperty: true });
  };

  // --- colours ---
  const rgba = (colour) => {
    // The canvas understands every notation of CSS, so none has to be parsed here.
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) =>
    [r, g, b].map((channel, i) => channel * a + below[i] * (1 - a));
  const luminance = (colour) => {
    const [r, g, b] = colour.map((channel) => {
      const c = channel / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (colour, below) => {
    const [dark, light] = [luminance(colour), luminance(below)].sort((x, y) => x - y);
    const hex = (channels) =>
      `#${channels.map((c) => Math.round(c).toString(16).padStart(2, "0")).join("")}`;
    return {
      contrast: (light + 0.05) / (dark + 0.05),
      colours: `${hex(colour)} on ${hex(below)}`,
    };
  };
  const pageColour = (element) => {
    const chain = [];
    for (let e = element; e; e = e.parentElement) chain.unshift(getComputedStyle(e).backgroundColor);
    return chain.reduce((below, colour) => over(rgba(colour), below), [255, 255, 255]);
  };
  const opacity = (element, svg) => {
    let product = 1;
    for (let e = element; e && e !== svg.parentElement; e = e.parentElement) {
      product *= Number(getComputedStyle(e).opacity);
    }
    return product;
  };
  const paint = (element, kind, svg) => {
    const style = getComputedStyle(element);
    const colour = style[kind];
    if (colour === "none" || colour.startsWith("url")) return null;
    if (kind === "stroke" && parseFloat(style.strokeWidth) === 0) return null;
    const [r, g, b, a] = rgba(colour);
    const alpha = a * Number(style[`${kind}Opacity`]) * opacity(element, svg);
    return alpha > 0 ? [r, g, b, alpha] : null;
  };

  // --- figures ---
  const SHAPES = "path, line, polyline, polygon, circle, ellipse, rect";
  const WASH = 0.7;  // an area with less opacity than this only tints what an outline or label says
  const inDefinition = (element) =>
    element.closest("defs, clipPath, mask, marker, pattern, symbol, linearGradient");
  const middle = (element) => {
    // A point that lies on the element, in screen coordinates.
    const matrix = element.getScreenCTM();
    let point;
    if (element.getTotalLength) {
      point = element.getPointAtLength(element.getTotalLength() / 2);
    } else {
      const box = element.getBBox();
      point = new DOMPoint(box.x + box.width / 2, box.y + box.height / 2);
    }
    return new DOMPoint(point.x, point.y).matrixTransform(matrix);
  };
  const colourBelow = (element, point, shapes, svg, background) => {
    // What has been painted at this point before the element: the page, then filled shapes.
    let colour = background;
    for (const shape of shapes) {
      if (shape === element) break;
      if (element.compareDocumentPosition(shape) & Node.DOCUMENT_POSITION_FOLLOWING) break;
      const fill = paint(shape, "fill", svg);
      const inside = point.matrixTransform(shape.getScreenCTM().inverse());
      if (fill && shape.isPointInFill(inside)) colour = over(fill, colour);
    }
    return colour;
  };

  const measureSvg = (svg) => {
    const background = pageColour(svg);
    const shapes = [...svg.querySelectorAll(SHAPES)].filter(
      (shape) => !inDefinition(shape) && shape.getScreenCTM() && shape.checkVisibility(),
    );
    const marks = [];
    const markers = [...svg.querySelectorAll("use")].filter((use) => use.checkVisibility());
    for (const shape of [...shapes, ...markers]) {
      if (decorative && shape.closest(decorative)) continue;
      const stroke = paint(shape, "stroke", svg);
      let fill = paint(shape, "fill", svg);
      if (!stroke && fill && fill[3] < WASH) fill = null;
      const point = middle(shape);
      const below = colourBelow(shape, point, shapes, svg, background);
      // An outlined shape is seen by the better of its outline and its filling.
      const [best] = [stroke, fill]
        .filter(Boolean)
        .map((colour) => contrast(over(colour, below), below))
        .sort((one, other) => other.contrast - one.contrast);
      if (best) marks.push({ name: name(shape), ...best });
    }
    const texts = [];
    for (const text of svg.querySelectorAll("text, tspan")) {
      const own = [...text.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim(),
      );
      if (!own || inDefinition(text) || !text.checkVisibility()) continue;
      const matrix = text.getScreenCTM();
      const scale = Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c));
      const style = getComputedStyle(text);
      const fill = paint(text, "fill", svg);
      const halo = style.paintOrder.startsWith("stroke") && paint(text, "stroke", svg);
      let below = colourBelow(text, middle(text.closest("text")), shapes, svg, background);
      if (halo) below = over(halo, below);
      texts.push({
        name: name(text),
        size: parseFloat(style.fontSize) * scale,
        ...contrast(fill ? over(fill, below) : below, below),
      });
    }
    return { marks, texts };
  };

  const figures = [...article.querySelectorAll("figure")].map((figure) => {
    const pictures = [...figure.querySelectorAll("svg, img")].filter(
      (picture) => !picture.parentElement.closest("svg"),
    );
    const visible = pictures.filter(shown);
    return {
      name: name(pictures[0] || figure),
      visible: visible.length,
      outside: visible
        .filter((picture) => {
          const box = picture.getBoundingClientRect();
          return box.left < -0.5 || box.right > viewport + 0.5;
        })
        .map(name),
      ...visible
        .filter((picture) => picture.tagName !== "IMG")
        .map(measureSvg)
        .reduce((all, one) => ({ marks: [...all.marks, ...one.marks], texts: [...all.texts, ...one.texts] }),
                { marks: [], texts: [] }),
    };
  });

  const pictures = [...article.querySelectorAll("img")].filter(shown);
  const distorted = pictures.filter((picture) => {
    const box = picture.getBoundingClientRect();
    const stretch = (box.width / box.height) * (picture.naturalHeight / picture.naturalWidth);
    return picture.naturalWidth && Math.abs(stretch - 1) > 0.02;
  });

  // --- equations ---
  const raw = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest("pre, code, script, style, noscript, textarea, .katex")) continue;
    const found = node.textContent.match(/\$[^$\s][^$]*\$|\\\(|\\\[|\\begin\{/);
    if (found) raw.push(node.textContent.trim().slice(0, 60));
  }
  const equations = [...document.querySelectorAll(".katex")].map((element) => {
    const drawn = element.querySelector(".katex-html");
    const font = drawn && getComputedStyle(drawn).fontFamily;
    return {
      name: (element.querySelector("annotation") || element).textContent.slice(0, 40),
      spoken: Boolean(element.querySelector("math")),
      set: Boolean(drawn && font.includes("KaTeX") && (!shown(element) || shown(drawn))),
    };
  });

  // --- width ---
  const wide = [...article.querySelectorAll("*")]
    .filter((element) => !element.closest(".katex, svg *") && shown(element))
    .filter((element) => {
      if (element.getBoundingClientRect().right <= viewport + 1) return false;
      for (let e = element.parentElement; e && e !== document.body; e = e.parentElement) {
        if (["auto", "scroll"].includes(getComputedStyle(e).overflowX)) return false;
      }
      return true;
    })
    .map(name);

  return {
    viewport,
    scrollWidth: document.scrollingElement.scrollWidth,
    wide,
    raw,
    unset: [...document.querySelectorAll(".math")].filter((m) => !m.querySelector(".katex")).map(name),
    equations,
    badFonts: [...document.fonts].filter((f) => f.status === "error").map((f) => f.family),
    smooth: getComputedStyle(document.documentElement).scrollBehavior === "smooth",
    moving: document
      .getAnimations()
      .filter((animation) => animation.effect.getComputedTiming().endTime === Infinity)
      .map((animation) => name(animation.effect.target)),
    layoutShift: window.layoutShift ? window.layoutShift.sum : null,
    shifted: window.layoutShift ? window.layoutShift.sources : [],
    figures,
    broken: pictures.filter((picture) => !picture.naturalWidth).map(name),
    distorted: distorted.map(name),
  };
}
