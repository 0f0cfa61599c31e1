// @ts-check
/* How long is this, and what is inside? Alt+drag measures, snapping to record edges; the range lives in the URL. */

import { element, follow } from "../core/dom.js";
import { rangeOf } from "./level.js";

/**
 * @param {HTMLTableRowElement} row
 * @param {string} text
 * @param {boolean} [head]
 */
const cell = (row, text, head) => {
  const node = document.createElement(head ? "th" : "td");
  node.textContent = text;
  row.append(node);
};

/**
 * @param {string[]} columns
 * @param {string[][]} rows
 */
function table(columns, rows) {
  const node = document.createElement("table");
  const head = node.createTHead().insertRow();
  columns.forEach((column) => cell(head, column, true));
  const body = node.createTBody();
  for (const values of rows) {
    const row = body.insertRow();
    values.forEach((value) => cell(row, value));
  }
  return node;
}

/** @param {number | null | undefined} n */
const number = (n) => (n === null || n === undefined ? "–" : n.toLocaleString("en-US"));
/** @param {number | null | undefined} share */
const percent = (share) => (share === null || share === undefined ? "–" : (100 * share).toFixed(1) + " %");

/** @param {import("./types").Timeline} T */
export function measurePart(T) {
  const SNAP_PX = 7;

  T.range = () => rangeOf(T.s.url.mz);

  const snapped = (/** @type {{x: number, y: number}} */ at) => {
    const edge = T.edgeNear(T.trackAtY(at.y), at.x, SNAP_PX);
    return edge === null ? Math.round(T.timeAt(at.x)) : edge;
  };

  T.startMeasure = (event, from, place) => {
    const first = snapped(from);
    const draw = (/** @type {PointerEvent} */ next) => {
      const second = snapped(place(next));
      T.s.measuring = [Math.min(first, second), Math.max(first, second)];
      live();
    };
    const up = () => {
      const range = T.s.measuring;
      T.s.measuring = null;
      live();
      if (range && range[1] > range[0]) T.setRange(range);
    };
    follow(draw, up);
    event.preventDefault();
  };

  T.setRange = ([a, b]) => T.set({ mz: `${a}:${b}` }, true);

  /* While dragging only a box moves; the figure is drawn once at the end. */
  function live() {
    const node = T.el("measuring");
    const range = T.s.measuring;
    node.hidden = !range;
    if (!range) return;
    const [x0, x1] = range.map((tick) => T.xAt(tick));
    node.style.left = x0 + "px";
    node.style.width = Math.max(1, x1 - x0) + "px";
    /** @type {HTMLElement} */ (node.firstElementChild).textContent = T.format(T.us(range[1] - range[0]));
  }

  T.measureShapes = () => {
    const range = T.range();
    if (!range) return [];
    const palette = T.colors();
    return [{
      type: "rect", xref: "x", yref: "paper", x0: T.us(range[0]), x1: T.us(range[1]), y0: 0, y1: 1, layer: "above",
      fillcolor: palette.accent, opacity: 0.14, line: { width: 0 }, name: "measure",
    }, ...range.map((tick) => ({
      type: "line", xref: "x", yref: "paper", x0: T.us(tick), x1: T.us(tick), y0: 0, y1: 1, line: { color: palette.accent, width: 1, dash: "dot" }, name: "measure-edge",
    }))];
  };

  /** @param {any} found the server's answer for the range */
  function fill(found) {
    const body = T.el("measure-body");
    if (found.reason) {
      body.textContent = found.reason;
      return;
    }
    const facts = document.createElement("p");
    if (found.table) {
      const { columns, rows, of } = found.table;
      facts.textContent = found.facts;
      body.replaceChildren(facts, table(columns, rows.map((/** @type {[string, number, number]} */ [name, count, us]) => [name, number(count), T.format(us)])));
      if (of > rows.length) body.append(element("p", `and ${of - rows.length} more names`, { class: "muted" }));
      return;
    }
    facts.textContent = `${number(found.records)} records (${number(found.whole_records)} whole) of ${number(found.tasks)} tasks`;
    const types = table(["Cores", "Number", "Busy"], found.by_type.map((/** @type {any} */ row) => [row.core_type.toUpperCase(), number(row.cores), percent(row.share)]));
    const top = found.functions.filter((/** @type {any} */ row) => row.name !== "TOTAL").slice(0, 6);
    const rows = top.map((/** @type {any} */ row) => [row.name, number(row.count ?? row.records), T.format(row.busy_us ?? row.total_us ?? 0)]);
    body.replaceChildren(facts, types, table(["Function", "Records", "Time inside"], rows));
    if (found.functions.length > top.length) {
      const more = document.createElement("p");
      more.className = "muted";
      more.textContent = `and ${found.functions.length - top.length} more functions`;
      body.append(more);
    }
  }

  T.measureChanged = () => {
    const range = T.range();
    const card = T.el("measure");
    card.hidden = !range;
    if (!range || !T.s.ready) return;
    T.el("measure-length").textContent = T.format(T.us(range[1] - range[0]));
    T.el("measure-body").textContent = "…";
    T.latest("range", (signal) => T.json("range", { t0: range[0], t1: range[1] }, signal), (found) => {
      fill(found);
      T.announce(`Measured ${T.format(T.us(range[1] - range[0]))}, ${found.facts ?? (found.records ?? "no") + " records"}`);
    });
  };

  T.parts.push(() => {
    T.el("measure-close").addEventListener("click", () => T.set({ mz: null }, true));
    T.el("measure-zoom").addEventListener("click", () => T.fit(T.range() || undefined, 0.05));
    T.el("measure-mark").addEventListener("click", () => {
      const range = T.range();
      if (!range) return;
      const [a, b] = range;
      T.addMarkers([{ tick: a, label: "from" }, { tick: b, label: "to" }]);
    });
  });
}
