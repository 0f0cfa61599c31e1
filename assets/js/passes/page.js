// @ts-check
/* What does the pass page show, and what do its controls change? Everything follows the URL; controls write it. */
import { all, byId, copy, element, messageOf } from "../core/dom.js";
import { listOf, listText } from "../core/query.js";
import { say } from "../core/notice.js";
import { pageUrl } from "../core/url.js";
import { address, ask, cancel, Refused, stop, stopAll } from "./api.js";
import { fill, showChoices, showDrawer, showSwitches, showTitle } from "./compare.js";
import { showFound, showHistory, showList } from "./list.js";
import { listen } from "./controls.js";
import { Scroller } from "./scroller.js";

/** @typedef {import("./list.js").PassList} PassList */
/** @typedef {import("./compare.js").Diff} Diff */
/** @typedef {import("./api.js").Query} Query */

const MOST_ROWS = 400;
/** Keys whose change needs another comparison. */
const COMPARES = ["pass", "vs", "other", "odump", "fn", "fn2", "lay", "ctx", "unf", "struct", "sel", "launch"];

class PassPage {
  constructor() {
    /** @type {PassList | null} */
    this.list = null;
    /** @type {Diff | null} */
    this.diff = null;
    /** @type {import("./compare.js").Others | null} */
    this.others = null;
    /** @type {import("./list.js").Hits | null} */
    this.hits = null;
    /** @type {import("./list.js").History | null} */
    this.history = null;
    /** The pass and function that are on the screen: another one starts at its top. */
    this.shown = "";
    this.panes = all(".ir-pane").map((each) => new Scroller(each, (error) => this.problem(error, "diff")));
    this.active = 0;
    /** Display rows of the changes, per pane. @type {number[][]} */
    this.stops = [[], []];
    this.follow();
  }

  /** Both panes scroll sideways together. */
  follow() {
    const [first, second] = this.panes;
    for (const [mine, other] of /** @type {const} */ ([[first, second], [second, first]])) {
      mine.box.addEventListener("scroll", () => {
        if (!other.pane.hidden && other.box.scrollLeft !== mine.box.scrollLeft) other.box.scrollLeft = mine.box.scrollLeft;
      });
      mine.box.addEventListener("focus", () => (this.active = this.panes.indexOf(mine)));
    }
  }

  stop() {
    stopAll();
    for (const pane of this.panes) pane.stop();
  }

  /** @param {Query} [more] */
  async start(more) {
    for (const key of ["q", "name", "find"]) byId("ir-" + key, HTMLInputElement).value = pageUrl.get()[key] || "";
    showSwitches();
    try {
      this.list = await ask("list", "list", { ...pageUrl.get(), ...more }, (progress) => this.progress(progress, "list"));
    } catch (error) {
      return this.problem(error, "list");
    }
    await Promise.all([this.compare(), this.loadOthers(), this.search(), this.trace()]);
    return undefined;
  }

  async loadOthers() {
    try {
      this.others = await ask("others", "others", pageUrl.get());
      if (this.list && this.diff) showChoices(this.list, this.diff, this.others);
    } catch (error) {
      say("The other runs cannot be listed", messageOf(error), "warn");
    }
  }

  /** @param {Query} [more] */
  async compare(more) {
    const query = pageUrl.get();
    byId("ir").dataset.busy = "true";
    try {
      const diff = /** @type {Diff} */ (await ask("diff", "diff", { ...query, ...more }, (progress) => this.progress(progress, "diff")));
      const second = query.fn2 ? await ask("diff2", "diff", { ...query, pane: "1" }) : null;
      this.show(diff, second, query);
    } catch (error) {
      this.problem(error, "diff");
    }
    delete byId("ir").dataset.busy;
  }

  /**
   * @param {Diff} diff
   * @param {Diff | null} second
   * @param {Query} query
   */
  show(diff, second, query) {
    if (!this.list) return;
    const place = [diff.left.dump, diff.left.id, diff.right.id, diff.function, query.fn2, query.struct].join("\n");
    const same = place === this.shown;
    this.shown = place;
    this.diff = diff;
    byId("ir-wait").hidden = true;
    showTitle(diff);
    showSwitches();
    showChoices(this.list, diff, this.others);
    showDrawer(this.list, diff);
    this.drawList();
    const [one, two] = this.panes;
    two.pane.hidden = !second;
    for (const [pane, found] of /** @type {const} */ ([[one, diff], [two, second]])) {
      if (!found) continue;
      const name = pane.pane.querySelector(".ir-pane-name");
      if (name) name.textContent = second ? found.function || "whole file" : "";
      const top = found.anchor !== null ? Math.max(0, found.anchor - 8) : same ? pane.first : Math.max(0, (found.changes[0] || 0) - 4);
      pane.show(found, query, top, second ? MOST_ROWS / 2 : MOST_ROWS);
      ruler(pane.pane, found);
    }
    this.stops = [diff.changes, second ? second.changes : []];
  }

  drawList() {
    if (this.list) showList(this.list, this.diff ? this.diff.right.id : pageUrl.get().pass || "", this.hits, this.history);
  }

  async search() {
    const query = pageUrl.get();
    await this.question("search", query.q, (found) => (this.hits = found), (problem, going) => this.list && showFound(this.list, this.hits, problem, going));
  }

  async trace() {
    const { name } = pageUrl.get();
    await this.question("history", name, (found) => (this.history = found), (problem, going) => showHistory(this.history, problem, going));
  }

  /**
   * @param {"search" | "history"} kind
   * @param {string | undefined} what
   * @param {(found: any) => void} keep
   * @param {(problem?: string, going?: boolean) => void} show
   */
  async question(kind, what, keep, show) {
    let problem = "";
    keep(null);
    try {
      /** @param {import("./api.js").Progress | null} progress */
      const told = (progress) => show(progress ? progress.title + ": " + progress.stage : "", true);
      if (what) keep(await ask(kind, kind, pageUrl.get(), told));
      else stop(kind);
    } catch (error) {
      problem = messageOf(error);
    }
    show(problem);
    this.drawList();
  }

  /**
   * How far a long answer is, with a way to stop it.
   * @param {import("./api.js").Progress | null} progress
   * @param {"list" | "diff"} what
   */
  progress(progress, what) {
    const box = byId("ir-wait");
    box.hidden = !progress;
    if (!progress) return;
    const bar = element("progress", "", { max: "1", "aria-label": "Progress" });
    if (progress.fraction >= 0) bar.value = progress.fraction;
    box.replaceChildren(element("strong", progress.title), bar, element("span", progress.stage || "waiting", { class: "muted" }), element("button", "Cancel", { class: "button", "data-cancel": what }));
  }

  /**
   * @param {unknown} error
   * @param {"list" | "diff"} what
   */
  problem(error, what) {
    const box = byId("ir-wait");
    box.hidden = false;
    const again = error instanceof Refused && error.progress ? "Try again" : "Reload";
    box.replaceChildren(element("strong", "This cannot be shown"), element("span", messageOf(error)), element("button", again, { class: "button", "data-again": what }));
    if (what === "diff") this.drawList();
  }

  /** @param {string} what */
  cancel(what) {
    cancel(what, pageUrl.get()).catch((error) => say("The job cannot be stopped", messageOf(error), "warn"));
  }

  /** @param {string} what */
  again(what) {
    byId("ir-wait").hidden = true;
    return what === "list" ? this.start({ retry: "1" }) : this.compare({ retry: "1" });
  }

  /** Go to the next change of the pane that was used last, from what is on its screen. @param {number} step */
  jump(step) {
    const number = this.panes[this.active].pane.hidden ? 0 : this.active;
    const pane = this.panes[number];
    const stops = this.stops[number];
    const known = stops.indexOf(pane.chosen);
    const near = step > 0 ? stops.findIndex((at) => at >= pane.first) : stops.findLastIndex((at) => at < pane.first);
    const to = known >= 0 && pane.sees(pane.chosen) ? known + step : near;
    if (to < 0 || to >= stops.length) return say(stops.length ? (step > 0 ? "This was the last change" : "This was the first change") : "This comparison has no change");
    pane.choose(stops[to], (line) => pageUrl.set({ line }));
    return undefined;
  }

  /** Open the pass before or after in the visible list. @param {number} step */
  turn(step) {
    const ids = all("#ir-list .ir-pass").map((each) => each.dataset.pass || "");
    if (!ids.length || !this.list) return;
    const open = this.diff ? this.diff.right.id : "";
    const order = this.list.passes.map((pass) => pass.id);
    const here = order.indexOf(open);
    const next = step > 0 ? ids.find((id) => order.indexOf(id) > here) : ids.filter((id) => order.indexOf(id) < here).pop();
    if (next) pageUrl.set({ pass: next, line: null, unf: null }, { push: true });
  }

  /** Choose a function; the selection of the run follows where its name map knows the name. @param {string} name */
  choose(name) {
    const id = this.list?.names[name.split(".").pop() || ""];
    pageUrl.set({ fn: name, line: null, unf: null, ...(id === undefined ? {} : { sel: "func:" + id }) }, { push: true });
  }

  /** @param {string} row */
  unfold(row) {
    pageUrl.set({ unf: listText([...listOf(pageUrl.get().unf), row]) }, { push: true });
  }

  /** @param {string} side left or right */
  async copySide(side) {
    try {
      const response = await fetch(address("text", { ...pageUrl.get(), side }));
      const text = await response.text();
      if (!response.ok) throw new Error(JSON.parse(text).error);
      await copy(text);
      say("Copied", "the whole snapshot of the " + side + " side", "ok");
    } catch (error) {
      say("It was not copied", messageOf(error), "warn");
    }
  }

  /**
   * The URL changed.
   * @param {string[]} changed
   * @param {string} origin
   */
  changed(changed, origin) {
    const view = pageUrl.get();
    if (changed.includes("dump")) return; // the page is built again
    if (origin === "tab" && changed.includes("sel") && (view.sel || "").startsWith("func:")) return pageUrl.set({ fn: null });
    if (changed.includes("other")) this.loadOthers();
    if (changed.some((key) => COMPARES.includes(key)) || (changed.includes("line") && origin !== "local")) this.compare();
    else if (changed.includes("line")) this.toLine(view.line || "");
    if (changed.some((key) => ["q", "re", "case"].includes(key))) this.search();
    if (changed.includes("name")) this.trace();
    for (const key of ["q", "name", "find"]) if (changed.includes(key) && origin !== "local") byId("ir-" + key, HTMLInputElement).value = view[key] || "";
    if (changed.some((key) => key === "pf" || key === "find")) this.drawList();
    if (changed.includes("tab") && this.list) showDrawer(this.list, this.diff);
    showSwitches();
    return undefined;
  }

  /** A line on the screen is only marked; another one is looked up. @param {string} line */
  toLine(line) {
    const there = all(".ir-no").some((each) => each.dataset.line === line);
    for (const pane of this.panes) pane.mark(line);
    if (!there && line) this.compare();
  }
}

/**
 * Where the changes are: a mark per change along the scrollbar, at most one per pixel.
 * @param {HTMLElement} pane
 * @param {Diff} diff
 */
function ruler(pane, diff) {
  const box = /** @type {HTMLElement} */ (pane.querySelector(".ir-ruler"));
  const places = new Set(diff.changes.map((at) => Math.round((at / Math.max(1, diff.length)) * 400) / 4));
  box.replaceChildren(...[...places].map((share) => {
    const made = element("i", "");
    made.style.top = share + "%";
    return made;
  }));
}

/** @type {PassPage | null} */
let page = null;
/** @type {Element | null} */
let root = null;

/** Inputs and selects belong to the browser side. */
function furnish() {
  for (const each of all("[data-input]")) each.append(element("input", "", { id: each.dataset.input || "", type: "search", class: "input", placeholder: each.dataset.text || "", "aria-label": each.dataset.text || "", autocomplete: "off", spellcheck: "false", maxlength: "200" }));
  for (const each of all("[data-select]")) {
    each.append(element("select", "", { id: each.dataset.select || "", class: "input", "aria-label": each.dataset.text || "" }));
    fill(each.dataset.select || "", [["", "…"]], "");
  }
}

function mount() {
  const found = document.getElementById("ir");
  if (found === root) return;
  if (page) page.stop();
  root = found;
  page = null;
  if (!found) return;
  furnish();
  page = new PassPage();
  page.start();
}

listen(() => page);
window.addEventListener("swimscope:page", mount);
pageUrl.on((_state, changed, origin) => {
  if (page && root?.isConnected) page.changed(changed, origin);
});
