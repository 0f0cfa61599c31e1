// @ts-check
/* How is a task called? Ring & Task ID of a 64-bit id: analysis.capture has the same rule. */

/**
 * "t12", "r1t12" from the two 32-bit halves of an id: the ring is the low byte of the upper half.
 * @param {number} low
 * @param {number} high
 */
export const idLabel = (low, high) => (high & 0xff ? `r${high & 0xff}t${low}` : `t${low}`);

/**
 * The label of a decimal id.
 * @param {string} text
 */
export function taskLabel(text) {
  const id = BigInt(text);
  return idLabel(Number(id & 0xffffffffn), Number((id >> 32n) & 0xffn));
}

/** @param {unknown} text */
export const isId = (text) => typeof text === "string" && /^\d{1,20}$/.test(text);
