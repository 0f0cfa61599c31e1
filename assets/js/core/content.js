// @ts-check
/* Which content does this page show? Each answer about a run names its content; the page sends the names back, so that a
   run that is rewritten while it is open goes on as it was, with a notice that offers the new content (app/runs/content.py). */

import { closest } from "./dom.js";
import { pageUrl } from "./url.js";

const HEADER = "Swimscope-Content";
const STATE = "Swimscope-Content-State";
const KEPT = 8;
/** @type {Record<string, [string, string, string]>} */
const TEXTS = {
  changed: ["This run was written again", "The page keeps showing the content it was opened with.", "Show the new content"],
  gone: ["The files of this run are gone", "The page shows the copy that Swimscope stored.", ""],
};
/** @type {Map<string, string>} */
const known = new Map(); // "<run>.<launch>" -> "<run>.<launch>.<capture id>", as first seen by this page
let shown = "";

const sent = () => [...known.values()].slice(-KEPT).join(" ");

/** @param {Headers} headers */
function see(headers) {
  const state = headers.get(STATE);
  for (const name of (headers.get(HEADER) || "").split(" ").filter(Boolean)) {
    const place = name.slice(0, name.lastIndexOf("."));
    if (!known.has(place)) known.set(place, name);
    if (place.startsWith(pageUrl.place().run + ".")) tell(state || "", name);
  }
}

/**
 * @param {string} state
 * @param {string} name
 */
function tell(state, name) {
  const key = state === "current" ? "" : state + name;
  if (key === shown) return;
  shown = key;
  const old = document.getElementById("content-notice");
  if (old) old.remove();
  const box = document.getElementById("notices");
  if (!key || !box || !TEXTS[state]) return;
  const [title, text, action] = TEXTS[state];
  const note = document.createElement("div");
  note.id = "content-notice";
  note.className = "notice notice-warn";
  note.setAttribute("role", "status");
  const strong = document.createElement("strong");
  strong.textContent = title;
  note.append(strong, " " + text + " ");
  if (action) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button";
    button.textContent = action;
    button.addEventListener("click", () => window.location.reload()); // a new page expects nothing
    note.append(button);
  }
  box.after(note);
}

const plain = window.fetch;
window.fetch = async function (resource, options) {
  const address = resource instanceof Request ? resource.url : String(resource);
  const ours = new URL(address, window.location.href).origin === window.location.origin;
  if (!ours) return plain.call(window, resource, options);
  const names = sent();
  if (names && !(resource instanceof Request)) {
    const headers = new Headers((options || {}).headers);
    headers.set(HEADER, names);
    options = { ...options, headers };
  }
  const response = await plain.call(window, resource, options);
  see(response.headers);
  return response;
};

/* A file that a link downloads is of the content that the page shows. */
document.addEventListener(
  "click",
  (event) => {
    const link = closest(event, 'a[href*="/api/"]');
    if (!(link instanceof HTMLAnchorElement) || !known.size) return;
    const address = new URL(link.href);
    address.searchParams.set("content", sent());
    link.href = address.href;
  },
  true,
);
