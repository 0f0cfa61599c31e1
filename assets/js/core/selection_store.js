// @ts-check
/* How do Dash and the URL share the selection? dcc.Store(id="selection") holds {sel, hl}; callbacks set and follow it.
 *
 * A component that selects (clickData of a plot, tapNodeData of the graph, cellClicked of a table) is an Input of a
 * clientside callback whose Output is the store (app/shell/selecting.py). The store's own callback calls follow() here,
 * which writes the history entry; the bridge to other tabs and the timeline hear of it from the URL. A change that began
 * elsewhere (Back, another tab, the timeline) goes into the store the same way, and its callbacks run on every page.
 */
import { setProps } from "./libraries.js";
import { pageUrl } from "./url.js";

/** @typedef {{sel: string, hl: string}} Chosen */

const current = () => ({ sel: pageUrl.get().sel || "", hl: pageUrl.get().hl || "" });

/** @param {Chosen} one @param {Chosen} other */
const same = (one, other) => one.sel === other.sel && one.hl === other.hl;

window.dash_clientside = window.dash_clientside || {};
window.dash_clientside.swimscopeSelection = {
  /**
   * The store changed: the URL follows, as a step that Back undoes. Nothing where it says so already.
   * @param {Chosen | null} chosen
   */
  follow(chosen) {
    if (chosen && !same(chosen, current())) pageUrl.set({ sel: chosen.sel, hl: chosen.hl, item: null }, { push: true });
  },
  /**
   * A point of a plot was clicked: its task is in customdata.
   * @param {{points: {customdata?: unknown}[]} | null} click
   */
  ofPoint(click) {
    const task = click && click.points[0] && click.points[0].customdata;
    return task === null || task === undefined ? window.dash_clientside.no_update : { sel: "task:" + task, hl: current().hl };
  },
};

/* Whatever changed the URL, the store holds the same. */
pageUrl.on((_, changed) => {
  if (changed.includes("sel") || changed.includes("hl")) publish();
});
window.addEventListener("swimscope:page", publish);

function publish() {
  if (document.getElementById("page")) setProps("selection", { data: current() });
}
