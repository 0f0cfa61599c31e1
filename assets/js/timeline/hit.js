/* What is under the pointer? Hit test on the arrays of the last message, the hover outline and the tooltip. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const T = (ns.timeline = ns.timeline || { parts: [] });
  const LETTERS = "rupohg";
  const NEAR_PX = 2;
  const CELL_DELAY_MS = 110;
  let cellTimer = 0;

  T.itemName = (data, i) => LETTERS[data.bar_kind.length > 1 ? data.bar_kind[i] : data.bar_kind[0]] + data.bar_index[i];

  /* First bar of a track whose start is later than a tick. */
  function after(data, at, tick) {
    let low = data.bar_offsets[2 * at];
    let high = data.bar_offsets[2 * at + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (T.barStart(data, middle) <= tick) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function barAt(data, at, x) {
    const tick = T.timeAt(x);
    const near = (T.s.win[1] - T.s.win[0]) / T.s.width * NEAR_PX;
    const first = data.bar_offsets[2 * at];
    const next = after(data, at, tick);
    let best = -1;
    let away = near;
    for (const i of [next - 1, next]) {
      if (i < first || i >= data.bar_offsets[2 * at + 1]) continue;
      const distance = Math.max(T.barStart(data, i) - tick, tick - T.barEnd(data, i), 0);
      if (distance <= away) [best, away] = [i, distance];
    }
    return best;
  }

  /* {track, kind: "bar" | "density" | "empty", …} at pixel (x, y) of the lanes, or null outside them. */
  T.hit = (x, y) => {
    const track = T.trackAtY(y);
    if (track < 0) return null;
    const { base } = T.current();
    const out = { track, kind: "empty", tick: T.timeAt(x) };
    if (!base || !base.data.trackAt.has(track)) return out;
    const data = base.data;
    const at = data.trackAt.get(track);
    const i = barAt(data, at, x);
    if (i >= 0) {
      const cls = T.s.info.classes[data.bar_cls[i]];
      const unnamed = cls.kind === 3 || (cls.kind === 0 && cls.value < 0 && T.s.graphTasks.size > 0);
      return { ...out, kind: "bar", data, i, item: T.itemName(data, i), start: T.barStart(data, i), end: T.barEnd(data, i), name: cls.name, unnamed };
    }
    const cell = Math.floor(out.tick / 2 ** data.level) - data.cell0;
    if (cell >= 0 && cell < data.cells && data.cls[at * data.cells + cell] !== data.none) {
      const step = 2 ** data.level;
      return { ...out, kind: "density", start: (data.cell0 + cell) * step, end: (data.cell0 + cell + 1) * step };
    }
    return out;
  };

  /* Edges of the bars of a track within px pixels of x; the nearest, else null: what measuring snaps to. */
  T.edgeNear = (track, x, px) => {
    const { base } = T.current();
    if (!base || !base.data.trackAt.has(track)) return null;
    const data = base.data;
    const at = data.trackAt.get(track);
    const tick = T.timeAt(x);
    const next = after(data, at, tick);
    let best = null;
    for (let i = Math.max(next - 2, data.bar_offsets[2 * at]); i < Math.min(next + 2, data.bar_offsets[2 * at + 1]); i++) {
      for (const edge of [T.barStart(data, i), T.barEnd(data, i)]) {
        if (Math.abs(T.xAt(edge) - x) <= px && (best === null || Math.abs(edge - tick) < Math.abs(best - tick))) best = edge;
      }
    }
    return best;
  };

  const line = (text, strong) => {
    const node = document.createElement(strong ? "strong" : "div");
    node.textContent = text;
    return node;
  };

  function tip(x, y, lines) {
    const node = T.el("swim-tip");
    node.replaceChildren(...lines);
    node.hidden = false;
    const bounds = T.el("swim-plot").getBoundingClientRect();
    const left = bounds.left + x + 14;
    const top = bounds.top + T.AXIS_PX + y + 16;
    const width = node.offsetWidth;
    const height = node.offsetHeight;
    node.style.left = (left + width > window.innerWidth - 8 ? left - width - 28 : left) + "px";
    node.style.top = (top + height > window.innerHeight - 8 ? top - height - 32 : top) + "px";
  }

  T.hideTip = () => {
    window.clearTimeout(cellTimer);
    if (T.s) T.s.hover = null;
    if (T.el("swim-tip")) T.el("swim-tip").hidden = true;
    T.drawHover();
  };

  T.hover = (x, y) => {
    const found = T.hit(x, y);
    T.s.hover = found && found.kind === "bar" ? found : null;
    T.s.pointer = { x, y, tick: T.timeAt(x) };
    T.drawHover();
    window.clearTimeout(cellTimer);
    const row = found && T.s.laneOfTrack.get(found.track);
    if (!found || found.kind === "empty") {
      T.el("swim-tip").hidden = true;
      return;
    }
    if (found.kind === "bar") {
      barTip(x, y, found, row, found.name);
      if (found.unnamed) cellTimer = window.setTimeout(() => named(x, y, found, row), CELL_DELAY_MS);
      return;
    }
    tip(x, y, [line("Too small to draw apart here", true), line(row.lane.label)]);
    cellTimer = window.setTimeout(() => dense(x, y, found, row), CELL_DELAY_MS);
  };

  function barTip(x, y, found, row, name) {
    tip(x, y, [line(name, true), line(`${row.lane.label} · ${T.format(T.us(found.end - found.start))}`), line(`from ${T.format(T.us(found.start))}`)]);
  }

  /* Envelopes and nodes of graph tasks have no class of their own: the server knows what they are called. */
  function named(x, y, found, row) {
    T.latest("cell", (signal) => T.json("item", { item: found.item }, signal), (item) => {
      if (!T.el("swim-tip").hidden && T.s.hover === found) barTip(x, y, found, row, item.name);
    });
  }

  function dense(x, y, found, row) {
    const extra = { track: found.track, t0: found.start, t1: found.end };
    T.latest("cell", (signal) => T.json("cell", extra, signal), (cell) => {
      if (T.el("swim-tip").hidden || !T.s.pointer || T.s.pointer.x !== x) return;
      const lines = cell.classes.map((cls) => line(`${cls.items} × ${cls.name}: ${T.format(T.us(cls.ticks))}`));
      const share = (100 * cell.share).toFixed(0);
      tip(x, y, [line(`${cell.items} items in ${T.format(T.us(found.end - found.start))}, ${share} % busy`, true), line(row.lane.label), ...lines]);
    });
  }

  T.drawHover = () => {
    const node = T.el("swim-hover");
    if (!node) return;
    const found = T.s && T.s.hover;
    const box = found && T.trackBox(found.track);
    node.hidden = !box;
    if (!box) return;
    const x0 = Math.max(T.xAt(found.start), 0);
    const x1 = Math.min(Math.max(T.xAt(found.end), x0 + 2), T.s.width);
    Object.assign(node.style, { left: x0 + "px", top: box.top + "px", width: Math.max(x1 - x0, 2) + "px", height: box.bottom - box.top + "px" });
  };
})();
