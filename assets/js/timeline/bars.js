// @ts-check
/* Which bars of a message are on screen, and how is each drawn? The widest as paths, the overflow on the canvas. */
import { N_COLOURS } from "../core/constants.js";
import { barStart, kindOf } from "./decode.js";

export const MAX_PATH_BARS = 2500;
/* Styles beyond the function colours; 100 more for a bar that is dimmed. */
export const UNMATCHED = N_COLOURS;
export const SETUP = N_COLOURS + 1;
export const GRAPH = N_COLOURS + 2;
const LABEL_PX = 28;
const GAP_PX = 0.75;
const GAP_FROM_PX = 4; /* wider bars end a little early, so that touching records are told apart */
const SETUP_FROM_PX = 0.75;

/** @typedef {import("./types").WindowData} WindowData */
/** @typedef {import("./types").Box} Box */
/** @typedef {{i: number, box: Box, x0: number, x1: number, start: number}} Bar */
/** @typedef {{data: WindowData, bar: Bar, id: number | undefined, style: number}} Label */
/** @typedef {{paths: Map<number, number[]>, canvas: Map<number, number[]>, labels: Label[], moments: Map<number, number[]>, count: number, canvasCount: number}} Bars */
/** @typedef {{width: number, apart: boolean, momentKind: number, slots: number[], box: (track: number) => Box | null, xAt: (tick: number) => number}} Screen */

/**
 * Bars within the picture, in the order of tracks and starts; what has no length goes to `moment`.
 * @param {WindowData} data
 * @param {Screen} screen
 * @param {(i: number, x: number, box: Box) => void} moment
 */
function onScreen(data, screen, moment) {
  /** @type {Bar[]} */
  const seen = [];
  data.tracks.forEach((track, at) => {
    const box = screen.box(track);
    if (!box) return;
    for (let i = data.bar_offsets[2 * at]; i < data.bar_offsets[2 * at + 1]; i++) {
      const start = barStart(data, i);
      const x0 = screen.xAt(start);
      const x1 = screen.xAt(start + data.bar_length[i] * 2 ** data.shift);
      if (x1 < 0) continue;
      if (x0 > screen.width) break;
      if (screen.momentKind >= 0 && kindOf(data, i) === screen.momentKind) {
        moment(i, x0, box);
        continue;
      }
      const right = x1 - x0 > GAP_FROM_PX ? x1 - GAP_PX : Math.max(x1, x0 + 1);
      seen.push({ i, box, x0: Math.max(x0, -4), x1: Math.min(right, screen.width + 4), start });
    }
  });
  return seen;
}

/**
 * The least width that is still drawn as a path.
 * @param {Bar[]} seen
 */
function pathLimit(seen) {
  if (seen.length <= MAX_PATH_BARS) return 0;
  const widths = Float64Array.from(seen, (bar) => bar.x1 - bar.x0).sort();
  return widths[widths.length - MAX_PATH_BARS];
}

/**
 * @param {Map<number, number[]>} map
 * @param {number} style
 * @param {number} x0
 * @param {number} x1
 * @param {Box} box
 */
function push(map, style, x0, x1, box) {
  const list = map.get(style);
  if (list) list.push(x0, x1, box.top, box.bottom);
  else map.set(style, [x0, x1, box.top, box.bottom]);
}

/**
 * Sort the bars on screen into one list of boxes per colour; adds to `out`.
 * @param {WindowData} data
 * @param {Bars} out
 * @param {boolean} dim
 * @param {Screen} screen
 */
export function collect(data, out, dim, screen) {
  const setupOf = new Map();
  if (screen.apart) for (let k = 0; k < data.setup_bar.length; k++) setupOf.set(data.setup_bar[k], data.setup_length[k] * 2 ** data.shift);
  const labelAt = new Map();
  for (let k = 0; k < data.label_bar.length; k++) labelAt.set(data.label_bar[k], k);
  const faint = dim ? 100 : 0;
  const seen = onScreen(data, screen, (i, x, box) => {
    const style = screen.slots[data.bar_cls[i]] + faint;
    const list = out.moments.get(style) || [];
    list.push(x, (box.top + box.bottom) / 2);
    out.moments.set(style, list);
    out.count++;
  });
  const limit = pathLimit(seen);
  for (const bar of seen) {
    const style = screen.slots[data.bar_cls[bar.i]] + faint;
    const wide = bar.x1 - bar.x0 >= limit || style % 100 >= UNMATCHED;
    const setup = setupOf.get(bar.i);
    if (wide && setup) {
      const middle = Math.min(Math.max(screen.xAt(bar.start + setup), bar.x0), bar.x1);
      if (middle - bar.x0 >= SETUP_FROM_PX) {
        push(out.paths, SETUP + faint, bar.x0, middle, bar.box);
        bar.x0 = Math.min(middle, bar.x1 - 0.5);
      }
    }
    push(wide ? out.paths : out.canvas, style, bar.x0, bar.x1, bar.box);
    if (wide) out.count++;
    else out.canvasCount++;
    if (!dim && bar.x1 - bar.x0 >= LABEL_PX && bar.box.whole) out.labels.push({ data, bar, id: labelAt.get(bar.i), style });
  }
}
