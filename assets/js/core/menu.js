// @ts-check
/* What does a right click offer? A small menu at the pointer; keys: arrows, Enter, Escape. */
import { closest, element } from "./dom.js";

/** @typedef {[string, () => unknown]} Entry text, and what it does */

/** @type {Element | null} */
let opener = null;

/**
 * @param {number} x
 * @param {number} y
 * @param {Entry[]} entries
 */
export function openMenu(x, y, entries) {
  closeMenu();
  opener = document.activeElement;
  const menu = element("div", "", { class: "menu menu-context", role: "menu" });
  for (const [text, action] of entries) {
    const item = element("button", text, { role: "menuitem", class: "menu-item" });
    item.addEventListener("click", () => {
      closeMenu();
      action();
    });
    menu.append(item);
  }
  document.body.append(menu);
  const box = menu.getBoundingClientRect();
  menu.style.left = Math.max(4, Math.min(x, innerWidth - box.width - 4)) + "px";
  menu.style.top = Math.max(4, Math.min(y, innerHeight - box.height - 4)) + "px";
  /** @type {HTMLElement} */ (menu.firstChild).focus();
}

export function closeMenu() {
  document.querySelectorAll(".menu-context").forEach((menu) => menu.remove());
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const item = closest(event, ".menu-context .menu-item");
  if (!item) return;
  const next = event.key === "ArrowDown" ? item.nextElementSibling : event.key === "ArrowUp" ? item.previousElementSibling : null;
  if (next instanceof HTMLElement) next.focus();
  if (event.key === "Escape") {
    closeMenu();
    if (opener instanceof HTMLElement) opener.focus();
  }
  if (["ArrowDown", "ArrowUp", "Escape"].includes(event.key)) {
    event.preventDefault();
    event.stopPropagation();
  }
}

document.addEventListener("pointerdown", (event) => {
  if (!closest(event, ".menu-context")) closeMenu();
});
document.addEventListener("keydown", onKey, true);
