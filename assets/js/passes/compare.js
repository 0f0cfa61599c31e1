// @ts-check
/* What is being compared? Title, choices, notes and the drawer of one comparison. */
import { all, byId, element } from "../core/dom.js";
import { pageUrl } from "../core/url.js";
import { bindGrids } from "../grid/grid.js";
import { address } from "./api.js";
import { passText, plural, two } from "./list.js";

/** @typedef {import("./list.js").PassList} PassList */
/** @typedef {{name: string, id: string, status: string, origin: string, reordered: boolean, added: number, removed: number,
 *   moved: number}} Section */
/** @typedef {{line: number, column: number, severity: string, check: string, text: string, function: string, at: number | null}} Warning */
/** @typedef {{dump: string, id: string, file: string, index: number, name: string, lines: number}} Side */
/** @typedef {{length: number, width: number, added: number, removed: number, moved: number, changes: number[], folds: number,
 *   sections: Section[], section_count: number, function: string, anchor: number | null, notes: string[], left: Side,
 *   right: Side, warnings: Warning[], warning_count: number}} Diff */
/** @typedef {{runs: {key: string, name: string}[], left_out: number, dumps: string[]}} Others */

const MOST_LINES = 400;
const WHOLE = "*";

/**
 * Fill a select; a value that is no option is added, so that what is shown is what the URL says.
 * @param {string} id
 * @param {[string, string][]} options value and text
 * @param {string} value
 */
export function fill(id, options, value) {
  const box = byId(id, HTMLSelectElement);
  if (!options.some(([key]) => key === value)) options = [...options, [value, value]];
  box.replaceChildren(...options.map(([key, text]) => element("option", text, { value: key })));
  box.value = value;
}

/** @param {PassList} list @param {Diff} diff @param {Others | null} others */
export function showChoices(list, diff, others) {
  const view = pageUrl.get();
  const near = list.passes.findIndex((pass) => pass.id === diff.right.id);
  const before = view.other ? "the pass of that name" : near > 0 ? passText(list.passes[near - 1]) + " (before)" : "nothing before it";
  fill("ir-vs", [["", before], .../** @type {[string, string][]} */ (list.passes.map((pass) => [pass.id, passText(pass)]))], view.vs || "");
  fill("ir-other", [["", "this dump"], .../** @type {[string, string][]} */ ((others?.runs || []).map((run) => [run.key, run.name]))], view.other || "");
  fill("ir-odump", [["", "first dump"], .../** @type {[string, string][]} */ ((others?.dumps || []).map((name) => [name, name]))], view.odump || "");
  byId("ir-odump-box").hidden = !view.other || (others?.dumps || []).length < 2;
  const named = /** @type {[string, string][]} */ (diff.sections.filter((each) => each.name && each.id).map((each) => [each.id, label(each)]));
  fill("ir-fn", [["", diff.function && !view.fn ? "selected: " + diff.function : "whole file"], [WHOLE, "whole file"], ...named], view.fn || "");
  fill("ir-fn2", [["", "none"], ...named], view.fn2 || "");
  if (list.dumps.length > 1) {
    fill("ir-dump", list.dumps.map((name) => [name, name]), view.dump || list.dumps[0]);
    byId("ir-dump-box").hidden = false;
  }
}

/** @param {Section} section */
function label(section) {
  const counts = section.added || section.removed ? "  +" + section.added + " −" + section.removed : "";
  return section.name + (section.status === "same" || section.status === "changed" ? "" : " (" + section.status + ")") + counts;
}

/** @param {Diff} diff */
export function showTitle(diff) {
  byId("ir-title").textContent = two(diff.right.index) + " " + diff.right.name;
  byId("ir-title").title = diff.right.file;
  const counts = [element("span", "+" + diff.added.toLocaleString("en-US"), { class: "ir-plus" }), element("span", "−" + diff.removed.toLocaleString("en-US"), { class: "ir-minus" })];
  if (diff.moved) counts.push(element("span", plural(diff.moved, "line") + " moved", { class: "ir-moves" }));
  byId("ir-counts").replaceChildren(...counts);
  byId("ir-name-left").textContent = diff.left.dump + "/" + diff.left.file + ", " + plural(diff.left.lines, "line");
  byId("ir-name-right").textContent = diff.right.dump + "/" + diff.right.file + ", " + plural(diff.right.lines, "line");
  byId("ir-notes").replaceChildren(...diff.notes.map((note) => element("div", note, { class: "ir-note" })));
}

/** Which switches are on. */
export function showSwitches() {
  const view = pageUrl.get();
  const on = { "ir-whole": view.ctx === "-1", "ir-struct": view.struct === "1", "ir-re": view.re !== "0", "ir-case": view.case !== "0" };
  for (const [id, value] of Object.entries(on)) byId(id).setAttribute("aria-pressed", String(value));
  for (const each of all("#ir-layout .ir-choice")) each.setAttribute("aria-pressed", String((view.lay || "split") === each.dataset.value));
  byId("ir").classList.toggle("ir-is-stacked", view.lay === "stacked");
}

/**
 * The drawer's tab of the URL, and the counts in all tabs.
 * @param {PassList} list
 * @param {Diff | null} diff
 */
export function showDrawer(list, diff) {
  const tab = pageUrl.get().tab || "";
  const changed = diff ? diff.sections.filter((each) => each.status !== "same") : [];
  /** @type {Record<string, number | null>} */
  const counts = { warnings: diff ? diff.warning_count : 0, functions: changed.length, problems: list.problem_count, reports: null, tools: list.tools.length };
  for (const each of all(".ir-tab")) {
    const key = each.dataset.tab || "";
    const count = counts[key];
    each.textContent = (each.dataset.text ||= each.textContent || "") + (count === null ? "" : " (" + count.toLocaleString("en-US") + ")");
    each.setAttribute("aria-expanded", String(tab === key));
    each.classList.toggle("ir-alert", (key === "problems" || key === "warnings") && Boolean(count));
  }
  const drawer = byId("ir-drawer");
  const reports = byId("ir-reports");
  reports.hidden = tab !== "reports";
  if (!reports.dataset.watched) {
    reports.dataset.watched = "yes"; // its tables come with a callback, long after the page
    new MutationObserver(bindGrids).observe(reports, { childList: true });
  }
  drawer.hidden = !(tab in counts) || tab === "reports";
  if (drawer.hidden) return;
  /** @type {Record<string, () => Node[]>} */
  const parts = {
    warnings: () => warnings(diff),
    functions: () => functions(changed, diff),
    problems: () => problems(list),
    tools: () => tools(list),
  };
  drawer.replaceChildren(...parts[tab]());
}

/** @param {string} text */
const empty = (text) => element("div", text, { class: "empty" });

/** @param {Diff | null} diff @returns {Node[]} */
function warnings(diff) {
  if (!diff || !diff.warnings.length) return [empty("The compiler warned of nothing in this pass.")];
  const rows = diff.warnings.slice(0, MOST_LINES).map((each) => {
    const row = element("div", "", { class: "ir-item" });
    if (each.line) row.append(element("a", "line " + each.line, { href: "#R" + each.line, "data-line": "R" + each.line }));
    row.append(element("span", each.severity, { class: "badge badge-warn" }), element("span", each.text), element("span", each.check, { class: "muted" }));
    return row;
  });
  const more = diff.warning_count - rows.length;
  return more > 0 ? [...rows, empty(plural(more, "more warning"))] : rows;
}

/** @param {Section[]} changed @param {Diff | null} diff @returns {Node[]} */
function functions(changed, diff) {
  if (!diff || !changed.length) return [empty("No function is different.")];
  const rows = changed.slice(0, MOST_LINES).map((each) => {
    const row = element("div", "", { class: "ir-item" });
    const origin = each.origin ? (each.status === "renamed" ? " from " : " of ") + each.origin : "";
    const name = each.name || "before the first function";
    row.append(each.id ? element("button", name, { class: "ir-jump", "data-function": each.id }) : element("span", name));
    row.append(element("span", each.status + origin + (each.reordered ? ", elsewhere in the file" : ""), { class: "badge" }));
    row.append(element("span", "+" + each.added, { class: "ir-plus" }), element("span", "−" + each.removed, { class: "ir-minus" }));
    if (each.moved) row.append(element("span", plural(each.moved, "line") + " moved", { class: "ir-moves" }));
    return row;
  });
  const same = diff.section_count - changed.length;
  return [...rows, empty((changed.length > MOST_LINES ? plural(changed.length - MOST_LINES, "more changed function") + "; " : "") + plural(same, "section") + " unchanged")];
}

/** @param {PassList} list @returns {Node[]} */
function problems(list) {
  if (!list.problems.length) return [empty("Every rule of a pass dump is kept.")];
  const rows = list.problems.slice(0, MOST_LINES).map((each) => {
    const row = element("div", "", { class: "ir-item" });
    row.append(element("span", each.code, { class: "badge badge-warn" }), element("span", each.text));
    return row;
  });
  const more = list.problem_count - rows.length;
  return more > 0 ? [...rows, empty(plural(more, "more problem"))] : rows;
}

/** @param {PassList} list @returns {Node[]} */
function tools(list) {
  if (!list.tools.length) return [empty("No other tool dumped beside these passes.")];
  const files = list.tools.flatMap((tool) => tool.files.map((file) => [tool.kernel, file]));
  const rows = files.slice(0, MOST_LINES).map(([kernel, file]) => {
    const href = address("tool", { dump: pageUrl.get().dump || "", node: kernel + "/" + file });
    const row = element("div", "", { class: "ir-item" });
    row.append(element("span", kernel, { class: "badge" }), element("a", file, { href, target: "_blank", rel: "noopener" }));
    return row;
  });
  return files.length > rows.length ? [...rows, empty(plural(files.length - rows.length, "more file"))] : rows;
}
