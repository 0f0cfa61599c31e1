// @ts-check
/* What does the details panel describe? Tells the server the focus, follows clicks inside the panel, sizes it. */

import { closest, follow } from "../core/dom.js";
import { setProps } from "../core/libraries.js";

/** @param {import("./types").Timeline} T */
export function detailsPart(T) {
  const KEY = "swimscope.details";
  const SMALLEST_PX = 28;
  let told = "";

  T.detailsChanged = () => {
    const data = T.source.focus(T.s.url);
    if (!data) return;
    const text = JSON.stringify(data);
    if (text === told) return;
    told = text;
    setProps(T.name + "-focus", { data });
  };

  const height = () => Number(localStorage.getItem(KEY) || 196);

  /** @param {number} px */
  function apply(px) {
    const most = Math.max(120, window.innerHeight * 0.6);
    const value = Math.max(SMALLEST_PX, Math.min(px, most));
    T.root.style.setProperty("--details-px", value + "px");
    return value;
  }

  /** @param {PointerEvent} event */
  function resize(event) {
    const from = event.clientY;
    const start = T.el("details-box").offsetHeight;
    follow((next) => localStorage.setItem(KEY, String(Math.round(apply(start + from - next.clientY)))));
    event.preventDefault();
  }

  T.parts.push(() => {
    told = "";
    apply(height());
    const handle = T.el("details-handle");
    handle.addEventListener("pointerdown", resize);
    handle.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowUp" ? 24 : event.key === "ArrowDown" ? -24 : 0;
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      localStorage.setItem(KEY, String(Math.round(apply(height() + step))));
    });
    T.el("details-box").addEventListener("click", (event) => {
      const node = closest(event, "[data-sel]");
      if (!node || !T.s) return;
      T.set({ sel: node.dataset.sel || null, item: node.dataset.item || null }, true);
    });
  });
}
