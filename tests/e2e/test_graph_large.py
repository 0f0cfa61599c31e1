"""A graph that takes long to prepare: progress, cancel, try again, and another mode meanwhile."""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from analysis.graph import prepared
from app.server.factory import make_services
from app.server.settings import Root, Settings
from app.work.jobs import Job, Progress, State, cancel_file, write_status
from tests.e2e import harness
from tests.e2e.graph_page import drawn, follows
from tests.e2e.harness import Server
from tests.waiting import until


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Takes the data of the server."""
    return tmp_path_factory.mktemp("large")


@pytest.fixture(scope="module")
def server(samples: pathlib.Path, folder: pathlib.Path) -> Iterator[Server]:
    """The samples on a server for which 500 records are many."""
    with harness.serve({"s": samples}, folder, "--inline-analysis-records=500") as running:
        yield running


class Child:
    """Stands in for the child process that prepares a graph: it is at work until told otherwise."""

    def __init__(self, samples: pathlib.Path, folder: pathlib.Path, key: str, mode: str) -> None:
        services = make_services(Settings(roots=(Root("s", samples),), data_dir=folder / "elsewhere"))
        services.library.scan_once()
        run = services.library.run(key)
        job = Job(run.source, 0, run.signature, prepared.JOB, {"mode": mode})
        self.status = folder / "data" / "jobs" / f"{job.name}.json"
        self.status.parent.mkdir(parents=True, exist_ok=True)
        # A heartbeat from the future: however slow the machine, the page takes it for alive.
        write_status(self.status, Progress("running", 0.25, "counting edges"))
        os.utime(self.status, (time.time() + 3_600,) * 2)

    def is_asked_to_stop(self) -> bool:
        return cancel_file(self.status).exists()

    def ends(self, state: State) -> None:
        write_status(self.status, Progress(state, ended_s=time.time()))


def pressed(page: Page) -> str:
    """Text of the pressed edge mode."""
    return page.locator("#graph-modes [aria-pressed=true]").inner_text()


TITLE = ".opening h1"


def test_a_large_graph_says_how_far_it_is_and_opens_by_itself(
    page: Page, server: Server, samples: pathlib.Path, folder: pathlib.Path
) -> None:
    child = Child(samples, folder, server.run_key("attention"), "reduced")
    page.goto(server.page("attention", "graph", "mode=reduced"))
    expect(page.locator(TITLE)).to_have_text("Preparing the task graph (reduced)")
    expect(page.get_by_role("status")).to_contain_text("counting edges")
    expect(page.locator("progress")).to_have_attribute("value", "0.25")
    child.ends("done")
    drawn(page)
    assert "Reduced" in pressed(page)


def test_cancel_stops_the_child_and_try_again_starts_it(
    page: Page, server: Server, samples: pathlib.Path, folder: pathlib.Path
) -> None:
    child = Child(samples, folder, server.run_key("layers"), "reduced-df")
    page.goto(server.page("layers", "graph", "mode=reduced-df"))
    page.get_by_role("button", name="Cancel").click()
    until(child.is_asked_to_stop, bool)
    child.ends("cancelled")
    expect(page.get_by_role("status")).to_contain_text("Cancelled")
    page.get_by_role("button", name="Try again").click()
    drawn(page)
    assert "Reduced DF" in pressed(page)


def test_another_mode_is_waited_for_and_back_leaves_it(
    page: Page, server: Server, samples: pathlib.Path, folder: pathlib.Path
) -> None:
    """What an open picture lacks is prepared like a first one; until then any other mode can be had."""
    page.goto(server.page("large", "graph"))
    drawn(page)
    for kept in (folder / "data" / "store" / "derived").rglob("*.bin"):
        kept.unlink()
    child = Child(samples, folder, server.run_key("large"), "omitted")
    page.locator("#graph-modes button", has_text="Omitted").first.click()
    expect(page.locator(TITLE)).to_have_text("Preparing the task graph (omitted)")
    page.go_back()
    drawn(page)
    assert "Full" in pressed(page)
    child.ends("done")
    page.locator("#graph-modes button", has_text="Omitted").first.click()
    follows(page, mode="omitted")
    assert "Omitted" in pressed(page)
