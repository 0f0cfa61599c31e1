// @ts-check
/* How is a task called? The label of a 64-bit id as analysis.capture.ids writes it: its layout is the runtime's. */

const HOST_GRAPH = "host_build_graph";
const RINGS = "tensormap_and_ringbuffer";
const NO_LAYOUT = "?";

/** The runtime of the run this page shows; "" for old files and where there is no page. */
const pageRuntime = () => {
  if (typeof document === "undefined") return "";
  const page = /** @type {HTMLElement | null} */ (document.querySelector("[data-runtime]"));
  return page?.dataset.runtime ?? "";
};

/**
 * "t12", "r1t12", "g3t7", "p2" from the two 32-bit halves of an id; an id with bits outside its layout stays a number.
 * @param {number} low
 * @param {number} high
 * @param {string} runtime
 */
export const idLabel = (low, high, runtime = pageRuntime()) => {
  low >>>= 0;
  high >>>= 0;
  const raw = String((BigInt(high) << 32n) | BigInt(low));
  if (runtime === NO_LAYOUT) return raw;
  if (low === 0xffffffff && high === 0xffffffff) return `invalid ${raw}`;
  if (runtime === HOST_GRAPH) {
    const space = high >>> 30;
    const middle = high & 0x3fffffff;
    if (space === 3 || middle > (space === 1 ? 0xfffff : 0)) return `invalid ${raw}`;
    return space === 1 ? `g${middle}t${low}` : `${space === 2 ? "p" : "t"}${low}`;
  }
  if (high > 0xff) return `invalid ${raw}`;
  return high || runtime === RINGS ? `r${high}t${low}` : `t${low}`;
};

/**
 * The label of a decimal id.
 * @param {string} text
 * @param {string} runtime
 */
export function taskLabel(text, runtime = pageRuntime()) {
  const id = BigInt(text);
  return idLabel(Number(id & 0xffffffffn), Number((id >> 32n) & 0xffffffffn), runtime);
}

/** @param {unknown} text */
export const isId = (text) => typeof text === "string" && /^\d{1,20}$/.test(text);
