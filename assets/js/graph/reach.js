// @ts-check
/* Which nodes lead to some nodes, or follow them, within a number of steps? */

/** @typedef {any} Element a Cytoscape element */

/* Everything within depth lines of the start nodes, before and after apart. */
/**
 * @param {Element[]} start
 * @param {number} depth steps; -1 for all
 * @param {boolean} back
 */
export function reach(start, depth, back) {
  /** @type {Set<string>} */
  const nodes = new Set();
  /** @type {Set<string>} */
  const lines = new Set();
  let frontier = start;
  for (let step = 0; frontier.length && (depth < 0 || step < depth); step++) {
    /** @type {Element[]} */
    const next = [];
    for (const node of frontier) {
      node.connectedEdges().forEach((/** @type {Element} */ line) => {
        const from = back ? line.target() : line.source();
        if (from.id() !== node.id()) return;
        lines.add(line.id());
        const other = back ? line.source() : line.target();
        if (nodes.has(other.id()) || start.some((one) => one.id() === other.id())) return;
        nodes.add(other.id());
        next.push(other);
      });
    }
    frontier = next;
  }
  return { nodes, lines };
}
