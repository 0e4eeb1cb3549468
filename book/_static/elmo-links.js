"use strict";

/* The form that makes a link for nbgitpuller: one click opens a notebook on a class's hub, and
   brings what the repository has new without touching what a student wrote. Nothing is sent. */

globalThis.ElmoLinks = (() => {
  const BRANCH = /^\w[\w./-]*$/;

  /* Returns { link } or { problem, field }. */
  function make({ hub, branch, notebook, repository }) {
    let address;
    try {
      address = new URL(hub.trim());
    } catch {
      return { field: "hub", problem: "The hub's address should look like https://hub.example.org." };
    }
    if (!["https:", "http:"].includes(address.protocol) || address.username || address.password) {
      return { field: "hub", problem: "The hub's address should begin with https://, and hold no user." };
    }
    if (address.search || address.hash) {
      return { field: "hub", problem: "The hub's address should end before any ? or #." };
    }
    if (!BRANCH.test(branch.trim()) || branch.includes("..")) {
      return { field: "branch", problem: "A branch or tag is a name such as main or v1.0." };
    }
    // what a browser shows after logging in, /hub/home say, is not part of a hub's address
    const base = address.pathname.replace(/\/(?:hub(?:\/.*)?)?$/, "");
    const link = new URL(`${base}/hub/user-redirect/git-pull`, address);
    const folder = repository.split("/").pop();
    link.searchParams.set("repo", repository);
    link.searchParams.set("urlpath", `lab/tree/${folder}/${notebook}`);
    link.searchParams.set("branch", branch.trim());
    return { link: link.href };
  }

  function start(root) {
    const form = root.querySelector("form");
    const { hub, branch, notebook } = form.elements;
    const said = form.querySelector("[role=status]");
    const made = form.querySelector(".elmo-links-made");
    const [anchor, copy] = [made.firstElementChild, form.querySelector("button")];

    function show() {
      const { link, problem, field } = hub.value.trim()
        ? make({ hub: hub.value, branch: branch.value, notebook: notebook.value,
            repository: root.dataset.repository })
        : { problem: "Type the address of your hub." };
      for (const input of [hub, branch]) {
        if (input.name === field) input.setAttribute("aria-invalid", "true");
        else input.removeAttribute("aria-invalid");
      }
      said.textContent = link ? "This is the link:" : problem;
      made.hidden = copy.disabled = !link;
      if (link) anchor.href = anchor.textContent = link;
    }

    form.addEventListener("input", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(anchor.href);
        said.textContent = "The link is copied.";
      } catch {
        getSelection().selectAllChildren(anchor);
        said.textContent = "This browser does not copy for a page: the link is selected, copy it.";
      }
    });
    show();
  }

  if (globalThis.document) document.querySelectorAll(".elmo-links").forEach(start);
  return { make };
})();
