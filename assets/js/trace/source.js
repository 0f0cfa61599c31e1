// @ts-check
/* How is a trace the source of a timeline? Its view is kept in the page's URL under keys of its own: times and lanes of a
 * trace mean nothing on the chip swimlane, and the reverse.
 */
import { route } from "../core/config.js";
import { pageUrl } from "../core/url.js";
import { linkedHere } from "../timeline/page.js";

/** @typedef {import("../timeline/types").Source} Source */
/** @typedef {import("../core/query.js").State} State */

/** Key of the timeline → key of the URL. */
/** @type {Record<string, string>} */
const KEYS = {
  t0: "xt0", t1: "xt1", y: "xy", pin: "xpin", hide: "xhide", lanes: "xlanes", mk: "xmk", mz: "xmz", item: "xitem", sel: "xsel", hl: "xhl", q: "xq",
  labels: "xlabels",
};

/** @param {State} url @returns {State} */
function fromUrl(url) {
  /** @type {State} */
  const out = {};
  for (const [own, key] of Object.entries(KEYS)) if (url[key] !== undefined) out[own] = url[key];
  if (!(Number(out.t0) < Number(out.t1))) {
    delete out.t0;
    delete out.t1;
  }
  return out;
}

const view = {
  get: () => fromUrl(pageUrl.get()),
  /**
   * @param {Record<string, unknown>} patch
   * @param {{push?: boolean}} [options]
   */
  set(patch, options) {
    const known = Object.entries(patch).filter(([key]) => KEYS[key]);
    pageUrl.set(Object.fromEntries(known.map(([key, value]) => [KEYS[key], value])), options);
  },
  /** @param {import("../core/url.js").Listener} listener */
  on: (listener) =>
    pageUrl.on((state, changed, origin) => {
      const own = Object.keys(KEYS).filter((key) => changed.includes(KEYS[key]));
      if (own.length) listener(fromUrl(state), own, origin);
    }),
};

/**
 * A trace as the source of a timeline.
 * @param {string} run key of the run
 * @param {{trace: string, label: string}} which
 * @param {() => void} panel opens or closes the tables
 * @returns {Source}
 */
export function traceSource(run, { trace, label }, panel) {
  return {
    run,
    page: "trace",
    view,
    views: ["trace"],
    letters: "si",
    moments: "i",
    labels: ["func", "none"],
    selection: (item) => item.sel || null,
    several: (sel) => sel.startsWith("span:"),
    can: { tasks: false, lead: false, chain: false, pages: false },
    query: () => ({ trace }),
    address: (path, query) =>
      route("api", "trace", run, path) + "?" + new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])),
    first: async () => null,
    linked: linkedHere,
    focus: ({ item }) => ({ run, trace, item: item || "" }),
    title: () => [document.querySelector(".crumb-run")?.textContent || run, label].join(" · "),
    viewTitle: () => "Trace",
    open: (page, patch) => pageUrl.go(pageUrl.href(page, patch)),
    panel,
  };
}
