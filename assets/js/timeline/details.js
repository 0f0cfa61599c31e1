/* What does the details panel describe? Tells the server the focus, follows clicks inside the panel, sizes it. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const T = (ns.timeline = ns.timeline || { parts: [] });
  const KEY = "swimscope.details";
  const SMALLEST_PX = 28;
  let told = "";

  T.detailsChanged = () => {
    const { sel, item, view, launch } = T.s.url;
    const data = { run: T.s.run, sel: sel || "", item: item || "", view: view || "worker", launch: Number(launch || 0) };
    const text = JSON.stringify(data);
    if (text === told) return;
    told = text;
    window.dash_clientside.set_props("swim-focus", { data });
  };

  const height = () => Number(localStorage.getItem(KEY) || 196);

  function apply(px) {
    const most = Math.max(120, window.innerHeight * 0.6);
    const value = Math.max(SMALLEST_PX, Math.min(px, most));
    T.el("swim-root").style.setProperty("--details-px", value + "px");
    return value;
  }

  function resize(event) {
    const from = event.clientY;
    const start = T.el("swim-details-box").offsetHeight;
    const move = (next) => localStorage.setItem(KEY, String(Math.round(apply(start + from - next.clientY))));
    const up = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
    event.preventDefault();
  }

  T.parts.push(() => {
    told = "";
    apply(height());
    const handle = T.el("swim-details-handle");
    handle.addEventListener("pointerdown", resize);
    handle.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 24, ArrowDown: -24 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      localStorage.setItem(KEY, String(Math.round(apply(height() + step))));
    });
    T.el("swim-details-box").addEventListener("click", (event) => {
      const node = event.target.closest("[data-sel]");
      if (!node || !T.s) return;
      T.set({ sel: node.dataset.sel, item: node.dataset.item || null }, true);
    });
  });
})();
