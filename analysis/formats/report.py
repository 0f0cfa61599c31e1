"""The import report: every odd thing found while reading, counted by code and place.

A :class:`Report` collects while files are read and joined; :meth:`Report.notices` turns it into the ``meta.notices`` of
a capture. The codes and their wording live here and nowhere else (docs/data-quality.md explains each).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.capture import Notice
from analysis.errors import readable

MESSAGES: dict[str, str] = {
    # Rows that did not make it into a table, or only half.
    "unmatched_aicore": "{count} AICore row(s) have no AICPU row with the same (core, reg task id): drawn hatched, "
    "left out of functions and makespan",
    "unmatched_aicpu": "{count} AICPU row(s) have no AICore row with the same (core, reg task id): left out",
    "duplicate_key": "{count} row(s) repeat a (core, reg task id) key: paired in file order",
    "reserved_row": "{count} row(s) with start 0 were reserved and never committed: left out",
    "wrong_type": "{count} row(s) do not have the columns or types of the format: left out",
    "out_of_range": "{count} row(s) carry a number outside the range a stamp, core or id can have: left out",
    "extra_columns": "{count} row(s) have more columns than the format knows: the extra ones are ignored",
    "lost_metrics": "{count} scheduler metric(s) point at a record that does not exist: left out",
    # Order and length.
    "order_violation": "{count} record(s) break dispatch <= receive <= start <= end <= finish",
    "negative_length": "{count} record(s) or phase(s) end before they start: listed, in no figure",
    "far_stamp": "{count} record(s) or phase(s) carry a stamp far away from the rest of the run: listed, in no figure",
    "corrupt_id": "{count} task id(s) have bits that no task of this runtime has: shown as raw numbers ({reason})",
    "zero_length": "{count} record(s) have the same start and end stamp",
    "overlap": "{count} record(s) start before an earlier record on the same core has ended",
    "hb_violation": "{count} dependency edge(s) are broken in time: the successor starts before its predecessor ends",
    # Names, kinds, streams.
    "unknown_kind": "{count} phase(s) have a kind this version does not know: drawn under their own name",
    "unknown_core": "{count} row(s) run on a core that metadata.core_types does not list: shown as type unknown",
    "core_count_mismatch": "metadata.num_cores and metadata.core_types disagree ({reason})",
    "dangling_edge": "{count} dependency edge(s) name a task that is neither listed nor seen in the run, "
    "and are not marked as creator edges",
    "dangling_tensor": "{count} argument(s) or edge(s) name a tensor that deps.json does not list",
    "dangling_path_task": "{count} task(s) of an imported critical path are not in this capture",
    "duplicate_task": "{count} deps.json task(s) repeat an id: the first entry counts",
    "self_edge": "{count} dependency edge(s) lead from a task to itself",
    "unresolved_function": "{count} record(s) have no function id ({reason})",
    "unknown_value": "{count} deps.json value(s) are not one of the known words: {reason}",
    # The capture as a whole.
    "truncated_stream": "{count} scheduler record(s) were dropped or cut off by the runtime",
    "host_dropped": "{count} host orchestration record(s) were dropped by the runtime (status {reason})",
    "level_mismatch": "the file says level {reason}",
    "graph_mismatch": "{count} timed task(s) are missing from deps.json: the graph may come from another run",
    "missing_stamps": "{count} record(s) have no dispatch or finish stamp",
    "unreadable_file": "{count} file(s) beside the swimlane cannot be read: {reason}",
    "no_rows": "the file holds no AICore row: no records, no times",
    "duplicate_json_key": "{count} entries are left out because a key is named twice: the first one counts ({reason})",
    "too_many_damaged": "{count} row(s) were counted but not looked at: the list holds too many rows that do not fit",
    "stream_id": "{count} scheduler stream(s) have no usable id: numbered by their place in the file",
    "frequency_mismatch": "the clock frequency does not fit the chip: {reason}",
    "unknown_runtime": "task ids are shown as numbers: {reason}",
    "runtime_mismatch": "swimlane and deps.json name different runtimes: {reason}",
    "epoch_without_boundary": "{count} row(s) name an epoch that metadata.run_boundaries does not: shown as a launch of "
    "its own ({reason})",
    "repeated_boundary": "{count} launch boundary record(s) repeat an epoch: the first counts",
    "empty_launch": "{count} launch(es) have no row",
    "rows_by_time": "{count} row(s) name no epoch while others do: they belong to the launch that had begun",
    "host_capture": "the host records are {reason}",
    "clock_alignment": "metadata.clock_alignment cannot be used: {reason}",
    "incomplete_collection": "the retained run is not complete: {reason}",
    "foreign_names": "the name map above this directory is of another program: functions are shown as func_<id> ({reason})",
    "unfinished_file": "{count} file(s) are unfinished writes and were not read: {reason}",
    "unmarked_dummy": "{count} dependency-only task(s) of deps.json have no dummy_task marker",
    "dropped_launches": "{count} launch boundary record(s) were dropped by the runtime: launches may be merged",
    "unsplit_rows": "{count} row(s) carry nothing that tells their launch: shown with every launch",
    "missing_flags": "{count} dependency annotation(s) carry no flags while others do",
    # Information: nothing is wrong, but something is absent or assumed.
    "missing_swimlane": "there is no swimlane file: no records, no times",
    "missing_deps": "deps.json is missing: no dependency lines and no function ids from it",
    "missing_name_map": "no name map: functions are shown as func_<id>",
    "fanout_edges": "{count} dependency edge(s) come from fanout[]: predecessors that only allocate are missing",
    "assumed_aiv_slot": "{count} AIV record(s) belong to tasks with two different AIV kernels: slot 1 is assumed",
    "graph_nodes": "{count} record(s) are nodes of replayed graphs: deps.json names only the outer tasks, so their "
    "function ids and edges are not known",
    "assumed_tolerance": "the container holds no clock: 40 ns stand in for the 2 ticks of tolerance",
    "separate_clocks": "host and device times lie side by side, the gap between them is unknown ({reason})",
}
INFORMATION = frozenset(
    {
        "missing_swimlane",
        "missing_deps",
        "missing_name_map",
        "fanout_edges",
        "assumed_aiv_slot",
        "graph_nodes",
        "assumed_tolerance",
        "separate_clocks",
    }
)
"""Codes that say what is absent or assumed; all others count a defect of the data."""

MAX_COUNT = 2**53
"""What a file claims to have lost is clipped here, so that every count can be stored and sent."""
MAX_PLACES = 200
MAX_REASONS = 20
OTHER_PLACES = "other places"
"""Past :data:`MAX_PLACES` places of one code, the rest is counted under this one."""


@dataclass(slots=True)
class _Entry:
    count: int = 0
    detail: dict[str, int] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)


class Report:
    """Collects findings; one entry per code."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._streams: dict[str, list[int]] = {}

    def rows(self, stream: str, in_file: int, left_out: int = 0) -> None:
        """Account for rows of a stream: how many the file holds, and how many of those are left out."""
        if not stream:
            return
        counts = self._streams.setdefault(stream, [0, 0, 0])
        counts[0] += in_file
        counts[1] += left_out

    def elsewhere(self, stream: str, count: int) -> None:
        """Account for rows that belong to another launch."""
        self._streams.setdefault(stream, [0, 0, 0])[2] += count

    def stream_rows(self) -> dict[str, tuple[int, int, int]]:
        """Per stream (rows in the file, rows left out, rows of other launches); the rest is shown."""
        return {name: (all_rows, out, other) for name, (all_rows, out, other) in self._streams.items() if all_rows}

    def add(self, code: str, count: int = 1, place: str = "", reason: str = "") -> None:
        """Count ``count`` findings of ``code`` at ``place``; nothing happens for 0.

        Raises:
            KeyError: the code has no message (a bug).
        """
        if code not in MESSAGES:
            raise KeyError(code)
        if count <= 0:
            return
        count = min(count, MAX_COUNT)
        entry = self._entries.setdefault(code, _Entry())
        entry.count += count
        if place:
            if place not in entry.detail and len(entry.detail) >= MAX_PLACES:
                place = OTHER_PLACES
            entry.detail[place] = entry.detail.get(place, 0) + count
        if reason and reason not in entry.reasons and len(entry.reasons) < MAX_REASONS:
            entry.reasons.append(reason)

    def add_each(self, code: str, places: dict[str, int]) -> None:
        """Count findings of ``code`` at several places."""
        for place, count in places.items():
            self.add(code, count, place)

    def notices(self) -> tuple[Notice, ...]:
        """The findings in the order of :data:`MESSAGES`, defects before information."""
        out: list[Notice] = []
        for code, template in MESSAGES.items():
            entry = self._entries.get(code)
            if entry is not None:
                message = template.format(count=entry.count, reason="; ".join(entry.reasons))
                detail = {readable(place): count for place, count in entry.detail.items()}
                out.append(Notice(code, entry.count, readable(message), detail))
        return tuple(out)
