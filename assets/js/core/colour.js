// @ts-check
/* Which colour has a function, and which ink is readable on it? The rule of components/theme.py. */
import { COLOUR_MULTIPLIER, N_COLOURS } from "./constants.js";

const table = new Uint32Array(256);
for (let n = 0; n < 256; n++) {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  table[n] = c >>> 0;
}

/**
 * Number of a name's colour: crc32 of its UTF-8 bytes, multiplied modulo 2^32, upper half.
 * @param {string} name
 */
export function colourIndex(name) {
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(name)) crc = table[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return (Math.imul(crc ^ 0xffffffff, COLOUR_MULTIPLIER) >>> 16) % N_COLOURS;
}

/**
 * Relative luminance of "#rrggbb", as WCAG 2 defines it.
 * @param {string} hex
 */
export function luminance(hex) {
  /** @param {number} at */
  const part = (at) => {
    const c = parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

/**
 * Red, green and blue of "#rrggbb", 0 to 255.
 * @param {string} hex
 */
export const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/**
 * The colour of a text on a bar of this colour.
 * @param {string} hex
 */
export const inkOn = (hex) => (luminance(hex) > 0.22 ? "#10151c" : "#ffffff");
