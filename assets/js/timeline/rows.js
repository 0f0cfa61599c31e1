// @ts-check
/* Which lanes are shown, in which order and how high? Pins first, hidden and filtered lanes left out; no page needed. */

/** @typedef {import("./types").Lane} Lane */
/** @typedef {{lane: Lane, y: number, h: number, pinned: boolean}} Row y below the pinned lanes, before scrolling */
/** @typedef {{words: string[], hidden: string[], pins: string[], nameOf: (cls: number) => string}} Choice */

export const MIN_ROW_PX = 14;
export const MAX_ROW_PX = 22;
export const SUB_ROW_PX = 11;
export const GAP_PX = 3;

/** Words of the lane filter, lower case. @param {string | undefined} text */
export const wordsOf = (text) => (text || "").toLowerCase().split(/[\s,]+/).filter(Boolean);

/**
 * "aic", "12", "3-9", a function name: words are alternatives; all of a lane's texts are compared.
 * @param {Lane} lane
 * @param {string[]} words
 * @param {(cls: number) => string} nameOf
 */
export function passes(lane, words, nameOf) {
  if (!words.length) return true;
  return words.some((word) => {
    const range = /^(\d+)(?:-(\d+))?$/.exec(word);
    if (range) return lane.number >= Number(range[1]) && lane.number <= Number(range[2] || range[1]);
    if (lane.group.toLowerCase() === word || lane.label.toLowerCase().startsWith(word)) return true;
    return lane.classes.some((cls) => nameOf(cls).toLowerCase().includes(word));
  });
}

/** @param {Lane} lane */
const severalPx = (lane) => (lane.rows > 1 ? lane.rows * SUB_ROW_PX + GAP_PX : 0);

/**
 * Rows one below the other, and their height together.
 * @param {Lane[]} lanes
 * @param {number} rowPx
 * @param {boolean} pinned
 */
function place(lanes, rowPx, pinned) {
  let y = 0;
  const rows = lanes.map((lane) => {
    const h = severalPx(lane) || rowPx;
    y += h;
    return { lane, y: y - h, h, pinned };
  });
  return { rows, px: y };
}

/**
 * The rows of a picture of this height: single rows share what lanes with several rows leave, 14 to 22 px each.
 * @param {Lane[]} lanes
 * @param {number} height
 * @param {Choice} choice
 */
export function layoutRows(lanes, height, { words, hidden, pins, nameOf }) {
  const byKey = new Map(lanes.map((lane) => [lane.key, lane]));
  const pinned = pins.flatMap((key) => byKey.get(key) || []);
  const rest = lanes.filter((lane) => !pins.includes(lane.key) && !hidden.includes(lane.key) && passes(lane, words, nameOf));
  const shown = [...pinned, ...rest];
  const single = shown.filter((lane) => lane.rows <= 1).length;
  const several = shown.reduce((sum, lane) => sum + severalPx(lane), 0);
  const share = single ? Math.floor((height - several) / single) : MAX_ROW_PX;
  const rowPx = Math.max(MIN_ROW_PX, Math.min(MAX_ROW_PX, share));
  const top = place(pinned, rowPx, true);
  const scroll = place(rest, rowPx, false);
  return {
    pinPx: top.px,
    contentPx: scroll.px,
    rows: [...top.rows, ...scroll.rows],
    scrollRows: scroll.rows,
    hiddenLanes: lanes.filter((lane) => hidden.includes(lane.key) && !pins.includes(lane.key)),
  };
}
