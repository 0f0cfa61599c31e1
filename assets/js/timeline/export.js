// @ts-check
/* How does a picture or table leave the page? PNG and SVG with title, axis, lanes and legend; CSV of what is in view;
 * the whole capture as Perfetto JSON.
 */

import { closest, download, messageOf } from "../core/dom.js";
import { say } from "../core/notice.js";
import { barEnd, barStart } from "./decode.js";
import { ranges } from "./level.js";

/** @param {string} text */
const clean = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

/** @param {import("./types").Timeline} T */
export function exportPart(T) {
  const LEFT_PX = 120;
  const TOP_PX = 96;
  const TITLE_PX = 20;
  const MARKERS_PX = 20;
  const LEGEND_ROW_PX = 22;
  const MAX_LEGEND = 40;

  function title() {
    const [t0, t1] = T.s.win;
    return `${clean(T.source.title())} · ${clean(T.source.viewTitle(T.s.url))} view<br><sub>${T.format(T.us(t0))} to ${T.format(T.us(t1))} (${T.format(T.us(t1 - t0))}) · ${clean(T.el("shown").textContent || "")}</sub>`;
  }

  /* Classes that occur on screen, by name, each once. */
  function legendTraces() {
    const { base } = T.current();
    if (!base) return [];
    const data = base.data;
    /** @type {Set<number>} */
    const seen = new Set();
    data.tracks.forEach((track, at) => {
      if (!T.trackBox(track)) return;
      for (let i = data.bar_offsets[2 * at]; i < data.bar_offsets[2 * at + 1]; i++) {
        if (barEnd(data, i) >= T.s.win[0] && barStart(data, i) <= T.s.win[1]) seen.add(data.bar_cls[i]);
      }
      for (let k = at * data.cells; k < (at + 1) * data.cells; k++) if (data.cls[k] !== data.none) seen.add(data.cls[k]);
    });
    const classes = [...seen].map((cls) => ({ name: T.s.info.classes[cls].name, slot: T.s.slots[cls] })).sort((a, b) => a.name.localeCompare(b.name));
    const shown = classes.slice(0, MAX_LEGEND);
    if (classes.length > shown.length) shown.push({ name: `and ${classes.length - shown.length} more`, slot: -1 });
    return shown.map(({ name, slot }) => ({
      type: "scatter", mode: "markers", x: [null], y: [null], name: name.replace(/&/g, "&amp;").replace(/</g, "&lt;"), showlegend: true,
      marker: { symbol: "square", size: 11, color: slot < 0 ? "rgba(0,0,0,0)" : T.colors().slots[slot] },
    }));
  }

  /* The figure on screen with margins, lane names, title, legend, and the density canvas as an image. */
  function figure() {
    const plot = T.graph();
    const palette = T.colors();
    const { width, height, win } = T.s;
    const legend = legendTraces();
    const perRow = Math.max(1, Math.floor((width + LEFT_PX) / 170));
    const markers = T.markers().filter((marker) => marker.tick >= win[0] && marker.tick <= win[1]);
    const below = 8 + (markers.length ? MARKERS_PX : 0);
    const bottom = 8 + below + LEGEND_ROW_PX * Math.ceil(legend.length / perRow);
    const rows = T.s.rows.map((row) => ({ label: row.lane.label, y: T.rowTop(row) + row.h / 2, row })).filter(({ y, row }) => y >= (row.pinned ? 0 : T.s.pinPx) && y <= height);
    const whole = height + TOP_PX + bottom;
    const layout = {
      ...plot.layout, width: width + LEFT_PX + 16, height: whole, margin: { l: LEFT_PX, r: 16, t: TOP_PX, b: bottom },
      paper_bgcolor: palette.panel, plot_bgcolor: "rgba(0,0,0,0)",
      title: { text: title(), x: 0, xref: "paper", y: 1 - TITLE_PX / whole, yref: "container", yanchor: "top", font: { size: 15, color: palette.text } },
      xaxis: { ...plot.layout.xaxis, title: { text: "time after capture zero", font: { size: 11, color: palette.muted } } },
      yaxis: { range: [height, 0], visible: true, showgrid: false, zeroline: false, tickvals: rows.map((row) => row.y), ticktext: rows.map((row) => row.label), tickfont: { size: 10, color: palette.muted } },
      showlegend: true,
      legend: { orientation: "h", x: 0, xanchor: "left", y: -below / height, yanchor: "top", font: { size: 10, color: palette.text }, entrywidth: 150, entrywidthmode: "pixels", itemsizing: "trace" },
      annotations: markers.map((/** @type {import("./marker_text.js").Marker} */ marker, /** @type {number} */ n) => ({
        x: T.us(marker.tick), xref: "x", y: 0, yref: "paper", yanchor: "top", showarrow: false, text: (marker.label || String(n + 1)).replace(/</g, "&lt;"),
        font: { size: 10, color: palette.text }, bgcolor: palette.panel, bordercolor: palette.line,
      })),
      images: [{
        source: T.el("canvas").toDataURL("image/png"), xref: "x", yref: "y", x: T.us(win[0]), y: 0, sizex: T.us(win[1] - win[0]), sizey: height,
        sizing: "stretch", layer: "below",
      }],
    };
    return { data: [...plot.data, ...legend], layout, width: layout.width, height: layout.height };
  }

  const stem = () => T.source.title().replace(/[^\w.-]+/g, "-") + "-" + (T.s.url.view || T.source.views[0]);

  T.exportPicture = async (format) => {
    const { data, layout, width, height } = figure();
    const url = await window.Plotly.toImage({ data, layout, config: { displaylogo: false, showSendToCloud: false } }, { format, width, height, scale: format === "png" ? 2 : 1 });
    download(url, `${stem()}.${format}`);
    T.announce(format.toUpperCase() + " saved");
  };

  T.exportCsv = () => {
    const [t0, t1] = T.s.win.map(Math.round);
    download(T.address("visible.csv", { t0, t1, tracks: ranges(T.tracksOnScreen(0)) }), stem() + "-visible.csv");
  };

  T.exportTrace = () => download(T.address("trace.json", {}), stem() + "-trace.json");

  T.parts.push(() => {
    const menu = T.el("export");
    /** @type {Record<string, () => unknown>} */
    const work = { png: () => T.exportPicture("png"), svg: () => T.exportPicture("svg"), csv: T.exportCsv, trace: T.exportTrace };
    menu.addEventListener("click", (event) => {
      const kind = closest(event, "[data-export]")?.dataset.export;
      if (!kind || !T.s.ready) return;
      menu.open = false;
      Promise.resolve(work[kind]()).catch((error) => say("The export failed", messageOf(error), "warn"));
    });
  });
}
