"""What a person does on the task graph page, for tests: open, click what is drawn, read what is shown."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import parse_qsl

from playwright.sync_api import Page

from tests.e2e.harness import Server, wait_idle
from tests.waiting import until

FIRST_OPEN_MS = 90_000
"""The first visit reads the capture's files in the background: 100 MB on a busy machine."""
NODES = "() => swimscope.graph.cy().nodes().map(n => n.id())"
LINES = "() => swimscope.graph.cy().edges().map(e => e.id())"


def open_graph(page: Page, server: Server, run: str, query: str = "") -> Page:
    """Go to the graph of ``run`` and wait until it is drawn."""
    page.goto(server.page(run, "graph", query))
    drawn(page)
    return page


def drawn(page: Page) -> None:
    """Wait for the picture of a page that was just opened."""
    page.wait_for_selector("#graph-cy[data-ready]", timeout=FIRST_OPEN_MS)
    settled(page)


def settled(page: Page) -> None:
    """Wait until the page shows what its address asks for: the server has answered, the picture is at rest.

    A gesture must have reached the address before; see :func:`follows`.
    """
    wait_idle(page)
    page.wait_for_function("() => !swimscope.graph.cy().animated()")


def follows(page: Page, **keys: str | None) -> None:
    """Wait until the address says ``keys`` (None: not at all) and the page shows what it asks for."""
    until(lambda: {key: url_keys(page).get(key) for key in keys}, lambda seen: seen == keys)
    settled(page)


def nodes(page: Page) -> list[str]:
    """Ids of the drawn nodes."""
    found: list[str] = page.evaluate(NODES)
    return found


def lines(page: Page) -> list[str]:
    """Ids of the drawn lines."""
    found: list[str] = page.evaluate(LINES)
    return found


def with_class(page: Page, name: str) -> set[str]:
    """Ids of the elements that carry a class."""
    return set(page.evaluate("name => swimscope.graph.cy().elements('.' + name).map(e => e.id())", name))


def place_of(page: Page, element: str) -> tuple[float, float]:
    """Where an element lies in the window: a node's middle, a line's middle."""
    at: dict[str, float] = page.evaluate(
        """id => {
          const one = swimscope.graph.cy().getElementById(id);
          const box = document.getElementById("graph-cy").getBoundingClientRect();
          const at = one.isNode() ? one.renderedPosition() : one.renderedMidpoint();
          return { x: box.left + at.x, y: box.top + at.y };
        }""",
        element,
    )
    return at["x"], at["y"]


def click(page: Page, element: str, **options: Any) -> None:
    """Click (or ``button="right"``) on a drawn element."""
    page.mouse.click(*place_of(page, element), **options)


def choose(page: Page, task: str) -> None:
    """Select a drawn task by a click."""
    click(page, task)
    follows(page, sel=task)


def double_click(page: Page, element: str) -> None:
    """Click twice within 0.1 s as the page reads the clock, however long it takes over the first click."""
    x, y = place_of(page, element)
    page.mouse.move(x, y)
    mouse = page.context.new_cdp_session(page)
    began = time.time()
    for at, (kind, count) in enumerate(
        (("mousePressed", 1), ("mouseReleased", 1), ("mousePressed", 2), ("mouseReleased", 2))
    ):
        event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": count, "timestamp": began + 0.03 * at}
        mouse.send("Input.dispatchMouseEvent", event)
    mouse.detach()


def url_keys(page: Page) -> dict[str, str]:
    """The query of the address bar."""
    return dict(parse_qsl(page.evaluate("() => location.search.slice(1)")))


def id_of(page: Page, label: str) -> str:
    """Element id of the drawn task called ``label`` (``r2t3``)."""
    found: str = page.evaluate(
        "label => swimscope.graph.cy().nodes().filter(n => n.data('tid') === label)[0].id()", label
    )
    return found
