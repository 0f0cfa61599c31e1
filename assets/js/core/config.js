// @ts-check
/* What did the server write into the page for its scripts? */

/**
 * @typedef {object} Config
 * @property {string} prefix path below which everything is served; ends with a slash
 * @property {string[]} keys keys that a URL may have
 * @property {string[]} follow keys that links to other pages of the run carry
 * @property {Record<string, string>} go page by the key that is pressed after g
 */

const meta = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name="swimscope-config"]'));
if (!meta) throw new Error("the page has no meta element swimscope-config");

/** @type {Config} */
export const config = JSON.parse(meta.content);

/** The address of one of our routes. @param {string[]} parts */
export const route = (...parts) => config.prefix + parts.map(encodeURIComponent).join("/");
