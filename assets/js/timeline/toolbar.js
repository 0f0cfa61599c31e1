/* Does the toolbar show what the URL says? Tabs, selects, filter; every change goes through the URL. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const T = (ns.timeline = ns.timeline || { parts: [] });
  const SELECTS = { "swim-labels-mode": ["labels", "func"], "swim-setup": ["setup", "apart"], "swim-depth": ["depth", "1"], "swim-deps": ["deps", "both"], "swim-hl": ["hl", ""] };
  const FILTER_DELAY_MS = 250;
  let timer = 0;

  T.showViews = () => {
    for (const [view, reason] of Object.entries(T.s.info.views)) {
      const tab = document.querySelector(`.swim-tab[data-view="${view}"]`);
      tab.setAttribute("aria-disabled", String(Boolean(reason)));
      tab.title = reason || tab.dataset.hint;
    }
    const reason = T.s.info.views[T.s.url.view || "worker"];
    const empty = T.el("swim-empty");
    empty.hidden = !reason;
    empty.textContent = reason;
  };

  function choose(select, value) {
    if (![...select.options].some((option) => option.value === value)) {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = value.startsWith("func:") ? functionLabel(value) : value.replace(":", " ");
      select.append(option);
    }
    select.value = value;
  }

  function functionLabel(spec) {
    const id = Number(spec.slice(5));
    const cls = T.s.info && T.s.info.classes.find((one) => one.kind === 0 && one.value === id);
    return "Function " + (cls ? cls.name : id);
  }

  /* Show a text in an input that Dash owns, unless a person is typing there. */
  T.setInput = (input, value) => {
    if (document.activeElement === input || input.value === value) return;
    input.value = value;
    window.dash_clientside.set_props(input.id, { value });
  };

  T.showToolbar = () => {
    const url = T.s.url;
    for (const tab of document.querySelectorAll(".swim-tab")) {
      tab.setAttribute("aria-pressed", String(tab.dataset.view === (url.view || "worker")));
    }
    for (const [id, [key, base]] of Object.entries(SELECTS)) choose(T.el(id), url[key] || base);
    const [search, filter] = [T.el("swim-search"), T.el("swim-filter")];
    T.setInput(search, url.q || "");
    T.setInput(filter, url.lanes || "");
  };

  T.parts.push(() => {
    for (const tab of document.querySelectorAll(".swim-tab")) {
      tab.addEventListener("click", () => {
        if (tab.getAttribute("aria-disabled") === "true") {
          T.announce(tab.title);
          ns.say("This view has no data", tab.title, "info");
          return;
        }
        T.set({ view: tab.dataset.view === "worker" ? null : tab.dataset.view, pin: null, hide: null, y: null, item: null }, true);
      });
    }
    for (const [id, [key, base]] of Object.entries(SELECTS)) {
      T.el(id).addEventListener("change", (event) => T.set({ [key]: event.target.value === base ? null : event.target.value }, true));
    }
    T.el("swim-filter").addEventListener("input", (event) => {
      window.clearTimeout(timer);
      const text = event.target.value.trim();
      timer = window.setTimeout(() => T.s && T.set({ lanes: text || null }), FILTER_DELAY_MS);
    });
    T.el("swim-fit").addEventListener("click", () => T.fit());
    T.el("swim-zoom-in").addEventListener("click", () => T.zoom(0.5, undefined, "step"));
    T.el("swim-zoom-out").addEventListener("click", () => T.zoom(2, undefined, "step"));
  });
})();
