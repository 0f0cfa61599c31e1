// @ts-check
/* How is a view written as the query of a URL? app/shell/url_state.py has the same grammar for the server. */

/** @typedef {Record<string, string>} State the view as {key: text}; a key that has its default is left out */

/**
 * The known keys of a query.
 * @param {string} search
 * @param {Set<string>} known
 * @returns {State}
 */
export function parse(search, known) {
  /** @type {State} */
  const out = {};
  for (const [key, text] of new URLSearchParams(search)) if (known.has(key)) out[key] = text;
  return out;
}

/**
 * The query of a view: keys sorted, ":" and "," readable.
 * @param {State} values
 */
export function query(values) {
  return Object.keys(values)
    .sort()
    .map((key) => encodeURIComponent(key) + "=" + encodeURIComponent(values[key]).replace(/%3A/gi, ":").replace(/%2C/gi, ","))
    .join("&");
}

/**
 * Keys whose text differs, sorted.
 * @param {State} before
 * @param {State} after
 */
export function changedKeys(before, after) {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => before[key] !== after[key]).sort();
}

/**
 * `state` with the changes of `patch`: null, undefined and "" remove a key.
 * @param {State} state
 * @param {Record<string, unknown>} patch
 * @returns {State}
 */
export function patched(state, patch) {
  const next = { ...state };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined || value === "") delete next[key];
    else next[key] = String(value);
  }
  return next;
}

/**
 * The run and page that a path names; page "runs" without a run for every other path.
 * @param {string} pathname
 * @param {string} prefix
 */
export function placeOf(pathname, prefix) {
  const match = /^r\/([^/]+)(?:\/([^/]*))?\/?$/.exec(pathname.slice(prefix.length));
  return match ? { run: decodeURIComponent(match[1]), page: decodeURIComponent(match[2] || "") } : { run: "", page: "runs" };
}

/**
 * The items of a list key: joined by commas, a comma or percent sign inside an item encoded once more.
 * @param {string | undefined} text
 */
export const listOf = (text) => (text || "").split(",").filter(Boolean).map((part) => decodeURIComponent(part));

/** @param {string} item */
export const listItem = (item) => item.replace(/%/g, "%25").replace(/,/g, "%2C");

/** @param {string[]} items */
export const listText = (items) => items.map(listItem).join(",");
