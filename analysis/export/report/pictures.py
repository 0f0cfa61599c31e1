"""Pictures of a report as SVG text: no script, no external resource, readable on light and dark paper."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.capture import MISSING, Capture
from analysis.measures.cores import core_type_names
from analysis.measures.functions import FunctionStatistics
from analysis.measures.overhead import SystemOverhead
from analysis.measures.steps import count_steps
from analysis.measures.utilisation import Utilisation
from analysis.paths.critical_path import CriticalPath

WIDTH, LEFT, BUCKETS = 1000, 90, 600
PLOT = WIDTH - LEFT - 40
BLUE, ORANGE, RED, GREEN, GREY = "#3b7dd8", "#d9822b", "#c8443c", "#3f9c5a", "#808890"
SERIES = (BLUE, ORANGE, GREEN, RED)
MAX_LANE_PIXELS = 900


def lanes(capture: Capture) -> str:
    """Busy share of every core over the makespan: one row per core, darker is busier."""
    records = capture.records
    t0, t1 = int(records.start_ticks.min()), int(records.end_ticks.max())
    types = core_type_names(capture)
    bounds = np.searchsorted(records.core_id, np.arange(len(types) + 1))
    shares = np.zeros((len(types), BUCKETS))
    for core in range(len(types)):
        own = slice(bounds[core], bounds[core + 1])
        shares[core] = count_steps(records.start_ticks[own], records.end_ticks[own]).means(t0, t1, BUCKETS)
    order = sorted(range(len(types)), key=lambda core: (types[core], core))
    height = min(max(2, 480 // len(order)) * len(order), MAX_LANE_PIXELS)
    colours = {name: SERIES[i % len(SERIES)] for i, name in enumerate(sorted(set(types)))}
    pixels = np.zeros((len(order), BUCKETS, 4), dtype=np.uint8)
    for row, core in enumerate(order):
        pixels[row, :, :3] = _rgb(colours[types[core]])
        pixels[row, :, 3] = np.round(np.clip(shares[core], 0, 1) * 255)
    image = base64.b64encode(_png(pixels)).decode()
    body = [
        f'<image x="{LEFT}" y="10" width="{PLOT}" height="{height}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{image}"/>',
        *_lane_labels([types[core] for core in order], height),
        _time_axis(capture, t0, t1, height + 10),
    ]
    return _svg("Busy share of every core over time", height + 50, body)


def utilisation_curves(capture: Capture, found: Utilisation) -> str:
    """Busy cores per type over time, as a share of the type's cores."""
    series = [
        (f"{c.core_type} ({c.cores} cores)", c.curve.means(found.t0_ticks, found.t1_ticks, BUCKETS) / max(c.cores, 1))
        for c in found.curves
    ]
    return _curves(capture, "Busy cores over time", series, found.t0_ticks, found.t1_ticks)


def overhead_curves(capture: Capture, found: SystemOverhead) -> str:
    """Where in the window each core type is in overhead: one row per type, filled as high as its share of the time."""
    series = [(t.core_type, t.overhead.means(found.t0_ticks, found.t1_ticks, BUCKETS)) for t in found.by_type]
    series.append(("all types", found.all_curve.means(found.t0_ticks, found.t1_ticks, BUCKETS)))
    row, body = 44, []
    for at, (name, values) in enumerate(series):
        base = 10 + row * (at + 1)
        x = LEFT + np.repeat(np.arange(BUCKETS + 1), 2)[1:-1] * (PLOT / BUCKETS)
        y = base - (row - 10) * np.clip(np.repeat(values, 2), 0, 1)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
        colour = SERIES[at % len(SERIES)]
        body.append(f'<polygon points="{LEFT},{base} {points} {LEFT + PLOT},{base}" fill="{colour}"/>')
        body.append(_text(LEFT - 6, base - 12, name, "end"))
    height = row * len(series)
    body.append(_time_axis(capture, found.t0_ticks, found.t1_ticks, height + 10))
    return _svg("Scheduler overhead over time", height + 46, body)


def function_bars(found: FunctionStatistics, top: int = 15) -> str:
    """The functions with most execution; says how many are left out."""
    total = np.asarray(found.table.data["total_us"])
    share = np.nan_to_num(np.asarray(found.table.data["share"]))
    names = found.table.cells("name")
    rows = np.argsort(-total, kind="stable")[:top].tolist()
    longest = max([float(total[at]) for at in rows], default=0.0)
    body = []
    for line, at in enumerate(rows):
        y = 10 + line * 20
        width = (PLOT - 240) * float(total[at]) / longest if longest > 0 else 0.0
        words = f"{total[at]:,.3f} µs · {share[at]:.1%}"
        body.append(_text(LEFT + 60, y + 11, _short(names[at], 24), "end"))
        body.append(f'<rect x="{LEFT + 66}" y="{y}" width="{width:.1f}" height="14" fill="{BLUE}"/>')
        body.append(_text(LEFT + 72 + width, y + 11, words))
    rest = len(names) - len(rows)
    if rest > 0:
        body.append(_text(LEFT + 66, 24 + len(rows) * 20, f"and {rest} more functions"))
    return _svg("Execution per function", 36 + len(rows) * 20, body)


def path_strip(capture: Capture, found: CriticalPath) -> str:
    """The critical path along time: compute in blue, stall in red; neighbours closer than half a pixel are joined."""
    tasks = capture.tasks
    known = tasks.start_ticks[found.tasks] != MISSING
    rows = found.tasks[known]
    ends = tasks.end_ticks[rows]
    compute = np.asarray(found.table.data["compute_ticks"])[known]
    stall = np.asarray(found.table.data["stall_ticks"])[known]
    t0, t1 = int(capture.records.start_ticks.min()), int(capture.records.end_ticks.max())
    body = []
    for starts, lengths, colour in ((ends - compute - stall, stall, RED), (ends - compute, compute, BLUE)):
        joined = count_steps(starts, starts + lengths).means(t0, t1, 2 * PLOT)
        full = np.flatnonzero(np.diff(np.concatenate([[0], joined > 0.5, [0]]).astype(np.int8)))
        body += [
            f'<rect x="{LEFT + a / 2:.1f}" y="10" width="{(b - a) / 2:.1f}" height="26" fill="{colour}"/>'
            for a, b in zip(full[::2].tolist(), full[1::2].tolist(), strict=True)
        ]
    body.append(_time_axis(capture, t0, t1, 38))
    body += _legend([("compute", BLUE), ("stall", RED)], 78)
    return _svg(f"Critical path ({found.kind}): {len(found.tasks)} tasks", 90, body)


def _curves(capture: Capture, title: str, series: Sequence[tuple[str, NDArray[np.float64]]], t0: int, t1: int) -> str:
    height = 140
    body = [
        f'<line x1="{LEFT}" x2="{LEFT + PLOT}" y1="{10 + height * (1 - level):.1f}" y2="{10 + height * (1 - level):.1f}" '
        f'stroke="{GREY}" stroke-opacity="0.35"/>' + _text(LEFT - 6, 14 + height * (1 - level), f"{level:.0%}", "end")
        for level in (0.0, 0.5, 1.0)
    ]
    colours = [SERIES[i % len(SERIES)] for i in range(len(series))]
    for (_, values), colour in zip(series, colours, strict=True):
        x = LEFT + np.repeat(np.arange(BUCKETS + 1), 2)[1:-1] * (PLOT / BUCKETS)
        y = 10 + height * (1 - np.clip(np.repeat(values, 2), 0, 1))
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
        body.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.3"/>')
    body.append(_time_axis(capture, t0, t1, height + 10))
    body += _legend([(name, colour) for (name, _), colour in zip(series, colours, strict=True)], height + 52)
    return _svg(title, height + 66, body)


def _svg(title: str, height: float, body: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="11"><title>{html.escape(title)}</title>{"".join(body)}</svg>'
    )


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{GREY}">{html.escape(words)}</text>'


def _legend(entries: Sequence[tuple[str, str]], y: float) -> list[str]:
    return [
        f'<rect x="{LEFT + i * 150}" y="{y - 9:.0f}" width="10" height="10" fill="{colour}"/>'
        + _text(LEFT + i * 150 + 15, y, name)
        for i, (name, colour) in enumerate(entries)
    ]


def _time_axis(capture: Capture, t0: int, t1: int, y: float) -> str:
    """Round numbers of microseconds from capture zero under the plot."""
    first, last = capture.meta.us(t0), capture.meta.us(t1)
    span = last - first
    if span <= 0:
        return _text(LEFT, y + 14, f"{first:,.3f} µs")
    raw = span / 8
    base = float(10.0 ** np.floor(np.log10(raw)))
    step = next(base * factor for factor in (1, 2, 5, 10) if base * factor >= raw)
    marks = np.arange(np.ceil(first / step), np.floor(last / step) + 1) * step
    digits = max(0, -int(np.floor(np.log10(step))))
    parts = [f'<line x1="{LEFT}" x2="{LEFT + PLOT}" y1="{y}" y2="{y}" stroke="{GREY}"/>']
    for mark in marks.tolist():
        x = LEFT + (mark - first) / span * PLOT
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y}" y2="{y + 4}" stroke="{GREY}"/>')
        parts.append(_text(x, y + 16, f"{mark:,.{digits}f}", "middle"))
    parts.append(_text(LEFT + PLOT, y + 29, "µs from capture zero", "end"))
    return "".join(parts)


def _lane_labels(types: Sequence[str], height: float) -> list[str]:
    """One label beside the rows of each core type."""
    out = []
    for name in dict.fromkeys(types):
        first = types.index(name)
        count = types.count(name)
        out.append(_text(LEFT - 6, 14 + height * (first + count / 2) / len(types), f"{count} {name}", "end"))
    return out


def _short(words: str, limit: int) -> str:
    return words if len(words) <= limit else words[: limit - 1] + "…"


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """8-bit RGBA PNG of ``pixels`` (height, width, 4)."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + width * 4), dtype=np.uint8)  # a filter byte of 0 begins each row
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    packed = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
