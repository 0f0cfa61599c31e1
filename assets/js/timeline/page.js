// @ts-check
/* How does the swimlane page mount its timeline? The source is a chip capture; its view is the page's URL. */
import { route } from "../core/config.js";
import { DASH_PUSHED } from "../core/libraries.js";
import { ITEM_LETTERS, PLOTLY_PATH, TIMELINE_VIEWS } from "../core/constants.js";
import { config } from "../core/config.js";
import { isSeveral } from "../core/selection.js";
import { pageUrl } from "../core/url.js";
import { panel } from "../panel/panel.js";
import { Timeline } from "./timeline.js";

/** @typedef {import("./types").Source} Source */
/** @typedef {import("../core/query.js").State} State */

/** @type {Timeline | null} */
let shown = null;

/** The timeline of the page, or null. */
export const shownTimeline = () => shown;

/** Whether a link led to the page that is shown, not Back or a reload. */
export const linkedHere = () => arrival === "link";

/**
 * Mount the timeline of a page; the one before ends.
 * @param {HTMLElement} root
 * @param {Source} source
 */
export function showTimeline(root, source) {
  close();
  loadPlotly();
  shown = new Timeline(root, source);
  return shown;
}

/* How the page was reached: a link may move the window to its selection, Back and reload leave it. */
let arrival = "load";
window.addEventListener("popstate", () => (arrival = "pop"));
window.addEventListener(DASH_PUSHED, () => (arrival = "link"));

/** @param {State} state */
const captureQuery = (state) => ({ launch: state.launch || "0", view: state.view || "worker", setup: state.setup || "apart" });

/**
 * The address of an answer about a capture.
 * @param {string} run
 * @param {string} path
 * @param {Record<string, string | number>} query
 */
const captureAddress = (run, path, query) =>
  route("api", "timeline", run, path) + "?" + new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]));

/** @type {{place: string, answer: Promise<any>} | null} */
let early = null;

/**
 * A chip capture as the source of a timeline.
 * @param {string} run key of the run
 * @param {Source["view"]} view where the state of the view is kept
 * @returns {Source}
 */
export function captureSource(run, view) {
  return {
    run,
    page: "swimlane",
    view,
    views: TIMELINE_VIEWS.map(([name]) => name),
    letters: ITEM_LETTERS,
    moments: "",
    labels: ["func", "id", "both", "none"],
    selection: (item) => (item.task_id ? "task:" + item.task_id : null),
    several: isSeveral,
    can: { tasks: true, lead: true, chain: true, pages: true },
    query: captureQuery,
    address: (path, query) => captureAddress(run, path, query),
    first: async (place) => {
      const mine = early;
      early = null;
      return mine && mine.place === place ? mine.answer : null;
    },
    linked: linkedHere,
    focus: ({ sel, item, view: name, launch }) => ({ run, sel: sel || "", item: item || "", view: name || "worker", launch: Number(launch || 0) }),
    title: () => document.querySelector(".crumb-run")?.textContent || run,
    viewTitle: (state) => (TIMELINE_VIEWS.find(([name]) => name === (state.view || "worker")) || ["", ""])[1],
    open: (page, patch) => pageUrl.go(pageUrl.href(page, patch)),
    panel: () => panel.toggle(),
  };
}

/* On a fresh document the first answer and plotly are fetched while Dash still waits for its layout. */
function startEarly() {
  const { run, page } = pageUrl.place();
  if (page !== "swimlane") return;
  loadPlotly();
  const place = captureAddress(run, "info", captureQuery(pageUrl.get()));
  early = { place, answer: fetch(place + "&early=1").then((response) => (response.status === 200 ? response.json() : null), () => null) };
}

/* dcc.Graph takes the window.Plotly that is there; app/server/scripts.py has the browser fetch the script early. */
export function loadPlotly() {
  if (window.Plotly || document.querySelector("script[data-plotly]")) return;
  const script = document.createElement("script");
  Object.assign(script, { async: true, src: config.prefix + PLOTLY_PATH });
  script.dataset.plotly = "";
  document.head.append(script);
}

function close() {
  if (shown) shown.destroy();
  shown = null;
}

window.addEventListener("swimscope:page", (event) => {
  close();
  const root = document.getElementById("swim-root");
  if (event.detail.page === "swimlane" && root) showTimeline(root, captureSource(event.detail.run, pageUrl));
});
window.addEventListener("swimscope:path", (event) => event.detail.page !== shown?.source.page && close());
startEarly();
