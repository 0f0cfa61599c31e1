// @ts-check
/* Light or dark? System default, a switch, remembered per browser. Also the colour of a function in the browser.
 *
 * theme: get() "light"|"dark", cycle(), color(name), index(name), css(variable)
 * Fires "swimscope:theme" on window when the theme changed.
 */

import { colourIndex } from "./colour.js";
import { PLOT } from "./libraries.js";

const KEY = "swimscope.theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");

/** @param {string} variable */
function css(variable) {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}

function choice() {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

function apply() {
  const kept = choice();
  const now = kept === "system" ? (system.matches ? "dark" : "light") : kept;
  const changed = document.documentElement.dataset.theme !== now;
  document.documentElement.dataset.theme = now;
  document.documentElement.style.colorScheme = now;
  if (changed) window.dispatchEvent(new CustomEvent("swimscope:theme", { detail: now }));
}

function cycle() {
  const order = ["system", "light", "dark"];
  const next = order[(order.indexOf(choice()) + 1) % 3];
  if (next === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  apply();
  return next;
}

system.addEventListener("change", apply);
window.addEventListener("storage", (event) => event.key === KEY && apply());
apply();

export const theme = {
  get: () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light"),
  choice,
  cycle,
  index: colourIndex,
  /** @param {string} name */
  color: (name) => css("--fn-" + colourIndex(name)),
  css,
};

/* Themed plots of components/plot.py follow the theme: text, lines, and traces that name a variable in meta.color.
   Figures arrive in the light theme, so every new one is looked at as soon as plotly has drawn it. */
/** @param {any} plot */
function restyle(plot) {
  const text = css("--text");
  if (!window.Plotly || !plot.layout || !plot.layout.font || plot.layout.font.color === text) return;
  const line = css("--line");
  const muted = css("--muted");
  /** @type {Record<string, string>} */
  const patch = { "font.color": text, "legend.font.color": text };
  for (const key of Object.keys(plot.layout).filter((name) => /^[xy]axis\d*$/.test(name))) {
    for (const part of ["gridcolor", "linecolor", "zerolinecolor"]) patch[key + "." + part] = line;
    patch[key + ".tickfont.color"] = muted;
    patch[key + ".title.font.color"] = muted;
  }
  window.Plotly.relayout(plot, patch);
  plot.data.forEach((/** @type {any} */ trace, /** @type {number} */ at) => {
    if (!trace.meta || !trace.meta.color) return;
    window.Plotly.restyle(plot, { [trace.mode === "lines" ? "line.color" : "marker.color"]: css(trace.meta.color) }, [at]);
  });
}

let waiting = 0;
function restyleSoon() {
  if (waiting) return;
  waiting = window.requestAnimationFrame(() => {
    waiting = 0;
    document.querySelectorAll(".plot-themed " + PLOT).forEach(restyle);
  });
}

window.addEventListener("swimscope:theme", restyleSoon);
new MutationObserver(restyleSoon).observe(document.documentElement, { childList: true, subtree: true });
