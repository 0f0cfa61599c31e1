// @ts-check
/* How are the ranks of one run tree put together on the runs page? One leading row per tree, the others fold away. */

import { closest } from "../core/dom.js";
import { listOf, listText } from "../core/query.js";
import { pageUrl } from "../core/url.js";

/** @typedef {Record<string, any>} Row */
/** @typedef {{id: string, leader: string, members: number}} Tree */

const GRID = "runs-grid";
/** @type {any} */
let api = null;
/** @type {Map<string, Tree>} */
let trees = new Map();

const grouped = () => pageUrl.get().group === "1";
/** @param {Row} data */
const treeOf = (data) => data.root + "/" + data.group;
const openTrees = () => new Set(listOf(pageUrl.get().open));
/** @param {Row} data */
const inTree = (data) => (data.rank ? trees.get(treeOf(data)) : undefined);

/* Trees with at least two ranks; the leader is the first rank in natural order, whatever the sort. */
function collect() {
  /** @type {Map<string, Row[]>} */
  const found = new Map();
  api.forEachLeafNode((/** @type {any} */ node) => {
    if (!node.data || !node.data.rank) return;
    const id = treeOf(node.data);
    found.set(id, [...(found.get(id) || []), node.data]);
  });
  trees = new Map();
  for (const [id, members] of found) {
    if (members.length < 2) continue;
    members.sort((a, b) => a.rank.localeCompare(b.rank, "en", { numeric: true }) || a.path.localeCompare(b.path));
    trees.set(id, { id, leader: members[0].key, members: members.length });
  }
}

export const runTrees = {
  /** @param {Row} data */
  cell(data) {
    const tree = grouped() && inTree(data);
    return tree ? { id: tree.id, members: tree.members, leader: tree.leader === data.key, open: openTrees().has(tree.id) } : null;
  },
  /** @param {Row} data */
  isMember(data) {
    const tree = grouped() && inTree(data);
    return tree ? tree.leader !== data.key : false;
  },
};

/** @param {any} node */
function passes(node) {
  const tree = inTree(node.data);
  return !tree || tree.leader === node.data.key || openTrees().has(tree.id);
}

/* Members come right after their leader; the leader stands where the sort puts it. */
/** @param {{nodes: any[]}} params */
function together(params) {
  if (!grouped()) return;
  /** @type {Map<string, any[]>} */
  const waiting = new Map();
  const out = [];
  for (const node of params.nodes) {
    const tree = inTree(node.data);
    if (!tree || tree.leader === node.data.key) out.push(node);
    else waiting.set(tree.id, [...(waiting.get(tree.id) || []), node]);
  }
  const placed = out.flatMap((node) => {
    const tree = inTree(node.data);
    const members = tree ? waiting.get(tree.id) || [] : [];
    if (tree) waiting.delete(tree.id);
    return [node, ...members];
  });
  placed.push(...[...waiting.values()].flat());
  placed.forEach((node, at) => (params.nodes[at] = node));
}

function mark() {
  collect();
  const button = document.querySelector(".grid-group");
  if (button) button.setAttribute("aria-pressed", String(grouped()));
}

function refresh() {
  if (!api || api.isDestroyed()) return;
  mark();
  api.onFilterChanged();
  api.refreshClientSideRowModel("sort");
  api.redrawRows();
}

/* Rows are drawn anew for groups only: a row that a person is about to click stays what it is. */
window.addEventListener("swimscope:grid", (event) => {
  if (event.detail.id !== GRID) return;
  api = event.detail.api;
  api.setGridOption("isExternalFilterPresent", grouped);
  api.setGridOption("doesExternalFilterPass", passes);
  api.setGridOption("postSortRows", together);
  api.addEventListener("rowDataUpdated", () => grouped() && refresh());
  if (grouped()) refresh();
  else mark();
});

pageUrl.on((state, changed) => {
  if (changed.includes("group") || changed.includes("open")) refresh();
});

document.addEventListener("click", (event) => {
  const group = closest(event, ".grid-group");
  if (group) pageUrl.set({ group: grouped() ? null : "1" }, { push: true });
  const toggle = closest(event, ".tree-toggle");
  if (!toggle || !toggle.dataset.tree) return;
  const open = openTrees();
  if (!open.delete(toggle.dataset.tree)) open.add(toggle.dataset.tree);
  pageUrl.set({ open: listText([...open]) }, { push: true });
});
