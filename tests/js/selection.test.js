// Does the script's parser agree with the table that the Python parser is tested on?
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { isSeveral, parseLabel, parseSelection, sameTask } from "../../assets/js/core/selection.js";

const table = JSON.parse(readFileSync(new URL("../data/selection.json", import.meta.url)));
const wanted = ({ ok, kind, value, canonical }) => (ok ? { kind, value, canonical } : null);

test("selections of the URL", () => {
  for (const row of table.filter((each) => each.of === "selection")) assert.deepEqual(parseSelection(row.text), wanted(row), row.text);
});

test("labels that a user types", () => {
  for (const row of table.filter((each) => each.of === "label")) assert.deepEqual(parseLabel(row.text), wanted(row), row.text);
});

test("a group or gap is about its task; functions, chains and paths are several", () => {
  assert.equal(sameTask("gap:7"), "task:7");
  assert.equal(sameTask("chain:7"), "chain:7");
  assert.deepEqual(["func:1", "chain:1", "path:static", "task:1", "nonsense"].map(isSeveral), [true, true, true, false, false]);
});
