// @ts-check
/* What is written on a bar? By label mode: function, ring and task id, both; graph tasks are named by their task. */
import { idLabel } from "../core/labels.js";

/** @typedef {{kind: number, value: number, name: string}} Class a function, phase, … of the view; kind 0 is a function, 3 an envelope */

/**
 * What only its graph task names: "graph t6" for an envelope, "t6 node 3" for a node without function id, else "".
 * @param {Class} cls
 * @param {number} low lower half of the task's id
 * @param {number} high upper half
 * @param {Set<number>} graphTasks local ids of graph tasks
 */
export function graphName(cls, low, high, graphTasks) {
  if (cls.kind === 3) return "graph " + idLabel(low, high);
  const node = cls.kind === 0 && cls.value < 0 && (high & 0xff) === 1 && graphTasks.has(low >>> 10);
  return node ? `t${low >>> 10} node ${low & 1023}` : "";
}

/**
 * The text of a bar; "" for none.
 * @param {Class} cls
 * @param {[number, number] | null} halves of the task's id, null where the bar has none
 * @param {string} mode func, id or both
 * @param {Set<number>} graphTasks
 */
export function barLabel(cls, halves, mode, graphTasks) {
  if (!halves) return mode === "id" ? "" : cls.name;
  const graph = graphName(cls, ...halves, graphTasks);
  if (graph && (mode !== "both" || graph.startsWith("graph"))) return graph; /* an envelope's name ends with its id */
  if (mode === "func") return cls.name;
  return mode === "id" ? idLabel(...halves) : [graph || cls.name, idLabel(...halves)].join(" ");
}
