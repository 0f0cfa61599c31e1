// @ts-check
/* Which rows are in the page? Those on the screen and a few around them, fetched in chunks.
 *
 * The stage sticks to the scrolled box, so what was drawn stays until the next rows are there: there is never a blank.
 * Both sides of a row share one scrollbar per axis: the height of the extent is all rows, its width the longest line.
 */
import { all, isAbort } from "../core/dom.js";
import { address } from "./api.js";
import { draw, ROW_PX } from "./row.js";

/** @typedef {import("./api.js").Query} Query */
/** @typedef {import("./row.js").Row} Row */

const CHUNK = 100;
const CHUNKS_KEPT = 60;
const AROUND = 20;
const MOST_ROWS = 400;
const MOST_EXTENT_PX = 15_000_000;
const REBASE_ROWS = 4_000;
const CHAR_PX = 7.25;
const GUTTERS_PX = 120;

export class Scroller {
  /**
   * @param {HTMLElement} pane
   * @param {(error: unknown) => void} failed
   */
  constructor(pane, failed) {
    this.pane = pane;
    this.failed = failed;
    this.number = pane.dataset.pane || "0";
    this.box = /** @type {HTMLElement} */ (pane.querySelector(".ir-scroll"));
    this.extent = /** @type {HTMLElement} */ (pane.querySelector(".ir-extent"));
    this.stage = /** @type {HTMLElement} */ (pane.querySelector(".ir-stage"));
    this.length = 0;
    this.width = 0;
    this.most = MOST_ROWS;
    this.line = "";
    this.stacked = false;
    /** @type {Query} */
    this.query = {};
    /** @type {Map<number, Row[]>} */
    this.chunks = new Map();
    /** @type {Map<number, AbortController>} */
    this.asked = new Map();
    /** @type {Map<number, HTMLElement>} */
    this.drawn = new Map();
    this.base = 0;
    this.fresh = false;
    /** The change that was gone to last. */
    this.chosen = -1;
    /** @type {((line: string) => void) | null} */
    this.told = null;
    this.box.addEventListener("scroll", () => this.paint());
    this.resized = new ResizeObserver(() => this.fit());
    this.resized.observe(this.box);
  }

  /** Show another comparison, with `top` as the first row. @param {{length: number, width: number}} diff
   * @param {Query} query @param {number} top @param {number} most rows that may be in the page */
  show(diff, query, top, most) {
    for (const each of this.asked.values()) each.abort();
    this.asked.clear();
    this.chunks.clear();
    this.query = query;
    this.length = diff.length;
    this.width = diff.width;
    this.most = most;
    this.line = query.line || "";
    this.stacked = query.lay === "stacked";
    this.fresh = true;
    this.chosen = -1;
    this.told = null;
    this.pane.classList.toggle("ir-stacked", this.stacked);
    this.fit();
    this.goTo(top);
    this.paint();
  }

  /** Another line is marked; the rows stay. @param {string} line */
  mark(line) {
    this.line = line;
    const named = (/** @type {HTMLElement} */ each) => all(".ir-no", each).some((number) => number.dataset.line === line);
    for (const each of this.drawn.values()) each.classList.toggle("ir-here-line", Boolean(line) && named(each));
  }

  stop() {
    this.resized.disconnect();
    for (const each of this.asked.values()) each.abort();
  }

  get full() {
    return this.length * ROW_PX;
  }

  /* An extent is limited by browsers: beyond that, a pixel of the scrollbar stands for more than one of the rows. */
  get scale() {
    const seen = this.box.clientHeight;
    const room = Math.min(this.full, MOST_EXTENT_PX) - seen;
    return room > 0 ? Math.max(1, (this.full - seen) / room) : 1;
  }

  /** Pixels of all rows above the first visible one. */
  get offset() {
    return this.box.scrollTop * this.scale;
  }

  fit() {
    const { clientWidth, clientHeight } = this.box;
    const column = this.stacked ? clientWidth : clientWidth / 2;
    const more = Math.max(0, Math.ceil(this.width * CHAR_PX + GUTTERS_PX - column));
    this.extent.style.height = Math.max(Math.min(this.full, MOST_EXTENT_PX), clientHeight - 1) + "px";
    this.extent.style.width = clientWidth + more + "px";
    this.stage.style.width = clientWidth + "px";
    this.stage.style.height = clientHeight + "px";
    this.paint();
  }

  /** @param {number} row */
  goTo(row) {
    this.box.scrollTop = Math.max(0, row * ROW_PX) / this.scale;
  }

  /** Put a row a third down the box, unless it is in view already. @param {number} row */
  reveal(row) {
    const [top, bottom] = [this.offset, this.offset + this.box.clientHeight];
    if (row * ROW_PX < top + ROW_PX || (row + 2) * ROW_PX > bottom) this.goTo(row - Math.floor(this.box.clientHeight / ROW_PX / 3));
    this.paint();
  }

  /** The first visible row. */
  get first() {
    return Math.floor(this.offset / ROW_PX);
  }

  /** Whether a row is on the screen. @param {number} row */
  sees(row) {
    return row >= this.first && (row + 1) * ROW_PX <= this.offset + this.box.clientHeight;
  }

  /** Show a row as the current one. @param {number} row @param {(line: string) => void} told its line, once it is there */
  choose(row, told) {
    this.drawn.get(this.chosen)?.classList.remove("ir-current");
    this.chosen = row;
    this.drawn.get(row)?.classList.add("ir-current");
    this.told = told;
    this.reveal(row);
  }

  tell() {
    const row = this.row(this.chosen);
    if (!this.told || !row || "fold" in row) return;
    const told = this.told;
    this.told = null;
    const side = row[2] ? "R" : "L";
    const line = row[2] || row[1];
    if (line) told(side + line[0]);
  }

  paint() {
    const seen = Math.ceil(this.box.clientHeight / ROW_PX) + 1;
    const first = Math.max(0, Math.min(this.first, this.length - 1));
    const last = Math.min(this.length, first + seen);
    this.pane.style.setProperty("--ir-x", -this.box.scrollLeft + "px");
    if (!this.has(first, last)) {
      this.pane.setAttribute("aria-busy", "true");
      this.fetch(first, last);
      return;
    }
    this.pane.removeAttribute("aria-busy");
    const around = Math.max(0, Math.min(AROUND, Math.floor((this.most - (last - first)) / 2)));
    this.place(Math.max(0, first - around), Math.min(this.length, last + around));
    this.fetch(first - CHUNK, last + CHUNK);
    this.tell();
  }

  /** @param {number} first @param {number} last */
  has(first, last) {
    for (let chunk = Math.floor(first / CHUNK); chunk * CHUNK < last; chunk++) if (!this.chunks.has(chunk)) return false;
    return true;
  }

  /** @param {number} row @returns {Row | undefined} */
  row(row) {
    const chunk = this.chunks.get(Math.floor(row / CHUNK));
    return chunk && chunk[row % CHUNK];
  }

  /** Draw rows `first` to `last`; those that are there already stay. @param {number} first @param {number} last */
  place(first, last) {
    if (this.fresh || Math.abs(first - this.base) > REBASE_ROWS) {
      for (const each of this.drawn.values()) each.remove();
      this.drawn.clear();
      this.base = first;
      this.fresh = false;
    }
    for (const [at, each] of this.drawn) {
      if (at >= first && at < last) continue;
      each.remove();
      this.drawn.delete(at);
    }
    for (let at = first; at < last; at++) {
      const row = this.drawn.has(at) ? undefined : this.row(at);
      if (!row) continue;
      const made = draw(row, this.stacked, this.line);
      if (at === this.chosen) made.classList.add("ir-current");
      made.style.top = (at - this.base) * ROW_PX + "px";
      this.stage.append(made);
      this.drawn.set(at, made);
    }
    this.stage.style.setProperty("--ir-y", Math.round(this.base * ROW_PX - this.offset) + "px");
  }

  /** @param {number} first @param {number} last */
  fetch(first, last) {
    const from = Math.max(0, Math.floor(first / CHUNK));
    for (let chunk = from; chunk * CHUNK < Math.min(last, this.length); chunk++) {
      if (!this.chunks.has(chunk) && !this.asked.has(chunk)) this.load(chunk);
    }
    for (const [chunk, control] of this.asked) {
      if (chunk >= from - 1 && chunk * CHUNK <= last + CHUNK) continue;
      control.abort();
      this.asked.delete(chunk);
    }
    for (const chunk of [...this.chunks.keys()].slice(0, Math.max(0, this.chunks.size - CHUNKS_KEPT))) this.chunks.delete(chunk);
  }

  /** @param {number} chunk */
  async load(chunk) {
    const control = new AbortController();
    this.asked.set(chunk, control);
    const span = { a: String(chunk * CHUNK), b: String((chunk + 1) * CHUNK), pane: this.number };
    try {
      const response = await fetch(address("rows", { ...this.query, ...span }), { signal: control.signal });
      const body = await response.json();
      if (!response.ok || response.status === 202) throw new Error(body.error || "the rows are not there yet; reload the page");
      if (this.asked.get(chunk) !== control) return;
      this.asked.delete(chunk);
      this.chunks.set(chunk, body.rows);
      this.paint();
    } catch (error) {
      if (isAbort(error)) return;
      this.asked.delete(chunk);
      this.pane.removeAttribute("aria-busy");
      this.failed(error);
    }
  }
}
