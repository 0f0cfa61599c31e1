// @ts-check
/* How do the counters of a trace run over the visible window? Step plots below the lanes, one row per counter, its series
 * together, on the window of the lanes.
 */
import { answerOf, isAbort, messageOf } from "../core/dom.js";
import { say } from "../core/notice.js";
import { theme } from "../core/theme.js";

/** @typedef {import("../timeline/types").Timeline} Timeline */
/** @typedef {{n: number, time: number[], value: number[], exact: boolean, low?: number[], high?: number[]}} Steps */
/** @typedef {{name: string, series: {n: number, text: string}[]}} Row */

const ROW_PX = 54;
const GAP_PX = 6;
const REST_MS = 120;

/** @param {string} text */
const clean = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

/**
 * Counters of the same process and name share a row.
 * @param {NonNullable<import("../timeline/types").Info["counters"]>} counters
 */
function rowsOf(counters) {
  /** @type {Map<string, Row>} */
  const rows = new Map();
  counters.forEach(({ process, name, series }, n) => {
    const key = process + "\0" + name;
    const row = rows.get(key) || { name, series: [] };
    row.series.push({ n, text: series });
    rows.set(key, row);
  });
  return [...rows.values()];
}

/**
 * Draw the counters of a timeline and keep them on its window; returns what ends it.
 * @param {Timeline} T
 * @param {HTMLElement} box
 */
export function showCounters(T, box) {
  const plot = /** @type {HTMLElement} */ (box.querySelector("#trace-counter-plot"));
  /** @type {AbortController | null} */
  let asked = null;
  let timer = 0;
  let ended = false;
  /** @type {Steps[]} */
  let last = [];

  async function load() {
    if (ended) return;
    if (!T.s.ready || !window.Plotly) {
      timer = window.setTimeout(load, 30);
      return;
    }
    const counters = T.s.info.counters || [];
    const [t0, t1] = T.s.win.map(Math.round);
    asked?.abort();
    asked = new AbortController();
    try {
      const query = { t0, t1: Math.max(t1, t0 + 1), px: Math.max(plot.clientWidth, 100), series: counters.map((_, n) => n).join(",") };
      last = (await answerOf(await T.api("counters", query, asked.signal))).series;
      if (!ended) draw();
    } catch (error) {
      if (!isAbort(error)) say("The counters could not be loaded", messageOf(error), "warn");
    }
  }

  function draw() {
    const rows = rowsOf(T.s.info.counters || []);
    const whole = rows.length * (ROW_PX + GAP_PX);
    /** @type {Record<string, any>} */
    const axes = {};
    /** @type {object[]} */
    const annotations = [];
    /** @type {object[]} */
    const data = [];
    const byNumber = new Map(last.map((steps) => [steps.n, steps]));
    const [t0, t1] = T.s.win;
    const muted = theme.css("--muted");
    rows.forEach((row, at) => {
      const top = 1 - (at * (ROW_PX + GAP_PX)) / whole;
      const suffix = at ? String(at + 1) : "";
      axes["yaxis" + suffix] = {
        domain: [top - ROW_PX / whole, top], fixedrange: true, nticks: 3, side: "right", tickfont: { size: 9, color: muted }, ticklabelposition: "inside",
        gridcolor: theme.css("--line"), zeroline: false, rangemode: "tozero", anchor: "x",
      };
      const names = row.series.map(({ text }) => text).join(", ");
      annotations.push({ x: 0, xref: "paper", xanchor: "left", y: top, yref: "paper", yanchor: "top", showarrow: false, text: clean(`${row.name}: ${names}`), font: { size: 10, color: theme.css("--text") }, bgcolor: theme.css("--panel") });
      for (const { n, text } of row.series) {
        const steps = byNumber.get(n);
        if (!steps || !steps.time.length) continue;
        const color = theme.css("--fn-" + theme.index(row.name + " " + text));
        const x = [...steps.time.map((tick) => T.us(Math.max(tick, t0))), T.us(t1)];
        const hold = (/** @type {number[]} */ values) => [...values, values[values.length - 1]];
        if (!steps.exact && steps.low && steps.high) {
          data.push({ type: "scatter", mode: "lines", x: [...x, ...[...x].reverse()], y: [...hold(steps.high), ...hold(steps.low).reverse()], fill: "toself", line: { width: 0 }, fillcolor: color, opacity: 0.25, yaxis: "y" + suffix, hoverinfo: "skip", showlegend: false, meta: { role: "counter-range" } });
        }
        data.push({ type: "scatter", mode: "lines", x, y: hold(steps.value), line: { shape: "hv", width: 1.3, color }, yaxis: "y" + suffix, name: clean(text), hovertemplate: "%{y:,} at %{x:,.3f} µs", showlegend: false, meta: { role: "counter", n } });
      }
    });
    plot.style.height = whole + "px";
    window.Plotly.react(plot, data, {
      height: whole, width: plot.clientWidth, margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "x",
      font: { family: "system-ui, sans-serif", size: 11, color: theme.css("--text") }, annotations, dragmode: false,
      xaxis: { range: [T.us(t0), T.us(t1)], fixedrange: true, visible: false }, ...axes,
    }, { displayModeBar: false, displaylogo: false, showSendToCloud: false, responsive: false, doubleClick: false });
    box.dataset.drawn = [t0, t1].map(Math.round).join(":");
  }

  const later = () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(load, REST_MS);
  };
  const off = T.onWindow(later);
  const observer = new ResizeObserver(later);
  observer.observe(box);
  const recolour = () => last.length && draw();
  window.addEventListener("swimscope:theme", recolour);
  return () => {
    ended = true;
    off();
    observer.disconnect();
    window.removeEventListener("swimscope:theme", recolour);
    window.clearTimeout(timer);
    asked?.abort();
    if (window.Plotly) window.Plotly.purge(plot);
  };
}
