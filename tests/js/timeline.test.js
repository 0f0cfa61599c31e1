// Are messages, lanes, hits, levels of detail, bars, labels and markers right without a page?
import assert from "node:assert/strict";
import { test } from "node:test";
import { barLabel, graphName } from "../../assets/js/timeline/bar_label.js";
import { GRAPH, MAX_PATH_BARS, SETUP, collect } from "../../assets/js/timeline/bars.js";
import { after, barAt, barEnd, barStart, cellAt, decode, edgeNear, itemName } from "../../assets/js/timeline/decode.js";
import { clamped, full, ranges, rangeOf, request } from "../../assets/js/timeline/level.js";
import { markerText, parseMarkers } from "../../assets/js/timeline/marker_text.js";
import { layoutRows, passes, wordsOf } from "../../assets/js/timeline/rows.js";

/* A window message as analysis.timeline writes it: bars of two tracks, four density cells each. */
function message(header, arrays) {
  let offset = 0;
  const parts = Object.entries(arrays).map(([name, [dtype, values]]) => {
    const bytes = new Uint8Array(values.buffer);
    const part = { name, dtype, offset, length: values.length, bytes };
    offset += Math.ceil(bytes.length / 8) * 8;
    return part;
  });
  let text = JSON.stringify({ ...header, arrays: parts.map(({ bytes, ...rest }) => rest) });
  text += " ".repeat((8 - ((4 + text.length) % 8)) % 8);
  const out = new Uint8Array(4 + text.length + offset);
  new DataView(out.buffer).setUint32(0, text.length, true);
  out.set(new TextEncoder().encode(text), 4);
  for (const part of parts) out.set(part.bytes, 4 + text.length + part.offset);
  return out.buffer;
}

const data = decode(message(
  { base: 1000, shift: 1, level: 4, cell0: 62, cells: 4, none: 255, tracks: [3, 7] },
  {
    bar_offsets: ["u4", Uint32Array.of(0, 3, 3, 4)], bar_start: ["u4", Uint32Array.of(0, 10, 20, 5)],
    bar_length: ["u4", Uint32Array.of(5, 5, 5, 1)], bar_cls: ["u2", Uint16Array.of(0, 1, 0, 1)], bar_kind: ["u1", Uint8Array.of(0)],
    bar_index: ["u4", Uint32Array.of(11, 12, 13, 14)], cls: ["u2", Uint16Array.of(255, 0, 255, 1, 255, 255, 255, 255)],
    setup_bar: ["u4", Uint32Array.of(0)], setup_length: ["u4", Uint32Array.of(2)],
    label_bar: ["u4", Uint32Array.of(1)],
  },
));

test("a message is decoded into its arrays", () => {
  assert.deepEqual([...data.trackAt], [[3, 0], [7, 1]]);
  assert.deepEqual([0, 1, 3].map((i) => [barStart(data, i), barEnd(data, i)]), [[1000, 1010], [1020, 1030], [1010, 1012]]);
  assert.equal(itemName("rupohg", data, 2), "r13");
});

test("the bar under a tick is found as a slow search finds it", () => {
  for (let tick = 990; tick < 1060; tick++) {
    const distance = (i) => Math.max(barStart(data, i) - tick, tick - barEnd(data, i), 0);
    const best = [0, 1, 2].filter((i) => distance(i) <= 3).sort((a, b) => distance(a) - distance(b))[0];
    assert.equal(barAt(data, 0, tick, 3), best === undefined ? -1 : best, String(tick));
    assert.equal(after(data, 0, tick), [0, 1, 2].filter((i) => barStart(data, i) <= tick).length);
  }
});

test("measuring snaps to the nearest edge within reach", () => {
  assert.equal(edgeNear(data, 0, 1012, 5), 1010);
  assert.equal(edgeNear(data, 0, 1018, 5), 1020);
  assert.equal(edgeNear(data, 0, 1015, 2), null);
  assert.equal(edgeNear(data, 1, 1030, 5), null);
});

test("density cells are found by tick", () => {
  assert.deepEqual(cellAt(data, 0, 1010), [1008, 1024]);
  assert.equal(cellAt(data, 0, 1030), null);
  assert.equal(cellAt(data, 0, 10), null);
});

test("level of detail: two cells per pixel or fewer, snapped, padded within the budget, cut to the capture", () => {
  for (const [t0, t1, width, tracks] of [[0, 1e6, 1000, 10], [5, 50, 800, 3], [123456, 9e6, 2560, 1200], [0, 3e9, 1366, 40]]) {
    const { level, perPx, low, high } = request([t0, t1], width, tracks, [0, 4e9]);
    assert.equal(perPx, (t1 - t0) / width);
    assert.ok(2 ** level <= 2 * perPx && 2 ** (level + 1) > 2 * perPx);
    const unit = 64 * 2 ** Math.max(level, 0);
    assert.equal(low % unit, 0);
    assert.equal(high % unit, 0);
    assert.ok(low <= t0 && high >= t1);
    assert.ok(high - low <= 2 * (t1 - t0) + 2 * unit);
  }
});

test("a window is neither too short nor far outside", () => {
  const whole = full(0, 10_000);
  assert.deepEqual(whole, [-100, 10_100]);
  const [a, b] = clamped(500, 501, whole, true);
  assert.equal(b - a, 16);
  const [c, d] = clamped(-1e9, 1e9, whole, false);
  assert.ok(d - c <= 10_200 * 1.15 + 1e-6 && c >= -100 - 10_200 * 0.15);
  assert.deepEqual(full(5, 5), [4, 6]);
});

test("tracks are written as ranges, measured ranges are checked", () => {
  assert.equal(ranges([0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
  assert.equal(ranges([]), "");
  assert.deepEqual(rangeOf("-5:10"), [-5, 10]);
  for (const bad of [undefined, "", "5:5", "9:1", "a:b", "0:9999999999999999999"]) assert.equal(rangeOf(bad), null);
});

const lane = (key, number, rows, classes = [0]) => ({ key, label: key.toUpperCase(), group: "aic", number, track: number, rows, items: 1, classes });

test("lanes: pins first, hidden left out, single rows share the height, filters compare every text", () => {
  const lanes = [lane("core:0", 0, 1), lane("core:1", 1, 3, [1]), lane("core:2", 4, 1)];
  const choice = { words: [], hidden: ["core:2"], pins: ["core:1"], nameOf: (cls) => ["matmul", "softmax"][cls] };
  const placed = layoutRows(lanes, 500, choice);
  assert.deepEqual(placed.rows.map(({ lane: { key }, y, h, pinned }) => [key, y, h, pinned]), [["core:1", 0, 36, true], ["core:0", 0, 22, false]]);
  assert.deepEqual([placed.pinPx, placed.contentPx, placed.hiddenLanes.map(({ key }) => key)], [36, 22, ["core:2"]]);
  assert.equal(layoutRows(lanes, 10, { ...choice, pins: [] }).rows[0].h, 14);
  for (const [text, seen] of [["", 3], ["0", 1], ["1-9", 2], ["aic", 3], ["SOFT", 1], ["core:2, matmul", 2], ["nothing", 0]]) {
    assert.equal(lanes.filter((one) => passes(one, wordsOf(text), choice.nameOf)).length, seen, text);
  }
});

test("bars: setup is apart, widest become paths, the rest goes to the canvas", () => {
  const screen = { width: 1000, apart: true, slots: [4, GRAPH], box: (track) => ({ top: track, bottom: track + 9, whole: true }), xAt: (tick) => (tick - 1000) * 10 };
  const empty = () => ({ paths: new Map(), canvas: new Map(), labels: [], count: 0, canvasCount: 0 });
  const bars = empty();
  collect(data, bars, false, screen);
  assert.deepEqual([...bars.paths.keys()].sort((a, b) => a - b), [4, SETUP, GRAPH]);
  assert.deepEqual(bars.paths.get(SETUP), [0, 40, 3, 12]);
  assert.deepEqual([bars.count, bars.canvasCount, bars.labels.length], [4, 0, 3]);
  const many = 3000;
  const wide = decode(message({ base: 0, shift: 0, level: 0, cell0: 0, cells: 0, none: 255, tracks: [0] }, {
    bar_offsets: ["u4", Uint32Array.of(0, many)], bar_start: ["u4", Uint32Array.from({ length: many }, (_, i) => 2 * i)],
    bar_length: ["u4", Uint32Array.from({ length: many }, (_, i) => (i < 100 ? 2 : 1))], bar_cls: ["u2", new Uint16Array(many)],
    setup_bar: ["u4", new Uint32Array(0)], setup_length: ["u4", new Uint32Array(0)], label_bar: ["u4", new Uint32Array(0)],
  }));
  const dense = empty();
  collect(wide, dense, true, { ...screen, width: 1e5, xAt: (tick) => 3 * tick });
  assert.ok(dense.count >= MAX_PATH_BARS && dense.count + dense.canvasCount === many);
  assert.deepEqual([...dense.paths.keys()], [104]);
});

test("labels by mode, with graph tasks named by their task", () => {
  const matmul = { kind: 0, value: 3, name: "matmul" };
  const node = { kind: 0, value: -1, name: "unnamed" };
  const graph = new Set([6]);
  assert.deepEqual(["func", "id", "both"].map((mode) => barLabel(matmul, [12, 1], mode, graph)), ["matmul", "r1t12", "matmul r1t12"]);
  assert.deepEqual(["func", "id"].map((mode) => barLabel(matmul, null, mode, graph)), ["matmul", ""]);
  assert.equal(graphName(node, (6 << 10) | 3, 1, graph), "t6 node 3");
  assert.equal(barLabel({ kind: 3, value: 0, name: "" }, [6, 0], "both", graph), "graph t6");
});

test("markers are read back as they were written, in time order", () => {
  assert.deepEqual(parseMarkers(["20:red:a:b", "x:red:", ":red:", "3:pink:"]), [
    { tick: 3, color: "blue", label: "" }, { tick: 20, color: "red", label: "a:b" },
  ]);
  const marker = { tick: -7, color: "amber", label: "first FIN: late" };
  assert.deepEqual(parseMarkers([markerText(marker)]), [marker]);
});
