// @ts-check
/* How does a run get from this browser to the server? In pieces, with progress; a broken connection goes on where it ended. */
import { route } from "../core/config.js";
import { answerOf, closest, element, messageOf } from "../core/dom.js";
import { say } from "../core/notice.js";

const PIECE_BYTES = 8 * 1024 * 1024;
const TRIES = 8;
const POLL_MS = 300;

/** @typedef {{file: File, path: string}} Sent */
/** @typedef {{row: HTMLElement, bar: HTMLProgressElement, words: HTMLElement, stop: AbortController, batch: string}} Job */

const wait = (/** @type {number} */ ms) => new Promise((done) => setTimeout(done, ms));
const base64 = (/** @type {string} */ text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const zone = () => document.getElementById("upload-zone");
const megabytes = (/** @type {number} */ bytes) => (bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 }) + " MB";

/**
 * A line that shows one upload, with a button that cancels it.
 * @param {string} name
 * @returns {Job}
 */
function jobLine(name) {
  const row = element("div", "", { class: "upload-job" });
  const bar = /** @type {HTMLProgressElement} */ (element("progress", "", { max: "1", value: "0", "aria-label": "Sending " + name }));
  const words = element("span", "", { class: "upload-words" });
  const cancel = element("button", "Cancel", { type: "button", class: "button quiet" });
  const job = { row, bar, words, stop: new AbortController(), batch: "" };
  cancel.addEventListener("click", () => {
    if (row.dataset.ended) row.remove();
    else job.stop.abort();
  });
  row.append(element("strong", name), bar, words, cancel);
  document.getElementById("upload-jobs")?.append(row);
  return job;
}

/**
 * @param {Job} job
 * @param {string} text
 * @param {boolean} failed
 */
function ended(job, text, failed) {
  job.row.dataset.ended = "1";
  job.row.classList.toggle("failed", failed);
  job.words.textContent = text;
  const button = job.row.querySelector("button");
  if (button) button.textContent = "Dismiss";
}

/**
 * @param {string} method
 * @param {string} address
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 */
async function json(method, address, body, signal) {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  return answerOf(await fetch(address, { method, body: sent, headers: { "Content-Type": "application/json" }, signal }));
}

/**
 * Send one file from where the server's copy ends.
 * @param {Job} job
 * @param {Sent} item
 * @param {(bytes: number) => void} report
 */
async function sendFile(job, item, report) {
  const metadata = "batch " + base64(job.batch) + ",filename " + base64(item.path);
  const made = await fetch(route("api", "uploads"), {
    method: "POST", signal: job.stop.signal,
    headers: { "Upload-Length": String(item.file.size), "Upload-Metadata": metadata },
  });
  if (!made.ok) await answerOf(made);
  const address = made.headers.get("Location") || "";
  let [offset, failures] = [0, 0];
  while (offset < item.file.size) {
    try {
      const piece = item.file.slice(offset, offset + PIECE_BYTES);
      const answer = await fetch(address, {
        method: "PATCH", body: piece, signal: job.stop.signal,
        headers: { "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream" },
      });
      if (!answer.ok && answer.status !== 409) await answerOf(answer);
      offset = Number(answer.headers.get("Upload-Offset"));
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!(error instanceof TypeError) || failures === TRIES || job.stop.signal.aborted) throw error;
      job.words.textContent = "connection lost, trying again …";
      await wait(500 * 2 ** failures);
      const state = await fetch(address, { method: "HEAD", signal: job.stop.signal });
      offset = Number(state.headers.get("Upload-Offset")) || 0;
    }
    report(offset);
  }
}

/**
 * Send files as one run.
 * @param {Sent[]} items
 * @param {string} name
 */
export async function upload(items, name) {
  const job = jobLine(name);
  const total = items.reduce((sum, item) => sum + item.file.size, 0);
  let before = 0;
  try {
    const batch = await json("POST", route("api", "batches"), { name }, job.stop.signal);
    job.batch = batch.id;
    for (const item of items) {
      await sendFile(job, item, (bytes) => {
        job.bar.value = (before + bytes) / Math.max(total, 1);
        job.words.textContent = megabytes(before + bytes) + " of " + megabytes(total);
      });
      before += item.file.size;
    }
    let state = await json("POST", route("api", "batches", job.batch, "finish"), undefined, job.stop.signal);
    while (state.state === "unpacking" || state.state === "receiving") {
      job.words.textContent = "unpacking, " + megabytes(state.done_bytes);
      await wait(POLL_MS);
      state = await json("GET", route("api", "batches", job.batch), undefined, job.stop.signal);
    }
    if (state.state !== "done") throw new Error(state.message || state.state);
    job.bar.value = 1;
    ended(job, "here; its runs appear in the table", false);
  } catch (error) {
    const cancelled = job.stop.signal.aborted;
    if (job.batch) await fetch(route("api", "batches", job.batch), { method: "DELETE" }).catch(() => undefined);
    ended(job, cancelled ? "cancelled" : messageOf(error), !cancelled);
  }
}

/**
 * Files of a dropped entry with their paths below it.
 * @param {any} entry
 * @param {string} above
 * @returns {Promise<Sent[]>}
 */
async function filesOf(entry, above) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    return [{ file, path: above + entry.name }];
  }
  const reader = entry.createReader();
  /** @type {Sent[]} */
  const found = [];
  for (;;) {
    const part = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!part.length) return found;
    for (const inner of part) found.push(...(await filesOf(inner, above + entry.name + "/")));
  }
}

/** @param {string} name */
const withoutEnding = (name) => name.replace(/\.(zip|tar|tar\.gz|tgz|tar\.zst|tzst|json|gz)$/i, "") || name;

/** @param {Sent[]} items */
function send(items) {
  if (!items.length) return say("Nothing to upload", "There is no file in it.", "warn");
  const top = items[0].path.split("/")[0];
  const one = items.every((item) => item.path.startsWith(top + "/"));
  const parts = one ? items.map((item) => ({ file: item.file, path: item.path.slice(top.length + 1) })) : items;
  return upload(parts, one ? top : withoutEnding(top));
}

/** @param {boolean} folder */
function pick(folder) {
  const input = /** @type {HTMLInputElement} */ (element("input", "", { type: "file" }));
  input.multiple = true;
  input.webkitdirectory = folder;
  input.addEventListener("change", () => {
    send([...(input.files || [])].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
  });
  input.click();
}

/**
 * One uploaded run in the list: rename, note, delete, undo.
 * @param {any} item
 */
function listRow(item) {
  const row = element("div", "", { class: "upload-row" });
  const name = /** @type {HTMLInputElement} */ (element("input", "", { type: "text", value: item.name, "aria-label": "Name" }));
  const note = /** @type {HTMLInputElement} */ (element("input", "", { type: "text", value: item.note, placeholder: "Note", "aria-label": "Note of " + item.name }));
  const remove = element("button", item.deleted ? "Put back" : "Delete", { type: "button", class: "button" });
  const change = () => json("PATCH", route("api", "uploaded", item.id), { name: name.value, note: note.value }).catch((error) => say("Not changed", messageOf(error), "error"));
  name.addEventListener("change", change);
  note.addEventListener("change", change);
  remove.addEventListener("click", async () => {
    const address = item.deleted ? route("api", "uploaded", item.id, "undo") : route("api", "uploaded", item.id);
    try {
      row.replaceWith(listRow(await json(item.deleted ? "POST" : "DELETE", address, undefined)));
    } catch (error) {
      say("Not deleted", messageOf(error), "error");
    }
  });
  const facts = [item.files.toLocaleString("en") + " files", megabytes(item.size_bytes), new Date(item.created_s * 1000).toISOString().slice(0, 16).replace("T", " ")];
  if (item.owner) facts.unshift(item.owner);
  if (item.deleted) facts.unshift("deleted");
  row.append(name, note, remove, element("span", facts.join(" · "), { class: "muted" }));
  return row;
}

async function openList() {
  const box = document.getElementById("upload-list");
  const sheet = document.getElementById("upload-list-sheet");
  if (!box || !(sheet instanceof HTMLDialogElement)) return;
  try {
    const { uploads } = await json("GET", route("api", "uploaded") + "?deleted=1", undefined);
    box.replaceChildren(...uploads.map(listRow));
    if (!uploads.length) box.append(element("p", "Nothing was uploaded yet.", { class: "muted" }));
    sheet.showModal();
  } catch (error) {
    say("The list cannot be shown", messageOf(error), "error");
  }
}

document.addEventListener("click", (event) => {
  const button = closest(event, "#upload-zone button");
  if (button?.id === "upload-files") pick(false);
  else if (button?.id === "upload-folder") pick(true);
  else if (button?.id === "upload-list-open") openList();
  else if (button?.id === "upload-list-close") /** @type {HTMLDialogElement} */ (button.closest("dialog")).close();
});

document.addEventListener("dragover", (event) => {
  if (!zone() || !event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  zone()?.classList.add("dropping");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) zone()?.classList.remove("dropping");
});
document.addEventListener("drop", async (event) => {
  if (!zone() || !event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  zone()?.classList.remove("dropping");
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  const found = await Promise.all(entries.map((entry) => filesOf(entry, "")));
  send(found.flat());
});

