"""Seeded serving traces and host logs with figures that are known because they were put in."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

API, WORKER, HOST = 100, 200, 300


@dataclass
class ServingTruth:
    """What a made trace holds: per request id its figures in ns and tokens; per step its parts in ns."""

    requests: dict[str, dict[str, int]] = field(default_factory=dict)
    steps: dict[int, dict[str, int]] = field(default_factory=dict)


def _us(ns: int) -> Any:
    return ns / 1000


def _span(pid: int, tid: int | str, name: str, cat: str, start: int, length: int, **args: Any) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": pid,
        "tid": tid,
        "name": name,
        "cat": cat,
        "ts": _us(start),
        "dur": _us(length),
        "args": args,
    }


def serving_trace(n_requests: int, seed: int, tokens: int = 8, devices: int = 2) -> tuple[dict[str, Any], ServingTruth]:
    """A Chrome trace of ``n_requests`` requests one after the other, and its truth.

    Args:
        n_requests: how many.
        seed: the same seed gives the same trace.
        tokens: output tokens per request, one per decode step.
        devices: host STRACE lanes.
    """
    dice, truth, now, step = random.Random(seed), ServingTruth(), 1_000_000, 0
    names = ((API, "pypto-serving-api"), (WORKER, "serving-worker-0"), (HOST, "Simpler host STRACE"))
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}} for pid, name in names
    ]
    for number in range(n_requests):
        rid, begin = f"cmpl-{number:04}", now
        queued, queue = begin + dice.randrange(100, 900), dice.randrange(50, 5_000)
        events.append(
            _span(API, 1, "ReplicaEngineCore.add_request", "serving", begin + 50, queued - begin - 50, request_id=rid)
        )
        events.append(
            {
                "ph": "i",
                "s": "t",
                "pid": API,
                "tid": 1,
                "name": "request.queued",
                "cat": "serving",
                "ts": _us(queued),
                "args": {"request_id": rid},
            }
        )
        events.append(_span(API, 2, "scheduler.schedule", "scheduler", queued + queue, 300))
        now, outputs = queued + queue + 1000, []
        for _ in range(tokens):
            now = _step(events, truth, dice, now, step, devices)
            step += 1
            outputs.append(now + 200)
            events.append(_span(API, 2, "scheduler.process_step_output", "scheduler", now, 200, new_tokens=1))
            now += 1_000
        end = now + dice.randrange(100, 2_000)
        events.append(
            _span(API, 1, "http.completions", "request", begin, end - begin, request_id=rid, max_tokens=tokens)
        )
        truth.requests[rid] = {
            "queue_ns": queue, "ttft_ns": outputs[0] - begin, "e2e_ns": end - begin, "tokens": tokens,
            "decode_ns": outputs[-1] - outputs[0],
        }  # fmt: skip
        now = end + dice.randrange(1_000, 50_000)
    dice.shuffle(events)
    return {"displayTimeUnit": "ms", "traceEvents": events}, truth


def _step(
    events: list[dict[str, Any]], truth: ServingTruth, dice: random.Random, now: int, step: int, devices: int
) -> int:
    """One decode step from ``now`` on; its end."""
    prepare, dispatch, reclaim = (
        dice.randrange(10_000, 90_000),
        dice.randrange(3_000, 9_000),
        dice.randrange(2_000, 6_000),
    )
    events.append(_span(WORKER, 1, "WorkerProcess.prepare_decode", "worker", now, prepare, step_id=step))
    now += prepare
    events.append(_span(WORKER, 1, "WorkerProcess.dispatch_decode", "worker", now, dispatch, step_id=step))
    now += dispatch
    ends = []
    for device in range(devices):
        length = dice.randrange(100_000, 200_000)
        args = {"invocation": step, "device": device, "strace_name": "chip.run.runner_run"}
        events.append(_span(HOST, device, f"D{step:02} decode | runner_run", "strace.host", now, length, **args))
        ends.append(now + length)
    truth.steps[step] = {
        "prepare_ns": prepare, "dispatch_ns": dispatch, "reclaim_ns": reclaim, "device_start_ns": now, "device_end_ns": max(ends),
    }  # fmt: skip
    events.append(_span(WORKER, 2, "WorkerProcess.reclaim_decode", "worker", max(ends), reclaim, step_id=step))
    return max(ends) + reclaim


def strace_log(
    invocations: int, seed: int, torn: int = 0, dropped: int = 0
) -> tuple[bytes, dict[tuple[int, int], dict[str, int]]]:
    """A host log of two processes mixed, some records sharing a line, and per (pid, inv) the times put in (ns).

    Args:
        invocations: how many, alternating between the processes.
        seed: the same seed gives the same log.
        torn: this many records are cut.
        dropped: what the drop report of the first process says.
    """
    dice, truth = random.Random(seed), {}
    records, now = [], 10_000
    for inv in range(1, invocations + 1):
        pid = 41 + inv % 2
        times = {key: dice.randrange(1_000, 900_000) for key in ("orch", "sched", "offset")}
        times["offset"] %= times["orch"] + 1
        device = max(times["orch"], times["offset"] + times["sched"]) + 10
        host = device + 5_000
        head = f"[STRACE] v=1 pid={pid} tid={pid} inv={inv} hid=ab{inv % 3:02x}"
        wall = "name=chip.run.runner_run.device_wall"
        records += [
            f"{head} depth=3 {wall}.orch ts=0 dur={times['orch']} clk=dev",
            f"{head} depth=3 {wall}.sched ts={times['offset']} dur={times['sched']} clk=dev",
            f"{head} depth=2 {wall} ts=0 dur={device} clk=dev dev_id=0",
            f"{head} depth=1 name=chip.run.runner_run ts={now + 100} dur={device + 200}",
            f"{head} depth=0 name=chip.run ts={now} dur={host} run_id=1 dispatch_id={inv} slot_id=0",
        ]
        union = max(times["orch"], times["offset"] + times["sched"])
        truth[pid, inv] = {
            "host": host,
            "device": device,
            "orch": times["orch"],
            "sched": times["sched"],
            "effective": union,
        }
        now += host + 1_000
    records += [f"[STRACE] v=1 pid=41 tid=41 inv={10**12 + i} hid=ab depth=0 na" for i in range(torn)]
    if dropped:
        records.append(
            f"[HOSTLOG_DROPS] v=1 pid=41 new={dropped} total={dropped} queue_full={dropped} claim_exhausted=0"
        )
    lines, at = [], 0
    while at < len(records):
        several = dice.randrange(1, 3)
        lines.append(
            "".join(
                f"[mono_ns={i}][T0x7f][TIMING] emit: {records[i]}" for i in range(at, min(at + several, len(records)))
            )
        )
        at += several
    return "\n".join(lines).encode() + b"\n", truth


def as_bytes(trace: dict[str, Any]) -> bytes:
    """A trace as the text of a file."""
    return json.dumps(trace).encode()
