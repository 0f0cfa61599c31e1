// @ts-check
/* Which part of the capture is shown, and when is it drawn? Window, requests, life cycle. Times are ticks after the zero. */
import { answerOf, isAbort, messageOf } from "../core/dom.js";
import { say } from "../core/notice.js";
import { full, clamped } from "./level.js";

/** @typedef {import("../core/query.js").State} State */

/** @param {import("./types").Timeline} T */
export function windowPart(T) {
  const URL_DELAY_MS = 180;

  T.us = (ticks) => ticks / T.s.info.ticks_per_us;
  T.ticks = (us) => us * T.s.info.ticks_per_us;

  T.announce = (text) => {
    const live = T.el("live");
    if (live) live.textContent = text;
  };

  T.address = (path, extra, state) => T.source.address(path, { ...T.source.query(state || T.s.url), ...extra });
  T.api = (path, extra, signal) => fetch(T.address(path, extra || {}), { signal });
  T.json = async (path, extra, signal) => answerOf(await T.api(path, extra, signal));
  T.info = async (signal) => (await T.source.first(T.address("info", {}))) || T.json("info", {}, signal);

  /* Runs a request whose older twin is no longer wanted; failures are told once, aborts are silent. */
  /** @type {Map<string, AbortController>} */
  const running = new Map();
  T.latest = async (name, work, done) => {
    running.get(name)?.abort();
    const control = new AbortController();
    running.set(name, control);
    const state = T.s;
    T.busy();
    try {
      const answer = await work(control.signal);
      if (T.s === state && running.get(name) === control) done(answer);
    } catch (error) {
      if (isAbort(error) || T.s !== state) return;
      say("The swimlane could not load this", messageOf(error), "warn");
    } finally {
      if (running.get(name) === control) running.delete(name);
      if (T.s === state) T.redraw();
    }
  };

  T.waiting = () => running.size > 0;

  /* Steps wait for each other, so that none is lost: the next starts from where the last one led. A held key does not
     pile them up. Whoever asked for a step is told when it fails. */
  let steps = 0;
  /** @type {Promise<unknown>} */
  let lastStep = Promise.resolve();
  T.inTurn = (step, held) => {
    if (held && steps) return lastStep;
    steps++;
    const mine = lastStep.then(() => T.s && step()).finally(() => steps--);
    lastStep = mine.catch(() => undefined);
    return mine;
  };
  T.busy = () => (T.root.dataset.busy = "true");

  T.span = () => {
    const [first, last] = T.s.info.span;
    return [first, last];
  };

  T.full = () => {
    const [first, last] = T.span();
    return full(first, last);
  };

  /* Show [t0, t1]; how = "gesture" (replace, delayed), "step" (push), "quiet" (URL already says so). */
  T.show = (t0, t1, how) => {
    if (!T.s.info) return;
    T.s.win = clamped(t0, t1, T.full(), how !== "gesture");
    for (const listener of T.windowListeners) listener(...T.s.win, how || "gesture");
    T.busy();
    T.s.movedAt = how === "gesture" ? performance.now() : 0;
    if (how !== "quiet") T.remember(how === "step");
    T.redraw();
  };

  let urlTimer = 0;
  T.remember = (push) => {
    window.clearTimeout(urlTimer);
    if (push) writeWindow(true);
    else urlTimer = window.setTimeout(writeWindow, URL_DELAY_MS, false);
  };

  /** @param {boolean} push */
  function writeWindow(push) {
    window.clearTimeout(urlTimer);
    urlTimer = 0;
    if (!T.s) return;
    const [t0, t1] = T.s.win.map(Math.round);
    const full = T.full();
    T.s.win = [t0, t1];
    // A link with a selection from elsewhere and without a window looks for it: the whole run must then be written.
    const whole = t0 === full[0] && t1 === full[1] && (!T.s.url.sel || T.s.url.item);
    const top = T.topRow();
    T.set({ t0: whole ? null : t0, t1: whole ? null : t1, y: top ? top : null }, push);
  }

  /* Whether the address bar still shows the window from before a gesture. */
  T.urlIsLate = () => urlTimer !== 0;

  /* Change the URL; the listener below does the rest. A step right after a gesture leaves the gesture's window behind. */
  T.set = (patch, push) => {
    if (push && T.urlIsLate()) writeWindow(false);
    T.source.view.set(patch, { push: Boolean(push) });
  };

  T.zoom = (factor, at, how) => {
    const [t0, t1] = T.s.win;
    const pivot = at === undefined ? (t0 + t1) / 2 : at;
    T.show(pivot - (pivot - t0) * factor, pivot + (t1 - pivot) * factor, how || "gesture");
  };

  T.pan = (share, how) => {
    const [t0, t1] = T.s.win;
    const by = (t1 - t0) * share;
    T.show(t0 + by, t1 + by, how || "gesture");
  };

  T.fit = (bounds, margin) => {
    if (!T.s.info) return;
    const [t0, t1] = bounds || T.full();
    const pad = bounds ? Math.max((t1 - t0) * (margin === undefined ? 0.15 : margin), 4) : 0;
    T.show(Math.floor(t0 - pad), Math.ceil(t1 + pad), "step");
  };

  T.timeAt = (x) => T.s.win[0] + (x / T.s.width) * (T.s.win[1] - T.s.win[0]);
  T.xAt = (tick) => ((tick - T.s.win[0]) / (T.s.win[1] - T.s.win[0])) * T.s.width;

  /* One frame: draw what is known, ask for what is missing. */
  let frame = 0;
  T.redraw = () => {
    if (frame || !T.s) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      if (!T.s) return;
      if (!T.s.ready) {
        if (!T.waiting()) delete T.root.dataset.busy;
        return;
      }
      T.measureBox();
      T.drawFrame(T.current());
      T.request();
    });
  };

  T.measureBox = () => {
    const box = T.el("plot");
    T.s.width = Math.max(box.clientWidth, 100);
    T.s.height = Math.max(box.clientHeight - T.AXIS_PX, 40);
    T.layoutLanes();
  };

  /** @param {boolean} [arriving] the page was just opened */
  async function load(arriving) {
    const state = T.s;
    state.ready = false;
    T.busy();
    await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
      T.latest("info", T.info, (info) => {
        state.info = info;
        resolve();
      });
    });
    if (T.s !== state) return;
    state.ready = true;
    state.slots = state.info.classes.map(T.styleOf);
    state.graphTasks = new Set(state.info.graph_tasks);
    T.data.clear();
    state.highlight = null;
    fromUrl(state.url);
    T.lanesChanged();
    T.measureChanged();
    T.showViews();
    T.drawOverview();
    const free = state.url.t0 === undefined;
    T.loadSelection(Boolean(arriving) && (free || T.source.linked()), free);
    T.loadHighlight();
    T.runSearch(false);
    T.showToolbar();
  }

  /** @param {State} url */
  function fromUrl(url) {
    T.measureBox();
    const full = T.full();
    const given = url.t0 !== undefined && url.t1 !== undefined;
    T.s.win = given ? [Number(url.t0), Number(url.t1)] : full;
    T.s.y = T.rowOffset(Number(url.y || 0));
    T.redraw();
  }

  /* Whether the URL names another window than the one shown: a link or a table asked for it. */
  /** @param {State} url */
  function elsewhere(url) {
    const given = url.t0 !== undefined && url.t1 !== undefined;
    const [t0, t1] = given ? [Number(url.t0), Number(url.t1)] : T.full();
    return t0 !== T.s.win[0] || t1 !== T.s.win[1];
  }

  /** @type {import("../core/url.js").Listener} */
  function changed(url, keys, origin) {
    const before = T.s.url;
    T.s.url = url;
    const has = (/** @type {string[]} */ ...names) => names.some((name) => keys.includes(name));
    if (has("view", "setup") || (has("launch") && origin !== "local")) {
      T.showToolbar();
      T.detailsChanged();
      load();
      return;
    }
    if (!T.s.ready) {
      T.showToolbar();
      T.detailsChanged(); // the rest is read from the URL once the lanes are known
      return;
    }
    if (has("t0", "t1", "y") && (origin !== "local" || elsewhere(url))) fromUrl(url);
    if (has("pin", "hide", "lanes")) T.lanesChanged();
    if (has("sel", "depth", "deps", "hide")) T.loadSelection(has("sel") && origin !== "pop", true);
    if (has("hl", "sel") || (has("q") && url.hl === "search")) T.loadHighlight();
    if (has("q") && before.q !== url.q) T.runSearch(false);
    if (has("sel", "item")) T.detailsChanged();
    if (has("mz")) T.measureChanged();
    if (has("mk")) T.drawOverview();
    T.showToolbar();
    T.redraw();
  }

  T.start = () => {
    T.s.off = T.source.view.on(changed);
    T.s.observer = new ResizeObserver(() => T.redraw());
    T.s.observer.observe(T.el("plot"));
    T.showToolbar();
    T.detailsChanged();
    load(true);
  };

  T.stop = () => {
    T.s.off();
    T.s.observer.disconnect();
    window.clearTimeout(urlTimer);
    urlTimer = 0;
  };

  T.recolour = () => {
    if (!T.s.ready) return;
    T.dropColors();
    T.drawOverview();
    T.redraw();
  };
}
