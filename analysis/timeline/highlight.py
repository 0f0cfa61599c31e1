"""Which tasks does a search text or a highlight mean?

Both give a mask over :class:`~analysis.capture.TaskTable` (or over classes, for items without a task), so that a timeline
of only those items can be drawn over the dimmed rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from analysis.capture import Bool, Capture, ids
from analysis.errors import NotFoundError
from analysis.measures.chains import single_dependency_chains
from analysis.measures.early_dispatch import markers
from analysis.paths.critical_path import critical_path
from analysis.timeline.items import CLASS_FUNCTION, class_name
from analysis.timeline.query import LodIndex

_NODE = re.compile(r"^t(\d{1,10}) +node(?: +(\d{1,10}))?$", re.IGNORECASE)


def matches_name(text: str, name: str) -> bool:
    """Fuzzy match: the letters of ``text`` occur in ``name`` in this order, whatever the case and spaces."""
    rest = iter(name.casefold())
    return all(letter in rest for letter in text.casefold() if not letter.isspace())


def best_names(text: str, names: Sequence[str]) -> Bool:
    """Which names match: those that contain the text, or where none does those that match letter by letter."""
    plain = text.casefold().strip()
    inside = np.array([plain in name.casefold() for name in names], dtype=bool)
    if inside.any() or not len(names):
        return inside
    return np.array([matches_name(plain, name) for name in names], dtype=bool)


def search_tasks(capture: Capture, text: str) -> Bool | None:
    """Tasks an id-like text names, None if it is no id.

    What :func:`analysis.capture.ids.matching` knows, and ``t6 node 3`` or ``t6 node`` (all): nodes of a graph task.
    """
    task_id, runtime = capture.tasks.task_id, capture.meta.runtime
    node = _NODE.match(text.strip())
    if node:
        outer = capture.task_index(int(node.group(1)))
        nodes: Bool = (capture.tasks.outer == outer) & (outer >= 0)
        if node.group(2) is not None:
            nodes &= ids.node_numbers(task_id, runtime) == int(node.group(2))
        return nodes
    return ids.matching(text, task_id, runtime)


def search_items(capture: Capture, index: LodIndex, text: str) -> Bool:
    """Items of a view that a search text finds, by task id or fuzzily by function or phase name."""
    if not text.strip():
        return np.zeros(len(index), dtype=bool)
    tasks = search_tasks(capture, text)
    if tasks is not None:
        return _by_task(index, tasks)
    names = [class_name(capture, int(k), int(v)) for k, v in zip(index.class_kind, index.class_value, strict=True)]
    return best_names(text, names)[index.cls] if names else np.zeros(len(index), dtype=bool)


def highlight_items(capture: Capture, index: LodIndex, spec: str, text: str = "") -> Bool:
    """Items of a view that the highlight ``spec`` (URL key ``hl`` or ``sel``) names.

    Raises:
        NotAvailable: the analysis behind the highlight has no answer for this capture.
        NotFoundError: the task does not exist or the spec is none of the known ones.
    """
    if spec == "search":
        return search_items(capture, index, text)
    word, _, value = spec.partition(":")
    if word == "func":
        chosen = (index.class_kind == CLASS_FUNCTION) & (index.class_value == int(value))
        return chosen[index.cls] if len(chosen) else np.zeros(len(index), dtype=bool)
    return _by_task(index, highlight_tasks(capture, spec))


def highlight_tasks(capture: Capture, spec: str) -> Bool:
    """Tasks that ``task:``, ``group:``, ``gap:``, ``chain:``, ``path:``, ``early`` or ``chains`` names."""
    word, _, value = spec.partition(":")
    if word in ("task", "group", "gap"):
        return _mask(capture, [_task(capture, value)])
    if word == "path":
        return _mask(capture, critical_path(capture, value).tasks)
    if word == "early":
        return _mask(capture, markers(capture).star)
    if word == "chains":
        return _mask(capture, single_dependency_chains(capture).members)
    if word == "chain":
        found = single_dependency_chains(capture)
        first = found.members[found.offsets[:-1]]
        row = np.flatnonzero(first == _task(capture, value))
        if not len(row):
            raise NotFoundError(f"no single-dependency chain starts at task {value}")
        return _mask(capture, found.members[found.offsets[row[0]] : found.offsets[row[0] + 1]])
    raise NotFoundError(f"{spec!r} names nothing that can be highlighted")


def _task(capture: Capture, text: str) -> int:
    task = capture.task_index(int(text)) if text.isdecimal() else -1
    if task < 0:
        raise NotFoundError(f"this capture has no task {text}")
    return task


def _mask(capture: Capture, tasks: Sequence[int] | np.ndarray) -> Bool:
    mask = np.zeros(len(capture.tasks), dtype=bool)
    mask[np.asarray(tasks, dtype=np.int64)] = True
    return mask


def _by_task(index: LodIndex, tasks: Bool) -> Bool:
    if not len(tasks):
        return np.zeros(len(index), dtype=bool)
    return (index.task >= 0) & tasks[np.maximum(index.task, 0)]
