"""How do the facts and arguments of one item of a trace look? The panel below the lanes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dash import html

MAX_SHOWN_CHARS = 20_000
"""A longer text of an argument is shown to here, and the page says so."""
MAX_DEPTH = 12
MAX_LINKS = 60


def empty() -> html.Div:
    """Nothing is selected."""
    return html.Div("Select a span to see its times, flows and arguments.", className="empty")


def details(
    title: str,
    facts: Sequence[tuple[str, str]],
    arguments: Mapping[str, Any],
    flows: Sequence[tuple[str, Sequence[tuple[str, str]]]],
) -> html.Div:
    """The panel.

    Args:
        title: name of the item.
        facts: name and value of each.
        arguments: as in the file; nested JSON folds, also where it is a text.
        flows: (title, (text, item) of each end) per direction.
    """
    rows = [part for name, value in facts for part in (html.Dt(name), html.Dd(value))]
    columns: list[Any] = [
        html.Div([html.Strong(title), html.Dl(rows)], className="swim-column swim-identity trace-identity")
    ]
    columns += [_flow(name, ends) for name, ends in flows if ends]
    body: Any = _object(arguments, 0) if arguments else html.Div("The event has no arguments.", className="muted")
    columns.append(html.Div([html.H3("Arguments"), body], className="swim-column trace-arguments"))
    return html.Div(columns, className="swim-columns")


def _flow(name: str, ends: Sequence[tuple[str, str]]) -> html.Div:
    items = [
        html.Li(html.Button(text, className="swim-link", **{"data-sel": f"item:{item}", "data-item": item}))
        for text, item in ends[:MAX_LINKS]
    ]
    if len(ends) > MAX_LINKS:
        items.append(html.Li(f"and {len(ends) - MAX_LINKS:,} more", className="muted"))
    return html.Div(
        [html.H3(f"{name} ({len(ends):,})"), html.Ul(items, className="swim-neighbours")], className="swim-column"
    )


def _object(value: Mapping[str, Any], depth: int) -> html.Dl:
    return html.Dl([part for key, each in value.items() for part in (html.Dt(str(key)), html.Dd(_value(each, depth)))])


def _value(value: Any, depth: int) -> Any:
    nested = _parsed(value)
    if isinstance(nested, dict | list) and nested and depth < MAX_DEPTH:
        pairs = nested if isinstance(nested, dict) else {str(i): each for i, each in enumerate(nested)}
        words = f"{{{len(nested)} keys}}" if isinstance(nested, dict) else f"[{len(nested)} values]"
        return html.Details([html.Summary(words), _object(pairs, depth + 1)])
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) > MAX_SHOWN_CHARS:
        return [text[:MAX_SHOWN_CHARS], html.Em(f" … {len(text) - MAX_SHOWN_CHARS:,} characters more in the file")]
    return text


def _parsed(value: Any) -> Any:
    """A text that is a JSON object or list as its value."""
    if isinstance(value, str) and value[:1] in "{[" and value[-1:] in "}]":
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
