// @ts-check
/* The source beside the map: only the lines in view are in the page, fetched in blocks; text is never markup. */

import { answerOf, closest, element, messageOf } from "../core/dom.js";
import { pageUrl } from "../core/url.js";

const ROW_PX = 18;
const BLOCK = 200;

/** @typedef {[string, string][]} Line pieces: text, colour class */
/** @typedef {{low: number, high: number, kind: string}} Mark lines that are marked, and how */

export class Source {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    this.first = Number(box.dataset.first);
    this.last = Number(box.dataset.last);
    /** @type {Map<number, Line[] | null>} */
    this.blocks = new Map();
    /** @type {Mark[]} */
    this.marks = [];
    this.line = 0;
    this.rows = element("div", "", { class: "mem-rows" });
    this.rows.style.height = (this.last - this.first + 1) * ROW_PX + "px";
    box.replaceChildren(this.rows);
    box.addEventListener("scroll", () => this.draw());
    box.addEventListener("click", (event) => {
      const row = closest(event, "[data-line]");
      if (row && !String(window.getSelection())) this.choose(Number(row.dataset.line));
    });
    box.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(box);
  }

  /** @param {number} line */
  choose(line) {
    pageUrl.set({ mline: line, mtile: null, mside: null }, { push: true });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const from = this.line || (step > 0 ? this.first - 1 : this.last + 1);
    this.choose(Math.min(this.last, Math.max(this.first, from + step)));
  }

  /** The lines in view.
   * @returns {[number, number]} */
  seen() {
    const top = this.first + Math.floor(this.box.scrollTop / ROW_PX);
    return [top, Math.min(this.last, top + Math.ceil(this.box.clientHeight / ROW_PX))];
  }

  /** @param {number} line */
  reveal(line) {
    const [top, bottom] = this.seen();
    if (line > top && line < bottom - 1) return;
    this.box.scrollTop = (line - this.first) * ROW_PX - this.box.clientHeight / 3;
  }

  /**
   * @param {Mark[]} marks
   * @param {number} line
   */
  mark(marks, line) {
    this.marks = marks;
    this.line = line;
    this.draw();
  }

  draw() {
    const [top, bottom] = this.seen();
    const rows = [];
    for (let line = top; line <= bottom; line++) rows.push(this.row(line));
    this.rows.replaceChildren(...rows);
    this.box.dispatchEvent(new CustomEvent("swimscope:seen", { bubbles: true }));
  }

  /** @param {number} line */
  row(line) {
    const row = element("div", "", { class: "mem-row", "data-line": String(line) });
    row.style.top = (line - this.first) * ROW_PX + "px";
    for (const mark of this.marks) if (line >= mark.low && line <= mark.high) row.classList.add("mem-row-" + mark.kind);
    if (line === this.line) row.classList.add("mem-row-line");
    row.append(element("span", String(line), { class: "mem-number" }));
    const code = element("span", "", { class: "mem-code" });
    for (const [text, letter] of this.pieces(line)) {
      code.append(letter ? element("span", text, { class: "ir-" + letter }) : text);
    }
    row.append(code);
    return row;
  }

  /** @param {number} line */
  pieces(line) {
    const number = Math.floor((line - this.first) / BLOCK);
    const block = this.blocks.get(number);
    if (block === undefined) this.fetch(number);
    return (block && block[(line - this.first) % BLOCK]) || [];
  }

  /** @param {number} number */
  async fetch(number) {
    this.blocks.set(number, null);
    const a = this.first + number * BLOCK;
    const b = Math.min(this.last, a + BLOCK - 1);
    const { dump = "", snap = "", route = "" } = this.box.dataset;
    const query = new URLSearchParams({ a: String(a), b: String(b), ...(dump && { dump }), ...(snap && { snap }) });
    try {
      this.blocks.set(number, (await answerOf(await fetch(route + "?" + query))).lines);
    } catch (error) {
      this.blocks.set(number, [[["The source cannot be read: " + messageOf(error), "c"]]]);
    }
    this.box.dataset.ready = String(number);
    this.draw();
  }
}
