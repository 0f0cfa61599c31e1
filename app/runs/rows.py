"""What does the runs table show of a run? Rows as JSON for the grid, from a RunRow's cheap and opened facts."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from app.runs.library import CAPTURE_FILES, RunRow
from app.server.services import Services
from components import fmt
from components.grid import GridColumn

MISSING_LAST = {"comparator": {"function": "swimscope_missingLast"}}
"""Runs whose figures are not known yet stay in sight below the others, in both directions."""

COLUMNS: tuple[GridColumn, ...] = (
    GridColumn("name", "Run", "link", "The run's directory; opens its overview.", 216, flex=1),
    GridColumn("root", "Root", "text", "Name of the mounted directory tree.", 84),
    GridColumn("path", "Path", "text", "Where the capture is under its root.", 140, flex=4),
    GridColumn("group", "Run tree", "text", "Directory that holds the ranks or devices of one run.", 150, hide=True),
    GridColumn("rank", "Rank", "text", "Rank and device parts of the path.", 80, hide=True),
    GridColumn("modified", "Modified (UTC)", "time", "Newest modification of the capture's files.", 152),
    GridColumn("level", "Level", "count", "Capture level 1 to 4: what the runtime recorded.", 66, extra=MISSING_LAST),
    GridColumn("records", "Records", "count", "Joined task records (executed blocks).", 88, extra=MISSING_LAST),
    GridColumn("tasks", "Tasks", "count", "Task ids that have a record.", 80, extra=MISSING_LAST),
    GridColumn("edges", "Edges", "count", "Unique dependency edges of deps.json.", 80, extra=MISSING_LAST),
    GridColumn("cores", "Cores", "count", "Cores in the capture.", 66, hide=True, extra=MISSING_LAST),
    GridColumn(
        "makespan_us", "Makespan", "duration_us", "First start to last end over all records.", 106, extra=MISSING_LAST
    ),
    GridColumn("size", "Size", "bytes", "Size of the capture's files.", 92, hide=True),
    GridColumn("container", "Container", "text", "Generation of the swimlane file.", 110, hide=True),
    GridColumn(
        "quality",
        "Quality",
        "badges",
        "Data-quality findings.",
        112,
        extra={"filter": False, "comparator": {"function": "swimscope_badgeOrder"}},
    ),
    GridColumn(
        "views", "Views", "badges", "What the files allow.", 220, flex=2, extra={"sortable": False, "filter": False}
    ),
)


def rows(services: Services) -> list[dict[str, Any]]:
    """One JSON object per run, in library order."""
    return [row(services, item) for item in services.library.runs()]


def signature(items: list[dict[str, Any]]) -> str:
    """A hash of the rows: equal rows need not be sent again."""
    return hashlib.sha256(orjson.dumps(items, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def row(services: Services, item: RunRow) -> dict[str, Any]:
    """One run; what is not known yet is None and shown as "–"."""
    facts = item.facts
    return {
        "key": item.key,
        "href": services.href(first_page(item), item.key),
        "name": item.name,
        "root": item.root,
        "path": item.path,
        "group": item.group,
        "rank": item.rank,
        "modified": item.modified_s,
        "size": item.size_bytes,
        "level": facts.level if facts else None,
        "records": facts.records if facts else None,
        "tasks": facts.tasks if facts else None,
        "edges": facts.edges if facts else None,
        "cores": facts.cores if facts else None,
        "makespan_us": facts.makespan_us if facts else None,
        "container": facts.container if facts else None,
        "views": views(item),
        "quality": quality(item),
    }


def first_page(item: RunRow) -> str:
    """What a run opens with: its overview, or its pass dumps or traces where it holds no capture."""
    if CAPTURE_FILES & set(item.files):
        return ""
    return next((page for page in ("passes", "trace") if page in item.views), "")


def views(item: RunRow) -> list[str]:
    """Names of the views a capture offers, from its files and, once opened, its facts."""
    return [*item.views, *(["phases"] if item.facts and item.facts.has_phases else [])]


def quality(item: RunRow) -> list[dict[str, str]]:
    """Badges of the findings: an error, what is missing, the number of notices, or nothing wrong."""
    if item.error:
        return [{"text": "cannot be read", "level": "error", "title": item.error}]
    return [*_incomplete(item), *_findings(item)]


def _incomplete(item: RunRow) -> list[dict[str, str]]:
    """A badge for a graph or names alone, and for unfinished writes."""
    unfinished = any("unfinished" in words for words in item.missing)
    if not item.missing or ("swimlane" in item.files and not unfinished):
        return []
    return [{"text": "incomplete", "level": "warn", "title": "; ".join(item.missing)}]


def _findings(item: RunRow) -> list[dict[str, str]]:
    if item.facts is None and not CAPTURE_FILES & set(item.files):
        return []
    if item.facts is None:
        return [{"text": "pending", "level": "quiet", "title": "Facts are filled in once it has been opened"}]
    found = {code: count for code, count in item.facts.notices.items() if count}
    if not found:
        return [{"text": "clean", "level": "ok", "title": "No data-quality finding"}]
    title = ", ".join(f"{code}: {count:,}" for code, count in found.items())
    return [{"text": fmt.plural(len(found), "notice"), "level": "warn", "title": title}]
