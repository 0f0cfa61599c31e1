"""What is known about one item of the timeline, and about its task? Facts for the details panel.

Every value that was not captured is None. Differences follow FORMATS: setup = start - receive, head = start - dispatch,
propagation = receive - dispatch, tail = finish - end, latency = finish - dispatch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.capture import (
    EARLY_UNKNOWN,
    EARLY_YES,
    I8,
    MISSING,
    Capture,
    PhaseLane,
    TaskKind,
    ids,
)
from analysis.errors import NotAvailable
from analysis.graph.text import arg_rows, edge_words, wait_ticks
from analysis.measures.early_dispatch import markers
from analysis.measures.needs import has_receive
from analysis.measures.scheduler_loop import processed_word
from analysis.timeline.items import (
    KIND_LETTERS,
    SKIP_KIND,
    ItemKind,
    graph_envelopes,
    graph_title,
    prepare_slices,
    record_title,
    skip_title,
)

MAX_NEIGHBOURS = 200
PHASE_WORDS = {
    int(PhaseLane.OUTER): "work of the loop",
    int(PhaseLane.INNER): "inside another phase, not counted again",
    int(PhaseLane.MARKER): "marker, not counted",
    int(PhaseLane.IDLE): "measured idle",
}
NODES_UNKNOWN = "not known: deps.json names only the graph task"
KERNEL_SLOTS = ("aic", "aiv0", "aiv1")
STAMPS = ("dispatch", "receive", "start", "end", "finish")
DIFFERENCES = (
    ("duration", "start", "end"),
    ("setup", "receive", "start"),
    ("head", "dispatch", "start"),
    ("propagation", "dispatch", "receive"),
    ("tail", "end", "finish"),
    ("latency", "dispatch", "finish"),
)


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """One record, phase, orchestrator record, upload, unmatched row or graph envelope.

    ``facts`` are (name, text or number or None).
    """

    name: str
    title: str
    task: int
    stamps_ticks: tuple[tuple[str, int | None], ...]
    differences_ticks: tuple[tuple[str, int | None], ...]
    facts: tuple[tuple[str, str | int | None], ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A task one edge away; ``wait_ticks`` = start of the successor - end of the predecessor, None when untimed."""

    task_id: str
    label: str
    name: str
    sources: tuple[str, ...]
    tensors: tuple[str, ...]
    wait_ticks: int | None
    violation: bool


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """A task: identity, facts, neighbours (capped at :data:`MAX_NEIGHBOURS` a side, totals exact), arguments."""

    task_id: str
    label: str
    name: str
    kind: str
    func_id: int | None
    kernels: tuple[tuple[str, int], ...]
    """(slot, kernel id) of the slots that have one: ``aic``, ``aiv0``, ``aiv1``."""
    block_num: int | None
    submit_order: int | None
    scope: str | None
    n_records: int
    facts: tuple[tuple[str, str | int | None], ...]
    """All of it in words, by name."""
    stamps_ticks: tuple[tuple[str, int | None], ...]
    has_graph: bool
    """Its dependencies are known: deps.json (or ``fanout[]``) covers it; otherwise no neighbour does not mean none."""
    predecessors: tuple[Neighbour, ...]
    n_predecessors: int
    successors: tuple[Neighbour, ...]
    n_successors: int
    arguments: tuple[tuple[str, ...], ...]
    """(index, direction, tensor, dtype, shape, note)."""
    blocks: tuple[str, ...]
    """Item names of its first records, in record order."""
    n_blocks: int


def _known(value: int) -> int | None:
    return None if value == MISSING else value


def _minus(stamps: dict[str, int | None], first: str, last: str) -> int | None:
    begin, end = stamps.get(first), stamps.get(last)
    return None if begin is None or end is None else end - begin


def item_facts(capture: Capture, item: str) -> ItemFacts | None:
    """Facts of the item called ``item`` (``r12``); None when the capture has no such row."""
    if len(item) < 2 or item[0] not in KIND_LETTERS or not item[1:].isdecimal():
        return None
    kind, row = ItemKind(KIND_LETTERS.index(item[0])), int(item[1:])
    sizes = (capture.records, capture.unmatched, capture.phases, capture.orch, capture.uploads, capture.tasks)
    if row >= len(sizes[kind]):
        return None
    return (_record, _unmatched, _phase, _orch, _upload, _graph)[kind](capture, item, row)


def _core(capture: Capture, core: int) -> str:
    types = capture.meta.core_types
    return f"{types[core].upper() if core < len(types) else 'CORE'} {core}"


def _facts(
    name: str, title: str, task: int, stamps: dict[str, int | None], facts: list[tuple[str, str | int | None]]
) -> ItemFacts:
    differences = tuple((label, _minus(stamps, a, b)) for label, a, b in DIFFERENCES if a in stamps and b in stamps)
    return ItemFacts(name, title, task, tuple(stamps.items()), differences, tuple(facts))


def _record(capture: Capture, name: str, row: int) -> ItemFacts:
    records = capture.records
    columns = {stamp: getattr(records, f"{stamp}_ticks") for stamp in STAMPS}
    stamps = {stamp: _known(int(column[row])) for stamp, column in columns.items()}
    if not has_receive(capture):
        stamps["receive"] = None
    task = int(records.task[row])
    threads = capture.meta.core_to_thread
    core = int(records.core_id[row])
    facts: list[tuple[str, str | int | None]] = [
        ("core", _core(capture, core)),
        ("block", f"{int(records.block[row]) + 1} of {int(capture.tasks.n_records[task]) if task >= 0 else 1}"),
        ("function id", int(records.func_id[row]) if records.func_id[row] >= 0 else None),
        ("register id", int(records.reg_id[row])),
        ("scheduler thread", threads[core] if threads is not None and core < len(threads) else None),
    ]
    return _facts(name, record_title(capture, int(records.func_id[row]), task), task, stamps, facts)


def _unmatched(capture: Capture, name: str, row: int) -> ItemFacts:
    table = capture.unmatched
    stamps = {stamp: _known(int(getattr(table, f"{stamp}_ticks")[row])) for stamp in ("receive", "start", "end")}
    facts: list[tuple[str, str | int | None]] = [
        ("core", _core(capture, int(table.core_id[row]))),
        ("task id", str(int(table.task_id[row]))),
        ("note", "no AICPU partner: in neither functions nor makespan"),
    ]
    return _facts(name, "unmatched", capture.task_index(int(table.task_id[row])), stamps, facts)


def _phase(capture: Capture, name: str, row: int) -> ItemFacts:
    phases = capture.phases
    stamps = {"start": _known(int(phases.start_ticks[row])), "end": _known(int(phases.end_ticks[row]))}

    def given(value: int) -> int | None:
        return None if value < 0 else value

    def depth(values: list[int]) -> str | None:
        return None if min(values) < 0 else "aic {}, aiv {}, mix {}".format(*values)

    kind, lane = capture.meta.phase_kinds[int(phases.kind[row])], int(phases.lane[row])
    if lane == PhaseLane.LIFECYCLE:
        return _facts(name, kind, -1, stamps, [("AICPU thread", int(phases.stream[row]))])
    facts: list[tuple[str, str | int | None]] = [
        ("scheduler", int(phases.stream[row])),
        ("accounting", PHASE_WORDS[lane]),
        ("loop iteration", given(int(phases.loop_iter[row]))),
        (processed_word(kind), given(int(phases.tasks_processed[row]))),
        ("pop hits", given(int(phases.pop_hit[row]))),
        ("pop misses", given(int(phases.pop_miss[row]))),
        ("queues at start", depth(phases.shared_start[row].tolist())),
        ("queues at end", depth(phases.shared_end[row].tolist())),
    ]
    task = int(phases.task[row])
    if capture.meta.runtime == ids.HOST_GRAPH and kind == "async_poll" and phases.tasks_processed[row] == 0:
        facts.append(("note", "sum of poll calls: the length is exact, the start is not"))
    return _facts(name, skip_title(capture, task) if kind == SKIP_KIND and task >= 0 else kind, task, stamps, facts)


def _orch(capture: Capture, name: str, row: int) -> ItemFacts:
    orch = capture.orch
    stamps = {"start": _known(int(orch.start_ticks[row])), "end": _known(int(orch.end_ticks[row]))}
    clock = capture.meta.host_clock
    facts: list[tuple[str, str | int | None]] = [
        ("stream", int(orch.stream[row])),
        ("submit", int(orch.submit_idx[row]) if orch.submit_idx[row] >= 0 else None),
        ("clock", "host" if orch.host[row] else "device"),
    ]
    if orch.host[row]:
        facts += _host_stamps(int(orch.host_start_ns[row]), int(orch.host_end_ns[row]))
    if orch.host[row] and clock is not None:
        facts.append(("uncertainty", clock.uncertainty_text))
    return _facts(name, capture.meta.phase_kinds[int(orch.kind[row])], int(orch.task[row]), stamps, facts)


def _host_stamps(start_ns: int, end_ns: int) -> list[tuple[str, str | int | None]]:
    """What the host clock said: the drawn length is that of the device axis."""
    if MISSING in (start_ns, end_ns):
        return []
    return [("host start", f"{start_ns:,} ns after origin"), ("host duration", f"{end_ns - start_ns:,} ns")]


def _upload(capture: Capture, name: str, row: int) -> ItemFacts:
    uploads = capture.uploads
    stamps = {"start": _known(int(uploads.start_ticks[row])), "end": _known(int(uploads.end_ticks[row]))}
    facts: list[tuple[str, str | int | None]] = [("detail", int(uploads.detail[row]))]
    facts += _host_stamps(int(uploads.host_start_ns[row]), int(uploads.host_end_ns[row]))
    return _facts(name, capture.meta.phase_kinds[int(uploads.kind[row])], -1, stamps, facts)


def _graph(capture: Capture, name: str, task: int) -> ItemFacts | None:
    """The envelope of an outer graph task; None for any other task and for one none of whose nodes has a record."""
    nodes = _graph_nodes(capture, task)
    if nodes is None or not len(nodes):
        return None
    stamps: dict[str, int | None] = {}
    owners, first, last = graph_envelopes(capture)
    at = int(np.searchsorted(owners, task))
    stamps |= {"start": int(first[at]), "end": int(last[at])}
    phases, slices = capture.phases, prepare_slices(capture)
    mine = slices[phases.task[slices] == task]
    prepared = int((phases.end_ticks[mine] - phases.start_ticks[mine]).sum())
    facts: list[tuple[str, str | int | None]] = [
        ("records of its nodes", int(capture.tasks.n_records[nodes].sum())),
        ("graph_prepare slices", len(mine)),
        ("graph_prepare time", f"{capture.meta.us(prepared):,.3f} µs" if len(mine) else None),
        ("note", "earliest graph_prepare to latest finish of its nodes; no record itself"),
    ]
    if (capture.tasks.func_id[nodes] < 0).any():
        facts.append(("nodes' functions, edges", NODES_UNKNOWN))
    return _facts(name, graph_title(capture, task), task, stamps, facts)


def _graph_nodes(capture: Capture, task: int) -> I8 | None:
    """Nodes with records of an outer graph task; None when ``task`` is none."""
    tasks = capture.tasks
    nodes = np.flatnonzero(tasks.outer == task)
    if tasks.kind[task] != TaskKind.GRAPH and not len(nodes):
        return None
    return nodes[tasks.n_records[nodes] > 0]


def task_facts(capture: Capture, task: int) -> TaskFacts:
    """Facts of the task at dense index ``task``."""
    tasks = capture.tasks
    task_id = int(tasks.task_id[task])
    early = int(tasks.early_dispatch[task])
    kernels = dict(zip(KERNEL_SLOTS, tasks.kernel_ids[task].tolist(), strict=True))
    listed = bool(tasks.listed[task])
    block_num = int(tasks.block_num[task]) if listed else None
    submitted = int(tasks.submit_order[task]) if tasks.submit_order[task] >= 0 else None
    scope = ("manual" if tasks.manual_scope[task] else "auto") if listed else None
    kind = TaskKind(int(tasks.kind[task]))
    outer = int(tasks.outer[task])
    facts: list[tuple[str, str | int | None]] = [
        ("task id", str(task_id)),
        ("kind", kind.name.lower()),
        *((("execution", "skipped: its predicate was false"),) if tasks.skipped[task] else ()),
        ("kernel ids", ", ".join(f"{slot} {'–' if kernel < 0 else kernel}" for slot, kernel in kernels.items())),
        ("block_num", block_num),
        ("records", int(tasks.n_records[task])),
        ("submitted as", None if submitted is None else f"#{submitted}"),
        ("early_dispatch", None if early == EARLY_UNKNOWN else "yes" if early == EARLY_YES else "no"),
        ("scope", scope),
    ]
    if outer >= 0:
        if tasks.func_id[task] < 0:
            facts.append(("function, edges", NODES_UNKNOWN))
        facts.append(("graph task", capture.meta.task_label(int(tasks.task_id[outer]))))
        facts.append(("graph node", ids.node_number(task_id, capture.meta.runtime)))
    nodes = _graph_nodes(capture, task)
    if nodes is not None:
        facts.append(("graph nodes with records", len(nodes)))
    edges = capture.edges
    entering = edges.in_order[int(edges.in_offsets[task]) : int(edges.in_offsets[task + 1])]
    leaving = range(int(edges.out_offsets[task]), int(edges.out_offsets[task + 1]))
    rows = tasks.record_order[int(tasks.record_offsets[task]) : int(tasks.record_offsets[task + 1])]
    return TaskFacts(
        task_id=str(task_id),
        label=capture.meta.task_label(task_id),
        name=capture.task_name(task),
        kind=kind.name.lower(),
        func_id=int(tasks.func_id[task]) if tasks.func_id[task] >= 0 else None,
        kernels=tuple((slot, kernel) for slot, kernel in kernels.items() if kernel >= 0),
        block_num=block_num,
        submit_order=submitted,
        scope=scope,
        n_records=int(tasks.n_records[task]),
        facts=tuple(facts),
        stamps_ticks=tuple((stamp, _task_stamp(capture, stamp, task, nodes)) for stamp in STAMPS),
        has_graph=bool(tasks.in_graph[task]) or capture.meta.edges_from_fanout,
        predecessors=tuple(_neighbour(capture, int(e), int(edges.pred[e])) for e in entering[:MAX_NEIGHBOURS]),
        n_predecessors=len(entering),
        successors=tuple(_neighbour(capture, e, int(edges.succ[e])) for e in list(leaving)[:MAX_NEIGHBOURS]),
        n_successors=len(leaving),
        arguments=_arguments(capture, task),
        blocks=tuple(f"r{int(row)}" for row in rows[:MAX_NEIGHBOURS]),
        n_blocks=len(rows),
    )


def _task_stamp(capture: Capture, stamp: str, task: int, nodes: I8 | None) -> int | None:
    """A stamp of the task; of a graph task the envelope of its ``nodes``: earliest, or latest for end and finish."""
    if stamp == "receive" and not has_receive(capture):
        return None
    column: I8 = getattr(capture.tasks, f"{stamp}_ticks")
    if nodes is None:
        return _known(int(column[task]))
    known = column[nodes][column[nodes] != MISSING]
    if not len(known):
        return None
    return int(known.max() if stamp in ("end", "finish") else known.min())


def _neighbour(capture: Capture, edge: int, other: int) -> Neighbour:
    pred, succ = int(capture.edges.pred[edge]), int(capture.edges.succ[edge])
    sources, tensors = edge_words(capture, edge)
    wait = wait_ticks(capture, pred, succ)
    task_id = int(capture.tasks.task_id[other])
    return Neighbour(
        str(task_id), capture.meta.task_label(task_id), capture.task_name(other), sources, tensors, wait,
        wait is not None and wait < 0,
    )  # fmt: skip


def _arguments(capture: Capture, task: int) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            str(row["idx"]),
            row["direction"],
            row["tensor"] or "–",
            row["dtype"] or "–",
            "×".join(map(str, row["shape"] or ())) or "–",
            "inferred" if row["inferred"] else "",
        )
        for row in arg_rows(capture, task)
    )


def maximum_lead(capture: Capture, task: int) -> tuple[int, int]:
    """The interval [dispatch, last FIN] of an early-dispatch target, in ticks (ALGORITHMS: Early dispatch).

    Raises:
        NotAvailable: the task is no target, or its stamps were not captured; says which.
    """
    if task not in set(markers(capture).star.tolist()):
        raise NotAvailable("It is no early-dispatch target: some predecessor is not early-processable.")
    edges, tasks = capture.edges, capture.tasks
    before = edges.pred[edges.in_order[int(edges.in_offsets[task]) : int(edges.in_offsets[task + 1])]]
    finish = [int(value) for value in tasks.finish_ticks[before] if value != MISSING]
    dispatch = _known(int(tasks.dispatch_ticks[task]))
    if capture.meta.level < 2:
        raise NotAvailable("Dispatch and FIN stamps are captured from level 2 on.")
    if dispatch is None:
        raise NotAvailable("The task has no record with a dispatch stamp.")
    if not finish:
        raise NotAvailable("None of its predecessors has a record with a FIN stamp.")
    return dispatch, max(finish)
