// @ts-check
/* Which part of the capture is in the browser? Window messages: asked for once, padded, snapped, decoded without copies. */

import { isAbort, messageOf } from "../core/dom.js";
import { say } from "../core/notice.js";
import { decode } from "./decode.js";
import { ranges, request } from "./level.js";

/** @typedef {ReturnType<typeof request> & {need: number[], tracks: number[], hl: string}} Want what is on screen */
/** @typedef {import("./types").Kept} Kept */

/** @param {import("./types").Timeline} T */
export function dataPart(T) {
  const KEPT = 12;
  const ASK_DELAY_MS = 30;
  /** @type {Kept[]} */
  let kept = [];
  /** @type {{name: string, control: AbortController} | null} */
  let asked = null;
  let timer = 0;
  T.requests = { sent: 0, aborted: 0, inFlight: 0, maxInFlight: 0, bytes: 0 };

  /** @returns {Want} */
  function wanted() {
    const need = T.tracksOnScreen(0);
    return { ...request(T.s.win, T.s.width, need.length, T.span()), need, tracks: T.tracksOnScreen(0.3), hl: T.effectiveHighlight() };
  }

  /** @param {Want} want */
  function scope(want) {
    const url = T.s.url;
    return [...Object.values(T.source.query(url)), want.hl, want.hl === "search" ? url.q || "" : ""].join("|");
  }

  /** @type {(entry: Kept, want: Want, t0: number, t1: number) => boolean} */
  const covers = (entry, want, t0, t1) =>
    entry.level === want.level && entry.low <= t0 && entry.high >= t1 && want.need.every((track) => entry.set.has(track));
  /** @type {(entry: Kept, want: Want, t0: number, t1: number) => boolean} */
  const overlaps = (entry, want, t0, t1) => entry.low < t1 && entry.high > t0 && want.need.some((track) => entry.set.has(track));

  /* The part of the visible window in which the capture has anything. */
  function wantedSpan() {
    const [first, last] = T.span();
    return [Math.max(T.s.win[0], first), Math.min(T.s.win[1], last)];
  }

  /* Best message for what is on screen now: the exact one, else any that overlaps. */
  /**
   * @param {Want} want
   * @param {string} key
   */
  function best(want, key) {
    const [t0, t1] = wantedSpan();
    const own = kept.filter((entry) => entry.key === key);
    return own.find((entry) => covers(entry, want, t0, t1)) || own.find((entry) => overlaps(entry, want, t0, t1)) || null;
  }

  T.current = () => {
    const want = wanted();
    const base = best({ ...want, hl: "" }, scope({ ...want, hl: "" }));
    const high = want.hl ? best(want, scope(want)) : null;
    return { base, high, hl: want.hl };
  };

  function missing() {
    const want = wanted();
    const [t0, t1] = wantedSpan();
    /** @type {Want[]} */
    const out = [];
    for (const hl of want.hl ? ["", want.hl] : [""]) {
      const one = { ...want, hl };
      const found = best(one, scope(one));
      if (!found || !covers(found, one, t0, t1)) out.push(one);
    }
    return out;
  }

  T.request = () => {
    const lacking = T.s.rows.length ? missing() : [];
    if (!lacking.length) {
      T.settled();
      return;
    }
    const one = lacking[0];
    const name = scope(one) + [one.level, one.low, one.high, one.tracks.join()].join();
    if (asked && asked.name === name) return;
    window.clearTimeout(timer);
    T.busy();
    timer = window.setTimeout(() => send(one, name), asked || kept.length ? ASK_DELAY_MS : 0);
  };

  /* One request in flight; a newer view aborts the older one. */
  /**
   * @param {Want} one
   * @param {string} name
   */
  async function send(one, name) {
    if (!T.s || !T.s.ready) return;
    if (asked) {
      asked.control.abort();
      T.requests.aborted++;
    }
    const control = new AbortController();
    const state = T.s;
    const mine = (asked = { name, control });
    T.requests.sent++;
    T.requests.inFlight++;
    T.requests.maxInFlight = Math.max(T.requests.maxInFlight, T.requests.inFlight);
    /** @type {Record<string, string | number>} */
    const extra = { t0: one.low, t1: one.high, px: (one.high - one.low) / one.perPx, tracks: ranges(one.tracks) };
    if (one.hl) Object.assign(extra, { hl: one.hl, q: T.s.url.q || "" });
    const key = scope(one);
    try {
      const response = await T.api("window", extra, control.signal);
      if (!response.ok) throw new Error((await response.json()).error || response.statusText);
      const buffer = await response.arrayBuffer();
      T.requests.bytes = buffer.byteLength;
      if (T.s !== state) return;
      const data = decode(buffer);
      kept.unshift({ key, level: one.level, low: one.low, high: one.high, set: new Set(one.tracks), data });
      kept.length = Math.min(kept.length, KEPT);
    } catch (error) {
      if (isAbort(error)) return;
      if (T.s === state) {
        say("This part of the swimlane could not be loaded", messageOf(error), "warn");
        if (one.hl) T.s.highlight = null;
        delete T.root.dataset.busy;
      }
      return;
    } finally {
      T.requests.inFlight--;
      if (asked === mine) asked = null;
    }
    T.redraw();
  }

  /* Nothing is missing and the picture is the present one: the page says it rests. */
  T.settled = () => {
    const { drawn, win, y } = T.s;
    if (T.waiting()) return;
    if (drawn && drawn.win[0] === win[0] && drawn.win[1] === win[1] && drawn.y === y) delete T.root.dataset.busy;
  };

  T.data = {
    clear() {
      window.clearTimeout(timer);
      kept = [];
      if (asked) asked.control.abort();
      asked = null;
    },
  };
}
