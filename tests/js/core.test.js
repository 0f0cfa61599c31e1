// Are URLs, colours, labels and cell texts what the server writes and reads?
import assert from "node:assert/strict";
import { test } from "node:test";
import { colourIndex, inkOn, luminance } from "../../assets/js/core/colour.js";
import { idLabel, isId, taskLabel } from "../../assets/js/core/labels.js";
import { changedKeys, listOf, listText, parse, patched, placeOf, query } from "../../assets/js/core/query.js";
import * as format from "../../assets/js/grid/format.js";

test("a query is read back as it was written, sorted, with readable colons and commas", () => {
  const state = { sel: "task:1", mk: "1:red:a%2Cb,2:blue:", q: "ä & b=c" };
  assert.equal(query({ q: "a:b,c", a: "1" }), "a=1&q=a:b,c");
  assert.deepEqual(parse("?" + query(state), new Set(Object.keys(state))), state);
  assert.deepEqual(parse("?sel=a&nope=b&sel=c", new Set(["sel"])), { sel: "c" });
});

test("patches remove what is empty and leave the rest", () => {
  assert.deepEqual(patched({ a: "1", b: "2", c: "3" }, { a: null, b: "", d: 0 }), { c: "3", d: "0" });
  assert.deepEqual(changedKeys({ a: "1", b: "2" }, { b: "3", c: "4" }), ["a", "b", "c"]);
});

test("lists keep commas and percent signs inside their items", () => {
  const items = ["a,b", "50%", "%2C", "core:3"];
  assert.deepEqual(listOf(listText(items)), items);
  assert.deepEqual(listOf(undefined), []);
});

test("a path names a run and a page below any prefix", () => {
  assert.deepEqual(placeOf("/scope/r/ab%2Fc/swimlane", "/scope/"), { run: "ab/c", page: "swimlane" });
  assert.deepEqual(placeOf("/r/x/", "/"), { run: "x", page: "" });
  assert.deepEqual(placeOf("/elsewhere", "/"), { run: "", page: "runs" });
});

test("the ring of an id is its upper half; ids with bits beyond it are no task", () => {
  assert.equal(taskLabel("12"), "t12");
  assert.equal(taskLabel(String(2n ** 32n * 3n + 7n)), "r3t7");
  assert.equal(idLabel(5, 2), "r2t5");
  assert.match(idLabel(5, 0x102), /^invalid /);
  assert.deepEqual(["1", "x", 3, "123456789012345678901"].map(isId), [true, false, false, false]);
});

test("ink is readable and colours are in range", () => {
  assert.deepEqual([inkOn("#ffffff"), inkOn("#000000")], ["#10151c", "#ffffff"]);
  assert.ok(Math.abs(luminance("#ffffff") - 1) < 1e-12);
  for (const name of ["", "matmul", "ä", "x".repeat(500)]) assert.ok(colourIndex(name) >= 0 && colourIndex(name) < 24);
});

test("cells write units and say when a value is missing", () => {
  assert.equal(format.us(1234.5), "1,234.500");
  assert.equal(format.share(0.125), "12.5 %");
  assert.equal(format.bytes(1536), "1.5 KiB");
  assert.equal(format.duration_us(0.25), "250 ns");
  assert.equal(format.id("4294967308"), "r1t12 · 4294967308");
  for (const write of [format.us, format.ticks, format.index, format.bytes, format.ids, format.time]) assert.equal(write(null), "–");
});
