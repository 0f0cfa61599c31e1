"""How does the product say that something is missing, wrong, waiting or incomplete? One look for each."""

from __future__ import annotations

from typing import Any, Literal

from dash import html

Level = Literal["info", "warn", "error", "ok"]
_MARKS = {"info": "i", "warn": "!", "error": "×", "ok": "✓"}


def notice(title: str, text: str = "", level: Level = "info", extra: Any = None) -> html.Div:
    """A framed message: what it is, and what to do about it."""
    body: list[Any] = [html.Strong(title)]
    if text:
        body.append(html.P(text))
    if extra is not None:
        body.append(extra)
    role = "alert" if level == "error" else "note"
    return html.Div(
        [html.Span(_MARKS[level], className="notice-mark", **{"aria-hidden": "true"}), html.Div(body)],
        className=f"notice notice-{level}",
        role=role,
    )


def not_available(what: str, reason: str) -> html.Div:
    """The panel of an analysis that has no answer for this capture."""
    return notice(f"{what} is not available", reason, "info")


def shown_of(shown: int, total: int, noun: str) -> html.Span:
    """``12,480 of 1,000,000 records`` (or only the total when all are shown)."""
    text = f"{total:,} {noun}" if shown >= total else f"{shown:,} of {total:,} {noun}"
    return html.Span(text, className="shown-of" if shown >= total else "shown-of partial")


def empty(text: str) -> html.Div:
    """A quiet line where a list has nothing to show."""
    return html.Div(text, className="empty")
