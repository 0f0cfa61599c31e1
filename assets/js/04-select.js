/* What is selected, and what can be done with it? The chip in the top bar and the menu of a table row. */
(function () {
  "use strict";
  const ns = window.swimscope;
  const PATHS = {
    "path:static": "static path",
    "path:observed": "observed path",
    "path:imported-static": "imported static path",
    "path:imported-observed": "imported observed path",
  };

  function describe(sel) {
    if (PATHS[sel]) return PATHS[sel];
    const at = sel.indexOf(":");
    const kind = sel.slice(0, at);
    const value = sel.slice(at + 1);
    if (kind === "func") return "function " + value;
    if (/^\d{1,20}$/.test(value)) return kind.replace("group", "blocks of") + " " + ns.taskLabel(value);
    return sel;
  }

  function element(tag, text, attributes) {
    const made = document.createElement(tag);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    return made;
  }

  function show() {
    const chip = document.getElementById("selection-chip");
    if (!chip) return;
    const sel = ns.url.get().sel;
    const { run, page } = ns.url.place();
    chip.hidden = !sel || !run;
    if (chip.hidden) return;
    const parts = [element("span", describe(sel), { class: "chip-text", title: sel })];
    for (const [target, text] of [["swimlane", "Swimlane"], ["graph", "Graph"]]) {
      if (page === target) continue;
      parts.push(element("a", text, { href: ns.url.href(target), "data-follow": "", title: "Show the selection there" }));
    }
    parts.push(element("button", "×", { class: "chip-clear", title: "Clear the selection (Esc)", "aria-label": "Clear the selection" }));
    chip.replaceChildren(...parts);
  }

  document.addEventListener("click", (event) => {
    if (event.target.closest && event.target.closest(".chip-clear")) ns.url.set({ sel: null, hl: null }, { push: true });
  });

  /* A small menu at the pointer: [[text, action], …]; keys: arrows, Enter, Escape. */
  let opener = null;

  function open(x, y, items) {
    close();
    opener = document.activeElement;
    const menu = element("div", "", { class: "menu menu-context", role: "menu" });
    for (const [text, action] of items) {
      const item = element("button", text, { role: "menuitem", class: "menu-item" });
      item.addEventListener("click", () => {
        close();
        action();
      });
      menu.append(item);
    }
    document.body.append(menu);
    const box = menu.getBoundingClientRect();
    menu.style.left = Math.max(4, Math.min(x, innerWidth - box.width - 4)) + "px";
    menu.style.top = Math.max(4, Math.min(y, innerHeight - box.height - 4)) + "px";
    menu.firstChild.focus();
  }

  function close() {
    document.querySelectorAll(".menu-context").forEach((menu) => menu.remove());
  }

  document.addEventListener("pointerdown", (event) => {
    if (!(event.target.closest && event.target.closest(".menu-context"))) close();
  });
  document.addEventListener("keydown", (event) => {
    const item = event.target.closest && event.target.closest(".menu-context .menu-item");
    if (!item) return;
    const next = { ArrowDown: "nextSibling", ArrowUp: "previousSibling" }[event.key];
    if (next && item[next]) item[next].focus();
    if (event.key === "Escape") {
      close();
      if (opener) opener.focus();
    }
    if (next || event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
    }
  }, true);

  function rowText(data) {
    return Object.entries(data)
      .filter(([key]) => !["_row", "sel", "hl", "href", "key"].includes(key))
      .map(([key, value]) => key + ": " + (value === null ? "" : Array.isArray(value) ? value.map((v) => (v && v.text) || v).join(" ") : value))
      .join("\n");
  }

  function row(params) {
    if (!params.event || !params.data) return;
    const data = params.data;
    const items = [];
    const to = (page) => ns.url.go(ns.selectHref(page, data));
    if (data.sel) {
      items.push(["Select", () => ns.url.set({ sel: data.sel, hl: data.hl || null, item: null }, { push: true })]);
      if (ns.url.place().page !== "swimlane") items.push(["Show in swimlane", () => to("swimlane")]);
      items.push(["Show in graph", () => to("graph")]);
    }
    items.push(...ns.rowActions(data));
    if (data.href) {
      items.push(["Open", () => ns.url.go(data.href)]);
      items.push(["Open in a new tab", () => window.open(data.href, "_blank", "noopener")]);
    }
    const value = params.value;
    const text = value === null || value === undefined ? "" : Array.isArray(value) ? value.map((v) => (v && v.text) || v).join(" ") : String(value);
    items.push(["Copy cell", () => ns.copy(text)]);
    items.push(["Copy row", () => ns.copy(rowText(data))]);
    open(params.event.clientX, params.event.clientY, items);
  }

  ns.menu = { open, close, row };
  window.addEventListener("swimscope:view", show);
  window.addEventListener("swimscope:page", show);
  window.addEventListener("swimscope:path", show);
})();
