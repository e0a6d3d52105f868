// The status page: what the server says of itself, asked for with the user's token, and kept up to date by its events.
"use strict";

const KEY = "semdex-token";
const element = (id) => document.getElementById(id);
const RELOAD_MS = 5000;
let lastEvent = null;
let listening = null;
let current = [];
const impacts = new Map();

/** A node with its attributes and children; texts stay texts. */
function node(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.filter((it) => it != null));
  return made;
}

// The token comes by the form or behind the address's `#`, which no server and no log ever sees; there it is removed.
function takeTokenOfAddress() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return;
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname + location.search);
}

function headers(more = {}) {
  const token = sessionStorage.getItem(KEY);
  return token ? { ...more, authorization: `Bearer ${token}` } : more;
}

class Problem extends Error {
  constructor(status, problem) {
    super(problem.detail || `the server answered ${status}`);
    this.status = status;
  }
}

async function call(method, path, body) {
  const reply = await fetch(path, {
    method,
    headers: headers(body ? { "content-type": "application/json" } : {}),
    body: body ? JSON.stringify(body) : undefined,
  });
  const json = await reply.json();
  if (!reply.ok) throw new Problem(reply.status, json);
  return json;
}

const query = (path, fields) => `${path}?${new URLSearchParams(Object.entries(fields).filter((it) => it[1] != null))}`;
const megabytes = (bytes) => (bytes == null ? "" : `${Math.round(bytes / 1e6).toLocaleString("en")} MB`);
const counted = (count, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`;

// ---------------------------------------------------------------------------------------------------------------
// Coming in

function showLogin(why) {
  listening?.abort();
  listening = null;
  element("main").hidden = true;
  element("forget").hidden = true;
  element("login").hidden = false;
  element("refused").textContent = why;
  showLive("off", "no token");
  element("token").focus();
}

async function enter() {
  try {
    await refresh();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) {
      const had = sessionStorage.getItem(KEY) != null;
      sessionStorage.removeItem(KEY);
      return showLogin(had ? "The server does not take this token." : "");
    }
    showLive("off", "no server");
    setTimeout(enter, RELOAD_MS);
    return;
  }
  element("login").hidden = true;
  element("main").hidden = false;
  element("forget").hidden = sessionStorage.getItem(KEY) == null;
  listen();
}

function showLive(state, text) {
  const live = element("live");
  live.className = `pill ${state}`;
  live.textContent = text;
}

// ---------------------------------------------------------------------------------------------------------------
// Events

async function listen() {
  if (listening) return;
  const own = (listening = new AbortController());
  while (!own.signal.aborted) {
    try {
      const more = lastEvent ? { "last-event-id": lastEvent } : {};
      const reply = await fetch("/v1/events", { headers: headers(more), signal: own.signal });
      if (reply.status === 401) return showLogin("The server does not take this token any more.");
      if (!reply.ok) throw new Problem(reply.status, await reply.json());
      showLive("live", "live");
      if (lastEvent) await refresh();
      await read(reply.body.pipeThrough(new TextDecoderStream()).getReader());
    } catch (error) {
      if (own.signal.aborted) return;
    }
    showLive("connecting", "connecting");
    await new Promise((go) => setTimeout(go, 1000));
  }
}

async function read(reader) {
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    blocks.forEach(hear);
  }
}

function hear(block) {
  const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: ?(.*)/s)));
  if (!fields.data) return;
  lastEvent = fields.id;
  const data = JSON.parse(fields.data);
  if (fields.event === "change") impacts.set(data.change, data.impact);
  if (fields.event === "state") {
    const known = current.find((it) => it.id === data.workspace);
    if (known) {
      Object.assign(known, { state: data.state, revision: data.revision, progress: data.progress });
      return showWorkspaces();
    }
  }
  refreshSoon();
}

let soon = null;
function refreshSoon() {
  soon ??= setTimeout(() => {
    soon = null;
    refresh().catch(() => {});
  }, 150);
}

// ---------------------------------------------------------------------------------------------------------------
// What is shown

async function refresh() {
  const status = await call("GET", "/v1/status");
  current = status.workspaces;
  const memory = status.memory_bytes ? ` · ${megabytes(status.memory_bytes)}` : "";
  element("process").textContent = `${status.version} · process ${status.pid}${memory}`;
  showWorkspaces();
  showSlow(status.slow_questions);
  const lists = await Promise.all(
    current.map(async (it) => {
      const made = await call("GET", query("/v1/changes", { workspace: it.root, limit: 15, diff: true }));
      return made.changes.map((change) => ({ ...change, workspace: it }));
    }),
  );
  showChanges(lists.flat().sort((a, b) => (a.change < b.change ? 1 : -1)).slice(0, 20));
}

function showWorkspaces() {
  element("workspaces").replaceChildren(...current.map(card));
  if (!current.length) element("workspaces").append(node("p", { class: "quiet" }, "No workspace is open."));
  const select = element("workspace");
  const chosen = select.value;
  select.hidden = current.length < 2;
  select.replaceChildren(...current.map((it) => node("option", { value: it.root, selected: it.root === chosen }, it.id)));
}

function card(it) {
  const progress = it.progress
    ? [
        node("progress", { max: Math.max(it.progress.total, 1), value: it.progress.done, "aria-label": it.progress.stage }),
        node("p", { class: "quiet" }, `${it.progress.stage}: ${it.progress.done} of ${it.progress.total}`),
      ]
    : [];
  const engine = (of) =>
    node(
      "tr",
      {},
      node("td", {}, of.name, " ", node("span", { class: "quiet" }, of.version ?? "")),
      node("td", {}, node("span", { class: `pill ${of.state}` }, isUntrusted(of, it.missing) ? "not started: not trusted" : of.state)),
      node("td", { class: "number" }, memory(of)),
      node("td", { class: "number" }, of.restarts ? counted(of.restarts, "restart") : ""),
    );
  const missing = (of) => node("li", {}, node("code", {}, of.code), ` ${of.detail}`);
  return node(
    "article",
    { class: "card" },
    node("header", {}, node("h3", {}, it.id), node("span", { class: `pill ${it.state}` }, it.state)),
    node("p", { class: "root" }, it.root),
    node("p", { class: "quiet" }, `revision ${it.revision} · ${it.trusted ? "trusted" : "not trusted"}`),
    ...progress,
    it.engines.length ? node("table", { "aria-label": "Engines" }, node("tbody", {}, ...it.engines.map(engine))) : null,
    it.missing.length ? node("ul", { "aria-label": "Missing" }, ...it.missing.map(missing)) : null,
  );
}

/** Whether an engine is there, and not started because its workspace is not trusted. */
function isUntrusted(engine, missing) {
  const isOfIt = (it) => it.scope === engine.language || it.detail.startsWith(`${engine.name} `);
  const codes = missing.filter(isOfIt).map((it) => it.code);
  return engine.state === "missing" && codes.includes("untrusted") && !codes.includes("engine_missing");
}

/** An engine that is at work without a process of its own is in this one. */
function memory(engine) {
  const isInTheProcess = !engine.pid && ["syntax", "indexing", "ready"].includes(engine.state);
  return megabytes(engine.memory_bytes) || (isInTheProcess ? "in the process" : "–");
}

let shownChanges = "";
function showChanges(changes) {
  const known = JSON.stringify(changes.map((it) => [it.change, it.undone_by, impacts.has(it.change)]));
  // What a user has opened or is about to press stays as it is.
  if (known === shownChanges) return;
  shownChanges = known;
  const open = new Set([...document.querySelectorAll("#changes details[open]")].map((it) => it.dataset.change));
  const focus = document.activeElement?.closest?.("#changes details")?.dataset.change;
  element("changes").replaceChildren(...changes.map((it) => change(it, open.has(it.change))));
  if (!changes.length) element("changes").append(node("p", { class: "quiet" }, "Nothing was changed through semdex yet."));
  if (focus) document.querySelector(`#changes details[data-change="${CSS.escape(focus)}"] summary`)?.focus();
}

function change(it, open) {
  const files = it.files.map((of) => of.file);
  const title = files.length > 2 ? `${files[0]} and ${files.length - 1} more` : files.join(", ");
  const time = node("time", { class: "when", datetime: it.at }, new Date(it.at).toLocaleString());
  const state = it.undone_by ? node("span", { class: "pill" }, "undone") : null;
  return node(
    "details",
    { "data-change": it.change, class: it.undone_by ? "undone" : null, open },
    node("summary", {}, node("span", { class: "name" }, it.cause), node("span", { class: "files" }, title), state, time),
    node(
      "div",
      { class: "inside" },
      node("p", { class: "quiet" }, `${it.workspace.id} · revision ${it.revision} · ${it.client ?? "unnamed client"} · `, node("code", {}, it.change)),
      ...impact(impacts.get(it.change), it.impact),
      ...it.files.map((of) => diff(of.diff ?? "")),
      it.undone_by ? null : undoButton(it),
    ),
  );
}

/** What an event told in full; of changes before this page was there the counts that the journal kept. */
function impact(it, kept) {
  if (!it && !kept) return [];
  const { broken, affected, tests } = kept ?? { broken: it.broken.length, affected: it.affected.length, tests: it.tests.length };
  const unknown = kept && !kept.complete ? " · not all of it could be judged" : "";
  const counts = `${counted(broken, "place")} broken · ${affected} affected · ${counted(tests, "test")} reached${unknown}`;
  const said = node("p", { class: broken ? "bad" : "quiet" }, counts);
  if (!it) return [said];
  const place = (of) => node("li", {}, node("code", {}, `${of.file}:${of.line}`), ` ${of.reason ?? ""}`);
  return [
    said,
    it.broken.length ? node("ul", {}, ...it.broken.slice(0, 10).map(place)) : null,
  ].filter(Boolean);
}

function diff(text) {
  const kinds = { "+": "added", "-": "removed", "@": "at" };
  const line = (of) => node("span", { class: `line ${/^(\+\+\+|---)/.test(of) ? "" : (kinds[of[0]] ?? "")}` }, of || " ");
  return node("pre", { tabindex: 0, "aria-label": "Diff" }, ...text.replace(/\n$/, "").split("\n").map(line));
}

/** Asks once more in its own place: the second press undoes. */
function undoButton(it) {
  const button = node("button", { type: "button" }, "Undo");
  button.addEventListener("click", async () => {
    if (!button.classList.contains("danger")) {
      button.classList.add("danger");
      button.textContent = "Really undo this change?";
      button.addEventListener("blur", () => ((button.textContent = "Undo"), button.classList.remove("danger")), { once: true });
      return;
    }
    button.disabled = true;
    try {
      const undone = await call("POST", "/v1/undo", { change: it.change, workspace: it.workspace.root });
      element("said").textContent = `Undone: ${undone.files.map((of) => of.file).join(", ")}.`;
      element("said").className = "quiet";
    } catch (error) {
      element("said").textContent = error.message;
      element("said").className = "bad";
      button.disabled = false;
    }
    refreshSoon();
  });
  return button;
}

function showSlow(questions) {
  const columns = ["elapsed", "reading", "queue", "barrier", "index", "engine", "computing", "rendering"];
  const ms = (value) => (value >= 0.5 ? Math.round(value).toLocaleString("en") : "");
  const row = (it) =>
    node(
      "tr",
      {},
      node("td", {}, node("code", {}, it.call)),
      ...columns.map((name) => node("td", { class: "number" }, ms(it[`${name}_ms`]))),
      node("td", { class: "quiet" }, new Date(it.at).toLocaleTimeString()),
    );
  const head = node(
    "tr",
    {},
    node("th", {}, "call"),
    ...columns.map((name) => node("th", { class: "number" }, `${name} ms`)),
    node("th", {}, "at"),
  );
  element("questions").replaceChildren(
    questions.length
      ? node("table", {}, node("thead", {}, head), node("tbody", {}, ...questions.slice(0, 15).map(row)))
      : node("p", { class: "quiet" }, "No question took long."),
  );
}

// ---------------------------------------------------------------------------------------------------------------
// Symbols

let asked = 0;
async function search() {
  const own = ++asked;
  const text = element("search").value.trim();
  if (!text) return element("found").replaceChildren();
  try {
    const workspace = element("workspace").value || undefined;
    const reply = await call("GET", query("/v1/symbols", { query: text, limit: 12, workspace, wait_ms: 0 }));
    if (own !== asked) return;
    const items = reply.symbols.map((it) => node("li", {}, found(it, workspace)));
    const none = reply.meta.complete ? "There is no such symbol." : "The index is being built: ask again in a moment.";
    element("found").replaceChildren(...(items.length ? items : [node("li", { class: "quiet" }, none)]));
  } catch (error) {
    if (own === asked) element("found").replaceChildren(node("li", { class: "bad" }, error.message));
  }
}

function found(it, workspace) {
  return node(
    "button",
    { type: "button", onclick: () => show(it, workspace) },
    node("span", { class: "kind" }, it.kind),
    node("span", { class: "path" }, it.path),
    node("span", { class: "where" }, `${it.file}:${it.name_at.line}`),
  );
}

async function show(symbol, workspace) {
  try {
    const opened = await call("POST", "/v1/open", { file: symbol.file, workspace });
    const numbers = opened.skeleton_lines ?? [];
    element("file").textContent = `${opened.file} · ${counted(opened.lines, "line")}`;
    const lines = opened.skeleton.replace(/\n$/, "").split("\n");
    const wanted = symbol.signature.split("\n")[0].slice(0, 40);
    const at = Math.max(lines.findIndex((it) => it.includes(symbol.name) && it.includes(wanted.slice(0, 20))), lines.findIndex((it) => it.includes(` ${symbol.name}`)));
    element("code").replaceChildren(...lines.map((text, index) => codeLine(text, numbers[index], index === at)));
    element("skeleton").hidden = false;
    element("code").children[at]?.scrollIntoView({ block: "center" });
    element("skeleton").querySelector("pre").focus({ preventScroll: true });
  } catch (error) {
    element("said").textContent = error.message;
  }
}

const PARTS = /(\/\/.*|\/\*.*?\*\/|#\[.*?\])|("(?:\\.|[^"\\])*"|`[^`]*`)|\b(as|async|await|break|case|chan|const|continue|crate|default|defer|dyn|else|enum|extern|fn|for|func|go|if|impl|import|in|interface|let|loop|map|match|mod|move|mut|package|pub|range|ref|return|select|self|Self|static|struct|super|switch|trait|type|unsafe|use|var|where|while)\b/g;

function codeLine(text, number, marked) {
  const line = node("span", { class: marked ? "line marked" : "line" });
  if (number != null) line.append(node("span", { class: "number" }, String(number)));
  let from = 0;
  for (const match of text.matchAll(PARTS)) {
    const kind = match[1] ? "comment" : match[2] ? "string" : "keyword";
    line.append(text.slice(from, match.index), node("span", { class: kind }, match[0]));
    from = match.index + match[0].length;
  }
  line.append(text.slice(from) || " ");
  return line;
}

function closeSkeleton() {
  element("skeleton").hidden = true;
  element("search").focus();
}

/** The arrows go through the results. */
function move(event) {
  const places = [element("search"), ...document.querySelectorAll("#found button")];
  const at = places.indexOf(document.activeElement);
  if (at < 0 || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
  event.preventDefault();
  places[Math.min(Math.max(at + (event.key === "ArrowDown" ? 1 : -1), 0), places.length - 1)].focus();
}

// ---------------------------------------------------------------------------------------------------------------

element("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(KEY, element("token").value.trim());
  element("token").value = "";
  enter();
});
element("forget").addEventListener("click", () => {
  sessionStorage.removeItem(KEY);
  showLogin("");
});
let typing = null;
element("search").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(search, 120);
});
element("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") document.querySelector("#found button")?.click();
});
element("workspace").addEventListener("change", search);
element("close").addEventListener("click", closeSkeleton);
document.addEventListener("keydown", (event) => {
  const typingNow = event.target.matches?.("input, select, textarea");
  if (event.key === "/" && !typingNow && !element("main").hidden) {
    event.preventDefault();
    element("search").focus();
  } else if (event.key === "Escape" && !element("skeleton").hidden) {
    closeSkeleton();
  }
  move(event);
});
addEventListener("hashchange", () => {
  takeTokenOfAddress();
  enter();
});
// Memory has no events.
setInterval(() => {
  if (!document.hidden && !element("main").hidden) refresh().catch(() => {});
}, RELOAD_MS);

takeTokenOfAddress();
enter();
