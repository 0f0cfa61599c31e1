// @ts-check
/* What can be done with this item? The right-click menu, also on the menu key for the focused item. */

import { closest, copy, messageOf } from "../core/dom.js";
import { say } from "../core/notice.js";

/** @typedef {import("./types").Item} Item */
/** @typedef {import("./types").Place} Place */
/** @typedef {[string, () => unknown] | null | false | undefined} Entry */

/** @param {import("./types").Timeline} T */
export function menuPart(T) {
  const { can } = T.source;

  T.closeMenu = () => {
    const menu = T.el("menu");
    if (menu.hidden) return;
    if (menu.contains(document.activeElement)) T.el("plot").focus({ preventScroll: true });
    menu.hidden = true;
  };

  const select = (/** @type {Item} */ item, /** @type {Record<string, string | null>} */ patch) => T.set({ sel: "task:" + item.task_id, item: item.item, ...patch }, true);

  /** @param {Item} item */
  async function markGroup(item) {
    const found = await T.json("select", { sel: "task:" + item.task_id, depth: "0" });
    if (found.bounds) T.addMarkers([{ tick: found.bounds[0], label: item.label + " first" }, { tick: found.bounds[1], label: item.label + " last" }]);
  }

  /** @param {Item} item */
  async function maximumLead(item) {
    const lead = await T.json("lead", { task: item.task_id || "" });
    if (!lead.available) {
      say("No maximum lead for " + item.label, lead.reason, "info");
      return;
    }
    T.addMarkers([{ tick: lead.dispatch, label: item.label + " dispatch" }, { tick: lead.last_fin, label: "last FIN" }]);
    T.set({ view: "scheduler", sel: "task:" + item.task_id, item: null, pin: null, hide: null }, true);
  }

  /** @param {Item} item */
  function functionOf(item) {
    const cls = T.s.info.classes.find((one) => one.kind === 0 && one.name === item.name);
    return cls ? cls.value : null;
  }

  /* [text, action] rows; null is a line between groups. */
  /**
   * @param {Place} at
   * @param {Item | null} item
   * @returns {Entry[]}
   */
  function rows(at, item) {
    const lane = at.track < 0 ? undefined : T.s.laneOfTrack.get(at.track);
    /** @type {Entry[]} */
    const place = [
      ["Add a marker here", () => T.addMarkers([{ tick: at.tick }])],
      lane && [(lane.pinned ? "Unpin " : "Pin ") + lane.lane.label, () => T.togglePin(lane.lane.key)],
      lane && ["Hide " + lane.lane.label, () => T.hideLane(lane.lane.key)],
    ];
    if (!item) return [...place, null, ["Show the whole capture", () => T.fit()]];
    /** @type {Entry[]} */
    const out = [
      ["Details", () => T.pick(item)],
      ["Zoom to it", () => T.zoomTo(item)],
      null,
      ["Mark start and end", () => T.addMarkers([{ tick: item.middle, label: (item.label || item.name) + " start" }, { tick: item.end, label: (item.label || item.name) + " end" }])],
    ];
    if (item.task_id && can.tasks) {
      const func = functionOf(item);
      const task = item.task_id;
      out.push(
        ["Mark the outer bounds of all blocks", () => markGroup(item)],
        null,
        ["Select predecessors", () => select(item, { deps: "pred" })],
        ["Select successors", () => select(item, { deps: "succ" })],
        ["Select both sides, everything reachable", () => select(item, { deps: null, depth: "-1" })],
        can.chain && ["Select its single-dependency chain", () => chain(item)],
        func !== null && ["Highlight function " + item.name, () => T.set({ hl: "func:" + func }, true)],
        can.lead && ["Draw maximum lead (scheduler view)", () => maximumLead(item)],
        null,
        can.pages && ["Show in graph", () => T.source.open("graph", { sel: "task:" + item.task_id })],
        can.pages && func !== null && ["Show function", () => T.source.open("functions", { sel: "func:" + func })],
        ["Copy task id " + item.task_id, () => copy(task).then(() => say("Copied", task, "ok"))],
      );
    }
    return [...out, null, ...place];
  }

  /** @param {Item} item */
  async function chain(item) {
    const found = await T.json("chain", { task: item.task_id || "" });
    if (found.first) T.set({ sel: "chain:" + found.first, item: null }, true);
    else say("No chain", found.reason, "info");
  }

  T.openMenu = (at, item) => {
    const menu = T.el("menu");
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
          Promise.resolve(row[1]()).catch((error) => say("That did not work", messageOf(error), "warn"));
        });
        menu.append(node);
        gap = false;
      }
    }
    menu.hidden = false;
    menu.style.left = Math.max(4, Math.min(at.left, window.innerWidth - menu.offsetWidth - 8)) + "px";
    menu.style.top = Math.max(4, Math.min(at.top, window.innerHeight - menu.offsetHeight - 8)) + "px";
    menu.querySelector("button")?.focus();
  };

  T.parts.push(() => {
    const menu = T.el("menu");
    menu.addEventListener("keydown", (event) => {
      const items = [...menu.querySelectorAll("button")];
      const at = items.findIndex((each) => each === document.activeElement);
      const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
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

  T.listen(document, "pointerdown", (event) => {
    if (closest(event, ".swim-menu") !== T.el("menu")) T.closeMenu();
  });
}
