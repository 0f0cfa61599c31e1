/* What do the top bar and the keys of every page do? Theme and tab switches, copy link, key sheet, notices. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const GO = ns.config.go;
  const GO_MS = 1200;
  const pageKeys = new Map();
  let pendingGo = -Infinity;

  const byId = (id) => document.getElementById(id);

  /* A notice from the browser side; title and text are plain text. */
  ns.say = (title, text, level) => {
    const box = byId("notices");
    if (!box) return;
    const note = document.createElement("div");
    note.className = "notice notice-" + (level || "info") + " notice-passing";
    const strong = document.createElement("strong");
    strong.textContent = title;
    note.append(strong, text ? " " + text : "");
    box.parentNode.insertBefore(note, box.nextSibling);
    window.setTimeout(() => note.remove(), 6000);
  };

  /* ns.keys.describe("swimlane", [["w / s", "Zoom"], …]): a page's own lines on the key sheet. */
  ns.keys = {
    describe(page, rows) {
      pageKeys.set(page, rows);
    },
    typing(event) {
      const target = event.target;
      return Boolean(target.closest && target.closest("input, textarea, select, [contenteditable=true]"));
    },
  };

  /* "Gaps and blockers · run · Swimscope" in the browser's tab. */
  function showTitle() {
    const text = (selector) => (document.querySelector(selector) || { textContent: "" }).textContent.trim();
    const page = text(".rail [aria-current=page]") || text(".view-tab[aria-current=page]");
    document.title = [page, text(".crumb-run"), text(".brand")].filter(Boolean).join(" · ");
  }

  function fillSheet() {
    const section = byId("keys-page");
    const page = ns.url.place().page;
    const rows = pageKeys.get(page) || [];
    section.replaceChildren();
    if (!rows.length) return;
    const head = document.createElement("h3");
    head.textContent = "This page";
    const table = document.createElement("table");
    table.className = "keys";
    for (const [key, text] of rows) {
      const row = table.insertRow();
      const kbd = document.createElement("kbd");
      kbd.textContent = key;
      row.insertCell().append(kbd);
      row.insertCell().textContent = text;
    }
    section.append(head, table);
  }

  function openSheet() {
    fillSheet();
    const sheet = byId("keys-sheet");
    if (!sheet.open) sheet.showModal();
  }

  function label(button, text) {
    button.title = text;
    button.setAttribute("aria-label", text);
  }

  function showSwitches() {
    const theme = byId("theme-switch");
    const sync = byId("sync-switch");
    if (!theme || !sync) return;
    const name = { system: "as the system", light: "light", dark: "dark" }[ns.theme.choice()];
    label(theme, "Theme: " + name + ". Click for the next");
    sync.setAttribute("aria-pressed", String(ns.url.sync.get()));
    label(sync, "Selections follow between open tabs of this run: " + (ns.url.sync.get() ? "on" : "off"));
    const run = ns.url.place().run;
    sync.hidden = !run;
    byId("copy-link").hidden = !run;
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("button");
    if (!button) return;
    if (button.id === "theme-switch") ns.theme.cycle();
    else if (button.id === "sync-switch") ns.url.sync.set(!ns.url.sync.get());
    else if (button.id === "keys-open") openSheet();
    else if (button.id === "keys-close") byId("keys-sheet").close();
    else if (button.id === "copy-link") {
      ns.url.link((link) => link && ns.copy(link).then(() => ns.say("Link copied", link.length > 90 ? "" : link, "ok")));
    } else return;
    showSwitches();
  });

  const plain = (event) => !(ns.keys.typing(event) || event.ctrlKey || event.metaKey || event.altKey);

  /* Menus that are <details>: Escape and a press elsewhere close them; Escape then does nothing else. */
  const openMenus = () => [...document.querySelectorAll("details[open]:has(> .menu)")];

  document.addEventListener("pointerdown", (event) => {
    for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
  }, true);

  document.addEventListener("keydown", (event) => {
    const [menu] = event.key === "Escape" ? openMenus() : [];
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
    event.stopImmediatePropagation();
  }, true);

  /* The key after g is this file's, whatever it means on the page: hence before every other listener.
     What counts is when the keys were pressed; a busy page may hear of them later. */
  document.addEventListener("keydown", (event) => {
    if (!plain(event) || document.querySelector("dialog[open]")) return;
    const going = event.timeStamp - pendingGo < GO_MS && event.key in GO;
    pendingGo = event.key === "g" && !going ? event.timeStamp : -Infinity;
    if (!going) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const page = GO[event.key];
    if (page === "runs") ns.url.go(ns.config.prefix);
    else if (ns.url.place().run) ns.url.go(ns.url.href(page));
  }, true);

  document.addEventListener("keydown", (event) => {
    if (!plain(event) || event.defaultPrevented) return;
    if (event.key === "?") return openSheet();
    if (event.key === "/") {
      const box = document.querySelector(".page input[type=search], .page input[type=text]");
      if (box) {
        event.preventDefault();
        box.focus();
        box.select();
      }
      return undefined;
    }
    if (event.key === "Escape" && !document.querySelector("dialog[open]") && ns.url.get().sel) {
      return ns.url.set({ sel: null }, { push: true });
    }
    return undefined;
  });

  window.addEventListener("swimscope:path", showSwitches);
  /* A server's notice belongs to the page it was made on. */
  window.addEventListener("swimscope:path", () => window.dash_clientside.set_props("notices", { children: null }));
  window.addEventListener("swimscope:theme", showSwitches);

  /* "swimscope:page" on window, with {run, page}, whenever the router has put a page there. */
  let shown = null;
  const watcher = new MutationObserver(() => {
    const body = document.querySelector("#page > .page-body");
    if (body === shown) return;
    shown = body;
    if (!body) return;
    showSwitches();
    showTitle();
    window.dispatchEvent(new CustomEvent("swimscope:page", { detail: ns.url.place() }));
  });
  watcher.observe(document.documentElement, { childList: true, subtree: true });
})();
