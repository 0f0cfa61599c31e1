/* What state does the swimlane have, and when is it drawn? Life cycle of the page, window, lanes on screen.
 *
 * window.swimscope.timeline (T): state in T.s while a swimlane page is shown, else null. Times are ticks after the
 * capture's zero; lane geometry is in pixels. Other files add: data, lanes, draw, hit, gestures, keys, overview,
 * markers, measure, details, search, menu, export.
 */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const T = (ns.timeline = ns.timeline || { parts: [] });
  const MIN_SPAN_TICKS = 16;
  const OVERSCROLL = 0.15;
  const URL_DELAY_MS = 180;

  T.s = null;
  T.el = (id) => document.getElementById(id);
  T.us = (ticks) => ticks / T.s.info.ticks_per_us;
  T.ticks = (us) => us * T.s.info.ticks_per_us;

  /* Times for people: enough digits to tell one tick from the next. */
  T.format = (us) => {
    const digits = Math.abs(us) >= 1e6 ? 1 : Math.abs(us) >= 1000 ? 2 : 3;
    return us.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }) + " µs";
  };

  T.announce = (text) => {
    const live = T.el("swim-live");
    if (live) live.textContent = text;
  };

  T.query = (extra, view) => {
    const url = view || T.s.url;
    const out = { launch: url.launch || "0", view: url.view || "worker", setup: url.setup || "apart" };
    return new URLSearchParams({ ...out, ...extra }).toString();
  };

  const address = (run, path, query) => ns.config.prefix + "api/timeline/" + encodeURIComponent(run) + "/" + path + "?" + query;

  T.api = (path, extra, signal) => fetch(address(T.s.run, path, T.query(extra || {})), { signal });

  /* On a fresh document the first answer is fetched, and plotly runs, while Dash still waits for its layout. dcc.Graph
     takes the window.Plotly that is there; app/preload.py has the browser fetch the script before any other runs. */
  let early = null;
  function startEarly() {
    const { run, page } = ns.url.place();
    if (page !== "swimlane") return;
    if (!window.Plotly) {
      const script = document.createElement("script");
      Object.assign(script, { async: true, src: ns.config.prefix + "_dash-component-suites/plotly/package_data/plotly.min.js" });
      document.head.append(script);
    }
    const place = address(run, "info", T.query({}, ns.url.get()));
    early = { place, answer: fetch(place + "&early=1").then((response) => (response.status === 200 ? response.json() : null), () => null) };
  }

  T.info = async (signal) => {
    const mine = early;
    early = null;
    const known = mine && mine.place === address(T.s.run, "info", T.query({})) ? await mine.answer : null;
    return known || T.json("info", {}, signal);
  };

  T.json = async (path, extra, signal) => {
    const response = await T.api(path, extra, signal);
    const body = await response.json();
    if (!response.ok) throw new Error(body.error || response.statusText);
    return body;
  };

  /* Runs a request whose older twin is no longer wanted; failures are told once, aborts are silent. */
  const running = new Map();
  T.latest = async (name, work, done) => {
    if (running.has(name)) running.get(name).abort();
    const control = new AbortController();
    running.set(name, control);
    const state = T.s;
    T.busy();
    try {
      const answer = await work(control.signal);
      if (T.s === state && running.get(name) === control) done(answer);
    } catch (error) {
      if (error.name === "AbortError" || T.s !== state) return;
      ns.say("The swimlane could not load this", error.message, "warn");
    } finally {
      if (running.get(name) === control) running.delete(name);
      if (T.s === state) T.redraw();
    }
  };

  T.waiting = () => running.size > 0;

  /* Steps wait for each other, so that none is lost: the next starts from where the last one led. A held key does not
     pile them up. Whoever asked for a step is told when it fails. */
  let steps = 0;
  let lastStep = Promise.resolve();
  T.inTurn = (step, held) => {
    if (held && steps) return lastStep;
    steps++;
    const mine = lastStep.then(() => T.s && step()).finally(() => steps--);
    lastStep = mine.catch(() => undefined);
    return mine;
  };
  T.busy = () => (T.el("swim-root").dataset.busy = "true");

  T.span = () => {
    const [first, last] = T.s.info.span;
    return [first, last];
  };

  T.full = () => {
    const [first, last] = T.span();
    const pad = Math.max(1, Math.round((last - first) * 0.01));
    return [first - pad, last + pad];
  };

  /* Show [t0, t1]; how = "gesture" (replace, delayed), "step" (push), "quiet" (URL already says so). */
  T.show = (t0, t1, how) => {
    if (!T.s.info) return;
    const [first, last] = T.full();
    const slack = (last - first) * OVERSCROLL;
    const widest = (last - first) * (1 + OVERSCROLL);
    let length = Math.min(Math.max(t1 - t0, MIN_SPAN_TICKS), widest);
    let start = t1 - t0 < MIN_SPAN_TICKS ? (t0 + t1 - length) / 2 : t0;
    start = Math.min(Math.max(start, first - slack), last + slack - length);
    if (how !== "gesture") {
      start = Math.round(start);
      length = Math.round(length);
    }
    T.s.win = [start, start + length];
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
    ns.url.set(patch, { push: Boolean(push) });
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
        if (!T.waiting()) delete T.el("swim-root").dataset.busy;
        return;
      }
      T.measureBox();
      T.drawFrame(T.current());
      T.request();
    });
  };

  T.measureBox = () => {
    const box = T.el("swim-plot");
    T.s.width = Math.max(box.clientWidth, 100);
    T.s.height = Math.max(box.clientHeight - T.AXIS_PX, 40);
    T.layoutLanes();
  };

  async function load(arriving) {
    const state = T.s;
    state.ready = false;
    T.busy();
    await new Promise((resolve) => {
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
    T.loadSelection(arriving && (free || arrival === "link"), free);
    T.loadHighlight();
    T.runSearch(false);
    T.showToolbar();
  }

  function fromUrl(url) {
    T.measureBox();
    const full = T.full();
    const given = url.t0 !== undefined && url.t1 !== undefined;
    T.s.win = given ? [Number(url.t0), Number(url.t1)] : full;
    T.s.y = T.rowOffset(Number(url.y || 0));
    T.redraw();
  }

  /* Whether the URL names another window than the one shown: a link or a table asked for it. */
  function elsewhere(url) {
    const given = url.t0 !== undefined && url.t1 !== undefined;
    const [t0, t1] = given ? [Number(url.t0), Number(url.t1)] : T.full();
    return t0 !== T.s.win[0] || t1 !== T.s.win[1];
  }

  function changed(url, keys, origin) {
    if (!T.s) return;
    const before = T.s.url;
    T.s.url = url;
    const has = (...names) => names.some((name) => keys.includes(name));
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

  function open(place) {
    close();
    if (place.page !== "swimlane" || !T.el("swim-root")) return;
    T.s = {
      run: place.run, url: ns.url.get(), info: null, ready: false, win: [0, 1], y: 0, width: 100, height: 100,
      rows: [], selection: null, highlight: null, found: null, hover: null, drawn: null,
    };
    T.s.off = ns.url.on(changed);
    T.s.observer = new ResizeObserver(() => T.redraw());
    T.s.observer.observe(T.el("swim-plot"));
    T.bind();
    T.showToolbar();
    T.detailsChanged();
    load(true);
  }

  function close() {
    if (!T.s) return;
    T.s.off();
    T.s.observer.disconnect();
    window.clearTimeout(urlTimer);
    urlTimer = 0;
    T.s = null;
  }

  /* How the page was reached: a link may move the window to its selection, Back and reload leave it. */
  let arrival = "load";
  window.addEventListener("popstate", () => (arrival = "pop"));
  window.addEventListener("_dashprivate_pushstate", () => (arrival = "link"));

  T.bind = () => T.parts.forEach((part) => part());
  window.addEventListener("swimscope:page", (event) => open(event.detail));
  window.addEventListener("swimscope:path", (event) => event.detail.page !== "swimlane" && close());
  window.addEventListener("swimscope:theme", () => {
    if (!T.s || !T.s.ready) return;
    T.dropColors();
    T.drawOverview();
    T.redraw();
  });
  startEarly();
})();
