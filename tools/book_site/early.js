/* What has to be done before the first paint: the one script that stands within the pages. */

{
  /* A browser may refuse storage to a page, or have none. The theme's scripts would end there, so
     what they keep lives as long as the page. */
  for (const storage of ["localStorage", "sessionStorage"]) {
    try {
      window[storage].getItem("");
    } catch {
      const kept = new Map();
      const value = {
        getItem: (name) => kept.get(name) ?? null,
        setItem: (name, words) => kept.set(name, `${words}`),
        removeItem: (name) => kept.delete(name),
      };
      Object.defineProperty(window, storage, { value });
    }
  }
}

{
  /* A dark page must not flash white; and it says light or dark as the theme's script will, or the
     whole page is styled a second time. */
  const page = document.documentElement.dataset;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const mode = localStorage.getItem("mode") || "{mode}";
  page.mode = /^(light|dark)$/.test(mode) ? mode : "auto";
  page.theme = page.mode === "auto" ? dark : page.mode;
}

{
  /* The small fonts come within the style sheets. A browser begins with a font when the first
     layout wants it, and lays each formula out again when it is there: on a slow phone half a second
     later. So they are made of the sheets' bytes: of a sheet that is there while the page still
     arrives at once, of the others just before the first layout. */
  const done = new Set();

  const makeFont = (face) => {
    const of = (name) => face.getPropertyValue(name);
    const data = of("src").match(/^url\("data:font\/woff;base64,([^"]*)/)?.[1];
    if (!data) return;
    const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
    const font = new FontFace(of("font-family").replaceAll('"', ""), bytes, {
      weight: of("font-weight"),
      style: of("font-style"),
      unicodeRange: of("unicode-range") || "U+0-10FFFF",
    });
    if (font.status !== "error") document.fonts.add(font);
  };

  const rulesOf = (sheet) => {
    try {
      return [...sheet.cssRules];
    } catch {
      return []; // opened from a disk, where a page may not read its own style sheets
    }
  };

  const makeFonts = (sheet) => {
    if (done.has(sheet)) return;
    done.add(sheet);
    rulesOf(sheet).forEach((rule) => rule instanceof CSSFontFaceRule && makeFont(rule.style));
  };

  document.addEventListener("load", ({ target }) => {
    if (target.rel === "stylesheet") makeFonts(target.sheet);
  }, true);
  // A browser that draws nothing before it has the sheets, as Chromium, has them all by now.
  requestAnimationFrame(() => [...document.styleSheets].forEach(makeFonts));
}
