"""Is the body of a callback request one that a page of ours sends? Checked before Dash or a callback sees it.

A page sends what Dash's renderer makes of the declared callbacks, so everything about a body can be known: its outputs,
its inputs and states in order, and the types of the values that our stores hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dash import Dash

from app.shell import ids
from components.swimlane import panel

MAX_DEPTH = 40
"""Nesting of a body; ours stay below ten."""
Check = Callable[[Any], bool]


def _texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values())


def _whole(value: Any, low: int = 0, high: int = 2**53) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _run(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("key"), str)
        and isinstance(value.get("page"), str)
        and _whole(value.get("launch"))
    )


def _focus(value: Any) -> bool:
    words = ("run", "sel", "item", "view")
    return (
        isinstance(value, Mapping)
        and all(isinstance(value.get(word), str) for word in words)
        and _whole(value.get("launch"))
    )


def _trace_focus(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(value.get(word), str) for word in ("run", "trace", "item"))


def _request(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("run"), str)
        and _whole(value.get("n"))
        and (isinstance(value.get("query"), str) or _texts(value.get("query")))
    )


def _job(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("analysis"), str)
        and isinstance(value.get("parameters"), Mapping)
    )


def _reload(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("search", ""), str)


def _rows(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    sort, filters = value.get("sortModel") or [], value.get("filterModel") or {}
    return (
        _whole(value.get("startRow"))
        and _whole(value.get("endRow"))
        and isinstance(sort, list)
        and all(isinstance(item, Mapping) and {"colId", "sort"} <= set(item) for item in sort)
        and isinstance(filters, Mapping)
        and all(isinstance(model, Mapping) for model in filters.values())
    )


def _text(value: Any) -> bool:
    return isinstance(value, str)


NEEDED: dict[str, Check] = {
    f"{ids.RUN}.data": _run,
    f"{ids.VIEW}.data": _texts,
    f"{ids.OPEN_JOB}.data": _job,
    f"{panel.SCOPE}{ids.OPEN_JOB}.data": _job,
}
"""Values that are always there when their callback runs."""
OPTIONAL: dict[str, Check] = {
    f"{ids.URL}.pathname": _text,
    f"{ids.URL}.search": _text,
    f"{ids.RELOAD}.data": _reload,
    f"{ids.RUNS_SIGNATURE}.data": _text,
    "graph-picture-key.data": _text,
    "swim-focus.data": lambda value: value == {} or _focus(value),
    "trace-focus.data": lambda value: value == {} or _trace_focus(value),
    "trace-panel-signature.data": _text,
    f"{panel.REQUEST}.data": lambda value: value == {} or _request(value),
    f"{ids.TABLE_GRID}.getRowsRequest": _rows,
    f"{panel.GRID}.getRowsRequest": _rows,
}
"""Values that may be None or left out."""


def problem(app: Dash, body: Any) -> str:
    """Why ``body`` is not a callback request of ours, in words; "" when it is one."""
    try:
        return _problem(app, body)
    except RecursionError:
        return "nested too deep"


def _problem(app: Dash, body: Any) -> str:
    if not isinstance(body, dict):
        return "not a JSON object"
    output = body.get("output")
    declared = app.callback_map.get(str(output))
    if declared is None:
        return "no such output"
    if not _below(body, MAX_DEPTH):
        return "nested too deep"
    changed = body.get("changedPropIds", [])
    if not isinstance(changed, list) or not all(isinstance(name, str) and "." in name for name in changed):
        return "changedPropIds is not a list of names"
    if not set(changed) <= {f"{item['id']}.{item['property']}" for item in declared["inputs"]}:
        return "changedPropIds names no input"
    for kind in ("inputs", "state"):
        wrong = _wrong_values(declared[kind], body.get(kind, []), kind)
        if wrong:
            return wrong
    return "" if _same_outputs(str(output), body.get("outputs")) else "outputs are others than declared"


def _wrong_values(declared: list[dict[str, Any]], given: Any, key: str) -> str:
    if not isinstance(given, list) or len(given) != len(declared):
        return f"{key} are others than declared"
    for want, have in zip(declared, given, strict=True):
        if not isinstance(have, dict) or (have.get("id"), have.get("property")) != (want["id"], want["property"]):
            return f"{key} are others than declared"
        name, value = f"{want['id']}.{want['property']}", have.get("value")
        if (name in NEEDED and not NEEDED[name](value)) or (
            name in OPTIONAL and value is not None and not OPTIONAL[name](value)
        ):
            return f"{name} has a value of another kind"
    return ""


def _same_outputs(output: str, given: Any) -> bool:
    """Whether ``outputs`` names what ``output`` (``a.b`` or ``..a.b...c.d..``) lists."""
    several = output.startswith("..")
    items = given if several else [given]
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return False
    names = [f"{item.get('id')}.{item.get('property')}" for item in items]
    wanted = output[2:-2].split("...") if several else [output]
    return names == wanted


def _below(value: Any, depth: int) -> bool:
    """Whether ``value`` is nested at most ``depth`` deep and holds no number that JSON does not know."""
    if isinstance(value, dict):
        return depth > 0 and all(_below(item, depth - 1) for item in value.values())
    if isinstance(value, list):
        return depth > 0 and all(_below(item, depth - 1) for item in value)
    return not isinstance(value, float) or value == value
