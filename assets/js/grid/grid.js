// @ts-check
/* What do tables keep in the URL? Sort, filters and search text; selected rows are marked again when the selection changes. */
import { all, closest } from "../core/dom.js";
import { gridApi } from "../core/libraries.js";
import { pageUrl } from "../core/url.js";
import { isSelected } from "./choose.js";

/** @typedef {any} GridApi AG Grid's api object */

const READY_MS = 16;
/** @type {Map<string, GridApi>} */
const bound = new Map();

/**
 * @param {Element | null} element
 * @returns {HTMLInputElement | null}
 */
const inputOf = (element) => (element instanceof HTMLInputElement ? element : element && element.querySelector("input"));
export const searchBox = () => inputOf(document.querySelector(".page .quick-filter"));

/** @param {GridApi} api */
const sortText = (api) =>
  api
    .getColumnState()
    .filter((/** @type {any} */ column) => column.sort)
    .sort((/** @type {any} */ a, /** @type {any} */ b) => a.sortIndex - b.sortIndex)
    .map((/** @type {any} */ column) => column.colId + ":" + column.sort)
    .join(",");

/** @param {GridApi} api */
const filterText = (api) => {
  const model = api.getFilterModel() || {};
  return Object.keys(model).length ? JSON.stringify(model) : "";
};

/* The order that the server asked for, whatever a person has clicked since. */
/** @param {GridApi} api */
const firstSort = (api) =>
  api
    .getColumns()
    .map((/** @type {any} */ column) => ({ id: column.getColId(), ...column.getColDef() }))
    .filter((/** @type {any} */ column) => column.initialSort)
    .sort((/** @type {any} */ a, /** @type {any} */ b) => a.initialSortIndex - b.initialSortIndex)
    .map((/** @type {any} */ column) => column.id + ":" + column.initialSort)
    .join(",");

/* What is typed before the grid is there counts too: bind() looks for it. */
document.addEventListener("input", (event) => {
  const box = inputOf(closest(event, ".page .quick-filter, .page .quick-filter input"));
  if (!box) return;
  box.dataset.typed = "";
  pageUrl.set({ q: box.value });
});

/** @param {string} id */
const boxOf = (id) => /** @type {HTMLElement | null} */ (document.querySelector('.grid-box[data-grid="' + id + '"]'));

/* Rows stay in place: a row built anew between press and release, or between two clicks, would lose the click. */
/**
 * @param {string} id
 * @param {GridApi} api
 */
function markRows(id, api) {
  for (const row of all(".ag-row", boxOf(id) || document.createDocumentFragment())) {
    const node = api.getDisplayedRowAtIndex(Number(row.getAttribute("row-index")));
    row.classList.toggle("row-selected", Boolean(node) && isSelected(node));
  }
}

/**
 * @param {HTMLElement} holder
 * @param {GridApi} api
 */
function bind(holder, api) {
  const id = holder.dataset.grid || "";
  holder.dataset.bound = "yes"; // React may have made the holder anew around the same grid
  if (bound.get(id) === api) return;
  bound.set(id, api);
  const box = searchBox();
  const infinite = api.getGridOption("rowModelType") === "infinite";
  const quick = (/** @type {string} */ text) => (infinite ? api.purgeInfiniteCache() : api.setGridOption("quickFilterText", text));
  if (box) {
    if (!infinite || box.dataset.typed !== undefined) quick(box.value);
    let wait = 0;
    box.addEventListener("input", () => {
      window.clearTimeout(wait);
      wait = window.setTimeout(() => api.isDestroyed() || quick(box.value), infinite ? 300 : 0);
    });
  }
  let quiet = false;
  const given = pageUrl.get().sort || null;
  const start = firstSort(api);
  const keepSort = () => {
    const text = sortText(api);
    if (!quiet) pageUrl.set({ sort: text === start ? given : text || null });
  };
  api.addEventListener("sortChanged", keepSort);
  api.addEventListener("filterChanged", () => {
    if (!quiet) pageUrl.set({ f: filterText(api) });
    report(id, api);
  });
  api.addEventListener("modelUpdated", () => report(id, api));
  const off = pageUrl.on((state, changed, origin) => {
    if (api.isDestroyed()) return off();
    if (changed.some((key) => ["sel", "hl", "xsel", "xitem"].includes(key))) markRows(id, api);
    if (origin !== "pop") return undefined;
    quiet = true;
    if (changed.includes("f")) api.setFilterModel(state.f ? JSON.parse(state.f) : null);
    if (changed.includes("sort")) applySort(api, state.sort || start);
    if (changed.includes("q") && box) quick((box.value = state.q || ""));
    quiet = false;
    return undefined;
  });
  if (sortText(api) !== start) keepSort();
  markRows(id, api);
  report(id, api);
  window.dispatchEvent(new CustomEvent("swimscope:grid", { detail: { id, api } }));
}

/**
 * @param {GridApi} api
 * @param {string} text
 */
export function applySort(api, text) {
  const state = text
    .split(",")
    .filter(Boolean)
    .map((part, at) => ({ colId: part.slice(0, part.lastIndexOf(":")), sort: part.slice(part.lastIndexOf(":") + 1), sortIndex: at }));
  api.applyColumnState({ state, defaultState: { sort: null } });
}

/* "12 of 340 rows" beside the buttons when a filter hides some. */
/**
 * @param {string} id
 * @param {GridApi} api
 */
function report(id, api) {
  const place = document.querySelector('.grid-shown[data-for="' + id + '"]');
  if (!place || api.getGridOption("rowModelType") === "infinite") return;
  let total = 0;
  api.forEachLeafNode(() => (total += 1));
  const shown = api.getDisplayedRowCount();
  place.textContent = shown < total ? shown.toLocaleString("en-US") + " of " + total.toLocaleString("en-US") + " rows" : "";
}

/* Call work(api) as soon as the grid in box is there; a box that left the page has none any more. */
/**
 * @param {HTMLElement} box
 * @param {(api: GridApi) => void} work
 */
export function whenReady(box, work) {
  const api = gridApi(box);
  if (api) work(api);
  else if (box.isConnected) window.setTimeout(() => whenReady(box, work), READY_MS);
}

/* Grids that a page or a panel has just got. */
export function bindGrids() {
  for (const box of all(".grid-box[data-grid]")) whenReady(box, (api) => bind(box, api));
}
window.addEventListener("swimscope:page", bindGrids);

/**
 * @param {HTMLElement} button
 * @param {(api: GridApi) => void} work
 */
export function gridOf(button, work) {
  const box = boxOf(button.dataset.for || "");
  if (box) whenReady(box, work);
}
