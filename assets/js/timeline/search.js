// @ts-check
/* What does the search find, what is highlighted, what is selected? Answers from the server, kept in T.s. */

import { say } from "../core/notice.js";
import { ranges } from "./level.js";

/** @param {import("./types").Timeline} T */
export function searchPart(T) {
  const TYPE_DELAY_MS = 220;
  const READABLE_PX = 20;
  let timer = 0;

  /* Highlights of hl; a selected function, chain or path highlights itself. */
  T.wantedHighlight = () => {
    const { hl, sel } = T.s.url;
    const wanted = hl || (sel && T.source.several(sel) ? sel : "");
    return wanted === "search" && !(T.s.url.q || "").trim() ? "" : wanted;
  };

  /* The highlight that is drawn: the wanted one once the server has said that it has an answer. */
  T.effectiveHighlight = () => (T.s.highlight ? T.s.highlight.hl : "");

  T.loadHighlight = () => {
    const hl = T.wantedHighlight();
    T.s.highlight = null;
    if (!T.s.ready) return;
    T.drawOverview();
    T.redraw();
    if (!hl) return;
    const state = T.s;
    T.latest("marks", (signal) => T.json("marks", { hl, q: state.url.q || "" }, signal), (found) => {
      if (found.reason) {
        say("This cannot be highlighted", found.reason, "info");
        return;
      }
      state.highlight = { ...found, hl };
      T.drawOverview();
      T.redraw();
      T.announce(`${found.count.toLocaleString("en-US")} items highlighted`);
    });
  };

  /* Outline and lines of the selection; show = bring it into view when it is not, zoom = and make it large enough. */
  T.loadSelection = (show, zoom) => {
    const { sel, depth, deps } = T.s.url;
    if (!sel) {
      T.s.selection = null;
      T.showLines(null);
      T.redraw();
      return;
    }
    if (!T.s.ready) return;
    const extra = { sel, depth: depth || "1", deps: deps || "both", hidden: ranges(T.hiddenTracks()) };
    T.latest("select", (signal) => T.json("select", extra, signal), (found) => {
      T.s.selection = found;
      T.showLines(found);
      if (found.reason) say("The selection is not here", found.reason, "info");
      if (show) T.bringIntoView(found, zoom);
      T.redraw();
    });
  };

  /* What was selected here only has to be on screen; what a table or another tab selected has to be large enough. */
  T.bringIntoView = (found, zoom) => {
    if (!found.bounds) return;
    const own = T.s.url.item && found.items.find((/** @type {any[]} */ item) => item[4] === T.s.url.item);
    const [track, start, end] = own ? [own[0], own[1], own[3]] : [found.first.track, found.first.start, found.first.end];
    T.reveal(track);
    const [t0, t1] = T.s.win;
    if (!found.items.length) {
      const [first, last] = found.bounds;
      const pad = Math.max((last - first) * 0.15, 4);
      const chain = (T.s.url.sel || "").startsWith("chain:");
      const there = chain ? first >= t0 && last <= t1 && T.xAt(last) - T.xAt(first) > READABLE_PX : first <= t1 && last >= t0;
      if (!there) T.show(first - pad, last + pad, "gesture");
      return;
    }
    const small = zoom && !own && T.xAt(end) - T.xAt(start) < READABLE_PX;
    if (!small && start <= t1 && end >= t0) return;
    const length = small ? (end - start) * 12 : Math.max(t1 - t0, end - start);
    const middle = (start + end) / 2;
    T.show(middle - length / 2, middle + length / 2, "gesture");
  };

  /* One trace per side and kind of dependency line, from end to start. */
  T.lineTraces = () => {
    const selection = T.s.selection;
    if (!selection || !selection.lines.length) return [];
    const palette = T.colors();
    const looks = [
      ["predecessors", palette.accent, "solid"], ["successors", palette.ok, "dash"], ["violations", palette.danger, "dot"],
    ];
    const sets = looks.map(() => ({ x: /** @type {(number | null)[]} */ ([]), y: /** @type {(number | null)[]} */ ([]) }));
    const middle = (/** @type {number} */ track) => {
      const row = T.s.laneOfTrack.get(track);
      if (!row) return null;
      const step = row.h / row.lane.rows;
      return T.rowTop(row) + (track - row.lane.track + 0.5) * step;
    };
    for (const [from, end, to, start, side, bad] of selection.lines) {
      const [ya, yb] = [middle(from), middle(to)];
      if (ya === null || yb === null) continue;
      const set = sets[bad ? 2 : side];
      set.x.push(T.us(end), T.us(start), null);
      set.y.push(ya, yb, null);
    }
    return looks.map(([role, color, dash], k) => ({
      type: "scatter", mode: "lines", ...sets[k], line: { color, width: 1.3, dash, simplify: false }, opacity: 0.9, hoverinfo: "skip",
      showlegend: false, name: role, meta: { role, n: sets[k].x.length / 3 },
    })).filter((trace) => trace.x.length);
  };

  T.showLines = (found) => {
    const node = T.el("lines");
    if (!found || !found.n_lines) {
      node.textContent = "";
      return;
    }
    const drawn = found.lines.length;
    const bad = found.lines.filter((/** @type {any[]} */ line) => line[5]).length;
    const [before, after] = T.source.can.tasks ? ["before", "after"] : ["flows in", "flows out"];
    const parts = [`${found.n_predecessors} ${before}, ${found.n_successors} ${after}`];
    parts.push(drawn === found.n_lines ? `${drawn} ${drawn === 1 ? "line" : "lines"}` : `${drawn} of ${found.n_lines} lines drawn`);
    if (found.n_hidden) parts.push(`${found.n_hidden} lead to ${T.source.can.tasks ? "tasks without a bar here" : "hidden lanes"}`);
    if (bad) parts.push(`${bad} violate happens-before`);
    node.textContent = parts.join(" · ");
  };

  function count() {
    const node = T.el("search-count");
    const found = T.s.found;
    const q = (T.s.url.q || "").trim();
    T.el("search-next").disabled = T.el("search-prev").disabled = !found || !found.count;
    if (!q) node.textContent = "";
    else if (!found) node.textContent = "…";
    else if (!found.count) node.textContent = "none";
    else node.textContent = (found.at >= 0 ? `${(found.at + 1).toLocaleString("en-US")} / ` : "") + found.count.toLocaleString("en-US");
  }

  /* step 0 counts only; +1 and -1 go to the next and previous match, in time order, wrapping. */
  T.runSearch = (step) => {
    const q = (T.s.url.q || "").trim();
    if (!T.s.ready || !q) {
      T.s.found = null;
      count();
      if (T.s.ready) T.drawOverview();
      return null;
    }
    const before = T.s.found && T.s.found.q === q ? T.s.found : null;
    /** @type {Record<string, string>} */
    const extra = { q };
    if (step) {
      if (before && before.at >= 0) extra.at = String(before.at + step);
      else extra.from = String(Math.round(T.s.win[0]));
    }
    return T.latest("search", (signal) => T.json("search", extra, signal), (found) => {
      T.s.found = { ...found, q, at: step ? found.at : before ? before.at : -1 };
      count();
      T.drawOverview();
      if (step && found.item) {
        T.pick(found.item);
        T.reveal(found.item.track);
      } else T.announce(`${found.count} matches`);
    });
  };

  T.searchStep = (step) => T.inTurn(() => T.runSearch(step));

  T.parts.push(() => {
    const input = T.el("search");
    T.setInput(input, T.s.url.q || "");
    input.addEventListener("input", () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => T.s && T.set({ q: input.value.trim() || null }), TYPE_DELAY_MS);
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        window.clearTimeout(timer);
        if ((T.s.url.q || "") !== input.value.trim()) T.set({ q: input.value.trim() || null });
        T.searchStep(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape") {
        input.value = "";
        T.set({ q: null });
        T.el("plot").focus();
      }
    });
    T.el("search-next").addEventListener("click", () => T.searchStep(1));
    T.el("search-prev").addEventListener("click", () => T.searchStep(-1));
  });
}
