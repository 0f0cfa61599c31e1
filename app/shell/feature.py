"""What does a feature bring to the application? Its one ``FEATURE``; the factory lists them and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import flask
from dash import Dash

from app.shell.page import Page
from app.shell.url_state import Key

if TYPE_CHECKING:
    from app.server.services import Services
    from app.shell.url_state import ViewState

Callbacks: TypeAlias = "Callable[[Dash, Services], None]"
Routes: TypeAlias = "Callable[[flask.Flask, Services], None]"


@dataclass(frozen=True, slots=True)
class View:
    """One page of a feature.

    Args:
        page: its address, title and place in the navigation.
        layout: ``layout(services, view, run_key)`` builds it.
        rebuild: URL keys whose change builds it again.
        offered: whether a run has anything to show on it; its tab is left out where not. None: every run has.
        role: the role its users need.
    """

    page: Page
    layout: Callable[[Services, ViewState, str], Any]
    rebuild: tuple[str, ...] = ("launch",)
    offered: Callable[[Services, str], bool] | None = None
    role: str = "view"


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature: what it shows, which URL keys are its own, and what it registers.

    Args:
        name: the name of its folder.
        views: its pages; each :class:`~app.shell.page.Page` is its own navigation entry.
        keys: URL keys beyond those of :class:`~app.shell.url_state.ViewState`, read with ``view.own_value(name)``.
        callbacks: ``register(app, services)`` functions, run once per application.
        routes: ``register(server, services)`` functions for plain Flask routes, run once per application.
        role: the role that its callbacks and routes need.
    """

    name: str
    views: tuple[View, ...] = ()
    keys: tuple[Key, ...] = ()
    callbacks: tuple[Callbacks, ...] = field(default=())
    routes: tuple[Routes, ...] = field(default=())
    role: str = "view"
