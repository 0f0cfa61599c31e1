// @ts-check
/* What does the memory map do under the pointer and the keys? Labels and marks over the plot, hover, selection, zoom. */

import { keys } from "../core/keys.js";
import { all, closest, element } from "../core/dom.js";
import { PLOT, plotAxis, storeData } from "../core/libraries.js";
import { listItem, listOf } from "../core/query.js";
import { pageUrl } from "../core/url.js";
import { boxAt, boxBeside, neighbours, zoomItems, zoomRanges } from "./boxes.js";
import { Source } from "./source.js";

/** @typedef {import("./boxes.js").Box} Box */
/** @typedef {import("./boxes.js").Model} Model */

const KIB = 1024;
const CHAR_PX = 6.9;
const LABEL_PX = 15;
const MOST_LABELS = 400;
const SLACK_PX = 2;
/** @type {MemoryMap | null} */
let shown = null;

/** @param {number} value */
const count = (value) => value.toLocaleString("en-US");

/** @param {Box} box */
const owner = (box) => `${box[6]} (lines ${count(box[3])} to ${count(box[4])})`;

/**
 * A name in so many characters: names of one function often differ at their end only.
 * @param {string} text
 * @param {number} chars
 */
function shortened(text, chars) {
  if (text.length <= chars) return text;
  const tail = Math.floor((chars - 1) / 2);
  return text.slice(0, Math.max(1, chars - 1 - tail)) + "…" + (tail > 0 ? text.slice(-tail) : "");
}

class MemoryMap {
  /**
   * @param {HTMLElement} box
   * @param {any} plot
   * @param {Model} model
   * @param {Source} source
   */
  constructor(box, plot, model, source) {
    this.plot = plot;
    this.model = model;
    this.source = source;
    this.box = box;
    this.over = /** @type {HTMLElement} */ (box.querySelector(".mem-over"));
    this.tip = /** @type {HTMLElement} */ (box.querySelector(".mem-tip"));
    this.axes = () => this.model.panels.map((panel) => plotAxis(plot, panel.axis));
    plot.on("plotly_afterplot", () => this.draw());
    plot.on("plotly_relayouting", () => this.draw());
    plot.on("plotly_relayout", (/** @type {Record<string, unknown>} */ change) => this.zoomed(change));
    box.addEventListener("pointermove", (event) => this.hover(event));
    box.addEventListener("pointerleave", () => this.point(null));
    box.addEventListener("pointerdown", (event) => this.press(event), true);
    box.addEventListener("keydown", (event) => this.key(event));
    source.box.addEventListener("swimscope:seen", () => this.bracket());
    this.follow(["mzoom", "mtile"]);
  }

  /**
   * Do what the URL says.
   * @param {string[]} changed
   */
  follow(changed) {
    const view = pageUrl.get();
    if (changed.includes("mzoom")) this.zoom(listOf(view.mzoom));
    const chosen = this.model.boxes.find((box) => box[5] === view.mtile);
    const line = Number(view.mline || 0);
    this.source.mark(chosen ? [{ low: chosen[3], high: chosen[4], kind: "tile" }] : [], line);
    const at = changed.includes("mline") && line ? line : chosen && changed.includes("mtile") ? chosen[3] : line;
    if (at && (changed.includes("mtile") || changed.includes("mline"))) this.source.reveal(at);
    this.draw();
  }

  /** @param {string[]} items */
  zoom(items) {
    const ranges = zoomRanges(this.model, items);
    /** @type {Record<string, [number, number]>} */
    const patch = {};
    for (const [axis, range] of Object.entries(ranges)) {
      const now = plotAxis(this.plot, axis).range;
      if (now.some((value, at) => Math.abs(value - range[at]) > 1e-3)) patch[axis.replace(/^([xy])/, "$1axis") + ".range"] = range;
    }
    if (Object.keys(patch).length) window.Plotly.relayout(this.plot, patch);
    if (items.some((item) => item.startsWith("y:"))) this.source.reveal(Math.ceil(Math.min(...ranges.y)));
  }

  /** @param {Record<string, unknown>} change */
  zoomed(change) {
    if (!Object.keys(change).some((key) => /axis\d*\.(range|autorange)/.test(key))) return;
    const items = zoomItems(this.model, (axis) => plotAxis(this.plot, axis).range);
    const text = items.map(listItem).join(",");
    if (text !== (pageUrl.get().mzoom || "")) pageUrl.set({ mzoom: text || null }, { push: true });
  }

  /* Panel, byte and line under a pointer, or null beside every panel. */
  /** @param {PointerEvent} event */
  place(event) {
    const frame = this.plot.getBoundingClientRect();
    const y = plotAxis(this.plot, "y");
    const line = y.value(event.clientY - frame.top - y.start);
    const at = this.axes().findIndex((axis) => {
      const x = event.clientX - frame.left - axis.start;
      return x >= 0 && x <= axis.length;
    });
    const inside = event.clientY - frame.top >= y.start && event.clientY - frame.top <= y.start + y.length;
    if (at < 0 || !inside) return null;
    const axis = this.axes()[at];
    return { panel: at, byte: axis.value(event.clientX - frame.left - axis.start) * KIB, line, slack: Math.abs(y.value(SLACK_PX) - y.value(0)) };
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const place = event.buttons ? null : this.place(event);
    const box = place && boxAt(this.model, place.panel, place.byte, place.line, place.slack);
    this.point(box, event);
  }

  /**
   * @param {Box | null} box
   * @param {PointerEvent} [event]
   */
  point(box, event) {
    this.tip.hidden = !box;
    if (!box || !event) return;
    const { before, after } = neighbours(this.model, box);
    this.tip.replaceChildren(
      element("strong", box[6]),
      element("div", box[7]),
      element("div", `${this.model.panels[box[0]].space} ${count(box[1])} to ${count(box[2])} · ${count(box[2] - box[1])} B`),
      element("div", `lines ${count(box[3])} to ${count(box[4])}`),
      element("div", "above: " + (before ? owner(before) : "free"), { class: "muted" }),
      element("div", "below: " + (after ? owner(after) : "free"), { class: "muted" }),
    );
    const frame = this.box.getBoundingClientRect();
    const left = event.clientX - frame.left + 14;
    const top = event.clientY - frame.top + 14;
    this.tip.style.left = Math.max(0, Math.min(left, frame.width - this.tip.offsetWidth - 4)) + "px";
    this.tip.style.top = Math.max(0, Math.min(top, frame.height - this.tip.offsetHeight - 4)) + "px";
  }

  /* While the button is down plotly covers the page, so the release is heard on the window. */
  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0 || closest(event, ".modebar")) return;
    const release = (/** @type {PointerEvent} */ end) => {
      if (Math.hypot(end.clientX - event.clientX, end.clientY - event.clientY) <= 4) this.click(end);
    };
    window.addEventListener("pointerup", release, { capture: true, once: true });
  }

  /** @param {PointerEvent} event */
  click(event) {
    const place = this.place(event);
    if (!place) return;
    this.box.focus({ preventScroll: true });
    const box = boxAt(this.model, place.panel, place.byte, place.line, place.slack);
    if (box) pageUrl.set({ mtile: box[5], mline: null, mside: null }, { push: true });
    else pageUrl.set({ mtile: null, mline: Math.round(place.line) }, { push: true });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { mtile, mline } = pageUrl.get();
    if (event.key === "Escape" && (mtile || mline)) pageUrl.set({ mtile: null, mline: null }, { push: true });
    else if (event.key === "0") pageUrl.set({ mzoom: null }, { push: true });
    else if (event.key === "+" || event.key === "-") this.scale(event.key === "+" ? 0.5 : 2);
    else if (event.key.startsWith("Arrow")) {
      const box = boxBeside(this.model, mtile || "", event.key);
      if (box) pageUrl.set({ mtile: box[5], mline: null }, { push: true });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /* Zoom the lines around the selected box, or around the middle. */
  /** @param {number} factor */
  scale(factor) {
    const chosen = this.model.boxes.find((box) => box[5] === pageUrl.get().mtile);
    const [bottom, top] = plotAxis(this.plot, "y").range;
    const middle = chosen ? (chosen[3] + chosen[4]) / 2 : (bottom + top) / 2;
    const half = Math.min(this.model.home[0] - this.model.home[1], (bottom - top) * factor) / 2;
    window.Plotly.relayout(this.plot, { "yaxis.range": [middle + half, middle - half] });
  }

  /* Labels of the boxes that have room, and the marks of what is selected. */
  draw() {
    const axes = this.axes();
    const y = plotAxis(this.plot, "y");
    const { mtile, mline } = pageUrl.get();
    const line = Number(mline || 0);
    /** @type {{place: number[], text: string}[]} */
    const labels = [];
    const marks = [];
    for (const box of this.model.boxes) {
      const axis = axes[box[0]];
      const left = Math.max(0, axis.pixel(box[1] / KIB));
      const right = Math.min(axis.length, axis.pixel(box[2] / KIB));
      const top = Math.max(0, y.pixel(box[3] - 0.5));
      const bottom = Math.min(y.length, y.pixel(box[4] + 0.5));
      if (right <= left || bottom <= top) continue;
      const place = [axis.start + left, y.start + top, right - left, bottom - top];
      if (box[5] === mtile) marks.push(this.block("mem-chosen", place));
      else if (line && box[3] <= line && line <= box[4]) marks.push(this.block("mem-alive", place));
      if (place[2] >= 28 && place[3] >= LABEL_PX - 2) {
        labels.push({ place, text: shortened(box[6], Math.floor((place[2] - 6) / CHAR_PX)) });
      }
    }
    if (line) marks.push(...axes.map((axis) => this.block("mem-at", [axis.start, y.start + y.pixel(line), axis.length, 0])));
    this.bracketPlace = () => {
      const [first, last] = this.source.seen();
      const from = Math.max(0, Math.min(y.length, y.pixel(first - 0.5)));
      const to = Math.max(0, Math.min(y.length, y.pixel(last + 0.5)));
      return [axes.length ? axes[0].start - 4 : 0, y.start + from, 3, Math.max(2, to - from)];
    };
    this.seen = this.block("mem-seen", this.bracketPlace());
    this.over.replaceChildren(...this.labels(labels), ...marks, this.seen);
    this.over.dataset.drawn = String(this.model.boxes.length);
  }

  /* The labels that are drawn: those of large boxes first, none over another one. */
  /** @param {{place: number[], text: string}[]} wanted */
  labels(wanted) {
    const sorted = wanted.sort((a, b) => b.place[2] * b.place[3] - a.place[2] * a.place[3]).slice(0, 4 * MOST_LABELS);
    /** @type {number[][]} */
    const taken = [];
    const out = [];
    for (const { place, text } of sorted) {
      const [left, top] = place;
      const right = left + 6 + text.length * CHAR_PX;
      if (taken.some((each) => left < each[2] && right > each[0] && top < each[1] + LABEL_PX && top + LABEL_PX > each[1])) continue;
      taken.push([left, top, right]);
      out.push(this.block("mem-label", place, text));
      if (out.length === MOST_LABELS) break;
    }
    return out;
  }

  /* Which lines the source shows, as a bar beside the map. */
  bracket() {
    if (!this.seen || !this.bracketPlace) return;
    const [, top, , height] = this.bracketPlace();
    this.seen.style.top = top + "px";
    this.seen.style.height = height + "px";
  }

  /**
   * @param {string} kind
   * @param {number[]} place left, top, width, height
   * @param {string} [text]
   */
  block(kind, [left, top, width, height], text) {
    const made = element("div", text || "", { class: kind });
    Object.assign(made.style, { left: left + "px", top: top + "px", width: width + "px", height: height + "px" });
    return made;
  }
}

/* The plot comes after the page; it is taken up as soon as plotly has drawn it. */
function take() {
  const box = document.getElementById("mem-picture");
  const plot = box && /** @type {any} */ (box.querySelector(PLOT));
  if (!box || !plot || !plot._fullLayout || (shown && shown.plot === plot)) return;
  const model = storeData("memory-model");
  const source = document.getElementById("mem-source");
  if (model && source) shown = new MemoryMap(box, plot, model, new Source(source));
}

new MutationObserver(take).observe(document.documentElement, { childList: true, subtree: true });

pageUrl.on((view, changed) => {
  for (const tab of all(".mem-tab")) tab.setAttribute("aria-pressed", String(tab.dataset.side === (view.mside || "tile")));
  if (shown && shown.box.isConnected && changed.some((key) => ["mtile", "mline", "mzoom"].includes(key))) shown.follow(changed);
});

document.addEventListener("click", (event) => {
  const why = closest(event, ".mem-why");
  if (why) pageUrl.set({ mspace: why.dataset.space || null, mside: "why" }, { push: true });
});

/* From the pass trace to the map of the function that is open there; its qualified name ends in the map's. */
document.addEventListener("click", (event) => {
  if (!closest(event, "#ir-memory")) return;
  const { fn } = pageUrl.get();
  const name = fn && fn !== "*" ? fn.slice(fn.lastIndexOf(".") + 1) : null;
  pageUrl.go(pageUrl.href("memory", { mf: name }));
});

const fns = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
const parts = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
fns.swimscope_times = (/** @type {number | null} */ value) => (value === null ? "–" : value.toFixed(2) + " ×");
parts.swimscope_shareBar = (/** @type {any} */ props) => {
  const h = window.React.createElement;
  if (props.value === null || props.value === undefined) return "unknown";
  const width = Math.min(100, props.value * 100) + "%";
  return h(
    "span",
    { className: "mem-share" + (props.value >= 0.95 ? " mem-full" : "") },
    h("span", { className: "mem-bar" }, h("span", { style: { width } })),
    (props.value * 100).toFixed(1) + " %",
  );
};

keys.describe("memory", [
  ["← → ", "Box before or after, by address"],
  ["↑ ↓", "Box above or below in the same bytes"],
  ["+ / −", "Zoom the lines"],
  ["0", "Whole map"],
  ["Esc", "Clear the selected box or line"],
]);
