"""How is a plot put on a page? The only maker of ``dcc.Graph``: no logo, no upload to any cloud, our theme."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from dash import dcc
from numpy.typing import NDArray

from components import theme as themes

GRAPH_CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "showSendToCloud": False,
    "responsive": True,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}


def graph(
    graph_id: Any,
    figure: dict[str, Any] | None = None,
    *,
    height_px: int | None = None,
    themed: bool = False,
    **config: Any,
) -> Any:
    """A ``dcc.Graph`` with the shared configuration.

    Args:
        graph_id: component id.
        figure: plotly figure as a dict; an empty one when None.
        height_px: fixed height; fills its container when None.
        themed: core/theme.js keeps the figure's colours in step with the theme; a trace names its colour as a CSS
            variable in ``meta.color``.
        config: further keys of plotly's config.
    """
    style = {"height": f"{height_px}px"} if height_px else {"height": "100%"}
    return dcc.Graph(
        id=graph_id,
        figure=figure or {"data": [], "layout": layout()},
        config={**GRAPH_CONFIG, **config},
        style=style,
        className="plot plot-themed" if themed else "plot",
    )


def layout(theme: themes.Theme = "light", **overrides: Any) -> dict[str, Any]:
    """A figure layout in our theme; theme.js restyles it when the theme changes."""
    return {**themes.plotly_template(theme), **overrides}


def typed(values: NDArray[Any]) -> dict[str, str]:
    """``values`` as plotly's typed-array JSON, for patches and plain dicts (dash sends numpy there as a list).

    64-bit integers must be converted to float64 by the caller: plotly has no such array.
    """
    kinds = {"float64": "f8", "float32": "f4", "int32": "i4", "uint32": "u4", "int16": "i2", "uint16": "u2"}
    kinds |= {"int8": "i1", "uint8": "u1"}
    name = str(values.dtype)
    if name not in kinds:
        raise ValueError(f"plotly has no typed array for {name}")
    data = np.ascontiguousarray(values).tobytes()
    return {"dtype": kinds[name], "bdata": base64.b64encode(data).decode("ascii")}
