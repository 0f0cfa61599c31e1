// @ts-check
/* What does the browser side say? A passing notice below the top bar. */

const STAYS_MS = 6000;

/**
 * Show a notice; title and text are plain text.
 * @param {string} title
 * @param {string} [text]
 * @param {"info" | "warn" | "ok" | "error"} [level]
 */
export function say(title, text, level) {
  const box = document.getElementById("notices");
  if (!box || !box.parentNode) return;
  const note = document.createElement("div");
  note.className = "notice notice-" + (level || "info") + " notice-passing";
  const strong = document.createElement("strong");
  strong.textContent = title;
  note.append(strong, text ? " " + text : "");
  box.parentNode.insertBefore(note, box.nextSibling);
  window.setTimeout(() => note.remove(), STAYS_MS);
}
