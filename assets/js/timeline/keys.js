// @ts-check
/* Which key does what? A table of actions with default keys; a person may rebind or switch off each, per browser. */

import { closest, messageOf } from "../core/dom.js";
import { keys } from "../core/keys.js";
import { say } from "../core/notice.js";
import { isActive } from "./active.js";
import { ranges } from "./level.js";

/** @typedef {import("./types").Item} Item */
/** @typedef {[string, string, (event: KeyboardEvent) => unknown]} Action default key, text, what it does */

/** @param {import("./types").Timeline} T */
export function keysPart(T) {
  const STORE = "swimscope.swimlane.keys";
  const PAN = 0.2;
  const ZOOM = 1.4;

  const pointer = () => T.s.pointer?.tick;

  /* action: [default key, text, what it does with the key's event] */
  /** @type {Record<string, Action>} */
  const ACTIONS = {
    zoomIn: ["w", "Zoom in at the pointer", () => T.zoom(1 / ZOOM, pointer())],
    zoomOut: ["s", "Zoom out at the pointer", () => T.zoom(ZOOM, pointer())],
    left: ["a", "Move left", () => T.pan(-PAN)],
    right: ["d", "Move right", () => T.pan(PAN)],
    fitSelection: ["f", "Fit the selection", fitSelection],
    fitAll: ["0", "Fit the whole capture", () => T.fit()],
    laneUp: ["ArrowUp", "Record in the lane above", ({ repeat }) => T.inTurn(() => stepLane(-1), repeat)],
    laneDown: ["ArrowDown", "Record in the lane below", ({ repeat }) => T.inTurn(() => stepLane(1), repeat)],
    previous: ["ArrowLeft", "Previous record of the lane", ({ repeat }) => T.inTurn(() => stepItem("prev"), repeat)],
    next: ["ArrowRight", "Next record of the lane", ({ repeat }) => T.inTurn(() => stepItem("next"), repeat)],
    pageUp: ["PageUp", "Scroll lanes up", () => T.scrollRows(-10)],
    pageDown: ["PageDown", "Scroll lanes down", () => T.scrollRows(10)],
    zoomItem: ["Enter", "Zoom to the focused record", () => T.s.lastItem && T.zoomTo(T.s.lastItem)],
    marker: ["m", "Add a marker at the pointer or the focused record", addMarker],
    measure: ["r", "Measure the selection", measureSelection],
    pin: ["p", "Pin or unpin the lane of the focused record", () => focusLane(T.togglePin)],
    hide: ["h", "Hide the lane of the focused record", () => focusLane(T.hideLane)],
    nextMatch: ["n", "Next match of the search", () => T.searchStep(1)],
    previousMatch: ["b", "Previous match of the search", () => T.searchStep(-1)],
    labels: ["l", "Next label mode", nextLabels],
    panel: ["t", "Open or close the performance panel", () => T.source.panel()],
    menu: ["ContextMenu", "Menu of the focused record", openMenu],
    settings: ["k", "Change these keys", () => T.openKeys()],
  };
  const FIXED = [
    ["wheel", "Scroll lanes"], ["Ctrl + wheel", "Zoom at the pointer"], ["Shift + wheel", "Move left and right"], ["Ctrl + drag", "Move left and right"],
    ["drag", "Move in both directions"], ["Alt + drag", "Measure, snapping to record edges"], ["click", "Select"], ["double click", "Zoom to the record"],
    ["right click", "Menu"], ["Enter / Shift+Enter", "Next / previous match, in the search box"],
  ];

  /** @returns {Record<string, string>} */
  function stored() {
    const text = localStorage.getItem(STORE);
    if (!text) return {};
    try {
      const value = JSON.parse(text);
      return value && typeof value === "object" ? value : {};
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      localStorage.removeItem(STORE);
      return {};
    }
  }

  const keyOf = (/** @type {string} */ action) => {
    const own = stored()[action];
    return own === undefined ? ACTIONS[action][0] : own;
  };

  /**
   * @param {string} action
   * @param {string} key
   */
  function bind(action, key) {
    const own = stored();
    for (const other of Object.keys(ACTIONS)) if (other !== action && key && keyOf(other) === key) own[other] = "";
    if (key === ACTIONS[action][0]) delete own[action];
    else own[action] = key;
    localStorage.setItem(STORE, JSON.stringify(own));
    describe();
    drawKeys();
  }

  function describe() {
    const own = Object.keys(ACTIONS).filter((action) => keyOf(action)).map((action) => [keyOf(action), ACTIONS[action][1]]);
    keys.describe(T.source.page, [...own, ...FIXED]);
  }

  function fitSelection() {
    const found = T.s.selection;
    if (found && found.bounds) T.fit(found.bounds);
  }

  /** @param {Item | null} answer */
  async function focusItem(answer) {
    if (!answer || !answer.found) {
      T.announce("No further record here");
      return;
    }
    T.pick(answer);
    T.reveal(answer.track);
    const [t0, t1] = T.s.win;
    if (answer.end < t0 || answer.start > t1) {
      const middle = (answer.start + answer.end) / 2;
      T.show(middle - (t1 - t0) / 2, middle + (t1 - t0) / 2, "gesture");
    }
  }

  const current = () => T.s.url.item;

  async function firstItem() {
    const tracks = T.tracksOnScreen(0);
    await focusItem(await T.json("near", { tracks: ranges(tracks.slice(0, T.s.rows[0].lane.rows)), t: Math.round((T.s.win[0] + T.s.win[1]) / 2) }));
  }

  /** @param {string} step */
  async function stepItem(step) {
    if (!T.s.rows.length) return;
    if (!current()) await firstItem();
    else await focusItem(await T.json("item", { item: current(), step }));
  }

  /** @param {number} by */
  async function stepLane(by) {
    if (!T.s.rows.length) return;
    const item = T.s.lastItem && T.s.lastItem.item === current() ? T.s.lastItem : current() && (await T.json("item", { item: current() }));
    if (!item || item.found === false) {
      await firstItem();
      return;
    }
    const track = item.track;
    let at = T.s.rows.findIndex((row) => row === T.s.laneOfTrack.get(track)) + by;
    while (T.s.rows[at] && !T.s.rows[at].lane.items) at += by;
    const row = T.s.rows[at];
    if (!row) {
      T.announce("No further lane");
      return;
    }
    const tick = Math.round(Math.min(Math.max((item.start + item.end) / 2, T.s.win[0]), T.s.win[1]));
    await focusItem(await T.json("near", { tracks: `${row.lane.track}-${row.lane.track + row.lane.rows - 1}`, t: tick }));
  }

  function addMarker() {
    const item = T.s.lastItem;
    const tick = T.s.pointer ? T.s.pointer.tick : item && current() ? item.middle : (T.s.win[0] + T.s.win[1]) / 2;
    T.addMarkers([{ tick }]);
  }

  function measureSelection() {
    const found = T.s.selection;
    if (found && found.bounds) T.setRange(found.bounds);
  }

  /** @param {(key: string) => void} work */
  function focusLane(work) {
    const item = T.s.lastItem;
    const row = item && T.s.laneOfTrack.get(item.track);
    if (row) work(row.lane.key);
  }

  function nextLabels() {
    const modes = T.source.labels;
    const next = modes[(modes.indexOf(T.s.url.labels || modes[0]) + 1) % modes.length];
    T.set({ labels: next === modes[0] ? null : next }, true);
    T.announce("Labels: " + next);
  }

  async function openMenu() {
    if (!current()) return;
    const item = await T.json("item", { item: current() });
    if (!item.found) return;
    const box = T.trackBox(item.track);
    const bounds = T.el("overlay").getBoundingClientRect();
    const x = Math.max(0, Math.min(T.xAt(item.start), T.s.width));
    T.openMenu({ left: bounds.left + x, top: bounds.top + (box ? box.bottom : 0), tick: item.middle, track: item.track }, item);
  }

  /* Settings: one row per action; press the new key, Delete switches it off. */
  T.openKeys = () => {
    drawKeys();
    const dialog = T.el("keys");
    if (!dialog.open) dialog.showModal();
  };

  function drawKeys() {
    const box = T.el("keys-list");
    const rows = Object.entries(ACTIONS).map(([action, [, text]]) => {
      const row = document.createElement("div");
      row.className = "swim-key-row";
      const label = document.createElement("span");
      label.textContent = text;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "button";
      button.dataset.action = action;
      button.textContent = keyOf(action) || "off";
      button.setAttribute("aria-label", `${text}: ${keyOf(action) || "off"}. Press Enter, then the new key; Delete switches it off.`);
      row.append(label, button);
      return row;
    });
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.action : undefined;
    box.replaceChildren(...rows);
    const again = focused && box.querySelector(`[data-action="${focused}"]`);
    if (again instanceof HTMLElement) again.focus();
  }

  /** @param {HTMLElement} button */
  function capture(button) {
    const action = button.dataset.action || "";
    button.textContent = "press a key…";
    const once = (/** @type {KeyboardEvent} */ event) => {
      event.preventDefault();
      event.stopPropagation();
      if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
      button.removeEventListener("keydown", once);
      if (event.key === "Escape") drawKeys();
      else bind(action, event.key === "Delete" || event.key === "Backspace" ? "" : event.key);
    };
    button.addEventListener("keydown", once);
    button.addEventListener("blur", () => { button.removeEventListener("keydown", once); button.textContent = keyOf(action) || "off"; }, { once: true });
    button.focus();
  }

  function escape() {
    if (!T.el("menu").hidden) T.closeMenu();
    else if (!T.el("marker-edit").hidden) T.closeMarker();
    else if (T.s.url.mz) T.set({ mz: null }, true);
    else if (T.s.url.sel || T.s.url.item) T.set({ sel: null, item: null }, true);
    else if (T.s.url.hl) T.set({ hl: null }, true);
    else return false;
    return true;
  }

  /** @param {KeyboardEvent} event */
  function ownArrows(event) {
    const target = event.target instanceof Element ? event.target : document.body;
    return !/^Arrow|^Enter$|^Page/.test(event.key) || target === document.body || target.id === "page" || T.el("plot").contains(target);
  }

  T.listen(document, "keydown", (event) => {
    if (!isActive(T) || !T.s.ready || event.defaultPrevented || keys.typing(event) || document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (escape()) event.stopImmediatePropagation();
      return;
    }
    const key = event.key === "F10" && event.shiftKey ? "ContextMenu" : event.key;
    if (!ownArrows(event) || (key === "ContextMenu" && closest(event, ".swim-side"))) return;
    const action = Object.keys(ACTIONS).find((name) => keyOf(name) === key);
    if (!action) return;
    event.preventDefault();
    Promise.resolve(ACTIONS[action][2](event)).catch((error) => say("That did not work", messageOf(error), "warn"));
  }, true);

  T.parts.push(() => {
    describe();
    T.el("keys-open").addEventListener("click", T.openKeys);
    T.el("keys-close").addEventListener("click", () => T.el("keys").close());
    T.el("keys-reset").addEventListener("click", () => {
      localStorage.removeItem(STORE);
      describe();
      drawKeys();
    });
    T.el("keys-list").addEventListener("click", (event) => {
      const button = closest(event, "[data-action]");
      if (button) capture(button);
    });
  });
}
