// @ts-check
/* What can be drawn or highlighted from a table's row? Entries for its menu, on every page. */

import { route } from "../core/config.js";
import { answerOf, messageOf } from "../core/dom.js";
import { say } from "../core/notice.js";
import { listItem } from "../core/query.js";
import { pageUrl } from "../core/url.js";

/** @typedef {Record<string, any>} Row */
/** @typedef {Record<string, string | number | null>} Patch */

const here = () => pageUrl.place().page === "swimlane" && document.getElementById("swim-root") !== null;

/* Put a change of the URL where the swimlane shows it: here, or on its page. */
/** @param {Patch} patch */
function apply(patch) {
  if (here()) pageUrl.set({ ...patch, item: null }, { push: true });
  else pageUrl.go(pageUrl.href("swimlane", patch));
}

/**
 * @param {string} kind
 * @param {string} task
 */
async function drawing(kind, task) {
  const { launch, kind: path, untimed } = pageUrl.get();
  const query = new URLSearchParams({ task, launch: launch || "0", kind: path || "", untimed: untimed || "" });
  return answerOf(await fetch(route("api", "r", pageUrl.place().run, "draw", kind) + "?" + query));
}

/* Markers are added to those there are; the same marker is not put twice. */
/** @param {{tick: number, color: string, label: string}[]} added */
function withMarkers(added) {
  const known = (pageUrl.get().mk || "").split(",").filter(Boolean);
  const fresh = added.map(({ tick, color, label }) => listItem(tick + ":" + color + ":" + label));
  return [...new Set([...known, ...fresh])].sort((a, b) => parseInt(a, 10) - parseInt(b, 10)).join(",");
}

/**
 * @param {string} kind
 * @param {Row} data
 * @param {Patch} [extra]
 */
async function draw(kind, data, extra) {
  try {
    const found = await drawing(kind, data.sel.slice(data.sel.indexOf(":") + 1));
    apply({ sel: data.sel, hl: data.hl || null, mk: withMarkers(found.markers), t0: found.t0, t1: found.t1, y: null, ...extra });
    say(found.title, found.markers.map((/** @type {{label: string}} */ marker) => marker.label).join(" → "), "info");
  } catch (error) {
    say("This cannot be drawn", messageOf(error), "warn");
  }
}

/** @param {number} core */
function pinned(core) {
  const known = (pageUrl.get().pin || "").split(",").filter(Boolean);
  return [...new Set([...known, "core:" + core])].join(",");
}

const scheduler = { view: "scheduler", pin: null, hide: null };
const whole = { t0: null, t1: null, y: null };

/**
 * Entries for the row of a table.
 * @param {Row} data
 */
export function rowActions(data) {
  const { sel = "", hl = "" } = data;
  /** @type {import("../core/menu.js").Entry[]} */
  const out = [];
  if (sel.startsWith("gap:")) out.push(["Draw the preceding gap as two markers", () => draw("gap", data)]);
  if (hl === "early" && sel.startsWith("task:")) {
    out.push(["Draw maximum lead (scheduler view)", () => draw("lead", data, scheduler)]);
    out.push(["Highlight all early-dispatch targets", () => apply({ hl, ...whole })]);
  }
  if (hl.startsWith("path:")) out.push(["Highlight the whole path", () => apply({ sel: hl, hl, ...whole })]);
  if (sel.startsWith("func:")) out.push(["Highlight the function in the swimlane", () => apply({ sel, hl: sel, ...whole })]);
  if (sel.startsWith("chain:")) {
    out.push(["Highlight the chain in the swimlane", () => apply({ sel, hl: sel, ...whole })]);
    out.push(["Highlight all chains", () => apply({ hl: "chains", ...whole })]);
  }
  if (!sel && Number.isInteger(data.core_id) && data.core_id >= 0) {
    out.push(["Pin the core's lane in the swimlane", () => apply({ pin: pinned(data.core_id), y: null })]);
  }
  return out;
}
