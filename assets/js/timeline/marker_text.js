// @ts-check
/* How are markers written in the URL? tick:colour:label; a label may hold colons. */
import { MARKER_COLOURS } from "../core/constants.js";

/** @typedef {{tick: number, color: string, label: string}} Marker */

export const NAMES = MARKER_COLOURS;

/**
 * Markers of the URL's items in time order; an item without a number as its tick is left out.
 * @param {string[]} items
 * @returns {Marker[]}
 */
export const parseMarkers = (items) =>
  items
    .map((text) => {
      const [tick, color, ...label] = text.split(":");
      return { tick: tick ? Number(tick) : NaN, color: NAMES.includes(color) ? color : NAMES[0], label: label.join(":") };
    })
    .filter((marker) => Number.isFinite(marker.tick))
    .sort((a, b) => a.tick - b.tick);

/** @param {Marker} marker */
export const markerText = ({ tick, color, label }) => `${Math.round(tick)}:${color}:${label}`;
