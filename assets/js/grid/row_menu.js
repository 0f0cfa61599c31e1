// @ts-check
/* What can be done with a table row? Its menu on a right click. */
import { copy } from "../core/dom.js";
import { openMenu } from "../core/menu.js";
import { pageUrl } from "../core/url.js";
import { rowActions } from "../panel/actions.js";
import { select, selectHref } from "./choose.js";

/** @typedef {Record<string, any>} Row what AG Grid holds of one row */

/** @param {any} value */
const plain = (value) => (value === null || value === undefined ? "" : Array.isArray(value) ? value.map((v) => (v && v.text) || v).join(" ") : String(value));

/** @param {Row} data */
function rowText(data) {
  return Object.entries(data)
    .filter(([key]) => !["_row", "sel", "hl", "href", "key", "set", "locate"].includes(key))
    .map(([key, value]) => key + ": " + plain(value))
    .join("\n");
}

/** @param {{data?: Row, event?: MouseEvent | null, value?: unknown}} params */
export function rowMenu(params) {
  if (!params.event || !params.data) return;
  const data = params.data;
  /** @type {import("../core/menu.js").Entry[]} */
  const items = [];
  const to = (/** @type {string} */ page) => pageUrl.go(selectHref(page, data));
  if (data.sel) {
    items.push(["Select", () => select(data)]);
    if (pageUrl.place().page !== "swimlane") items.push(["Show in swimlane", () => to("swimlane")]);
    items.push(["Show in graph", () => to("graph")]);
  }
  if (data.set) items.push(["Select", () => pageUrl.set(data.set, { push: true })]);
  if (data.locate) items.push(["Show the longest", () => pageUrl.set(data.locate, { push: true })]);
  items.push(...rowActions(data));
  if (data.href) {
    items.push(["Open", () => pageUrl.go(data.href)]);
    items.push(["Open in a new tab", () => window.open(data.href, "_blank", "noopener")]);
  }
  items.push(["Copy cell", () => copy(plain(params.value))]);
  items.push(["Copy row", () => copy(rowText(data))]);
  openMenu(params.event.clientX, params.event.clientY, items);
}
