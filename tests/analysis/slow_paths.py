"""Happens-before graph and both critical paths with dicts and lists: the yardstick of tests and benchmarks.

Written from "Happens-before graph" in ALGORITHMS and nothing else; input and output are plain Python values.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from analysis.capture import Capture

Row = tuple[int, int, int, int]
"""(core, start, end, task id)"""


@dataclass
class SlowPaths:
    """What the yardstick found; ids are numbers, ticks are integers."""

    hb_edges: int
    makespan: int
    static: list[int]
    static_length: int
    observed: list[tuple[int, int, int, str]]
    """(task id, compute, stall, kind) from the first task on."""


def rows_of(capture: Capture) -> list[Row]:
    """The records of a capture as plain tuples."""
    records = capture.records
    ids = capture.tasks.task_id[records.task].tolist()
    return list(
        zip(records.core_id.tolist(), records.start_ticks.tolist(), records.end_ticks.tolist(), ids, strict=True)
    )


def edges_of(capture: Capture) -> list[tuple[int, int]]:
    """The unique edges of a capture as pairs of task ids."""
    ids = capture.tasks.task_id
    return list(zip(ids[capture.edges.pred].tolist(), ids[capture.edges.succ].tolist(), strict=True))


def contract_untimed(rows: list[Row], edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Edges with every path p → untimed … untimed → s added as p → s."""
    timed = {row[3] for row in rows}
    succs = defaultdict(list)
    for p, s in edges:
        succs[p].append(s)
    found = set(edges)
    for p in timed:
        seen: set[int] = set()
        stack = [s for s in succs[p] if s not in timed]
        while stack:
            d = stack.pop()
            if d in seen:
                continue
            seen.add(d)
            for s in succs[d]:
                if s in timed:
                    found.add((p, s))
                else:
                    stack.append(s)
    return sorted(found)


def slow_paths(rows: list[Row], edges: list[tuple[int, int]], tol: int) -> SlowPaths:
    """Both critical paths of the records ``rows`` under the unique ``edges``."""
    start: dict[int, int] = {}
    end: dict[int, int] = {}
    for _, begin, stop, task in rows:
        start[task] = min(begin, start.get(task, begin))
        end[task] = max(stop, end.get(task, stop))

    preds: dict[int, list[int]] = defaultdict(list)
    kept = 0
    for p, s in edges:
        if p != s and p in start and s in start and end[p] <= start[s] + tol and start[p] < start[s]:
            preds[s].append(p)
            kept += 1

    length: dict[int, int] = {}
    parent: dict[int, int | None] = {}
    for task in sorted(start, key=lambda t: start[t]):
        best = None
        for p in preds[task]:
            if best is None or (length[p], -p) > (length[best], -best):
                best = p
        parent[task] = best
        length[task] = end[task] - start[task] + (length[best] if best is not None else 0)
    last = max(length, key=lambda t: (length[t], -t))
    static = []
    at: int | None = last
    while at is not None:
        static.append(at)
        at = parent[at]

    by_core: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_core[row[0]].append(row)
    core_pred: dict[int, tuple[int, int]] = {}
    for core_rows in by_core.values():
        core_rows.sort(key=lambda r: (r[1], r[2], str(r[3])))
        first = second = None
        for _, begin, stop, task in core_rows:
            best_row = first if first is None or first[1] != task else second
            fits = begin == start[task] and best_row is not None and best_row[0] <= begin + tol
            if fits and (task not in core_pred or best_row[0] > core_pred[task][0]):
                core_pred[task] = best_row
            if first is not None and first[1] == task:
                first = (max(first[0], stop), task)
            elif first is None or stop > first[0]:
                first, second = (stop, task), first
            elif second is None or stop > second[0]:
                second = (stop, task)

    walk: list[tuple[int, str]] = []
    at = max(end, key=lambda t: (end[t], str(t)))
    while at is not None:
        candidates = [(end[p], str(p), "data-wait", p) for p in preds[at]]
        if at in core_pred and start[core_pred[at][1]] < start[at]:
            stop, holder = core_pred[at]
            candidates.append((stop, str(holder), "core-wait", holder))
        if not candidates:
            walk.append((at, "front-gap"))
            break
        _, _, kind, found = max(candidates)
        walk.append((at, kind))
        at = found
    walk.reverse()
    frontier = min(start.values())
    observed = []
    for task, kind in walk:
        stall = max(0, start[task] - frontier)
        compute = max(0, end[task] - max(start[task], frontier))
        frontier = max(frontier, end[task])
        observed.append((task, compute, stall, kind))
    makespan = max(end.values()) - min(start.values())
    return SlowPaths(kept, makespan, static[::-1], length[last], observed)
