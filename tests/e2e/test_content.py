"""A run that is written again, then deleted, while its page is open: the page goes on with its own content and says so."""

from __future__ import annotations

import pathlib
import shutil

from playwright.sync_api import Browser, Page, expect

from analysis.synth.capture import write_capture
from tests.e2e import harness
from tests.e2e.harness import open_page
from tests.waiting import until


def asked_again(page: Page) -> int:
    """Ask for something of the run, as any gesture does, and count the notices."""
    page.evaluate("fetch(location.pathname.replace('/r/', '/api/timeline/') + '/info')")
    return page.locator("#content-notice").count()


def test_a_page_keeps_its_content_and_offers_the_new_one(browser: Browser, tmp_path: pathlib.Path) -> None:
    run = tmp_path / "root" / "again" / "dfx_outputs"
    write_capture(run, 300, 1)
    with harness.serve({"r": tmp_path / "root"}, tmp_path) as server:
        context = browser.new_context(viewport=harness.VIEWPORTS["small"])
        context.add_init_script(harness.WATCH)
        page = context.new_page()
        open_page(page, server.page("again"))
        records = page.locator(".card", has_text="Tasks / records").locator(".card-value")
        expect(records).to_contain_text("300")
        before = records.inner_text()
        notice = page.locator("#content-notice")
        expect(notice).to_have_count(0)
        shutil.rmtree(run)
        write_capture(run, 500, 2)
        follow = page.locator('nav a[href$="/functions"], a.view-tab[href*="/functions"]').first
        until(lambda: asked_again(page), bool)
        expect(notice).to_contain_text("written again")
        follow.click()
        expect(page.locator(".page-functions")).to_have_count(1)
        page.go_back()
        expect(records).to_have_text(before)
        notice.get_by_role("button").click()
        expect(records).to_contain_text("500")
        expect(notice).to_have_count(0)
        shutil.rmtree(run)
        until(lambda: asked_again(page), bool)
        expect(notice).to_contain_text("files of this run are gone")
