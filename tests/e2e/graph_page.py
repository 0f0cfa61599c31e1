"""What a person does on the task graph page, for tests: open, click what is drawn, read what is shown."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Page

from tests.e2e.harness import Server, wait_idle

FIRST_OPEN_MS = 90_000
"""The first visit reads the capture's files in the background: 100 MB on a busy machine."""
NODES = "() => swimscope.graph.cy().nodes().map(n => n.id())"
LINES = "() => swimscope.graph.cy().edges().map(e => e.id())"


def open_graph(page: Page, server: Server, run: str, query: str = "") -> Page:
    """Go to the graph of ``run`` and wait until it is drawn."""
    page.goto(server.page(run, "graph", query))
    page.wait_for_selector("#graph-cy[data-ready]", timeout=FIRST_OPEN_MS)
    settled(page)
    return page


def settled(page: Page) -> None:
    """Wait until the server has answered and the picture has taken the answer in."""
    page.wait_for_timeout(120)
    wait_idle(page)
    page.wait_for_timeout(120)


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
    """Click (or ``button="right"``, ``click_count=2``) on a drawn element and wait for what follows."""
    page.mouse.click(*place_of(page, element), **options)
    settled(page)


def url_keys(page: Page) -> dict[str, str]:
    """The query of the address bar."""
    return dict(parse_qsl(urlsplit(page.url).query))


def id_of(page: Page, label: str) -> str:
    """Element id of the drawn task called ``label`` (``r2t3``)."""
    found: str = page.evaluate(
        "label => swimscope.graph.cy().nodes().filter(n => n.data('tid') === label)[0].id()", label
    )
    return found
