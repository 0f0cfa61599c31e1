/* How long is this, and what is inside? Alt+drag measures, snapping to record edges; the range lives in the URL. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const T = (ns.timeline = ns.timeline || { parts: [] });
  const SNAP_PX = 7;
  const MAX_TICKS = 2 ** 61; // as in app/url_state.py, whose notice says why a range was not used

  T.range = () => {
    const match = /^(-?\d+):(-?\d+)$/.exec(T.s.url.mz || "");
    const [from, to] = match ? [Number(match[1]), Number(match[2])] : [0, 0];
    return from < to && from >= -MAX_TICKS && to <= MAX_TICKS ? [from, to] : null;
  };

  const snapped = (at) => {
    const edge = T.edgeNear(T.trackAtY(at.y), at.x, SNAP_PX);
    return edge === null ? Math.round(T.timeAt(at.x)) : edge;
  };

  T.startMeasure = (event, from, place) => {
    const first = snapped(from);
    const draw = (next) => {
      const second = snapped(place(next));
      T.s.measuring = [Math.min(first, second), Math.max(first, second)];
      live();
    };
    const up = () => {
      window.removeEventListener("pointermove", draw);
      window.removeEventListener("pointerup", up);
      const range = T.s.measuring;
      T.s.measuring = null;
      live();
      if (range && range[1] > range[0]) T.setRange(range);
    };
    window.addEventListener("pointermove", draw);
    window.addEventListener("pointerup", up);
    event.preventDefault();
  };

  T.setRange = ([a, b]) => T.set({ mz: `${a}:${b}` }, true);

  /* While dragging only a box moves; the figure is drawn once at the end. */
  function live() {
    const node = T.el("swim-measuring");
    const range = T.s.measuring;
    node.hidden = !range;
    if (!range) return;
    const [x0, x1] = range.map(T.xAt);
    node.style.left = x0 + "px";
    node.style.width = Math.max(1, x1 - x0) + "px";
    node.firstElementChild.textContent = T.format(T.us(range[1] - range[0]));
  }

  T.measureShapes = () => {
    const range = T.range();
    if (!range) return [];
    const palette = T.colors();
    return [{
      type: "rect", xref: "x", yref: "paper", x0: T.us(range[0]), x1: T.us(range[1]), y0: 0, y1: 1, layer: "above",
      fillcolor: palette.accent, opacity: 0.14, line: { width: 0 }, name: "measure",
    }, ...range.map((tick) => ({
      type: "line", xref: "x", yref: "paper", x0: T.us(tick), x1: T.us(tick), y0: 0, y1: 1, line: { color: palette.accent, width: 1, dash: "dot" }, name: "measure-edge",
    }))];
  };

  const cell = (row, text, head) => {
    const node = document.createElement(head ? "th" : "td");
    node.textContent = text;
    row.append(node);
  };

  function table(columns, rows) {
    const node = document.createElement("table");
    const head = node.createTHead().insertRow();
    columns.forEach((column) => cell(head, column, true));
    const body = node.createTBody();
    for (const values of rows) {
      const row = body.insertRow();
      values.forEach((value) => cell(row, value));
    }
    return node;
  }

  const number = (n) => (n === null || n === undefined ? "–" : n.toLocaleString("en-US"));
  const percent = (share) => (share === null || share === undefined ? "–" : (100 * share).toFixed(1) + " %");

  function fill(range, found) {
    const body = T.el("swim-measure-body");
    if (found.reason) {
      body.textContent = found.reason;
      return;
    }
    const facts = document.createElement("p");
    facts.textContent = `${number(found.records)} records (${number(found.whole_records)} whole) of ${number(found.tasks)} tasks`;
    const types = table(["Cores", "Number", "Busy"], found.by_type.map((row) => [row.core_type.toUpperCase(), number(row.cores), percent(row.share)]));
    const top = found.functions.filter((row) => row.name !== "TOTAL").slice(0, 6);
    const rows = top.map((row) => [row.name, number(row.count ?? row.records), T.format(row.busy_us ?? row.total_us ?? 0)]);
    body.replaceChildren(facts, types, table(["Function", "Records", "Time inside"], rows));
    if (found.functions.length > top.length) {
      const more = document.createElement("p");
      more.className = "muted";
      more.textContent = `and ${found.functions.length - top.length} more functions`;
      body.append(more);
    }
  }

  T.measureChanged = () => {
    const range = T.range();
    const card = T.el("swim-measure");
    card.hidden = !range;
    if (!range || !T.s.ready) return;
    T.el("swim-measure-length").textContent = T.format(T.us(range[1] - range[0]));
    T.el("swim-measure-body").textContent = "…";
    T.latest("range", (signal) => T.json("range", { t0: range[0], t1: range[1] }, signal), (found) => {
      fill(range, found);
      T.announce(`Measured ${T.format(T.us(range[1] - range[0]))}, ${found.records ?? "no"} records`);
    });
  };

  T.parts.push(() => {
    T.el("swim-measure-close").addEventListener("click", () => T.set({ mz: null }, true));
    T.el("swim-measure-zoom").addEventListener("click", () => T.fit(T.range(), 0.05));
    T.el("swim-measure-mark").addEventListener("click", () => {
      const [a, b] = T.range();
      T.addMarkers([{ tick: a, label: "from" }, { tick: b, label: "to" }]);
    });
  });
})();
