"""How do ranks look beside each other? Utilisation lanes on one axis, and a heat map rank × dispatch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.ranks.compare import Axis
from components.plot import layout

COLUMNS = 512
"""Columns of the picture: the facts of a rank have as many parts."""
BUSY_SCALE = [[0, "#dbe7f7"], [1, "#1f5fb8"]]
EXCESS_SCALE = [[0, "#fde9d9"], [1, "#c2321f"]]
START_COLOR = "#c2321f"


def lanes_figure(axis: Axis, curves: dict[str, list[float]]) -> dict[str, Any]:
    """One lane per rank: busy share over time in colour, the ± of its start as a bar at its beginning."""
    first = min(item.start_ns for item in axis.ranks)
    last = max(item.end_ns for item in axis.ranks)
    names = [item.rank for item in axis.ranks]
    edges = np.linspace(0, max(last - first, 1) / 1000, COLUMNS + 1)
    lanes = [
        _lane(edges, (item.start_ns - first) / 1000, item.makespan_ns / 1000, curves[item.rank]) for item in axis.ranks
    ]
    return {
        "data": [
            {
                "type": "heatmap",
                "x": [round(float(edge), 4) for edge in edges],
                "y": names,
                "z": lanes,
                "zmin": 0,
                "zmax": 1,
                "ygap": 2,
                "colorscale": BUSY_SCALE,
                "colorbar": {"title": {"text": "busy"}, "thickness": 10, "tickformat": ".0%"},
                "hovertemplate": "%{y}, %{x:,.3f} µs: %{z:.0%} of its cores busy<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "markers",
                "x": [(item.start_ns - first) / 1000 for item in axis.ranks],
                "y": names,
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [item.later_ns / 1000 for item in axis.ranks],
                    "arrayminus": [item.earlier_ns / 1000 for item in axis.ranks],
                    "thickness": 2,
                    "color": START_COLOR,
                },
                "marker": {"symbol": "line-ns", "size": 14, "line": {"width": 2, "color": START_COLOR}},
                "hovertemplate": "%{y} starts at %{x:,.3f} µs<extra></extra>",
                "showlegend": False,
            },
        ],
        "layout": layout(
            xaxis={"title": {"text": "time (µs)"}},
            yaxis={"type": "category", "autorange": "reversed", "automargin": True},
            margin={"l": 90, "r": 12, "t": 10, "b": 42},
            uirevision=",".join(names),
        ),
    }


def _lane(edges: NDArray[np.float64], start_us: float, length_us: float, busy: list[float]) -> list[float | None]:
    """The busy share at the middle of each column, None where the rank does not run."""
    middle = (edges[:-1] + edges[1:]) / 2 - start_us
    at = np.floor(middle / max(length_us, 1e-9) * len(busy)).astype(np.int64)
    return [busy[i] if 0 <= i < len(busy) else None for i in at.tolist()]


def heat_figure(ranks: Sequence[str], dispatches: Sequence[str], excess_us: NDArray[np.float64]) -> dict[str, Any]:
    """Excess over the median per rank and dispatch; captures that are not there stay empty."""
    cells = [[None if np.isnan(cell) else float(cell) for cell in row] for row in excess_us]
    return {
        "data": [
            {
                "type": "heatmap",
                "x": list(dispatches),
                "y": list(ranks),
                "z": cells,
                "zmin": 0,
                "zmax": float(np.nanmax(excess_us)) if np.isfinite(excess_us).any() else 1.0,
                "colorscale": EXCESS_SCALE,
                "colorbar": {"title": {"text": "µs"}, "thickness": 10},
                "hovertemplate": "%{y}, %{x}: %{z:,.3f} µs over the median<extra></extra>",
            }
        ],
        "layout": layout(
            xaxis={"type": "category", "automargin": True},
            yaxis={"type": "category", "autorange": "reversed", "automargin": True},
            margin={"l": 90, "r": 12, "t": 10, "b": 60},
            uirevision="heat",
        ),
    }
