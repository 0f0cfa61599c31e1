"""How do I get a capture of any size without a device?

``write_capture`` makes a schema-exact capture in the current container (FORMATS section 2, August 2026), with deps.json
and a name map. The same arguments give the same bytes on every machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from analysis.capture import I8, Bool, ids
from analysis.errors import LimitError
from analysis.synth import newest
from analysis.synth.build import Plan, delays, plan
from analysis.synth.deps import annotation_count, write_deps
from analysis.synth.phases import KINDS, Phases, core_threads, thread_phases
from analysis.synth.schedule import ALLOC, Schedule, draws, ints, run
from analysis.synth.shapes import Shape, decoder_layers, paged_attention

SHAPES = ("paged-attention", "decoder-layers", "paged-attention-dense")
MIN_RECORDS, MAX_RECORDS = 10, 1_000_000
_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Synthetic:
    """What was written: counts to compare a reader with, and the files."""

    records: int
    tasks_listed: int
    nodes: int
    edges: int
    annotations: int
    phases: int
    files: tuple[Path, ...]


def _shape(name: str, records: int, seed: int) -> Shape:
    if name == "decoder-layers":
        return decoder_layers(records)
    values = iter(draws(seed, 0, 4096).tolist())
    return paged_attention(records, lambda n: int(next(values)) % n, dense=name.endswith("dense"))


def _check(records: int, level: int, shape: str, aic: int, aiv: int) -> None:
    if not MIN_RECORDS <= records <= MAX_RECORDS:
        raise LimitError(f"records is {records}: choose a number from {MIN_RECORDS} to {MAX_RECORDS}")
    if level not in (1, 2, 3, 4):
        raise LimitError(f"level is {level}: choose 1, 2, 3 or 4")
    if shape not in SHAPES:
        raise LimitError(f"shape is {shape!r}: choose one of {', '.join(SHAPES)}")
    if aic < 1 or aiv < 2:
        raise LimitError(f"cores are {aic} AIC and {aiv} AIV: a MIX block needs at least 1 AIC and 2 AIV cores")


def write_capture(
    directory: str | Path,
    records: int,
    seed: int,
    *,
    level: int = 4,
    shape: str = "paged-attention",
    aic: int = 24,
    aiv: int = 48,
    clock_freq_hz: int = 50_000_000,
    threads: int = 3,
    deps: bool = True,
    name_map: bool = True,
    host: bool = False,
    runtime: str | None = None,
) -> Synthetic:
    """Write a capture of exactly ``records`` task records into ``directory`` (created if needed).

    Args:
        records: 10 to 1,000,000.
        seed: chooses ids and every length; the same seed gives the same bytes.
        level: capture level 1 to 4.
        shape: one of :data:`SHAPES`.
        aic, aiv: cores; AIC ids come first.
        clock_freq_hz: 50 MHz (a2a3) or a multiple of it, for example 1 GHz (a5).
        threads: scheduler threads; the orchestrator adds an empty last one.
        deps, name_map: whether to write deps.json and the name map.
        host: the graph is built by the host: two clocks with anchors (level 4 only).
        runtime: write the container of late September 2026 as this runtime does: ``tensormap_and_ringbuffer``, or
            ``host_build_graph`` (which implies ``host``).

    Raises:
        LimitError: an argument is out of range.
    """
    _check(records, level, shape, aic, aiv)
    if runtime not in (None, *ids.RUNTIMES):
        raise LimitError(f"runtime is {runtime!r}: choose one of {', '.join(ids.RUNTIMES)}")
    host = host or runtime == ids.HOST_GRAPH
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    scale = max(1, clock_freq_hz // 50_000_000)
    p = plan(_shape(shape, records, seed), records, seed, scale, host=host)
    schedule = run(p.graph, delays(p, seed, scale), aic, aiv)
    early = _dispatch_early(p, schedule, seed, scale)
    base = (3_200_000_000 + int(draws(seed, 4, 1)[0] % np.uint64(1_000_000_000))) * scale

    files = [directory / "chip_swimlane_records.json"]
    thread_of = core_threads(aic, aiv, threads)
    head = {
        "clock_freq_hz": clock_freq_hz,
        "num_cores": aic + aiv,
        "core_types": ["aic"] * aic + ["aiv"] * aiv,
    }
    if host and level >= 4:
        head |= _host_metadata(p, schedule, base, scale)
    if level >= 3:
        head["core_to_thread"] = thread_of.tolist()
    if runtime is not None:
        head = newest.metadata(head, runtime)
    phases = 0
    with open(files[0], "w", encoding="ascii", newline="\n", buffering=1 << 20) as out:
        out.write(f'{{\n  "chip_swimlane_level": {level},\n  "metadata": {{\n')
        out.write(",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in head.items()))
        out.write("\n  },\n")
        _write_tasks(out, p, schedule, base, level, runtime)
        own_phases = thread_phases(p, schedule, early, thread_of, seed, scale) if level >= 3 else ()
        if level >= 3 and runtime is not None:
            phases = newest.write_streams(out, own_phases, p, base, runtime)
        elif level >= 3:
            out.write(',\n  "aicpu_scheduler_phases": [\n')
            for one in own_phases:
                phases += len(one.kind)
                _rows(out, _phase_rows(one, p, base), "    [\n", "      %s", "\n    ],\n")
            out.write("    []\n  ]")
        if level >= 4:
            _write_orchestrator(out, p, base, seed, scale, host, runtime is not None)
        if runtime == ids.HOST_GRAPH and level >= 2:
            newest.write_lifecycle(out, threads, base, scale)
        out.write("\n}\n")
    if deps:
        files.append(directory / "deps.json")
        with open(files[-1], "w", encoding="ascii", newline="\n", buffering=1 << 20) as out:
            write_deps(out, p, flags=not host, runtime=runtime)
    if name_map:
        files.append(directory / f"name_map_Synth_{shape.replace('-', '_')}.json")
        names = {str(i): k.name for i, k in enumerate(p.shape.kernels)}
        mapping = {"level": 2, "orchestrator_name": None, "callable_id_to_name": names}
        files[-1].write_text(json.dumps(mapping, indent=2) + "\n", encoding="ascii")
    return _counts(p, records, phases, files)


def _counts(p: Plan, records: int, phases: int, files: list[Path]) -> Synthetic:
    listed = p.graph.lane != ALLOC
    named = np.zeros(len(listed), bool)
    named[p.pairs[0]] = True
    return Synthetic(
        records=records,
        tasks_listed=int(listed.sum()),
        nodes=int((listed | named).sum()),
        edges=len(p.pairs[0]),
        annotations=annotation_count(p),
        phases=phases,
        files=tuple(files),
    )


def _dispatch_early(p: Plan, s: Schedule, seed: int, scale: int) -> Bool:
    """Move the dispatch of most early-dispatch targets before their predecessors' FIN; return which records moved.

    ALGORITHMS: Early dispatch. A target's predecessors are all early-processable and not all of them alloc tasks.
    """
    pred, succ = p.pairs
    n = len(p.graph.lane)
    alloc = p.graph.lane == ALLOC
    able = alloc | (p.early > 0)
    fan_in = p.graph.fan_in
    target = (np.bincount(succ, able[pred], n) == fan_in) & (np.bincount(succ, ~alloc[pred], n) > 0)
    task = np.repeat(np.arange(n), p.graph.records)
    latest = np.zeros(n, np.int64)
    np.maximum.at(latest, task, s.dispatch)
    known = p.graph.submit.copy()
    np.maximum.at(known, succ, latest[pred])
    order = np.lexsort((s.start, s.core))
    before = np.zeros(len(task), np.int64)
    same = s.core[order][1:] == s.core[order][:-1]
    before[order[1:]] = np.where(same, s.start[order][:-1], 0)
    before_end = np.zeros(len(task), np.int64)
    before_end[order[1:]] = np.where(same, s.end[order][:-1], 0)
    lag = ints(seed, 20, len(task), 2 * scale, 12 * scale)
    moved = np.maximum(before, known[task]) + lag
    early: Bool = target[task] & (ints(seed, 21, len(task), 0, 99) < 80) & (moved < s.dispatch)
    s.dispatch[early] = moved[early]
    arrived = np.maximum(moved + lag, before_end + 1)
    s.receive[early] = np.minimum(s.receive, arrived)[early]
    return early


def _rows(out: IO[str], rows: Iterable[str], opening: str, row: str, closing: str) -> None:
    """Write ``rows`` one per line between brackets, in chunks."""
    out.write(opening)
    lead = row.replace("%s", "")
    pending: list[str] = []
    first = True
    for text in rows:
        pending.append(text)
        if len(pending) == _CHUNK:
            out.write(("" if first else ",\n") + lead + (",\n" + lead).join(pending))
            pending.clear()
            first = False
    if pending:
        out.write(("" if first else ",\n") + lead + (",\n" + lead).join(pending))
    out.write(closing)


def _format(template: str, *columns: Any) -> Iterator[str]:
    """Fill ``template`` per row, a chunk of the columns at a time."""
    for at in range(0, len(columns[0]), _CHUNK):
        yield from map(template.__mod__, zip(*(c[at : at + _CHUNK].tolist() for c in columns), strict=True))


def _write_tasks(out: IO[str], p: Plan, s: Schedule, base: int, level: int, runtime: str | None) -> None:
    last = f", {newest.EPOCH}]" if runtime is not None else "]"
    task_id = np.repeat(p.task_id, p.graph.records)
    order = np.lexsort((s.start, s.core))
    core = s.core[order]
    first = np.searchsorted(core, core)
    reg = np.empty(len(core), np.int64)
    reg[order] = np.arange(len(core)) - first + 1
    rows = _format(
        "[%d, %d, %d, %d, %d, %d" + last,
        core,
        task_id[order],
        reg[order],
        s.start[order] + base,
        s.end[order] + base,
        (s.start - s.receive)[order],
    )
    _rows(out, rows, '  "aicore_tasks": [\n', "    %s", "\n  ],\n")
    if level < 2:
        out.write('  "aicpu_tasks": []' if runtime is None else '  "scheduler_tasks": {}')
        return
    order = np.lexsort((reg, s.finish, s.core))
    rows = _format(
        "[%d, %d, %d, %d" + last, s.core[order], reg[order], s.dispatch[order] + base, s.finish[order] + base
    )
    if runtime is None:
        _rows(out, rows, '  "aicpu_tasks": [\n', "    %s", "\n  ]")
        return
    producer = "aicore" if runtime == ids.HOST_GRAPH else "aicpu"
    _rows(out, rows, f'  "scheduler_tasks": {{"producer": "{producer}", "records": [\n', "    %s", "\n  ]}")


def _phase_rows(phases: Phases, p: Plan, base: int) -> Iterator[str]:
    """Text per phase: keys depend on the kind, so each kind is formatted on its own and put back in order."""
    common = '{"kind": "%s", "start_cycles": %%d, "end_cycles": %%d, "loop_iter": %%d, "tasks_processed": %%d%s'
    depths = ', "shared_at_start": [%d, %d, %d], "shared_at_end": [%d, %d, %d]}'
    for at in range(0, len(phases.kind), _CHUNK):
        part = slice(at, at + _CHUNK)
        kinds = phases.kind[part]
        texts = np.empty(len(kinds), object)
        for kind in np.unique(kinds):
            here = np.flatnonzero(kinds == kind)
            columns: list[I8] = [c[part][here] for c in (phases.start, phases.end, phases.loop, phases.processed)]
            columns[0], columns[1] = columns[0] + base, columns[1] + base
            more = ""
            if KINDS[kind] == "dispatch":
                more = ', "pop_hit": %d, "pop_miss": %d'
                columns += [phases.hit[part][here], phases.miss[part][here]]
            elif KINDS[kind] == "dummy_task":
                more = ', "task_id": %d'
                columns.append(p.task_id[phases.task[part][here]].astype(np.int64))
            columns += [*phases.depth_start[part][here].T, *phases.depth_end[part][here].T]
            texts[here] = list(_format(common % (KINDS[kind], more) + depths, *columns))
        yield from texts.tolist()


def _write_orchestrator(
    out: IO[str], p: Plan, base: int, seed: int, scale: int, host: bool, with_epoch: bool = False
) -> None:
    n = len(p.task_id)
    submit = np.arange(n)
    if host:
        start, end = _host_stamps(p, base, scale)
        rows = _format(
            '{"submit_idx": %d, "task_id": %d, "start_host_ns": %d, "end_host_ns": %d}', submit, p.task_id, start, end
        )
        _rows(out, rows, ',\n  "host_orchestrator_phases": [[\n', "      %s", "\n    ]],\n")
        stop = int(end[-1])
        out.write(
            '  "host_device_uploads": [\n'
            f'      {{"phase": "graph_upload", "start_host_ns": {stop + 1200}, "end_host_ns": {stop + 2400}, "detail": 0}},\n'
            f'      {{"phase": "arena_h2d", "start_host_ns": {stop + 4000}, "end_host_ns": {stop + 9000}, '
            f'"detail": {n * 928}}}\n    ]'
        )
        return
    end = p.graph.submit
    start = end - ints(seed, 5, n, 2, 4) * scale
    rows = _format(
        '{"submit_idx": %d, "task_id": %d, "start_cycles": %d, "end_cycles": %d'
        + (f', "run_epoch": {newest.EPOCH}}}' if with_epoch else "}"),
        submit,
        p.task_id,
        start + base,
        end + base,
    )
    _rows(out, rows, ',\n  "aicpu_orchestrator_phases": [\n    [\n', "      %s", "\n    ]\n  ]")


def _host_ns(base: int, scale: int) -> int:
    """Host nanoseconds at device tick ``base``; the host clock has its own origin."""
    return base * 20 // scale + 7_777_777_000


def _host_stamps(p: Plan, base: int, scale: int) -> tuple[I8, I8]:
    n = len(p.task_id)
    length = 180 + (np.arange(n, dtype=np.int64) * 7919) % 240
    start = np.cumsum(length + 60) - length
    start += _host_ns(base, scale) - 20_000 - int(start[-1] + length[-1])
    return start, start + length


def _host_metadata(p: Plan, s: Schedule, base: int, scale: int) -> dict[str, Any]:
    """Metadata of a host-orchestrated run: capture status and clock anchors around the whole run."""
    start, _ = _host_stamps(p, base, scale)
    origin = int(start[0])
    samples = []
    stop = int(s.finish.max())
    before = (origin - 600_000 - _host_ns(base, scale)) * scale // 20
    for position, at in (("pre_host_orchestration", before), ("post_device_execution", stop + 5000 * scale)):
        for sample, rtt in enumerate((360, 40, 44)):
            tick = base + at + 50 * sample * scale
            ns = _host_ns(base, scale) + (tick - base) * 20 // scale
            samples.append(
                {
                    "position": position,
                    "sample_idx": sample,
                    "host_before_ns": ns - rtt // 2,
                    "raw_device_timestamp": tick,
                    "device_cycles": tick,
                    "host_after_ns": ns + rtt - rtt // 2,
                    "rtt_ns": rtt,
                    "uncertainty_ns": rtt // 2,
                    "error": None,
                }
            )
    n = len(p.task_id)
    return {
        "orchestrator_source": "host",
        "orchestrator_clock_domain": "host_monotonic_ns",
        "device_clock_domain": "device_syscnt_cycles",
        "host_timestamp_resolution_ns": 1,
        "host_timestamp_quantization_ns": 0,
        "host_orchestration_origin_ns": origin,
        "timeline_relation": "host_orchestration_precedes_device",
        "host_capture": {
            "status": "complete",
            "expected_records": n,
            "recorded_records": n,
            "pool_records": n + 10,
            "dropped_records": 0,
            "error": None,
        },
        "clock_anchors": {
            "schema_version": 1,
            "provider": "sim_syscnt",
            "device_timestamp_unit": "syscnt_cycles",
            "raw_device_timestamp_unit": "syscnt_cycles",
            "samples_per_position": 3,
            "samples": samples,
        },
    }
