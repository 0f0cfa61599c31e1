"""Which plots and small tables stand above the requests and steps of a trace?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from dash import html

from analysis.traces.serving import Requests, Steps
from components import fmt
from components.plot import graph, layout, typed
from components.theme import FUNCTION_COLORS

MEASURE_TEXT = {
    "ttft_us": "Time to first token", "tpot_us": "Time per output token", "e2e_us": "End to end", "queue_us": "Queueing",
}  # fmt: skip
_STATISTICS = (("mean_us", "Mean"), ("p50_us", "P50"), ("p95_us", "P95"), ("min_us", "Min"), ("max_us", "Max"))
_PARTS = (("prepare_us", "prepare"), ("dispatch_us", "dispatch"), ("device_us", "device"), ("reclaim_us", "reclaim"))
MAX_STEPS = 2_000
"""Steps that the plot shows; the table has all."""


def distribution_table(found: Mapping[str, Mapping[str, float | int | None]]) -> html.Table:
    """Count, mean, percentiles and extremes per measure."""
    head = html.Tr([html.Th("Measure"), html.Th("Requests"), *(html.Th(text) for _, text in _STATISTICS)])
    rows = []
    for name, values in found.items():
        cells = [html.Td(fmt.duration_us(values[key])) for key, _ in _STATISTICS]
        rows.append(html.Tr([html.Th(MEASURE_TEXT[name], scope="row"), html.Td(f"{values['count']:,}"), *cells]))
    return html.Table([html.Thead(head), html.Tbody(rows)], className="trace-distribution")


def request_plots(found: Requests) -> Any:
    """One box with points per measure, requests that are warm-up left out; None where nothing could be measured."""
    keep = ~np.asarray(found.table.data["warm_up"], bool)
    data = []
    for at, (name, text) in enumerate(MEASURE_TEXT.items()):
        values = np.asarray(found.table.data[name], np.float64)[keep]
        values = values[~np.isnan(values)] / 1000
        if len(values):
            data.append({
                "type": "box", "x": typed(values), "name": text, "orientation": "h", "boxpoints": "all", "jitter": 0.4,
                "pointpos": 0, "marker": {"color": FUNCTION_COLORS["light"][at], "size": 4}, "meta": {"color": f"--fn-{at}"},
                "hovertemplate": "%{x:,.3f} ms<extra></extra>",
            })  # fmt: skip
    if not data:
        return None
    axes: dict[str, Any] = {"xaxis": _axis("ms") | {"rangemode": "tozero"}, "yaxis": layout()["yaxis"]}
    figure = {"data": data, "layout": layout(**axes, showlegend=False)}
    return html.Div(graph("trace-distributions", figure, themed=True), className="trace-plot")


def step_plot(found: Steps) -> Any:
    """What each step spent on each of its parts, over the step, and the bubble after it."""
    n = min(len(found.slices), MAX_STEPS)
    x = [str(step) for step in list(found.table.data["step_id"])[:n]]
    data = []
    for at, (name, text) in enumerate((*_PARTS, ("bubble_us", "bubble"))):
        values = np.asarray(found.table.data[name], np.float64)[:n] / 1000
        data.append({
            "type": "bar", "name": text, "x": x, "y": typed(values), "marker": {"color": FUNCTION_COLORS["light"][at]},
            "meta": {"color": f"--fn-{at}"}, "hovertemplate": f"step %{{x}}: {text} %{{y:,.3f}} ms<extra></extra>",
        })  # fmt: skip
    axes: dict[str, Any] = {"xaxis": _axis("step") | {"type": "category"}, "yaxis": _axis("ms")}
    figure = {"data": data, "layout": layout(**axes, barmode="group", bargap=0.25)}
    note = (
        []
        if n == len(found.slices)
        else [html.P(f"The first {n:,} of {len(found.slices):,} steps.", className="muted")]
    )
    return html.Div([html.Div(graph("trace-step-plot", figure, themed=True), className="trace-plot"), *note])


def _axis(title: str) -> dict[str, Any]:
    base = layout()["xaxis"]
    return {**base, "title": {**base["title"], "text": title}}
