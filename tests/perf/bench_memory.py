"""How long does a memory map take beside ``ast.parse`` alone, same text, same run? ``make bench`` prints ratios."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from typing import Any

import pytest

from analysis.memory.chips import Chip
from analysis.memory.maps import read_map

LINES = 63_860


def snapshot(lines: int) -> str:
    """Functions of 200 statements each, ``lines`` in all."""
    parts = ["import pypto.language as pl\n\n@pl.program\nclass P:"]
    for number in range(lines // 204):
        parts.append(
            f"    @pl.function(type=pl.FunctionType.AIV)\n    def f{number}(self, a: pl.Tensor[[1], pl.FP32]):"
        )
        for at in range(200):
            memory = f"pl.MemRef(mem_vec_{at % 20}, pl.const({at % 20 * 4096}, pl.INT64), 4096)"
            made = f"pl.tile.add(t{max(at - 1, 0)}, t{max(at - 7, 0)})" if at else "pl.tile.load(a, [0, 0], [64, 16])"
            parts.append(f"        t{at}: pl.Tile[[64, 16], pl.FP32, {memory}, pl.Mem.Vec] = {made}")
        parts.append("")
    return "\n".join(parts)


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


@pytest.mark.perf
def test_map_beside_ast_parse() -> None:
    text = snapshot(LINES)
    plain = min(seconds(lambda: ast.parse(text)) for _ in range(3))
    ours = min(
        seconds(lambda: read_map(text, "35_after_AllocateMemoryAddr.py", Chip("910B", "assumed"))) for _ in range(3)
    )
    print(
        f"\nmap of {text.count(chr(10)):,} lines: {ours:.2f} s, ast.parse alone {plain:.2f} s, ratio {ours / plain:.2f}"
    )
