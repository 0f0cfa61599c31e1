// @ts-check
/* What does a window message say? Header and arrays, decoded without copies; bars and cells of a track. */

/** @typedef {import("./types").WindowData} WindowData */

const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };

/**
 * A message of analysis.timeline: u4 header size, JSON header, arrays at the offsets that the header names.
 * @param {ArrayBuffer} buffer
 * @returns {WindowData}
 */
export function decode(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  const out = { ...header };
  for (const { name, dtype, offset, length } of header.arrays) {
    out[name] = new TYPES[/** @type {keyof typeof TYPES} */ (dtype)](buffer, 4 + size + offset, length);
  }
  out.trackAt = new Map(header.tracks.map((/** @type {number} */ track, /** @type {number} */ at) => [track, at]));
  return out;
}

/**
 * Start of bar i in ticks; exact unless shift > 0.
 * @param {WindowData} data
 * @param {number} i
 */
export const barStart = (data, i) => data.base + data.bar_start[i] * 2 ** data.shift;

/**
 * End of bar i in ticks.
 * @param {WindowData} data
 * @param {number} i
 */
export const barEnd = (data, i) => barStart(data, i) + data.bar_length[i] * 2 ** data.shift;

/**
 * Number of the kind of bar i.
 * @param {WindowData} data
 * @param {number} i
 */
export const kindOf = (data, i) => (data.bar_kind.length > 1 ? data.bar_kind[i] : data.bar_kind[0]);

/**
 * Name of the item of bar i, such as r12.
 * @param {string} letters one letter per kind of item
 * @param {WindowData} data
 * @param {number} i
 */
export const itemName = (letters, data, i) => letters[kindOf(data, i)] + data.bar_index[i];

/**
 * First bar of the track at place `at` whose start is later than a tick.
 * @param {WindowData} data
 * @param {number} at
 * @param {number} tick
 */
export function after(data, at, tick) {
  let low = data.bar_offsets[2 * at];
  let high = data.bar_offsets[2 * at + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (barStart(data, middle) <= tick) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The bar of a track at a tick, or the nearest within `near` ticks; -1 for none.
 * @param {WindowData} data
 * @param {number} at
 * @param {number} tick
 * @param {number} near
 */
export function barAt(data, at, tick, near) {
  const next = after(data, at, tick);
  let best = -1;
  let away = near;
  for (const i of [next - 1, next]) {
    if (i < data.bar_offsets[2 * at] || i >= data.bar_offsets[2 * at + 1]) continue;
    const distance = Math.max(barStart(data, i) - tick, tick - barEnd(data, i), 0);
    if (distance <= away) [best, away] = [i, distance];
  }
  return best;
}

/**
 * The nearest start or end of a bar of a track within `near` ticks of a tick, or null.
 * @param {WindowData} data
 * @param {number} at
 * @param {number} tick
 * @param {number} near
 * @returns {number | null}
 */
export function edgeNear(data, at, tick, near) {
  const next = after(data, at, tick);
  /** @type {number | null} */
  let best = null;
  for (let i = Math.max(next - 2, data.bar_offsets[2 * at]); i < Math.min(next + 2, data.bar_offsets[2 * at + 1]); i++) {
    for (const edge of [barStart(data, i), barEnd(data, i)]) {
      if (Math.abs(edge - tick) <= near && (best === null || Math.abs(edge - tick) < Math.abs(best - tick))) best = edge;
    }
  }
  return best;
}

/**
 * Start and end of the density cell of a track at a tick, or null where nothing is.
 * @param {WindowData} data
 * @param {number} at
 * @param {number} tick
 * @returns {[number, number] | null}
 */
export function cellAt(data, at, tick) {
  const step = 2 ** data.level;
  const cell = Math.floor(tick / step) - data.cell0;
  if (cell < 0 || cell >= data.cells || data.cls[at * data.cells + cell] === data.none) return null;
  return [(data.cell0 + cell) * step, (data.cell0 + cell + 1) * step];
}
