// @ts-check
/* Does every table show the selection? Rows of the selected thing come into view when it was selected elsewhere. */

import { route } from "../core/config.js";
import { all, answerOf, messageOf } from "../core/dom.js";
import { gridApi } from "../core/libraries.js";
import { say } from "../core/notice.js";
import { pageUrl } from "../core/url.js";
import { isSelected } from "../grid/choose.js";

/** @typedef {any} GridApi AG Grid's api object */
/** @typedef {any} RowNode AG Grid's row node */

const WAIT_MS = 60;
const TRIES = 60;

/**
 * @param {GridApi} api
 * @param {RowNode} node
 */
function inView(api, node) {
  const range = api.getVerticalPixelRange();
  return node.rowTop !== null && node.rowTop >= range.top && node.rowTop + node.rowHeight <= range.bottom;
}

/* The first matching row that the grid holds. */
/** @param {GridApi} api */
function held(api) {
  /** @type {RowNode} */
  let found = null;
  api.forEachNode((/** @type {RowNode} */ node) => {
    if (!found && node.data && node.displayed !== false && isSelected(node)) found = node;
  });
  return found;
}

/* A grid that comes in blocks holds what was scrolled through: the server knows where the row is. */
/** @param {GridApi} api */
async function find(api) {
  const { run, page } = pageUrl.place();
  const asked = pageUrl.get();
  const found = await answerOf(await fetch(route("api", "r", run, "row", page) + "?" + new URLSearchParams(asked)));
  if (!api.isDestroyed() && found.row >= 0 && pageUrl.get().sel === asked.sel) api.ensureIndexVisible(found.row, "middle");
}

/** @param {GridApi} api */
function reveal(api) {
  const node = held(api);
  if (node && !inView(api, node)) api.ensureNodeVisible(node, "middle");
  if (!node && api.getGridOption("rowModelType") === "infinite") {
    find(api).catch((error) => say("The selected row was not found", messageOf(error), "warn"));
  }
}

/**
 * Call work(api) once the grid in box has rows, or give up.
 * @param {HTMLElement} box
 * @param {(api: GridApi) => void} work
 * @param {number} tries
 */
function whenFilled(box, work, tries) {
  if (!box.isConnected) return;
  const api = gridApi(box);
  if (api && api.getDisplayedRowCount() > 0) work(api);
  else if (tries > 0) window.setTimeout(() => whenFilled(box, work, tries - 1), WAIT_MS);
}

function revealAll() {
  if (!pageUrl.get().sel) return;
  for (const box of all(".grid-box[data-grid]")) whenFilled(box, reveal, TRIES);
}

window.addEventListener("swimscope:grid", revealAll);
window.addEventListener("swimscope:page", revealAll);
window.addEventListener("swimscope:view", (event) => event.detail.changed.includes("sel") && revealAll());
