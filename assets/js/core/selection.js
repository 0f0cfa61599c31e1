// @ts-check
/* What does a selection name? The one grammar of `sel` in the URL and of labels typed into search boxes.
 *
 * tests/data/selection.json has the rows that this parser and the Python one must agree on. A selection is KIND:VALUE:
 * task, group, chain and gap with a decimal 64-bit id, func with a function id (-1: unnamed), path with one of four names.
 * A label is what a user types for a task: t12 (any ring), r1t12, "r1 t12", g3t7, p2, a decimal id or 0x….
 */

const MAX_ID = 2n ** 64n - 1n;
const PATHS = ["static", "observed", "imported-static", "imported-observed"];

/** @typedef {"task" | "group" | "chain" | "gap" | "func" | "path" | "label" | "id"} Kind */
/** @typedef {{kind: Kind, value: string, canonical: string}} Selection */

/**
 * The selection that a URL's text names, or null.
 * @param {string} text
 * @returns {Selection | null}
 */
export function parseSelection(text) {
  const match = /^(task|group|chain|gap|func|path):(.+)$/.exec(text);
  if (!match) return null;
  const kind = /** @type {Kind} */ (match[1]);
  const value = match[2];
  const id = /^\d{1,20}$/.test(value) && BigInt(value) <= MAX_ID;
  const ok = kind === "path" ? PATHS.includes(value) : id || (kind === "func" && value === "-1");
  return ok ? { kind, value, canonical: text } : null;
}

/**
 * The task or tasks that a typed text names, or null when it is no label (a search then looks for a name).
 * @param {string} text
 * @returns {Selection | null}
 */
export function parseLabel(text) {
  const plain = text.trim().toLowerCase();
  if (/^(\d{1,20}|0x[0-9a-f]{1,16})$/.test(plain)) {
    const id = BigInt(plain);
    return id <= MAX_ID ? { kind: "id", value: String(id), canonical: String(id) } : null;
  }
  const match = /^(?:([rg])(\d{1,10})\s*)?t(\d{1,10})$/.exec(plain) || /^(p)(\d{1,10})$/.exec(plain);
  if (!match) return null;
  const part = (/** @type {string} */ digits) => String(BigInt(digits));
  const canonical = match[1] === "p" ? "p" + part(match[2]) : (match[1] ? match[1] + part(match[2]) : "") + "t" + part(match[3]);
  return { kind: "label", value: canonical, canonical };
}

/**
 * The task that a selection is about: those of a group or gap count as their task.
 * @param {string} sel
 */
export function sameTask(sel) {
  const found = parseSelection(sel);
  return found && (found.kind === "group" || found.kind === "gap") ? "task:" + found.value : sel;
}

/** Whether a selection names several things that are all highlighted. @param {string} sel */
export function isSeveral(sel) {
  const found = parseSelection(sel);
  return found !== null && ["func", "chain", "path"].includes(found.kind);
}
