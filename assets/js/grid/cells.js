// @ts-check
/* Which functions and cells does AG Grid find by name? dash_ag_grid looks them up on window; components/grid.py names them. */
import { closest, copy } from "../core/dom.js";
import { theme } from "../core/theme.js";
import { pageUrl } from "../core/url.js";
import { runTrees } from "../runs/trees.js";
import { choose, isSelected, rowSel, selectHref } from "./choose.js";
import * as format from "./format.js";
import { rowMenu } from "./row_menu.js";

const { MISSING, missing } = format;
const fns = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
const parts = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});

for (const [name, write] of Object.entries(format)) if (name !== "MISSING" && name !== "missing") fns["swimscope_" + name] = write;
fns.swimscope_isSelected = isSelected;

/* Numbers in order, what is not captured last in either direction. */
fns.swimscope_missingLast = (/** @type {any} */ a, /** @type {any} */ b, /** @type {any} */ _one, /** @type {any} */ _other, /** @type {boolean} */ descending) => {
  const missing = (/** @type {any} */ value) => value === null || value === undefined;
  if (missing(a) || missing(b)) {
    const order = Number(missing(a)) - Number(missing(b));
    return descending ? -order : order;
  }
  return a - b;
};

fns.swimscope_theme = (/** @type {any} */ agGrid) =>
  agGrid.themeQuartz.withParams({
    backgroundColor: "var(--panel)",
    foregroundColor: "var(--text)",
    borderColor: "var(--line)",
    headerBackgroundColor: "var(--panel-2)",
    headerTextColor: "var(--muted)",
    headerFontSize: 12,
    headerFontWeight: 600,
    fontSize: 13,
    fontFamily: "inherit",
    accentColor: "var(--accent)",
    rowHoverColor: "var(--hover)",
    selectedRowBackgroundColor: "var(--selected)",
    oddRowBackgroundColor: "transparent",
    wrapperBorder: false,
    wrapperBorderRadius: 0,
    browserColorScheme: "inherit",
    spacing: 6,
    cellHorizontalPadding: 10,
  });

/* Badge cells sort by how grave they are. */
/** @type {Record<string, number>} */
const GRAVE = { error: 4, warn: 3, quiet: 2, info: 1, on: 1, ok: 0 };
/** @param {{level: string}[]} [badges] */
const gravity = (badges) => Math.max(-1, ...(badges || []).map((badge) => GRAVE[badge.level] || 0));
fns.swimscope_badgeOrder = (/** @type {any} */ a, /** @type {any} */ b) => gravity(a) - gravity(b);

fns.swimscope_isMember = (/** @type {any} */ params) => Boolean(params.data && runTrees.isMember(params.data));

fns.swimscope_rowClicked = (/** @type {any} */ params) => {
  const event = params.event;
  if (event && (event.defaultPrevented || closest(event, "a,button"))) return;
  if (window.getSelection && String(window.getSelection())) return;
  choose(params.data);
};

/* Double click: the same selection, seen in the swimlane. */
fns.swimscope_rowDoubleClicked = (/** @type {any} */ params) => {
  if (params.data && params.data.locate) return pageUrl.set(params.data.locate, { push: true });
  if (rowSel(params.data)) pageUrl.go(selectHref("swimlane", params.data));
  return undefined;
};

fns.swimscope_contextMenu = (/** @type {any} */ params) => rowMenu(params);

fns.swimscope_cellKeyDown = (/** @type {any} */ params) => {
  if (params.event.key === "Enter") choose(params.data);
  if (params.event.key === "c" && (params.event.ctrlKey || params.event.metaKey) && !String(window.getSelection())) {
    copy(missing(params.value) ? "" : String(params.value));
  }
};

/* Cells drawn as elements. */
parts.swimscope_link = (/** @type {any} */ props) => {
  if (missing(props.value)) return MISSING;
  const h = window.React.createElement;
  const link = h("a", { href: props.data.href, "data-nav": "row", className: "cell-link" }, String(props.value));
  const tree = runTrees.cell(props.data);
  if (!tree) return link;
  const toggle = h(
    "button",
    { className: "tree-toggle", "data-tree": tree.id, "aria-expanded": String(tree.open), title: "Show or hide the other ranks" },
    (tree.open ? "▾ " : "▸ ") + tree.members + " ranks",
  );
  return h("span", { className: tree.leader ? "tree-leader" : "tree-member" }, tree.leader ? toggle : null, link);
};

parts.swimscope_function = (/** @type {any} */ props) =>
  window.React.createElement(
    "span",
    { className: "function-cell" },
    window.React.createElement("span", {
      className: "fn-swatch",
      style: { background: props.node.rowPinned ? "transparent" : "var(--fn-" + theme.index(String(props.value)) + ")" },
    }),
    missing(props.value) ? MISSING : String(props.value),
  );

/** @type {Record<string, string>} */
const VIEW_TITLES = {
  swimlane: "Chip swimlane",
  graph: "Task dependency graph",
  functions: "Function performance",
  phases: "Scheduler phases (level 3 and above)",
  trace: "Chrome trace",
  passes: "IR pass dumps",
  memory: "Memory reuse map",
};

parts.swimscope_badges = (/** @type {any} */ props) =>
  window.React.createElement(
    "span",
    { className: "badges" },
    (props.value || [])
      .map((/** @type {any} */ badge) => (typeof badge === "string" ? { text: badge, title: VIEW_TITLES[badge] } : badge))
      .map((/** @type {any} */ badge, /** @type {number} */ at) =>
      window.React.createElement(
        "span",
        { key: at, className: "badge badge-" + (badge.level || "info"), title: badge.title || "" },
        badge.text,
      ),
    ),
  );
