/* What do table cells, rows and their menus do? Functions that components/grid.py names. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const fns = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
  const parts = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
  const MISSING = "–";
  const READY_MS = 16;
  const missing = (value) => value === null || value === undefined || Number.isNaN(value);
  const fixed = (value, digits) =>
    value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

  fns.swimscope_us = (value) => (missing(value) ? MISSING : fixed(value, 3));
  fns.swimscope_ticks = (value) => (missing(value) ? MISSING : value.toLocaleString("en-US"));
  fns.swimscope_count = fns.swimscope_ticks;
  fns.swimscope_index = (value) => (missing(value) || value < 0 ? MISSING : String(value));
  fns.swimscope_share = (value) => (missing(value) ? MISSING : fixed(value * 100, 1) + " %");
  fns.swimscope_bool = (value) => (missing(value) ? MISSING : value ? "yes" : "no");
  /* A task id as analysis.capture.ids.label writes it; its layout is that of the runtime the page names. */
  ns.taskLabel = (text, runtime = document.querySelector("[data-runtime]")?.dataset.runtime ?? "") => {
    const id = BigInt(text);
    if (runtime === "?") return text;
    const local = id & 0xffffffffn;
    const invalid = "invalid " + text;
    if (id === 0xffffffffffffffffn) return invalid;
    if (runtime === "host_build_graph") {
      const space = id >> 62n;
      const middle = (id >> 32n) & 0x3fffffffn;
      if (space === 3n || middle > (space === 1n ? 0xfffffn : 0n)) return invalid;
      return (space === 1n ? "g" + middle + "t" : space === 2n ? "p" : "t") + local;
    }
    const ring = id >> 32n;
    if (ring > 255n) return invalid;
    return (ring || runtime === "tensormap_and_ringbuffer" ? "r" + ring : "") + "t" + local;
  };
  const isId = (text) => typeof text === "string" && /^\d{1,20}$/.test(text);
  fns.swimscope_id = (value) => (missing(value) ? MISSING : isId(value) ? ns.taskLabel(value) + " · " + value : value);
  fns.swimscope_label = (value) => (isId(value) ? ns.taskLabel(value) : missing(value) ? MISSING : value);
  fns.swimscope_ids = (value) => (missing(value) ? MISSING : value.map((part) => (isId(part) ? ns.taskLabel(part) : part)).join(" "));
  fns.swimscope_texts = (value) => (missing(value) ? MISSING : value.join(", "));
  fns.swimscope_duration_us = (value) => {
    if (missing(value)) return MISSING;
    const size = Math.abs(value);
    if (size === 0) return "0 µs";
    if (size < 1) return fixed(value * 1000, 0) + " ns";
    if (size < 1e4) return fixed(value, 2) + " µs";
    if (size < 1e7) return fixed(value / 1e3, 2) + " ms";
    return fixed(value / 1e6, 2) + " s";
  };
  fns.swimscope_bytes = (value) => {
    if (missing(value)) return MISSING;
    let size = value;
    for (const unit of ["B", "KiB", "MiB", "GiB"]) {
      if (size < 1024) return (unit === "B" ? size : fixed(size, 1)) + " " + unit;
      size /= 1024;
    }
    return fixed(size, 1) + " TiB";
  };
  fns.swimscope_time = (value) =>
    missing(value) ? MISSING : new Date(value * 1000).toISOString().slice(0, 16).replace("T", " ");

  fns.swimscope_theme = (agGrid) =>
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
  const GRAVE = { error: 4, warn: 3, quiet: 2, info: 1, on: 1, ok: 0 };
  const gravity = (badges) => Math.max(-1, ...(badges || []).map((badge) => GRAVE[badge.level] || 0));
  fns.swimscope_badgeOrder = (a, b) => gravity(a) - gravity(b);

  /* Rows that name a selection, and rows that head a group. */
  const rowSel = (data) => (data && data.sel) || "";
  const sameTask = (sel) => sel.replace(/^(group|gap):/, "task:");
  fns.swimscope_isSelected = (params) => {
    const [own, sel] = [rowSel(params.data), ns.url.get().sel || ""];
    return Boolean(own) && sameTask(own) === sameTask(sel);
  };
  fns.swimscope_isMember = (params) => Boolean(ns.runTrees && params.data && ns.runTrees.isMember(params.data));

  function choose(data) {
    if (!data) return undefined;
    if (data.href) return ns.url.go(data.href);
    const sel = rowSel(data);
    if (sel) ns.url.set({ sel, hl: data.hl || null, item: null }, { push: true });
    return undefined;
  }

  fns.swimscope_rowClicked = (params) => {
    const event = params.event;
    if (event && (event.defaultPrevented || (event.target.closest && event.target.closest("a,button")))) return;
    if (window.getSelection && String(window.getSelection())) return;
    choose(params.data);
  };

  /* Double click: the same selection, seen in the swimlane. */
  fns.swimscope_rowDoubleClicked = (params) => {
    if (rowSel(params.data)) ns.url.go(ns.selectHref("swimlane", params.data));
  };

  /* A link that shows a row's selection: the swimlane looks for it, wherever it was before. */
  ns.selectHref = (page, data) => {
    const place = page === "swimlane" ? { t0: null, t1: null, y: null } : {};
    return ns.url.href(page, { sel: data.sel, hl: data.hl || null, ...place });
  };

  fns.swimscope_contextMenu = (params) => ns.menu && ns.menu.row(params);

  fns.swimscope_cellKeyDown = (params) => {
    if (params.event.key === "Enter") choose(params.data);
    if (params.event.key === "c" && (params.event.ctrlKey || params.event.metaKey) && !String(window.getSelection())) {
      copy(missing(params.value) ? "" : String(params.value));
    }
  };

  function copy(text) {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const box = document.createElement("textarea");
    box.value = text;
    box.className = "off-screen";
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
    return Promise.resolve();
  }
  ns.copy = copy;

  /* Sort, filters and search text of a grid live in the URL; selected rows are marked again when sel changes. */
  const bound = new Map();

  const inputOf = (element) => element && (element.matches("input") ? element : element.querySelector("input"));
  const searchBox = () => inputOf(document.querySelector(".page .quick-filter"));

  const sortText = (api) =>
    api
      .getColumnState()
      .filter((column) => column.sort)
      .sort((a, b) => a.sortIndex - b.sortIndex)
      .map((column) => column.colId + ":" + column.sort)
      .join(",");

  const filterText = (api) => {
    const model = api.getFilterModel() || {};
    return Object.keys(model).length ? JSON.stringify(model) : "";
  };

  /* The order that the server asked for, whatever a person has clicked since. */
  const firstSort = (api) =>
    api
      .getColumns()
      .map((column) => ({ id: column.getColId(), ...column.getColDef() }))
      .filter((column) => column.initialSort)
      .sort((a, b) => a.initialSortIndex - b.initialSortIndex)
      .map((column) => column.id + ":" + column.initialSort)
      .join(",");

  /* What is typed before the grid is there counts too: bind() looks for it. */
  document.addEventListener("input", (event) => {
    const box = event.target.closest && event.target.closest(".page .quick-filter, .page .quick-filter input");
    if (!box) return;
    event.target.dataset.typed = "";
    ns.url.set({ q: event.target.value });
  });

  const boxOf = (id) => document.querySelector('.grid-box[data-grid="' + id + '"]');

  /* Rows stay in place: a row built anew between press and release, or between two clicks, would lose the click. */
  function markRows(id, api) {
    for (const row of boxOf(id).querySelectorAll(".ag-row")) {
      const node = api.getDisplayedRowAtIndex(Number(row.getAttribute("row-index")));
      row.classList.toggle("row-selected", Boolean(node) && fns.swimscope_isSelected(node));
    }
  }

  function bind(id, api) {
    if (bound.get(id) === api) return;
    bound.set(id, api);
    boxOf(id).dataset.bound = "yes";
    const box = searchBox();
    const infinite = api.getGridOption("rowModelType") === "infinite";
    const quick = (text) => (infinite ? api.purgeInfiniteCache() : api.setGridOption("quickFilterText", text));
    if (box) {
      if (!infinite || box.dataset.typed !== undefined) quick(box.value);
      let wait = 0;
      box.addEventListener("input", () => {
        window.clearTimeout(wait);
        wait = window.setTimeout(() => api.isDestroyed() || quick(box.value), infinite ? 300 : 0);
      });
    }
    let quiet = false;
    const given = ns.url.get().sort || null;
    const start = firstSort(api);
    const keepSort = () => {
      const text = sortText(api);
      if (!quiet) ns.url.set({ sort: text === start ? given : text || null });
    };
    api.addEventListener("sortChanged", keepSort);
    api.addEventListener("filterChanged", () => {
      if (!quiet) ns.url.set({ f: filterText(api) });
      report(id, api);
    });
    api.addEventListener("modelUpdated", () => report(id, api));
    const off = ns.url.on((state, changed, origin) => {
      if (api.isDestroyed()) return off();
      if (changed.includes("sel") || changed.includes("hl")) markRows(id, api);
      if (origin !== "pop") return undefined;
      quiet = true;
      if (changed.includes("f")) api.setFilterModel(state.f ? JSON.parse(state.f) : null);
      if (changed.includes("sort")) applySort(api, state.sort || start);
      if (changed.includes("q") && box) quick((box.value = state.q || ""));
      quiet = false;
      return undefined;
    });
    if (sortText(api) !== start) keepSort();
    markRows(id, api);
    report(id, api);
    window.dispatchEvent(new CustomEvent("swimscope:grid", { detail: { id } }));
  }

  function applySort(api, text) {
    const state = text
      .split(",")
      .filter(Boolean)
      .map((part, at) => ({ colId: part.slice(0, part.lastIndexOf(":")), sort: part.slice(part.lastIndexOf(":") + 1), sortIndex: at }));
    api.applyColumnState({ state, defaultState: { sort: null } });
  }

  /* "12 of 340 rows" beside the buttons when a filter hides some. */
  function report(id, api) {
    const place = document.querySelector('.grid-shown[data-for="' + id + '"]');
    if (!place || api.getGridOption("rowModelType") === "infinite") return;
    let total = 0;
    api.forEachLeafNode((node) => (total += 1));
    const shown = api.getDisplayedRowCount();
    place.textContent = shown < total ? shown.toLocaleString("en-US") + " of " + total.toLocaleString("en-US") + " rows" : "";
  }

  /* The api of the grid in box, or null while there is none (dash_ag_grid throws then, or still has the grid before). */
  function apiIn(box) {
    try {
      const api = window.dash_ag_grid.getApi(box.dataset.grid);
      return !api.isDestroyed() && box.querySelector('[grid-id="' + api.getGridId() + '"]') ? api : null;
    } catch (error) {
      if (!/no grid found/.test(error.message)) throw error;
      return null;
    }
  }

  /* Call work(api) as soon as the grid in box is there; a box that left the page has none any more. */
  function whenReady(box, work) {
    const api = apiIn(box);
    if (api) work(api);
    else if (box.isConnected) window.setTimeout(() => whenReady(box, work), READY_MS);
  }

  /* Grids that a page or a panel has just got. */
  ns.bindGrids = () => {
    for (const box of document.querySelectorAll(".grid-box[data-grid]")) whenReady(box, (api) => bind(box.dataset.grid, api));
  };
  window.addEventListener("swimscope:page", ns.bindGrids);

  const gridOf = (button, work) => whenReady(boxOf(button.dataset.for), work);

  function pickColumns(button) {
    const open = document.querySelector(".menu-columns");
    if (open) open.remove();
    else gridOf(button, (api) => showColumns(button, api));
  }

  function showColumns(button, api) {
    const menu = document.createElement("div");
    menu.className = "menu menu-columns";
    menu.setAttribute("role", "group");
    menu.setAttribute("aria-label", "Columns");
    for (const column of api.getColumns()) {
      const label = document.createElement("label");
      const check = document.createElement("input");
      check.type = "checkbox";
      check.checked = column.isVisible();
      check.addEventListener("change", () => api.setColumnsVisible([column.getColId()], check.checked));
      label.append(check, column.getColDef().headerName);
      menu.append(label);
    }
    button.after(menu);
    menu.querySelector("input").focus();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("button[data-for]");
    const menu = document.querySelector(".menu-columns");
    if (menu && !menu.contains(event.target) && !(button && button.matches(".grid-columns"))) menu.remove();
    if (!button) return;
    if (button.matches(".grid-columns")) pickColumns(button);
    else if (button.matches(".grid-csv") && button.dataset.href) {
      download(button.dataset.href + "?" + new URLSearchParams(ns.url.get()));
    } else if (button.matches(".grid-csv")) {
      gridOf(button, (api) => api.exportDataAsCsv({ fileName: button.dataset.for + ".csv", processCellCallback: csvCell }));
    } else if (button.matches(".grid-reset")) {
      gridOf(button, reset);
    }
  });

  /* The URL first: blocks of a long table are asked for with the q that it holds then. */
  function reset(api) {
    const box = searchBox();
    if (box) box.value = "";
    ns.url.set(box ? { q: null, f: null, sort: null } : { f: null, sort: null });
    api.setFilterModel(null);
    applySort(api, "");
    if (api.getGridOption("rowModelType") === "infinite") api.purgeInfiniteCache();
    else api.setGridOption("quickFilterText", "");
  }

  document.addEventListener("keydown", (event) => {
    const menu = document.querySelector(".menu-columns");
    if (event.key === "Escape" && menu) {
      menu.previousElementSibling.focus();
      menu.remove();
      event.stopPropagation();
    }
  }, true);

  function download(href) {
    const anchor = document.createElement("a");
    anchor.href = href;
    anchor.download = "";
    document.body.append(anchor);
    anchor.click();
    anchor.remove();
  }

  /* Buttons and number boxes that write one key of the URL. */
  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("button[data-url-key]");
    if (!button) return;
    const patch = { [button.dataset.urlKey]: button.dataset.urlValue || null };
    if (button.dataset.urlKey === "tab") Object.assign(patch, { sort: null, f: null, q: null });
    ns.url.set(patch, { push: true });
  });

  document.addEventListener("change", (event) => {
    const holder = event.target.closest && event.target.closest(".url-value");
    if (!holder) return;
    const key = [...holder.classList].map((name) => /^url-value-(.+)$/.exec(name)).find(Boolean)[1];
    ns.url.set({ [key]: event.target.value.trim().replace(",", ".") || null }, { push: true });
  });

  /* A point of the function page's plot over time selects its task. */
  document.addEventListener("click", (event) => {
    const plot = event.target.closest && event.target.closest("#functions-over-time .js-plotly-plot");
    const point = plot && plot._hoverdata && plot._hoverdata[0];
    if (point) ns.url.set({ sel: "task:" + point.customdata }, { push: true });
  });

  function csvCell(params) {
    const value = params.value;
    if (missing(value)) return "";
    if (Array.isArray(value)) return value.map((part) => (part && part.text !== undefined ? part.text : part)).join(";");
    return value;
  }

  /* Cells drawn as elements. */
  parts.swimscope_link = (props) => {
    if (missing(props.value)) return MISSING;
    const h = window.React.createElement;
    const link = h("a", { href: props.data.href, "data-nav": "row", className: "cell-link" }, String(props.value));
    const tree = ns.runTrees && ns.runTrees.cell(props.data);
    if (!tree) return link;
    const toggle = h(
      "button",
      { className: "tree-toggle", "data-tree": tree.id, "aria-expanded": String(tree.open), title: "Show or hide the other ranks" },
      (tree.open ? "▾ " : "▸ ") + tree.members + " ranks",
    );
    return h("span", { className: tree.leader ? "tree-leader" : "tree-member" }, tree.leader ? toggle : null, link);
  };

  parts.swimscope_function = (props) =>
    window.React.createElement(
      "span",
      { className: "function-cell" },
      window.React.createElement("span", {
        className: "fn-swatch",
        style: { background: props.node.rowPinned ? "transparent" : "var(--fn-" + ns.theme.index(String(props.value)) + ")" },
      }),
      missing(props.value) ? MISSING : String(props.value),
    );

  const VIEW_TITLES = {
    swimlane: "Chip swimlane",
    graph: "Task dependency graph",
    functions: "Function performance",
    phases: "Scheduler phases (level 3 and above)",
    trace: "Chrome trace",
    passes: "IR pass dumps",
    memory: "Memory reuse map",
  };

  parts.swimscope_badges = (props) =>
    window.React.createElement(
      "span",
      { className: "badges" },
      (props.value || [])
        .map((badge) => (typeof badge === "string" ? { text: badge, title: VIEW_TITLES[badge] } : badge))
        .map((badge, at) =>
        window.React.createElement(
          "span",
          { key: at, className: "badge badge-" + (badge.level || "info"), title: badge.title || "" },
          badge.text,
        ),
      ),
    );
})();
