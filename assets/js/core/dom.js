// @ts-check
/* What does every page do with its elements? Look-ups, small elements, files that are saved, the clipboard. */

/**
 * The element called `id`, of the kind that `make` constructs; an error where the page lacks it.
 * @template {HTMLElement} [E=HTMLElement]
 * @param {string} id
 * @param {new () => E} [make]
 * @returns {E}
 */
export function byId(id, make) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  if (make && !(found instanceof make)) throw new Error(`element ${id} is no ${make.name}`);
  return /** @type {E} */ (found);
}

/**
 * The nearest element around an event's target that matches, or null.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function closest(event, selector) {
  return event.target instanceof Element ? event.target.closest(selector) : null;
}

/**
 * Every HTML element below `root` that matches.
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {HTMLElement[]}
 */
export function all(selector, root) {
  return [...(root || document).querySelectorAll(selector)].map((each) => /** @type {HTMLElement} */ (each));
}

/**
 * A new element with a text and attributes.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} text
 * @param {Record<string, string>} [attributes]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, text, attributes) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  return made;
}

/**
 * Save what is at `href` as a file; "" leaves the name to the server.
 * @param {string} href
 * @param {string} [name]
 */
export function download(href, name) {
  const anchor = document.createElement("a");
  anchor.href = href;
  anchor.download = name || "";
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
}

/**
 * Follow a pointer from its press to its release.
 * @param {(event: PointerEvent) => void} move
 * @param {(event: PointerEvent) => void} [up]
 */
export function follow(move, up) {
  /** @param {PointerEvent} event */
  const end = (event) => {
    window.removeEventListener("pointermove", move);
    window.removeEventListener("pointerup", end);
    if (up) up(event);
  };
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", end);
}

/**
 * Put a text on the clipboard; pages served without TLS have none, so a hidden box is copied from there.
 * @param {string} text
 * @returns {Promise<void>}
 */
export function copy(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const box = document.createElement("textarea");
  box.value = text;
  box.className = "off-screen";
  document.body.append(box);
  box.select();
  document.execCommand("copy");
  box.remove();
  return Promise.resolve();
}

/**
 * The message of whatever was thrown.
 * @param {unknown} error
 */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/**
 * Whether a request was stopped because a newer one took its place.
 * @param {unknown} error
 */
export const isAbort = (error) => error instanceof Error && error.name === "AbortError";

/**
 * The JSON answer of a request; the server's own message is thrown where it refuses.
 * @param {Response} response
 * @returns {Promise<any>}
 */
export async function answerOf(response) {
  const body = await response.json();
  if (!response.ok) throw new Error(body.error || response.statusText);
  return body;
}
