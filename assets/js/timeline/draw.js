// @ts-check
/* How does the swimlane look? One plotly figure: a filled path per colour, labels, outlines, lines; density on a canvas
 * below it. While a gesture lasts the last picture is moved by CSS and redrawn when it rests.
 */

import { inkOn, rgb } from "../core/colour.js";
import { N_COLOURS } from "../core/constants.js";
import { plotLayers } from "../core/libraries.js";
import { theme } from "../core/theme.js";
import { GRAPH, SETUP, UNMATCHED, collect } from "./bars.js";
import { barLabel } from "./bar_label.js";

/** @typedef {import("./bars.js").Bars} Bars */
/** @typedef {import("./bars.js").Label} Label */
/** @typedef {import("./types").Current} Current */
/** @typedef {import("./types").WindowData} WindowData */

/** @param {import("./types").Timeline} T */
export function drawPart(T) {
  const MAX_LABELS = 500;
  const LETTER_PX = 6.1;
  const SLOW_MS = 28;
  const REST_MS = 90;
  /** @type {import("./types").Palette | null} */
  let colors = null;
  let restTimer = 0;
  let waitTimer = 0;

  T.stats = { draws: 0, previews: 0, bars: 0, canvasBars: 0, shown: 0, total: 0, exact: true, ms: 0 };

  T.dropColors = () => (colors = null);

  T.colors = () => {
    if (colors) return colors;
    const css = theme.css;
    const slots = Array.from({ length: N_COLOURS }, (_, i) => css("--fn-" + i));
    const names = ["bg", "panel", "panel-2", "text", "muted", "line", "accent", "danger", "warn", "ok", "focus", "selected"];
    const named = Object.fromEntries(names.map((name) => [name, css("--" + name)]));
    const [colours, inks] = [slots.map(rgb), slots.map(inkOn)];
    slots[UNMATCHED] = slots[SETUP] = named.muted;
    slots[GRAPH] = named.line;
    colors = /** @type {import("./types").Palette} */ ({ ...named, slots, rgb: colours, ink: inks });
    return colors;
  };

  T.graph = () => {
    return window.Plotly ? T.el("graph").firstElementChild : null;
  };

  T.drawFrame = (current) => {
    T.drawLabels();
    T.drawWindow();
    T.drawMarkerStrip();
    const moving = performance.now() - (T.s.movedAt || 0) < REST_MS;
    if (moving && T.s.drawn && T.stats.ms > SLOW_MS && !(T.s.pinPx && T.s.drawn.y !== T.s.y)) {
      preview();
      window.clearTimeout(restTimer);
      restTimer = window.setTimeout(T.redraw, REST_MS);
      return;
    }
    if (!T.graph()) {
      window.clearTimeout(waitTimer);
      waitTimer = window.setTimeout(T.redraw, 25);
      return;
    }
    if (current.base || !T.s.rows.length) full(current);
    else if (T.s.drawn) preview();
  };

  function layers() {
    const plot = T.s.drawn && T.graph();
    return [T.el("canvas"), ...(plot ? plotLayers(plot) : [])];
  }

  /* Move the last picture to the present window; text is stretched for the moment. */
  function preview() {
    if (!T.s.drawn) return;
    const { win, y, width } = T.s.drawn;
    const [t0, t1] = T.s.win;
    const scale = (win[1] - win[0]) / (t1 - t0);
    const shift = ((win[0] - t0) / (t1 - t0)) * width;
    const value = `translate(${shift}px, ${y - T.s.y}px) scale(${scale}, 1)`;
    for (const layer of layers()) {
      layer.style.transformOrigin = "0 0";
      layer.style.transform = value;
    }
    T.stats.previews++;
  }

  /** @param {Current} current */
  function full(current) {
    const begin = performance.now();
    /** @type {Bars} */
    const bars = { paths: new Map(), canvas: new Map(), labels: [], moments: new Map(), count: 0, canvasCount: 0 };
    const dim = Boolean(current.hl);
    if (current.base) collect(current.base.data, bars, dim, screen());
    if (current.high) collect(current.high.data, bars, false, screen());
    paint(current, bars, dim);
    const traces = [...barTraces(bars), ...momentTraces(bars), ...T.lineTraces(), ...outlineTraces(), ...labelTraces(bars)];
    window.Plotly.react(T.graph(), traces, layout(), { displayModeBar: false, displaylogo: false, showSendToCloud: false, responsive: false, doubleClick: false });
    for (const layer of layers()) layer.style.transform = "";
    T.s.drawn = { win: [...T.s.win], y: T.s.y, width: T.s.width };
    const shown = current.base ? current.base.data : { n_shown: 0, n_total: 0 };
    Object.assign(T.stats, {
      draws: T.stats.draws + 1, bars: bars.count, canvasBars: bars.canvasCount, shown: shown.n_shown, total: shown.n_total,
      exact: shown.n_shown === shown.n_total, ms: performance.now() - begin,
    });
    tell(shown);
    T.drawHover();
    T.request();
  }

  /** @param {{n_shown: number, n_total: number, bar_ticks?: number, wanted_bar_ticks?: number}} data */
  function tell(data) {
    const number = (/** @type {number} */ n) => n.toLocaleString("en-US");
    const node = T.el("shown");
    let text = `All ${number(data.n_total)} items here drawn exactly`;
    if (data.n_shown < data.n_total) text = `${number(data.n_shown)} of ${number(data.n_total)} items drawn exactly, the rest as density`;
    if (data.bar_ticks && data.wanted_bar_ticks && data.bar_ticks > data.wanted_bar_ticks) text += ` (bars from ${T.format(T.us(data.bar_ticks))}: there are too many)`;
    node.textContent = text;
    node.classList.toggle("partial", data.n_shown < data.n_total);
    T.root.dataset.drawn = String(T.stats.draws);
  }

  /* Style of a class of the view: a function or phase by its name, unmatched rows and graph envelopes apart. */
  T.styleOf = (cls) => (cls.kind === 2 ? UNMATCHED : cls.kind === 3 ? GRAPH : theme.index(cls.name));

  /* What the bars are laid out on: box of a track, pixel of a tick, colour of a class. */
  const screen = () => ({
    width: T.s.width, apart: (T.s.url.setup || "apart") === "apart", slots: T.s.slots, box: T.trackBox, xAt: T.xAt,
    momentKind: T.source.moments ? T.source.letters.indexOf(T.source.moments) : -1,
  });

  /* Canvas: lane stripes, density of what is too small for a bar, and bars beyond what paths draw well. */
  /**
   * @param {Current} current
   * @param {Bars} bars
   * @param {boolean} dim
   */
  function paint(current, bars, dim) {
    const canvas = T.el("canvas");
    const ratio = window.devicePixelRatio || 1;
    const { width, height } = T.s;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = width + "px";
      canvas.style.height = height + "px";
    }
    const c = canvas.getContext("2d");
    if (!c) return;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    stripes(c);
    if (current.base) density(c, current.base.data, dim ? 0.22 : 1);
    if (current.high) density(c, current.high.data, 1);
    for (const [style, list] of bars.canvas) {
      c.globalAlpha = style >= 100 ? 0.22 : 1;
      c.fillStyle = T.colors().slots[style % 100];
      for (let k = 0; k < list.length; k += 4) c.fillRect(list[k], list[k + 2], Math.max(list[k + 1] - list[k], 1), list[k + 3] - list[k + 2]);
    }
    c.globalAlpha = 1;
  }

  /** @param {CanvasRenderingContext2D} c */
  function stripes(c) {
    const palette = T.colors();
    T.s.rows.forEach((row, n) => {
      const top = T.rowTop(row);
      const from = row.pinned ? top : Math.max(top, T.s.pinPx);
      const to = Math.min(top + row.h, T.s.height);
      if (to <= from) return;
      c.fillStyle = n % 2 ? palette["panel-2"] : palette.panel;
      c.fillRect(0, from, T.s.width, to - from);
    });
    if (T.s.pinPx) {
      c.fillStyle = palette.muted;
      c.fillRect(0, T.s.pinPx - 1, T.s.width, 1);
    }
  }

  const strip = document.createElement("canvas");
  const COPIES = 3;

  /* Each track is in the strip three times and its middle row is stretched over its box: smoothing along time is
   * wanted (cells are smaller than pixels), smoothing between tracks would mix lanes.
   */

  /* Each cell in the colour of its dominant class, the stronger the busier: at least a third, so nothing vanishes. */
  /**
   * @param {CanvasRenderingContext2D} c
   * @param {WindowData} data
   * @param {number} alpha
   */
  function density(c, data, alpha) {
    if (!data.cells) return;
    const palette = T.colors();
    const rows = data.tracks.length;
    strip.width = data.cells;
    strip.height = rows * COPIES;
    const sc = strip.getContext("2d");
    if (!sc) return;
    const image = sc.createImageData(data.cells, rows * COPIES);
    const pixels = new Uint32Array(image.data.buffer);
    const colorOf = T.s.info.classes.map((_, cls) => {
      const [r, g, b] = palette.rgb[T.s.slots[cls]] || [128, 128, 128];
      return (b << 16) | (g << 8) | r;
    });
    for (let at = 0; at < rows; at++) {
      const from = at * COPIES * data.cells;
      for (let c = 0, k = at * data.cells; c < data.cells; c++, k++) {
        if (data.cls[k] === data.none) continue;
        const strength = 85 + Math.round((170 * data.busy[k]) / 255);
        pixels[from + c] = ((strength << 24) | colorOf[data.cls[k]]) >>> 0;
      }
      for (let copy = 1; copy < COPIES; copy++) pixels.copyWithin(from + copy * data.cells, from, from + data.cells);
    }
    sc.putImageData(image, 0, 0);
    const cell = 2 ** data.level;
    const x0 = T.xAt(data.cell0 * cell);
    const x1 = T.xAt((data.cell0 + data.cells) * cell);
    c.globalAlpha = alpha;
    c.imageSmoothingEnabled = (x1 - x0) / data.cells < 1;
    data.tracks.forEach((track, at) => {
      const box = T.trackBox(track);
      if (box) c.drawImage(strip, 0, at * COPIES + 1, data.cells, 1, x0, box.top, x1 - x0, box.bottom - box.top);
    });
    c.globalAlpha = 1;
  }

  const usAt = (/** @type {number} */ x) => T.us(T.timeAt(x));

  /** @param {Bars} bars */
  function barTraces(bars) {
    const palette = T.colors();
    return [...bars.paths].sort((a, b) => b[0] - a[0]).map(([style, list]) => {
      const n = list.length / 4;
      const x = new Float64Array(n * 6);
      const y = new Float64Array(n * 6);
      for (let k = 0; k < n; k++) {
        const left = usAt(list[4 * k]);
        const right = usAt(list[4 * k + 1]);
        const [top, bottom] = [list[4 * k + 2], list[4 * k + 3]];
        x.set([left, right, right, left, left, NaN], 6 * k);
        y.set([top, top, bottom, bottom, top, NaN], 6 * k);
      }
      const kind = style % 100;
      /** @type {any} */
      const trace = {
        type: "scatter", mode: "none", x, y, fill: "toself", hoverinfo: "skip", showlegend: false,
        opacity: style >= 100 ? 0.22 : 1, line: { width: 0, simplify: false }, name: "bars", meta: { role: "bars", style: kind, dim: style >= 100, n },
      };
      if (kind === GRAPH) {
        Object.assign(trace, { mode: "lines", fillcolor: palette.slots[kind], line: { width: 1, color: palette.muted, simplify: false } });
        trace.meta.role = "graph";
      } else if (kind >= UNMATCHED) {
        trace.fillpattern = { shape: kind === UNMATCHED ? "x" : "/", size: 4, solidity: 0.35, fgcolor: palette.muted, bgcolor: palette.line };
        trace.meta.role = kind === UNMATCHED ? "unmatched" : "setup";
      } else trace.fillcolor = palette.slots[kind];
      return trace;
    });
  }

  /* Items without length: a diamond each. */
  /** @param {Bars} bars */
  function momentTraces(bars) {
    const palette = T.colors();
    return [...bars.moments].map(([style, list]) => ({
      type: "scatter", mode: "markers", x: list.filter((_, k) => k % 2 === 0).map(usAt), y: list.filter((_, k) => k % 2 === 1),
      marker: { symbol: "diamond", size: 9, color: palette.slots[style % 100], line: { width: 1, color: palette.text } }, opacity: style >= 100 ? 0.22 : 1,
      hoverinfo: "skip", showlegend: false, name: "moments", meta: { role: "moments", n: list.length / 2 },
    }));
  }

  /**
   * @param {Label} label
   * @param {string} mode
   */
  const labelText = (label, mode) => {
    const cls = T.s.info.classes[label.data.bar_cls[label.bar.i]];
    const halves = label.id === undefined ? null : /** @type {[number, number]} */ ([label.data.label_low[label.id], label.data.label_high[label.id]]);
    return barLabel(cls, halves, mode, T.s.graphTasks);
  };

  /** @param {Bars} bars */
  function labelTraces(bars) {
    const mode = T.s.url.labels || "func";
    if (mode === "none" || !bars.labels.length) return [];
    const ink = T.colors().ink;
    /** @type {Map<string, {x: number[], y: number[], text: string[]}>} */
    const groups = new Map();
    const wide = (/** @type {Label} */ label) => label.bar.x1 - label.bar.x0;
    for (const label of bars.labels.sort((a, b) => wide(b) - wide(a)).slice(0, MAX_LABELS)) {
      const left = Math.max(label.bar.x0, 0);
      const right = Math.min(label.bar.x1, T.s.width);
      const letters = Math.floor((right - left - 6) / LETTER_PX);
      let text = labelText(label, mode);
      if (letters < 3 || !text) continue;
      if (text.length > letters) text = text.slice(0, letters - 1) + "…";
      const color = label.style >= UNMATCHED ? T.colors().text : ink[label.style];
      const group = groups.get(color) || { x: [], y: [], text: [] };
      groups.set(color, group);
      group.x.push(usAt((left + right) / 2));
      group.y.push((label.bar.box.top + label.bar.box.bottom) / 2);
      group.text.push(text.replace(/&/g, "&amp;").replace(/</g, "&lt;"));
    }
    const size = T.s.rows.length && T.s.rows[0].h >= 18 ? 11 : 10;
    return [...groups].map(([color, group]) => ({
      type: "scatter", mode: "text", ...group, textfont: { size, color }, textposition: "middle center", hoverinfo: "skip",
      showlegend: false, name: "labels", meta: { role: "labels" },
    }));
  }

  /* Outlines: every block of the selected task, and the focused item on top. */
  function outlineTraces() {
    const selection = T.s.selection;
    if (!selection || !selection.items.length) return [];
    const palette = T.colors();
    const focus = T.s.url.item || (selection.first && selection.first.item);
    /** @typedef {(number | null)[]} Points */
    const group = { x: /** @type {Points} */ ([]), y: /** @type {Points} */ ([]) };
    const own = { x: /** @type {Points} */ ([]), y: /** @type {Points} */ ([]) };
    let last = "";
    for (const [track, start, , end, item] of selection.items) {
      const box = T.trackBox(track);
      const x0 = T.xAt(start);
      const x1 = Math.max(T.xAt(end), x0 + 2);
      if (!box || x1 < 0 || x0 > T.s.width) continue;
      const key = track + ":" + Math.round(x0) + ":" + Math.round(x1);
      const target = item === focus ? own : group;
      if (key === last && target === group) continue;
      last = key;
      const [left, right] = [usAt(Math.max(x0, -3)), usAt(Math.min(x1, T.s.width + 3))];
      target.x.push(left, right, right, left, left, null);
      target.y.push(box.top, box.top, box.bottom, box.bottom, box.top, null);
    }
    const outline = (/** @type {{x: Points, y: Points}} */ data, /** @type {string} */ color, /** @type {number} */ width, /** @type {string} */ role) => ({
      type: "scatter", mode: "lines", ...data, line: { color, width, simplify: false }, hoverinfo: "skip", showlegend: false, name: role, meta: { role },
    });
    return [outline(group, palette.text, 1.5, "selection"), outline(own, palette.text, 3, "focus")].filter((trace) => trace.x.length);
  }

  function layout() {
    const palette = T.colors();
    const { width, height, win } = T.s;
    return {
      width, height: height + T.AXIS_PX, autosize: false, margin: { l: 0, r: 0, t: T.AXIS_PX, b: 0 },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: false, dragmode: false, showlegend: false,
      font: { family: "system-ui, sans-serif", size: 11, color: palette.text },
      xaxis: {
        side: "top", range: [T.us(win[0]), T.us(win[1])], fixedrange: true, zeroline: false, gridcolor: palette.line, gridwidth: 1,
        ticks: "outside", ticklen: 4, tickcolor: palette.line, tickfont: { size: 11, color: palette.muted }, ticksuffix: " µs",
        separatethousands: true, exponentformat: "none", nticks: Math.max(3, Math.floor(width / 95)),
      },
      yaxis: { range: [height, 0], fixedrange: true, visible: false },
      shapes: [...T.markerShapes(), ...T.measureShapes()],
      meta: { page: T.source.page, view: T.s.url.view || T.source.views[0] },
    };
  }
}
