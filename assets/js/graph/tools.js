// @ts-check
/* Keys, right-click menu, search and export of the task graph (the picture itself: picture.js). */

import { route } from "../core/config.js";
import { closest, copy, download, isAbort, messageOf } from "../core/dom.js";
import { keys } from "../core/keys.js";
import { say } from "../core/notice.js";
import { theme } from "../core/theme.js";
import { pageUrl } from "../core/url.js";
import { graph } from "./picture.js";

/** @typedef {any} Element a Cytoscape element */
/** @typedef {{id: string}} Match */

const MODES = ["full", "reduced", "omitted", "reduced-df", "omitted-df"];
const DEPTHS = ["0", "1", "2", "3", "5", "-1"];
/** @type {Match[]} */
let matches = [];
let total = 0;
let searchTimer = 0;
/** @type {AbortController | null} */
let request = null;
let asking = false;
let owed = 0;

/** @param {string} id */
const maybe = (id) => document.getElementById(id);
const onPage = () => Boolean(maybe("graph-cy"));
const here = () => Boolean(onPage() && graph.cy());

keys.describe("graph", [
  ["1 … 5", "Edges: Full, Reduced, Omitted, Reduced DF, Omitted DF"],
  ["← → ↑ ↓", "Walk along edges and between neighbours; with Shift: pan"],
  ["Enter", "Select the task or open the group in focus"],
  ["x", "Expand: open the group, draw the task's neighbours"],
  ["c", "Only the neighbourhood of the selection"],
  ["< >", "Highlight fewer or more steps"],
  ["t", "Left to right or top to bottom"],
  ["f  +  −", "Fit, zoom"],
  ["w", "Show the selection in the swimlane"],
  ["m", "Menu"],
  ["Double click", "Open a group, draw a task's neighbours"],
]);

/* Address of an export or search route, with the state of the page. */
/**
 * @param {string} what
 * @param {Record<string, string>} [extra]
 */
function api(what, extra) {
  const run = pageUrl.place().run;
  const query = new URLSearchParams({ ...pageUrl.get(), ...(extra || {}) });
  return `${route("api", "graph", run, what)}?${query}`;
}

/** @param {string} kind */
function exportAs(kind) {
  const menu = /** @type {HTMLDetailsElement | null} */ (document.querySelector(".graph-page .graph-export"));
  if (menu) menu.open = false;
  if (kind === "svg") return download(api("export.svg", { theme: theme.get() }));
  if (kind !== "png") return download(api("export." + kind));
  const blob = graph.cy().png({ output: "blob", full: true, scale: 2, maxWidth: 8000, maxHeight: 8000, bg: theme.css("--panel") });
  const href = URL.createObjectURL(blob);
  download(href, "graph.png");
  window.setTimeout(() => URL.revokeObjectURL(href), 10000);
  return undefined;
}

/* Search: matches come from the whole graph, drawn or not. Enter before the answer is done when it comes. */
/** @param {string} text */
function search(text) {
  renew();
  if (!text.trim()) return found({ total: 0, tasks: [] }, "");
  request = new AbortController();
  return fetch(api("search", { q: text }), { signal: request.signal })
    .then((response) => response.json())
    .then((body) => found(body, text))
    .catch((error) => {
      if (isAbort(error)) return;
      asking = false;
      say("Search did not work", messageOf(error), "warn");
    });
}

/* Another text is asked for: the answer to the one before must not come in, nor its step. */
function renew() {
  if (request) request.abort();
  asking = true;
}

/* A picture came: what the URL looks for, unless a person is typing. */
function restart() {
  if (!searchTimer) search(graph.state("q"));
}

/**
 * @param {{tasks?: Match[], total?: number}} body
 * @param {string} text
 */
function found(body, text) {
  asking = false;
  matches = body.tasks || [];
  total = body.total || 0;
  graph.hits(matches.map((task) => "task:" + task.id));
  tell(text ? -1 : -2);
  const by = onPage() ? owed : 0;
  owed = 0;
  if (by) step(by);
}

/** @param {number} at place of the match; -1 for none of them, -2 for no search */
function tell(at) {
  const box = maybe("graph-found");
  if (!box) return;
  const all = total.toLocaleString("en-US");
  const of = matches.length < total ? ` (first ${matches.length} listed)` : "";
  box.textContent = at === -2 ? "" : !total ? "no match" : at < 0 ? `${all} found${of}` : `${at + 1} of ${all}${of}`;
}

/** @param {number} by */
function step(by) {
  if (asking) return void (owed = by);
  if (!matches.length) return;
  const now = matches.findIndex((task) => "task:" + task.id === graph.state("sel"));
  const at = now < 0 ? (by > 0 ? 0 : matches.length - 1) : (now + by + matches.length) % matches.length;
  graph.set({ sel: "task:" + matches[at].id, node: "" });
  tell(at);
}

/* Right-click menu. */
/**
 * @param {Element} one
 * @returns {import("../core/menu.js").Entry[]}
 */
function items(one) {
  if (one === graph.cy()) {
    return [
      ["Fit", () => graph.look()],
      ["Summary: function × depth", () => graph.set({ show: "summary" })],
      ["Critical path", () => graph.set({ show: "path" })],
      ["Close all that was opened", () => graph.set({ exp: null })],
      ["Clear selection", () => graph.set({ sel: "", node: "" })],
    ];
  }
  const id = one.id();
  if (one.isEdge()) {
    const match = /^task:(\d+)>task:(\d+)$/.exec(id);
    /** @type {import("../core/menu.js").Entry[]} */
    const rows = [
      ["Select the earlier task", () => graph.select(one.source())],
      ["Select the later task", () => graph.select(one.target())],
    ];
    return match ? [["Why this edge exists", () => graph.set({ node: `edge:${match[1]}-${match[2]}`, tab: "" })], ...rows] : rows;
  }
  if (one.data("count")) {
    return [
      ["Details", () => graph.set({ node: id, tab: "" })],
      ["Open this group", () => graph.expand(id)],
      ["Highlight the function", () => graph.set({ sel: "func:" + one.data("func"), node: "" })],
    ];
  }
  return [
    ["Details", () => graph.set({ sel: id, node: "", tab: "" })],
    ["Highlight everything before and after", () => graph.set({ sel: id, node: "", depth: "-1" })],
    ["Draw its neighbours", () => graph.expand(id)],
    ["Only its neighbourhood", () => graph.around(id)],
    ["Who feeds it, who uses it", () => graph.set({ sel: id, node: "", tab: "text" })],
    ["Show in swimlane", () => pageUrl.go(pageUrl.href("swimlane", { sel: id }))],
    ["Highlight the function", () => graph.set({ sel: "func:" + one.data("func"), node: "" })],
    ["Copy task id", () => copy(id.slice(5)).then(() => say("Copied", id.slice(5), "ok"))],
  ];
}

/* A picture that still moves would close the menu again: it stops. */
/** @param {any} event a Cytoscape event, or one that a key made */
function menu(event) {
  const box = maybe("graph-menu");
  if (!box) return;
  box.replaceChildren();
  for (const [text, act] of items(event.target)) {
    const button = document.createElement("button");
    button.className = "menu-item";
    button.setAttribute("role", "menuitem");
    button.textContent = text;
    button.addEventListener("click", () => (closeMenu(), act()));
    box.append(button);
  }
  box.hidden = false;
  const cy = graph.cy();
  cy.stop(true);
  box.style.left = Math.max(4, Math.min(event.renderedPosition.x, cy.width() - box.offsetWidth - 4)) + "px";
  box.style.top = Math.max(4, Math.min(event.renderedPosition.y, cy.height() - box.offsetHeight - 4)) + "px";
  if (event.keyboard) /** @type {HTMLElement} */ (box.firstChild).focus();
}

function closeMenu() {
  const box = maybe("graph-menu");
  if (box && !box.hidden) box.hidden = true;
}

/* Keyboard: a focus that walks over the drawn nodes. */
function current() {
  const cy = graph.cy();
  const kept = cy.getElementById(graph.focus());
  if (kept.length) return kept;
  const chosen = cy.getElementById(graph.state("node") || graph.state("sel"));
  return chosen.length && chosen.isNode() ? chosen : null;
}

/**
 * @param {Element} from
 * @param {number} dx
 * @param {number} dy
 */
function nearest(from, dx, dy) {
  const at = from.position();
  /** @type {Element} */
  let best = null;
  let least = Infinity;
  graph.cy().nodes().forEach((/** @type {Element} */ node) => {
    const x = node.position().x - at.x;
    const y = node.position().y - at.y;
    const along = dx ? x * dx : y * dy;
    const across = Math.abs(dx ? y : x);
    const cost = along + 3 * across;
    if (along > 4 && across < along * 2 + 60 && cost < least) (least = cost), (best = node);
  });
  return best;
}

/**
 * @param {Element} from
 * @param {boolean} forward
 */
function linked(from, forward) {
  const at = from.position();
  const lines = forward ? from.outgoers("node") : from.incomers("node");
  return lines.toArray().sort((/** @type {Element} */ a, /** @type {Element} */ b) => Math.abs(a.position().y - at.y) - Math.abs(b.position().y - at.y))[0] || null;
}

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

/** @param {string} key an arrow key */
function walk(key) {
  const from = current();
  const [dx, dy] = ARROWS[key];
  const along = graph.state("dir") === "tb" ? dy : dx;
  const next = !from ? graph.cy().nodes()[0] : (along && linked(from, along > 0)) || nearest(from, dx, dy);
  if (!next) return;
  graph.focus(next.id());
  graph.highlight();
  graph.show(next);
  const live = maybe("graph-live");
  if (live) live.textContent = graph.words(next);
}

/** @param {number} factor */
function zoom(factor) {
  const cy = graph.cy();
  cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
}

/** @param {number} by */
function turn(by) {
  const at = DEPTHS.indexOf(graph.state("depth"));
  graph.set({ depth: DEPTHS[Math.max(0, Math.min(DEPTHS.length - 1, (at < 0 ? 1 : at) + by))] });
}

/** @type {Record<string, () => unknown>} */
const KEYS = {
  f: () => graph.look(),
  "+": () => zoom(1.3),
  "=": () => zoom(1.3),
  "-": () => zoom(1 / 1.3),
  t: () => graph.set({ dir: graph.state("dir") === "lr" ? "tb" : "lr" }),
  "<": () => turn(-1),
  ">": () => turn(1),
  x: () => current() && graph.expand(current().id()),
  c: () => current() && current().id().startsWith("task:") && graph.around(current().id()),
  w: () => pageUrl.go(pageUrl.href("swimlane")),
  m: () => openMenu(),
  ContextMenu: () => openMenu(),
  Enter: () => current() && graph.select(current()),
};

function openMenu() {
  const one = current() || graph.cy();
  const at = one === graph.cy() ? { x: 40, y: 40 } : one.renderedPosition();
  menu({ target: one, renderedPosition: at, keyboard: true });
}

/** @param {KeyboardEvent} event */
function onMenuKey(event) {
  const buttons = /** @type {HTMLElement[]} */ ([...(maybe("graph-menu")?.children || [])]);
  const at = buttons.findIndex((button) => button === document.activeElement);
  if (event.key === "Escape") (closeMenu(), maybe("graph-keys")?.focus());
  else if (event.key === "ArrowDown") buttons[(at + 1) % buttons.length].focus();
  else if (event.key === "ArrowUp") buttons[(at - 1 + buttons.length) % buttons.length].focus();
  else return false;
  event.preventDefault();
  event.stopImmediatePropagation();
  return true;
}

document.addEventListener(
  "keydown",
  (event) => {
    if (!onPage() || document.querySelector("dialog[open]")) return;
    if (!maybe("graph-menu")?.hidden && onMenuKey(event)) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.id === "graph-search" && event.key === "Enter") return void step(event.shiftKey ? -1 : 1);
    if (keys.typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const inGrid = target.closest(".grid");
    if (inGrid && event.key === "Enter") return void openRow(target);
    const onButton = target.closest("button, a, summary");
    if (inGrid || (onButton && (event.key === "Enter" || event.key === " "))) return;
    if (event.key === "Escape" && graph.state("node")) {
      event.stopImmediatePropagation();
      return void graph.set({ node: "" });
    }
    if (/^[1-5]$/.test(event.key)) return void graph.set({ mode: MODES[Number(event.key) - 1] });
    if (!here()) return;
    if (/^Arrow/.test(event.key)) {
      event.preventDefault();
      if (!event.shiftKey) return void walk(event.key);
      const [dx, dy] = ARROWS[event.key];
      return void graph.cy().panBy({ x: -80 * dx, y: -80 * dy });
    }
    if (KEYS[event.key]) {
      event.preventDefault();
      KEYS[event.key]();
    }
  },
  true,
);

document.addEventListener("input", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || box.id !== "graph-search") return;
  renew();
  owed = 0;
  window.clearTimeout(searchTimer);
  searchTimer = window.setTimeout(() => {
    searchTimer = 0;
    if (onPage()) pageUrl.set({ q: box.value.slice(0, 200) || null });
    search(onPage() ? box.value : "");
  }, 150);
});

/* Rows of the panel's tables that stand for a group or an edge. */
/** @param {Element} target */
function openRow(target) {
  const row = target.closest(".ag-row");
  const grid = target.closest("#graph-groups, #graph-omitted");
  if (!row || !grid) return;
  graph.set({ node: (grid.id === "graph-groups" ? "grp:" : "edge:") + row.getAttribute("row-id"), tab: "" });
}

/** @type {Record<string, (rest: string) => unknown>} */
const ACTS = {
  "zoom-in": () => zoom(1.3),
  "zoom-out": () => zoom(1 / 1.3),
  fit: () => graph.look(),
  next: () => step(1),
  prev: () => step(-1),
  expand: (rest) => graph.expand(rest.startsWith("task:") ? rest : "grp:" + rest),
  close: (rest) => graph.close(rest),
  around: (rest) => graph.around(rest),
  export: exportAs,
};

document.addEventListener("click", (event) => {
  if (!onPage() || !(event.target instanceof Element)) return;
  if (!closest(event, "#graph-menu")) closeMenu();
  openRow(event.target);
  const button = closest(event, ".graph-page [data-set], .graph-page [data-graph]");
  if (!button) return;
  if (button.dataset.set) {
    const [key, value] = [button.dataset.set.split("=")[0], button.dataset.set.slice(button.dataset.set.indexOf("=") + 1)];
    graph.set(key === "sel" ? { sel: value, node: "" } : { [key]: value });
    return;
  }
  if (!here()) return;
  const [act, ...rest] = (button.dataset.graph || "").split(":");
  ACTS[act](rest.join(":"));
});

document.addEventListener("contextmenu", (event) => {
  if (closest(event, ".graph-canvas")) event.preventDefault();
});

graph.equip({ menu, closeMenu, restart });
