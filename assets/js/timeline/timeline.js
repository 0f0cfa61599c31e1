// @ts-check
/* What is a timeline? Lanes of items over one time axis, drawn into `root` from what `source` answers.
 *
 * Several may be mounted on one page: each has its own state, and finds its elements by its own name (the id of its root
 * without "-root"; components/swimlane/page.py makes the skeleton). The source says where answers come from, which views
 * there are, where the view's state is kept, and what else can be done (types.d.ts: Source).
 */
import { activate, mount, unmount } from "./active.js";
import { dataPart } from "./data.js";
import { detailsPart } from "./details.js";
import { drawPart } from "./draw.js";
import { exportPart } from "./export.js";
import { gesturesPart } from "./gestures.js";
import { hitPart } from "./hit.js";
import { keysPart } from "./keys.js";
import { lanesPart } from "./lanes.js";
import { formatUs } from "./level.js";
import { markersPart } from "./markers.js";
import { measurePart } from "./measure.js";
import { menuPart } from "./menu.js";
import { overviewPart } from "./overview.js";
import { searchPart } from "./search.js";
import { toolbarPart } from "./toolbar.js";
import { windowPart } from "./window.js";

/** @typedef {import("./types").Timeline} Parts what the parts add to a timeline and use of each other */

const PARTS = [
  windowPart, dataPart, lanesPart, drawPart, hitPart, gesturesPart, keysPart, overviewPart, markersPart, measurePart, detailsPart,
  searchPart, toolbarPart, menuPart, exportPart,
];

export class Timeline {
  /**
   * Draw a timeline; it loads by itself.
   * @param {HTMLElement} root skeleton of components/swimlane/page.py; its id ends with "-root"
   * @param {import("./types").Source} source
   */
  constructor(root, source) {
    if (!root.id.endsWith("-root")) throw new Error(`the id of a timeline's root ends with -root, this is ${root.id}`);
    const control = new AbortController();
    const T = /** @type {Parts} */ (/** @type {unknown} */ (this));
    this.source = source;
    const name = root.id.slice(0, -"-root".length);
    Object.assign(T, {
      root, source, name, parts: [], ended: [], windowListeners: new Set(),
      el: (/** @type {string} */ part) => root.querySelector(`#${name}-${part}`),
      select: (/** @type {string} */ part) => root.querySelector(`#${name}-${part}`),
      listen: (/** @type {EventTarget} */ target, /** @type {string} */ kind, /** @type {EventListener} */ work, capture = false) =>
        target.addEventListener(kind, work, { capture, signal: control.signal }),
      s: {
        run: source.run, url: source.view.get(), info: null, ready: false, win: [0, 1], y: 0, width: 100, height: 100, rows: [],
        scrollRows: [], hiddenLanes: [], pinPx: 0, contentPx: 0, laneOfTrack: new Map(), selection: null, highlight: null,
        found: null, hover: null, pointer: null, drawn: null, lastItem: null, measuring: null, movedAt: 0,
      },
    });
    for (const part of PARTS) part(T);
    for (const part of T.parts) part();
    for (const kind of ["pointerenter", "focusin", "pointerdown"]) T.listen(root, kind, () => activate(this));
    T.listen(window, "swimscope:theme", () => T.recolour());
    T.ended.push(() => control.abort());
    mount(this);
    T.start();
  }

  /** Times for people. @param {number} us */
  format(us) {
    return formatUs(us);
  }

  /**
   * Be told of each change of the visible window; returns the remover. Two timelines are kept in step by calling
   * `show(t0, t1, "quiet")` of the other.
   * @param {(t0: number, t1: number, how: string) => void} listener
   */
  onWindow(listener) {
    const { windowListeners } = /** @type {Parts} */ (/** @type {unknown} */ (this));
    windowListeners.add(listener);
    return () => windowListeners.delete(listener);
  }

  /** End everything that it began: requests, listeners, timers, the plot. */
  destroy() {
    const T = /** @type {Parts} */ (/** @type {unknown} */ (this));
    if (!T.s) return;
    T.stop();
    T.data.clear();
    for (const end of T.ended) end();
    unmount(this);
    T.s = /** @type {any} */ (null);
  }
}
