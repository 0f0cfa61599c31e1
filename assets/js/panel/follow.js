/* Does every table show the selection? Rows of the selected thing come into view when it was selected elsewhere. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const WAIT_MS = 60;
  const TRIES = 60;

  const alive = (api) => api && !api.isDestroyed();
  const matches = (data) => window.dashAgGridFunctions.swimscope_isSelected({ data });

  function inView(api, node) {
    const range = api.getVerticalPixelRange();
    return node.rowTop !== null && node.rowTop >= range.top && node.rowTop + node.rowHeight <= range.bottom;
  }

  /* The first matching row that the grid holds. */
  function held(api) {
    let found = null;
    api.forEachNode((node) => {
      if (!found && node.data && node.displayed !== false && matches(node.data)) found = node;
    });
    return found;
  }

  /* A grid that comes in blocks holds what was scrolled through: the server knows where the row is. */
  async function find(api) {
    const { run, page } = ns.url.place();
    const asked = ns.url.get();
    const address = ns.config.prefix + "api/r/" + encodeURIComponent(run) + "/row/" + page + "?" + new URLSearchParams(asked);
    const response = await fetch(address);
    const found = await response.json();
    if (!response.ok) throw new Error(found.error || response.statusText);
    if (alive(api) && found.row >= 0 && ns.url.get().sel === asked.sel) api.ensureIndexVisible(found.row, "middle");
  }

  function reveal(api) {
    const node = held(api);
    if (node && !inView(api, node)) api.ensureNodeVisible(node, "middle");
    if (!node && api.getGridOption("rowModelType") === "infinite") {
      find(api).catch((error) => ns.say("The selected row was not found", error.message, "warn"));
    }
  }

  function whenReady(id, work, tries) {
    const box = document.querySelector('.grid-box[data-grid="' + id + '"]');
    if (!box) return;
    let api = null;
    try {
      api = window.dash_ag_grid.getApi(id);
    } catch (error) {
      if (!/no grid found/.test(error.message)) throw error;
    }
    if (alive(api) && api.getDisplayedRowCount() > 0) work(api);
    else if (tries > 0) window.setTimeout(() => whenReady(id, work, tries - 1), WAIT_MS);
  }

  function revealAll() {
    if (!ns.url.get().sel) return;
    for (const box of document.querySelectorAll(".grid-box[data-grid]")) whenReady(box.dataset.grid, reveal, TRIES);
  }

  window.addEventListener("swimscope:grid", revealAll);
  window.addEventListener("swimscope:page", revealAll);
  window.addEventListener("swimscope:view", (event) => event.detail.changed.includes("sel") && revealAll());
})();
