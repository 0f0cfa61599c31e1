// @ts-check
/* How does the page ask the server about a dump? One question at a time of each kind; long answers show how far they are. */
import { route } from "../core/config.js";
import { isAbort } from "../core/dom.js";
import { query } from "../core/query.js";
import { pageUrl } from "../core/url.js";

/** @typedef {Record<string, string>} Query */
/** @typedef {{title: string, state: string, fraction: number, stage: string, error?: string}} Progress */

const POLL_MS = 300;
/** @type {Map<string, AbortController>} */
const running = new Map();

/**
 * The address of one of the routes.
 * @param {string} name
 * @param {Query} asked
 */
export const address = (name, asked) => route("api", "r", pageUrl.place().run, "passes", ...name.split("/")) + "?" + query(asked);

/** @param {number} ms @param {AbortSignal} signal */
const wait = (ms, signal) =>
  new Promise((done, stop) => {
    const timer = window.setTimeout(done, ms);
    signal.addEventListener("abort", () => {
      window.clearTimeout(timer);
      stop(new DOMException("a newer question took its place", "AbortError"));
    });
  });

/** A question that the server refuses, or a job that ended badly. */
export class Refused extends Error {
  /** @param {Progress & {error: string}} body @param {number} status */
  constructor(body, status) {
    super(body.error || "the server did not answer");
    this.progress = status === 409 ? body : null;
  }
}

/** Forget the questions of a page that is gone. */
export function stopAll() {
  for (const each of running.values()) each.abort();
  running.clear();
}

/** Forget the question of a kind. @param {string} kind */
export function stop(kind) {
  running.get(kind)?.abort();
  running.delete(kind);
}

/**
 * Ask; a newer question of the same kind takes the place of this one, whose promise then never ends.
 * @param {string} kind
 * @param {string} name
 * @param {Query} asked
 * @param {(progress: Progress | null) => void} [show] told how far a long answer is, null when it is there
 * @returns {Promise<any>}
 */
export async function ask(kind, name, asked, show) {
  running.get(kind)?.abort();
  const control = new AbortController();
  running.set(kind, control);
  try {
    for (;;) {
      const response = await fetch(address(name, asked), { signal: control.signal });
      const body = await response.json();
      if (response.status !== 202) {
        if (show) show(null);
        if (!response.ok) throw new Refused(body, response.status);
        return body;
      }
      if (show) show(body);
      asked = { ...asked };
      delete asked.retry;
      await wait(POLL_MS, control.signal);
    }
  } catch (error) {
    if (isAbort(error)) return new Promise(() => undefined);
    throw error;
  }
}

/**
 * Stop the job behind a question.
 * @param {string} name
 * @param {Query} asked
 */
export const cancel = (name, asked) => fetch(address("cancel/" + name, asked), { method: "POST" });
