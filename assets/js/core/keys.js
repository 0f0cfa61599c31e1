// @ts-check
/* Which keys does a page have? Its own lines on the key sheet, and whether a key press is typing. */

/** @type {Map<string, string[][]>} */
const pages = new Map();

export const keys = {
  /**
   * Set a page's lines on the key sheet.
   * @param {string} page
   * @param {string[][]} rows [key, what it does]
   */
  describe(page, rows) {
    pages.set(page, rows);
  },
  /** @param {string} page */
  of: (page) => pages.get(page) || [],
  /** @param {Event} event */
  typing: (event) =>
    event.target instanceof Element && Boolean(event.target.closest("input, textarea, select, [contenteditable=true]")),
};
