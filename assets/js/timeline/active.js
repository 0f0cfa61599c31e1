// @ts-check
/* Which of several timelines on a page do the keys act on? The one that was last entered or focused. */

/** @type {Set<object>} */
const mounted = new Set();
/** @type {object | null} */
let active = null;

/** @param {object} timeline */
export const isActive = (timeline) => active === timeline;

/** @param {object} timeline */
export const activate = (timeline) => void (active = timeline);

/** @param {object} timeline */
export function mount(timeline) {
  mounted.add(timeline);
  if (!active) active = timeline;
}

/** @param {object} timeline */
export function unmount(timeline) {
  mounted.delete(timeline);
  if (active === timeline) active = [...mounted].pop() || null;
}
