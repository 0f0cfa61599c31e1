// @ts-check
/* Which passes are there? The list on the left: marks, counts, filters, where a search and a name occur. */
import { all, byId, element } from "../core/dom.js";
import { pageUrl } from "../core/url.js";

/** @typedef {{id: string, index: number, name: string, changed: boolean, added: number, removed: number, moved: number,
 *   lines: number, functions: number | null, warnings: number, changes: string[], change_count: number}} Pass */
/** @typedef {{dump: string, dumps: string[], level: string, lines: number, passes: Pass[], names: Record<string, number>,
 *   problems: {code: string, file: string, text: string}[], problem_count: number,
 *   tools: {kernel: string, files: string[]}[]}} PassList */
/** @typedef {{contains: number | null, changes: number | null, drops: number | null,
 *   passes: {lines: number, new: number, gone: number, line: number, text: string}[]}} Hits */
/** @typedef {{name: string, steps: {event: string, names: string[], name_count: number, line: number, mentions: number}[]}} History */

const MOST_SHOWN = 2_000;
/** @type {Record<string, string>} */
const EVENTS = { absent: "·", created: "●", same: "│", changed: "◆", split: "⋔", renamed: "↷", dropped: "✕" };

/** @type {Record<string, (pass: Pass) => boolean>} */
const FILTERS = {
  all: () => true,
  changed: (pass) => pass.changed,
  noop: (pass) => !pass.changed && pass.index > 0,
  warnings: (pass) => pass.warnings > 0,
};

/** @param {number} index */
export const two = (index) => String(index).padStart(2, "0");

/** @param {Pass} pass */
export const passText = (pass) => two(pass.index) + " " + pass.name;

/** @param {number} count @param {string} noun */
export const plural = (count, noun) => count.toLocaleString("en-US") + " " + noun + (count === 1 ? "" : noun.endsWith("s") ? "es" : "s");

/**
 * The positions that the filters let through.
 * @param {PassList} list
 */
export function visible(list) {
  const { pf, find } = pageUrl.get();
  const kept = FILTERS[pf || "all"] || FILTERS.all;
  const text = (find || "").trim().toLowerCase();
  return [...list.passes.keys()].filter((at) => kept(list.passes[at]) && (!text || passText(list.passes[at]).toLowerCase().includes(text)));
}

/** Put the counts into the labels of the filters. @param {PassList} list */
function labels(list) {
  /** @type {Record<string, string>} */
  const names = { all: "All", changed: "Changed", noop: "No-op", warnings: "With warnings" };
  for (const each of all("#ir-filters .ir-choice")) {
    const key = each.dataset.value || "all";
    each.textContent = names[key] + " (" + list.passes.filter(FILTERS[key]).length.toLocaleString("en-US") + ")";
    each.setAttribute("aria-pressed", String((pageUrl.get().pf || "all") === key));
  }
}

/** @param {Pass} pass */
function counts(pass) {
  const made = element("span", "", { class: "ir-pm" });
  if (!pass.changed) made.append(element("span", pass.index ? "no-op" : "frontend", { class: "ir-noop" }));
  else made.append(element("span", "+" + pass.added.toLocaleString("en-US"), { class: "ir-plus" }), element("span", "−" + pass.removed.toLocaleString("en-US"), { class: "ir-minus" }));
  if (pass.moved) made.append(element("span", "↕" + pass.moved.toLocaleString("en-US"), { class: "ir-moves", title: plural(pass.moved, "moved line") }));
  if (pass.warnings) made.append(element("span", "⚠ " + pass.warnings.toLocaleString("en-US"), { class: "badge badge-warn", title: plural(pass.warnings, "warning") }));
  return made;
}

/** @param {History["steps"][number]} step */
function mark(step) {
  const names = step.names.join(", ") + (step.name_count > step.names.length ? ", …" : "");
  const made = element("span", EVENTS[step.event] || "·", { class: "ir-step ir-step-" + step.event, title: step.event + (names ? ": " + names : "") });
  made.dataset.event = step.event;
  return made;
}

/**
 * @param {Pass} pass
 * @param {boolean} open
 * @param {Hits["passes"][number] | undefined} hits
 * @param {History["steps"][number] | undefined} step
 */
function item(pass, open, hits, step) {
  const made = element("div", "", { role: "option", id: "ir-pass-" + pass.id, class: "ir-pass" + (pass.changed ? "" : " ir-unchanged"), "aria-selected": String(open) });
  made.dataset.pass = pass.id;
  if (step) {
    made.append(mark(step));
    made.dataset.line = step.line ? "R" + step.line : "";
  }
  made.append(element("span", two(pass.index), { class: "ir-index" }), element("span", pass.name, { class: "ir-pass-name", title: pass.name }), counts(pass));
  if (hits) made.append(element("span", hits.lines ? hits.lines.toLocaleString("en-US") + " ×" : "–", { class: "ir-hits" + (hits.lines ? "" : " muted"), title: hits.text || "not in this pass" }));
  const more = pass.change_count - pass.changes.length;
  if (pass.changes.length) made.append(element("span", pass.changes.join(", ") + (more > 0 ? ", and " + plural(more, "more function") : ""), { class: "ir-changes" }));
  if (step && step.event !== "same" && step.event !== "absent") made.append(element("span", step.event + (step.names.length ? ": " + step.names.slice(0, 3).join(", ") + (step.name_count > 3 ? " and " + (step.name_count - 3) + " more" : "") : ""), { class: "ir-changes" }));
  return made;
}

/**
 * Draw the list.
 * @param {PassList} list
 * @param {string} open id of the open pass
 * @param {Hits | null} hits
 * @param {History | null} history
 */
export function showList(list, open, hits, history) {
  labels(list);
  const box = byId("ir-list");
  const shown = visible(list);
  const items = shown.slice(0, MOST_SHOWN).map((at) => item(list.passes[at], list.passes[at].id === open, hits?.passes[at], history?.steps[at]));
  box.setAttribute("role", items.length ? "listbox" : "group");
  box.replaceChildren(...items);
  if (!items.length) box.append(element("div", "No pass fits these filters.", { class: "empty" }));
  if (shown.length > MOST_SHOWN) box.append(element("div", (shown.length - MOST_SHOWN).toLocaleString("en-US") + " more; narrow the list by name", { class: "empty", role: "presentation" }));
  if (list.passes.some((pass) => pass.id === open)) box.setAttribute("aria-activedescendant", "ir-pass-" + open);
  box.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
}

/**
 * What a search found, with a way to each first pass.
 * @param {PassList} list
 * @param {Hits | null} hits
 * @param {string} [problem]
 * @param {boolean} [going] it is no problem but what is being done
 */
export function showFound(list, hits, problem, going) {
  const box = byId("ir-found");
  box.replaceChildren();
  if (problem) return box.append(element("span", problem, { class: going ? "muted" : "ir-problem" }));
  if (!hits) return undefined;
  if (hits.contains === null) return box.append(element("span", "In no pass."));
  const words = /** @type {const} */ ([["contains", "First in"], ["changes", "first changed by"], ["drops", "dropped by"]]);
  for (const [key, text] of words) {
    const at = hits[key];
    if (at === null) {
      box.append(element("span", text + ": none", { class: "muted" }));
      continue;
    }
    const line = key === "drops" ? "" : hits.passes[at].line ? "R" + hits.passes[at].line : "";
    const button = element("button", two(list.passes[at].index) + " " + list.passes[at].name, { class: "ir-jump", "data-jump": list.passes[at].id, "data-line": line });
    const label = element("span", text + " ");
    label.append(button);
    box.append(label);
  }
  return undefined;
}

/**
 * What the marks of a history mean.
 * @param {History | null} history
 * @param {string} [problem]
 * @param {boolean} [going] it is no problem but what is being done
 */
export function showHistory(history, problem, going) {
  const box = byId("ir-history");
  box.replaceChildren();
  if (problem) box.append(element("span", problem, { class: going ? "muted" : "ir-problem" }));
  if (!history) return;
  for (const [event, sign] of Object.entries(EVENTS)) {
    if (!history.steps.some((step) => step.event === event)) continue;
    const part = element("span", "", { class: "ir-legend" });
    part.append(element("span", sign, { class: "ir-step ir-step-" + event }), " " + (event === "absent" ? "not there" : event));
    box.append(part);
  }
  box.append(element("button", "End history", { class: "ir-jump", "data-clear": "name" }));
}
