// @ts-check
/* Which lanes are on screen, and where? Order, pins, hidden lanes, the lane filter, the labels at the left. */

import { closest } from "../core/dom.js";
import { listOf, listText } from "../core/query.js";
import { GAP_PX, SUB_ROW_PX, layoutRows, wordsOf } from "./rows.js";

/** @typedef {import("./rows.js").Row} Row */

/** @param {import("./types").Timeline} T */
export function lanesPart(T) {
  T.AXIS_PX = 26;

  T.list = (key) => listOf(T.s.url[key]);
  T.setList = (key, items, push) =>
    T.set({ [key]: listText(items) || null }, push);

  T.layoutLanes = () => {
    const { info, url, height } = T.s;
    const placed = layoutRows(info.lanes, height, {
      words: wordsOf(url.lanes), hidden: T.list("hide"), pins: T.list("pin"), nameOf: (cls) => info.classes[cls].name,
    });
    Object.assign(T.s, placed);
    T.s.y = Math.max(0, Math.min(T.s.y, T.s.contentPx - (height - T.s.pinPx)));
    T.s.laneOfTrack = new Map();
    for (const row of T.s.rows) for (let r = 0; r < row.lane.rows; r++) T.s.laneOfTrack.set(row.lane.track + r, row);
  };

  T.maxY = () => Math.max(0, T.s.contentPx - (T.s.height - T.s.pinPx));
  T.rowTop = (row) => (row.pinned ? row.y : row.y - T.s.y + T.s.pinPx);

  /* Vertical pixels of a track on screen, clipped below the pinned lanes; null when it is not visible. */
  T.trackBox = (track) => {
    const row = T.s.laneOfTrack.get(track);
    if (!row) return null;
    const step = row.lane.rows > 1 ? SUB_ROW_PX : row.h - GAP_PX + 1;
    const y = T.rowTop(row) + 1 + (track - row.lane.track) * step;
    const clipTop = row.pinned ? 0 : T.s.pinPx;
    const bottom = Math.min(y + step - 1, T.s.height);
    const top = Math.max(y, clipTop);
    return bottom > top ? { top, bottom, whole: bottom - top >= step - 1.5 } : null;
  };

  T.trackAtY = (y) => {
    for (const row of T.s.rows) {
      const top = T.rowTop(row);
      if (y >= top && y < top + row.h && (row.pinned || y >= T.s.pinPx)) {
        const step = row.lane.rows > 1 ? SUB_ROW_PX : row.h;
        return row.lane.track + Math.min(row.lane.rows - 1, Math.max(0, Math.floor((y - top) / step)));
      }
    }
    return -1;
  };

  /* Tracks on screen, ascending; extra = further share of the height above and below. */
  T.tracksOnScreen = (extra) => {
    const more = T.s.height * extra;
    /** @type {number[]} */
    const out = [];
    for (const row of T.s.rows) {
      const top = T.rowTop(row);
      const inside = row.pinned ? top < T.s.height : top + row.h > T.s.pinPx - more && top < T.s.height + more;
      if (inside) for (let r = 0; r < row.lane.rows; r++) out.push(row.lane.track + r);
    }
    return out.sort((a, b) => a - b);
  };

  T.topRow = () => T.s.scrollRows.findIndex((row) => row.y + row.h / 2 > T.s.y);
  T.rowOffset = (n) => (T.s.scrollRows.length ? T.s.scrollRows[Math.min(n, T.s.scrollRows.length - 1)].y : 0);

  T.scrollTo = (y, remember) => {
    const next = Math.max(0, Math.min(y, T.maxY()));
    if (next === T.s.y) return;
    T.s.y = next;
    if (remember !== false) T.remember(false);
    T.redraw();
  };

  T.scrollRows = (count) => {
    const at = Math.max(0, T.topRow());
    const target = Math.max(0, Math.min(at + count, T.s.scrollRows.length - 1));
    const y = T.rowOffset(target);
    T.scrollTo(count > 0 && y > T.maxY() ? T.maxY() : y);
  };

  /* Bring a track into view, as little as possible. */
  T.reveal = (track) => {
    const row = T.s.laneOfTrack.get(track);
    if (!row || row.pinned) return;
    const room = T.s.height - T.s.pinPx;
    if (row.y < T.s.y) T.scrollTo(row.y, false);
    else if (row.y + row.h > T.s.y + room) T.scrollTo(row.y + row.h - room, false);
  };

  T.lanesChanged = () => {
    T.measureBox();
    T.redraw();
  };

  T.hiddenTracks = () => {
    /** @type {number[]} */
    const out = [];
    for (const lane of T.s.info.lanes) {
      if (!T.s.laneOfTrack.has(lane.track)) for (let r = 0; r < lane.rows; r++) out.push(lane.track + r);
    }
    return out;
  };

  /**
   * @param {string} text
   * @param {string} label
   * @param {string} action
   * @param {string} lane
   */
  function button(text, label, action, lane) {
    const node = document.createElement("button");
    node.type = "button";
    node.textContent = text;
    node.title = label;
    node.setAttribute("aria-label", label);
    node.dataset.action = action;
    node.dataset.lane = lane;
    return node;
  }

  /** @param {Row} row */
  function labelNode(row) {
    const node = document.createElement("div");
    node.className = "swim-label";
    node.dataset.lane = row.lane.key;
    const text = document.createElement("span");
    text.textContent = row.lane.label;
    text.title = `${row.lane.label}: ${row.lane.items.toLocaleString("en-US")} items` + (row.lane.rows > 1 ? `, ${row.lane.rows} rows because items overlap` : "");
    const pinned = row.pinned;
    node.append(
      button(pinned ? "◆" : "◇", (pinned ? "Unpin " : "Pin ") + row.lane.label, "pin", row.lane.key),
      button("×", "Hide " + row.lane.label, "hide", row.lane.key),
      text,
    );
    if (pinned) node.classList.add("pinned");
    return node;
  }

  /** @type {Map<string, HTMLElement>} */
  let shown = new Map();
  T.drawLabels = () => {
    const box = T.el("labels");
    /** @type {Map<string, HTMLElement>} */
    const next = new Map();
    for (const row of T.s.rows) {
      const top = T.rowTop(row);
      if (top + row.h < 0 || top > T.s.height) continue;
      if (!row.pinned && top + row.h <= T.s.pinPx) continue;
      const key = row.lane.key + (row.pinned ? "!" : "");
      const old = shown.get(key);
      const node = old && old.isConnected ? old : labelNode(row);
      const clip = row.pinned ? 0 : Math.max(0, T.s.pinPx - top);
      node.style.transform = `translateY(${top + T.AXIS_PX}px)`;
      node.style.height = row.h + "px";
      node.style.clipPath = clip ? `inset(${clip}px 0 0 0)` : "";
      node.classList.toggle("alt", T.s.rows.indexOf(row) % 2 === 1);
      if (!node.isConnected) box.append(node);
      next.set(key, node);
    }
    for (const [key, node] of shown) if (!next.has(key)) node.remove();
    shown = next;
    const bar = T.el("scroll");
    /** @type {HTMLElement} */ (bar.firstElementChild).style.height = T.s.contentPx + "px";
    bar.style.top = T.AXIS_PX + T.s.pinPx + "px";
    if (Math.abs(bar.scrollTop - T.s.y) > 1) bar.scrollTop = T.s.y;
    const total = T.s.info.lanes.length;
    const count = T.s.rows.length;
    T.el("lane-count").textContent = count === total ? `${total} lanes` : `${count} of ${total} lanes`;
    const restore = T.el("unhide");
    restore.hidden = !T.s.hiddenLanes.length;
    restore.textContent = `Show ${T.s.hiddenLanes.length} hidden`;
  };

  T.togglePin = (key) => {
    const pins = T.list("pin");
    T.setList("pin", pins.includes(key) ? pins.filter((pin) => pin !== key) : [...pins, key], true);
  };

  T.hideLane = (key) => {
    const pins = T.list("pin");
    if (pins.includes(key)) T.setList("pin", pins.filter((pin) => pin !== key), false);
    T.setList("hide", [...new Set([...T.list("hide"), key])], true);
  };

  T.parts.push(() => {
    shown = new Map();
    T.el("labels").addEventListener("click", (event) => {
      const node = closest(event, "button");
      if (!node || !node.dataset.lane) return;
      if (node.dataset.action === "pin") T.togglePin(node.dataset.lane);
      else T.hideLane(node.dataset.lane);
    });
    T.el("unhide").addEventListener("click", () => T.setList("hide", [], true));
    T.el("scroll").addEventListener("scroll", () => {
      const top = T.el("scroll").scrollTop;
      if (T.s && Math.abs(top - T.s.y) > 1) T.scrollTo(top);
    });
  });
}
