// @ts-check
/* Which box is at a place, who had its bytes before and after, and which one comes next? Pure look-ups. */

/**
 * One box as components/memory/picture.py sends it:
 * panel, first byte, byte after the last, first line, last line, id, label, description, beyond the reference.
 * @typedef {[number, number, number, number, number, string, string, string, boolean]} Box
 */
/** @typedef {{space: string, axis: string, home: [number, number]}} Panel */
/** @typedef {{panels: Panel[], home: [number, number], boxes: Box[]}} Model */

/** @param {Box} box */
const area = (box) => (box[2] - box[1]) * (box[4] - box[3] + 1);

/**
 * The box on top at a byte and line of a panel: of several the smallest, and the reference's before one beyond it. Where
 * there is none, the nearest one within `slack` lines, since a box of one line may be thinner than a pixel.
 * @param {Model} model
 * @param {number} panel
 * @param {number} byte
 * @param {number} line
 * @param {number} slack
 */
export function boxAt(model, panel, byte, line, slack) {
  /** @type {Box | null} */
  let best = null;
  let nearest = slack;
  for (const box of model.boxes) {
    if (box[0] !== panel || byte < box[1] || byte >= box[2]) continue;
    const away = Math.max(0, box[3] - 0.5 - line, line - box[4] - 0.5);
    if (away > nearest) continue;
    if (best && away === nearest && ((box[8] && !best[8]) || (box[8] === best[8] && area(box) >= area(best)))) continue;
    best = box;
    nearest = away;
  }
  return best;
}

/**
 * The reference's boxes that had some of a box's bytes last before it and first after it.
 * @param {Model} model
 * @param {Box} box
 * @returns {{before: Box | null, after: Box | null}}
 */
export function neighbours(model, box) {
  /** @type {Box | null} */
  let before = null;
  /** @type {Box | null} */
  let after = null;
  for (const other of model.boxes) {
    if (other === box || other[8] || other[0] !== box[0] || other[1] >= box[2] || other[2] <= box[1]) continue;
    if (other[4] <= box[3] && other[3] < box[3] && (!before || other[4] > before[4])) before = other;
    if (other[3] >= box[4] && other[4] > box[4] && (!after || other[3] < after[3])) after = other;
  }
  return { before, after };
}

/**
 * The box that an arrow key leads to: before or after in the order of addresses, or of lines in the same bytes.
 * @param {Model} model
 * @param {string} id
 * @param {string} key
 */
export function boxBeside(model, id, key) {
  const at = model.boxes.findIndex((box) => box[5] === id);
  if (at < 0) return model.boxes[0] || null;
  if (key === "ArrowRight") return model.boxes[at + 1] || null;
  if (key === "ArrowLeft") return model.boxes[at - 1] || null;
  const { before, after } = neighbours(model, model.boxes[at]);
  return key === "ArrowUp" ? before : after;
}

/**
 * The axes that are not as at first, as items of the URL's `mzoom`: axis:low:high.
 * @param {Model} model
 * @param {(axis: string) => [number, number]} rangeOf
 */
export function zoomItems(model, rangeOf) {
  const axes = [["y", "y", model.home], ...model.panels.map((panel) => [panel.axis, panel.space, panel.home])];
  return axes.flatMap(([axis, name, home]) => {
    const range = rangeOf(/** @type {string} */ (axis));
    const first = /** @type {[number, number]} */ (home);
    const moved = range.some((value, at) => Math.abs(value - first[at]) > 1e-6 * Math.abs(first[1] - first[0]));
    return moved ? [`${name}:${+range[0].toFixed(3)}:${+range[1].toFixed(3)}`] : [];
  });
}

/**
 * The ranges that `mzoom` asks for, by axis; an axis that is not named is as at first.
 * @param {Model} model
 * @param {string[]} items
 * @returns {Record<string, [number, number]>}
 */
export function zoomRanges(model, items) {
  /** @type {Record<string, [number, number]>} */
  const out = { y: model.home };
  for (const panel of model.panels) out[panel.axis] = panel.home;
  for (const item of items) {
    const match = /^(.*):(-?[\d.]+):(-?[\d.]+)$/.exec(item);
    if (!match) continue;
    const range = /** @type {[number, number]} */ ([Number(match[2]), Number(match[3])]);
    const panel = model.panels.find((each) => each.space === match[1]);
    if (!range.every(Number.isFinite) || range[0] === range[1]) continue;
    if (match[1] === "y") out.y = range;
    else if (panel) out[panel.axis] = range;
  }
  return out;
}
