// @ts-check
/* Which moments did a person mark? Markers live in the URL as tick:colour:label; the strip below the axis edits them. */

import { closest, follow } from "../core/dom.js";
import { NAMES, markerText, parseMarkers } from "./marker_text.js";

/** @typedef {import("./marker_text.js").Marker} Marker */

/** @param {import("./types").Timeline} T */
export function markersPart(T) {
  const VARIABLES = ["accent", "danger", "ok", "warn"];
  const DRAG_PX = 3;
  const DIFF_PX = 58;
  let editing = -1;

  T.markers = () => parseMarkers(T.list("mk"));

  const colorOf = (/** @type {Marker} */ marker) => String(T.colors()[VARIABLES[NAMES.indexOf(marker.color)]]);

  T.setMarkers = (markers, push) => {
    T.setList("mk", markers.map(markerText), push !== false);
    T.drawMarkerStrip();
    T.drawOverview();
    T.redraw();
  };

  T.addMarkers = (added) => {
    const known = T.markers();
    const fresh = added.map(({ tick, label, color }) => ({ tick: Math.round(tick), label: label || "", color: color || NAMES[known.length % NAMES.length] }));
    T.setMarkers([...known, ...fresh].sort((a, b) => a.tick - b.tick));
    T.announce(`${fresh.length === 1 ? "Marker" : fresh.length + " markers"} at ${fresh.map((m) => T.format(T.us(m.tick))).join(", ")}`);
  };

  T.markerShapes = () =>
    T.markers().map((marker) => ({
      type: "line", xref: "x", yref: "paper", x0: T.us(marker.tick), x1: T.us(marker.tick), y0: 0, y1: 1,
      line: { color: colorOf(marker), width: 1.5 }, name: "marker",
    }));

  T.drawMarkerStrip = () => {
    const strip = T.el("markers");
    const markers = T.markers();
    /** @type {HTMLElement[]} */
    const nodes = [];
    markers.forEach((marker, n) => {
      const x = T.xAt(marker.tick);
      const next = markers[n + 1];
      if (next) {
        const [a, b] = [Math.max(x, 0), Math.min(T.xAt(next.tick), T.s.width)];
        if (b - a > DIFF_PX) {
          const gap = document.createElement("span");
          gap.className = "swim-diff";
          gap.textContent = "↔ " + T.format(T.us(next.tick - marker.tick));
          Object.assign(gap.style, { left: a + 8 + "px", width: b - a - 16 + "px" });
          nodes.push(gap);
        }
      }
      if (x < -2 || x > T.s.width + 2) return;
      const flag = document.createElement("button");
      flag.type = "button";
      flag.className = "swim-flag";
      flag.dataset.n = String(n);
      flag.style.left = x + "px";
      flag.style.background = colorOf(marker);
      flag.textContent = marker.label || String(n + 1);
      flag.title = `${marker.label || "Marker " + (n + 1)}: ${T.format(T.us(marker.tick))}`;
      flag.setAttribute("aria-label", "Marker " + flag.title);
      nodes.push(flag);
    });
    if (!markers.length) {
      const hint = document.createElement("span");
      hint.className = "swim-hint";
      hint.textContent = "Click here to add a marker";
      nodes.push(hint);
    }
    const focused = document.activeElement instanceof HTMLElement && strip.contains(document.activeElement) ? document.activeElement.dataset.n : undefined;
    strip.replaceChildren(...nodes);
    if (focused !== undefined) {
      const again = strip.querySelector(`[data-n="${focused}"]`);
      if (again instanceof HTMLElement) again.focus();
    }
  };

  /* Flag: click edits, drag moves. Empty place: click adds. */
  /** @param {PointerEvent} event */
  function down(event) {
    if (!T.s.ready || event.button !== 0) return;
    const bounds = T.el("markers").getBoundingClientRect();
    const flag = closest(event, ".swim-flag");
    if (!flag) {
      T.addMarkers([{ tick: T.timeAt(event.clientX - bounds.left) }]);
      return;
    }
    const n = Number(flag.dataset.n);
    const markers = T.markers();
    const mine = markers[n];
    const from = event.clientX;
    let moved = false;
    const move = (/** @type {PointerEvent} */ next) => {
      moved = moved || Math.abs(next.clientX - from) >= DRAG_PX;
      if (!moved) return;
      mine.tick = Math.round(T.timeAt(next.clientX - bounds.left));
      T.setMarkers(markers, false);
    };
    const up = () => {
      if (!moved) T.editMarker(n);
    };
    follow(move, up);
    event.preventDefault();
  }

  T.editMarker = (n) => {
    const marker = T.markers()[n];
    if (!marker) return;
    editing = n;
    const box = T.el("marker-edit");
    T.el("marker-time").textContent = `${T.format(T.us(marker.tick))} (${marker.tick.toLocaleString("en-US")} ticks)`;
    T.el("marker-label").value = marker.label;
    T.el("marker-color").value = marker.color;
    box.hidden = false;
    const x = Math.min(Math.max(T.xAt(marker.tick) - 20, 0), Math.max(T.s.width - box.offsetWidth, 0));
    box.style.left = x + "px";
    T.el("marker-label").focus();
    T.el("marker-label").select();
  };

  T.closeMarker = () => {
    editing = -1;
    T.el("marker-edit").hidden = true;
  };

  /** @param {Partial<Marker>} change */
  function edit(change) {
    const markers = T.markers();
    if (!markers[editing]) return;
    Object.assign(markers[editing], change);
    T.setMarkers(markers);
  }

  function remove() {
    const markers = T.markers();
    markers.splice(editing, 1);
    T.closeMarker();
    T.setMarkers(markers);
    T.el("plot").focus();
  }

  T.parts.push(() => {
    const strip = T.el("markers");
    strip.addEventListener("pointerdown", down);
    strip.addEventListener("keydown", (event) => {
      const flag = closest(event, ".swim-flag");
      if (!flag) return;
      const n = Number(flag.dataset.n);
      const step = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
      if (event.key === "Enter" || event.key === " ") T.editMarker(n);
      else if (event.key === "Delete") {
        editing = n;
        remove();
      } else if (step) {
        const markers = T.markers();
        markers[n].tick += step * Math.max(1, Math.round((T.s.win[1] - T.s.win[0]) / T.s.width));
        T.setMarkers(markers, false);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
    T.el("marker-label").addEventListener("change", () => edit({ label: T.el("marker-label").value.trim() }));
    T.el("marker-label").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      if (event.key === "Enter") edit({ label: T.el("marker-label").value.trim() });
      T.closeMarker();
      event.stopPropagation();
    });
    T.el("marker-color").addEventListener("change", () => edit({ color: T.el("marker-color").value }));
    T.el("marker-delete").addEventListener("click", remove);
    T.el("marker-close").addEventListener("click", T.closeMarker);
  });
}
