// @ts-check
/* What is under the pointer? Hit test on the arrays of the last message, the hover outline and the tooltip. */

import { element } from "../core/dom.js";
import { barAt, barEnd, barStart, cellAt, edgeNear, itemName } from "./decode.js";

/** @typedef {import("./rows.js").Row} Row */
/** @typedef {import("./types").Hit} Hit */

const NEAR_PX = 2;

/** @param {import("./types").Timeline} T */
export function hitPart(T) {
  const CELL_DELAY_MS = 110;
  let cellTimer = 0;

  const tickPx = () => (T.s.win[1] - T.s.win[0]) / T.s.width;

  T.itemName = (data, i) => itemName(T.source.letters, data, i);

  /* {track, kind: "bar" | "density" | "empty", …} at pixel (x, y) of the lanes, or null outside them. */
  T.hit = (x, y) => {
    const track = T.trackAtY(y);
    if (track < 0) return null;
    const { base } = T.current();
    /** @type {Hit} */
    const out = { track, kind: "empty", start: 0, end: 0, tick: T.timeAt(x) };
    if (!base || !base.data.trackAt.has(track)) return out;
    const data = base.data;
    const at = Number(data.trackAt.get(track));
    const i = barAt(data, at, out.tick, tickPx() * NEAR_PX);
    if (i >= 0) {
      const cls = T.s.info.classes[data.bar_cls[i]];
      const unnamed = cls.kind === 3 || (cls.kind === 0 && cls.value < 0 && T.s.graphTasks.size > 0);
      return { ...out, kind: "bar", data, i, item: T.itemName(data, i), start: barStart(data, i), end: barEnd(data, i), name: cls.name, unnamed };
    }
    const cell = cellAt(data, at, out.tick);
    return cell ? { ...out, kind: "density", start: cell[0], end: cell[1] } : out;
  };

  /* Edges of the bars of a track within px pixels of x; the nearest, else null: what measuring snaps to. */
  T.edgeNear = (track, x, px) => {
    const { base } = T.current();
    if (!base || !base.data.trackAt.has(track)) return null;
    return edgeNear(base.data, Number(base.data.trackAt.get(track)), T.timeAt(x), px * tickPx());
  };

  const line = (/** @type {string} */ text, /** @type {boolean} */ strong = false) => element(strong ? "strong" : "div", text);

  /**
   * @param {number} x
   * @param {number} y
   * @param {HTMLElement[]} lines
   */
  function tip(x, y, lines) {
    const node = T.el("tip");
    node.replaceChildren(...lines);
    node.hidden = false;
    const bounds = T.el("plot").getBoundingClientRect();
    const left = bounds.left + x + 14;
    const top = bounds.top + T.AXIS_PX + y + 16;
    const width = node.offsetWidth;
    const height = node.offsetHeight;
    node.style.left = (left + width > window.innerWidth - 8 ? left - width - 28 : left) + "px";
    node.style.top = (top + height > window.innerHeight - 8 ? top - height - 32 : top) + "px";
  }

  T.hideTip = () => {
    window.clearTimeout(cellTimer);
    if (T.s) T.s.hover = null;
    T.el("tip").hidden = true;
    T.drawHover();
  };

  T.hover = (x, y) => {
    const found = T.hit(x, y);
    T.s.hover = found && found.kind === "bar" ? found : null;
    T.s.pointer = { x, y, tick: T.timeAt(x) };
    T.drawHover();
    window.clearTimeout(cellTimer);
    const row = found && T.s.laneOfTrack.get(found.track);
    if (!found || !row || found.kind === "empty") {
      T.el("tip").hidden = true;
      return;
    }
    if (found.kind === "bar") {
      barTip(x, y, found, row, found.name);
      if (found.unnamed) cellTimer = window.setTimeout(() => named(x, y, found, row), CELL_DELAY_MS);
      return;
    }
    tip(x, y, [line("Too small to draw apart here", true), line(row.lane.label)]);
    cellTimer = window.setTimeout(() => dense(x, y, found, row), CELL_DELAY_MS);
  };

  /**
   * @param {number} x
   * @param {number} y
   * @param {Hit} found
   * @param {Row} row
   * @param {string} [name]
   */
  function barTip(x, y, found, row, name) {
    tip(x, y, [line(name || "", true), line(`${row.lane.label} · ${T.format(T.us(found.end - found.start))}`), line(`from ${T.format(T.us(found.start))}`)]);
  }

  /* Envelopes and nodes of graph tasks have no class of their own: the server knows what they are called. */
  /**
   * @param {number} x
   * @param {number} y
   * @param {Hit} found
   * @param {Row} row
   */
  function named(x, y, found, row) {
    T.latest("cell", (signal) => T.json("item", { item: found.item || "" }, signal), (item) => {
      if (!T.el("tip").hidden && T.s.hover === found) barTip(x, y, found, row, item.name);
    });
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {Hit} found
   * @param {Row} row
   */
  function dense(x, y, found, row) {
    const extra = { track: found.track, t0: found.start, t1: found.end };
    T.latest("cell", (signal) => T.json("cell", extra, signal), (cell) => {
      if (T.el("tip").hidden || !T.s.pointer || T.s.pointer.x !== x) return;
      const lines = cell.classes.map((/** @type {{items: number, name: string, ticks: number}} */ cls) => line(`${cls.items} × ${cls.name}: ${T.format(T.us(cls.ticks))}`));
      const share = (100 * cell.share).toFixed(0);
      tip(x, y, [line(`${cell.items} items in ${T.format(T.us(found.end - found.start))}, ${share} % busy`, true), line(row.lane.label), ...lines]);
    });
  }

  T.drawHover = () => {
    const node = T.el("hover");
    const found = T.s && T.s.hover;
    const box = found && T.trackBox(found.track);
    node.hidden = !box;
    if (!box || !found) return;
    const x0 = Math.max(T.xAt(found.start), 0);
    const x1 = Math.min(Math.max(T.xAt(found.end), x0 + 2), T.s.width);
    Object.assign(node.style, { left: x0 + "px", top: box.top + "px", width: Math.max(x1 - x0, 2) + "px", height: box.bottom - box.top + "px" });
  };
}
