"""How fast is the task graph at 49,152 tasks? Run: ``python -m tests.perf.bench_graph [capture]`` or ``make bench``.

Prints milliseconds and their share of the reach of issue 5: useful picture 3 s warm, expansion 1 s, neighbourhood of
depth 2 0.5 s. Needs the shared captures.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analysis.capture import Capture
from analysis.graph.neighbourhood import adjacency, neighbourhood
from analysis.graph.text import neighbour_rows
from app.graph import page, picture
from app.server.factory import create_app
from app.server.services import Services
from app.server.settings import Root, Settings
from app.shell.url_state import ViewState
from tests.shared_data import PRESENT, SHARED, WHY_ABSENT

HUGE = "pa_huge_l4"


def timed(label: str, reach_s: float, runs: int, call: Callable[[int], object]) -> float:
    """Call ``runs`` times; print median and worst, and the worst as a share of the reach."""
    times = []
    for at in range(runs):
        began = time.perf_counter()
        call(at)
        times.append(time.perf_counter() - began)
    worst = max(times)
    print(
        f"{label:<52} {statistics.median(times) * 1e3:8.1f} ms  worst {worst * 1e3:8.1f} ms  {worst / reach_s:6.1%} of reach"
    )
    return worst


def bench_search(capture: Capture) -> None:
    """The search alone, over random tasks."""
    links = adjacency(capture)
    nodes = np.random.default_rng(1).choice(np.flatnonzero(capture.tasks.in_graph), 50)
    timed("adjacency", 0.5, 5, lambda _: adjacency(capture))
    for depth in (2, -1):
        timed(
            f"neighbourhood, depth {depth}",
            0.5,
            50,
            lambda at, depth=depth: neighbourhood(capture, int(nodes[at]), depth, max_nodes=600, around=links),
        )
    timed(
        "text view, everything that feeds a task",
        0.5,
        20,
        lambda at: neighbour_rows(capture, int(nodes[at]), "feeds", -1, links, 5_000),
    )


def bench_pages(services: Services, key: str, capture: Capture) -> None:
    """What the server does for a picture: cold, warm, expanded, around a task, in each mode."""
    timed("first picture of a capture (nothing derived yet)", 3.0, 1, lambda _: page.layout(services, ViewState(), key))
    timed("picture, warm", 3.0, 5, lambda _: page.layout(services, ViewState(), key))
    groups = picture.picture(services, key, ViewState()).scene.groups
    timed(
        "expand one group (layout not cached)",
        1.0,
        len(groups),
        lambda at: picture.picture(services, key, ViewState(exp=(groups[at].key,))),
    )
    nodes = np.random.default_rng(2).choice(np.flatnonzero(capture.tasks.in_graph), 20)
    ids = [int(task_id) for task_id in capture.tasks.task_id[nodes]]
    timed(
        "draw a task's neighbourhood of depth 2 (not cached)",
        0.5,
        20,
        lambda at: picture.picture(services, key, ViewState(sel=f"task:{ids[at]}", show="around", gdepth=2)),
    )
    timed(
        "take a task's neighbourhood out of the summary",
        1.0,
        20,
        lambda at: picture.picture(services, key, ViewState(sel=f"task:{ids[at]}", gdepth=2)),
    )
    modes = ("reduced", "omitted", "reduced-df", "omitted-df")
    timed("edge mode, first time", 3.0, 4, lambda at: picture.picture(services, key, ViewState(mode=modes[at])))
    timed("edge mode, warm", 1.0, 4, lambda at: picture.picture(services, key, ViewState(mode=modes[at])))
    timed("critical path as a picture", 3.0, 3, lambda _: picture.picture(services, key, ViewState(show="path")))


def main(name: str = HUGE) -> None:
    """Bench capture ``name``."""
    if not PRESENT:
        raise SystemExit(WHY_ABSENT)
    with tempfile.TemporaryDirectory() as folder:
        root = Root("captures", SHARED / "captures" / name)
        services: Services = create_app(Settings(roots=(root,), data_dir=Path(folder))).server.extensions["swimscope"]
        services.library.scan_once()
        key = services.library.runs()[0].key
        capture = services.library.capture(key)
        print(f"{name}: {len(capture.tasks):,} tasks, {len(capture.edges):,} edges")
        bench_search(capture)
        bench_pages(services, key, capture)


@pytest.mark.perf
def test_graph() -> None:
    """The benchmark through pytest."""
    if not PRESENT:
        pytest.skip(WHY_ABSENT)
    main()


if __name__ == "__main__":
    main(*sys.argv[1:])
