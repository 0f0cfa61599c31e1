"""The runs page while the server reads: facts, errors and new runs appear by themselves."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from analysis.synth.capture import write_capture
from tests.e2e import harness
from tests.e2e.harness import Server, open_page

ROWS = "#runs-grid .ag-center-cols-container .ag-row"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Two captures, one of them cut short."""
    root = tmp_path_factory.mktemp("reading")
    write_capture(root / "whole" / "dfx_outputs", 100, 1)
    broken = write_capture(root / "broken" / "dfx_outputs", 100, 5).files[0]
    broken.write_bytes(broken.read_bytes()[:5_000])
    return root


@pytest.fixture(scope="module")
def server(tree: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that reads captures in the background, which the one of the other files does not."""
    with harness.serve({"tree": tree}, tmp_path_factory.mktemp("server"), "--scan-interval-s=1") as running:
        yield running


def cell(page: Page, run: str, column: str) -> str:
    """Selector of a cell of ``run``'s row."""
    return f"{ROWS}:has([col-id=name]:has-text('{run}')) [col-id={column}]"


def test_facts_errors_and_new_runs_appear_by_themselves(page: Page, server: Server, tree: pathlib.Path) -> None:
    open_page(page, server.url)
    expect(page.locator(cell(page, "whole", "level"))).to_have_text(re.compile(r"\d"))
    expect(page.locator(cell(page, "whole", "records"))).to_have_text("100")
    expect(page.locator(cell(page, "broken", "quality"))).to_have_text("cannot be read")

    open_page(page, f"{server.url}/?q=arrives")
    expect(page.locator(".grid-shown")).to_contain_text("0 of 2")
    expect(page.locator(ROWS)).to_have_count(0)
    expect(page.locator("#runs-grid .ag-overlay")).to_contain_text("No row matches the search and the filters")
    write_capture(tree / "arrives_later" / "dfx_outputs", 20, 11)
    expect(page.get_by_text("arrives_later", exact=True).first).to_be_visible()
    expect(page.locator(cell(page, "arrives_later", "records"))).to_have_text("20")
