"""A report as one HTML file or as Markdown. Every name from a file is escaped; nothing is loaded from anywhere."""

from __future__ import annotations

import base64
import html
import re
from typing import Any

import numpy as np

from analysis.export.report.model import Report, ReportSection
from analysis.results import Column, Table

HTML_ROWS, MARKDOWN_ROWS = 100, 20
LONG_LIST = 12
"""Members of a list cell that are shown; the rest is counted."""

STYLE = """
:root{color-scheme:light dark;--bg:#fff;--text:#1c2128;--muted:#59636e;--line:#d8dee4;--panel:#f6f8fa;--warn:#9a6700}
@media (prefers-color-scheme:dark){:root{--bg:#0f1318;--text:#dde3ea;--muted:#93a0ad;--line:#2c343d;--panel:#171d24;--warn:#d8a23a}}
body{background:var(--bg);color:var(--text);font:14px/1.45 system-ui,sans-serif;max-width:1180px;margin:24px auto;padding:0 20px}
h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:36px 0 4px;border-top:1px solid var(--line);padding-top:18px}
h3{font-size:14px;margin:16px 0 6px}p{margin:4px 0;color:var(--muted)}nav a{margin-right:14px}a{color:#3b7dd8}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(170px,1fr));gap:8px;margin:16px 0}
dl div{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:8px 10px}
dt{color:var(--muted);font-size:12px}dd{margin:0;font-size:15px;overflow-wrap:anywhere}dl div:last-child{grid-column:1/-1}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:12.5px;font-variant-numeric:tabular-nums}
th,td{padding:3px 9px;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th{position:sticky;top:0;background:var(--panel);font-weight:600}.l{text-align:left}.why{color:var(--warn)}svg{width:100%;height:auto}
""".strip()


def to_html(report: Report) -> str:
    """The report as one HTML file."""
    title = html.escape(report.title)
    cards = "".join(f"<div><dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd></div>" for k, v in report.facts)
    links = "".join(f'<a href="#s{i}">{html.escape(s.title)}</a>' for i, s in enumerate(report.sections))
    server = f'<p><a href="{html.escape(report.link)}">Open this run in Swimscope</a></p>' if report.link else ""
    quality = _html_table(report.quality, None) if len(report.quality) else "<p>No findings.</p>"
    sections = "".join(_html_section(i, section) for i, section in enumerate(report.sections))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{title} · Swimscope report</title>'
        f"<style>{STYLE}</style></head><body><h1>{title}</h1>{server}<nav>{links}</nav><dl>{cards}</dl>"
        f"<h2>Data quality</h2>{quality}{sections}</body></html>\n"
    )


def to_markdown(report: Report) -> str:
    """The report as Markdown, with its pictures as data addresses."""
    out = [f"# {_md(report.title)}", ""]
    if report.link:
        out += [f"[Open this run in Swimscope](<{report.link}>)", ""]
    out += [f"- {_md(key)}: {_md(value)}" for key, value in report.facts]
    out += ["", "## Data quality", ""]
    out += _md_table(report.quality, None) if len(report.quality) else ["No findings."]
    for section in report.sections:
        out += ["", f"## {_md(section.title)}", "", _md(section.question), ""]
        if section.reason:
            out.append(f"Not available: {_md(section.reason)}")
            continue
        for picture in section.pictures:
            data = base64.b64encode(picture.svg.encode()).decode()
            out += [f"![{_md(picture.title)}](data:image/svg+xml;base64,{data})", ""]
        for note in section.notes:
            out += [_md(note), ""]
        for at, (title, table) in enumerate(section.tables):
            out += [f"### {_md(title)}", "", *(_md_table(table) if len(table) else ["No rows."]), ""]
            if len(table) > MARKDOWN_ROWS:
                out += [_rest(table, MARKDOWN_ROWS, section.command, at), ""]
    return "\n".join(out) + "\n"


def _html_section(index: int, section: ReportSection) -> str:
    head = f'<h2 id="s{index}">{html.escape(section.title)}</h2><p>{html.escape(section.question)}</p>'
    if section.reason:
        return f'{head}<p class="why">Not available: {html.escape(section.reason)}</p>'
    pictures = "".join(f"<h3>{html.escape(p.title)}</h3>{p.svg}" for p in section.pictures)
    tables = ""
    for at, (title, table) in enumerate(section.tables):
        tables += f"<h3>{html.escape(title)}</h3>{_html_table(table) if len(table) else '<p>No rows.</p>'}"
        if len(table) > HTML_ROWS:
            tables += f"<p>{html.escape(_rest(table, HTML_ROWS, section.command, at))}</p>"
    notes = "".join(f'<p class="why">{html.escape(note)}</p>' for note in section.notes)
    return head + notes + pictures + tables


def _rest(table: Table, limit: int, command: str, at: int) -> str:
    """What is cut from the ``at``-th table; a CSV holds the first table only."""
    if at:
        command = command.removesuffix(" --format csv")
    return f"{limit:,} of {len(table):,} rows; all of them: {command}"


def _rows(table: Table, limit: int | None) -> list[tuple[str, ...]]:
    """The first ``limit`` rows as words; ``None``: all."""
    part = table if limit is None else table.take(np.arange(min(limit, len(table))))
    columns = [[shown(cell, column) for cell in part.cells(column.name)] for column in part.columns]
    return list(zip(*columns, strict=True))


def shown(cell: Any, column: Column) -> str:
    """A cell as users read it: thousands separated, shares in percent, long lists counted."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, tuple | list):
        head = " ".join("–" if part is None else str(part) for part in cell[:LONG_LIST])
        return head if len(cell) <= LONG_LIST else f"{head} … ({len(cell)} in all)"
    if column.unit == "share":
        return f"{cell:.2%}"
    if isinstance(cell, float):
        return f"{cell:,.3f}"
    return f"{cell:,}" if isinstance(cell, int) and column.unit in ("count", "ticks") else str(cell)


def _is_text(column: Column) -> bool:
    return column.unit in ("text", "texts", "id", "ids")


def _html_table(table: Table, limit: int | None = HTML_ROWS) -> str:
    classes = [' class="l"' if _is_text(column) else "" for column in table.columns]
    head = "".join(
        f'<th{c} title="{html.escape(column.doc)}">{html.escape(column.name)}</th>'
        for c, column in zip(classes, table.columns, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(f"<td{c}>{html.escape(cell)}</td>" for c, cell in zip(classes, row, strict=True)) + "</tr>"
        for row in _rows(table, limit)
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _md_table(table: Table, limit: int | None = MARKDOWN_ROWS) -> list[str]:
    head = "| " + " | ".join(_md(column.name) for column in table.columns) + " |"
    rule = "|" + "|".join(" --- " if _is_text(column) else " ---: " for column in table.columns) + "|"
    return [head, rule, *("| " + " | ".join(map(_md, row)) + " |" for row in _rows(table, limit))]


def _md(words: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_\[\]|<>#])", r"\\\1", " ".join(words.split()))
