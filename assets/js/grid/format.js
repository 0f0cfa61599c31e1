// @ts-check
/* How is a value written in a table cell? One function per formatter that components/grid.py names. */
import { isId, taskLabel } from "../core/labels.js";

export const MISSING = "–";
/** @param {any} value */
export const missing = (value) => value === null || value === undefined || Number.isNaN(value);
/**
 * @param {number} value
 * @param {number} digits
 */
const fixed = (value, digits) =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** @param {any} value */
export const us = (value) => (missing(value) ? MISSING : fixed(value, 3));
/** @param {any} value */
export const ticks = (value) => (missing(value) ? MISSING : value.toLocaleString("en-US"));
export const count = ticks;
/** @param {any} value */
export const index = (value) => (missing(value) || value < 0 ? MISSING : String(value));
/** @param {any} value */
export const share = (value) => (missing(value) ? MISSING : fixed(value * 100, 1) + " %");
/** @param {any} value */
export const bool = (value) => (missing(value) ? MISSING : value ? "yes" : "no");
/** @param {any} value */
export const id = (value) => (missing(value) ? MISSING : isId(value) ? taskLabel(value) + " · " + value : value);
/** @param {any} value */
export const label = (value) => (isId(value) ? taskLabel(value) : missing(value) ? MISSING : value);
/** @param {any} value */
export const ids = (value) => (missing(value) ? MISSING : value.map((/** @type {any} */ part) => (isId(part) ? taskLabel(part) : part)).join(" "));
/** @param {any} value */
export const texts = (value) => (missing(value) ? MISSING : value.join(", "));
/** @param {any} value */
export const duration_us = (value) => {
  if (missing(value)) return MISSING;
  const size = Math.abs(value);
  if (size === 0) return "0 µs";
  if (size < 1) return fixed(value * 1000, 0) + " ns";
  if (size < 1e4) return fixed(value, 2) + " µs";
  if (size < 1e7) return fixed(value / 1e3, 2) + " ms";
  return fixed(value / 1e6, 2) + " s";
};
/** @param {any} value */
export const bytes = (value) => {
  if (missing(value)) return MISSING;
  let size = value;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (size < 1024) return (unit === "B" ? size : fixed(size, 1)) + " " + unit;
    size /= 1024;
  }
  return fixed(size, 1) + " TiB";
};
/** @param {any} value */
export const time = (value) =>
  missing(value) ? MISSING : new Date(value * 1000).toISOString().slice(0, 16).replace("T", " ");
