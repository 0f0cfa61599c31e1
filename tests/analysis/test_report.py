"""Is a report complete, self-contained and safe whatever the names in the capture?"""

from __future__ import annotations

import html.parser
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from analysis import registry
from analysis.capture import Capture
from analysis.export.report.build import build
from analysis.export.report.model import Report, ReportSection
from analysis.export.report.writers import HTML_ROWS, MARKDOWN_ROWS, to_html, to_markdown
from analysis.results import Column, Table
from tests.builders import Phase, Rec, capture

SMALL, LONG = (Table((Column("n", "count", "Number."),), {"n": np.arange(rows)}) for rows in (1, 30))
EVIL = '<script>alert("x")</script>|`*'


def busy(names: dict[int, str] | None = None) -> Capture:
    rows = [Rec(i, i % 4, 10 * i, 10 * i + 8, receive=10 * i - 1, func=i % 2) for i in range(150)]
    return capture(
        rows,
        [(i, i + 1) for i in range(149)],
        level=3,
        phases=[Phase(0, "complete", 0, 50, hit=3, miss=1)],
        names=names or {0: "QK"},
    )


@pytest.fixture(scope="module")
def report() -> Report:
    return build(busy(), link="https://host/r/abc")


class Resources(html.parser.HTMLParser):
    """Every tag, and every attribute that could load something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "data"):
                (self.links if tag == "a" else self.loads).append(value or "")


def parsed(report: Report) -> Resources:
    resources = Resources()
    resources.feed(to_html(report))
    return resources


def test_html_loads_nothing_and_has_every_section(report: Report) -> None:
    found = parsed(report)
    assert found.loads
    assert all(value.startswith("data:image/png;base64,") for value in found.loads)
    assert found.links[0] == "https://host/r/abc"
    assert [link for link in found.links if link.startswith("#")] == [
        f"#s{i}" for i in range(sum(len(place.parameters) for _, place in registry.in_report()))
    ]
    assert not {"script", "link", "iframe", "object"} & set(found.tags)
    assert "url(" not in to_html(report)
    for section in report.sections:
        assert section.title in to_html(report)


def test_pictures_are_well_formed_and_named(report: Report) -> None:
    pictures = [picture for section in report.sections for picture in section.pictures]
    assert len(pictures) == 5
    for picture in pictures:
        root = ET.fromstring(picture.svg)
        assert root[0].text
        assert len(root) > 2


def test_names_are_escaped_everywhere() -> None:
    evil = build(busy({0: EVIL, 1: EVIL}))
    assert "script" not in parsed(evil).tags
    lines = [line for line in to_markdown(evil).splitlines() if "alert" in line]
    assert lines
    assert all("<script" not in line.replace("\\<", "") for line in lines)
    assert all(len(re.findall(r"(?<!\\)\|", line)) == len(re.findall(r"(?<!\\)\|", lines[0])) for line in lines[:2])


def test_what_is_cut_is_said(report: Report) -> None:
    text, words = to_html(report), to_markdown(report)
    rows = 150
    assert f"{HTML_ROWS} of {rows} rows; all of them: python -m analysis gaps PATH --kind observed --format csv" in text
    assert f"{MARKDOWN_ROWS} of {rows} rows; all of them: python -m analysis gaps" in words
    assert f"({rows} in all)" in text


def test_the_command_named_prints_the_table_that_was_cut() -> None:
    cut = build(capture([Rec(i, i, 10 * i, 10 * i + 8, func=i) for i in range(150)], core_types=["aic"] * 150))
    text = to_html(cut)
    assert "150 rows; all of them: python -m analysis range PATH --format csv" in text  # functions of the window
    assert "150 rows; all of them: python -m analysis utilisation" not in text
    switch = ReportSection("x", "x", "?", "python -m analysis x PATH --format csv", (("A", SMALL), ("B", LONG)))
    words = to_markdown(Report("x", (), SMALL, (switch,)))
    assert words.rstrip().endswith("30 rows; all of them: python -m analysis x PATH")


def test_a_missing_part_says_why_and_an_empty_table_is_said_to_be_empty() -> None:
    part = build(capture([Rec(1, 0, 5, 9)], has_deps=False))
    (overhead,) = [section for section in part.sections if section.name == "overhead"]
    assert any("deps.json is missing" in note for note in overhead.notes)
    for text in (to_html(part), to_markdown(part)):
        assert "No rows." in text
        assert "Scheduler overhead needs dependencies" in text


def test_markdown_tables_are_rectangular(report: Report) -> None:
    for block in re.findall(r"(?:^\|.*\n)+", to_markdown(report), re.MULTILINE):
        assert len({line.count("|") - line.count("\\|") for line in block.splitlines()}) == 1


def test_a_capture_without_records_says_what_is_missing() -> None:
    empty = build(capture([], [(1, 2)]))
    assert ("Makespan", "not captured") in empty.facts
    reasons = {section.name: section.reason for section in empty.sections}
    assert "records" in reasons["functions"]
    assert reasons["chains"] == ""
    assert "Not available: Function statistics need task records" in to_html(empty)
    assert "Not available: " in to_markdown(empty)


def test_a_run_of_no_length_can_be_drawn() -> None:
    page = to_html(build(capture([Rec(1, 0, 5, 5)])))
    assert "nan" not in page.lower()
