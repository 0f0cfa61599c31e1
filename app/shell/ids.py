"""Which component ids does the shell use? Every id of the shell, as a constant; pages add their own beside it."""

from __future__ import annotations

URL = "url"
"""The one ``dcc.Location``; read by the router, written by nobody but links."""
PAGE = "page"
"""Container of the current page."""
SELECTION = "selection"
"""Store of the frame: the selection as ``{"sel": text, "hl": text}``; app/shell/selecting.py wires it."""
RELOAD = "reload"
"""Store: url.js bumps it to have the current page built again (launch changed, capture became ready)."""
VIEW = "view"
"""Store inside each page: the query of the URL as ``{key: text}``, mirrored by url.js."""
RUN = "run"
"""Store inside each page: ``{"key": run key, "page": page name}``."""
NOTICES = "notices"
"""Live region for notices that do not belong to one place of the page."""
BREADCRUMB = "breadcrumb"
TABS = "tabs"

OPEN_TICK = "open-tick"
OPEN_PROGRESS = "open-progress"
OPEN_CANCEL = "open-cancel"
OPEN_JOB = "open-job"
OPEN_RETRY = "open-retry"

OVERVIEW_PLOT = "overview-plot"

RUNS_GRID = "runs-grid"
RUNS_TICK = "runs-tick"
RUNS_SEARCH = "runs-search"
RUNS_COUNT = "runs-count"
RUNS_SIGNATURE = "runs-signature"

FUNCTIONS_GRID = "functions-grid"
FUNCTIONS_HISTOGRAM = "functions-histogram"
FUNCTIONS_OVER_TIME = "functions-over-time"
FUNCTIONS_SELECTED = "functions-selected"

TABLE_GRID = "table-grid"
TABLE_PLOT = "table-plot"
TABLE_SPEC = "table-spec"
