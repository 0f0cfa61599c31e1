// @ts-check
/* Which level of detail and which padded window does a view need? Windows in ticks; no page needed. */
import { MAX_TICKS } from "../core/constants.js";

const CELL_BUDGET = 150000;
const MIN_SPAN_TICKS = 16;
const OVERSCROLL = 0.15;

/**
 * The window of a whole capture: its span and one percent on either side.
 * @param {number} first
 * @param {number} last
 * @returns {[number, number]}
 */
export function full(first, last) {
  const pad = Math.max(1, Math.round((last - first) * 0.01));
  return [first - pad, last + pad];
}

/**
 * The window nearest to [t0, t1] that may be shown: not below 16 ticks, not far beyond the whole.
 * @param {number} t0
 * @param {number} t1
 * @param {[number, number]} whole
 * @param {boolean} rounded to whole ticks
 * @returns {[number, number]}
 */
export function clamped(t0, t1, [first, last], rounded) {
  const slack = (last - first) * OVERSCROLL;
  const length = Math.min(Math.max(t1 - t0, MIN_SPAN_TICKS), (last - first) * (1 + OVERSCROLL));
  const wanted = t1 - t0 < MIN_SPAN_TICKS ? (t0 + t1 - length) / 2 : t0;
  const start = Math.min(Math.max(wanted, first - slack), last + slack - length);
  return rounded ? [Math.round(start), Math.round(start) + Math.round(length)] : [start, start + length];
}

/**
 * What to ask for: level (cells of 2**level ticks, about two per pixel), and a window padded as far as the budget of
 * cells allows, snapped to 64 cells and cut to where the capture has anything.
 * @param {[number, number]} win
 * @param {number} width pixels
 * @param {number} tracks on screen
 * @param {[number, number]} span of the capture
 */
export function request([t0, t1], width, tracks, [first, last]) {
  const perPx = (t1 - t0) / width;
  const level = Math.floor(Math.log2(2 * perPx));
  const room = CELL_BUDGET / (Math.max(tracks, 1) * width * 2);
  const pad = Math.max(0, Math.min(0.5, (room - 1) / 2));
  const unit = 64 * 2 ** Math.max(level, 0);
  const low = Math.max(Math.floor((t0 - (t1 - t0) * pad) / unit) * unit, Math.floor(first / unit) * unit);
  const high = Math.min(Math.ceil((t1 + (t1 - t0) * pad) / unit) * unit, Math.ceil((last + 1) / unit) * unit);
  return { level, perPx, low, high: Math.max(high, low + unit) };
}

/**
 * Ascending tracks as "0-3,7".
 * @param {number[]} tracks
 */
export function ranges(tracks) {
  const out = [];
  for (let i = 0; i < tracks.length; ) {
    let j = i;
    while (j + 1 < tracks.length && tracks[j + 1] === tracks[j] + 1) j++;
    out.push(i === j ? String(tracks[i]) : tracks[i] + "-" + tracks[j]);
    i = j + 1;
  }
  return out.join(",");
}

/**
 * The measured range START:END of the URL, or null; app/shell/url_state.py says in a notice why one was not used.
 * @param {string | undefined} text
 * @returns {[number, number] | null}
 */
export function rangeOf(text) {
  const match = /^(-?\d+):(-?\d+)$/.exec(text || "");
  const [from, to] = match ? [Number(match[1]), Number(match[2])] : [0, 0];
  return from < to && from >= -MAX_TICKS && to <= MAX_TICKS ? [from, to] : null;
}

/**
 * A time with enough digits to tell one tick from the next.
 * @param {number} us
 */
export function formatUs(us) {
  const digits = Math.abs(us) >= 1e6 ? 1 : Math.abs(us) >= 1000 ? 2 : 3;
  return us.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }) + " µs";
}
