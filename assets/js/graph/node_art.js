// @ts-check
/* What is drawn on a node of the graph besides its label? Ports, the function's stripe, markers, sheets of SPMD tasks. */
import { theme } from "../core/theme.js";

/**
 * @typedef {object} NodeData
 * @property {string} kind aic, aiv, mix, …
 * @property {number} fn number of the function's colour, -1 for none
 * @property {number} ins
 * @property {number} outs
 * @property {number} blocks
 * @property {number} [count] tasks of a group
 * @property {boolean} [fire]
 * @property {boolean} [star]
 */

const WIDTH = 172;
const HEIGHT = 54;
/** @type {Map<string, string>} */
const images = new Map();

/* Ports with degrees, the function's stripe and the markers, as one picture behind the label. */
/**
 * @param {NodeData} data
 * @param {boolean} down edges lead from top to bottom
 * @returns {string} a data URL
 */
export function ports(data, down) {
  const stack = data.blocks > 1 ? data.kind : "";
  const key = [theme.get(), down, data.fn, data.ins, data.outs, data.fire, data.star, stack, data.count ? 1 : 0].join();
  const picture = images.get(key) || draw(data, down);
  images.set(key, picture);
  return picture;
}

/* The sheets behind an SPMD task: its outline twice, moved down and right, without what the body covers. */
/** @param {string} kind */
function sheets(kind) {
  /** @type {Record<string, string>} */
  const outline = {
    aiv: '<ellipse cx="86" cy="27" rx="66" ry="19"/>',
    mix: '<path d="M20 27 53 8h66l33 19-33 19H53z"/>',
  };
  const body = outline[kind] || '<path d="M20 8h132v38H20z"/>';
  const paint = `fill="${theme.css("--panel-2")}" stroke="${theme.css("--muted")}" stroke-width="1.2"`;
  return (
    `<mask id="m"><path d="M0 0h172v54H0z" fill="#fff"/><g fill="#000" stroke="#000" stroke-width="2">${body}</g></mask>` +
    `<g mask="url(#m)" ${paint}><g transform="translate(6 6)">${body}</g><g transform="translate(3 3)">${body}</g></g>`
  );
}

/**
 * @param {NodeData} data
 * @param {boolean} down
 */
function draw(data, down) {
  const css = theme.css;
  const part = data.blocks > 1 ? [sheets(data.kind)] : [];
  if (data.fn >= 0) part.push(`<rect x="51" y="39.5" width="70" height="3.2" rx="1.6" fill="${css("--fn-" + data.fn)}"/>`);
  const port = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ n) => {
    const text = n > 9999 ? Math.round(n / 1000) + "k" : String(n);
    const w = 7 + 5 * text.length;
    return (
      `<rect x="${x - w / 2}" y="${y - 6}" width="${w}" height="12" rx="6" fill="${css("--panel")}" stroke="${css("--muted")}" stroke-width="0.8"/>` +
      `<text x="${x}" y="${y + 3}" text-anchor="middle" font-family="system-ui, sans-serif" font-size="8.5" fill="${css("--muted")}">${text}</text>`
    );
  };
  if (!data.count && data.ins) part.push(down ? port(86, 8, data.ins) : port(20, 27, data.ins));
  if (!data.count && data.outs) part.push(down ? port(86, 48, data.outs) : port(152, 27, data.outs));
  if (data.fire)
    part.push('<path d="M126 0c1 4 6 5 6 10a6 6 0 0 1-12 0c0-2 1-3 2-4 0 2 1 2 2 2 0-3 0-5 2-8z" fill="#e8590c"/><path d="M126 8c1 2 3 3 3 5a3 3 0 0 1-6 0c0-2 2-3 3-5z" fill="#ffd43b"/>');
  if (data.star)
    part.push('<path d="M142 1l2.2 4.7 5.1.6-3.8 3.5 1 5.1-4.5-2.6-4.5 2.6 1-5.1-3.8-3.5 5.1-.6z" fill="#f2b705" stroke="#8a5a00" stroke-width="0.7"/>');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">${part.join("")}</svg>`;
  return "data:image/svg+xml;utf8," + encodeURIComponent(svg);
}
