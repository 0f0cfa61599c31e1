"""What did a serving run do for each request and each decode step?

Definitions (ours, from the spans of FORMATS section 8, "Serving strace"):

* A request is the outermost span with ``args.request_id`` (``http.completions``); end to end is its length.
* Queueing ends with the first ``scheduler.schedule`` that begins after ``request.queued`` (else after the end of
  ``add_request``). Time to first token: request begin to the end of its first ``process_step_output`` with new tokens.
  Time per output token: from there to the end of the last one, per token after the first output.
* An output belongs to the request its ``request_id``/``request_ids`` name; without them to the only request open then.
* Warm-up: with three requests or more, the first one that begins is left out of distributions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.errors import NotAvailable
from analysis.results import Column, Table
from analysis.traces.model import Trace

WARM_UP_FROM = 3
"""From this many requests on the first one counts as warm-up."""
_SHARES = {"p50_us": 0.5, "p95_us": 0.95}
MEASURES = ("ttft_us", "tpot_us", "e2e_us", "queue_us")
REQUEST_COLUMNS = (
    Column("request_id", "text", "id as the server wrote it"),
    Column("start_us", "us", "begin of the request on the trace's axis"),
    Column("queue_us", "us", "queued until the first scheduler.schedule begins"),
    Column("ttft_us", "us", "begin of the request to the end of the first output with new tokens"),
    Column("tpot_us", "us", "first output to last output, per token after the first output"),
    Column("e2e_us", "us", "length of the request's span"),
    Column("tokens", "count", "new tokens of all recorded outputs; 0: none recorded"),
    Column("warm_up", "bool", "left out of the distributions"),
)
STEP_COLUMNS = (
    Column("process", "text", "worker process"),
    Column("step_id", "index", "step_id of the spans"),
    Column("start_us", "us", "begin of its first span"),
    Column("prepare_us", "us", "WorkerProcess.prepare_*"),
    Column("dispatch_us", "us", "WorkerProcess.dispatch_*"),
    Column(
        "device_us",
        "us",
        "first runner_run begin to last runner_run end over devices, of the invocation of that number",
    ),
    Column("reclaim_us", "us", "WorkerProcess.reclaim_*"),
    Column("bubble_us", "us", "devices idle until the next step's first runner_run; 0 where they overlap"),
    Column("devices", "count", "devices with a runner_run of this step"),
)


@dataclass(frozen=True, slots=True)
class Requests:
    """One row per request; ``slices`` are their spans, ``rule`` says in words what is left out of :meth:`distributions`."""

    table: Table
    slices: tuple[int, ...]
    rule: str

    def distributions(self) -> dict[str, dict[str, float | int | None]]:
        """Per measure count, mean, min, P50, P95 (nearest rank) and max over the requests that are no warm-up."""
        keep = ~np.asarray(self.table.data["warm_up"], bool)
        out: dict[str, dict[str, float | int | None]] = {}
        for name in MEASURES:
            values = np.asarray(self.table.data[name], np.float64)[keep]
            values = np.sort(values[~np.isnan(values)])
            n = len(values)
            row: dict[str, float | int | None] = {"count": n}
            row |= {"mean_us": float(values.mean()) if n else None, "min_us": float(values[0]) if n else None}
            row |= {
                key: float(values[max(int(np.ceil(n * share - 1e-9)), 1) - 1]) if n else None
                for key, share in _SHARES.items()
            }
            out[name] = row | {"max_us": float(values[-1]) if n else None}
        return out

    def to_json(self) -> dict[str, Any]:
        """``{requests, distributions, rule}``."""
        return {"requests": self.table.to_records(), "distributions": self.distributions(), "rule": self.rule}


@dataclass(frozen=True, slots=True)
class Steps:
    """One row per decode step; ``slices`` are the step's first spans."""

    table: Table
    slices: tuple[int, ...]

    def to_json(self) -> list[dict[str, Any]]:
        """One object per step."""
        return self.table.to_records()


@dataclass
class _Output:
    end: int
    tokens: int
    ids: frozenset[str]


def requests(trace: Trace, warm_up_from: int = WARM_UP_FROM) -> Requests:
    """Time to first token, per output token, end to end and queueing of every request.

    Raises:
        NotAvailable: no span of the trace carries a request id.
    """
    slices, spans = trace.slices, _named(trace, ("http.", "request", "add_request", "generate"), "request")
    found: dict[str, list[int]] = {}
    for at, event in spans:
        rid = _arguments(event).get("request_id")
        if rid is not None:
            found.setdefault(str(rid), []).append(at)
    if not found:
        raise NotAvailable("no span carries a request_id: this trace holds no serving requests")
    roots = {rid: max(at, key=lambda i: int(slices.end_ns[i] - slices.start_ns[i])) for rid, at in found.items()}
    order = sorted(roots, key=lambda rid: (int(slices.start_ns[roots[rid]]), rid))
    queued = _queued(trace, found)
    schedule = np.sort(slices.start_ns[_ids(trace, ("scheduler.schedule",))])
    outputs = _outputs(trace)
    open_at = [(rid, int(slices.start_ns[at]), int(slices.end_ns[at])) for rid, at in roots.items()]
    belongs: dict[str, list[_Output]] = {rid: [] for rid in roots}
    for output in outputs:
        owners = [r for r in output.ids if r in belongs]
        if not output.ids:
            owners = [rid for rid, low, high in open_at if low <= output.end <= high]
            owners = owners if len(owners) == 1 else []
        for rid in owners:
            belongs[rid].append(output)
    rows = [_request(rid, roots[rid], trace, queued.get(rid), schedule, belongs[rid]) for rid in order]
    warm = [len(order) >= warm_up_from and i == 0 for i in range(len(order))]
    data: dict[str, Any] = {"request_id": order, "warm_up": np.asarray(warm, bool)}
    for column in REQUEST_COLUMNS:
        if column.name not in data:
            values = [row[column.name] for row in rows]
            data[column.name] = np.asarray(values, np.int64 if column.unit == "count" else np.float64)
    rule = f"With {warm_up_from} requests or more the first one is warm-up and left out of the distributions" + (
        f": {order[0]}." if any(warm) else f"; this trace has {len(order)}, none is left out."
    )
    return Requests(Table(REQUEST_COLUMNS, data), tuple(roots[rid] for rid in order), rule)


def _request(
    rid: str, root: int, trace: Trace, queued: int | None, schedule: Any, outputs: list[_Output]
) -> dict[str, float]:
    start, end = int(trace.slices.start_ns[root]), int(trace.slices.end_ns[root])
    given = sorted((o for o in outputs if o.tokens > 0 and o.end >= start), key=lambda o: o.end)
    tokens, nan = sum(o.tokens for o in given), float("nan")
    queue = nan
    if queued is not None:
        at = int(np.searchsorted(schedule, queued))
        queue = (int(schedule[at]) - queued) / 1000 if at < len(schedule) else nan
    after = tokens - given[0].tokens if given else 0
    return {
        "start_us": start / 1000, "queue_us": queue, "ttft_us": (given[0].end - start) / 1000 if given else nan,
        "tpot_us": (given[-1].end - given[0].end) / 1000 / after if after > 0 else nan,
        "e2e_us": (end - start) / 1000 if not trace.slices.marks[root] else nan, "tokens": tokens,
    }  # fmt: skip


def _queued(trace: Trace, found: dict[str, list[int]]) -> dict[str, int]:
    """When each request was queued: its instant, else the end of its add_request span."""
    out = {}
    for rid, at in found.items():
        ends = [int(trace.slices.end_ns[i]) for i in at if trace.names[trace.slices.name[i]].endswith("add_request")]
        if ends:
            out[rid] = min(ends)
    for i in np.flatnonzero(
        np.isin(trace.instants.name, [n for n, x in enumerate(trace.names) if x == "request.queued"])
    ).tolist():
        queued = _arguments(trace.event("i", i)).get("request_id")
        if queued is not None:
            out[str(queued)] = int(trace.instants.time_ns[i])
    return out


def _outputs(trace: Trace) -> list[_Output]:
    at = _ids(trace, ("scheduler.process_step_output", "process_step_output"))
    out = []
    for i, event in zip(at.tolist(), trace.events(at), strict=True):
        args = _arguments(event)
        ids = args.get("request_ids", [args["request_id"]] if "request_id" in args else [])
        tokens = args.get("new_tokens")
        if isinstance(tokens, int) and isinstance(ids, list):
            out.append(_Output(int(trace.slices.end_ns[i]), tokens, frozenset(map(str, ids))))
    return out


def _ids(trace: Trace, names: tuple[str, ...]) -> Any:
    return np.flatnonzero(np.isin(trace.slices.name, [i for i, name in enumerate(trace.names) if name in names]))


def _named(trace: Trace, parts: tuple[str, ...], category: str) -> list[tuple[int, dict[str, Any]]]:
    """Slices of a category, or whose name holds one of ``parts``, with their events."""
    names = [i for i, name in enumerate(trace.names) if any(part in name for part in parts)]
    categories = [i for i, name in enumerate(trace.categories) if name == category]
    at = np.flatnonzero(np.isin(trace.slices.name, names) | np.isin(trace.slices.category, categories))
    return list(zip(at.tolist(), trace.events(at), strict=True))


def _arguments(event: dict[str, Any]) -> dict[str, Any]:
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def steps(trace: Trace) -> Steps:
    """Prepare, dispatch, device, reclaim and the bubble after it, per decode step.

    Raises:
        NotAvailable: no ``WorkerProcess`` span with a step id.
    """
    slices = trace.slices
    parts: dict[tuple[int, int], dict[str, list[int]]] = {}
    for at, event in _named(trace, ("WorkerProcess.",), ""):
        step, name = _arguments(event).get("step_id"), trace.names[slices.name[at]]
        kind = name.removeprefix("WorkerProcess.").split("_")[0]
        if isinstance(step, int) and kind in ("prepare", "dispatch", "reclaim"):
            parts.setdefault((trace.lanes[slices.lane[at]].process, step), {}).setdefault(kind, []).append(at)
    if not parts:
        raise NotAvailable("no WorkerProcess span carries a step_id: this trace holds no decode steps")
    device = _device_windows(trace)
    keys = sorted(parts, key=lambda key: min(int(slices.start_ns[i]) for at in parts[key].values() for i in at))
    first = [min((i for at in parts[key].values() for i in at), key=lambda i: int(slices.start_ns[i])) for key in keys]
    data: dict[str, Any] = {
        "process": [trace.processes[p].name for p, _ in keys], "step_id": [step for _, step in keys],
        "start_us": np.asarray([int(slices.start_ns[i]) / 1000 for i in first], np.float64),
        "devices": np.asarray([device[step][2] if step in device else 0 for _, step in keys], np.int64),
    }  # fmt: skip
    for kind in ("prepare", "dispatch", "reclaim"):
        data[f"{kind}_us"] = np.asarray(
            [
                sum(int(slices.end_ns[i] - slices.start_ns[i]) for i in parts[key][kind]) / 1000
                if kind in parts[key]
                else np.nan
                for key in keys
            ]
        )
    windows = [device.get(step) for _, step in keys]
    data["device_us"] = np.asarray([(w[1] - w[0]) / 1000 if w else np.nan for w in windows])
    bubbles = []
    for i, window in enumerate(windows):
        later = next((w for (p, _), w in zip(keys[i + 1 :], windows[i + 1 :], strict=True) if p == keys[i][0]), None)
        bubbles.append(max(later[0] - window[1], 0) / 1000 if window and later else np.nan)
    data["bubble_us"] = np.asarray(bubbles)
    return Steps(Table(STEP_COLUMNS, data), tuple(first))


def _device_windows(trace: Trace) -> dict[int, tuple[int, int, int]]:
    """Per invocation number: first begin and last end of runner_run over all devices, and how many devices."""
    out: dict[int, tuple[int, int, int]] = {}
    names = [i for i, name in enumerate(trace.names) if name.endswith("runner_run")]
    at = np.flatnonzero(np.isin(trace.slices.name, names))
    for i, event in zip(at.tolist(), trace.events(at), strict=True):
        number = _arguments(event).get("invocation")
        if isinstance(number, int):
            low, high, n = out.get(number, (1 << 62, 0, 0))
            out[number] = (min(low, int(trace.slices.start_ns[i])), max(high, int(trace.slices.end_ns[i])), n + 1)
    return out
