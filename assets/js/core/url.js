// @ts-check
/* What does the URL say, and who may change it? The only writer of browser history.
 *
 * pageUrl
 *   .get()                      a copy of the state, {key: text}
 *   .set(patch, {push})         null or "" removes a key; replaceState unless push
 *   .on(fn)                     fn(state, changedKeys, origin), origin "local" | "pop" | "tab"; returns the remover
 *   .place()                    {run, page} of the current path
 *   .href(page, patch)          a link inside the same run that carries the state
 *   .go(href)                   follow a link without loading the document again
 *   .link(done)                 done(absolute short-enough link to this view)
 * The state also lies in dcc.Store(id="view") of each page, for server callbacks.
 */

import { all, closest } from "./dom.js";
import { config } from "./config.js";
import { DASH_PUSHED, setProps } from "./libraries.js";
import { say } from "./notice.js";
import { changedKeys, parse, patched, placeOf, query } from "./query.js";

/** @typedef {import("./query.js").State} State */
/** @typedef {"local" | "pop" | "tab"} Origin who changed the view: this page, the history, another tab */
/** @typedef {(state: State, changed: string[], origin: Origin) => void} Listener */

const MAX_URL_CHARS = 2000;
const known = new Set(config.keys);
/** @type {Set<Listener>} */
const listeners = new Set();
let path = location.pathname;
/** @type {State} */
let state = {};
/** @type {State} */
let asked = {};
let storeTimer = 0;

/** @param {string} [pathname] */
const place = (pathname) => placeOf(pathname === undefined ? location.pathname : pathname, config.prefix);

/* Stores of the frame and the page; before Dash has put the frame there, the page's own layout says the same. */
/**
 * @param {string} id
 * @param {Record<string, unknown>} props
 */
function tellDash(id, props) {
  if (document.getElementById("page")) setProps(id, props);
}

/** @param {string[]} changed */
function tellServer(changed) {
  const body = document.querySelector(".page-body");
  if (body) tellDash("view", { data: { ...state } });
  const named = all("[data-rebuild]").map((each) => each.dataset.rebuild);
  const rebuild = (named.join(",") || "launch").split(",");
  if (!changed.some((key) => rebuild.includes(key))) return;
  asked = state;
  tellDash("reload", { data: { search: "?" + query(state), at: Date.now() } });
}

/* What the server reads in the address; of a stored view it knows the keys itself. */
const inAddress = () => (new URLSearchParams(location.search).has("s") ? state : parse(location.search, known));

/* A page was asked for with the state of then; what a person has changed since, it is told when it comes. */
window.addEventListener("swimscope:page", () => {
  const changed = changedKeys(asked, state);
  asked = state;
  if (changed.length) tellServer(changed);
});

/**
 * @param {string[]} changed
 * @param {Origin} origin
 */
function fire(changed, origin) {
  tellServer(changed);
  for (const listener of [...listeners]) listener({ ...state }, changed, origin);
  window.dispatchEvent(new CustomEvent("swimscope:view", { detail: { changed, origin } }));
}

/* The address bar holds the query itself, or s=<hash> of the stored view when it would grow too long. */
/** @param {boolean} push */
function write(push) {
  const text = query(state);
  const url = path + (text ? "?" + text : "");
  const method = push ? "pushState" : "replaceState";
  window.clearTimeout(storeTimer);
  if (url.length <= MAX_URL_CHARS) {
    history[method]({}, "", url);
    return;
  }
  history[method]({ swimscope: state }, "", location.href);
  storeTimer = window.setTimeout(() => {
    const stored = state;
    store(stored).then((name) => {
      if (stored === state && name) history.replaceState({ swimscope: stored }, "", path + "?s=" + name);
    });
  }, 250);
}

/**
 * @param {State} values
 * @returns {Promise<string>} the name of the stored view, "" where it could not be stored
 */
function store(values) {
  return fetch(config.prefix + "api/links", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query: values }),
  })
    .then((response) => response.json().then((body) => ({ ok: response.ok, body })))
    .then(({ ok, body }) => {
      if (!ok) say("This view cannot be stored as a link", body.error || "", "warn");
      return ok ? body.s : "";
    })
    .catch(() => "");
}

/**
 * @param {State} next
 * @param {boolean} push
 * @param {Origin} origin
 * @param {boolean} broadcast
 */
function apply(next, push, origin, broadcast) {
  const changed = changedKeys(state, next);
  if (!changed.length) return;
  state = next;
  write(push);
  fire(changed, origin);
  if (broadcast) tell(changed);
}

/**
 * @param {Record<string, unknown>} patch
 * @param {{push?: boolean}} [options]
 */
function set(patch, options) {
  for (const key of Object.keys(patch)) if (!known.has(key)) throw new Error("unknown URL key " + key);
  apply(patched(state, patch), Boolean(options && options.push), "local", true);
}

/* Same path: tell the page. Another path: the router builds it with the new query. */
/** @param {Origin} origin */
function follow(origin) {
  const next = history.state && history.state.swimscope ? { ...history.state.swimscope } : parse(location.search, known);
  const samePath = location.pathname === path;
  const changed = changedKeys(state, next);
  path = location.pathname;
  state = next;
  if (!samePath) asked = inAddress();
  join();
  if (samePath && changed.length) fire(changed, origin);
  if (!samePath) window.dispatchEvent(new CustomEvent("swimscope:path", { detail: place() }));
  expand();
}

/* A stored link that was followed inside the page: the router already shows it, the keys come here. */
function expand() {
  const name = new URLSearchParams(location.search).get("s");
  if (!name || (history.state && history.state.swimscope)) return;
  const at = location.href;
  fetch(config.prefix + "api/links/" + encodeURIComponent(name))
    .then((response) => (response.ok ? response.json() : null))
    .then((body) => {
      if (!body || location.href !== at) return;
      const own = parse(location.search, known);
      /** @type {State} */
      const next = {};
      for (const [key, text] of Object.entries(body.query)) if (known.has(key)) next[key] = text;
      const before = state;
      state = { ...next, ...own };
      asked = state;
      history.replaceState({ swimscope: state }, "", at);
      const changed = changedKeys(before, state);
      if (changed.length) fire(changed, "pop");
    });
}

/* Selections go to the other tabs of the same run and launch. */
/** @type {BroadcastChannel | null} */
let channel = null;
let channelRun = "";
const syncOn = () => localStorage.getItem("swimscope.sync") !== "off";

function join() {
  const run = place(path).run;
  if (run === channelRun) return;
  if (channel) channel.close();
  channelRun = run;
  channel = run && window.BroadcastChannel ? new BroadcastChannel("swimscope:" + run) : null;
  if (channel) channel.onmessage = (event) => heard(event.data);
}

/** @param {string[]} changed */
function tell(changed) {
  if (!channel || !syncOn() || !changed.some((key) => key === "sel" || key === "hl")) return;
  channel.postMessage({ sel: state.sel || "", hl: state.hl || "", launch: state.launch || "" });
}

/** @param {{sel: string, hl: string, launch: string}} message */
function heard(message) {
  if (!syncOn() || (state.launch || "") !== message.launch) return;
  const next = { ...state };
  if (message.sel !== (state.sel || "")) delete next.item;
  for (const key of /** @type {const} */ (["sel", "hl"])) {
    if (message[key]) next[key] = message[key];
    else delete next[key];
  }
  apply(next, false, "tab", false);
}

/** @param {string} href */
function go(href) {
  const url = new URL(href, location.href);
  if (url.origin !== location.origin) return;
  const same = url.pathname === location.pathname;
  history.pushState({}, "", url.pathname + url.search + url.hash);
  window.dispatchEvent(new CustomEvent(DASH_PUSHED));
  if (!same) window.scrollTo(0, 0);
}

function carried() {
  /** @type {State} */
  const out = {};
  for (const key of config.follow) if (state[key] !== undefined) out[key] = state[key];
  return out;
}

/**
 * @param {string} page
 * @param {Record<string, unknown>} [patch]
 */
function href(page, patch) {
  const run = place(path).run;
  const text = query(patched(carried(), patch || {}));
  return config.prefix + "r/" + encodeURIComponent(run) + (page ? "/" + page : "") + (text ? "?" + text : "");
}

/* Links marked data-follow carry the view; their own keys win. Rewritten just before they are used. */
/** @param {HTMLAnchorElement} anchor */
function freshen(anchor) {
  const url = new URL(anchor.href, location.href);
  if (!anchor.dataset.own) anchor.dataset.own = anchor.dataset.keys || "";
  /** @type {State} */
  const own = {};
  for (const key of anchor.dataset.own.split(",").filter(Boolean)) own[key] = url.searchParams.get(key) || "";
  const values = place(url.pathname).run === place(path).run ? { ...carried(), ...own } : own;
  const text = query(values);
  anchor.setAttribute("href", url.pathname + (text ? "?" + text : ""));
}

for (const kind of ["pointerdown", "focusin", "mouseover"]) {
  document.addEventListener(kind, (event) => {
    const anchor = closest(event, "a[data-follow]");
    if (anchor) freshen(/** @type {HTMLAnchorElement} */ (anchor));
  });
}

document.addEventListener("click", (event) => {
  const anchor = /** @type {HTMLAnchorElement | null} */ (closest(event, "a[data-follow], a[data-nav]"));
  if (!anchor || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || anchor.target === "_blank") return;
  event.preventDefault();
  if (anchor.dataset.follow !== undefined) freshen(anchor);
  go(anchor.href);
});

window.addEventListener("popstate", () => follow("pop"));
window.addEventListener(DASH_PUSHED, () => follow("local"));

state = history.state && history.state.swimscope ? { ...history.state.swimscope } : parse(location.search, known);
asked = inAddress();
join();
expand();

export const pageUrl = {
  get: () => ({ ...state }),
  set,
  /** @param {Listener} listener */
  on(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  place: () => place(path),
  href,
  go,
  sync: {
    get: syncOn,
    /** @param {boolean} on */
    set: (on) => localStorage.setItem("swimscope.sync", on ? "on" : "off"),
  },
  /** @param {(link: string) => void} done the link, "" where it could not be stored */
  link(done) {
    const text = query(state);
    const plain = location.origin + path + (text ? "?" + text : "");
    if (plain.length <= MAX_URL_CHARS) return done(plain);
    store(state).then((name) => done(name ? location.origin + path + "?s=" + name : ""));
  },
};
