"""Which items of a timeline does a search text or a highlight mean?

Both give a mask over the items, so that a timeline of only those items can be drawn over the dimmed rest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analysis import selection
from analysis.capture import I4, Bool, Capture
from analysis.errors import NotFoundError
from analysis.measures.chains import single_dependency_chains
from analysis.measures.early_dispatch import markers
from analysis.paths.critical_path import critical_path
from analysis.timeline.items import CLASS_FUNCTION, class_name
from analysis.timeline.query import LodIndex


def search_items(capture: Capture, index: LodIndex, text: str) -> Bool:
    """Items of a view that a search text finds, by task id or else by function or phase name."""
    if not text.strip():
        return np.zeros(len(index), dtype=bool)
    tasks = selection.labelled_tasks(capture, text)
    if tasks is not None and tasks.any():
        return _by_task(index, tasks)
    names = [class_name(capture, int(k), int(v)) for k, v in zip(index.class_kind, index.class_value, strict=True)]
    return selection.matching_names(text, names)[index.cls] if names else np.zeros(len(index), dtype=bool)


def highlight_items(
    capture: Capture,
    index: LodIndex,
    spec: str,
    text: str = "",
    tasks_of: Callable[[Capture, str], I4] | None = None,
) -> Bool:
    """Items of a view that the highlight ``spec`` (URL key ``hl`` or ``sel``) names.

    Args:
        capture: the launch.
        index: the view.
        spec: the highlight.
        text: the search text, for ``search``.
        tasks_of: gives the tasks of a highlight, :func:`highlighted_tasks` by default; a server keeps them.

    Raises:
        NotAvailable: the analysis behind the highlight has no answer for this capture.
        NotFoundError: the task does not exist or the spec is none of the known ones.
    """
    if spec == "search":
        return search_items(capture, index, text)
    found = selection.parse(spec)
    if found is not None and found.kind == "func":
        chosen = (index.class_kind == CLASS_FUNCTION) & (index.class_value == found.number)
        return chosen[index.cls] if len(chosen) else np.zeros(len(index), dtype=bool)
    mask = np.zeros(len(capture.tasks), dtype=bool)
    mask[(tasks_of or highlighted_tasks)(capture, spec)] = True
    return _by_task(index, mask)


def highlighted_tasks(capture: Capture, spec: str) -> I4:
    """Tasks that ``task:``, ``group:``, ``gap:``, ``chain:``, ``path:``, ``early`` or ``chains`` names."""
    if spec == "early":
        return np.asarray(markers(capture).star, dtype=np.int32)
    found = selection.parse(spec)
    if spec == "chains" or (found is not None and found.kind == "chain"):
        chains = single_dependency_chains(capture)
        members = np.asarray(chains.members, dtype=np.int32)
        return members if found is None else chain_starting_with(capture, members, chains.offsets, found.value)
    if found is not None and found.kind == "path":
        return critical_path(capture, found.value).tasks
    return single_task(capture, spec)


def single_task(capture: Capture, spec: str) -> I4:
    """The task of ``task:``, ``group:`` or ``gap:``.

    Raises:
        NotFoundError: there is no such task, or the spec is none of these.
    """
    found = selection.parse(spec)
    if found is None or found.kind not in selection.OF_A_TASK:
        raise NotFoundError(f"{spec!r} names nothing that can be highlighted")
    return np.array([selection.existing_task(capture, found.value)], dtype=np.int32)


def chain_starting_with(capture: Capture, members: I4, offsets: np.ndarray, task_id: str) -> I4:
    """The chain whose first task has the id.

    Args:
        capture: the launch.
        members: tasks of all chains, one after the other.
        offsets: where each chain begins in ``members``, and the end.
        task_id: decimal id.

    Raises:
        NotFoundError: there is no such task, or no chain starts with it.
    """
    row = np.flatnonzero(members[offsets[:-1]] == selection.existing_task(capture, task_id))
    if not len(row):
        raise NotFoundError(f"no single-dependency chain starts at task {task_id}")
    return members[offsets[row[0]] : offsets[row[0] + 1]]


def _by_task(index: LodIndex, tasks: Bool) -> Bool:
    if not len(tasks):
        return np.zeros(len(index), dtype=bool)
    return (index.task >= 0) & tasks[np.maximum(index.task, 0)]
