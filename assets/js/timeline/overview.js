// @ts-check
/* Where in the capture am I? The strip above: density of the whole capture, matches, markers, the visible window. */

import { MARK_BINS } from "../core/constants.js";
import { follow } from "../core/dom.js";

/** @param {import("./types").Timeline} T */
export function overviewPart(T) {
  const EDGE_PX = 7;

  const box = () => T.el("overview");
  const xOf = (/** @type {number} */ tick, /** @type {number} */ width) => {
    const [a, b] = T.full();
    return ((tick - a) / (b - a)) * width;
  };
  const tickOf = (/** @type {number} */ x, /** @type {number} */ width) => {
    const [a, b] = T.full();
    return a + (x / width) * (b - a);
  };

  T.drawOverview = () => {
    const canvas = T.el("overview-canvas");
    const ratio = window.devicePixelRatio || 1;
    const width = box().clientWidth;
    const height = box().clientHeight;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const c = canvas.getContext("2d");
    if (!c) return;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    const palette = T.colors();
    const { overview, overview_peak: peak, span } = T.s.info;
    const bins = overview.length;
    c.fillStyle = palette.accent;
    c.globalAlpha = 0.55;
    for (let x = 0; x < width; x++) {
      const low = Math.max(0, Math.floor(((tickOf(x, width) - span[0]) / (span[1] - span[0])) * bins));
      const high = Math.min(bins, Math.ceil(((tickOf(x + 1, width) - span[0]) / (span[1] - span[0])) * bins));
      let most = 0;
      for (let k = low; k < high; k++) most = Math.max(most, overview[k]);
      if (most && peak) c.fillRect(x, height - 4 - (most / peak) * (height - 12), 1, (most / peak) * (height - 12));
    }
    c.globalAlpha = 1;
    strokes(c, T.s.highlight, palette.warn, width, 2, 5);
    strokes(c, T.s.found, palette.danger, width, 0, 5);
    c.fillStyle = palette.text;
    for (const marker of T.markers()) c.fillRect(Math.round(xOf(marker.tick, width)), 0, 1.5, height);
    T.drawWindow();
  };

  /**
   * @param {CanvasRenderingContext2D} c
   * @param {{marks?: number[]} | null} found
   * @param {string} color
   * @param {number} width
   * @param {number} top
   * @param {number} height
   */
  function strokes(c, found, color, width, top, height) {
    if (!found || !found.marks) return;
    c.fillStyle = color;
    const [first, last] = T.span();
    for (const bin of found.marks) {
      const x = xOf(first + ((bin + 0.5) / MARK_BINS) * (last - first), width);
      c.fillRect(x - 1, top, 2, height);
    }
  }

  T.drawWindow = () => {
    const width = box().clientWidth;
    const node = T.el("overview-window");
    const left = Math.max(0, xOf(T.s.win[0], width));
    const right = Math.min(width, xOf(T.s.win[1], width));
    node.style.left = left + "px";
    node.style.width = Math.max(4, right - left) + "px";
    const [a, b] = T.full();
    node.setAttribute("aria-valuenow", String(Math.round((100 * ((T.s.win[0] + T.s.win[1]) / 2 - a)) / (b - a))));
    node.setAttribute("aria-valuetext", `${T.format(T.us(T.s.win[0]))} to ${T.format(T.us(T.s.win[1]))}`);
  };

  /** @param {PointerEvent} event */
  function drag(event) {
    const bounds = box().getBoundingClientRect();
    const width = bounds.width;
    const at = event.clientX - bounds.left;
    const [w0, w1] = T.s.win;
    const [x0, x1] = [xOf(w0, width), xOf(w1, width)];
    let mode = "new";
    if (Math.abs(at - x0) <= EDGE_PX) mode = "left";
    else if (Math.abs(at - x1) <= EDGE_PX) mode = "right";
    else if (at > x0 && at < x1) mode = "move";
    const origin = tickOf(at, width);
    let moved = false;
    const move = (/** @type {PointerEvent} */ next) => {
      const x = next.clientX - bounds.left;
      moved = moved || Math.abs(x - at) > 2;
      if (!moved) return;
      const tick = tickOf(x, width);
      if (mode === "move") T.show(w0 + tick - origin, w1 + tick - origin, "gesture");
      else if (mode === "left") T.show(Math.min(tick, w1 - 16), w1, "gesture");
      else if (mode === "right") T.show(w0, Math.max(tick, w0 + 16), "gesture");
      else T.show(Math.min(origin, tick), Math.max(origin, tick), "gesture");
    };
    const up = () => {
      if (!moved && mode === "new") T.show(origin - (w1 - w0) / 2, origin + (w1 - w0) / 2, "step");
    };
    follow(move, up);
    event.preventDefault();
  }

  T.parts.push(() => {
    box().addEventListener("pointerdown", (event) => T.s.ready && event.button === 0 && drag(event));
    const observer = new ResizeObserver(() => T.s && T.s.ready && T.drawOverview());
    observer.observe(box());
    T.ended.push(() => observer.disconnect());
    T.el("overview-window").addEventListener("keydown", (event) => {
      const step = event.key === "ArrowLeft" ? -0.1 : event.key === "ArrowRight" ? 0.1 : 0;
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.shiftKey) T.zoom(step < 0 ? 1.25 : 0.8);
      else T.pan(step);
    });
  });
}
