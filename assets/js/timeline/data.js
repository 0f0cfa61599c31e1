/* Which part of the capture is in the browser? Window messages: asked for once, padded, snapped, decoded without copies. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const T = (ns.timeline = ns.timeline || { parts: [] });
  const KEPT = 12;
  const CELL_BUDGET = 150000;
  const ASK_DELAY_MS = 30;
  const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };
  let kept = [];
  let asked = null;
  let timer = 0;
  T.requests = { sent: 0, aborted: 0, inFlight: 0, maxInFlight: 0, bytes: 0 };

  T.decode = (buffer) => {
    const view = new DataView(buffer);
    const size = view.getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
    const out = { ...header };
    for (const { name, dtype, offset, length } of header.arrays) {
      out[name] = new TYPES[dtype](buffer, 4 + size + offset, length);
    }
    out.trackAt = new Map(header.tracks.map((track, at) => [track, at]));
    return out;
  };

  /* Start and end of bar i in ticks; the exactness is that of the capture unless shift > 0. */
  T.barStart = (data, i) => data.base + data.bar_start[i] * 2 ** data.shift;
  T.barEnd = (data, i) => T.barStart(data, i) + data.bar_length[i] * 2 ** data.shift;

  function wanted() {
    const [t0, t1] = T.s.win;
    const perPx = (t1 - t0) / T.s.width;
    const level = Math.floor(Math.log2(2 * perPx));
    const tracks = T.tracksOnScreen(0);
    const rows = Math.max(tracks.length, 1);
    const room = CELL_BUDGET / (rows * T.s.width * 2);
    const pad = Math.max(0, Math.min(0.5, (room - 1) / 2));
    const unit = 64 * 2 ** Math.max(level, 0);
    const [first, last] = T.span();
    const low = Math.max(Math.floor((t0 - (t1 - t0) * pad) / unit) * unit, Math.floor(first / unit) * unit);
    const high = Math.min(Math.ceil((t1 + (t1 - t0) * pad) / unit) * unit, Math.ceil((last + 1) / unit) * unit);
    return { level, perPx, low, high: Math.max(high, low + unit), need: tracks, tracks: T.tracksOnScreen(0.3), hl: T.effectiveHighlight() };
  }

  function scope(want) {
    const url = T.s.url;
    return [url.view || "worker", url.setup || "apart", url.launch || "0", want.hl, want.hl === "search" ? url.q || "" : ""].join("|");
  }

  const covers = (entry, want, t0, t1) =>
    entry.level === want.level && entry.low <= t0 && entry.high >= t1 && want.need.every((track) => entry.set.has(track));
  const overlaps = (entry, want, t0, t1) => entry.low < t1 && entry.high > t0 && want.need.some((track) => entry.set.has(track));

  /* The part of the visible window in which the capture has anything. */
  function wantedSpan() {
    const [first, last] = T.span();
    return [Math.max(T.s.win[0], first), Math.min(T.s.win[1], last)];
  }

  /* Best message for what is on screen now: the exact one, else any that overlaps. */
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
    const extra = { t0: one.low, t1: one.high, px: (one.high - one.low) / one.perPx, tracks: T.ranges(one.tracks) };
    if (one.hl) Object.assign(extra, { hl: one.hl, q: T.s.url.q || "" });
    const key = scope(one);
    try {
      const response = await T.api("window", extra, control.signal);
      if (!response.ok) throw new Error((await response.json()).error || response.statusText);
      const buffer = await response.arrayBuffer();
      T.requests.bytes = buffer.byteLength;
      if (T.s !== state) return;
      const data = T.decode(buffer);
      kept.unshift({ key, level: one.level, low: one.low, high: one.high, set: new Set(one.tracks), data });
      kept.length = Math.min(kept.length, KEPT);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (T.s === state) {
        ns.say("This part of the swimlane could not be loaded", error.message, "warn");
        if (one.hl) T.s.highlight = null;
        delete T.el("swim-root").dataset.busy;
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
    if (drawn && drawn.win[0] === win[0] && drawn.win[1] === win[1] && drawn.y === y) delete T.el("swim-root").dataset.busy;
  };

  T.ranges = (tracks) => {
    const out = [];
    for (let i = 0; i < tracks.length; ) {
      let j = i;
      while (j + 1 < tracks.length && tracks[j + 1] === tracks[j] + 1) j++;
      out.push(i === j ? String(tracks[i]) : tracks[i] + "-" + tracks[j]);
      i = j + 1;
    }
    return out.join(",");
  };

  T.data = {
    clear() {
      window.clearTimeout(timer);
      kept = [];
      if (asked) asked.control.abort();
      asked = null;
    },
  };
})();
