"""Which plots do the overview, function and analysis pages have? Figures from values, as plain dicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.measures.function_records import FunctionRecords
from components.plot import graph, layout, typed
from components.theme import FUNCTION_COLORS, function_color, function_color_index

CURVE_COLORS = {"aic": 0, "aiv": 1}
"""Palette index of a core type's curve."""


class CurveLike(Protocol):
    """A curve as ``app.work.outcomes.Curve`` holds it."""

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
    return graph(graph_id, curves_figure(items, y_title), themed=True)


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
            legend=layout()["legend"] | {"y": 1.0, "yanchor": "bottom"},
            margin=layout()["margin"] | {"t": 34},
        ),
    }


def _curve_trace(item: CurveLike, at: int) -> dict[str, Any]:
    n = len(item.values)
    width = (item.t1_us - item.t0_us) / n if n else 0.0
    x = item.t0_us + width * np.arange(n)
    color = CURVE_COLORS.get(item.name.split(" ")[0], (at + 2) % 8)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": _escape(item.name.upper() if len(item.name) <= 3 else item.name),
        "x": typed(x),
        "y": typed(item.values.astype(np.float32)),
        "line": {"shape": "hv", "width": 1.2, "color": FUNCTION_COLORS["light"][color]},
        "meta": {"color": f"--fn-{color}"},
        "hovertemplate": f"%{{y:.2f}} of {item.top:g}<extra>{_escape(item.name)}</extra>",
    }


def function_css(name: str) -> str:
    """The CSS colour of a function: a variable, so it follows the theme."""
    return f"var(--fn-{function_color_index(name)})"


def function_figures(found: FunctionRecords) -> tuple[dict[str, Any], dict[str, Any]]:
    """Histogram of a function's durations, and its records over time."""
    color = function_color(found.name)
    return histogram_figure(found, color), over_time_figure(found, color)


def empty_figures(number: int) -> tuple[dict[str, Any], ...]:
    """Figures with nothing in them."""
    return tuple({"data": [], "layout": layout()} for _ in range(number))


def histogram_figure(found: FunctionRecords, color: str) -> dict[str, Any]:
    """Records per equal part of the duration."""
    bounds = found.bounds_us
    trace = {
        "type": "bar",
        "x": typed((bounds[:-1] + bounds[1:]) / 2),
        "y": typed(found.counts.astype(np.int32)),
        "width": float(bounds[1] - bounds[0]),
        "marker": {"color": color, "line": {"width": 0}},
        "meta": {"color": f"--fn-{function_color_index(found.name)}"},
        "hovertemplate": "%{y:,} records around %{x:.3f} µs<extra></extra>",
    }
    axes = {"xaxis": _axis("duration (µs)"), "yaxis": _axis("records")}
    return {"data": [trace], "layout": layout("light", **axes, bargap=0.02, showlegend=False)}


def over_time_figure(found: FunctionRecords, color: str) -> dict[str, Any]:
    """A point per record: when it started and how long it took; ``customdata`` holds the task id."""
    ids = list(found.task_ids)
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": typed(found.start_us),
        "y": typed(found.duration_us),
        "customdata": ids,
        "marker": {"color": color, "size": 5, "opacity": 0.75},
        "meta": {"color": f"--fn-{function_color_index(found.name)}"},
        "hovertemplate": "%{y:.3f} µs at %{x:,.3f} µs<extra>task %{customdata}</extra>",
    }
    axes = {"xaxis": _axis("start (µs)"), "yaxis": _axis("duration (µs)") | {"rangemode": "tozero"}}
    return {"data": [trace], "layout": layout("light", **axes, showlegend=False)}


def _axis(title: str) -> dict[str, Any]:
    base = layout()["xaxis"]
    return {**base, "title": {**base["title"], "text": title}}


def _escape(text: str) -> str:
    """Plotly reads a little HTML in labels: names from files must not be any."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
