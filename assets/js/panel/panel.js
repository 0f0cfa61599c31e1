/* Which tab of the performance panel is open, and how wide is it? Asks the server for the open tab only. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const P = (ns.panel = {});
  const WIDE_PX = 1700;
  const WIDTH_KEY = "swimscope.panel";
  const LAST_KEY = "swimscope.panel.tab";
  const OPEN_KEY = "swimscope.panel.open";
  const DRAWN_DELAY_MS = 50;
  const DRAWN_TRIES = 200;
  const LEAST_PX = 320;
  const LANES_PX = 420;
  const WINDOW_DELAY_MS = 160;
  const WINDOWED = ["utilisation", "range"];
  const PATHS = ["critical-path", "gaps"];
  let told = "";
  let number = 0;
  let seen = 0;
  let timer = 0;

  const root = () => document.getElementById("panel");
  const body = () => document.getElementById("panel-body");
  const nameOf = (tab) => tab.split(".")[0];

  const byItself = () => window.innerWidth >= WIDE_PX && root() && root().dataset.byItself === "yes";

  /* The open tab: that of the URL, else the overview where the window has room for it, else none. */
  P.tab = (state) => {
    const tab = (state || ns.url.get()).tab || "";
    if (tab === "none") return "";
    return tab || (byItself() ? "overview" : "");
  };

  function signature(state, tab) {
    const keys = ["launch", "kind", "untimed", "thr"];
    if (WINDOWED.includes(nameOf(tab))) keys.push("t0", "t1", "mz");
    return JSON.stringify([ns.url.place().run, tab, ...keys.map((key) => state[key] || "")]);
  }

  /* Busy from the change of the URL until the newest question is answered, or there is none. */
  function calm() {
    if (seen === number) body().removeAttribute("aria-busy");
  }

  function ask() {
    if (!root()) return;
    const state = ns.url.get();
    const tab = P.tab(state);
    const wanted = signature(state, tab);
    if (!tab || wanted === told) {
      calm();
      return;
    }
    told = wanted;
    number += 1;
    body().setAttribute("aria-busy", "true");
    window.dash_clientside.set_props("panel-request", { data: { n: number, run: ns.url.place().run, query: { ...state, tab } } });
  }

  function answered() {
    const answer = body() && body().querySelector(".panel-answer");
    if (!answer || Number(answer.dataset.n) !== number) return;
    seen = number;
    calm();
    ns.bindGrids();
  }

  function show() {
    const tab = P.tab();
    root().dataset.state = tab ? "open" : "closed";
    document.getElementById("panel-open").setAttribute("aria-expanded", String(Boolean(tab)));
    for (const button of root().querySelectorAll(".panel-tab")) {
      const current = button.dataset.panelTab === nameOf(tab);
      button.setAttribute("aria-selected", String(current));
      button.tabIndex = current ? 0 : -1;
      if (current) body().setAttribute("aria-labelledby", button.id);
    }
    if (tab) localStorage.setItem(LAST_KEY, tab);
    sessionStorage.setItem(OPEN_KEY, ns.url.get().tab || "");
  }

  /* A link inside the product that names no tab comes back to the panel as it was left. */
  function restore() {
    const left = sessionStorage.getItem(OPEN_KEY);
    if (linked && left && !ns.url.get().tab) ns.url.set({ tab: left });
  }
  let linked = false;
  window.addEventListener("popstate", () => (linked = false));
  window.addEventListener("_dashprivate_pushstate", () => (linked = true));

  /* The picture first: the panel asks when the swimlane is drawn. */
  function askWhenDrawn(tries) {
    const swim = document.getElementById("swim-root");
    if (!swim) return;
    if (swim.dataset.drawn !== undefined || swim.dataset.busy === undefined || !tries) ask();
    else timer = window.setTimeout(() => askWhenDrawn(tries - 1), DRAWN_DELAY_MS);
  }

  /* Another tab starts without the filters and the parameters that only the old one had. */
  P.open = (tab) => {
    const old = nameOf(P.tab());
    const patch = { tab };
    if (tab !== P.tab()) Object.assign(patch, { sort: null, f: null });
    if (!(PATHS.includes(old) && PATHS.includes(nameOf(tab))) && old !== nameOf(tab)) patch.kind = null;
    ns.url.set(patch, { push: true });
  };

  P.close = () => {
    ns.url.set({ tab: byItself() ? "none" : null, sort: null, f: null }, { push: true });
    document.getElementById("panel-open").focus();
  };

  P.toggle = () => (P.tab() ? P.close() : P.open(localStorage.getItem(LAST_KEY) || "overview"));

  const most = () => Math.max(LEAST_PX, root().parentElement.parentElement.clientWidth - LANES_PX);

  function widen(px) {
    const value = Math.round(Math.max(LEAST_PX, Math.min(px, most())));
    root().style.setProperty("--panel-px", value + "px");
    document.getElementById("panel-handle").setAttribute("aria-valuenow", String(value));
    return value;
  }

  const keep = (px) => localStorage.setItem(WIDTH_KEY, String(widen(px)));

  function resize(event) {
    const from = event.clientX;
    const start = root().offsetWidth;
    const move = (next) => keep(start + from - next.clientX);
    const up = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
    event.preventDefault();
  }

  function handleKeys(event) {
    const step = { ArrowLeft: 32, ArrowRight: -32 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    keep(root().offsetWidth + step);
  }

  function tabKeys(event) {
    const tabs = [...root().querySelectorAll(".panel-tab")];
    const at = tabs.indexOf(document.activeElement);
    const last = tabs.length - 1;
    const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const tab = tabs[(next + tabs.length) % tabs.length];
    tab.focus();
    P.open(tab.dataset.panelTab);
  }

  function changed(state, keys) {
    if (!root()) return;
    if (keys.includes("tab")) show();
    window.clearTimeout(timer);
    const tab = P.tab(state);
    if (tab && signature(state, tab) !== told) body().setAttribute("aria-busy", "true");
    const onlyWindow = keys.every((key) => ["t0", "t1", "y"].includes(key));
    timer = window.setTimeout(ask, onlyWindow ? WINDOW_DELAY_MS : 0);
  }

  let off = null;
  let watcher = null;
  window.addEventListener("swimscope:page", () => {
    if (off) off();
    if (watcher) watcher.disconnect();
    off = watcher = null;
    told = "";
    seen = number;
    if (!root()) return;
    const stored = Number(localStorage.getItem(WIDTH_KEY));
    if (stored) widen(stored);
    document.getElementById("panel-handle").addEventListener("pointerdown", resize);
    document.getElementById("panel-handle").addEventListener("keydown", handleKeys);
    root().querySelector(".panel-tabs").addEventListener("keydown", tabKeys);
    watcher = new MutationObserver(answered);
    watcher.observe(body(), { childList: true, subtree: true, attributes: true, attributeFilter: ["data-n"] });
    restore();
    off = ns.url.on(changed);
    show();
    window.clearTimeout(timer);
    askWhenDrawn(DRAWN_TRIES);
  });

  document.addEventListener("click", (event) => {
    const button = root() && event.target.closest && event.target.closest("button");
    if (!button) return;
    if (button.id === "panel-open") P.open(localStorage.getItem(LAST_KEY) || "overview");
    else if (button.id === "panel-close") P.close();
    else if (button.dataset.panelTab) P.open(button.dataset.panelTab);
  });
})();
