// @ts-check
/* How is a row of a comparison drawn? Elements and text nodes only: what a dump contains is never HTML. */
import { element } from "../core/dom.js";

/** @typedef {[string, string, number]} Piece text, colour letter, whether it differs */
/** @typedef {[number, Piece[], number, number]} Line number, pieces, characters left out before and after */
/** @typedef {[number, Line | null, Line | null, number | null, string[]]} CodeRow */
/** @typedef {{fold: [number, number, number, number]}} FoldRow */
/** @typedef {CodeRow | FoldRow} Row */

export const ROW_PX = 20;
export const KINDS = ["equal", "replace", "delete", "insert", "away", "here"];
const SIGNS = { equal: "", replace: "~", delete: "−", insert: "+", away: "↦", here: "↤" };
const [, , , , AWAY, HERE] = KINDS.keys();

/**
 * @param {Line | null} line
 * @param {"L" | "R"} side
 */
function numberOf(line, side) {
  if (!line) return element("span", "", { class: "ir-no" });
  const name = side + line[0];
  return element("a", String(line[0]), { class: "ir-no", href: "#" + name, "data-line": name, tabindex: "-1" });
}

/** @param {Line | null} line */
function textOf(line) {
  const cell = element("span", "", { class: "ir-text" });
  if (!line) return cell;
  const shift = element("span", "", { class: "ir-shift" });
  if (line[2]) shift.append(element("span", "… " + line[2].toLocaleString("en-US") + " characters before ", { class: "ir-cut" }));
  for (const [text, letter, marked] of line[1]) {
    const look = (letter ? "ir-" + letter : "") + (marked ? " ir-mark" : "");
    shift.append(element("span", text, look ? { class: look.trim() } : {}));
  }
  if (line[3]) shift.append(element("span", " … " + line[3].toLocaleString("en-US") + " more characters", { class: "ir-cut" }));
  cell.append(shift);
  return cell;
}

/**
 * What stands after a line: where it moved, and the compiler's warnings.
 * @param {HTMLElement} cell
 * @param {CodeRow} row
 * @param {boolean} right
 */
function remarks(cell, row, right) {
  const [kind, , , moved, warnings] = row;
  const shift = cell.querySelector(".ir-shift");
  if (!shift) return;
  if (moved !== null && (right ? kind === HERE : kind === AWAY)) {
    const name = (right ? "L" : "R") + moved;
    const text = (right ? "moved from line " : "moved to line ") + moved;
    shift.append(element("a", text, { class: "ir-moved", href: "#" + name, "data-line": name, tabindex: "-1" }));
  }
  if (right) for (const text of warnings) shift.append(element("span", "⚠ " + text, { class: "ir-warning" }));
}

/**
 * @param {Line | null} line
 * @param {CodeRow} row
 * @param {boolean} right
 */
function half(line, row, right) {
  const made = element("div", "", { class: "ir-half" + (line ? "" : " ir-none") });
  const text = textOf(line);
  remarks(text, row, right);
  made.append(numberOf(line, right ? "R" : "L"), text);
  return made;
}

/**
 * One display row.
 * @param {Row} row
 * @param {boolean} stacked
 * @param {string} line the line that the URL names
 * @returns {HTMLElement}
 */
export function draw(row, stacked, line) {
  if ("fold" in row) {
    const [first, rows, left] = row.fold;
    const words = rows.toLocaleString("en-US") + (rows === 1 ? " equal line" : " equal lines") + " from " + left;
    return element("button", "⋯ " + words, { class: "ir-line ir-fold", "data-fold": String(first), tabindex: "-1" });
  }
  const [kind, left, right] = row;
  const name = KINDS[kind];
  const made = element("div", "", { class: "ir-line ir-" + name });
  const isHere = Boolean(line) && ((left && line === "L" + left[0]) || (right && line === "R" + right[0]));
  if (isHere) made.classList.add("ir-here-line");
  if (!stacked) {
    made.append(half(left, row, false), half(right, row, true));
    return made;
  }
  const text = textOf(right || left);
  remarks(text, row, Boolean(right));
  const sign = left && right ? "" : left ? (name === "replace" ? "−" : SIGNS[/** @type {"delete"} */ (name)]) : name === "replace" ? "+" : SIGNS[/** @type {"insert"} */ (name)];
  if (!(left && right)) made.classList.add(left ? "ir-only-left" : "ir-only-right");
  made.append(numberOf(left, "L"), numberOf(right, "R"), element("span", sign, { class: "ir-sign" }), text);
  return made;
}
