// @ts-check
/* The task graph in the browser: what depends on the theme or the pointer, and every gesture on the picture.
 *
 * The server sends elements with places (components/dag/elements.py). Here: ports, stripes and markers; highlighting around the
 * pointer or the selection; selection to and from the URL; where the picture is looked at. Keys, menu, search and
 * export are in tools.js.
 */

import { all } from "../core/dom.js";
import { cytoscapeIn, lightenCytoscape, setProps, storeData } from "../core/libraries.js";
import { isSeveral, parseSelection } from "../core/selection.js";
import { theme } from "../core/theme.js";
import { pageUrl } from "../core/url.js";
import { ports } from "./node_art.js";
import { reach } from "./reach.js";

/** @typedef {any} Element a Cytoscape element */
/** @typedef {any} Cytoscape the Cytoscape instance */
/** @typedef {{dir: string, light: object[], dark: object[]}} Styles stylesheets of both themes for a direction */

/** @type {Record<string, string>} */
const DEFAULTS = { show: "auto", mode: "full", dir: "lr", depth: "1", gdepth: "2", tab: "", sel: "", node: "" };
const READABLE = 0.16;
const MANY = 700;
/** @type {Map<string, {x: number, y: number}>} */
const places = new Map();
/** @type {Cytoscape} */
let cy = null;
/** @type {Styles | null} */
let styles = null;
/** @type {string[]} */
let lit = [];
/** @type {Set<string>} */
let hits = new Set();
/** @type {Element} */
let hovered = null;
let focused = "";
/** @type {Map<string, string>} */
let marked = new Map();
let applied = "";
/** @type {Record<string, number>} */
const timers = {};
/** What the tools of the page do when a picture comes, and with its menu. @type {{menu: (event: any) => void, closeMenu: () => void, restart: () => void}} */
let tools = { menu: () => {}, closeMenu: () => {}, restart: () => {} };

/** @param {string} id */
const maybe = (id) => document.getElementById(id);
/** @param {string} key */
const state = (key) => pageUrl.get()[key] || DEFAULTS[key] || "";
/**
 * @param {string} name
 * @param {number} delay
 * @param {() => void} fn
 */
const later = (name, delay, fn) => {
  window.clearTimeout(timers[name]);
  timers[name] = window.setTimeout(fn, delay);
};
const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/* A key of the URL; the default is written as nothing. */
/**
 * @param {Record<string, string | null>} patch
 * @param {boolean} [push]
 */
function set(patch, push) {
  /** @type {Record<string, string | null>} */
  const next = {};
  for (const [key, value] of Object.entries(patch)) next[key] = value === DEFAULTS[key] ? null : value;
  pageUrl.set(next, { push: push !== false });
}

function dress() {
  const down = state("dir") === "tb";
  cy.batch(() => cy.nodes().forEach((/** @type {Element} */ node) => void node.data("ports", ports(node.data(), down))));
}

/* The page comes with the light stylesheet of its direction. */
function restyle() {
  const wanted = theme.get() + " " + (styles && styles.dir);
  if (!styles || !maybe("graph-cy") || applied === wanted) return;
  applied = wanted;
  setProps("graph-cy", { stylesheet: styles[theme.get()] });
}

/* What leads the highlighting: the selection, else the highlight of the URL. */
const lead = () => state("sel") || state("hl");

function chosen() {
  const sel = lead();
  const found = parseSelection(sel);
  const rest = found ? found.value : "";
  if (found && ["task", "group", "gap"].includes(found.kind)) return cy.getElementById("task:" + rest).toArray();
  if (found && found.kind === "func") return cy.nodes().filter((/** @type {Element} */ node) => String(node.data("func")) === rest).toArray();
  if (sel === "early") return cy.nodes("[?fire], [?star]").toArray();
  return lit.map((id) => cy.getElementById(id)).filter((one) => one.length);
}

function highlight() {
  if (!cy) return;
  const several = !hovered && (isSeveral(lead()) || /^(early|chains)$/.test(lead()));
  const open = cy.getElementById(state("node").replace(/^edge:(\d+)-(\d+)$/, "task:$1>task:$2"));
  const start = hovered ? [hovered] : open.length && open.isNode() ? [open] : chosen();
  const depth = several ? 0 : Number(state("depth"));
  const before = reach(start, depth, true);
  const after = reach(start, depth, false);
  const keep = new Set(start.map((/** @type {Element} */ one) => one.id()));
  const dim = start.length > 0 && (depth !== 0 || several);
  if (!dim && !keep.size && !open.length && !hits.size && !focused && !marked.size) return;
  /** @type {Map<string, string>} */
  const now = new Map();
  cy.elements().forEach((/** @type {Element} */ one) => {
    const id = one.id();
    const classes = [];
    const isBefore = before.nodes.has(id) || before.lines.has(id);
    const isAfter = after.nodes.has(id) || after.lines.has(id);
    const inside = several && one.isEdge() && keep.has(one.source().id()) && keep.has(one.target().id());
    if (isBefore) classes.push("before");
    else if (isAfter) classes.push("after");
    else if (dim && !keep.has(id) && !inside && !hits.has(id)) classes.push("dim");
    if ((!several && keep.has(id)) || id === open.id()) classes.push("here");
    if (hits.has(id)) classes.push("hit");
    if (id === focused) classes.push("focus");
    if (classes.length) now.set(id, classes.join(" "));
  });
  mark(now);
}

/* Only what changed is touched: a class change costs a style update. */
/** @param {Map<string, string>} now */
function mark(now) {
  cy.batch(() => {
    for (const id of new Set([...marked.keys(), ...now.keys()])) {
      if (marked.get(id) === now.get(id)) continue;
      const one = cy.getElementById(id);
      if (!one.length) continue;
      if (marked.has(id)) one.removeClass(marked.get(id));
      if (now.has(id)) one.addClass(now.get(id));
    }
  });
  marked = now;
}

/* Fit everything; where that is too small to see, look at what matters at a readable size. */
function look() {
  const target = anchor();
  cy.resize();
  cy.fit(undefined, 30);
  if (cy.zoom() > 1.25) cy.zoom(1.25) && cy.center();
  if (cy.zoom() >= READABLE && !(target.length && cy.zoom() < 0.4)) return;
  cy.zoom(0.55);
  if (target.length) cy.center(target);
  else begin();
}

/* The first node of the reading direction at the edge of the picture. */
function begin() {
  const axis = state("dir") === "tb" ? "y" : "x";
  const first = cy.nodes().toArray().reduce((/** @type {Element} */ a, /** @type {Element} */ b) => (b.position(axis) < a.position(axis) ? b : a));
  cy.center(first);
  cy.panBy(axis === "x" ? { x: 100 - cy.width() / 2, y: 0 } : { x: 0, y: 60 - cy.height() / 2 });
}

function anchor() {
  const opened = state("exp").split(",").filter(Boolean).pop() || "";
  const found = cy.getElementById(state("sel").replace(/^(group|gap):/, "task:"));
  if (found.length) return found;
  const task = cy.getElementById(opened);
  return task.length ? task : cy.nodes().filter((/** @type {Element} */ node) => opened && node.id().startsWith("grp:" + opened + "."));
}

/**
 * @param {Element} node
 * @param {boolean} [force]
 */
function show(node, force) {
  const box = cy.extent();
  const at = node.position();
  const inside = at.x > box.x1 && at.x < box.x2 && at.y > box.y1 && at.y < box.y2;
  if (inside && !force) return;
  if (calm()) cy.center(node);
  else cy.animate({ center: { eles: node }, duration: 160 });
}

/* Something came: the box says that it is busy until the picture shows it. */
/** @param {number} delay */
function soon(delay) {
  const box = maybe("graph-cy");
  if (!box) return;
  box.dataset.busy = "true";
  later("arrived", delay, arrived);
}

/* New elements came: dress them; look again unless every node kept its place. */
function arrived() {
  if (!cy || cy.destroyed()) return;
  if (hovered && hovered.removed()) hovered = null;
  dress();
  lighten();
  let moved = places.size !== cy.nodes().length;
  cy.nodes().forEach((/** @type {Element} */ node) => {
    const old = places.get(node.id());
    const now = node.position();
    moved = moved || !old || Math.abs(old.x - now.x) > 1 || Math.abs(old.y - now.y) > 1;
  });
  remember();
  if (moved) look();
  mark(new Map());
  highlight();
  const box = maybe("graph-cy");
  if (!box) return;
  box.dataset.ready = String(Number(box.dataset.ready || 0) + 1);
  delete box.dataset.busy;
}

function lighten() {
  lightenCytoscape(cy, cy.elements().length > MANY);
}

function remember() {
  places.clear();
  cy.nodes().forEach((/** @type {Element} */ node) => void places.set(node.id(), { ...node.position() }));
}

/* Selection from the picture: the neighbourhood that is drawn now stays drawn. */
/** @param {Element} node */
function select(node) {
  const id = node.id();
  if (id.startsWith("grp:")) return set({ node: id, tab: "" });
  const before = state("sel");
  /** @type {Record<string, string | null>} */
  const patch = { sel: id, node: "" };
  const opened = state("exp").split(",").filter(Boolean);
  const scope = state("show");
  if (before.startsWith("task:") && before !== id && (scope === "summary" || scope === "auto" || scope === "around")) {
    const kept = cy.nodes("[?count]").length > 0 || scope === "around";
    if (kept && !opened.includes(before) && (scope !== "around" || !opened.length)) patch.exp = [...opened, before].join(",");
  }
  return set(patch);
}

/** @param {string} id */
function expand(id) {
  const item = id.replace(/^grp:/, "");
  const opened = state("exp").split(",").filter((one) => one && one !== item);
  /** @type {Record<string, string | null>} */
  const patch = { exp: [...opened, item].join(","), node: "" };
  if (id.startsWith("task:")) patch.sel = id;
  if (state("show") === "all" || state("show") === "path") patch.show = "summary";
  set(patch);
}

/** @param {string} item */
const close = (item) => set({ exp: state("exp").split(",").filter((one) => one && one !== item).join(",") || null });
/** @param {string} id */
const around = (id) => set({ show: "around", sel: id, exp: null, node: "" });

/**
 * @param {any} event
 * @param {string} text
 */
function tip(event, text) {
  const box = maybe("graph-tip");
  if (!box) return;
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const at = event.renderedPosition;
  box.style.left = Math.min(at.x + 14, cy.width() - 280) + "px";
  box.style.top = Math.min(at.y + 14, cy.height() - 60) + "px";
}

/** @param {Element} one */
function words(one) {
  const data = one.data();
  if (one.isEdge()) {
    const ends = one.source().data("name") + " → " + one.target().data("name");
    if (data.step) return `${ends} · ${data.step}, no edge of the file`;
    return data.n > 1 || !/^task:\d+>task:/.test(data.id) ? `${ends}: ${data.n.toLocaleString("en-US")} edges` : `${ends} · click: why`;
  }
  if (data.count) return `${data.name} · ${data.count.toLocaleString("en-US")} tasks at depth ${data.depth} · double click opens`;
  const blocks = data.blocks > 1 ? ` · SPMD ×${data.blocks}` : "";
  return `${data.name} ${data.tid} · ${data.kind.toUpperCase()}${blocks} · ${data.ins} in, ${data.outs} out`;
}

/** @param {Cytoscape} found */
function attach(found) {
  cy = found;
  places.clear();
  hovered = null;
  cy.on("tap", "node", (/** @type {any} */ event) => select(event.target));
  cy.on("dbltap", "node", (/** @type {any} */ event) => expand(event.target.id()));
  cy.on("tap", "edge", (/** @type {any} */ event) => {
    const match = /^task:(\d+)>task:(\d+)$/.exec(event.target.id());
    if (match) set({ node: `edge:${match[1]}-${match[2]}`, tab: "" });
  });
  cy.on("mouseover", "node, edge", (/** @type {any} */ event) => {
    tip(event, words(event.target));
    if (event.target.isNode()) later("hover", 60, () => ((hovered = event.target), highlight()));
  });
  cy.on("mouseout", "node, edge", (/** @type {any} */ event) => {
    tip(event, "");
    if (event.target.isNode()) later("hover", 60, () => ((hovered = null), highlight()));
  });
  cy.on("cxttap", (/** @type {any} */ event) => tools.menu(event));
  cy.on("viewport", () => tools.closeMenu());
  cy.on("add remove position", () => soon(30));
  styles = storeData("graph-styles") || styles;
  applied = "light " + (styles && styles.dir);
  marked = new Map();
  lit = storeData("graph-lit") || [];
  restyle();
  soon(0);
  tools.restart();
}

function find() {
  const box = maybe("graph-cy");
  const found = box && cytoscapeIn(box);
  if (!box) cy = null;
  else if (found && found !== cy) attach(found);
}

function press() {
  all(".graph-page .segment[data-set], .graph-page .side-tab[data-set]").forEach((button) => {
    const [key, value] = (button.dataset.set || "").split("=");
    button.setAttribute("aria-pressed", String(state(key) === value));
  });
}

new MutationObserver(() => later("find", 20, find)).observe(document.documentElement, { childList: true, subtree: true });

pageUrl.on((_, changed, origin) => {
  if (!maybe("graph-cy")) return;
  if (changed.includes("sel") && origin === "tab" && state("node")) set({ node: "" }, false);
  press();
  if (!cy) return;
  highlight();
  if (changed.includes("sel")) chosen().slice(0, 1).forEach((/** @type {Element} */ node) => show(node));
});

window.addEventListener("swimscope:theme", () => cy && (restyle(), dress()));

/* Called by Dash when the server sent another stylesheet or other tasks of a chain or path. */
window.dash_clientside = window.dash_clientside || {};
const dash = window.dash_clientside;
dash.swimscopeGraph = {
  /**
   * @param {Styles} newStyles
   * @param {string[] | null} newLit
   */
  update(newStyles, newLit) {
    styles = newStyles;
    lit = newLit || [];
    restyle();
    if (cy) soon(30);
    press();
  },
};

export const graph = {
  /** @returns {Cytoscape} */
  cy: () => cy,
  /** @param {typeof tools} own */
  equip: (own) => void (tools = own),
  state,
  set,
  select,
  expand,
  close,
  around,
  show,
  highlight,
  words,
  look: () => cy && (cy.fit(undefined, 30), undefined),
  /** @param {string[]} ids */
  hits(ids) {
    hits = new Set(ids);
    highlight();
  },
  /** The node that has the keyboard. @param {string} [id] */
  focus(id) {
    if (id !== undefined) focused = id;
    return focused;
  },
};
