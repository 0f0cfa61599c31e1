/* What can be done with this item? The right-click menu, also on the menu key for the focused item. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const T = (ns.timeline = ns.timeline || { parts: [] });

  T.closeMenu = () => {
    const menu = T.el("swim-menu");
    if (!menu || menu.hidden) return;
    if (menu.contains(document.activeElement)) T.el("swim-plot").focus({ preventScroll: true });
    menu.hidden = true;
  };

  const select = (item, patch) => T.set({ sel: "task:" + item.task_id, item: item.item, ...patch }, true);

  async function markGroup(item) {
    const found = await T.json("select", { sel: "task:" + item.task_id, depth: "0" });
    if (found.bounds) T.addMarkers([{ tick: found.bounds[0], label: item.label + " first" }, { tick: found.bounds[1], label: item.label + " last" }]);
  }

  async function maximumLead(item) {
    const lead = await T.json("lead", { task: item.task_id });
    if (!lead.available) {
      ns.say("No maximum lead for " + item.label, lead.reason, "info");
      return;
    }
    T.addMarkers([{ tick: lead.dispatch, label: item.label + " dispatch" }, { tick: lead.last_fin, label: "last FIN" }]);
    T.set({ view: "scheduler", sel: "task:" + item.task_id, item: null, pin: null, hide: null }, true);
  }

  function functionOf(item) {
    const cls = T.s.info.classes.find((one) => one.kind === 0 && one.name === item.name);
    return cls ? cls.value : null;
  }

  /* [text, action] rows; null is a line between groups. */
  function rows(at, item) {
    const lane = at.track >= 0 && T.s.laneOfTrack.get(at.track);
    const place = [
      ["Add a marker here", () => T.addMarkers([{ tick: at.tick }])],
      lane && [(lane.pinned ? "Unpin " : "Pin ") + lane.lane.label, () => T.togglePin(lane.lane.key)],
      lane && ["Hide " + lane.lane.label, () => T.hideLane(lane.lane.key)],
    ];
    if (!item) return [...place, null, ["Show the whole capture", () => T.fit()]];
    const out = [
      ["Details", () => T.pick(item)],
      ["Zoom to it", () => T.zoomTo(item)],
      null,
      ["Mark start and end", () => T.addMarkers([{ tick: item.middle, label: (item.label || item.name) + " start" }, { tick: item.end, label: (item.label || item.name) + " end" }])],
    ];
    if (item.task_id) {
      const func = functionOf(item);
      out.push(
        ["Mark the outer bounds of all blocks", () => markGroup(item)],
        null,
        ["Select predecessors", () => select(item, { deps: "pred" })],
        ["Select successors", () => select(item, { deps: "succ" })],
        ["Select both sides, everything reachable", () => select(item, { deps: null, depth: "-1" })],
        ["Select its single-dependency chain", () => chain(item)],
        func !== null && ["Highlight function " + item.name, () => T.set({ hl: "func:" + func }, true)],
        ["Draw maximum lead (scheduler view)", () => maximumLead(item)],
        null,
        ["Show in graph", () => ns.url.go(ns.url.href("graph", { sel: "task:" + item.task_id }))],
        func !== null && ["Show function", () => ns.url.go(ns.url.href("functions", { sel: "func:" + func }))],
        ["Copy task id " + item.task_id, () => ns.copy(item.task_id).then(() => ns.say("Copied", item.task_id, "ok"))],
      );
    }
    return [...out, null, ...place];
  }

  async function chain(item) {
    const found = await T.json("chain", { task: item.task_id });
    if (found.first) T.set({ sel: "chain:" + found.first, item: null }, true);
    else ns.say("No chain", found.reason, "info");
  }

  T.openMenu = (at, item) => {
    const menu = T.el("swim-menu");
    menu.replaceChildren();
    const head = document.createElement("div");
    head.className = "swim-menu-head";
    head.textContent = item ? [item.name, item.label, item.lane].filter(Boolean).join(" · ") : T.format(T.us(at.tick));
    menu.append(head);
    let gap = true;
    for (const row of rows(at, item)) {
      if (row === null) {
        if (!gap) menu.append(document.createElement("hr"));
        gap = true;
      } else if (row) {
        const node = document.createElement("button");
        node.type = "button";
        node.setAttribute("role", "menuitem");
        node.textContent = row[0];
        node.addEventListener("click", () => {
          T.closeMenu();
          Promise.resolve(row[1]()).catch((error) => ns.say("That did not work", error.message, "warn"));
        });
        menu.append(node);
        gap = false;
      }
    }
    menu.hidden = false;
    menu.style.left = Math.max(4, Math.min(at.left, window.innerWidth - menu.offsetWidth - 8)) + "px";
    menu.style.top = Math.max(4, Math.min(at.top, window.innerHeight - menu.offsetHeight - 8)) + "px";
    menu.querySelector("button").focus();
  };

  T.parts.push(() => {
    const menu = T.el("swim-menu");
    menu.addEventListener("keydown", (event) => {
      const items = [...menu.querySelectorAll("button")];
      const at = items.indexOf(document.activeElement);
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) items[(at + step + items.length) % items.length].focus();
      else if (event.key === "Home") items[0].focus();
      else if (event.key === "End") items[items.length - 1].focus();
      else if (event.key === "Escape" || event.key === "Tab") {
        T.closeMenu();
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
  });

  document.addEventListener("pointerdown", (event) => {
    if (T.s && !event.target.closest("#swim-menu")) T.closeMenu();
  });
})();
