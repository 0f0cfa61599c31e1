/* What do table cells, rows and their menus do? Functions that components/grid.py names. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const fns = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
  const parts = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
  const MISSING = "–";
  const missing = (value) => value === null || value === undefined || Number.isNaN(value);
  const fixed = (value, digits) =>
    value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

  fns.swimscope_us = (value) => (missing(value) ? MISSING : fixed(value, 3));
  fns.swimscope_ticks = (value) => (missing(value) ? MISSING : value.toLocaleString("en-US"));
  fns.swimscope_count = fns.swimscope_ticks;
  fns.swimscope_index = (value) => (missing(value) || value < 0 ? MISSING : String(value));
  fns.swimscope_share = (value) => (missing(value) ? MISSING : fixed(value * 100, 1) + " %");
  fns.swimscope_bool = (value) => (missing(value) ? MISSING : value ? "yes" : "no");
  fns.swimscope_ids = (value) => (missing(value) ? MISSING : Array.isArray(value) ? value.join(" ") : value);
  fns.swimscope_texts = fns.swimscope_ids;
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

  fns.swimscope_theme = (theme, agGrid) =>
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

  /* Rows that name a selection. */
  const rowSel = (data) => (data && data.sel) || "";

  fns.swimscope_rowClass = (params) => {
    const sel = rowSel(params.data);
    return sel && ns.url && ns.url.get().sel === sel ? "row-selected" : "";
  };

  function choose(data) {
    if (data && data.href) return ns.url.go(data.href);
    const sel = rowSel(data);
    if (sel) ns.url.set({ sel, hl: data.hl || null }, { push: true });
    return undefined;
  }

  fns.swimscope_rowClicked = (params) => {
    const event = params.event;
    if (event && (event.defaultPrevented || (event.target.closest && event.target.closest("a,button")))) return;
    if (window.getSelection && String(window.getSelection())) return;
    choose(params.data);
  };

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

  /* Marks the selected row again when the selection changed elsewhere. */
  const grids = new Set();
  fns.swimscope_gridReady = (params) => grids.add(params.api);
  ns.grids = {
    refresh() {
      for (const api of [...grids]) {
        if (api.isDestroyed && api.isDestroyed()) grids.delete(api);
        else api.redrawRows();
      }
    },
  };
  window.addEventListener("swimscope:view", (event) => event.detail.changed.includes("sel") && ns.grids.refresh());

  /* Cells drawn as elements. */
  parts.swimscope_link = (props) =>
    missing(props.value)
      ? MISSING
      : window.React.createElement("a", { href: props.data.href, "data-nav": "row", className: "cell-link" }, String(props.value));

  parts.swimscope_badges = (props) =>
    window.React.createElement(
      "span",
      { className: "badges" },
      (props.value || []).map((badge, at) =>
        window.React.createElement(
          "span",
          { key: at, className: "badge badge-" + (badge.level || "info"), title: badge.title || "" },
          badge.text,
        ),
      ),
    );
})();
