// @ts-check
/* What does a table row select? Rows name their selection in `sel`; run rows have an address in `href`. */
import { sameTask } from "../core/selection.js";
import { pageUrl } from "../core/url.js";

/** @typedef {Record<string, any>} Row */

/** @param {Row | undefined} data */
export const rowSel = (data) => (data && data.sel) || "";

/**
 * Whether a row names what is selected.
 * @param {{data?: Row}} params
 */
export function isSelected(params) {
  const keys = params.data && params.data.set;
  if (keys) return matches(keys) || Boolean(params.data?.locate && matches(params.data.locate));
  const [own, sel] = [rowSel(params.data), pageUrl.get().sel || ""];
  return Boolean(own) && sameTask(own) === sameTask(sel);
}

/* Whether the URL says what a row of other keys than sel would write. */
/** @param {Record<string, string | null>} keys */
function matches(keys) {
  const state = pageUrl.get();
  return Object.entries(keys).every(([key, text]) => (state[key] || null) === text);
}

/** @param {Row} data */
export const select = (data) => pageUrl.set({ sel: data.sel, hl: data.hl || null, item: null }, { push: true });

/**
 * Follow a row: open its address, or select what it names.
 * @param {Row | undefined} data
 */
export function choose(data) {
  if (data && data.href) pageUrl.go(data.href);
  else if (data && data.set) pageUrl.set(data.set, { push: true });
  else if (data && rowSel(data)) select(data);
}

/**
 * A link that shows a row's selection: the swimlane looks for it, wherever it was before.
 * @param {string} page
 * @param {Row} data
 */
export function selectHref(page, data) {
  const place = page === "swimlane" ? { t0: null, t1: null, y: null } : {};
  return pageUrl.href(page, { sel: data.sel, hl: data.hl || null, ...place });
}
