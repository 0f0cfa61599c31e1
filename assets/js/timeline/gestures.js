// @ts-check
/* What do wheel and pointer do? Wheel vertical, Ctrl+wheel zoom, Shift+wheel and drag pan, Alt+drag measures,
 * click selects, double click zooms to the item, right click opens its menu.
 */

import { follow } from "../core/dom.js";

/** @typedef {import("./types").Item} Item */

/** @param {import("./types").Timeline} T */
export function gesturesPart(T) {
  const DRAG_PX = 4;
  const ZOOM_PER_NOTCH = 1.2;
  let rowsLeft = 0;

  const place = (/** @type {MouseEvent} */ event) => {
    const bounds = T.el("overlay").getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  };

  /** @param {WheelEvent} event */
  function wheel(event) {
    if (!T.s || !T.s.ready) return;
    event.preventDefault();
    T.hideTip();
    const { x } = place(event);
    const unit = event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1;
    const dy = event.deltaY * unit;
    if (event.ctrlKey || event.metaKey) {
      T.zoom(ZOOM_PER_NOTCH ** (Math.max(-240, Math.min(240, dy)) / 100), T.timeAt(x));
      return;
    }
    const dx = (event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX) * unit;
    if (dx) T.pan(dx / T.s.width);
    if (event.shiftKey) return;
    rowsLeft += dy / 40;
    const rows = Math.trunc(rowsLeft);
    rowsLeft -= rows;
    if (rows) T.scrollRows(rows);
  }

  /** @param {PointerEvent} event */
  function down(event) {
    if (!T.s || !T.s.ready || event.button !== 0) return;
    T.closeMenu();
    T.el("plot").focus({ preventScroll: true });
    const from = place(event);
    if (event.altKey) {
      T.startMeasure(event, from, place);
      return;
    }
    const [t0, t1] = T.s.win;
    const y0 = T.s.y;
    let dragged = false;
    const move = (/** @type {PointerEvent} */ next) => {
      const at = place(next);
      if (!dragged && Math.hypot(at.x - from.x, at.y - from.y) < DRAG_PX) return;
      if (!dragged) {
        dragged = true;
        T.hideTip();
        T.el("overlay").classList.add("dragging");
      }
      const by = ((from.x - at.x) / T.s.width) * (t1 - t0);
      if (!event.ctrlKey) T.s.y = Math.max(0, Math.min(y0 + from.y - at.y, T.maxY()));
      T.show(t0 + by, t1 + by, "gesture");
    };
    const up = () => {
      T.el("overlay").classList.remove("dragging");
      if (!dragged) T.pickAt(from.x, from.y);
    };
    follow(move, up);
    event.preventDefault();
  }

  /* The item at a place, described by the server (its full id does not fit a message for every bar). */
  T.itemAt = async (x, y, signal) => {
    const found = T.hit(x, y);
    if (!found || found.kind === "empty") return null;
    if (found.kind === "bar") return T.json("item", { item: found.item || "" }, signal);
    const extra = { tracks: String(found.track), t: Math.round(found.tick) };
    return T.json("near", extra, signal);
  };

  T.pickAt = (x, y) =>
    T.latest("pick", (signal) => T.itemAt(x, y, signal), (item) => {
      if (item && item.found) T.pick(item);
      else if (T.s.url.sel || T.s.url.item) T.set({ sel: null, item: null }, true);
    });

  /* Select an item: its task when it has one, always the item itself. */
  T.pick = (item) => {
    T.s.lastItem = item;
    T.set({ sel: T.source.selection(item), item: item.item }, true);
    T.announce([item.name, item.label, item.lane, T.format(T.us(item.end - item.middle)), "from " + T.format(T.us(item.start))].filter(Boolean).join(", "));
  };

  T.zoomTo = (item) => {
    T.reveal(item.track);
    T.fit([item.start, item.end], 0.6);
  };

  /** @param {MouseEvent} event */
  function double(event) {
    if (!T.s || !T.s.ready) return;
    const { x, y } = place(event);
    const tick = T.timeAt(x);
    T.latest("double", (signal) => T.itemAt(x, y, signal), (item) => {
      if (item && item.found) T.zoomTo(item);
      else T.zoom(0.5, tick, "step");
    });
  }

  /** @param {MouseEvent} event */
  function context(event) {
    event.preventDefault();
    if (!T.s || !T.s.ready) return;
    const { x, y } = place(event);
    const at = { left: event.clientX, top: event.clientY, tick: Math.round(T.timeAt(x)), track: T.trackAtY(y) };
    T.latest("menu", (signal) => T.itemAt(x, y, signal), (item) => T.openMenu(at, item && item.found ? item : null));
  }

  T.parts.push(() => {
    const layer = T.el("overlay");
    layer.addEventListener("wheel", wheel, { passive: false });
    T.el("labels").addEventListener("wheel", wheel, { passive: false });
    layer.addEventListener("pointerdown", down);
    layer.addEventListener("dblclick", double);
    layer.addEventListener("contextmenu", context);
    layer.addEventListener("pointermove", (event) => {
      if (T.s && T.s.ready && !event.buttons) T.hover(place(event).x, place(event).y);
    });
    layer.addEventListener("pointerleave", () => {
      T.hideTip();
      if (T.s) T.s.pointer = null;
    });
  });
}
