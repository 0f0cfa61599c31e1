// @ts-check
/* Which tab of the performance panel is open, and how wide is it? Asks the server for the open tab only. */

import { all, byId, closest, follow } from "../core/dom.js";
import { WINDOWED } from "../core/constants.js";
import { DASH_PUSHED, setProps } from "../core/libraries.js";
import { pageUrl } from "../core/url.js";
import { bindGrids } from "../grid/grid.js";

const WIDE_PX = 1700;
const WIDTH_KEY = "swimscope.panel";
const LAST_KEY = "swimscope.panel.tab";
const OPEN_KEY = "swimscope.panel.open";
const DRAWN_DELAY_MS = 50;
const DRAWN_TRIES = 200;
const LEAST_PX = 320;
const LANES_PX = 420;
const WINDOW_DELAY_MS = 160;
const PATHS = ["critical-path", "gaps"];
let told = "";
let number = 0;
let seen = 0;
let timer = 0;

/** @typedef {import("../core/query.js").State} State */

const shown = () => document.getElementById("panel") !== null;
const root = () => byId("panel");
const body = () => byId("panel-body");
/** @param {string} tab */
const nameOf = (tab) => tab.split(".")[0];

const byItself = () => window.innerWidth >= WIDE_PX && shown() && root().dataset.byItself === "yes";

/* The open tab: that of the URL, else the overview where the window has room for it, else none. */
/** @param {State} [state] */
const tabOf = (state) => {
  const tab = (state || pageUrl.get()).tab || "";
  if (tab === "none") return "";
  return tab || (byItself() ? "overview" : "");
};

/**
 * @param {State} state
 * @param {string} tab
 */
function signature(state, tab) {
  const keys = ["launch", "kind", "untimed", "thr"];
  if (WINDOWED.includes(nameOf(tab))) keys.push("t0", "t1", "mz");
  return JSON.stringify([pageUrl.place().run, tab, ...keys.map((key) => state[key] || "")]);
}

/* Busy from the change of the URL until the newest question is answered, or there is none. */
function calm() {
  if (seen === number) body().removeAttribute("aria-busy");
}

function ask() {
  if (!shown()) return;
  const state = pageUrl.get();
  const tab = tabOf(state);
  const wanted = signature(state, tab);
  if (!tab || wanted === told) {
    calm();
    return;
  }
  told = wanted;
  number += 1;
  body().setAttribute("aria-busy", "true");
  setProps("panel-request", { data: { n: number, run: pageUrl.place().run, query: { ...state, tab } } });
}

function answered() {
  const answer = shown() && /** @type {HTMLElement | null} */ (body().querySelector(".panel-answer"));
  if (!answer || Number(answer.dataset.n) !== number) return;
  seen = number;
  calm();
  bindGrids();
}

function show() {
  const tab = tabOf();
  root().dataset.state = tab ? "open" : "closed";
  byId("panel-open").setAttribute("aria-expanded", String(Boolean(tab)));
  for (const button of all(".panel-tab", root())) {
    const current = button.dataset.panelTab === nameOf(tab);
    button.setAttribute("aria-selected", String(current));
    button.tabIndex = current ? 0 : -1;
    if (current) body().setAttribute("aria-labelledby", button.id);
  }
  if (tab) localStorage.setItem(LAST_KEY, tab);
  sessionStorage.setItem(OPEN_KEY, pageUrl.get().tab || "");
}

/* A link inside the product that names no tab comes back to the panel as it was left. */
function restore() {
  const left = sessionStorage.getItem(OPEN_KEY);
  if (linked && left && !pageUrl.get().tab) pageUrl.set({ tab: left });
}
let linked = false;
window.addEventListener("popstate", () => (linked = false));
window.addEventListener(DASH_PUSHED, () => (linked = true));

/* The picture first: the panel asks when the swimlane is drawn. */
/** @param {number} tries */
function askWhenDrawn(tries) {
  const swim = document.getElementById("swim-root");
  if (!swim) return;
  if (swim.dataset.drawn !== undefined || swim.dataset.busy === undefined || !tries) ask();
  else timer = window.setTimeout(() => askWhenDrawn(tries - 1), DRAWN_DELAY_MS);
}

/* Another tab starts without the filters and the parameters that only the old one had. */
/** @param {string} tab */
const open = (tab) => {
  const old = nameOf(tabOf());
  /** @type {Record<string, string | null>} */
  const patch = { tab };
  if (tab !== tabOf()) Object.assign(patch, { sort: null, f: null });
  if (!(PATHS.includes(old) && PATHS.includes(nameOf(tab))) && old !== nameOf(tab)) patch.kind = null;
  pageUrl.set(patch, { push: true });
};

const close = () => {
  pageUrl.set({ tab: byItself() ? "none" : null, sort: null, f: null }, { push: true });
  byId("panel-open").focus();
};

const toggle = () => (tabOf() ? close() : open(localStorage.getItem(LAST_KEY) || "overview"));

const most = () => Math.max(LEAST_PX, (root().parentElement?.parentElement?.clientWidth ?? window.innerWidth) - LANES_PX);

/** @param {number} px */
function widen(px) {
  const value = Math.round(Math.max(LEAST_PX, Math.min(px, most())));
  root().style.setProperty("--panel-px", value + "px");
  byId("panel-handle").setAttribute("aria-valuenow", String(value));
  return value;
}

/** @param {number} px */
const keep = (px) => localStorage.setItem(WIDTH_KEY, String(widen(px)));

/** @param {PointerEvent} event */
function resize(event) {
  const from = event.clientX;
  const start = root().offsetWidth;
  follow((next) => keep(start + from - next.clientX));
  event.preventDefault();
}

/** @param {KeyboardEvent} event */
function handleKeys(event) {
  const step = event.key === "ArrowLeft" ? 32 : event.key === "ArrowRight" ? -32 : 0;
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  keep(root().offsetWidth + step);
}

/** @param {KeyboardEvent} event */
function tabKeys(event) {
  const tabs = all(".panel-tab", root());
  const at = tabs.findIndex((tab) => tab === document.activeElement);
  const last = tabs.length - 1;
  /** @type {Record<string, number>} */
  const moves = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last };
  const next = moves[event.key];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const tab = tabs[(next + tabs.length) % tabs.length];
  tab.focus();
  open(tab.dataset.panelTab || "");
}

/**
 * @param {State} state
 * @param {string[]} keys
 */
function changed(state, keys) {
  if (!shown()) return;
  if (keys.includes("tab")) show();
  window.clearTimeout(timer);
  const tab = tabOf(state);
  if (tab && signature(state, tab) !== told) body().setAttribute("aria-busy", "true");
  const onlyWindow = keys.every((key) => ["t0", "t1", "y"].includes(key));
  timer = window.setTimeout(ask, onlyWindow ? WINDOW_DELAY_MS : 0);
}

/** @type {(() => void) | null} */
let off = null;
/** @type {MutationObserver | null} */
let watcher = null;
window.addEventListener("swimscope:page", () => {
  if (off) off();
  if (watcher) watcher.disconnect();
  off = watcher = null;
  told = "";
  seen = number;
  if (!shown()) return;
  const stored = Number(localStorage.getItem(WIDTH_KEY));
  if (stored) widen(stored);
  byId("panel-handle").addEventListener("pointerdown", resize);
  byId("panel-handle").addEventListener("keydown", handleKeys);
  for (const list of all(".panel-tabs", root())) list.addEventListener("keydown", tabKeys);
  watcher = new MutationObserver(answered);
  watcher.observe(body(), { childList: true, subtree: true, attributes: true, attributeFilter: ["data-n"] });
  restore();
  off = pageUrl.on(changed);
  show();
  window.clearTimeout(timer);
  askWhenDrawn(DRAWN_TRIES);
});

document.addEventListener("click", (event) => {
  const button = shown() && closest(event, "button");
  if (!button) return;
  if (button.id === "panel-open") open(localStorage.getItem(LAST_KEY) || "overview");
  else if (button.id === "panel-close") close();
  else if (button.dataset.panelTab) open(button.dataset.panelTab);
});

/** The panel as other pages and keys use it. */
export const panel = { tab: tabOf, open, close, toggle };
