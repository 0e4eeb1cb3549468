"use strict";

/* The maker of links for a hub: what it refuses, and what it makes of what it takes. */

const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");
const { runInThisContext } = require("node:vm");

const file = join(process.env.ELMO_SCRIPTS, "elmo-links.js");
runInThisContext(readFileSync(file, "utf-8"), { filename: file });
const repository = "https://github.com/someone/elmo-companion";
const notebook = "notebooks/04_gradient.ipynb";
const make = (hub, branch = "main", name = notebook) =>
  ElmoLinks.make({ hub, branch, notebook: name, repository });

test("a link holds repository, branch and notebook, for JupyterLab", () => {
  const { link, problem } = make("https://hub.example.org");
  assert.equal(problem, undefined);
  const url = new URL(link);
  assert.equal(url.origin + url.pathname, "https://hub.example.org/hub/user-redirect/git-pull");
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    repo: repository,
    urlpath: "lab/tree/elmo-companion/notebooks/04_gradient.ipynb",
    branch: "main",
  });
});

test("what a browser shows of a hub is enough", () => {
  const base = "/hub/user-redirect/git-pull";
  for (const [given, path] of [
    [" https://hub.example.org/ ", base],
    ["https://hub.example.org/hub/", base],
    ["https://hub.example.org/hub/home", base],
    ["https://example.org/class/hub", `/class${base}`],
    ["https://example.org/class", `/class${base}`],
    ["https://example.org/github", `/github${base}`],
    ["http://10.0.0.7:8000", base],
  ]) {
    assert.equal(new URL(make(given).link).pathname, path, given);
  }
});

test("what could end the address early is encoded", () => {
  const odd = make("https://hub.example.org", "main", "notebooks/a b&branch=x#y.ipynb").link;
  const url = new URL(odd);
  assert.equal(url.hash, "");
  assert.equal(url.searchParams.get("branch"), "main");
  assert.ok(url.searchParams.get("urlpath").endsWith("a b&branch=x#y.ipynb"));
});

test("no link is made of what is no hub or no branch, and the field is named", () => {
  for (const hub of ["hub", "hub.example.org", "javascript:alert(1)", "data:text/html,x",
    "file:///etc", "https://", "https://me:secret@hub.example.org", "https://a.org/?x=1",
    "https://a.org/#x"]) {
    const { link, field, problem } = make(hub);
    assert.equal(link, undefined, hub);
    assert.equal(field, "hub", hub);
    assert.ok(problem.endsWith("."), hub);
  }
  for (const branch of ["", " ", "a b", "-x", "a..b", "a&b", "x?y", "<b>"]) {
    const { link, field } = make("https://hub.example.org", branch);
    assert.equal(link, undefined, branch);
    assert.equal(field, "branch", branch);
  }
  for (const branch of ["main", "v1.0", "feature/x-1"]) {
    assert.ok(make("https://hub.example.org", branch).link, branch);
  }
});
