// @ts-check
/* What does the trace page do in the browser? Its timeline, its counters, the choice of the trace, the panel of tables. */
import { all } from "../core/dom.js";
import { bindGrids } from "../grid/grid.js";
import { pageUrl } from "../core/url.js";
import { loadPlotly, showTimeline } from "../timeline/page.js";
import { showCounters } from "./counters.js";
import { traceSource } from "./source.js";

const CLOSED = "none";
const OWN = { xt0: null, xt1: null, xy: null, xpin: null, xhide: null, xlanes: null, xmk: null, xmz: null, xitem: null, xsel: null, xhl: null, xq: null };
const NARROW_PX = 1700;

const panel = () => document.getElementById("trace-panel");
const isOpen = () => {
  const state = panel()?.dataset.state;
  return state === "open" || (state === "auto" && window.innerWidth >= NARROW_PX);
};
const currentTab = () => document.querySelector('#trace-panel [role="tab"][aria-selected="true"]')?.getAttribute("data-url-value") || "spans";
const toggle = () => pageUrl.set({ xtab: isOpen() ? CLOSED : currentTab() }, { push: true });

/* The panel is as the URL says; its body comes from the server. */
function showPanel() {
  const box = panel();
  if (!box) return;
  const tab = pageUrl.get().xtab || "";
  box.dataset.state = tab === CLOSED ? "closed" : tab ? "open" : "auto";
  for (const button of all("[role=tab]", box)) if (tab && tab !== CLOSED) button.setAttribute("aria-selected", String(button.dataset.urlValue === tab));
  document.getElementById("trace-panel-open")?.setAttribute("data-url-value", currentTab());
  for (const button of all("[data-url-key=xby]", box)) button.setAttribute("aria-pressed", String(button.dataset.urlValue === (pageUrl.get().xby || "name")));
}

/** @param {KeyboardEvent} event */
function tabKeys(event) {
  const tabs = all("#trace-panel [role=tab]");
  const at = tabs.findIndex((tab) => tab === document.activeElement);
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (at < 0 || !step) return;
  event.preventDefault();
  event.stopPropagation();
  const next = tabs[(at + step + tabs.length) % tabs.length];
  next.focus();
  next.click();
}

/** @type {(() => void)[]} */
let endings = [];
function leave() {
  for (const end of endings) end();
  endings = [];
}

window.addEventListener("swimscope:page", (event) => {
  leave();
  if (event.detail.page !== "trace") return;
  const choice = /** @type {HTMLSelectElement | null} */ (document.getElementById("trace-choice"));
  choice?.addEventListener("change", () => pageUrl.set({ ...OWN, trace: choice.value }, { push: true }));
  const root = document.getElementById("trace-root");
  const body = document.getElementById("trace-panel-body");
  if (!root || !body) return;
  const which = { trace: root.dataset.trace || "", label: root.dataset.label || "" };
  const T = /** @type {import("../timeline/types").Timeline} */ (/** @type {unknown} */ (showTimeline(root, traceSource(event.detail.run, which, toggle))));
  const box = document.getElementById("trace-counters");
  if (box) endings.push(showCounters(T, box));
  endings.push(pageUrl.on((_state, changed) => (changed.includes("xtab") || changed.includes("xby")) && showPanel()));
  const watcher = new MutationObserver(bindGrids);
  watcher.observe(body, { childList: true });
  endings.push(() => watcher.disconnect());
  panel()?.addEventListener("keydown", tabKeys);
  showPanel();
});
window.addEventListener("swimscope:path", (event) => event.detail.page !== "trace" && leave());
if (pageUrl.place().page === "trace") loadPlotly();
