"""How does the selection get from a component to every page? One ``dcc.Store`` that callbacks set and follow.

The store :data:`app.shell.ids.SELECTION` is in the frame and holds ``{"sel": text, "hl": text}``. A feature that lets the
user select something adds a clientside callback from its component to the store (:func:`selects`); the store's own
callback writes the URL, and the URL's change is what the timeline and other tabs hear (``assets/js/core/selection_store.js``).
"""

from __future__ import annotations

from dash import ClientsideFunction, Dash, Input, Output

from app.shell import ids

_NAMESPACE = "swimscopeSelection"


def register(app: Dash) -> None:
    """The URL follows the store."""
    app.clientside_callback(
        ClientsideFunction(_NAMESPACE, "follow"), Input(ids.SELECTION, "data"), prevent_initial_call=True
    )


def selects(app: Dash, component_id: str, prop: str, function: str) -> None:
    """Have a property of a component set the selection in the browser.

    Args:
        app: the application.
        component_id: id of the plot, graph or table.
        prop: its property that a click changes, such as ``clickData``.
        function: function of ``swimscopeSelection`` that makes the store's value of it.
    """
    app.clientside_callback(
        ClientsideFunction(_NAMESPACE, function),
        Output(ids.SELECTION, "data", allow_duplicate=True),
        Input(component_id, prop),
        prevent_initial_call=True,
    )
