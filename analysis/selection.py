"""What does a selection name, and which tasks does a typed text mean? The one grammar of both.

A selection (``sel`` and ``hl`` of the URL) is ``KIND:VALUE``: task, group, chain and gap with a decimal 64-bit task id, func
with a function id (-1: unresolved), path with one of four names. A label is what a user types for a task: ``t12`` (local id
12 in any ring), ``r1t12`` or ``r1 t12``, ``g3t7``, ``p2``, a decimal id or ``0x…``; ``t6 node 3`` names a node of a graph
task. ``assets/js/core/selection.js`` is the same parser for the browser; both are tested on ``tests/data/selection.json``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from rapidfuzz import fuzz

from analysis.capture import I4, Bool, Capture, ids
from analysis.errors import NotFoundError

Kind: TypeAlias = Literal["task", "group", "chain", "gap", "func", "path"]
OF_A_TASK = ("task", "group", "gap")
"""Kinds that are about one task; a group is all blocks of it, a gap the wait before it."""
PATHS = ("static", "observed", "imported-static", "imported-observed")
MAX_ID = 2**64 - 1
SIMILAR_SCORE = 75
"""Least similarity in per cent of a name with a typing error; shorter texts than :data:`SIMILAR_CHARS` have none."""
SIMILAR_CHARS = 4

_SELECTION = re.compile(r"(task|group|chain|gap|func|path):(.+)")
_ID = re.compile(r"[0-9]{1,20}")
_NUMBER = re.compile(r"[0-9]{1,20}|0x[0-9a-f]{1,16}")
_LABEL = re.compile(r"(?:([rg])([0-9]{1,10})\s*)?(t)([0-9]{1,10})|(p)([0-9]{1,10})")
_NODE = re.compile(r"t([0-9]{1,10}) +node(?: +([0-9]{1,10}))?")


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection: ``value`` is the text of an id or the name of a path."""

    kind: Kind
    value: str

    @property
    def canonical(self) -> str:
        """How the URL writes it."""
        return f"{self.kind}:{self.value}"

    @property
    def number(self) -> int:
        """The task or function id."""
        return int(self.value)


@dataclass(frozen=True, slots=True)
class Label:
    """A typed text that names tasks: ``kind`` is ``id`` for a whole 64-bit number, else ``label``."""

    kind: Literal["label", "id"]
    value: str
    letter: str = ""
    """``t`` or ``p``."""
    group: str = ""
    """``r`` or ``g``, or "" for any ring or graph."""
    group_number: int = 0
    local: int = 0

    @property
    def canonical(self) -> str:
        """Its shortest form: lower case, decimal, no spaces, no leading zeros."""
        return self.value


def parse(text: str) -> Selection | None:
    """The selection that a text of the URL names, None when it names none."""
    match = _SELECTION.fullmatch(text)
    if match is None:
        return None
    kind, value = match.groups()
    is_id = _ID.fullmatch(value) is not None and int(value) <= MAX_ID
    good = value in PATHS if kind == "path" else is_id or (kind == "func" and value == "-1")
    return Selection(kind, value) if good else None  # type: ignore[arg-type]  # the pattern allows these words only


def parse_label(text: str) -> Label | None:
    """The task or tasks that a typed text names, None when it is no label: then it may be part of a name."""
    plain = text.strip().lower()
    if _NUMBER.fullmatch(plain):
        number = int(plain, 16 if plain.startswith("0x") else 10)
        return Label("id", str(number), local=number) if number <= MAX_ID else None
    match = _LABEL.fullmatch(plain)
    if match is None:
        return None
    group, group_number, _t, local, param, param_number = match.groups()
    if param:
        return Label("label", f"p{int(param_number)}", "p", local=int(param_number))
    if group is None:
        return Label("label", f"t{int(local)}", "t", local=int(local))
    return Label("label", f"{group}{int(group_number)}t{int(local)}", "t", group, int(group_number), int(local))


def task_with_id(capture: Capture, text: str) -> int:
    """Dense index of the task whose decimal id is ``text``, -1 when it is no id or there is no such task."""
    return capture.task_index(int(text)) if _ID.fullmatch(text) else -1


def existing_task(capture: Capture, text: str) -> int:
    """As :func:`task_with_id`.

    Raises:
        NotFoundError: there is no such task.
    """
    task = task_with_id(capture, text)
    if task < 0:
        raise NotFoundError(f"this capture has no task {text[:40]!r}")
    return task


def task_of(capture: Capture, sel: str, kinds: Sequence[str] = (*OF_A_TASK, "chain")) -> int:
    """Dense index of the task that a selection is about, -1 when it is about none; a chain counts as its first task."""
    found = parse(sel)
    return capture.task_index(found.number) if found is not None and found.kind in kinds else -1


def labelled_tasks(capture: Capture, text: str) -> Bool | None:
    """Mask of every task that a label, an id or ``t6 node 3`` names; None when the text is none of these."""
    node = _NODE.fullmatch(text.strip().lower())
    if node:
        return _nodes(capture, int(node.group(1)), node.group(2))
    label = parse_label(text)
    return None if label is None else ids.matching(label.canonical, capture.tasks.task_id, capture.meta.runtime)


def _nodes(capture: Capture, outer_id: int, number: str | None) -> Bool:
    """The nodes of an outer graph task, or the one of that number."""
    outer = capture.task_index(outer_id)
    nodes: Bool = (capture.tasks.outer == outer) & (outer >= 0)
    if number is not None:
        nodes &= ids.node_numbers(capture.tasks.task_id, capture.meta.runtime) == int(number)
    return nodes


def named_tasks(capture: Capture, text: str) -> Bool:
    """Mask of the tasks whose function, or kind, or node is called like ``text`` (:func:`matching_names`)."""
    tasks = capture.tasks
    code = np.where(tasks.func_id >= 0, tasks.func_id, -1 - tasks.kind.astype(np.int32))
    node = np.flatnonzero((tasks.outer >= 0) & (tasks.func_id < 0))
    code[node] = -1024 - node  # each node of a graph task has a name of its own
    codes, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    matches = matching_names(text, [capture.task_name(int(at)) for at in first])
    return matches[inverse] if len(codes) else np.zeros(0, dtype=bool)


def find_tasks(capture: Capture, text: str) -> I4:
    """Every task that a typed text means, as dense indexes, ascending: by label or id, else by name."""
    if not text.strip():
        return np.zeros(0, np.int32)
    mask = labelled_tasks(capture, text)
    if mask is None or not mask.any():
        mask = named_tasks(capture, text)
    return np.flatnonzero(mask).astype(np.int32)


def matching_names(text: str, names: Sequence[str]) -> Bool:
    """Which names match: those that contain the text; where none does, those with its letters in this order; where none
    does either, those that are similar to it (typing errors)."""
    plain = text.casefold().strip()
    for test in (_contains, _has_letters, _is_similar):
        found = np.array([test(plain, name.casefold()) for name in names], dtype=bool)
        if found.any():
            break
    else:
        return np.zeros(len(names), dtype=bool)
    return found


def _contains(text: str, name: str) -> bool:
    return text in name


def _has_letters(text: str, name: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in text if not letter.isspace())


def _is_similar(text: str, name: str) -> bool:
    return len(text) >= SIMILAR_CHARS and fuzz.partial_ratio(text, name) >= SIMILAR_SCORE
