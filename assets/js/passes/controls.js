// @ts-check
/* Which press, key or choice changes what on the pass page? */
import { closest } from "../core/dom.js";
import { keys } from "../core/keys.js";
import { pageUrl } from "../core/url.js";

/**
 * What the controls need of the page.
 * @typedef {object} PassPage
 * @property {(step: number) => void} jump
 * @property {(step: number) => void} turn
 * @property {(name: string) => void} choose
 * @property {(row: string) => void} unfold
 * @property {(what: string) => void} cancel
 * @property {(what: string) => void} again
 * @property {(side: string) => void} copySide
 */

const TYPED_MS = 250;
const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}_]*$/u;

keys.describe("passes", [
  ["j / ↓", "Next change"],
  ["k / ↑", "Change before"],
  ["]", "Next pass of the list"],
  ["[", "Pass before"],
  ["w", "Whole file, or equal lines folded"],
  ["s", "Structure only"],
  ["l", "Side by side, or stacked"],
  ["↑ ↓ in the list", "Open the pass before or after"],
  ["Double click on a name", "Its history through the passes"],
]);

/** @param {string} key @param {string} on */
const flip = (key, on) => pageUrl.set({ [key]: pageUrl.get()[key] === on ? null : on, unf: null }, { push: true });

/** A switch whose default is 1 is written when it is off. @param {string} key */
function toggle(key) {
  if (key === "ctx") flip("ctx", "-1");
  else flip(key, key === "struct" ? "1" : "0");
}

/**
 * @param {HTMLElement} target
 * @param {PassPage} page
 * @returns {boolean} whether it was one of ours
 */
function press(target, page) {
  const { dataset, id } = target;
  if (dataset.line !== undefined && dataset.pass === undefined && dataset.jump === undefined) pageUrl.set({ line: dataset.line }, { push: true });
  else if (dataset.pass) pageUrl.set({ pass: dataset.pass, line: dataset.line || null, unf: null }, { push: true });
  else if (dataset.jump) pageUrl.set({ pass: dataset.jump, line: dataset.line || null, unf: null }, { push: true });
  else if (dataset.fold) page.unfold(dataset.fold);
  else if (dataset.function) page.choose(dataset.function);
  else if (dataset.key) pageUrl.set({ [dataset.key]: ["all", "split"].includes(dataset.value || "") ? null : dataset.value }, { push: true });
  else if (dataset.switch) toggle(dataset.switch);
  else if (dataset.tab) pageUrl.set({ tab: pageUrl.get().tab === dataset.tab ? null : dataset.tab }, { push: true });
  else if (dataset.clear) pageUrl.set({ [dataset.clear]: null }, { push: true });
  else if (dataset.cancel) page.cancel(dataset.cancel);
  else if (dataset.again) page.again(dataset.again);
  else if (id === "ir-prev" || id === "ir-next") page.turn(id === "ir-next" ? 1 : -1);
  else if (id === "ir-up" || id === "ir-down") page.jump(id === "ir-down" ? 1 : -1);
  else if (id === "ir-copy-left" || id === "ir-copy-right") page.copySide(id.slice(8));
  else return false;
  if (dataset.clear) /** @type {HTMLInputElement} */ (document.getElementById("ir-" + dataset.clear)).value = "";
  return true;
}

/** What a select writes. @param {HTMLSelectElement} box @param {PassPage} page */
function chosen(box, page) {
  const push = { push: true };
  if (box.id === "ir-fn") return box.value && box.value !== "*" ? page.choose(box.value) : pageUrl.set({ fn: box.value || null, line: null, unf: null }, push);
  if (box.id === "ir-other") return pageUrl.set({ other: box.value, odump: null, vs: null, line: null, unf: null }, push);
  return pageUrl.set({ [box.id.slice(3)]: box.value, ...(box.id === "ir-dump" ? { pass: null, vs: null } : {}), line: null, unf: null }, push);
}

/** @param {KeyboardEvent} event @param {PassPage} page */
function pressed(event, page) {
  const inList = closest(event, "#ir-list") !== null;
  const arrow = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (arrow && closest(event, ".grid, #ir-drawer")) return;
  if (arrow) inList ? page.turn(arrow) : page.jump(arrow);
  else if (event.key === "j" || event.key === "k") page.jump(event.key === "j" ? 1 : -1);
  else if (event.key === "[" || event.key === "]") page.turn(event.key === "]" ? 1 : -1);
  else if (event.key === "w") toggle("ctx");
  else if (event.key === "s") toggle("struct");
  else if (event.key === "l") flip("lay", "stacked");
  else return;
  event.preventDefault();
}

/** What is typed into the boxes goes to the URL after a pause. @param {HTMLInputElement} box */
function typed(box) {
  const key = box.id.slice(3);
  if (box.dataset.timer) window.clearTimeout(Number(box.dataset.timer));
  box.dataset.timer = String(window.setTimeout(() => box.isConnected && pageUrl.set({ [key]: box.value.trim() || null }), TYPED_MS));
}

/** The history of the name under a double click. */
function follow() {
  const text = String(window.getSelection() || "").trim();
  if (!IDENTIFIER.test(text) || text.length > 200) return;
  /** @type {HTMLInputElement} */ (document.getElementById("ir-name")).value = text;
  pageUrl.set({ name: text }, { push: true });
}

/**
 * Hear the controls of the page, once for all pages.
 * @param {() => PassPage | null} current
 */
export function listen(current) {
  document.addEventListener("click", (event) => {
    const page = current();
    const target = closest(event, "#ir a[data-line], #ir button, #ir .ir-pass");
    if (!page || !target || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (press(target, page)) event.preventDefault();
  });
  document.addEventListener("dblclick", (event) => {
    if (current() && closest(event, "#ir .ir-text")) follow();
  });
  document.addEventListener("change", (event) => {
    const page = current();
    const box = closest(event, "#ir select");
    if (page && box instanceof HTMLSelectElement) chosen(box, page);
  });
  document.addEventListener("input", (event) => {
    const box = closest(event, "#ir .ir-box input");
    if (current() && box instanceof HTMLInputElement) typed(box);
  });
  document.addEventListener("keydown", (event) => {
    const page = current();
    if (!page || !document.getElementById("ir") || keys.typing(event) || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    pressed(event, page);
  });
}
