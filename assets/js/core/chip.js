// @ts-check
/* What is selected? The chip in the top bar; it is drawn when dcc.Store(id="selection") changes and with each page. */

import { closest, element } from "./dom.js";
import { taskLabel } from "./labels.js";
import { parseSelection } from "./selection.js";
import { pageUrl } from "./url.js";

/** @type {Record<string, string>} */
const PATHS = {
  "path:static": "static path",
  "path:observed": "observed path",
  "path:imported-static": "imported static path",
  "path:imported-observed": "imported observed path",
};

/** @param {string} sel */
function describe(sel) {
  const found = parseSelection(sel);
  if (!found) return sel;
  if (found.kind === "path") return PATHS[sel];
  if (found.kind === "func") return "function " + found.value;
  return found.kind.replace("group", "blocks of") + " " + taskLabel(found.value);
}

function show() {
  const chip = document.getElementById("selection-chip");
  if (!chip) return;
  const sel = pageUrl.get().sel;
  const { run, page } = pageUrl.place();
  chip.hidden = !sel || !run;
  if (chip.hidden) return;
  /** @type {HTMLElement[]} */
  const parts = [element("span", describe(sel), { class: "chip-text", title: sel })];
  for (const [target, text] of [["swimlane", "Swimlane"], ["graph", "Graph"]]) {
    if (page === target) continue;
    parts.push(element("a", text, { href: pageUrl.href(target), "data-follow": "", title: "Show the selection there" }));
  }
  parts.push(element("button", "×", { class: "chip-clear", title: "Clear the selection (Esc)", "aria-label": "Clear the selection" }));
  chip.replaceChildren(...parts);
}

document.addEventListener("click", (event) => {
  if (closest(event, ".chip-clear")) pageUrl.set({ sel: null, hl: null }, { push: true });
});

window.addEventListener("swimscope:view", show);
window.addEventListener("swimscope:page", show);
window.addEventListener("swimscope:path", show);
