"""Which plots do the overview, function and analysis pages have? Figures from values, as plain dicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from components.graph import graph, layout, typed
from components.theme import FUNCTION_COLORS

CURVE_COLORS = {"aic": FUNCTION_COLORS["light"][0], "aiv": FUNCTION_COLORS["light"][1]}


class CurveLike(Protocol):
    """A curve as ``app.analyses.Curve`` holds it."""

    @property
    def name(self) -> str: ...
    @property
    def t0_us(self) -> float: ...
    @property
    def t1_us(self) -> float: ...
    @property
    def values(self) -> NDArray[np.float64]: ...
    @property
    def top(self) -> float: ...


def curves(graph_id: str, items: Sequence[CurveLike], y_title: str = "busy cores") -> Any:
    """Curves over time as filled steps; x in µs from capture zero."""
    return graph(graph_id, curves_figure(items, y_title))


def curves_figure(items: Sequence[CurveLike], y_title: str) -> dict[str, Any]:
    """The figure of :func:`curves`."""
    data = [_curve_trace(item, at) for at, item in enumerate(items)]
    return {
        "data": data,
        "layout": layout(
            xaxis=_axis("time (µs)"),
            yaxis=_axis(y_title) | {"rangemode": "tozero", "fixedrange": True},
            hovermode="x",
            uirevision="curves",
        ),
    }


def _curve_trace(item: CurveLike, at: int) -> dict[str, Any]:
    n = len(item.values)
    width = (item.t1_us - item.t0_us) / n if n else 0.0
    x = item.t0_us + width * np.arange(n)
    color = CURVE_COLORS.get(item.name.split(" ")[0], FUNCTION_COLORS["light"][(at + 2) % 8])
    return {
        "type": "scatter",
        "mode": "lines",
        "name": item.name.upper() if len(item.name) <= 3 else item.name,
        "x": typed(x),
        "y": typed(item.values.astype(np.float32)),
        "line": {"shape": "hv", "width": 1.2, "color": color},
        "hovertemplate": f"%{{y:.2f}} of {item.top:g}<extra>{_escape(item.name)}</extra>",
    }


def histogram_figure(durations_us: NDArray[np.float64], color: str) -> dict[str, Any]:
    """Histogram of durations: counts per equal part, at most 60 parts."""
    counts, bounds = np.histogram(durations_us, bins=bin_count(durations_us))
    return {
        "data": [
            {
                "type": "bar",
                "x": typed((bounds[:-1] + bounds[1:]) / 2),
                "y": typed(counts.astype(np.int32)),
                "width": float(bounds[1] - bounds[0]),
                "marker": {"color": color, "line": {"width": 0}},
                "hovertemplate": "%{y:,} records around %{x:.3f} µs<extra></extra>",
            }
        ],
        "layout": layout(xaxis=_axis("duration (µs)"), yaxis=_axis("records"), bargap=0.02, showlegend=False),
    }


def bin_count(values: NDArray[np.float64]) -> int:
    """Parts of a histogram: square root of the count, between 1 and 60; 1 when all values are equal."""
    if not len(values) or float(values.min()) == float(values.max()):
        return 1
    return int(min(60, max(5, np.sqrt(len(values)))))


def over_time_figure(
    start_us: NDArray[np.float64], duration_us: NDArray[np.float64], color: str, ids: list[str]
) -> dict[str, Any]:
    """A point per record: when it started and how long it took; ``ids`` name the task of each."""
    return {
        "data": [
            {
                "type": "scattergl" if len(start_us) > 5_000 else "scatter",
                "mode": "markers",
                "x": typed(start_us),
                "y": typed(duration_us),
                "ids": ids,
                "customdata": ids,
                "marker": {"color": color, "size": 5, "opacity": 0.75},
                "hovertemplate": "%{y:.3f} µs at %{x:,.3f} µs<extra>task %{customdata}</extra>",
            }
        ],
        "layout": layout(
            xaxis=_axis("start (µs)"), yaxis=_axis("duration (µs)") | {"rangemode": "tozero"}, showlegend=False
        ),
    }


def _axis(title: str) -> dict[str, Any]:
    base = layout()["xaxis"]
    return {**base, "title": {**base["title"], "text": title}}


def _escape(text: str) -> str:
    """Plotly reads a little HTML in labels: names from files must not be any."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
