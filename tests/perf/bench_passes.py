"""How long do the pass list, a diff and the functions of a dump take, beside plain difflib and ast.parse alone?

``python -m tests.perf.bench_passes [LINES | DUMP_DIRECTORY]`` prints times and ratios; asserts nothing. Which compiled
library aligns the lines was chosen with the same pairs of the shared dumps (docs/performance.md).
"""

from __future__ import annotations

import ast
import difflib
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from analysis.passes.comparison import compare
from analysis.passes.dump import open_dump
from analysis.passes.listing import list_passes
from analysis.passes.opening import load
from analysis.passes.rows import View
from analysis.synth.passes import write_passes


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    made = work()
    return time.perf_counter() - start, made


def bench(directory: Path) -> None:
    """Prints one line per figure."""
    dump = open_dump(directory)
    list_s, listing = timed(lambda: list_passes(dump))
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{dump.label}: {listing.line_count:,} lines, {len(listing.passes)} passes, list {list_s:.2f} s, {peak_mb} MB"
    )
    diff_s, plain_s, worst_s = 0.0, 0.0, 0.0
    for before, after in pairwise(listing.passes):
        if not after.changed:
            continue

        def view(pair: Any = (before, after)) -> Any:
            sides = [load(dump, dump.find(p.file), p.table) for p in pair]
            return View(compare(*sides), *sides).slice(0, 400), sides

        once_s, (_, (left, right)) = timed(view)
        diff_s, worst_s = diff_s + once_s, max(worst_s, once_s)
        matcher = difflib.SequenceMatcher(None, left.lines, right.lines, autojunk=False)
        plain_s += timed(matcher.get_opcodes)[0]
    print(f"  every diff with its first rows {diff_s:.2f} s (worst {worst_s:.3f} s); difflib, lines only: {plain_s:.2f} s, "
          f"{plain_s / max(diff_s, 1e-9):.1f} times as long")  # fmt: skip
    texts = [dump.read(p.file).text for p in listing.passes if not p.table.error]
    parse_s, _ = timed(lambda: [ast.parse(text) for text in texts])
    print(f"  ast.parse of every snapshot alone {parse_s:.2f} s, {parse_s / list_s:.1f} times the list")


def main() -> None:
    """Benchmarks the dump that the command line names, or a synthetic one."""
    word = sys.argv[1] if len(sys.argv) > 1 else "54000"
    if not word.isdecimal():
        bench(Path(word))
        return
    with tempfile.TemporaryDirectory() as directory:
        bench(write_passes(directory, int(word)).path)


@pytest.mark.perf
def test_passes(tmp_path: Path) -> None:
    """The benchmark through pytest, on a synthetic dump."""
    bench(write_passes(tmp_path, 54_000).path)


if __name__ == "__main__":
    main()
