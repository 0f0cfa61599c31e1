"""Uploading in a real browser: a directory with progress, the list with rename, delete and undo, and a refused archive."""

from __future__ import annotations

import pathlib
import re

import pytest
from playwright.sync_api import Page, expect

from analysis.synth.capture import write_capture
from tests.e2e.harness import Guard, Server, open_page
from tests.waiting import until

ROWS = "#runs-grid .ag-center-cols-container .ag-row"


@pytest.fixture
def case(tmp_path: pathlib.Path) -> pathlib.Path:
    made = tmp_path / "sent_by_browser"
    write_capture(made, 60, 11)
    return made


def choose(page: Page, button: str, files: list[str] | str) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=button).click()
    chooser.value.set_files(files)


def test_a_directory_is_uploaded_renamed_deleted_and_put_back(
    page: Page, server: Server, guard: Guard, case: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    open_page(page, f"{server.url}/?q=sent_by_browser")
    choose(page, "Choose a directory", str(case))
    job = page.locator(".upload-job")
    expect(job).to_contain_text("its runs appear in the table")
    until(lambda: page.locator(ROWS).count(), lambda count: count == 1)
    job.get_by_role("button", name="Dismiss").click()
    expect(job).to_have_count(0)

    page.get_by_role("button", name="Uploaded runs").click()
    row = page.locator(".upload-row")
    expect(row.get_by_label("Name")).to_have_value("sent_by_browser")
    row.get_by_label("Note of sent_by_browser").fill("<b>slow</b>")
    row.get_by_label("Note of sent_by_browser").press("Tab")
    row.get_by_role("button", name="Delete").click()
    expect(row).to_contain_text("deleted")
    row.get_by_role("button", name="Put back").click()
    expect(row.get_by_role("button", name="Delete")).to_be_visible()
    page.locator("#upload-list-close").click()
    page.get_by_role("button", name="Uploaded runs").click()
    expect(row.get_by_label("Note of sent_by_browser")).to_have_value("<b>slow</b>")
    page.locator("#upload-list-close").click()

    guard.allow("422")
    bad = tmp_path / "broken.zip"
    bad.write_bytes(b"PK\x03\x04" + b"\0" * 64)
    choose(page, "Choose files", str(bad))
    expect(job).to_have_class(re.compile("failed"))
    expect(job).to_contain_text("the archive is damaged")
