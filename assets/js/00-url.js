/* What does the URL say, and who may change it? The only writer of browser history.
 *
 * window.swimscope.url
 *   .get()                      a copy of the state, {key: text}
 *   .set(patch, {push})         null or "" removes a key; replaceState unless push
 *   .on(fn)                     fn(state, changedKeys, origin), origin "local" | "pop" | "tab"; returns the remover
 *   .place()                    {run, page} of the current path
 *   .href(page, patch)          a link inside the same run that carries the state
 *   .go(href)                   follow a link without loading the document again
 *   .link(done)                 done(absolute short-enough link to this view)
 * The state also lies in dcc.Store(id="view") of each page, for server callbacks.
 */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const MAX_URL_CHARS = 2000;
  const meta = document.querySelector('meta[name="swimscope-config"]');
  const config = meta ? JSON.parse(meta.content) : { prefix: "/", keys: [], follow: [] };
  ns.config = config;
  const known = new Set(config.keys);
  const listeners = new Set();
  let path = location.pathname;
  let state = {};
  let asked = {};
  let storeTimer = 0;

  function parse(search) {
    const out = {};
    for (const [key, text] of new URLSearchParams(search)) if (known.has(key)) out[key] = text;
    return out;
  }

  function query(values) {
    return Object.keys(values)
      .sort()
      .map((key) => encodeURIComponent(key) + "=" + encodeURIComponent(values[key]).replace(/%3A/gi, ":").replace(/%2C/gi, ","))
      .join("&");
  }

  function changedKeys(before, after) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => before[key] !== after[key]).sort();
  }

  function place(pathname) {
    const rest = (pathname === undefined ? location.pathname : pathname).slice(config.prefix.length);
    const match = /^r\/([^/]+)(?:\/([^/]*))?\/?$/.exec(rest);
    return match ? { run: decodeURIComponent(match[1]), page: decodeURIComponent(match[2] || "") } : { run: "", page: "runs" };
  }

  function setProps(id, props) {
    if (window.dash_clientside && window.dash_clientside.set_props && document.getElementById("page")) {
      window.dash_clientside.set_props(id, props);
    }
  }

  function tellServer(changed) {
    const body = document.querySelector(".page-body");
    if (body) setProps("view", { data: { ...state } });
    const named = [...document.querySelectorAll("[data-rebuild]")].map((each) => each.dataset.rebuild);
    const rebuild = (named.join(",") || "launch").split(",");
    if (!changed.some((key) => rebuild.includes(key))) return;
    asked = state;
    setProps("reload", { data: { search: "?" + query(state), at: Date.now() } });
  }

  /* What the server reads in the address; of a stored view it knows the keys itself. */
  const inAddress = () => (new URLSearchParams(location.search).has("s") ? state : parse(location.search));

  /* A page was asked for with the state of then; what a person has changed since, it is told when it comes. */
  window.addEventListener("swimscope:page", () => {
    const changed = changedKeys(asked, state);
    asked = state;
    if (changed.length) tellServer(changed);
  });

  function fire(changed, origin) {
    tellServer(changed);
    for (const listener of [...listeners]) listener({ ...state }, changed, origin);
    window.dispatchEvent(new CustomEvent("swimscope:view", { detail: { changed, origin } }));
  }

  /* The address bar holds the query itself, or s=<hash> of the stored view when it would grow too long. */
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

  function store(values) {
    return fetch(config.prefix + "api/links", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ query: values }),
    })
      .then((response) => response.json().then((body) => ({ ok: response.ok, body })))
      .then(({ ok, body }) => {
        if (!ok) ns.say && ns.say("This view cannot be stored as a link", body.error || "", "warn");
        return ok ? body.s : "";
      })
      .catch(() => "");
  }

  function apply(next, push, origin, broadcast) {
    const changed = changedKeys(state, next);
    if (!changed.length) return;
    state = next;
    write(push);
    fire(changed, origin);
    if (broadcast) tell(changed);
  }

  function set(patch, options) {
    const next = { ...state };
    for (const [key, value] of Object.entries(patch)) {
      if (!known.has(key)) throw new Error("unknown URL key " + key);
      if (value === null || value === undefined || value === "") delete next[key];
      else next[key] = String(value);
    }
    apply(next, Boolean(options && options.push), "local", true);
  }

  /* Same path: tell the page. Another path: the router builds it with the new query. */
  function follow(origin) {
    const next = history.state && history.state.swimscope ? { ...history.state.swimscope } : parse(location.search);
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
        const own = parse(location.search);
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

  function tell(changed) {
    if (!channel || !syncOn() || !changed.some((key) => key === "sel" || key === "hl")) return;
    channel.postMessage({ sel: state.sel || "", hl: state.hl || "", launch: state.launch || "" });
  }

  function heard(message) {
    if (!syncOn() || (state.launch || "") !== message.launch) return;
    const next = { ...state };
    if (message.sel !== (state.sel || "")) delete next.item;
    for (const key of ["sel", "hl"]) {
      if (message[key]) next[key] = message[key];
      else delete next[key];
    }
    apply(next, false, "tab", false);
  }

  function go(href) {
    const url = new URL(href, location.href);
    if (url.origin !== location.origin) return;
    const same = url.pathname === location.pathname;
    history.pushState({}, "", url.pathname + url.search + url.hash);
    window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
    if (!same) window.scrollTo(0, 0);
  }

  function carried() {
    const out = {};
    for (const key of config.follow) if (state[key] !== undefined) out[key] = state[key];
    return out;
  }

  function href(page, patch) {
    const run = place(path).run;
    const values = { ...carried() };
    for (const [key, value] of Object.entries(patch || {})) {
      if (value === null || value === "") delete values[key];
      else values[key] = String(value);
    }
    const text = query(values);
    return config.prefix + "r/" + encodeURIComponent(run) + (page ? "/" + page : "") + (text ? "?" + text : "");
  }

  /* Links marked data-follow carry the view; their own keys win. Rewritten just before they are used. */
  function freshen(anchor) {
    const url = new URL(anchor.getAttribute("href"), location.href);
    if (!anchor.dataset.own) anchor.dataset.own = anchor.dataset.keys || "";
    const own = {};
    for (const key of anchor.dataset.own.split(",").filter(Boolean)) own[key] = url.searchParams.get(key) || "";
    const values = place(url.pathname).run === place(path).run ? { ...carried(), ...own } : own;
    const text = query(values);
    anchor.setAttribute("href", url.pathname + (text ? "?" + text : ""));
  }

  for (const kind of ["pointerdown", "focusin", "mouseover"]) {
    document.addEventListener(kind, (event) => {
      const anchor = event.target.closest && event.target.closest("a[data-follow]");
      if (anchor) freshen(anchor);
    });
  }

  document.addEventListener("click", (event) => {
    const anchor = event.target.closest && event.target.closest("a[data-follow], a[data-nav]");
    if (!anchor || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || anchor.target === "_blank") return;
    event.preventDefault();
    if (anchor.dataset.follow !== undefined) freshen(anchor);
    go(anchor.getAttribute("href"));
  });

  window.addEventListener("popstate", () => follow("pop"));
  window.addEventListener("_dashprivate_pushstate", () => follow("local"));

  state = history.state && history.state.swimscope ? { ...history.state.swimscope } : parse(location.search);
  asked = inAddress();
  join();
  expand();

  ns.url = {
    get: () => ({ ...state }),
    set,
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    place: () => place(path),
    href,
    go,
    sync: {
      get: syncOn,
      set: (on) => localStorage.setItem("swimscope.sync", on ? "on" : "off"),
    },
    link(done) {
      const text = query(state);
      const plain = location.origin + path + (text ? "?" + text : "");
      if (plain.length <= MAX_URL_CHARS) return done(plain);
      store(state).then((name) => done(name ? location.origin + path + "?s=" + name : ""));
    },
  };
})();
