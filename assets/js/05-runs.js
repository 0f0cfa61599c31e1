/* How are the ranks of one run tree put together on the runs page? One leading row per tree, the others fold away. */
(function () {
  "use strict";
  const ns = window.swimscope;
  const GRID = "runs-grid";
  let api = null;
  let trees = new Map();

  const grouped = () => ns.url.get().group === "1";
  const treeOf = (data) => data.root + "/" + data.group;
  const openTrees = () => new Set((ns.url.get().open || "").split(",").filter(Boolean).map(decodeURIComponent));
  const inTree = (data) => (data.rank ? trees.get(treeOf(data)) : undefined);

  /* Trees with at least two ranks; the leader is the first rank in natural order, whatever the sort. */
  function collect() {
    const found = new Map();
    api.forEachLeafNode((node) => {
      if (!node.data || !node.data.rank) return;
      const id = treeOf(node.data);
      if (!found.has(id)) found.set(id, []);
      found.get(id).push(node.data);
    });
    trees = new Map();
    for (const [id, members] of found) {
      if (members.length < 2) continue;
      members.sort((a, b) => a.rank.localeCompare(b.rank, "en", { numeric: true }) || a.path.localeCompare(b.path));
      trees.set(id, { id, leader: members[0].key, members: members.length });
    }
  }

  ns.runTrees = {
    cell(data) {
      const tree = grouped() && inTree(data);
      return tree ? { id: tree.id, members: tree.members, leader: tree.leader === data.key, open: openTrees().has(tree.id) } : null;
    },
    isMember(data) {
      const tree = grouped() && inTree(data);
      return Boolean(tree) && tree.leader !== data.key;
    },
  };

  function passes(node) {
    const tree = inTree(node.data);
    return !tree || tree.leader === node.data.key || openTrees().has(tree.id);
  }

  /* Members come right after their leader; the leader stands where the sort puts it. */
  function together(params) {
    if (!grouped()) return;
    const waiting = new Map();
    const out = [];
    for (const node of params.nodes) {
      const tree = inTree(node.data);
      if (!tree || tree.leader === node.data.key) out.push(node);
      else if (waiting.has(tree.id)) waiting.get(tree.id).push(node);
      else waiting.set(tree.id, [node]);
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
    api = window.dash_ag_grid.getApi(GRID);
    api.setGridOption("isExternalFilterPresent", grouped);
    api.setGridOption("doesExternalFilterPass", passes);
    api.setGridOption("postSortRows", together);
    api.addEventListener("rowDataUpdated", () => grouped() && refresh());
    if (grouped()) refresh();
    else mark();
  });

  ns.url.on((state, changed) => {
    if (changed.includes("group") || changed.includes("open")) refresh();
  });

  document.addEventListener("click", (event) => {
    const group = event.target.closest && event.target.closest(".grid-group");
    if (group) ns.url.set({ group: grouped() ? null : "1" }, { push: true });
    const toggle = event.target.closest && event.target.closest(".tree-toggle");
    if (!toggle) return;
    const open = openTrees();
    if (!open.delete(toggle.dataset.tree)) open.add(toggle.dataset.tree);
    ns.url.set({ open: [...open].map((id) => id.replace(/%/g, "%25").replace(/,/g, "%2C")).join(",") }, { push: true });
  });
})();
