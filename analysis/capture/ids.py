"""What does a 64-bit task id say? Its layout depends on the runtime that wrote it (FORMATS-2 section 2).

Nothing in the number says which layout it has: ``metadata.runtime`` does. Files without it are of the ring layout
(FORMATS section 2). An id with bits outside its layout is corrupt: it keeps its raw value as label and is never masked
into one that looks right.
"""

from __future__ import annotations

import re
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from analysis.capture.columns import I4, U8, Bool

HOST_GRAPH = "host_build_graph"
RINGS = "tensormap_and_ringbuffer"
RUNTIMES = (HOST_GRAPH, RINGS)
LEGACY = ""
"""Runtime of files that name none: ring layout, ``t5`` in ring 0."""
RAW_IDS = "?"
"""Runtime of files whose layout cannot be known: ids stay numbers."""
SENTINEL = 2**64 - 1
"""All ones: the runtime's invalid id."""
GRAPH_NODE_SHIFT = 10
"""A graph node's local id is ``(outer_local << 10) | node`` in files without a runtime (FORMATS section 8)."""
GRAPH_NODE_MASK = (1 << GRAPH_NODE_SHIFT) - 1
_LOCAL, _PARENT = 0xFFFFFFFF, 0xFFFFF
_GLOBAL, _SUB_TASK, _PARAM = 0, 1, 2
_LABEL = re.compile(r"(?:([rgRG])(\d{1,7}))?\s*([tpTP])(\d{1,10})")
Fields: TypeAlias = tuple[str, int, int]
"""(letters of the label, group, local): ("rt", ring, local), ("t", 0, local), ("gt", parent, local), ("p", 0, local)."""


def flaw(task_id: int, runtime: str) -> str:
    """Why ``task_id`` cannot be a task of this runtime; "" when it can."""
    if task_id == SENTINEL:
        return "the invalid id (all bits set)"
    if runtime == RAW_IDS:
        return ""
    if runtime != HOST_GRAPH:
        return "bits 63 to 40 are set" if task_id >> 40 else ""
    space, parent = task_id >> 62, (task_id >> 32) & _PARENT
    if space > _PARAM:
        return "id space 3 does not exist"
    if (task_id >> 52) & 0x3FF:
        return "bits 61 to 52 are set"
    return "a parent outside a graph" if parent and space != _SUB_TASK else ""


def flawed(ids: U8, runtime: str) -> Bool:
    """:func:`flaw` for many ids at once."""
    bad: Bool = ids == np.uint64(SENTINEL)
    if runtime == RAW_IDS:
        return bad
    if runtime != HOST_GRAPH:
        return np.asarray(bad | ((ids >> np.uint64(40)) != 0))
    space, middle = ids >> np.uint64(62), (ids >> np.uint64(32)) & np.uint64(0x3FFFFFFF)
    parent_allowed = np.where(space == _SUB_TASK, np.uint64(_PARENT), np.uint64(0))
    return np.asarray(bad | (space > _PARAM) | (middle > parent_allowed))


def label(task_id: int, runtime: str) -> str:
    """What people call the task: ``r1t5`` (``t5`` in old files' ring 0), ``t5``, ``g3t7``, ``p2``; else its raw id."""
    if runtime == RAW_IDS:
        return str(task_id)
    if flaw(task_id, runtime):
        return f"invalid {task_id}"
    local = task_id & _LOCAL
    if runtime == HOST_GRAPH:
        space = task_id >> 62
        parent = (task_id >> 32) & _PARENT
        return f"g{parent}t{local}" if space == _SUB_TASK else f"{'p' if space == _PARAM else 't'}{local}"
    ring = task_id >> 32
    return f"r{ring}t{local}" if ring or runtime == RINGS else f"t{local}"


def matching(text: str, ids: U8, runtime: str) -> Bool | None:
    """Which ids a search text names as label or number, None when it is neither.

    ``t12`` is local id 12 in any ring or graph; ``r1t12``, ``r1 t12``, ``g3t7``, ``p2`` are exact; a decimal or ``0x…``
    number is the raw id, else a local id.
    """
    plain = text.strip()
    number = _number(plain)
    local = ids & np.uint64(_LOCAL)
    if number is not None:
        exact: Bool = ids == np.uint64(number)
        return exact if exact.any() or number > _LOCAL else np.asarray(local == np.uint64(number))
    found = _LABEL.fullmatch(plain)
    if found is None:
        return None
    group, index, letter, own = found.groups()
    mask: Bool = (local == np.uint64(int(own) & _LOCAL)) & ~flawed(ids, runtime) & (int(own) <= _LOCAL)
    space = ids >> np.uint64(62)
    if runtime == HOST_GRAPH:
        mask &= (space == _PARAM) == (letter in "pP")
    elif letter in "pP":
        return np.zeros(len(ids), np.bool_)
    if group is None:
        return mask
    if (group in "gG") != (runtime == HOST_GRAPH):
        return np.zeros(len(ids), np.bool_)
    middle = (ids >> np.uint64(32)) & np.uint64(_PARENT)
    mask &= middle == np.uint64(int(index))
    return mask & (space == _SUB_TASK) if runtime == HOST_GRAPH else mask


def _number(text: str) -> int | None:
    if re.fullmatch(r"[0-9]{1,20}", text):
        number = int(text)
    elif re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", text):
        number = int(text, 16)
    else:
        return None
    return number if number < 2**64 else None


def node_number(task_id: int, runtime: str) -> int:
    """Number of a graph node inside its outer graph task."""
    return task_id & (_LOCAL if runtime == HOST_GRAPH else GRAPH_NODE_MASK)


def node_numbers(ids: U8, runtime: str) -> NDArray[np.int64]:
    """:func:`node_number` for many ids."""
    return (ids & np.uint64(_LOCAL if runtime == HOST_GRAPH else GRAPH_NODE_MASK)).astype(np.int64)


def outer_ids(ids: U8, runtime: str) -> tuple[Bool, U8]:
    """(which ids are shaped like a graph node, id of the outer task each would belong to)."""
    if runtime == HOST_GRAPH:
        return (ids >> np.uint64(62) == _SUB_TASK) & ~flawed(ids, runtime), (ids >> np.uint64(32)) & np.uint64(_PARENT)
    is_node = ids >> np.uint64(32) == 1
    return np.asarray(is_node), (ids & np.uint64(_LOCAL)) >> np.uint64(GRAPH_NODE_SHIFT)


def may_be_outer(ids: U8, runtime: str) -> Bool:
    """Which ids can name an outer graph task: ring 0, or the global space."""
    return np.asarray(ids >> np.uint64(32) == 0)


def find_label(text: str, ids: U8, runtime: str) -> I4:
    """Dense indexes of the ids that :func:`matching` finds, ascending; empty when the text is no id."""
    mask = matching(text, ids, runtime)
    return np.flatnonzero(mask).astype(np.int32) if mask is not None else np.zeros(0, np.int32)
