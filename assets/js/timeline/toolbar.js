// @ts-check
/* Does the toolbar show what the URL says? Tabs, selects, filter; every change goes through the URL. */

import { all } from "../core/dom.js";
import { setProps } from "../core/libraries.js";
import { say } from "../core/notice.js";

/** @param {import("./types").Timeline} T */
export function toolbarPart(T) {
  /** @type {Record<string, [string, string]>} */
  const ALL = { "labels-mode": ["labels", "func"], setup: ["setup", "apart"], depth: ["depth", "1"], deps: ["deps", "both"], hl: ["hl", ""] };
  const SELECTS = Object.entries(ALL).filter(([id]) => T.select(id));
  const FILTER_DELAY_MS = 250;
  let timer = 0;

  T.showViews = () => {
    for (const [view, reason] of Object.entries(T.s.info.views)) {
      const tab = /** @type {HTMLElement | null} */ (T.root.querySelector(`.swim-tab[data-view="${view}"]`));
      if (!tab) continue;
      tab.setAttribute("aria-disabled", String(Boolean(reason)));
      tab.title = reason || tab.dataset.hint || "";
    }
    const reason = T.s.info.views[T.s.url.view || T.source.views[0]];
    const empty = T.el("empty");
    empty.hidden = !reason;
    empty.textContent = reason;
  };

  /**
   * @param {HTMLSelectElement} select
   * @param {string} value
   */
  function choose(select, value) {
    if (![...select.options].some((option) => option.value === value)) {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = value.startsWith("func:") ? functionLabel(value) : value.replace(":", " ");
      select.append(option);
    }
    select.value = value;
  }

  /** @param {string} spec */
  function functionLabel(spec) {
    const id = Number(spec.slice(5));
    const cls = T.s.info && T.s.info.classes.find((one) => one.kind === 0 && one.value === id);
    return "Function " + (cls ? cls.name : id);
  }

  /* Show a text in an input that Dash owns, unless a person is typing there. */
  T.setInput = (input, value) => {
    if (document.activeElement === input || input.value === value) return;
    input.value = value;
    setProps(input.id, { value });
  };

  T.showToolbar = () => {
    const url = T.s.url;
    for (const tab of all(".swim-tab", T.root)) {
      tab.setAttribute("aria-pressed", String(tab.dataset.view === (url.view || T.source.views[0])));
    }
    for (const [id, [key, base]] of SELECTS) choose(T.select(id), url[key] || base);
    const [search, filter] = [T.el("search"), T.el("filter")];
    T.setInput(search, url.q || "");
    T.setInput(filter, url.lanes || "");
  };

  T.parts.push(() => {
    for (const tab of all(".swim-tab", T.root)) {
      tab.addEventListener("click", () => {
        if (tab.getAttribute("aria-disabled") === "true") {
          T.announce(tab.title);
          say("This view has no data", tab.title, "info");
          return;
        }
        T.set({ view: tab.dataset.view === T.source.views[0] ? null : tab.dataset.view || null, pin: null, hide: null, y: null, item: null }, true);
      });
    }
    for (const [id, [key, base]] of SELECTS) {
      const select = T.select(id);
      select.addEventListener("change", () => T.set({ [key]: select.value === base ? null : select.value }, true));
    }
    T.el("filter").addEventListener("input", () => {
      window.clearTimeout(timer);
      const text = T.el("filter").value.trim();
      timer = window.setTimeout(() => T.s && T.set({ lanes: text || null }), FILTER_DELAY_MS);
    });
    T.el("fit").addEventListener("click", () => T.fit());
    T.el("zoom-in").addEventListener("click", () => T.zoom(0.5, undefined, "step"));
    T.el("zoom-out").addEventListener("click", () => T.zoom(2, undefined, "step"));
  });
}
