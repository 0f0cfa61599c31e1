// @ts-check
/* What do the buttons around a table do? Columns, CSV, reset; buttons and number boxes that write one key of the URL. */
import { closest, download } from "../core/dom.js";
import { pageUrl } from "../core/url.js";
import { missing } from "./format.js";
import { applySort, gridOf, searchBox } from "./grid.js";

/** @typedef {any} GridApi AG Grid's api object */

/** @param {HTMLElement} button */
function pickColumns(button) {
  const open = document.querySelector(".menu-columns");
  if (open) open.remove();
  else gridOf(button, (api) => showColumns(button, api));
}

/**
 * @param {HTMLElement} button
 * @param {GridApi} api
 */
function showColumns(button, api) {
  const menu = document.createElement("div");
  menu.className = "menu menu-columns";
  menu.setAttribute("role", "group");
  menu.setAttribute("aria-label", "Columns");
  for (const column of api.getColumns()) {
    const label = document.createElement("label");
    const check = document.createElement("input");
    check.type = "checkbox";
    check.checked = column.isVisible();
    check.addEventListener("change", () => api.setColumnsVisible([column.getColId()], check.checked));
    label.append(check, column.getColDef().headerName);
    menu.append(label);
  }
  button.after(menu);
  menu.querySelector("input")?.focus();
}

document.addEventListener("click", (event) => {
  const button = closest(event, "button[data-for]");
  const menu = document.querySelector(".menu-columns");
  if (menu && !menu.contains(/** @type {Node} */ (event.target)) && !(button && button.matches(".grid-columns"))) menu.remove();
  if (!button) return;
  if (button.matches(".grid-columns")) pickColumns(button);
  else if (button.matches(".grid-csv") && button.dataset.href) {
    download(button.dataset.href + "?" + new URLSearchParams(pageUrl.get()));
  } else if (button.matches(".grid-csv")) {
    gridOf(button, (api) => api.exportDataAsCsv({ fileName: button.dataset.for + ".csv", processCellCallback: csvCell }));
  } else if (button.matches(".grid-reset")) {
    gridOf(button, reset);
  }
});

/* The URL first: blocks of a long table are asked for with the q that it holds then. */
/** @param {GridApi} api */
function reset(api) {
  const box = searchBox();
  if (box) box.value = "";
  pageUrl.set(box ? { q: null, f: null, sort: null } : { f: null, sort: null });
  api.setFilterModel(null);
  applySort(api, "");
  if (api.getGridOption("rowModelType") === "infinite") api.purgeInfiniteCache();
  else api.setGridOption("quickFilterText", "");
}

document.addEventListener("keydown", (event) => {
  const menu = document.querySelector(".menu-columns");
  if (event.key === "Escape" && menu) {
    /** @type {HTMLElement} */ (menu.previousElementSibling).focus();
    menu.remove();
    event.stopPropagation();
  }
}, true);

/* Buttons and number boxes that write one key of the URL. */
document.addEventListener("click", (event) => {
  const button = closest(event, "button[data-url-key]");
  if (!button || !button.dataset.urlKey) return;
  /** @type {Record<string, string | null>} */
  const patch = { [button.dataset.urlKey]: button.dataset.urlValue || null };
  if (["tab", "xtab", "xby"].includes(button.dataset.urlKey)) Object.assign(patch, { sort: null, f: null, q: null });
  pageUrl.set(patch, { push: true });
});

document.addEventListener("change", (event) => {
  const holder = closest(event, ".url-value");
  if (!holder || !(event.target instanceof HTMLInputElement)) return;
  const key = [...holder.classList].map((name) => /^url-value-(.+)$/.exec(name)?.[1]).find(Boolean);
  if (key) pageUrl.set({ [key]: event.target.value.trim().replace(",", ".") || null }, { push: true });
});

/** @param {{value: any}} params */
function csvCell(params) {
  const value = params.value;
  if (missing(value)) return "";
  if (Array.isArray(value)) return value.map((part) => (part && part.text !== undefined ? part.text : part)).join(";");
  return value;
}
