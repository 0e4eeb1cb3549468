"use strict";

/* <elmo-python>: runs the listing below it in the page. Python comes with the site (Pyodide's core,
   tools/book_site/page_python.py) and is loaded when it is asked for. What runs is the text of the
   listing, with the arguments that somebody typed; what it prints is only ever text. */
(() => {
  const HERE = document.currentScript.src;
  const NAME = "elmo_scalar_mix_demo.py";
  // Too many lines to be read out as they come.
  const MANY = 12;
  const MIME = { wasm: "application/wasm", zip: "application/zip" };
  const EMPTY_MODULE = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
  const pause = () => new Promise((done) => setTimeout(done));
  const script = (src) => new Promise((onload, onerror) =>
    document.head.append(Object.assign(document.createElement("script"), { src, onload, onerror })));

  /* The files that Pyodide would fetch, from the text that the scripts brought. */
  async function unpacked(parts, sizes) {
    const packed = Uint8Array.from(atob(parts.join("")), (sign) => sign.charCodeAt());
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const content = await new Response(stream).arrayBuffer();
    let start = 0;
    return Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, content.slice(start, (start += size))]));
  }

  /* Start Pyodide; what it fetches meanwhile is answered from `files`, and nothing is requested. */
  async function started(files, lockFileContents) {
    const { fetch } = globalThis;
    globalThis.fetch = async (url) => {
      const name = `${url}`.split("/").pop();
      return new Response(files[name], { status: name in files ? 200 : 404, headers: { "Content-Type": MIME[name.split(".").pop()] } });
    };
    try {
      const indexURL = new URL("pyodide/", HERE).href;
      return await loadPyodide({ indexURL, packageBaseUrl: indexURL, lockFileContents, stdin: () => null });
    } finally {
      globalThis.fetch = fetch;
    }
  }

  customElements.define("elmo-python", class extends HTMLElement {
    came = new Set();

    connectedCallback() {
      this.data = JSON.parse(this.getAttribute("data"));
      const { files, lock, pyodide, sent, size } = this.data;
      const [, python] = lock.info.python.match(/^(\d+\.\d+)/);
      this.innerHTML = `<form class="elmo-live">
        <p class="elmo-row"><button>Run it here (loads ${size} first)</button>
          <label>Arguments <input type="text" spellcheck="false" autocomplete="off" autocapitalize="off"></label></p>
        <p class="elmo-note">Runs the listing below, letter for letter, in this page. Python ${python} and its standard library,
          compiled for browsers, come from this site (<a href="${new URL("pyodide/LICENCE.txt", HERE)}">Pyodide ${pyodide},
          licences</a>); a server that compresses sends ${sent}. Nothing you type is sent. With <code>--json -</code> it prints the
          eight states, with <code>--help</code> what it can do; a file that it writes stays in the page's memory.</p>
        <p class="elmo-running"><span role="status">Not run yet.</span><progress max="${files.length + 2}" value="0"
          aria-label="loading"></progress></p>
        <pre class="elmo-scroll" role="log" aria-label="Output"></pre></form>`;
      [this.button, this.typed, this.said, this.bar, this.output] = this.querySelectorAll("button, input, [role=status], progress, pre");
      ElmoBoxes.watch(this.output);
      this.querySelector("form").addEventListener("submit", (event) => {
        event.preventDefault();
        if (!this.classList.contains("is-busy")) this.act();
      });
    }

    async act() {
      this.classList.add("is-busy");
      this.output.textContent = "";
      try {
        this.run ??= await this.load();
        this.show(this.run(this.listing(), NAME, this.typed.value));
      } catch (error) {
        // an event, when a script did not come
        this.said.textContent = error instanceof Event ? "A part of Python did not come; try again."
          : `Python does not start in this browser: ${error.message || error}`;
      }
      this.classList.remove("is-busy");
    }

    listing() {
      return this.closest("section").querySelector(".highlight-python pre").textContent;
    }

    async load() {
      const { files, lock, unpacked: sizes } = this.data;
      this.said.textContent = "Loading …";
      await WebAssembly.compile(EMPTY_MODULE); // Pyodide waits for ever where that is forbidden
      this.bar.value = this.came.size;
      for (const name of files) {
        if (this.came.has(name)) continue;
        await script(new URL(`pyodide/${name}`, HERE));
        this.bar.value = this.came.add(name).size;
      }
      this.said.textContent = "Starting …";
      await pause();
      const content = await unpacked(ElmoPython, sizes);
      this.bar.value += 1;
      const python = await started(content, lock);
      this.bar.value += 1;
      const run = python.runPython(`${this.data.run}\nrun`);
      ElmoPython.length = 0; // its text is not needed again
      this.button.textContent = "Run it again";
      return run;
    }

    show(result) {
      const [printed, status] = result.toJs();
      result.destroy();
      const lines = printed.split("\n").length - 1;
      this.output.ariaLive = lines > MANY ? "off" : "polite";
      this.output.textContent = printed;
      ElmoBoxes.mark([this.output]);
      this.said.textContent = `Python ${this.data.lock.info.python} ended with status ${status}; ${lines} ${lines === 1 ? "line" : "lines"} printed.`;
    }
  });
})();
