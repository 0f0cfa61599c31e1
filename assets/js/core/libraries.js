// @ts-check
/* Which names of Dash, Plotly, Cytoscape and AG Grid do we use that they do not document? All of them, here only.
 *
 * Each look-up fails with a message that names the library and what it lacks, so that an update which renames one is
 * seen at once.
 */

/**
 * @param {string} library
 * @param {string} name
 * @returns {never}
 */
function lacking(library, name) {
  throw new Error(`${library} no longer has ${name}, which assets/js/core/libraries.js relies on`);
}

/** dash-renderer fires this on window when dcc.Location or dcc.Link changed the address, and listens for it. */
export const DASH_PUSHED = "_dashprivate_pushstate";

/**
 * Set properties of a component that Dash holds.
 * @param {string} id
 * @param {Record<string, unknown>} props
 */
export function setProps(id, props) {
  const dash = window.dash_clientside || lacking("dash-renderer", "window.dash_clientside");
  (dash.set_props || lacking("dash-renderer", "dash_clientside.set_props"))(id, props);
}

/**
 * What a dcc.Store of the page holds, or undefined.
 * @param {string} id
 */
export function storeData(id) {
  const api = window.dash_component_api || lacking("dash-renderer", "window.dash_component_api");
  const part = (api.getLayout || lacking("dash-renderer", "dash_component_api.getLayout"))(id);
  return part && part.props.data;
}

/**
 * The api of the grid in a `.grid-box`, or null while there is none: dash_ag_grid throws then, or has the grid before.
 * @param {HTMLElement} box
 * @returns {any}
 */
export function gridApi(box) {
  const library = window.dash_ag_grid;
  if (!library) return null; // its script is loaded with the first page that has a grid
  if (!library.getApi) lacking("dash-ag-grid", "dash_ag_grid.getApi");
  try {
    const api = library.getApi(box.dataset.grid);
    return !api.isDestroyed() && box.querySelector('[grid-id="' + api.getGridId() + '"]') ? api : null;
  } catch (error) {
    if (!(error instanceof Error) || !/no grid found/.test(error.message)) throw error;
    return null;
  }
}

/**
 * The Cytoscape instance drawn in an element, or null while there is none.
 * @param {HTMLElement} box
 * @returns {any}
 */
export function cytoscapeIn(box) {
  const register = /** @type {any} */ (box)._cyreg;
  if (!register) return null;
  return "cy" in register ? register.cy : lacking("cytoscape", "element._cyreg.cy");
}

/**
 * Large pictures are moved as an image: switches of the renderer that dash-cytoscape does not pass on.
 * @param {any} cy
 * @param {boolean} many
 */
export function lightenCytoscape(cy, many) {
  const renderer = cy.renderer && cy.renderer();
  if (!renderer) lacking("cytoscape", "cy.renderer()");
  Object.assign(renderer, { textureOnViewport: many, hideEdgesOnViewport: many, motionBlurEnabled: false });
}

/**
 * Layers of a plot that CSS moves while a gesture lasts.
 * @param {Element} plot
 * @returns {HTMLElement[]}
 */
export function plotLayers(plot) {
  const found = plot.querySelectorAll(".cartesianlayer .plot, .shapelayer, .imagelayer");
  if (!plot.querySelector(".cartesianlayer")) lacking("plotly.js", "an element of class cartesianlayer");
  return /** @type {HTMLElement[]} */ ([...found]);
}

/**
 * An axis of a plot, as it is drawn now: where it starts in the plot (px), its length (px), its range, and both ways
 * between a value and the pixels after the start.
 * @param {any} plot
 * @param {string} name x, x2, … or y
 * @returns {{start: number, length: number, range: [number, number], pixel: (value: number) => number, value: (pixel: number) => number}}
 */
export function plotAxis(plot, name) {
  const axis = plot._fullLayout && plot._fullLayout[name.replace(/^([xy])/, "$1axis")];
  if (!axis || !axis.l2p || !axis.p2l) lacking("plotly.js", `an axis ${name} with l2p and p2l`);
  return { start: axis._offset, length: axis._length, range: axis.range, pixel: (value) => axis.l2p(value), value: (pixel) => axis.p2l(pixel) };
}

/** The plots drawn below an element. */
export const PLOT = ".js-plotly-plot";
