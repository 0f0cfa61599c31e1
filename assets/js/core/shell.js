// @ts-check
/* What do the top bar and the keys of every page do? Theme and tab switches, copy link, key sheet, notices. */

import { config } from "./config.js";
import { byId, closest, copy } from "./dom.js";
import { keys } from "./keys.js";
import { setProps } from "./libraries.js";
import { say } from "./notice.js";
import { theme } from "./theme.js";
import { pageUrl } from "./url.js";

const GO = config.go;
const GO_MS = 1200;
let pendingGo = -Infinity;

/* "Gaps and blockers · run · Swimscope" in the browser's tab. */
function showTitle() {
  /** @param {string} selector */
  const text = (selector) => document.querySelector(selector)?.textContent?.trim() || "";
  const page = text(".rail [aria-current=page]") || text(".view-tab[aria-current=page]");
  document.title = [page, text(".crumb-run"), text(".brand")].filter(Boolean).join(" · ");
}

function fillSheet() {
  const section = byId("keys-page");
  const page = pageUrl.place().page;
  const rows = keys.of(page);
  section.replaceChildren();
  if (!rows.length) return;
  const head = document.createElement("h3");
  head.textContent = "This page";
  const table = document.createElement("table");
  table.className = "keys";
  for (const [key, text] of rows) {
    const row = table.insertRow();
    const kbd = document.createElement("kbd");
    kbd.textContent = key;
    row.insertCell().append(kbd);
    row.insertCell().textContent = text;
  }
  section.append(head, table);
}

function openSheet() {
  fillSheet();
  const sheet = byId("keys-sheet", HTMLDialogElement);
  if (!sheet.open) sheet.showModal();
}

/**
 * @param {HTMLElement} button
 * @param {string} text
 */
function label(button, text) {
  button.title = text;
  button.setAttribute("aria-label", text);
}

function showSwitches() {
  const change = document.getElementById("theme-switch");
  const sync = document.getElementById("sync-switch");
  if (!change || !sync) return;
  const name = { system: "as the system", light: "light", dark: "dark" }[theme.choice()];
  label(change, "Theme: " + name + ". Click for the next");
  sync.setAttribute("aria-pressed", String(pageUrl.sync.get()));
  label(sync, "Selections follow between open tabs of this run: " + (pageUrl.sync.get() ? "on" : "off"));
  const run = pageUrl.place().run;
  sync.hidden = !run;
  byId("copy-link").hidden = !run;
}

document.addEventListener("click", (event) => {
  const button = closest(event, "button");
  if (!button) return;
  if (button.id === "theme-switch") theme.cycle();
  else if (button.id === "sync-switch") pageUrl.sync.set(!pageUrl.sync.get());
  else if (button.id === "keys-open") openSheet();
  else if (button.id === "keys-close") byId("keys-sheet", HTMLDialogElement).close();
  else if (button.id === "copy-link") {
    pageUrl.link((link) => link && copy(link).then(() => say("Link copied", link.length > 90 ? "" : link, "ok")));
  } else return;
  showSwitches();
});

/** @param {KeyboardEvent} event */
const plain = (event) => !(keys.typing(event) || event.ctrlKey || event.metaKey || event.altKey);

/* Menus that are <details>: Escape and a press elsewhere close them; Escape then does nothing else. */
const openMenus = () => /** @type {HTMLDetailsElement[]} */ ([...document.querySelectorAll("details[open]:has(> .menu)")]);

document.addEventListener("pointerdown", (event) => {
  for (const menu of openMenus()) if (!(event.target instanceof Node && menu.contains(event.target))) menu.open = false;
}, true);

document.addEventListener("keydown", (event) => {
  const [menu] = event.key === "Escape" ? openMenus() : [];
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary")?.focus();
  event.stopImmediatePropagation();
}, true);

/* The key after g is this file's, whatever it means on the page: hence before every other listener.
   What counts is when the keys were pressed; a busy page may hear of them later. */
document.addEventListener("keydown", (event) => {
  if (!plain(event) || document.querySelector("dialog[open]")) return;
  const going = event.timeStamp - pendingGo < GO_MS && event.key in GO;
  pendingGo = event.key === "g" && !going ? event.timeStamp : -Infinity;
  if (!going) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const page = GO[event.key];
  if (page === "runs") pageUrl.go(config.prefix);
  else if (pageUrl.place().run) pageUrl.go(pageUrl.href(page));
}, true);

document.addEventListener("keydown", (event) => {
  if (!plain(event) || event.defaultPrevented) return;
  if (event.key === "?") return openSheet();
  if (event.key === "/") {
    const box = /** @type {HTMLInputElement | null} */ (document.querySelector(".page input[type=search], .page input[type=text]"));
    if (box) {
      event.preventDefault();
      box.focus();
      box.select();
    }
    return undefined;
  }
  if (event.key === "Escape" && !document.querySelector("dialog[open]") && pageUrl.get().sel) {
    return pageUrl.set({ sel: null }, { push: true });
  }
  return undefined;
});

window.addEventListener("swimscope:path", showSwitches);
/* A server's notice belongs to the page it was made on. */
window.addEventListener("swimscope:path", () => setProps("notices", { children: null }));
window.addEventListener("swimscope:theme", showSwitches);

/* "swimscope:page" on window, with {run, page}, whenever the router has put a page there. */
/** @type {Element | null} */
let shown = null;
const watcher = new MutationObserver(() => {
  const body = document.querySelector("#page > .page-body");
  if (body === shown) return;
  shown = body;
  if (!body) return;
  showSwitches();
  showTitle();
  window.dispatchEvent(new CustomEvent("swimscope:page", { detail: pageUrl.place() }));
});
watcher.observe(document.documentElement, { childList: true, subtree: true });
